//! [`Rewriting`]: the form of an id at a venue.

use core::fmt;

use fixwire_ledger::{Put, Wire, bytes};

use super::OrdersError;

/// Maximum number of digits after a prefix: 36 to the power of 12 fits into 64 bits.
const DIGITS_MAX: usize = 12;
/// Minimum number of digits that must fit: 36 to the power of 6 is about two thousand million ids.
const DIGITS_MIN: usize = 6;
const PREFIX_MAX: usize = 8;
const DIGITS: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

bytes! {
    /// When an id is rewritten for a venue.
    When {
        /// Every id is rewritten.
        Always = 1,
        /// An id is rewritten only in three cases: the venue knows it as another client's id, it is too long for the
        /// venue, or it looks like a rewritten id.
        OnCollision = 2,
    }
}

/// The form of ids at a venue: a prefix, then a counter in base 36 (digits and upper case letters).
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct Rewriting {
    when: When,
    prefix: [u8; PREFIX_MAX],
    prefix_len: u8,
    max_len: u8,
}

/// Shows a form of ids, for example `Always 20 FW`.
impl fmt::Debug for Rewriting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = self.prefix().escape_ascii();
        write!(f, "{:?} {} {prefix}", self.when, self.max_len)
    }
}

impl<'a> Wire<'a> for Rewriting {
    fn put(&self, to: &mut impl Put) {
        self.when.put(to);
        self.max_len.put(to);
        self.prefix().put(to);
    }

    fn take(from: &mut &'a [u8]) -> Option<Self> {
        let (when, max_len) = (When::take(from)?, u8::take(from)?);
        let prefix = <&[u8]>::take(from)?;
        Self::new(when, prefix, max_len.into()).ok()
    }
}

impl Default for Rewriting {
    /// Rewrites on collision, with the prefix `FW` and ids of at most 64 bytes.
    fn default() -> Self {
        Self {
            when: When::OnCollision,
            prefix: *b"FW\0\0\0\0\0\0",
            prefix_len: 2,
            max_len: 64,
        }
    }
}

impl Rewriting {
    /// `prefix` is at most 8 visible ASCII characters, without `=`. `max_len` is the maximum length of an id at the
    /// venue, in bytes. Two gateways that use the same venue session need different prefixes.
    ///
    /// # Errors
    ///
    /// [`OrdersError::Prefix`] for an invalid prefix; [`OrdersError::MaxLen`] if `max_len` leaves room for fewer
    /// than 6 digits after the prefix, or is above 255.
    pub fn new(when: When, prefix: &[u8], max_len: usize) -> Result<Self, OrdersError> {
        let visible = |byte: &u8| byte.is_ascii_graphic() && *byte != b'=';
        if prefix.len() > PREFIX_MAX || !prefix.iter().all(visible) {
            return Err(OrdersError::Prefix);
        }
        let len = u8::try_from(max_len).map_err(|_| OrdersError::MaxLen)?;
        if max_len < prefix.len() + DIGITS_MIN {
            return Err(OrdersError::MaxLen);
        }
        let mut kept = [0; PREFIX_MAX];
        kept[..prefix.len()].copy_from_slice(prefix);
        Ok(Self {
            when,
            prefix: kept,
            prefix_len: prefix.len() as u8,
            max_len: len,
        })
    }

    /// When ids are rewritten.
    #[must_use]
    pub fn when(&self) -> When {
        self.when
    }

    /// Maximum length of an id.
    #[must_use]
    pub fn max_len(&self) -> usize {
        usize::from(self.max_len)
    }

    /// The prefix of a rewritten id.
    #[must_use]
    pub fn prefix(&self) -> &[u8] {
        &self.prefix[..usize::from(self.prefix_len)]
    }

    /// The last number that can be written, plus one.
    pub(super) fn end(&self) -> u64 {
        let digits = (self.max_len() - self.prefix().len()).min(DIGITS_MAX);
        36_u64.pow(digits as u32)
    }

    /// Whether a client's id must be rewritten even if no other client has the same id.
    pub(super) fn must(&self, id: &[u8]) -> bool {
        self.when == When::Always || id.len() > self.max_len() || self.is_ours(id)
    }

    /// Whether an id looks like a rewritten id of this form.
    fn is_ours(&self, id: &[u8]) -> bool {
        id.strip_prefix(self.prefix())
            .is_some_and(|rest| !rest.is_empty() && rest.iter().all(|byte| DIGITS.contains(byte)))
    }

    /// The id with this number, and the length of the id.
    pub(super) fn write(&self, number: u64) -> ([u8; PREFIX_MAX + 13], usize) {
        let mut backwards = [0; 13];
        let mut digits = 0;
        let mut rest = number;
        while digits == 0 || rest > 0 {
            backwards[digits] = DIGITS[(rest % 36) as usize];
            rest /= 36;
            digits += 1;
        }
        let mut text = [0; PREFIX_MAX + 13];
        let prefix = self.prefix();
        text[..prefix.len()].copy_from_slice(prefix);
        for (at, digit) in backwards[..digits].iter().rev().enumerate() {
            text[prefix.len() + at] = *digit;
        }
        (text, prefix.len() + digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(rewriting: &Rewriting, number: u64) -> std::string::String {
        let (text, len) = rewriting.write(number);
        std::string::String::from_utf8(text[..len].to_vec()).unwrap()
    }

    #[test]
    fn a_number_is_a_prefix_and_digits() {
        let rewriting = Rewriting::new(When::Always, b"FW-", 20).unwrap();
        assert_eq!(text(&rewriting, 0), "FW-0");
        assert_eq!(text(&rewriting, 35), "FW-Z");
        assert_eq!(text(&rewriting, 36), "FW-10");
        assert_eq!(text(&rewriting, u64::MAX), "FW-3W5E11264SGSF");
    }

    #[test]
    fn the_last_number_still_fits() {
        let rewriting = Rewriting::new(When::Always, b"ABC", 9).unwrap();
        assert_eq!(text(&rewriting, rewriting.end() - 1), "ABCZZZZZZ");
        let wide = Rewriting::new(When::Always, b"A", 40).unwrap();
        assert_eq!(text(&wide, wide.end() - 1).len(), 13);
    }

    #[test]
    fn what_looks_like_ours_is_rewritten() {
        let rewriting = Rewriting::new(When::OnCollision, b"FW", 9).unwrap();
        assert!(rewriting.must(b"FW7"));
        assert!(rewriting.must(b"longer than nine"));
        assert!(!rewriting.must(b"FW"));
        assert!(!rewriting.must(b"FWx"));
        assert!(!rewriting.must(b"7"));
    }

    #[test]
    fn what_cannot_be_text_or_has_no_room_is_refused() {
        let new = |prefix: &[u8], len| Rewriting::new(When::Always, prefix, len).err();
        assert_eq!(new(b"a b", 20), Some(OrdersError::Prefix));
        assert_eq!(new(b"a\x01", 20), Some(OrdersError::Prefix));
        assert_eq!(new(b"123456789", 20), Some(OrdersError::Prefix));
        assert_eq!(new(b"FW", 7), Some(OrdersError::MaxLen));
        assert_eq!(new(b"FW", 256), Some(OrdersError::MaxLen));
        assert_eq!(new(b"FW", 8), None);
    }
}
