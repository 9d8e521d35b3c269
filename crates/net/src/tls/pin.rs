//! Pins: they say which certificates belong to a session.
//!
//! A pin identifies a peer by its public key, or by a name that an authority has put into the certificate. The
//! subject's common name never counts.

use std::fmt;

/// The contents of a peer's certificate that has been verified.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PeerCertificate {
    /// SHA-256 of the certificate's SubjectPublicKeyInfo.
    pub spki: [u8; 32],
    /// The DNS names in the certificate.
    pub dns: Vec<String>,
    /// The URIs in the certificate.
    pub uris: Vec<String>,
}

/// A property that a certificate must have.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Pin {
    /// `sha256:` and 64 hexadecimal digits: the hash of the SubjectPublicKeyInfo. A renewed certificate with the same
    /// key fits too.
    Spki([u8; 32]),
    /// `dns:` and one of the certificate's DNS names, ignoring case. DNS names have no wildcards.
    Dns(String),
    /// `uri:` and one of the certificate's URIs, which must be equal byte for byte.
    Uri(String),
}

impl Pin {
    /// The syntax that [`parse_list`](Self::parse_list) accepts, to follow the word "expected".
    pub const EXPECTED: &str = "certificates as sha256:…, dns:… or uri:…, separated by commas";

    /// Parses a list of pins, separated by commas.
    #[must_use]
    pub fn parse_list(text: &str) -> Option<Vec<Self>> {
        text.split(',')
            .map(|part| Self::parse(part.trim()))
            .collect()
    }

    /// Parses one pin.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, value) = text.split_once(':')?;
        if value.is_empty() {
            return None;
        }
        match kind.to_ascii_lowercase().as_str() {
            "sha256" => {
                let digits: Vec<u8> = value.bytes().filter(|byte| *byte != b':').collect();
                if digits.len() != 64 {
                    return None;
                }
                let mut spki = [0; 32];
                for (byte, pair) in spki.iter_mut().zip(digits.chunks(2)) {
                    let digit = |digit: u8| char::from(digit).to_digit(16);
                    *byte = (digit(pair[0])? * 16 + digit(pair[1])?) as u8;
                }
                Some(Self::Spki(spki))
            }
            "dns" => Some(Self::Dns(value.to_ascii_lowercase())),
            "uri" => Some(Self::Uri(value.to_owned())),
            _ => None,
        }
    }

    /// Whether a certificate has the property.
    #[must_use]
    pub fn fits(&self, certificate: &PeerCertificate) -> bool {
        match self {
            Self::Spki(spki) => certificate.spki == *spki,
            Self::Dns(name) => certificate
                .dns
                .iter()
                .any(|dns| dns.eq_ignore_ascii_case(name)),
            Self::Uri(uri) => certificate.uris.contains(uri),
        }
    }
}

/// Whether a peer may use a session. If the session names certificates, the peer must have presented one of them.
pub fn allowed(pins: &[Pin], shown: Option<&PeerCertificate>) -> bool {
    pins.is_empty() || shown.is_some_and(|shown| pins.iter().any(|pin| pin.fits(shown)))
}

/// A public key's hash, shown in the notation of a [`Pin`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Spki(pub [u8; 32]);

impl fmt::Display for Spki {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(feature = "tls")]
pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    let mut sum = [0; 32];
    sum.copy_from_slice(digest.as_ref());
    sum
}

/// The contents of a certificate; `None` when the certificate cannot be read.
#[cfg(feature = "tls")]
pub(super) fn peer_certificate(
    der: &rustls::pki_types::CertificateDer<'_>,
) -> Option<PeerCertificate> {
    let Ok(certificate) = webpki::EndEntityCert::try_from(der) else {
        // A certificate of version 1 has no names. It reaches this point only if nothing else is checked.
        return super::der::certificate_parts(der).map(|parts| PeerCertificate {
            spki: sha256(parts.spki),
            ..PeerCertificate::default()
        });
    };
    Some(PeerCertificate {
        spki: sha256(certificate.subject_public_key_info().as_ref()),
        dns: certificate.valid_dns_names().map(str::to_owned).collect(),
        uris: certificate.valid_uri_names().map(str::to_owned).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_read_and_compared() {
        let certificate = PeerCertificate {
            spki: [0xAB; 32],
            dns: vec!["Fix.Broker.example".into()],
            uris: vec!["spiffe://broker/fix".into()],
        };
        let text = format!(
            "{}, dns:fix.broker.EXAMPLE,uri:spiffe://broker/fix",
            Spki([0xAB; 32])
        );
        let pins = Pin::parse_list(&text).unwrap();
        assert_eq!(pins.len(), 3);
        assert!(pins.iter().all(|pin| pin.fits(&certificate)));
        let others =
            "sha256:".to_owned() + &"00".repeat(32) + ",dns:broker.example,uri:spiffe://broker";
        assert!(
            !Pin::parse_list(&others)
                .unwrap()
                .iter()
                .any(|pin| pin.fits(&certificate))
        );
        let spaced = "sha256:".to_owned() + &["ab"; 32].join(":");
        assert_eq!(Pin::parse(&spaced), Some(Pin::Spki([0xAB; 32])));
        for wrong in [
            "",
            "sha256:",
            "sha256:abc",
            "sha1:ab",
            "dns:",
            "CN=broker",
            "uri:a,,",
        ] {
            assert_eq!(Pin::parse_list(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_session_with_pins_needs_a_certificate() {
        assert!(allowed(&[], None));
        assert!(!allowed(&[Pin::Dns("a".into())], None));
    }
}
