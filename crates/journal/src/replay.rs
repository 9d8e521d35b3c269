//! Reads many outbound messages of a session, in the order of MsgSeqNum.

use super::segment::JournalPosition;
use super::{Disk, Journal, JournalError, JournalId};

/// Capacity of each of the two buffers, in positions.
const ROOM: usize = 256;

/// A range of MsgSeqNums that is being read, a few at a time; see [`Journal::replay`].
///
/// The links between records lead from a message to the previous one, but a replay needs the messages in ascending
/// order. The replay therefore walks back from an index entry, and keeps the positions that it passes in `fine`. When
/// the index entries are far apart, the replay first keeps every n-th position in `coarse`, and later walks back from
/// those. Each message is passed about twice, with a fixed amount of memory.
#[derive(Debug)]
pub struct Replay {
    session: JournalId,
    generation: u64,
    next: u64,
    to: u64,
    /// The position of the message that was returned last.
    found: JournalPosition,
    coarse: Descent,
    fine: Descent,
}

impl Replay {
    /// The first MsgSeqNum that was not returned yet.
    #[must_use]
    pub fn next_number(&self) -> u64 {
        self.next
    }

    /// The position of the effect of the message that was returned last.
    pub fn place(&self) -> JournalPosition {
        self.found
    }

    /// Restarts the search for positions.
    fn forget(&mut self) {
        (self.coarse.len, self.fine.len) = (0, 0);
    }

    /// The last MsgSeqNum that was requested.
    #[must_use]
    pub fn last_number(&self) -> u64 {
        self.to
    }
}

/// An item of a replay.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stored<'a> {
    /// The message with this MsgSeqNum.
    Message {
        /// MsgSeqNum of the message.
        seq: u64,
        /// The complete message, as sent.
        bytes: &'a [u8],
    },
    /// MsgSeqNums without a message, from the first to the last: they need a gap fill.
    Missing {
        /// The first.
        from: u64,
        /// The last.
        to: u64,
    },
}

/// Positions in descending order. Only the lowest ones are kept.
#[derive(Debug)]
struct Descent {
    places: Box<[(u64, JournalPosition); ROOM]>,
    /// Number of positions that were pushed and not taken yet; at most `ROOM`.
    len: usize,
    /// Index of the next push.
    top: usize,
}

impl Descent {
    fn new() -> Self {
        Self {
            places: Box::new([(0, JournalPosition::START); ROOM]),
            len: 0,
            top: 0,
        }
    }

    #[inline]
    fn push(&mut self, place: (u64, JournalPosition)) {
        self.places[self.top] = place;
        self.top = (self.top + 1) % ROOM;
        self.len = (self.len + 1).min(ROOM);
    }

    /// Removes the positions below `seq`; returns the lowest remaining one.
    fn lowest_from(&mut self, seq: u64) -> Option<(u64, JournalPosition)> {
        while self.len > 0 {
            let lowest = self.places[(self.top + ROOM - 1) % ROOM];
            if lowest.0 >= seq {
                return Some(lowest);
            }
            self.top = (self.top + ROOM - 1) % ROOM;
            self.len -= 1;
        }
        None
    }
}

impl<D: Disk> Journal<D> {
    /// Starts to read the messages of a session, from one MsgSeqNum to another, both included. Allocates the memory
    /// for the whole replay, 8 KiB.
    #[must_use]
    pub fn replay(&self, session: JournalId, from: u64, to: u64) -> Replay {
        Replay {
            session,
            generation: self
                .sessions
                .get(session.0 as usize)
                .map_or(0, |known| known.index.generation()),
            next: from,
            // Leave room for a next MsgSeqNum.
            to: to.min(u64::MAX - 1),
            found: JournalPosition::START,
            coarse: Descent::new(),
            fine: Descent::new(),
        }
    }

    /// The next item of a replay: a message, or a range of MsgSeqNums without a message; `None` at the end. Records
    /// may be appended between two calls. After a reset of the session, all remaining messages count as missing.
    /// Segments are mapped when necessary.
    ///
    /// # Errors
    ///
    /// A segment of the journal cannot be mapped, or another file has its name now. The segment's messages are neither
    /// available nor missing then. A later call tries again.
    pub fn next_of(&mut self, replay: &mut Replay) -> Result<Option<Stored<'_>>, JournalError> {
        let (from, to) = (replay.next, replay.to);
        if from > to {
            return Ok(None);
        }
        let place = self
            .first_from(replay, from)
            // Whether the positions are not the lowest of their range.
            .inspect_err(|_| replay.forget())?;
        Ok(match place.filter(|place| place.0 <= to) {
            Some((seq, at)) if seq == from => {
                let message = self.message(replay.session, (seq, at))?;
                (replay.next, replay.found) = (seq + 1, at);
                message.map(|bytes| Stored::Message { seq, bytes })
            }
            Some((seq, _)) => {
                replay.next = seq;
                Some(Stored::Missing { from, to: seq - 1 })
            }
            None => {
                replay.next = to + 1;
                Some(Stored::Missing { from, to })
            }
        })
    }

    /// The stored message with the lowest MsgSeqNum that is at least `seq`.
    fn first_from(
        &mut self,
        replay: &mut Replay,
        seq: u64,
    ) -> Result<Option<(u64, JournalPosition)>, JournalError> {
        let (session, begin) = (replay.session, self.positions().0);
        let Some(known) = self.sessions.get(session.0 as usize) else {
            return Ok(None);
        };
        if known.index.generation() != replay.generation {
            return Ok(None);
        }
        let kept = |place: &(u64, JournalPosition)| place.1 >= begin;
        if let Some(place) = replay.fine.lowest_from(seq).filter(kept) {
            return Ok(Some(place));
        }
        let stride = known.index.stride();
        let coarse = replay.coarse.lowest_from(seq).filter(kept);
        let Some(mut anchor) = coarse.or_else(|| known.index.at_or_above(seq, begin)) else {
            return Ok(None);
        };
        if stride > ROOM as u64 && replay.coarse.len == 0 {
            let step = stride.div_ceil(ROOM as u64).max(ROOM as u64);
            let (mut place, mut passed) = (anchor, 0);
            while place.0 >= seq {
                if passed % step == 0 {
                    replay.coarse.push(place);
                    anchor = place;
                }
                passed += 1;
                match self.before(session, place)? {
                    Some(previous) => place = previous,
                    None => break,
                }
            }
        }
        let mut place = anchor;
        while place.0 >= seq {
            replay.fine.push(place);
            match self.before(session, place)? {
                Some(previous) => place = previous,
                None => break,
            }
        }
        Ok(replay.fine.lowest_from(seq))
    }
}
