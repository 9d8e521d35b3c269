//! Currencies of symbols, and their rates in the currency of the firm.

use core::fmt;

use crate::values::reason::{Reason, Why};

/// Currency(15): at most eight letters and digits.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct CurrencyCode(u64);

impl CurrencyCode {
    /// The currency with this code; `None` for a text that is no code.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 8];
        let is_code = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let place = bytes.get_mut(..text.len()).filter(|it| !it.is_empty())?;
        place.copy_from_slice(text.as_bytes());
        is_code.then_some(Self(u64::from_be_bytes(bytes)))
    }

    /// Whether this is its text.
    pub(crate) fn is(self, text: &[u8]) -> bool {
        let bytes = self.0.to_be_bytes();
        let end = bytes.iter().position(|byte| *byte == 0);
        bytes.get(..end.unwrap_or(bytes.len())) == Some(text)
    }

    /// The currency that the value of a reason names.
    pub(crate) fn of_reason(reason: &Reason) -> Self {
        Self(u64::try_from(reason.value).unwrap_or(0))
    }
}

impl fmt::Display for CurrencyCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0.to_be_bytes();
        let bytes = bytes.iter().filter(|byte| byte.is_ascii_alphanumeric());
        bytes
            .into_iter()
            .try_for_each(|byte| write!(f, "{}", char::from(*byte)))
    }
}

/// The time to which a known rate belongs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RateTime {
    /// The rate is always valid, as for the firm's own currency.
    Always,
    /// The rate is as of this time, in nanoseconds since 1970.
    AsOf(i64),
}

/// The currency of a symbol.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SymbolCurrency {
    /// The currency.
    pub code: CurrencyCode,
    /// The time of its rate; `None` when the file of rates does not have the currency.
    pub rate: Option<RateTime>,
    /// Maximum age of the rate, in nanoseconds; `None` for any age.
    pub max_age: Option<i64>,
}

impl SymbolCurrency {
    /// Checks that the currency has a rate that is not too old at the time `now`, in nanoseconds since 1970.
    ///
    /// # Errors
    ///
    /// The currency, and the age of the rate in seconds.
    pub(crate) fn check(&self, now: i64) -> Result<(), Reason> {
        const SECOND: i64 = 1_000_000_000;
        let refused = |why, age: i64| Reason {
            value: self.code.0.into(),
            limit: (age / SECOND).into(),
            ..Reason::of(why)
        };
        match (self.rate, self.max_age) {
            (None, _) => Err(refused(Why::NoRate, 0)),
            (Some(RateTime::AsOf(as_of)), Some(most)) if now.saturating_sub(as_of) > most => {
                Err(refused(Why::StaleRate, now.saturating_sub(as_of)))
            }
            (Some(RateTime::Always | RateTime::AsOf(_)), _) => Ok(()),
        }
    }
}
