//! The state of a session: its nested phases.

use super::liveness::Pulse;
use super::sequence::Inbound;
use super::verdict::DisconnectReason;
use crate::Mono;

/// The phase of a session. State that exists in one phase only lives inside it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Phase {
    /// No connection.
    Down,
    /// Acceptor: the peer is connected, its Logon has not come.
    AwaitingLogon {
        /// When we close the connection.
        until: Mono,
    },
    /// Initiator: our Logon is written, the peer's has not come.
    LogonSent {
        /// When we close the connection.
        until: Mono,
    },
    /// Both Logons have been exchanged.
    LoggedOn(LoggedOn),
    /// The peer broke the protocol and has our Logout: only its own Logout is looked at.
    Refusing {
        /// When we close the connection without it.
        until: Mono,
    },
    /// The engine was asked to close the connection; further input is ignored.
    Closing {
        /// Why.
        reason: DisconnectReason,
    },
}

/// A session that is up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LoggedOn {
    /// Who has been silent for how long.
    pub pulse: Pulse,
    /// The gap in the peer's messages.
    pub inbound: Inbound,
    /// Our open request to the peer.
    pub exchange: PendingReply,
}

/// A request of ours that the peer answers with the same MsgType.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PendingReply {
    /// None is open.
    Settled,
    /// Our Logon with ResetSeqNumFlag(141) is sent, and the peer's sequence numbers are not reset yet.
    Reset {
        /// When we close the connection without the answer.
        until: Mono,
    },
    /// Our Logout is sent; messages are still accepted until the peer's comes.
    Logout {
        /// When we close the connection without the answer.
        until: Mono,
    },
}

impl PendingReply {
    /// When we stop waiting for the answer.
    #[must_use]
    pub fn until(self) -> Mono {
        match self {
            Self::Settled => Mono(u64::MAX),
            Self::Reset { until } | Self::Logout { until } => until,
        }
    }
}
