//! The state of a session: its phases. Some contain further states.

use super::liveness::Pulse;
use super::sequence::Inbound;
use super::verdict::DisconnectReason;
use crate::Mono;

/// The phase of a session. State that exists in only one phase is stored inside this phase.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Phase {
    /// No connection.
    Down,
    /// An acceptor is connected, and the peer's Logon has not arrived.
    AwaitingLogon {
        /// When we close the connection.
        until: Mono,
    },
    /// An initiator has written its Logon, and the peer's Logon has not arrived.
    LogonSent {
        /// When we close the connection.
        until: Mono,
    },
    /// Both Logons have been exchanged.
    LoggedOn(LoggedOn),
    /// The peer has violated the protocol and was sent our Logout. Only the peer's Logout is handled now.
    Refusing {
        /// When we close the connection if the peer's Logout does not arrive.
        until: Mono,
    },
    /// The engine was asked to close the connection. Further input is ignored.
    Closing {
        /// Why.
        reason: DisconnectReason,
    },
}

/// A session that is logged on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LoggedOn {
    /// How long each side has been silent.
    pub pulse: Pulse,
    /// The gap in the messages of the peer.
    pub inbound: Inbound,
    /// Our request that the peer has not answered.
    pub exchange: PendingReply,
}

/// A request of ours that the peer answers with a message of the same type.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PendingReply {
    /// None is open.
    Settled,
    /// We have sent a Logon with ResetSeqNumFlag(141), and the peer's sequence numbers are not reset yet.
    Reset {
        /// When we close the connection if the answer does not arrive.
        until: Mono,
    },
    /// We have sent a Logout. Messages are still accepted until the peer's Logout arrives.
    Logout {
        /// When we close the connection if the answer does not arrive.
        until: Mono,
    },
}

impl PendingReply {
    /// The time at which we stop waiting for the answer.
    #[must_use]
    pub fn until(self) -> Mono {
        match self {
            Self::Settled => Mono(u64::MAX),
            Self::Reset { until } | Self::Logout { until } => until,
        }
    }
}
