//! The journal's disk on the operating system: a directory that only its owner can access.

use super::files::{
    SUFFIX, check_folder, list, names, open_checked, pending, pending_path, segment_path,
    sync_names,
};
use super::fold::{Fold, States};
use super::folder::Folding;
use super::lock::{LOCK, lock_file, lock_folder};
use super::maker::{Job, Maker, make};
use super::newest::{NEWEST, newest_of};
use super::reserve::{Reserve, SharedReserve};
use super::retiring::Retiring;
use super::salvage::refuse_mark;
use super::segment::HEADER;
use super::watch::SharedNews;
use super::{Base, Disk, DiskNews, JournalError, JournalReserve, Start, archive, newest};
use crate::disk::DiskWakeUp;
use fixwire_protocol::time::Timestamp;
use fixwire_sys::Map;
use fixwire_sys::private;
use std::fs::{self, DirBuilder, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A directory with the segments `00000001.fwj`, `00000002.fwj` and so on. The directory is locked as long as this
/// value exists.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    maker: Maker,
    /// The thread that retires old segments.
    retiring: Retiring,
    news: SharedNews,
    reserve: SharedReserve,
    folding: Box<Folding>,
    _locks: (Option<File>, File),
}

impl Drop for Directory {
    /// Waits until running work ends. The other fields wait in their own `drop`. Afterwards another process may open
    /// the directory.
    fn drop(&mut self) {
        self.folding.end();
    }
}

impl Directory {
    /// Opens the directory, creates it if it is missing, and takes its locks.
    ///
    /// # Errors
    ///
    /// [`JournalError::Exposed`] when another user owns the directory or may access it; [`JournalError::Locked`] when
    /// another process has it open; [`JournalError::Emptied`] when it had a journal whose files are missing; or a
    /// system error.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, JournalError> {
        Self::open_with(&path.into(), false)
    }

    /// Opens a directory to begin a new journal in it, even if it had a journal before.
    ///
    /// # Errors
    ///
    /// See [`Self::open`]; also [`JournalError::NotEmpty`] when files of a journal are still there.
    pub fn open_anew(path: impl Into<PathBuf>) -> Result<Self, JournalError> {
        Self::open_with(&path.into(), true)
    }

    /// Opens a directory: with `anew` for a new journal, otherwise for an existing or first journal.
    pub fn open_with(path: &Path, anew: bool) -> Result<Self, JournalError> {
        let name = path.display().to_string();
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(JournalError::io("make the directory", &name))?;
        check_folder(path)?;
        let folder = lock_folder(path)?;
        let is_new = !path.join(LOCK).exists() && !has_journal(path)?;
        if is_new {
            // Written before the lock file, so that a lock file alone shows that the directory has had a journal.
            newest::write(path, 0)?;
        }
        let file = lock_file(path)?;
        refuse_mark(path)?;
        if anew {
            if has_segments(path)? {
                return Err(JournalError::NotEmpty { directory: name });
            }
            newest::write(path, 0)?;
        } else if !has_journal(path)? {
            return Err(JournalError::Emptied { directory: name });
        }
        Self::with_locks(path.to_owned(), (folder, file))
    }

    /// Opens a directory whose locks this process already holds.
    pub(super) fn with_locks(
        path: PathBuf,
        locks: (Option<File>, File),
    ) -> Result<Self, JournalError> {
        undo_pending(&path)?;
        let news = SharedNews::default();
        news.watch(0, &path.join(LOCK));
        let reserve = Arc::new(Reserve::new(path.clone(), Arc::clone(&news)));
        let maker = Maker::start(path.clone(), Arc::clone(&news), Arc::clone(&reserve))?;
        Ok(Self {
            path,
            maker,
            retiring: Retiring::default(),
            news,
            reserve,
            folding: Box::default(),
            _locks: locks,
        })
    }

    /// Keeps a reserve of disk space from now on. If the disk has no room for the reserve,
    /// [`JournalTrouble::OnReserve`](super::JournalTrouble) reports that.
    ///
    /// # Errors
    ///
    /// Any system error except a full disk.
    pub fn keep_reserve(&self, reserve: JournalReserve) -> Result<(), JournalError> {
        self.reserve.keep(reserve)
    }

    /// Whether the directory has no segment.
    pub fn is_empty(&self) -> Result<bool, JournalError> {
        Ok(list(&self.path)?.is_empty())
    }

    /// Marks the segments from this number on as pending. [`Self::end_pending`] makes all of them part of the journal
    /// at once. If the directory is opened before that, the pending segments are removed.
    pub fn begin_pending(&self, first: u32) -> Result<(), JournalError> {
        let path = pending_path(&self.path, first);
        private()
            .open(&path)
            .map_err(JournalError::io("create", path.display().to_string()))?;
        sync_names(&self.path)
    }

    /// Makes the pending segments part of the journal. These segments must be on disk.
    pub fn end_pending(&self) -> Result<(), JournalError> {
        if let Some(first) = pending(&self.path)? {
            let path = pending_path(&self.path, first);
            fs::remove_file(&path)
                .map_err(JournalError::io("remove", path.display().to_string()))?;
            sync_names(&self.path)?;
        }
        Ok(())
    }
}

impl Disk for Directory {
    type Segment = Map;

    const BESIDE: bool = true;

    fn segments(&mut self) -> Result<Vec<u32>, JournalError> {
        let numbers = list(&self.path)?;
        sync_names(&self.path)?;
        Ok(numbers)
    }

    fn open(&mut self, number: u32) -> Result<Map, JournalError> {
        let path = segment_path(&self.path, number);
        let name = path.display().to_string();
        let file = open_checked(&path, true)?;
        let len = file
            .metadata()
            .map_err(JournalError::io("look at", &name))?
            .len();
        if len < HEADER as u64 {
            // The file is too short to be mapped. A complete segment is never that short.
            return Err(JournalError::Damaged(super::Damage {
                file: name,
                offset: len,
                expected: format!("a header of {HEADER} bytes"),
                found: format!("the end of the file after {len} bytes"),
            }));
        }
        if let Some(how) = self.news.alteration(number) {
            return Err(JournalError::Damaged(super::Damage {
                file: name,
                offset: 0,
                expected: "the file that the journal has used until now".into(),
                found: format!("one that {how}"),
            }));
        }
        let map = Map::file(&file, len as usize).map_err(JournalError::io("map", name))?;
        self.news.watch(number, &path);
        Ok(map)
    }

    fn create(
        &mut self,
        number: u32,
        len: usize,
        header: &[u8; HEADER],
    ) -> Result<Map, JournalError> {
        if let Some(Ok(map)) = self.maker.take(number) {
            return Ok(map);
        }
        let job = Job {
            number,
            len,
            header: *header,
        };
        make(&self.path, &job, (&self.news, &self.reserve), || ())
    }

    fn prepare(&mut self, number: u32, len: usize, header: &[u8; HEADER]) {
        self.maker.ask(Job {
            number,
            len,
            header: *header,
        });
    }

    fn makes_ready(&self) -> bool {
        true
    }

    fn let_go(&mut self, segment: Map) {
        self.maker.unmap(segment);
    }

    fn filled(&mut self, segment: &Map) {
        self.maker.release(segment);
    }

    fn base(&mut self) -> Result<Option<Base>, JournalError> {
        archive::read_base(&self.path)
    }

    fn newest(&mut self) -> Result<Option<u32>, JournalError> {
        newest_of(&self.path)
    }

    fn set_newest(&mut self, number: u32) -> Result<(), JournalError> {
        match newest::write(&self.path, number) {
            Err(error) if self.reserve.newest_is_late(number, &error) => Ok(()),
            done => done,
        }
    }

    #[inline]
    fn has_news(&self) -> bool {
        self.news.is_there()
    }

    fn news(&mut self) -> DiskNews {
        let news = self.news.take();
        if news.prepare_again {
            self.maker.forget_failed();
        }
        news
    }

    fn wake_with(&mut self, wake_up: DiskWakeUp) {
        self.news.wake_with(wake_up);
    }

    fn retire(
        &mut self,
        _segment: &mut Map,
        first: Start,
        remove_before: Option<Timestamp>,
        compress: bool,
    ) -> Result<(), JournalError> {
        self.news.forget(|number| number < first.segment);
        let path = self.path.clone();
        let retire = move || archive::retire(&path, first, remove_before, compress);
        self.retiring.begin(&self.news, retire)
    }

    fn states(&mut self) -> Option<Box<dyn States>> {
        Some(Box::new(self.folding.folder(&self.path, None)))
    }

    fn fold(&mut self, fold: Fold) -> Result<(), JournalError> {
        self.folding.start(fold, &self.path, Arc::clone(&self.news))
    }

    fn settled(&self) -> Option<u32> {
        self.folding.settled()
    }

    fn salt(&mut self) -> u64 {
        // The hasher is seeded with random numbers from the system.
        RandomState::new().build_hasher().finish()
    }

    fn name(&self, number: u32) -> String {
        segment_path(&self.path, number).display().to_string()
    }
}

/// Whether the directory has files of segments, retired ones included, or the base file.
fn has_segments(path: &Path) -> Result<bool, JournalError> {
    Ok(!archive::list_all(path, 0)?.is_empty() || archive::base_path(path).exists())
}

/// Whether the directory has any file that only a journal has.
pub(super) fn has_journal(path: &Path) -> Result<bool, JournalError> {
    Ok(path.join(NEWEST).exists() || has_segments(path)? || pending(path)?.is_some())
}

/// Removes the segments that never became part of the journal, the last one first. After the last removal it removes
/// the file that marks these segments.
fn undo_pending(path: &Path) -> Result<(), JournalError> {
    let Some(first) = pending(path)? else {
        return Ok(());
    };
    if newest::read(path)?.is_none_or(|newest| newest >= first) {
        newest::write(path, first - 1)?;
    }
    let numbers = names(path, SUFFIX)?;
    let segments = numbers.iter().rev().filter(|&&number| number >= first);
    for path in segments
        .map(|&number| segment_path(path, number))
        .chain([pending_path(path, first)])
    {
        fs::remove_file(&path).map_err(JournalError::io("remove", path.display().to_string()))?;
        if let Some(directory) = path.parent() {
            sync_names(directory)?;
        }
    }
    Ok(())
}
