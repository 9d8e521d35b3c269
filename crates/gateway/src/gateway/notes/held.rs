//! Held messages and their notes.
//!
//! The queue of a target has each message as its arrival time and its note. The mark of a record is the note's
//! first letter, or means cancelled. A queue has the number of its target session.

use alloc::vec::Vec;

use fixwire_protocol::dictionary::Dictionary;
use fixwire_protocol::{Message, Outbox, SOH, SessionId, Timestamp};

use super::super::answer;
use super::super::event::{GatewayLimit, NoteError, Trouble};
use super::super::passage::Passage;
use super::super::queues::{CANCELLED, Place};
use super::{Notes, put_draft, put_number};
use crate::Draft;

/// The mark of a message whose source receives a reject if it cannot be delivered.
pub(in super::super) const ANSWERED: u8 = b'H';
/// The mark of a message whose source receives no reject.
pub(in super::super) const UNANSWERED: u8 = b'h';

/// The queue of a target.
pub(in super::super) fn row(target: SessionId) -> usize {
    target.0 as usize
}

/// The target of a queue.
pub(in super::super) fn target(row: usize) -> SessionId {
    SessionId(row as u32)
}

/// A message to be held.
pub(in super::super) struct Holding<'h> {
    pub mark: u8,
    pub passage: Passage,
    /// The source session, by its index in the file, and its dictionary.
    pub source: usize,
    pub dictionary: &'h Dictionary,
    pub target: usize,
    /// Whether the orders track the message: it is the last one that they accepted.
    pub is_known: bool,
    /// The message as received.
    pub message: &'h Message<'h>,
    /// The message as it will be sent.
    pub draft: &'h mut Draft,
    /// Whether the message counts for its source's share.
    pub is_share: bool,
}

/// A held message.
pub(in super::super) struct Held<'n> {
    pub source: SessionId,
    pub passage: Passage,
    /// The part that the orders track: type, SOH and fields. Empty if they do not track the message.
    pub known: &'n [u8],
    /// Fields of the received message that a reject reads.
    pub came: &'n [u8],
    pub msg_type: &'n [u8],
    /// The fields of the message as it will be sent.
    pub fields: &'n [u8],
}

/// Arrival time of a message.
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
            passage: Passage::of(next(&mut head)?)?,
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
        let msg_type = holding.draft.msg_type();
        self.text.clear();
        self.text.push(holding.mark);
        for number in [
            source.0 as usize,
            target.0 as usize,
            known,
            came,
            msg_type.len(),
            holding.passage as usize,
        ] {
            self.text.push(b' ');
            put_number(&mut self.text, number as u64);
        }
        self.text.push(SOH);
        self.text.extend_from_slice(&self.parts);
        self.text.extend_from_slice(msg_type);
        self.text.extend_from_slice(holding.draft.encode());
        let row = row(target);
        let len = 8 + self.text.len();
        if !self.queues.has_room(row, len) {
            let most = self.held_shares.max();
            return Err(Trouble::Limit(GatewayLimit::Held(most)));
        }
        let (client, has) = (holding.source, self.held_by(source) + len as u64);
        // Answers, which go back to clients, have what all clients leave.
        if holding.is_share {
            let before = has - len as u64;
            let most = self.held_shares.may(client, before, self.held_of_all);
            if has > most {
                return Err(Trouble::Limit(GatewayLimit::HeldOfClient(most)));
            }
        }
        self.keep(outbox)?;
        let parts: [&[u8]; 2] = [&at.0.to_le_bytes(), &self.text];
        let place = self.queues.push(row, holding.mark, &parts);
        self.count(source, len as i64);
        if holding.passage == Passage::Opens {
            // The draft has what orders know of it.
            self.orders.set_held(target, &self.draft, place.into());
        }
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

    /// The source of the last held message receives no reject from now on.
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

    /// Notes that the first message leaves a queue; the caller then removes it.
    pub fn leaves(&mut self, row: usize, outbox: &mut Outbox) -> Result<(), Trouble> {
        self.text.clear();
        self.text.extend_from_slice(b"U ");
        put_number(&mut self.text, u64::from(target(row).0));
        self.keep(outbox)
    }

    /// Removes the first message of a queue, and the cancelled ones after it; returns whether there was one.
    pub fn pop(&mut self, row: usize) -> bool {
        self.last_held = None;
        let is_one = self.pop_first(row);
        self.pop_cancelled(row);
        is_one
    }

    fn pop_cancelled(&mut self, row: usize) {
        let mut record = core::mem::take(&mut self.parts);
        while self.queues.front(row, &mut record) == Some(CANCELLED) {
            self.parts = record;
            self.pop_first(row);
            record = core::mem::take(&mut self.parts);
        }
        self.parts = record;
    }

    fn pop_first(&mut self, row: usize) -> bool {
        let mut record = core::mem::take(&mut self.parts);
        if let Some(place) = self.queues.first(row)
            && self.queues.get(place, &mut record) != CANCELLED
            && let Some(held) = Held::of(&record)
        {
            self.count(held.source, -(record.len() as i64));
            if held.passage == Passage::Opens && self.fill_known(held.known).is_some() {
                self.orders
                    .clear_held(target(row), &self.draft, place.into());
            }
        }
        self.parts = record;
        self.queues.pop(row)
    }

    /// Places of the held messages of an order, the order first, if none of them was sent; empty if the venue may
    /// have the order.
    pub fn held_order(&self, client: SessionId, venue: SessionId, id: &[u8]) -> Vec<Place> {
        let held = self.orders.held_order(client, venue, id);
        held.into_iter().map(Place::from).collect()
    }

    /// Notes that a client cancelled a held order, and removes its messages from the queue.
    pub fn cancel_held(
        &mut self,
        (client, venue): (SessionId, SessionId),
        id: &[u8],
        outbox: &mut Outbox,
    ) -> Result<(), Trouble> {
        self.text.clear();
        self.text.extend_from_slice(b"X ");
        put_number(&mut self.text, u64::from(client.0));
        self.text.push(b' ');
        put_number(&mut self.text, u64::from(venue.0));
        self.text.push(SOH);
        self.text.extend_from_slice(id);
        self.keep(outbox)?;
        self.take_order((client, venue), id);
        Ok(())
    }

    /// Removes the messages of a held order; returns whether there was one.
    fn take_order(&mut self, (client, venue): (SessionId, SessionId), id: &[u8]) -> bool {
        let places = self.held_order(client, venue, id);
        self.last_held = None;
        let mut record = core::mem::take(&mut self.parts);
        for place in &places {
            self.queues.get(*place, &mut record);
            self.count(client, -(record.len() as i64));
            self.queues.cancel(row(venue), *place);
            if let Some(held) = Held::of(&record)
                && self.fill_known(held.known).is_some()
            {
                self.orders.clear_held(venue, &self.draft, (*place).into());
            }
        }
        self.parts = record;
        self.pop_cancelled(row(venue));
        !places.is_empty()
    }

    /// Sets the place of each held message in orders that were restored or rebuilt.
    pub(super) fn find_held(&mut self) {
        for row in 0..self.queues.rows() {
            let mut places = Vec::new();
            self.queues.each(row, &mut |place, mark, record| {
                let held = Held::of(record).filter(|held| held.passage == Passage::Opens);
                if mark != CANCELLED
                    && let Some(held) = held
                {
                    places.push((place, Vec::from(held.known)));
                }
            });
            for (place, known) in places {
                if self.fill_known(&known).is_some() {
                    self.orders.set_held(target(row), &self.draft, place.into());
                }
            }
        }
    }

    /// Bytes of a client's held messages.
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

    /// Restores a record of a row, with its present mark. `None` if the record does not belong to the row.
    pub(super) fn hold_again(&mut self, row: usize, mark: u8, record: &[u8]) -> Option<Place> {
        let note = record.get(8..)?;
        // The mark says what became of it.
        let is_held = matches!(note, [ANSWERED | UNANSWERED, b' ', ..]);
        let (to, held) = Held::read(note).filter(|_| is_held)?;
        let source = held.source;
        let are_known = (to.0.max(source.0) as usize) < self.known.len();
        let is_first = self.queues.first(row).is_none();
        if !are_known || to != target(row) || (is_first && mark == CANCELLED) {
            return None;
        }
        let place = self.queues.push(row, mark, &[record]);
        if mark != CANCELLED {
            self.count(source, record.len() as i64);
        }
        Some(place)
    }

    /// Applies a note about a held message.
    pub(super) fn follow_held(&mut self, at: Timestamp, note: &[u8]) -> Result<(), NoteError> {
        match note {
            [mark @ (ANSWERED | UNANSWERED), b' ', ..] => {
                let (target, held) = Held::read(note).ok_or(NoteError::NotOurs)?;
                let source = held.source;
                if target.0.max(source.0) as usize >= self.known.len() {
                    return Err(NoteError::UnknownSession);
                }
                let parts: [&[u8]; 2] = [&at.0.to_le_bytes(), note];
                let place = self.queues.push(row(target), *mark, &parts);
                self.count(source, 8 + note.len() as i64);
                if held.passage == Passage::Opens {
                    self.fill_known(held.known).ok_or(NoteError::NotOurs)?;
                    self.orders.set_held(target, &self.draft, place.into());
                }
                if *mark == ANSWERED {
                    self.last_held = Some(place);
                }
            }
            [b'U', b' ', target @ ..] => {
                let target = SessionId(next(&mut &*target).ok_or(NoteError::NotOurs)?);
                if !self.pop(row(target)) {
                    return Err(NoteError::NothingHeld);
                }
            }
            [b'X', b' ', rest @ ..] => {
                let end = rest.iter().position(|byte| *byte == SOH);
                let (mut head, id) = rest.split_at(end.ok_or(NoteError::NotOurs)?);
                let mut session = || next(&mut head).map(SessionId).ok_or(NoteError::NotOurs);
                if !self.take_order((session()?, session()?), &id[1..]) {
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
