//! The return path: which client an answer of a venue is for.
//!
//! [`Orders`] sees each message that goes to a venue and each that comes from one. It remembers whose
//! order and whose question stands behind each id, gives ids of two clients that collide different
//! texts at the venue, and writes each client's own ids into the answers again. Which ids in which
//! messages: [`table`].
//!
//! The same calls in the same order give the same answers, the same ids and the same
//! [`state_hash`](Orders::state_hash).

mod book;
mod checkpoint;
mod guard;
mod inbound;
pub mod known;
mod lifecycle;
mod outbound;
mod rewrite;
pub mod table;

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use core::fmt;

use fixwire_protocol::{Nanos, SessionId, Tag};

use book::Book;
pub(crate) use checkpoint::BODY_VERSION;
pub use checkpoint::CheckpointError;
pub use inbound::Heard;
pub use rewrite::{Rewriting, When};

/// Limits and habits of [`Orders`]. Not part of a checkpoint.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OrdersConfig {
    /// The most ids that are remembered: one for each order, replacement, cancel and question. Memory
    /// is about 180 bytes and three times `max_id` for each.
    pub max_orders: u32,
    /// The most venue sessions.
    pub max_sessions: u32,
    /// The most bytes of an id of a client, 1 to 255. A longer OrderID(37) of a venue is not learned.
    pub max_id: usize,
    /// How ids look at a venue for which [`Orders::set_venue`] says nothing else.
    pub rewriting: Rewriting,
    /// After how long without a report an open order may be forgotten when there is no room. `None`
    /// is never; with it, orders whose end no venue reports take room for ever.
    pub forget_quiet: Option<Nanos>,
    /// The key of the hash tables. No answer depends on it; when clients do not know it, they cannot
    /// choose ids that make look-ups slow.
    pub hash_key: [u8; 16],
}

/// What [`Orders::outbound`] found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Out {
    /// It begins something that is now remembered.
    New,
    /// PossResend(97)=Y, and all that it begins is remembered: it has the ids that it had then. Only
    /// the caller knows whether the venue has it.
    Again,
    /// This client has an open order of this ClOrdID at this venue. The message is as it was.
    Duplicate,
    /// It only names what began earlier.
    Names,
    /// It has no id that is to come back.
    Other,
}

/// Why a message cannot go out, or why there are no [`Orders`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum OrdersError {
    /// As many ids are remembered as may be, and too few may be forgotten.
    Full,
    /// As many venue sessions are known as may be.
    TooManySessions,
    /// The message begins something, without an id for it.
    NoId,
    /// The id in this field is longer than [`OrdersConfig::max_id`].
    IdTooLong {
        /// The field.
        tag: Tag,
    },
    /// The id in this field names no order of the client, and none of the client's own ids does.
    UnknownOrder {
        /// The field.
        tag: Tag,
    },
    /// All ids have been written that there are behind this prefix.
    IdsUsedUp,
    /// A prefix is too long, or has a byte that does not belong into an id.
    Prefix,
    /// The most bytes of an id at a venue leave no room for one, or are more than `max_id`.
    MaxLen,
    /// [`OrdersConfig::max_id`] is none of 1 to 255.
    MaxId,
}

impl fmt::Display for OrdersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("no room for another order"),
            Self::TooManySessions => f.write_str("no room for another venue"),
            Self::NoId => f.write_str("message without an id"),
            Self::IdTooLong { tag } => write!(f, "id in field {tag} is too long"),
            Self::UnknownOrder { tag } => {
                write!(f, "id in field {tag} names no order of this client")
            }
            Self::IdsUsedUp => f.write_str("no ids are left behind this prefix"),
            Self::Prefix => f.write_str("prefix is not up to 8 visible characters without '='"),
            Self::MaxLen => f.write_str("length of ids does not fit"),
            Self::MaxId => f.write_str("longest id is not of 1 to 255 bytes"),
        }
    }
}

impl core::error::Error for OrdersError {}

/// What is counted.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct OrdersCounters {
    /// Orders that may trade or wait for an answer, now.
    pub live: u64,
    /// Ids that are remembered, now.
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
    /// The number in the next id that is written for it.
    next: u64,
    /// `None` for the common one.
    rewriting: Option<Rewriting>,
}

/// Whose order and whose question stands behind each id at each venue.
#[derive(Clone, Debug)]
pub struct Orders {
    config: OrdersConfig,
    book: Book,
    /// By id.
    venues: Vec<Venue>,
    refused: u64,
    rewritten: u64,
    unsolicited: u64,
}

impl Orders {
    /// Empty ones, with all the memory that they will have.
    ///
    /// # Errors
    ///
    /// [`OrdersError::MaxId`], and [`OrdersError::MaxLen`] when rewritten ids are longer than that.
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
            config,
            refused: 0,
            rewritten: 0,
            unsolicited: 0,
        })
    }

    /// Says how ids look at this venue from now on; `None` as at all others.
    ///
    /// # Errors
    ///
    /// [`OrdersError::TooManySessions`]; [`OrdersError::MaxLen`] when they are longer than `max_id`.
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

    /// What is counted.
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

    /// The place of a venue, which is known from now on.
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
