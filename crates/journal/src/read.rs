//! Reads records, one after the other.

use super::record::{EFFECT, EffectHead, Head, RECORD, shape_fault};
use super::segment::{HEADER, Position, word};
use super::view::Record;
use super::{Disk, Journal, JournalId, Segment};
use std::net::IpAddr;

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
