//! The state of the notes as a [`Ledger`]: saved as bytes and restored from them.
//!
//! ```text
//! state    = last answer i64, noted limits: optional, limits of the orders,
//!            count u32, session..., orders, queues, remembered
//! orders   = see orders/checkpoint.rs
//! queues   = target of the last held message if its source receives a reject: optional u32,
//!            rows u32, rows that are not empty u32, row...
//! row      = number u32  start in its block u32  count u64, record...
//! record   = mark u8: H, h, or x for a cancelled message; length u32, time i64, message
//! remembered = dropped u64  count u64, order...
//! order    = client u32  length of the id u8  length of both u32, id, fields
//! ```
//!
//! Numbers are little-endian. Sessions and rows are in the order of their numbers; remembered orders are sorted by
//! client, the oldest first. The position of a row's first record in its block is saved too: it follows from the
//! notes and decides when `max_held` is reached. Nothing in a checkpoint depends on the hash key or on free memory.
//! The blocks of the file have checksums.
//!
//! The file does not limit the restored state. Orders keep the limits of the last note until [`Notes::begin`] writes
//! a note of other limits, and queues may exceed `max_held`. Remembered values beyond `max_remembered` are dropped.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_ledger::{Bytes, Put, Wire, record, state_hash, write_state};
use fixwire_protocol::{Ledger, SessionId, Timestamp};

use super::super::queues::CANCELLED;
use super::remembered::is_rememberable;
use super::{ANSWERED, MAX_SESSIONS, Notes, UNANSWERED};
use crate::orders::{OrderTracker, OrdersConfig, Rewriting};

const NAME: &str = "gateway";
/// Version of the checkpoint's form and of the notes.
const VERSION: u32 = 1;

/// A session in a checkpoint.
struct SavedSession<'a> {
    name: &'a str,
    /// The form of the session's ids: the one in the last note, and the one that orders use.
    ids: Option<Rewriting>,
    orders_ids: Option<Rewriting>,
    /// The client's share of `max_remembered`.
    own: Option<u64>,
}

record! { SavedSession<'a> { name, ids, orders_ids, own } }

impl Notes {
    /// Replaces the state by a checkpoint that a ledger wrote.
    ///
    /// # Errors
    ///
    /// A sentence with the reason; the state has not changed.
    pub fn read(&mut self, version: u32, state: &[u8]) -> Result<(), String> {
        if version != VERSION {
            return Err(format!(
                "the state of the gateway has version {version}, and this build reads version {VERSION}"
            ));
        }
        *self = self.take(state)?;
        Ok(())
    }

    /// A hash of the state.
    pub fn hash(&self) -> u64 {
        state_hash(|to| self.put(to))
    }

    fn put(&self, to: &mut impl Put) {
        self.last_answer.put(to);
        self.noted.put(to);
        self.orders.config().put(to);
        let sessions = (0..).zip(&self.known).map(|(number, known)| SavedSession {
            name: &known.name,
            ids: known.ids,
            orders_ids: self.orders.rewriting(SessionId(number)),
            own: known.own,
        });
        sessions.collect::<Vec<_>>().put(to);
        self.orders.put(to);
        self.last_held.map(|(target, _)| target).put(to);
        let rows = self.queues.rows();
        let used = |row: &usize| self.queues.size(*row).0 > 0;
        (rows as u32).put(to);
        ((0..rows).filter(used).count() as u32).put(to);
        for row in (0..rows).filter(used) {
            (row as u32).put(to);
            self.queues.put(row, to);
        }
        self.memory.put(to);
    }

    /// Decodes a state. Limits, sessions and shares of the file are those of `self`.
    fn take(&self, state: &[u8]) -> Result<Self, String> {
        let wrong = |what: &str| format!("gateway state is inconsistent: {what}");
        let from = &mut &*state;
        let last_answer = i64::take(from).ok_or_else(|| wrong("last answer"))?;
        let noted: Option<Option<OrdersConfig>> = Wire::take(from);
        let noted = noted.and_then(|noted| match noted {
            Some(limits) => self.with_key(limits).map(Some),
            None => Some(None),
        });
        let noted = noted.ok_or_else(|| wrong("noted limits"))?;
        let config = OrdersConfig::take(from).and_then(|limits| self.with_key(limits));
        let config = config.ok_or_else(|| wrong("limits"))?;
        let sessions: Option<Vec<SavedSession<'_>>> = Wire::take(from);
        let sessions = sessions.filter(|all| all.len() <= MAX_SESSIONS);
        let sessions = sessions.ok_or_else(|| wrong("sessions"))?;
        let mut orders = OrderTracker::take(from, config).map_err(|error| {
            format!("the gateway state has orders that cannot be restored: {error}")
        })?;
        for (number, session) in (0..).zip(&sessions) {
            let ids = session.orders_ids;
            let set = ids.map_or(Ok(()), |_| orders.set_venue(SessionId(number), ids));
            set.map_err(|error| {
                format!(
                    "the gateway state has a form of order ids for session number \
             {number} that cannot be used: {error}"
                )
            })?;
        }
        let mut new = self.beside(orders);
        (new.last_answer, new.noted) = (last_answer, noted);
        for session in sessions {
            new.know(session.name, session.ids, session.own);
        }
        new.take_queues(from).ok_or_else(|| wrong("queues"))?;
        new.take_remembered(from)
            .ok_or_else(|| wrong("remembered fields"))?;
        match from {
            [] => Ok(new),
            _ => Err("gateway state has extra bytes at its end".into()),
        }
    }

    fn take_queues(&mut self, from: &mut &[u8]) -> Option<()> {
        let last_held: Option<u32> = Wire::take(from)?;
        let (rows, used) = (u32::take(from)? as usize, u32::take(from)?);
        // There is at most one queue for each session.
        if rows > self.known.len() {
            return None;
        }
        self.queues.set_rows(rows);
        let mut next = 0;
        for _ in 0..used {
            let row = u32::take(from)?;
            let (begins, records) = (u32::take(from)?, u64::take(from)?);
            if row < next || records == 0 {
                return None;
            }
            next = row + 1;
            self.queues.begin_at(row as usize, begins as usize)?;
            for _ in 0..records {
                let mark = u8::take(from)?;
                let Bytes(record) = Bytes::take(from)?;
                if ![ANSWERED, UNANSWERED, CANCELLED].contains(&mark) {
                    return None;
                }
                let place = self.hold_again(row as usize, mark, record)?;
                // The last held message is the last one in its queue whose source receives a reject.
                if mark == ANSWERED && last_held == Some(row) {
                    self.last_held = Some((row, place));
                }
            }
        }
        self.find_held();
        let found = self.last_held.map(|(row, _)| row);
        (found == last_held).then_some(())
    }

    fn take_remembered(&mut self, from: &mut &[u8]) -> Option<()> {
        self.memory.set_dropped(u64::take(from)?);
        for _ in 0..u64::take(from)? {
            let client = u32::take(from)?;
            let len = u8::take(from)?;
            let Bytes(both) = Bytes::take(from)?;
            let (id, fields) = both.split_at_checked(len.into())?;
            let is_one = is_rememberable(id, fields) && !fields.is_empty();
            if client as usize >= self.known.len() || !is_one {
                return None;
            }
            self.memory.restore(SessionId(client), id, fields);
        }
        Some(())
    }
}

impl Ledger for Notes {
    fn form(&self) -> (&'static str, u32) {
        (NAME, VERSION)
    }

    fn apply(&mut self, at: Timestamp, note: &[u8]) {
        // When the gateway ran, it already reported the error to its listener.
        let _ = self.replay(at, note);
    }

    fn write(&self, put: &mut dyn FnMut(&[u8])) {
        write_state(put, |to| self.put(to));
    }

    fn read(&mut self, version: u32, state: &[u8]) -> Result<(), String> {
        Self::read(self, version, state)
    }

    fn hash(&self) -> u64 {
        Self::hash(self)
    }
}
