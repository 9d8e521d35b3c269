//! TLS against OpenSSL: which versions and cipher suites are taken, and a certificate for each of
//! twenty sessions that belongs to no other.
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use crate::certificates::*;
use crate::common::app::{App, send};
use crate::common::*;
use fixwire::event::ConnectionRefusal;
use fixwire::protocol::session::{BeginString, Config, Role};
use fixwire::protocol::tag;
use fixwire::tls::{Identity, Pin, Tls, TlsFailure, TlsOptions};
use fixwire::{Connection, Engine, Event, SessionConfig, Wait};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::version::TLS13;
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
};
use socket2::{Domain, Socket, Type};

/// An RSA certificate, which the library for test certificates cannot make.
fn rsa(folder: &Path) -> Identity {
    let (chain, key) = (folder.join("rsa.pem"), folder.join("rsa.key"));
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=fix.test",
        ])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&chain)
        .output()
        .expect("openssl is needed: apt-get install openssl");
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    Identity::Pem { chain, key }
}

/// Lets OpenSSL's client log on; what it received.
fn log_on(to: SocketAddr, options: &[&str]) -> String {
    let mut client = Command::new("openssl")
        .args(["s_client", "-quiet", "-connect", &to.to_string()])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let logon = message("A", 1, "BENCH", "EXEC", "98=0|108=30|141=Y|");
    // A client whose handshake failed has already disconnected.
    let _ = client.stdin.as_mut().unwrap().write_all(&logon);
    let mut output = client.stdout.take().unwrap();
    let (mut received, mut bytes) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = output.read(&mut bytes) {
        received.extend_from_slice(&bytes[..count]);
        if received.ends_with(b"\x01") {
            break;
        }
    }
    let _ = client.kill();
    let _ = client.wait();
    String::from_utf8_lossy(&received).replace('\x01', "|")
}

#[test]
fn openssl_logs_on_with_the_versions_and_suites_that_are_safe_and_with_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let ca = Ca::new(folder.path(), "ca");
    let ecdsa = identity(&ca.issue("fix.test", 1, |_| {})).unwrap();
    let modern = [
        "TLS_AES_128_GCM_SHA256",
        "TLS_AES_256_GCM_SHA384",
        "TLS_CHACHA20_POLY1305_SHA256",
    ];
    let good: Vec<Vec<String>> = modern
        .iter()
        .map(|suite| vec!["-tls1_3".into(), "-ciphersuites".into(), (*suite).into()])
        .collect();
    let old = |version: &str, suite: &str| -> Vec<String> {
        let cipher = format!("{suite}:@SECLEVEL=0");
        vec![format!("-{version}"), "-cipher".into(), cipher]
    };
    for (own, kind) in [(rsa(folder.path()), "RSA"), (ecdsa, "ECDSA")] {
        let mut session = acceptor_session("127.0.0.1:0");
        let options = TlsOptions {
            identity: Some(own),
            ..TlsOptions::default()
        };
        session.transport.tls = Some(Tls::acceptor(options).unwrap());
        let engine = Running::start(config(&folder.path().join(kind), session));
        let mut good = good.clone();
        for suite in [
            "AES128-GCM-SHA256",
            "AES256-GCM-SHA384",
            "CHACHA20-POLY1305",
        ] {
            good.push(old("tls1_2", &format!("ECDHE-{kind}-{suite}")));
        }
        let mut bad = vec![old("tls1", "ALL"), old("tls1_1", "ALL")];
        for suite in ["AES128-SHA", "AES256-SHA256", "ECDHE"] {
            let suite = suite.replace("ECDHE", &format!("ECDHE-{kind}-AES128-SHA256"));
            bad.push(old("tls1_2", &suite));
        }
        for suite in [
            "AES128-GCM-SHA256",
            "DHE-RSA-AES128-GCM-SHA256",
            "ADH-AES128-GCM-SHA256",
        ] {
            bad.push(old("tls1_2", suite));
        }
        let ended = || {
            let events = engine.events.lock().unwrap();
            let is_end = |event: &&Event| matches!(event, Event::Disconnected { .. });
            events.iter().filter(is_end).count()
        };
        let mut before = 0;
        for (wanted, all) in [(true, good), (false, bad)] {
            for options in all {
                let options: Vec<&str> = options.iter().map(String::as_str).collect();
                let answer = log_on(engine.address(), &options);
                assert_eq!(
                    answer.contains("|35=A|"),
                    wanted,
                    "{kind} {options:?}: {answer}"
                );
                if wanted {
                    before += 1;
                    // The session is free for the next one.
                    wait_until(|| ended() == before, || format!("{options:?}"));
                }
            }
        }
        // T2: nothing is given out with which a later connection could skip the certificate.
        for version in ["-tls1_3", "-tls1_2"] {
            let kept = folder.path().join(format!("{kind}{version}.session"));
            let answer = log_on(
                engine.address(),
                &[version, "-sess_out", kept.to_str().unwrap()],
            );
            assert!(answer.contains("|35=A|"), "{kind} {version}: {answer}");
            assert!(
                !kept.exists(),
                "{kind} {version}: the session can be resumed"
            );
            before += 1;
            wait_until(|| ended() == before, || format!("{kind} {version}"));
        }
        let refused = |why| {
            engine.wait_event(
                |event| matches!(event, Event::Refused { why: said, .. } if *said == why),
            );
        };
        refused(ConnectionRefusal::Tls(TlsFailure::Version));
        refused(ConnectionRefusal::Tls(TlsFailure::Suites));
        engine.stop();
    }
}

#[test]
#[cfg_attr(not(feature = "pkcs12"), ignore = "needs the feature pkcs12")]
fn a_key_store_made_by_openssl_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let ca = Ca::new(folder.path(), "ca");
    let own = ca.issue("fix.test", 1, |_| {});
    for legacy in [false, true] {
        let file = folder.path().join(format!("{legacy}.p12"));
        let mut openssl = Command::new("openssl");
        openssl.args([
            "pkcs12",
            "-export",
            "-passout",
            "pass:changeit",
            "-name",
            "own",
        ]);
        if legacy {
            openssl.args([
                "-certpbe",
                "PBE-SHA1-3DES",
                "-keypbe",
                "PBE-SHA1-3DES",
                "-macalg",
                "sha1",
            ]);
        }
        openssl
            .arg("-in")
            .arg(&own.chain)
            .arg("-inkey")
            .arg(&own.key);
        openssl
            .arg("-certfile")
            .arg(&ca.file)
            .arg("-out")
            .arg(&file);
        let made = openssl.output().unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        let read = |password| {
            Tls::acceptor(TlsOptions {
                identity: Some(Identity::KeyStore {
                    file: file.clone(),
                    password: fixwire::transport::Password::from(password),
                }),
                ..TlsOptions::default()
            })
        };
        let wrong = read("wrong").unwrap_err().to_string();
        assert!(
            wrong.contains("password") && !wrong.contains("changeit"),
            "{wrong}"
        );
        let mut session = acceptor_session("127.0.0.1:0");
        session.transport.tls = Some(read("changeit").unwrap());
        let engine = Running::start(config(&folder.path().join(format!("{legacy}")), session));
        let ca = ca.file.to_str().unwrap();
        let options = [
            "-CAfile",
            ca,
            "-verify_return_error",
            "-verify_hostname",
            "fix.test",
        ];
        let answer = log_on(engine.address(), &options);
        assert!(answer.contains("|35=A|"), "{answer}");
        engine.stop();
    }
}

/// A peer that reads our last words of the handshake finds nothing else with them: what arrives with
/// them stays unread in QuickFIX/J until more comes.
#[test]
fn the_logon_waits_until_the_peer_has_ended_the_handshake() {
    // A session ticket tells that it has; without one it gets its time.
    for (tickets, time) in [(1, Duration::ZERO), (0, Duration::from_millis(200))] {
        let folder = tempfile::tempdir().unwrap();
        let ca = Ca::new(folder.path(), "ca");
        let issued = ca.issue("fix.test", 1, |_| {});
        let chain = CertificateDer::pem_file_iter(&issued.chain).unwrap();
        let chain = chain.collect::<Result<Vec<_>, _>>().unwrap();
        let key = PrivateKeyDer::from_pem_file(&issued.key).unwrap();
        let mut server = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS13])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap();
        server.send_tls13_tickets = tickets;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut session = initiator_session(listener.local_addr().unwrap());
        session.transport.tls = Some(initiator_tls(None, &ca));
        let engine = Running::start(config(&folder.path().join("store"), session));
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut tls = ServerConnection::new(Arc::new(server)).unwrap();
        tls.read_tls(&mut stream).unwrap();
        tls.process_new_packets().unwrap();
        let answered = Instant::now();
        while tls.wants_write() {
            tls.write_tls(&mut stream).unwrap();
        }
        while tls.is_handshaking() {
            assert_ne!(tls.read_tls(&mut stream).unwrap(), 0);
            let state = tls.process_new_packets().unwrap();
            assert_eq!(
                state.plaintext_bytes_to_read(),
                0,
                "the Logon came too early"
            );
        }
        // The session tickets leave with the next write; the Logon follows them.
        let mut peer = StreamOwned::new(tls, stream);
        let mut logon = [0; 512];
        let count = peer.read(&mut logon).unwrap();
        let logon = String::from_utf8_lossy(&logon[..count]);
        assert!(logon.contains("\u{1}35=A\u{1}"), "{logon}");
        let waited = answered.elapsed();
        assert!(waited >= time, "the Logon came after {waited:?}");
        engine.stop();
    }
}

/// Bytes of a report that are more than the sockets of a test hold.
const LONG: usize = 48 << 10;

/// Bytes that TLS has encrypted and the socket has not accepted are not lost when the session ends.
#[test]
fn the_last_messages_leave_however_slowly_they_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let ca = Ca::new(folder.path(), "ca");
    let (server, own) = (ca.issue("fix.test", 1, |_| {}), ca.issue("peer", 2, |_| {}));
    for wait in [Wait::Block, Wait::Spin] {
        let mut session = acceptor_session("127.0.0.1:0");
        session.transport.tls = Some(Tls::acceptor(acceptor_tls(&server, &ca)).unwrap());
        session.send_buffer = Some(4 << 10);
        let mut settings = config(&folder.path().join(format!("{wait:?}")), session);
        settings.wait = wait;
        let answered = Arc::new(AtomicBool::new(false));
        let answers = Arc::clone(&answered);
        let talker = App::new(move |from, _, outbox| {
            send(outbox, from, b"8", tag::TEXT, &[b'x'; LONG]).unwrap();
            answers.store(true, Ordering::SeqCst);
            Ok(())
        });
        let mut engine = Engine::new(settings, talker).unwrap();
        let address = engine.addresses().next().unwrap();
        let config = client(&own, &ca);
        let (begin, may_read) = channel();
        let peer = std::thread::spawn(move || {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
            socket.set_recv_buffer_size(4 << 10).unwrap();
            socket.connect(&address.into()).unwrap();
            socket.set_read_timeout(Some(PATIENCE)).unwrap();
            let name = ServerName::try_from("fix.test").unwrap();
            let tls = ClientConnection::new(config, name).unwrap();
            let mut stream = StreamOwned::new(tls, TcpStream::from(socket));
            let say = |kind, seq, fields| message(kind, seq, "BENCH", "EXEC", fields);
            stream.write_all(&say("A", 1, "98=0|108=30|")).unwrap();
            let mut bytes = [0; 4096];
            assert!(stream.read(&mut bytes).unwrap() > 0, "a Logon");
            // One record, so one read, so one write of both answers.
            let both = [say("D", 2, "11=1|"), say("5", 3, "")].concat();
            stream.write_all(&both).unwrap();
            may_read.recv_timeout(PATIENCE).unwrap();
            let mut heard = Vec::new();
            while let Ok(count @ 1..) = stream.read(&mut bytes) {
                heard.extend_from_slice(&bytes[..count]);
            }
            heard
        });
        let start = Instant::now();
        while !peer.is_finished() && start.elapsed() < PATIENCE {
            engine.turn().unwrap();
            if answered.swap(false, Ordering::SeqCst) {
                begin.send(()).unwrap();
            }
        }
        let heard = String::from_utf8(peer.join().unwrap()).unwrap();
        assert!(heard.len() > LONG, "{wait:?}: only {} bytes", heard.len());
        let end = heard
            .trim_start_matches(|c| c != 'x')
            .trim_start_matches('x');
        assert!(
            end.contains("\u{1}35=5\u{1}"),
            "{wait:?}: no Logout: {end:?}"
        );
    }
}

const SESSIONS: usize = 20;

/// Each of twenty peers may be itself and none of the other nineteen.
#[test]
fn a_certificate_is_good_for_its_own_session_and_for_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let ca = Ca::new(folder.path(), "ca");
    let server = ca.issue("fix.test", 1, |_| {});
    let tls = Tls::acceptor(acceptor_tls(&server, &ca)).unwrap();
    let name = |index: usize| format!("PEER{index}");
    let issued: Vec<Issued> = (0..SESSIONS)
        .map(|index| ca.issue(&format!("peer{index}.test"), 100 + index as u64, |_| {}))
        .collect();
    let sessions = (0..SESSIONS).map(|index| {
        let peer = name(index);
        let session = Config::new(BeginString::Fix42, Role::Acceptor, b"EXEC", peer.as_bytes());
        let listen = "127.0.0.1:0".parse().unwrap();
        let mut session = SessionConfig::new(&peer, session, Connection::Acceptor { listen });
        session.transport.tls = Some(tls.clone());
        // Half of them by key, half by name.
        session.transport.certificates = vec![match index % 2 {
            0 => Pin::parse(&issued[index].pin).unwrap(),
            _ => Pin::Dns(format!("peer{index}.test")),
        }];
        session
    });
    let mut settings = config(
        &folder.path().join("store"),
        acceptor_session("127.0.0.1:0"),
    );
    settings.sessions = sessions.collect();
    settings.read_buffer = settings.max_message;
    settings.limits.events_per_second = 1000;
    // 380 attempts from one address fail.
    settings.limits.logons.failures_per_minute = 1000;
    settings.limits.logons.failures_per_minute_and_address = 1000;
    let engine = Running::start(settings);
    for (shown, certificate) in issued.iter().enumerate() {
        let client = client(certificate, &ca);
        for wanted in 0..SESSIONS {
            let stream = TcpStream::connect(engine.address()).unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            let server = ServerName::try_from("fix.test").unwrap();
            let tls = ClientConnection::new(Arc::clone(&client), server).unwrap();
            let mut stream = StreamOwned::new(tls, stream);
            let logon = message("A", 1, &name(wanted), "EXEC", "98=0|108=30|");
            stream.write_all(&logon).unwrap();
            let mut answer = [0; 512];
            let count = stream.read(&mut answer).unwrap_or(0);
            assert_eq!(count > 0, shown == wanted, "{shown} as {wanted}");
        }
    }
    let numbers = engine.stop();
    // One Logon each way, and the Logout when the engine stopped or the peer disconnected.
    assert!(
        numbers.iter().all(|(next_in, _)| *next_in == 2),
        "{numbers:?}"
    );
}

fn client(own: &Issued, ca: &Ca) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let root = CertificateDer::from_pem_slice(&fs::read(&ca.file).unwrap()).unwrap();
    roots.add(root).unwrap();
    let chain = CertificateDer::from_pem_slice(&fs::read(&own.chain).unwrap()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(&fs::read(&own.key).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_client_auth_cert(vec![chain], key)
        .unwrap();
    Arc::new(config)
}
