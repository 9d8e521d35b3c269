//! The connection of a session when something else happens at the same time.

use crate::common;

use std::time::Duration;

use fixwire::config::{Durability, EngineConfig, Limits, SessionConfig};
use fixwire::host::ConnId;
use fixwire::host::sim::SimNet;
use fixwire::journal::sim::SimDisk;
use fixwire::protocol::session::Role;
use fixwire::protocol::{Nanos, SessionId};

use common::app::{App, answer};
use common::events;
use common::wire::{self, PORT, SimEngine, calm, turns, write as say};

const ENGINE: u32 = 1;
const OTHERS: u32 = 0;

fn net() -> SimNet {
    SimNet::new(1, calm(1 << 20))
}

/// A session with the peer `P0`, `P1`, … by its place in the list.
fn session(place: usize, role: Role) -> SessionConfig {
    let peer = format!("P{place}");
    match role {
        Role::Acceptor => wire::acceptor(&peer),
        Role::Initiator => {
            let (reconnect, timeout) = (Duration::from_secs(1), Duration::from_secs(5));
            wire::initiator("ENGINE", &peer, reconnect, timeout)
        }
    }
}

/// An engine that passes every order on to the next session.
fn engine(
    net: &SimNet,
    disk: &SimDisk,
    durability: Durability,
    sessions: Vec<SessionConfig>,
) -> SimEngine {
    let config = EngineConfig {
        segment_bytes: 256 << 10,
        limits: Limits {
            pending_per_address: 64,
            ..wire::outbox(8 << 10, 16)
        },
        ..wire::config(durability, sessions)
    };
    let pass_on =
        App::new(|from, order, outbox| answer(order, SessionId(from.0 + 1), b"D", outbox));
    wire::start(config, pass_on, ENGINE, net, disk)
}

/// MsgType and MsgSeqNum of all that has arrived.
fn heard(net: &SimNet, conn: ConnId) -> Vec<String> {
    wire::shown(&wire::read(net, conn), &[])
}

#[test]
fn a_logout_that_is_taken_back_does_not_connect_twice() {
    let (net, disk) = (net(), SimDisk::new());
    let listener = net.listen(OTHERS, wire::at(PORT));
    let sessions = vec![session(0, Role::Initiator)];
    let mut engine = engine(&net, &disk, Durability::Process, sessions);
    let mut handle = engine.handle();
    turns(&mut engine);
    let first = net.accept(listener).unwrap();
    say(&net, first, "P0", "A", 1, "98=0|108=30|");
    turns(&mut engine);
    handle.log_out(SessionId(0), "").unwrap();
    handle.log_on(SessionId(0)).unwrap();
    turns(&mut engine);
    assert_eq!(heard(&net, first), ["A 1", "5 2"]);
    assert_eq!(net.connections(ENGINE), 1, "one connection at a time");
    say(&net, first, "P0", "5", 2, "");
    turns(&mut engine);
    assert_eq!(net.connections(ENGINE), 0);
    net.advance(Nanos::from_secs(1));
    turns(&mut engine);
    let second = net.accept(listener).expect("it connects again");
    assert_eq!(heard(&net, second), ["A 3"]);
    assert_eq!(net.connections(ENGINE), 1);
}

#[test]
fn an_engine_that_stops_makes_no_connection() {
    let (net, disk) = (net(), SimDisk::new());
    let listener = net.listen(OTHERS, wire::at(PORT));
    let sessions = vec![session(0, Role::Initiator), session(1, Role::Initiator)];
    let mut engine = engine(&net, &disk, Durability::Process, sessions);
    let mut handle = engine.handle();
    turns(&mut engine);
    let first = net.accept(listener).unwrap();
    let second = net.accept(listener).unwrap();
    say(&net, first, "P0", "A", 1, "98=0|108=30|");
    net.close(second);
    turns(&mut engine);
    handle.stop().unwrap();
    handle.log_on(SessionId(1)).unwrap();
    turns(&mut engine);
    assert_eq!(net.accept(listener), None);
    say(&net, first, "P0", "5", 2, "");
    turns(&mut engine);
    assert!(engine.is_done());
}

#[test]
fn the_first_message_of_a_connection_is_a_logon_whatever_waits_for_a_sync() {
    for durability in [Durability::Process, Durability::Disk] {
        let (net, disk) = (net(), SimDisk::new());
        let sessions = vec![session(0, Role::Acceptor), session(1, Role::Acceptor)];
        let mut engine = engine(&net, &disk, durability, sessions);
        let conns = [(), ()].map(|()| net.connect(OTHERS, PORT).unwrap());
        turns(&mut engine);
        say(&net, conns[0], "P0", "A", 1, "98=0|108=30|");
        turns(&mut engine);
        assert_eq!(heard(&net, conns[0]), ["A 1"]);
        // Both in one turn: the order is passed on to a session whose Logon is being read.
        say(&net, conns[0], "P0", "D", 2, "11=A|");
        say(&net, conns[1], "P1", "A", 1, "98=0|108=30|");
        turns(&mut engine);
        assert_eq!(heard(&net, conns[1]), ["A 2"], "{durability:?}");
    }
}

#[test]
fn every_session_gets_its_logout_however_many_there_are() {
    const MANY: usize = 50;
    let (net, disk) = (net(), SimDisk::new());
    let sessions = (0..MANY).map(|place| session(place, Role::Acceptor));
    let sessions = sessions.collect();
    let mut engine = engine(&net, &disk, Durability::Process, sessions);
    let mut conns = Vec::new();
    for place in 0..MANY {
        let conn = net.connect(OTHERS, PORT).unwrap();
        conns.push(conn);
        turns(&mut engine);
        say(&net, conn, &format!("P{place}"), "A", 1, "98=0|108=30|");
        turns(&mut engine);
        assert_eq!(heard(&net, conn), ["A 1"]);
    }
    engine.handle().stop().unwrap();
    turns(&mut engine);
    for conn in conns {
        assert_eq!(heard(&net, conn), ["5 2"]);
    }
}

/// One session that begins at 1 after each connection.
fn resetting() -> Vec<SessionConfig> {
    let mut session = session(0, Role::Acceptor);
    session.session.reset_on.disconnect = true;
    vec![session]
}

#[test]
fn a_crash_ends_a_connection_too() {
    let (net, disk) = (net(), SimDisk::new());
    let mut before = engine(&net, &disk, Durability::Process, resetting());
    let conn = net.connect(OTHERS, PORT).unwrap();
    turns(&mut before);
    say(&net, conn, "P0", "A", 1, "98=0|108=30|");
    say(&net, conn, "P0", "0", 2, "");
    turns(&mut before);
    net.crash(ENGINE, false);
    drop(before);
    let mut after = engine(&net, &disk, Durability::Process, resetting());
    assert_eq!(wire::numbers(&after), [(1, 1)]);
    let conn = net.connect(OTHERS, PORT).unwrap();
    turns(&mut after);
    say(&net, conn, "P0", "A", 1, "98=0|108=30|");
    turns(&mut after);
    assert_eq!(heard(&net, conn), ["A 1"]);
}

#[test]
fn what_was_sent_since_a_disconnect_outlives_a_crash() {
    let (net, disk) = (net(), SimDisk::new());
    let mut before = engine(&net, &disk, Durability::Process, resetting());
    let mut handle = before.handle();
    handle.send_fields(SessionId(0), b"D", b"11=A\x01").unwrap();
    turns(&mut before);
    drop(before);
    let after = engine(&net, &disk, Durability::Process, resetting());
    assert_eq!(wire::numbers(&after), [(1, 2)]);
}

/// HeartBtInt 0: the peer sends nothing above the gap. The message above the gap is counted once.
#[test]
fn a_gap_is_requested_again_by_time_alone() {
    let (net, disk) = (SimNet::new(1, wire::calm(1 << 16)), SimDisk::new());
    let config = wire::config(Durability::Process, vec![wire::acceptor("P0")]);
    let mut engine = wire::start(config, App::reports(), 1, &net, &disk);
    let conn = net.connect(0, PORT).unwrap();
    wire::turns(&mut engine);
    wire::write(&net, conn, "P0", "A", 1, "98=0|108=0|");
    wire::write(&net, conn, "P0", "D", 3, "11=3|");
    wire::turns(&mut engine);
    let heard = wire::shown(&wire::read(&net, conn), &["7"]);
    assert_eq!(heard, ["A 1", "2 2 2"]);
    net.advance(Nanos::from_secs(29));
    wire::turns(&mut engine);
    assert_eq!(wire::read(&net, conn), "");
    net.advance(Nanos::from_secs(1));
    wire::turns(&mut engine);
    let heard = wire::shown(&wire::read(&net, conn), &["7"]);
    assert_eq!(heard, ["2 3 2"]);
    wire::write(&net, conn, "P0", "D", 2, "43=Y|122=20260302-08:00:00|11=2|");
    wire::turns(&mut engine);
    let heard = wire::shown(&wire::read(&net, conn), &["11"]);
    assert_eq!(heard, ["8 4 2", "8 5 3"]);
    let status = engine.sessions().next().unwrap();
    assert_eq!(status.counters.received, 3);
    // The peer is silent above the next gap until the session gives up.
    wire::write(&net, conn, "P0", "D", 6, "11=6|");
    wire::turns(&mut engine);
    for _ in 0..220 {
        net.advance(Nanos::from_secs(1));
        wire::turns(&mut engine);
    }
    let heard = wire::shown(&wire::read(&net, conn), &["7"]);
    assert_eq!(heard, ["2 6 4", "2 7 4", "2 8 4", "5 9"]);
    assert_eq!(net.connections(1), 0);
}

/// Bytes that are not FIX: counted, and one event for a connection. A peer that begins with them does not speak FIX.
#[test]
fn bytes_between_messages_are_reported_once_and_end_a_connection_that_begins_with_them() {
    let (net, disk) = (net(), SimDisk::new());
    let config = wire::config(Durability::Process, vec![wire::acceptor("P0")]);
    let mut engine = wire::start(config, App::reports(), ENGINE, &net, &disk);
    let events = events(&mut engine);
    let conn = net.connect(OTHERS, PORT).unwrap();
    turns(&mut engine);
    say(&net, conn, "P0", "A", 1, "98=0|108=0|");
    for seq in 2..5 {
        net.write(conn, &[0; 500]).unwrap();
        turns(&mut engine);
        say(&net, conn, "P0", "D", seq, &format!("11={seq}|"));
        turns(&mut engine);
    }
    assert_eq!(heard(&net, conn), ["A 1", "8 2", "8 3", "8 4"]);
    let text = "garbled message ignored: bytes between messages that do not begin with 8=FIX";
    let events = events.lock().unwrap();
    let told = events.iter().filter(|event| event.to_string() == text);
    assert_eq!(told.count(), 1, "{events:?}");
    assert!(engine.sessions().next().unwrap().counters.garbled >= 3);
    drop(events);
    // An initiator whose peer is a web server.
    let (net, disk) = (SimNet::new(1, calm(1 << 20)), SimDisk::new());
    let listener = net.listen(OTHERS, wire::at(PORT));
    let mut engine = self::engine(
        &net,
        &disk,
        Durability::Process,
        vec![session(0, Role::Initiator)],
    );
    let events = common::events(&mut engine);
    turns(&mut engine);
    let conn = net.accept(listener).unwrap();
    net.write(conn, b"HTTP/1.1 400 Bad Request\r\nServer: nginx\r\n\r\n")
        .unwrap();
    turns(&mut engine);
    assert_eq!(net.connections(ENGINE), 0);
    let events = events.lock().unwrap();
    let told = |text: &str| events.iter().any(|event| event.to_string().contains(text));
    assert!(told("the first message was garbled"), "{events:?}");
}
