//! What the application does with admin messages: those that leave, those that arrive, and the last words of
//! a peer.

use crate::common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use fixwire::Event;
use fixwire::config::{Durability, EngineConfig, Limits, SessionConfig};
use fixwire::host::ConnId;
use fixwire::host::sim::SimNet;
use fixwire::journal::sim::SimDisk;
use fixwire::protocol::{AdminOut, AdminOutError, Nanos, PeerLogout, SessionId, tag};

use common::app::{App, text};
use common::wire::{self, PORT, SimEngine, acceptor, calm};
use common::{Events, events};

const SECOND: Nanos = Nanos(1_000_000_000);

/// The notes of an application's closures.
type Noted = Arc<Mutex<Vec<String>>>;

fn take(noted: &Noted) -> Vec<String> {
    std::mem::take(&mut noted.lock().unwrap())
}

struct World {
    net: SimNet,
    disk: SimDisk,
    engine: SimEngine,
    events: Events,
}

impl World {
    fn new(app: App, sessions: Vec<SessionConfig>) -> Self {
        Self::with(app, sessions, Limits::default())
    }

    fn with(app: App, sessions: Vec<SessionConfig>, limits: Limits) -> Self {
        let (net, disk) = (SimNet::new(1, calm(1 << 20)), SimDisk::new());
        let config = EngineConfig {
            limits,
            ..wire::config(Durability::Process, sessions)
        };
        let mut engine = wire::start(config, app, 1, &net, &disk);
        let events = events(&mut engine);
        Self {
            net,
            disk,
            engine,
            events,
        }
    }

    fn log_on(&mut self, seq: u64, more: &str) -> ConnId {
        let conn = self.net.connect(0, PORT).unwrap();
        self.say(conn, "A", seq, &format!("98=0|108=30|{more}"));
        conn
    }

    fn say(&mut self, conn: ConnId, kind: &str, seq: u64, body: &str) {
        wire::write(&self.net, conn, "PEER", kind, seq, body);
        wire::turns(&mut self.engine);
    }

    fn close(&mut self, conn: ConnId) {
        self.net.close(conn);
        wire::turns(&mut self.engine);
    }

    fn wait(&mut self, seconds: u64) {
        self.net.advance(Nanos(seconds * SECOND.0));
        wire::turns(&mut self.engine);
    }

    /// The messages that have arrived.
    fn hear(&self, conn: ConnId) -> Vec<String> {
        let text = wire::read(&self.net, conn);
        text.split("8=FIX.4.2|").skip(1).map(Into::into).collect()
    }

    /// The sentences of events about fields that were refused, and how many were not shown.
    fn refused(&self) -> Vec<String> {
        let events = self.events.lock().unwrap();
        let about = events.iter().filter(|event| {
            matches!(
                event,
                Event::FieldRefused { .. }
                    | Event::Suppressed {
                        kind: "field of the application refused",
                        ..
                    }
            )
        });
        about.map(ToString::to_string).collect()
    }
}

/// Adds to each message what it will be, and data with a SOH.
fn signs() -> App {
    App {
        on_admin_out: Box::new(|_, message| {
            let mark = [34, 35, 52].map(|tag| message.get(tag).unwrap().to_vec());
            let mark = mark.join(&b'/');
            message.set(5001, &mark).unwrap();
            message.data(95, 96, b"a\x01b").unwrap();
        }),
        ..App::reports()
    }
}

fn value<'t>(message: &'t str, tag: &str) -> &'t str {
    let mut fields = message.split('|').filter_map(|field| field.split_once('='));
    let found = fields.find(|(name, _)| *name == tag);
    found.map_or("", |(_, value)| value)
}

#[test]
fn every_admin_message_carries_what_the_application_adds_to_it() {
    let mut world = World::new(signs(), vec![acceptor("PEER")]);
    let conn = world.log_on(1, "");
    world.say(conn, "1", 2, "112=T|");
    world.say(conn, "D", 3, "11=A|");
    world.say(conn, "D", 4, "11=B|");
    // A Reject, since MsgType 1 needs its id.
    world.say(conn, "1", 5, "");
    // A gap: they ask, then we.
    world.say(conn, "2", 7, "7=1|16=0|");
    world.say(conn, "4", 6, "123=Y|36=8|43=Y|");
    world.wait(31);
    world.say(conn, "0", 8, "");
    world.wait(40);
    world.say(conn, "A", 1, "98=0|108=30|141=Y|");
    world.say(conn, "5", 2, "");
    let mut kinds = Vec::new();
    for message in world.hear(conn) {
        let [kind, seq, time] = ["35", "34", "52"].map(|tag| value(&message, tag));
        kinds.push(kind.to_owned());
        let mark = format!("|5001={seq}/{kind}/{time}|95=3|96=a|b|");
        match kind {
            "8" => assert!(!message.contains("5001="), "{message}"),
            _ => assert!(message.contains(&mark), "{mark} is not in {message}"),
        }
    }
    let kinds = kinds.concat();
    assert_eq!(kinds, "A08834884201A5", "each type, and what is resent");
    assert_eq!(world.refused(), [""; 0]);
}

#[test]
fn what_belongs_to_the_session_is_refused_with_an_event() {
    let app = App {
        on_admin_out: Box::new(|_, message| {
            let seq = message.set(tag::MSG_SEQ_NUM, b"99");
            assert_eq!(seq, Err(AdminOutError::OwnField(34)));
            let _ = message.set(58, b"a\x01b");
            message.set(5001, b"x").unwrap();
        }),
        ..App::default()
    };
    let limits = Limits {
        events_per_second: 4,
        ..Limits::default()
    };
    let mut world = World::with(app, vec![acceptor("PEER")], limits);
    let conn = world.log_on(1, "");
    for seq in 2..20 {
        world.say(conn, "1", seq, "112=T|");
    }
    let heard = world.hear(conn);
    assert_eq!(heard.len(), 19);
    for (seq, message) in (1..).zip(&heard) {
        assert_eq!(value(message, "34"), seq.to_string());
        assert!(
            message.contains("|5001=x|10=") && !message.contains("|58="),
            "{message}"
        );
    }
    let own = "34 written by the application: field 34 is set by the session";
    let soh = "58 written by the application: the value of field 58 is empty or contains SOH";
    let first = [
        format!("35=A sent without field {own}"),
        format!("35=A sent without field {soh}"),
        format!("35=0 sent without field {own}"),
        format!("35=0 sent without field {soh}"),
    ];
    assert_eq!(world.refused(), first);
    world.wait(2);
    assert_eq!(
        world.refused()[4..],
        ["34 more events not shown: field of the application refused"]
    );
}

#[test]
fn a_message_that_does_not_fit_leaves_as_the_session_wrote_it() {
    let app = App {
        on_admin_out: Box::new(|_, message| {
            let _ = message.set(5001, b"fits");
            let long = vec![b'x'; 100_000];
            let _ = message.set(5002, &long);
        }),
        ..App::reports()
    };
    let mut world = World::with(app, vec![acceptor("PEER")], wire::outbox(8 << 10, 64));
    let conn = world.log_on(1, "");
    world.say(conn, "D", 2, "11=A|");
    let heard = world.hear(conn);
    assert_eq!(heard.len(), 2);
    assert!(heard[0].contains("|98=0|108=30|10="), "{}", heard[0]);
    assert_eq!(
        world.refused(),
        [
            "35=A sent without the fields written by the application: no room in the outbox for field \
            5002"
        ]
    );
}

/// Notes the type and number of each admin message, and Text(58).
fn looks(noted: &Noted) -> App {
    let into = Arc::clone(noted);
    App {
        on_admin: Box::new(move |_, message, _| {
            let kind = String::from_utf8_lossy(message.msg_type()).into_owned();
            let (seq, said) = (text(message, tag::MSG_SEQ_NUM), text(message, tag::TEXT));
            into.lock().unwrap().push(format!("{kind} {seq} {said}"));
        }),
        ..App::default()
    }
}

#[test]
fn each_admin_message_that_counts_is_shown_once() {
    let noted = Noted::default();
    let mut world = World::new(looks(&noted), vec![acceptor("PEER")]);
    // Neither strangers nor Logons that are refused.
    for (who, body) in [("EVE", "98=0|108=30|"), ("PEER", "98=1|108=30|")] {
        let conn = world.net.connect(0, PORT).unwrap();
        wire::write(&world.net, conn, who, "A", 1, body);
        wire::turns(&mut world.engine);
        world.close(conn);
    }
    assert_eq!(take(&noted), [""; 0]);
    let conn = world.log_on(1, "");
    assert_eq!(take(&noted), ["A 1 -"]);
    world.say(conn, "0", 2, "");
    // Above a gap: a ResendRequest is served at once, the others have their turn, in order.
    world.say(conn, "1", 4, "112=T|");
    world.say(conn, "2", 5, "7=1|16=0|");
    world.say(conn, "0", 6, "");
    assert_eq!(take(&noted), ["0 2 -", "2 5 -"]);
    world.say(conn, "4", 3, "123=Y|36=4|43=Y|");
    assert_eq!(take(&noted), ["4 3 -", "1 4 -", "0 6 -"]);
    // Once more, and rejected.
    world.say(conn, "0", 6, "43=Y|122=20260302-08:00:00|");
    world.say(conn, "1", 7, "");
    assert_eq!(take(&noted), [""; 0]);
    world.say(conn, "3", 8, "45=1|58=why|");
    world.say(conn, "4", 9, "36=20|");
    // Of another party, at which the session ends.
    wire::write(&world.net, conn, "EVE", "5", 20, "");
    wire::turns(&mut world.engine);
    assert_eq!(take(&noted), ["3 8 why", "4 9 -"]);
    world.say(conn, "5", 20, "58=bye|");
    assert_eq!(take(&noted), ["5 20 bye"]);
}

#[test]
fn a_logout_that_answers_our_logon_is_shown() {
    let noted = Noted::default();
    let net = SimNet::new(1, calm(1 << 20));
    let refuses = App {
        on_logon_request: Box::new(|_| Err("Unknown user, call the desk".into())),
        ..App::default()
    };
    let pause = Duration::from_secs(1);
    let mut session = wire::initiator("PEER", "ENGINE", pause, pause);
    session.session.username = "me".into();
    let config = |session| wire::config(Durability::Process, vec![session]);
    let (ours, theirs) = (SimDisk::new(), SimDisk::new());
    let mut venue = wire::start(config(acceptor("PEER")), refuses, 1, &net, &theirs);
    let mut client = wire::start(config(session), looks(&noted), 2, &net, &ours);
    for _ in 0..20 {
        client.turn().unwrap();
        venue.turn().unwrap();
    }
    assert_eq!(take(&noted), ["5 1 Unknown user, call the desk"]);
}

#[test]
fn the_last_words_of_a_peer_reach_the_application() {
    let noted = Noted::default();
    let into = Arc::clone(&noted);
    let app = App {
        on_logout: Box::new(move |name, logout: PeerLogout<'_>| {
            let said = String::from_utf8_lossy(logout.text()).into_owned();
            let seq = logout
                .message()
                .map(|logout| text(logout, tag::MSG_SEQ_NUM));
            let seq = seq.unwrap_or_else(|| "nothing".into());
            into.lock().unwrap().push(format!("{name} {seq} {said}"));
        }),
        ..App::default()
    };
    let mut world = World::new(app, vec![acceptor("PEER")]);
    let conn = world.log_on(1, "");
    world.say(conn, "5", 2, "58=End of day|");
    world.close(conn);
    assert_eq!(
        take(&noted),
        ["on_logout 2 End of day", "on_disconnect 2 End of day"]
    );
    // A text of another connection does not appear on this one.
    let conn = world.log_on(3, "");
    world.close(conn);
    let nothing = ["on_logout nothing ", "on_disconnect nothing "];
    assert_eq!(take(&noted), nothing);
    // A Logout that says nothing, and one that answers ours.
    let conn = world.log_on(4, "");
    world.say(conn, "5", 5, "");
    world.close(conn);
    assert_eq!(take(&noted), ["on_logout 5 ", "on_disconnect 5 "]);
    let conn = world.log_on(6, "");
    let mut handle = world.engine.handle();
    handle.log_out(SessionId(0), "we leave").unwrap();
    wire::turns(&mut world.engine);
    world.say(conn, "5", 7, "58=so do we|");
    world.close(conn);
    assert_eq!(
        take(&noted),
        ["on_logout 7 so do we", "on_disconnect 7 so do we"]
    );
}

#[test]
fn secrets_of_the_application_are_in_no_journal() {
    const SECRET: &str = "tIgEr7Qz";
    let secret = |message: &mut AdminOut<'_>| {
        for (length, data) in [(95, 96), (1401, 1402), (1403, 1404)] {
            // RawData of another message is no secret.
            if message.msg_type() == b"A" || data != 96 {
                message.data(length, data, SECRET.as_bytes()).unwrap();
            }
        }
        for field in [554, 925] {
            message.set(field, SECRET.as_bytes()).unwrap();
        }
        if message.msg_type() == b"A" {
            message.set(5001, SECRET.as_bytes()).unwrap();
        }
    };
    let app = App {
        on_admin_out: Box::new(move |_, message| secret(message)),
        ..App::default()
    };
    let mut world = World::new(app, vec![acceptor("PEER")]);
    let conn = world.log_on(1, "");
    world.say(conn, "1", 2, "112=T|");
    world.say(conn, "5", 3, "");
    let heard = world.hear(conn);
    assert_eq!(heard.len(), 3);
    for message in &heard {
        let secrets = message.matches(SECRET).count();
        assert_eq!(
            secrets,
            if value(message, "35") == "A" { 6 } else { 4 },
            "{message}"
        );
    }
    drop(world.engine);
    let segments = (0..4).filter_map(|number| world.disk.read(number));
    let kept = segments.collect::<Vec<_>>().concat();
    let count = |text: &str| {
        kept.windows(text.len())
            .filter(|it| *it == text.as_bytes())
            .count()
    };
    assert_eq!(count(&SECRET[..4]), 0);
    assert_eq!(count("\x01554=********\x01"), 3, "each message is there");
    let told = format!("{:?}", world.events.lock().unwrap());
    assert!(!told.contains(&SECRET[..4]), "{told}");
}
