//! Held messages and their notes.
//!
//! A message stands in the queue of its target as its note, behind the time when it came. The mark of
//! its record is the note's first letter.

use alloc::vec::Vec;

use fixwire_protocol::dictionary::Dictionary;
use fixwire_protocol::{Message, Outbox, SOH, SessionId, Timestamp};

use super::super::answer;
use super::super::event::{NoteError, Trouble};
use super::super::queues::Place;
use super::{Notes, put_draft, put_number};
use crate::Draft;

/// The mark of a message whose source is answered when it cannot be delivered.
pub(in super::super) const ANSWERED: u8 = b'H';
/// The mark of one whose source is not.
pub(in super::super) const UNANSWERED: u8 = b'h';

/// Where a message waits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in super::super) enum Lane {
    /// In the gateway, which writes it when its target is there.
    Held,
    /// In its target's session, which has numbered it; known here in case its number becomes void.
    Numbered,
    /// Void: its source is still to be answered.
    Void,
}

impl Lane {
    const ALL: [Self; 3] = [Self::Held, Self::Numbered, Self::Void];

    /// The row of the queues for a target.
    pub fn row(self, target: SessionId) -> usize {
        target.0 as usize * Self::ALL.len() + self as usize
    }

    /// The lane and the target of a row.
    pub fn of(row: usize) -> (Self, SessionId) {
        let count = Self::ALL.len();
        (Self::ALL[row % count], SessionId((row / count) as u32))
    }

    /// The letter of the note that the first one has left.
    fn leaving(self) -> &'static [u8] {
        match self {
            Self::Held => b"U ",
            Self::Numbered | Self::Void => b"T ",
        }
    }
}

/// A message that is to be held.
pub(in super::super) struct Holding<'h> {
    pub mark: u8,
    /// [`Lane::Held`] or [`Lane::Numbered`].
    pub lane: Lane,
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
    /// Whether it counts for what its source may have.
    pub is_share: bool,
}

/// A message that is held.
pub(in super::super) struct Held<'n> {
    pub source: SessionId,
    /// The part that the orders track: its type, SOH and fields. Empty when they do not track it.
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
    /// Puts a message at the end of its target's queue, or only what an answer to it needs.
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
        let is_held = holding.lane == Lane::Held;
        let msg_type = match is_held {
            true => holding.draft.msg_type(),
            false => &[],
        };
        self.text.clear();
        self.text.push(match (is_held, holding.mark) {
            (true, mark) => mark,
            (false, ANSWERED) => b'W',
            (false, _) => b'w',
        });
        for number in [
            source.0 as usize,
            target.0 as usize,
            known,
            came,
            msg_type.len(),
        ] {
            self.text.push(b' ');
            put_number(&mut self.text, number as u64);
        }
        self.text.push(SOH);
        self.text.extend_from_slice(&self.parts);
        if is_held {
            self.text.extend_from_slice(msg_type);
            self.text.extend_from_slice(holding.draft.encode());
        }
        let row = holding.lane.row(target);
        let len = 8 + self.text.len();
        if !self.queues.has_room(row, len) {
            return Err(Trouble::MaxHeld);
        }
        let (client, has) = (holding.source, self.held_by(source) + len as u64);
        // Answers, which go back to clients, have what all clients leave.
        if holding.is_share
            && has
                > self
                    .held_shares
                    .may(client, has - len as u64, self.held_of_all)
        {
            return Err(Trouble::Share);
        }
        self.keep(outbox)?;
        let parts: [&[u8]; 2] = [&at.0.to_le_bytes(), &self.text];
        let place = self.queues.push(row, holding.mark, &parts);
        self.count(source, len as i64);
        let shares = &mut self.held_shares;
        let most = match holding.is_share {
            true => shares.look(client, has, self.held_of_all),
            false => shares.look_at_all(self.held_of_all),
        };
        self.most = most.map(|most| ("max_held", most)).or(self.most);
        if holding.mark == ANSWERED {
            self.last_held = Some(place);
        }
        Ok(())
    }

    /// The source of the message that was held last is not to be answered, if it was to be.
    pub fn not_to_answer(&mut self, outbox: &mut Outbox) -> Result<(), Trouble> {
        if let Some(last) = self.last_held {
            self.text.clear();
            self.text.push(b'Q');
            self.keep(outbox)?;
            self.queues.set_mark(last, UNANSWERED);
        }
        self.last_held = None;
        Ok(())
    }

    /// Notes that the first message leaves a queue, which the caller then takes away.
    pub fn leaves(&mut self, row: usize, outbox: &mut Outbox) -> Result<(), Trouble> {
        let (lane, target) = Lane::of(row);
        self.note_target(lane.leaving(), target, outbox)
    }

    fn note_target(
        &mut self,
        what: &[u8],
        target: SessionId,
        outbox: &mut Outbox,
    ) -> Result<(), Trouble> {
        self.text.clear();
        self.text.extend_from_slice(what);
        put_number(&mut self.text, u64::from(target.0));
        self.keep(outbox)
    }

    /// Takes the first message of a queue away; whether there was one.
    pub fn pop(&mut self, row: usize) -> bool {
        self.last_held = None;
        let mut record = core::mem::take(&mut self.parts);
        if self.queues.front(row, &mut record).is_some()
            && let Some(held) = Held::of(&record)
        {
            self.count(held.source, -(record.len() as i64));
        }
        self.parts = record;
        self.queues.pop(row)
    }

    /// The bytes that wait of a client's messages.
    fn held_by(&self, source: SessionId) -> u64 {
        let bytes = self.held_of.get(source.0 as usize);
        bytes.copied().unwrap_or(0)
    }

    fn count(&mut self, source: SessionId, bytes: i64) {
        let at = source.0 as usize;
        if at >= self.held_of.len() {
            self.held_of.resize(at + 1, 0);
        }
        self.held_of[at] = self.held_of[at].saturating_add_signed(bytes);
        self.held_of_all = self.held_of_all.saturating_add_signed(bytes);
    }

    /// A session of the file has logged on: its peer asks for what was written for it.
    pub fn has_come(&mut self, place: usize, outbox: &mut Outbox) -> Result<(), Trouble> {
        let Some(target) = self.waited_for(place) else {
            return Ok(());
        };
        self.note_target(b"B ", target, outbox)?;
        while self.pop(Lane::Numbered.row(target)) {}
        Ok(())
    }

    /// The numbers of a session of the file restart: its peer will never see what waited for it.
    pub fn is_void(&mut self, place: usize, outbox: &mut Outbox) -> Result<(), Trouble> {
        let Some(target) = self.waited_for(place) else {
            return Ok(());
        };
        self.note_target(b"V ", target, outbox)?;
        self.make_void(target);
        Ok(())
    }

    /// The session at this place, when something was written for it while it was away.
    fn waited_for(&self, place: usize) -> Option<SessionId> {
        let target = self.number(place)?;
        let (waiting, _) = self.queues.size(Lane::Numbered.row(target));
        (waiting > 0).then_some(target)
    }

    fn make_void(&mut self, target: SessionId) {
        let (from, to) = (Lane::Numbered.row(target), Lane::Void.row(target));
        self.last_held = None;
        let mut record = Vec::new();
        while let Some(mark) = self.queues.front(from, &mut record) {
            self.queues.pop(from);
            self.queues.push(to, mark, &[&record]);
        }
    }

    /// Puts a record into a row again, with the mark that it has now. `None` when it is none of this row.
    pub(super) fn hold_again(&mut self, row: usize, mark: u8, record: &[u8]) -> Option<Place> {
        let (target, held) = Held::read(record.get(8..)?)?;
        let (lane, source) = (Lane::of(row).0, held.source);
        let is_of_lane = match record[8] {
            ANSWERED | UNANSWERED => lane == Lane::Held,
            b'W' | b'w' => lane != Lane::Held,
            _ => false,
        };
        let are_known = (target.0.max(source.0) as usize) < self.known.len();
        if !is_of_lane || !are_known || lane.row(target) != row {
            return None;
        }
        let place = self.queues.push(row, mark, &[record]);
        self.count(source, record.len() as i64);
        Some(place)
    }

    /// Does again what a note tells of a message that is held.
    pub(super) fn follow_held(&mut self, at: Timestamp, note: &[u8]) -> Result<(), NoteError> {
        match note {
            [letter @ (ANSWERED | UNANSWERED | b'W' | b'w'), b' ', ..] => {
                let (target, held) = Held::read(note).ok_or(NoteError::NotOurs)?;
                let source = held.source;
                if target.0.max(source.0) as usize >= self.known.len() {
                    return Err(NoteError::UnknownSession);
                }
                let (lane, mark) = match *letter {
                    b'W' => (Lane::Numbered, ANSWERED),
                    b'w' => (Lane::Numbered, UNANSWERED),
                    mark => (Lane::Held, mark),
                };
                let parts: [&[u8]; 2] = [&at.0.to_le_bytes(), note];
                let place = self.queues.push(lane.row(target), mark, &parts);
                self.count(source, 8 + note.len() as i64);
                if mark == ANSWERED {
                    self.last_held = Some(place);
                }
            }
            [letter @ (b'U' | b'B' | b'V' | b'T'), b' ', target @ ..] => {
                let target = SessionId(next(&mut &*target).ok_or(NoteError::NotOurs)?);
                let done = match letter {
                    b'U' => self.pop(Lane::Held.row(target)),
                    b'T' => self.pop(Lane::Void.row(target)),
                    b'B' => {
                        let row = Lane::Numbered.row(target);
                        let any = self.pop(row);
                        while self.pop(row) {}
                        any
                    }
                    _ => {
                        let (waiting, _) = self.queues.size(Lane::Numbered.row(target));
                        self.make_void(target);
                        waiting > 0
                    }
                };
                if !done {
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
