//! An application that logs sessions out: after its messages, with its text, and not once more after a crash.

use crate::common;

use std::time::Duration;

use fixwire::config::Durability;
use fixwire::host::ConnId;
use fixwire::host::sim::SimNet;
use fixwire::journal::sim::SimDisk;
use fixwire::protocol::{Outbox, Refusal, SessionId, tag};

use common::app::{App, answer};
use common::wire::{self, PORT, SimEngine, calm, numbers, read, shown, turns, write};

/// The peer's task.
const WHY: &str = "too many orders: log on again";

/// Reports each order; OUT logs its session out, between two reports, OTHER the second session. BANG and REFUSED fail
/// after that.
fn app() -> App {
    App::new(|from, order, outbox| {
        answer(order, from, b"8", outbox)?;
        let id = order.get(tag::CL_ORD_ID).unwrap_or_default();
        match id {
            b"OUT" | b"BANG" | b"REFUSED" => outbox.log_out(from, WHY),
            b"OTHER" => outbox.log_out(SessionId(1), ""),
            b"NOBODY" => outbox.log_out(SessionId(99), WHY),
            _ => return Ok(()),
        }
        assert_ne!(id, b"BANG");
        answer(order, from, b"8", outbox)?;
        match id {
            b"REFUSED" => Err(Refusal::ThrottleLimitExceeded),
            _ => Ok(()),
        }
    })
}

struct World {
    net: SimNet,
    disk: SimDisk,
    durability: Durability,
    lives: u32,
}

impl World {
    fn new(durability: Durability) -> Self {
        Self {
            net: SimNet::new(1, calm(1 << 20)),
            disk: SimDisk::new(),
            durability,
            lives: 0,
        }
    }

    fn start(&mut self) -> SimEngine {
        self.net.crash(self.lives, false);
        self.lives += 1;
        let mut sessions = vec![wire::acceptor("ONE"), wire::acceptor("TWO")];
        sessions[0].answer_panics = true;
        let config = wire::config(self.durability, sessions);
        wire::start(config, app(), self.lives, &self.net, &self.disk)
    }

    fn log_on(&self, engine: &mut SimEngine, peer: &str, seq: u64) -> ConnId {
        let conn = self.net.connect(0, PORT).expect("it listens");
        write(&self.net, conn, peer, "A", seq, "98=0|108=30|");
        turns(engine);
        assert!(read(&self.net, conn).contains("|35=A|"));
        conn
    }

    fn order(&self, conn: ConnId, seq: u64, id: &str) {
        write(&self.net, conn, "ONE", "D", seq, &format!("11={id}|"));
    }

    fn heard(&self, conn: ConnId) -> Vec<String> {
        shown(&read(&self.net, conn), &["11", "380", "58"])
    }
}

#[test]
fn the_logout_follows_all_messages_and_the_peer_may_log_on_again() {
    for durability in [Durability::Process, Durability::Disk] {
        let mut world = World::new(durability);
        let mut engine = world.start();
        let conn = world.log_on(&mut engine, "ONE", 1);
        world.order(conn, 2, "A");
        world.order(conn, 3, "OUT");
        // It has arrived with it.
        world.order(conn, 4, "B");
        turns(&mut engine);
        let logout = format!("5 6 {WHY}");
        let wanted = ["8 2 A", "8 3 OUT", "8 4 OUT", "8 5 B", &logout];
        assert_eq!(world.heard(conn), wanted, "{durability:?}");
        // Until the peer answers.
        world.order(conn, 5, "OUT");
        turns(&mut engine);
        assert_eq!(world.heard(conn), ["8 7 OUT", "8 8 OUT"], "one Logout");
        write(&world.net, conn, "ONE", "5", 6, "");
        turns(&mut engine);
        assert!(!engine.sessions().any(|it| it.logged_on));
        let conn = world.log_on(&mut engine, "ONE", 7);
        world.order(conn, 8, "C");
        turns(&mut engine);
        assert_eq!(world.heard(conn), ["8 10 C"], "it stays logged on");
    }
}

#[test]
fn any_session_may_be_meant_and_any_call_may_ask() {
    let mut world = World::new(Durability::Process);
    let mut engine = world.start();
    let one = world.log_on(&mut engine, "ONE", 1);
    let two = world.log_on(&mut engine, "TWO", 1);
    world.order(one, 2, "OTHER");
    turns(&mut engine);
    assert_eq!(world.heard(one), ["8 2 OTHER", "8 3 OTHER"]);
    assert_eq!(world.heard(two), ["5 2"]);
    world.order(one, 3, "NOBODY");
    turns(&mut engine);
    assert_eq!(world.heard(one), ["8 4 NOBODY", "8 5 NOBODY"]);
    // In a turn in which nothing else is written.
    let later = |outbox: &mut Outbox| outbox.log_out(SessionId(0), WHY);
    engine.application_mut().later.push(Box::new(later));
    turns(&mut engine);
    assert_eq!(world.heard(one), [format!("5 6 {WHY}")]);
}

#[test]
fn a_refused_message_logs_out_and_one_at_which_the_application_panicked_does_not() {
    let mut world = World::new(Durability::Process);
    let mut engine = world.start();
    let conn = world.log_on(&mut engine, "ONE", 1);
    world.order(conn, 2, "BANG");
    turns(&mut engine);
    assert_eq!(world.heard(conn), ["j 2 4 Application not available"]);
    world.order(conn, 3, "REFUSED");
    turns(&mut engine);
    let wanted = [
        "8 3 REFUSED",
        "8 4 REFUSED",
        "j 5 0 Throttle limit exceeded",
        &format!("5 6 {WHY}"),
    ];
    assert_eq!(world.heard(conn), wanted);
}

#[test]
fn a_restart_logs_nobody_out_once_more() {
    let mut world = World::new(Durability::Process);
    let mut engine = world.start();
    let conn = world.log_on(&mut engine, "ONE", 1);
    world.order(conn, 2, "OUT");
    turns(&mut engine);
    assert_eq!(world.heard(conn).len(), 3);
    drop(engine);
    world.disk.end_process();
    let mut engine = world.start();
    assert_eq!(numbers(&engine)[0], (3, 5));
    let conn = world.log_on(&mut engine, "ONE", 3);
    world.order(conn, 4, "A");
    turns(&mut engine);
    assert_eq!(world.heard(conn), ["8 6 A"]);
}

#[test]
fn an_initiator_does_not_log_on_again_by_itself() {
    let net = SimNet::new(1, calm(1 << 20));
    let listener = net.listen(0, wire::at(PORT));
    let session = wire::initiator("ENGINE", "VENUE", Duration::ZERO, Duration::from_secs(5));
    let config = wire::config(Durability::Process, vec![session]);
    let mut engine = wire::start(config, app(), 1, &net, &SimDisk::new());
    turns(&mut engine);
    let conn = net.accept(listener).expect("it connects");
    write(&net, conn, "VENUE", "A", 1, "98=0|108=30|");
    write(&net, conn, "VENUE", "D", 2, "11=OUT|");
    turns(&mut engine);
    write(&net, conn, "VENUE", "5", 3, "");
    turns(&mut engine);
    assert!(read(&net, conn).contains(&format!("|58={WHY}|")));
    assert!(net.accept(listener).is_none(), "it stays logged out");
    engine.handle().log_on(SessionId(0)).expect("it runs");
    turns(&mut engine);
    assert!(net.accept(listener).is_some());
}
