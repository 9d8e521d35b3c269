//! Values as text: numbers, prices, limits, counts, texts of messages.

use alloc::format;
use alloc::string::String;
use core::fmt::{self, Write as _};

use fixwire_protocol::Decimal;

use crate::values::fields::carried::each_field;
use crate::values::units::half_even;
use crate::values::value::{Amount, Price, Quantity};

/// Maximum length of Text(58), in bytes.
const TEXT: usize = 240;

/// A text in a fixed buffer; longer text is cut.
pub(crate) struct Sentence {
    bytes: [u8; TEXT],
    len: usize,
}

impl Sentence {
    pub(crate) fn new() -> Self {
        Self {
            bytes: [0; TEXT],
            len: 0,
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl fmt::Write for Sentence {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SOH would end the field.
        for byte in text.bytes().filter(|byte| *byte >= b' ') {
            if self.len < TEXT {
                self.bytes[self.len] = byte;
                self.len += 1;
            }
        }
        Ok(())
    }
}

/// One or two numbers as FIX writes them, with `-` between two.
pub(crate) struct Digits {
    bytes: [u8; 41],
    start: usize,
}

impl Digits {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    fn push(&mut self, byte: u8) {
        self.start -= 1;
        self.bytes[self.start] = byte;
    }

    fn put(&mut self, mut number: u64) {
        loop {
            self.push(b'0' + (number % 10) as u8);
            number /= 10;
            if number == 0 {
                return;
            }
        }
    }
}

/// A number in digits.
pub(crate) fn digits(number: u64) -> Digits {
    let bytes = [0; 41];
    let mut digits = Digits {
        start: bytes.len(),
        bytes,
    };
    digits.put(number);
    digits
}

/// Two numbers with `-` between them, such as `17-25`.
pub(crate) fn two_numbers(first: u64, second: u64) -> Digits {
    let mut both = digits(second);
    both.push(b'-');
    both.put(first);
    both
}

/// A price of an instrument.
pub(crate) fn price(price: Price, scale: u8) -> Decimal {
    let decimal = Decimal::new(price, scale);
    decimal.unwrap_or(Decimal::from_int(price)).normalized()
}

/// A quantity with the decimals of its instrument, to be written as a decimal number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Parts(pub Quantity, pub u8);

impl fmt::Display for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(quantity, scale) = *self;
        match scale {
            0 => quantity.fmt(f),
            _ => f.write_str(&figure(quantity.into(), scale)),
        }
    }
}

/// AvgPx(6): with four digits more than prices have, halves rounded to the even digit.
pub(crate) fn average(paid: Amount, filled: Quantity, scale: u8) -> Decimal {
    const MORE: u8 = 4;
    if filled == 0 {
        return Decimal::default();
    }
    let exact = |more: u8| {
        let paid = paid.checked_mul(10_i128.pow(more.into()))?;
        let average = half_even(paid, filled.into());
        Decimal::new(i64::try_from(average).ok()?, scale + more)
    };
    let average = exact(MORE).or_else(|| exact(0));
    average.unwrap_or_default().normalized()
}

/// Formats a value of a limit or a reason as a decimal.
#[must_use]
pub fn figure(value: i128, digits: u8) -> String {
    let one = 10_i128.pow(digits.into());
    let sign = if value < 0 { "-" } else { "" };
    let value = value.unsigned_abs();
    let (whole, part) = (value / one.unsigned_abs(), value % one.unsigned_abs());
    let mut text = alloc::format!("{sign}{whole}");
    if part > 0 {
        let digits = usize::from(digits);
        let part = alloc::format!("{part:0digits$}");
        text.push('.');
        text.push_str(part.trim_end_matches('0'));
    }
    text
}

/// Bytes of a message as text, without line breaks and tabs, which separate rows and columns.
pub(crate) fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let shown = text.chars();
    shown
        .map(|it| if it.is_control() { '?' } else { it })
        .collect()
}

/// Fields that a request carries as text, separated by `|`. A `|`, a `\`, a control character or a byte that is not UTF-8
/// is written as a code: `355=a\x7cb`, `58=\xe9t\xe9`.
pub(crate) fn carried(parts: &[&[u8]]) -> String {
    let mut shown = String::new();
    for field in parts.iter().flat_map(|part| each_field(part)) {
        let sign = if shown.is_empty() { "" } else { "|" };
        let _ = write!(shown, "{sign}{}=", field.tag);
        for chunk in field.value.utf8_chunks() {
            for char in chunk.valid().chars() {
                let _ = match char {
                    '|' | '\\' | '\0'..' ' | '\x7f' => write!(shown, "\\x{:02x}", u32::from(char)),
                    char => write!(shown, "{char}"),
                };
            }
            for byte in chunk.invalid() {
                let _ = write!(shown, "\\x{byte:02x}");
            }
        }
    }
    shown
}

/// A number with its noun: singular for 1, otherwise plural.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_full() {
        for number in [0, 7, 10, 1_234_567_890, u64::MAX] {
            assert_eq!(
                digits(number).bytes(),
                alloc::format!("{number}").as_bytes()
            );
            let both = alloc::format!("{number}-{}", u64::MAX);
            assert_eq!(two_numbers(number, u64::MAX).bytes(), both.as_bytes());
        }
    }

    #[test]
    fn fields_keep_each_byte() {
        let fields = "354=3\x01355=a|\\\x0158=\u{53f0}\u{e9}\x01".as_bytes();
        let latin = b"58=\xe9t\xe9\x01355=\xa5x\xbfn\x01";
        assert_eq!(
            carried(&[fields, latin]),
            "354=3|355=a\\x7c\\x5c|58=\u{53f0}\u{e9}|58=\\xe9t\\xe9|355=\\xa5x\\xbfn"
        );
    }

    #[test]
    fn figures_are_written_as_people_do() {
        assert_eq!(figure(1_500_000_000, 9), "1.5");
        assert_eq!(figure(-7, 0), "-7");
        assert_eq!(figure(2_000_000_001, 9), "2.000000001");
        assert_eq!(figure(0, 9), "0");
    }

    #[test]
    fn the_average_price_is_exact_where_it_can_be() {
        assert_eq!(
            average(301, 2, 1).normalized(),
            Decimal::new(1505, 2).unwrap()
        );
        assert_eq!(average(0, 0, 2), Decimal::from_int(0));
        assert_eq!(average(10, 3, 0), Decimal::new(33333, 4).unwrap());
        assert_eq!(average(20, 3, 0), Decimal::new(66667, 4).unwrap());
        // 0.00005 and 0.00015 are halves.
        assert_eq!(average(1, 20_000, 0), Decimal::from_int(0));
        assert_eq!(average(3, 20_000, 0), Decimal::new(2, 4).unwrap());
        assert_eq!(average(-3, 20_000, 0), Decimal::new(-2, 4).unwrap());
    }
}
