//! Checkpoints of the application's state in the folder of a journal, and the thread that makes them.

use super::archive::read_base;
use super::files::{names, open_checked, remove, segment_path, sync_names};
use super::fold::{Closed, Fold, FoldStep, States};
use super::record::{CRC_AT, Head, RECORD, crc_of, shape_fault};
use super::segment::{HEADER, JournalPosition, long, word};
use super::state::{self, SUFFIX};
use super::tail::{Open, failed, is_missing};
use super::view::Record;
use super::watch::{JournalTrouble, SharedNews};
use super::{Base, Damage, JournalError, JournalId};
use fixwire_sys::{Map, private};
use std::cell::Cell;
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Interval at which the thread checks whether a segment was closed.
const LOOK: Duration = Duration::from_millis(100);
/// Number of bytes of a segment that are read at once.
const CHUNK: usize = 1 << 20;
/// The thread works in spells of this length in a segment for which it had to wait, and rests after each spell. A
/// process on the same core therefore never waits for milliseconds.
const SPELL: Duration = Duration::from_micros(200);
const REST: Duration = Duration::from_micros(100);
/// Rest after each block of a checkpoint, because the engine uses memory and disk at the same time.
const BLOCK_REST: Duration = Duration::from_micros(500);
/// Pause after a failure.
const AGAIN: Duration = Duration::from_secs(5);

/// The checkpoints of a folder.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// The segment before which two checkpoints include all notes; 0 before two checkpoints exist.
    settled: Arc<AtomicU32>,
    /// Where a change of `settled` is reported.
    news: Option<SharedNews>,
    /// The number and the temporary file of the checkpoint that is being written.
    aside: Option<(u32, File)>,
    /// Buffer for a part of a segment.
    bytes: Vec<u8>,
    /// The segment that is synced while it is read, and the thread that syncs it.
    syncing: Option<(u32, JoinHandle<Result<(), JournalError>>)>,
}

/// Opens a segment to sync it; `None` when the segment was removed.
fn open_if_there(path: &Path) -> Result<Option<File>, JournalError> {
    match open_checked(path, true) {
        Err(error) if is_missing(&error) => Ok(None),
        opened => opened.map(Some),
    }
}

/// Syncs a segment to disk. A segment that was removed had been synced before.
fn sync_segment(path: &Path) -> Result<(), JournalError> {
    let Some(file) = open_if_there(path)? else {
        return Ok(());
    };
    let synced = file.sync_data();
    synced.map_err(JournalError::io("sync", path.display().to_string()))
}

fn no_record(file: String, at: u64) -> JournalError {
    JournalError::Damaged(Damage {
        file,
        offset: at,
        expected: "a record".into(),
        found: "none".into(),
    })
}

impl Folder {
    /// Passes the records of a segment to `each` until `each` returns false; then returns false too. Reads many
    /// records at once.
    fn read_records(
        &mut self,
        number: u32,
        segment: &Open,
        each: &mut dyn FnMut(&Record<'_>) -> bool,
    ) -> Result<bool, JournalError> {
        let Self { path, bytes, .. } = self;
        // Position of the buffer in the segment, and position of the next record in the buffer.
        let (mut from, mut at) = (HEADER as u64, 0);
        bytes.clear();
        loop {
            let rest = &bytes[at.min(bytes.len())..];
            let length = match rest.len() {
                RECORD.. => word(rest, 0) as usize,
                _ => RECORD,
            };
            let place = from + at as u64;
            if length == 0 || place + RECORD as u64 > segment.len() {
                return Ok(true);
            }
            if rest.len() < length {
                let more = (segment.len() - place).min(length.max(CHUNK) as u64);
                bytes.resize(more as usize, 0);
                let read = segment.read(place, bytes).map_err(failed(path, number))?;
                if !read || bytes.len() < length {
                    let file = segment_path(path, number).display().to_string();
                    return Err(no_record(file, place));
                }
                (from, at) = (place, 0);
                continue;
            }
            let record = rest.get(..length).filter(|_| length >= RECORD);
            let record = record.and_then(|record| {
                let is_whole =
                    crc_of(record, place as usize, segment.salt()) == word(record, CRC_AT);
                let head = Head::read(record, 0).filter(|_| is_whole)?;
                let has_shape = shape_fault(record, 0, &head).is_none();
                has_shape.then(|| Record::view(record, number, 0, &head))
            });
            let Some(record) = record else {
                let file = segment_path(path, number).display().to_string();
                return Err(no_record(file, place));
            };
            if !each(&record) {
                return Ok(false);
            }
            at += length;
        }
    }

    /// Starts to sync a segment in another thread, because a sync takes as long as reading the segment.
    fn begin_sync(&mut self, number: u32) -> Result<(), JournalError> {
        if matches!(self.syncing, Some((begun, _)) if begun == number) {
            return Ok(());
        }
        self.end_sync()?;
        let path = segment_path(&self.path, number);
        let thread = fixwire_threads::spawn("journal-sync", move || sync_segment(&path))
            .map_err(JournalError::io("start", "a thread of the journal"))?;
        self.syncing = Some((number, thread));
        Ok(())
    }

    fn end_sync(&mut self) -> Result<(), JournalError> {
        match self.syncing.take().map(|(_, thread)| thread.join()) {
            Some(Ok(synced)) => synced,
            // Ignore the failure: `sync` will sync the segment again.
            Some(Err(_)) | None => Ok(()),
        }
    }

    fn file(&self, number: u32) -> PathBuf {
        self.path.join(format!("{number:08}{SUFFIX}"))
    }

    fn file_aside(&self, number: u32) -> PathBuf {
        self.path.join(format!("{number:08}{SUFFIX}.new"))
    }
}

/// Syncs the first record of a segment, with the header before it. Syncing the whole segment would interrupt the
/// engine for each page, because the engine writes to this segment.
fn sync_first_record(path: &Path) -> Result<(), JournalError> {
    let Some(file) = open_if_there(path)? else {
        return Ok(());
    };
    let name = path.display().to_string();
    let mut length = [0; 4];
    file.read_exact_at(&mut length, HEADER as u64)
        .map_err(JournalError::io("read", &name))?;
    let length = HEADER + word(&length, 0) as usize;
    let map = Map::file(&file, length).map_err(JournalError::io("map", &name))?;
    map.sync(0, length).map_err(JournalError::io("sync", name))
}

impl States for Folder {
    fn list(&mut self) -> Result<Vec<u32>, JournalError> {
        names(&self.path, SUFFIX)
    }

    fn read(&mut self, number: u32) -> Result<Vec<u8>, JournalError> {
        let mut bytes = Vec::new();
        open_checked(&self.file(number), false)?
            .read_to_end(&mut bytes)
            .map_err(JournalError::io("read", self.file_name(number)))?;
        Ok(bytes)
    }

    fn file_name(&self, number: u32) -> String {
        self.file(number).display().to_string()
    }

    fn begin(&mut self, number: u32) -> Result<(), JournalError> {
        let path = self.file_aside(number);
        let file = private().truncate(true).open(&path);
        let file = file.map_err(JournalError::io("create", path.display().to_string()))?;
        self.aside = Some((number, file));
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), JournalError> {
        let Some((number, file)) = &mut self.aside else {
            return Ok(());
        };
        let written = file.write_all(bytes);
        thread::sleep(BLOCK_REST);
        let number = *number;
        let name = self.file_aside(number).display().to_string();
        written.map_err(JournalError::io("write", name))
    }

    fn finish(&mut self) -> Result<(), JournalError> {
        let Some((number, file)) = self.aside.take() else {
            return Ok(());
        };
        let aside = self.file_aside(number);
        let name = aside.display().to_string();
        file.sync_all().map_err(JournalError::io("sync", &name))?;
        fs::rename(&aside, self.file(number)).map_err(JournalError::io("rename", name))?;
        sync_names(&self.path)
    }

    fn abandon(&mut self) {
        if let Some((number, _)) = self.aside.take() {
            // If the file cannot be removed here, the next checkpoint with this number overwrites the file.
            let _ = remove(&self.file_aside(number));
        }
    }

    fn remove(&mut self, number: u32) -> Result<(), JournalError> {
        remove(&self.file(number))
    }

    fn read_closed(
        &mut self,
        number: u32,
        each: &mut dyn FnMut(&Record<'_>) -> bool,
    ) -> Result<Closed, JournalError> {
        let base = read_base(&self.path)?.unwrap_or(Base::BEGIN);
        if base.first.segment > number {
            let first = base.first.segment;
            return Ok(Closed::Gone { first });
        }
        let Some(next) = Open::find(&self.path, number + 1)? else {
            return Ok(Closed::NotYet);
        };
        let mut bytes = [0; HEADER + RECORD];
        let is_there = next
            .read(0, &mut bytes)
            .map_err(failed(&self.path, number + 1))?;
        if !is_there || word(&bytes, HEADER) == 0 {
            return Ok(Closed::NotYet);
        }
        let Some(closed) = Open::find(&self.path, number)? else {
            return Ok(Closed::NotYet);
        };
        self.begin_sync(number)?;
        if !self.read_records(number, &closed, each)? {
            return Ok(Closed::NotYet);
        }
        Ok(Closed::Read {
            salt: next.salt(),
            record: long(&bytes, HEADER + 8),
        })
    }

    fn salt(&mut self, number: u32) -> Result<Option<u64>, JournalError> {
        Ok(Open::find(&self.path, number)?.map(|open| open.salt()))
    }

    fn begins(&mut self, number: u32) -> Result<Option<(u64, u64)>, JournalError> {
        let mut begins = None;
        let Some(open) = Open::find(&self.path, number)? else {
            return Ok(begins);
        };
        let read = self.read_records(number, &open, &mut |record| {
            begins = Some((open.salt(), record.index));
            false
        });
        match read {
            // Damage is reported by the readers of the journal.
            Ok(_) | Err(JournalError::Damaged(_)) => Ok(begins),
            Err(error) => Err(error),
        }
    }

    fn sync(&mut self, from: u32, upto: u32) -> Result<(), JournalError> {
        self.end_sync()?;
        (from..upto).try_for_each(|number| sync_segment(&segment_path(&self.path, number)))?;
        sync_first_record(&segment_path(&self.path, upto))
    }

    fn settle(&mut self, segment: u32) {
        self.settled.store(segment, Ordering::Release);
        if let Some(news) = &self.news {
            news.look_again();
        }
    }
}

/// A checkpoint, according to its file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StoredState {
    /// The name of the file.
    pub file: String,
    /// Size of the file, in bytes.
    pub bytes: u64,
    /// The name of the state.
    pub name: String,
    /// The version of the state.
    pub version: u32,
    /// The number of the last note that the checkpoint includes.
    pub note: u64,
}

/// The checkpoints in the folder of a journal, each with its description or its damage. Takes no lock and changes
/// nothing.
///
/// # Errors
///
/// A file cannot be read, or is accessible to other users.
pub fn stored_states(directory: &Path) -> Result<Vec<Result<StoredState, Damage>>, JournalError> {
    let mut states = Vec::new();
    each_state(directory, |file, bytes, read| {
        states.push(read.map(|(head, _)| StoredState {
            file,
            bytes,
            name: head.name,
            version: head.version,
            note: head.note,
        }));
        true
    })?;
    Ok(states)
}

/// A checkpoint from which the state at some note can be computed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StateBefore {
    /// The id of the session that has the notes. The session id is needed because not every segment begins with the
    /// session's name.
    pub notes: JournalId,
    /// The number of the last note that the state includes.
    pub note: u64,
    /// The position after which the later notes are found.
    pub behind: JournalPosition,
    /// The version of the state.
    pub version: u32,
    /// The state.
    pub state: Vec<u8>,
}

/// The newest complete checkpoint of the state with this name that includes only notes before this number. Takes no
/// lock and changes nothing.
///
/// # Errors
///
/// A file cannot be read, or is accessible to other users.
pub fn state_before(
    directory: &Path,
    name: &str,
    note: u64,
) -> Result<Option<StateBefore>, JournalError> {
    let mut newest = None;
    each_state(directory, |_, _, read| {
        let Ok((head, state)) = read else {
            return true;
        };
        if head.name == name && head.note < note {
            newest = Some(StateBefore {
                notes: head.notes,
                note: head.note,
                behind: JournalPosition::new(head.segment, HEADER as u32),
                version: head.version,
                state,
            });
        }
        head.note < note
    })?;
    Ok(newest)
}

/// The header and the state in a checkpoint, or why it cannot be used.
type StateRead = Result<(state::Head, Vec<u8>), Damage>;

/// Passes the file, the size and the content of each checkpoint to `each`, the oldest first, until `each` returns
/// false.
fn each_state(
    directory: &Path,
    mut each: impl FnMut(String, u64, StateRead) -> bool,
) -> Result<(), JournalError> {
    let mut folder = Folding::default().folder(directory, None);
    for number in folder.list()? {
        let bytes = match folder.read(number) {
            // Meanwhile an engine has made newer checkpoints and has removed this one.
            Err(JournalError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                continue;
            }
            read => read?,
        };
        let (file, len) = (folder.file_name(number), bytes.len() as u64);
        let read = state::read(bytes, number, &file);
        if !each(file, len, read) {
            break;
        }
    }
    Ok(())
}

/// The thread that makes checkpoints, if one was started. Dropping this value stops the thread.
#[derive(Debug, Default)]
pub(super) struct Folding {
    ends: Arc<AtomicBool>,
    settled: Arc<AtomicU32>,
    thread: Option<JoinHandle<()>>,
}

impl Folding {
    /// The checkpoints of a journal's folder.
    pub(super) fn folder(&self, path: &Path, news: Option<SharedNews>) -> Folder {
        Folder {
            path: path.to_owned(),
            settled: Arc::clone(&self.settled),
            news,
            aside: None,
            bytes: Vec::new(),
            syncing: None,
        }
    }

    /// The segment before which two checkpoints include all notes; `None` before two checkpoints exist.
    pub(super) fn settled(&self) -> Option<u32> {
        Some(self.settled.load(Ordering::Acquire)).filter(|segment| *segment > 0)
    }

    pub(super) fn start(
        &mut self,
        fold: Fold,
        path: &Path,
        news: SharedNews,
    ) -> Result<(), JournalError> {
        let folder = self.folder(path, Some(Arc::clone(&news)));
        let ends = Arc::clone(&self.ends);
        let work = move || work(fold, folder, &news, &ends);
        let thread = fixwire_threads::spawn("journal-fold", work)
            .map_err(JournalError::io("start", "a thread of the journal"))?;
        self.thread = Some(thread);
        Ok(())
    }

    /// Waits until the thread has ended. The next process does its unfinished work again.
    pub(super) fn end(&mut self) {
        self.ends.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A panic of the thread has been reported already.
            let _ = thread.join();
        }
    }
}

impl Drop for Folding {
    fn drop(&mut self) {
        self.end();
    }
}

fn work(mut fold: Fold, mut folder: Folder, news: &SharedNews, ends: &AtomicBool) {
    // The thread rests only in a segment for which it had to wait. If the segment is closed already, the thread is
    // behind.
    let (began, rests) = (Cell::new(Instant::now()), Cell::new(false));
    let goes_on = || {
        if rests.get() && began.get().elapsed() > SPELL {
            thread::sleep(REST);
            began.set(Instant::now());
        }
        !ends.load(Ordering::Acquire)
    };
    let mut told = None;
    while goes_on() {
        let step = fold.step(&mut folder, &goes_on);
        rests.set(matches!(step, Ok(FoldStep::Waits)));
        match step {
            Ok(FoldStep::Waits) => thread::park_timeout(LOOK),
            Ok(_) => told = None,
            Err(error) => {
                let error = error.to_string();
                if told.as_ref() != Some(&error) {
                    told = Some(error.clone());
                    news.tell(JournalTrouble::NotFolded { error });
                }
                thread::park_timeout(AGAIN);
            }
        }
    }
}
