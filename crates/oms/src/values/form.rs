//! Format of the order numbers of a pool: a prefix and a fixed number of digits of an alphabet.

use alloc::string::String;
use alloc::vec::Vec;
use core::hash::Hasher;

use siphasher::sip::SipHasher13;

/// The longest number of a pool, in bytes.
pub(crate) const LONGEST: usize = 22;

/// The format of numbers: prefix, alphabet, and number of digits. The default format has no numbers.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct NumberForm {
    prefix: String,
    /// The digits of the alphabet: at least two, and none twice.
    digits: Vec<u8>,
    width: usize,
}

/// A number of a pool as text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    bytes: [u8; LONGEST],
    len: usize,
}

impl Written {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl NumberForm {
    /// A number format; `None` when numbers would be longer than 22 bytes, when the alphabet has fewer than two digits
    /// or a digit twice, or when there would be more than 2^64 numbers.
    #[must_use]
    pub fn new(prefix: &str, digits: &[u8], width: usize) -> Option<Self> {
        let is_known = |at: usize| digits[..at].contains(&digits[at]);
        let is_double = (0..digits.len()).any(is_known);
        let is_long = prefix.len().saturating_add(width) > LONGEST;
        if width == 0 || is_long || is_double || digits.len() < 2 {
            return None;
        }
        let base = digits.len() as u64;
        base.checked_pow(u32::try_from(width).ok()?)?;
        Some(Self {
            prefix: prefix.into(),
            digits: digits.into(),
            width,
        })
    }

    /// Number of bytes of each number, the prefix included.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.prefix.len() + self.width
    }

    /// Number of digits of each number, without the prefix.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The highest number that the format can have.
    #[must_use]
    pub fn highest(&self) -> u64 {
        (0..self.width).fold(1_u64, |all, _| all.saturating_mul(self.digits.len() as u64)) - 1
    }

    /// Writes a number; a number that is too high loses its first digits.
    pub(crate) fn write(&self, mut number: u64) -> Written {
        let mut written = Written {
            bytes: [0; LONGEST],
            len: self.prefix.len() + self.width,
        };
        let (prefix, digits) = written.bytes[..written.len].split_at_mut(self.prefix.len());
        prefix.copy_from_slice(self.prefix.as_bytes());
        let base = self.digits.len() as u64;
        for digit in digits.iter_mut().rev() {
            *digit = self.digits[(number % base) as usize];
            number /= base;
        }
        written
    }

    /// Reads a number with its prefix; `None` if it does not have this format.
    #[must_use]
    pub fn read(&self, text: &[u8]) -> Option<u64> {
        self.read_digits(text.strip_prefix(self.prefix.as_bytes())?)
    }

    /// Reads a number without its prefix; `None` if it does not have this format.
    #[must_use]
    pub fn read_digits(&self, text: &[u8]) -> Option<u64> {
        if text.len() != self.width {
            return None;
        }
        text.iter().try_fold(0, |number: u64, byte| {
            let digit = self.digits.iter().position(|it| it == byte)?;
            Some(number * self.digits.len() as u64 + digit as u64)
        })
    }

    /// Whether another format may produce the same texts, because both have the same length and compatible prefixes.
    pub(crate) fn may_meet(&self, other: &Self) -> bool {
        let is_as_long = self.prefix.len() + self.width == other.prefix.len() + other.width;
        let (short, long) = match self.prefix.len() < other.prefix.len() {
            true => (self, other),
            false => (other, self),
        };
        let rest = long.prefix.strip_prefix(short.prefix.as_str());
        let is_digit = |byte: u8| short.digits.contains(&byte);
        let begins = rest.is_some_and(|rest| rest.bytes().all(is_digit));
        let has_digit = long.digits.iter().any(|digit| short.digits.contains(digit));
        is_as_long && begins && has_digit
    }

    /// Hash of the format: different formats have different hashes.
    pub(crate) fn hash(&self) -> u64 {
        let mut hasher = SipHasher13::new();
        for part in [self.prefix.as_bytes(), &self.digits] {
            hasher.write_u64(part.len() as u64);
            hasher.write(part);
        }
        hasher.write_u64(self.width as u64);
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_as_they_are_written() {
        let digits: Vec<u8> = (b'0'..=b'9')
            .chain(b'A'..=b'Z')
            .chain(b'a'..=b'z')
            .collect();
        let form = NumberForm::new("T", &digits, 4).unwrap();
        assert_eq!(form.highest(), 62_u64.pow(4) - 1);
        for (number, text) in [
            (0, "T0000"),
            (61, "T000z"),
            (62, "T0010"),
            (62_u64.pow(4) - 1, "Tzzzz"),
        ] {
            assert_eq!(form.write(number).bytes(), text.as_bytes());
            assert_eq!(form.read(text.as_bytes()), Some(number));
        }
        for wrong in ["0000", "T000", "T00000", "T00-0", "X0000", ""] {
            assert_eq!(form.read(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn forms_that_cannot_be_counted_in_are_none() {
        assert!(NumberForm::new("", b"01", 22).is_some());
        assert!(NumberForm::new("", b"01", 23).is_none(), "too long");
        assert!(NumberForm::new("", b"0123456789", 20).is_none(), "too many");
        assert!(NumberForm::new("A", b"00", 2).is_none());
        assert!(NumberForm::new("A", b"0", 2).is_none());
        assert!(NumberForm::new("A", b"01", 0).is_none());
        let meet = |one: (&str, usize), other: (&str, usize)| {
            let form = |(prefix, width)| NumberForm::new(prefix, b"0123456789", width).unwrap();
            form(one).may_meet(&form(other))
        };
        assert!(meet(("A", 3), ("A0", 2)), "A001");
        assert!(!meet(("A", 3), ("AB", 2)));
        assert!(!meet(("A", 3), ("A0", 3)));
        let hash = |prefix: &str, digits: &[u8], width| {
            NumberForm::new(prefix, digits, width).unwrap().hash()
        };
        assert_ne!(hash("A0", b"12", 2), hash("A", b"012", 2));
    }
}
