//! Imports a session: writes the sequence numbers and messages in a file store to a journal.

use std::fs;
use std::iter;
use std::path::Path;

use fixwire_engine::canary::{self, PlantedFault};
use fixwire_engine::journal::{
    Cause, Directory, Effect, Journal, JournalConfig, RecordKind, Recovered, SequenceCounters, Torn,
};
use fixwire_protocol::time::Timestamp;

use super::read::Store;
use super::{Family, SessionName, StoreError};
use fixwire_protocol::Redactor;

/// The treatment of a session that the journal already has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Existing {
    /// The import is refused, unless the session in the journal never used its sequence numbers.
    Refuse,
    /// The sequence numbers of the session, and its messages for resends, are replaced by those of the store. The old
    /// records of the session stay in the journal, for readers.
    Replace,
}

/// Result of an import.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Imported {
    /// Number of messages that can be resent.
    pub messages: u64,
    /// Next expected MsgSeqNum.
    pub next_in: u64,
    /// Next MsgSeqNum to send.
    pub next_out: u64,
    /// Time at which the session's sequence numbers began.
    pub began: Timestamp,
    /// Number of messages in the store whose MsgSeqNum is `next_out` or higher. These messages were never sent and are
    /// not imported: their MsgSeqNums will be used again.
    pub left_out: u64,
    /// The part of the journal that was cut off when the journal was opened.
    pub cut: Option<Torn>,
}

/// Imports a session from a store into a journal, which is created if missing. The store is only read.
///
/// The whole store is read before the journal is changed. The records are written to segments of their own. The new
/// segments become part of the journal atomically, once all of them are on disk. After a crash before that, the next
/// opening of the journal removes the new segments. The import needs 24 bytes of memory per message, plus the longest
/// message.
///
/// Passwords in a Logon are masked, as always in the journal. A Logon is never resent.
///
/// # Errors
///
/// [`StoreError`]; the journal is unchanged. A journal that an engine has open is refused.
pub fn import(
    family: Family,
    store: &Path,
    journal: &Path,
    session: &str,
    existing: Existing,
    now: Timestamp,
) -> Result<Imported, StoreError> {
    let name = SessionName::parse(session)?;
    let mut store = Store::open(family, store, &name)?;
    let is_new = !journal.exists();
    let result = append_all(family, &mut store, journal, session, existing, now);
    if result.is_err() {
        undo(journal, is_new);
    }
    result
}

fn append_all(
    family: Family,
    store: &mut Store,
    journal: &Path,
    session: &str,
    existing: Existing,
    now: Timestamp,
) -> Result<Imported, StoreError> {
    let directory = Directory::open(journal)?;
    let first = directory.is_empty()?;
    if first {
        directory.begin_pending(1)?;
    }
    let config = JournalConfig {
        index_entries: 2,
        ..JournalConfig::default()
    };
    let (mut journal, Recovered { torn: cut, .. }) = Journal::open(directory, config)?;
    let known = journal
        .sessions()
        .find(|(_, name, _)| *name == session)
        .map(|(id, _, counters)| (id, counters));
    if let Some((_, counters)) = known
        && existing == Existing::Refuse
        && (counters.next_in, counters.next_out) != (1, 1)
    {
        return Err(StoreError::InUse {
            session: session.to_owned(),
            next_in: counters.next_in,
            next_out: counters.next_out,
        });
    }
    if !first {
        let next = journal.positions().1.segment() + 1;
        journal.disk_mut().begin_pending(next)?;
        journal.new_segment(now)?;
    }
    let id = match known {
        Some((id, _)) => {
            journal.reset(store.began, id)?;
            id
        }
        None => journal.register(store.began, session)?,
    };
    let counters = journal.counters(id).unwrap_or(SequenceCounters::NEW);
    let mut redactor = Redactor::new(0, Redactor::FIELDS);
    for index in 0..store.messages() {
        if canary::is(PlantedFault::SkipStored) && index % 1_000 == 999 {
            continue;
        }
        let next_in = store.next_in;
        let (seq, message) = store.message(index)?;
        redactor.copy_any(0, message);
        let effect = Effect {
            session: id,
            seq,
            bytes: redactor.kept(0, message),
        };
        let cause = Cause {
            session: id,
            kind: RecordKind::Sent,
            inbound: None,
            next_in,
            next_out: seq + 1,
            epoch: counters.epoch,
        };
        journal.append(now, cause, iter::once(effect))?;
        redactor.clear();
    }
    let after = SequenceCounters {
        next_in: store.next_in,
        next_out: store.next_out,
        ..counters
    };
    journal.set(now, id, after, "")?;
    let messages = store.messages() as u64;
    journal.note(
        now,
        id,
        &format!("imported from a {family:?} file store: {messages} messages"),
    )?;
    journal.sync(journal.positions().1)?;
    journal.disk_mut().end_pending()?;
    Ok(Imported {
        messages,
        next_in: store.next_in,
        next_out: store.next_out,
        began: store.began,
        left_out: store.left_out,
        cut,
    })
}

/// Removes what a failed import has written. If something is left, the next opening of the journal removes it.
fn undo(journal: &Path, is_new: bool) {
    let Ok(directory) = Directory::open(journal) else {
        return;
    };
    if is_new && directory.is_empty().unwrap_or(false) {
        for name in ["newest", "lock"] {
            let _ = fs::remove_file(journal.join(name));
        }
        let _ = fs::remove_dir(journal);
    }
}
