//! Message and event logs beside the journal, whatever they are written to.
//!
//! ```text
//! engine thread --journal--> segments --Tail--> feed thread --> Target: files, or tables of a database
//!               --events---> bounded channel ----^
//! ```
//!
//! The journal is the truth; a log is made from it, by a thread of its own that reads the journal's
//! files. So no message waits for a log: when a disk or a database hangs, the log falls behind
//! and catches up, also after a restart.

mod feed;

use std::fmt;
use std::path::Path;

use fixwire_protocol::Timestamp;

use crate::journal::JournalPosition;

pub use feed::{Feed, FeedStart};

/// A log as it is configured.
pub trait Log: fmt::Debug + Send + Sync {
    /// Its name in events, in its thread and in the file in the journal's folder that says up to where it is written,
    /// `log-KIND.cursor`: letters. An engine has one log of a kind.
    fn kind(&self) -> &'static str;

    /// Looks for what cannot work, without a look at the world.
    ///
    /// # Errors
    ///
    /// The first thing found.
    fn check(&self) -> Result<(), LogError> {
        Ok(())
    }

    /// How many files it keeps open for each session, and as many for the engine.
    fn files_of_a_session(&self) -> u64 {
        0
    }

    /// Opens its target, for the engine whose journal is in this folder and whose configured sessions have
    /// these names. The engine's thread calls it once, at the start.
    ///
    /// # Errors
    ///
    /// Errors that no later [`LogTarget::open`] can fix.
    fn open(&self, journal: &Path, sessions: &[String]) -> Result<Box<dyn LogTarget>, LogError>;
}

/// Where a log goes. A thread of its own has it.
pub trait LogTarget: Send {
    /// Makes it ready, at first and after every failure. Where it goes on: behind the last message that
    /// it has; `from` when it cannot know.
    ///
    /// # Errors
    ///
    /// Why it cannot be written now. It is tried again later.
    fn open(&mut self, from: JournalPosition) -> Result<JournalPosition, LogError>;

    /// Logs a message that was received or sent.
    fn message(&mut self, session: &str, wall: Timestamp, incoming: bool, message: &[u8]);

    /// Logs an event; of the engine when it has no session.
    fn event(&mut self, session: Option<&str>, wall: Timestamp, text: &str);

    /// Opens its files anew, under the same names; false when it has none.
    ///
    /// # Errors
    ///
    /// Why one of them cannot be opened.
    fn reopen(&mut self) -> Result<bool, LogError> {
        Ok(false)
    }

    /// Whether it wants to write what it has before it accepts more.
    fn is_full(&self) -> bool;

    /// Passes on what was given: of the journal all before `to`. What could not be passed on it keeps, or
    /// forgets and asks for again in [`open`](Self::open).
    ///
    /// # Errors
    ///
    /// Why not all of it could be passed on.
    fn flush(&mut self, to: JournalPosition) -> Result<(), LogError>;
}

/// Why a log cannot be written. The journal goes on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LogError(pub String);

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LogError {}
