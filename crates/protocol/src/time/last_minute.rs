//! Parses many timestamps one after the other. Nearly all timestamps are in the minute of the previous one.

use crate::decimal::digits::{are_figures, word_at};

use super::{TimeError, Timestamp, digits, fraction, split_timestamp};

/// Reads timestamps, and keeps the minute of the last valid one. If a text begins with the same minute, only seconds
/// and fraction are examined. The result for a text never depends on the texts that were read before.
#[derive(Clone, Debug)]
pub struct LastMinute {
    /// The date `YYYYMMDD` as a number. The date is 0, which no text has, until a time was read.
    date: u64,
    /// The text `-HH:MM:` as a number.
    minute: u64,
    /// When this minute begins, in seconds since 1970.
    seconds: i64,
}

/// The bits of `-HH:MM:` in a word of eight bytes.
const MINUTE: u64 = u64::MAX >> 8;

impl LastMinute {
    /// A reader that does not know a minute yet.
    pub const fn new() -> Self {
        Self {
            date: 0,
            minute: 0,
            seconds: 0,
        }
    }

    /// Reads a time as [`Timestamp::parse`] does.
    ///
    /// # Errors
    ///
    /// The errors of [`Timestamp::parse`].
    #[inline]
    pub fn parse(&mut self, text: &[u8]) -> Result<Timestamp, TimeError> {
        let (seconds, nanos) = self.split(text)?;
        Timestamp::from_parts(seconds, nanos)
    }

    /// As [`check_timestamp`](super::check_timestamp).
    #[inline]
    pub fn accepts(&mut self, text: &[u8]) -> bool {
        self.split(text).is_ok()
    }

    /// Whether the text from `start` to `end` is a valid time in the known minute, with milliseconds. `false` says
    /// nothing.
    #[inline(always)]
    pub(crate) fn has_milliseconds(&self, bytes: &[u8], start: usize, end: usize) -> bool {
        // The last digit of the minute and everything after it.
        const PATTERN: u64 = u64::from_le_bytes(*b"\0:00.000");
        const SIGNS: u64 = u64::from_le_bytes(*b"\0\xff\0\0\xff\0\0\0");
        const TENS: u64 = u64::from_le_bytes(*b"\0\0\xff\0\0\0\0\0");
        const SIX: u64 = u64::from_le_bytes(*b"\0\0\x06\0\0\0\0\0");
        let text = bytes.get(start..end).map(<&[u8; 21]>::try_from);
        let Some(Ok(text)) = text else {
            return false;
        };
        let word = |at| word_at(text, at).unwrap_or_default();
        let figures = (word(13) ^ PATTERN) & !0xff;
        word(0) == self.date
            && word(8) & MINUTE == self.minute
            && figures & SIGNS == 0
            && figures & TENS < SIX
            && are_figures(figures)
    }

    #[inline]
    fn split(&mut self, text: &[u8]) -> Result<(i64, i64), TimeError> {
        match self.behind_minute(text) {
            Some((second, nanos)) => Ok((self.seconds + i64::from(second), i64::from(nanos))),
            None => self.split_all(text),
        }
    }

    /// Second and nanoseconds of a valid text in the known minute.
    #[inline]
    fn behind_minute(&self, text: &[u8]) -> Option<(u32, u32)> {
        if text.len() < 17 || words(text)? != (self.date, self.minute) {
            return None;
        }
        let second = digits(text, 15, 2).ok().filter(|second| *second <= 60)?;
        let nanos = match text[17..] {
            // Most peers write milliseconds.
            [b'.', a @ b'0'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] => {
                let [a, b, c] = [a, b, c].map(|digit| u32::from(digit - b'0'));
                (a * 100 + b * 10 + c) * 1_000_000
            }
            _ => fraction(text, 17).ok()?,
        };
        Some((second, nanos))
    }

    #[cold]
    fn split_all(&mut self, text: &[u8]) -> Result<(i64, i64), TimeError> {
        let (seconds, nanos) = split_timestamp(text)?;
        if let (Some((date, minute)), Ok(second)) = (words(text), digits(text, 15, 2)) {
            *self = Self {
                date,
                minute,
                seconds: seconds - i64::from(second),
            };
        }
        Ok((seconds, nanos))
    }
}

impl Default for LastMinute {
    fn default() -> Self {
        Self::new()
    }
}

/// The date and the minute with which the text begins.
#[inline]
fn words(text: &[u8]) -> Option<(u64, u64)> {
    let (date, rest) = text.split_first_chunk()?;
    let minute = u64::from_le_bytes(*rest.first_chunk()?) & MINUTE;
    Some((u64::from_le_bytes(*date), minute))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::check_timestamp;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_known_minute_changes_nothing(
            texts in proptest::collection::vec(
                "(0000|1677|2026|9999)(0821|0921|0230|1231)[-x](13|23|24):(30|59|60)[:;][0-6][0-9:](\\.[0-9a]{0,13})?",
                1..20,
            ),
        ) {
            let (mut parses, mut accepts) = (LastMinute::new(), LastMinute::new());
            for text in &texts {
                let text = text.as_bytes();
                let bytes = [b"52=".as_slice(), text, b"0"].concat();
                if accepts.has_milliseconds(&bytes, 3, 3 + text.len()) {
                    prop_assert!(check_timestamp(text).is_ok());
                }
                prop_assert_eq!(parses.parse(text), Timestamp::parse(text));
                prop_assert_eq!(accepts.accepts(text), check_timestamp(text).is_ok());
            }
        }

        #[test]
        fn in_a_known_minute_seconds_and_fraction_are_read(
            text in "20260821-13:30:[0-6:][0-9:](\\.([0-9a]{0,13}|[0-9]{3}|[0-9:;]{3}))?",
        ) {
            let mut last = LastMinute::new();
            prop_assert_eq!(last.parse(b"20260821-13:30:59.5"), Err(TimeError::Length));
            prop_assert!(last.parse(b"20260821-13:30:60").is_ok());
            let usual = text.len() == 21 && !text[15..].starts_with('6') && check_timestamp(text.as_bytes()).is_ok();
            prop_assert_eq!(last.has_milliseconds(text.as_bytes(), 0, text.len()), usual);
            let known = last.behind_minute(text.as_bytes());
            prop_assert_eq!(known.is_some(), check_timestamp(text.as_bytes()).is_ok());
            prop_assert_eq!(last.parse(text.as_bytes()), Timestamp::parse(text.as_bytes()));
        }
    }
}
