//! TLS errors: why a connection failed. The text of an error names the remedy.

use std::fmt;
use std::io::{self, ErrorKind};

/// Why a TLS connection failed or ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum TlsFailure {
    /// The peer's bytes are not TLS.
    NotTls,
    /// The peer supports no allowed TLS version.
    Version,
    /// The peer supports no allowed cipher suite, key exchange or signature.
    Suites,
    /// The peer presented no certificate.
    NoCertificate,
    /// The peer requires a client certificate, and none is configured.
    CertificateRequired,
    /// The peer's certificate, or one of its issuers, has expired.
    Expired,
    /// The peer's certificate, or one of its issuers, is not valid yet.
    NotYetValid,
    /// The peer's certificate was not issued by a trusted authority.
    UnknownAuthority,
    /// The peer's certificate is that of an authority, as self-signed certificates usually are, and is not itself
    /// trusted.
    NotItselfTrusted,
    /// The peer's certificate is of X.509 version 1.
    OldVersion,
    /// The peer's certificate, or one of its issuers, is revoked.
    Revoked,
    /// No revocation list covers the certificate's issuer.
    NoRevocationList,
    /// The peer's certificate does not allow its role (ExtendedKeyUsage).
    Purpose,
    /// The certificate is for another host than the requested one.
    Name,
    /// The certificate cannot be read, or a signature is wrong.
    BadCertificate,
    /// The peer ended the connection with this alert (RFC 8446 section 6).
    Alert(u8),
    /// The peer closed the connection during the handshake.
    Closed,
    /// The handshake exceeds the size limit.
    TooLarge,
    /// A record of the peer cannot be decrypted or authenticated.
    Undecipherable,
    /// A message of the peer is malformed.
    Malformed,
    /// The peer violated TLS: a message is not allowed at this point or in this combination.
    Protocol,
    /// The TLS library failed for another, local reason.
    Library,
    /// This build has no TLS.
    NotBuilt,
}

impl fmt::Display for TlsFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotTls => "TLS: the peer does not use TLS; check that both sides have it enabled",
            Self::Version => "TLS: the peer supports no TLS version allowed here (1.2, 1.3)",
            Self::Suites => "TLS: the peer supports no cipher suite allowed here",
            Self::NoCertificate => "TLS: the peer presented no certificate",
            Self::CertificateRequired => {
                "TLS: the peer requires a client certificate, and none is configured: set SocketCertificateFile and \
                 SocketPrivateKeyFile"
            }
            Self::Expired => "TLS: the peer's certificate has expired",
            Self::NotYetValid => "TLS: the peer's certificate is not yet valid; check the clocks",
            Self::UnknownAuthority => {
                "TLS: the peer's certificate was not issued by an authority in SocketCAFile, or without SocketCAFile by \
                 one that this system trusts"
            }
            Self::NotItselfTrusted => {
                "TLS: the peer's certificate is self-signed or an authority's (CA:TRUE), and not itself in SocketCAFile"
            }
            Self::OldVersion => {
                "TLS: the peer's certificate has X.509 version 1, and is not itself in SocketCAFile"
            }
            Self::Revoked => "TLS: the peer's certificate is revoked",
            Self::NoRevocationList => {
                "TLS: no revocation list covers the issuer of the peer's certificate"
            }
            Self::Purpose => {
                "TLS: the peer's certificate does not allow this role (its ExtendedKeyUsage)"
            }
            Self::Name => {
                "TLS: the peer's certificate is for another host; set SocketServerName to the name to expect"
            }
            Self::BadCertificate => "TLS: the peer's certificate or its signature is invalid",
            Self::Alert(code) => {
                return write!(f, "TLS: the peer refused: {}", Alert(*code));
            }
            Self::Closed => "TLS: the peer closed the connection during the handshake",
            Self::TooLarge => "TLS: the peer's handshake is too large",
            Self::Undecipherable => {
                "TLS: the peer's data cannot be decrypted; a proxy or a faulty link may modify it"
            }
            Self::Malformed => {
                "TLS: the peer sent a malformed TLS message; the peer is faulty, or traffic is modified in transit"
            }
            Self::Protocol => {
                "TLS: the peer violated the TLS protocol: unexpected message"
            }
            Self::Library => "TLS: the TLS library failed on this side; connect again, and report it if it recurs",
            Self::NotBuilt => "this build of fixwire has no TLS: build it with the cargo feature `tls`",
        })
    }
}

/// The number of an alert and its name.
struct Alert(u8);

impl fmt::Display for Alert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.0 {
            40 => "no common cipher suite or signature (handshake_failure)",
            42 => "our certificate is bad (bad_certificate)",
            43 => "our certificate is of an unsupported type (unsupported_certificate)",
            44 => "our certificate is revoked (certificate_revoked)",
            45 => "our certificate has expired (certificate_expired)",
            46 => "our certificate is not acceptable (certificate_unknown)",
            48 => "it does not trust the issuer of our certificate (unknown_ca)",
            49 => "our certificate is not authorized (access_denied)",
            70 => "no common TLS version (protocol_version)",
            112 => "it does not recognize the server name we sent (unrecognized_name)",
            116 => "it requires a client certificate (certificate_required)",
            code => return write!(f, "alert {code}"),
        };
        f.write_str(name)
    }
}

impl std::error::Error for TlsFailure {}

impl From<TlsFailure> for io::Error {
    fn from(failure: TlsFailure) -> Self {
        Self::new(ErrorKind::InvalidData, failure)
    }
}

impl TlsFailure {
    /// The TLS failure in an error of a host, if there is one.
    pub fn of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref::<Self>().copied()
    }
}
