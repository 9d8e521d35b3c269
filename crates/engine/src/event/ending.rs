//! Why the connection of a session has ended.

use std::fmt;
use std::io;

use fixwire_protocol::BadFrame;
use fixwire_protocol::session::DisconnectReason;

use super::SystemError;
use crate::tls::TlsFailure;

/// Why the connection of a session has ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Ending {
    /// The session ended it.
    Session(DisconnectReason),
    /// The peer closed it.
    ClosedByPeer,
    /// The system ended it.
    Io(SystemError),
    /// TLS ended it.
    Tls(TlsFailure),
    /// A message of this many bytes was announced, more than `max_message`.
    TooLarge(u64),
    /// Slow consumer: so many bytes were waiting for the peer. The journal keeps them.
    SlowReader(u64),
    /// Slow consumer: the peer read nothing for too long although bytes waited for it. The journal keeps them.
    Stalled,
    /// The peer exceeded its inbound rate limit.
    Throttled,
    /// A message that waits for the peer is no longer stored.
    NotStored(u64),
    /// A message that the peer asks for, or that waits for it, could not be read from the journal: an event has
    /// said why.
    NotRead(u64),
    /// Bytes that arrived on a link are not a frame.
    BadFrame {
        /// Where it begins: bytes that the peer had sent over this connection before it.
        at: u64,
        /// The fault.
        why: BadFrame,
    },
    /// The application ended the connection of a link, for this reason.
    Application(&'static str),
    /// An operator closed it.
    Operator,
    /// Another connection has logged on for the session.
    Replaced,
    /// The engine is stopping.
    Stopping,
}

impl Ending {
    /// The text of the last Logout or Reject explains it.
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
            Self::TooLarge(bytes) => {
                write!(f, "the peer's message of {bytes} bytes is longer than MaxMessageSize")
            }
            Self::SlowReader(bytes) => {
                write!(
                    f,
                    "slow consumer: {bytes} bytes are waiting for the peer, more than MaxSendBacklog; the journal \
                     keeps them"
                )
            }
            Self::Stalled => f.write_str(
                "slow consumer: the peer has read nothing for SlowConsumerTimeout; the journal keeps its messages",
            ),
            Self::Throttled => f.write_str("the peer exceeded its InboundRate"),
            Self::NotStored(seq) => write!(f, "message {seq} to the peer is no longer in the journal"),
            Self::NotRead(seq) => write!(f, "stored message {seq} to the peer could not be read"),
            Self::BadFrame { at, why } => write!(f, "bad frame at byte {at} of the connection: {why}"),
            Self::Application(why) => write!(f, "closed by the application: {why}"),
            Self::Operator => f.write_str("closed by an operator"),
            Self::Replaced => f.write_str("replaced by a new connection of the peer (DuplicateLogon)"),
            Self::Stopping => f.write_str("the engine is stopping"),
        }
    }
}
