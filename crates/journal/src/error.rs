//! Errors of the journal, each with what to do about it.

use super::JournalId;
use std::fmt;
use std::io;

/// Where a file differs from what the journal wrote, with the expected and the found content.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Damage {
    /// The name of the file on the disk.
    pub file: String,
    /// Offset of the first byte of the wrong field.
    pub offset: u64,
    /// The expected content.
    pub expected: String,
    /// The content found.
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

/// Why a journal operation failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum JournalError {
    /// A file differs from what the journal wrote, and it is not known which data is missing. No file was changed.
    Damaged(Damage),
    /// Another build wrote a file in a version that this build cannot read. No file was changed.
    OtherVersion {
        /// The file.
        file: String,
        /// The version of the file, and which part of the journal has it.
        found: String,
        /// The version that this build reads.
        reads: String,
    },
    /// A system call failed.
    Io {
        /// The action that failed: a verb and, if necessary, an object; for example `map`.
        doing: &'static str,
        /// The file or directory.
        file: String,
        /// The system error.
        source: io::Error,
    },
    /// Records could not be synced. The content of the disk is unknown until a restart reads it. Reported once, to
    /// the first caller.
    Unsynced {
        /// The file.
        file: String,
        /// The system error.
        source: io::Error,
    },
    /// Another process has this journal directory open.
    Locked {
        /// The directory.
        directory: String,
    },
    /// The directory had a journal, but has no segment any more.
    Emptied {
        /// The directory.
        directory: String,
    },
    /// A new journal should be created in a directory that has the file store of another engine.
    OtherStore {
        /// The directory.
        directory: String,
        /// The name of a file in that store.
        file: String,
    },
    /// A new journal should be created in a directory that has files of another journal.
    NotEmpty {
        /// The directory.
        directory: String,
    },
    /// The journal should be salvaged, but is intact.
    Sound {
        /// The directory.
        directory: String,
        /// Whether the journal is intact only for an engine with durability `disk`.
        at_disk: bool,
    },
    /// A salvage of the journal was interrupted. The files are neither the old journal nor the salvaged one.
    Salvaging {
        /// The directory.
        directory: String,
        /// The folder with the original files.
        copy: String,
    },
    /// Other users can read or write the journal, or it belongs to another user.
    Exposed {
        /// The file or directory.
        file: String,
        /// The permission bits of the file or directory.
        mode: u32,
        /// The owner, if it is another user: the name, or `#` and the user id.
        owner: Option<String>,
    },
    /// An earlier sync failed. The content of the disk is unknown until a restart reads it, so nothing more may be
    /// sent.
    Poisoned,
    /// A record is too large for any segment.
    TooLarge {
        /// Size of the record, bytes.
        bytes: u64,
        /// Maximum size of a record, in bytes.
        limit: u64,
    },
    /// A record would have more outgoing messages than a record can count, which is 65535.
    TooManyEffects {
        /// Number of messages.
        effects: usize,
    },
    /// No session with this id is registered.
    UnknownSession(JournalId),
    /// A checkpoint with all sessions takes more than a quarter of a segment. Therefore no segment can be retired
    /// before the next one.
    TooManyNames {
        /// Number of sessions in the journal.
        sessions: u32,
        /// Size of a checkpoint with all sessions, in bytes.
        bytes: u64,
        /// Maximum size of a checkpoint, in bytes.
        limit: u64,
    },
    /// The ledger cannot read a checkpoint that was valid when the engine started.
    StateRefused {
        /// The file.
        file: String,
        /// The fault.
        why: String,
    },
    /// The state computed from the notes has a hash that differs from the hash in the journal.
    StateDiffers {
        /// The number of the last note that both states include.
        note: u64,
        /// The hash that the journal has recorded.
        noted: u64,
        /// The hash of the state computed from the notes.
        folded: u64,
    },
    /// The application's notes before a segment were retired, but no checkpoint that includes them can be used.
    StateLost {
        /// Files of checkpoints, each with the reason why it cannot be used.
        refused: Vec<(String, String)>,
    },
    /// The configuration is invalid.
    Setting {
        /// Name of the invalid field in [`Config`](super::JournalConfig).
        name: &'static str,
        /// The allowed values.
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

/// The error for a file that belongs to another user, or that other users may access.
fn exposed(
    (file, mode): (&str, u32),
    owner: Option<&str>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    match owner {
        Some(owner) => write!(
            f,
            "{file} belongs to the user {owner}, and only its owner may open a journal: run this as that user \
             (sudo -u '{owner}' fixwire ...)"
        ),
        None => write!(
            f,
            "{file} (mode {:04o}) must be closed to group and others: use chmod 700 for the directory or 600 \
             for a file",
            mode & 0o7777
        ),
    }
}

fn other_store(directory: &str, file: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(
        f,
        "{directory} has no journal, but the file store of a QuickFIX engine ({file}): take over its sequence \
         numbers and messages with `fixwire journal import` for each session, or begin every session at 1 with \
         `fixwire run --new-journal`"
    )
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(damage) => write!(
                f,
                "journal {damage}; nothing was changed; restore this file from a copy, or run `fixwire \
                 journal salvage`: it keeps a copy, cuts the journal at the damage and prints what to agree \
                 with each counterparty"
            ),
            Self::OtherVersion { file, found, reads } => write!(
                f,
                "{file} has {found}, and this build of fixwire reads {reads}; nothing was changed: with the \
                 build that wrote it, end all open orders and, for an OMS, write its positions to a file \
                 (`fixwire oms positions`); then move the journal's folder away and start this build with \
                 `fixwire run --new-journal`"
            ),
            Self::Io {
                doing,
                file,
                source,
            } => {
                write!(f, "cannot {doing} {file}: {source}")?;
                match (*doing, source.kind()) {
                    ("map", io::ErrorKind::OutOfMemory) => f.write_str(
                        "; the journal's segments need address space: raise the limit (ulimit -v, LimitAS)",
                    ),
                    ("start", io::ErrorKind::WouldBlock) => f.write_str(
                        "; the system allows no further thread or has no memory for it: raise the limit \
                         (ulimit -u or -v, TasksMax, LimitNPROC, LimitAS)",
                    ),
                    _ => Ok(()),
                }
            }
            Self::Unsynced { file, source } => write!(f, "cannot sync {file}: {source}"),
            Self::Locked { directory } => write!(
                f,
                "journal {directory} is in use by another process; stop that process first, or \
                 configure a separate directory for this engine"
            ),
            Self::Emptied { directory } => write!(
                f,
                "journal {directory} has no segment left, although it was in use before: its files were \
                 removed, or a backup was restored only in part; restore the files, or agree new sequence \
                 numbers with every counterparty and start a new journal with `fixwire run --new-journal`"
            ),
            Self::OtherStore { directory, file } => other_store(directory, file, f),
            Self::NotEmpty { directory } => write!(
                f,
                "{directory} already contains a journal; remove --new-journal, or move the \
                 directory away"
            ),
            Self::Sound {
                directory,
                at_disk: false,
            } => write!(f, "journal {directory} is not damaged: nothing to salvage"),
            Self::Sound { directory, .. } => write!(
                f,
                "journal {directory} is not damaged for an engine with Durability=disk; if its settings have \
                 Durability=process, the default, add --durability process"
            ),
            Self::Salvaging { directory, copy } => write!(
                f,
                "a salvage of journal {directory} was interrupted; restore all files from {copy}, remove \
                 the file `salvage`, and run the salvage again"
            ),
            Self::Exposed { file, mode, owner } => exposed((file, *mode), owner.as_deref(), f),
            Self::Poisoned => write!(
                f,
                "an earlier write of the journal to the disk failed, so nothing more is sent; check \
                 the disk, then restart: the journal is verified at the start"
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
                    "{effects} outbound messages exceed the limit of one record, {}",
                    u16::MAX
                )
            }
            Self::UnknownSession(JournalId(id)) => write!(f, "session {id} is not in the journal"),
            Self::TooManyNames {
                sessions,
                bytes,
                limit,
            } => write!(
                f,
                "a checkpoint of {sessions} sessions needs {bytes} bytes, more than {limit}, a quarter of a \
                 segment; raise JournalSegmentSize"
            ),
            Self::StateRefused { .. } | Self::StateDiffers { .. } | Self::StateLost { .. } => {
                self.fmt_state(f)
            }
            Self::Setting { name, must } => write!(f, "journal setting {name} must be {must}"),
        }
    }
}

impl JournalError {
    /// Writes errors of checkpoints.
    fn fmt_state(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StateRefused { file, why } => {
                write!(f, "checkpoint {file} cannot be used: {why}")
            }
            Self::StateDiffers {
                note,
                noted,
                folded,
            } => write!(
                f,
                "the notes up to number {note} give a state with hash {folded:016x}, but the engine had \
                 {noted:016x} when it stopped: this is a fault of the application or of fixwire; no further \
                 checkpoints are made, and all notes are kept"
            ),
            Self::StateLost { refused } => {
                f.write_str(
                    "older notes of the application were retired, and no checkpoint that covers them can be \
                     used",
                )?;
                for (file, why) in refused {
                    write!(f, "; {file}: {why}")?;
                }
                if refused.is_empty() {
                    f.write_str(": the journal's folder has no checkpoint file (*.fwk)")?;
                }
                f.write_str("; nothing was changed: restore the checkpoint files from a copy")
            }
            _ => Ok(()),
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
