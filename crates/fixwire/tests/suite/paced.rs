//! A session with an outbound rate limit: the SendingTime of messages that waited, the end of the session, and slow
//! consumers.

use crate::common;

use std::time::Duration;

use fixwire::config::{Durability, SessionConfig};
use fixwire::event::Ending;
use fixwire::host::ConnId;
use fixwire::host::sim::SimNet;
use fixwire::journal::sim::SimDisk;
use fixwire::protocol::{Nanos, Precision, SessionId};
use fixwire::{Event, Rate};

use common::app::App;
use common::wire::{self, PORT, SimEngine, calm};
use common::{Events, events, whole};

const SECOND: Nanos = Nanos(1_000_000_000);

/// A session that may send two messages at once, and then one a second.
fn paced() -> SessionConfig {
    let mut session = wire::acceptor("P0");
    session.flow.outbound = Some(Rate {
        count: 1,
        per: Duration::from_secs(1),
        burst: 2,
    });
    session
}

struct World {
    net: SimNet,
    engine: SimEngine,
    events: Events,
}

impl World {
    fn new(session: SessionConfig, room: usize) -> Self {
        let (net, disk) = (SimNet::new(1, calm(room)), SimDisk::new());
        let mut config = wire::config(Durability::Process, vec![session]);
        config.limits.lag_bytes = 2 << 10;
        let mut engine = wire::start(config, App::reports(), 1, &net, &disk);
        let events = events(&mut engine);
        Self {
            net,
            engine,
            events,
        }
    }

    fn turns(&mut self) {
        wire::turns(&mut self.engine);
    }

    fn say(&mut self, conn: ConnId, kind: &str, seq: u64, body: &str) {
        wire::write(&self.net, conn, "P0", kind, seq, body);
        self.turns();
    }

    /// A peer that is logged on and has sent this number of orders.
    fn log_on(&mut self, orders: u64) -> ConnId {
        let conn = self.net.connect(0, PORT).unwrap();
        self.turns();
        self.say(conn, "A", 1, "98=0|108=0|");
        for seq in 2..2 + orders {
            self.say(conn, "D", seq, &format!("11={seq}|"));
        }
        conn
    }

    fn advance(&mut self, time: Nanos) {
        self.net.advance(time);
        self.turns();
    }

    fn hear(&self, conn: ConnId) -> String {
        wire::read(&self.net, conn)
    }
}

/// The messages of a text, each checked for BodyLength(9) and CheckSum(10).
fn messages(text: &str) -> Vec<String> {
    let parts = text.split("8=FIX.4.2|").skip(1);
    parts
        .map(|part| {
            let (_, rest) = part.split_once('|').unwrap();
            let (body, _) = rest.rsplit_once("10=").unwrap();
            let expected = String::from_utf8(whole("FIX.4.2", body)).unwrap();
            assert_eq!(format!("8=FIX.4.2|{part}"), expected.replace('\x01', "|"));
            body.to_owned()
        })
        .collect()
}

fn value<'a>(message: &'a str, tag: &str) -> Option<&'a str> {
    let fields = message.split('|').filter_map(|field| field.split_once('='));
    let mut found = fields.filter(|(name, _)| *name == tag);
    found.next().map(|(_, value)| value)
}

/// Seconds of the SendingTime(52).
fn second(message: &str) -> u64 {
    let clock = &value(message, "52").unwrap()[9..17];
    let parts: Vec<u64> = clock.split(':').map(|part| part.parse().unwrap()).collect();
    parts[0] * 3600 + parts[1] * 60 + parts[2]
}

#[test]
fn a_message_that_waited_for_the_rate_limit_has_the_sending_time_at_which_it_leaves() {
    for precision in [
        Precision::Seconds,
        Precision::Millis,
        Precision::Micros,
        Precision::Nanos,
    ] {
        let mut session = paced();
        session.session.precision = precision;
        let mut world = World::new(session, 1 << 16);
        let conn = world.log_on(5);
        let first = messages(&world.hear(conn));
        assert_eq!(first.len(), 3, "the Logon and the burst");
        let began = second(&first[2]);
        for waited in 1..=3 {
            world.advance(SECOND);
            let heard = messages(&world.hear(conn));
            assert_eq!(heard.len(), 1, "{heard:?}");
            assert_eq!(second(&heard[0]), began + waited, "{heard:?}");
            assert_eq!(value(&heard[0], "52").unwrap().len(), precision.text_len());
            assert_eq!(
                value(&heard[0], "43"),
                None,
                "it is sent for the first time"
            );
            assert_eq!(
                value(&heard[0], "122"),
                None,
                "it is sent for the first time"
            );
        }
        // The copy in the journal has the SendingTime of the commit.
        world.advance(SECOND);
        world.say(conn, "2", 7, "7=6|16=6|");
        let again = messages(&world.hear(conn));
        assert_eq!(again.len(), 1, "{again:?}");
        assert_eq!(value(&again[0], "43"), Some("Y"));
        assert_eq!(second(&again[0]), began + 4);
        assert_eq!(value(&again[0], "122"), value(&first[2], "52"));
    }
}

#[test]
fn a_session_message_behind_a_waiting_one_has_a_new_sending_time_too() {
    let mut world = World::new(paced(), 1 << 16);
    let conn = world.log_on(3);
    world.say(conn, "1", 5, "112=T|");
    let before = messages(&world.hear(conn));
    assert_eq!(before.len(), 3, "{before:?}");
    world.advance(SECOND);
    world.advance(SECOND);
    let heard = messages(&world.hear(conn));
    let test = heard.iter().find(|text| value(text, "112").is_some());
    assert_eq!(second(test.expect("a Heartbeat")), second(&before[0]) + 2);
}

/// Number of ExecutionReports.
fn reports(messages: &[String]) -> usize {
    let types = messages.iter().map(|text| value(text, "35"));
    types.filter(|msg_type| *msg_type == Some("8")).count()
}

#[test]
fn a_logout_does_not_lift_the_rate_limit_and_a_resend_brings_the_rest() {
    // The peer logs out, and then we do.
    for ours in [false, true] {
        let mut world = World::new(paced(), 1 << 16);
        let conn = world.log_on(7);
        match ours {
            true => {
                let mut handle = world.engine.handle();
                handle.log_out(SessionId(0), "the day ends").unwrap();
            }
            false => world.say(conn, "5", 9, ""),
        }
        world.turns();
        let mut heard = messages(&world.hear(conn));
        assert_eq!(reports(&heard), 2, "the burst: {heard:?}");
        let mut half_seconds = 0;
        while world.net.connections(1) > 0 {
            world.advance(Nanos(SECOND.0 / 2));
            half_seconds += 1;
            heard.extend(messages(&world.hear(conn)));
            assert!(reports(&heard) <= 2 + half_seconds / 2, "{heard:?}");
            assert!(half_seconds < 20, "LogoutTimeout ends it");
        }
        let sent = reports(&heard);
        assert!((3..7).contains(&sent), "{heard:?}");
        assert!(heard.iter().all(|text| value(text, "35") != Some("5")));
        let conn = world.net.connect(0, PORT).unwrap();
        world.turns();
        let next = if ours { 9 } else { 10 };
        world.say(conn, "A", next, "98=0|108=0|");
        let first = 2 + sent as u64;
        world.say(conn, "2", next + 1, &format!("7={first}|16=0|"));
        let mut again = messages(&world.hear(conn));
        for _ in 0..10 {
            world.advance(SECOND);
            again.extend(messages(&world.hear(conn)));
        }
        assert_eq!(reports(&again), 7 - sent, "{again:?}");
    }
}

#[test]
fn a_logout_leaves_when_the_rate_limit_allows_it() {
    let mut session = paced();
    session.session.logout_timeout = Nanos::from_secs(5);
    let mut world = World::new(session, 1 << 16);
    let conn = world.log_on(3);
    world.say(conn, "5", 5, "");
    let mut heard = messages(&world.hear(conn));
    assert_eq!(heard.len(), 3, "{heard:?}");
    for _ in 0..7 {
        world.advance(Nanos(SECOND.0 / 4));
        heard.extend(messages(&world.hear(conn)));
    }
    assert_eq!(heard.len(), 4, "{heard:?}");
    world.advance(Nanos(SECOND.0 / 4));
    heard.extend(messages(&world.hear(conn)));
    assert_eq!(value(heard.last().unwrap(), "35"), Some("5"), "{heard:?}");
    assert_eq!(world.net.connections(1), 0);
}

#[test]
fn a_peer_that_reads_everything_is_no_slow_consumer_however_much_waits_for_the_rate_limit() {
    let is_slow = |event: &Event| {
        let ends = matches!(event, Event::Disconnected { why, .. } if matches!(why, Ending::SlowReader { .. }));
        ends || matches!(event, Event::SlowReader { .. })
    };
    let mut world = World::new(paced(), 1 << 16);
    let conn = world.log_on(100);
    let waiting = world.engine.sessions().next().unwrap().waiting_bytes;
    assert!(
        waiting > 2 * (2 << 10),
        "{waiting} bytes, more than lag_bytes"
    );
    assert_eq!(world.net.connections(1), 1);
    let mut heard = messages(&world.hear(conn));
    for _ in 0..98 {
        world.advance(SECOND);
        heard.extend(messages(&world.hear(conn)));
    }
    assert_eq!(reports(&heard), 100);
    assert!(!world.events.lock().unwrap().iter().any(is_slow));
    // A peer that reads nothing is one, also with a rate limit.
    let mut session = paced();
    session.flow.outbound = Some(Rate::per_second(1000));
    let mut world = World::new(session, 300);
    let conn = world.log_on(0);
    let mut seq = 2;
    while world.net.connections(1) > 0 {
        world.say(conn, "D", seq, &format!("11={seq}|"));
        seq += 1;
        assert!(seq < 200, "it reads nothing");
    }
    assert!(world.events.lock().unwrap().iter().any(is_slow));
}
