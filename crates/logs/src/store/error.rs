//! Why a file store cannot be imported or exported.

use std::fmt;
use std::io;

use fixwire_engine::journal::{Damage, JournalError};

/// Why a store was not imported or exported. Nothing was changed, except as described for [`StoreError::Io`].
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// A file of the store has invalid content.
    Damaged(Damage),
    /// The store lacks this file.
    Missing {
        /// Path of the missing file.
        file: String,
    },
    /// The file exists already. The file may have the only state of a session, so it is not overwritten.
    Occupied {
        /// The file.
        file: String,
    },
    /// The journal already has the session, and its sequence numbers would be lost.
    InUse {
        /// The session.
        session: String,
        /// Next expected MsgSeqNum of the session.
        next_in: u64,
        /// Next MsgSeqNum that the session sends.
        next_out: u64,
    },
    /// The journal does not have the session.
    Unknown {
        /// The session.
        session: String,
        /// The sessions that the journal has.
        known: Vec<String>,
    },
    /// The folder has no journal.
    NoJournal {
        /// The folder.
        folder: String,
    },
    /// The engine of the store cannot count up to this sequence number.
    TooHigh {
        /// The sequence number.
        number: u64,
        /// The highest sequence number that the engine of the store supports.
        most: u64,
    },
    /// The session name cannot be used in a file name.
    Name {
        /// The name.
        session: String,
        /// The fault.
        why: &'static str,
    },
    /// The journal refuses.
    Journal(JournalError),
    /// A system call failed. Temporary files may be left; their names end in `.new`.
    Io {
        /// The action that failed, for example `read`.
        doing: &'static str,
        /// The file.
        file: String,
        /// The system error.
        source: io::Error,
    },
}

impl StoreError {
    pub(super) fn io(
        doing: &'static str,
        file: &std::path::Path,
    ) -> impl FnOnce(io::Error) -> Self {
        let file = file.display().to_string();
        move |source| Self::Io {
            doing,
            file,
            source,
        }
    }
}

impl From<JournalError> for StoreError {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(damage) => write!(
                f,
                "{damage}; nothing was changed. If the engine that wrote the store was killed, \
                start that engine once more and log the session out, or restore a copy of the store"
            ),
            Self::Missing { file } => write!(
                f,
                "{file} is missing; check the folder of the store, the engine that wrote it and \
                the name of the session"
            ),
            Self::Occupied { file } => write!(
                f,
                "{file} exists already and is not overwritten; move that store away, or choose \
                another folder"
            ),
            Self::InUse {
                session,
                next_in,
                next_out,
            } => write!(
                f,
                "the journal has session {session} already: next MsgSeqNum in {next_in}, out {next_out}. \
                 To replace it with the store, add --replace"
            ),
            Self::Unknown { session, known } => {
                write!(
                    f,
                    "no session {session} in this journal; it has: {}",
                    known.join(", ")
                )
            }
            Self::NoJournal { folder } => write!(f, "{folder} contains no journal"),
            Self::TooHigh { number, most } => write!(
                f,
                "sequence number {number} is above {most}, the highest that the engine of the \
                store supports"
            ),
            Self::Name { session, why } => write!(
                f,
                "{session} is not a session name: {why}; a session name is \
                 BeginString:SenderCompID[/Sub][/Location]->TargetCompID[/Sub][/Location][:Qualifier]"
            ),
            Self::Journal(error) => write!(f, "{error}"),
            Self::Io {
                doing,
                file,
                source,
            } => write!(f, "cannot {doing} {file}: {source}"),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Journal(error) => Some(error),
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
