//! Held messages and their notes.
//!
//! The queue of a target has a record for each message: its arrival time and a [`HeldMessage`]. The mark of a record
//! says whether the source receives a reject if the message cannot be delivered, or that the message was cancelled.
//! The number of a queue is the number of its target session.

use alloc::vec::Vec;

use fixwire_ledger::{Bytes, Wire, whole};
use fixwire_protocol::dictionary::Dictionary;
use fixwire_protocol::{Message, Outbox, SessionId, Timestamp};

use super::super::answer;
use super::super::event::{GatewayLimit, NoteError, Trouble};
use super::super::passage::Passage;
use super::super::queues::CANCELLED;
use super::Notes;
use super::note::{GatewayNote, HeldMessage, HeldNote, put_draft, take_draft};
use crate::Draft;
use crate::orders::HeldAt;

/// The mark of a message whose source receives a reject if it cannot be delivered.
pub(in super::super) const ANSWERED: u8 = b'H';
/// The mark of a message whose source receives no reject.
pub(in super::super) const UNANSWERED: u8 = b'h';

/// The row of a target's queue.
pub(in super::super) fn row(target: SessionId) -> usize {
    target.0 as usize
}

/// The target of the queue in this row.
pub(in super::super) fn target(row: usize) -> SessionId {
    SessionId(row as u32)
}

/// A message to be held.
pub(in super::super) struct Holding<'h> {
    /// Whether the source of the message receives a reject if the message cannot be delivered.
    pub is_answered: bool,
    pub passage: Passage,
    /// The source session, by its index in the file, and its dictionary.
    pub source: usize,
    pub dictionary: &'h Dictionary,
    pub target: usize,
    /// Whether the order tracker tracks the message. If so, it is the message that the tracker accepted last.
    pub is_known: bool,
    /// The message, as received.
    pub message: &'h Message<'h>,
    /// The message as it will be sent.
    pub draft: &'h mut Draft,
    /// Whether the message counts for the source's share of `max_held`.
    pub is_share: bool,
}

/// Arrival time in the record of a message.
pub(in super::super) fn came_at(time: [u8; 8]) -> Timestamp {
    Timestamp(i64::from_le_bytes(time))
}

/// Reads the message from a record of a queue.
pub(in super::super) fn held(record: &[u8]) -> Option<HeldMessage<'_>> {
    whole(record.get(8..)?)
}

impl Notes {
    /// Puts a message at the end of its target's queue.
    pub fn hold(&mut self, holding: Holding<'_>, outbox: &mut Outbox) -> Result<(), Trouble> {
        let source = self.introduced(holding.source, outbox)?;
        let target = self.introduced(holding.target, outbox)?;
        self.parts.clear();
        if holding.is_known {
            put_draft(&mut self.parts, &mut self.draft);
        }
        let known = self.parts.len();
        let (message, dictionary) = (holding.message, holding.dictionary);
        for (at, field) in message.fields().iter().enumerate() {
            let is_read = answer::reads(dictionary, message.msg_type(), field.tag);
            // A reject reads only the first field of each tag.
            if is_read && message.index_of(field.tag) == Some(at) {
                self.parts.extend_from_slice(message.raw(at..at + 1));
            }
        }
        let came = self.parts.len() - known;
        self.parts.extend_from_slice(holding.draft.msg_type());
        let parts = core::mem::take(&mut self.parts);
        let (known, rest) = parts.split_at(known);
        let (came, msg_type) = rest.split_at(came);
        let message = HeldMessage {
            source: source.0,
            target: target.0,
            passage: holding.passage,
            is_answered: holding.is_answered,
            known: Bytes(known),
            came: Bytes(came),
            msg_type: Bytes(msg_type),
            fields: Bytes(holding.draft.encode()),
        };
        let done = self.hold_message(holding.source, holding.is_share, message, outbox);
        self.parts = parts;
        done
    }

    /// Holds a message if the queues have room for it.
    fn hold_message(
        &mut self,
        client: usize,
        is_share: bool,
        message: HeldMessage<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Trouble> {
        let (row, source) = (row(SessionId(message.target)), SessionId(message.source));
        let note = GatewayNote::Held(HeldNote::Held { message });
        self.text.clear();
        note.put(&mut self.text);
        // In the queue the record begins with a time of 8 bytes; the note has its kind of 1 byte instead.
        let len = 8 + self.text.len() - 1;
        if !self.queues.has_room(row, len) {
            let most = self.held_shares.max();
            return Err(Trouble::Limit(GatewayLimit::Held(most)));
        }
        let before = self.held_by(source);
        let has = before + len as u64;
        // Responses to clients count for no client's share; they may use all remaining room.
        if is_share {
            let most = self.held_shares.may(client, before, self.held_of_all);
            if has > most {
                return Err(Trouble::Limit(GatewayLimit::HeldOfClient(most)));
            }
        }
        self.write(outbox)?;
        let _ = self.apply(self.now, note);
        let shares = &mut self.held_shares;
        let most = match is_share {
            true => shares.look(client, has, self.held_of_all),
            false => shares.look_at_all(self.held_of_all),
        };
        self.most = most.map(|most| ("max_held", most)).or(self.most);
        Ok(())
    }

    /// From now on, the source of the last held message receives no reject for it.
    pub fn not_to_answer(&mut self, outbox: &mut Outbox) -> Result<(), Trouble> {
        match self.last_held {
            Some((target, _)) => self.keep_held(HeldNote::Unanswered { target }, outbox),
            None => Ok(()),
        }
    }

    /// Removes the first message of a queue, and the cancelled messages that follow it. Writes a note of this.
    pub fn leaves(&mut self, row: usize, outbox: &mut Outbox) -> Result<(), Trouble> {
        let target = target(row).0;
        self.keep_held(HeldNote::Left { target }, outbox)
    }

    fn keep_held(&mut self, note: HeldNote<'_>, outbox: &mut Outbox) -> Result<(), Trouble> {
        self.keep(GatewayNote::Held(note), outbox).map(drop)
    }

    /// Removes the first message of a queue, and the cancelled messages that follow it. Returns whether the queue had
    /// a message.
    fn pop(&mut self, row: usize) -> bool {
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
            && self.queues.get(row, place, &mut record) != CANCELLED
            && let Some(held) = held(&record)
        {
            self.count(held.source, -(record.len() as i64));
            let known = held.known.0;
            if held.passage == Passage::Opens && take_draft(known, &mut self.draft).is_some() {
                self.orders.clear_held(target(row), &self.draft, place);
            }
        }
        self.parts = record;
        self.queues.pop(row)
    }

    /// Writes a note that a client cancelled a held order, and removes the messages of the order from the queue.
    pub fn cancel_held(
        &mut self,
        (client, venue): (SessionId, SessionId),
        id: &[u8],
        outbox: &mut Outbox,
    ) -> Result<(), Trouble> {
        let note = HeldNote::Cancelled {
            client: client.0,
            target: venue.0,
            id: Bytes(id),
        };
        self.keep_held(note, outbox)
    }

    /// Removes the messages of a held order; returns whether any were held.
    fn take_order(&mut self, (client, venue): (SessionId, SessionId), id: &[u8]) -> bool {
        let places = self.orders.held_order(client, venue, id);
        self.last_held = None;
        let mut record = core::mem::take(&mut self.parts);
        for place in &places {
            self.queues.get(row(venue), *place, &mut record);
            self.count(client.0, -(record.len() as i64));
            self.queues.cancel(row(venue), *place);
            if let Some(held) = held(&record)
                && take_draft(held.known.0, &mut self.draft).is_some()
            {
                self.orders.clear_held(venue, &self.draft, *place);
            }
        }
        self.parts = record;
        self.pop_cancelled(row(venue));
        !places.is_empty()
    }

    /// Sets the position of each held message in its order, after the orders were restored or rebuilt.
    pub(super) fn find_held(&mut self) {
        for row in 0..self.queues.rows() {
            let mut places = Vec::new();
            self.queues.each(row, &mut |place, mark, record| {
                let held = held(record).filter(|held| held.passage == Passage::Opens);
                if mark != CANCELLED
                    && let Some(held) = held
                {
                    places.push((place, Vec::from(held.known.0)));
                }
            });
            for (place, known) in places {
                if take_draft(&known, &mut self.draft).is_some() {
                    self.orders.set_held(target(row), &self.draft, place);
                }
            }
        }
    }

    /// Bytes of a client's held messages.
    fn held_by(&self, source: SessionId) -> u64 {
        let bytes = self.held_of.get(source.0 as usize);
        bytes.copied().unwrap_or(0)
    }

    fn count(&mut self, source: u32, bytes: i64) {
        let at = source as usize;
        if at >= self.held_of.len() {
            self.held_of.resize(at + 1, 0);
        }
        self.held_of[at] = self.held_of[at].saturating_add_signed(bytes);
        self.held_of_all = self.held_of_all.saturating_add_signed(bytes);
    }

    /// Restores a record of a queue with its mark. `None` if the record does not belong to this queue.
    pub(super) fn hold_again(&mut self, row: usize, mark: u8, record: &[u8]) -> Option<HeldAt> {
        let held = held(record)?;
        let are_known = (held.target.max(held.source) as usize) < self.known.len();
        let is_first = self.queues.first(row).is_none();
        let is_its = held.target == target(row).0;
        if !are_known || !is_its || (is_first && mark == CANCELLED) {
            return None;
        }
        let place = self.queues.push(row, mark, record);
        if mark != CANCELLED {
            self.count(held.source, record.len() as i64);
        }
        Some(place)
    }

    /// Applies a note about a held message.
    pub(super) fn apply_held(
        &mut self,
        at: Timestamp,
        note: HeldNote<'_>,
    ) -> Result<(), NoteError> {
        let is_one = match note {
            HeldNote::Held { message } => return self.apply_hold(at, message),
            HeldNote::Left { target } => self.pop(row(SessionId(target))),
            HeldNote::Cancelled { client, target, id } => {
                self.take_order((SessionId(client), SessionId(target)), id.0)
            }
            HeldNote::Unanswered { target } => {
                let last = self.last_held.take().filter(|(to, _)| *to == target);
                if let Some((_, place)) = last {
                    self.queues
                        .set_mark(row(SessionId(target)), place, UNANSWERED);
                }
                last.is_some()
            }
        };
        is_one.then_some(()).ok_or(NoteError::NothingHeld)
    }

    fn apply_hold(&mut self, at: Timestamp, message: HeldMessage<'_>) -> Result<(), NoteError> {
        let target = self.introduced_as(message.target)?;
        self.introduced_as(message.source)?;
        let mark = match message.is_answered {
            true => ANSWERED,
            false => UNANSWERED,
        };
        self.text.clear();
        at.0.put(&mut self.text);
        message.put(&mut self.text);
        let place = self.queues.push(row(target), mark, &self.text);
        self.count(message.source, self.text.len() as i64);
        if message.passage == Passage::Opens {
            take_draft(message.known.0, &mut self.draft).ok_or(NoteError::NotOurs)?;
            self.orders.set_held(target, &self.draft, place);
        }
        if message.is_answered {
            self.last_held = Some((message.target, place));
        }
        Ok(())
    }
}
