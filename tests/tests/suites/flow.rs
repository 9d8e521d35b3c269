//! Do sessions come and go at run time, and does no peer get more than its share?

use std::time::Duration;

use fixwire::config::{
    ConfigError, Durability, EngineConfig, Excess, Limits, SessionConfig, Template, Throttle,
};
use fixwire::event::Ending;
use fixwire::host::ConnId;
use fixwire::{AddError, Event, Rate};
use fixwire_protocol::{Nanos, SessionId};
use fixwire_rigs::house::{
    FRIEND, PASSWORD, ROOM, Rig, SECOND, acceptor, logon, messages, numbered, patient,
};

fn config(sessions: Vec<SessionConfig>) -> EngineConfig {
    EngineConfig {
        durability: Durability::Memory,
        limits: Limits {
            lag_bytes: 64 << 10,
            ..patient()
        },
        sessions,
        ..EngineConfig::default()
    }
}

/// A peer that is logged on.
struct Peer {
    name: String,
    conn: ConnId,
    seq: u64,
}

impl Peer {
    fn log_on(rig: &mut Rig, name: &str, room: usize) -> Self {
        let conn = rig.crowd.connect(FRIEND, room);
        rig.turns(1);
        rig.crowd.send(conn, &logon(&rig.crowd, name, PASSWORD));
        rig.turns(2);
        let heard = messages(&rig.crowd.take(conn));
        assert!(heard[0].contains("|35=A|"), "{heard:?}");
        Self {
            name: name.to_owned(),
            conn,
            seq: 2,
        }
    }

    fn say(&mut self, rig: &Rig, kind: &str, more: &str) {
        let bytes = numbered(&rig.crowd, kind, &self.name, self.seq, more);
        self.seq += 1;
        rig.crowd.send(self.conn, &bytes);
    }

    fn order(&mut self, rig: &Rig) {
        let more = format!("11=C{}|", self.seq);
        self.say(rig, "D", &more);
    }

    fn hear(&self, rig: &Rig) -> Vec<String> {
        messages(&rig.crowd.take(self.conn))
    }
}

fn seq(message: &str) -> u64 {
    let field = message
        .split('|')
        .find_map(|field| field.strip_prefix("34="));
    field.and_then(|text| text.parse().ok()).expect("a number")
}

fn count(messages: &[String], kind: &str) -> usize {
    let kind = format!("|35={kind}|");
    messages.iter().filter(|text| text.contains(&kind)).count()
}

#[test]
fn a_session_that_is_added_works_and_one_that_returns_goes_on() {
    let mut rig = Rig::new(config(vec![acceptor("A")]));
    let mut handle = rig.engine.handle();
    let answer = handle.add_session(acceptor("B")).unwrap();
    rig.turns(1);
    let b = answer.try_recv().unwrap().unwrap();
    assert_eq!(b, SessionId(1));
    let mut peer = Peer::log_on(&mut rig, "B", ROOM);
    peer.order(&rig);
    rig.turns(1);
    assert_eq!(count(&peer.hear(&rig), "8"), 1);
    handle.remove_session(b).unwrap();
    rig.turns(1);
    assert_eq!(count(&peer.hear(&rig), "5"), 1, "it is logged out");
    peer.say(&rig, "5", "");
    rig.turns(1);
    assert!(rig.crowd.is_closed(peer.conn));
    let told = rig.events.lock().unwrap().clone();
    assert!(told.contains(&Event::SessionRemoved { session: b }));
    // No peer can log on to this session, and its sequence numbers wait.
    let conn = rig.say(FRIEND, &logon(&rig.crowd, "B", PASSWORD));
    assert!(rig.crowd.is_closed(conn));
    let status = rig.engine.sessions().nth(1).unwrap();
    let numbers = (status.next_in, status.next_out);
    assert!(status.removed);
    assert_eq!(numbers, (4, 4));
    // A message for it waits in the journal.
    handle.send_fields(b, b"8", b"11=late\x01").unwrap();
    rig.turns(1);
    let again = rig.engine.add_session(acceptor("B")).unwrap().unwrap();
    assert_eq!(again, b, "a name keeps its place");
    let conn = rig.crowd.connect(FRIEND, ROOM);
    rig.turns(1);
    let more = format!("98=0|108=0|554={PASSWORD}|");
    rig.crowd
        .send(conn, &numbered(&rig.crowd, "A", "B", 4, &more));
    rig.turns(2);
    let heard = messages(&rig.crowd.take(conn));
    assert_eq!(seq(&heard[0]), 5, "after the one that waits: {heard:?}");
    rig.crowd
        .send(conn, &numbered(&rig.crowd, "2", "B", 5, "7=4|16=0|"));
    rig.turns(4);
    let heard = messages(&rig.crowd.take(conn));
    assert!(
        heard.iter().any(|text| text.contains("|11=late|")),
        "{heard:?}"
    );
}

#[test]
fn a_session_that_returns_before_its_logout_is_answered_can_be_logged_on() {
    let mut rig = Rig::new(config(vec![acceptor("A")]));
    let b = rig.engine.add_session(acceptor("B")).unwrap().unwrap();
    let peer = Peer::log_on(&mut rig, "B", ROOM);
    rig.engine.remove_session(b).unwrap();
    let again = rig.engine.add_session(acceptor("B")).unwrap().unwrap();
    assert_eq!(again, b, "a name keeps its place");
    assert!(rig.crowd.is_closed(peer.conn), "nobody reads the old one");
    let conn = rig.crowd.connect(FRIEND, ROOM);
    rig.turns(1);
    let more = format!("98=0|108=0|554={PASSWORD}|");
    let logon = numbered(&rig.crowd, "A", "B", 2, &more);
    rig.crowd.send(conn, &logon);
    rig.turns(2);
    rig.crowd.leave(peer.conn);
    rig.turns(2);
    assert!(rig.is_on(1) && !rig.crowd.is_closed(conn));
}

#[test]
fn an_engine_of_templates_alone_takes_messages_for_nobody() {
    let mut config = config(Vec::new());
    config.templates = vec![Template {
        session: acceptor("*"),
        qualified: false,
    }];
    let mut rig = Rig::new(config);
    let mut handle = rig.engine.handle();
    handle.send_fields(SessionId(0), b"8", b"11=A\x01").unwrap();
    rig.turns(2);
    let told = rig.events.lock().unwrap().clone();
    assert!(told.contains(&Event::NotSent { messages: 1 }), "{told:?}");
    Peer::log_on(&mut rig, "NEW", ROOM);
    assert!(rig.is_on(0));
}

#[test]
fn what_cannot_be_added_changes_nothing() {
    let mut config = config(vec![acceptor("A")]);
    config.limits.dynamic_sessions = 1;
    let mut rig = Rig::new(config);
    let before = rig.engine.state_hash();
    let mut twice = acceptor("A");
    twice.name = "other".into();
    let mut fast = acceptor("C");
    fast.flow.outbound = Some(Rate {
        count: 0,
        per: Duration::from_secs(1),
        burst: 1,
    });
    let mut odd = acceptor("C");
    odd.session.peer.comp_id = b"a\x1b[2J".to_vec();
    let mut add = |config| match rig.engine.add_session(config).unwrap() {
        Err(AddError::Config(error)) => error,
        other => panic!("{other:?}"),
    };
    assert!(matches!(add(acceptor("A")), ConfigError::NameTwice(_)));
    assert!(matches!(add(twice), ConfigError::IdentityTwice(..)));
    assert!(matches!(add(fast), ConfigError::Rate(_)));
    assert!(matches!(add(odd), ConfigError::Id(_)));
    assert_eq!(rig.engine.state_hash(), before);
    rig.engine.add_session(acceptor("B")).unwrap().unwrap();
    let full = rig.engine.add_session(acceptor("C")).unwrap();
    assert!(matches!(full, Err(AddError::TooMany(_))));
}

#[test]
fn templates_make_the_sessions_of_whoever_logs_on() {
    let mut any = acceptor("*");
    any.session.own.comp_id = b"*".to_vec();
    any.session.peer.sub_id = b"*".to_vec();
    let mut config = config(vec![acceptor("A")]);
    config.templates = vec![Template {
        session: any,
        qualified: false,
    }];
    let mut rig = Rig::new(config);
    Peer::log_on(&mut rig, "A", ROOM);
    let mut peer = Peer::log_on(&mut rig, "NEW", ROOM);
    peer.order(&rig);
    rig.turns(1);
    assert_eq!(count(&peer.hear(&rig), "8"), 1);
    let names = |rig: &Rig| -> Vec<String> {
        rig.engine
            .sessions()
            .map(|session| session.name.to_owned())
            .collect()
    };
    assert_eq!(names(&rig), ["FIX.4.4:HOUSE->A", "FIX.4.4:HOUSE->NEW"]);
    // When the peer comes back, its session continues where it was.
    rig.crowd.leave(peer.conn);
    rig.turns(2);
    let conn = rig.crowd.connect(FRIEND, ROOM);
    rig.turns(1);
    let more = format!("50=DESK|98=0|108=0|554={PASSWORD}|");
    rig.crowd
        .send(conn, &numbered(&rig.crowd, "A", "NEW", 1, &more));
    rig.turns(2);
    assert_eq!(
        names(&rig).last().map(String::as_str),
        Some("FIX.4.4:HOUSE->NEW"),
        "the session without a SubID takes every desk"
    );
    let more = format!("98=0|108=0|554={PASSWORD}|");
    let conn = rig.crowd.connect(FRIEND, ROOM);
    rig.turns(1);
    rig.crowd
        .send(conn, &numbered(&rig.crowd, "A", "NEW", 3, &more));
    rig.turns(2);
    let heard = messages(&rig.crowd.take(conn));
    assert!(
        heard.iter().any(|text| text.contains("|35=A|")),
        "{heard:?}"
    );
}

#[test]
fn qualified_sessions_are_as_many_as_there_are_connections() {
    let mut config = config(vec![acceptor("A")]);
    config.templates = vec![Template {
        session: acceptor("*"),
        qualified: true,
    }];
    let mut rig = Rig::new(config);
    let first = Peer::log_on(&mut rig, "Q", ROOM);
    let second = Peer::log_on(&mut rig, "Q", ROOM);
    assert!(!rig.crowd.is_closed(first.conn) && !rig.crowd.is_closed(second.conn));
    let names: Vec<_> = rig.engine.sessions().skip(1).map(|s| s.name).collect();
    assert_eq!(names, ["FIX.4.4:HOUSE->Q:1", "FIX.4.4:HOUSE->Q:2"]);
    rig.crowd.leave(first.conn);
    rig.turns(2);
    let conn = rig.crowd.connect(FRIEND, ROOM);
    rig.turns(1);
    let more = format!("98=0|108=0|141=Y|554={PASSWORD}|");
    rig.crowd
        .send(conn, &numbered(&rig.crowd, "A", "Q", 1, &more));
    rig.turns(2);
    assert_eq!(rig.engine.sessions().count(), 3, "the free one is taken");
    assert!(rig.is_on(1) && rig.is_on(2));
}

fn throttled(excess: Excess) -> Rig {
    let mut session = acceptor("A");
    session.flow.inbound = Some(Throttle {
        rate: Rate::per_second(10),
        excess,
    });
    Rig::new(config(vec![session, acceptor("B")]))
}

#[test]
fn a_throttle_that_rejects_answers_what_is_beyond_and_keeps_the_numbers() {
    let mut rig = throttled(Excess::Reject);
    let mut peer = Peer::log_on(&mut rig, "A", ROOM);
    for _ in 0..25 {
        peer.order(&rig);
    }
    peer.say(&rig, "1", "112=T|");
    rig.turns(1);
    let heard = peer.hear(&rig);
    let answers = (count(&heard, "8"), count(&heard, "j"));
    assert_eq!(answers, (10, 15), "reports and rejects of 25 orders");
    assert_eq!(count(&heard, "0"), 1, "the session itself is not throttled");
    let refused = heard.iter().find(|text| text.contains("|35=j|")).unwrap();
    assert!(
        refused.contains("|58=Throttle limit exceeded|"),
        "{refused}"
    );
    assert!(refused.contains("|380=0|"), "{refused}");
    assert_eq!(rig.engine.application_mut().orders, 10);
    assert_eq!(rig.engine.sessions().next().unwrap().next_in, peer.seq);
    // Messages resent after a gap do not count as excess.
    for _ in 0..3 {
        peer.say(&rig, "D", "43=Y|122=20260302-08:00:00|11=R|");
    }
    rig.turns(1);
    assert_eq!(count(&peer.hear(&rig), "8"), 3);
    rig.crowd.advance(SECOND);
    peer.order(&rig);
    rig.turns(1);
    assert_eq!(count(&peer.hear(&rig), "8"), 1);
}

#[test]
fn a_throttle_that_delays_loses_nothing_and_hinders_nobody_else() {
    let mut rig = throttled(Excess::Delay);
    let mut peer = Peer::log_on(&mut rig, "A", ROOM);
    let mut other = Peer::log_on(&mut rig, "B", ROOM);
    for _ in 0..100 {
        peer.order(&rig);
    }
    other.order(&rig);
    rig.turns(3);
    assert_eq!(count(&other.hear(&rig), "8"), 1);
    let mut reports = count(&peer.hear(&rig), "8");
    assert!((9..=10).contains(&reports), "{reports}: the Logon counts");
    for tenth in 1..=100 {
        rig.crowd.advance(Nanos(SECOND.0 / 10));
        rig.turns(2);
        reports += count(&peer.hear(&rig), "8");
        assert!(reports <= 10 + tenth, "{reports} after {tenth}");
    }
    assert_eq!(reports, 100);
    assert_eq!(rig.engine.application_mut().orders, 101);
}

#[test]
fn a_throttle_that_disconnects_says_why() {
    let mut rig = throttled(Excess::Disconnect);
    let mut peer = Peer::log_on(&mut rig, "A", ROOM);
    for _ in 0..20 {
        peer.order(&rig);
    }
    rig.turns(2);
    assert!(rig.crowd.is_closed(peer.conn));
    let heard = peer.hear(&rig);
    let last = heard.last().unwrap();
    assert!(
        last.contains("|35=5|") && last.contains("|58=Throttle limit exceeded|"),
        "{heard:?}"
    );
    assert!(count(&heard, "8") >= 9);
    let told = rig.events.lock().unwrap();
    let why = Ending::Throttled(Rate::per_second(10));
    let ended = |event: &Event| matches!(event, Event::Disconnected { session: SessionId(0), why: it, .. } if *it == why);
    assert!(told.iter().any(ended), "{told:?}");
}

/// Outbound pacing: never faster than the rate, in order, nothing lost, resent messages too.
#[test]
fn a_paced_peer_gets_everything_in_order_and_never_too_fast() {
    let mut session = acceptor("A");
    session.flow.outbound = Some(Rate {
        count: 20,
        per: Duration::from_secs(1),
        burst: 5,
    });
    let mut rig = Rig::new(config(vec![session]));
    let mut peer = Peer::log_on(&mut rig, "A", ROOM);
    for _ in 0..100 {
        peer.order(&rig);
    }
    peer.say(&rig, "1", "112=T|");
    rig.turns(3);
    let mut heard = peer.hear(&rig);
    assert_eq!(count(&heard, "8"), 5, "the burst");
    assert_eq!(count(&heard, "0"), 0, "the Heartbeat waits for its number");
    let status = rig.engine.sessions().next().unwrap();
    assert!(status.waiting_bytes > 0);
    for tick in 1..=100_u64 {
        rig.crowd.advance(Nanos(SECOND.0 / 20));
        rig.turns(2);
        heard.extend(peer.hear(&rig));
        assert!(count(&heard, "8") as u64 <= 5 + tick, "tick {tick}");
    }
    assert_eq!(count(&heard, "8"), 100);
    assert_eq!(count(&heard, "0"), 1);
    let numbers: Vec<u64> = heard.iter().map(|text| seq(text)).collect();
    assert_eq!(numbers, (2..=102).collect::<Vec<_>>());
    // A resend is paced too.
    rig.crowd.advance(SECOND);
    rig.turns(2);
    peer.say(&rig, "2", "7=2|16=0|");
    rig.turns(5);
    let mut again = peer.hear(&rig);
    assert!((4..=5).contains(&count(&again, "8")), "{}", again.len());
    for tick in 1..=110_u64 {
        rig.crowd.advance(Nanos(SECOND.0 / 20));
        rig.turns(3);
        again.extend(peer.hear(&rig));
        assert!(count(&again, "8") as u64 <= 5 + tick, "tick {tick}");
    }
    assert_eq!(count(&again, "8"), 100);
    let numbers: Vec<u64> = again.iter().map(|text| seq(text)).collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
}

/// W3: an event reports a peer that does not read, then it is disconnected; the journal keeps the messages it missed.
#[test]
fn a_peer_that_does_not_read_is_disconnected_by_bytes_or_by_time() {
    let mut rig = Rig::new(config(vec![acceptor("A"), acceptor("B")]));
    let mut slow = Peer::log_on(&mut rig, "A", 500);
    let mut other = Peer::log_on(&mut rig, "B", ROOM);
    let mut told = false;
    for _ in 0..2000 {
        slow.order(&rig);
        other.order(&rig);
        rig.turns(1);
        assert_eq!(count(&other.hear(&rig), "8"), 1);
        told |= rig.events.lock().unwrap().iter().any(|event| {
            matches!(
                event,
                Event::SlowReader {
                    session: SessionId(0),
                    ..
                }
            )
        });
        if rig.crowd.is_closed(slow.conn) {
            break;
        }
    }
    let why = |rig: &Rig| {
        let events = rig.events.lock().unwrap();
        events.iter().rev().find_map(|event| match event {
            Event::Disconnected {
                session: SessionId(0),
                why,
                ..
            } => Some(*why),
            _ => None,
        })
    };
    assert!(told, "before it is disconnected");
    assert!(
        matches!(why(&rig), Some(Ending::SlowReader { .. })),
        "{:?}",
        why(&rig)
    );
    // By time: one answer that the peer does not read is enough.
    let mut rig = Rig::new(config(vec![acceptor("A"), acceptor("B")]));
    let mut slow = Peer::log_on(&mut rig, "A", 200);
    for _ in 0..5 {
        slow.order(&rig);
    }
    rig.turns(2);
    rig.crowd.advance(Nanos(59 * SECOND.0));
    rig.turns(2);
    assert!(!rig.crowd.is_closed(slow.conn));
    rig.crowd.advance(Nanos(2 * SECOND.0));
    rig.turns(2);
    assert!(rig.crowd.is_closed(slow.conn));
    assert_eq!(why(&rig), Some(Ending::Stalled(Nanos(60 * SECOND.0))));
    // A peer that reads a little from time to time stays connected.
    let mut rig = Rig::new(config(vec![acceptor("A")]));
    let mut slow = Peer::log_on(&mut rig, "A", 200);
    let mut heard = Vec::new();
    for _ in 0..20 {
        slow.order(&rig);
    }
    for _ in 0..40 {
        rig.turns(3);
        rig.crowd.advance(Nanos(30 * SECOND.0));
        heard.extend(rig.crowd.take(slow.conn));
    }
    assert_eq!(count(&messages(&heard), "8"), 20);
    assert!(!rig.crowd.is_closed(slow.conn));
}

/// T9: cap - 1, cap and cap + 1, for bytes, fields and digits of BodyLength.
#[test]
fn t9_what_is_beyond_a_cap_is_refused_at_once() {
    let cap = 4 << 10;
    let mut config = config(vec![acceptor("A")]);
    (config.max_message, config.max_fields) = (cap, 64);
    for (size, fits) in [
        (cap - 1, true),
        (cap, true),
        (cap + 1, false),
        (9_999_999, false),
    ] {
        let mut rig = Rig::new(config.clone());
        let mut peer = Peer::log_on(&mut rig, "A", ROOM);
        let bare = numbered(&rig.crowd, "D", "A", 2, "11=A|58=|").len() + 2;
        let text = "x".repeat(size - bare);
        peer.say(&rig, "D", &format!("11=A|58={text}|"));
        // A message that is too long is known by its BodyLength, long before it has arrived.
        rig.turns(1);
        assert_eq!(rig.crowd.is_closed(peer.conn), !fits, "{size}");
        assert_eq!(count(&peer.hear(&rig), "8"), usize::from(fits), "{size}");
        let told = rig.events.lock().unwrap();
        let too_large = told.iter().any(|event| {
            matches!(
                event,
                Event::Disconnected {
                    why: Ending::TooLarge { .. },
                    ..
                }
            )
        });
        assert_eq!(too_large, !fits, "{told:?}");
    }
    // The other fields of the message are 8, 9, 35, 34, 49, 52, 56, 11 and 10.
    for (fields, kind) in [(63, "8"), (64, "8"), (65, "3")] {
        let mut rig = Rig::new(config.clone());
        let mut peer = Peer::log_on(&mut rig, "A", ROOM);
        peer.say(&rig, "D", &format!("11=A|{}", "58=x|".repeat(fields - 9)));
        rig.turns(1);
        let heard = peer.hear(&rig);
        assert_eq!(count(&heard, kind), 1, "{fields}: {heard:?}");
    }
    // A BodyLength of eight digits is refused at once.
    for length in ["99999999", "18446744073709551616", "-1", ""] {
        let mut rig = Rig::new(config.clone());
        let mut peer = Peer::log_on(&mut rig, "A", ROOM);
        rig.crowd.send(
            peer.conn,
            format!("8=FIX.4.4\x019={length}\x0135=0\x01").as_bytes(),
        );
        peer.order(&rig);
        rig.turns(1);
        let answered = count(&peer.hear(&rig), "8") == 1;
        assert!(
            answered || rig.crowd.is_closed(peer.conn),
            "{length}: it waits"
        );
    }
}
