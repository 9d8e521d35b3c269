//! Errors of a measurement.

use std::fmt;
use std::io;

/// Why a measurement failed. Wrong answers of a peer are counted as faults, not errors.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A system call failed.
    System {
        /// The attempted operation.
        doing: String,
        /// The system error.
        source: io::Error,
    },
    /// A flag has a value that cannot be used.
    Flag {
        /// The flag.
        flag: &'static str,
        /// The mistake.
        problem: String,
    },
    /// An engine did not start, or stopped by itself; with its error.
    Engine(String),
    /// The session was not logged on in time, or disconnected too early.
    Session(String),
    /// Result files cannot be read or compared.
    Results(String),
    /// An acceptor of the list failed, or is not in the list.
    Acceptor(String),
    /// A thread of the measurement exited too early.
    Thread(&'static str),
}

/// Wraps the error of an engine that did not start, or stopped by itself.
pub(crate) fn engine_error(error: impl fmt::Display) -> Error {
    Error::Engine(error.to_string())
}

impl Error {
    /// Adds the attempted operation, for `map_err`.
    pub fn system(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System {
            doing: doing.into(),
            source,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System { doing, source } => write!(f, "cannot {doing}: {source}"),
            Self::Flag { flag, problem } => write!(f, "{flag}: {problem}"),
            Self::Engine(text) => write!(f, "the engine stopped: {text}"),
            Self::Session(text) | Self::Results(text) | Self::Acceptor(text) => f.write_str(text),
            Self::Thread(which) => write!(f, "the {which} thread ended early"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::System { source, .. } => Some(source),
            _ => None,
        }
    }
}
