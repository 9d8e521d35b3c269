//! The outbox: outbound messages. A message gets its header when its MsgSeqNum is assigned.
//!
//! ```text
//! begin      | header room |                        cursor behind the room
//! Body       | header room | 58=..|60=..|           application or session writes fields
//! seal       |   8=..|9=..|35=..|34=..|..|58=..|60=..|10=..|
//!                ^ right before the body of a first message, else behind the message before, to which the body moves
//! ```
//!
//! Sealed messages follow each other without gaps, so that a batch is one slice and one write.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::frame::check_sum;
use crate::put::{NumberText, digits, put, put_three};
use crate::repeat::{Repeat, RepeatError};
use crate::time::TimestampWriter;
use crate::{SOH, SessionId, Tag};
use admin_out::Edit;

mod admin_out;
mod again;
mod body;
mod ends;
mod frame;
mod gather;
mod log_out;
mod note;
mod rewrite;

pub use admin_out::{AdminOut, AdminOutError, is_session_field};
pub use body::{Body, BodyError};
pub use note::{NOTE_ROOM, stored_note};

/// Number of bytes in every outbox that only sessions may use. With this reserve, sessions can always answer.
pub const RESERVE: usize = 16 * 1024;
/// Number of messages of every outbox that only sessions may write.
pub const RESERVE_MESSAGES: usize = 16;
/// Maximum length of MsgType(35), in bytes.
pub const MAX_MSG_TYPE: usize = 16;
/// Number of bytes after the last message that a write of a short text may overwrite.
const SLACK: usize = 32;
/// `10=ddd` and SOH.
const TRAILER: usize = 7;
/// `43=Y`, `122=` with a time, each with SOH: the fields that a resent message has in addition.
const REPEATED: usize = 5 + 4 + TimestampWriter::MAX + 1;

/// Where the MsgSeqNum(34) of a message comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum MsgSeqNumSource {
    /// The message gets the next MsgSeqNum of the session.
    Next,
    /// The message has this MsgSeqNum. A fixed MsgSeqNum is for gap fills and resent messages, which are not
    /// journalled.
    Fixed(u64),
}

/// An entry of an outbox: a message, a note, a frame, or the end of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The session of the message.
    pub session: SessionId,
    /// Where the MsgSeqNum of the message comes from.
    pub number: MsgSeqNumSource,
    /// The MsgSeqNum of the message; 0 until the message is sealed.
    pub seq: u64,
    state: State,
    content: Content,
    msg_type: [u8; MAX_MSG_TYPE],
    msg_type_len: u8,
    start: usize,
    end: usize,
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Content {
    /// A FIX message.
    Message,
    /// A note of the application. The note is kept in the journal and not sent.
    Note,
    /// A frame of a link.
    Frame,
    /// The end of a link's connection. This entry has no content.
    Hangup,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    /// `start..end` is the body. There is room for the trailer after it.
    Body,
    /// `start..end` is a whole message that only has to be moved to its place.
    Whole,
    Sealed,
    Discarded,
}

impl Entry {
    /// MsgType(35).
    #[inline]
    pub fn msg_type(&self) -> &[u8] {
        &self.msg_type[..usize::from(self.msg_type_len)]
    }

    /// Whether the entry was discarded. Nothing of a discarded entry is sent.
    #[inline]
    pub fn is_discarded(&self) -> bool {
        self.state == State::Discarded
    }
}

/// The fields with which all messages of one session begin.
#[derive(Clone, Debug)]
pub struct HeaderTemplate {
    /// `8=FIX.4.4|9=`
    begin: Vec<u8>,
    /// `|49=SENDER|52=`
    sender: Vec<u8>,
    /// The fields `|56=TARGET|50=..|`, and the field that [`HeaderTemplate::set_last`] sets.
    target: Vec<u8>,
    /// Number of bytes of `target` without the field of `set_last`.
    fixed: usize,
}

impl HeaderTemplate {
    /// The header of a session. `more` are the fields that always follow TargetCompID, such as 50, 57, 142 and 143.
    /// Values must not contain SOH.
    pub fn new(
        begin_string: &[u8],
        sender_comp_id: &[u8],
        target_comp_id: &[u8],
        more: &[(Tag, &[u8])],
    ) -> Self {
        let mut target = [b"\x0156=", target_comp_id, b"\x01"].concat();
        for (tag, value) in more {
            let mut text = [0; 20];
            target.extend_from_slice(digits(u64::from(*tag), &mut text));
            target.push(b'=');
            target.extend_from_slice(value);
            target.push(SOH);
        }
        Self {
            begin: [b"8=", begin_string, b"\x019="].concat(),
            sender: [b"\x0149=", sender_comp_id, b"\x0152="].concat(),
            fixed: target.len(),
            target,
        }
    }

    /// Puts a sequence number at the end of the header, in place of the previous one. The field is
    /// LastMsgSeqNumProcessed(369), which differs from message to message.
    pub fn set_last(&mut self, tag: Tag, number: u64) {
        let (mut tag_text, mut number_text) = ([0; 20], [0; 20]);
        self.target.truncate(self.fixed);
        self.target
            .extend_from_slice(digits(u64::from(tag), &mut tag_text));
        self.target.push(b'=');
        self.target
            .extend_from_slice(digits(number, &mut number_text));
        self.target.push(SOH);
    }

    /// Maximum number of bytes that a header of this template needs. Pass it to [`Outbox::new`] as `header_room`.
    pub fn room(&self) -> usize {
        const NUMBER: usize = 20;
        self.begin.len()
            + NUMBER
            + b"|35=".len()
            + MAX_MSG_TYPE
            + b"|34=".len()
            + NUMBER
            + self.sender.len()
            + TimestampWriter::MAX
            + self.fixed
            + b"4294967295=|".len()
            + NUMBER
    }
}

/// The place where sessions and applications write messages. [`Outbox::new`] allocates the memory for all messages.
/// Only requests in `ends`, changed fields of admin messages and [`Outbox::with_gather`] allocate later.
#[derive(Debug)]
pub struct Outbox {
    buffer: Vec<u8>,
    /// Memory in which messages are put into another order. The memory is as long as `buffer`, or empty.
    gathered: Vec<u8>,
    entries: Vec<Entry>,
    messages: usize,
    header_room: usize,
    /// Maximum length of a message of an application, with header and trailer, as it is resent.
    max_message: usize,
    /// Maximum length of the body of such a message.
    max_body: usize,
    /// Offset at which the next message begins.
    at: usize,
    /// Offset at which the sealed messages end.
    sealed_end: usize,
    /// Index of the first entry that is neither sealed nor discarded.
    next: usize,
    failures: u64,
    /// The application's requests in addition to messages: the end of sessions and connections, and masks.
    ends: ends::Ends,
    /// The fields of an admin message while the application changes them.
    edit: Edit,
    /// The last time that was written into the body of a message.
    stamp: TimestampWriter,
}

impl Outbox {
    /// An outbox for this number of bytes and messages, in addition to [`RESERVE`] and [`RESERVE_MESSAGES`].
    /// `header_room` is the largest [`HeaderTemplate::room`] of all sessions that write into it.
    pub fn new(bytes: usize, messages: usize, header_room: usize) -> Self {
        Self {
            buffer: vec![0; bytes + RESERVE + SLACK],
            gathered: Vec::new(),
            entries: Vec::with_capacity(messages + RESERVE_MESSAGES),
            messages,
            header_room,
            max_message: usize::MAX,
            max_body: usize::MAX,
            at: 0,
            sealed_end: 0,
            next: 0,
            failures: 0,
            ends: ends::Ends::default(),
            edit: Edit::default(),
            stamp: TimestampWriter::new(),
        }
    }

    /// Refuses messages of an application that could become longer than `bytes` with the longest header of a session,
    /// the trailer, and the PossDupFlag(43) and OrigSendingTime(122) of a resend. Without this call only the size of
    /// the outbox limits a message.
    #[must_use]
    pub fn with_max_message(mut self, bytes: usize) -> Self {
        self.max_message = bytes;
        self.set_max_body();
        self
    }

    /// Maximum length of the body of an application's message, in bytes.
    #[inline]
    #[must_use]
    pub fn max_body(&self) -> usize {
        self.max_body
    }

    fn set_max_body(&mut self) {
        let around = self.header_room + TRAILER + REPEATED;
        self.max_body = self.max_message.saturating_sub(around);
    }

    /// Makes room for the header of another session. The header can change only while the outbox is empty.
    pub fn widen(&mut self, header_room: usize) {
        debug_assert!(self.entries.is_empty(), "messages have their room already");
        if self.entries.is_empty() {
            self.header_room = self.header_room.max(header_room);
            self.set_max_body();
        }
    }

    /// Begins a message of an application. A message of an application does not use the reserve.
    ///
    /// The outbox writes the session's header fields later. Some messages need further header fields, such as
    /// OnBehalfOfCompID(115), or ApplVerID(1128) for a version that is not the session's. Write these first, before
    /// the fields of the body.
    #[inline]
    pub fn begin(&mut self, session: SessionId, msg_type: &[u8]) -> Body<'_> {
        let limit = self.buffer.len() - RESERVE - SLACK;
        let messages = self.messages;
        self.begin_within(session, msg_type, MsgSeqNumSource::Next, limit, messages)
    }

    /// Begins a message of a session, which may use the reserve.
    #[inline]
    pub fn begin_admin(
        &mut self,
        session: SessionId,
        msg_type: &[u8],
        number: MsgSeqNumSource,
    ) -> Body<'_> {
        let limit = self.buffer.len() - SLACK;
        let messages = self.messages + RESERVE_MESSAGES;
        self.begin_within(session, msg_type, number, limit, messages)
    }

    #[inline]
    fn begin_within(
        &mut self,
        session: SessionId,
        msg_type: &[u8],
        number: MsgSeqNumSource,
        limit: usize,
        messages: usize,
    ) -> Body<'_> {
        let start = self.at + self.header_room;
        let mut failed = None;
        if self.entries.len() >= messages || start + TRAILER > limit {
            failed = Some(BodyError::Full);
        }
        let mut name = [0; MAX_MSG_TYPE];
        match name.get_mut(..msg_type.len()) {
            Some(room) if !msg_type.is_empty() && !msg_type.contains(&SOH) => {
                room.copy_from_slice(msg_type);
            }
            _ => failed = Some(BodyError::Value(35)),
        }
        let entry = Entry {
            session,
            number,
            seq: 0,
            state: State::Body,
            content: Content::Message,
            msg_type: name,
            msg_type_len: msg_type.len().min(MAX_MSG_TYPE) as u8,
            start,
            end: start,
        };
        Body::new(self, entry, limit.saturating_sub(TRAILER), failed)
    }

    /// Writes a stored message of a session again, as the answer to a ResendRequest. The message gets PossDupFlag(43) =
    /// Y and a new SendingTime(52). The message's old SendingTime becomes OrigSendingTime(122), unless it already has
    /// that field. Everything else stays as it was, byte by byte. The message keeps its MsgSeqNum, and is sealed in its
    /// turn like any other message.
    ///
    /// # Errors
    ///
    /// [`RepeatError::Full`] when there is no room now, [`RepeatError::TooLong`] when there never will be room,
    /// [`RepeatError::NotAMessage`] when `stored` does not have the header of a message. In all cases nothing is left
    /// in the outbox.
    pub fn repeat(
        &mut self,
        session: SessionId,
        seq: u64,
        stored: &[u8],
        sending_time: &[u8],
    ) -> Result<(), RepeatError> {
        let repeat = Repeat::of(stored, sending_time)?;
        // A message that is alone in the outbox may use the reserve, because it is a little longer than when it was
        // first sent.
        let most = self.buffer.len() - SLACK;
        let room = if self.entries.is_empty() {
            most
        } else {
            most - RESERVE
        };
        if repeat.len() > most {
            self.failures += 1;
            return Err(RepeatError::TooLong);
        }
        if self.entries.len() >= self.messages || self.at + repeat.len() > room {
            return Err(RepeatError::Full);
        }
        let mut msg_type = [0; MAX_MSG_TYPE];
        let name = repeat.msg_type();
        msg_type
            .get_mut(..name.len())
            .ok_or(RepeatError::NotAMessage)?
            .copy_from_slice(name);
        let start = self.at;
        let end = start + repeat.len();
        repeat.write(&mut self.buffer[start..end]);
        self.entries.push(Entry {
            session,
            number: MsgSeqNumSource::Fixed(seq),
            seq: 0,
            state: State::Whole,
            content: Content::Message,
            msg_type,
            msg_type_len: name.len() as u8,
            start,
            end,
        });
        self.at = end;
        Ok(())
    }

    /// All entries, in the order in which they were finished.
    #[inline]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Whether the outbox has no entry.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The indexes of the entries that wait for [`Outbox::seal`].
    #[inline]
    pub fn unsealed(&self) -> Range<usize> {
        self.next..self.entries.len()
    }

    /// MsgType(35) of the message with this index.
    #[inline]
    pub fn msg_type(&self, index: usize) -> &[u8] {
        self.entries[index].msg_type()
    }

    /// The bytes of a message as they are sent; no bytes while the message lacks BodyLength(9) and CheckSum(10), or when
    /// it was discarded.
    #[inline]
    pub fn sealed(&self, index: usize) -> &[u8] {
        match self.entries.get(index) {
            Some(entry) if entry.state == State::Sealed => &self.buffer[entry.start..entry.end],
            _ => &[],
        }
    }

    /// The body of a message that is not sealed yet.
    pub fn body(&self, index: usize) -> &[u8] {
        match self.entries[index] {
            entry if entry.state == State::Body => &self.buffer[entry.start..entry.end],
            _ => &[],
        }
    }

    /// Offset of the end of the last sealed message. All sealed messages together have at most this number of bytes.
    #[inline]
    pub fn sealed_end(&self) -> usize {
        self.sealed_end
    }

    /// The sealed messages in a range of entries, one after the other. Empty when one of them is not sealed.
    #[inline]
    pub fn bytes(&self, range: Range<usize>) -> &[u8] {
        if range.is_empty() || range.end > self.next {
            return &[];
        }
        let entries = &self.entries[range];
        // A discarded entry before the first message has no place next to it.
        let first = entries.iter().find(|entry| entry.state == State::Sealed);
        match (first, entries.last()) {
            (Some(first), Some(last)) => &self.buffer[first.start..last.end],
            _ => &[],
        }
    }

    /// Whether the outbox now has room for this number of application messages, with fields of this total number of
    /// bytes.
    pub fn has_room(&self, messages: usize, bytes: usize) -> bool {
        let frames = messages.saturating_mul(self.header_room + TRAILER);
        let end = self.at.saturating_add(frames).saturating_add(bytes);
        self.entries.len().saturating_add(messages) <= self.messages
            && end <= self.buffer.len() - RESERVE - SLACK
    }

    /// Number of messages since the outbox was made that could not be written, for any reason.
    pub fn failures(&self) -> u64 {
        self.failures
    }

    /// Gives a message its header and trailer. A resent message already has both and is only moved to its place.
    ///
    /// Messages must be sealed in their order. Messages before `index` that were not sealed are discarded.
    /// `sending_time` has at most [`TimestampWriter::MAX`] bytes.
    ///
    /// # Panics
    ///
    /// When the message is already sealed, or when the outbox was made with less room than [`HeaderTemplate::room`].
    pub fn seal(&mut self, index: usize, header: &HeaderTemplate, seq: u64, sending_time: &[u8]) {
        self.discard_until(index);
        let entry = &self.entries[index];
        let (start, end) = match entry.state {
            State::Whole => {
                let (start, len) = (self.sealed_end, entry.end - entry.start);
                if start != entry.start {
                    self.buffer.copy_within(entry.start..entry.end, start);
                }
                (start, start + len)
            }
            _ => self.seal_body(index, header, seq, sending_time),
        };
        let entry = &self.entries[index];
        let seq = match (entry.state, entry.number) {
            (State::Whole, MsgSeqNumSource::Fixed(own)) => own,
            _ => seq,
        };
        self.set_sealed(index, start, end, seq);
    }

    /// Discards the messages before the one at `index` that were not sealed.
    #[inline]
    fn discard_until(&mut self, index: usize) {
        assert!(self.next <= index, "a message is sealed once, in its order");
        while self.next < index {
            self.discard(self.next);
        }
    }

    #[inline]
    fn set_sealed(&mut self, index: usize, start: usize, end: usize, seq: u64) {
        let entry = &mut self.entries[index];
        entry.start = start;
        entry.end = end;
        entry.seq = seq;
        entry.state = State::Sealed;
        self.sealed_end = end;
        self.pass(index);
    }

    /// Writes the header and the trailer around a body. Returns where the message then is.
    fn seal_body(
        &mut self,
        index: usize,
        header: &HeaderTemplate,
        seq: u64,
        sending_time: &[u8],
    ) -> (usize, usize) {
        let entry = &self.entries[index];
        let number = NumberText::of(seq);
        let body_len = entry.end - entry.start;
        let counted = b"35=".len()
            + entry.msg_type().len()
            + b"|34=".len()
            + number.len
            + header.sender.len()
            + sending_time.len()
            + header.target.len()
            + body_len;
        let length = NumberText::of(counted as u64);
        let header_len = header.begin.len() + length.len + 1 + counted - body_len;
        assert!(
            header_len <= self.header_room,
            "the outbox was made with less than HeaderTemplate::room"
        );
        // The first entry begins at 0 only when nothing has been sealed before it.
        let start = match self.sealed_end {
            0 => entry.start - header_len,
            end => end,
        };
        let body = start + header_len;
        if body != entry.start {
            self.buffer.copy_within(entry.start..entry.end, body);
        }
        let end = body + body_len + TRAILER;
        let out = &mut self.buffer[start..end];
        let mut at = put(out, 0, &header.begin);
        at = length.put(out, at);
        at = match *entry.msg_type() {
            // Write one piece of nine bytes, not three pieces.
            [letter] => put(
                out,
                at,
                &[SOH, b'3', b'5', b'=', letter, SOH, b'3', b'4', b'='],
            ),
            ref msg_type => {
                at = put(out, at, b"\x0135=");
                at = put(out, at, msg_type);
                put(out, at, b"\x0134=")
            }
        };
        at = number.put(out, at);
        at = put(out, at, &header.sender);
        at = put(out, at, sending_time);
        at = put(out, at, &header.target);
        debug_assert_eq!(at, header_len);
        put_trailer(out);
        (start, end)
    }

    /// Removes a message that has not been sealed.
    ///
    /// # Panics
    ///
    /// When the message is already sealed.
    pub fn discard(&mut self, index: usize) {
        let place = self.sealed_end;
        let entry = &mut self.entries[index];
        assert!(entry.state != State::Sealed, "a sealed message stays");
        entry.state = State::Discarded;
        entry.start = place;
        entry.end = place;
        if index == self.next {
            self.pass(index);
        }
    }

    /// Removes the messages from index `len` on, as if they had never been written.
    ///
    /// # Panics
    ///
    /// When one of the messages is already sealed.
    pub fn truncate(&mut self, len: usize) {
        if len >= self.entries.len() {
            return;
        }
        assert!(self.next <= len, "a sealed message stays");
        self.entries.truncate(len);
        self.at = self
            .entries
            .iter()
            .rev()
            .find_map(unsealed_end)
            .unwrap_or(self.sealed_end);
    }

    /// Removes all messages.
    #[inline]
    pub fn clear(&mut self) {
        self.entries.clear();
        self.at = 0;
        self.sealed_end = 0;
        self.next = 0;
    }

    /// Moves on past an entry that is done, and past discarded entries directly after it.
    fn pass(&mut self, index: usize) {
        self.next = index + 1;
        while let Some(entry) = self.entries.get_mut(self.next)
            && entry.state == State::Discarded
        {
            entry.start = self.sealed_end;
            entry.end = self.sealed_end;
            self.next += 1;
        }
        if self.next == self.entries.len() {
            self.at = self.sealed_end;
        }
    }
}

/// Offset at which the space of an unsealed message ends; `None` for other entries.
fn unsealed_end(entry: &Entry) -> Option<usize> {
    match entry.state {
        State::Body => Some(entry.end + TRAILER),
        State::Whole => Some(entry.end),
        State::Sealed | State::Discarded => None,
    }
}

/// Writes the CheckSum into the last seven bytes of a message.
pub(crate) fn put_trailer(message: &mut [u8]) {
    let at = message.len() - TRAILER;
    let sum = check_sum(&message[..at]);
    put_three(&mut message[at..], sum);
}

#[cfg(test)]
mod tests;
