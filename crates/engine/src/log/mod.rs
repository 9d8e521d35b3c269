//! Message and event logs beside the journal, in the layouts that QuickFIX users have tools for.
//!
//! ```text
//! engine thread --journal--> segments --Tail--> feed thread --> files, or tables of a database
//!               --events---> bounded channel ----^
//! ```
//!
//! The journal is the truth; a log is made from it, by a thread of its own that reads the journal's
//! files. So no message waits for a log: when a disk or a database stands still, the log falls behind
//! and catches up, also after a restart. After a kill the last lines of files may be there twice; a
//! database has each message once.

mod feed;
mod files;
mod line;
mod sql;

use std::fmt;
use std::path::PathBuf;

use fixwire_protocol::Timestamp;

use crate::journal::Position;
use crate::store::Family;

pub(crate) use feed::{Feed, Start};
pub use sql::SqlLog;

/// Logs in files: two for each session, one of messages and one of events.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FileLog {
    /// The folder; made when it does not exist.
    pub folder: PathBuf,
    /// Whose names and lines.
    pub layout: Family,
    /// Heartbeats are logged.
    pub heartbeats: bool,
    /// Times have milliseconds, in the layout of QuickFIX/J; the others have their own digits.
    pub milliseconds: bool,
    /// Messages have times, in the layout of QuickFIX/J; in the others they always do.
    pub stamp_messages: bool,
}

impl FileLog {
    /// A log with heartbeats, in the layout of QuickFIX (C++).
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            layout: Family::Quickfix,
            heartbeats: true,
            milliseconds: false,
            stamp_messages: false,
        }
    }
}

/// Where a log goes.
trait Target: Send {
    /// Makes it ready, at first and after every failure. Where it goes on: behind the last message that
    /// it has; `from` when it cannot know.
    fn open(&mut self, from: Position) -> Result<Position, LogError>;

    /// Takes a message that came in or went out.
    fn message(&mut self, session: &str, wall: Timestamp, incoming: bool, message: &[u8]);

    /// Takes something that happened; of the engine when it has no session.
    fn event(&mut self, session: Option<&str>, wall: Timestamp, text: &str);

    /// Opens its files anew, under the same names; false when it has none.
    fn reopen(&mut self) -> Result<bool, LogError> {
        Ok(false)
    }

    /// Whether it wants to pass on what it has before it takes more.
    fn is_full(&self) -> bool;

    /// Passes on what was given: of the journal all before `to`. What could not be passed on it keeps, or
    /// forgets and asks for again in [`open`](Self::open).
    fn flush(&mut self, to: Position) -> Result<(), LogError>;
}

/// Why a log cannot be written. The journal goes on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LogError(pub(crate) String);

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LogError {}
