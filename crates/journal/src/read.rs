//! Reads records and messages of an open journal.

use super::record::{EFFECT, EffectHead, Head, RECORD, shape_fault};
use super::segment::{HEADER, JournalPosition, word};
use super::view::Record;
use super::{Damage, Disk, Journal, JournalError, JournalId, Segment};
use std::net::IpAddr;
use std::ops::RangeInclusive;

/// Records in the order in which they were written. See [`Reading::records`](super::MappedJournal::records).
pub struct Records<'a> {
    /// The segments, beginning with the one that has `first`.
    segments: Vec<&'a [u8]>,
    first: u32,
    at: JournalPosition,
    end: JournalPosition,
}

impl<'a> Records<'a> {
    /// The records from `at` to `end`. `segments` begins with the journal's first segment.
    pub(super) fn new(
        first: u32,
        segments: Vec<&'a [u8]>,
        at: JournalPosition,
        end: JournalPosition,
    ) -> Self {
        Self {
            segments,
            first,
            at,
            end,
        }
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        loop {
            if self.at >= self.end {
                return None;
            }
            let number = self.at.segment();
            let bytes = *self.segments.get((number - self.first) as usize)?;
            let at = self.at.offset() as usize;
            let stop = if number == self.end.segment() {
                self.end.offset() as usize
            } else {
                bytes.len()
            };
            let length = if stop.saturating_sub(at) < RECORD {
                0
            } else {
                word(bytes, at) as usize
            };
            if length == 0 {
                self.at = JournalPosition::new(number + 1, HEADER as u32);
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
    /// The message that a session has sent with this MsgSeqNum since its last reset. `None` if it sent no such
    /// message, or if the message was overwritten in the ring or retired.
    ///
    /// The cost is a step for each message between two entries of the index. To read many messages in order, use
    /// [`Journal::replay`]. Segments are mapped when necessary.
    ///
    /// # Errors
    ///
    /// A segment of the journal cannot be mapped, or another file has its name now. In both cases it is unknown
    /// whether the message exists.
    pub fn outbound(
        &mut self,
        session: JournalId,
        seq: u64,
    ) -> Result<Option<&[u8]>, JournalError> {
        let begin = self.positions().0;
        let known = self.sessions.get(session.0 as usize);
        let Some(mut place) = known.and_then(|known| known.index.at_or_above(seq, begin)) else {
            return Ok(None);
        };
        while place.0 > seq {
            match self.before(session, place)? {
                Some(before) => place = before,
                None => return Ok(None),
            }
        }
        if place.0 == seq {
            self.message(session, place)
        } else {
            Ok(None)
        }
    }

    /// Whether an operator has disabled a session.
    #[must_use]
    pub fn is_disabled(&self, session: JournalId) -> bool {
        let known = self.sessions.get(session.0 as usize);
        known.is_some_and(|known| known.disabled)
    }

    /// The address from which a session's peer last logged on, if the remaining segments have it.
    #[must_use]
    pub fn peer(&self, session: JournalId) -> Option<IpAddr> {
        self.sessions.get(session.0 as usize)?.peer
    }

    /// The MsgSeqNum from which on messages of a session wait for its next logon; `None` if none waits.
    #[must_use]
    pub fn waiting_from(&self, session: JournalId) -> Option<u64> {
        self.sessions.get(session.0 as usize)?.waiting_from
    }

    /// The MsgSeqNum and position of the session's message before this one; `None` if that message is not kept.
    pub(super) fn before(
        &mut self,
        session: JournalId,
        place: (u64, JournalPosition),
    ) -> Result<Option<(u64, JournalPosition)>, JournalError> {
        let Some((head, _)) = self.effect(session, place.0..=place.0, place.1)? else {
            return Ok(None);
        };
        let at = head.previous;
        let before = self.effect(session, 0..=place.0.saturating_sub(1), at)?;
        Ok(before.map(|(head, _)| (head.seq, at)))
    }

    /// The bytes of a session's message, found by MsgSeqNum and position; `None` if the message is not kept.
    pub(super) fn message(
        &mut self,
        session: JournalId,
        (seq, at): (u64, JournalPosition),
    ) -> Result<Option<&[u8]>, JournalError> {
        let found = self.effect(session, seq..=seq, at)?;
        Ok(found.map(|(_, message)| message))
    }

    /// The message of a session in the record at this position whose MsgSeqNum is in `wanted`; `None` if it is not
    /// kept.
    fn effect(
        &mut self,
        session: JournalId,
        seqs: RangeInclusive<u64>,
        place: JournalPosition,
    ) -> Result<Option<(EffectHead, &[u8])>, JournalError> {
        let Self { segments, disk, .. } = self;
        let Some(segment) = segments.get(disk, place.segment())? else {
            return Ok(None);
        };
        let bytes = segment.bytes();
        let at = place.offset() as usize;
        let found = bytes.get(at..at + EFFECT).and_then(|_| {
            let head = EffectHead::read(bytes, at);
            let message = bytes[at + EFFECT..].get(..head.length as usize)?;
            let is_zeros = (head.seq, head.length) == (0, 0);
            let is_it = head.session == session && seqs.contains(&head.seq) && !is_zeros;
            // Each link must lead to an earlier position, so that a walk from message to message ends.
            (is_it && head.previous < place).then_some((head, message))
        });
        // Recovery or an append has seen the message at this position, so the file was changed after that.
        let damage = || Damage {
            file: disk.name(place.segment()),
            offset: at as u64,
            expected: "the message of a session that was stored here before".into(),
            found: "another message, or no message".into(),
        };
        found
            .map(Some)
            .ok_or_else(|| JournalError::Damaged(damage()))
    }
}
