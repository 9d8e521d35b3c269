//! TLS between engines: which certificates log on, as whom, and that trade over it loses nothing.
#![cfg(feature = "tls")]

use crate::certificates;
use crate::common;
use crate::relay;

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use certificates::*;
use common::*;
use fixwire::event::{ConnectionRefusal, Ending};
use fixwire::protocol::SessionId;
use fixwire::tls::{Authority, ClientCertificates, Identity, Pin, Tls, TlsFailure, TlsOptions};
use fixwire::transport::Password;
use fixwire::{Event, SendError, SessionConfig};
use rcgen::{ExtendedKeyUsagePurpose, date_time_ymd};
use relay::Relay;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

fn acceptor(folder: &Path, options: TlsOptions, pins: &[&str]) -> Running {
    let mut session = acceptor_session("127.0.0.1:0");
    session.transport.tls = Some(Tls::acceptor(options).expect("certificates are right"));
    session.transport.certificates = pins.iter().map(|pin| Pin::parse(pin).unwrap()).collect();
    Running::start(config(&folder.join("acceptor"), session))
}

fn initiator(folder: &Path, to: std::net::SocketAddr, tls: Option<Tls>) -> Running {
    let mut session: SessionConfig = initiator_session(to);
    session.transport.tls = tls;
    Running::start(config(&folder.join("initiator"), session))
}

/// The matrix of certificates that a peer may show, and what becomes of it.
#[test]
fn only_a_certificate_that_holds_and_is_the_sessions_logs_on() {
    let folder = tempfile::tempdir().unwrap();
    let ca = Ca::new(folder.path(), "ca");
    let strangers = Ca::new(folder.path(), "strangers");
    let server = ca.issue("fix.test", 1, |_| {});
    let good = ca.issue("good.peer", 2, |_| {});
    let revoked = ca.issue("revoked.peer", 3, |_| {});
    let expired = ca.issue("expired.peer", 4, |params| {
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
    });
    let early = ca.issue("early.peer", 5, |params| {
        params.not_before = date_time_ymd(2120, 1, 1)
    });
    let server_only = ca.issue("server.peer", 6, |params| {
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    });
    let others = ca.issue("other.peer", 7, |_| {});
    let stranger = strangers.issue("good.peer", 8, |_| {});
    let refusal = |failure| Some(ConnectionRefusal::Tls(failure));
    for (name, shown, refused) in [
        ("good", Some(&good), None),
        ("none", None, refusal(TlsFailure::NoCertificate)),
        ("revoked", Some(&revoked), refusal(TlsFailure::Revoked)),
        ("expired", Some(&expired), refusal(TlsFailure::Expired)),
        ("early", Some(&early), refusal(TlsFailure::NotYetValid)),
        (
            "no client auth",
            Some(&server_only),
            refusal(TlsFailure::Purpose),
        ),
        (
            "other authority",
            Some(&stranger),
            refusal(TlsFailure::UnknownAuthority),
        ),
        (
            "other session's",
            Some(&others),
            Some(ConnectionRefusal::Certificate(spki(&others))),
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut options = acceptor_tls(&server, &ca);
        options.revocation_lists = vec![ca.revoke(&[3])];
        let acceptor = acceptor(folder.path(), options, &["dns:GOOD.peer"]);
        let to = acceptor.address();
        let initiator = initiator(folder.path(), to, Some(initiator_tls(shown, &ca)));
        match refused {
            None => {
                wait_count(&initiator.seen.logons, 1);
                wait_count(&acceptor.seen.logons, 1);
            }
            Some(refused) => {
                acceptor.wait_event(
                    |event| matches!(event, Event::Refused { why, .. } if *why == refused),
                );
                let none = acceptor.seen.logons.load(Ordering::SeqCst);
                assert_eq!(none, 0, "{name}");
            }
        }
        initiator.stop();
        // A refused peer has not touched the session.
        let numbers = acceptor.stop();
        assert_eq!(
            numbers == [(1, 1)],
            refused.is_some(),
            "{name}: {numbers:?}"
        );
    }
}

fn spki(of: &Issued) -> Option<fixwire::tls::Spki> {
    match Pin::parse(&of.pin) {
        Some(Pin::Spki(spki)) => Some(fixwire::tls::Spki(spki)),
        _ => None,
    }
}

#[test]
fn an_initiator_believes_only_the_right_acceptor() {
    let folder = tempfile::tempdir().unwrap();
    let ca = Ca::new(folder.path(), "ca");
    let strangers = Ca::new(folder.path(), "strangers");
    let right = ca.issue("fix.test", 1, |_| {});
    let elsewhere = ca.issue("elsewhere.test", 2, |_| {});
    let expired = ca.issue("fix.test", 3, |params| {
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
    });
    let fake = strangers.issue("fix.test", 4, |_| {});
    let pinned = |pin: &str, check_chain| {
        let options = TlsOptions {
            authorities: vec![Authority::Pem(ca.file.clone())],
            check_name: false,
            check_chain,
            ..TlsOptions::default()
        };
        (
            Some(Tls::initiator(options).unwrap()),
            vec![Pin::parse(pin).unwrap()],
        )
    };
    let usual = || (Some(initiator_tls(None, &ca)), Vec::new());
    for (server, (tls, pins), wrong) in [
        (&right, usual(), None),
        (&elsewhere, usual(), Some("for another host")),
        (&expired, usual(), Some("expired")),
        (&fake, usual(), Some("not issued by an authority")),
        // The key says enough, whatever the name.
        (&elsewhere, pinned(&elsewhere.pin, true), None),
        (&fake, pinned(&fake.pin, false), None),
        (
            &fake,
            pinned(&fake.pin, true),
            Some("not issued by an authority"),
        ),
        (
            &right,
            pinned(&elsewhere.pin, true),
            Some(right.pin.as_str()),
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut options = acceptor_tls(server, &ca);
        options.client_certificates = ClientCertificates::NotAsked;
        let acceptor = acceptor(folder.path(), options, &[]);
        let mut session = initiator_session(acceptor.address());
        session.transport.tls = tls;
        session.transport.certificates = pins;
        let initiator = Running::start(config(&folder.path().join("initiator"), session));
        match wrong {
            None => wait_count(&initiator.seen.logons, 1),
            Some(why) => {
                initiator.wait_event(
                    |event| matches!(event, Event::DialFailed { error, .. } if error.contains(why)),
                );
                assert_eq!(initiator.seen.logons.load(Ordering::SeqCst), 0);
            }
        }
        initiator.stop();
        acceptor.stop();
    }
}

#[test]
fn plain_text_and_tls_do_not_meet_and_both_sides_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let ca = Ca::new(folder.path(), "ca");
    let server = ca.issue("fix.test", 1, |_| {});
    let mut options = acceptor_tls(&server, &ca);
    options.client_certificates = ClientCertificates::NotAsked;
    let tls_acceptor = acceptor(folder.path(), options, &[]);
    let plain = initiator(folder.path(), tls_acceptor.address(), None);
    tls_acceptor.wait_event(|event| {
        matches!(
            event,
            Event::Refused {
                why: ConnectionRefusal::Tls(TlsFailure::NotTls),
                ..
            }
        )
    });
    plain.stop();
    tls_acceptor.stop();
    let folder = tempfile::tempdir().unwrap();
    let plain = Running::start(config(
        &folder.path().join("a"),
        acceptor_session("127.0.0.1:0"),
    ));
    let tls = initiator(
        folder.path(),
        plain.address(),
        Some(initiator_tls(None, &ca)),
    );
    plain.wait_event(|event| {
        matches!(
            event,
            Event::Refused {
                why: ConnectionRefusal::TlsUnexpected,
                ..
            }
        )
    });
    tls.wait_event(
        |event| matches!(event, Event::DialFailed { error, .. } if error.contains("handshake")),
    );
    tls.stop();
    plain.stop();
}

/// A connection whose handshake is complete, and its TLS.
fn shaken(to: SocketAddr, ca: &Ca) -> (TcpStream, ClientConnection) {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_file(&ca.file).unwrap())
        .unwrap();
    let config = ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("fix.test").unwrap();
    let mut tls = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut socket = TcpStream::connect(to).unwrap();
    while tls.is_handshaking() || tls.wants_write() {
        tls.complete_io(&mut socket).unwrap();
    }
    (socket, tls)
}

#[test]
fn faults_of_the_peer_in_tls_are_told_apart() {
    /// A ClientHello without a body.
    const MALFORMED: &[u8] = &[22, 3, 1, 0, 4, 1, 0, 0, 0];
    /// A ChangeCipherSpec, which no connection begins with.
    const EARLY: &[u8] = &[20, 3, 3, 0, 1, 1];
    let folder = tempfile::tempdir().unwrap();
    let ca = Ca::new(folder.path(), "ca");
    let server = ca.issue("fix.test", 1, |_| {});
    let mut options = acceptor_tls(&server, &ca);
    options.client_certificates = ClientCertificates::NotAsked;
    let acceptor = acceptor(folder.path(), options, &[]);
    for (sent, failure, text) in [
        (
            Some(MALFORMED),
            TlsFailure::Malformed,
            "TLS: the peer sent a malformed TLS message; the peer is faulty, or traffic is modified in transit",
        ),
        (
            Some(EARLY),
            TlsFailure::Protocol,
            "TLS: the peer violated the TLS protocol: unexpected message",
        ),
        (
            None,
            TlsFailure::Undecipherable,
            "TLS: the peer's data cannot be decrypted; a proxy or a faulty link may modify it",
        ),
    ] {
        let _socket = match sent {
            Some(bytes) => {
                let mut socket = TcpStream::connect(acceptor.address()).unwrap();
                socket.write_all(bytes).unwrap();
                socket
            }
            // A record that was modified in transit.
            None => {
                let (mut socket, mut tls) = shaken(acceptor.address(), &ca);
                tls.writer().write_all(b"8=FIX.4.2").unwrap();
                let mut record = Vec::new();
                tls.write_tls(&mut record).unwrap();
                *record.last_mut().unwrap() ^= 1;
                socket.write_all(&record).unwrap();
                socket
            }
        };
        acceptor.wait_event(
            |event| matches!(event, Event::Refused { why, .. } if *why == ConnectionRefusal::Tls(failure)),
        );
        assert_eq!(failure.to_string(), text);
    }
    acceptor.stop();
}

#[test]
fn a_refused_client_hears_why() {
    let folder = tempfile::tempdir().unwrap();
    let ca = Ca::new(folder.path(), "ca");
    let server = ca.issue("fix.test", 1, |_| {});
    let acceptor = acceptor(folder.path(), acceptor_tls(&server, &ca), &[]);
    // TLS 1.3 clients are done before the server has looked at their certificate.
    let initiator = initiator(
        folder.path(),
        acceptor.address(),
        Some(initiator_tls(None, &ca)),
    );
    const CERTIFICATE_REQUIRED: TlsFailure = TlsFailure::CertificateRequired;
    initiator.wait_event(|event| match event {
        Event::DialFailed { error, .. } => *error == CERTIFICATE_REQUIRED.to_string(),
        // It took its time.
        Event::Disconnected { why, .. } => *why == Ending::Tls(CERTIFICATE_REQUIRED),
        _ => false,
    });
    initiator.stop();
    acceptor.stop();
}

#[test]
fn orders_over_tls_survive_cuts_of_the_connection() {
    for (tls12, tls13) in [(true, false), (false, true)] {
        let folder = tempfile::tempdir().unwrap();
        let ca = Ca::new(folder.path(), "ca");
        let (server, client) = (ca.issue("fix.test", 1, |_| {}), ca.issue("peer", 2, |_| {}));
        let mut options = acceptor_tls(&server, &ca);
        (options.tls12, options.tls13) = (tls12, tls13);
        let mut acceptor = acceptor(folder.path(), options, &[&client.pin]);
        let relay = Relay::start(acceptor.address());
        let tls = initiator_tls(Some(&client), &ca);
        let mut initiator = initiator(folder.path(), relay.address, Some(tls));
        wait_count(&initiator.seen.logons, 1);
        const ORDERS: u64 = 3_000;
        for round in 1..=4 {
            // Both sides write while the connection is cut: each asks for what it missed.
            for engine in [&mut initiator, &mut acceptor] {
                send(engine, (round - 1) * ORDERS + 1..=round * ORDERS);
            }
            if round < 4 {
                relay.cut();
            }
        }
        for engine in [&initiator, &acceptor] {
            wait_count(&engine.seen.orders, 4 * ORDERS);
            wait_count(&engine.seen.reports, 4 * ORDERS);
            assert_eq!(engine.seen.disorder.load(Ordering::SeqCst), 0);
        }
        let (a, b) = (initiator.stop(), acceptor.stop());
        assert_eq!((a[0].0, a[0].1), (b[0].1, b[0].0));
    }
}

fn send(engine: &mut Running, numbers: std::ops::RangeInclusive<u64>) {
    for number in numbers {
        let fields = format!("11={number}\x0155=LCOM1\x0154=1\x0138=1\x0140=2\x0144=200.0\x01");
        while engine
            .handle
            .send_fields(SessionId(0), b"D", fields.as_bytes())
            == Err(SendError::Full)
        {
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_large_message_passes_whatever_the_sockets_hold() {
    let folder = tempfile::tempdir().unwrap();
    let ca = Ca::new(folder.path(), "ca");
    let server = ca.issue("fix.test", 1, |_| {});
    let mut options = acceptor_tls(&server, &ca);
    options.client_certificates = ClientCertificates::NotAsked;
    let mut session = acceptor_session("127.0.0.1:0");
    session.transport.tls = Some(Tls::acceptor(options).unwrap());
    (session.send_buffer, session.receive_buffer) = (Some(16 << 10), Some(64 << 10));
    let acceptor = Running::start(config(&folder.path().join("a"), session));
    let mut session = initiator_session(acceptor.address());
    session.transport.tls = Some(initiator_tls(None, &ca));
    (session.send_buffer, session.receive_buffer) = (Some(16 << 10), Some(64 << 10));
    let mut initiator = Running::start(config(&folder.path().join("b"), session));
    wait_count(&initiator.seen.logons, 1);
    let text = "x".repeat(1 << 20);
    for number in 1..=3 {
        let fields = format!("11={number}\x0155=LCOM1\x0158={text}\x01");
        while initiator
            .handle
            .send_fields(SessionId(0), b"D", fields.as_bytes())
            == Err(SendError::Full)
        {
            std::thread::yield_now();
        }
    }
    wait_count(&initiator.seen.reports, 3);
    initiator.stop();
    acceptor.stop();
}

#[test]
fn files_that_cannot_be_used_are_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let ca = Ca::new(folder.path(), "ca");
    let (one, other) = (ca.issue("a", 1, |_| {}), ca.issue("b", 2, |_| {}));
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let acceptor = |identity| {
        let options = TlsOptions {
            identity,
            ..TlsOptions::default()
        };
        Tls::acceptor(options).unwrap_err().to_string()
    };
    let pem = |chain, key| acceptor(Some(Identity::Pem { chain, key }));
    let store = |file| {
        let password = Password::from("changeit");
        acceptor(Some(Identity::KeyStore { file, password }))
    };
    assert!(acceptor(None).contains("a TLS acceptor needs a certificate"));
    let mixed = pem(one.chain.clone(), other.key.clone());
    assert!(mixed.contains("does not match the certificate"), "{mixed}");
    let swapped = pem(one.key.clone(), one.chain.clone());
    assert!(
        swapped.contains("1.key") && swapped.contains("no certificate"),
        "{swapped}"
    );
    let gone = pem(folder.path().join("gone"), one.key.clone());
    assert!(
        gone.contains("gone") && gone.contains("cannot be read"),
        "{gone}"
    );
    let locked =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    let locked = pem(one.chain.clone(), file("locked.key", locked.as_bytes()));
    assert!(locked.contains("openssl pkey"), "{locked}");
    let java = store(file("my.jks", b"\xFE\xED\xFE\xED\0\0\0\x02"));
    assert!(
        java.contains("keytool -importkeystore") && java.contains("my.jks"),
        "{java}"
    );
    let junk = store(file("junk.p12", b"junk"));
    assert!(junk.contains("junk.p12"), "{junk}");
    let mut options = acceptor_tls(&one, &ca);
    options.authorities.clear();
    let nobody = Tls::acceptor(options).unwrap_err().to_string();
    assert!(nobody.contains("authority"), "{nobody}");
    let mut options = acceptor_tls(&one, &ca);
    options.revocation_lists = vec![one.chain.clone()];
    let list = Tls::acceptor(options).unwrap_err().to_string();
    assert!(list.contains("no revocation list"), "{list}");
}
