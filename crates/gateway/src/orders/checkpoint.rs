//! Saves all orders as bytes, and restores them.
//!
//! ```text
//! "FWORDERS"  version u32  length u64  |  body of that length  |  SipHash-2-4 of all before u64
//!
//! body   = counters  count u32, venue...   count u32, name...
//! venue  = session u32  next number u64
//! name   = number u64  client u32  venue u32  kind u8  purpose u8  state u8  list u8
//!          began i64  touched i64  opened u64  before u64  chain u64  within u64  found-by and answered bits u8
//!          three ids: length u8, bytes
//! ```
//!
//! Numbers are little-endian. Names are in the order of their lists, in which they are forgotten; they refer to
//! each other by number, 0 is none.

use alloc::vec::Vec;
use core::fmt;
use core::hash::Hasher;

use fixwire_protocol::{SessionId, Timestamp};
use siphasher::sip::SipHasher24;

use super::book::{ANSWERED, By, Link, Purpose, Queue, Saved, State};
use super::table::IdKind;
use super::{OrderTracker, OrdersConfig, OrdersError, Venue};

const MAGIC: &[u8; 8] = b"FWORDERS";
/// The version of the body.
const VERSION: u32 = 1;
const HEADER: usize = 8 + 4 + 8;
const SUM: usize = 8;
/// Length of a name without its ids, in bytes.
const NAME: usize = 8 + 4 + 4 + 4 + 6 * 8 + 1 + 3;
/// Maximum of a restored counter, so that counting cannot overflow.
const COUNT_MAX: u64 = 1 << 62;

const QUEUES: [Queue; 3] = [Queue::Open, Queue::Held, Queue::Closed];
const PURPOSES: [Purpose; 4] = [
    Purpose::Order,
    Purpose::Replace,
    Purpose::Cancel,
    Purpose::Request,
];
const STATES: [State; 4] = [State::Pending, State::Live, State::Replaced, State::Ended];

/// Why bytes are not a checkpoint, or do not fit these limits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The bytes do not begin as a checkpoint.
    NotOne,
    /// An unknown version.
    Version {
        /// The version of the checkpoint.
        version: u32,
    },
    /// The checkpoint is cut off, or bytes follow it.
    Length,
    /// The checksum is wrong.
    Sum,
    /// The checksum is right, but the content is invalid.
    Content,
    /// More names, more venues or longer ids than the limits allow.
    Room,
    /// The limits are invalid.
    Config(OrdersError),
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOne => f.write_str("not a checkpoint of orders"),
            Self::Version { version } => write!(
                f,
                "checkpoint has version {version}, and this build reads version {VERSION}"
            ),
            Self::Length => f.write_str("checkpoint length does not match its header"),
            Self::Sum => f.write_str("checkpoint is damaged"),
            Self::Content => f.write_str("checkpoint is inconsistent"),
            Self::Room => f.write_str("checkpoint exceeds the configured limits"),
            Self::Config(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for CheckpointError {}

impl OrderTracker {
    /// A hash of the state: equal for two [`OrderTracker`]s that will answer all calls alike; others differ,
    /// except by a chance of 1 in 2^64. Allocates nothing; takes as long as writing a checkpoint.
    #[must_use]
    pub fn state_hash(&self) -> u64 {
        let mut hasher = SipHasher24::new();
        self.put(&mut |bytes| hasher.write(bytes));
        hasher.finish()
    }

    /// Appends a checkpoint to the bytes. [`OrdersConfig`] and the forms of [`set_venue`](Self::set_venue) are not
    /// in it.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&[0; 8]);
        self.put(&mut |part| bytes.extend_from_slice(part));
        let length = (bytes.len() - start - HEADER) as u64;
        bytes[start + 12..start + HEADER].copy_from_slice(&length.to_le_bytes());
        let sum = SipHasher24::new().hash(&bytes[start..]);
        bytes.extend_from_slice(&sum.to_le_bytes());
    }

    /// Makes an [`OrderTracker`] from a checkpoint. Sessions have the numbers that they had when it was written.
    ///
    /// # Errors
    ///
    /// See [`CheckpointError`]. Damaged bytes never become other orders.
    pub fn read(bytes: &[u8], config: OrdersConfig) -> Result<Self, CheckpointError> {
        let mut body = body(bytes)?;
        let orders = Self::take(&mut body, config)?;
        if !body.is_empty() {
            return Err(CheckpointError::Length);
        }
        Ok(orders)
    }

    /// Takes [`OrderTracker`] from the beginning of bytes, where [`put`](Self::put) wrote them.
    pub(crate) fn take(bytes: &mut &[u8], config: OrdersConfig) -> Result<Self, CheckpointError> {
        let mut orders = Self::new(config).map_err(CheckpointError::Config)?;
        let mut parts = Parts(bytes);
        orders.refused = parts.u64()?;
        orders.rewritten = parts.u64()?;
        orders.unsolicited = parts.u64()?;
        let next_number = parts.u64()?;
        let next_opened = parts.u64()?;
        let counts = [orders.refused, orders.rewritten, orders.unsolicited];
        let mut numbers = counts.into_iter().chain([next_number, next_opened]);
        if numbers.any(|number| number > COUNT_MAX) || next_number == 0 || next_opened == 0 {
            return Err(CheckpointError::Content);
        }
        let venues = parts.u32()?;
        if venues > config.max_sessions {
            return Err(CheckpointError::Room);
        }
        for _ in 0..venues {
            let venue = Venue {
                id: SessionId(parts.u32()?),
                next: parts.u64()?,
                rewriting: None,
            };
            if venue.next == 0 || orders.venues.last().is_some_and(|last| last.id >= venue.id) {
                return Err(CheckpointError::Content);
            }
            orders.venues.push(venue);
        }
        let names = parts.u32()?;
        if names > config.max_orders {
            return Err(CheckpointError::Room);
        }
        if names as usize > parts.0.len() / NAME {
            return Err(CheckpointError::Length);
        }
        let mut saved = Vec::with_capacity(names as usize);
        for _ in 0..names {
            let name = parts.name()?;
            if name.ids.iter().any(|id| id.len() > config.max_id) {
                return Err(CheckpointError::Room);
            }
            saved.push(name);
        }
        *bytes = parts.0;
        orders
            .book
            .restore(&saved, next_number, next_opened)
            .ok_or(CheckpointError::Content)?;
        Ok(orders)
    }

    /// Changes the limits. Without room, names that may be forgotten are forgotten.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Room`] and [`CheckpointError::Config`]; then nothing has changed.
    pub fn reconfigure(&mut self, config: OrdersConfig) -> Result<(), CheckpointError> {
        let mut fewer = self.clone();
        while fewer.book.len() > config.max_orders as usize && fewer.book.forget_oldest() {}
        let mut bytes = Vec::new();
        fewer.write(&mut bytes);
        let mut other = Self::read(&bytes, config)?;
        for (new, old) in other.venues.iter_mut().zip(&self.venues) {
            new.rewriting = old.rewriting;
        }
        let longest = other.venues.iter().filter_map(|venue| venue.rewriting);
        if longest.into_iter().any(|ids| ids.max_len() > config.max_id) {
            return Err(CheckpointError::Config(OrdersError::MaxLen));
        }
        *self = other;
        Ok(())
    }

    /// Writes the body of a checkpoint in pieces.
    pub(crate) fn put(&self, put: &mut impl FnMut(&[u8])) {
        let book = &self.book;
        for number in [
            self.refused,
            self.rewritten,
            self.unsolicited,
            book.next_number,
            book.next_opened,
        ] {
            put(&number.to_le_bytes());
        }
        put(&(self.venues.len() as u32).to_le_bytes());
        for venue in &self.venues {
            put(&venue.id.0.to_le_bytes());
            put(&venue.next.to_le_bytes());
        }
        put(&(book.len() as u32).to_le_bytes());
        for queue in QUEUES {
            for place in book.queue(queue) {
                self.put_name(queue, place, put);
            }
        }
    }

    fn put_name(&self, queue: Queue, place: u32, put: &mut impl FnMut(&[u8])) {
        let name = self.book.name(place);
        // A link to what is forgotten is none.
        let number = |link: Link| self.book.follow(link).map_or(0, |_| link.number);
        let found_by = By::ALL.iter().rev().fold(0, |bits, by| {
            bits << 1 | u8::from(self.book.is_indexed(place, *by))
        });
        put(&name.number.to_le_bytes());
        put(&name.client.0.to_le_bytes());
        put(&name.venue.0.to_le_bytes());
        put(&[
            name.kind as u8,
            name.purpose as u8,
            name.state as u8,
            queue as u8,
        ]);
        put(&name.began.0.to_le_bytes());
        put(&name.touched.0.to_le_bytes());
        // When it was opened is of no use once it is closed.
        let opened = if name.state.is_open() { name.opened } else { 0 };
        put(&opened.to_le_bytes());
        put(&number(name.before).to_le_bytes());
        put(&self.book.chain_id(place).to_le_bytes());
        put(&number(self.book.within(place)).to_le_bytes());
        put(&[found_by | u8::from(name.is_answered) << ANSWERED]);
        for by in By::ALL {
            let found = by != By::OrderId || self.book.is_indexed(place, by);
            let id = if found { self.book.id(place, by) } else { &[] };
            put(&[id.len() as u8]);
            put(id);
        }
    }
}

/// The part between header and checksum.
fn body(bytes: &[u8]) -> Result<&[u8], CheckpointError> {
    let mut header = Parts(bytes);
    if header.take(8).ok() != Some(MAGIC) {
        return Err(CheckpointError::NotOne);
    }
    let version = header.u32()?;
    if version != VERSION {
        return Err(CheckpointError::Version { version });
    }
    let length = header.u64()?;
    if (header.0.len() as u64).checked_sub(SUM as u64) != Some(length) {
        return Err(CheckpointError::Length);
    }
    let (summed, sum) = bytes.split_at(bytes.len() - SUM);
    if SipHasher24::new().hash(summed).to_le_bytes() != *sum {
        return Err(CheckpointError::Sum);
    }
    Ok(&summed[HEADER..])
}

/// Reads the remaining bytes.
struct Parts<'a>(&'a [u8]);

impl<'a> Parts<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], CheckpointError> {
        let (taken, rest) = self
            .0
            .split_at_checked(len)
            .ok_or(CheckpointError::Length)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], CheckpointError> {
        let taken = self.take(N)?;
        taken.try_into().map_err(|_| CheckpointError::Length)
    }

    fn u8(&mut self) -> Result<u8, CheckpointError> {
        self.array().map(u8::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, CheckpointError> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, CheckpointError> {
        self.array().map(u64::from_le_bytes)
    }

    /// The value with this number.
    fn one_of<T: Copy>(&mut self, all: &[T]) -> Result<T, CheckpointError> {
        let number = usize::from(self.u8()?);
        all.get(number).copied().ok_or(CheckpointError::Content)
    }

    fn id(&mut self) -> Result<&'a [u8], CheckpointError> {
        let len = self.u8()?;
        self.take(usize::from(len))
    }

    fn name(&mut self) -> Result<Saved<'a>, CheckpointError> {
        Ok(Saved {
            number: self.u64()?,
            client: SessionId(self.u32()?),
            venue: SessionId(self.u32()?),
            kind: self.one_of(&IdKind::ALL)?,
            purpose: self.one_of(&PURPOSES)?,
            state: self.one_of(&STATES)?,
            queue: self.one_of(&QUEUES)?,
            began: Timestamp(self.u64()? as i64),
            touched: Timestamp(self.u64()? as i64),
            opened: self.u64()?,
            before: self.u64()?,
            chain: self.u64()?,
            within: self.u64()?,
            found_by: self.u8()?,
            ids: [self.id()?, self.id()?, self.id()?],
        })
    }
}
