//! Validation rules of a field, in the form that the validation pass reads.

use alloc::boxed::Box;
use alloc::vec;

use crate::dictionary::kind::{all_digits, is_decimal};
use crate::dictionary::{DataType, FieldDef, NO_SLOT, OtherValues, set};
use crate::tag;
use crate::time::LastMinute;

/// A part of a message. The order is that of the message.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum MessagePart {
    /// The standard header.
    Header,
    /// The fields that the message type defines.
    Body,
    /// The standard trailer.
    Trailer,
}

impl MessagePart {
    /// The part with this number.
    #[inline(always)]
    pub(super) fn numbered(part: u8) -> Self {
        match part {
            0 => Self::Header,
            1 => Self::Body,
            _ => Self::Trailer,
        }
    }
}

/// All validation data of a field.
#[derive(Clone, Debug)]
pub(in crate::dictionary) struct Check {
    /// The listed values of one character, one bit for each.
    letters: [u64; 2],
    /// The listed values of two to eight bytes as numbers. The values are in a hash table with open addressing; free
    /// places are 0.
    words: Box<[u64]>,
    look: Look,
    pub kind: DataType,
    pub part: MessagePart,
    /// Whether the transport dictionary has the field.
    pub of_transport: bool,
}

/// The facts that validation reads first about a low tag, in one word: the slot, above it the part of the message, and
/// in the highest byte how values are checked.
#[derive(Clone, Copy, Debug)]
pub(in crate::dictionary) struct Near(u32);

impl Near {
    /// A tag that no field has.
    pub const NONE: Self = Self(NO_SLOT as u32);

    const LETTERS: u32 = 1 << 24;
    const DIGITS: u32 = 2 << 24;
    const DECIMALS: u32 = 3 << 24;
    const TIMES: u32 = 4 << 24;
    const OTHERS: u32 = 5 << 24;

    /// Only the count of a group with one digit is valid, see [`Near::counting`].
    const COUNTED: u32 = 6 << 24;

    /// The field with this slot and this check.
    pub fn new(slot: u16, check: &Check) -> Self {
        let values = match check.look {
            Look::Any => 0,
            Look::Listed => Self::LETTERS,
            Look::Digits | Look::Int => Self::DIGITS,
            Look::Decimal => Self::DECIMALS,
            Look::Timestamp => Self::TIMES,
            Look::Kind | Look::Group => Self::OTHERS,
        };
        Self(u32::from(slot) | (check.part as u32) << 16 | values)
    }

    /// The slot of the field; [`NO_SLOT`] when no field has the tag.
    #[inline(always)]
    pub fn slot(self) -> u16 {
        self.0 as u16
    }

    /// The number of the part of the message.
    #[inline(always)]
    pub fn part(self) -> u8 {
        (self.0 >> 16) as u8
    }

    /// Whether every value except an empty one is valid.
    #[inline(always)]
    pub fn takes_any(self) -> bool {
        self.0 < Self::LETTERS
    }

    /// Whether listed values are valid, among them letters; others are not.
    #[inline(always)]
    pub fn takes_letters(self) -> bool {
        self.0 < Self::DIGITS
    }

    /// Whether values of digits alone are valid. The field takes no letters.
    #[inline(always)]
    pub fn takes_digits(self) -> bool {
        self.0 < Self::TIMES
    }

    /// Whether decimals are valid. The field takes digits.
    #[inline(always)]
    pub fn takes_decimals(self) -> bool {
        self.0 >= Self::DECIMALS
    }

    /// Whether times are valid. The field takes no digits.
    #[inline(always)]
    pub fn takes_times(self) -> bool {
        self.0 < Self::OTHERS
    }

    /// The same field with `digit` as its only valid value, in place of the part of the message. The field counts the
    /// entries of a group.
    pub fn counting(self, digit: u8) -> Self {
        Self(u32::from(self.slot()) | u32::from(digit) << 16 | Self::COUNTED)
    }

    /// The only valid value of [`Near::counting`]. The field takes no times.
    #[inline(always)]
    pub fn count(self) -> Option<u8> {
        (self.0 >= Self::COUNTED).then(|| self.part())
    }
}

/// How a value is checked quickly.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Look {
    /// Any text is valid.
    Any,
    /// Only listed values are valid.
    Listed,
    Timestamp,
    Decimal,
    /// Only values of digits are valid.
    Digits,
    /// Values of digits are valid, also with a minus in front.
    Int,
    /// The type of the field decides.
    Kind,
    /// The field counts the entries of a group, which are checked together with it.
    Group,
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
            // The table of messages tells which types exist.
            _ if field.tag == tag::MSG_TYPE => Look::Any,
            _ if !field.values.is_empty() && field.others != OtherValues::Any => Look::Listed,
            DataType::UtcTimestamp => Look::Timestamp,
            kind if kind.is_decimal() => Look::Decimal,
            DataType::Length | DataType::SeqNum | DataType::TagNum => Look::Digits,
            DataType::Int | DataType::NumInGroup => Look::Int,
            // Only text types accept this value.
            kind if kind.accepts(b"\x02 ") => Look::Any,
            _ => Look::Kind,
        };
        Self {
            letters,
            words: words.into(),
            look,
            kind: field.kind,
            part: MessagePart::Body,
            of_transport: false,
        }
    }

    pub fn in_header(&mut self) {
        self.part = MessagePart::Header;
    }

    pub fn in_trailer(&mut self) {
        self.part = MessagePart::Trailer;
    }

    pub fn open_group(&mut self) {
        self.look = Look::Group;
    }

    /// Whether the field counts the entries of a group.
    pub fn opens_group(&self) -> bool {
        self.look == Look::Group
    }

    pub fn of_transport(&mut self) {
        self.of_transport = true;
    }

    /// Whether the field lists its values.
    pub fn is_listed(&self) -> bool {
        self.look == Look::Listed
    }

    /// Whether a value is certainly valid. `false` does not mean that the value is invalid: a value that consists of
    /// several values, a value of more than eight bytes, or the count of a group must be examined further.
    #[inline(always)]
    pub fn takes(&self, text: &[u8], times: &mut LastMinute) -> bool {
        match (self.look, text) {
            (Look::Any, _) => true,
            (Look::Listed, [letter]) => self.lists_letter(*letter),
            _ => self.takes_longer(text, times),
        }
    }

    /// Whether this character is a listed value.
    #[inline(always)]
    pub fn lists_letter(&self, letter: u8) -> bool {
        letter < 128 && self.letters[usize::from(letter / 64)] >> (letter % 64) & 1 == 1
    }

    /// The part of [`Check::takes`] that needs more than a few instructions.
    #[inline(never)]
    fn takes_longer(&self, text: &[u8], times: &mut LastMinute) -> bool {
        match self.look {
            Look::Any => true,
            Look::Listed => self.has_word(text),
            Look::Timestamp => times.accepts(text),
            Look::Decimal => is_decimal(text),
            Look::Digits => all_digits(text),
            Look::Int => all_digits(text.strip_prefix(b"-").unwrap_or(text)),
            Look::Kind => self.kind.accepts(text),
            Look::Group => false,
        }
    }

    fn has_word(&self, text: &[u8]) -> bool {
        !self.words.is_empty()
            && word(text).is_some_and(|word| self.words[place(&self.words, word)] == word)
    }
}

/// A text of at most eight bytes as one number. `None` for a longer text, and for a text whose end the number would
/// not show.
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

/// The index of a number in the table, or of the free place for the number. At least half of the table is free.
#[inline]
fn place(words: &[u64], word: u64) -> usize {
    let mask = words.len() - 1;
    let mut at = (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
    while words[at] != 0 && words[at] != word {
        at = (at + 1) & mask;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_word_is_listed_or_not(values in proptest::collection::vec("[A-Z0-9]{1,9}", 1..60), other in "[A-Z0-9]{1,9}") {
            let list = |value: &std::string::String| crate::dictionary::ValueDef { value: value.clone(), name: value.clone() };
            let field = FieldDef {
                tag: 167,
                name: "SecurityType".into(),
                kind: DataType::String,
                values: values.iter().map(list).collect(),
                others: OtherValues::None,
                partner: None,
            };
            let check = Check::new(&field);
            for value in &values {
                prop_assert!(value.len() > 8 || check.takes(value.as_bytes(), &mut LastMinute::new()));
            }
            prop_assert!(values.contains(&other) || !check.takes(other.as_bytes(), &mut LastMinute::new()));
        }
    }
}
