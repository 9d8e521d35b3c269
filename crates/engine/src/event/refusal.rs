//! Why a connection was closed before it belonged to a session.

use std::fmt;
use std::io;

use crate::host::AnnounceFault;
use crate::tls::{Spki, TlsFailure};

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

impl Refusal {
    /// What it is called, without its particulars.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::TooManyPending => "too many connections without a Logon",
            Self::TooManyFromAddress => "too many connections without a Logon from this address",
            Self::MadeWay => {
                "no Logon yet, and a newer connection from a peer's address needs the place"
            }
            Self::Timeout => "no complete Logon in time",
            Self::Gone => "connection closed by the peer before its Logon",
            Self::Garbled => "the first bytes are not a FIX message",
            Self::TooLarge => "the first message is too long for a Logon",
            Self::NotALogon => "the first message is not a Logon",
            Self::Tls(_) => "TLS handshake failed",
            Self::TlsUnexpected => {
                "the peer speaks TLS, and this port does not (set SocketUseSSL=Y)"
            }
            Self::NotABalancer => "the address is not one of TrustedBalancers",
            Self::Announcement(_) => "wrong PROXY header",
            Self::Certificate(_) => "wrong certificate",
            Self::UnknownSession => "unknown session",
            Self::AddressNotAllowed => "the address is not allowed",
            Self::TooManyFailures => "too many failed attempts to log on",
            Self::LockedOut => "too many wrong passwords",
            Self::Credentials => "wrong Username or Password",
            Self::PasswordNotChanged => "cannot store the NewPassword",
            Self::NoName => "these CompIDs cannot be those of a session",
            Self::TooManySessions => "too many sessions (MaxDynamicSessions)",
            Self::AlreadyConnected => "the session is connected already",
            Self::Stopping => "the engine stops",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tls(failure) => write!(f, "{failure}"),
            Self::Announcement(fault) => write!(f, "{fault}"),
            Self::Certificate(spki) => wrong_certificate(spki.as_ref()).fmt(f),
            other => f.write_str(other.kind()),
        }
    }
}

/// Why a peer that has shown this certificate is not the session's.
pub(crate) fn wrong_certificate(shown: Option<&Spki>) -> String {
    match shown {
        Some(spki) => {
            format!("its certificate, {spki}, is not one of the session's PeerCertificates")
        }
        None => "it showed no certificate, and the session has PeerCertificates".to_owned(),
    }
}
