//! How a session ends: what is still sent, who is notified, and what is resent later.

use crate::common;

use std::time::Duration;

use fixwire::Event;
use fixwire::config::{Durability, EngineConfig, SessionConfig};
use fixwire::event::MessageLoss;
use fixwire::host::ConnId;
use fixwire::host::sim::SimNet;
use fixwire::journal::sim::SimDisk;
use fixwire::protocol::session::BeginString;
use fixwire::protocol::{Nanos, Outbox, Parting, SessionId, tag};

use common::app::{App, send};
use common::wire::{self, PORT, SimEngine, calm};
use common::{Events, events};

/// Bytes that a connection holds unread.
const ROOM: usize = 1500;

/// Answers each order with a report; notifies the next session how one has ended.
fn answerer() -> App {
    let tell = |session, how: Parting, outbox: &mut Outbox| {
        if session == SessionId(0) {
            let how = format!("{how:?}");
            // Not every engine here has a second session.
            let _ = send(outbox, SessionId(1), b"B", tag::HEADLINE, how.as_bytes());
        }
    };
    App {
        on_disconnect: Box::new(tell),
        ..App::reports()
    }
}

fn session(place: usize) -> SessionConfig {
    wire::acceptor(&format!("P{place}"))
}

struct World {
    net: SimNet,
    disk: SimDisk,
    engine: SimEngine,
    events: Events,
}

impl World {
    fn new(sessions: Vec<SessionConfig>) -> Self {
        Self::on(SimNet::new(1, calm(ROOM)), SimDisk::new(), sessions)
    }

    /// An engine with the journal of one that died.
    fn on(net: SimNet, disk: SimDisk, sessions: Vec<SessionConfig>) -> Self {
        let config = EngineConfig {
            segment_bytes: 256 << 10,
            limits: wire::outbox(8 << 10, 64),
            stop_timeout: Duration::from_secs(1),
            ..wire::config(Durability::Process, sessions)
        };
        let mut engine = wire::start(config, answerer(), 1, &net, &disk);
        let events = events(&mut engine);
        Self {
            net,
            disk,
            engine,
            events,
        }
    }

    fn turns(&mut self) {
        wire::turns(&mut self.engine);
    }

    fn connect(&mut self) -> ConnId {
        let conn = self.net.connect(0, PORT).unwrap();
        self.turns();
        conn
    }

    fn say(&mut self, conn: ConnId, from: &str, kind: &str, seq: u64, body: &str) {
        wire::write(&self.net, conn, from, kind, seq, body);
        self.turns();
    }

    /// All that comes, read a little at a time: MsgType, MsgSeqNum and these fields.
    fn hear(&mut self, conn: ConnId, tags: &[&str]) -> Vec<String> {
        let mut all = Vec::new();
        let mut bytes = [0; 700];
        while let Ok(count @ 1..) = self.net.read(conn, &mut bytes) {
            all.extend_from_slice(&bytes[..count]);
            self.turns();
        }
        wire::shown(&String::from_utf8_lossy(&all).replace('\x01', "|"), tags)
    }

    fn has(&self, wanted: &Event) -> bool {
        self.events.lock().unwrap().contains(wanted)
    }
}

/// Logged on, with orders whose reports are not read, and then a Logout.
fn slow_reader(world: &mut World) -> ConnId {
    let conn = world.connect();
    world.say(conn, "P0", "A", 1, "98=0|108=0|");
    for seq in 2..42 {
        world.say(conn, "P0", "D", seq, &format!("11={seq}|"));
    }
    world.say(conn, "P0", "5", 42, "");
    conn
}

#[test]
fn a_logout_is_written_behind_the_backlog_however_slowly_it_is_read() {
    let mut world = World::new(vec![session(0)]);
    let conn = slow_reader(&mut world);
    assert_eq!(world.net.connections(1), 1, "the Logout waits for its turn");
    let heard = world.hear(conn, &["11"]);
    let reports = (2..42).map(|seq| format!("8 {seq} {seq}"));
    let wanted: Vec<_> = ["A 1".to_owned()]
        .into_iter()
        .chain(reports)
        .chain(["5 42".to_owned()])
        .collect();
    assert_eq!(heard, wanted);
    assert_eq!(world.net.connections(1), 0);
}

#[test]
fn who_never_reads_is_left_after_the_logout_timeout() {
    let mut world = World::new(vec![session(0)]);
    slow_reader(&mut world);
    world.net.advance(Nanos::from_millis(1900));
    world.turns();
    assert_eq!(world.net.connections(1), 1);
    world.net.advance(Nanos::from_millis(200));
    world.turns();
    assert_eq!(world.net.connections(1), 0);
}

#[test]
fn a_crash_between_the_logouts_and_the_reset_does_not_undo_it() {
    let resetting = || {
        let mut session = session(0);
        session.session.reset_on.logout = true;
        vec![session]
    };
    let mut world = World::new(resetting());
    slow_reader(&mut world);
    let World {
        net, disk, engine, ..
    } = world;
    assert_eq!(
        wire::numbers(&engine),
        [(43, 43)],
        "the Logout still waits for the socket"
    );
    net.crash(1, false);
    drop(engine);
    let world = World::on(net, disk, resetting());
    assert_eq!(wire::numbers(&world.engine), [(1, 1)]);
}

#[test]
fn a_reset_that_is_not_answered_outlives_the_process() {
    let mut world = World::new(vec![session(0)]);
    let mut handle = world.engine.handle();
    let conn = world.connect();
    world.say(conn, "P0", "A", 1, "98=0|108=0|");
    handle.reset(SessionId(0)).unwrap();
    world.turns();
    assert_eq!(world.hear(conn, &["141"]), ["A 1", "A 1 Y"]);
    world.say(conn, "P0", "D", 2, "11=A|");
    let World {
        net, disk, engine, ..
    } = world;
    net.crash(1, false);
    drop(engine);
    let mut world = World::on(net, disk, vec![session(0)]);
    let conn = world.connect();
    world.say(conn, "P0", "A", 3, "98=0|108=0|");
    assert_eq!(
        world.hear(conn, &["141"]),
        ["A 1 Y", "1 2"],
        "it asks again"
    );
    world.say(conn, "P0", "A", 1, "98=0|108=0|141=Y|");
    world.say(conn, "P0", "D", 2, "11=B|");
    assert_eq!(world.hear(conn, &["11"]), ["8 3 B"]);
}

#[test]
fn who_comes_back_does_not_wait_for_the_old_connection() {
    let mut world = World::new(vec![session(0)]);
    slow_reader(&mut world);
    let conn = world.connect();
    world.say(conn, "P0", "A", 43, "98=0|108=0|");
    assert_eq!(world.hear(conn, &[]), ["A 43"]);
    assert_eq!(world.net.connections(1), 1);
}

#[test]
fn the_application_hears_how_a_connection_ended_and_can_act_on_another() {
    let mut world = World::new(vec![session(0), session(1)]);
    let other = world.connect();
    world.say(other, "P1", "A", 1, "98=0|108=0|");
    let first = world.connect();
    world.say(first, "P0", "A", 1, "98=0|108=0|");
    world.net.close(first);
    world.turns();
    let second = world.connect();
    world.say(second, "P0", "A", 2, "98=0|108=0|");
    world.say(second, "P0", "5", 3, "");
    assert_eq!(
        world.hear(other, &["148"]),
        ["A 1", "B 2 Lost", "B 3 LoggedOut"]
    );
}

#[test]
fn messages_that_a_reset_makes_void_are_counted() {
    let mut world = World::new(vec![session(0)]);
    let mut handle = world.engine.handle();
    for _ in 0..3 {
        handle.send_fields(SessionId(0), b"D", b"11=A\x01").unwrap();
    }
    world.turns();
    let conn = world.connect();
    world.say(conn, "P0", "A", 1, "98=0|108=0|141=Y|");
    assert_eq!(world.hear(conn, &[]), ["A 1"]);
    assert!(world.has(&Event::MessagesLost {
        session: SessionId(0),
        messages: 3,
        why: MessageLoss::Reset,
        what: "MsgSeqNum 1 D 11=A, MsgSeqNum 2 D 11=A, MsgSeqNum 3 D 11=A".into(),
    }));
}

/// A slow reader with a backlog in the journal: its connection, and how many reports there are.
fn backlog(world: &mut World) -> (ConnId, u64) {
    let conn = world.connect();
    world.say(conn, "P0", "A", 1, "98=0|108=0|");
    for seq in 2..42 {
        world.say(conn, "P0", "D", seq, &format!("11={seq}|"));
    }
    (conn, 40)
}

#[test]
fn a_backlog_that_a_reset_makes_void_is_counted() {
    let mut world = World::new(vec![session(0)]);
    let (conn, reports) = backlog(&mut world);
    world.say(conn, "P0", "A", 1, "98=0|108=0|141=Y|");
    let heard = world.hear(conn, &[]);
    let taken = heard.iter().filter(|text| text.starts_with('8')).count() as u64;
    assert!((1..reports).contains(&taken), "{heard:?}");
    assert_eq!(heard.last().unwrap(), "A 1");
    let messages = reports - taken;
    let events = world.events.lock().unwrap();
    let voided = events.iter().any(|event| {
        matches!(event, Event::MessagesLost { session: SessionId(0), messages: count, what, .. }
            if *count == messages && what.starts_with("MsgSeqNum ") && what.contains(" 8 11="))
    });
    assert!(voided, "{messages} of {reports}: {events:?}");
}

#[test]
fn a_backlog_that_a_reset_at_the_disconnect_makes_void_is_counted() {
    let mut resetting = session(0);
    resetting.session.reset_on.disconnect = true;
    let mut world = World::new(vec![resetting, session(1)]);
    let (conn, reports) = backlog(&mut world);
    world.net.reset(conn);
    world.turns();
    let events = world.events.lock().unwrap();
    let voided = events.iter().find_map(|event| match event {
        Event::MessagesLost { messages, .. } => Some(*messages),
        _ => None,
    });
    assert!(
        voided.is_some_and(|count| (1..reports).contains(&count)),
        "{voided:?}"
    );
}

#[test]
fn the_logout_for_a_refused_logon_leaves_although_an_application_message_waits() {
    let net = SimNet::new(1, calm(ROOM));
    let listener = net.listen(0, wire::at(PORT));
    let (reconnect, timeout) = (Duration::from_secs(60), Duration::from_secs(1));
    let sessions = vec![wire::initiator("ENGINE", "P0", reconnect, timeout)];
    let mut world = World::on(net, SimDisk::new(), sessions);
    let mut handle = world.engine.handle();
    world.turns();
    let conn = world.net.accept(listener).expect("it has connected");
    world.turns();
    handle.send_fields(SessionId(0), b"D", b"11=A\x01").unwrap();
    world.turns();
    // The answer lacks HeartBtInt.
    world.say(conn, "P0", "A", 1, "98=0|");
    let heard = world.hear(conn, &["371", "58"]);
    let wanted = [
        "A 1",
        "3 3 108 Required tag missing",
        "5 4 Required tag missing",
    ];
    assert_eq!(
        heard, wanted,
        "the order waits for a Logon that is accepted"
    );
    assert_eq!(world.net.connections(1), 0);
}

#[test]
fn a_panic_of_the_application_is_answered_when_that_is_wanted() {
    let mut patient = session(0);
    patient.answer_panics = true;
    let mut world = World::new(vec![patient]);
    let conn = world.connect();
    world.say(conn, "P0", "A", 1, "98=0|108=0|");
    world.say(conn, "P0", "D", 2, "11=BANG|");
    world.say(conn, "P0", "D", 3, "11=X|");
    let heard = world.hear(conn, &["380", "11"]);
    assert_eq!(
        heard,
        ["A 1", "j 2 4", "8 3 X"],
        "what it wrote before is taken back"
    );
    assert!(world.has(&Event::Panicked { messages: 1 }));
}

#[test]
fn a_sent_message_can_be_sent_again_as_possibly_known() {
    let mut world = World::new(vec![session(0)]);
    let mut handle = world.engine.handle();
    let conn = world.connect();
    world.say(conn, "P0", "A", 1, "98=0|108=0|");
    handle.send_fields(SessionId(0), b"D", b"11=A\x01").unwrap();
    handle.send_again(SessionId(0), 2).unwrap();
    // A Logon and a number that was never sent are not.
    handle.send_again(SessionId(0), 1).unwrap();
    handle.send_again(SessionId(0), 9).unwrap();
    world.turns();
    assert_eq!(world.hear(conn, &["97", "11"]), ["A 1", "D 2 A", "D 3 Y A"]);
    assert!(world.has(&Event::NotSent { messages: 2 }));
}

#[test]
fn a_reset_that_cannot_be_is_told() {
    let mut old = session(0);
    old.session.begin_string = BeginString::Fix40;
    old.session.precision = fixwire::protocol::Precision::Seconds;
    let mut world = World::new(vec![old, session(1)]);
    let mut handle = world.engine.handle();
    let conn = world.connect();
    world.say(conn, "P1", "A", 1, "98=0|108=0|");
    handle.reset(SessionId(1)).unwrap();
    handle.reset(SessionId(1)).unwrap();
    world.turns();
    assert_eq!(world.hear(conn, &["141"]), ["A 1", "A 1 Y"]);
    let session = SessionId(1);
    assert!(world.has(&Event::NotReset { session }), "one is open");
}
