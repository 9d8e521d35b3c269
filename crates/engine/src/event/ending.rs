//! Why the connection of a session ended.

use std::fmt;
use std::io;

use fixwire_protocol::session::DisconnectReason;
use fixwire_protocol::{BadFrame, Nanos};

use super::SystemError;
use super::refusal::Seconds;
use crate::bucket::Rate;
use crate::tls::TlsFailure;

/// Why the connection of a session ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Ending {
    /// The session disconnected.
    Session(DisconnectReason),
    /// The peer closed the connection.
    ClosedByPeer,
    /// The system reported an error of the connection.
    Io(SystemError),
    /// TLS failed.
    Tls(TlsFailure),
    /// The peer announced a message longer than the limit.
    TooLarge {
        /// Length of the message, bytes.
        bytes: u64,
        /// `max_message`, bytes.
        most: usize,
    },
    /// Slow consumer: too many bytes waited for the peer. The journal keeps the messages.
    SlowReader {
        /// Number of waiting bytes.
        bytes: u64,
        /// Maximum number of waiting bytes (`lag_bytes`).
        most: u64,
    },
    /// Slow consumer: the peer read nothing for this time while bytes waited for it. The journal keeps the messages.
    Stalled(Nanos),
    /// The peer exceeded its inbound rate limit.
    Throttled(Rate),
    /// The message with this MsgSeqNum, which waited for the peer, is no longer stored.
    NotStored(u64),
    /// The message with this MsgSeqNum, which the peer had requested or which waited for the peer, could not be read
    /// from the journal. An event has reported why.
    NotRead(u64),
    /// Data received on a link is not a frame.
    BadFrame {
        /// Number of bytes that the connection had received before the data.
        at: u64,
        /// The fault.
        why: BadFrame,
    },
    /// The application closed the connection of a link, for this reason.
    Application(&'static str),
    /// An operator closed the connection.
    Operator,
    /// Another connection has logged on for the session.
    Replaced,
    /// The engine is stopping.
    Stopping,
}

impl Ending {
    /// Whether the text of the last Logout or Reject explains the end of the connection.
    pub(crate) fn is_explained(self) -> bool {
        match self {
            Self::Session(reason) => !matches!(
                reason,
                DisconnectReason::LoggedOut | DisconnectReason::PeerSilent
            ),
            _ => false,
        }
    }

    /// Converts an error of the host.
    pub(crate) fn of(error: &io::Error) -> Self {
        TlsFailure::of(error).map_or(Self::Io(error.into()), Self::Tls)
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session(reason) => write!(f, "{reason}"),
            Self::ClosedByPeer => f.write_str("connection closed by the peer"),
            Self::Io(error) => write!(f, "{error}"),
            Self::Tls(failure) => write!(f, "{failure}"),
            Self::TooLarge { bytes, most } => write!(
                f,
                "the peer's message of {bytes} bytes is longer than MaxMessageSize ({most} bytes)"
            ),
            Self::SlowReader { bytes, most } => write!(
                f,
                "slow consumer: {bytes} bytes are waiting for the peer, more than MaxSendBacklog ({most} bytes); \
                 the journal keeps them"
            ),
            Self::Stalled(time) => write!(
                f,
                "slow consumer: the peer has read nothing for SlowConsumerTimeout ({}); the journal keeps its \
                 messages",
                Seconds(*time)
            ),
            Self::Throttled(rate) => write!(
                f,
                "the peer exceeded its InboundRate ({} messages in {} s, at most {} at once)",
                rate.count,
                rate.per.as_secs_f64(),
                rate.burst
            ),
            Self::NotStored(seq) => {
                write!(f, "message {seq} to the peer is no longer in the journal")
            }
            Self::NotRead(seq) => write!(f, "stored message {seq} to the peer could not be read"),
            Self::BadFrame { at, why } => {
                write!(f, "bad frame at byte {at} of the connection: {why}")
            }
            Self::Application(why) => write!(f, "closed by the application: {why}"),
            Self::Operator => f.write_str("closed by an operator"),
            Self::Replaced => {
                f.write_str("replaced by a new connection of the peer (DuplicateLogon)")
            }
            Self::Stopping => f.write_str("the engine is stopping"),
        }
    }
}
