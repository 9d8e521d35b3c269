//! What is handed to the application once, and what may be handed to it again after the end of the process.

use crate::common;

use fixwire::config::{Durability, EngineConfig};
use fixwire::host::ConnId;
use fixwire::host::sim::SimNet;
use fixwire::journal::sim::SimDisk;

use common::app::{App, Heard};
use common::wire::{self, PORT, SimEngine, calm};

struct World {
    net: SimNet,
    disk: SimDisk,
    heard: Heard,
    durability: Durability,
    engine: Option<SimEngine>,
}

impl World {
    fn new(seed: u64, durability: Durability) -> Self {
        let (net, disk) = (SimNet::new(seed, calm(1 << 16)), SimDisk::new());
        let heard = Heard::default();
        let engine = Some(start(&net, &disk, &heard, durability));
        Self {
            net,
            disk,
            heard,
            durability,
            engine,
        }
    }

    fn turns(&mut self) {
        wire::turns(self.engine.as_mut().unwrap());
    }

    fn say(&mut self, conn: ConnId, kind: &str, seq: u64, body: &str) {
        wire::write(&self.net, conn, "PEER", kind, seq, body);
        self.turns();
    }

    /// The process ends, or the power is cut, and another process goes on.
    fn restart(&mut self, seed: u64, power: bool) {
        self.net.crash(1, power);
        self.engine = None;
        if power {
            let mut state = seed;
            self.disk.cut_power(|choices| {
                state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
                (state >> 33) as usize % choices
            });
        } else {
            self.disk.end_process();
        }
        let engine = start(&self.net, &self.disk, &self.heard, self.durability);
        self.engine = Some(engine);
    }
}

fn start(net: &SimNet, disk: &SimDisk, heard: &Heard, durability: Durability) -> SimEngine {
    let config = EngineConfig {
        segment_bytes: 64 << 10,
        limits: wire::outbox(8 << 10, 64),
        ..wire::config(durability, vec![wire::acceptor("PEER")])
    };
    wire::start(config, App::reports().writes_to(heard), 1, net, disk)
}

/// Two orders, the end of the process, and a peer that resends what it is asked for: what the
/// application has seen.
fn seen(seed: u64, durability: Durability, power: bool) -> Vec<String> {
    const ORDERS: [&str; 2] = ["ANSWERED", "QUIET"];
    let mut world = World::new(seed, durability);
    let conn = world.net.connect(0, PORT).unwrap();
    world.turns();
    world.say(conn, "A", 1, "98=0|108=0|");
    for (order, seq) in ORDERS.iter().zip(2..) {
        world.say(conn, "D", seq, &format!("11={order}|"));
    }
    world.restart(seed, power);
    let conn = world.net.connect(0, PORT).unwrap();
    world.turns();
    world.say(conn, "A", 4, "98=0|108=0|");
    let answers = wire::shown(&wire::read(&world.net, conn), &["7"]);
    let request = answers.iter().find(|answer| answer.starts_with('2'));
    if let Some(begin) = request.and_then(|request| request.rsplit(' ').next()) {
        let begin: u64 = begin.parse().unwrap();
        for (order, seq) in ORDERS.iter().zip(2..) {
            if seq >= begin {
                let body = format!("43=Y|122=20260302-08:00:01|11={order}|");
                world.say(conn, "D", seq, &body);
            }
        }
    }
    world.heard.of("message")
}

#[test]
fn a_process_that_ends_is_handed_no_order_again() {
    for durability in [Durability::Process, Durability::Disk] {
        for seed in 1..=50 {
            assert_eq!(
                seen(seed, durability, false),
                ["ANSWERED", "QUIET"],
                "{seed}"
            );
        }
    }
}

/// With `disk`, what leaves waits for the disk, and the order that caused it with it; an order that causes
/// nothing does not.
#[test]
fn after_a_power_cut_only_an_order_without_an_effect_may_come_again() {
    let mut again = 0;
    for seed in 1..=200 {
        let seen = seen(seed, Durability::Disk, true);
        let count = |id: &str| seen.iter().filter(|other| *other == id).count();
        assert_eq!(count("ANSWERED"), 1, "{seed}: {seen:?}");
        assert!((1..=2).contains(&count("QUIET")), "{seed}: {seen:?}");
        again += usize::from(count("QUIET") == 2);
    }
    assert!(again > 0, "it never came again: the text says that it may");
}
