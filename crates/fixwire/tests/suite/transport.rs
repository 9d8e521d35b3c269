//! Indirect connections to a peer: proxies, load balancers, several hosts.

use crate::common;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use common::*;
use fixwire::Network;
use fixwire::event::ConnectionRefusal;
use fixwire::host::AnnounceFault;
use fixwire::transport::{HostPolicy, Password, Proxy, ProxyKind};
use fixwire::{Connection, Event, SessionConfig};

/// A proxy that reads what a client must say, byte for byte, answers, and then connects to `to`.
struct Scripted {
    address: SocketAddr,
    /// The error, when it was wrong.
    wrong: Receiver<Vec<u8>>,
}

impl Scripted {
    fn start(to: SocketAddr, play: Vec<(Vec<u8>, Vec<u8>)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, wrong) = channel();
        std::thread::spawn(move || {
            for mut client in listener.incoming().map_while(Result::ok) {
                client.set_read_timeout(Some(PATIENCE)).unwrap();
                let as_played = play.iter().all(|(wanted, answer)| {
                    let mut said = vec![0; wanted.len()];
                    let heard = client.read_exact(&mut said).is_ok() && said == *wanted;
                    if !heard {
                        let _ = tell.send(said);
                        return false;
                    }
                    // One byte at a time: an answer may come in any pieces.
                    answer.iter().all(|byte| client.write_all(&[*byte]).is_ok())
                });
                if as_played {
                    pipe(client, TcpStream::connect(to).unwrap());
                }
            }
        });
        Self { address, wrong }
    }
}

fn pipe(one: TcpStream, other: TcpStream) {
    let pairs = [
        (one.try_clone().unwrap(), other.try_clone().unwrap()),
        (other, one),
    ];
    for (mut from, mut to) in pairs {
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(std::net::Shutdown::Write);
        });
    }
}

fn acceptor(change: impl FnOnce(&mut SessionConfig)) -> (Running, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut session = acceptor_session("127.0.0.1:0");
    change(&mut session);
    let engine = Running::start(config(&folder.path().join("store"), session));
    (engine, folder)
}

fn initiator(
    to: SocketAddr,
    change: impl FnOnce(&mut SessionConfig),
) -> (Running, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut session = initiator_session(to);
    change(&mut session);
    let engine = Running::start(config(&folder.path().join("store"), session));
    (engine, folder)
}

fn hosts(session: &mut SessionConfig, names: &[(&str, u16)]) {
    if let Connection::Initiator { hosts, .. } = &mut session.connection {
        *hosts = names
            .iter()
            .map(|(name, port)| ((*name).to_owned(), *port))
            .collect();
    }
}

fn proxy(kind: ProxyKind, at: SocketAddr, user: &str, password: &str) -> Option<Proxy> {
    Some(Proxy {
        kind,
        host: at.ip().to_string(),
        port: at.port(),
        user: user.into(),
        password: Password::from(password),
    })
}

#[test]
fn sessions_log_on_through_every_kind_of_proxy() {
    let name = "fix.broker.invalid";
    for kind in [
        ProxyKind::Http10,
        ProxyKind::Http11,
        ProxyKind::Socks4,
        ProxyKind::Socks4a,
        ProxyKind::Socks5,
    ] {
        let (acceptor, _kept) = acceptor(|_| {});
        let port = 5001u16.to_be_bytes();
        let connect = |version: &str| {
            format!(
                "CONNECT {name}:5001 HTTP/{version}\r\nHost: {name}:5001\r\n\
                 Proxy-Authorization: Basic YW5uOnNlc2FtZQ==\r\n\r\n"
            )
            .into_bytes()
        };
        let yes = b"HTTP/1.1 200 OK\r\nX: y\r\n\r\n".to_vec();
        let granted = vec![0, 90, 1, 2, 3, 4, 5, 6];
        let play = match kind {
            ProxyKind::Http10 => vec![(connect("1.0"), yes)],
            ProxyKind::Http11 => vec![(connect("1.1"), yes)],
            ProxyKind::Socks4 => {
                vec![(
                    [&[4, 1], &port[..], &[192, 0, 2, 7], b"ann\0"].concat(),
                    granted,
                )]
            }
            ProxyKind::Socks4a => {
                let ask = [
                    &[4, 1],
                    &port[..],
                    &[0, 0, 0, 1],
                    b"ann\0",
                    name.as_bytes(),
                    b"\0",
                ];
                vec![(ask.concat(), granted)]
            }
            ProxyKind::Socks5 => {
                let ask = [&[5, 1, 0, 3, name.len() as u8], name.as_bytes(), &port[..]];
                vec![
                    (vec![5, 2, 0, 2], vec![5, 2]),
                    (b"\x01\x03ann\x06sesame".to_vec(), vec![1, 0]),
                    (ask.concat(), [&[5, 0, 0, 4], &[7; 18][..]].concat()),
                ]
            }
        };
        let scripted = Scripted::start(acceptor.address(), play);
        let (initiator, _kept) = initiator(acceptor.address(), |session| {
            let host = match kind {
                ProxyKind::Socks4 => "192.0.2.7",
                _ => name,
            };
            hosts(session, &[(host, 5001)]);
            session.transport.proxy = proxy(kind, scripted.address, "ann", "sesame");
        });
        wait_until(
            || initiator.seen.logons.load(Ordering::SeqCst) > 0,
            || {
                format!(
                    "{kind:?}: {:?} {:?}",
                    scripted.wrong.try_recv(),
                    initiator.events
                )
            },
        );
        initiator.stop();
        acceptor.stop();
    }
}

#[test]
fn a_proxy_that_refuses_stalls_or_ends_is_told_of() {
    let (acceptor, _kept) = acceptor(|_| {});
    let ask = b"CONNECT 127.0.0.1:7 HTTP/1.1\r\nHost: 127.0.0.1:7\r\n\r\n".to_vec();
    for (answer, wanted) in [
        (b"HTTP/1.1 407 No\r\n\r\n".to_vec(), "ProxyPassword"),
        (
            b"HTTP/1.1 502 Bad Gateway\r\n\r\n".to_vec(),
            "502 Bad Gateway",
        ),
        (b"220 smtp.example".to_vec(), "HTTP proxy"),
        (b"HTTP/1.1 200".to_vec(), "timed out (including TLS"),
    ] {
        let scripted = Scripted::start(acceptor.address(), vec![(ask.clone(), answer)]);
        let (initiator, _kept) = initiator(acceptor.address(), |session| {
            hosts(session, &[("127.0.0.1", 7)]);
            session.transport.proxy = proxy(ProxyKind::Http11, scripted.address, "", "");
            if let Connection::Initiator { timeout, .. } = &mut session.connection {
                *timeout = Duration::from_millis(500);
            }
        });
        initiator.wait_event(
            |event| matches!(event, Event::DialFailed { error, .. } if error.contains(wanted)),
        );
        initiator.stop();
    }
    let closes = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = closes.local_addr().unwrap();
    std::thread::spawn(move || closes.incoming().for_each(drop));
    let (initiator, _kept) = initiator(acceptor.address(), |session| {
        session.transport.proxy = proxy(ProxyKind::Socks5, at, "", "");
    });
    initiator.wait_event(|event| matches!(event, Event::DialFailed { .. }));
    initiator.stop();
    acceptor.stop();
}

const HEADER: &[u8] = b"PROXY TCP4 203.0.113.9 192.0.2.1 4711 5001\r\n";

fn v2(body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u16).to_be_bytes();
    [b"\r\n\r\n\0\r\nQUIT\n\x21\x11", &length[..], body].concat()
}

fn balanced(networks: &[&str]) -> (Running, tempfile::TempDir) {
    acceptor(|session| {
        let networks = networks.iter().map(|text| text.parse::<Network>().unwrap());
        session.transport.balancers = networks.collect();
    })
}

#[test]
fn a_balancers_client_logs_on_behind_its_header_and_is_known_by_it() {
    let body = [
        203, 0, 113, 9, 192, 0, 2, 1, 0x12, 0x67, 0x13, 0x89, 4, 0, 1, 0,
    ];
    for (header, client) in [
        (HEADER.to_vec(), "203.0.113.9:4711"),
        (v2(&body), "203.0.113.9:4711"),
        (b"PROXY UNKNOWN\r\n".to_vec(), "127.0.0.1:"),
    ] {
        let (engine, _kept) = balanced(&["10.0.0.0/8", "127.0.0.1"]);
        let mut peer = Peer::connect(engine.address());
        for byte in header {
            peer.send_bytes(&[byte]);
        }
        peer.send("A", "98=0|108=30|");
        assert!(peer.receive().unwrap().contains("|35=A|"));
        // The connection is as quick and as plain as any other from here on.
        peer.send("1", "112=here|");
        assert!(peer.receive().unwrap().contains("|112=here|"));
        engine.wait_event(|event| {
            matches!(event, Event::Connected { peer, .. } if peer.to_string().starts_with(client))
        });
        engine.stop();
    }
}

#[test]
fn a_header_that_is_cut_too_long_absent_or_from_a_stranger_is_refused() {
    let refused = |networks: &[&str], bytes: &[u8], wanted: ConnectionRefusal| {
        let (engine, _kept) = balanced(networks);
        let mut peer = Peer::connect(engine.address());
        // The engine may have closed the connection already.
        let _ = peer.stream.write_all(bytes);
        let _ = peer.stream.shutdown(std::net::Shutdown::Write);
        engine.wait_event(|event| matches!(event, Event::Refused { why, .. } if *why == wanted));
        assert_eq!(peer.receive(), None);
        assert_eq!(engine.stop(), [(1, 1)]);
    };
    let here = &["127.0.0.0/8"][..];
    let fault = ConnectionRefusal::Announcement;
    let logon = message("A", 1, "BENCH", "EXEC", "98=0|108=30|");
    refused(here, &HEADER[..20], fault(AnnounceFault::CutShort));
    refused(here, b"", fault(AnnounceFault::CutShort));
    refused(here, &v2(&[0; 4])[..17], fault(AnnounceFault::CutShort));
    refused(
        here,
        &[b"PROXY TCP4 ", &[b'1'; 200][..]].concat(),
        fault(AnnounceFault::TooLong),
    );
    refused(here, &v2(&[0; 5000]), fault(AnnounceFault::TooLong));
    refused(here, &v2(&[0; 4]), fault(AnnounceFault::Malformed));
    refused(here, &logon, fault(AnnounceFault::Absent));
    let spoofed = [HEADER, &logon].concat();
    refused(&["10.0.0.0/8"], &spoofed, ConnectionRefusal::NotABalancer);
}

#[test]
fn connections_through_a_balancer_are_counted_by_their_clients() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = acceptor_session("127.0.0.1:0");
    session.transport.balancers = vec!["127.0.0.1".parse().unwrap()];
    let mut settings = config(&folder.path().join("store"), session);
    settings.limits.pending_per_address = 2;
    let engine = Running::start(settings);
    let connect = |client: u8| {
        let mut peer = Peer::connect(engine.address());
        let header = format!("PROXY TCP4 203.0.113.{client} 192.0.2.1 4711 5001\r\n");
        peer.send_bytes(header.as_bytes());
        peer
    };
    let waiting: Vec<Peer> = [1, 1, 2, 2, 3, 3].map(connect).into();
    let mut third = connect(1);
    engine.wait_event(|event| {
        let wanted = ConnectionRefusal::TooManyFromAddress(2);
        matches!(event, Event::Refused { why, .. } if *why == wanted)
    });
    assert_eq!(third.receive(), None);
    drop(waiting);
    engine.stop();
}

#[test]
fn a_balancer_that_announces_nobody_keeps_no_client_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = acceptor_session("127.0.0.1:0");
    session.transport.balancers = vec!["127.0.0.1".parse().unwrap()];
    let mut settings = config(&folder.path().join("store"), session);
    settings.limits.pending = 4;
    let engine = Running::start(settings);
    let silent: Vec<Peer> = (0..20).map(|_| Peer::connect(engine.address())).collect();
    let mut peer = Peer::connect(engine.address());
    peer.send_bytes(b"PROXY TCP4 203.0.113.1 192.0.2.1 4711 5001\r\n");
    peer.send("A", "98=0|108=30|");
    assert!(peer.receive().unwrap().contains("|35=A|"));
    drop((silent, peer));
    engine.stop();
}

/// A port without a listener.
fn dead() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

#[test]
fn priority_tries_the_dead_first_host_again_before_the_third() {
    let (acceptor, _kept) = acceptor(|_| {});
    let (first, second) = (dead(), dead());
    for (policy, wanted) in [
        (HostPolicy::RoundRobin, vec![first, second]),
        (
            HostPolicy::Priority {
                start_over: Duration::from_secs(3600),
            },
            vec![first, second],
        ),
    ] {
        let (initiator, _kept) = initiator(acceptor.address(), |session| {
            let last = acceptor.address().port();
            let names = [first, second, last].map(|port| ("127.0.0.1", port));
            hosts(session, &names);
            session.transport.policy = policy;
            session.session.reset_on.logon = true;
        });
        wait_count(&initiator.seen.logons, 1);
        assert_eq!(failed(&initiator), wanted, "{policy:?}");
        initiator.stop();
    }
    // With no time to leave the first host alone, it is the only one ever tried.
    let (initiator, _kept) = initiator(acceptor.address(), |session| {
        let names = [first, acceptor.address().port()].map(|port| ("127.0.0.1", port));
        hosts(session, &names);
        session.transport.policy = HostPolicy::Priority {
            start_over: Duration::ZERO,
        };
    });
    wait_until(
        || failed(&initiator).len() >= 3,
        || format!("{:?}", initiator.events),
    );
    assert!(failed(&initiator).iter().all(|port| *port == first));
    initiator.stop();
    acceptor.stop();
}

/// The ports of attempts that failed, in order.
fn failed(engine: &Running) -> Vec<u16> {
    let events = engine.events.lock().unwrap();
    let ports = events.iter().filter_map(|event| match event {
        Event::DialFailed { port, .. } => Some(*port),
        _ => None,
    });
    ports.collect()
}

#[test]
fn an_initiator_connects_from_the_address_and_port_that_it_is_told() {
    let (acceptor, _kept) = acceptor(|_| {});
    let local: SocketAddr = format!("127.0.0.3:{}", dead()).parse().unwrap();
    for attempt in 0..2 {
        let (initiator, _kept) = initiator(acceptor.address(), |session| {
            session.transport.local = vec![Some(local)];
            session.session.reset_on.logon = true;
        });
        wait_count(&acceptor.seen.logons, attempt + 1);
        acceptor
            .wait_event(|event| matches!(event, Event::Connected { peer, .. } if *peer == local));
        initiator.stop();
        wait_count(&acceptor.seen.logouts, attempt + 1);
    }
    let (initiator, _kept) = initiator(acceptor.address(), |session| {
        session.transport.local = vec![Some("192.0.2.1:0".parse().unwrap())];
    });
    initiator.wait_event(
        |event| matches!(event, Event::DialFailed { error, .. } if error.contains("192.0.2.1")),
    );
    initiator.stop();
    acceptor.stop();
}

#[test]
fn sessions_listen_at_ports_and_addresses_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = config(&folder.path().join("a"), acceptor_session("127.0.0.1:0"));
    let mut other = acceptor_session("127.0.0.2:0");
    other.name = "other".into();
    settings.sessions.push(other);
    let mut engine = fixwire::Engine::new(settings, Echo(Default::default())).unwrap();
    let addresses: Vec<SocketAddr> = engine.addresses().collect();
    assert_eq!(addresses[0].ip().to_string(), "127.0.0.1");
    assert_eq!(addresses[1].ip().to_string(), "127.0.0.2");
    let logon = message("A", 1, "BENCH", "EXEC", "98=0|108=30|");
    let clients: Vec<TcpStream> = addresses
        .iter()
        .map(|address| {
            let mut client = TcpStream::connect(address).unwrap();
            client.write_all(&logon).unwrap();
            client
        })
        .collect();
    let start = std::time::Instant::now();
    while engine
        .sessions()
        .filter(|session| session.logged_on)
        .count()
        < 2
    {
        assert!(start.elapsed() < PATIENCE);
        engine.turn().unwrap();
    }
    drop(clients);
}

#[test]
fn socket_options_reach_the_socket_and_an_open_port_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = acceptor_session("0.0.0.0:0");
    session.transport.keep_alive = Some(true);
    session.transport.oob_inline = Some(true);
    session.transport.linger = Some(Duration::from_secs(3));
    session.transport.traffic_class = Some(0x10);
    let engine = Running::start(config(&folder.path().join("a"), session));
    engine.wait_event(|event| matches!(event, Event::Unprotected { .. }));
    let to = SocketAddr::from(([127, 0, 0, 1], engine.address().port()));
    let mut peer = Peer::log_on(to, 1);
    peer.send("1", "112=here|");
    assert!(peer.receive().unwrap().contains("|112=here|"));
    engine.stop();
    let (closed, _kept) = acceptor(|_| {});
    assert!(!closed.has_event(|event| matches!(event, Event::Unprotected { .. })));
    closed.stop();
}
