//! Configuration errors, as texts for the author of the configuration.

use std::fmt;

use fixwire_protocol::FramingError;

use super::LONGEST_ID;
use crate::log::LogError;

/// Why an [`EngineConfig`](super::EngineConfig) is invalid.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ConfigError {
    /// No session is configured.
    NoSession,
    /// Logs are written from the journal, but no journal is configured.
    LogWithoutJournal,
    /// A log with an invalid configuration.
    Log(LogError),
    /// Two logs have the same kind.
    LogTwice(&'static str),
    /// Two sessions have the same name.
    NameTwice(String),
    /// A Logon cannot distinguish these two acceptor sessions.
    IdentityTwice(String, String),
    /// Two sessions share a port, but their settings for TLS, load balancers or SO_REUSEADDR differ.
    TransportDiffers(String, String),
    /// The session is configured in one role, but its connection has the other role.
    Role(String),
    /// Logon signatures are configured for this session, but it is an acceptor.
    AcceptorSigns(String),
    /// The initiator has no host to connect to.
    NoHost(String),
    /// A rate limit of this session allows nothing, or more than one message per nanosecond.
    Rate(String),
    /// A CompID, SubID or LocationID of this session is too long, or is not printable ASCII.
    Id(String),
    /// A link has no name, or a name that the journal reserves.
    LinkName(String),
    /// The framing of this link is invalid.
    Framing(String, FramingError),
    /// The longest frame of this link is longer than the longest message. Both values are in bytes.
    FrameTooLong(String, usize, usize),
    /// This link accepts connections with TLS or from load balancers, which only FIX sessions support.
    LinkTransport(String),
    /// This link listens on the same address as another link or session.
    LinkPort(String, String),
    /// This session is configured to answer panics of the application, but the application does not survive them.
    Panics(String),
    /// A size or a count is outside its range.
    OutOfRange {
        /// The field of the configuration.
        what: &'static str,
        /// The value of the field.
        value: u64,
        /// The minimum.
        least: u64,
        /// The maximum.
        most: u64,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSession => f.write_str("no session is configured"),
            Self::Panics(name) => write!(
                f,
                "session {name}: RejectMessageOnUnhandledException is not supported: this application cannot \
                 roll back its state after a panic; remove the setting"
            ),
            Self::AcceptorSigns(name) => write!(
                f,
                "session {name}: an acceptor does not sign its Logon; remove the signature"
            ),
            Self::LogWithoutJournal => {
                f.write_str("message logs need a journal, and durability `memory` has none")
            }
            Self::Log(error) => write!(f, "{error}"),
            Self::LogTwice(kind) => write!(f, "two logs of the kind `{kind}`: configure only one"),
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
                    "session {name} is configured both as an acceptor and as an initiator"
                )
            }
            Self::NoHost(name) => write!(f, "session {name} has no host to connect to"),
            Self::Rate(name) => write!(
                f,
                "session {name} has a rate limit of zero, or of more than one message per nanosecond"
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
                "link {name} accepts connections: TLS and load balancers are not supported for links"
            ),
            Self::LinkPort(name, other) => write!(
                f,
                "link {name} listens at the address of {other}: configure a separate address for the link"
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
