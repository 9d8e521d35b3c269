//! A field's rules in the form that the pass reads.

use alloc::boxed::Box;
use alloc::vec;
use core::cell::Cell;

use crate::dictionary::kind::is_decimal;
use crate::dictionary::{FieldDef, Kind, set};
use crate::tag;

/// A part of a message, in the order of the wire.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Part {
    /// The standard header.
    Header,
    /// What the message type defines.
    Body,
    /// The standard trailer.
    Trailer,
}

/// The date of the last good timestamp. Nearly all timestamps of a day have it, and need no
/// calendar.
pub type Day = [u8; 8];

/// What validation needs to know of a field, in one place.
#[derive(Clone, Debug)]
pub(in crate::dictionary) struct Check {
    /// Which single characters are values, a bit each.
    letters: [u64; 2],
    /// Values of two to eight bytes as numbers: a hash table with open addressing, 0 where free.
    words: Box<[u64]>,
    look: Look,
    pub kind: Kind,
    pub part: Part,
    /// Counts the entries of a group.
    pub opens_group: bool,
    /// The transport dictionary has it.
    pub of_transport: bool,
}

/// What one quick look tells.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Look {
    /// Any text will do.
    Any,
    /// One of certain values.
    Listed,
    Timestamp,
    Decimal,
    /// Ask the type.
    Kind,
}

impl Check {
    pub fn new(field: &FieldDef) -> Self {
        let mut letters = [0; 2];
        let long = field
            .values
            .iter()
            .filter(|value| value.value.len() > 1)
            .count();
        let mut words = vec![
            0;
            if long == 0 {
                0
            } else {
                (long * 2).next_power_of_two()
            }
        ];
        for value in &field.values {
            match value.value.as_bytes() {
                [letter @ 0..128] => set(&mut letters, usize::from(*letter)),
                text => {
                    if let Some(word) = word(text) {
                        let at = place(&words, word);
                        words[at] = word;
                    }
                }
            }
        }
        let look = match field.kind {
            // The table of messages says which types there are.
            _ if field.tag == tag::MSG_TYPE => Look::Any,
            _ if !field.values.is_empty() => Look::Listed,
            Kind::UtcTimestamp => Look::Timestamp,
            kind if kind.is_decimal() => Look::Decimal,
            // Only types of text take this.
            kind if kind.accepts(b"\x02 ") => Look::Any,
            _ => Look::Kind,
        };
        Self {
            letters,
            words: words.into(),
            look,
            kind: field.kind,
            part: Part::Body,
            opens_group: false,
            of_transport: false,
        }
    }

    pub fn in_header(&mut self) {
        self.part = Part::Header;
    }

    pub fn in_trailer(&mut self) {
        self.part = Part::Trailer;
    }

    pub fn opens_group(&mut self) {
        self.opens_group = true;
    }

    pub fn of_transport(&mut self) {
        self.of_transport = true;
    }

    /// Whether the field has only certain values.
    pub fn is_listed(&self) -> bool {
        self.look == Look::Listed
    }

    /// Whether a value is good for sure. Some good ones take a longer look: several values, values
    /// of more than eight bytes.
    #[inline(always)]
    pub fn takes(&self, text: &[u8], day: &Cell<Day>) -> bool {
        match self.look {
            Look::Any => true,
            Look::Listed => match text {
                [letter @ 0..128] => {
                    self.letters[usize::from(letter / 64)] >> (letter % 64) & 1 == 1
                }
                _ => self.has_word(text),
            },
            Look::Timestamp => timestamp(text, day),
            Look::Decimal => is_decimal(text),
            Look::Kind => self.kind.accepts(text),
        }
    }

    fn has_word(&self, text: &[u8]) -> bool {
        !self.words.is_empty()
            && word(text).is_some_and(|word| self.words[place(&self.words, word)] == word)
    }
}

/// Up to eight bytes as one number; `None` for more, and for those whose end it would not show.
#[inline]
fn word(text: &[u8]) -> Option<u64> {
    if text.len() > 8 || text.last().is_none_or(|&last| last == 0) {
        return None;
    }
    Some(
        text.iter()
            .rev()
            .fold(0, |word, &byte| word << 8 | u64::from(byte)),
    )
}

/// Where the number stands in the table, or the free place where it would. The table is never
/// more than half full.
#[inline]
fn place(words: &[u64], word: u64) -> usize {
    let mask = words.len() - 1;
    let mut at = (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
    while words[at] != 0 && words[at] != word {
        at = (at + 1) & mask;
    }
    at
}

/// Whether text is a `UTCTimestamp`; as `time::check_timestamp`, but it knows the last good date.
#[inline]
fn timestamp(text: &[u8], day: &Cell<Day>) -> bool {
    let Some((date, clock)) = text.split_first_chunk() else {
        return false;
    };
    if *date == day.get() {
        return is_clock(clock);
    }
    let good = Kind::UtcTimestamp.accepts(text);
    if good {
        day.set(*date);
    }
    good
}

/// Whether text is `-13:30:00`, with or without a fraction.
#[inline]
fn is_clock(text: &[u8]) -> bool {
    let Some((time, fraction)) = text.split_first_chunk::<9>() else {
        return false;
    };
    let digit = |at: usize| time[at].wrapping_sub(b'0');
    let pair = |at: usize, below: u8| {
        (digit(at) <= 9)
            & (digit(at + 1) <= 9)
            & (digit(at).wrapping_mul(10).wrapping_add(digit(at + 1)) < below)
    };
    let marks = (time[0] == b'-') & (time[3] == b':') & (time[6] == b':');
    let moment = pair(1, 24) & pair(4, 60) & pair(7, 61);
    let fraction = match fraction {
        [] => true,
        [b'.', digits @ ..] => {
            matches!(digits.len(), 3 | 6 | 9 | 12) && digits.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    };
    marks & moment & fraction
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::check_timestamp;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_known_date_changes_nothing(text in "20260821-?[0-2][0-9][:;][0-6][0-9]:[0-6][0-9](\\.[0-9a]{0,13})?") {
            let known = timestamp(text.as_bytes(), &Cell::new(*b"20260821"));
            prop_assert_eq!(known, check_timestamp(text.as_bytes()).is_ok(), "{}", text);
        }

        #[test]
        fn a_word_is_listed_or_not(values in proptest::collection::vec("[A-Z0-9]{1,9}", 1..60), other in "[A-Z0-9]{1,9}") {
            let list = |value: &std::string::String| crate::dictionary::ValueDef { value: value.clone(), name: value.clone() };
            let field = FieldDef {
                tag: 167,
                name: "SecurityType".into(),
                kind: Kind::String,
                values: values.iter().map(list).collect(),
                partner: None,
            };
            let check = Check::new(&field);
            for value in &values {
                prop_assert!(value.len() > 8 || check.takes(value.as_bytes(), &Cell::default()));
            }
            prop_assert!(values.contains(&other) || !check.takes(other.as_bytes(), &Cell::default()));
        }
    }
}
