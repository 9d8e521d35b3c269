//! What is wrong with a configuration, in words for whoever wrote it.

use std::fmt;

use fixwire_protocol::FramingError;

use super::LONGEST_ID;
use crate::log::LogError;

/// Why an [`EngineConfig`](super::EngineConfig) cannot work.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no session.
    NoSession,
    /// Logs are made from the journal, and there is none to make them from.
    LogWithoutJournal,
    /// A log cannot be as it is configured.
    Log(LogError),
    /// Two logs are of this kind.
    LogTwice(&'static str),
    /// Two sessions have this name.
    NameTwice(String),
    /// Two acceptor sessions cannot be told apart by their Logon.
    IdentityTwice(String, String),
    /// Two sessions share a port and differ in TLS, load balancers or SO_REUSEADDR.
    TransportDiffers(String, String),
    /// A session is configured as one role and connects as the other.
    Role(String),
    /// This session is an acceptor, and its Logon is to be signed.
    AcceptorSigns(String),
    /// An initiator without a host to connect to.
    NoHost(String),
    /// A rate of this session lets nothing through, or more than one message in a nanosecond.
    Rate(String),
    /// A CompID, SubID or LocationID of this session is too long or has other characters than printable
    /// ASCII.
    Id(String),
    /// A link has no name, or one that the journal keeps for itself.
    LinkName(String),
    /// The frames of this link cannot be as it is configured.
    Framing(String, FramingError),
    /// The longest frame of this link is longer than the longest message: both in bytes.
    FrameTooLong(String, usize, usize),
    /// This link accepts connections with TLS or from load balancers, which only FIX sessions can.
    LinkTransport(String),
    /// This link listens where this other link or session does.
    LinkPort(String, String),
    /// A panic of the application is to be answered in this session, and the application says that it
    /// does not survive one.
    Panics(String),
    /// A size or count is outside its range.
    OutOfRange {
        /// The field of the configuration.
        what: &'static str,
        /// What it is.
        value: u64,
        /// The least it may be.
        least: u64,
        /// The most it may be.
        most: u64,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSession => f.write_str("no session is configured"),
            Self::Panics(name) => write!(
                f,
                "session {name}: a panic cannot be answered (RejectMessageOnUnhandledException), since this \
                 application's state would not be taken back with its messages: leave the setting out"
            ),
            Self::AcceptorSigns(name) => write!(
                f,
                "session {name}: an acceptor signs no Logon: leave its signature out"
            ),
            Self::LogWithoutJournal => f.write_str(
                "message logs are made from the journal, which durability `memory` does not have",
            ),
            Self::Log(error) => write!(f, "{error}"),
            Self::LogTwice(kind) => write!(f, "two logs are of the kind `{kind}`: one is possible"),
            Self::NameTwice(name) => write!(f, "two sessions are named {name}"),
            Self::IdentityTwice(a, b) => {
                write!(
                    f,
                    "sessions {a} and {b} have the same BeginString, CompIDs and port"
                )
            }
            Self::TransportDiffers(a, b) => {
                write!(
                    f,
                    "sessions {a} and {b} share a port, so they need the same TLS settings, load \
                     balancers and SocketReuseAddress"
                )
            }
            Self::Role(name) => {
                write!(
                    f,
                    "session {name} is an acceptor in one place and an initiator in another"
                )
            }
            Self::NoHost(name) => write!(f, "session {name} has no host to connect to"),
            Self::Rate(name) => write!(
                f,
                "session {name} has a rate that is zero, or more than one message in a nanosecond"
            ),
            Self::Id(name) => write!(
                f,
                "session {} has a CompID, SubID or LocationID that is longer than {LONGEST_ID} bytes or not \
                 printable ASCII",
                name.escape_debug()
            ),
            Self::LinkName(name) => write!(
                f,
                "a link cannot be named `{}`: use for example TMP:OWN->PEER",
                name.escape_debug()
            ),
            Self::Framing(name, error) => write!(f, "link {name}: {error}"),
            Self::FrameTooLong(name, most, limit) => write!(
                f,
                "link {name} has frames of up to {most} bytes, more than max_message, which is {limit}"
            ),
            Self::LinkTransport(name) => write!(
                f,
                "link {name} accepts connections, and cannot do so with TLS or behind load balancers"
            ),
            Self::LinkPort(name, other) => write!(
                f,
                "link {name} listens at the address of {other}: a link needs one of its own"
            ),
            Self::OutOfRange {
                what,
                value,
                least,
                most,
            } => {
                write!(f, "{what} is {value}, but must be {least} to {most}")
            }
        }
    }
}

impl std::error::Error for ConfigError {}
