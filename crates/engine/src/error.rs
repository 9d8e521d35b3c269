//! Errors: why an engine did not start or ended, and why a session was not added.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use crate::config::ConfigError;
use crate::journal::{JournalError, Torn};
use crate::log::LogError;

/// Why an engine did not start, or stopped.
#[derive(Debug)]
#[non_exhaustive]
pub enum EngineError {
    /// The configuration is invalid.
    Config(ConfigError),
    /// The journal cannot be read or written. Every message that was sent is in the journal.
    Journal(JournalError),
    /// A configured log cannot be opened.
    Log(LogError),
    /// An address cannot be bound.
    Listen {
        /// The address.
        at: SocketAddr,
        /// The system error.
        source: io::Error,
    },
    /// An incomplete end of the journal was cut off, and then the engine did not start.
    AfterCut {
        /// The data that was cut off.
        cut: Box<Torn>,
        /// Why the engine did not start.
        error: Box<EngineError>,
    },
    /// The memory of the process cannot be locked, as [`EngineConfig::lock_memory`](crate::EngineConfig) requires.
    MemoryNotLocked {
        /// The limit of lockable memory in bytes, if that is the reason.
        limit: Option<u64>,
        /// The system error.
        source: io::Error,
    },
    /// The thread of the engine cannot be pinned to [`EngineConfig::core`](crate::EngineConfig).
    NotPinned {
        /// The core.
        core: usize,
        /// The reason as text, with the available cores.
        why: String,
        /// The system error.
        source: io::Error,
    },
    /// A system call that every engine needs has failed.
    Io {
        /// The failed action.
        doing: &'static str,
        /// The system error.
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
                "cannot lock memory (LockMemory=Y): the limit is {} KiB, and all memory of the \
                process counts towards this limit: raise it (LimitMEMLOCK=infinity of the service, \
                or ulimit -l unlimited), or give the process CAP_IPC_LOCK",
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
    /// This error, together with the data that was cut off from the journal before. Nothing else reports that data.
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
    /// The configuration of the session is invalid, alone or together with another session.
    Config(ConfigError),
    /// The limit [`Limits::dynamic_sessions`](crate::Limits), which has this value, is reached.
    TooMany(usize),
    /// The listening address of the session cannot be bound.
    Listen(EngineError),
    /// The engine is stopping, or has failed.
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
