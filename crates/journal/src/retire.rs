//! Retires old segments: decides which may be removed, and where the journal then begins.
//!
//! ```text
//!   removed      archive            live: recovery reads these
//!   ........ | 3.fwz 4.fwz 5.fwj | 6.fwj 7.fwj 8.fwj
//!             oldest              first          both are in the file `base`
//! ```
//!
//! When old segments are retired, each segment begins with a checkpoint: the name, the counters and the last message of
//! every session. Retiring moves the beginning of the journal to such a segment. First this segment is synced, then
//! `base` is replaced atomically, and only then files are removed. A crash therefore leaves either the old or the new
//! beginning; files before the beginning are not read.

use super::base::{Base, Retention, Start};
use super::checkpoint::Checkpoint;
use super::is_notes;
use super::watch::Untold;
use super::{Disk, DiskNews, Journal, JournalError, JournalId, JournalTrouble};
use fixwire_protocol::time::{Nanos, Timestamp};

impl Base {
    /// The base after everything before `first` was retired, and after segments closed before `remove_before` were
    /// removed. `look` returns the checkpoint at the beginning of a segment.
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

/// Maximum number of errors that are kept until they are reported.
const MOST_UNTOLD: usize = 16;

impl<D: Disk> Journal<D> {
    /// Retires segments that no session needs. Errors are kept for [`troubles`](Self::troubles).
    #[cold]
    pub(super) fn retire_and_tell(&mut self, policy: Retention, now: Timestamp) {
        let retired = self.retire(policy, now);
        // After this error, records would count as synced although they are not.
        self.poisoned |= matches!(retired, Err(JournalError::Unsynced { .. }));
        if let Err(error) = retired {
            self.keep_untold(Untold::Retiring(error));
        }
    }

    /// Keeps an error until [`troubles`](Self::troubles) is called. The number of kept errors is limited, because not
    /// every caller calls `troubles`.
    pub(super) fn keep_untold(&mut self, untold: Untold) {
        if self.troubles.len() == MOST_UNTOLD {
            self.troubles.remove(0);
        }
        self.troubles.push(untold);
    }

    /// Checks for segments that no session needs, and retires them.
    fn retire(&mut self, policy: Retention, now: Timestamp) -> Result<(), JournalError> {
        let before = |age: Nanos| {
            let age = i64::try_from(age.0).unwrap_or(i64::MAX);
            Timestamp(now.0.saturating_sub(age))
        };
        // Notes do not expire, but notes that two checkpoints include are no longer needed. `settled` is the segment
        // before which these notes are.
        let settled = self.disk.settled().or(self.recalled);
        let (mut needed, mut noted) = (None::<u32>, None);
        for session in 0..self.sessions.len() {
            let is_notes = noted.is_none() && is_notes(&self.sessions[session].name);
            let oldest = match settled.filter(|_| is_notes) {
                Some(settled) => settled,
                None => self.oldest_needed(session)?.unwrap_or(u32::MAX),
            };
            noted = noted.or(is_notes.then_some(oldest));
            needed = Some(needed.map_or(oldest, |needed| needed.min(oldest)));
        }
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
        while self.segments.first() < start.segment {
            if let Some(mapped) = self.segments.pop_first() {
                self.disk.let_go(mapped);
            }
        }
        self.checkpoints
            .retain(|checkpoint| checkpoint.start.segment > start.segment);
        if start == Start::BEGIN {
            return Ok(());
        }
        let Some(segment) = self.segments.get(&mut self.disk, start.segment)? else {
            return Ok(());
        };
        self.disk
            .retire(segment, start, policy.keep.map(before), policy.compress)
    }

    /// Allows the journal to drop the messages of a session before this MsgSeqNum, because no peer will request them. A
    /// link whose frames are all written therefore keeps no segment. The permission ends with the next reset of the
    /// session.
    #[inline]
    pub fn release_before(&mut self, session: JournalId, seq: u64) {
        if let Some(known) = self.sessions.get_mut(session.0 as usize) {
            known.needed_from = seq;
        }
    }

    /// The segment with the session's first message from this MsgSeqNum on, or an earlier segment.
    fn segment_of(&mut self, session: usize, seq: u64) -> Result<Option<u32>, JournalError> {
        let begin = self.positions().0;
        let Some(mut place) = self.sessions[session].index.at_or_above(seq, begin) else {
            return Ok(None);
        };
        while place.0 > seq && place.1.segment() > begin.segment() {
            match self.before(JournalId(session as u32), place)? {
                Some(previous) => place = previous,
                None => break,
            }
        }
        Ok(Some(place.1.segment()))
    }

    /// The segment with the oldest message of a session that can still be resent.
    fn oldest_needed(&mut self, session: usize) -> Result<Option<u32>, JournalError> {
        let needed_from = self.sessions[session].needed_from;
        if needed_from > 0 {
            return self.segment_of(session, needed_from);
        }
        let begin = self.positions().0;
        let index = &self.sessions[session].index;
        let Some(first) = index.first() else {
            return Ok(None);
        };
        if first >= begin {
            return Ok(Some(first.segment()));
        }
        // The first messages of the session were removed. Find where the remaining ones begin; this is done once.
        let Some(mut place) = index.at_or_above(0, begin) else {
            return Ok(None);
        };
        while place.1.segment() > begin.segment() {
            match self.before(JournalId(session as u32), place)? {
                Some(previous) => place = previous,
                None => break,
            }
        }
        self.sessions[session].index.begin_at(place.1);
        Ok(Some(place.1.segment()))
    }

    /// Adds a failure to read stored messages to the next [`troubles`](Self::troubles). The call is for callers that
    /// get such an error and continue.
    #[cold]
    pub fn report_unread(&mut self, error: JournalError) {
        self.keep_untold(Untold::Reading(error));
    }

    /// Whether [`troubles`](Self::troubles) may have something to report. Called in every turn.
    #[inline]
    pub fn has_troubles(&self) -> bool {
        !self.troubles.is_empty() || self.disk.has_news()
    }

    /// Faults of the files since the last call. The journal itself still works. If more old segments may be retired
    /// now, they are checked again.
    ///
    /// # Errors
    ///
    /// [`JournalError::Unsynced`]; after it the journal cannot continue.
    #[cold]
    pub fn troubles(&mut self, now: Timestamp) -> Result<Vec<JournalTrouble>, JournalError> {
        let DiskNews {
            mut troubles,
            prepare_again,
            look_again,
        } = self.disk.news();
        if prepare_again && self.next.is_some() {
            self.prepare_next();
        }
        if let Some(policy) = self.config.retention.filter(|_| look_again) {
            self.look = None;
            self.retire_and_tell(policy, now);
        }
        for untold in std::mem::take(&mut self.troubles) {
            troubles.push(match untold {
                Untold::Retiring(error @ JournalError::Unsynced { .. }) => return Err(error),
                Untold::Retiring(error) => JournalTrouble::NotRetired {
                    error: error.to_string(),
                },
                Untold::Reading(error) => JournalTrouble::NotRead {
                    error: error.to_string(),
                },
            });
        }
        Ok(troubles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::SimDisk;
    use crate::{Cause, Directory, Effect, FoldStep, JournalConfig, NOTES, Recalled, RecordKind};
    use fixwire_protocol::Ledger;
    use fixwire_protocol::outbox::NOTE_ROOM;
    use std::time::{Duration, Instant};

    /// Counts notes; its state is larger by this number of bytes.
    #[derive(Default)]
    struct Count(u64, usize);

    impl Ledger for Count {
        fn form(&self) -> (&'static str, u32) {
            ("count", 1)
        }

        fn apply(&mut self, _at: Timestamp, _note: &[u8]) {
            self.0 += 1;
        }

        fn write(&self, put: &mut dyn FnMut(&[u8])) {
            put(&self.0.to_le_bytes());
            put(&vec![0; self.1]);
        }

        fn read(&mut self, _version: u32, state: &[u8]) -> Result<(), String> {
            let count = state.first_chunk().ok_or("expected eight bytes")?;
            self.0 = u64::from_le_bytes(*count);
            Ok(())
        }

        fn hash(&self) -> u64 {
            self.0
        }
    }

    const CONFIG: JournalConfig = JournalConfig {
        segment_bytes: 8192,
        index_entries: 4,
        synced_before_sent: false,
        retention: Some(Retention {
            keep: Some(Nanos(0)),
            resend: None,
            compress: false,
        }),
    };

    /// Keeps notes, a second apart, until there are this many segments. The last one has just been begun.
    fn fill<D: Disk>(journal: &mut Journal<D>, segments: u32) -> Timestamp {
        let session = journal.register(Timestamp(0), NOTES).unwrap();
        let begin = journal.end().segment();
        let first = journal.counters(session).unwrap().next_out;
        for seq in first.. {
            let wall = Timestamp(seq as i64 * 1_000_000_000);
            let bytes = [[1; NOTE_ROOM].as_slice(), &[b'x'; 400]].concat();
            let effect = Effect {
                session,
                seq,
                bytes: &bytes,
            };
            let cause = Cause {
                session,
                kind: RecordKind::Sent,
                inbound: None,
                next_in: 1,
                next_out: seq + 1,
                epoch: 0,
            };
            let effects = std::iter::once(effect);
            journal.append(wall, cause, effects).unwrap();
            // As the engine does in each turn.
            journal.idle_work();
            assert_eq!(journal.troubles(wall).unwrap(), []);
            if journal.end().segment() == begin + segments {
                return wall;
            }
        }
        unreachable!("numbers do not end")
    }

    #[test]
    fn segments_go_when_a_checkpoint_settles_and_not_with_the_next_segment() {
        let disk = SimDisk::new();
        let (mut journal, _) = Journal::open(disk.clone(), CONFIG).unwrap();
        journal
            .fold(Box::<Count>::default(), &Recalled::default())
            .unwrap();
        let now = fill(&mut journal, 6);
        let end = journal.end();
        assert_eq!(journal.positions().0.segment(), 1);
        let mut made = Vec::new();
        loop {
            match disk.fold_step().unwrap().unwrap() {
                FoldStep::Waits => break,
                FoldStep::Folded => {}
                FoldStep::Made { segment, .. } => made.push(segment),
            }
            journal.idle_work();
            assert_eq!(journal.troubles(now).unwrap(), []);
            // Notes from the older of two checkpoints on are needed, and nothing else.
            let [.., settled, _] = made[..] else { continue };
            assert_eq!(journal.positions().0.segment(), settled);
            assert_eq!(disk.read(settled - 1), None);
        }
        assert_eq!(made.last(), Some(&end.segment()));
        assert_eq!(journal.end(), end, "nothing was written meanwhile");
        drop(journal);
        let (journal, _) = Journal::open(disk, CONFIG).unwrap();
        assert_eq!(journal.positions().0.segment(), end.segment() - 1);
    }

    #[test]
    fn a_checkpoint_is_made_sooner_when_no_segment_waits_to_be_folded() {
        let disk = SimDisk::new();
        let (mut journal, _) = Journal::open(disk.clone(), CONFIG).unwrap();
        // The notes of three segments take more bytes, those of one more than a quarter.
        let ledger = Box::new(Count(0, 15_000));
        journal.fold(ledger, &Recalled::default()).unwrap();
        let made = || {
            let steps = std::iter::repeat_with(|| disk.fold_step().unwrap().unwrap());
            let steps = steps.take_while(|step| *step != FoldStep::Waits);
            let made = steps.filter_map(|step| match step {
                FoldStep::Made { segment, .. } => Some(segment),
                _ => None,
            });
            made.collect::<Vec<_>>()
        };
        fill(&mut journal, 9);
        assert_eq!(made(), [2, 5, 8, 10]);
        for segment in 11..20 {
            fill(&mut journal, 1);
            assert_eq!(made(), [segment]);
        }
    }

    #[test]
    fn files_go_when_a_checkpoint_settles_and_not_with_the_next_segment() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("journal");
        let directory = Directory::open(&folder).unwrap();
        let (mut journal, _) = Journal::open(directory, CONFIG).unwrap();
        let now = fill(&mut journal, 6);
        let end = journal.end();
        journal
            .fold(Box::<Count>::default(), &Recalled::default())
            .unwrap();
        let last = folder.join(format!("{:08}.fwj", end.segment() - 2));
        let begun = Instant::now();
        while last.exists() {
            assert!(begun.elapsed() < Duration::from_secs(30), "they stay");
            assert_eq!(journal.troubles(now).unwrap(), []);
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(journal.end(), end, "nothing was written meanwhile");
        assert_eq!(journal.positions().0.segment(), end.segment() - 1);
    }
}
