//! Controls that are turned off for one order, when an operator runs it again.

use alloc::format;
use alloc::string::String;

use crate::values::limits::RiskControl;
use crate::values::reason::Why;

/// Controls that are turned off for an order.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Waived {
    /// A bit for each control with a limit that is turned off.
    pub limits: u32,
    /// Whether RC3, restricted lists, is turned off.
    pub restricted: bool,
    /// Whether RC16, self-trade prevention, is turned off.
    pub self_trade: bool,
    /// Whether RC18, the state of the market, is turned off.
    pub market: bool,
}

impl Waived {
    /// Reads codes separated by commas, such as `RC8,RC9`.
    ///
    /// # Errors
    ///
    /// A code that is no control of a new order, or a control that is never off.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut waived = Self::default();
        for code in text.split(',') {
            match code {
                "RC3" => waived.restricted = true,
                "RC16" => waived.self_trade = true,
                "RC18" => waived.market = true,
                "RC1" | "RC2" | "RC4" => {
                    return Err(format!(
                        "{code} is never off: a kill switch is armed with fixwire oms arm; account, \
                         symbol and rights come from the settings"
                    ));
                }
                _ => waived.limits |= Self::limits_of(code)?,
            }
        }
        Ok(waived)
    }

    fn limits_of(code: &str) -> Result<u32, String> {
        let all = RiskControl::ALL.iter();
        let all = all.filter(|control| control.is_of_new_orders());
        let named = all.filter(|control| {
            let rest = control.code().strip_prefix(code);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        });
        match named.fold(0, |bits, control| bits | control.bit()) {
            0 => Err(format!(
                "unknown control {code}: name those that are off, separated by commas, of RC3, RC5 to RC11, \
                 RC13 to RC16 and RC18, or one limit such as RC9-value-1s"
            )),
            bits => Ok(bits),
        }
    }
}

/// Whether an order that was rejected for this reason may be run again.
pub(crate) fn may_be_off(why: Why) -> bool {
    why == Why::NoLimit || (!matches!(why.control(), "" | "RC1" | "RC2" | "RC4" | "RC20"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_stands_for_all_limits_of_its_control() {
        let limits = |text: &str| Waived::parse(text).map(|it| it.limits.count_ones());
        assert_eq!(limits("RC8"), Ok(1));
        assert_eq!(limits("RC9"), Ok(6));
        assert_eq!(limits("RC9-value"), Ok(3));
        assert_eq!(limits("RC9-value-1s,RC15"), Ok(3));
        assert_eq!(limits("RC10"), Ok(1), "not the one that kills");
        assert_eq!(limits("RC11"), Ok(2));
        assert_eq!(limits("RC3,RC16,RC18"), Ok(0));
        for text in [
            "", "RC", "RC1", "RC2", "RC4", "RC8,", "RC12", "RC17", "rc8", "RC8 RC9", "RC1-x",
        ] {
            assert!(Waived::parse(text).is_err(), "{text}");
        }
    }
}
