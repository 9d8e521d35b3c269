//! Certificates that peers without an authority exchange: self-signed ones, as `openssl req -x509` makes them, and
//! certificates of version 1. And a peer that requires a certificate from us.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;

use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, date_time_ymd};

use crate::common::*;
use fixwire::Event;
use fixwire::tls::{Authority, ClientCertificates, Identity, Tls, TlsOptions};

/// A certificate and its key, in files.
struct Own {
    chain: PathBuf,
    key: PathBuf,
}

fn openssl(args: &[&str]) {
    let made = Command::new("openssl").args(args).output();
    let made = made.expect("openssl is needed: apt-get install openssl");
    let said = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "{args:?}: {said}");
}

impl Own {
    fn files(folder: &Path, name: &str) -> Self {
        Self {
            chain: folder.join(format!("{name}.pem")),
            key: folder.join(format!("{name}.key")),
        }
    }

    /// `openssl req -x509`, with these options beside.
    fn x509(folder: &Path, name: &str, kind: &str, more: &[&str]) -> Self {
        let own = Self::files(folder, name);
        let (chain, key) = (own.chain.to_str().unwrap(), own.key.to_str().unwrap());
        let mut args = vec!["req", "-x509", "-newkey", kind, "-nodes", "-days", "2"];
        if kind == "ec" {
            args.extend(["-pkeyopt", "ec_paramgen_curve:prime256v1"]);
        }
        args.extend(["-subj", "/CN=fix.test", "-keyout", key, "-out", chain]);
        args.extend(more);
        openssl(&args);
        own
    }

    /// One of version 1.
    fn version_1(folder: &Path) -> Self {
        let own = Self::files(folder, "v1");
        let (chain, key) = (own.chain.to_str().unwrap(), own.key.to_str().unwrap());
        let request = folder.join("v1.csr");
        let request = request.to_str().unwrap();
        openssl(&[
            "req",
            "-new",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-subj",
            "/CN=fix.test",
            "-keyout",
            key,
            "-out",
            request,
        ]);
        openssl(&[
            "x509", "-req", "-in", request, "-signkey", key, "-days", "2", "-out", chain,
        ]);
        own
    }

    /// An authority's own certificate that has expired.
    fn expired(folder: &Path) -> Self {
        let own = Self::files(folder, "expired");
        let mut params = CertificateParams::new(vec!["fix.test".to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
        let key = KeyPair::generate().unwrap();
        fs::write(&own.chain, params.self_signed(&key).unwrap().pem()).unwrap();
        fs::write(&own.key, key.serialize_pem()).unwrap();
        own
    }

    fn identity(&self) -> Option<Identity> {
        Some(Identity::Pem {
            chain: self.chain.clone(),
            key: self.key.clone(),
        })
    }
}

/// What each side shows and trusts, and what the event of the one that refuses says.
struct Meeting<'a> {
    server: &'a Own,
    client: &'a Own,
    server_trusts: &'a Own,
    client_trusts: &'a Own,
    check_name: bool,
    refused: Option<&'a str>,
}

#[test]
fn a_self_signed_certificate_that_is_itself_in_the_file_is_accepted_by_both_roles() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let named = ["-addext", "subjectAltName=DNS:fix.test"];
    let server = Own::x509(at, "server", "rsa:2048", &named);
    let client = Own::x509(at, "client", "ec", &[]);
    let other = Own::x509(at, "other", "rsa:2048", &named);
    let nameless = Own::x509(at, "nameless", "rsa:2048", &[]);
    let elsewhere = Own::x509(
        at,
        "elsewhere",
        "ec",
        &["-addext", "subjectAltName=DNS:else.test"],
    );
    let expired = Own::expired(at);
    let right = || Meeting {
        server: &server,
        client: &client,
        server_trusts: &client,
        client_trusts: &server,
        check_name: true,
        refused: None,
    };
    let meetings = [
        right(),
        Meeting {
            client_trusts: &other,
            refused: Some(
                "is self-signed or an authority's (CA:TRUE), and not itself in SocketCAFile",
            ),
            ..right()
        },
        Meeting {
            server_trusts: &other,
            refused: Some(
                "is self-signed or an authority's (CA:TRUE), and not itself in SocketCAFile",
            ),
            ..right()
        },
        Meeting {
            server: &nameless,
            client_trusts: &nameless,
            refused: Some("for another host"),
            ..right()
        },
        Meeting {
            server: &nameless,
            client_trusts: &nameless,
            check_name: false,
            ..right()
        },
        Meeting {
            server: &elsewhere,
            client_trusts: &elsewhere,
            refused: Some("for another host"),
            ..right()
        },
        Meeting {
            server: &expired,
            client_trusts: &expired,
            refused: Some("has expired"),
            ..right()
        },
        Meeting {
            client: &expired,
            server_trusts: &expired,
            refused: Some("has expired"),
            ..right()
        },
    ];
    for meeting in &meetings {
        for tls13 in [false, true] {
            meet(meeting, tls13);
        }
    }
}

fn meet(meeting: &Meeting<'_>, tls13: bool) {
    let folder = tempfile::tempdir().unwrap();
    let options = |own: &Own, trusts: &Own| TlsOptions {
        identity: own.identity(),
        authorities: vec![Authority::Pem(trusts.chain.clone())],
        client_certificates: ClientCertificates::Required,
        server_name: Some("fix.test".into()),
        check_name: meeting.check_name,
        tls12: !tls13,
        tls13,
        ..TlsOptions::default()
    };
    let mut session = acceptor_session("127.0.0.1:0");
    let tls = Tls::acceptor(options(meeting.server, meeting.server_trusts));
    session.transport.tls = Some(tls.unwrap());
    let acceptor = Running::start(config(&folder.path().join("acceptor"), session));
    let mut session = initiator_session(acceptor.address());
    let tls = Tls::initiator(options(meeting.client, meeting.client_trusts));
    session.transport.tls = Some(tls.unwrap());
    let initiator = Running::start(config(&folder.path().join("initiator"), session));
    match meeting.refused {
        None => {
            wait_count(&initiator.seen.logons, 1);
            wait_count(&acceptor.seen.logons, 1);
        }
        Some(why) => {
            let says = |event: &Event| event.to_string().contains(why);
            wait_until(
                || acceptor.has_event(says) || initiator.has_event(says),
                || format!("{why}: {:?}", initiator.events.lock().unwrap()),
            );
            assert_eq!(initiator.seen.logons.load(Ordering::SeqCst), 0, "{why}");
        }
    }
    initiator.stop();
    acceptor.stop();
}

/// OpenSSL as the acceptor; killed at the end.
struct Server(Child, SocketAddr);

impl Server {
    fn start(own: &Own, options: &[&str]) -> Self {
        let address = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let child = Command::new("openssl")
            .args(["s_server", "-quiet", "-accept", &address.to_string()])
            .arg("-cert")
            .arg(&own.chain)
            .arg("-key")
            .arg(&own.key)
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self(child, address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An initiator without a certificate that believes any; until its events say `wanted`.
fn dial(server: &Server, wanted: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut session = initiator_session(server.1);
    let options = TlsOptions {
        check_chain: false,
        server_name: Some("fix.test".into()),
        ..TlsOptions::default()
    };
    session.transport.tls = Some(Tls::initiator(options).unwrap());
    let initiator = Running::start(config(&folder.path().join("initiator"), session));
    initiator.wait_event(|event| event.to_string().contains(wanted));
    initiator.stop();
}

#[test]
fn a_certificate_of_version_1_is_accepted_where_any_is() {
    let folder = tempfile::tempdir().unwrap();
    let own = Own::version_1(folder.path());
    let text = Command::new("openssl")
        .args(["x509", "-noout", "-text", "-in"])
        .arg(&own.chain)
        .output()
        .unwrap();
    if !String::from_utf8_lossy(&text.stdout).contains("Version: 1 ") {
        // Newer releases of OpenSSL make version 3 unless an option asks for 1.
        return;
    }
    for version in ["-tls1_2", "-tls1_3"] {
        dial(&Server::start(&own, &[version]), "connected with");
    }
}

#[test]
fn an_initiator_is_told_that_the_peer_requires_a_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let own = Own::x509(folder.path(), "server", "rsa:2048", &[]);
    for version in ["-tls1_2", "-tls1_3"] {
        let server = Server::start(&own, &[version, "-Verify", "1", "-verify_return_error"]);
        dial(
            &server,
            "requires a client certificate, and none is configured",
        );
    }
}
