//! Limits by control and scope.

use alloc::boxed::Box;
use core::fmt;

use crate::flow::Span;
use crate::value::Trading;

macro_rules! controls {
    ($($(#[$doc:meta])* $name:ident = $index:literal, $code:literal, $unit:ident;)+) => {
        /// A control that has a limit, as RC5 to RC17 in the list of pre-trade controls.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum Control {
            $($(#[$doc])* $name,)+
        }

        impl Control {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Its number in the journal.
            #[must_use]
            pub const fn index(self) -> u8 {
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
    /// RC5: same orders within a second.
    Repeated = 7, "RC5-1s", Whole;
    /// RC9: the worth of orders within a second.
    ValueSecond = 8, "RC9-value-1s", Money;
    /// RC9: the worth of orders within a minute.
    ValueMinute = 9, "RC9-value-60s", Money;
    /// RC9: the worth of orders today.
    ValueDay = 10, "RC9-value-day", Money;
    /// RC9: quantity of orders within a second.
    QuantitySecond = 11, "RC9-quantity-1s", Whole;
    /// RC9: quantity of orders within a minute.
    QuantityMinute = 12, "RC9-quantity-60s", Whole;
    /// RC9: quantity of orders today.
    QuantityDay = 13, "RC9-quantity-day", Whole;
    /// RC10: orders and replaces within a second.
    Rate = 14, "RC10", Whole;
    /// RC10: cancels within a second.
    CancelRate = 15, "RC10-cancel", Whole;
    /// RC10: orders and replaces within a second, with refused ones, above which trading is killed.
    KillRate = 16, "RC10-kill", Whole;
    /// RC11: replaces of an order.
    Replaces = 17, "RC11-replaces", Whole;
    /// RC11: orders that the venue has not answered.
    Unanswered = 18, "RC11-unanswered", Whole;
    /// RC11: orders and replaces for each execution of today.
    Ratio = 19, "RC11-ratio", Whole;
    /// RC12: executions within a minute, above which trading is killed.
    Executions = 20, "RC12", Whole;
    /// RC17: what was lost today, above which trading is killed.
    Loss = 21, "RC17", Money;
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

impl Control {
    /// An order for which no scope has a limit of it is rejected. The others hold where they have one.
    #[must_use]
    pub fn is_required(self) -> bool {
        self.index() <= Self::Short.index()
    }

    /// Its bit in [`Limits::controls`].
    pub(crate) const fn bit(self) -> u32 {
        1 << self.index()
    }

    /// The time in which it counts what passes; `None` when it counts what is.
    pub(crate) fn span(self) -> Option<Span> {
        match self {
            Self::ValueSecond
            | Self::QuantitySecond
            | Self::Rate
            | Self::CancelRate
            | Self::KillRate => Some(Span::Second),
            Self::ValueMinute | Self::QuantityMinute | Self::Executions => Some(Span::Minute),
            Self::ValueDay | Self::QuantityDay | Self::Ratio => Some(Span::Day),
            _ => None,
        }
    }
}

/// The limits of a scope, and whether it may trade.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Those that hold.
    values: Values,
    /// Those that a file said last: what a person sets holds until the file says something else.
    filed: Values,
    /// Whether new risk is allowed.
    pub trading: Trading,
}

/// Values of some controls.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Values {
    /// A bit for each control that has one.
    has: u32,
    /// By the numbers of the controls, 0 where there is none; nothing while no control has one.
    values: Option<Box<[i128; COUNT]>>,
}

const COUNT: usize = Control::ALL.len();
const _: () = assert!(COUNT <= 32);

impl Values {
    fn get(&self, control: Control) -> Option<i128> {
        let values = self.values.as_ref()?;
        (self.has & control.bit() != 0).then(|| values[usize::from(control.index())])
    }

    fn set(&mut self, control: Control, value: Option<i128>) {
        let at = usize::from(control.index());
        if let Some(value) = value {
            self.has |= control.bit();
            self.values.get_or_insert_with(|| Box::new([0; COUNT]))[at] = value;
        } else {
            self.has &= !control.bit();
            if let Some(values) = &mut self.values {
                values[at] = 0;
            }
            if self.has == 0 {
                self.values = None;
            }
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            values: Values::default(),
            filed: Values::default(),
            trading: Trading::Active,
        }
    }
}

impl Limits {
    /// A bit for each control that has a limit.
    pub(crate) fn controls(&self) -> u32 {
        self.values.has
    }

    /// The limit of a control.
    #[must_use]
    #[inline]
    pub fn get(&self, control: Control) -> Option<i128> {
        self.values.get(control)
    }

    /// The one that a file said last.
    pub(crate) fn filed(&self, control: Control) -> Option<i128> {
        self.filed.get(control)
    }

    pub(crate) fn set(&mut self, control: Control, value: Option<i128>) {
        self.values.set(control, value);
    }

    pub(crate) fn set_filed(&mut self, control: Control, value: Option<i128>) {
        self.filed.set(control, value);
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

    #[test]
    fn limits_are_those_that_were_set() {
        let mut limits = Limits::default();
        for control in Control::ALL.iter().rev() {
            limits.set(*control, Some(control.index().into()));
        }
        limits.set(Control::Credit, None);
        limits.set(Control::Loss, Some(99));
        for (value, control) in (0..).zip(Control::ALL) {
            let wanted = match control {
                Control::Credit => None,
                Control::Loss => Some(99),
                _ => Some(value),
            };
            assert_eq!(limits.get(*control), wanted, "{control}");
        }
    }
}
