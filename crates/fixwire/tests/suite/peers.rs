//! Peers against an acceptor: gaps, silence at the wrong time, garbage, a second connection.

use crate::common;

use std::fs::Permissions;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::*;
use fixwire::event::{ConnectionRefusal, Ending, FailureLimit};
use fixwire::protocol::{Nanos, SessionId};
use fixwire::{Durability, EngineConfig, Event, Users};
use socket2::{Domain, Socket, Type};

fn acceptor(change: impl FnOnce(&mut EngineConfig)) -> (Running, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = config(
        &folder.path().join("store"),
        acceptor_session("127.0.0.1:0"),
    );
    change(&mut settings);
    (Running::start(settings), folder)
}

fn order(number: u64) -> String {
    format!("11={number}|55=LCOM1|54=1|38=1|40=2|44=200.0|")
}

fn refused(engine: &Running, wanted: ConnectionRefusal) {
    engine.wait_event(|event| matches!(event, Event::Refused { why, .. } if *why == wanted));
}

#[test]
fn a_gap_is_asked_for_and_what_came_above_it_waits() {
    let (engine, _folder) = acceptor(|_| {});
    let mut peer = Peer::log_on(engine.address(), 1);
    for number in [1, 2] {
        peer.send("D", &order(number));
    }
    peer.seq = 5;
    peer.send("D", &order(4));
    for _ in 0..2 {
        assert!(peer.receive().unwrap().contains("|35=8|"));
    }
    let request = peer.receive().unwrap();
    assert!(
        request.contains("|35=2|") && request.contains("|7=4|16=0|"),
        "{request}"
    );
    let sent = "52=20260101-00:00:00.000|";
    let again = message(
        "D",
        4,
        "BENCH",
        "EXEC",
        &format!("43=Y|122={}{}", &sent[3..], order(3)),
    );
    peer.send_bytes(&again);
    for number in [3, 4] {
        let report = peer.receive().unwrap();
        assert!(
            report.contains("|35=8|") && report.contains(&format!("|11={number}|")),
            "{report}"
        );
    }
    assert_eq!(engine.seen.disorder.load(Ordering::SeqCst), 0);
    drop(peer);
    engine.wait_event(|event| matches!(event, Event::Disconnected { .. }));
    assert_eq!(engine.stop(), [(6, 7)]);
}

#[test]
fn what_a_peer_asks_for_again_comes_from_the_journal_even_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let settings = config(
        &folder.path().join("store"),
        acceptor_session("127.0.0.1:0"),
    );
    let engine = Running::start(settings.clone());
    let mut peer = Peer::log_on(engine.address(), 1);
    for number in 1..=500 {
        peer.send("D", &order(number));
    }
    let reports: Vec<String> = (1..=500).map(|_| peer.receive().unwrap()).collect();
    drop(peer);
    // Otherwise the stop may be first, and its Logout takes a number.
    engine.wait_event(|event| matches!(event, Event::Disconnected { .. }));
    engine.stop();
    let engine = Running::start(settings);
    let mut peer = Peer::log_on(engine.address(), 502);
    peer.send("2", "7=1|16=0|");
    // Live messages wait until the resend is done.
    peer.send("D", &order(501));
    let fill = peer.receive().unwrap();
    assert!(
        fill.contains("|35=4|34=1|") && fill.contains("|123=Y|36=2|"),
        "{fill}"
    );
    for (index, report) in reports.iter().enumerate() {
        let again = peer.receive().unwrap();
        assert!(
            again.contains(&format!("|34={}|", index + 2)) && again.contains("|43=Y|"),
            "{again}"
        );
        let body =
            |text: &str| text[text.find("|11=").unwrap()..text.find("|10=").unwrap()].to_owned();
        assert_eq!(body(&again), body(report));
    }
    let fill = peer.receive().unwrap();
    assert!(
        fill.contains("|35=4|34=502|") && fill.contains("|36=503|"),
        "{fill}"
    );
    let live = peer.receive().unwrap();
    assert!(
        live.contains("|35=8|34=503|") && live.contains("|11=501|"),
        "{live}"
    );
    assert!(!live.contains("|43="), "{live}");
    drop(peer);
    engine.stop();
}

#[test]
fn every_split_of_the_stream_gives_the_same_answers() {
    let (engine, _folder) = acceptor(|_| {});
    let mut peer = Peer::log_on(engine.address(), 1);
    for number in 1..=3 {
        let bytes = message("D", peer.seq, "BENCH", "EXEC", &order(number));
        peer.seq += 1;
        for byte in bytes {
            peer.send_bytes(&[byte]);
        }
        assert!(peer.receive().unwrap().contains(&format!("|11={number}|")));
    }
    engine.stop();
}

#[test]
fn a_slow_reader_costs_no_memory_and_gets_everything_in_order() {
    let (engine, _folder) = acceptor(|settings| {
        settings.sessions[0].send_buffer = Some(8 << 10);
    });
    let mut peer = Peer::log_on(engine.address(), 1);
    let mut writer = peer.stream.try_clone().unwrap();
    let count = 30_000;
    let thread = std::thread::spawn(move || {
        for number in 1..=count {
            let bytes = message("D", number + 1, "BENCH", "EXEC", &order(number));
            writer.write_all(&bytes).unwrap();
        }
    });
    // All orders are taken although nothing is read here.
    wait_count(&engine.seen.orders, count);
    thread.join().unwrap();
    for number in 1..=count {
        let report = peer.receive().unwrap();
        assert!(
            report.contains(&format!("|34={}|", number + 1)),
            "{number}: {report}"
        );
    }
    peer.seq = count + 2;
    peer.send("1", "112=still there|");
    assert!(peer.receive().unwrap().contains("|112=still there|"));
    engine.stop();
}

#[test]
fn a_peer_that_reads_too_little_is_disconnected_and_finds_all_in_the_journal() {
    let (mut engine, _folder) = acceptor(|settings| {
        settings.sessions[0].send_buffer = Some(8 << 10);
        // More than the ring between the threads holds: what is in it when the peer is disconnected must
        // not make the next connection slow too.
        settings.max_message = 4096;
        settings.limits.lag_bytes = 512 << 10;
    });
    let address = engine.address();
    let peer = Peer::log_on(address, 1);
    let text = "x".repeat(1000);
    let mut sent = 0;
    while !engine.has_event(|event| {
        matches!(
            event,
            Event::Disconnected {
                why: Ending::SlowReader { most: 524_288, .. },
                ..
            }
        )
    }) {
        let fields = format!("148=news\x0158={text}\x01");
        if engine
            .handle
            .send_fields(SessionId(0), b"B", fields.as_bytes())
            .is_ok()
        {
            sent += 1;
        }
        assert!(sent < 100_000, "never disconnected");
    }
    drop(peer);
    let mut peer = Peer::log_on(address, 2);
    peer.send("2", "7=2|16=0|");
    let mut next = 2;
    while next <= sent {
        let again = peer.receive().unwrap();
        let is_next = again.contains(&format!("|34={next}|"));
        // Messages still on their way from the other thread are live: they came before our request, or come
        // after the resent ones.
        if !is_next && !again.contains("|43=Y|") {
            continue;
        }
        assert!(is_next, "{next}: {again}");
        next = match again.split("|36=").nth(1) {
            Some(text) => text.split('|').next().unwrap().parse().unwrap(),
            None => next + 1,
        };
    }
    drop(peer);
    engine.stop();
}

#[test]
fn strangers_get_no_answer_and_change_nothing() {
    let (engine, _folder) = acceptor(|settings| {
        settings.limits.logon_time = Duration::from_millis(300);
    });
    let address = engine.address();
    let expect = |bytes: &[u8], why: ConnectionRefusal| {
        let mut peer = Peer::connect(address);
        peer.send_bytes(bytes);
        assert_eq!(peer.receive(), None, "{why:?}");
        refused(&engine, why);
    };
    expect(b"GET / HTTP/1.1\r\n\r\n", ConnectionRefusal::Garbled);
    expect(
        &message("A", 1, "BENCH", "OTHER", "98=0|108=30|"),
        ConnectionRefusal::UnknownSession,
    );
    expect(
        &message("D", 1, "BENCH", "EXEC", "11=1|"),
        ConnectionRefusal::NotALogon,
    );
    // It may send one message.
    let second = message("A", 2, "BENCH", "EXEC", "98=0|108=30|");
    let heartbeat = message("0", 1, "BENCH", "EXEC", "");
    expect(&[heartbeat, second].concat(), ConnectionRefusal::NotALogon);
    expect(
        b"8=FIX.4.2\x019=999999\x0135=A\x01",
        ConnectionRefusal::TooLarge(8192),
    );
    expect(
        b"8=FIX.4.2\x019=50\x0135=A\x01",
        ConnectionRefusal::Timeout(Nanos(300_000_000)),
    );
    assert_eq!(engine.stop(), [(1, 1)]);
}

#[test]
fn connections_that_say_nothing_are_few_and_do_not_stay() {
    let (engine, _folder) = acceptor(|settings| {
        settings.limits.pending_per_address = 3;
        settings.limits.logon_time = Duration::from_millis(500);
    });
    let silent: Vec<_> = (0..3)
        .map(|_| TcpStream::connect(engine.address()).unwrap())
        .collect();
    let mut fourth = Peer::connect(engine.address());
    assert_eq!(fourth.receive(), None);
    refused(&engine, ConnectionRefusal::TooManyFromAddress(3));
    refused(&engine, ConnectionRefusal::Timeout(Nanos(500_000_000)));
    drop(silent);
    drop(Peer::log_on(engine.address(), 1));
    engine.stop();
}

/// A connection from another address of this host.
fn connect_from(own: &str, to: SocketAddr) -> Peer {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    let own: SocketAddr = format!("{own}:0").parse().unwrap();
    socket.bind(&own.into()).unwrap();
    socket.connect(&to.into()).unwrap();
    Peer::over(socket.into())
}

/// A flood of failures from elsewhere right after a restart must not keep out who was on before.
#[test]
fn the_address_of_a_peer_is_known_after_a_restart_and_never_competes_with_strangers() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = config(
        &folder.path().join("store"),
        acceptor_session("127.0.0.1:0"),
    );
    settings.limits.logons.failures_per_minute = 2;
    let engine = Running::start(settings.clone());
    let mut peer = connect_from("127.0.0.2", engine.address());
    peer.send("A", "98=0|108=30|");
    assert!(peer.receive().unwrap().contains("|35=A|"));
    drop(peer);
    engine.wait_event(|event| matches!(event, Event::Disconnected { .. }));
    engine.stop();

    let engine = Running::start(settings);
    for stranger in 3..5 {
        let mut stranger = connect_from(&format!("127.0.0.{stranger}"), engine.address());
        stranger.send_bytes(b"GET / HTTP/1.1\r\n\r\n");
        assert_eq!(stranger.receive(), None);
    }
    let mut stranger = connect_from("127.0.0.5", engine.address());
    assert_eq!(stranger.receive(), None);
    refused(
        &engine,
        ConnectionRefusal::TooManyFailures(FailureLimit::Total(2)),
    );
    let mut peer = connect_from("127.0.0.2", engine.address());
    peer.seq = 2;
    peer.send("A", "98=0|108=30|");
    assert!(peer.receive().unwrap().contains("|35=A|"));
    engine.stop();
}

#[test]
fn a_second_connection_does_not_touch_the_first() {
    let (engine, _folder) = acceptor(|_| {});
    let mut first = Peer::log_on(engine.address(), 1);
    let mut second = Peer::connect(engine.address());
    second.send_bytes(&message("A", 1, "BENCH", "EXEC", "98=0|108=30|141=Y|"));
    assert_eq!(second.receive(), None);
    refused(&engine, ConnectionRefusal::AlreadyConnected);
    first.send("D", &order(1));
    let report = first.receive().unwrap();
    assert!(report.contains("|35=8|34=2|"), "{report}");
    engine.stop();
}

#[test]
fn a_second_connection_takes_the_place_of_the_first_when_that_is_configured() {
    let hash = fixwire::passwords::hash(b"tiger").unwrap();
    let (engine, _folder) = acceptor(|settings| {
        let access = &mut settings.sessions[0].access;
        access.users = Some(Arc::new(Users::one(b"me", &hash).unwrap()));
        access.replaces = true;
    });
    let logon = |seq: u64, password: &str| {
        let fields = format!("98=0|108=30|553=me|554={password}|");
        let mut peer = Peer::connect(engine.address());
        peer.send_bytes(&message("A", seq, "BENCH", "EXEC", &fields));
        peer.seq = seq + 1;
        peer
    };
    let mut first = logon(1, "tiger");
    assert!(first.receive().unwrap().contains("|35=A|34=1|"));
    // A stranger ends nothing.
    assert_eq!(logon(2, "lion").receive(), None);
    refused(&engine, ConnectionRefusal::Credentials);
    first.send("D", &order(1));
    assert!(first.receive().unwrap().contains("|35=8|34=2|"));
    // The sequence numbers go on.
    let mut second = logon(3, "tiger");
    assert!(second.receive().unwrap().contains("|35=A|34=3|"));
    assert_eq!(first.receive(), None);
    engine.wait_event(
        |event| matches!(event, Event::Disconnected { why, .. } if *why == Ending::Replaced),
    );
    second.send("D", &order(2));
    assert!(second.receive().unwrap().contains("|35=8|34=4|"));
    engine.stop();
}

/// NewPassword(925) counts only when the Logon is accepted, or its peer would not know its password.
#[test]
fn a_logon_that_is_not_accepted_changes_no_password() {
    let hash = fixwire::passwords::hash(b"tiger").unwrap();
    let place = tempfile::tempdir().unwrap();
    let users = place.path().join("users");
    std::fs::write(&users, format!("me:{hash}\n")).unwrap();
    std::fs::set_permissions(&users, Permissions::from_mode(0o600)).unwrap();
    let (engine, _folder) = acceptor(|settings| {
        let users = Users::read(&users).expect("a file of users");
        settings.sessions[0].access.users = Some(Arc::new(users));
    });
    let logon = |password: &str, new: &str| {
        let fields = format!("98=0|108=30|141=Y|553=me|554={password}|{new}");
        let mut peer = Peer::connect(engine.address());
        peer.send_bytes(&message("A", 1, "BENCH", "EXEC", &fields));
        peer
    };
    let ended = |count| {
        let is_end = |event: &&Event| matches!(event, Event::Disconnected { .. });
        let ends = || engine.events.lock().unwrap().iter().filter(is_end).count();
        wait_until(|| ends() == count, || format!("{} ends", ends()));
    };
    let mut first = logon("tiger", "");
    assert!(first.receive().unwrap().contains("|35=A|"));
    assert_eq!(logon("tiger", "925=lion|").receive(), None);
    refused(&engine, ConnectionRefusal::AlreadyConnected);
    drop(first);
    ended(1);
    // Of two that want to enter at once, the one that does has changed it.
    let news = ["925=lion|", "925=bear|"];
    let mut peers = news.map(|new| logon("tiger", new));
    let answers = [0, 1].map(|at| peers[at].receive());
    let [lion, bear] = [0, 1].map(|at| answers[at].is_some());
    assert!(lion != bear, "one of them: {answers:?}");
    let stored = std::fs::read_to_string(&users).unwrap();
    assert!(!stored.contains(&hash), "stored before the answer");
    drop(peers);
    ended(2);
    assert_eq!(logon("tiger", "").receive(), None);
    let mut peer = logon(if lion { "lion" } else { "bear" }, "");
    assert!(peer.receive().unwrap().contains("|35=A|"));
    engine.stop();
}

#[test]
fn garbage_after_the_logon_is_ignored_and_an_endless_message_ends_the_connection() {
    let (engine, _folder) = acceptor(|_| {});
    let mut peer = Peer::log_on(engine.address(), 1);
    let mut bad = message("D", 2, "BENCH", "EXEC", &order(9));
    let at = bad.len() - 2;
    bad[at] = if bad[at] == b'0' { b'1' } else { b'0' };
    peer.send_bytes(&bad);
    peer.send("D", &order(1));
    assert!(peer.receive().unwrap().contains("|11=1|"));
    assert_eq!(engine.seen.orders.load(Ordering::SeqCst), 1);
    peer.send_bytes(b"8=FIX.4.2\x019=99999999\x0135=D\x01");
    assert_eq!(peer.receive(), None);
    engine.wait_event(|event| {
        matches!(
            event,
            Event::Disconnected {
                why: Ending::TooLarge { .. },
                ..
            }
        )
    });
    engine.stop();
}

#[test]
fn a_wrong_check_sum_is_taken_where_it_is_not_looked_at() {
    let (engine, _folder) = acceptor(|settings| settings.sessions[0].validate_checksum = false);
    let mut peer = Peer::log_on(engine.address(), 1);
    let mut order = message("D", 2, "BENCH", "EXEC", &order(1));
    let at = order.len() - 2;
    order[at] = if order[at] == b'0' { b'1' } else { b'0' };
    peer.send_bytes(&order);
    assert!(peer.receive().unwrap().contains("|11=1|"));
    engine.stop();
}

#[test]
fn a_stop_logs_out_and_does_not_wait_for_ever() {
    let (mut engine, _folder) = acceptor(|settings| {
        settings.stop_timeout = Duration::from_millis(200);
    });
    let mut peer = Peer::log_on(engine.address(), 1);
    engine.handle.stop().unwrap();
    assert!(peer.receive().unwrap().contains("|35=5|"));
    // No Logout in answer.
    assert_eq!(peer.receive(), None);
    engine.wait_event(|event| matches!(event, Event::Disconnected { .. }));
}

#[test]
fn a_second_engine_cannot_have_the_journal_or_the_port() {
    let folder = tempfile::tempdir().unwrap();
    let settings = config(
        &folder.path().join("store"),
        acceptor_session("127.0.0.1:0"),
    );
    let engine = Running::start(settings.clone());
    let seen = std::sync::Arc::default();
    let error = fixwire::Engine::new(settings, Echo(seen))
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("in use by another process"), "{error}");
    let settings = config(
        &folder.path().join("b"),
        acceptor_session(&engine.address().to_string()),
    );
    let error = fixwire::Engine::new(settings, Echo(Default::default()))
        .err()
        .unwrap();
    assert!(
        error.to_string().contains("cannot listen at 127.0.0.1"),
        "{error}"
    );
    assert!(!folder.path().join("b").exists(), "nothing changed on disk");
    engine.stop();
}

#[test]
fn a_password_is_demanded_and_never_reaches_the_journal() {
    let (engine, folder) = acceptor(|settings| {
        settings.sessions[0].session.username = b"me".to_vec();
        settings.sessions[0].session.password = "tiger-lily".into();
    });
    let mut peer = Peer::connect(engine.address());
    peer.send("A", "98=0|108=30|553=me|554=wrong-one|");
    while peer.receive().is_some() {}
    let mut peer = Peer::connect(engine.address());
    peer.send("A", "98=0|108=30|553=me|554=tiger-lily|");
    assert!(peer.receive().unwrap().contains("|35=A|"));
    drop(peer);
    engine.stop();
    let store = std::fs::read(folder.path().join("store/00000001.fwj")).unwrap();
    let holds = |text: &[u8]| store.windows(text.len()).any(|at| at == text);
    assert!(holds(b"553=me\x01554=**********\x01"));
    assert!(!holds(b"tiger") && !holds(b"wrong-one"));
}

#[test]
fn a_message_for_no_session_or_too_long_is_told_and_takes_no_number() {
    let (mut engine, _folder) = acceptor(|settings| settings.max_message = 4096);
    let mut peer = Peer::log_on(engine.address(), 1);
    engine
        .handle
        .send_fields(SessionId(7), b"B", b"148=lost\x01")
        .unwrap();
    engine.wait_event(|event| matches!(event, Event::NotSent { messages: 1 }));
    engine
        .handle
        .send_fields(SessionId(0), b"B", b"148=no end")
        .unwrap();
    engine
        .handle
        .send_fields(SessionId(0), b"B", b"148=news\x01")
        .unwrap();
    let news = peer.receive().unwrap();
    assert!(
        news.contains("|34=2|") && news.contains("|148=news|"),
        "{news}"
    );
    engine.stop();
}

#[test]
fn what_was_committed_before_a_logout_leaves_before_the_connection_closes() {
    for durability in [Durability::Memory, Durability::Process, Durability::Disk] {
        let (engine, _folder) = acceptor(|settings| settings.durability = durability);
        let mut peer = Peer::log_on(engine.address(), 1);
        let mut bytes = message("D", 2, "BENCH", "EXEC", &order(1));
        bytes.extend(message("5", 3, "BENCH", "EXEC", ""));
        peer.send_bytes(&bytes);
        assert!(peer.receive().unwrap().contains("|35=8|34=2|"));
        assert!(peer.receive().unwrap().contains("|35=5|34=3|"));
        assert_eq!(peer.receive(), None);
        assert_eq!(engine.stop(), [(4, 4)]);
    }
}

#[test]
fn what_was_committed_before_a_fault_of_the_peer_leaves_with_the_logout() {
    let (engine, _folder) = acceptor(|_| {});
    let mut peer = Peer::log_on(engine.address(), 1);
    let mut bytes = message("D", 2, "BENCH", "EXEC", &order(1));
    // The number again.
    bytes.extend(message("D", 2, "BENCH", "EXEC", &order(2)));
    peer.send_bytes(&bytes);
    assert!(peer.receive().unwrap().contains("|35=8|34=2|"));
    assert!(peer.receive().unwrap().contains("|35=5|34=3|"));
    peer.send("5", "");
    assert_eq!(peer.receive(), None);
    engine.stop();
}

#[test]
fn a_message_of_a_megabyte_is_taken_and_resent_whole() {
    for durability in [Durability::Memory, Durability::Process] {
        let (mut engine, _folder) = acceptor(|settings| settings.durability = durability);
        let mut peer = Peer::log_on(engine.address(), 1);
        let text = "x".repeat(1 << 20);
        peer.send("D", &format!("{}58={text}|", order(1)));
        assert!(peer.receive().unwrap().contains("|35=8|34=2|"));
        let fields = format!("148=news\x0158={text}\x01");
        engine
            .handle
            .send_fields(SessionId(0), b"B", fields.as_bytes())
            .unwrap();
        let sent = peer.receive().unwrap();
        assert!(sent.contains("|35=B|34=3|") && sent.contains(&text));
        peer.send("2", "7=3|16=3|");
        let again = peer.receive().unwrap();
        assert!(again.contains("|35=B|34=3|") && again.contains("|43=Y|") && again.contains(&text));
        drop(peer);
        engine.stop();
    }
}
