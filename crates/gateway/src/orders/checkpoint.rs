//! Saves all orders as bytes, and restores them.
//!
//! ```text
//! orders = counters: refused u64, rewritten u64, unsolicited u64, next number u64, next opening u64
//!          count u32, venue...   count u32, name...
//! venue  = session u32  next number u64
//! name   = see `SavedName`
//! ```
//!
//! Numbers are little-endian. Names are in the order of their lists, which is the order in which they may be forgotten.
//! Names refer to each other by number; 0 means no name.

use alloc::vec::Vec;
use core::fmt;
use core::hash::Hasher;

use fixwire_ledger::{Put, Wire};
use fixwire_protocol::{Nanos, SessionId};
use siphasher::sip::SipHasher24;

use super::book::{ANSWERED, By, Link, Queue, SavedName};
use super::{OrderTracker, OrdersConfig, OrdersError, Rewriting, Venue};

/// Maximum value of a restored counter, so that counting cannot overflow.
const COUNT_MAX: u64 = 1 << 62;

/// Why bytes are not a checkpoint, or why the checkpoint does not fit the limits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The checkpoint is truncated, bytes follow it, or its content is invalid.
    Content,
    /// The checkpoint has more names, more venues or longer ids than the limits allow.
    Room,
    /// The limits are invalid.
    Config(OrdersError),
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Content => f.write_str("checkpoint is inconsistent"),
            Self::Room => f.write_str("checkpoint exceeds the configured limits"),
            Self::Config(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for CheckpointError {}

/// Writes and reads the configuration without the key of the hash tables; a reader sets the key.
impl<'a> Wire<'a> for OrdersConfig {
    fn put(&self, to: &mut impl Put) {
        for number in [self.max_orders, self.max_sessions, self.max_id as u32] {
            number.put(to);
        }
        self.forget_quiet.map(|quiet| quiet.0).put(to);
        self.rewriting.put(to);
    }

    fn take(from: &mut &'a [u8]) -> Option<Self> {
        Some(Self {
            max_orders: u32::take(from)?,
            max_sessions: u32::take(from)?,
            max_id: u32::take(from)? as usize,
            forget_quiet: <Option<u64> as Wire<'_>>::take(from)?.map(Nanos),
            rewriting: Rewriting::take(from)?,
            hash_key: [0; 16],
        })
    }
}

impl OrderTracker {
    /// A hash of the state. The hash is equal for two [`OrderTracker`]s that answer all calls alike; for others it
    /// differs, except by a chance of 1 in 2^64. Allocates nothing. Takes as long as writing a checkpoint.
    #[must_use]
    pub fn state_hash(&self) -> u64 {
        let mut hasher = SipHasher24::new();
        self.put(&mut |bytes: &[u8]| hasher.write(bytes));
        hasher.finish()
    }

    /// Appends a checkpoint to the bytes. The checkpoint contains neither [`OrdersConfig`], nor the forms of ids set
    /// with [`set_venue`](Self::set_venue), nor a checksum.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        self.put(bytes);
    }

    /// Reads a checkpoint.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Content`], [`CheckpointError::Room`] and [`CheckpointError::Config`].
    pub fn read(mut bytes: &[u8], config: OrdersConfig) -> Result<Self, CheckpointError> {
        let orders = Self::take(&mut bytes, config)?;
        match bytes {
            [] => Ok(orders),
            _ => Err(CheckpointError::Content),
        }
    }

    /// Reads an [`OrderTracker`] from the beginning of the bytes, where [`put`](Self::put) wrote it.
    pub(crate) fn take(from: &mut &[u8], config: OrdersConfig) -> Result<Self, CheckpointError> {
        let mut orders = Self::new(config).map_err(CheckpointError::Config)?;
        let [next_number, next_opened] =
            orders.take_counters(from).ok_or(CheckpointError::Content)?;
        let venues: Option<Vec<(u32, u64)>> = Wire::take(from);
        for (id, next) in venues.ok_or(CheckpointError::Content)? {
            let id = SessionId(id);
            let is_next = orders.venues.last().is_none_or(|last| last.id < id);
            if next == 0 || !is_next {
                return Err(CheckpointError::Content);
            }
            orders.venues.push(Venue {
                id,
                next,
                rewriting: None,
            });
        }
        let saved: Option<Vec<SavedName<'_>>> = Wire::take(from);
        let saved = saved.ok_or(CheckpointError::Content)?;
        let (names, venues) = (saved.len(), orders.venues.len());
        if names > config.max_orders as usize || venues > config.max_sessions as usize {
            return Err(CheckpointError::Room);
        }
        let is_long = |id: &[u8]| id.len() > config.max_id;
        if saved.iter().any(|name| name.ids().into_iter().any(is_long)) {
            return Err(CheckpointError::Room);
        }
        orders
            .book
            .restore(&saved, next_number, next_opened)
            .ok_or(CheckpointError::Content)?;
        Ok(orders)
    }

    /// Reads the counters; returns the next serial numbers of a name and of an opening.
    fn take_counters(&mut self, from: &mut &[u8]) -> Option<[u64; 2]> {
        self.refused = u64::take(from)?;
        self.rewritten = u64::take(from)?;
        self.unsolicited = u64::take(from)?;
        let next = [u64::take(from)?, u64::take(from)?];
        let mut numbers = [self.refused, self.rewritten, self.unsolicited]
            .into_iter()
            .chain(next);
        let may_be = numbers.all(|number| number <= COUNT_MAX) && !next.contains(&0);
        may_be.then_some(next)
    }

    /// Changes the limits. When the new limits leave less room, names that may be forgotten are forgotten. The form of
    /// a venue's ids ends when it is longer than the new `max_id`; then the common form applies until
    /// [`set_venue`](Self::set_venue) sets another one.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Room`] and [`CheckpointError::Config`]; in both cases nothing has changed.
    pub fn reconfigure(&mut self, config: OrdersConfig) -> Result<(), CheckpointError> {
        let mut fewer = self.clone();
        while fewer.book.len() > config.max_orders as usize && fewer.book.forget_oldest() {}
        let mut bytes = Vec::new();
        fewer.write(&mut bytes);
        let mut other = Self::read(&bytes, config)?;
        for (new, old) in other.venues.iter_mut().zip(&self.venues) {
            new.rewriting = old.rewriting.filter(|ids| ids.max_len() <= config.max_id);
        }
        *self = other;
        Ok(())
    }

    /// Writes a checkpoint.
    pub(crate) fn put(&self, to: &mut impl Put) {
        let book = &self.book;
        for number in [
            self.refused,
            self.rewritten,
            self.unsolicited,
            book.next_number,
            book.next_opened,
        ] {
            number.put(to);
        }
        (self.venues.len() as u32).put(to);
        for venue in &self.venues {
            venue.id.0.put(to);
            venue.next.put(to);
        }
        (book.len() as u32).put(to);
        for queue in Queue::ALL {
            for place in book.queue(queue) {
                self.saved(queue, place).put(to);
            }
        }
    }

    fn saved(&self, queue: Queue, place: u32) -> SavedName<'_> {
        let name = self.book.name(place);
        // A link to a forgotten name is written as 0.
        let number = |link: Link| self.book.follow(link).map_or(0, |_| link.number);
        let found_by = By::ALL.iter().rev().fold(0, |bits, by| {
            bits << 1 | u8::from(self.book.is_indexed(place, *by))
        });
        let has_order_id = self.book.is_indexed(place, By::OrderId);
        SavedName {
            number: name.number,
            client: name.client.0,
            venue: name.venue.0,
            kind: name.kind,
            purpose: name.purpose,
            state: name.state,
            queue,
            began: name.began,
            touched: name.touched,
            // The serial number of the opening is used only while the name is open.
            opened: if name.state.is_open() { name.opened } else { 0 },
            before: number(name.before),
            chain: self.book.chain_id(place),
            within: number(self.book.within(place)),
            found_by: found_by | u8::from(name.is_answered) << ANSWERED,
            client_id: self.book.id(place, By::Client),
            venue_id: self.book.id(place, By::Venue),
            order_id: if has_order_id {
                self.book.id(place, By::OrderId)
            } else {
                &[]
            },
        }
    }
}
