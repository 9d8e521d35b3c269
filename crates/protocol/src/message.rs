//! A decoded message: its bytes, and the offsets of its fields.

use core::ops::Range;

use crate::decode::FieldFault;
use crate::value::{self, ValueError};
use crate::{Decimal, Tag, Timestamp};

/// The tag of a field, and the offsets of its value in the bytes of the message.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Field {
    /// The field's tag; 0 when the text before `=` is not a tag.
    pub tag: Tag,
    /// Offset of the first byte of the value.
    pub start: u32,
    /// Offset after the last byte of the value. The SOH is at this offset.
    pub end: u32,
}

/// A message as it was received. The message is borrowed from the receive buffer.
///
/// The fields are in the order of the message, from BeginString to CheckSum. Values are converted only when a caller
/// asks for them.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    bytes: &'a [u8],
    fields: &'a [Field],
    /// One bit for each tag of [`QUICK`] that the message has.
    present: u32,
    fault: Option<FieldFault>,
}

/// The decoder's findings about a message besides its fields. See [`Message::marks`].
#[derive(Clone, Copy, Debug)]
pub struct MessageMarks {
    present: u32,
    fault: Option<FieldFault>,
}

/// Tags of passwords: Password, NewPassword, EncryptedPassword and EncryptedNewPassword.
pub const SECRETS: [Tag; 4] = [554, 925, 1402, 1404];
/// The mark of all tags of secrets. This bit is above the marks of [`QUICK`].
pub(crate) const SECRET: u32 = 1 << 30;

/// The tags that a session looks up in every message. A bit for each tag says whether the message has the tag, so
/// that no search is needed. At most 30 tags fit.
pub(crate) const QUICK: [Tag; 16] = [
    34, 35, 36, 43, 49, 50, 52, 56, 57, 97, 115, 122, 123, 128, 142, 143,
];

impl<'a> Message<'a> {
    pub(crate) fn new(
        bytes: &'a [u8],
        fields: &'a [Field],
        present: u32,
        fault: Option<FieldFault>,
    ) -> Self {
        Self {
            bytes,
            fields,
            present,
            fault,
        }
    }

    /// With the bytes, the fields and these marks, [`Message::again`] makes the message again, without decoding it: in
    /// another thread, or later.
    #[inline]
    pub fn marks(&self) -> MessageMarks {
        MessageMarks {
            present: self.present,
            fault: self.fault,
        }
    }

    /// A message that was decoded before. All parts must be of the same message: the fields of another message have wrong
    /// values or none.
    #[inline]
    pub fn again(bytes: &'a [u8], fields: &'a [Field], marks: MessageMarks) -> Self {
        Self::new(bytes, fields, marks.present, marks.fault)
    }

    /// The whole message, from `8=` up to the SOH after CheckSum.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// All fields in the order of the message.
    #[inline]
    pub fn fields(&self) -> &'a [Field] {
        self.fields
    }

    /// The first malformed field, if there is one. All other fields can still be read.
    #[inline]
    pub fn fault(&self) -> Option<FieldFault> {
        self.fault
    }

    /// Whether the message has a field for a password. The type of the message does not matter.
    #[inline]
    pub fn has_secret(&self) -> bool {
        self.present & SECRET != 0
    }

    /// The value of one of this message's fields. The result is empty for a field of another message whose offsets do
    /// not fit.
    #[inline]
    pub fn value(&self, field: Field) -> &'a [u8] {
        self.bytes
            .get(field.start as usize..field.end as usize)
            .unwrap_or_default()
    }

    /// The bytes of a range of fields as they were received, with tags and separators. Empty when the range is empty
    /// or goes beyond the last field.
    pub fn raw(&self, fields: Range<usize>) -> &'a [u8] {
        if fields.is_empty() || fields.end > self.fields.len() {
            return &[];
        }
        let from = match fields.start {
            0 => 0,
            first => self.fields[first - 1].end as usize + 1,
        };
        let to = self.fields[fields.end - 1].end as usize + 1;
        self.bytes.get(from..to).unwrap_or_default()
    }

    /// The index of the first field with this tag in [`Message::fields`].
    #[inline]
    pub fn index_of(&self, tag: Tag) -> Option<usize> {
        if self.surely_absent(tag) {
            return None;
        }
        self.fields.iter().position(|field| field.tag == tag)
    }

    /// The value of the first field with this tag.
    #[inline]
    pub fn get(&self, tag: Tag) -> Option<&'a [u8]> {
        if self.surely_absent(tag) {
            return None;
        }
        self.fields
            .iter()
            .find(|field| field.tag == tag)
            .map(|field| self.value(*field))
    }

    /// Whether a field with this tag is present.
    #[inline]
    pub fn has(&self, tag: Tag) -> bool {
        self.index_of(tag).is_some()
    }

    /// Reads fields of the header. Reading is fast if the fields are requested in the order in which most peers write
    /// them.
    #[inline]
    pub(crate) fn usual_header(&self) -> UsualHeader<'_, 'a> {
        let begins_as_usual = matches!(
            self.fields,
            [
                Field { tag: 8, .. },
                Field { tag: 9, .. },
                Field { tag: 35, .. },
                ..
            ]
        );
        UsualHeader {
            message: self,
            rest: match begins_as_usual {
                true => &self.fields[3..],
                false => &[],
            },
        }
    }

    /// BeginString(8); empty when the first field is not a BeginString.
    #[inline]
    pub fn begin_string(&self) -> &'a [u8] {
        match self.fields.first() {
            Some(field) if field.tag == 8 => self.value(*field),
            _ => &[],
        }
    }

    /// MsgType(35); empty when the message has no MsgType.
    #[inline]
    pub fn msg_type(&self) -> &'a [u8] {
        match self.fields.get(2) {
            Some(field) if field.tag == 35 => self.value(*field),
            _ => self.get(35).unwrap_or_default(),
        }
    }

    /// Whether PossDupFlag(43) is Y. The peer may have sent the message before, with the same MsgSeqNum.
    #[must_use]
    pub fn is_poss_dup(&self) -> bool {
        self.get(crate::tag::POSS_DUP_FLAG) == Some(b"Y")
    }

    /// Whether PossResend(97) is Y. The peer may have sent the same content before, with another MsgSeqNum. The
    /// application must check whether it already has the ClOrdID(11), or whatever else identifies the content.
    #[must_use]
    pub fn is_poss_resend(&self) -> bool {
        self.get(crate::tag::POSS_RESEND) == Some(b"Y")
    }

    /// MsgSeqNum(34).
    #[inline]
    pub fn seq_num(&self) -> Option<Result<u64, ValueError>> {
        self.uint(34)
    }

    /// The value of a field as a number without a sign: `Length`, `SeqNum`, `NumInGroup`.
    #[inline]
    pub fn uint(&self, tag: Tag) -> Option<Result<u64, ValueError>> {
        self.get(tag).map(value::uint)
    }

    /// The value of a field as an `int`.
    #[inline]
    pub fn int(&self, tag: Tag) -> Option<Result<i64, ValueError>> {
        self.get(tag).map(value::int)
    }

    /// The value of a field as a `float`: `Price`, `Qty`, `Amt`.
    #[inline]
    pub fn decimal(&self, tag: Tag) -> Option<Result<Decimal, ValueError>> {
        self.get(tag).map(value::decimal)
    }

    /// The value of a field as a `UTCTimestamp`.
    #[inline]
    pub fn time(&self, tag: Tag) -> Option<Result<Timestamp, ValueError>> {
        self.get(tag).map(value::time)
    }

    /// The value of a field as a `Boolean`.
    #[inline]
    pub fn boolean(&self, tag: Tag) -> Option<Result<bool, ValueError>> {
        self.get(tag).map(value::boolean)
    }

    /// The value of a field as a `char`.
    #[inline]
    pub fn char(&self, tag: Tag) -> Option<Result<u8, ValueError>> {
        self.get(tag).map(value::character)
    }

    #[inline]
    fn surely_absent(&self, tag: Tag) -> bool {
        match quick_bit(tag) {
            0 => false,
            bit => self.present & bit == 0,
        }
    }
}

/// In an [`Indexed`] message, tags below this number are found without a search.
const INDEXED: usize = 256;

/// A message of which many fields are read. All its fields are visited once; after that, tags below 256 are found
/// without a search.
#[derive(Clone, Debug)]
pub struct Indexed<'m, 'a> {
    message: &'m Message<'a>,
    /// For each tag below 256, the index of its first field plus one. The value is 0 if the message does not have the
    /// tag.
    places: [u8; INDEXED],
}

impl<'m, 'a> Indexed<'m, 'a> {
    /// Visits all fields of a message.
    #[inline]
    #[must_use]
    pub fn new(message: &'m Message<'a>) -> Self {
        Self::new_with(message, |_| {})
    }

    /// Visits all fields of a message, and passes the tag of each to `visit`, in any order.
    #[inline(always)]
    #[must_use]
    pub fn new_with(message: &'m Message<'a>, visit: impl FnMut(Tag)) -> Self {
        let mut indexed = Self {
            message,
            places: [0; INDEXED],
        };
        indexed.look_through(visit);
        indexed
    }

    /// Visits all fields of a message, and lets `read` read it. Use this where speed matters, because
    /// [`new`](Self::new) would copy all places.
    #[inline(always)]
    pub fn read<T>(message: &'m Message<'a>, read: impl FnOnce(&Self) -> T) -> T {
        Self::read_with(message, |_| {}, read)
    }

    /// As [`read`](Self::read). The tag of each field is first passed to `visit`, in any order.
    #[inline(always)]
    pub fn read_with<T>(
        message: &'m Message<'a>,
        visit: impl FnMut(Tag),
        read: impl FnOnce(&Self) -> T,
    ) -> T {
        let mut indexed = Self {
            message,
            places: [0; INDEXED],
        };
        indexed.look_through(visit);
        read(&indexed)
    }

    #[inline(always)]
    fn look_through(&mut self, mut visit: impl FnMut(Tag)) {
        let fields = self.message.fields;
        // The index has no place for these.
        for field in fields.iter().skip(INDEXED - 1) {
            visit(field.tag);
        }
        // The fields are visited in reverse order, so that the first field with a tag counts.
        let mut place = fields.len().min(INDEXED - 1);
        while let Some(before) = place.checked_sub(1) {
            let tag = fields[before].tag;
            visit(tag);
            if let Some(known) = self.places.get_mut(tag as usize) {
                *known = place as u8;
            }
            place = before;
        }
    }

    /// The same value that [`Message::get`] gives.
    #[inline]
    #[must_use]
    pub fn get(&self, tag: Tag) -> Option<&'a [u8]> {
        match self.places.get(tag as usize) {
            Some(0) if self.message.fields.len() < INDEXED => None,
            Some(0) | None => self.message.get(tag),
            Some(place) => {
                let field = self.message.fields.get(usize::from(*place) - 1)?;
                Some(self.message.value(*field))
            }
        }
    }

    /// The value of a field as a `float`: `Price`, `Qty`, `Amt`.
    #[inline]
    #[must_use]
    pub fn decimal(&self, tag: Tag) -> Option<Result<Decimal, ValueError>> {
        self.get(tag).map(value::decimal)
    }

    /// The value of a field as a `UTCTimestamp`.
    #[inline]
    #[must_use]
    pub fn time(&self, tag: Tag) -> Option<Result<Timestamp, ValueError>> {
        self.get(tag).map(value::time)
    }
}

/// Gives the same results as [`Message::get`]. The look-up needs no search as long as each requested tag is directly
/// after the previous one.
pub(crate) struct UsualHeader<'m, 'a> {
    message: &'m Message<'a>,
    /// The fields after those that were found. The fields before have other tags than those that are still asked for.
    rest: &'m [Field],
}

impl<'a> UsualHeader<'_, 'a> {
    /// The value of the first field with this tag. A caller asks for each tag only once.
    #[inline]
    pub(crate) fn get(&mut self, tag: Tag) -> Option<&'a [u8]> {
        match self.rest {
            [field, rest @ ..] if field.tag == tag => {
                self.rest = rest;
                Some(self.message.value(*field))
            }
            _ => self.message.get(tag),
        }
    }
}

/// The bit of a tag in [`QUICK`]; 0 for other tags. The compiler evaluates this for a constant tag.
#[inline]
pub(crate) const fn quick_bit(tag: Tag) -> u32 {
    let mut i = 0;
    while i < QUICK.len() {
        if QUICK[i] == tag {
            return 1 << i;
        }
        i += 1;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decoder;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_index_finds_what_a_search_finds(
            tags in proptest::collection::vec(prop_oneof![1u32..300, Just(11), Just(5700)], 0..600),
        ) {
            let tags = tags.iter().enumerate();
            let text: std::string::String = tags.map(|(i, tag)| std::format!("{tag}=v{i}\x01")).collect();
            let mut decoder = Decoder::with_capacity(600);
            let message = decoder.decode(text.as_bytes());
            let indexed = Indexed::new(&message);
            for tag in (1..300).chain([5700]) {
                prop_assert_eq!(indexed.get(tag), message.get(tag), "{} in {}", tag, text);
            }
        }

        #[test]
        fn a_message_is_made_again_from_its_parts(
            tags in proptest::collection::vec(
                prop_oneof![Just(8), Just(34), Just(43), Just(55), Just(554), Just(0)], 0..8
            ),
        ) {
            let tags = tags.iter().enumerate();
            let text: std::string::String = tags.map(|(i, tag)| std::format!("{tag}=v{i}\x01")).collect();
            let mut decoder = Decoder::with_capacity(16);
            let message = decoder.decode(text.as_bytes());
            let (bytes, fields) = (message.bytes().to_vec(), message.fields().to_vec());
            let again = Message::again(&bytes, &fields, message.marks());
            prop_assert_eq!(again.fault(), message.fault());
            prop_assert_eq!(again.has_secret(), message.has_secret());
            for tag in [8, 34, 43, 52, 55, 554] {
                prop_assert_eq!(again.get(tag), message.get(tag), "{} in {}", tag, text);
            }
        }

        #[test]
        fn a_usual_header_is_read_as_any_other(
            begins in any::<bool>(),
            tags in proptest::collection::vec(
                prop_oneof![Just(8), Just(34), Just(35), Just(49), Just(52), Just(56)], 0..8
            ),
        ) {
            let begin: &[Tag] = if begins { &[8, 9, 35] } else { &[] };
            let tags = begin.iter().chain(&tags).enumerate();
            let text: std::string::String = tags.map(|(i, tag)| std::format!("{tag}=v{i}\x01")).collect();
            let mut decoder = Decoder::with_capacity(16);
            let message = decoder.decode(text.as_bytes());
            let mut header = message.usual_header();
            for tag in [34, 49, 52, 56] {
                prop_assert_eq!(header.get(tag), message.get(tag), "{} in {}", tag, text);
            }
        }
    }
}
