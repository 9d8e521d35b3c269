//! TLS options, as plain values.

use std::fmt;
use std::path::PathBuf;

use fixwire_protocol::Secret;

/// Options for one side of TLS connections.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TlsOptions {
    /// Our certificate and its key. An acceptor needs them; an initiator presents the certificate when the peer asks
    /// for it.
    pub identity: Option<Identity>,
    /// The authorities that may have issued the peer's certificate.
    pub authorities: Vec<Authority>,
    /// Files with revocation lists (PEM or DER), or folders with such files. If revocation lists are configured, a list
    /// must cover every certificate of the peer's chain.
    pub revocation_lists: Vec<PathBuf>,
    /// Whether an acceptor requests client certificates.
    pub client_certificates: ClientCertificates,
    /// Whether TLS 1.2 is allowed.
    pub tls12: bool,
    /// Whether TLS 1.3 is allowed.
    pub tls13: bool,
    /// Cipher suites by their IANA names; see [`Suite`]. An empty list stands for all of [`Suite::ALL`].
    pub suites: Vec<Suite>,
    /// The name that an initiator expects in the peer's certificate and that it sends (server name indication).
    /// `None` stands for the host to which it connects.
    pub server_name: Option<String>,
    /// Whether an initiator sends the server name.
    pub send_name: bool,
    /// Whether the peer's certificate must be for this name. Set this to false only if
    /// [`Transport::certificates`](crate::transport::Transport) names the accepted certificates.
    pub check_name: bool,
    /// Whether the peer's certificate must be valid, not revoked and issued by an authority.
    pub check_chain: bool,
}

impl Default for TlsOptions {
    fn default() -> Self {
        Self {
            identity: None,
            authorities: Vec::new(),
            revocation_lists: Vec::new(),
            client_certificates: ClientCertificates::NotAsked,
            tls12: true,
            tls13: true,
            suites: Vec::new(),
            server_name: None,
            send_name: true,
            check_name: true,
            check_chain: true,
        }
    }
}

/// A certificate with its chain up to the authority, and its private key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Identity {
    /// PEM files for certificate and key, or one PEM file with both.
    Pem {
        /// The file with the certificate first, and then its issuers.
        chain: PathBuf,
        /// The file with the key, as PKCS#8, PKCS#1 or SEC1. The key is not encrypted.
        key: PathBuf,
    },
    /// A PKCS#12 file with one private key.
    KeyStore {
        /// The file.
        file: PathBuf,
        /// The password of the file.
        password: Secret<String>,
    },
}

/// Where the certificates of authorities are.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Authority {
    /// A PEM file, or a folder of PEM files.
    Pem(PathBuf),
    /// The certificates of a PKCS#12 file.
    KeyStore {
        /// The file.
        file: PathBuf,
        /// The password of the file.
        password: Secret<String>,
    },
    /// The authorities that the system trusts.
    System,
}

/// Whether an acceptor requests client certificates.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ClientCertificates {
    /// Not requested.
    #[default]
    NotAsked,
    /// A client may present a valid certificate, or none.
    Optional,
    /// A client must present a valid certificate.
    Required,
}

/// A supported cipher suite. Each has forward secrecy and authenticated encryption.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Suite {
    /// The IANA name of the suite.
    pub name: &'static str,
    /// The OpenSSL name of the suite.
    pub openssl: &'static str,
    /// Whether the suite belongs to TLS 1.3.
    pub tls13: bool,
}

const fn suite(name: &'static str, openssl: &'static str, tls13: bool) -> Suite {
    Suite {
        name,
        openssl,
        tls13,
    }
}

impl Suite {
    /// All supported suites.
    pub const ALL: [Self; 9] = [
        suite("TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384", true),
        suite("TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256", true),
        suite(
            "TLS_CHACHA20_POLY1305_SHA256",
            "TLS_CHACHA20_POLY1305_SHA256",
            true,
        ),
        suite(
            "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
            "ECDHE-ECDSA-AES256-GCM-SHA384",
            false,
        ),
        suite(
            "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
            "ECDHE-ECDSA-AES128-GCM-SHA256",
            false,
        ),
        suite(
            "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
            "ECDHE-ECDSA-CHACHA20-POLY1305",
            false,
        ),
        suite(
            "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
            "ECDHE-RSA-AES256-GCM-SHA384",
            false,
        ),
        suite(
            "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
            "ECDHE-RSA-AES128-GCM-SHA256",
            false,
        ),
        suite(
            "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
            "ECDHE-RSA-CHACHA20-POLY1305",
            false,
        ),
    ];

    /// The suites that a list of names selects. The names are IANA or OpenSSL names, separated by `:`, `,` or spaces.
    /// OpenSSL's groups (`HIGH`, `ALL`, `ECDHE`) select every suite. `!` and `-` remove a suite. Names of suites that
    /// are not supported select nothing.
    #[must_use]
    pub fn select(text: &str) -> Vec<Self> {
        const GROUPS: [&str; 8] = [
            "ALL", "DEFAULT", "HIGH", "SECURE", "ECDHE", "EECDH", "AESGCM", "AEAD",
        ];
        let names = text
            .split([':', ',', ' ', ';'])
            .filter(|name| !name.is_empty());
        let (mut chosen, mut taken_away) = (Vec::new(), Vec::new());
        for name in names {
            let (removes, name) = match name.strip_prefix(['!', '-']) {
                Some(name) => (true, name),
                None => (false, name.trim_start_matches('+')),
            };
            let named = Self::ALL.into_iter().filter(|suite| {
                suite.name.eq_ignore_ascii_case(name)
                    || suite.openssl.eq_ignore_ascii_case(name)
                    || (!removes
                        && (GROUPS.iter().any(|group| group.eq_ignore_ascii_case(name))
                            || name.split('+').any(|part| part == "HIGH")))
            });
            if removes {
                taken_away.extend(named);
            } else {
                chosen.extend(named);
            }
        }
        let selected = |suite: &Self| chosen.contains(suite) && !taken_away.contains(suite);
        Self::ALL.into_iter().filter(selected).collect()
    }
}

/// The part of the options that cannot be used, and the reason.
#[derive(Debug)]
pub struct TlsError {
    /// The part that is wrong.
    pub part: TlsPart,
    /// The file that is wrong, if a file is.
    pub file: Option<PathBuf>,
    /// The fault, and its correction.
    pub note: String,
}

/// A part of [`TlsOptions`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TlsPart {
    /// Our certificate or key.
    Identity,
    /// The authorities.
    Authorities,
    /// The revocation lists.
    RevocationLists,
    /// Versions and suites.
    Suites,
    /// TLS as such.
    Tls,
}

impl TlsError {
    pub(super) fn new(part: TlsPart, note: impl Into<String>) -> Self {
        Self {
            part,
            file: None,
            note: note.into(),
        }
    }

    #[cfg(feature = "tls")]
    pub(super) fn of_file(part: TlsPart, file: &std::path::Path, note: impl Into<String>) -> Self {
        Self {
            part,
            file: Some(file.into()),
            note: note.into(),
        }
    }
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{}: {}", file.display(), self.note),
            None => f.write_str(&self.note),
        }
    }
}

impl std::error::Error for TlsError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_are_selected_by_either_name() {
        let names = |text| -> Vec<&str> {
            Suite::select(text)
                .iter()
                .map(|suite| suite.openssl)
                .collect()
        };
        assert_eq!(
            names("TLS_AES_128_GCM_SHA256,ECDHE-RSA-AES128-GCM-SHA256"),
            ["TLS_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"]
        );
        assert_eq!(Suite::select("HIGH:!RC4").len(), 9);
        assert_eq!(Suite::select("ALL:!ECDHE-RSA-AES128-GCM-SHA256").len(), 8);
        assert!(names("TLS_RSA_WITH_AES_128_CBC_SHA:RC4-SHA:NULL").is_empty());
        assert!(names("").is_empty());
    }
}
