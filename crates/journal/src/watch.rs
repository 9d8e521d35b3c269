//! Detects that files of a journal are removed, replaced or truncated while the journal is in use.

use crate::JournalError;
use crate::disk::{DiskNews, DiskWakeUp};
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Number of files that are checked in one round. A journal may have thousands of files.
const ROUND: usize = 64;

/// A fault of a journal's files. The journal itself still works.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum JournalTrouble {
    /// Old segments that no session needs could not be retired.
    NotRetired {
        /// The error.
        error: String,
    },
    /// The state of the application could not be written into a checkpoint.
    NotFolded {
        /// The error.
        error: String,
    },
    /// A checkpoint could not be used at the start. An older checkpoint was used, or none.
    NotRecalled {
        /// File of the checkpoint.
        file: String,
        /// The fault.
        why: String,
    },
    /// The next segment could not be created ahead.
    NotMade {
        /// The error.
        error: String,
    },
    /// The next segment was created, after [`JournalTrouble::NotMade`] was reported.
    Made,
    /// The disk has no room for the next segment, so the journal uses its reserve.
    OnReserve {
        /// The journal's folder.
        folder: String,
        /// Free bytes.
        free: u64,
        /// Segment size, bytes.
        wanted: u64,
        /// Number of segments in the reserve.
        segments: u32,
        /// The system error.
        error: String,
    },
    /// The disk has room again, after [`JournalTrouble::OnReserve`] was reported, and the reserve is complete.
    ReserveRestored {
        /// The journal's folder.
        folder: String,
    },
    /// The disk is filling up.
    LowSpace {
        /// The journal's folder.
        folder: String,
        /// Free bytes.
        free: u64,
        /// The threshold, bytes.
        below: u64,
    },
    /// The disk has room again, after [`JournalTrouble::LowSpace`] was reported.
    EnoughSpace {
        /// The journal's folder.
        folder: String,
        /// Free bytes.
        free: u64,
    },
    /// Stored messages could not be read.
    NotRead {
        /// The error.
        error: String,
    },
    /// A file was removed, replaced or truncated.
    Altered {
        /// Path of the file.
        file: String,
        /// The event of the file.
        how: Alteration,
        /// Number of other files that changed at the same time.
        more: usize,
    },
}

/// An error that was not reported yet.
#[derive(Debug)]
pub(super) enum Untold {
    /// Old segments could not be retired.
    Retiring(JournalError),
    /// Stored messages could not be read.
    Reading(JournalError),
}

/// The event of a file in use.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Alteration {
    /// The file no longer exists under its name.
    Removed,
    /// Another file now has the name of this file.
    Replaced,
    /// The length of the file changed.
    Resized {
        /// Length of the file when the journal opened it, bytes.
        from: u64,
        /// Present length of the file, bytes.
        to: u64,
    },
}

impl JournalTrouble {
    /// Whether the journal begins (true) or ceases (false) to use its reserve; `None` for other faults.
    #[must_use]
    pub fn on_reserve(&self) -> Option<bool> {
        match self {
            Self::OnReserve { .. } => Some(true),
            Self::ReserveRestored { .. } => Some(false),
            _ => None,
        }
    }
}

impl fmt::Display for JournalTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRetired { error } => {
                write!(f, "old segments of the journal were not removed: {error}")
            }
            Self::NotFolded { error } => write!(
                f,
                "no checkpoint of the application's state was made: {error}; nothing is lost: the \
                application's notes stay in the journal until a checkpoint is made"
            ),
            Self::NotRecalled { file, why } => write!(
                f,
                "checkpoint {file} was not used: {why}; the state was recovered from an earlier checkpoint \
                 or from the notes alone; nothing is lost"
            ),
            Self::NotMade { error } => write!(
                f,
                "the journal's next segment could not be made ahead: {error}; it is retried every few \
                 seconds; if the current segment fills up first, the engine stops without loss and can be \
                 restarted: free disk space or fix the cause now"
            ),
            Self::Made => {
                f.write_str("the journal's next segment has been made: the journal continues")
            }
            Self::OnReserve {
                folder,
                free,
                wanted,
                segments,
                error,
            } => write!(
                f,
                "the disk of journal {folder} is full: {free} bytes free, the next segment needs {wanted} \
                 ({error}); the journal goes on in its reserve (JournalReserve={segments}): an OMS and a gateway \
                 reject new orders and replaces, and go on with cancels, kills and reports; free disk space now: \
                 when the reserve is used up too, the engine stops without loss"
            ),
            Self::ReserveRestored { folder } => write!(
                f,
                "the disk of journal {folder} has room again: its reserve is restored, new orders are accepted again"
            ),
            Self::LowSpace {
                folder,
                free,
                below,
            } => write!(
                f,
                "the disk of journal {folder} fills up: {free} bytes free, less than JournalLowSpace={below}; free \
                 disk space: on a full disk new orders are rejected, and without a reserve the engine stops"
            ),
            Self::EnoughSpace { folder, free } => {
                write!(
                    f,
                    "the disk of journal {folder} has room again: {free} bytes free"
                )
            }
            Self::NotRead { error } => write!(
                f,
                "stored messages could not be read: {error}; no gap fill is sent for them; a further \
                 ResendRequest gets them once they can be read: restore the file, or raise the limit"
            ),
            Self::Altered { file, how, more } => {
                write!(f, "journal file {file} {how}")?;
                if *more > 0 {
                    write!(f, ", and so were {more} more files")?;
                }
                f.write_str(
                    " while the engine runs: its contents will be missing after a restart; stop the \
                     engine, then restore a copy or run `fixwire journal salvage`",
                )
            }
        }
    }
}

impl fmt::Display for Alteration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Removed => f.write_str("was removed"),
            Self::Replaced => f.write_str("was replaced by another file"),
            Self::Resized { from, to } => write!(f, "was changed from {from} to {to} bytes"),
        }
    }
}

/// Installs a report for the case that a file of this journal is truncated while the process uses it: before the
/// process ends, it writes one line to standard error, and its exit code is 1. Only a program may call this, because
/// only a program may decide how signals are handled.
///
/// # Errors
///
/// The system error.
pub fn end_on_truncation(directory: &Path) -> io::Result<()> {
    let name = directory.display().to_string();
    let name = name.escape_debug();
    fixwire_sys::end_on_bus_error(format!(
        "error: journal {name}: a file was truncated while it was in use, or its disk failed; the engine \
         ends; run `fixwire journal verify {name}` (SIGBUS)\n"
    ))
}

/// A file in the state in which the journal knows it.
#[derive(Clone, Debug)]
struct Watched {
    /// Number of the segment; 0 for the lock file.
    number: u32,
    path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
    length: u64,
}

impl Watched {
    fn alteration(&self) -> Option<Alteration> {
        match fs::symlink_metadata(&self.path) {
            Ok(facts) if (facts.dev(), facts.ino()) != self.identity => Some(Alteration::Replaced),
            Ok(facts) if facts.len() != self.length => Some(Alteration::Resized {
                from: self.length,
                to: facts.len(),
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(Alteration::Removed),
            // A file that cannot be checked now may be accessible again later.
            _ => None,
        }
    }
}

/// News that the threads of a journal's directory report to its owner. The news has one owner, and any number of
/// threads.
#[derive(Default)]
pub(super) struct News {
    is_there: AtomicBool,
    list: Mutex<Vec<JournalTrouble>>,
    /// Whether the creation of the next segment may be requested again.
    again: AtomicBool,
    /// Whether more segments may be retired than before.
    look: AtomicBool,
    files: Mutex<Vec<Watched>>,
    wake_up: OnceLock<DiskWakeUp>,
}

impl fmt::Debug for News {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("News").finish_non_exhaustive()
    }
}

impl News {
    /// Whether there is news. Called in every turn.
    #[inline]
    pub(super) fn is_there(&self) -> bool {
        self.is_there.load(Ordering::Relaxed)
    }

    /// Takes the news since the last call.
    pub(super) fn take(&self) -> DiskNews {
        self.is_there.store(false, Ordering::SeqCst);
        DiskNews {
            troubles: std::mem::take(&mut *locked(&self.list)),
            prepare_again: self.again.swap(false, Ordering::SeqCst),
            look_again: self.look.swap(false, Ordering::SeqCst),
        }
    }

    pub(super) fn tell(&self, trouble: JournalTrouble) {
        locked(&self.list).push(trouble);
        self.ring();
    }

    /// Reports that the creation of the next segment, which had failed, may be requested again.
    pub(super) fn ask_again(&self) {
        self.again.store(true, Ordering::SeqCst);
        self.ring();
    }

    /// Reports that more segments may be retired than before.
    pub(super) fn look_again(&self) {
        self.look.store(true, Ordering::SeqCst);
        self.ring();
    }

    fn ring(&self) {
        self.is_there.store(true, Ordering::SeqCst);
        if let Some(wake_up) = self.wake_up.get() {
            wake_up();
        }
    }

    /// Sets the function that wakes the owner when there is news.
    pub(super) fn wake_with(&self, wake_up: DiskWakeUp) {
        let _ = self.wake_up.set(wake_up);
    }

    /// How the file of a segment differs from the watched file with this number, if it differs.
    pub(super) fn alteration(&self, number: u32) -> Option<Alteration> {
        let files = locked(&self.files);
        files
            .iter()
            .find(|file| file.number == number)?
            .alteration()
    }

    /// Watches a file in its present state: the file of the segment with this number, or the lock file for number 0.
    pub(super) fn watch(&self, number: u32, path: &Path) {
        let Ok(facts) = fs::symlink_metadata(path) else {
            return;
        };
        let file = Watched {
            number,
            path: path.to_owned(),
            identity: (facts.dev(), facts.ino()),
            length: facts.len(),
        };
        let mut files = locked(&self.files);
        files.retain(|known| known.number != number);
        files.push(file);
    }

    /// Stops watching segments, because the owner is about to remove or replace them.
    pub(super) fn forget(&self, which: impl Fn(u32) -> bool) {
        locked(&self.files).retain(|file| file.number == 0 || !which(file.number));
    }

    /// Checks some of the files, from index `from` on, and always the newest one. Reports each faulty file once.
    /// Returns the index at which the next call should continue.
    pub(super) fn look(&self, from: usize) -> usize {
        let all = locked(&self.files).clone();
        let from = if from < all.len() { from } else { 0 };
        let round = all.iter().skip(from).take(ROUND).chain(all.last());
        let suspects: Vec<&Watched> = round.filter(|file| file.alteration().is_some()).collect();
        if !suspects.is_empty() {
            self.tell_altered(&suspects);
        }
        from + ROUND
    }

    fn tell_altered(&self, suspects: &[&Watched]) {
        // The owner may have removed files after the list was copied. Such files are no longer watched.
        let mut altered = Vec::new();
        let mut files = locked(&self.files);
        files.retain(|file| {
            let suspected = suspects.iter().any(|suspect| suspect.path == file.path);
            let found = file.alteration().filter(|_| suspected);
            altered.extend(found.map(|how| (file.path.display().to_string(), how)));
            found.is_none()
        });
        drop(files);
        let more = altered.len().saturating_sub(1);
        if let Some((file, how)) = altered.into_iter().next() {
            self.tell(JournalTrouble::Altered { file, how, more });
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No thread panics while it holds this lock.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The news of one directory, shared by its threads.
pub(super) type SharedNews = Arc<News>;
