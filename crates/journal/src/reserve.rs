//! The reserve: segments that are allocated in advance, so that cancels still have room when the disk is full.
//!
//! ```text
//!   00000007.fwj       written now
//!   00000008.fwj       made ahead
//!   00000001.reserve   allocated, no part of the journal
//!
//!   no room for 9:  00000001.reserve > 00000009.new > 00000009.fwj     from now on the journal runs on the reserve
//!   room again:     00000001.reserve is allocated again                the journal runs on the disk
//! ```
//!
//! A file of the reserve has the size of a segment plus [`SLACK`]. The slack is freed together with the file, so that
//! small files next to a segment (such as `newest`) find room even though the disk is full.

use super::files::{open_checked, remove};
use super::watch::{JournalTrouble, SharedNews};
use super::{JournalError, newest};
use fixwire_sys::private;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of segments in a reserve.
pub const MOST_RESERVE: u32 = 16;
/// Bytes by which a reserve file is longer than its segment.
const SLACK: u64 = 64 << 10;
/// Extension of a reserve file. A file with this extension is not part of the journal.
pub(super) const RESERVE_SUFFIX: &str = "reserve";

/// The disk space to reserve for a journal, and the threshold of a warning.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct JournalReserve {
    /// Number of segments that are allocated in advance, for the case that the disk is full: at most
    /// [`MOST_RESERVE`], 0 for none.
    pub segments: u32,
    /// Segment size, bytes.
    pub segment_bytes: usize,
    /// A warning is raised when fewer bytes than this are free; 0 for no warning.
    pub warn_below: u64,
}

/// The reserve of one directory, shared by its threads.
pub(super) type SharedReserve = Arc<Reserve>;

/// The reserve of a directory.
#[derive(Debug)]
pub(super) struct Reserve {
    path: PathBuf,
    news: SharedNews,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    keeps: JournalReserve,
    /// Whether the last report about the reserve was that the disk is full.
    is_used: bool,
    /// Whether the last report about free space was that little is free.
    is_low: bool,
    /// The newest segment, if its number could not be written to the file `newest`.
    late_newest: Option<u32>,
}

impl Reserve {
    /// A reserve without files, until [`Self::keep`] is called.
    pub(super) fn new(path: PathBuf, news: SharedNews) -> Self {
        Self {
            path,
            news,
            state: Mutex::default(),
        }
    }

    /// Keeps a reserve from now on: allocates the files that are missing, and removes those that are too many.
    ///
    /// # Errors
    ///
    /// The system error. A full disk is not an error here: it is reported as [`JournalTrouble`].
    pub(super) fn keep(&self, keeps: JournalReserve) -> Result<(), JournalError> {
        let mut state = self.state();
        state.keeps = keeps;
        for number in keeps.segments + 1..=MOST_RESERVE {
            remove(&self.file(number))?;
        }
        match self.allocate(keeps) {
            Err(error) if is_full(&error) => self.is_used(&mut state, &error),
            done => done?,
        }
        self.look_at_space(&mut state);
        Ok(())
    }

    /// Provides a file of `len` bytes under this name for a segment, although the disk is full; `None` when the
    /// reserve is used up. `made` is the segment itself, if it was created before a restart and is still empty.
    pub(super) fn give(
        &self,
        (made, unfinished): (&Path, &Path),
        len: u64,
        full: &JournalError,
    ) -> Option<File> {
        let mut state = self.state();
        if state.keeps.segments == 0 {
            return None;
        }
        let is_whole = |file: &File| file.metadata().is_ok_and(|facts| facts.len() >= len);
        let open = |path: &Path| open_checked(path, true).ok().filter(is_whole);
        if let Some(file) = open(made) {
            return file.set_len(len).ok().map(|()| file);
        }
        self.is_used(&mut state, full);
        (1..=state.keeps.segments).rev().find_map(|number| {
            let path = self.file(number);
            let file = open(&path)?;
            fs::rename(&path, unfinished).ok()?;
            file.set_len(len).ok()?;
            Some(file)
        })
    }

    /// Records that the number of the newest segment could not be written to its file. Returns false if no reserve is
    /// kept.
    pub(super) fn newest_is_late(&self, number: u32, full: &JournalError) -> bool {
        let mut state = self.state();
        if !is_full(full) || state.keeps.segments == 0 {
            return false;
        }
        state.late_newest = Some(number);
        self.is_used(&mut state, full);
        true
    }

    /// Called every second on a helper thread. Restores the reserve when the disk has room, unless a segment is
    /// needed first. Raises a warning when the disk is filling up.
    pub(super) fn round(&self, waits_for_segment: bool) {
        let mut state = self.state();
        if state
            .late_newest
            .is_some_and(|number| self.write_newest(number).is_ok())
        {
            state.late_newest = None;
        }
        if state.is_used && !waits_for_segment && state.late_newest.is_none() {
            self.restore(&mut state);
        }
        self.look_at_space(&mut state);
    }

    /// Writes the number of the newest segment, unless a later number was written meanwhile.
    fn write_newest(&self, number: u32) -> Result<(), JournalError> {
        match newest::read(&self.path)? {
            Some(newest) if newest >= number => Ok(()),
            _ => newest::write(&self.path, number),
        }
    }

    fn restore(&self, state: &mut State) {
        let wanted = state.keeps.segment_bytes as u64 + SLACK;
        // With less free space, an attempt would only take space from other programs for a moment.
        if self.missing(state.keeps) > 0 && self.free().is_some_and(|free| free < wanted) {
            return;
        }
        if self.allocate(state.keeps).is_ok() {
            state.is_used = false;
            self.news.tell(JournalTrouble::ReserveRestored {
                folder: self.path.display().to_string(),
            });
        }
    }

    fn look_at_space(&self, state: &mut State) {
        let below = state.keeps.warn_below;
        let Some(free) = self.free().filter(|_| below > 0) else {
            return;
        };
        let folder = self.path.display().to_string();
        if !state.is_low && free < below {
            state.is_low = true;
            self.news.tell(JournalTrouble::LowSpace {
                folder,
                free,
                below,
            });
        } else if state.is_low && free / 5 >= below / 4 {
            // Require a quarter more than the threshold, so that a disk near the threshold is not reported again and
            // again.
            state.is_low = false;
            self.news.tell(JournalTrouble::EnoughSpace { folder, free });
        }
    }

    /// Reports, once, that the journal uses the reserve.
    fn is_used(&self, state: &mut State, full: &JournalError) {
        if state.is_used {
            return;
        }
        state.is_used = true;
        self.news.tell(JournalTrouble::OnReserve {
            folder: self.path.display().to_string(),
            free: self.free().unwrap_or(0),
            wanted: state.keeps.segment_bytes as u64,
            segments: state.keeps.segments,
            error: full.to_string(),
        });
    }

    /// Allocates the reserve files that are missing or too short.
    fn allocate(&self, keeps: JournalReserve) -> Result<(), JournalError> {
        let len = keeps.segment_bytes as u64 + SLACK;
        for number in 1..=keeps.segments {
            let path = self.file(number);
            if self.length(number) == len {
                continue;
            }
            let name = path.display().to_string();
            let file = private().open(&path);
            let file = file.map_err(JournalError::io("create", &name))?;
            let allocated = file.set_len(len.min(self.length(number)));
            let allocated = allocated.and_then(|()| fixwire_sys::allocate(&file, len));
            if let Err(error) = allocated {
                // Remove the file: a partial file is useless, and other programs need the space.
                let _ = remove(&path);
                return Err(JournalError::io("allocate", name)(error));
            }
        }
        Ok(())
    }

    fn missing(&self, keeps: JournalReserve) -> usize {
        let len = keeps.segment_bytes as u64 + SLACK;
        let numbers = 1..=keeps.segments;
        numbers.filter(|&number| self.length(number) != len).count()
    }

    /// The length of a reserve file, 0 when it is missing.
    fn length(&self, number: u32) -> u64 {
        fs::symlink_metadata(self.file(number)).map_or(0, |facts| facts.len())
    }

    fn file(&self, number: u32) -> PathBuf {
        self.path.join(format!("{number:08}.{RESERVE_SUFFIX}"))
    }

    fn free(&self) -> Option<u64> {
        fixwire_sys::free_space(&self.path).ok()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // If a thread has panicked, the next round checks the state again.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the disk is full, or this user's quota on it.
pub(super) fn is_full(error: &JournalError) -> bool {
    let JournalError::Io { source, .. } = error else {
        return false;
    };
    is_full_disk(source)
}

fn is_full_disk(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: u64 = 1 << 16;

    fn full() -> JournalError {
        JournalError::io("allocate", "00000009.new")(ErrorKind::StorageFull.into())
    }

    fn keeps(segments: u32) -> JournalReserve {
        JournalReserve {
            segments,
            segment_bytes: LEN as usize,
            warn_below: 0,
        }
    }

    struct Rig {
        folder: tempfile::TempDir,
        news: SharedNews,
        reserve: Reserve,
    }

    impl Rig {
        fn new() -> Self {
            let (folder, news) = (tempfile::tempdir().unwrap(), SharedNews::default());
            let reserve = Reserve::new(folder.path().to_owned(), Arc::clone(&news));
            Self {
                folder,
                news,
                reserve,
            }
        }

        /// The lengths of the reserve files.
        fn files(&self) -> Vec<u64> {
            (1..=MOST_RESERVE)
                .map(|number| self.reserve.length(number))
                .filter(|len| *len > 0)
                .collect()
        }

        /// The reports about the reserve.
        fn said(&self) -> Vec<bool> {
            let news = self.news.take().troubles;
            news.iter().filter_map(JournalTrouble::on_reserve).collect()
        }

        fn give(&self, number: u32) -> Option<u64> {
            let path = |end| self.folder.path().join(format!("{number:08}.{end}"));
            let (made, unfinished) = (path("fwj"), path("new"));
            let file = self.reserve.give((&made, &unfinished), LEN, &full())?;
            assert!(unfinished.exists());
            Some(file.metadata().unwrap().len())
        }
    }

    #[test]
    fn a_reserve_is_allocated_given_once_and_restored() {
        let rig = Rig::new();
        rig.reserve.keep(keeps(2)).unwrap();
        assert_eq!(rig.files(), [LEN + SLACK; 2]);
        assert_eq!(rig.said(), []);
        assert_eq!(rig.give(9), Some(LEN));
        assert_eq!(rig.give(10), Some(LEN));
        assert_eq!(rig.give(11), None);
        assert_eq!(rig.said(), [true], "once");
        rig.reserve.round(true);
        assert_eq!(rig.files(), [0; 0], "a segment is waited for first");
        rig.reserve.round(false);
        assert_eq!(
            (rig.files(), rig.said()),
            (vec![LEN + SLACK; 2], vec![false])
        );
        rig.reserve.round(false);
        assert_eq!(rig.said(), []);
    }

    #[test]
    fn it_follows_its_settings_at_each_start() {
        let rig = Rig::new();
        for (segments, bytes) in [(3, LEN), (1, LEN), (2, 2 * LEN), (2, LEN), (0, LEN)] {
            let segment_bytes = bytes as usize;
            let keeps = JournalReserve {
                segment_bytes,
                ..keeps(segments)
            };
            rig.reserve.keep(keeps).unwrap();
            assert_eq!(rig.files(), vec![bytes + SLACK; segments as usize]);
        }
        assert_eq!(rig.give(9), None);
        assert!(!rig.reserve.newest_is_late(9, &full()));
        assert_eq!(rig.said(), [], "it is switched off");
    }

    #[test]
    fn a_segment_that_was_made_ahead_is_used_before_the_reserve() {
        let rig = Rig::new();
        rig.reserve.keep(keeps(1)).unwrap();
        let made = rig.folder.path().join("00000009.fwj");
        fixwire_sys::allocate(&private().open(&made).unwrap(), LEN).unwrap();
        let unfinished = made.with_extension("new");
        let found = rig.reserve.give((&made, &unfinished), LEN, &full());
        assert_eq!(found.unwrap().metadata().unwrap().len(), LEN);
        assert_eq!(rig.files(), [LEN + SLACK]);
    }

    #[test]
    fn the_newest_segment_is_named_when_there_is_room_again() {
        let rig = Rig::new();
        rig.reserve.keep(keeps(1)).unwrap();
        newest::write(rig.folder.path(), 8).unwrap();
        assert!(rig.reserve.newest_is_late(9, &full()));
        let other = JournalError::io("write", "newest")(ErrorKind::PermissionDenied.into());
        assert!(!rig.reserve.newest_is_late(9, &other));
        rig.reserve.round(false);
        assert_eq!(newest::read(rig.folder.path()).unwrap(), Some(9));
        assert_eq!(rig.said(), [true, false]);
        // A later one was named meanwhile.
        newest::write(rig.folder.path(), 11).unwrap();
        rig.reserve.newest_is_late(10, &full());
        rig.reserve.round(false);
        assert_eq!(newest::read(rig.folder.path()).unwrap(), Some(11));
    }

    #[test]
    fn a_disk_that_fills_up_is_reported_once() {
        let rig = Rig::new();
        let warn_below = u64::MAX;
        rig.reserve
            .keep(JournalReserve {
                warn_below,
                ..keeps(0)
            })
            .unwrap();
        rig.reserve.round(false);
        let said = rig.news.take().troubles;
        let [JournalTrouble::LowSpace { below, .. }] = &said[..] else {
            panic!("{said:?}");
        };
        assert_eq!(*below, u64::MAX);
        rig.reserve.state().keeps.warn_below = 1;
        rig.reserve.round(false);
        rig.reserve.round(false);
        let said = rig.news.take().troubles;
        assert!(
            matches!(said[..], [JournalTrouble::EnoughSpace { .. }]),
            "{said:?}"
        );
    }
}
