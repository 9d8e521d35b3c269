//! Why the journal does not do what it was asked.

use super::JournalId;
use std::fmt;
use std::io;

/// The place where a file is not what the journal wrote, with what was read there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Damage {
    /// The file, as the disk names it.
    pub file: String,
    /// The first byte of the field that is wrong.
    pub offset: u64,
    /// What a whole journal has there.
    pub expected: String,
    /// What is there.
    pub found: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            offset,
            expected,
            found,
        } = self;
        write!(
            f,
            "{file} is damaged at byte {offset}: expected {expected}, found {found}"
        )
    }
}

/// Why the journal does not do what it was asked.
#[derive(Debug)]
#[non_exhaustive]
pub enum JournalError {
    /// A file is not what the journal wrote, and the journal cannot know what is missing. No file was
    /// changed.
    Damaged(Damage),
    /// The operating system refused.
    Io {
        /// What the journal wanted: a verb and its object, for example `map`.
        doing: &'static str,
        /// The file or directory.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// Records could not be put on the disk: what is there is unknown until a restart reads it. The system
    /// says so once, to whoever asks first.
    Unsynced {
        /// The file.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// Another process has this directory open.
    Locked {
        /// The directory.
        directory: String,
    },
    /// Others than the owner could read or write the journal, or the owner is not us.
    Exposed {
        /// The file or directory.
        file: String,
        /// Its permission bits.
        mode: u32,
        /// Its owner.
        owner: u32,
    },
    /// An earlier sync failed. What is on the disk is unknown until a restart reads it; nothing more
    /// may be sent.
    Poisoned,
    /// A record that no segment has room for.
    TooLarge {
        /// Bytes of the record.
        bytes: u64,
        /// Bytes that a segment has room for.
        limit: u64,
    },
    /// More messages out than a record counts: 65535.
    TooManyEffects {
        /// How many there were.
        effects: usize,
    },
    /// A session that was not registered.
    UnknownSession(JournalId),
    /// One session more than [`Config::sessions`](super::Config::sessions).
    TooManySessions {
        /// The room there was.
        limit: usize,
    },
    /// The configuration cannot work.
    Setting {
        /// Name of the field of [`Config`](super::Config).
        name: &'static str,
        /// What it must be.
        must: &'static str,
    },
}

impl JournalError {
    pub(super) fn io(
        doing: &'static str,
        file: impl Into<String>,
    ) -> impl FnOnce(io::Error) -> Self {
        let file = file.into();
        move |source| Self::Io {
            doing,
            file,
            source,
        }
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(damage) => write!(
                f,
                "journal {damage}; nothing was changed; put back a copy of this file, or move the \
                 journal directory away and agree on new sequence numbers with every counterparty"
            ),
            Self::Io {
                doing,
                file,
                source,
            } => write!(f, "cannot {doing} {file}: {source}"),
            Self::Unsynced { file, source } => write!(f, "cannot sync {file}: {source}"),
            Self::Locked { directory } => write!(
                f,
                "journal {directory} is in use by another process; stop that one first, or give this \
                 engine a directory of its own"
            ),
            Self::Exposed { file, mode, owner } => write!(
                f,
                "{file} (owner {owner}, mode {:04o}) must belong to the user of this process and be \
                 closed to group and others; use chown, and chmod 700 for the directory or 600 for a \
                 file",
                mode & 0o7777
            ),
            Self::Poisoned => write!(
                f,
                "an earlier write of the journal to the disk failed, so nothing more may be sent; \
                 check the disk, then restart: the journal is then read and verified again"
            ),
            Self::TooLarge { bytes, limit } => {
                write!(
                    f,
                    "record of {bytes} bytes does not fit in a segment of {limit} bytes"
                )
            }
            Self::TooManyEffects { effects } => {
                write!(
                    f,
                    "{effects} messages out are more than one record holds, {}",
                    u16::MAX
                )
            }
            Self::UnknownSession(JournalId(id)) => write!(f, "session {id} is not in the journal"),
            Self::TooManySessions { limit } => {
                write!(f, "journal has more than {limit} sessions; raise the limit")
            }
            Self::Setting { name, must } => write!(f, "journal setting {name} must be {must}"),
        }
    }
}

impl std::error::Error for JournalError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } | Self::Unsynced { source, .. } => Some(source),
            _ => None,
        }
    }
}
