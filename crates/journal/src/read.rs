//! Reads records, one after the other.

use super::checkpoint::Carried;
use super::record::{EFFECT, Effect, EffectHead, Head, Kind, RECORD, padded, shape_fault};
use super::segment::{HEADER, Position, word};
use super::{Counters, Disk, Journal, JournalId, Segment};
use fixwire_protocol::time::Timestamp;
use std::net::IpAddr;

/// One record: a cause and its effects, borrowed from the journal.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Where it stands.
    pub at: Position,
    /// The place behind it.
    pub end: Position,
    /// How many records were written before it.
    pub index: u64,
    /// When it was written.
    pub wall: Timestamp,
    /// Up to where the journal was known to be on the disk then.
    pub synced: Position,
    /// The session it happened to.
    pub session: JournalId,
    /// What happened.
    pub kind: Kind,
    /// The session's counters after it.
    pub counters: Counters,
    /// The inbound message, the session's name or the text of a note.
    pub body: &'a [u8],
    /// What went out because of it.
    pub effects: Effects<'a>,
}

impl<'a> Record<'a> {
    /// The record whose fixed part was read at `at` of this segment, its shape checked.
    pub(super) fn view(bytes: &'a [u8], segment: u32, at: usize, head: &Head) -> Self {
        let end = at + head.length as usize;
        let effects = at + RECORD + padded(head.body as usize);
        Self {
            at: Position::new(segment, at as u32),
            end: Position::new(segment, end as u32),
            index: head.index,
            wall: head.wall,
            synced: head.synced,
            session: head.session,
            kind: head.kind,
            counters: Counters {
                next_in: head.next_in,
                next_out: head.next_out,
                epoch: head.epoch,
            },
            body: &bytes[at + RECORD..][..head.body as usize],
            effects: Effects {
                bytes: &bytes[effects..end],
            },
        }
    }

    /// The name of its session, when the record is one that tells it.
    #[must_use]
    pub fn session_name(&self) -> Option<&'a str> {
        match self.kind {
            Kind::Session => str::from_utf8(self.body).ok(),
            Kind::Carried => Carried::read(self.body).map(|carried| carried.name),
            _ => None,
        }
    }
}

/// The messages that went out in one record, in the order of their writing.
#[derive(Clone, Copy, Debug)]
pub struct Effects<'a> {
    bytes: &'a [u8],
}

impl<'a> Iterator for Effects<'a> {
    type Item = Effect<'a>;

    fn next(&mut self) -> Option<Effect<'a>> {
        if self.bytes.is_empty() {
            return None;
        }
        let head = EffectHead::read(self.bytes, 0);
        let message = &self.bytes[EFFECT..][..head.length as usize];
        self.bytes = &self.bytes[EFFECT + padded(message.len())..];
        Some(Effect {
            session: head.session,
            seq: head.seq,
            bytes: message,
        })
    }
}

/// The records of one segment's bytes, as far as they have a shape.
pub(super) fn records_of(bytes: &[u8], number: u32) -> impl Iterator<Item = Record<'_>> {
    let mut at = HEADER;
    std::iter::from_fn(move || {
        let room = bytes.len().saturating_sub(at);
        if room < RECORD || !(RECORD..=room).contains(&(word(bytes, at) as usize)) {
            return None;
        }
        let head = Head::read(bytes, at)?;
        if shape_fault(bytes, at, &head).is_some() {
            return None;
        }
        let record = Record::view(bytes, number, at, &head);
        at += head.length as usize;
        Some(record)
    })
}

/// Records in the order of their writing. See [`Journal::records`].
pub struct Records<'a, D: Disk> {
    journal: &'a Journal<D>,
    at: Position,
}

impl<'a, D: Disk> Iterator for Records<'a, D> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        loop {
            let end = self.journal.end();
            if self.at >= end {
                return None;
            }
            let number = self.at.segment();
            let bytes = self.journal.segment(number)?;
            let at = self.at.offset() as usize;
            let stop = if number == end.segment() {
                end.offset() as usize
            } else {
                bytes.len()
            };
            let length = if stop.saturating_sub(at) < RECORD {
                0
            } else {
                word(bytes, at) as usize
            };
            if length == 0 {
                self.at = Position::new(number + 1, HEADER as u32);
                continue;
            }
            if length < RECORD || length > stop - at {
                return None;
            }
            let head = Head::read(bytes, at)?;
            if shape_fault(bytes, at, &head).is_some() {
                return None;
            }
            let record = Record::view(bytes, number, at, &head);
            self.at = record.end;
            return Some(record);
        }
    }
}

impl<D: Disk> Journal<D> {
    /// All records from a place on: [`Position::START`], or the `at` or `end` of a record.
    #[must_use]
    pub fn records(&self, from: Position) -> Records<'_, D> {
        Records {
            journal: self,
            at: from.max(self.positions().0),
        }
    }

    /// The message that a session sent with this MsgSeqNum since its last reset; `None` when it never
    /// did, or the message fell off the ring.
    ///
    /// Costs a step for each message between two entries of the index; to read many messages in
    /// order, [`Journal::replay`] is cheaper.
    #[must_use]
    pub fn outbound(&self, session: JournalId, seq: u64) -> Option<&[u8]> {
        let known = self.sessions.get(session.0 as usize)?;
        let mut place = known.index.at_or_above(seq, self.positions().0)?;
        while place.0 > seq {
            place = self.before(place.1)?;
        }
        if place.0 == seq {
            self.message(place.1)
        } else {
            None
        }
    }

    /// Whether an operator has disabled a session.
    #[must_use]
    pub fn is_disabled(&self, session: JournalId) -> bool {
        let known = self.sessions.get(session.0 as usize);
        known.is_some_and(|known| known.disabled)
    }

    /// From where the peer of a session has logged on last, as far as the segments tell that are left.
    #[must_use]
    pub fn peer(&self, session: JournalId) -> Option<IpAddr> {
        self.sessions.get(session.0 as usize)?.peer
    }

    /// The message before the one at this place, of the same session.
    pub(super) fn before(&self, at: Position) -> Option<(u64, Position)> {
        let bytes = self.segment(at.segment())?;
        let previous = EffectHead::read(bytes, at.offset() as usize).previous;
        let bytes = self.segment(previous.segment())?;
        Some((
            EffectHead::read(bytes, previous.offset() as usize).seq,
            previous,
        ))
    }

    /// The bytes of the message at this place.
    pub(super) fn message(&self, at: Position) -> Option<&[u8]> {
        let bytes = self.segment(at.segment())?;
        let at = at.offset() as usize;
        Some(&bytes[at + EFFECT..][..EffectHead::read(bytes, at).length as usize])
    }

    /// The bytes of a segment that is still kept.
    pub(super) fn segment(&self, number: u32) -> Option<&[u8]> {
        let at = number.checked_sub(self.first)?;
        self.segments.get(at as usize).map(Segment::bytes)
    }
}
