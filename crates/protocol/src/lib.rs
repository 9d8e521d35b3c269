//! The FIX protocol: encoding, dictionaries and sessions, as functions of bytes and time.
//!
//! Nothing in this crate reads a clock, a socket or a file, starts a thread, or panics on what a peer has sent. The
//! crate is `no_std`, so the compiler proves that it uses no clock, socket, file or thread.
#![no_std]
#![forbid(unsafe_code)]

#[doc(hidden)]
pub extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod application;
pub mod decimal;
pub mod decode;
pub mod dictionary;
mod forward;
pub mod frame;
pub mod framing;
pub mod group;
pub mod ledger;
pub mod limit;
pub mod logon_signer;
pub mod message;
pub mod operator;
pub mod outbox;
pub mod prepared;
mod put;
pub mod readable;
pub mod redact;
pub mod repeat;
pub mod secret;
pub mod session;
pub mod tag;
pub mod time;
pub mod typed;
pub mod value;

pub use application::{Application, DiskRoom, Link, OperatorCommand, Parting, PeerLogout, Refusal};
pub use decimal::{Decimal, DecimalError};
pub use decode::{Decoder, FaultKind, FieldFault};
pub use dictionary::Dictionary;
pub use frame::{Frame, Garbled};
pub use framing::{BadFrame, FrameCheck, Framed, Framing, FramingError, Hangup};
pub use group::{Group, GroupEntry};
pub use ledger::Ledger;
pub use limit::MessageLimit;
pub use logon_signer::LogonSigner;
pub use message::{Field, Indexed, Message, MessageMarks, SECRETS};
pub use operator::{OperatorRight, OperatorRights, Permission};
pub use outbox::{
    AdminOut, AdminOutError, Body, BodyError, Entry, HeaderTemplate, MsgSeqNumSource, Outbox,
};
pub use prepared::{Prepared, Slot};
pub use redact::Redactor;
pub use repeat::RepeatError;
pub use secret::Secret;
pub use session::Session;
pub use tag::Tag;
pub use time::{Mono, Nanos, Now, Precision, TimeError, Timestamp, TimestampWriter};
pub use value::ValueError;

/// A session of the engine. The value is an index into the engine's sessions: first those of the configuration, then
/// those that were added while it runs.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SessionId(pub u32);

impl SessionId {
    /// The id of the first link, which exchanges frames. The ids of links begin here, so that FIX sessions can be
    /// added while the engine runs.
    pub const FIRST_LINK: Self = Self(1 << 31);

    /// The id of the link with this index among the links of the configuration. A link exchanges frames.
    #[must_use]
    pub const fn of_link(link: u32) -> Self {
        Self(Self::FIRST_LINK.0 | link)
    }

    /// The index of the link; `None` for a FIX session.
    #[inline]
    #[must_use]
    pub const fn link(self) -> Option<usize> {
        // The last id belongs to no session. Notes have this id.
        if self.0 < Self::FIRST_LINK.0 || self.0 == u32::MAX {
            return None;
        }
        Some((self.0 - Self::FIRST_LINK.0) as usize)
    }
}

/// The byte that ends each field.
pub const SOH: u8 = 1;
