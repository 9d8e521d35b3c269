//! Configuration of an engine: its journal, idle strategy, limits and sessions.
//!
//! The configuration consists of plain values, set in code or read from settings. [`EngineConfig::check`] returns the
//! first error.

mod dictionary;
mod error;
mod link;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use fixwire_protocol::outbox::{RESERVE, RESERVE_MESSAGES};
use fixwire_protocol::{LogonSigner, Nanos, OperatorRights, Tag, session};

use crate::bucket::Rate;
pub use crate::journal::Durability;
use crate::journal::{MOST_RESERVE, Retention};
use crate::journal::{RUN, record::EFFECT};
use crate::log::Log;
use crate::passwords::{PasswordFiles, Users};
use crate::schedule::Schedule;
use crate::transport::Transport;
pub use fixwire_net::Wait;
use fixwire_net::network::Network;

pub use dictionary::MissingDictionary;
pub use error::ConfigError;
pub use link::LinkConfig;

/// Maximum length of a CompID, SubID or LocationID, bytes.
pub(crate) const LONGEST_ID: usize = 128;

/// Configuration of an engine.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Folder of the journal's segments; created if missing. Not used with [`Durability::Memory`].
    pub journal_dir: PathBuf,
    /// If true, a new journal may be started in a folder whose journal was removed, and a folder with a journal is
    /// refused. If false, a folder whose journal was removed is refused.
    pub new_journal: bool,
    /// Where a message is stored before its first byte is written to a socket.
    pub durability: Durability,
    /// Idle strategy of the engine's thread.
    pub wait: Wait,
    /// The core that the engine's thread is pinned to. With `None`, the scheduler chooses the core.
    pub core: Option<usize>,
    /// If true, all memory of the process is locked from [`Engine::new`](crate::Engine::new) until the process ends,
    /// so that no page is missing or swapped out when a message needs it.
    pub lock_memory: bool,
    /// Size of one journal segment, bytes.
    pub segment_bytes: usize,
    /// Number of journal segments that are allocated in reserve, for the case that the disk is full; 0 for none.
    /// While the journal uses them, [`Application::on_disk`](fixwire_protocol::Application::on_disk) notifies the
    /// application.
    pub reserve_segments: u32,
    /// An event warns when the journal's disk has fewer free bytes than this; 0 for no warning.
    pub low_space: u64,
    /// Maximum length of a message that is received or sent, bytes.
    pub max_message: usize,
    /// Maximum number of fields in a message from a peer.
    pub max_fields: usize,
    /// Receive buffer of each connection, bytes; at least `max_message`. Unused pages of the buffer take no memory.
    pub read_buffer: usize,
    /// Limits on the resources that peers can use.
    pub limits: Limits,
    /// How long a stopping engine waits for answers to its Logouts.
    pub stop_timeout: Duration,
    /// How long segments that no session needs are kept; `None` keeps all of them.
    pub retention: Option<Retention>,
    /// Message and event logs in addition to the journal. Logs require a journal on disk.
    /// [`Engine::new`](crate::Engine::new) opens the logs; a simulated engine does not open them.
    pub logs: Vec<Arc<dyn Log>>,
    /// Fields whose values are masked in the logs, in addition to the secrets that are always masked. The journal
    /// keeps the values.
    pub masked_in_logs: Vec<Tag>,
    /// Rights of operators at a control socket. They apply unless the application defines its own operators.
    pub operators: Vec<OperatorRights>,
    /// Dictionary files that are missing, so that built-in dictionaries replace them.
    /// [`Event::DictionaryMissing`](crate::Event) reports each of them at every start.
    pub missing_dictionaries: Vec<MissingDictionary>,
    /// The sessions. A session's index here is its [`SessionId`](fixwire_protocol::SessionId).
    pub sessions: Vec<SessionConfig>,
    /// Templates of acceptor sessions, for a Logon that matches none of `sessions`. The first template that matches
    /// is used.
    pub templates: Vec<Template>,
    /// Whether a start restores the sessions that [`templates`](Self::templates) created in earlier runs. The application
    /// gets [`on_session_added`](fixwire_protocol::Application::on_session_added) for each, and may write messages for it
    /// before its peer logs on again. Only templates with one `*`, without `qualified`, can restore their sessions.
    pub restores_created: bool,
    /// Links, which carry frames instead of FIX messages. The id of a link is
    /// [`SessionId::of_link`](fixwire_protocol::SessionId::of_link) of its index here.
    pub links: Vec<LinkConfig>,
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self {
            journal_dir: PathBuf::from("store"),
            new_journal: false,
            durability: Durability::Process,
            wait: Wait::Block,
            core: None,
            lock_memory: false,
            segment_bytes: 64 << 20,
            reserve_segments: 1,
            low_space: 1 << 30,
            max_message: 2 << 20,
            max_fields: 65_536,
            read_buffer: 2 << 20,
            limits: Limits::default(),
            stop_timeout: Duration::from_secs(5),
            retention: None,
            logs: Vec::new(),
            masked_in_logs: Vec::new(),
            operators: Vec::new(),
            missing_dictionaries: Vec::new(),
            sessions: Vec::new(),
            templates: Vec::new(),
            restores_created: false,
            links: Vec::new(),
        }
    }
}

impl EngineConfig {
    /// The password files of all sessions and templates. They can be reloaded while the engine runs.
    #[must_use]
    pub fn password_files(&self) -> PasswordFiles {
        let templates = self.templates.iter().map(|template| &template.session);
        let sessions = self.sessions.iter().chain(templates);
        PasswordFiles::of(sessions.filter_map(|session| session.access.users.as_ref()))
    }

    /// Validates the configuration.
    ///
    /// # Errors
    ///
    /// The first error found.
    pub fn check(&self) -> Result<(), ConfigError> {
        for (what, value, least, most) in self.sizes() {
            if !(least..=most).contains(&value) {
                return Err(ConfigError::OutOfRange {
                    what,
                    value,
                    least,
                    most,
                });
            }
        }
        if self.sessions.is_empty() && self.templates.is_empty() && self.links.is_empty() {
            return Err(ConfigError::NoSession);
        }
        self.check_links()?;
        for template in &self.templates {
            template.session.check()?;
            if !matches!(template.session.connection, Connection::Acceptor { .. }) {
                return Err(ConfigError::Role(template.session.name.clone()));
            }
            let templates = self.templates.iter().map(|other| &other.session);
            let mut others = self.sessions.iter().chain(templates);
            if let Some(other) = others.find(|other| template.session.cannot_listen_with(other)) {
                let names = (other.name.clone(), template.session.name.clone());
                return Err(ConfigError::TransportDiffers(names.0, names.1));
            }
        }
        for (index, log) in self.logs.iter().enumerate() {
            log.check().map_err(ConfigError::Log)?;
            if self.logs[..index].iter().any(|it| it.kind() == log.kind()) {
                return Err(ConfigError::LogTwice(log.kind()));
            }
        }
        if !self.logs.is_empty() && self.durability == Durability::Memory {
            return Err(ConfigError::LogWithoutJournal);
        }
        for (index, session) in self.sessions.iter().enumerate() {
            session.check()?;
            for other in &self.sessions[..index] {
                session.check_beside(other)?;
            }
        }
        Ok(())
    }

    fn check_links(&self) -> Result<(), ConfigError> {
        let listens = |connection: &Connection| match connection {
            Connection::Acceptor { listen } if listen.port() != 0 => Some(*listen),
            _ => None,
        };
        let templates = self.templates.iter().map(|template| &template.session);
        let sessions = self.sessions.iter().chain(templates);
        let others = sessions.map(|session| (&session.name, &session.connection));
        for (index, link) in self.links.iter().enumerate() {
            link.check(self.max_message)?;
            let links = self.links[..index].iter();
            let links = links.map(|other| (&other.name, &other.connection));
            for (name, connection) in links.chain(others.clone()) {
                if *name == link.name {
                    return Err(ConfigError::NameTwice(name.clone()));
                }
                let listen = listens(&link.connection);
                if listen.is_some() && listen == listens(connection) {
                    return Err(ConfigError::LinkPort(link.name.clone(), name.clone()));
                }
            }
        }
        Ok(())
    }

    /// Maximum number of bytes of messages that wait to be written.
    pub(crate) fn outbox_bytes(&self) -> usize {
        self.max_message + self.limits.outbox_bytes
    }

    /// Each size or count of the configuration: name, value, least and greatest allowed value.
    fn sizes(&self) -> [(&'static str, u64, u64, u64); 19] {
        let limits = &self.limits;
        [
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
                "reserve_segments",
                self.reserve_segments.into(),
                0,
                MOST_RESERVE.into(),
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
                "limits.dynamic_sessions",
                limits.dynamic_sessions as u64,
                1,
                1 << 19,
            ),
            ("limits.lag_bytes", limits.lag_bytes, 1 << 10, 1 << 50),
            (
                "limits.stall_time",
                Nanos::from(limits.stall_time).0,
                1_000_000,
                u64::MAX,
            ),
            (
                "limits.logons.failures_per_minute",
                limits.logons.failures_per_minute.into(),
                1,
                u32::MAX.into(),
            ),
            (
                "limits.logons.failures_per_minute_and_address",
                limits.logons.failures_per_minute_and_address.into(),
                1,
                u32::MAX.into(),
            ),
            (
                "limits.logons.failures_per_minute_and_session",
                limits.logons.failures_per_minute_and_session.into(),
                1,
                u32::MAX.into(),
            ),
            (
                "limits.log_only_bytes_per_hour",
                limits.log_only_bytes_per_hour.into(),
                1 << 10,
                1 << 31,
            ),
            (
                "limits.events_per_second",
                limits.events_per_second.into(),
                1,
                1 << 20,
            ),
        ]
    }

    /// Maximum size in the journal of a cause together with all its effects, bytes.
    fn longest_record(&self) -> u64 {
        /// Upper bound for the fixed part of a record plus the header of a segment.
        const FIXED: usize = 256;
        /// The fixed part of an effect, or of a resent gap fill, plus its padding to a multiple of eight.
        const PER_MESSAGE: usize = longer(EFFECT, RUN) + 8;
        let messages = self.limits.outbox_messages.saturating_add(RESERVE_MESSAGES);
        let bytes = self.outbox_bytes().saturating_add(RESERVE) + self.max_message;
        (bytes + messages.saturating_mul(PER_MESSAGE) + FIXED) as u64
    }
}

const fn longer(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

/// Limits on the resources that peers can use. No limit can be switched off.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Maximum number of connections without a Logon. When it is reached, a new connection is closed when it is
    /// accepted.
    pub pending: usize,
    /// Maximum number of connections without a Logon from one address. When it is reached, a new connection is closed
    /// when it is accepted.
    pub pending_per_address: usize,
    /// Maximum length of the first message, which must be a Logon, bytes.
    pub logon_bytes: usize,
    /// Maximum time from accepting a connection to its complete Logon.
    pub logon_time: Duration,
    /// Maximum number of sent bytes that a session's peer may leave unread. A peer above the limit is disconnected;
    /// the journal keeps the unread messages.
    pub lag_bytes: u64,
    /// Maximum number of stored messages that are resent to one session in one turn.
    pub replay_per_turn: usize,
    /// Size of the outbox, in addition to one message of `max_message` bytes. The outbox collects messages until they
    /// are written. All effects of one inbound message must fit into the outbox.
    pub outbox_bytes: usize,
    /// Maximum number of messages that the outbox collects until they are written.
    pub outbox_messages: usize,
    /// Maximum number of events of one kind that are reported in one second; further events are counted.
    pub events_per_second: u32,
    /// A peer is disconnected when it reads nothing for this time while bytes wait for it.
    pub stall_time: Duration,
    /// Maximum number of sessions that templates and [`Handle::add_session`](crate::Handle::add_session) may add
    /// while the engine runs.
    pub dynamic_sessions: usize,
    /// Limits on failed logon attempts.
    pub logons: LogonLimits,
    /// Journal bytes per session and hour for records that exist only for the log: messages out of sequence, and
    /// resent messages. [`Event::NotLogged`](crate::Event::NotLogged) counts the messages above the limit.
    pub log_only_bytes_per_hour: u32,
}

/// Limits on failed logon attempts in a minute. Successful attempts do not count. Above a limit for one address or
/// for all addresses, a connection is closed when it is accepted. Above the limit for a session, a connection is
/// closed when the Logon for that session arrives.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LogonLimits {
    /// Limit for all addresses together. It does not apply to an address from which a session has logged on.
    pub failures_per_minute: u32,
    /// Limit for one address. All addresses of an IPv6 /64 count as one address.
    pub failures_per_minute_and_address: u32,
    /// Limit for wrong passwords for one session. It does not apply to the address from which the session last logged
    /// on.
    pub failures_per_minute_and_session: u32,
}

impl Default for LogonLimits {
    fn default() -> Self {
        Self {
            failures_per_minute: 1200,
            failures_per_minute_and_address: 120,
            failures_per_minute_and_session: 60,
        }
    }
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
            stall_time: Duration::from_secs(60),
            dynamic_sessions: 1000,
            logons: LogonLimits::default(),
            log_only_bytes_per_hour: 64 << 20,
        }
    }
}

/// One session: the FIX session (the protocol's part), and its connection (the engine's part). Create it with
/// [`SessionConfig::new`], then change single fields.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SessionConfig {
    /// The FIX session.
    pub session: session::Config,
    /// Name of the session in the journal, in events and in commands, for example `FIX.4.2:EXEC->BENCH`. It must be
    /// unique within the engine.
    pub name: String,
    /// Whether the session is an initiator or an acceptor.
    pub connection: Connection,
    /// Whether CheckSum(10) is checked. BodyLength(9) is always checked.
    pub validate_checksum: bool,
    /// Whether each write is sent at once (TCP_NODELAY).
    pub nodelay: bool,
    /// If true, a panic of the application while it handles a message is answered as
    /// [`Refusal::NotAvailable`](fixwire_protocol::Refusal::NotAvailable), and the message counts as received. If
    /// false, the panic ends the process, and the message is received again after the restart.
    pub answer_panics: bool,
    /// If true, messages that the application sends before the logon are refused. If false, they are stored, and
    /// resent when the peer requests them.
    pub refuse_before_logon: bool,
    /// SO_SNDBUF of the session's socket, bytes. With `None`, the system chooses the size.
    pub send_buffer: Option<usize>,
    /// SO_RCVBUF of the session's socket, bytes. With `None`, the system chooses the size.
    pub receive_buffer: Option<usize>,
    /// The session schedule. `None`: the session is always open, and no schedule resets its sequence numbers.
    pub schedule: Option<Schedule>,
    /// Conditions for a Logon, in addition to Username(553) and Password(554) in `session`.
    pub access: Access,
    /// Signs each Logon of an initiator, before the application may change it. `None`: Logons are not signed.
    pub logon_signer: Option<Arc<dyn LogonSigner>>,
    /// Rate limits.
    pub flow: Flow,
    /// TLS, proxies, local addresses and further socket options.
    pub transport: Transport,
    /// Settings that only the application reads.
    pub custom: BTreeMap<String, String>,
}

/// Who may log on to an acceptor session.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Addresses that may connect; when empty, every address may.
    pub addresses: Vec<Network>,
    /// The users whose Username(553) and Password(554) are accepted. `None`: only the password in the session's own
    /// configuration is checked, if any.
    pub users: Option<Arc<Users>>,
    /// If true, a valid Logon for a session that is already logged on replaces the old connection, which is closed.
    /// If false, the Logon is refused.
    pub replaces: bool,
}

/// Rate limits of a session.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Flow {
    /// Limit for messages from the peer; `None` for no limit.
    pub inbound: Option<Throttle>,
    /// Limit for messages to the peer. Only application messages count, including resent ones. Messages above the
    /// limit wait in the journal, in order. `None` for no limit.
    pub outbound: Option<Rate>,
}

/// Rate limit for messages from a peer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Throttle {
    /// The rate.
    pub rate: Rate,
    /// What happens to messages above the limit.
    pub excess: Excess,
}

/// What happens to messages above a [`Throttle`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Excess {
    /// An application message above the limit is not delivered, and is rejected with a BusinessMessageReject(j).
    /// Session messages and possible duplicates (PossDupFlag(43)=Y) do not count.
    Reject,
    /// Reading from the connection is slowed down, so that the peer must send more slowly.
    Delay,
    /// The engine sends a Logout and closes the connection.
    Disconnect,
}

/// Template of the acceptor sessions that are created when a peer logs on.
///
/// In the template, an id `*` matches any value in the Logon. An empty SubID or LocationID matches only if the Logon
/// lacks it.
#[derive(Clone, Debug)]
pub struct Template {
    /// The settings of the sessions. The name, and the ids that are `*`, are replaced.
    pub session: SessionConfig,
    /// If true, each connection gets a session of its own, even if several peers log on with equal ids: the
    /// connection gets the session with the lowest qualifier, from 1, that is not connected. If false, the ids alone
    /// determine the session.
    pub qualified: bool,
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
            refuse_before_logon: false,
            send_buffer: None,
            receive_buffer: None,
            schedule: None,
            access: Access::default(),
            logon_signer: None,
            flow: Flow::default(),
            transport: Transport::default(),
            custom: BTreeMap::new(),
        }
    }
}

impl SessionConfig {
    /// Validates the session without regard to other sessions.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
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
        if self.logon_signer.is_some() && role == session::Role::Acceptor {
            return Err(ConfigError::AcceptorSigns(self.name.clone()));
        }
        let rates = [
            self.flow.inbound.map(|throttle| throttle.rate),
            self.flow.outbound,
        ];
        if rates.into_iter().flatten().any(|rate| !rate.is_sound()) {
            return Err(ConfigError::Rate(self.name.clone()));
        }
        for party in [&self.session.own, &self.session.peer] {
            for id in [&party.comp_id, &party.sub_id, &party.location_id] {
                // Characters that are valid in a header and in a line of a log.
                let text = id.iter().all(|byte| matches!(byte, b' '..=b'~'));
                if !text || id.len() > LONGEST_ID {
                    return Err(ConfigError::Id(self.name.clone()));
                }
            }
        }
        Ok(())
    }

    /// Validates the session together with another one.
    pub(crate) fn check_beside(&self, other: &Self) -> Result<(), ConfigError> {
        if self.name == other.name {
            return Err(ConfigError::NameTwice(self.name.clone()));
        }
        if self.cannot_listen_with(other) {
            let names = (other.name.clone(), self.name.clone());
            return Err(ConfigError::TransportDiffers(names.0, names.1));
        }
        if self.is_same_for_a_peer(other) {
            let names = (other.name.clone(), self.name.clone());
            return Err(ConfigError::IdentityTwice(names.0, names.1));
        }
        Ok(())
    }

    /// Whether both sessions listen on the same address, but with different settings for connections before a Logon.
    fn cannot_listen_with(&self, other: &Self) -> bool {
        matches!(self.connection, Connection::Acceptor { .. })
            && self.connection == other.connection
            && !self.transport.shares_listener(&other.transport)
    }

    /// Whether both are acceptor sessions that a Logon cannot distinguish.
    fn is_same_for_a_peer(&self, other: &Self) -> bool {
        let (a, b) = (&self.session, &other.session);
        matches!(self.connection, Connection::Acceptor { .. })
            && self.connection == other.connection
            && (a.begin_string, &a.own, &a.peer) == (b.begin_string, &b.own, &b.peer)
    }
}

/// Whether a session is an initiator or an acceptor.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Connection {
    /// The peer connects to us. Several sessions may share an address.
    Acceptor {
        /// The listening address.
        listen: SocketAddr,
    },
    /// We connect to the peer.
    Initiator {
        /// Host names or addresses with ports. When one fails, the next one is tried.
        hosts: Vec<(String, u16)>,
        /// Pauses before the first, second, … attempt after a connection failed or ended. The last pause is repeated.
        reconnect: Vec<Duration>,
        /// Timeout of one connection attempt.
        timeout: Duration,
    },
}
