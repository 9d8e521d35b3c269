//! Converts values to numbers, flags and characters, for the methods of a message that read values.

use core::fmt;

use crate::decimal::DecimalError;
use crate::time::TimeError;
use crate::{Decimal, Timestamp};

/// Why a value does not have the type that was asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ValueError {
    /// The value has another form: SessionRejectReason(373) = 6.
    Form,
    /// The value has the right form, but our type cannot hold it.
    Range,
}

/// Reads a number without a sign. Zeros in front are allowed.
///
/// # Errors
///
/// [`ValueError::Form`] when the text has other characters than digits, or is empty. [`ValueError::Range`] above
/// `u64::MAX`.
#[inline]
pub fn uint(text: &[u8]) -> Result<u64, ValueError> {
    if text.is_empty() {
        return Err(ValueError::Form);
    }
    let mut value: u64 = 0;
    let mut fits = true;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Err(ValueError::Form);
        }
        match value
            .checked_mul(10)
            .and_then(|v| v.checked_add(u64::from(digit)))
        {
            Some(more) => value = more,
            None => fits = false,
        }
    }
    if fits {
        Ok(value)
    } else {
        Err(ValueError::Range)
    }
}

/// Reads a FIX `int`: digits, optionally with a minus in front.
///
/// # Errors
///
/// As for [`uint`], with the range of an `i64`.
#[inline]
pub fn int(text: &[u8]) -> Result<i64, ValueError> {
    match text.strip_prefix(b"-") {
        None => i64::try_from(uint(text)?).map_err(|_| ValueError::Range),
        Some(rest) => 0_i64
            .checked_sub_unsigned(uint(rest)?)
            .ok_or(ValueError::Range),
    }
}

/// Reads a FIX `Boolean`: `Y` or `N`.
///
/// # Errors
///
/// [`ValueError::Form`] for anything else.
#[inline]
pub fn boolean(text: &[u8]) -> Result<bool, ValueError> {
    match text {
        b"Y" => Ok(true),
        b"N" => Ok(false),
        _ => Err(ValueError::Form),
    }
}

/// Reads a FIX `char`: exactly one byte.
///
/// # Errors
///
/// [`ValueError::Form`] for anything else.
#[inline]
pub fn character(text: &[u8]) -> Result<u8, ValueError> {
    match text {
        [byte] => Ok(*byte),
        _ => Err(ValueError::Form),
    }
}

/// Reads a FIX `float`; see [`Decimal::parse`].
///
/// # Errors
///
/// [`ValueError::Form`] when the text is not a `float`. [`ValueError::Range`] when it has too many digits.
#[inline]
pub fn decimal(text: &[u8]) -> Result<Decimal, ValueError> {
    Decimal::parse(text).map_err(ValueError::from)
}

/// Reads a `UTCTimestamp`; see [`Timestamp::parse`].
///
/// # Errors
///
/// [`ValueError::Form`] when the text is not a `UTCTimestamp`. [`ValueError::Range`] for a year that we cannot hold.
#[inline]
pub fn time(text: &[u8]) -> Result<Timestamp, ValueError> {
    Timestamp::parse(text).map_err(ValueError::from)
}

impl From<TimeError> for ValueError {
    fn from(error: TimeError) -> Self {
        match error {
            TimeError::Range => Self::Range,
            _ => Self::Form,
        }
    }
}

impl From<DecimalError> for ValueError {
    fn from(error: DecimalError) -> Self {
        match error {
            DecimalError::Range => Self::Range,
            DecimalError::Form => Self::Form,
        }
    }
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => "value has the wrong format",
            Self::Range => "value is too large",
        })
    }
}

impl core::error::Error for ValueError {}
