//! Messages that are given while a session is not logged on: sent after the logon, or refused, and never lost in
//! silence.

use crate::common;

use std::time::Duration;

use fixwire::Event;
use fixwire::config::{Durability, SessionConfig};
use fixwire::event::MessageLoss;
use fixwire::host::sim::SimNet;
use fixwire::host::{ConnId, ListenerId};
use fixwire::journal::sim::SimDisk;
use fixwire::protocol::session::{Loss, OtherHeartBtInt};
use fixwire::protocol::{Nanos, SessionId, tag};

use common::app::{App, send};
use common::wire::{self, PORT, SimEngine, calm};
use common::{Events, events};

const IT: SessionId = SessionId(0);

struct World {
    net: SimNet,
    disk: SimDisk,
    engine: SimEngine,
    events: Events,
    /// The listener of an initiator's peer.
    peer: Option<ListenerId>,
}

impl World {
    fn acceptor(change: impl FnOnce(&mut SessionConfig)) -> Self {
        Self::on(
            SimNet::new(1, calm(1 << 16)),
            SimDisk::new(),
            wire::acceptor("P0"),
            change,
        )
    }

    fn initiator(change: impl FnOnce(&mut SessionConfig)) -> Self {
        let net = SimNet::new(1, calm(1 << 16));
        let listener = net.listen(0, wire::at(PORT));
        let pause = Duration::from_secs(1);
        let session = wire::initiator("ENGINE", "P0", pause, pause);
        let mut world = Self::on(net, SimDisk::new(), session, change);
        world.peer = Some(listener);
        world
    }

    fn on(
        net: SimNet,
        disk: SimDisk,
        mut session: SessionConfig,
        change: impl FnOnce(&mut SessionConfig),
    ) -> Self {
        change(&mut session);
        let config = wire::config(Durability::Process, vec![session]);
        let mut engine = wire::start(config, App::reports(), 1, &net, &disk);
        let events = events(&mut engine);
        Self {
            net,
            disk,
            engine,
            events,
            peer: None,
        }
    }

    /// The process ends, by kill or a stop, and another one starts with this change.
    fn again(self, is_stopped: bool, change: impl FnOnce(&mut SessionConfig)) -> Self {
        let Self {
            net,
            disk,
            mut engine,
            peer,
            ..
        } = self;
        if is_stopped {
            engine.handle().stop().unwrap();
            net.advance(Nanos::from_secs(60));
            wire::turns(&mut engine);
        }
        net.crash(1, false);
        drop(engine);
        // The peer forgets what the process had begun.
        while let Some(conn) = peer.and_then(|listener| net.accept(listener)) {
            net.close(conn);
        }
        let pause = Duration::from_secs(1);
        let session = match peer {
            Some(_) => wire::initiator("ENGINE", "P0", pause, pause),
            None => wire::acceptor("P0"),
        };
        let world = Self::on(net, disk, session, change);
        Self { peer, ..world }
    }

    fn turns(&mut self) {
        wire::turns(&mut self.engine);
    }

    /// Gives messages with these ClOrdIDs.
    fn give(&mut self, ids: &[&str]) {
        let mut handle = self.engine.handle();
        for id in ids {
            handle
                .send(IT, b"D", |order| {
                    order.field(tag::CL_ORD_ID, id.as_bytes());
                })
                .unwrap();
        }
        self.turns();
    }

    fn say(&mut self, conn: ConnId, kind: &str, seq: u64, body: &str) {
        wire::write(&self.net, conn, "P0", kind, seq, body);
        self.turns();
    }

    fn hear(&mut self, conn: ConnId) -> Vec<String> {
        wire::shown(&wire::read(&self.net, conn), &["43", "11"])
    }

    /// What is reported of messages that are never sent.
    fn lost(&self) -> Vec<(u64, MessageLoss, String)> {
        let events = self.events.lock().unwrap();
        let lost = events.iter().filter_map(|event| match event {
            Event::MessagesLost {
                session: IT,
                messages,
                why,
                what,
            } => Some((*messages, *why, what.clone())),
            _ => None,
        });
        lost.collect()
    }

    fn connect(&mut self) -> ConnId {
        let conn = match self.peer {
            Some(listener) => {
                self.net.advance(Nanos::from_secs(2));
                self.turns();
                self.net.accept(listener).unwrap()
            }
            None => self.net.connect(0, PORT).unwrap(),
        };
        self.turns();
        conn
    }
}

type Change = fn(&mut SessionConfig);

fn roles(change: Change) -> [World; 2] {
    [World::acceptor(change), World::initiator(change)]
}

#[test]
fn messages_of_a_time_without_connection_are_resent_on_request() {
    let mut world = World::acceptor(|_| ());
    world.give(&["A", "B"]);
    let conn = world.connect();
    world.say(conn, "A", 1, "98=0|108=0|");
    world.say(conn, "2", 2, "7=1|16=0|");
    assert_eq!(world.hear(conn), ["A 3", "D 1 Y A", "D 2 Y B", "4 3 Y"]);
    assert_eq!(world.lost(), []);
}

#[test]
fn what_the_next_logon_would_lose_is_refused_at_once_and_named() {
    let changes: [(Change, Loss); 2] = [
        (|it| it.session.reset_on.logon = true, Loss::Reset),
        (|it| it.session.resend_messages = false, Loss::GapFill),
    ];
    for (change, loss) in changes {
        let mut world = World::acceptor(change);
        world.give(&["A", "B"]);
        assert_eq!(
            wire::numbers(&world.engine),
            [(1, 1)],
            "no MsgSeqNum is used"
        );
        let why = MessageLoss::Down(loss);
        assert_eq!(world.lost(), [(2, why, "D 11=A, D 11=B".to_owned())]);
        let conn = world.connect();
        world.say(conn, "A", 1, "98=0|108=0|");
        world.give(&["C"]);
        assert_eq!(world.hear(conn), ["A 1", "D 2 C"]);
        world.net.close(conn);
        world.turns();
        world.give(&["D"]);
        assert_eq!(world.lost()[1..], [(1, why, "D 11=D".to_owned())]);
    }
}

#[test]
fn what_waits_for_the_answer_to_our_logon_is_sent_after_it() {
    for change in [
        (|_| ()) as Change,
        |it| it.session.reset_on.logon = true,
        |it| it.session.resend_messages = false,
    ] {
        let mut world = World::initiator(change);
        let conn = world.connect();
        world.give(&["A"]);
        assert_eq!(world.hear(conn), ["A 1"]);
        world.say(conn, "A", 1, "98=0|108=30|");
        assert_eq!(world.hear(conn), ["D 2 A"]);
        assert_eq!(world.lost(), []);
    }
}

#[test]
fn a_session_can_refuse_what_comes_before_its_logon() {
    for mut world in roles(|it| it.refuse_before_logon = true) {
        let is_initiator = world.peer.is_some();
        let conn = world.connect();
        world.give(&["A"]);
        let named = |id: &str| (1, MessageLoss::NotLoggedOn, format!("D 11={id}"));
        assert_eq!(world.lost(), [named("A")]);
        world.say(conn, "A", 1, "98=0|108=30|");
        world.give(&["B"]);
        assert_eq!(world.hear(conn), ["A 1", "D 2 B"], "{is_initiator}");
        world.say(conn, "5", 2, "");
        world.give(&["C"]);
        assert_eq!(world.lost(), [named("A"), named("C")]);
    }
}

#[test]
fn each_message_that_a_reset_makes_void_is_named() {
    let mut world = World::acceptor(|_| ());
    let ids: Vec<String> = (1..=120).map(|id| id.to_string()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    world.give(&ids);
    world.give(&[]);
    let conn = world.connect();
    world.say(conn, "A", 1, "98=0|108=0|141=Y|");
    let lost = world.lost();
    assert_eq!(lost.iter().map(|lost| lost.0).sum::<u64>(), 120);
    let text: String = lost.iter().map(|lost| format!("{}, ", lost.2)).collect();
    for id in 1..=120 {
        assert!(
            text.contains(&format!("MsgSeqNum {id} D 11={id}, ")),
            "{id}: {text}"
        );
    }
    assert!(lost.iter().all(|lost| lost.1 == MessageLoss::Reset));
    let events = world.events.lock().unwrap();
    let said = events.iter().map(ToString::to_string);
    let mut said = said.filter(|said| said.contains("dropped before sending"));
    let first = said.next().unwrap();
    assert!(first.starts_with("50 messages dropped before sending: MsgSeqNum 1 D 11=1, "));
    assert!(
        first.ends_with("after the logon, send those that are still wanted again"),
        "{first}"
    );
}

#[test]
fn what_stood_before_an_attempt_to_log_on_is_named_too() {
    let mut world = World::initiator(|_| ());
    world.give(&["A"]);
    let conn = world.connect();
    world.give(&["B"]);
    // The Logon is not answered.
    world.net.close(conn);
    world.turns();
    world.give(&["C"]);
    let mut handle = world.engine.handle();
    handle.reset(IT).unwrap();
    world.turns();
    let what = "MsgSeqNum 1 D 11=A, MsgSeqNum 3 D 11=B, MsgSeqNum 4 D 11=C";
    assert_eq!(world.lost(), [(3, MessageLoss::Reset, what.to_owned())]);
}

#[test]
fn what_is_not_resent_is_named_at_the_logon() {
    let mut world = World::initiator(|it| it.session.resend_messages = false);
    let conn = world.connect();
    world.give(&["A"]);
    // The Logon is not answered.
    world.net.close(conn);
    world.turns();
    assert_eq!(world.lost(), []);
    let conn = world.connect();
    world.give(&["B"]);
    world.say(conn, "A", 1, "98=0|108=30|");
    world.say(conn, "2", 2, "7=1|16=0|");
    assert_eq!(world.hear(conn), ["A 3", "D 4 B", "4 1 Y"]);
    let what = "MsgSeqNum 2 D 11=A".to_owned();
    assert_eq!(world.lost(), [(1, MessageLoss::NotResent, what)]);
}

#[test]
fn what_waited_when_a_process_ended_is_named_by_a_later_reset() {
    let mut world = World::acceptor(|_| ());
    world.give(&["A"]);
    let mut world = world.again(false, |_| ());
    assert_eq!(world.lost(), []);
    let conn = world.connect();
    world.net.close(conn);
    world.turns();
    world.give(&["B"]);
    let mut handle = world.engine.handle();
    handle.reset(IT).unwrap();
    world.turns();
    let named = "MsgSeqNum 1 D 11=A, MsgSeqNum 2 D 11=B".to_owned();
    assert_eq!(world.lost(), [(2, MessageLoss::Reset, named)]);
}

#[test]
fn what_waited_for_a_logon_when_the_process_was_killed_is_named() {
    // Given after our Logon, which was not answered.
    let mut world = World::initiator(|_| ());
    let _ = world.connect();
    world.give(&["A"]);
    let mut world = world.again(false, |it| it.session.reset_on.logon = true);
    let conn = world.connect();
    world.say(conn, "A", 1, "98=0|108=30|141=Y|");
    let named = "MsgSeqNum 2 D 11=A".to_owned();
    assert_eq!(world.lost(), [(1, MessageLoss::Reset, named)]);
    // The peer asks for a reset.
    let mut world = World::acceptor(|_| ());
    world.give(&["A"]);
    let mut world = world.again(false, |_| ());
    let conn = world.connect();
    world.say(conn, "A", 1, "98=0|108=0|141=Y|");
    let named = "MsgSeqNum 1 D 11=A".to_owned();
    assert_eq!(world.lost(), [(1, MessageLoss::Reset, named)]);
}

#[test]
fn what_a_logon_has_passed_is_not_named_after_a_restart() {
    let mut world = World::acceptor(|_| ());
    world.give(&["A"]);
    let conn = world.connect();
    world.say(conn, "A", 1, "98=0|108=0|");
    world.say(conn, "2", 2, "7=1|16=0|");
    world.give(&["B"]);
    assert_eq!(world.hear(conn), ["A 2", "D 1 Y A", "4 2 Y", "D 3 B"]);
    let mut world = world.again(false, |_| ());
    world.give(&["C"]);
    let conn = world.connect();
    world.say(conn, "A", 1, "98=0|108=0|141=Y|");
    let named = "MsgSeqNum 4 D 11=C".to_owned();
    assert_eq!(world.lost(), [(1, MessageLoss::Reset, named)]);
}

#[test]
fn names_of_lost_messages_are_masked_as_in_logs() {
    let net = SimNet::new(1, calm(1 << 16));
    let mut session = wire::acceptor("P0");
    session.session.reset_on.logon = true;
    let mut config = wire::config(Durability::Process, vec![session]);
    config.masked_in_logs = vec![tag::CL_ORD_ID];
    let mut engine = wire::start(config, App::reports(), 1, &net, &SimDisk::new());
    let events = events(&mut engine);
    let mut handle = engine.handle();
    handle
        .send(IT, b"D", |order| {
            order.field(tag::CL_ORD_ID, b"SECRET");
        })
        .unwrap();
    wire::turns(&mut engine);
    let lost = Event::MessagesLost {
        session: IT,
        messages: 1,
        why: MessageLoss::Down(Loss::Reset),
        what: "D 11=***".into(),
    };
    let events = events.lock().unwrap();
    assert!(events.contains(&lost), "{events:?}");
}

#[test]
fn an_event_says_whose_first_message_is_refused_with_a_logout_or_without() {
    for answers in [false, true] {
        for (from, kind) in [("P9", "A"), ("P0", "8")] {
            let mut world = World::initiator(|it| it.session.logout_for_bad_logon = answers);
            let conn = world.connect();
            wire::write(&world.net, conn, from, kind, 1, "98=0|108=30|");
            world.turns();
            assert_eq!(world.hear(conn).len(), 1 + usize::from(answers));
            world.net.advance(Nanos::from_secs(60));
            world.turns();
            let events = world.events.lock().unwrap();
            let mut said = events.iter().map(ToString::to_string);
            let said = said
                .find(|said| said.starts_with("disconnected: "))
                .unwrap();
            assert!(said.contains(&format!("SenderCompID={from}")), "{said}");
        }
    }
}

#[test]
fn another_heart_bt_int_of_the_answer_is_reported_with_both() {
    let differs = |world: &World| {
        let events = world.events.lock().unwrap();
        events.iter().find_map(|event| match event {
            Event::HeartBtIntDiffers { interval, .. } => Some((*interval, event.to_string())),
            _ => None,
        })
    };
    for (peers, reported) in [(30, false), (60, true), (0, true)] {
        let mut world = World::initiator(|_| ());
        let conn = world.connect();
        world.say(conn, "A", 1, &format!("98=0|108={peers}|"));
        let found = differs(&world);
        let wanted = OtherHeartBtInt { ours: 30, peers };
        assert_eq!(found.as_ref().map(|it| it.0), reported.then_some(wanted));
        if let Some((_, said)) = found {
            let begin = format!(
                "HeartBtInt(108) of the peer's Logon is {peers} s, ours is 30 s: ours is used"
            );
            assert!(said.starts_with(&begin), "{said}");
        }
    }
    let mut world = World::acceptor(|it| it.session.own_heart_bt_int = true);
    let conn = world.connect();
    world.say(conn, "A", 1, "98=0|108=10|");
    let wanted = OtherHeartBtInt {
        ours: 30,
        peers: 10,
    };
    assert_eq!(differs(&world).unwrap().0, wanted);
    // An acceptor takes the initiator's.
    let mut world = World::acceptor(|_| ());
    let conn = world.connect();
    world.say(conn, "A", 1, "98=0|108=10|");
    assert_eq!(differs(&world), None);
}

#[test]
fn the_next_logon_or_logout_has_the_number_that_a_logout_asks_for() {
    let set = |it: &mut SessionConfig| it.session.next_expected_of_logout = true;
    let mut world = World::initiator(set);
    let conn = world.connect();
    assert_eq!(world.hear(conn), ["A 1"]);
    world.say(conn, "5", 1, "789=120|");
    let conn = world.connect();
    assert_eq!(world.hear(conn), ["A 120"]);
    world.say(conn, "A", 2, "98=0|108=30|");
    world.give(&["A"]);
    assert_eq!(world.hear(conn), ["D 121 A"]);
    let mut world = World::acceptor(set);
    let conn = world.connect();
    world.say(conn, "A", 1, "98=0|108=30|");
    world.say(conn, "5", 2, "789=40|");
    assert_eq!(world.hear(conn), ["A 1", "5 40"]);
}

#[test]
fn a_number_that_a_logout_has_set_outlives_the_process() {
    let set = |it: &mut SessionConfig| it.session.next_expected_of_logout = true;
    let mut world = World::initiator(set);
    let conn = world.connect();
    world.say(conn, "5", 1, "58=MsgSeqNum too low|789=120|");
    assert_eq!(wire::numbers(&world.engine), [(2, 120)]);
    let events = world.events.lock().unwrap().clone();
    let moved = Event::NumberMovedOn {
        session: IT,
        was: 2,
        next: 120,
    };
    assert!(events.contains(&moved), "{events:?}");
    let World {
        net, disk, engine, ..
    } = world;
    net.crash(1, false);
    drop(engine);
    let pause = Duration::from_secs(1);
    let session = wire::initiator("ENGINE", "P0", pause, pause);
    let world = World::on(net, disk, session, set);
    assert_eq!(wire::numbers(&world.engine), [(2, 120)]);
}

#[test]
fn what_an_application_writes_for_a_session_that_is_down_is_named() {
    let net = SimNet::new(1, calm(1 << 16));
    let mut other = wire::acceptor("P1");
    other.session.reset_on.logon = true;
    let sessions = vec![wire::acceptor("P0"), other];
    let app = App::new(|_, message, outbox| {
        let id = message.get(tag::CL_ORD_ID).unwrap_or_default();
        send(outbox, SessionId(1), b"8", tag::CL_ORD_ID, id).unwrap();
        Ok(())
    });
    let disk = SimDisk::new();
    let mut engine = wire::start(
        wire::config(Durability::Process, sessions),
        app,
        1,
        &net,
        &disk,
    );
    let events = events(&mut engine);
    let conn = net.connect(0, PORT).unwrap();
    wire::turns(&mut engine);
    wire::write(&net, conn, "P0", "A", 1, "98=0|108=0|");
    wire::turns(&mut engine);
    wire::write(&net, conn, "P0", "D", 2, "11=X|");
    wire::turns(&mut engine);
    let lost = Event::MessagesLost {
        session: SessionId(1),
        messages: 1,
        why: MessageLoss::Down(Loss::Reset),
        what: "8 11=X".into(),
    };
    assert!(events.lock().unwrap().contains(&lost));
    let said = lost.to_string();
    assert_eq!(
        said,
        "1 message not sent: 8 11=X; the session is not connected, and the next Logon resets its sequence \
         numbers: send them after the logon"
    );
}
