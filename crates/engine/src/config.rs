//! What an engine is told before it starts: its journal, its waiting, its limits, its sessions.
//!
//! Plain values, made in code or by the settings reader. [`EngineConfig::check`] answers with the
//! first thing that cannot work.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use fixwire_protocol::outbox::{RESERVE, RESERVE_MESSAGES};
use fixwire_protocol::session;

use crate::journal::record::EFFECT;
use crate::schedule::Schedule;
use crate::transport::Transport;

/// Everything an engine needs to know.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Folder of the journal's segments; made when it does not exist. Not used with
    /// [`Durability::Memory`].
    pub journal_dir: PathBuf,
    /// What has happened to a message before its first byte enters a socket.
    pub durability: Durability,
    /// What the engine's thread does in a turn that found no work.
    pub wait: Wait,
    /// The core that the engine's thread is pinned to; `None` leaves it to the scheduler.
    pub core: Option<usize>,
    /// Size of one journal segment, bytes.
    pub segment_bytes: usize,
    /// Longest message taken from a peer and longest message sent, bytes.
    pub max_message: usize,
    /// Most fields in a message taken from a peer.
    pub max_fields: usize,
    /// Receive buffer of each connection, bytes; at least `max_message`. Pages that no message has
    /// reached cost no memory.
    pub read_buffer: usize,
    /// Bounds of what peers can make the engine hold.
    pub limits: Limits,
    /// How long a stopping engine waits for the answers to its Logouts.
    pub stop_timeout: Duration,
    /// The sessions. A session's place here is its [`SessionId`](fixwire_protocol::SessionId).
    pub sessions: Vec<SessionConfig>,
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self {
            journal_dir: PathBuf::from("store"),
            durability: Durability::Process,
            wait: Wait::Block,
            core: None,
            segment_bytes: 64 << 20,
            max_message: 2 << 20,
            max_fields: 4096,
            read_buffer: 2 << 20,
            limits: Limits::default(),
            stop_timeout: Duration::from_secs(5),
            sessions: Vec::new(),
        }
    }
}

impl EngineConfig {
    /// Looks for what cannot work.
    ///
    /// # Errors
    ///
    /// The first thing found.
    pub fn check(&self) -> Result<(), ConfigError> {
        let limits = &self.limits;
        let sizes = [
            ("max_message", self.max_message as u64, 256, 16 << 20),
            ("max_fields", self.max_fields as u64, 16, 1 << 20),
            (
                "read_buffer",
                self.read_buffer as u64,
                self.max_message as u64,
                1 << 30,
            ),
            (
                "segment_bytes",
                self.segment_bytes as u64,
                self.longest_record(),
                1 << 30,
            ),
            (
                "limits.outbox_bytes",
                limits.outbox_bytes as u64,
                1 << 10,
                1 << 30,
            ),
            (
                "limits.outbox_messages",
                limits.outbox_messages as u64,
                16,
                1 << 15,
            ),
            ("limits.pending", limits.pending as u64, 1, 1 << 16),
            (
                "limits.pending_per_address",
                limits.pending_per_address as u64,
                1,
                1 << 16,
            ),
            (
                "limits.logon_bytes",
                limits.logon_bytes as u64,
                256,
                self.read_buffer as u64,
            ),
            (
                "limits.replay_per_turn",
                limits.replay_per_turn as u64,
                1,
                1024,
            ),
            (
                "limits.events_per_second",
                limits.events_per_second.into(),
                1,
                1 << 20,
            ),
        ];
        for (what, value, least, most) in sizes {
            if !(least..=most).contains(&value) {
                return Err(ConfigError::OutOfRange {
                    what,
                    value,
                    least,
                    most,
                });
            }
        }
        if self.sessions.is_empty() {
            return Err(ConfigError::NoSession);
        }
        for (index, session) in self.sessions.iter().enumerate() {
            session.check()?;
            for other in &self.sessions[..index] {
                if session.name == other.name {
                    return Err(ConfigError::NameTwice(session.name.clone()));
                }
                if session.cannot_listen_with(other) {
                    let names = (other.name.clone(), session.name.clone());
                    return Err(ConfigError::TransportDiffers(names.0, names.1));
                }
                if session.is_same_for_a_peer(other) {
                    let names = (other.name.clone(), session.name.clone());
                    return Err(ConfigError::IdentityTwice(names.0, names.1));
                }
            }
        }
        Ok(())
    }

    /// Bytes of messages that wait to be written, at most.
    pub(crate) fn outbox_bytes(&self) -> usize {
        self.max_message + self.limits.outbox_bytes
    }

    /// Most bytes that a cause and all its effects can have in the journal.
    fn longest_record(&self) -> u64 {
        /// The fixed part of a record and the header of a segment, generously.
        const FIXED: usize = 256;
        /// The fixed part of an effect and what makes it a multiple of eight.
        const PER_MESSAGE: usize = EFFECT + 8;
        let messages = self.limits.outbox_messages.saturating_add(RESERVE_MESSAGES);
        let bytes = self.outbox_bytes().saturating_add(RESERVE) + self.max_message;
        (bytes + messages.saturating_mul(PER_MESSAGE) + FIXED) as u64
    }
}

/// What has happened to a message before its first byte enters a socket.
///
/// Only [`Durability::Disk`] may be called durable.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Durability {
    /// It stands in memory of the process: nothing survives the process. A ResendRequest is answered
    /// from the newest messages, older ones are gap-filled.
    Memory,
    /// It stands in mapped memory of the journal: survives the end of the process, not of the host.
    #[default]
    Process,
    /// `fdatasync` has returned for it: survives a loss of power. One sync serves a whole turn.
    Disk,
}

/// What the engine's thread does in a turn that found no work.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Wait {
    /// Looks again at once: the shortest response, and one core kept busy.
    Spin,
    /// Offers the core to other threads, then looks again.
    Yield,
    /// Sleeps until a socket is ready, a timer is due or a command arrives.
    #[default]
    Block,
}

/// Bounds of what peers can make the engine hold. None of them can be switched off.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Connections that have not logged on yet; further ones are closed when accepted.
    pub pending: usize,
    /// The same, from one address.
    pub pending_per_address: usize,
    /// Bytes of a first message, which must be a Logon.
    pub logon_bytes: usize,
    /// Time from accepting a connection to its complete Logon.
    pub logon_time: Duration,
    /// Bytes a session's peer may be behind with reading what was sent to it. Beyond it is
    /// disconnected; the journal keeps what it has not read.
    pub lag_bytes: u64,
    /// Stored messages that are resent to one session in one turn.
    pub replay_per_turn: usize,
    /// Bytes that messages may fill before they are written, one of `max_message` not counted. What
    /// one message causes must fit in it.
    pub outbox_bytes: usize,
    /// The same as a number of messages.
    pub outbox_messages: usize,
    /// Most events of one kind told in one second; the others are counted.
    pub events_per_second: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            pending: 64,
            pending_per_address: 10,
            logon_bytes: 8 << 10,
            logon_time: Duration::from_secs(5),
            lag_bytes: 256 << 20,
            replay_per_turn: 16,
            outbox_bytes: 512 << 10,
            outbox_messages: 4096,
            events_per_second: 20,
        }
    }
}

/// One session: what it says (the protocol's part) and how it is connected (the engine's part).
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// The session as FIX knows it.
    pub session: session::Config,
    /// Its name in the journal, in events and for commands, for example
    /// `FIX.4.2:EXEC->BENCH`. Unique within the engine.
    pub name: String,
    /// Who connects to whom.
    pub connection: Connection,
    /// Checks CheckSum(10); BodyLength(9) is always checked.
    pub validate_checksum: bool,
    /// Sends each write at once (TCP_NODELAY).
    pub nodelay: bool,
    /// A panic of the application while it takes a message is answered as
    /// [`Refusal::NotAvailable`](fixwire_protocol::Refusal::NotAvailable), and the message is counted.
    /// Otherwise it ends the process, and the message comes again.
    pub answer_panics: bool,
    /// SO_SNDBUF of its socket, bytes; `None` leaves it to the system.
    pub send_buffer: Option<usize>,
    /// SO_RCVBUF of its socket, bytes; `None` leaves it to the system.
    pub receive_buffer: Option<usize>,
    /// When it is open; `None`: always, and its numbers never restart by themselves.
    pub schedule: Option<Schedule>,
    /// TLS, proxies, local addresses and further socket options.
    pub transport: Transport,
    /// Settings that are the application's own.
    pub custom: BTreeMap<String, String>,
}

impl SessionConfig {
    /// A session with the usual socket options.
    pub fn new(name: impl Into<String>, session: session::Config, connection: Connection) -> Self {
        Self {
            session,
            name: name.into(),
            connection,
            validate_checksum: true,
            nodelay: true,
            answer_panics: false,
            send_buffer: None,
            receive_buffer: None,
            schedule: None,
            transport: Transport::default(),
            custom: BTreeMap::new(),
        }
    }
}

impl SessionConfig {
    fn check(&self) -> Result<(), ConfigError> {
        let role = match &self.connection {
            Connection::Acceptor { .. } => session::Role::Acceptor,
            Connection::Initiator { hosts, .. } if hosts.is_empty() => {
                return Err(ConfigError::NoHost(self.name.clone()));
            }
            Connection::Initiator { .. } => session::Role::Initiator,
        };
        if role != self.session.role {
            return Err(ConfigError::Role(self.name.clone()));
        }
        Ok(())
    }

    /// Both listen at one address, and differ in what happens there before a Logon.
    fn cannot_listen_with(&self, other: &Self) -> bool {
        matches!(self.connection, Connection::Acceptor { .. })
            && self.connection == other.connection
            && !self.transport.shares_listener(&other.transport)
    }

    /// A Logon cannot tell the two apart.
    fn is_same_for_a_peer(&self, other: &Self) -> bool {
        let (a, b) = (&self.session, &other.session);
        matches!(self.connection, Connection::Acceptor { .. })
            && self.connection == other.connection
            && (a.begin_string, &a.own, &a.peer) == (b.begin_string, &b.own, &b.peer)
    }
}

/// Who connects to whom.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Connection {
    /// The peer connects to us. Sessions may share an address.
    Acceptor {
        /// Where we listen.
        listen: SocketAddr,
    },
    /// We connect to the peer.
    Initiator {
        /// Host names or addresses with their ports; the next one is tried when one fails.
        hosts: Vec<(String, u16)>,
        /// Pauses before the first, second, … attempt after a connection ended or failed; the last
        /// one repeats.
        reconnect: Vec<Duration>,
        /// Time for one attempt to connect.
        timeout: Duration,
    },
}

/// Why an [`EngineConfig`] cannot work.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no session.
    NoSession,
    /// Two sessions have this name.
    NameTwice(String),
    /// Two acceptor sessions cannot be told apart by their Logon.
    IdentityTwice(String, String),
    /// Two sessions share a port and differ in TLS, load balancers or SO_REUSEADDR.
    TransportDiffers(String, String),
    /// A session is configured as one role and connects as the other.
    Role(String),
    /// An initiator without a host to connect to.
    NoHost(String),
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
