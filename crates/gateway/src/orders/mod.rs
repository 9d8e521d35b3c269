//! The return path: finds the client to which a venue's response belongs.
//!
//! [`OrderTracker`] handles each message to a venue and each message from a venue. The tracker remembers the client and
//! the order or request of each id. The tracker rewrites ids of two clients that collide at a venue, and restores each
//! client's own ids in responses. [`table`] lists the ids in each message type.
//!
//! The same calls in the same order give the same results, the same ids and the same
//! [`state_hash`](OrderTracker::state_hash).

mod book;
mod checkpoint;
mod guard;
mod held;
mod held_at;
mod inbound;
mod kept_limits;
pub mod known;
mod lifecycle;
mod outbound;
mod rewrite;
pub mod table;

#[cfg(test)]
mod model;
#[cfg(test)]
pub(crate) mod tests;

use alloc::vec::Vec;
use core::fmt;

use fixwire_protocol::{Nanos, SessionId, Tag};

use book::{Book, IdHash};
pub use checkpoint::CheckpointError;
pub(crate) use held_at::HeldAt;
pub use inbound::ReportAddressee;
pub use kept_limits::{KeptId, KeptLimits, KeptOrders};
pub use rewrite::{Rewriting, When};

/// Configuration of [`OrderTracker`]. A checkpoint does not contain it.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct OrdersConfig {
    /// Maximum number of ids in memory: one for each order, replace, cancel and other request. Each uses about 180
    /// bytes plus three times `max_id`.
    pub max_orders: u32,
    /// Maximum number of venue sessions.
    pub max_sessions: u32,
    /// Maximum length of a client's id, 1 to 255 bytes. A longer OrderID(37) from a venue is not stored.
    pub max_id: usize,
    /// The form of ids at a venue for which [`OrderTracker::set_venue`] set no other form.
    pub rewriting: Rewriting,
    /// How long an open order must be without a report before it may be forgotten when memory is full. `None`: never;
    /// an order whose end no venue reports then uses memory forever.
    pub forget_quiet: Option<Nanos>,
    /// The key of the hash tables. The key changes no result: it prevents clients, who do not know it, from choosing
    /// ids that make look-ups slow.
    pub hash_key: [u8; 16],
}

/// Shows the configuration without the key of the hash tables.
impl fmt::Debug for OrdersConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OrdersConfig")
            .field("max_orders", &self.max_orders)
            .field("max_sessions", &self.max_sessions)
            .field("max_id", &self.max_id)
            .field("rewriting", &self.rewriting)
            .field("forget_quiet", &self.forget_quiet)
            .finish_non_exhaustive()
    }
}

/// The result of [`OrderTracker::outbound`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Out {
    /// The message is a new request, which is now stored.
    New,
    /// The message has PossResend(97)=Y, and its request is already stored, so the message keeps the ids of the
    /// original. Only the caller knows whether the venue has the original.
    Again,
    /// This client already has an open order with this ClOrdID at this venue. The message is unchanged.
    Duplicate,
    /// The message only refers to earlier requests.
    Names,
    /// The message has no id that a response would refer to.
    Other,
}

/// Why a message cannot be sent, or why [`OrderTracker`] cannot be created.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum OrdersError {
    /// The limit of ids is reached, and too few ids may be forgotten.
    Full,
    /// The limit of venue sessions is reached.
    TooManySessions,
    /// The message is a new request, but lacks the field with the request's id.
    NoId,
    /// The id in this field is longer than [`OrdersConfig::max_id`].
    IdTooLong {
        /// The field.
        tag: Tag,
    },
    /// The id in this field belongs to no order of the client, and the message has no ClOrdID(11) or OrigClOrdID(41)
    /// that identifies an order of the client.
    UnknownOrder {
        /// The field.
        tag: Tag,
    },
    /// All numbers for rewritten ids with this prefix are used.
    IdsUsedUp,
    /// A prefix is too long, or has a byte that an id must not have.
    Prefix,
    /// The maximum length of ids at a venue is too short for the prefix, or is greater than `max_id`.
    MaxLen,
    /// [`OrdersConfig::max_id`] is not in 1 to 255.
    MaxId,
}

impl fmt::Display for OrdersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("the limit of orders is reached"),
            Self::TooManySessions => f.write_str("the limit of venue sessions is reached"),
            Self::NoId => f.write_str("required id is missing"),
            Self::IdTooLong { tag } => write!(f, "id in field {tag} is too long"),
            Self::UnknownOrder { tag } => {
                write!(
                    f,
                    "unknown order: field {tag} names no order of this client"
                )
            }
            Self::IdsUsedUp => f.write_str("all ids with this prefix are used"),
            Self::Prefix => f.write_str("prefix must be at most 8 visible characters, without '='"),
            Self::MaxLen => {
                f.write_str("id_length is too short for the prefix, or greater than max_id")
            }
            Self::MaxId => f.write_str("max_id must be 1 to 255 bytes"),
        }
    }
}

impl core::error::Error for OrdersError {}

/// Counters.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct OrdersCounters {
    /// Current number of orders that may trade or that wait for a response.
    pub live: u64,
    /// Current number of ids in memory.
    pub remembered: u64,
    /// Messages to venues that were refused.
    pub refused: u64,
    /// Ids that were rewritten.
    pub rewritten: u64,
    /// Messages from venues for which no client was found.
    pub unsolicited: u64,
}

/// A venue session.
#[derive(Clone, Copy, Debug)]
struct Venue {
    id: SessionId,
    /// The number in the next rewritten id for the venue.
    next: u64,
    /// The form of ids at the venue; `None` for the common form.
    rewriting: Option<Rewriting>,
}

/// Maps each id at each venue to the client and its order or request.
#[derive(Clone, Debug)]
pub struct OrderTracker {
    config: OrdersConfig,
    book: Book,
    /// Venues, sorted by session id.
    venues: Vec<Venue>,
    /// For each field of the message being handled, the hash of its value. These hashes are not part of the state.
    hashes: Vec<IdHash>,
    refused: u64,
    rewritten: u64,
    unsolicited: u64,
}

impl OrderTracker {
    /// Creates an empty tracker and allocates all memory.
    ///
    /// # Errors
    ///
    /// [`OrdersError::MaxId`], and [`OrdersError::MaxLen`] if rewritten ids are longer than `max_id`.
    pub fn new(config: OrdersConfig) -> Result<Self, OrdersError> {
        if !(1..=255).contains(&config.max_id) {
            return Err(OrdersError::MaxId);
        }
        if config.rewriting.max_len() > config.max_id {
            return Err(OrdersError::MaxLen);
        }
        Ok(Self {
            book: Book::new(config.max_orders, config.max_id, config.hash_key),
            venues: Vec::with_capacity(config.max_sessions as usize),
            hashes: Vec::with_capacity(16),
            config,
            refused: 0,
            rewritten: 0,
            unsolicited: 0,
        })
    }

    /// Sets the form of ids at this venue from now on; `None` for the common form.
    ///
    /// # Errors
    ///
    /// [`OrdersError::TooManySessions`]; [`OrdersError::MaxLen`] when ids of this form are longer than `max_id`.
    pub fn set_venue(
        &mut self,
        venue: SessionId,
        ids: Option<Rewriting>,
    ) -> Result<(), OrdersError> {
        if ids.is_some_and(|ids| ids.max_len() > self.config.max_id) {
            return Err(OrdersError::MaxLen);
        }
        let at = self.venue(venue)?;
        self.venues[at].rewriting = ids;
        Ok(())
    }

    /// Counters.
    #[must_use]
    pub fn counters(&self) -> OrdersCounters {
        OrdersCounters {
            live: self.book.live,
            remembered: self.book.len() as u64,
            refused: self.refused,
            rewritten: self.rewritten,
            unsolicited: self.unsolicited,
        }
    }

    /// Index of a venue; a new venue is added.
    fn venue(&mut self, id: SessionId) -> Result<usize, OrdersError> {
        match self.venues.binary_search_by_key(&id, |venue| venue.id) {
            Ok(at) => Ok(at),
            Err(_) if self.venues.len() >= self.config.max_sessions as usize => {
                Err(OrdersError::TooManySessions)
            }
            Err(at) => {
                let venue = Venue {
                    id,
                    next: 1,
                    rewriting: None,
                };
                self.venues.insert(at, venue);
                Ok(at)
            }
        }
    }
}
