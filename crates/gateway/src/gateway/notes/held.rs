//! Messages that are held, and their notes.
//!
//! A message stands in the queue of its target as its note, behind the time when it came. The mark of
//! its record is the note's first letter.

use fixwire_protocol::dictionary::Dictionary;
use fixwire_protocol::{Message, Outbox, SOH, SessionId, Timestamp};

use super::super::answer;
use super::super::event::{NoteError, Trouble};
use super::{Notes, put_draft, put_number};
use crate::Draft;

/// The mark of a message whose source is answered when it cannot be delivered.
pub(in super::super) const ANSWERED: u8 = b'H';
/// The mark of one whose source is not.
pub(in super::super) const UNANSWERED: u8 = b'h';

/// A message that is to be held.
pub(in super::super) struct Holding<'h> {
    pub mark: u8,
    /// The session that it came from, by its place in the file, and its dictionary.
    pub source: usize,
    pub dictionary: &'h Dictionary,
    pub target: usize,
    /// Whether the orders know it, as the last message that they let go.
    pub is_known: bool,
    /// As it came.
    pub message: &'h Message<'h>,
    /// As it goes.
    pub draft: &'h mut Draft,
}

/// A message that is held.
pub(in super::super) struct Held<'n> {
    pub source: SessionId,
    /// What the orders know of it: its type, SOH and fields. Empty when they do not know it.
    pub known: &'n [u8],
    /// The fields of the message as it came which an answer reads.
    pub came: &'n [u8],
    pub msg_type: &'n [u8],
    /// As it goes.
    pub fields: &'n [u8],
}

/// When a message came.
pub(in super::super) fn came_at(time: [u8; 8]) -> Timestamp {
    Timestamp(i64::from_le_bytes(time))
}

/// The next number in the head of a note.
fn next(head: &mut &[u8]) -> Option<u32> {
    let end = head.iter().position(|byte| *byte == b' ');
    let (number, rest) = head.split_at(end.unwrap_or(head.len()));
    *head = rest.get(1..).unwrap_or_default();
    core::str::from_utf8(number).ok()?.parse().ok()
}

impl<'n> Held<'n> {
    /// Reads a record of a queue.
    pub fn of(record: &'n [u8]) -> Option<Self> {
        Some(Self::read(record.get(8..)?)?.1)
    }

    /// The target and the message of a note.
    fn read(note: &'n [u8]) -> Option<(SessionId, Self)> {
        let end = note.iter().position(|byte| *byte == SOH)?;
        let (mut head, rest) = (note.get(2..end)?, note.get(end + 1..)?);
        let source = SessionId(next(&mut head)?);
        let target = SessionId(next(&mut head)?);
        let (known, rest) = rest.split_at_checked(next(&mut head)? as usize)?;
        let (came, rest) = rest.split_at_checked(next(&mut head)? as usize)?;
        let (msg_type, fields) = rest.split_at_checked(next(&mut head)? as usize)?;
        let held = Self {
            source,
            known,
            came,
            msg_type,
            fields,
        };
        Some((target, held))
    }
}

impl Notes {
    /// Puts a message at the end of its target's queue.
    pub fn hold(
        &mut self,
        at: Timestamp,
        holding: Holding<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Trouble> {
        let source = self.introduced(holding.source, outbox)?;
        let target = self.introduced(holding.target, outbox)?;
        self.parts.clear();
        if holding.is_known {
            put_draft(&mut self.parts, &self.draft);
        }
        let known = self.parts.len();
        let (message, dictionary) = (holding.message, holding.dictionary);
        for (at, field) in message.fields().iter().enumerate() {
            let is_read = answer::reads(dictionary, message.msg_type(), field.tag);
            // An answer reads the first of a tag.
            if is_read && message.index_of(field.tag) == Some(at) {
                self.parts.extend_from_slice(message.raw(at..at + 1));
            }
        }
        let came = self.parts.len() - known;
        let msg_type = holding.draft.msg_type().len();
        self.text.clear();
        self.text.push(holding.mark);
        for number in [source.0 as usize, target.0 as usize, known, came, msg_type] {
            self.text.push(b' ');
            put_number(&mut self.text, number as u64);
        }
        self.text.push(SOH);
        self.text.extend_from_slice(&self.parts);
        self.text.extend_from_slice(holding.draft.msg_type());
        self.text.extend_from_slice(holding.draft.encode());
        if !self.queues.has_room(target.0 as usize, 8 + self.text.len()) {
            return Err(Trouble::MaxHeld);
        }
        outbox.note(&self.text)?;
        let place = self.queues.push(
            target.0 as usize,
            holding.mark,
            &[&at.0.to_le_bytes(), &self.text],
        );
        if holding.mark == ANSWERED {
            self.last_held = Some(place);
        }
        Ok(())
    }

    /// The source of the message that was held last is not to be answered, if it was to be.
    pub fn not_to_answer(&mut self, outbox: &mut Outbox) -> Result<(), Trouble> {
        if let Some(last) = self.last_held {
            outbox.note(b"Q")?;
            self.queues.set_mark(last, UNANSWERED);
        }
        self.last_held = None;
        Ok(())
    }

    /// Notes that the first message leaves a queue, which the caller then takes away.
    pub fn leaves(&mut self, target: SessionId, outbox: &mut Outbox) -> Result<(), Trouble> {
        self.text.clear();
        self.text.extend_from_slice(b"U ");
        put_number(&mut self.text, u64::from(target.0));
        Ok(outbox.note(&self.text)?)
    }

    /// Takes the first message of a queue away; whether there was one.
    pub fn pop(&mut self, target: SessionId) -> bool {
        self.last_held = None;
        self.queues.pop(target.0 as usize)
    }

    /// Does again what a note tells of a message that is held.
    pub(super) fn follow_held(&mut self, at: Timestamp, note: &[u8]) -> Result<(), NoteError> {
        match note {
            [mark @ (ANSWERED | UNANSWERED), b' ', ..] => {
                let (target, _) = Held::read(note).ok_or(NoteError::NotOurs)?;
                if target.0 as usize >= self.known.len() {
                    return Err(NoteError::UnknownSession);
                }
                let parts: [&[u8]; 2] = [&at.0.to_le_bytes(), note];
                let place = self.queues.push(target.0 as usize, *mark, &parts);
                if *mark == ANSWERED {
                    self.last_held = Some(place);
                }
            }
            [b'U', b' ', target @ ..] => {
                let target = next(&mut &*target).ok_or(NoteError::NotOurs)?;
                if !self.pop(SessionId(target)) {
                    return Err(NoteError::NothingHeld);
                }
            }
            b"Q" => {
                let last = self.last_held.take().ok_or(NoteError::NothingHeld)?;
                self.queues.set_mark(last, UNANSWERED);
            }
            _ => return Err(NoteError::NotOurs),
        }
        Ok(())
    }
}
