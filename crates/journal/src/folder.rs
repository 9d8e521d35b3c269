//! Checkpoints in the folder of a journal, and the thread that makes them.

use super::archive::read_base;
use super::files::{names, open_checked, remove, segment_path, sync_names};
use super::fold::{Closed, Fold, States, Step};
use super::read::Record;
use super::record::RECORD;
use super::segment::{HEADER, Position, long, word};
use super::state::SUFFIX;
use super::tail::{Open, Tail, failed};
use super::watch::{SharedNews, Trouble};
use super::{Base, JournalError};
use fixwire_sys::private;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How often it is looked whether a segment was closed.
const LOOK: Duration = Duration::from_millis(500);
/// Pause after a failure.
const AGAIN: Duration = Duration::from_secs(5);

/// The checkpoints of a folder.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// The segment before which notes are in two checkpoints; 0 for none.
    settled: Arc<AtomicU32>,
    /// What is being written.
    aside: Option<(u32, File)>,
}

impl Folder {
    fn file(&self, number: u32) -> PathBuf {
        self.path.join(format!("{number:08}{SUFFIX}"))
    }

    fn file_aside(&self, number: u32) -> PathBuf {
        self.path.join(format!("{number:08}{SUFFIX}.new"))
    }
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
            // What stays is written over by the next one of this number.
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
        let mut tail = Tail::new(&self.path, Position::new(number, HEADER as u32));
        while let Some(record) = tail.next_record()? {
            if record.at.segment() != number {
                break;
            }
            if !each(&record) {
                return Ok(Closed::NotYet);
            }
        }
        Ok(Closed::Read {
            salt: next.salt(),
            record: long(&bytes, HEADER + 8),
        })
    }

    fn salt(&mut self, number: u32) -> Result<Option<u64>, JournalError> {
        Ok(Open::find(&self.path, number)?.map(|open| open.salt()))
    }

    fn sync(&mut self, from: u32, upto: u32) -> Result<(), JournalError> {
        for number in from..=upto {
            let path = segment_path(&self.path, number);
            // One that is gone was on the disk before it went.
            if path.exists() {
                let synced = open_checked(&path, true)?.sync_data();
                synced.map_err(JournalError::io("sync", path.display().to_string()))?;
            }
        }
        Ok(())
    }

    fn settle(&mut self, segment: u32) {
        self.settled.store(segment, Ordering::Release);
    }
}

/// The thread that makes checkpoints, when there is one. Dropping it ends it.
#[derive(Debug, Default)]
pub(super) struct Folding {
    ends: Arc<AtomicBool>,
    settled: Arc<AtomicU32>,
    thread: Option<JoinHandle<()>>,
}

impl Folding {
    /// The checkpoints of a journal's folder.
    pub(super) fn folder(&self, path: &Path) -> Folder {
        Folder {
            path: path.to_owned(),
            settled: Arc::clone(&self.settled),
            aside: None,
        }
    }

    /// The segment before which all notes are in two checkpoints.
    pub(super) fn settled(&self) -> Option<u32> {
        Some(self.settled.load(Ordering::Acquire)).filter(|segment| *segment > 0)
    }

    pub(super) fn start(
        &mut self,
        fold: Fold,
        path: &Path,
        news: SharedNews,
    ) -> Result<(), JournalError> {
        let (folder, ends) = (self.folder(path), Arc::clone(&self.ends));
        let work = move || work(fold, folder, &news, &ends);
        let thread = fixwire_threads::spawn("journal-fold", work)
            .map_err(JournalError::io("start", "a thread of the journal"))?;
        self.thread = Some(thread);
        Ok(())
    }

    /// Waits until the thread has ended; what it was at is begun anew by the next process.
    pub(super) fn end(&mut self) {
        self.ends.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A thread that panicked has said so already.
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
    let goes_on = || !ends.load(Ordering::Acquire);
    let mut told = None;
    while goes_on() {
        match fold.step(&mut folder, &goes_on) {
            Ok(Step::Waits) => thread::park_timeout(LOOK),
            Ok(_) => told = None,
            Err(error) => {
                let error = error.to_string();
                if told.as_ref() != Some(&error) {
                    told = Some(error.clone());
                    news.tell(Trouble::NotFolded { error });
                }
                thread::park_timeout(AGAIN);
            }
        }
    }
}
