//! Writes the body fields of one outbound message.

use core::fmt;
use core::ops::Range;

use super::{Content, Entry, Outbox, RESERVE, SLACK, TRAILER};
use crate::put::{TagText, is_short_decimal, put, put_decimal, put_digits, put_value};
use crate::time::{Precision, Timestamp};
use crate::{Decimal, Message, SOH, Tag};

/// A message whose fields are being written. Dropping this value finishes the message.
#[derive(Debug)]
pub struct Body<'a> {
    outbox: &'a mut Outbox,
    /// The offset at which the last field must end; 0 after a failure.
    limit: usize,
    at: usize,
    failed: Option<BodyError>,
    open: bool,
    entry: Entry,
}

impl<'a> Body<'a> {
    /// A message that begins at the offset of its entry. `limit` is the offset at which its last field must end.
    #[inline]
    pub(super) fn new(
        outbox: &'a mut Outbox,
        entry: Entry,
        limit: usize,
        failed: Option<BodyError>,
    ) -> Self {
        Self {
            outbox,
            limit: if failed.is_some() { 0 } else { limit },
            at: entry.start,
            failed,
            open: true,
            entry,
        }
    }

    /// Writes a field. If the value is empty or contains SOH, the message fails.
    #[inline(always)]
    pub fn field(&mut self, tag: Tag, value: &[u8]) -> &mut Self {
        // For a constant tag, the text is made at compile time.
        self.text(TagText::of(tag), value)
    }

    #[inline(always)]
    fn text(&mut self, tag: TagText, value: &[u8]) -> &mut Self {
        if let Some(at) = self.tag(tag, value.len()) {
            match put_value(&mut self.outbox.buffer, at, value) {
                Some(end) => self.at = end,
                None => return self.fail(BodyError::Value(tag.tag())),
            }
        }
        self
    }

    /// Writes a signed number.
    #[inline]
    pub fn int(&mut self, tag: Tag, value: i64) -> &mut Self {
        if let Some(mut at) = self.tag(TagText::of(tag), 20) {
            if value < 0 {
                self.outbox.buffer[at] = b'-';
                at += 1;
            }
            let end = put_digits(&mut self.outbox.buffer, at, value.unsigned_abs());
            self.end(end);
        }
        self
    }

    /// Writes a number without a sign.
    #[inline(always)]
    pub fn uint(&mut self, tag: Tag, value: u64) -> &mut Self {
        match value {
            0..10 => self.byte(TagText::of(tag), b'0' + value as u8),
            _ => self.number(TagText::of(tag), value),
        }
    }

    #[inline]
    fn number(&mut self, tag: TagText, value: u64) -> &mut Self {
        if let Some(at) = self.tag(tag, 20) {
            let end = put_digits(&mut self.outbox.buffer, at, value);
            self.end(end);
        }
        self
    }

    /// Writes a field of one character. If the character is SOH, the message fails.
    #[inline(always)]
    pub fn char(&mut self, tag: Tag, value: u8) -> &mut Self {
        self.byte(TagText::of(tag), value)
    }

    #[inline(always)]
    fn byte(&mut self, tag: TagText, value: u8) -> &mut Self {
        if value == SOH {
            return self.fail(BodyError::Value(tag.tag()));
        }
        if self.has_room(1) {
            self.at = tag.put_with(&mut self.outbox.buffer, self.at, value);
        }
        self
    }

    /// Writes a field with `Y` or `N`.
    #[inline]
    pub fn bool(&mut self, tag: Tag, value: bool) -> &mut Self {
        self.char(tag, if value { b'Y' } else { b'N' })
    }

    /// Writes a decimal, with all its digits after the decimal point.
    #[inline]
    pub fn decimal(&mut self, tag: Tag, value: Decimal) -> &mut Self {
        if value.scale == 0 && value.mantissa >= 0 {
            return self.uint(tag, value.mantissa.unsigned_abs());
        }
        if let Some(at) = self.tag(TagText::of(tag), Decimal::MAX_TEXT) {
            let Decimal { mantissa, scale } = value;
            if mantissa >= 0 && is_short_decimal(mantissa.unsigned_abs(), scale) {
                let buffer = &mut self.outbox.buffer;
                let end = put_decimal(buffer, at, mantissa.unsigned_abs(), scale);
                self.end(end);
                return self;
            }
            let mut text = [0; Decimal::MAX_TEXT];
            let from = value.write(&mut text);
            let end = put(&mut self.outbox.buffer, at, &text[from..]);
            self.end(end);
        }
        self
    }

    /// Writes a `UTCTimestamp`.
    pub fn time(&mut self, tag: Tag, value: Timestamp, precision: Precision) -> &mut Self {
        let len = precision.text_len();
        if let Some(at) = self.tag(TagText::of(tag), len) {
            let outbox = &mut *self.outbox;
            let end = put(
                &mut outbox.buffer,
                at,
                outbox.stamp.format(value, precision),
            );
            self.end(end);
        }
        self
    }

    /// Writes a length field and its data field. The data may contain SOH; if the data is empty, neither field is
    /// written.
    pub fn data(&mut self, length_tag: Tag, data_tag: Tag, data: &[u8]) -> &mut Self {
        if data.is_empty() {
            return self;
        }
        self.uint(length_tag, data.len() as u64);
        if let Some(at) = self.tag(TagText::of(data_tag), data.len()) {
            let end = put(&mut self.outbox.buffer, at, data);
            self.end(end);
        }
        self
    }

    /// Copies a range of a message's fields as they were received.
    pub fn copy(&mut self, message: &Message<'_>, fields: Range<usize>) -> &mut Self {
        self.bytes(message.raw(fields))
    }

    /// Copies whole fields that were written elsewhere, each with its SOH. Only the SOH at the end is checked. The
    /// caller is responsible for the rest.
    #[inline]
    pub fn encoded(&mut self, fields: &[u8]) -> &mut Self {
        if fields.last().is_some_and(|last| *last != SOH) {
            return self.fail(BodyError::Value(0));
        }
        self.bytes(fields)
    }

    /// As [`encoded`](Self::encoded), with the fields in two pieces. The first piece may end anywhere.
    #[inline]
    pub fn encoded_parts(&mut self, [first, second]: [&[u8]; 2]) -> &mut Self {
        if second.is_empty() {
            return self.encoded(first);
        }
        self.bytes(first).encoded(second)
    }

    /// Writes bytes that are not fields of a message.
    #[inline]
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        if self.at + bytes.len() > self.limit {
            return self.fail(BodyError::Full);
        }
        self.at = put(&mut self.outbox.buffer, self.at, bytes);
        self
    }

    /// Marks the body as a note. A note is not sent, so it may be longer than a message.
    pub(super) fn mark_note(&mut self) {
        self.entry.content = Content::Note;
    }

    /// Finishes the message.
    ///
    /// # Errors
    ///
    /// [`BodyError`] when the message could not be written as a whole. In this case nothing of the message is left in
    /// the outbox.
    #[inline]
    pub fn finish(mut self) -> Result<(), BodyError> {
        self.close()
    }

    /// Removes the message from the outbox.
    pub fn abandon(mut self) {
        self.open = false;
    }

    /// Writes `tag=` if there is room for it, for the value and for the SOH. Returns the offset at which the value
    /// begins.
    #[inline]
    fn tag(&mut self, tag: TagText, value_len: usize) -> Option<usize> {
        self.has_room(value_len)
            .then(|| tag.put(&mut self.outbox.buffer, self.at))
    }

    /// Whether there is room for a field with a value of this length. If not, the message fails.
    #[inline]
    fn has_room(&mut self, value_len: usize) -> bool {
        let has_room = self.at + TagText::MAX + value_len < self.limit;
        if !has_room {
            self.fail(BodyError::Full);
        }
        has_room
    }

    #[inline]
    fn end(&mut self, at: usize) {
        self.outbox.buffer[at] = SOH;
        self.at = at + 1;
    }

    /// Records the first failure. There is no room for a field after it.
    #[cold]
    fn fail(&mut self, error: BodyError) -> &mut Self {
        self.failed.get_or_insert(error);
        self.limit = 0;
        self
    }

    /// Refuses a body that is too long for a message of an application. Notes have no such limit, and neither have
    /// messages of a session, which may use the reserve.
    #[cold]
    fn refuse_long(&mut self) {
        let uses_reserve = self.limit > self.outbox.buffer.len() - RESERVE - SLACK;
        if self.entry.content == Content::Message && !uses_reserve {
            self.fail(BodyError::TooLong(self.outbox.max_message));
        }
    }

    #[inline]
    fn close(&mut self) -> Result<(), BodyError> {
        if !self.open {
            return Ok(());
        }
        self.open = false;
        if self.at - self.entry.start > self.outbox.max_body {
            self.refuse_long();
        }
        if let Some(error) = self.failed {
            self.outbox.failures += 1;
            return Err(error);
        }
        self.entry.end = self.at;
        self.outbox.at = self.at + TRAILER;
        self.outbox.entries.push(self.entry);
        Ok(())
    }
}

impl Drop for Body<'_> {
    fn drop(&mut self) {
        // A failure is counted. A caller that needs the error calls `finish`.
        let _ = self.close();
    }
}

/// Why a message was not written. Nothing of the message is left in the outbox.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BodyError {
    /// The outbox is full.
    Full,
    /// The message could become longer than the outbox allows, see [`Outbox::with_max_message`]; the value is this
    /// limit in bytes. An engine has the limit `MaxMessageSize`.
    TooLong(usize),
    /// The value of this field is empty or contains SOH, or it is a MsgType of more than
    /// [`MAX_MSG_TYPE`](super::MAX_MSG_TYPE) bytes.
    Value(Tag),
    /// A frame was written for a FIX session. A FIX session sends messages, not frames.
    NotALink,
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("the outbox is full"),
            Self::TooLong(most) => write!(
                f,
                "the message is too long: with header and trailer MaxMessageSize ({most} bytes) is the limit"
            ),
            Self::Value(tag) => write!(f, "the value of {tag} cannot be written"),
            Self::NotALink => {
                f.write_str("frames can be sent on a link only; this is a FIX session")
            }
        }
    }
}

impl core::error::Error for BodyError {}
