//! The journal's disk on the operating system: a directory that only its owner can read.

use super::archive;
use super::segment::HEADER;
use super::{Base, Disk, JournalError, Start};
use crate::private::private;
use fixwire_protocol::time::Timestamp;
use fixwire_sys::Map;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How the file of a segment ends.
const SUFFIX: &str = ".fwj";
/// How it ends until it is whole: such a file is no part of the journal.
const UNFINISHED: &str = ".new";

/// Bytes of a new segment that are brought into memory at a time: about twenty microseconds, but over
/// a hundred on a virtual machine whose host has to find the memory first.
const STEP: usize = 64 << 10;
/// The longest rest after a step.
const LONGEST_REST: Duration = Duration::from_millis(1);
/// The rest while it is unknown how long segments last.
const FIRST_REST: Duration = Duration::from_micros(100);
/// How a name ends that says: segments from this number on are no part of the journal yet.
const PENDING: &str = ".import";

/// A directory of segments `00000001.fwj`, `00000002.fwj` and so on, locked while this lives.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    _lock: File,
    maker: Maker,
    /// Retires old segments, when it has to.
    retiring: Option<JoinHandle<Result<(), JournalError>>>,
}

impl Drop for Directory {
    /// Waits for what runs: another process may open the directory next.
    fn drop(&mut self) {
        if let Some(thread) = self.retiring.take() {
            let _ = thread.join();
        }
    }
}

impl Directory {
    /// Opens the directory, making it if it does not exist, and takes its lock.
    ///
    /// # Errors
    ///
    /// [`JournalError::Exposed`] when others than us own it or may enter it, [`JournalError::Locked`]
    /// when another process has it, else what the system answers.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, JournalError> {
        let path = path.into();
        let name = path.display().to_string();
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&path)
            .map_err(JournalError::io("make the directory", &name))?;
        let facts = fs::metadata(&path).map_err(JournalError::io("look at", &name))?;
        check_owner(&facts, &name)?;
        let lock_path = path.join("lock");
        let lock_name = lock_path.display().to_string();
        let lock = private()
            .read(true)
            .open(&lock_path)
            .map_err(JournalError::io("open", &lock_name))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::Locked { directory: name }),
            Err(TryLockError::Error(source)) => {
                return Err(JournalError::io("lock", &lock_name)(source));
            }
        }
        undo_pending(&path)?;
        let maker = Maker::start(path.clone())?;
        Ok(Self {
            path,
            _lock: lock,
            maker,
            retiring: None,
        })
    }

    /// Whether it holds no segment.
    pub(crate) fn is_empty(&self) -> Result<bool, JournalError> {
        Ok(list(&self.path)?.is_empty())
    }

    /// Segments from this number on become part of the journal with [`Self::end_pending`], all at once.
    /// Opening the directory before that removes them.
    pub(crate) fn begin_pending(&self, first: u32) -> Result<(), JournalError> {
        let path = pending_path(&self.path, first);
        private()
            .open(&path)
            .map_err(JournalError::io("create", path.display().to_string()))?;
        sync_names(&self.path)
    }

    /// Makes the pending segments, which are on the disk, part of the journal.
    pub(crate) fn end_pending(&self) -> Result<(), JournalError> {
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
            // Too short to be mapped as a segment at all; a whole one is never shorter.
            return Err(JournalError::Damaged(super::Damage {
                file: name,
                offset: len,
                expected: format!("a header of {HEADER} bytes"),
                found: format!("the end of the file after {len} bytes"),
            }));
        }
        Map::file(&file, len as usize).map_err(JournalError::io("map", name))
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
        make(&self.path, number, len, header, || ())
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

    fn base(&mut self) -> Result<Option<Base>, JournalError> {
        archive::read_base(&self.path)
    }

    fn retire(
        &mut self,
        _segment: &mut Map,
        first: Start,
        remove_before: Option<Timestamp>,
        compress: bool,
    ) -> Result<(), JournalError> {
        let last = match self.retiring.take() {
            Some(thread) if thread.is_finished() => thread.join().unwrap_or(Ok(())),
            Some(thread) => {
                // It is still at the last one: the next segment asks again.
                self.retiring = Some(thread);
                return Ok(());
            }
            None => Ok(()),
        };
        if matches!(last, Err(JournalError::Unsynced { .. })) {
            return last;
        }
        let path = self.path.clone();
        let thread = thread::Builder::new()
            .name("journal-retire".into())
            .spawn(move || archive::retire(&path, first, remove_before, compress))
            .map_err(JournalError::io("start", "a thread of the journal"))?;
        self.retiring = Some(thread);
        last
    }

    fn salt(&mut self) -> u64 {
        // Seeded by the system's random numbers.
        RandomState::new().build_hasher().finish()
    }

    fn name(&self, number: u32) -> String {
        segment_path(&self.path, number).display().to_string()
    }
}

/// Lists the numbers of the segments of a journal, ascending.
pub(super) fn list(path: &Path) -> Result<Vec<u32>, JournalError> {
    let mut numbers = names(path, SUFFIX)?;
    if let Some(first) = pending(path)? {
        numbers.retain(|&number| number < first);
    }
    Ok(numbers)
}

/// The number from which on segments are no part of the journal.
fn pending(path: &Path) -> Result<Option<u32>, JournalError> {
    Ok(names(path, PENDING)?.first().copied())
}

fn pending_path(directory: &Path, first: u32) -> PathBuf {
    directory.join(format!("{first:08}{PENDING}"))
}

/// Removes segments that never became part of the journal, the last first, and then what says so.
fn undo_pending(path: &Path) -> Result<(), JournalError> {
    let Some(first) = pending(path)? else {
        return Ok(());
    };
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

/// Lists the numbers of the files that end so, ascending.
pub(super) fn names(path: &Path, suffix: &str) -> Result<Vec<u32>, JournalError> {
    let name = path.display().to_string();
    let mut numbers = Vec::new();
    for entry in fs::read_dir(path).map_err(JournalError::io("list", &name))? {
        let entry = entry.map_err(JournalError::io("list", &name))?;
        let file_name = entry.file_name();
        let Some(stem) = file_name
            .to_str()
            .and_then(|text| text.strip_suffix(suffix))
        else {
            continue;
        };
        match stem.parse::<u32>() {
            Ok(number) if number > 0 && format!("{number:08}") == stem => numbers.push(number),
            _ => {
                return Err(JournalError::Damaged(super::Damage {
                    file: entry.path().display().to_string(),
                    offset: 0,
                    expected: format!("only files of the journal to end in {suffix}"),
                    found: "a name that is not a segment's (eight digits)".into(),
                }));
            }
        }
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// The path of a segment.
pub(super) fn segment_path(directory: &Path, number: u32) -> PathBuf {
    directory.join(format!("{number:08}{SUFFIX}"))
}

/// Opens a file of ours, following no link.
pub(super) fn open_checked(path: &Path, write: bool) -> Result<File, JournalError> {
    let name = path.display().to_string();
    let file = OpenOptions::new()
        .read(true)
        .write(write)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path)
        .map_err(JournalError::io("open", &name))?;
    let facts = file
        .metadata()
        .map_err(JournalError::io("look at", &name))?;
    check_owner(&facts, &name)?;
    Ok(file)
}

fn check_owner(facts: &fs::Metadata, name: &str) -> Result<(), JournalError> {
    if facts.mode() & 0o077 != 0 || facts.uid() != fixwire_sys::effective_user() {
        return Err(JournalError::Exposed {
            file: name.to_owned(),
            mode: facts.mode(),
            owner: facts.uid(),
        });
    }
    Ok(())
}

/// Makes a segment under another name, and gives it its own when all of it is on the disk: so a
/// segment's name never stands for an unfinished file. Rests between small steps of its longest part.
fn make(
    directory: &Path,
    number: u32,
    len: usize,
    header: &[u8; HEADER],
    rest: impl Fn(),
) -> Result<Map, JournalError> {
    let path = segment_path(directory, number);
    let unfinished = path.with_extension(&UNFINISHED[1..]);
    let name = unfinished.display().to_string();
    let file = private()
        .read(true)
        .truncate(true)
        .open(&unfinished)
        .map_err(JournalError::io("create", &name))?;
    fixwire_sys::allocate(&file, len as u64).map_err(JournalError::io("allocate", &name))?;
    file.write_all_at(header, 0)
        .map_err(JournalError::io("write", &name))?;
    file.sync_all().map_err(JournalError::io("sync", &name))?;
    fs::rename(&unfinished, &path).map_err(JournalError::io("rename", &name))?;
    sync_names(directory)?;
    let map = Map::file(&file, len).map_err(JournalError::io("map", &name))?;
    // The first store to a page that is not in memory takes the engine's thread several microseconds,
    // and ten times as long where the machine is virtual and its host has to find the memory first.
    for step in (0..len).step_by(STEP) {
        static ZEROS: [u8; STEP] = [0; STEP];
        let (from, upto) = (step.max(HEADER), (step + STEP).min(len));
        file.write_all_at(&ZEROS[..upto - from], from as u64)
            .map_err(JournalError::io("write", &name))?;
        map.prefault(step, upto - step);
        rest();
    }
    Ok(map)
}

/// Waits until the names of a directory are on the disk.
pub(super) fn sync_names(directory: &Path) -> Result<(), JournalError> {
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(JournalError::io("sync", directory.display().to_string()))
}

#[derive(Debug)]
struct Job {
    number: u32,
    len: usize,
    header: [u8; HEADER],
}

/// The thread that makes the next segment while the engine still writes to the one before.
#[derive(Debug)]
struct Maker {
    /// Set when the engine waits for the segment that is being made.
    hurry: Arc<AtomicBool>,
    jobs: Option<Sender<Job>>,
    made: Receiver<(u32, Result<Map, JournalError>)>,
    asked: Option<u32>,
    thread: Option<JoinHandle<()>>,
}

impl Maker {
    fn start(path: PathBuf) -> Result<Self, JournalError> {
        let (jobs, to_do) = channel::<Job>();
        let (done, made) = channel();
        let hurry = Arc::new(AtomicBool::new(false));
        let hurried = Arc::clone(&hurry);
        let thread = thread::Builder::new()
            .name("journal-maker".into())
            .spawn(move || {
                let mut last = None;
                for job in to_do {
                    // Done in a quarter of the time that the segment before has lasted.
                    let lasts = last.replace(Instant::now()).map(|last| last.elapsed());
                    let steps = job.len.div_ceil(STEP) as u32;
                    let nap =
                        lasts.map_or(FIRST_REST, |lasts| (lasts / 4 / steps).min(LONGEST_REST));
                    let result = make(&path, job.number, job.len, &job.header, || {
                        if !hurried.load(Ordering::Relaxed) {
                            thread::sleep(nap);
                        }
                    });
                    if done.send((job.number, result)).is_err() {
                        return;
                    }
                }
            })
            .map_err(JournalError::io("start", "the journal's thread"))?;
        Ok(Self {
            hurry,
            jobs: Some(jobs),
            made,
            asked: None,
            thread: Some(thread),
        })
    }

    fn ask(&mut self, job: Job) {
        if self.asked.is_none() {
            let number = job.number;
            if self
                .jobs
                .as_ref()
                .is_some_and(|jobs| jobs.send(job).is_ok())
            {
                self.asked = Some(number);
            }
        }
    }

    /// The result for this number, waited for if it was asked for.
    fn take(&mut self, number: u32) -> Option<Result<Map, JournalError>> {
        self.asked.take_if(|asked| *asked == number)?;
        self.hurry.store(true, Ordering::Relaxed);
        let (made, result) = self.made.recv().ok()?;
        self.hurry.store(false, Ordering::Relaxed);
        (made == number).then_some(result)
    }
}

impl Drop for Maker {
    fn drop(&mut self) {
        self.jobs = None;
        self.hurry.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so already.
            let _ = thread.join();
        }
    }
}
