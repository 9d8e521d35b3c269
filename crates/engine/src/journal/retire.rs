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

use super::checkpoint::Checkpoint;
use super::segment::{long, word};
use super::{Damage, Disk, Journal, JournalError, Trouble};
use crate::notes;
use fixwire_protocol::time::{Nanos, Timestamp};

/// What is done with segments that no session needs: those without a message that a peer may still ask
/// for. They are looked at whenever a new one is begun.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Retention {
    /// How long records stay before their segment is removed; `None` for ever.
    pub keep: Option<Nanos>,
    /// How long a message can be resent; `None` until its session is reset. Older ones are answered
    /// with gap fills once their segment is retired. Notes of the application stay, with all segments
    /// since the first.
    pub resend: Option<Nanos>,
    /// Whether retired segments are compressed.
    pub compress: bool,
}

/// A segment that reading may begin with, and what chains it to the one before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Start {
    /// Its number.
    pub segment: u32,
    /// The salt of the segment before it.
    pub previous_salt: u64,
    /// The index of its first record.
    pub record: u64,
}

impl Start {
    /// The beginning of a journal of which nothing was retired.
    pub const BEGIN: Self = Self {
        segment: 1,
        previous_salt: 0,
        record: 0,
    };
}

/// Where the journal begins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Base {
    /// The first segment that is kept.
    pub oldest: Start,
    /// The first segment that recovery reads.
    pub first: Start,
}

const MAGIC: [u8; 8] = *b"FXWBASE\x1a";
const VERSION: u32 = 1;
/// Bytes of the file.
pub(super) const BASE: usize = 64;

impl Base {
    /// Its 64 bytes: magic, version, CRC-32C of bytes 16 to 63; the numbers of `oldest` and `first`, 4
    /// bytes each; their previous salts; the indices of their first records; zeros.
    pub(super) fn to_bytes(self) -> [u8; BASE] {
        let mut bytes = [0; BASE];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.oldest.segment.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.first.segment.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.oldest.previous_salt.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.first.previous_salt.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.oldest.record.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.first.record.to_le_bytes());
        let crc = crc32c::crc32c(&bytes[16..]);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    pub(super) fn read(bytes: &[u8], file: &str) -> Result<Self, Damage> {
        let damage = |offset: usize, expected: &str, found: String| Damage {
            file: file.to_owned(),
            offset: offset as u64,
            expected: expected.into(),
            found,
        };
        if bytes.len() != BASE {
            let found = format!("{} bytes", bytes.len());
            return Err(damage(bytes.len().min(BASE), "64 bytes", found));
        }
        if let Some(at) = (0..8).find(|&at| bytes[at] != MAGIC[at]) {
            let found = format!("byte {:#04x}", bytes[at]);
            return Err(damage(at, "the magic of a journal's base", found));
        }
        if word(bytes, 8) != VERSION {
            let found = format!("version {}", word(bytes, 8));
            return Err(damage(8, "version 1", found));
        }
        if crc32c::crc32c(&bytes[16..]) != word(bytes, 12) {
            return Err(damage(12, "the CRC of bytes 16 to 63", "another".into()));
        }
        let start = |number, salt, record| Start {
            segment: word(bytes, number),
            previous_salt: long(bytes, salt),
            record: long(bytes, record),
        };
        Ok(Self {
            oldest: start(16, 24, 40),
            first: start(20, 32, 48),
        })
    }

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
        let needed = (0..self.sessions.len()).map(oldest).min();
        // Notes do not age.
        let mut names = self.sessions.iter().map(|known| known.name.as_str());
        let noted = names.position(|name| name == notes::NAME).map(oldest);
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
