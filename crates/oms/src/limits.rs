//! Limits by control and scope.

use alloc::boxed::Box;
use core::fmt;

use crate::value::Trading;

macro_rules! controls {
    ($($(#[$doc:meta])* $name:ident = $index:literal, $code:literal, $unit:ident;)+) => {
        /// A control that has a limit, as RC6 to RC15 in the list of pre-trade controls.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum Control {
            $($(#[$doc])* $name,)+
        }

        impl Control {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Its number in the journal.
            #[must_use]
            pub fn index(self) -> u8 {
                match self {
                    $(Self::$name => $index,)+
                }
            }

            /// As files and commands call it.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)+
                }
            }

            /// What its limit counts.
            #[must_use]
            pub fn unit(self) -> Unit {
                match self {
                    $(Self::$name => Unit::$unit,)+
                }
            }
        }
    };
}

/// What a limit counts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unit {
    /// Orders, or units of the instrument.
    Whole,
    /// Money, in 10^-9.
    Money,
    /// Parts of a hundred, in 10^-9.
    Percent,
}

impl Unit {
    /// Digits behind the point that it has in the journal.
    #[must_use]
    pub fn digits(self) -> u8 {
        match self {
            Self::Whole => 0,
            Self::Money | Self::Percent => 9,
        }
    }
}

controls! {
    /// RC6: the largest OrderQty(38).
    OrderQuantity = 0, "RC6", Whole;
    /// RC7: the largest worth of an order.
    Value = 1, "RC7", Money;
    /// RC8: how far a price may be from the reference price.
    Collar = 2, "RC8", Percent;
    /// RC13: open orders.
    OpenOrders = 3, "RC13", Whole;
    /// RC14: what is reserved and was traded today.
    Credit = 4, "RC14", Money;
    /// RC15: the longest position, with what open orders may buy.
    Long = 5, "RC15-long", Whole;
    /// RC15: the shortest position, with what open orders may sell.
    Short = 6, "RC15-short", Whole;
}

impl Control {
    /// That of this name; `RC15` is both of its limits, which is why there may be two.
    #[must_use]
    pub fn named(code: &str) -> &'static [Self] {
        match Self::ALL.iter().position(|control| control.code() == code) {
            Some(at) => &Self::ALL[at..=at],
            None if code == "RC15" => &[Self::Long, Self::Short],
            None => &[],
        }
    }

    /// That of this number.
    #[must_use]
    pub fn of(index: u8) -> Option<Self> {
        Self::ALL.get(usize::from(index)).copied()
    }
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// The limits of a scope, and whether it may trade.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Most scopes have none of their own.
    values: Option<Box<[Limit; Control::ALL.len()]>>,
    /// Whether new risk is allowed.
    pub trading: Trading,
}

/// A limit.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Limit {
    /// The one that holds.
    pub value: Option<i128>,
    /// The one that a file said last: what a person sets holds until the file says something else.
    pub filed: Option<i128>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            values: None,
            trading: Trading::Active,
        }
    }
}

impl Limits {
    /// The limit of a control.
    #[must_use]
    pub fn get(&self, control: Control) -> Option<i128> {
        self.limit(control).value
    }

    pub(crate) fn limit(&self, control: Control) -> Limit {
        let at = usize::from(control.index());
        let values = self.values.as_ref();
        values.map_or_else(Limit::default, |values| values[at])
    }

    pub(crate) fn set(&mut self, control: Control, limit: Limit) {
        if self.limit(control) != limit {
            let values = self.values.get_or_insert_default();
            values[usize::from(control.index())] = limit;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_found_by_number_and_code() {
        for (index, control) in (0..).zip(Control::ALL) {
            assert_eq!(control.index(), index);
            assert_eq!(Control::of(index), Some(*control));
            assert_eq!(Control::named(control.code()), &[*control]);
        }
        assert_eq!(Control::named("RC15"), [Control::Long, Control::Short]);
        assert!(Control::named("RC99").is_empty());
    }
}
