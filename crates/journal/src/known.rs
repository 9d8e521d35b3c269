//! A session as the journal knows it.

use super::Config;
use super::Kind;
use super::index::Index;
use super::segment::Position;
use fixwire_protocol::time::Timestamp;
use std::net::IpAddr;

/// The name under which the application's notes are kept. No session is called so: names of sessions have an
/// arrow.
pub const NOTES: &str = "notes of the application";
/// The name under which stands what operators did to no session in particular. No session is called so.
pub const OPERATORS: &str = "operators";
/// Whether this is the name of a session that has a peer.
#[must_use]
pub fn is_session(name: &str) -> bool {
    name != NOTES && name != OPERATORS
}

/// How the note begins that says from where a peer has logged on; its address follows.
pub(super) const LOGGED_ON_FROM: &str = "logged on from ";
/// How the note begins that says that an operator has disabled a session; who that was follows.
pub const DISABLED_BY: &str = "disabled by ";
/// How the note begins that says that an operator has enabled a session again.
pub const ENABLED_BY: &str = "enabled by ";

/// How the note begins that says which hash the application's state had; the number of the last note and the
/// hash follow.
const STATE_HASH: &str = "state hash ";

/// The text that says which hash the state has after a note of the application.
pub(super) fn state_hash_text(note: u64, hash: u64) -> String {
    format!("{STATE_HASH}{hash:016x} after note {note}")
}

/// The number of a note and the hash of the state after it, when a record says that.
pub(super) fn stated_hash(kind: Kind, body: &[u8]) -> Option<(u64, u64)> {
    let text = str::from_utf8(body).ok().filter(|_| kind == Kind::Note)?;
    let (hash, note) = text.strip_prefix(STATE_HASH)?.split_once(" after note ")?;
    Some((note.parse().ok()?, u64::from_str_radix(hash, 16).ok()?))
}

/// Where a session's numbers stand.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Counters {
    /// MsgSeqNum expected next.
    pub next_in: u64,
    /// MsgSeqNum given out next.
    pub next_out: u64,
    /// How often the session was reset.
    pub epoch: u32,
}

impl Counters {
    /// A session that never said anything.
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
    pub(super) counters: Counters,
    /// When its numbers began: its registration, or its last reset.
    pub(super) began: Timestamp,
    pub(super) index: Index,
    /// From where its peer logged on last, as far as the segments that are left tell.
    pub(super) peer: Option<IpAddr>,
    /// An operator has disabled it.
    pub(super) disabled: bool,
    /// The number of a note of the application and the hash of its state after it, as a clean stop left them.
    pub(super) stated: Option<(u64, u64)>,
}

impl Known {
    pub(super) fn new(name: String, began: Timestamp, config: &Config) -> Self {
        Self {
            name,
            counters: Counters::NEW,
            began,
            index: Index::new(config.index_entries),
            peer: None,
            disabled: false,
            stated: None,
        }
    }

    /// Takes what a note says: from where the peer has logged on, and whether an operator lets it.
    pub(super) fn take_note(&mut self, text: &[u8]) {
        if let Some(address) = text.strip_prefix(LOGGED_ON_FROM.as_bytes()) {
            let address = str::from_utf8(address).ok();
            let address = address.and_then(|text| text.parse().ok());
            self.peer = address.or(self.peer);
        } else if text.starts_with(DISABLED_BY.as_bytes()) {
            self.disabled = true;
        } else if text.starts_with(ENABLED_BY.as_bytes()) {
            self.disabled = false;
        } else if let Some(stated) = stated_hash(Kind::Note, text) {
            self.stated = Some(stated);
        }
    }

    /// The position that the next effect links back to.
    #[inline]
    pub(super) fn link(&mut self, seq: u64) -> Position {
        let (last, at) = self.index.last();
        if last == 0 || seq > last {
            return at;
        }
        // The numbers were set back without a reset: what was sent before cannot be asked for.
        self.index.clear();
        Position::START
    }

    #[inline]
    pub(super) fn set(&mut self, wall: Timestamp, counters: Counters) {
        if counters.epoch != self.counters.epoch {
            self.index.clear();
            self.began = wall;
        }
        self.counters = counters;
    }
}
