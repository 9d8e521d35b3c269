//! Checks that the peer's certificate was issued by a trusted authority, or is itself trusted.
//!
//! ```text
//!   chain up to an authority of SocketCAFile ............ the library decides: names, dates, purpose, revocation
//!   else the very certificate stands in SocketCAFile .... its dates, and for an initiator its name
//!   SocketInsecureSkipVerify=Y .......................... any, also one of version 1; the peer must have its key
//! ```
//!
//! A certificate that `openssl req -x509` creates says that it is an authority (CA:TRUE). The TLS library refuses such
//! a certificate of a peer even if the settings name it. Peers without an authority exchange exactly this kind of
//! certificate.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};
use webpki::RawPublicKeyEntity;

use super::der::certificate_parts;

/// The certificates that are trusted directly, and what is needed to verify signatures with their keys.
#[derive(Debug)]
pub(super) struct Trusted {
    /// The certificates in SocketCAFile. The list is empty if revocation lists must cover each certificate.
    pub(super) certificates: Vec<CertificateDer<'static>>,
    pub(super) provider: Arc<CryptoProvider>,
}

impl Trusted {
    /// Whether this certificate is itself trusted and valid now. `None` for a certificate that is not itself trusted.
    fn holds(&self, certificate: &CertificateDer<'_>, now: UnixTime) -> Option<Result<(), Error>> {
        let is_known = |known: &CertificateDer<'_>| known.as_ref() == certificate.as_ref();
        if !self.certificates.iter().any(is_known) {
            return None;
        }
        let parts = certificate_parts(certificate)?;
        let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        Some(if now < parts.not_before {
            Err(CertificateError::NotValidYet.into())
        } else if now > parts.not_after {
            Err(CertificateError::Expired.into())
        } else {
            Ok(())
        })
    }

    /// Verifies that the peer has the key of its certificate, whatever the version of the certificate.
    fn signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
        tls13: bool,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        if ParsedCertificate::try_from(certificate).is_ok() {
            return match tls13 {
                true => verify_tls13_signature(message, certificate, signed, algorithms),
                false => verify_tls12_signature(message, certificate, signed, algorithms),
            };
        }
        let bad = |_| Error::from(CertificateError::BadEncoding);
        let parts = certificate_parts(certificate).ok_or(CertificateError::BadEncoding)?;
        let spki = SubjectPublicKeyInfoDer::from(parts.spki);
        if tls13 {
            return rustls::crypto::verify_tls13_signature_with_raw_key(
                message, &spki, signed, algorithms,
            );
        }
        let key = RawPublicKeyEntity::try_from(&spki).map_err(bad)?;
        let mut known = algorithms.mapping.iter();
        let known = known.find(|(scheme, _)| *scheme == signed.scheme);
        let verified = known.is_some_and(|(_, algorithms)| {
            let verifies = |algorithm: &&dyn rustls::pki_types::SignatureVerificationAlgorithm| {
                key.verify_signature(*algorithm, message, signed.signature())
                    .is_ok()
            };
            algorithms.iter().any(verifies)
        });
        match verified {
            true => Ok(HandshakeSignatureValid::assertion()),
            false => Err(CertificateError::BadSignature.into()),
        }
    }

    fn schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// How an initiator checks the certificate of an acceptor.
#[derive(Debug)]
pub(super) struct ServerCheck {
    /// `None`: any certificate.
    pub(super) chain: Option<Arc<WebPkiServerVerifier>>,
    pub(super) check_name: bool,
    pub(super) trusted: Trusted,
}

impl ServerCertVerifier for ServerCheck {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        above: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else {
            return Ok(ServerCertVerified::assertion());
        };
        // The library checks the name last.
        let refused = match chain.verify_server_cert(certificate, above, name, ocsp, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.check_name => return Ok(ServerCertVerified::assertion()),
            Ok(verified) => return Ok(verified),
            Err(error) => error,
        };
        self.trusted
            .holds(certificate, now)
            .unwrap_or(Err(refused))?;
        if self.check_name {
            // A certificate of version 1 has no names that count.
            let no_name = |_| Error::from(CertificateError::NotValidForName);
            let parsed = ParsedCertificate::try_from(certificate).map_err(no_name)?;
            verify_server_name(&parsed, name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.trusted.signature(message, certificate, signed, false)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.trusted.signature(message, certificate, signed, true)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.trusted.schemes()
    }
}

/// How an acceptor checks the certificate of an initiator.
#[derive(Debug)]
pub(super) struct ClientCheck {
    pub(super) chain: Arc<dyn ClientCertVerifier>,
    pub(super) trusted: Trusted,
}

impl ClientCertVerifier for ClientCheck {
    fn offer_client_auth(&self) -> bool {
        self.chain.offer_client_auth()
    }

    fn client_auth_mandatory(&self) -> bool {
        self.chain.client_auth_mandatory()
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.chain.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        above: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.chain
            .verify_client_cert(certificate, above, now)
            .or_else(|refused| {
                self.trusted
                    .holds(certificate, now)
                    .unwrap_or(Err(refused))
                    .map(|()| ClientCertVerified::assertion())
            })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.trusted.signature(message, certificate, signed, false)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.trusted.signature(message, certificate, signed, true)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.trusted.schemes()
    }
}
