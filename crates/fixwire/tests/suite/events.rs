//! Events for the operator: they say what happened, and why.

use crate::common;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;

use fixwire::SessionReport;
use fixwire::event::{ConnectionRefusal, Event};

use common::{
    PATIENCE, Peer, Running, acceptor_session, config, initiator_session, message, wait_until,
};

fn start(folder: &Path) -> Running {
    Running::start(config(
        &folder.join("store"),
        acceptor_session("127.0.0.1:0"),
    ))
}

/// Everything that was said, a sentence an event.
fn said(engine: &Running) -> Vec<String> {
    let events = engine.events.lock().unwrap();
    events.iter().map(ToString::to_string).collect()
}

/// Waits until these sentences were said, in this order.
#[track_caller]
fn wait_said(engine: &Running, wanted: &[&str]) {
    let all = || {
        let said = said(engine);
        let mut rest = said.iter();
        wanted.iter().all(|wanted| rest.any(|said| said == wanted))
    };
    wait_until(all, || format!("{:#?}", said(engine)));
}

fn order(number: u64) -> String {
    format!("11={number}|55=LCOM1|54=1|38=1|40=2|44=200.0|")
}

#[test]
fn rejects_both_ways_say_which_message_which_field_and_why() {
    let folder = tempfile::tempdir().unwrap();
    let engine = start(folder.path());
    let mut peer = Peer::log_on(engine.address(), 1);
    peer.send("B", "148=x|33=1|58=y|");
    peer.send("A", "98=0|108=30|");
    peer.send("3", "45=2|371=55|372=8|373=5|58=no \x1b[2J such symbol|");
    peer.send("j", "45=1|372=8|379=ID7|380=4|58=busy|");
    wait_said(
        &engine,
        &[
            "sent BusinessMessageReject of MsgSeqNum 2: Unsupported Message Type \
             (BusinessRejectReason=3, RefMsgType=B)",
            "sent Reject of MsgSeqNum 3: Logon received while logged on (RefMsgType=A)",
            "received Reject of MsgSeqNum 2: no \\x1b[2J such symbol \
             (SessionRejectReason=5, RefTagID=55, RefMsgType=8)",
            "received BusinessMessageReject of MsgSeqNum 1: busy \
             (BusinessRejectReason=4, RefMsgType=8, BusinessRejectRefID=ID7)",
        ],
    );
    engine.stop();
}

#[test]
fn logouts_both_ways_say_their_text() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = start(folder.path());
    let mut peer = Peer::log_on(engine.address(), 1);
    peer.send("5", "58=end of day|");
    while peer.receive().is_some() {}
    wait_said(
        &engine,
        &[
            "received Logout: end of day",
            "sent Logout",
            "logged out",
            "disconnected: both sides have logged out",
        ],
    );
    let mut peer = Peer::log_on(engine.address(), 3);
    let session = fixwire::protocol::SessionId(0);
    engine
        .handle
        .log_out(session, "maintenance until 14:00")
        .unwrap();
    assert!(peer.receive().unwrap().contains("|58=maintenance"));
    peer.send("5", "");
    wait_said(
        &engine,
        &["sent Logout: maintenance until 14:00", "received Logout"],
    );
    engine.stop();
}

#[test]
fn a_gap_its_end_and_a_resend_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let engine = start(folder.path());
    let mut peer = Peer::log_on(engine.address(), 1);
    peer.seq = 5;
    peer.send("D", &order(1));
    assert!(peer.receive().unwrap().contains("|35=2|"));
    let fill = message(
        "4",
        2,
        "BENCH",
        "EXEC",
        "43=Y|122=20260101-00:00:00|123=Y|36=5|",
    );
    peer.send_bytes(&fill);
    assert!(peer.receive().unwrap().contains("|35=8|"));
    wait_said(
        &engine,
        &[
            "gap: expected MsgSeqNum 2, received 5; sent ResendRequest 2 to 0",
            "gap filled: MsgSeqNum 2 to 4",
        ],
    );
    // Logon, ResendRequest and the report.
    peer.send("2", "7=1|16=0|");
    wait_said(
        &engine,
        &[
            "received ResendRequest 1 to 0",
            "resend complete: MsgSeqNum 1 to 3, 1 message and 1 gap fill",
        ],
    );
    peer.send("4", "36=50|");
    wait_said(
        &engine,
        &["received SequenceReset-Reset: next expected MsgSeqNum is 50, was 7"],
    );
    peer.seq = 53;
    peer.send("D", &order(2));
    drop(peer);
    wait_said(
        &engine,
        &[
            "gap: expected MsgSeqNum 50, received 53; sent ResendRequest 50 to 0",
            "gap not filled: MsgSeqNum 50 to 52 missing",
            "logged out",
        ],
    );
    let mut peer = Peer::connect(engine.address());
    peer.send("A", "98=0|108=30|141=Y|");
    wait_said(
        &engine,
        &["sequence numbers reset to 1 by Logon", "logged on"],
    );
    engine.stop();
}

#[test]
fn a_refused_logon_says_why_on_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let engine = start(folder.path());
    let mut peer = Peer::log_on(engine.address(), 1);
    peer.send("D", &order(1));
    peer.receive();
    drop(peer);
    wait_said(&engine, &["logged out"]);
    let mut peer = Peer::connect(engine.address());
    peer.send("A", "98=0|108=30|");
    while peer.receive().is_some() {}
    let why = "MsgSeqNum too low, expecting 3 but received 1";
    wait_said(
        &engine,
        &[
            &format!("sent Logout: {why}"),
            &format!("disconnected: Logon refused: {why}"),
        ],
    );
    engine.stop();

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let engine = Running::start(config(
        &folder.path().join("store"),
        initiator_session(listener.local_addr().unwrap()),
    ));
    let (mut socket, _) = listener.accept().unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let _ = socket.read(&mut [0; 4096]).unwrap();
    let logout = message("5", 1, "EXEC", "BENCH", "58=not before 08:00|");
    socket.write_all(&logout).unwrap();
    wait_said(
        &engine,
        &[
            "received Logout: not before 08:00",
            "disconnected: Logon refused by the peer: not before 08:00",
        ],
    );
    let (mut socket, _) = listener.accept().unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let _ = socket.read(&mut [0; 4096]).unwrap();
    let other = message("A", 2, "OTHER", "BENCH", "98=0|108=30|");
    socket.write_all(&other).unwrap();
    wait_said(
        &engine,
        &[
            "disconnected: Logon does not match this session (BeginString, CompIDs or MsgSeqNum): BeginString=FIX.4.2, \
             SenderCompID=OTHER, TargetCompID=BENCH, MsgSeqNum=2",
        ],
    );
    engine.stop();
}

#[test]
fn an_unknown_session_is_named_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let engine = start(folder.path());
    let stranger = format!("ST\x1b]0;{}", "R".repeat(500));
    let mut peer = Peer::connect(engine.address());
    peer.send_bytes(&message("A", 1, &stranger, "EXEC", "98=0|108=30|"));
    assert_eq!(peer.receive(), None);
    engine.wait_event(|event| {
        matches!(
            event,
            Event::Refused {
                why: ConnectionRefusal::UnknownSession,
                ..
            }
        )
    });
    let said = said(&engine);
    let line = said
        .iter()
        .find(|line| line.contains("unknown session"))
        .unwrap();
    assert!(
        line.contains(": Logon with BeginString=FIX.4.2, SenderCompID=ST\\x1b]0;RRR"),
        "{line}"
    );
    assert!(line.contains(", TargetCompID=EXEC"), "{line}");
    assert!(line.len() < 400, "{line}");
    engine.stop();
}

#[test]
fn a_flood_of_strangers_is_counted_by_a_timer_and_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(
        &folder.path().join("store"),
        acceptor_session("127.0.0.1:0"),
    );
    assert_eq!(config.limits.events_per_second, 20);
    config.limits.events_per_second = 2;
    let engine = Running::start(config);
    let suppressed = |event: &Event| matches!(event, Event::Suppressed { session: None, kind, .. } if kind.contains("not a FIX message"));
    flood(engine.address());
    // No other event follows.
    engine.wait_event(suppressed);
    let all = || -> u64 {
        let events = engine.events.lock().unwrap();
        let count = |event: &Event| match event {
            Event::Refused { .. } => 1,
            Event::Suppressed { events, .. } => *events,
            _ => 0,
        };
        events.iter().map(count).sum()
    };
    wait_until(
        || all() == 8,
        || format!("{:?}", engine.events.lock().unwrap()),
    );
    flood(engine.address());
    wait_until(
        || {
            said(&engine)
                .iter()
                .filter(|line| line.contains("refused"))
                .count()
                > 2
        },
        || format!("{:?}", engine.events.lock().unwrap()),
    );
    let events = std::sync::Arc::clone(&engine.events);
    engine.stop();
    let events = events.lock().unwrap();
    let counts = events.iter().filter(|event| suppressed(event)).count();
    assert!(counts >= 2, "{events:?}");
}

/// Eight connections that do not speak FIX.
fn flood(to: SocketAddr) {
    for _ in 0..8 {
        let mut stranger = TcpStream::connect(to).unwrap();
        stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        stranger.set_read_timeout(Some(PATIENCE)).unwrap();
        let _ = stranger.read(&mut [0; 16]);
    }
}

#[test]
fn another_thread_can_ask_how_the_sessions_stand() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = start(folder.path());
    let ask = |handle: &mut fixwire::Handle| -> Vec<String> {
        let answer = handle.status().unwrap().recv_timeout(PATIENCE).unwrap();
        answer.iter().map(SessionReport::to_string).collect()
    };
    let name = "FIX.4.2:EXEC->BENCH";
    assert_eq!(
        ask(&mut engine.handle),
        [format!("{name} disconnected, next MsgSeqNum in 1, out 1")]
    );
    let mut peer = Peer::log_on(engine.address(), 1);
    peer.send("D", &order(1));
    peer.receive();
    let mut handles: Vec<_> = (0..3).map(|_| engine.handle.clone()).collect();
    for handle in &mut handles {
        assert_eq!(
            ask(handle),
            [format!("{name} logged on, next MsgSeqNum in 3, out 3")]
        );
    }
    let session = fixwire::protocol::SessionId(0);
    engine.handle.log_out(session, "").unwrap();
    assert_eq!(
        ask(&mut engine.handle),
        [format!("{name} logging out, next MsgSeqNum in 3, out 4")]
    );
    drop(peer);
    engine.stop();
}
