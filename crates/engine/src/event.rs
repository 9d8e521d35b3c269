//! What an engine tells its operator, at a bounded rate.

mod sink;

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;

use fixwire_protocol::frame::Garbled;
use fixwire_protocol::session::Reason;
use fixwire_protocol::{Nanos, SessionId, Timestamp};

use crate::descriptors::Shortage;
use crate::host::AnnounceFault;
use crate::journal::{Torn, Trouble};
use crate::schedule;
use crate::tls::{PeerCertificate, Spki, TlsFailure};

pub(crate) use sink::Events;
pub use sink::Sink;

/// Something happened that an operator may want to know. Facts, not text; [`fmt::Display`] makes the
/// sentence, without the session's name.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The engine takes connections here.
    Listening {
        /// The address, with the port that was chosen for port 0.
        at: SocketAddr,
    },
    /// Here connections from other machines are taken without TLS.
    Unprotected {
        /// The address.
        at: SocketAddr,
    },
    /// The file of a dictionary is missing, and the built-in one of its version is used. Told at every start.
    DictionaryMissing {
        /// The file, as the settings name it.
        file: String,
        /// The version: `FIX.4.2`.
        version: &'static str,
    },
    /// The settings may need more files and sockets than the system allows.
    FewDescriptors(Shortage),
    /// A connection for this session stands; the Logons follow.
    Connected {
        /// The session.
        session: SessionId,
        /// The peer's address.
        peer: SocketAddr,
    },
    /// An attempt to connect has failed.
    DialFailed {
        /// The session.
        session: SessionId,
        /// The host as configured.
        host: String,
        /// Its port.
        port: u16,
        /// What the system said.
        error: String,
        /// Time until the next attempt.
        again_in: Nanos,
    },
    /// Both Logons have been exchanged.
    LoggedOn {
        /// The session.
        session: SessionId,
    },
    /// The session is no longer logged on.
    LoggedOut {
        /// The session.
        session: SessionId,
    },
    /// The connection of a session has ended.
    Disconnected {
        /// The session.
        session: SessionId,
        /// Why.
        why: Ending,
    },
    /// The schedule of the session lets it be logged on from now.
    SessionOpened {
        /// The session.
        session: SessionId,
    },
    /// The schedule of the session does not let it be logged on from now.
    SessionClosed {
        /// The session.
        session: SessionId,
        /// When it opens again.
        opens: Option<Timestamp>,
    },
    /// The schedule of the session made its numbers start again at 1.
    NumbersRestarted {
        /// The session.
        session: SessionId,
    },
    /// A connection was closed before it belonged to a session.
    Refused {
        /// The peer's address.
        from: SocketAddr,
        /// Why.
        why: Refusal,
    },
    /// The system gives no further connection.
    CannotAccept {
        /// What the system said.
        error: ErrorKind,
    },
    /// A session was added while the engine runs.
    SessionAdded {
        /// The session.
        session: SessionId,
        /// Its name.
        name: String,
    },
    /// A session was removed; its numbers stay in the journal.
    SessionRemoved {
        /// The session.
        session: SessionId,
    },
    /// A peer reads slowly: so many bytes wait for it in the journal. Told once until it has caught
    /// up.
    SlowReader {
        /// The session.
        session: SessionId,
        /// Bytes that wait.
        bytes: u64,
    },
    /// Messages out of sequence, or resent ones, took more of the journal than
    /// [`Limits::log_only_bytes_per_hour`](crate::Limits) in an hour. They were received or sent as
    /// ever, and are in no log.
    NotLogged {
        /// The session.
        session: SessionId,
        /// How many, since this was told last.
        messages: u64,
    },
    /// Garbled bytes were ignored.
    Garbled {
        /// The session.
        session: SessionId,
        /// What is wrong with them.
        why: Garbled,
    },
    /// The application or a command wrote messages that could not be sent: too long for the outbox, or
    /// for a session that does not exist, or for one that its schedule has closed.
    NotSent {
        /// How many.
        messages: u64,
    },
    /// A reset was asked for that this session cannot do now: another exchange is open, or it is logged
    /// on in FIX 4.0.
    NotReset {
        /// The session.
        session: SessionId,
    },
    /// The sequence numbers went back to 1 while messages waited for a connection, or for the socket of a
    /// slow peer: they are void. The journal has them.
    Voided {
        /// How many.
        messages: u64,
    },
    /// The application panicked at messages, which were refused.
    Panicked {
        /// How many.
        messages: u64,
    },
    /// The journal failed: nothing more is sent and the engine ends.
    JournalFailed {
        /// What it says.
        error: String,
    },
    /// The journal ended in an unfinished record, which was cut off when it was opened.
    JournalCut {
        /// What was cut off.
        cut: Torn,
    },
    /// Something is wrong with the journal's files; the journal itself still works.
    JournalTrouble {
        /// What.
        trouble: Trouble,
    },
    /// A message or event log cannot be written. It is tried again, and then goes on where it was.
    LogFailed {
        /// What went wrong.
        error: String,
    },
    /// Segments of the journal were removed before a message log had read them to their end: what they
    /// had is not in the log.
    LogIncomplete {
        /// Which: `files` or `sql`.
        log: &'static str,
        /// The first of these segments, by number.
        first: u32,
        /// The last one.
        last: u32,
    },
    /// A message or event log that could not be written goes on, with no message left out but those of an
    /// [`Event::LogIncomplete`].
    LogResumed {
        /// Which: `files` or `sql`.
        log: &'static str,
    },
    /// Events of one kind came faster than [`Limits::events_per_second`](crate::Limits).
    Suppressed {
        /// How many were not told.
        events: u64,
    },
}

/// Why the connection of a session has ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Ending {
    /// The session ended it.
    Session(Reason),
    /// The peer closed it.
    ClosedByPeer,
    /// The system ended it.
    Io(ErrorKind),
    /// TLS ended it.
    Tls(TlsFailure),
    /// A message of this many bytes was announced, more than `max_message`.
    TooLarge(u64),
    /// The peer did not read: so many bytes were waiting for it. The journal keeps them.
    SlowReader(u64),
    /// The peer took nothing for too long although bytes waited for it. The journal keeps them.
    Stalled,
    /// The peer sent more than its throttle allows.
    Throttled,
    /// A message that waits for the peer is no longer stored.
    NotStored(u64),
    /// The engine stops.
    Stopping,
}

/// Why a connection was closed, without a message, before it belonged to a session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// Too many connections have not logged on yet.
    TooManyPending,
    /// Too many of them are from this address.
    TooManyFromAddress,
    /// No complete Logon yet, and a newer connection from an address that sessions belong to needs its
    /// place.
    MadeWay,
    /// No complete Logon in time.
    Timeout,
    /// The peer closed it, or the system did.
    Gone,
    /// The first bytes are no message.
    Garbled,
    /// The first message is too long for a Logon.
    TooLarge,
    /// The first message is not a Logon that names both parties in a version we speak.
    NotALogon,
    /// The TLS handshake failed.
    Tls(TlsFailure),
    /// The first bytes are those of TLS, and this port has none.
    TlsUnexpected,
    /// It came from none of the load balancers that this port is for.
    NotABalancer,
    /// The load balancer's PROXY header is not right.
    Announcement(AnnounceFault),
    /// The Logon is for a session that other certificates belong to. The public key of the one that
    /// was shown.
    Certificate(Option<Spki>),
    /// No session of this port is for these parties.
    UnknownSession,
    /// The address may not connect here, or not to that session.
    AddressNotAllowed,
    /// Too many attempts from there, or altogether, have failed of late.
    TooManyFailures,
    /// Too many wrong passwords came from there for that session, or for that session altogether.
    LockedOut,
    /// Username or Password are wrong.
    Credentials,
    /// The new password could not be stored.
    PasswordNotChanged,
    /// The CompIDs are not those of a name that a session could get.
    NoName,
    /// No further session can be made.
    TooManySessions,
    /// That session has a connection already.
    AlreadyConnected,
    /// The engine stops.
    Stopping,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listening { at } => write!(f, "listening at {at}"),
            Self::Unprotected { at } => write!(
                f,
                "warning: {at} takes connections from other machines without TLS: whoever is on the \
                 way can read and change messages (SocketUseSSL=Y, or SocketAcceptAddress=127.0.0.1)"
            ),
            Self::DictionaryMissing { file, version } => write!(
                f,
                "warning: dictionary {} is missing, the built-in dictionary of {version} is used: put the \
                 file there, or write `built-in`",
                file.escape_debug()
            ),
            Self::FewDescriptors(shortage) => write!(f, "warning: {shortage}"),
            Self::Connected { peer, .. } => write!(f, "connected with {peer}"),
            Self::DialFailed {
                host,
                port,
                error,
                again_in,
                ..
            } => write!(
                f,
                "cannot connect to {host} port {port}: {error}; next attempt in {:.1} s",
                again_in.0 as f64 / 1e9
            ),
            Self::LoggedOn { .. } => f.write_str("logged on"),
            Self::LoggedOut { .. } => f.write_str("logged out"),
            Self::Disconnected { why, .. } => write!(f, "disconnected: {why}"),
            Self::SessionOpened { .. } => f.write_str("open"),
            Self::SessionClosed { opens: None, .. } => f.write_str("closed"),
            Self::SessionClosed {
                opens: Some(opens), ..
            } => write!(f, "closed until {}", schedule::utc(*opens)),
            Self::NumbersRestarted { .. } => f.write_str("sequence numbers start again at 1"),
            Self::Refused { from, why } => write!(f, "connection from {from} closed: {why}"),
            Self::CannotAccept { error } => write!(f, "cannot accept connections: {error}"),
            Self::SessionAdded { name, .. } => write!(f, "session {} added", name.escape_debug()),
            Self::SessionRemoved { .. } => f.write_str("session removed"),
            Self::SlowReader { bytes, .. } => {
                write!(
                    f,
                    "the peer reads slowly: {bytes} bytes wait for it in the journal"
                )
            }
            Self::NotLogged { messages, .. } => write!(
                f,
                "{messages} messages out of sequence or resent are not logged: they are more than \
                 JournalLogOnlyLimit in an hour; see what the peer repeats"
            ),
            Self::Garbled { why, .. } => write!(f, "garbled message ignored: {why:?}"),
            Self::NotSent { messages } => {
                write!(
                    f,
                    "{messages} messages were too long, for no session or for a closed one, and are not sent"
                )
            }
            Self::NotReset { .. } => {
                f.write_str("cannot reset now: log out first, or wait for the open Logon or Logout")
            }
            Self::Voided { messages } => write!(
                f,
                "{messages} messages that waited to be sent are void: the sequence numbers were reset"
            ),
            Self::Panicked { messages } => {
                write!(
                    f,
                    "the application panicked at {messages} messages, which were refused"
                )
            }
            Self::JournalFailed { error } => write!(f, "{error}"),
            Self::JournalCut { cut } => write!(f, "{cut}"),
            Self::JournalTrouble { trouble } => write!(f, "{trouble}"),
            Self::LogIncomplete { log, first, last } => write!(
                f,
                "message log in {}: messages are missing, for segments {first} to {last} of the journal were removed \
                 before they were logged; JournalKeep has to be longer than an outage of the log",
                log_name(log)
            ),
            Self::LogResumed { log } => write!(f, "message log in {}: goes on", log_name(log)),
            Self::LogFailed { error } => write!(f, "message log: {error}"),
            Self::Suppressed { events } => write!(f, "{events} more events of one kind"),
        }
    }
}

fn log_name(log: &str) -> &str {
    match log {
        "sql" => "a database",
        other => other,
    }
}

fn wrong_certificate(shown: Option<&Spki>) -> String {
    match shown {
        Some(spki) => {
            format!("its certificate, {spki}, is not one of the session's PeerCertificates")
        }
        None => "it showed no certificate, and the session has PeerCertificates".to_owned(),
    }
}

impl Ending {
    /// What an error of the host says.
    pub(crate) fn of(error: &io::Error) -> Self {
        TlsFailure::of(error).map_or(Self::Io(error.kind()), Self::Tls)
    }
}

impl Refusal {
    /// What an error of the host says of a connection that has not logged on.
    pub(crate) fn of(error: &io::Error) -> Self {
        let fault = error.get_ref().and_then(|inner| inner.downcast_ref());
        match (TlsFailure::of(error), fault) {
            (Some(failure), _) => Self::Tls(failure),
            (None, Some(fault)) => Self::Announcement(*fault),
            (None, None) => Self::Gone,
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session(reason) => write!(f, "{reason}"),
            Self::ClosedByPeer => f.write_str("closed by the peer"),
            Self::Io(kind) => write!(f, "{kind}"),
            Self::Tls(failure) => write!(f, "{failure}"),
            Self::TooLarge(bytes) => write!(f, "the peer announced a message of {bytes} bytes"),
            Self::SlowReader(bytes) => {
                write!(
                    f,
                    "the peer does not read: {bytes} bytes wait for it in the journal"
                )
            }
            Self::Stalled => f.write_str("the peer took nothing for too long"),
            Self::Throttled => f.write_str("the peer sent more than its throttle allows"),
            Self::NotStored(seq) => {
                write!(
                    f,
                    "message {seq} waits for the peer and is no longer stored"
                )
            }
            Self::Stopping => f.write_str("the engine stops"),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooManyPending => "too many connections that have not logged on",
            Self::MadeWay => {
                "no Logon yet, and a newer connection from a peer's address needs the place"
            }
            Self::TooManyFromAddress => "too many connections from there that have not logged on",
            Self::Timeout => "no complete Logon in time",
            Self::Gone => "it ended before its Logon",
            Self::Garbled => "the first bytes are no FIX message",
            Self::TooLarge => "the first message is too long for a Logon",
            Self::NotALogon => "the first message is no Logon",
            Self::Tls(failure) => return write!(f, "{failure}"),
            Self::TlsUnexpected => {
                "it speaks TLS, and this port has none (SocketUseSSL=Y switches it on)"
            }
            Self::NotABalancer => "it comes from none of the load balancers in TrustedBalancers",
            Self::Announcement(fault) => return write!(f, "{fault}"),
            Self::Certificate(spki) => {
                let spki = spki.as_ref();
                return f.write_str(&wrong_certificate(spki));
            }
            Self::UnknownSession => "no session here has these CompIDs and this BeginString",
            Self::AddressNotAllowed => "connections from there are not allowed",
            Self::TooManyFailures => "too many attempts to log on have failed",
            Self::LockedOut => "too many wrong passwords",
            Self::Credentials => "wrong Username or Password",
            Self::PasswordNotChanged => "the new password could not be stored",
            Self::NoName => "a session cannot have these CompIDs",
            Self::TooManySessions => "no further session can be made",
            Self::AlreadyConnected => "the session has a connection already",
            Self::Stopping => "the engine stops",
        })
    }
}

impl Event {
    /// Why a peer that has shown this certificate is not the session's.
    pub(crate) fn wrong_certificate(shown: Option<&PeerCertificate>) -> String {
        wrong_certificate(shown.map(|shown| Spki(shown.spki)).as_ref())
    }

    /// The session it is about, if one.
    #[must_use]
    pub fn session(&self) -> Option<SessionId> {
        match self {
            Self::Connected { session, .. }
            | Self::DialFailed { session, .. }
            | Self::LoggedOn { session }
            | Self::LoggedOut { session }
            | Self::Disconnected { session, .. }
            | Self::SessionOpened { session }
            | Self::SessionClosed { session, .. }
            | Self::NumbersRestarted { session }
            | Self::Garbled { session, .. }
            | Self::NotReset { session }
            | Self::SessionAdded { session, .. }
            | Self::SessionRemoved { session }
            | Self::NotLogged { session, .. }
            | Self::SlowReader { session, .. } => Some(*session),
            _ => None,
        }
    }

    fn kind(&self) -> usize {
        match self {
            Self::Listening { .. } => 0,
            Self::Unprotected { .. } | Self::DictionaryMissing { .. } | Self::FewDescriptors(_) => {
                21
            }
            Self::NotLogged { .. } => 22,
            Self::Connected { .. } => 1,
            Self::DialFailed { .. } => 2,
            Self::LoggedOn { .. } => 3,
            Self::LoggedOut { .. } => 4,
            Self::Disconnected { .. } => 5,
            Self::Refused { .. } => 6,
            Self::CannotAccept { .. } => 7,
            Self::Garbled { .. } => 8,
            Self::NotSent { .. } => 9,
            Self::NotReset { .. } => 10,
            Self::Voided { .. } => 11,
            Self::Panicked { .. } => 12,
            Self::JournalFailed { .. } | Self::Suppressed { .. } => 18,
            Self::SessionOpened { .. } => 13,
            Self::SessionClosed { .. } => 14,
            Self::NumbersRestarted { .. } => 15,
            Self::SessionAdded { .. } | Self::SessionRemoved { .. } => 16,
            Self::SlowReader { .. } => 17,
            Self::LogFailed { .. } | Self::LogIncomplete { .. } | Self::LogResumed { .. } => 19,
            Self::JournalCut { .. } | Self::JournalTrouble { .. } => 20,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T16: whatever stands in a text of an event, it is shown as one line of printable characters.
    #[test]
    fn t16_an_event_is_one_line_whatever_a_name_holds() {
        let odd = [
            '\u{202e}', '\u{2066}', '\u{85}', '\u{2028}', '\u{feff}', '\u{1b}',
        ];
        for c in (0..=255).map(char::from).chain(odd) {
            let name = format!("a{c}b");
            let session = SessionId(0);
            let text = Event::SessionAdded { session, name }.to_string();
            let visible =
                |c: char| c.is_alphanumeric() || c == ' ' || c.is_ascii_graphic() || c > '\u{a0}';
            assert!(text.chars().all(visible), "{text:?}");
            assert!(!odd.iter().any(|odd| text.contains(*odd)), "{text:?}");
        }
    }
}
