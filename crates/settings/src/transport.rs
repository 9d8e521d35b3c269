//! Makes TLS, the proxy, the local address and the socket options of a session from its settings.
//!
//! Four engines have four sets of names for TLS settings. One [`TlsOptions`] holds what all of them can express.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use fixwire_engine::Network;
use fixwire_engine::tls::{
    Authority, ClientCertificates, Identity, Pin, Suite, Tls, TlsError, TlsOptions, TlsPart,
};
use fixwire_engine::transport::{HostPolicy, Password, Proxy, ProxyKind, Transport};

use super::problem::{LoadError, Problem, SettingsFault};
use super::resolved::{SessionSettings, Settings};
use super::{Id, Setting, SettingValue};

/// The TLS contexts that were made for sessions of the file. The flag is true for an acceptor.
pub type Made = Vec<(bool, Tls)>;

/// The transport of a session. Certificate files are read once for all sessions that use them.
///
/// # Errors
///
/// [`LoadError::Content`] when a file cannot be used or values conflict.
pub fn transport(
    settings: &Settings,
    from: &SessionSettings,
    made: &mut Made,
) -> Result<Transport, LoadError> {
    let wrong = |id, note: &str| settings.error(from, id, note.to_owned());
    let certificates = match from.text(Id::PeerCertificates) {
        None => Vec::new(),
        Some(text) => Pin::parse_list(text)
            .ok_or_else(|| wrong(Id::PeerCertificates, &format!("expected {}", Pin::EXPECTED)))?,
    };
    let balancers = match from.bool(Id::UseTCPProxy) {
        false => Vec::new(),
        true => networks(from.text(Id::TrustedBalancers).unwrap_or_default()).ok_or_else(|| {
            let note = "expected addresses or ranges such as 10.0.0.0/8, separated by commas";
            wrong(Id::TrustedBalancers, note)
        })?,
    };
    let tls = match uses_tls(from) {
        false if !certificates.is_empty() => {
            let note = "PeerCertificates requires TLS: set SocketUseSSL=Y";
            return Err(wrong(Id::PeerCertificates, note));
        }
        false => None,
        true => Some(tls(settings, from, !certificates.is_empty(), made)?),
    };
    let traffic_class = match from.text(Id::SocketTrafficClass) {
        None => None,
        Some(text) => Some(traffic_class(text).ok_or_else(|| {
            let note = "expected 0 to 255, or IPTOS_LOWCOST, IPTOS_RELIABILITY, IPTOS_THROUGHPUT, \
                        IPTOS_LOWDELAY separated by |";
            wrong(Id::SocketTrafficClass, note)
        })?),
    };
    let said = |id| match from.find(id)?.value {
        SettingValue::Bool(value) => Some(value),
        _ => None,
    };
    let mut transport = Transport::default();
    transport.tls = tls;
    transport.certificates = certificates;
    transport.balancers = balancers;
    transport.proxy = proxy(from).map_err(|(id, note)| wrong(id, note))?;
    transport.local = local(from);
    transport.policy = match from.text(Id::HostSelectionPolicy) {
        Some("PRIORITY") => HostPolicy::Priority {
            start_over: from
                .time(Id::HostSelectionPolicyPriorityStartOverInterval)
                .unwrap_or_default(),
        },
        _ => HostPolicy::RoundRobin,
    };
    transport.reuse_address = from.bool(Id::SocketReuseAddress);
    transport.keep_alive = said(Id::SocketKeepAlive);
    transport.oob_inline = said(Id::SocketOobInline);
    transport.linger = from.int(Id::SocketLinger).map(Duration::from_secs);
    transport.traffic_class = traffic_class;
    transport.busy_poll = from
        .int(Id::BusyPoll)
        .and_then(|micros| u32::try_from(micros).ok())
        .filter(|micros| *micros > 0);
    Ok(transport)
}

/// Adds warnings about a session's transport where a setting is probably not intended or is missing.
pub fn check(session: &SessionSettings, problems: &mut Vec<Problem>) {
    let mut tell = |id, fault| {
        let span = session.find(id).and_then(|setting| setting.origin.span());
        let span = span.unwrap_or(session.header);
        problems.push(Problem { span, fault });
    };
    let said = |id| is_said(session, id);
    if said(Id::SocketInsecureSkipVerify) && session.bool(Id::SocketInsecureSkipVerify)
        || !session.bool(Id::SSLValidateCertificates) && !is_acceptor(session)
    {
        let note = "the peer's certificate is not verified: anyone between us and the peer can \
                    impersonate it (set PeerCertificates to the certificates to accept)";
        let id = match session.bool(Id::SocketInsecureSkipVerify) {
            true => Id::SocketInsecureSkipVerify,
            false => Id::SSLValidateCertificates,
        };
        if uses_tls(session) && !said(Id::PeerCertificates) {
            tell(id, SettingsFault::Surprise { note });
        }
    }
    for store in [Id::SocketKeyStore, Id::SocketTrustStore] {
        if said(store) && !said(Id::SocketUseSSL) {
            let note = "a key store is configured, but TLS is not enabled: set SocketUseSSL=Y, or \
                        SocketUseSSL=N for plain text";
            tell(store, SettingsFault::Conflict { note: note.into() });
            return;
        }
    }
    if !uses_tls(session)
        && !said(Id::SocketUseSSL)
        && let Some(named) = files_of_tls(session).find(|id| said(*id))
    {
        let note = if is_acceptor(session) && named == Id::ServerCertificateFile {
            "the certificate is missing and nothing else enables TLS, so this session accepts \
             plain text, as QuickFIX does unless its program enables TLS: set SocketUseSSL=Y, or \
             SocketUseSSL=N for plain text"
        } else {
            "TLS is not enabled, so this session uses plain text: set SocketUseSSL=Y, or \
             SocketUseSSL=N for plain text"
        };
        tell(named, SettingsFault::Surprise { note });
    }
    if is_acceptor(session) && uses_tls(session) {
        let wanted = client_certificates(session, said(Id::PeerCertificates));
        if wanted != ClientCertificates::NotAsked && !said(Id::PeerCertificates) {
            let note = "any certificate issued by these authorities may log on as this session: \
                        set PeerCertificates to those of this session";
            let named = AUTHORITIES.into_iter().find(|id| said(*id));
            tell(
                named.unwrap_or(Id::NeedClientAuth),
                SettingsFault::Surprise { note },
            );
        }
        if wanted == ClientCertificates::NotAsked && said(Id::SocketTrustStore) {
            let note = "client certificates are not requested: set NeedClientAuth=Y";
            tell(Id::SocketTrustStore, SettingsFault::Surprise { note });
        }
    }
    for (one, other) in [
        (Id::UseTCPProxy, Id::TrustedBalancers),
        (Id::ProxyHost, Id::ProxyPort),
        (Id::ProxyPort, Id::ProxyHost),
        (Id::ProxyType, Id::ProxyHost),
        (Id::ProxyUser, Id::ProxyHost),
    ] {
        let on = said(one) && (one != Id::UseTCPProxy || session.bool(one));
        if on && !said(other) {
            let because = match other {
                Id::TrustedBalancers => {
                    "a PROXY header can claim any client address: set the load balancers that may \
                     send one"
                }
                Id::ProxyPort => "a proxy needs a host and a port",
                _ => "the proxy to connect through",
            };
            let name = |id| super::keys::KEYS[id as usize].name;
            let note = format!("{} needs {}: {because}", name(one), name(other));
            tell(one, SettingsFault::Conflict { note });
        }
    }
}

const AUTHORITIES: [Id; 3] = [
    Id::SocketCAFile,
    Id::CertificationAuthoritiesDirectory,
    Id::SocketTrustStore,
];

fn is_said(from: &SessionSettings, id: Id) -> bool {
    from.find(id)
        .is_some_and(|setting| setting.origin.span().is_some())
}

fn is_acceptor(from: &SessionSettings) -> bool {
    from.text(Id::ConnectionType) == Some("acceptor")
}

/// Whether a session uses TLS. A session uses TLS when the file turns TLS on, or names a certificate (as in
/// QuickFIX/Go and QuickFIX C++). An initiator also uses TLS when the file names certificate authorities.
pub(super) fn uses_tls(from: &SessionSettings) -> bool {
    if from.find(Id::SocketUseSSL).is_some() {
        return from.bool(Id::SocketUseSSL);
    }
    let named: &[Id] = match is_acceptor(from) {
        true => &[Id::SocketCertificateFile, Id::ServerCertificateFile],
        false => &[
            Id::SocketCertificateFile,
            Id::ClientCertificateFile,
            Id::SocketCAFile,
            Id::CertificationAuthoritiesDirectory,
        ],
    };
    named.iter().any(|id| is_said(from, *id))
}

/// The keys for certificates, private keys, authorities and revocation lists of a session.
fn files_of_tls(session: &SessionSettings) -> impl Iterator<Item = Id> {
    let of_role = match is_acceptor(session) {
        true => [Id::ServerCertificateFile, Id::ServerCertificateKeyFile],
        false => [Id::ClientCertificateFile, Id::ClientCertificateKeyFile],
    };
    let of_both = [
        Id::SocketCertificateFile,
        Id::SocketPrivateKeyFile,
        Id::SocketCAFile,
        Id::CertificationAuthoritiesDirectory,
        Id::CertificateRevocationListFile,
        Id::CertificateRevocationListDirectory,
    ];
    of_role.into_iter().chain(of_both)
}

/// Whether a file of QuickFIX (C++) has no other TLS setting than an acceptor's certificate whose file is missing. In
/// QuickFIX (C++) the program decides whether to use TLS, and one of its sample files has such a setting. The session
/// then uses plain text, and peers that require TLS cannot connect.
pub(super) fn lacks_its_certificate(session: &SessionSettings) -> bool {
    let missing = |id| {
        let path = session.text(id).map(std::path::Path::new);
        path.is_some_and(|path| path.try_exists().is_ok_and(|exists| !exists))
    };
    is_acceptor(session)
        && missing(Id::ServerCertificateFile)
        && !is_said(session, Id::SocketUseSSL)
        && !is_said(session, Id::SocketCertificateFile)
        && !is_said(session, Id::PeerCertificates)
        && !is_said(session, Id::NeedClientAuth)
}

fn tls(
    settings: &Settings,
    from: &SessionSettings,
    pinned: bool,
    made: &mut Made,
) -> Result<Tls, LoadError> {
    let acceptor = is_acceptor(from);
    let wrong = |id, note: &str| settings.error(from, id, note.to_owned());
    let (tls12, tls13) = versions(from).map_err(|(id, note)| wrong(id, note))?;
    let options = TlsOptions {
        identity: identity(from, acceptor).map_err(|(id, note)| wrong(id, note))?,
        authorities: authorities(from),
        revocation_lists: [
            Id::CertificateRevocationListFile,
            Id::CertificateRevocationListDirectory,
        ]
        .into_iter()
        .filter_map(|id| from.text(id).map(PathBuf::from))
        .collect(),
        client_certificates: match acceptor {
            true => client_certificates(from, pinned),
            false => ClientCertificates::NotAsked,
        },
        tls12,
        tls13,
        suites: suites(from).map_err(|(id, note)| settings.error(from, id, note))?,
        server_name: from.text(Id::SocketServerName).map(str::to_owned),
        send_name: from.bool(Id::UseSNI),
        check_name: !pinned,
        check_chain: !from.bool(Id::SocketInsecureSkipVerify)
            && from.bool(Id::SSLValidateCertificates),
    };
    if acceptor && options.identity.is_none() {
        let note = "an acceptor with TLS needs a certificate: set SocketCertificateFile and, for \
                    its private key, SocketPrivateKeyFile (PEM), or SocketKeyStore for both \
                    (PKCS#12)";
        return Err(wrong(Id::SocketUseSSL, note));
    }
    let same = |(side, tls): &&(bool, Tls)| *side == acceptor && *tls.options() == options;
    if let Some((_, tls)) = made.iter().find(same) {
        return Ok(tls.clone());
    }
    let tls = match acceptor {
        true => Tls::acceptor(options),
        false => Tls::initiator(options),
    };
    let tls = tls.map_err(|error| {
        let id = blamed(from, &error);
        let key = from.find(id).map(|setting| setting.key.name);
        settings.error(
            from,
            id,
            format!("{error} ({})", key.unwrap_or("SocketUseSSL")),
        )
    })?;
    made.push((acceptor, tls.clone()));
    Ok(tls)
}

/// The key that is to blame for an error.
fn blamed(from: &SessionSettings, error: &TlsError) -> Id {
    let candidates: &[Id] = match error.part {
        TlsPart::Identity => &[
            Id::SocketKeyStore,
            Id::SocketCertificateFile,
            Id::ServerCertificateFile,
            Id::ClientCertificateFile,
            Id::SocketPrivateKeyFile,
            Id::ServerCertificateKeyFile,
            Id::ClientCertificateKeyFile,
        ],
        TlsPart::Authorities => &AUTHORITIES,
        TlsPart::RevocationLists => &[
            Id::CertificateRevocationListFile,
            Id::CertificateRevocationListDirectory,
        ],
        TlsPart::Suites => &[
            Id::CipherSuites,
            Id::SSLCipherSuite,
            Id::TLSCipherSuites,
            Id::EnabledProtocols,
        ],
        TlsPart::Tls => &[],
    };
    let mut said = candidates.iter().copied().filter(|id| is_said(from, *id));
    let names_it = |id: &Id| {
        let named = from.text(*id).map(std::path::Path::new);
        named.is_some() && named == error.file.as_deref()
    };
    let named = said.clone().find(names_it);
    named.or_else(|| said.next()).unwrap_or(Id::SocketUseSSL)
}

type Wrong = (Id, &'static str);

fn identity(from: &SessionSettings, acceptor: bool) -> Result<Option<Identity>, Wrong> {
    let (of_role, key_of_role) = match acceptor {
        true => (Id::ServerCertificateFile, Id::ServerCertificateKeyFile),
        false => (Id::ClientCertificateFile, Id::ClientCertificateKeyFile),
    };
    let mut named = Vec::new();
    for (certificate, key) in [
        (Id::SocketCertificateFile, Id::SocketPrivateKeyFile),
        (of_role, key_of_role),
    ] {
        if let Some(chain) = from.text(certificate) {
            let chain = PathBuf::from(chain);
            // One file may contain both the certificate and the key.
            let key = from.text(key).map_or_else(|| chain.clone(), PathBuf::from);
            named.push((certificate, Identity::Pem { chain, key }));
        } else if from.text(key).is_some() {
            return Err((
                key,
                "a private key needs its certificate: set the certificate file too",
            ));
        }
    }
    if let Some(file) = from.text(Id::SocketKeyStore) {
        let password = password(from, Id::SocketKeyStorePassword);
        let file = PathBuf::from(file);
        named.push((Id::SocketKeyStore, Identity::KeyStore { file, password }));
    }
    match named.len() {
        0 | 1 => Ok(named.pop().map(|(_, identity)| identity)),
        _ => Err((
            named[1].0,
            "two certificates are configured for one side of the connection: remove one",
        )),
    }
}

fn password(from: &SessionSettings, id: Id) -> Password {
    Password::from(from.text(id).unwrap_or_default())
}

fn authorities(from: &SessionSettings) -> Vec<Authority> {
    let mut all = Vec::new();
    for id in [Id::SocketCAFile, Id::CertificationAuthoritiesDirectory] {
        all.extend(from.text(id).map(|path| Authority::Pem(path.into())));
    }
    if let Some(file) = from.text(Id::SocketTrustStore) {
        all.push(Authority::KeyStore {
            file: file.into(),
            password: password(from, Id::SocketTrustStorePassword),
        });
    }
    all
}

/// Whether an acceptor requests client certificates. Without a setting for it, the acceptor requires them when the
/// session has PeerCertificates or PEM certificate authorities. A trust store alone does not count, because
/// QuickFIX/J does not use it in this case.
fn client_certificates(from: &SessionSettings, pinned: bool) -> ClientCertificates {
    if is_said(from, Id::NeedClientAuth) {
        return match from.bool(Id::NeedClientAuth) {
            true => ClientCertificates::Required,
            false if pinned => ClientCertificates::Required,
            false => ClientCertificates::NotAsked,
        };
    }
    match from.int(Id::CertificateVerifyLevel) {
        Some(0) if !pinned => ClientCertificates::NotAsked,
        Some(1) if !pinned => ClientCertificates::Optional,
        Some(_) => ClientCertificates::Required,
        None => {
            let named = [Id::SocketCAFile, Id::CertificationAuthoritiesDirectory];
            match pinned || named.iter().any(|id| is_said(from, *id)) {
                true => ClientCertificates::Required,
                false => ClientCertificates::NotAsked,
            }
        }
    }
}

/// Whether TLS 1.2 is allowed, and whether TLS 1.3 is allowed.
fn versions(from: &SessionSettings) -> Result<(bool, bool), Wrong> {
    let (mut tls12, mut tls13) = (true, true);
    if let Some(text) = from.text(Id::EnabledProtocols) {
        (tls12, tls13) = enabled(text);
        if !(tls12 || tls13) {
            let note = "include TLS 1.2 or TLS 1.3: older versions are insecure and not supported";
            return Err((Id::EnabledProtocols, note));
        }
    }
    if from.text(Id::SocketMinimumTLSVersion) == Some("TLS13") {
        tls12 = false;
        if !tls13 {
            let note = "EnabledProtocols does not include TLS 1.3";
            return Err((Id::SocketMinimumTLSVersion, note));
        }
    }
    Ok((tls12, tls13))
}

/// Reads the TLS versions in the notations `TLSv1.2,TLSv1.3` (QuickFIX/J), `Tls12, Tls13` (QuickFIX/n) and
/// `all -SSLv2` (QuickFIX C++).
fn enabled(text: &str) -> (bool, bool) {
    let (mut tls12, mut tls13) = (false, false);
    let words = text.split([',', ' ', '|', ';', ':']);
    for word in words.filter(|word| !word.is_empty()) {
        let (on, name) = match word.strip_prefix(['-', '!']) {
            Some(name) => (false, name),
            None => (true, word.trim_start_matches('+')),
        };
        let name: String = name.to_ascii_lowercase().replace(['v', '.', '_'], "");
        match name.as_str() {
            "all" | "none" | "default" | "systemdefault" => (tls12, tls13) = (on, on),
            "tls12" => tls12 = on,
            "tls13" => tls13 = on,
            _ => {}
        }
    }
    (tls12, tls13)
}

/// The allowed cipher suites. For a TLS version without a setting, all its suites are allowed.
fn suites(from: &SessionSettings) -> Result<Vec<Suite>, (Id, String)> {
    if let Some(text) = from.text(Id::CipherSuites) {
        return chosen(Id::CipherSuites, text, |_| true);
    }
    let mut all = Vec::new();
    for (id, tls13) in [(Id::SSLCipherSuite, false), (Id::TLSCipherSuites, true)] {
        match from.text(id) {
            Some(text) => all.extend(chosen(id, text, |suite| suite.tls13 == tls13)?),
            None => all.extend(Suite::ALL.into_iter().filter(|suite| suite.tls13 == tls13)),
        }
    }
    match all.len() == Suite::ALL.len() {
        true => Ok(Vec::new()),
        false => Ok(all),
    }
}

fn chosen(id: Id, text: &str, of: impl Fn(&Suite) -> bool) -> Result<Vec<Suite>, (Id, String)> {
    let found: Vec<Suite> = Suite::select(text).into_iter().filter(&of).collect();
    if found.is_empty() {
        let known = Suite::ALL.iter().filter(|suite| of(suite));
        let known: Vec<&str> = known.map(|suite| suite.openssl).collect();
        let note = format!("no supported cipher suite: use {}", known.join(", "));
        return Err((id, note));
    }
    Ok(found)
}

fn networks(text: &str) -> Option<Vec<Network>> {
    text.split(',')
        .map(|part| part.trim().parse().ok())
        .collect()
}

fn proxy(from: &SessionSettings) -> Result<Option<Proxy>, Wrong> {
    let (Some(host), Some(port)) = (from.text(Id::ProxyHost), from.int(Id::ProxyPort)) else {
        return Ok(None);
    };
    let kind = match (from.text(Id::ProxyType), from.text(Id::ProxyVersion)) {
        (Some("socks"), None | Some("5")) => ProxyKind::Socks5,
        (Some("socks"), Some("4")) => ProxyKind::Socks4,
        (Some("socks"), Some("4a")) => ProxyKind::Socks4a,
        (Some("socks"), _) => return Err((Id::ProxyVersion, "SOCKS versions are 4, 4a and 5")),
        (_, Some("1.0")) => ProxyKind::Http10,
        (_, None | Some("1.1")) => ProxyKind::Http11,
        _ => return Err((Id::ProxyVersion, "HTTP versions are 1.0 and 1.1")),
    };
    Ok(Some(Proxy {
        kind,
        host: host.to_owned(),
        port: u16::try_from(port).unwrap_or_default(),
        user: from.text(Id::ProxyUser).unwrap_or_default().to_owned(),
        password: password(from, Id::ProxyPassword),
    }))
}

/// The local address for each host: the address with the host's number, otherwise the address without a number.
fn local(from: &SessionSettings) -> Vec<Option<SocketAddr>> {
    let of = |id, number: Option<u16>| -> Option<&Setting> {
        let exact = from.all(id).find(|setting| setting.number == number);
        exact.or_else(|| from.all(id).find(|setting| setting.number.is_none()))
    };
    let address = |host: &Setting| {
        let ip = of(Id::SocketLocalHost, host.number).map(|setting| &setting.value);
        let port = of(Id::SocketLocalPort, host.number).map(|setting| &setting.value);
        let ip = match (ip, port) {
            (Some(SettingValue::Ip(ip)), _) => *ip,
            (None, Some(_)) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            _ => return None,
        };
        let port = match port {
            Some(SettingValue::Int(port)) => u16::try_from(*port).unwrap_or_default(),
            _ => 0,
        };
        Some(SocketAddr::new(ip, port))
    };
    from.all(Id::SocketConnectHost).map(address).collect()
}

/// The IP_TOS octet, from a number or from names of its bits.
fn traffic_class(text: &str) -> Option<u8> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let bits = text.split('|').map(|name| match name.trim() {
        "IPTOS_LOWCOST" => Some(0x02),
        "IPTOS_RELIABILITY" => Some(0x04),
        "IPTOS_THROUGHPUT" => Some(0x08),
        "IPTOS_LOWDELAY" => Some(0x10),
        _ => None,
    });
    bits.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_every_dialect_are_read() {
        for (text, wanted) in [
            ("TLSv1.2", (true, false)),
            ("TLSv1.2,TLSv1.3", (true, true)),
            ("Tls13", (false, true)),
            ("Tls11, Tls12", (true, false)),
            ("all -SSLv2", (true, true)),
            ("all -TLSv1_2", (false, true)),
            ("+TLSv1_2 -SSLv3", (true, false)),
            ("SSLv3", (false, false)),
        ] {
            assert_eq!(enabled(text), wanted, "{text}");
        }
    }

    #[test]
    fn traffic_classes_are_numbers_or_names() {
        assert_eq!(traffic_class("184"), Some(184));
        assert_eq!(traffic_class("IPTOS_LOWDELAY|IPTOS_THROUGHPUT"), Some(0x18));
        assert_eq!(traffic_class("256"), None);
        assert_eq!(traffic_class("LOWDELAY"), None);
    }
}
