//! TLS configuration for the library: versions, cipher suites, trusted authorities.

use std::sync::Arc;

use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{
    ClientConfig, ClientConnection, Error, RootCertStore, ServerConfig, ServerConnection,
    SupportedProtocolVersion, version,
};

use super::failure::TlsFailure;
use super::load;
use super::options::{Authority, ClientCertificates, TlsError, TlsOptions, TlsPart};
use super::stream::Stream;
use super::trusted::{ClientCheck, ServerCheck, Trusted};
use super::unasked::NoCertificate;

/// The settings for one side of TLS. The same settings can be used for any number of connections.
#[derive(Debug)]
pub enum Context {
    Acceptor(Arc<ServerConfig>),
    Initiator(Arc<ClientConfig>),
}

impl Context {
    /// The acceptor's side. An acceptor issues no session tickets, so that every connection presents its certificate.
    /// The library supports no early data, renegotiation or compression.
    pub fn acceptor(options: &TlsOptions) -> Result<Self, TlsError> {
        let Some(identity) = &options.identity else {
            let note = "a TLS acceptor needs a certificate: configure it and its key";
            return Err(TlsError::new(TlsPart::Identity, note));
        };
        let (chain, key) = load::identity(identity)?;
        let provider = provider(options)?;
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&versions(options))
            .map_err(suites)?;
        let verifier = match options.client_certificates {
            ClientCertificates::NotAsked => WebPkiClientVerifier::no_client_auth(),
            wanted => {
                let certificates = load::authorities(&options.authorities)?;
                let roots = roots(&options.authorities, &certificates)?;
                let lists = load::revocation_lists(&options.revocation_lists)?;
                let trusted = trusted(certificates, lists.is_empty(), &provider);
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(roots, provider).with_crls(lists);
                let verifier = match wanted {
                    ClientCertificates::Optional => verifier.allow_unauthenticated(),
                    _ => verifier,
                };
                let chain = verifier.build().map_err(verifier_error)?;
                let check: Arc<dyn ClientCertVerifier> = Arc::new(ClientCheck { chain, trusted });
                check
            }
        };
        let mut config = builder
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key)
            .map_err(identity_error)?;
        config.send_tls13_tickets = 0;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        Ok(Self::Acceptor(Arc::new(config)))
    }

    /// The initiator's side. As for the acceptor, no session is resumed.
    pub fn initiator(options: &TlsOptions) -> Result<Self, TlsError> {
        let provider = provider(options)?;
        let (chain, trusted) = match options.check_chain {
            false => (None, trusted(Vec::new(), true, &provider)),
            true => {
                let system = [Authority::System];
                let named = match options.authorities.is_empty() {
                    true => &system[..],
                    false => &options.authorities,
                };
                let certificates = load::authorities(named)?;
                let roots = roots(named, &certificates)?;
                let lists = load::revocation_lists(&options.revocation_lists)?;
                // The system's certificates count only as authorities.
                let is_named = !options.authorities.is_empty() && lists.is_empty();
                let trusted = trusted(certificates, is_named, &provider);
                let verifier =
                    WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider))
                        .with_crls(lists)
                        .build()
                        .map_err(verifier_error)?;
                (Some(verifier), trusted)
            }
        };
        let verifier = Arc::new(ServerCheck {
            chain,
            check_name: options.check_name,
            trusted,
        });
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions(options))
            .map_err(suites)?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let mut config = match &options.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => {
                let (chain, key) = load::identity(identity)?;
                let built = builder.with_client_auth_cert(chain, key);
                built.map_err(identity_error)?
            }
        };
        config.resumption = Resumption::disabled();
        config.enable_sni = options.send_name;
        Ok(Self::Initiator(Arc::new(config)))
    }

    /// TLS for an accepted connection.
    pub fn accept(&self) -> Result<Stream, TlsFailure> {
        let Self::Acceptor(config) = self else {
            return Err(TlsFailure::Protocol);
        };
        let tls = ServerConnection::new(Arc::clone(config)).map_err(|_| TlsFailure::Protocol)?;
        Ok(Stream::new(tls.into(), None))
    }

    /// TLS for a connection to a host with this name.
    pub fn connect(&self, name: &str) -> Result<Stream, TlsFailure> {
        let Self::Initiator(config) = self else {
            return Err(TlsFailure::Protocol);
        };
        let name = ServerName::try_from(name.to_owned()).map_err(|_| TlsFailure::Name)?;
        let mut config = Arc::clone(config);
        // For each connection without a certificate this records whether the peer asked for one.
        let mut unasked = None;
        if !config.client_auth_cert_resolver.has_certs() {
            let none = Arc::new(NoCertificate::default());
            let mut own = ClientConfig::clone(&config);
            own.client_auth_cert_resolver = Arc::clone(&none) as _;
            (config, unasked) = (Arc::new(own), Some(none));
        }
        let tls = ClientConnection::new(config, name).map_err(|_| TlsFailure::Protocol)?;
        Ok(Stream::new(tls.into(), unasked))
    }
}

fn provider(options: &TlsOptions) -> Result<Arc<CryptoProvider>, TlsError> {
    let mut provider = ring::default_provider();
    if !options.suites.is_empty() {
        provider.cipher_suites.retain(|suite| {
            // The library begins the names of TLS 1.3 suites with TLS13_.
            let name = format!("{:?}", suite.suite()).replace("TLS13_", "TLS_");
            options.suites.iter().any(|wanted| wanted.name == name)
        });
    }
    if provider.cipher_suites.is_empty() || !(options.tls12 || options.tls13) {
        let note = "no TLS version or cipher suite is enabled";
        return Err(TlsError::new(TlsPart::Suites, note));
    }
    Ok(Arc::new(provider))
}

fn versions(options: &TlsOptions) -> Vec<&'static SupportedProtocolVersion> {
    let known = [
        (options.tls13, &version::TLS13),
        (options.tls12, &version::TLS12),
    ];
    known
        .into_iter()
        .filter(|(on, _)| *on)
        .map(|(_, version)| version)
        .collect()
}

/// The certificates in the files that are trusted directly.
fn trusted(
    certificates: Vec<CertificateDer<'static>>,
    may: bool,
    provider: &Arc<CryptoProvider>,
) -> Trusted {
    Trusted {
        certificates: if may { certificates } else { Vec::new() },
        provider: Arc::clone(provider),
    }
}

fn roots(
    from: &[Authority],
    certificates: &[CertificateDer<'static>],
) -> Result<Arc<RootCertStore>, TlsError> {
    let mut roots = RootCertStore::empty();
    let (added, ignored) = roots.add_parsable_certificates(certificates.iter().cloned());
    if added == 0 {
        let note = match (from, ignored) {
            ([], _) => "no certificate authority is configured for the peer's certificate",
            ([Authority::System], _) => {
                "the system has no trusted authorities: configure those of the peer's certificate"
            }
            (_, 0) => "no authority's certificate was found",
            _ => "none of the certificates can be read",
        };
        return Err(TlsError::new(TlsPart::Authorities, note));
    }
    Ok(Arc::new(roots))
}

fn suites(error: Error) -> TlsError {
    TlsError::new(
        TlsPart::Suites,
        format!("no configured cipher suite fits the TLS versions: {error}"),
    )
}

fn identity_error(error: Error) -> TlsError {
    let note = match error {
        Error::InconsistentKeys(_) => "the private key does not match the certificate".to_owned(),
        error => format!("the certificate or its key cannot be used: {error}"),
    };
    TlsError::new(TlsPart::Identity, note)
}

fn verifier_error(error: rustls::server::VerifierBuilderError) -> TlsError {
    match error {
        rustls::server::VerifierBuilderError::InvalidCrl(error) => TlsError::new(
            TlsPart::RevocationLists,
            format!("a revocation list cannot be used: {error:?}"),
        ),
        error => TlsError::new(TlsPart::Authorities, error.to_string()),
    }
}
