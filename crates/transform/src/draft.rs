//! [`Draft`]: a message that can be edited.

use alloc::vec::Vec;
use core::num::NonZeroU32;
use core::ops::Range;

use fixwire_protocol::{Body, Message, SOH, Tag, tag};

/// Header and trailer fields that each session sets itself; a draft does not contain them.
pub(crate) const OF_THE_SESSION: [Tag; 16] = [
    tag::BEGIN_STRING,
    tag::BODY_LENGTH,
    tag::MSG_TYPE,
    tag::SENDER_COMP_ID,
    tag::TARGET_COMP_ID,
    tag::MSG_SEQ_NUM,
    tag::SENDER_SUB_ID,
    tag::TARGET_SUB_ID,
    tag::SENDER_LOCATION_ID,
    tag::TARGET_LOCATION_ID,
    tag::POSS_DUP_FLAG,
    tag::SENDING_TIME,
    tag::ORIG_SENDING_TIME,
    tag::LAST_MSG_SEQ_NUM_PROCESSED,
    tag::APPL_VER_ID,
    tag::CHECK_SUM,
];

/// Whether each session sets this field itself.
#[inline]
#[must_use]
pub fn is_of_the_session(tag: Tag) -> bool {
    const BELOW_64: u64 = {
        let (mut set, mut at) = (0, 0);
        while at < OF_THE_SESSION.len() {
            if OF_THE_SESSION[at] < 64 {
                set |= 1 << OF_THE_SESSION[at];
            }
            at += 1;
        }
        set
    };
    match tag {
        0..64 => BELOW_64 >> tag & 1 == 1,
        _ => OF_THE_SESSION.contains(&tag),
    }
}

/// Header fields that belong to the message. These header fields come before all other fields.
pub(crate) const HEADER: [Tag; 14] = [
    tag::ON_BEHALF_OF_COMP_ID,
    tag::ON_BEHALF_OF_SUB_ID,
    tag::ON_BEHALF_OF_LOCATION_ID,
    tag::DELIVER_TO_COMP_ID,
    tag::DELIVER_TO_SUB_ID,
    tag::DELIVER_TO_LOCATION_ID,
    tag::POSS_RESEND,
    tag::ON_BEHALF_OF_SENDING_TIME,
    tag::XML_DATA_LEN,
    tag::XML_DATA,
    tag::MESSAGE_ENCODING,
    tag::NO_HOPS,
    tag::HOP_COMP_ID,
    tag::HOP_SENDING_TIME,
];

/// Range of a value in the text of a message that is changed: index of its first byte, and index after its last byte.
pub(crate) type ValueSpan = (u32, u32);

/// Appends a value to a text; returns its range.
#[inline]
pub(crate) fn kept(text: &mut Vec<u8>, value: &[u8]) -> ValueSpan {
    let start = text.len() as u32;
    text.extend_from_slice(value);
    (start, text.len() as u32)
}

/// The range of the first field with this tag in the bytes of a message.
pub(crate) fn span_of(message: &Message<'_>, tag: Tag) -> Option<ValueSpan> {
    let field = message.fields()[message.index_of(tag)?];
    Some((field.start, field.end))
}

/// One field of a [`Draft`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub tag: Tag,
    pub value: ValueSpan,
    /// Index of the field's first byte, if the text has the field as `tag=value` and SOH. A field at index 0 is written
    /// like one without an index.
    pub start: Option<NonZeroU32>,
}

impl Part {
    /// A field whose tag does not precede its value in the text.
    #[inline]
    pub fn apart(tag: Tag, value: ValueSpan) -> Self {
        Self {
            tag,
            value,
            start: None,
        }
    }
}

/// The type and the fields of a message, in order, for reading, changing and writing. A draft is reused for each
/// message; its memory grows to the largest message.
///
/// Fields are accessed by index or by tag; a tag selects the first field with this tag. Which fields belong to which
/// entry of a repeating group is up to the caller.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    msg_type: ValueSpan,
    /// SendingTime of the received message.
    sending_time: ValueSpan,
    parts: Vec<Part>,
    /// The bytes of all values, in any order. Replaced values remain in the text.
    text: Vec<u8>,
    /// The encoded fields; filled when the draft is written.
    encoded: Vec<u8>,
}

impl Draft {
    /// An empty draft with capacity for this number of fields and bytes.
    #[must_use]
    pub fn with_capacity(fields: usize, bytes: usize) -> Self {
        Self {
            parts: Vec::with_capacity(fields),
            text: Vec::with_capacity(bytes),
            encoded: Vec::with_capacity(bytes),
            ..Self::default()
        }
    }

    /// Clears the draft, for a message of this type.
    pub fn begin(&mut self, msg_type: &[u8]) {
        self.clear();
        self.text.clear();
        self.sending_time = ValueSpan::default();
        self.set_msg_type(msg_type);
    }

    /// Removes all fields; the type stays.
    pub fn clear(&mut self) {
        self.parts.clear();
    }

    /// Copies a message, except the fields that each session sets itself.
    pub fn load(&mut self, message: &Message<'_>) {
        self.clear();
        self.text.clear();
        self.text.extend_from_slice(message.bytes());
        self.msg_type = span_of(message, tag::MSG_TYPE).unwrap_or_default();
        // A resent message counts as sent at the time of the original message.
        let first = span_of(message, tag::ORIG_SENDING_TIME);
        let first = first.filter(|_| message.is_poss_dup());
        let time = first.or_else(|| span_of(message, tag::SENDING_TIME));
        self.sending_time = time.unwrap_or_default();
        // Without a fault, each field begins after the SOH of the field before, and its tag has no leading zeros.
        let is_sound = message.fault().is_none();
        let mut next = 0;
        let carried = message.fields().iter().filter_map(|field| {
            let start = core::mem::replace(&mut next, field.end + 1);
            (!is_of_the_session(field.tag)).then_some(Part {
                tag: field.tag,
                value: (field.start, field.end),
                start: NonZeroU32::new(start).filter(|_| is_sound),
            })
        });
        self.parts.extend(carried);
    }

    /// Copies a message, but only its type and the fields with the tags that `takes` names.
    pub fn load_some(&mut self, message: &Message<'_>, takes: impl Fn(Tag) -> bool) {
        self.begin(message.msg_type());
        let is_sound = message.fault().is_none();
        let mut next = 0;
        for field in message.fields() {
            let start = core::mem::replace(&mut next, field.end + 1);
            if !takes(field.tag) {
                continue;
            }
            if !is_sound {
                self.push(field.tag, message.value(*field));
                continue;
            }
            let moved = self.text.len() as u32;
            let raw = &message.bytes()[start as usize..next as usize];
            self.text.extend_from_slice(raw);
            let value = (moved + field.start - start, moved + field.end - start);
            self.parts.push(Part {
                tag: field.tag,
                value,
                start: NonZeroU32::new(moved),
            });
        }
    }

    /// Copies another draft.
    pub fn copy_from(&mut self, other: &Self) {
        self.clear();
        self.text.clear();
        (self.msg_type, self.sending_time) = (other.msg_type, other.sending_time);
        self.parts.extend_from_slice(&other.parts);
        self.text.extend_from_slice(&other.text);
    }

    /// MsgType(35).
    #[must_use]
    #[inline]
    pub fn msg_type(&self) -> &[u8] {
        self.bytes(self.msg_type)
    }

    /// SendingTime(52) of the received message. Empty if the draft was not loaded from a message, or if the message
    /// had no SendingTime. SendingTime is not a field of the draft, because each session sets SendingTime itself.
    #[must_use]
    #[inline]
    pub fn sending_time(&self) -> &[u8] {
        self.bytes(self.sending_time)
    }

    /// Sets MsgType(35).
    pub fn set_msg_type(&mut self, msg_type: &[u8]) {
        self.msg_type = kept(&mut self.text, msg_type);
    }

    /// The number of fields.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether the draft has no field.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The tag of the field at an index; 0 after the last field.
    #[must_use]
    #[inline]
    pub fn tag(&self, at: usize) -> Tag {
        self.parts.get(at).map_or(0, |part| part.tag)
    }

    /// The value of the field at an index; empty after the last field.
    #[must_use]
    #[inline]
    pub fn value(&self, at: usize) -> &[u8] {
        self.bytes(self.span(at))
    }

    /// The index of the first field of this tag.
    #[must_use]
    #[inline]
    pub fn find(&self, tag: Tag) -> Option<usize> {
        self.parts.iter().position(|part| part.tag == tag)
    }

    /// The index of the first field of this tag within a range.
    #[must_use]
    #[inline]
    pub fn find_in(&self, range: Range<usize>, tag: Tag) -> Option<usize> {
        let start = range.start;
        let parts = self.parts.get(range).unwrap_or_default();
        let at = parts.iter().position(|part| part.tag == tag)?;
        Some(start + at)
    }

    /// The value of the first field of this tag.
    #[must_use]
    #[inline]
    pub fn get(&self, tag: Tag) -> Option<&[u8]> {
        self.find(tag).map(|at| self.value(at))
    }

    /// Sets the value of the first field with this tag. A missing field is added: a header field before the first
    /// body field, any other field at the end.
    pub fn set(&mut self, tag: Tag, value: &[u8]) {
        let value = kept(&mut self.text, value);
        self.set_span(tag, value);
    }

    /// Sets the value of the field at an index. Does nothing after the last field.
    pub fn set_at(&mut self, at: usize, value: &[u8]) {
        let value = kept(&mut self.text, value);
        self.set_span_at(at, value);
    }

    /// As [`Draft::set_at`], but a field that has this value already stays as it was received, which is written faster.
    pub fn change_at(&mut self, at: usize, value: &[u8]) {
        if self.value(at) != value {
            self.set_at(at, value);
        }
    }

    /// Sets the tag of the field at an index. Does nothing after the last field.
    #[inline]
    pub fn rename(&mut self, at: usize, tag: Tag) {
        if let Some(part) = self.parts.get_mut(at) {
            *part = Part::apart(tag, part.value);
        }
    }

    /// Adds a field at the end.
    pub fn push(&mut self, tag: Tag, value: &[u8]) {
        let start = self.text.len() as u32;
        put_field(&mut self.text, tag, value);
        let end = self.text.len() as u32 - 1;
        let value = (end - value.len() as u32, end);
        self.parts.push(Part {
            tag,
            value,
            start: NonZeroU32::new(start),
        });
    }

    /// Inserts a field before the field at an index. After the last field, appends it.
    pub fn insert(&mut self, at: usize, tag: Tag, value: &[u8]) {
        let value = kept(&mut self.text, value);
        self.insert_span(at, tag, value);
    }

    /// Removes the fields in a range; the part of the range after the last field is ignored.
    pub fn remove(&mut self, range: Range<usize>) {
        let end = range.end.min(self.parts.len());
        self.parts.drain(range.start.min(end)..end);
    }

    /// Removes the first field of this tag; returns whether it existed.
    pub fn remove_tag(&mut self, tag: Tag) -> bool {
        let found = self.find(tag);
        if let Some(at) = found {
            self.parts.remove(at);
        }
        found.is_some()
    }

    /// The range of the value at an index; empty after the last field.
    #[inline]
    pub(crate) fn span(&self, at: usize) -> ValueSpan {
        self.parts.get(at).map_or((0, 0), |part| part.value)
    }

    /// The bytes of a value, given by its range.
    #[inline]
    pub(crate) fn bytes(&self, span: ValueSpan) -> &[u8] {
        &self.text[range(span)]
    }

    /// The bytes of all values. Bytes added at the end can become the value of a field.
    pub(crate) fn text_mut(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Appends a field that is already in the text.
    #[inline]
    pub(crate) fn push_part(&mut self, part: Part) {
        self.parts.push(part);
    }

    /// The field at an index, which must exist.
    #[inline]
    pub(crate) fn part(&self, at: usize) -> Part {
        self.parts[at]
    }

    /// Exchanges the bytes of all values with another text.
    pub(crate) fn swap_text(&mut self, text: &mut Vec<u8>) {
        core::mem::swap(&mut self.text, text);
    }

    /// The range of MsgType(35).
    pub(crate) fn msg_type_span(&self) -> ValueSpan {
        self.msg_type
    }

    /// The range of [`Draft::sending_time`].
    pub(crate) fn sending_time_span(&self) -> ValueSpan {
        self.sending_time
    }

    /// As [`Draft::set_msg_type`], for a value that is already in the text.
    pub(crate) fn set_msg_type_span(&mut self, msg_type: ValueSpan) {
        self.msg_type = msg_type;
    }

    /// As [`Draft::set`], for a value that is already in the text.
    pub(crate) fn set_span(&mut self, tag: Tag, value: ValueSpan) {
        match self.find(tag) {
            Some(at) => self.set_span_at(at, value),
            None if HEADER.contains(&tag) => {
                let is_body = |part: &Part| !HEADER.contains(&part.tag);
                let at = self.parts.iter().position(is_body);
                self.insert_span(at.unwrap_or(self.parts.len()), tag, value);
            }
            None => self.push_part(Part::apart(tag, value)),
        }
    }

    /// As [`Draft::set_at`], for a value that is already in the text.
    pub(crate) fn set_span_at(&mut self, at: usize, value: ValueSpan) {
        if let Some(part) = self.parts.get_mut(at) {
            *part = Part::apart(part.tag, value);
        }
    }

    /// As [`Draft::insert`], for a value that is already in the text.
    pub(crate) fn insert_span(&mut self, at: usize, tag: Tag, value: ValueSpan) {
        let at = at.min(self.parts.len());
        self.parts.insert(at, Part::apart(tag, value));
    }

    /// Writes all fields.
    pub fn write(&mut self, body: &mut Body<'_>) {
        body.encoded(self.encode());
    }

    /// Encodes all fields as `tag=value`, each followed by SOH. Fields that stand in the text next to each other are
    /// copied together; if all do, nothing is copied.
    pub fn encode(&mut self) -> &[u8] {
        let Self {
            parts,
            text,
            encoded,
            ..
        } = self;
        encoded.clear();
        let mut run = 0..0;
        for part in parts.iter() {
            let end = part.value.1 as usize + 1;
            let start = part.start.map(|start| start.get() as usize);
            if start == Some(run.end) {
                run.end = end;
                continue;
            }
            if !run.is_empty() {
                encoded.extend_from_slice(&text[run]);
            }
            run = match start {
                Some(start) => start..end,
                None => {
                    put_field(encoded, part.tag, &text[range(part.value)]);
                    0..0
                }
            };
        }
        if encoded.is_empty() {
            return &text[run];
        }
        encoded.extend_from_slice(&text[run]);
        encoded
    }
}

#[inline]
fn range((start, end): ValueSpan) -> Range<usize> {
    start as usize..end as usize
}

/// Appends a field as `tag=value` and SOH.
fn put_field(to: &mut Vec<u8>, tag: Tag, value: &[u8]) {
    to.extend_from_slice(itoa::Buffer::new().format(tag).as_bytes());
    to.push(b'=');
    to.extend_from_slice(value);
    to.push(SOH);
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire_protocol::{Decoder, Outbox, SessionId};
    use proptest::prelude::*;
    use std::string::String;

    /// The fields of a message, as text with `|` for SOH.
    fn written(draft: &mut Draft) -> String {
        let mut outbox = Outbox::new(4096, 4, 256);
        let msg_type = draft.msg_type().to_vec();
        let mut body = outbox.begin(SessionId(0), &msg_type);
        draft.write(&mut body);
        body.finish().unwrap();
        String::from_utf8_lossy(outbox.body(0)).replace('\x01', "|")
    }

    fn loaded(text: &str) -> Draft {
        let bytes = text.replace('|', "\x01").into_bytes();
        let mut draft = Draft::default();
        draft.load(&Decoder::with_capacity(64).decode(&bytes));
        draft
    }

    const ORDER: &str =
        "8=FIX.4.2|9=1|35=D|34=2|49=A|56=B|52=T|115=C|11=1|78=2|79=x|80=5|79=y|80=6|10=000|";

    #[test]
    fn what_belongs_to_the_session_stays_behind() {
        let mut draft = loaded(ORDER);
        assert_eq!(draft.msg_type(), b"D");
        assert_eq!(draft.sending_time(), b"T");
        assert_eq!(written(&mut draft), "115=C|11=1|78=2|79=x|80=5|79=y|80=6|");
    }

    #[test]
    fn fields_are_set_renamed_added_and_taken_out_where_they_stand() {
        let mut draft = loaded(ORDER);
        draft.set(11, b"longer than before");
        draft.set(128, b"D");
        draft.set(58, b"end");
        let second = draft.find_in(draft.find(79).unwrap() + 1..draft.len(), 79);
        draft.rename(second.unwrap(), 467);
        draft.insert(draft.find(78).unwrap(), 1, b"before");
        assert!(draft.remove_tag(80));
        assert!(!draft.remove_tag(9999));
        assert_eq!(
            written(&mut draft),
            "115=C|128=D|11=longer than before|1=before|78=2|79=x|467=y|80=6|58=end|"
        );
        draft.remove(1..usize::MAX);
        assert_eq!(written(&mut draft), "115=C|");
    }

    #[test]
    fn without_its_fields_it_keeps_its_type() {
        let mut draft = loaded(ORDER);
        draft.clear();
        draft.push(58, b"new");
        assert_eq!(draft.msg_type(), b"D");
        assert_eq!(written(&mut draft), "58=new|");
    }

    #[test]
    fn a_data_field_may_hold_soh() {
        let mut draft = loaded("8=FIX.4.2|9=1|35=B|95=3|96=a|b|58=t|10=000|");
        assert_eq!(written(&mut draft), "95=3|96=a|b|58=t|");
    }

    #[test]
    fn nothing_happens_behind_the_last_field() {
        let mut draft = loaded("8=FIX.4.2|9=1|35=B|58=t|10=000|");
        draft.set_at(7, b"x");
        draft.rename(7, 1);
        draft.remove(7..9);
        assert_eq!((draft.tag(7), draft.value(7)), (0, &[][..]));
        assert_eq!(draft.find_in(5..9, 58), None);
        assert_eq!(written(&mut draft), "58=t|");
    }

    #[derive(Clone, Debug)]
    enum Edit {
        Set(Tag, String),
        SetAt(usize, String),
        Rename(usize, Tag),
        Push(Tag, String),
        Insert(usize, Tag, String),
        Remove(usize),
        /// Sets a field to the bytes of another field, where they stand.
        Share(usize, usize),
        Copy,
    }

    fn edit() -> impl Strategy<Value = Edit> {
        let tag = || prop_oneof![Just(11), Just(128), Just(58), 1..20_000_u32];
        let text = || "[a-c]{1,3}";
        let at = || 0..9_usize;
        prop_oneof![
            (tag(), text()).prop_map(|(tag, text)| Edit::Set(tag, text)),
            (at(), text()).prop_map(|(at, text)| Edit::SetAt(at, text)),
            (at(), tag()).prop_map(|(at, tag)| Edit::Rename(at, tag)),
            (tag(), text()).prop_map(|(tag, text)| Edit::Push(tag, text)),
            (at(), tag(), text()).prop_map(|(at, tag, text)| Edit::Insert(at, tag, text)),
            at().prop_map(Edit::Remove),
            (at(), at()).prop_map(|(to, from)| Edit::Share(to, from)),
            Just(Edit::Copy),
        ]
    }

    fn apply(edit: Edit, draft: &mut Draft) {
        match edit {
            Edit::Set(tag, text) => draft.set(tag, text.as_bytes()),
            Edit::SetAt(at, text) => draft.set_at(at, text.as_bytes()),
            Edit::Rename(at, tag) => draft.rename(at, tag),
            Edit::Push(tag, text) => draft.push(tag, text.as_bytes()),
            Edit::Insert(at, tag, text) => draft.insert(at, tag, text.as_bytes()),
            Edit::Remove(at) => draft.remove(at..at + 1),
            Edit::Share(to, from) => draft.set_span_at(to, draft.span(from)),
            Edit::Copy => {
                let mut copy = Draft::default();
                copy.copy_from(draft);
                *draft = copy;
            }
        }
    }

    /// The fields, encoded one by one.
    fn one_by_one(draft: &Draft) -> Vec<u8> {
        let mut text = Vec::new();
        for at in 0..draft.len() {
            put_field(&mut text, draft.tag(at), draft.value(at));
        }
        text
    }

    proptest! {
        /// Fields that are copied together are the same as fields written one by one.
        #[test]
        fn runs_of_fields_are_their_fields(
            fields in prop::collection::vec((1..20_000_u32, "[a-c|]{0,4}"), 0..9),
            edits in prop::collection::vec(edit(), 0..6),
            picks in any::<u8>(),
            is_sound in any::<bool>(),
        ) {
            let mut bytes = b"8=FIX.4.4\x0135=D\x01".to_vec();
            for (tag, value) in &fields {
                let value = value.replace('|', "");
                put_field(&mut bytes, *tag, value.as_bytes());
            }
            if !is_sound {
                bytes.extend_from_slice(b"\x01007=x\x01=\x0158=y");
            }
            let mut decoder = Decoder::with_capacity(64);
            let message = decoder.decode(&bytes);
            let mut draft = Draft::default();
            draft.load(&message);
            let mut some = Draft::default();
            let takes = |tag: Tag| picks >> (tag % 8) & 1 == 1;
            some.load_some(&message, takes);
            let taken = message.fields().iter().filter(|field| takes(field.tag));
            let taken: Vec<_> = taken.map(|field| (field.tag, message.value(*field))).collect();
            let held: Vec<_> = (0..some.len()).map(|at| (some.tag(at), some.value(at))).collect();
            prop_assert_eq!(held, taken);
            for mut draft in [draft, some] {
                for edit in edits.clone() {
                    apply(edit, &mut draft);
                    let wanted = one_by_one(&draft);
                    prop_assert_eq!(draft.encode(), &wanted[..]);
                }
            }
        }
    }

    #[test]
    fn the_next_message_takes_no_memory() {
        let bytes = ORDER.replace('|', "\x01").into_bytes();
        let mut decoder = Decoder::with_capacity(64);
        let mut draft = Draft::with_capacity(64, 1024);
        let mut outbox = Outbox::new(4096, 4, 256);
        let counted = allocation_counter::measure(|| {
            for _ in 0..100 {
                draft.load(&decoder.decode(&bytes));
                draft.set(11, b"another");
                draft.set(128, b"D");
                let mut body = outbox.begin(SessionId(0), b"D");
                draft.write(&mut body);
                body.finish().unwrap();
                outbox.clear();
            }
        });
        assert_eq!(counted.count_total, 0);
    }
}
