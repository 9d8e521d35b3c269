//! Message and event logs in addition to the journal, for any target.
//!
//! ```text
//! engine thread --journal--> segments --Tail--> feed thread --> Target: files, or tables of a database
//!               --events---> bounded channel ----^
//! ```
//!
//! Logs are derived from the journal, by a thread of their own that reads the journal's files. So no message waits for
//! a log: when a disk or a database hangs, the log falls behind and catches up, also after a restart.

mod feed;

use std::fmt;
use std::path::Path;

use fixwire_protocol::Timestamp;

use crate::journal::JournalPosition;

pub use feed::{Feed, FeedStart};

/// The configuration of a log.
pub trait Log: fmt::Debug + Send + Sync {
    /// Name of the log: in events, of its thread, and in the journal's folder, where the file `log-KIND.cursor` has its
    /// position. Letters only; an engine has one log of a kind.
    fn kind(&self) -> &'static str;

    /// Checks the configuration without accessing anything.
    ///
    /// # Errors
    ///
    /// The first error found.
    fn check(&self) -> Result<(), LogError> {
        Ok(())
    }

    /// Number of files that the log keeps open per session, and as many for the engine.
    fn files_of_a_session(&self) -> u64 {
        0
    }

    /// Opens the target of the log, for the engine with this journal folder and these configured session names. The
    /// engine's thread calls it once, at the start.
    ///
    /// # Errors
    ///
    /// Errors that no later [`LogTarget::open`] can fix.
    fn open(&self, journal: &Path, sessions: &[String]) -> Result<Box<dyn LogTarget>, LogError>;
}

/// The target of a log, used by a thread of its own.
pub trait LogTarget: Send {
    /// Prepares the target, at first and after every failure. Returns the position after its last message, or `from`
    /// when unknown.
    ///
    /// # Errors
    ///
    /// Why the target cannot be written now. The log retries later.
    fn open(&mut self, from: JournalPosition) -> Result<JournalPosition, LogError>;

    /// Logs a message that was received or sent.
    fn message(&mut self, session: &str, wall: Timestamp, incoming: bool, message: &[u8]);

    /// Logs an event; without a session, one of the engine.
    fn event(&mut self, session: Option<&str>, wall: Timestamp, text: &str);

    /// Reopens its files under the same names; false when it has none.
    ///
    /// # Errors
    ///
    /// Why one of them cannot be opened.
    fn reopen(&mut self) -> Result<bool, LogError> {
        Ok(false)
    }

    /// Whether the target must write its buffer before it accepts more.
    fn is_full(&self) -> bool;

    /// Passes on its buffer: everything in the journal before `to`. On failure it keeps the rest, or drops it and
    /// requests it again in [`open`](Self::open).
    ///
    /// # Errors
    ///
    /// Why not everything could be passed on.
    fn flush(&mut self, to: JournalPosition) -> Result<(), LogError>;
}

/// Why a log cannot be written. The journal continues.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LogError(pub String);

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LogError {}
