//! FIX itself: bytes, dictionaries and the session, as functions of bytes and time.
//!
//! Nothing here reads a clock, a socket or a file, starts a thread or panics on what a peer sent;
//! `no_std` lets the compiler prove the first half.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod application;
pub mod decimal;
pub mod decode;
pub mod dictionary;
pub mod frame;
pub mod message;
pub mod outbox;
pub mod session;
pub mod tag;
pub mod time;

pub use application::{Application, Refusal};
pub use decimal::Decimal;
pub use decode::Decoder;
pub use dictionary::Dictionary;
pub use message::{Field, Message};
pub use outbox::{Body, Outbox};
pub use session::Session;
pub use tag::Tag;
pub use time::{Mono, Nanos, Now, Timestamp};

/// Which session of the engine: an index into its sessions, given out when they are configured.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SessionId(pub u32);

/// The byte between fields.
pub const SOH: u8 = 1;
