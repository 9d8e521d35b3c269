//! Why a connection was refused before it belonged to a session.

use std::fmt;
use std::io;

use fixwire_protocol::Nanos;

use crate::host::AnnounceFault;
use crate::tls::{Spki, TlsFailure};

/// Why a connection that did not belong to a session yet was closed, without an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ConnectionRefusal {
    /// There are too many connections without a Logon; the value is the limit.
    TooManyPending(usize),
    /// There are too many connections without a Logon from this address. The value is the limit plus one for each
    /// session of the address.
    TooManyFromAddress(usize),
    /// The connection had not sent a complete Logon. It was closed to make room for a newer connection from an
    /// address that sessions belong to.
    MadeWay,
    /// No complete Logon arrived within LogonTimeout, whose value this is.
    Timeout(Nanos),
    /// The peer or the system closed the connection.
    Gone,
    /// The first bytes were not a FIX message.
    Garbled,
    /// The first message is longer than a Logon may be. The value is the limit, bytes.
    TooLarge(usize),
    /// The first message is not a Logon with both CompIDs, in a supported FIX version.
    NotALogon,
    /// The TLS handshake failed.
    Tls(TlsFailure),
    /// The peer uses TLS, but this port does not use TLS.
    TlsUnexpected,
    /// The address is not that of a load balancer configured for this port.
    NotABalancer,
    /// The load balancer's PROXY header is invalid.
    Announcement(AnnounceFault),
    /// The session in the Logon requires another certificate. The value is the public key of the certificate that the
    /// peer presented.
    Certificate(Option<Spki>),
    /// Unknown session: no session of this port has the CompIDs in the Logon.
    UnknownSession,
    /// The address may not connect to this port, or it may not log on to the session that the Logon names.
    AddressNotAllowed,
    /// Too many logon attempts from the address, or in total, have failed recently.
    TooManyFailures(FailureLimit),
    /// Too many wrong passwords were given for the session: from the address, or in total.
    LockedOut(FailureLimit),
    /// Wrong Username or Password.
    Credentials,
    /// The new password could not be stored.
    PasswordNotChanged,
    /// The password is correct but must be changed, and the Logon has no NewPassword(925), or one that equals the old
    /// password.
    PasswordMustChange,
    /// The CompIDs cannot be part of a session name.
    NoName,
    /// The application has no session of this name for the Logon; the value is its reason.
    NotWanted(&'static str),
    /// The maximum number of added sessions is reached; the value is the limit.
    TooManySessions(usize),
    /// The session is already connected.
    AlreadyConnected,
    /// The engine is stopping.
    Stopping,
}

/// A limit on failed logon attempts, with its value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum FailureLimit {
    /// `MaxFailedLogons`: failed attempts in a minute from all addresses together.
    Total(u32),
    /// `MaxFailedLogonsPerAddress`: failed attempts in a minute from one address. Ten times as many are allowed from
    /// an address that sessions belong to.
    Address(u32),
    /// `MaxFailedLogonsPerSession`: wrong passwords in a minute for one session.
    Session(u32),
    /// After this number of wrong passwords for one session from one address, the address is locked out of the
    /// session for a time.
    Passwords(u32),
}

impl fmt::Display for FailureLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Total(most) => write!(f, "MaxFailedLogons ({most} a minute)"),
            Self::Address(most) => write!(f, "MaxFailedLogonsPerAddress ({most} a minute)"),
            Self::Session(most) => write!(f, "MaxFailedLogonsPerSession ({most} a minute)"),
            Self::Passwords(failures) => {
                write!(
                    f,
                    "after {failures} from one address for one session, the session refuses this \
                    address for a time"
                )
            }
        }
    }
}

impl ConnectionRefusal {
    /// Converts an error of the host on a connection that has not logged on.
    pub(crate) fn of(error: &io::Error) -> Self {
        let fault = error.get_ref().and_then(|inner| inner.downcast_ref());
        match (TlsFailure::of(error), fault) {
            (Some(failure), _) => Self::Tls(failure),
            (None, Some(fault)) => Self::Announcement(*fault),
            (None, None) => Self::Gone,
        }
    }
}

impl ConnectionRefusal {
    /// The text of the refusal, without its values.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::TooManyPending(_) => "too many connections without a Logon",
            Self::TooManyFromAddress(_) => "too many connections without a Logon from this address",
            Self::MadeWay => {
                "no Logon yet: displaced by a newer connection from a known peer's address"
            }
            Self::Timeout(_) => "no complete Logon within LogonTimeout",
            Self::Gone => "connection closed by the peer before its Logon",
            Self::Garbled => {
                "the first bytes are not a FIX message with the right BodyLength(9) and CheckSum(10)"
            }
            Self::TooLarge(_) => "the first message is too long for a Logon",
            Self::NotALogon => {
                "the first message is not a Logon of FIX.4.0 to FIX.4.4 or FIXT.1.1 with both CompIDs"
            }
            Self::Tls(_) => "TLS handshake failed",
            Self::TlsUnexpected => "the peer uses TLS, but this port does not (set SocketUseSSL=Y)",
            Self::NotABalancer => "the address is not listed in TrustedBalancers",
            Self::Announcement(_) => "wrong PROXY header",
            Self::Certificate(_) => "wrong certificate",
            Self::UnknownSession => "unknown session",
            Self::AddressNotAllowed => "the address is not allowed",
            Self::TooManyFailures(_) => "too many failed attempts to log on",
            Self::LockedOut(_) => "too many wrong passwords",
            Self::Credentials => "wrong Username or Password",
            Self::PasswordNotChanged => "cannot store the NewPassword",
            Self::PasswordMustChange => {
                "the password must be changed: the Logon needs another one in NewPassword(925)"
            }
            Self::NoName => "these CompIDs cannot be part of a session name",
            Self::NotWanted(why) => why,
            Self::TooManySessions(_) => "too many sessions",
            Self::AlreadyConnected => "the session is already connected",
            Self::Stopping => "the engine is stopping",
        }
    }
}

impl fmt::Display for ConnectionRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tls(failure) => write!(f, "{failure}"),
            Self::Announcement(fault) => write!(f, "{fault}"),
            Self::Certificate(spki) => wrong_certificate(spki.as_ref()).fmt(f),
            Self::TooManyPending(most) => {
                write!(f, "{}: MaxPendingConnections ({most})", self.kind())
            }
            Self::TooManyFromAddress(most) => {
                write!(f, "{}: MaxPendingPerAddress ({most})", self.kind())
            }
            Self::Timeout(time) => write!(f, "{} ({})", self.kind(), Seconds(*time)),
            Self::TooLarge(most) => write!(f, "{}: MaxLogonSize ({most} bytes)", self.kind()),
            Self::TooManyFailures(limit) | Self::LockedOut(limit) => {
                write!(f, "{}: {limit}", self.kind())
            }
            Self::TooManySessions(most) => {
                write!(f, "{}: MaxDynamicSessions ({most})", self.kind())
            }
            other => f.write_str(other.kind()),
        }
    }
}

/// The sentence that says why a peer with this certificate is not accepted.
pub(crate) fn wrong_certificate(shown: Option<&Spki>) -> String {
    match shown {
        Some(spki) => {
            format!("the peer's certificate {spki} is not listed in the session's PeerCertificates")
        }
        None => {
            "the peer presented no certificate, and the session requires one (PeerCertificates)"
                .to_owned()
        }
    }
}

/// A time in seconds: `5 s`, `0.3 s`.
pub(super) struct Seconds(pub(super) Nanos);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.0 / 1_000_000;
        match (millis / 1000, millis % 1000) {
            (seconds, 0) => write!(f, "{seconds} s"),
            (seconds, millis) => write!(f, "{seconds}.{millis:03} s"),
        }
    }
}
