//! The segments of a journal as open files, so that they can be read even when an engine removes them meanwhile.

use std::path::{Path, PathBuf};

use crate::archive::{SegmentFile, list_all, read_base};
use crate::newest::newest_of;
use crate::tail::is_missing;
use crate::{Base, JournalError};

/// Maximum number of files that are open at once. A journal removes its oldest segments first, so the oldest are open;
/// the others are opened when they are read.
const OPEN: usize = 64;

/// The segments that a journal has at one moment. An engine may remove the file of a segment later, for example
/// because of `JournalKeep`. If the segment was one of the 64 oldest, it can still be read, any number of times.
#[derive(Debug)]
pub struct HeldSegments {
    directory: PathBuf,
    pub(super) base: Option<Base>,
    /// The newest segment that the journal has made, even if its file is missing.
    pub(super) newest: u32,
    /// The numbers of the segments, rising.
    pub(super) numbers: Vec<u32>,
    /// The oldest of these segments, as open files.
    files: Vec<SegmentFile>,
}

impl HeldSegments {
    /// Opens the segments of a journal. Takes no lock and changes nothing.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or is accessible to other users.
    pub fn open(directory: &Path) -> Result<Self, JournalError> {
        loop {
            let base = read_base(directory)?;
            let mut held = Self {
                directory: directory.to_owned(),
                base,
                // Read this before the names are listed, because an engine may create a segment meanwhile.
                newest: newest_of(directory)?.unwrap_or(0),
                numbers: Vec::new(),
                files: Vec::new(),
            };
            let oldest = base.map_or(1, |base| base.oldest.segment);
            held.numbers = list_all(directory, oldest)?;
            let opened = held.open_oldest();
            let is_whole = opened.is_ok() && held.numbers.first().is_none_or(|it| *it == oldest);
            // An engine changes the base before it removes a segment.
            if is_whole || read_base(directory)? == base {
                return opened.map(|()| held);
            }
        }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    fn open_oldest(&mut self) -> Result<(), JournalError> {
        for number in self.numbers.iter().take(OPEN) {
            self.files
                .push(SegmentFile::open(&self.directory, *number)?);
        }
        Ok(())
    }

    /// Reads the whole segment at a place of `numbers`. Returns the name of its file; `None` when the journal has
    /// removed the segment, and begins later now.
    pub(super) fn read(
        &self,
        place: usize,
        bytes: &mut Vec<u8>,
    ) -> Result<Option<String>, JournalError> {
        let number = self.numbers[place];
        let read = match self.files.get(place) {
            Some(file) => file.read_all(bytes),
            None => {
                SegmentFile::open(&self.directory, number).and_then(|file| file.read_all(bytes))
            }
        };
        match read {
            Err(error) if is_missing(&error) && self.begins_after(number)?.is_some() => Ok(None),
            read => read.map(Some),
        }
    }

    /// Where the journal begins now, if that is after a segment.
    pub(super) fn begins_after(&self, number: u32) -> Result<Option<Base>, JournalError> {
        let base = read_base(&self.directory)?;
        Ok(base.filter(|base| base.oldest.segment > number))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::iter;

    use fixwire_protocol::time::{Nanos, Timestamp};

    use super::*;
    use crate::{
        Cause, Directory, DumpFilter, Effect, Journal, JournalConfig, JournalId, RecordKind,
        Retention, each_line_of, verify,
    };

    const SECOND: i64 = 1_000_000_000;

    fn open(path: &Path, keep: u64) -> Journal<Directory> {
        let config = JournalConfig {
            segment_bytes: 8192,
            index_entries: 4,
            retention: Some(Retention {
                keep: Some(Nanos::from_secs(keep)),
                ..Retention::default()
            }),
            ..JournalConfig::default()
        };
        Journal::open(Directory::open(path).unwrap(), config)
            .unwrap()
            .0
    }

    /// Sends a message of 500 bytes at this second.
    fn send(journal: &mut Journal<Directory>, session: JournalId, second: i64) {
        let counters = journal.counters(session).unwrap();
        let effect = Effect {
            session,
            seq: counters.next_out,
            bytes: &[b'x'; 500],
        };
        let cause = Cause {
            session,
            kind: RecordKind::Sent,
            inbound: None,
            next_in: counters.next_in,
            next_out: counters.next_out + 1,
            epoch: counters.epoch,
        };
        let wall = Timestamp(second * SECOND);
        let end = journal.append(wall, cause, iter::once(effect)).unwrap();
        journal.sync(end).unwrap();
        journal.idle_work();
    }

    fn oldest(path: &Path) -> u32 {
        let files = fs::read_dir(path).unwrap();
        let number = |name: String| name.strip_suffix(".fwj")?.parse().ok();
        let numbers = files.filter_map(|it| number(it.unwrap().file_name().into_string().unwrap()));
        numbers.min().unwrap()
    }

    #[test]
    fn segments_that_are_removed_while_they_are_read_are_read_or_named() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("journal");
        let mut journal = open(&path, 100_000);
        let session = journal.register(Timestamp(0), "A").unwrap();
        (1..1500).for_each(|second| send(&mut journal, session, second));
        // Nobody needs the messages before.
        let end = journal.reset(Timestamp(1500 * SECOND), session).unwrap();
        journal.sync(end).unwrap();
        (1501..2000).for_each(|second| send(&mut journal, session, second));
        drop(journal);
        let all = verify(&path).unwrap();
        assert!(all.bad.is_none() && all.segments > 100, "{all:?}");

        let held = HeldSegments::open(&path).unwrap();
        let mut lines = 0;
        let mut read = || {
            let mut read = 0;
            let verified = each_line_of(&held, &DumpFilter::default(), |_| {
                read += 1;
                if lines == 0 {
                    let mut journal = open(&path, 20);
                    (2001..2100).for_each(|second| send(&mut journal, session, second));
                }
                lines += 1;
                Ok(())
            });
            (read, verified.unwrap())
        };
        let (lines_then, then) = read();
        let left = oldest(&path);
        assert!(left > 65, "{left}");
        // The 64 oldest were open.
        assert_eq!(then.bad, None);
        assert_eq!(then.removed, Some((65, left - 1)));
        assert_eq!(then.segments, 64 + all.segments + 1 - left);
        assert!(then.records > 900 && then.records < all.records, "{then:?}");
        assert_eq!(then.sessions, ["A"]);
        // They still are.
        assert_eq!(read(), (lines_then, then));
        let now = verify(&path).unwrap();
        assert_eq!((now.bad, now.removed), (None, None));
    }
}
