//! Stored messages that cannot be read are neither resent nor filled as a gap: the session ends, an event says
//! why, and the peer gets them as soon as they can be.

use crate::common;

use fixwire::Event;
use fixwire::config::{Durability, EngineConfig};
use fixwire::event::Ending;
use fixwire::host::ConnId;
use fixwire::host::sim::SimNet;
use fixwire::journal::JournalTrouble;
use fixwire::journal::sim::SimDisk;
use fixwire::protocol::SessionId;

use common::app::App;
use common::events;
use common::wire::{self, PORT, SimEngine, calm};

const ORDERS: u64 = 600;
/// The newest segments, which stay mapped.
const NEWEST: usize = 2;

struct World {
    net: SimNet,
    disk: SimDisk,
    engine: SimEngine,
    next: u64,
}

impl World {
    /// A peer has sent its orders, whose reports take several segments, and has disconnected.
    fn new(durability: Durability) -> Self {
        let (net, disk) = (SimNet::new(1, calm(1 << 20)), SimDisk::new());
        let config = EngineConfig {
            segment_bytes: 24 << 10,
            max_message: 512,
            limits: wire::outbox(2 << 10, 16),
            ..wire::config(durability, vec![wire::acceptor("PEER")])
        };
        let engine = wire::start(config, App::reports(), 1, &net, &disk);
        let mut world = Self {
            net,
            disk,
            engine,
            next: 1,
        };
        let conn = world.log_on();
        for _ in 0..ORDERS {
            world.say(conn, "D", "11=A|");
        }
        let last = (1..).take_while(|number| world.disk.read(*number).is_some());
        assert!(last.count() > 5, "several segments are wanted");
        world.net.close(conn);
        wire::turns(&mut world.engine);
        world
    }

    fn log_on(&mut self) -> ConnId {
        let conn = self.net.connect(0, PORT).expect("it listens");
        let heard = self.say(conn, "A", "98=0|108=30|");
        assert!(heard[0].starts_with("A "), "{heard:?}");
        conn
    }

    /// Sends a message, and answers MsgType, MsgSeqNum and PossDupFlag of what comes.
    fn say(&mut self, conn: ConnId, kind: &str, body: &str) -> Vec<String> {
        wire::write(&self.net, conn, "PEER", kind, self.next, body);
        self.next += 1;
        let mut heard = Vec::new();
        for _ in 0..20 {
            wire::turns(&mut self.engine);
            heard.extend(wire::shown(&wire::read(&self.net, conn), &["43"]));
        }
        heard
    }
}

fn is_repeat(message: &str) -> bool {
    message.ends_with(" Y")
}

#[test]
fn a_resend_that_cannot_read_its_messages_ends_the_session_and_fills_no_gap() {
    for durability in [Durability::Process, Durability::Disk] {
        let mut world = World::new(durability);
        let all = events(&mut world.engine);
        for _ in 0..2 {
            let conn = world.log_on();
            world.disk.limit_mapped(Some(NEWEST));
            let heard = world.say(conn, "2", "7=1|16=0|");
            assert!(
                !heard.iter().any(|message| is_repeat(message)),
                "{durability:?} {heard:?}"
            );
            let all = std::mem::take(&mut *all.lock().unwrap());
            let texts: Vec<String> = all.iter().map(|event| format!("{event:?}")).collect();
            let unread = all.iter().any(|event| match event {
                Event::JournalTrouble {
                    trouble: JournalTrouble::NotRead { error },
                } => error.contains("cannot map sim/000000") && error.contains("ulimit -v"),
                _ => false,
            });
            assert!(unread, "{durability:?} {texts:?}");
            let ended = all.iter().any(|event| match event {
                Event::Disconnected { why, .. } => matches!(why, Ending::NotRead(1 | 2)),
                _ => false,
            });
            assert!(ended, "{durability:?} {texts:?}");
            world.disk.limit_mapped(None);
        }
        let conn = world.log_on();
        let heard = world.say(conn, "2", &format!("7=2|16={}|", ORDERS + 1));
        let repeats: Vec<String> = (2..ORDERS + 2).map(|seq| format!("8 {seq} Y")).collect();
        assert_eq!(heard, repeats, "{durability:?}");
    }
}

#[test]
fn a_message_that_is_to_be_sent_again_and_cannot_be_read_is_reported() {
    let mut world = World::new(Durability::Process);
    world.log_on();
    let all = events(&mut world.engine);
    world.disk.limit_mapped(Some(NEWEST));
    let mut handle = world.engine.handle();
    handle.send_again(SessionId(0), 2).unwrap();
    wire::turns(&mut world.engine);
    let all = std::mem::take(&mut *all.lock().unwrap());
    let unread = |event: &Event| {
        matches!(
            event,
            Event::JournalTrouble {
                trouble: JournalTrouble::NotRead { .. }
            }
        )
    };
    assert!(all.iter().any(unread), "{all:?}");
    let unsent = |event: &Event| matches!(event, Event::NotSent { messages: 1 });
    assert!(all.iter().any(unsent), "{all:?}");
}
