//! An outbound admin message that the application may still change.
//!
//! The fields are changed in a copy. At the end the copy replaces what the session has written. If the changed
//! message would not fit, it is sent as the session has written it.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use zeroize::Zeroize;

use super::{HeaderTemplate, Outbox, SLACK, State};
use crate::decode::DATA_PAIRS;
use crate::put::digits;
use crate::repeat::{field_at, in_header};
use crate::{SOH, Tag, tag, value};

/// The highest tag that a message may have. The highest tag has nine digits.
const MAX_TAG: Tag = 999_999_999;
/// Maximum number of refused fields of one message that are kept for the operator.
const MAX_REFUSALS: usize = 16;

/// An admin message (MsgType 0 to 5 or A) that is about to be sent: its header as it will be written, and its fields.
/// The application may add and change fields, except those that belong to the session. Fields of the session are the
/// fields of header and trailer, fields that move or reset sequence numbers, fields that refer to other messages, and
/// in a Logon the fields that the session uses. If a field is refused, the other fields are not affected.
pub struct AdminOut<'a> {
    header: &'a HeaderTemplate,
    msg_type: &'a [u8],
    seq: u64,
    seq_text: &'a [u8],
    sending_time: &'a [u8],
    /// The fields that the session has written.
    written: &'a [u8],
    edit: &'a mut Edit,
    /// Number of bytes by which the message may grow.
    room: usize,
}

/// The fields of one message while they are changed. No memory is allocated until a field is changed.
#[derive(Default)]
pub(super) struct Edit {
    fields: Vec<u8>,
    is_changed: bool,
    lacks_room: bool,
    /// Pairs of length and data fields that are not in [`DATA_PAIRS`].
    pairs: Vec<(Tag, Tag)>,
    refused: Vec<AdminOutError>,
}

impl fmt::Debug for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A field that was added to a Logon may be a secret.
        f.debug_struct("Edit").finish_non_exhaustive()
    }
}

impl AdminOut<'_> {
    /// MsgType(35).
    #[must_use]
    pub fn msg_type(&self) -> &[u8] {
        self.msg_type
    }

    /// The MsgSeqNum(34) that the message gets.
    #[must_use]
    pub fn seq_num(&self) -> u64 {
        self.seq
    }

    /// SendingTime(52) in the form that will be written, for example `20260821-13:30:00.123`.
    #[must_use]
    pub fn sending_time(&self) -> &[u8] {
        self.sending_time
    }

    /// BeginString(8).
    #[must_use]
    pub fn begin_string(&self) -> &[u8] {
        self.header.begin_string()
    }

    /// SenderCompID(49).
    #[must_use]
    pub fn sender_comp_id(&self) -> &[u8] {
        self.header.sender_comp_id()
    }

    /// TargetCompID(56).
    #[must_use]
    pub fn target_comp_id(&self) -> &[u8] {
        self.get(tag::TARGET_COMP_ID).unwrap_or_default()
    }

    /// The present value of a field. The field is one of the header, including SenderSubID(50) and similar fields, or
    /// the first field of the body with this tag. BodyLength(9) and CheckSum(10) are not known yet.
    #[must_use]
    pub fn get(&self, tag: Tag) -> Option<&[u8]> {
        match tag {
            tag::BEGIN_STRING => Some(self.begin_string()),
            tag::MSG_TYPE => Some(self.msg_type),
            tag::MSG_SEQ_NUM => Some(self.seq_text),
            tag::SENDER_COMP_ID => Some(self.sender_comp_id()),
            tag::SENDING_TIME => Some(self.sending_time),
            _ => {
                // The text begins with the SOH after SendingTime(52).
                let header = self.header.target.get(1..).unwrap_or_default();
                value_of(header, &[], tag).or_else(|| value_of(self.fields(), self.pairs(), tag))
            }
        }
    }

    /// Writes a field: replaces the first field with this tag, or adds the field after all others if the message does
    /// not have the tag. For the tag of a data field this does the same as [`data`](Self::data).
    ///
    /// # Errors
    ///
    /// [`AdminOutError`], which an event reports too. The message then does not get this field; its other fields
    /// stay.
    pub fn set(&mut self, tag: Tag, value: &[u8]) -> Result<(), AdminOutError> {
        if let Some((length_tag, _)) = self.pair_of(|(_, data)| data == tag) {
            return self.data(length_tag, tag, value);
        }
        let is_length = self.pair_of(|(length, _)| length == tag).is_some();
        let done = if is_length {
            Err(AdminOutError::LengthAlone(tag))
        } else if value.contains(&SOH) {
            Err(AdminOutError::Value(tag))
        } else {
            self.check(tag, value)
        };
        let done = done.and_then(|()| {
            let mut field = Vec::with_capacity(value.len() + 12);
            append(&mut field, tag, value);
            let old = find(self.fields(), self.pairs(), tag);
            self.replace(tag, field, old.map(|old| old.whole), None)
        });
        self.note(done)
    }

    /// Writes a data field, which may contain SOH, and directly before it the field with its length. Replaces the two
    /// fields if the message has them; otherwise adds them after all other fields.
    ///
    /// # Errors
    ///
    /// [`AdminOutError`], as for [`set`](Self::set).
    pub fn data(
        &mut self,
        length_tag: Tag,
        data_tag: Tag,
        data: &[u8],
    ) -> Result<(), AdminOutError> {
        let done = match length_tag == data_tag {
            true => Err(AdminOutError::Tag(data_tag)),
            false => self.check(data_tag, data),
        };
        let done = done.and_then(|()| self.check(length_tag, b"1"));
        let done = done.and_then(|()| self.put_data(length_tag, data_tag, data));
        self.note(done)
    }

    fn put_data(
        &mut self,
        length_tag: Tag,
        data_tag: Tag,
        data: &[u8],
    ) -> Result<(), AdminOutError> {
        let mut fields = Vec::with_capacity(data.len() + 44);
        let mut length = [0; 20];
        append(
            &mut fields,
            length_tag,
            digits(data.len() as u64, &mut length),
        );
        append(&mut fields, data_tag, data);
        let [length, old] = [length_tag, data_tag]
            .map(|tag| find(self.fields(), self.pairs(), tag).map(|old| old.whole));
        self.replace(data_tag, fields, length, old)?;
        let pair = (length_tag, data_tag);
        if !DATA_PAIRS.contains(&pair) && !self.edit.pairs.contains(&pair) {
            self.edit.pairs.push(pair);
        }
        Ok(())
    }

    /// The fields that were refused. At most 16 are kept.
    #[must_use]
    pub fn refused(&self) -> &[AdminOutError] {
        &self.edit.refused
    }

    /// Whether the application has written fields.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.edit.is_changed && !self.edit.lacks_room
    }

    fn fields(&self) -> &[u8] {
        match self.edit.is_changed {
            true => &self.edit.fields,
            false => self.written,
        }
    }

    fn pairs(&self) -> &[(Tag, Tag)] {
        &self.edit.pairs
    }

    fn pair_of(&self, is: impl Fn((Tag, Tag)) -> bool) -> Option<(Tag, Tag)> {
        let pairs = DATA_PAIRS.iter().chain(&self.edit.pairs);
        pairs.copied().find(|pair| is(*pair))
    }

    /// Whether the application may write this field.
    fn check(&self, tag: Tag, value: &[u8]) -> Result<(), AdminOutError> {
        if tag == 0 || tag > MAX_TAG {
            return Err(AdminOutError::Tag(tag));
        }
        if is_session_field(self.msg_type, tag) {
            return Err(AdminOutError::OwnField(tag));
        }
        match value.is_empty() {
            true => Err(AdminOutError::Value(tag)),
            false => Ok(()),
        }
    }

    /// Replaces the field with this tag (and, for a data field, its length field) by the new bytes. If the message
    /// has no such field, adds the new bytes after all other fields.
    fn replace(
        &mut self,
        tag: Tag,
        mut new: Vec<u8>,
        first: Option<Range<usize>>,
        second: Option<Range<usize>>,
    ) -> Result<(), AdminOutError> {
        let fields = self.fields();
        let old = [first.clone(), second.clone()].into_iter().flatten();
        let removed: usize = old.map(|old| old.len()).sum();
        let len = fields.len() - removed + new.len();
        if self.edit.lacks_room || len > self.written.len() + self.room {
            self.edit.lacks_room = true;
            new.zeroize();
            return Err(AdminOutError::NoRoom(tag));
        }
        if !self.edit.is_changed {
            self.edit.is_changed = true;
            self.edit.fields.extend_from_slice(self.written);
        }
        let fields = &mut self.edit.fields;
        let (mut low, mut high) = (first, second);
        if let (Some(one), Some(other)) = (&low, &high)
            && other.start < one.start
        {
            core::mem::swap(&mut low, &mut high);
        }
        // Begin with the last field, so that the positions of earlier fields stay valid.
        if let (Some(_), Some(high)) = (&low, &high) {
            fields.drain(high.clone());
        }
        let end = fields.len();
        let at = low.or(high).unwrap_or(end..end);
        fields.splice(at, new.iter().copied());
        new.zeroize();
        Ok(())
    }

    fn note(&mut self, done: Result<(), AdminOutError>) -> Result<(), AdminOutError> {
        if let Err(error) = done
            && self.edit.refused.len() < MAX_REFUSALS
        {
            self.edit.refused.push(error);
        }
        done
    }
}

impl fmt::Debug for AdminOut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Other fields may be secrets.
        f.debug_struct("AdminOut")
            .field("msg_type", &self.msg_type.escape_ascii())
            .field("seq", &self.seq)
            .finish_non_exhaustive()
    }
}

impl HeaderTemplate {
    fn begin_string(&self) -> &[u8] {
        let end = self.begin.len().saturating_sub(b"|9=".len());
        self.begin.get(b"8=".len()..end).unwrap_or_default()
    }

    fn sender_comp_id(&self) -> &[u8] {
        let end = self.sender.len().saturating_sub(b"|52=".len());
        self.sender.get(b"|49=".len()..end).unwrap_or_default()
    }
}

impl Outbox {
    /// Lets `change` change the fields of an admin message before [`Outbox::seal`] gives it this header. Does nothing
    /// with a message that is resent unchanged.
    pub fn change_admin(
        &mut self,
        index: usize,
        header: &HeaderTemplate,
        seq: u64,
        sending_time: &[u8],
        change: impl FnOnce(&mut AdminOut<'_>),
    ) {
        let (buffer, edit) = (&self.buffer, &mut self.edit);
        let entry = &self.entries[index];
        if entry.state != State::Body {
            return;
        }
        let written = entry.start..entry.end;
        let mut text = [0; 20];
        let mut message = AdminOut {
            header,
            msg_type: entry.msg_type(),
            seq,
            seq_text: digits(seq, &mut text),
            sending_time,
            written: &buffer[written.clone()],
            edit,
            room: buffer.len() - SLACK - self.at,
        };
        change(&mut message);
        if message.is_changed() {
            self.put_changed(index, written);
        }
        if self.edit.is_changed || !self.edit.refused.is_empty() {
            self.edit.clear();
        }
    }

    /// Replaces the fields of the session by the changed fields. The bytes after the session's fields move.
    #[cold]
    fn put_changed(&mut self, index: usize, written: Range<usize>) {
        let fields = &self.edit.fields;
        let more = fields.len().saturating_sub(written.len());
        if more > 0 {
            self.buffer
                .copy_within(written.end..self.at, written.end + more);
            for entry in &mut self.entries[index + 1..] {
                if entry.state != State::Discarded {
                    entry.start += more;
                    entry.end += more;
                }
            }
            self.at += more;
        }
        let end = written.start + fields.len();
        self.buffer[written.start..end].copy_from_slice(fields);
        self.entries[index].end = end;
    }
}

impl Edit {
    #[cold]
    fn clear(&mut self) {
        self.fields.zeroize();
        self.pairs.clear();
        self.refused.clear();
        (self.is_changed, self.lacks_room) = (false, false);
    }
}

/// Why a field that the application wrote is not in the admin message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum AdminOutError {
    /// The session writes this field itself, or its behaviour depends on the field.
    OwnField(Tag),
    /// The value of this field is empty, or contains SOH although this is not a data field.
    Value(Tag),
    /// This tag is the length of a data field. [`AdminOut::data`] writes both fields.
    LengthAlone(Tag),
    /// No field can have this tag.
    Tag(Tag),
    /// The outbox has no room for this field. The message is sent as the session has written it.
    NoRoom(Tag),
}

impl AdminOutError {
    /// The tag of the field.
    #[must_use]
    pub fn tag(self) -> Tag {
        match self {
            Self::OwnField(tag)
            | Self::Value(tag)
            | Self::LengthAlone(tag)
            | Self::Tag(tag)
            | Self::NoRoom(tag) => tag,
        }
    }
}

impl fmt::Display for AdminOutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OwnField(tag) => write!(f, "field {tag} is set by the session"),
            Self::Value(tag) => write!(f, "the value of field {tag} is empty or contains SOH"),
            Self::LengthAlone(tag) => {
                write!(
                    f,
                    "field {tag} is the length of a data field: write both with data()"
                )
            }
            Self::Tag(tag) => write!(f, "{tag} is not a tag"),
            Self::NoRoom(tag) => write!(f, "no room in the outbox for field {tag}"),
        }
    }
}

impl core::error::Error for AdminOutError {}

/// Whether the session itself writes this field of its messages of this type, or its behaviour depends on the field.
/// The application cannot change such a field of an admin message.
#[must_use]
pub fn is_session_field(msg_type: &[u8], tag: Tag) -> bool {
    let trailer = matches!(tag, 10 | 89 | 93);
    let header = matches!(tag, 8 | 9 | 35 | 43 | 52 | 90 | 122 | 212) || in_header(tag);
    let sequence = matches!(tag, 7 | 16 | 36 | 45 | 112 | 123 | 141);
    let terms = msg_type == b"A" && matches!(tag, 98 | 108 | 789 | 1137);
    trailer || header || sequence || terms
}

fn append(fields: &mut Vec<u8>, tag: Tag, value: &[u8]) {
    let mut text = [0; 20];
    fields.extend_from_slice(digits(u64::from(tag), &mut text));
    fields.push(b'=');
    fields.extend_from_slice(value);
    fields.push(SOH);
}

/// The place of a field with its tag and SOH, and the place of its value.
struct Found {
    whole: Range<usize>,
    value: Range<usize>,
}

/// The first field with this tag. The value of a data field has the length that the field before it gives.
fn find(fields: &[u8], more: &[(Tag, Tag)], tag: Tag) -> Option<Found> {
    let mut at = 0;
    let mut length: Option<(Tag, u64)> = None;
    while at < fields.len() {
        let by_length = length.take().and_then(|(data, len)| {
            let found = field_at(fields, at, Some(len));
            found.filter(|(tag, _)| *tag == data)
        });
        let (found, value) = by_length.or_else(|| field_at(fields, at, None))?;
        let whole = at..value.end + 1;
        if found == tag {
            return Some(Found { whole, value });
        }
        let mut pairs = DATA_PAIRS.iter().chain(more);
        length = pairs
            .find(|(length, _)| *length == found)
            .and_then(|(_, data)| Some((*data, value::uint(&fields[value]).ok()?)));
        at = whole.end;
    }
    None
}

fn value_of<'f>(fields: &'f [u8], more: &[(Tag, Tag)], tag: Tag) -> Option<&'f [u8]> {
    find(fields, more, tag).map(|found| &fields[found.value])
}

#[cfg(test)]
mod tests;
