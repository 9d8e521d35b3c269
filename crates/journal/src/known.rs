//! The journal's knowledge about a session.

use super::RecordKind;
use super::index::Index;
use super::segment::JournalPosition;
use super::{JournalConfig, JournalError};
use fixwire_protocol::time::Timestamp;
use std::fmt;
use std::net::IpAddr;

/// The session name for the notes of an application that has no [`Ledger`](fixwire_protocol::Ledger). A session with
/// a peer never has this name, because its name contains an arrow.
pub const NOTES: &str = "notes of the application";
/// Prefix of the session names for notes.
pub(crate) const NOTES_OF: &str = "notes of ";

/// The session name for the notes of an application whose state has this name and version.
#[must_use]
pub fn notes_name((name, version): (&str, u32)) -> String {
    format!("{NOTES_OF}{name}, version {version}")
}

/// Whether this session name is reserved for notes of an application.
#[must_use]
pub fn is_notes(name: &str) -> bool {
    name.starts_with(NOTES_OF)
}

/// Refuses notes of another application or of another version. Notes of an application without a ledger have neither
/// name nor version.
pub(super) fn check_notes<'n>(
    mut names: impl Iterator<Item = &'n str>,
    form: (&str, u32),
    file: impl FnOnce() -> String,
) -> Result<(), JournalError> {
    let reads = notes_name(form);
    match names.find(|name| is_notes(name) && *name != NOTES && *name != reads) {
        None => Ok(()),
        Some(found) => Err(JournalError::OtherVersion {
            file: file(),
            found: found.to_owned(),
            reads,
        }),
    }
}

/// The session name for actions of operators that concern no session. A session with a peer never has this name.
pub const OPERATORS: &str = "operators";
/// Whether this is the name of a session with a peer, not of notes or operators.
#[must_use]
pub fn is_session(name: &str) -> bool {
    !is_notes(name) && name != OPERATORS
}

/// Prefix of the note with the address from which a peer has logged on.
pub(super) const LOGGED_ON_FROM: &str = "logged on from ";
/// Prefix of the note which says that an operator has disabled a session. The operator follows.
pub const DISABLED_BY: &str = "disabled by ";
/// Prefix of the note which says that an operator has enabled a session again. The operator follows.
pub const ENABLED_BY: &str = "enabled by ";

/// Prefix of the note which says that messages of a session wait for its next logon. The first MsgSeqNum that waits
/// follows.
const WAITING_FROM: &str = "messages wait for the next logon, from MsgSeqNum ";
/// The note which says that no message of a session waits for its next logon any more.
const NOTHING_WAITS: &str = "no message waits for the next logon";

/// The text of the [note](crate::Journal::note) that states the MsgSeqNum from which on messages of a session wait
/// for its next logon, if any. [`Journal::waiting_from`](crate::Journal::waiting_from) returns this MsgSeqNum, also
/// after a restart, until the sequence numbers are reset.
#[must_use]
pub fn waiting_note(from: Option<u64>) -> String {
    match from {
        Some(from) => format!("{WAITING_FROM}{from}"),
        None => NOTHING_WAITS.into(),
    }
}

/// Prefix of the note with the hash of the application's state. The number of the last note and the hash follow.
const STATE_HASH: &str = "state hash ";

/// The hash of an application's state after a note.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Stated {
    note: u64,
    hash: u64,
    /// Name and version of the application's state. The hash differs for another version.
    form: String,
}

impl Stated {
    pub(super) fn new((name, version): (&str, u32), note: u64, hash: u64) -> Self {
        let form = format!("{name} version {version}");
        Self { note, hash, form }
    }

    /// The state hash in a record, if the record is a note of the state.
    pub(super) fn read(kind: RecordKind, body: &[u8]) -> Option<Self> {
        let text = str::from_utf8(body)
            .ok()
            .filter(|_| kind == RecordKind::Note)?;
        let (hash, rest) = text.strip_prefix(STATE_HASH)?.split_once(" after note ")?;
        let (note, form) = rest.split_once(" of ")?;
        Some(Self {
            note: note.parse().ok()?,
            hash: u64::from_str_radix(hash, 16).ok()?,
            form: form.to_owned(),
        })
    }

    /// The hash, if it was recorded after this note for a state with this name and version.
    pub(super) fn hash_of(&self, form: (&str, u32), note: u64) -> Option<u64> {
        (*self == Self::new(form, note, self.hash)).then_some(self.hash)
    }
}

impl fmt::Display for Stated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { note, hash, form } = self;
        write!(f, "{STATE_HASH}{hash:016x} after note {note} of {form}")
    }
}

/// The sequence numbers of a session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SequenceCounters {
    /// The next MsgSeqNum that is expected from the peer.
    pub next_in: u64,
    /// The next MsgSeqNum that is sent.
    pub next_out: u64,
    /// Number of resets of the session's sequence numbers.
    pub epoch: u32,
}

impl SequenceCounters {
    /// The sequence numbers of a session without messages.
    pub const NEW: Self = Self {
        next_in: 1,
        next_out: 1,
        epoch: 0,
    };
}

/// One session of the journal.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) name: String,
    pub(super) counters: SequenceCounters,
    /// Time since which the session has its present sequence numbers: its registration, or its last reset.
    pub(super) began: Timestamp,
    pub(super) index: Index,
    /// The peer will not request messages before this MsgSeqNum any more; 0 until
    /// [`Journal::release_before`](crate::Journal::release_before) sets it.
    pub(super) needed_from: u64,
    /// The address of the peer at its last Logon, if the remaining segments have it.
    pub(super) peer: Option<IpAddr>,
    /// Whether an operator has disabled the session.
    pub(super) disabled: bool,
    /// The MsgSeqNum from which on messages of the session wait for its next logon; `None` if none waits.
    pub(super) waiting_from: Option<u64>,
    /// The hash of the application's state at the last clean stop.
    pub(super) stated: Option<Stated>,
}

impl Known {
    pub(super) fn new(name: String, began: Timestamp, config: &JournalConfig) -> Self {
        Self {
            name,
            counters: SequenceCounters::NEW,
            began,
            index: Index::new(config.index_entries),
            needed_from: 0,
            peer: None,
            disabled: false,
            waiting_from: None,
            stated: None,
        }
    }

    /// Applies a note: the address of the peer, an operator's disable or enable, or messages that wait.
    pub(super) fn take_note(&mut self, text: &[u8]) {
        if let Some(address) = text.strip_prefix(LOGGED_ON_FROM.as_bytes()) {
            let address = str::from_utf8(address).ok();
            let address = address.and_then(|text| text.parse().ok());
            self.peer = address.or(self.peer);
        } else if text.starts_with(DISABLED_BY.as_bytes()) {
            self.disabled = true;
        } else if text.starts_with(ENABLED_BY.as_bytes()) {
            self.disabled = false;
        } else if let Some(from) = text.strip_prefix(WAITING_FROM.as_bytes()) {
            let from = str::from_utf8(from).ok();
            self.waiting_from = from.and_then(|text| text.parse().ok());
        } else if text == NOTHING_WAITS.as_bytes() {
            self.waiting_from = None;
        } else if let Some(stated) = Stated::read(RecordKind::Note, text) {
            self.stated = Some(stated);
        }
    }

    /// Number of the last messages of the session that wait for its next logon.
    pub(super) fn waiting(&self) -> u64 {
        let next = self.counters.next_out;
        self.waiting_from
            .map_or(0, |from| next.saturating_sub(from))
    }

    /// The position to which the session's next effect must link back.
    #[inline]
    pub(super) fn link(&mut self, seq: u64) -> JournalPosition {
        let (last, at) = self.index.last();
        if last == 0 || seq > last {
            return at;
        }
        // The sequence numbers were set back without a reset, so earlier messages can no longer be requested.
        self.index.clear();
        JournalPosition::START
    }

    #[inline]
    pub(super) fn set(&mut self, wall: Timestamp, counters: SequenceCounters) {
        if counters.epoch != self.counters.epoch {
            self.index.clear();
            self.needed_from = 0;
            self.waiting_from = None;
            self.began = wall;
        }
        self.counters = counters;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_that_of_one_form_after_one_note() {
        let stated = Stated::new(("book", 3), 41, 0xAB);
        let text = stated.to_string();
        assert_eq!(
            text,
            "state hash 00000000000000ab after note 41 of book version 3"
        );
        assert_eq!(Stated::read(RecordKind::Reset, text.as_bytes()), None);
        let read = Stated::read(RecordKind::Note, text.as_bytes()).unwrap();
        assert_eq!(read.hash_of(("book", 3), 41), Some(0xAB));
        for (form, note) in [(("book", 4), 41), (("other", 3), 41), (("book", 3), 42)] {
            assert_eq!(read.hash_of(form, note), None);
        }
    }
}
