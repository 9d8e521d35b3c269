//! Settings files in the words of four engines make transports that work together.
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::certificates::*;
use crate::common::*;
use fixwire::EngineConfig;
use fixwire::settings::{Settings, Source};
use fixwire::transport::{HostPolicy, ProxyKind};

fn read(text: &str) -> Result<(EngineConfig, String), String> {
    let source = Source {
        path: "x.cfg".into(),
        text: text.into(),
    };
    let settings = Settings::read(&source).map_err(|error| error.to_string())?;
    let config = settings.to_config().map_err(|error| error.to_string())?;
    Ok((config, settings.report.to_string()))
}

fn acceptor(folder: &Path, lines: &str) -> String {
    let store = folder.join("a");
    format!(
        "[DEFAULT]\nFileStorePath={}\n[SESSION]\nConnectionType=acceptor\nBeginString=FIX.4.2\n\
         SenderCompID=EXEC\nTargetCompID=BENCH\nSocketAcceptPort=1\n{lines}\n\
         SocketAcceptAddress=127.0.0.1\n",
        store.display()
    )
}

fn initiator(folder: &Path, lines: &str) -> String {
    let store = folder.join("i");
    format!(
        "[DEFAULT]\nFileStorePath={}\n[SESSION]\nConnectionType=initiator\nBeginString=FIX.4.2\n\
         SenderCompID=BENCH\nTargetCompID=EXEC\nHeartBtInt=30\nReconnectInterval=1\n\
         SocketConnectHost=localhost\nSocketConnectPort=1\n{lines}\n",
        store.display()
    )
}

#[test]
#[cfg_attr(not(feature = "pkcs12"), ignore = "needs the feature pkcs12")]
fn each_engines_words_for_tls_log_on_to_each_others() {
    let folder = tempfile::tempdir().unwrap();
    let ca = Ca::new(folder.path(), "ca");
    let server = ca.issue("localhost", 1, |_| {});
    let client = ca.issue("peer.test", 2, |_| {});
    let store = |of: &Issued| {
        let file = of.chain.with_extension("p12");
        let made = std::process::Command::new("openssl")
            .args(["pkcs12", "-export", "-passout", "pass:changeit"])
            .args(["-name", "own"])
            .arg("-in")
            .arg(&of.chain)
            .arg("-inkey")
            .arg(&of.key)
            .arg("-out")
            .arg(&file)
            .output()
            .expect("the program openssl is needed (apt-get install openssl)");
        assert!(made.status.success(), "{made:?}");
        file
    };
    let (server_store, client_store) = (store(&server), store(&client));
    let file = |path: &Path| path.display().to_string();
    let authority = file(&ca.file);
    let words = |engine: char, side: &str, of: &Issued, store: &Path| match engine {
        'C' => format!(
            "{side}CertificateFile={}\n{side}CertificateKeyFile={}\nSSLProtocol=all -SSLv2\n\
             CertificationAuthoritiesFile={authority}\nCertificateVerifyLevel=2\n\
             SSLCipherSuite=HIGH:!RC4",
            file(&of.chain),
            file(&of.key)
        ),
        'G' => format!(
            "SocketCertificateFile={}\nSocketPrivateKeyFile={}\nSocketCAFile={authority}\n\
             SocketMinimumTLSVersion=TLS12",
            file(&of.chain),
            file(&of.key)
        ),
        'J' => format!(
            "SocketUseSSL=Y\nSocketKeyStore={}\nSocketKeyStorePassword=changeit\nKeyStoreType=JKS\n\
             SocketCAFile={authority}\nNeedClientAuth=Y\nEnabledProtocols=TLSv1.2,TLSv1.3\n\
             CipherSuites=TLS_AES_128_GCM_SHA256",
            file(store)
        ),
        _ => format!(
            "SSLEnable=Y\nSSLCertificate={}\nSSLCertificatePassword=changeit\n\
             SSLCACertificate={authority}\nSSLProtocols=Tls12, Tls13\nSSLRequireClientCertificate=Y",
            file(store)
        ),
    };
    for (ours, theirs) in ['C', 'G', 'J', 'N'].into_iter().zip(['G', 'J', 'N', 'C']) {
        let folder = tempfile::tempdir().unwrap();
        let lines = words(ours, "Server", &server, &server_store);
        let (mut config, warnings) = read(&acceptor(folder.path(), &lines)).unwrap();
        assert!(warnings.contains("PeerCertificates"), "{warnings}");
        if let fixwire::Connection::Acceptor { listen } = &mut config.sessions[0].connection {
            listen.set_port(0);
        }
        config.segment_bytes = 16 << 20;
        let acceptor = Running::start(config);
        let lines = words(theirs, "Client", &client, &client_store);
        let (mut config, _) = read(&initiator(folder.path(), &lines)).unwrap();
        if let fixwire::Connection::Initiator { hosts, .. } = &mut config.sessions[0].connection {
            hosts[0].1 = acceptor.address().port();
        }
        config.segment_bytes = 16 << 20;
        let initiator = Running::start(config);
        wait_until(
            || initiator.seen.logons.load(Ordering::SeqCst) > 0,
            || {
                format!(
                    "{theirs} to {ours}: {:?} {:?}",
                    initiator.events, acceptor.events
                )
            },
        );
        initiator.stop();
        acceptor.stop();
    }
}

#[test]
fn what_the_file_says_of_hosts_proxies_and_sockets_is_what_the_engine_is_told() {
    let folder = Path::new("nowhere");
    let lines = "HostSelectionPolicy=priority\nHostSelectionPolicyPriorityStartOverInterval=60\n\
                 SocketConnectHost1=b\nSocketConnectPort1=2\nSocketLocalHost=127.0.0.2\n\
                 SocketConnectSourcePort1=4000\nProxyType=socks\nProxyVersion=4a\nProxyHost=p\n\
                 ProxyPort=1080\nProxyUser=me\nProxyPassword=secret\nSocketKeepAlive=Y\n\
                 SocketLinger=5\nSocketTrafficClass=IPTOS_LOWDELAY|IPTOS_THROUGHPUT\n\
                 SocketOobInline=N\nBusyPoll=50";
    let (config, _) = read(&initiator(folder, lines)).unwrap();
    let transport = &config.sessions[0].transport;
    let start_over = Duration::from_secs(60);
    assert_eq!(transport.policy, HostPolicy::Priority { start_over });
    let local = |text: &str| Some(text.parse().unwrap());
    assert_eq!(
        transport.local,
        [local("127.0.0.2:0"), local("127.0.0.2:4000")]
    );
    let proxy = transport.proxy.as_ref().unwrap();
    assert_eq!(
        (proxy.kind, proxy.port, proxy.user.as_str()),
        (ProxyKind::Socks4a, 1080, "me")
    );
    assert_eq!(transport.keep_alive, Some(true));
    assert_eq!(transport.oob_inline, Some(false));
    assert_eq!(transport.linger, Some(Duration::from_secs(5)));
    assert_eq!(transport.traffic_class, Some(0x18));
    assert_eq!(transport.busy_poll, Some(50));
    let lines = "UseTCPProxy=Y\nTrustedBalancers=10.0.0.0/8, ::1\nSocketReuseAddress=N";
    let (config, _) = read(&acceptor(folder, lines)).unwrap();
    assert_eq!(config.sessions[0].transport.balancers.len(), 2);
    assert!(!config.sessions[0].transport.reuse_address);
}

#[test]
fn what_does_not_go_together_is_refused_at_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let jks = folder.path().join("quickfixj.keystore");
    std::fs::write(&jks, b"\xFE\xED\xFE\xED\0\0\0\x02").unwrap();
    let jks = format!("SocketUseSSL=Y\nSocketKeyStore={}", jks.display());
    for (lines, wanted) in [
        (
            "SocketUseSSL=Y",
            "x.cfg:9: an acceptor with TLS needs a certificate: set SocketCertificateFile",
        ),
        (jks.as_str(), "keytool -importkeystore"),
        ("SocketKeyStore=a.p12", "x.cfg:9: a key store is configured"),
        (
            "SocketPrivateKeyFile=a\nSocketUseSSL=Y",
            "x.cfg:9: a private key needs",
        ),
        (
            "PeerCertificates=dns:a",
            "x.cfg:9: PeerCertificates requires TLS",
        ),
        (
            "SocketUseSSL=Y\nPeerCertificates=CN=a",
            "x.cfg:10: expected certificates as sha256:",
        ),
        (
            "SocketCertificateFile=gone.pem",
            "x.cfg:9: gone.pem: cannot be read",
        ),
        (
            "SocketUseSSL=Y\nEnabledProtocols=SSLv3",
            "x.cfg:10: include TLS 1.2 or TLS 1.3",
        ),
        (
            "SocketUseSSL=Y\nCipherSuites=RC4-SHA",
            "x.cfg:10: no supported cipher suite",
        ),
        ("UseTCPProxy=Y", "UseTCPProxy needs TrustedBalancers"),
        (
            "UseTCPProxy=Y\nTrustedBalancers=all",
            "x.cfg:10: expected addresses or ranges",
        ),
        ("ProxyHost=p", "ProxyHost needs ProxyPort"),
        (
            "ProxyHost=p\nProxyPort=1\nProxyVersion=5",
            "HTTP versions are",
        ),
        ("SocketTrafficClass=fast", "x.cfg:9: expected 0 to 255"),
        (
            "SocketCertificateBytes=x",
            "use the files SocketPrivateKeyFile",
        ),
    ] {
        let found = read(&acceptor(Path::new("nowhere"), lines)).unwrap_err();
        assert!(found.contains(wanted), "{lines}: {found}");
    }
}
