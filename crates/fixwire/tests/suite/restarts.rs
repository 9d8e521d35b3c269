//! Sequence numbers that are reset because a process ended: callbacks, and what may be sent then.

use crate::common;

use std::sync::{Arc, Mutex};

use fixwire::Event;
use fixwire::config::{Durability, SessionConfig};
use fixwire::host::ConnId;
use fixwire::host::sim::SimNet;
use fixwire::journal::sim::SimDisk;
use fixwire::protocol::{Outbox, SessionId, tag};

use common::app::{App, send};
use common::wire::{self, PORT, SimEngine, acceptor, calm, config, turns};

/// Notes each reset, and notifies the other session of it.
fn desk() -> App {
    let tell = |session: SessionId, outbox: &mut Outbox| {
        let what = format!("restart of {}", session.0);
        let other = SessionId(1 - session.0);
        send(outbox, other, b"B", tag::HEADLINE, what.as_bytes()).unwrap();
    };
    App {
        keeps_notes: true,
        on_reset: Box::new(tell),
        ..App::default()
    }
}

/// The sessions whose restarts it has noted.
fn restarts(engine: &mut SimEngine) -> Vec<String> {
    engine.application_mut().heard.of("reset")
}

struct World {
    net: SimNet,
    disk: SimDisk,
    life: u32,
    events: Arc<Mutex<Vec<Event>>>,
}

impl World {
    fn new() -> Self {
        Self {
            net: SimNet::new(1, calm(1 << 20)),
            disk: SimDisk::new(),
            life: 0,
            events: Arc::default(),
        }
    }

    /// An engine of two sessions that restart with each connection, after the one before has been killed.
    fn start(&mut self) -> SimEngine {
        if self.life > 0 {
            self.net.crash(self.life, false);
            self.disk.end_process();
        }
        self.life += 1;
        let restarting = |peer| {
            let mut session: SessionConfig = acceptor(peer);
            session.session.reset_on.disconnect = true;
            session
        };
        let sessions = ["P0", "P1"].map(restarting).to_vec();
        let config = config(Durability::Process, sessions);
        let mut engine = wire::start(config, desk(), self.life, &self.net, &self.disk);
        let heard = Arc::clone(&self.events);
        engine.on_event(move |_, event| heard.lock().unwrap().push(event.clone()));
        engine
    }

    fn log_on(&self, engine: &mut SimEngine, peer: &str) -> ConnId {
        let conn = self.net.connect(0, PORT).unwrap();
        wire::write(&self.net, conn, peer, "A", 1, "98=0|108=30|");
        turns(engine);
        conn
    }

    fn hears(&self, conn: ConnId) -> Vec<String> {
        wire::shown(&wire::read(&self.net, conn), &["148"])
    }

    fn not_sent(&self) -> u64 {
        let events = self.events.lock().unwrap();
        let messages = events.iter().map(|event| match event {
            Event::MessagesLost { messages, .. } => *messages,
            _ => 0,
        });
        messages.sum()
    }
}

#[test]
fn a_restart_by_the_end_of_the_process_is_heard_of_once_in_the_record_of_it() {
    let mut world = World::new();
    let mut engine = world.start();
    for peer in ["P0", "P1"] {
        world.log_on(&mut engine, peer);
    }
    let nothing: [&str; 0] = [];
    assert_eq!(restarts(&mut engine), nothing);
    drop(engine);
    let both = ["0", "1"];
    for life in 2..5 {
        let mut engine = world.start();
        let known = restarts(&mut engine);
        assert_eq!(
            known,
            if life == 2 { &both[..0] } else { &both[..] },
            "from notes"
        );
        turns(&mut engine);
        assert_eq!(restarts(&mut engine), both, "life {life}");
        // Messages for the second session were written before its own reset.
        assert_eq!(world.not_sent(), 1);
    }
}

#[test]
fn what_is_sent_at_a_restart_has_a_number_of_the_new_ones_or_is_counted() {
    let mut world = World::new();
    let mut engine = world.start();
    for peer in ["P0", "P1"] {
        let conn = world.log_on(&mut engine, peer);
        wire::write(&world.net, conn, peer, "0", 2, "");
        turns(&mut engine);
        assert_eq!(world.hears(conn), ["A 1"]);
    }
    drop(engine);
    let mut engine = world.start();
    turns(&mut engine);
    let first = world.log_on(&mut engine, "P0");
    assert_eq!(world.hears(first), ["A 2"]);
    wire::write(&world.net, first, "P0", "2", 2, "7=1|16=0|");
    turns(&mut engine);
    assert_eq!(world.hears(first), ["B 1 restart of 1", "4 2"]);
    let second = world.log_on(&mut engine, "P1");
    assert_eq!(world.hears(second), ["A 1"], "no number is missing");
    assert_eq!(world.not_sent(), 1);
}

#[test]
fn sessions_that_are_added_or_removed_before_the_first_turn_are_told_as_well() {
    let mut world = World::new();
    let mut engine = world.start();
    for peer in ["P0", "P1"] {
        world.log_on(&mut engine, peer);
    }
    drop(engine);
    let mut engine = world.start();
    engine.remove_session(SessionId(1)).unwrap();
    turns(&mut engine);
    assert_eq!(restarts(&mut engine), ["0", "1"]);
}

#[test]
fn a_user_request_before_the_logon_is_dropped_and_counted() {
    let mut world = World::new();
    let mut engine = world.start();
    let mut handle = engine.handle();
    let request = b"923=R|924=1|553=me|554=secret|".map(|byte| if byte == b'|' { 1 } else { byte });
    handle.send_fields(SessionId(0), b"BE", &request).unwrap();
    turns(&mut engine);
    assert_eq!(world.not_sent(), 1);
    let conn = world.log_on(&mut engine, "P0");
    assert_eq!(world.hears(conn), ["A 1"]);
    handle.send_fields(SessionId(0), b"BE", &request).unwrap();
    turns(&mut engine);
    assert_eq!(world.hears(conn), ["BE 2"]);
}
