//! The limits of a scope, by control.

use alloc::boxed::Box;
use core::fmt;

use crate::values::value::{MOST_QUANTITY_DECIMALS, Trading};

macro_rules! controls {
    ($($(#[$doc:meta])* $name:ident = $index:literal, $code:literal, $unit:ident;)+) => {
        /// A control with a limit: RC5 to RC17 of the pre-trade controls.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum RiskControl {
            $($(#[$doc])* $name,)+
        }

        impl RiskControl {
            /// All controls.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Number of the control in the journal.
            #[must_use]
            pub const fn index(self) -> u8 {
                match self {
                    $(Self::$name => $index,)+
                }
            }

            /// Code of the control in files and commands.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)+
                }
            }

            /// The unit of its limit.
            #[must_use]
            pub fn unit(self) -> LimitUnit {
                match self {
                    $(Self::$name => LimitUnit::$unit,)+
                }
            }
        }
    };
}

/// The unit of a limit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LimitUnit {
    /// Orders, messages, executions.
    Whole,
    /// Quantity of any instrument, in 10^-8.
    Quantity,
    /// Money, in 10^-9.
    Money,
    /// Percent, in 10^-9.
    Percent,
}

impl LimitUnit {
    /// Decimals in the journal.
    #[must_use]
    pub fn digits(self) -> u8 {
        match self {
            Self::Whole => 0,
            Self::Quantity => MOST_QUANTITY_DECIMALS,
            Self::Money | Self::Percent => 9,
        }
    }
}

controls! {
    /// RC6: the largest OrderQty(38).
    OrderQuantity = 0, "RC6", Quantity;
    /// RC7: the largest value of an order.
    Value = 1, "RC7", Money;
    /// RC8: maximum distance of a price from the reference price.
    Collar = 2, "RC8", Percent;
    /// RC13: open orders.
    OpenOrders = 3, "RC13", Whole;
    /// RC14: credit: reserved and traded today.
    Credit = 4, "RC14", Money;
    /// RC15: the largest long position, including open buy orders.
    Long = 5, "RC15-long", Quantity;
    /// RC15: the largest short position, including open sell orders.
    Short = 6, "RC15-short", Quantity;
    /// RC5: identical orders within a second.
    Repeated = 7, "RC5-1s", Whole;
    /// RC9: value of orders within a second.
    ValueSecond = 8, "RC9-value-1s", Money;
    /// RC9: value of orders within a minute.
    ValueMinute = 9, "RC9-value-60s", Money;
    /// RC9: value of today's orders.
    ValueDay = 10, "RC9-value-day", Money;
    /// RC9: quantity of orders within a second.
    QuantitySecond = 11, "RC9-quantity-1s", Quantity;
    /// RC9: quantity of orders within a minute.
    QuantityMinute = 12, "RC9-quantity-60s", Quantity;
    /// RC9: quantity of today's orders.
    QuantityDay = 13, "RC9-quantity-day", Quantity;
    /// RC10: orders and replaces within a second.
    Rate = 14, "RC10", Whole;
    /// RC10: cancels within a second.
    CancelRate = 15, "RC10-cancel", Whole;
    /// RC10: orders and replaces within a second, including rejected ones; above it the kill switch is activated.
    KillRate = 16, "RC10-kill", Whole;
    /// RC11: replaces of an order.
    Replaces = 17, "RC11-replaces", Whole;
    /// RC11: orders that the venue has not acknowledged.
    Unanswered = 18, "RC11-unanswered", Whole;
    /// RC11: orders and replaces per execution today.
    Ratio = 19, "RC11-ratio", Whole;
    /// RC12: executions within a minute; above it the kill switch is activated.
    Executions = 20, "RC12", Whole;
    /// RC17: loss of today; above it the kill switch is activated.
    Loss = 21, "RC17", Money;
}

impl RiskControl {
    /// The controls with this code; `RC15` stands for both of its limits.
    #[must_use]
    pub fn named(code: &str) -> &'static [Self] {
        match Self::ALL.iter().position(|control| control.code() == code) {
            Some(at) => &Self::ALL[at..=at],
            None if code == "RC15" => &[Self::Long, Self::Short],
            None => &[],
        }
    }

    /// The control with this number.
    #[must_use]
    pub fn of(index: u8) -> Option<Self> {
        Self::ALL.get(usize::from(index)).copied()
    }
}

impl fmt::Display for RiskControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl RiskControl {
    /// Whether every order must have a limit of this control at one or more of its scopes. Other controls apply only
    /// where a limit is set.
    #[must_use]
    pub const fn is_required(self) -> bool {
        self.index() <= Self::Short.index()
    }

    /// Whether the control checks new orders and rejects those above its limit.
    pub(crate) fn is_of_new_orders(self) -> bool {
        !matches!(
            self,
            Self::Replaces | Self::CancelRate | Self::KillRate | Self::Executions | Self::Loss
        )
    }

    /// Bit of the control in [`RiskLimits::controls`].
    pub(crate) const fn bit(self) -> u32 {
        1 << self.index()
    }

    /// Time window of the control; `None` when it counts current usage.
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

/// The limits and trading state of a scope.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RiskLimits {
    /// The current limits.
    pub(crate) values: Values,
    /// The limits as the limits file last set them. A limit that an operator sets is valid until the file changes that
    /// limit.
    pub(crate) filed: Values,
    /// The trading state.
    pub trading: Trading,
}

/// The values of the controls that have a value.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Values {
    /// A bit for each control that has a value.
    has: u32,
    /// Values by control number, 0 for a control without a value; `None` while no control has a value.
    values: Option<Box<[i128; COUNT]>>,
}

const COUNT: usize = RiskControl::ALL.len();
const _: () = assert!(COUNT <= 32);

impl Values {
    fn get(&self, control: RiskControl) -> Option<i128> {
        let values = self.values.as_ref()?;
        (self.has & control.bit() != 0).then(|| values[usize::from(control.index())])
    }

    fn set(&mut self, control: RiskControl, value: Option<i128>) {
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

impl Default for RiskLimits {
    fn default() -> Self {
        Self {
            values: Values::default(),
            filed: Values::default(),
            trading: Trading::Active,
        }
    }
}

impl RiskLimits {
    /// A bit for each control that has a limit.
    pub(crate) fn controls(&self) -> u32 {
        self.values.has
    }

    /// A bit for each control that has a limit, and the limits by control number; `None` if no control has a limit.
    #[inline]
    pub(crate) fn values(&self) -> Option<(u32, &[i128; COUNT])> {
        Some((self.values.has, self.values.values.as_deref()?))
    }

    /// The present limit of a control.
    #[must_use]
    #[inline]
    pub fn get(&self, control: RiskControl) -> Option<i128> {
        self.values.get(control)
    }

    /// The last limit of a control that the file has set.
    pub(crate) fn filed(&self, control: RiskControl) -> Option<i128> {
        self.filed.get(control)
    }

    pub(crate) fn set(&mut self, control: RiskControl, value: Option<i128>) {
        self.values.set(control, value);
    }

    pub(crate) fn set_filed(&mut self, control: RiskControl, value: Option<i128>) {
        self.filed.set(control, value);
    }
}

/// A time window in which flow is counted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Span {
    Second,
    Minute,
    Day,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_found_by_number_and_code() {
        for (index, control) in (0..).zip(RiskControl::ALL) {
            assert_eq!(control.index(), index);
            assert_eq!(RiskControl::of(index), Some(*control));
            assert_eq!(RiskControl::named(control.code()), &[*control]);
        }
        assert_eq!(
            RiskControl::named("RC15"),
            [RiskControl::Long, RiskControl::Short]
        );
        assert!(RiskControl::named("RC99").is_empty());
    }

    #[test]
    fn limits_are_those_that_were_set() {
        let mut limits = RiskLimits::default();
        for control in RiskControl::ALL.iter().rev() {
            limits.set(*control, Some(control.index().into()));
        }
        limits.set(RiskControl::Credit, None);
        limits.set(RiskControl::Loss, Some(99));
        for (value, control) in (0..).zip(RiskControl::ALL) {
            let wanted = match control {
                RiskControl::Credit => None,
                RiskControl::Loss => Some(99),
                _ => Some(value),
            };
            assert_eq!(limits.get(*control), wanted, "{control}");
        }
    }
}
