//! Errors: why an engine did not start or ended, and why a session was not added.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use crate::config::ConfigError;
use crate::journal::{JournalError, Torn};
use crate::log::LogError;

/// Why an engine did not start, or ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum EngineError {
    /// The configuration cannot work.
    Config(ConfigError),
    /// The journal cannot be read or written. Nothing was sent that it does not hold.
    Journal(JournalError),
    /// A log that was asked for cannot be made.
    Log(LogError),
    /// An address cannot be listened at.
    Listen {
        /// The address.
        at: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The engine did not start, after the journal's unfinished end had been cut off.
    AfterCut {
        /// The part that was cut off.
        cut: Box<Torn>,
        /// Why it did not start.
        error: Box<EngineError>,
    },
    /// The memory of the process cannot be locked, which
    /// [`EngineConfig::lock_memory`](crate::EngineConfig) asks for.
    MemoryNotLocked {
        /// How many bytes may be locked, when that is why.
        limit: Option<u64>,
        /// The system's error.
        source: io::Error,
    },
    /// The thread of the engine cannot be pinned to [`EngineConfig::core`](crate::EngineConfig).
    NotPinned {
        /// The core.
        core: usize,
        /// Why, for a person, with the cores that there are.
        why: String,
        /// The system's error.
        source: io::Error,
    },
    /// The system refuses what no engine can do without.
    Io {
        /// The action that failed.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => write!(f, "{error}"),
            Self::Journal(error) => write!(f, "{error}"),
            Self::Log(error) => write!(f, "message log: {error}"),
            Self::Listen { at, source } => write!(f, "cannot listen at {at}: {source}"),
            Self::AfterCut { cut, error } => write!(f, "{error}; before that, {cut}"),
            Self::MemoryNotLocked {
                limit: Some(limit), ..
            } => write!(
                f,
                "cannot lock memory (LockMemory=Y): the limit is {} KiB, and all memory of the process counts \
                 towards it: raise it (LimitMEMLOCK=infinity of the service, or ulimit -l unlimited), or give \
                 the process CAP_IPC_LOCK",
                limit >> 10
            ),
            Self::MemoryNotLocked { source, .. } => {
                write!(f, "cannot lock memory (LockMemory=Y): {source}")
            }
            Self::NotPinned { core, why, .. } => {
                write!(f, "cannot pin the engine to its core (Core={core}): {why}")
            }
            Self::Io { doing, source } => write!(f, "cannot {doing}: {source}"),
        }
    }
}

impl std::error::Error for EngineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Config(error) => Some(error),
            Self::Journal(error) => Some(error),
            Self::Log(error) => Some(error),
            Self::AfterCut { error, .. } => Some(error),
            Self::Listen { source, .. }
            | Self::MemoryNotLocked { source, .. }
            | Self::NotPinned { source, .. }
            | Self::Io { source, .. } => Some(source),
        }
    }
}

impl EngineError {
    /// This error, with what was cut off the journal before: it is reported nowhere else.
    pub(crate) fn after(cut: Option<&Torn>, error: Self) -> Self {
        match cut {
            Some(cut) => Self::AfterCut {
                cut: Box::new(cut.clone()),
                error: Box::new(error),
            },
            None => error,
        }
    }
}

impl From<JournalError> for EngineError {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}

/// Why a session was not added.
#[derive(Debug)]
#[non_exhaustive]
pub enum AddError {
    /// Its configuration cannot work, by itself or beside that of another session.
    Config(ConfigError),
    /// As many as [`Limits::dynamic_sessions`](crate::Limits), which is this, were made already.
    TooMany(usize),
    /// It cannot be listened for it.
    Listen(EngineError),
    /// The engine stops, or has failed.
    Stopping,
}

impl fmt::Display for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => write!(f, "{error}"),
            Self::TooMany(most) => write!(
                f,
                "no more sessions can be added while the engine runs: MaxDynamicSessions ({most})"
            ),
            Self::Listen(error) => write!(f, "{error}"),
            Self::Stopping => f.write_str("the engine is stopping"),
        }
    }
}

impl std::error::Error for AddError {}
