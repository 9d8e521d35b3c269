//! Old segments: which may go, and where the journal begins then.
//!
//! ```text
//!   removed      archive            live: recovery reads these
//!   ........ | 3.fwz 4.fwz 5.fwj | 6.fwj 7.fwj 8.fwj
//!             oldest              first          both stand in the file `base`
//! ```
//!
//! Each segment begins with a checkpoint when the journal retires old ones: the name, the counters and
//! the last message of every session. Retiring moves the beginning to such a segment: it is synced, then
//! `base` is replaced in one step, and only then files go. A crash leaves the beginning where it was or
//! where it shall be, and files before it that nobody reads.

use super::NOTES;
use super::base::{Base, Retention, Start};
use super::checkpoint::Checkpoint;
use super::{Disk, Journal, JournalError, Trouble};
use fixwire_protocol::time::{Nanos, Timestamp};

impl Base {
    /// The base after retiring everything before `first`, and removing what was closed before
    /// `remove_before`. `look` finds the checkpoint that a segment begins with.
    pub(super) fn next(
        before: Option<Self>,
        first: Start,
        remove_before: Option<Timestamp>,
        mut look: impl FnMut(u32) -> Option<Checkpoint>,
    ) -> Self {
        let mut oldest = before.map_or(Start::BEGIN, |base| base.oldest);
        if let Some(limit) = remove_before {
            for number in oldest.segment + 1..=first.segment {
                match look(number) {
                    Some(found) if found.wall < limit => oldest = found.start,
                    Some(_) => break,
                    None => {}
                }
            }
        }
        Self { oldest, first }
    }
}

impl<D: Disk> Journal<D> {
    /// Looks for segments that no session needs, and lets the disk retire them.
    #[cold]
    pub(super) fn retire(&mut self, policy: Retention, now: Timestamp) -> Result<(), JournalError> {
        let before = |age: Nanos| {
            let age = i64::try_from(age.0).unwrap_or(i64::MAX);
            Timestamp(now.0.saturating_sub(age))
        };
        let oldest = |at: usize| self.oldest_needed(at).unwrap_or(u32::MAX);
        // Notes do not age, but those that are in two checkpoints are needed no more. The segments before which
        // these stand are.
        let mut names = self.sessions.iter().map(|known| known.name.as_str());
        let notes = names.position(|name| name == NOTES);
        let settled = self.disk.settled().or(self.recalled);
        let noted = notes.map(|at| settled.unwrap_or_else(|| oldest(at)));
        let others = (0..self.sessions.len()).filter(|at| Some(*at) != notes);
        let needed = others.map(oldest).chain(noted).min();
        let may_begin = |checkpoint: &&Checkpoint| {
            let segment = checkpoint.start.segment;
            let aged = policy
                .resend
                .is_some_and(|age| checkpoint.wall < before(age));
            needed.is_none_or(|needed| segment <= needed)
                || (aged && noted.is_none_or(|noted| segment <= noted))
        };
        if let Some(found) = self.checkpoints.iter().rfind(may_begin) {
            self.start = found.start;
        }
        let start = self.start;
        while self.first < start.segment {
            self.segments.pop_front();
            self.first += 1;
        }
        self.checkpoints
            .retain(|checkpoint| checkpoint.start.segment > start.segment);
        let (Some(segment), true) = (self.segments.front_mut(), start != Start::BEGIN) else {
            return Ok(());
        };
        let retired = self
            .disk
            .retire(segment, start, policy.keep.map(before), policy.compress);
        // Those records would pass for synced the next time.
        self.poisoned |= matches!(retired, Err(JournalError::Unsynced { .. }));
        retired
    }

    /// The segment of the oldest message of a session that can be resent.
    fn oldest_needed(&self, session: usize) -> Option<u32> {
        let index = &self.sessions[session].index;
        let mut at = index.at_or_above(0, self.positions().0)?.1;
        while at.segment() > self.first {
            match self.before(at) {
                Some((_, previous)) => at = previous,
                None => break,
            }
        }
        Some(at.segment())
    }

    /// What went wrong with the files since it was asked last. The journal itself goes on.
    ///
    /// # Errors
    ///
    /// [`JournalError::Unsynced`]: it does not.
    #[inline]
    pub fn troubles(&mut self) -> Result<Vec<Trouble>, JournalError> {
        // Asked in every turn: nothing is moved when there is nothing.
        if self.trouble.is_none() && !self.disk.has_news() {
            return Ok(Vec::new());
        }
        self.take_troubles()
    }

    #[cold]
    fn take_troubles(&mut self) -> Result<Vec<Trouble>, JournalError> {
        let (mut troubles, again) = self.disk.news();
        if again && self.next.is_some() {
            self.prepare_next();
        }
        match self.trouble.take() {
            Some(error @ JournalError::Unsynced { .. }) => return Err(error),
            Some(error) => troubles.push(Trouble::NotRetired {
                error: error.to_string(),
            }),
            None => {}
        }
        Ok(troubles)
    }
}
