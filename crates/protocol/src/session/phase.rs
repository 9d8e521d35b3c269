//! Where the conversation with the peer stands.

use super::liveness::Pulse;
use super::sequence::Inbound;
use super::verdict::Reason;
use crate::Mono;

/// Where the conversation stands. What is only true in one phase lives inside it.
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
    /// We told the engine to close the connection; nothing is looked at any more.
    Closing {
        /// Why.
        reason: Reason,
    },
}

/// A session that is up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LoggedOn {
    /// Who has been silent for how long.
    pub pulse: Pulse,
    /// What is missing from the peer.
    pub inbound: Inbound,
    /// What we have asked the peer for and not got yet.
    pub exchange: Exchange,
}

/// A request of ours that the peer answers with the same MsgType.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Exchange {
    /// None is open.
    Settled,
    /// Our Logon with ResetSeqNumFlag(141) is out, and the peer's sequence numbers have not restarted yet.
    Reset {
        /// When we close the connection without the answer.
        until: Mono,
    },
    /// Our Logout is out; messages are still taken until the peer's comes.
    Logout {
        /// When we close the connection without the answer.
        until: Mono,
    },
}

impl Exchange {
    /// When we stop waiting for the answer.
    #[must_use]
    pub fn until(self) -> Mono {
        match self {
            Self::Settled => Mono(u64::MAX),
            Self::Reset { until } | Self::Logout { until } => until,
        }
    }
}
