//! Exact decimal numbers. Prices and quantities keep the form in which they are written.

use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};

pub(crate) mod digits;

/// A number: `mantissa` times ten to the power of minus `scale`.
///
/// Zeros at the end are kept: `1.50` has mantissa 150 and scale 2, and is written as `1.50` again. Two decimals are
/// equal when they are the same number.
#[derive(Clone, Copy, Default)]
pub struct Decimal {
    /// All digits as one number, without the decimal point.
    pub mantissa: i64,
    /// Number of digits after the decimal point, at most [`Decimal::MAX_SCALE`].
    pub scale: u8,
}

/// Why text is not a decimal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum DecimalError {
    /// The text is not a `-`, digits and at most one `.`. The text has, for example, an exponent, a plus sign or
    /// letters, or is empty.
    Form,
    /// The text is a number, but has more digits than a [`Decimal`] can hold.
    Range,
}

impl Decimal {
    /// Maximum number of digits after the decimal point.
    pub const MAX_SCALE: u8 = 18;
    /// Maximum length of the text that [`Decimal::write`] makes, in bytes.
    pub const MAX_TEXT: usize = 21;

    /// A decimal from its parts; `None` when the scale is above [`Decimal::MAX_SCALE`].
    pub const fn new(mantissa: i64, scale: u8) -> Option<Self> {
        if scale > Self::MAX_SCALE {
            return None;
        }
        Some(Self { mantissa, scale })
    }

    /// A whole number.
    pub const fn from_int(value: i64) -> Self {
        Self {
            mantissa: value,
            scale: 0,
        }
    }

    /// Reads a FIX `float`: an optional `-`, digits and at most one decimal point. There must be at least one digit.
    /// Zeros at the beginning are allowed, and the point may be at either end.
    ///
    /// # Errors
    ///
    /// [`DecimalError::Form`] when the text is not a FIX float (SessionRejectReason(373) = 6).
    /// [`DecimalError::Range`] when the text is a FIX float with more digits than fit; its bytes can still be passed
    /// on.
    ///
    /// # Source
    ///
    /// FIX 4.4 Volume 1, data type `float`.
    #[inline]
    pub fn parse(text: &[u8]) -> Result<Self, DecimalError> {
        // Many quantities of reports are 0.
        if let [digit @ b'0'..=b'9'] = text {
            return Ok(Self::from_int(i64::from(digit - b'0')));
        }
        let (negative, rest) = match text {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, text),
        };
        if rest.len() > 18 {
            return parse_long(negative, rest);
        }
        // A number of at most 18 digits cannot overflow.
        let mut mantissa: i64 = 0;
        let mut point = None;
        for (i, byte) in rest.iter().enumerate() {
            let digit = byte.wrapping_sub(b'0');
            if digit <= 9 {
                mantissa = mantissa * 10 + i64::from(digit);
            } else if *byte == b'.' && point.is_none() {
                point = Some(i);
            } else {
                return Err(DecimalError::Form);
            }
        }
        if rest.len() == usize::from(point.is_some()) {
            return Err(DecimalError::Form);
        }
        Ok(Self {
            mantissa: if negative { -mantissa } else { mantissa },
            scale: point.map_or(0, |at| (rest.len() - at - 1) as u8),
        })
    }

    /// Compares a FIX `float` of any number of digits with a decimal: whether the text is less than, equal to or
    /// greater than `with`.
    ///
    /// # Errors
    ///
    /// [`DecimalError::Form`] when the text is not a FIX float.
    #[inline]
    pub fn compare(text: &[u8], with: Self) -> Result<Ordering, DecimalError> {
        match Self::parse(text) {
            Ok(number) => Ok(number.cmp(&with)),
            Err(DecimalError::Form) => Err(DecimalError::Form),
            Err(DecimalError::Range) => {
                let mut digits = [0; Self::MAX_TEXT];
                let start = with.write(&mut digits);
                compare_floats(text, &digits[start..])
            }
        }
    }

    /// Writes the number at the end of `out`. Returns the offset at which the text begins.
    #[inline]
    pub fn write(self, out: &mut [u8; Self::MAX_TEXT]) -> usize {
        let scale = self.scale.min(Self::MAX_SCALE);
        let mut at = out.len();
        let mut rest = self.mantissa.unsigned_abs();
        let mut written = 0;
        loop {
            if written == scale && scale > 0 {
                at -= 1;
                out[at] = b'.';
            }
            at -= 1;
            out[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            written += 1;
            if rest == 0 && written > scale {
                break;
            }
        }
        if self.mantissa < 0 {
            at -= 1;
            out[at] = b'-';
        }
        at
    }

    /// The same number without trailing zeros after the decimal point.
    pub fn normalized(self) -> Self {
        let mut short = self;
        while short.scale > 0 && short.mantissa % 10 == 0 {
            short.mantissa /= 10;
            short.scale -= 1;
        }
        short
    }
}

/// Checks that a text is a FIX `float`, with any number of digits.
///
/// # Errors
///
/// [`DecimalError::Form`] when the text is not a FIX float.
#[inline]
pub fn check_float(text: &[u8]) -> Result<(), DecimalError> {
    let rest = text.strip_prefix(b"-").unwrap_or(text);
    let mut points = 0;
    for byte in rest {
        match byte {
            b'0'..=b'9' => {}
            b'.' => points += 1,
            _ => return Err(DecimalError::Form),
        }
    }
    if points > 1 || rest.len() == points {
        return Err(DecimalError::Form);
    }
    Ok(())
}

/// Compares two FIX `float`s of any number of digits.
///
/// # Errors
///
/// [`DecimalError::Form`] when one of the texts is not a FIX float.
#[cold]
pub fn compare_floats(left: &[u8], right: &[u8]) -> Result<Ordering, DecimalError> {
    check_float(left)?;
    check_float(right)?;
    let (left, right) = (Digits::of(left), Digits::of(right));
    Ok(match (left.is_negative, right.is_negative) {
        (false, true) => Ordering::Greater,
        (true, false) => Ordering::Less,
        (false, false) => left.size().cmp(&right.size()),
        (true, true) => right.size().cmp(&left.size()),
    })
}

/// The digits of a FIX `float`, without zeros at either end.
struct Digits<'t> {
    /// Whether the number is below zero.
    is_negative: bool,
    whole: &'t [u8],
    fraction: &'t [u8],
}

impl<'t> Digits<'t> {
    /// The text is a FIX float.
    fn of(text: &'t [u8]) -> Self {
        let rest = text.strip_prefix(b"-").unwrap_or(text);
        let mut parts = rest.splitn(2, |byte| *byte == b'.');
        let mut whole = parts.next().unwrap_or_default();
        let mut fraction = parts.next().unwrap_or_default();
        while let [b'0', tail @ ..] = whole {
            whole = tail;
        }
        while let [head @ .., b'0'] = fraction {
            fraction = head;
        }
        let is_zero = whole.is_empty() && fraction.is_empty();
        Self {
            is_negative: text.len() != rest.len() && !is_zero,
            whole,
            fraction,
        }
    }

    /// A value that sorts as the number without its sign.
    fn size(&self) -> (usize, &'t [u8], &'t [u8]) {
        (self.whole.len(), self.whole, self.fraction)
    }
}

#[cold]
fn parse_long(negative: bool, rest: &[u8]) -> Result<Decimal, DecimalError> {
    if rest.first() == Some(&b'-') {
        return Err(DecimalError::Form);
    }
    check_float(rest)?;
    let mut mantissa: i64 = 0;
    for byte in rest.iter().filter(|b| **b != b'.') {
        let digit = i64::from(byte - b'0');
        mantissa = mantissa
            .checked_mul(10)
            .and_then(|m| {
                if negative {
                    m.checked_sub(digit)
                } else {
                    m.checked_add(digit)
                }
            })
            .ok_or(DecimalError::Range)?;
    }
    let scale = rest
        .iter()
        .position(|b| *b == b'.')
        .map_or(0, |at| rest.len() - at - 1);
    match u8::try_from(scale) {
        Ok(scale) => Decimal::new(mantissa, scale).ok_or(DecimalError::Range),
        Err(_) => Err(DecimalError::Range),
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        // A 63-bit number times 10^18 fits into 127 bits.
        let widen = |d: &Self| {
            let up = Self::MAX_SCALE - d.scale.min(Self::MAX_SCALE);
            i128::from(d.mantissa) * 10_i128.pow(u32::from(up))
        };
        if self.scale == other.scale {
            self.mantissa.cmp(&other.mantissa)
        } else {
            widen(self).cmp(&widen(other))
        }
    }
}

impl Hash for Decimal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let short = self.normalized();
        short.mantissa.hash(state);
        short.scale.hash(state);
    }
}

/// Shows the number as in a message.
impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; Self::MAX_TEXT];
        let at = self.write(&mut text);
        f.pad(core::str::from_utf8(&text[at..]).unwrap_or_default())
    }
}

impl fmt::Display for DecimalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => "not a decimal: expected digits with at most one decimal point",
            Self::Range => "decimal has too many digits",
        })
    }
}

impl core::error::Error for DecimalError {}

#[cfg(test)]
mod tests;
