//! The state of the notes as a [`Ledger`]: saved as bytes and restored from them.
//!
//! ```text
//! body   | SipHash-2-4 of the body u64
//!
//! body     = last answer i64, noted limits: 0 u8, or 1 u8 limits, limits of the orders,
//!            count u32, session..., orders, queues, remembered
//! limits   = max_orders u32  max_sessions u32  max_id u32  quiet: 0 u8, or 1 u8 nanoseconds u64  ids
//! ids      = 0 u8; 1 always or 2 on collision u8, most bytes u8, length u8, prefix
//! session  = length u32, name, ids as noted, ids as the orders have them,
//!            share of `max_remembered`: 0 u8, or 1 u8 bytes u64
//! orders   = the body of their checkpoint, see orders/checkpoint.rs
//! queues   = rows u32, rows that are not empty u32, row...
//! row      = number u32  start in its block u32  count u64, record...
//! record   = mark u8: H, h, x for a cancelled message, or Q for the H to which a note Q would apply;
//!            length u32, time i64, note
//! remembered = dropped u64  count u64, order...
//! order    = client u32  length of the id u8  length of both u32, id, fields
//! ```
//!
//! Numbers are little-endian. Sessions and rows are in the order of their numbers, remembered orders by client,
//! the oldest first. The start of a row in its block follows from the notes and decides when `max_held` is
//! reached. Nothing here depends on the hash key, or on free memory.
//!
//! The restored state is not limited by the file: orders have the limits that were noted last, until
//! [`Notes::begin`] notes others, and queues may exceed `max_held`. Remembered values beyond `max_remembered` are
//! dropped.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::hash::Hasher;

use fixwire_protocol::{Ledger, Nanos, SessionId, Timestamp};
use siphasher::sip::SipHasher24;

use super::super::queues::CANCELLED;
use super::remembered::is_rememberable;
use super::{ANSWERED, Known, MAX_ORDERS, MAX_SESSIONS, Notes, UNANSWERED};
use crate::orders::{OrderTracker, OrdersConfig, Rewriting, When};

const NAME: &str = "gateway";
/// Version of this form and of the notes.
const VERSION: u32 = 1;
/// The bytes of the checksum.
const SUM: usize = 8;
/// The mark of the last held message, if its source receives a reject.
const LAST: u8 = b'Q';

impl Notes {
    /// Replaces the state by one that a ledger wrote.
    ///
    /// # Errors
    ///
    /// The error; nothing has changed.
    pub fn read(&mut self, version: u32, state: &[u8]) -> Result<(), String> {
        *self = self.of(version, state)?;
        Ok(())
    }

    /// A hash of the state.
    pub fn hash(&self) -> u64 {
        let mut hasher = SipHasher24::new();
        self.put(&mut |bytes| hasher.write(bytes));
        hasher.finish()
    }

    /// Writes the body in pieces.
    fn put(&self, put: &mut dyn FnMut(&[u8])) {
        put(&self.last_answer.to_le_bytes());
        put(&[u8::from(self.noted.is_some())]);
        if let Some(noted) = &self.noted {
            put_config(noted, put);
        }
        put_config(self.orders.config(), put);
        put(&(self.known.len() as u32).to_le_bytes());
        for (number, known) in (0..).zip(&self.known) {
            put(&(known.name.len() as u32).to_le_bytes());
            put(known.name.as_bytes());
            put_rewriting(known.ids, put);
            put_rewriting(self.orders.rewriting(SessionId(number)), put);
            put_optional(known.own, put);
        }
        self.orders.put(&mut &mut *put);
        let rows = self.queues.rows();
        let used = |row: &usize| self.queues.size(*row).0 > 0;
        put(&(rows as u32).to_le_bytes());
        put(&((0..rows).filter(used).count() as u32).to_le_bytes());
        for row in (0..rows).filter(used) {
            put(&(row as u32).to_le_bytes());
            self.queues.put(row, (self.last_held, LAST), put);
        }
        self.memory.put(put);
    }

    /// The notes of an encoded state, with the file of these notes.
    fn of(&self, version: u32, state: &[u8]) -> Result<Self, String> {
        if version != VERSION {
            return Err(format!(
                "the state of the gateway has version {version}, and this build reads version {VERSION}"
            ));
        }
        let Some((body, sum)) = state.split_last_chunk::<SUM>() else {
            return Err("gateway state is truncated".into());
        };
        if SipHasher24::new().hash(body).to_le_bytes() != *sum {
            return Err("gateway state is damaged: wrong checksum".into());
        }
        self.of_body(&mut Parts(body))
    }

    fn of_body(&self, parts: &mut Parts<'_>) -> Result<Self, String> {
        let last_answer = parts.u64().ok_or("last answer").map_err(wrong)? as i64;
        let key = self.limits.hash_key;
        let noted = parts.optional(|parts| parts.config(key));
        let noted = noted.ok_or("noted limits").map_err(wrong)?;
        let config = parts.config(key).ok_or("limits").map_err(wrong)?;
        let sessions = parts.sessions().ok_or("sessions").map_err(wrong)?;
        let mut orders = OrderTracker::take(&mut parts.0, config)
            .map_err(|error| format!("orders in the gateway state: {error}"))?;
        for (number, session) in (0..).zip(&sessions) {
            let ids = session.orders_ids;
            let set = ids.map_or(Ok(()), |_| orders.set_venue(SessionId(number), ids));
            set.map_err(|error| format!("ids in the gateway state: {error}"))?;
        }
        let mut new = self.beside(orders);
        (new.last_answer, new.noted) = (last_answer, noted);
        sessions.into_iter().for_each(|session| new.know(session));
        new.take_queues(parts).ok_or("queues").map_err(wrong)?;
        new.take_remembered(parts)
            .ok_or("remembered fields")
            .map_err(wrong)?;
        match parts.0 {
            [] => Ok(new),
            _ => Err("gateway state has extra bytes at its end".into()),
        }
    }

    fn know(&mut self, session: Session) {
        let Session { name, ids, own, .. } = session;
        let mut sessions = self.sessions.iter_mut();
        let place = sessions.position(|(known, ..)| *known == name);
        if let Some(place) = place {
            self.sessions[place].2 = Some(self.known.len() as u32);
        }
        self.known.push(Known {
            name,
            place,
            ids,
            own,
        });
    }

    fn take_queues(&mut self, parts: &mut Parts<'_>) -> Option<()> {
        let (rows, used) = (parts.u32()? as usize, parts.u32()?);
        // Each session has one.
        if rows > self.known.len() {
            return None;
        }
        self.queues.set_rows(rows);
        let mut next = 0;
        for _ in 0..used {
            let row = parts.u32()? as usize;
            let (begins, records) = (parts.u32()?, parts.u64()?);
            if row < next || records == 0 {
                return None;
            }
            next = row + 1;
            self.queues.begin_at(row, begins as usize)?;
            for _ in 0..records {
                let mark = parts.u8()?;
                let len = parts.u32()?;
                let record = parts.take(len as usize)?;
                let known = match mark {
                    ANSWERED | UNANSWERED | CANCELLED => mark,
                    LAST if self.last_held.is_none() => ANSWERED,
                    _ => return None,
                };
                let place = self.hold_again(row, known, record)?;
                if mark == LAST {
                    self.last_held = Some(place);
                }
            }
        }
        self.find_held();
        Some(())
    }

    fn take_remembered(&mut self, parts: &mut Parts<'_>) -> Option<()> {
        self.memory.set_dropped(parts.u64()?);
        for _ in 0..parts.u64()? {
            let client = parts.u32()?;
            let (id, both) = (parts.u8()?, parts.u32()?);
            let (id, fields) = parts.take(both as usize)?.split_at_checked(id.into())?;
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
        // The gateway that runs has told its owner.
        let _ = self.replay(at, note);
    }

    fn write(&self, put: &mut dyn FnMut(&[u8])) {
        let mut hasher = SipHasher24::new();
        self.put(&mut |bytes| {
            hasher.write(bytes);
            put(bytes);
        });
        put(&hasher.finish().to_le_bytes());
    }

    fn read(&mut self, version: u32, state: &[u8]) -> Result<(), String> {
        Self::read(self, version, state)
    }

    fn hash(&self) -> u64 {
        Self::hash(self)
    }
}

/// The error text for a state with a correct checksum and invalid content.
fn wrong(what: &str) -> String {
    format!("gateway state is inconsistent: {what}")
}

fn put_config(config: &OrdersConfig, put: &mut dyn FnMut(&[u8])) {
    for number in [config.max_orders, config.max_sessions, config.max_id as u32] {
        put(&number.to_le_bytes());
    }
    put_optional(config.forget_quiet.map(|quiet| quiet.0), put);
    put_rewriting(Some(config.rewriting), put);
}

fn put_optional(number: Option<u64>, put: &mut dyn FnMut(&[u8])) {
    put(&[u8::from(number.is_some())]);
    if let Some(number) = number {
        put(&number.to_le_bytes());
    }
}

fn put_rewriting(ids: Option<Rewriting>, put: &mut dyn FnMut(&[u8])) {
    let Some(ids) = ids else {
        return put(&[0]);
    };
    let when = match ids.when() {
        When::Always => 1,
        When::OnCollision => 2,
    };
    put(&[when, ids.max_len() as u8, ids.prefix().len() as u8]);
    put(ids.prefix());
}

/// A session as it was written.
struct Session {
    name: String,
    /// The form of the session's ids as noted, and as the orders have it.
    ids: Option<Rewriting>,
    orders_ids: Option<Rewriting>,
    own: Option<u64>,
}

/// Reads the remaining bytes. Each method returns `None` if there are too few bytes, or they are invalid.
struct Parts<'a>(&'a [u8]);

impl<'a> Parts<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn optional<T>(&mut self, take: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        match self.u8()? {
            0 => Some(None),
            1 => take(self).map(Some),
            _ => None,
        }
    }

    fn config(&mut self, hash_key: [u8; 16]) -> Option<OrdersConfig> {
        let config = OrdersConfig {
            max_orders: self.u32()?,
            max_sessions: self.u32()?,
            max_id: self.u32()? as usize,
            forget_quiet: self.optional(Self::u64)?.map(Nanos),
            rewriting: self.rewriting()??,
            hash_key,
        };
        let orders = config.max_orders <= MAX_ORDERS;
        (orders && config.max_sessions as usize <= MAX_SESSIONS).then_some(config)
    }

    fn rewriting(&mut self) -> Option<Option<Rewriting>> {
        let when = match self.u8()? {
            0 => return Some(None),
            1 => When::Always,
            2 => When::OnCollision,
            _ => return None,
        };
        let (most, len) = (self.u8()?, self.u8()?);
        let prefix = self.take(len.into())?;
        Rewriting::new(when, prefix, most.into()).ok().map(Some)
    }

    fn sessions(&mut self) -> Option<Vec<Session>> {
        let count = self.u32()?;
        if count as usize > MAX_SESSIONS {
            return None;
        }
        let mut sessions = Vec::new();
        for _ in 0..count {
            let len = self.u32()?;
            let name = core::str::from_utf8(self.take(len as usize)?).ok()?;
            sessions.push(Session {
                name: name.into(),
                ids: self.rewriting()?,
                orders_ids: self.rewriting()?,
                own: self.optional(Self::u64)?,
            });
        }
        Some(sessions)
    }
}
