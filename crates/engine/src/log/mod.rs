//! Message and event logs in addition to the journal, for any target.
//!
//! ```text
//! engine thread --journal--> segments --Tail--> feed thread --> Target: files, or tables of a database
//!               --events---> bounded channel ----^
//! ```
//!
//! A log is derived from the journal, by a thread of its own that reads the journal's files. So no message waits for
//! a log. When a disk or a database hangs, the log falls behind; it catches up later, even after a restart.

mod feed;

use std::fmt;
use std::path::Path;

use fixwire_protocol::Timestamp;

use crate::journal::JournalPosition;

pub use feed::{Feed, FeedStart};

/// The configuration of a log.
pub trait Log: fmt::Debug + Send + Sync {
    /// Name of the log. It appears in events, in the name of the log's thread, and in the journal's folder, where the
    /// file `log-KIND.cursor` has the log's position. Letters only. An engine has at most one log of each kind.
    fn kind(&self) -> &'static str;

    /// Checks the configuration without accessing anything.
    ///
    /// # Errors
    ///
    /// The first error found.
    fn check(&self) -> Result<(), LogError> {
        Ok(())
    }

    /// Number of files that the log keeps open for each session; it keeps as many open for the engine.
    fn files_of_a_session(&self) -> u64 {
        0
    }

    /// Opens the target of the log for an engine, given its journal folder and the names of its configured sessions.
    /// The engine's thread calls this once, at the start.
    ///
    /// # Errors
    ///
    /// Only errors that no later [`LogTarget::open`] can fix.
    fn open(&self, journal: &Path, sessions: &[String]) -> Result<Box<dyn LogTarget>, LogError>;
}

/// The target of a log. It is used by a thread of its own.
pub trait LogTarget: Send {
    /// Prepares the target, at the start and after every failure. Returns the position after the last message in the
    /// target, or `from` if that is unknown.
    ///
    /// # Errors
    ///
    /// Why the target cannot be written now. The log tries again later.
    fn open(&mut self, from: JournalPosition) -> Result<JournalPosition, LogError>;

    /// Logs a message that was received or sent.
    fn message(&mut self, session: &str, wall: Timestamp, incoming: bool, message: &[u8]);

    /// Logs an event of a session; without a session, an event of the engine.
    fn event(&mut self, session: Option<&str>, wall: Timestamp, text: &str);

    /// Reopens the target's files under the same names; false when the target has no files.
    ///
    /// # Errors
    ///
    /// Why a file cannot be opened.
    fn reopen(&mut self) -> Result<bool, LogError> {
        Ok(false)
    }

    /// Whether the target must write its buffer before it can accept more.
    fn is_full(&self) -> bool;

    /// Writes the buffer, which has everything in the journal before `to`. After a failure the target either keeps
    /// the unwritten rest, or drops the rest and requests it again in [`open`](Self::open).
    ///
    /// # Errors
    ///
    /// Why not everything could be written.
    fn flush(&mut self, to: JournalPosition) -> Result<(), LogError>;
}

/// Why a log cannot be written. The journal is not affected.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LogError(pub String);

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LogError {}
