//! Creates segments ahead of their use, one at a time, in a thread of its own. The thread also unmaps old segments
//! and checks the files.

use super::files::{segment_path, sync_names};
use super::reserve::{SharedReserve, is_full};
use super::segment::HEADER;
use super::watch::{JournalTrouble, SharedNews};
use super::{JournalError, newest};
use fixwire_sys::{FilePages, Map, private};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Extension of a segment's file until the file is complete. A file with this extension is not part of the journal.
const UNFINISHED: &str = "new";

/// Number of bytes of a new segment that are brought into memory in one step. A step takes about twenty microseconds.
/// On a virtual machine whose host must first find the memory, a step takes more than a hundred.
const STEP: usize = 64 << 10;
/// Longest rest after a step.
const LONGEST_REST: Duration = Duration::from_millis(1);
/// Rest after a step of the first segment, when it is not known yet how long a segment lasts.
const FIRST_REST: Duration = Duration::from_micros(100);
/// Interval between two checks of the files.
const ROUND: Duration = Duration::from_secs(1);
/// Number of rounds until the creation of a segment is tried again after a failure.
const ROUNDS_UNTIL_AGAIN: u32 = 5;

/// Creates a segment under a temporary name, and renames it when all of it is on disk. A file with a segment's name is
/// therefore never unfinished. After the rename, records the segment as the [`newest`]. Rests between the small steps
/// of the longest part. If the disk is full, uses a file of the reserve.
pub(super) fn make(
    directory: &Path,
    job: &Job,
    (news, reserve): (&SharedNews, &SharedReserve),
    rest: impl Fn(),
) -> Result<Map, JournalError> {
    let Job {
        number,
        len,
        header,
    } = *job;
    let path = segment_path(directory, number);
    let unfinished = path.with_extension(UNFINISHED);
    let name = unfinished.display().to_string();
    let file = match allocate(&unfinished, len as u64) {
        Err(error) if is_full(&error) => reserve
            .give((&path, &unfinished), len as u64, &error)
            .ok_or(error)?,
        made => made?,
    };
    file.write_all_at(&header, 0)
        .map_err(JournalError::io("write", &name))?;
    file.sync_all().map_err(JournalError::io("sync", &name))?;
    news.forget(|known| known == number);
    match fs::rename(&unfinished, &path) {
        // The segment was created before a restart. It is empty and has its final name already.
        Err(error) if error.kind() == ErrorKind::NotFound && path.exists() => {}
        renamed => renamed.map_err(JournalError::io("rename", &name))?,
    }
    sync_names(directory)?;
    if newest::read(directory)? != Some(number)
        && let Err(error) = newest::write(directory, number)
        && !reserve.newest_is_late(number, &error)
    {
        return Err(error);
    }
    let map = Map::file(&file, len).map_err(JournalError::io("map", &name))?;
    // Bring the pages into memory here. The first store to a page that is not in memory would take the engine's
    // thread several microseconds, and ten times as long on a virtual machine whose host must first find the memory.
    for step in (0..len).step_by(STEP) {
        static ZEROS: [u8; STEP] = [0; STEP];
        let (from, upto) = (step.max(HEADER), (step + STEP).min(len));
        file.write_all_at(&ZEROS[..upto - from], from as u64)
            .map_err(JournalError::io("write", &name))?;
        map.prefault(step, upto - step);
        rest();
    }
    news.watch(number, &path);
    Ok(map)
}

/// A new file of this size; `None` when the disk has no room for all of it.
fn allocate(path: &Path, len: u64) -> Result<File, JournalError> {
    let name = path.display().to_string();
    let file = private().read(true).truncate(true).open(path);
    let file = file.map_err(JournalError::io("create", &name))?;
    if let Err(error) = fixwire_sys::allocate(&file, len) {
        // Remove the file: other programs need its space.
        let _ = fs::remove_file(path);
        return Err(JournalError::io("allocate", name)(error));
    }
    Ok(file)
}

/// A segment that must be created.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) number: u32,
    pub(super) len: usize,
    pub(super) header: [u8; HEADER],
}

/// Requests to the thread.
#[derive(Debug)]
enum Task {
    Make(Job),
    /// Unmap a segment. Unmapping 64 MiB takes a millisecond.
    Unmap(Map),
    /// Write the pages of this range to disk now.
    Release(FilePages),
}

/// The number of a segment, and the result of creating it.
type Made = (u32, Result<Map, JournalError>);

/// The thread that creates the next segment while the engine still writes to the previous one.
#[derive(Debug)]
pub(super) struct Maker {
    /// Set while the engine waits for the segment that is being created.
    hurry: Arc<AtomicBool>,
    jobs: Option<Sender<Task>>,
    made: Receiver<Made>,
    /// A result that arrived before it was needed.
    seen: Option<Made>,
    asked: Option<u32>,
    thread: Option<JoinHandle<()>>,
}

impl Maker {
    pub(super) fn start(
        path: PathBuf,
        news: SharedNews,
        reserve: SharedReserve,
    ) -> Result<Self, JournalError> {
        let (jobs, to_do) = channel::<Task>();
        let (done, made) = channel();
        let hurry = Arc::new(AtomicBool::new(false));
        let work = Work {
            path,
            news,
            reserve,
            hurried: Arc::clone(&hurry),
            done,
            last: None,
            failed: None,
        };
        let thread = fixwire_threads::spawn("journal-maker", move || work.run(&to_do))
            .map_err(JournalError::io("start", "a thread of the journal"))?;
        Ok(Self {
            hurry,
            jobs: Some(jobs),
            made,
            seen: None,
            asked: None,
            thread: Some(thread),
        })
    }

    pub(super) fn ask(&mut self, job: Job) {
        if self.asked.is_none() {
            let number = job.number;
            if self
                .jobs
                .as_ref()
                .is_some_and(|jobs| jobs.send(Task::Make(job)).is_ok())
            {
                self.asked = Some(number);
            }
        }
    }

    /// Unmaps a segment in the background.
    pub(super) fn unmap(&self, map: Map) {
        if let Some(jobs) = &self.jobs {
            // If the thread has ended, the segment is unmapped when the task is dropped here.
            let _ = jobs.send(Task::Unmap(map));
        }
    }

    /// Removes the pages of a full segment from the page table, in the background.
    pub(super) fn release(&self, map: &Map) {
        if let (Some(jobs), Some(pages)) = (&self.jobs, map.file_pages()) {
            let _ = jobs.send(Task::Release(pages));
        }
    }

    /// Allows to request again the creation of a segment that failed.
    pub(super) fn forget_failed(&mut self) {
        match self.made.try_recv() {
            Ok((_, Err(_))) => self.asked = None,
            Ok(made) => self.seen = Some(made),
            Err(_) => {}
        }
    }

    /// The result of creating the segment with this number. If the creation was requested, waits for it.
    pub(super) fn take(&mut self, number: u32) -> Option<Result<Map, JournalError>> {
        self.asked.take_if(|asked| *asked == number)?;
        self.hurry.store(true, Ordering::Relaxed);
        let (made, result) = match self.seen.take() {
            Some(made) => made,
            None => self.made.recv().ok()?,
        };
        self.hurry.store(false, Ordering::Relaxed);
        (made == number).then_some(result)
    }
}

impl Drop for Maker {
    fn drop(&mut self) {
        self.jobs = None;
        self.hurry.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported already.
            let _ = thread.join();
        }
    }
}

/// The state of the thread.
struct Work {
    path: PathBuf,
    news: SharedNews,
    reserve: SharedReserve,
    hurried: Arc<AtomicBool>,
    done: Sender<Made>,
    /// Time at which the last segment was begun.
    last: Option<Instant>,
    /// Number of rounds since the creation of a segment failed; `None` if none has failed.
    failed: Option<u32>,
}

impl Work {
    fn run(mut self, to_do: &Receiver<Task>) {
        let mut place = 0;
        loop {
            match to_do.recv_timeout(ROUND) {
                Ok(Task::Unmap(map)) => {
                    drop(map);
                    continue;
                }
                Ok(Task::Release(pages)) => {
                    pages.release();
                    continue;
                }
                Ok(Task::Make(job)) => {
                    if !self.carry_out(&job) {
                        return;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            place = self.news.look(place);
            self.reserve.round(self.failed.is_some());
            if let Some(rounds) = &mut self.failed {
                *rounds += 1;
                if *rounds % ROUNDS_UNTIL_AGAIN == 0 {
                    self.news.ask_again();
                }
            }
        }
    }

    /// Creates a segment; false when it is no longer needed.
    fn carry_out(&mut self, job: &Job) -> bool {
        // Take at most a quarter of the time that the previous segment lasted.
        let lasts = self.last.replace(Instant::now()).map(|last| last.elapsed());
        let steps = job.len.div_ceil(STEP) as u32;
        let nap = lasts.map_or(FIRST_REST, |lasts| (lasts / 4 / steps).min(LONGEST_REST));
        let result = make(&self.path, job, (&self.news, &self.reserve), || {
            if !self.hurried.load(Ordering::Relaxed) {
                thread::sleep(nap);
            }
        });
        match &result {
            Err(error) if self.failed.is_none() => {
                self.failed = Some(0);
                let error = error.to_string();
                self.news.tell(JournalTrouble::NotMade { error });
            }
            Ok(_) if self.failed.take().is_some() => self.news.tell(JournalTrouble::Made),
            _ => {}
        }
        self.done.send((job.number, result)).is_ok()
    }
}
