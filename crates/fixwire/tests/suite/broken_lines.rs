//! The state after a failed write, a failed journal, and lines that break while others send.

use crate::common;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fixwire::config::{Durability, EngineConfig, SessionConfig};
use fixwire::event::Ending;
use fixwire::host::ConnId;
use fixwire::host::sim::{SimNet, Weather};
use fixwire::journal::sim::SimDisk;
use fixwire::protocol::{Nanos, SessionId};
use fixwire::{Event, SendError};

use common::app::{App, Heard};
use common::wire::{self, PORT, SimEngine, calm, turns};
use common::{Events, events};

const MILLISECOND: Nanos = Nanos(1_000_000);

fn config(durability: Durability, session: SessionConfig) -> EngineConfig {
    EngineConfig {
        segment_bytes: 64 << 10,
        limits: wire::outbox(4096, 16),
        ..wire::config(durability, vec![session])
    }
}

/// `ENGINE`, to which `PEER` connects.
fn acceptor(durability: Durability) -> EngineConfig {
    config(durability, wire::acceptor("PEER"))
}

/// `PEER`, which connects to `ENGINE`.
fn initiator() -> EngineConfig {
    let (reconnect, timeout) = (Duration::from_millis(5), Duration::from_secs(1));
    let session = wire::initiator("PEER", "ENGINE", reconnect, timeout);
    config(Durability::Process, session)
}

/// An acceptor, and a connection of its peer.
struct World {
    net: SimNet,
    disk: SimDisk,
    heard: Heard,
    engine: SimEngine,
    events: Events,
    conn: ConnId,
}

impl World {
    /// Logged on.
    fn new(durability: Durability) -> Self {
        let (net, disk) = (SimNet::new(1, calm(1 << 20)), SimDisk::new());
        let mut world = Self::on(net, disk, Heard::default(), durability);
        assert_eq!(world.say(&[("A", 1, "98=0|108=30|")]), ["A 1"]);
        world
    }

    /// An engine on this disk, and a connection on which nothing was said.
    fn on(net: SimNet, disk: SimDisk, heard: Heard, durability: Durability) -> Self {
        let app = App::reports().writes_to(&heard);
        let mut engine = wire::start(acceptor(durability), app, 1, &net, &disk);
        let events = events(&mut engine);
        let conn = net.connect(0, PORT).unwrap();
        Self {
            net,
            disk,
            heard,
            engine,
            events,
            conn,
        }
    }

    fn write(&self, messages: &[(&str, u64, &str)]) {
        for (kind, seq, body) in messages {
            wire::write(&self.net, self.conn, "PEER", kind, *seq, body);
        }
    }

    /// MsgType, MsgSeqNum, PossDupFlag and ClOrdID of what has arrived.
    fn read(&self) -> Vec<String> {
        wire::shown(&wire::read(&self.net, self.conn), &["43", "11"])
    }

    fn say(&mut self, messages: &[(&str, u64, &str)]) -> Vec<String> {
        self.write(messages);
        turns(&mut self.engine);
        self.read()
    }

    /// Turns until the engine ends itself, because of its journal; it writes nothing in its last turn and
    /// after it.
    fn fails_without_another_byte(&mut self, mut feed: impl FnMut(&Self)) {
        let failed = (0..10_000).any(|_| {
            feed(self);
            self.read();
            self.engine.turn().is_err()
        });
        assert!(failed, "the engine goes on");
        (0..10).for_each(|_| drop(self.engine.turn()));
        let said = self.read();
        assert!(said.is_empty(), "{said:?}");
        let events = self.events.lock().unwrap();
        let told = events
            .iter()
            .filter(|event| matches!(event, Event::JournalFailed { .. }));
        assert_eq!(told.count(), 1, "{events:?}");
    }
}

#[test]
fn a_broken_pipe_ends_the_connection_and_loses_nothing() {
    for durability in [Durability::Process, Durability::Disk] {
        let mut world = World::new(durability);
        // The order is read before the end of the stream, and its report has no receiver.
        world.write(&[("D", 2, "11=A|")]);
        world.net.close(world.conn);
        turns(&mut world.engine);
        let ended: Vec<Ending> = world
            .events
            .lock()
            .unwrap()
            .iter()
            .filter_map(|event| match event {
                Event::Disconnected { why, .. } => Some(*why),
                _ => None,
            })
            .collect();
        assert_eq!(
            ended,
            [Ending::Io(ErrorKind::BrokenPipe.into())],
            "{durability:?}"
        );
        assert_eq!(world.heard.of("message"), ["A"]);
        world.conn = world.net.connect(0, PORT).unwrap();
        let said = world.say(&[("A", 3, "98=0|108=30|"), ("2", 4, "7=2|16=0|")]);
        assert_eq!(said, ["A 3", "8 2 Y A", "4 3 Y"], "{durability:?}");
        assert_eq!(world.say(&[("D", 5, "11=B|")]), ["8 4 B"]);
        assert_eq!(world.heard.of("message"), ["A", "B"]);
    }
}

#[test]
fn a_sync_that_fails_stops_the_engine_before_another_byte() {
    let mut world = World::new(Durability::Disk);
    world.disk.fail_sync(0);
    world.write(&[("D", 2, "11=A|")]);
    world.fails_without_another_byte(|_| {});
    assert_eq!(world.net.bytes_after_failed_sync(), 0);
    // The order was not acknowledged: the next process has it, with its report, or asks for it.
    let World {
        net,
        disk,
        heard,
        engine,
        ..
    } = world;
    drop(engine);
    disk.end_process();
    net.crash(1, false);
    let mut world = World::on(net, disk, heard, Durability::Disk);
    let said = world.say(&[("A", 3, "98=0|108=30|"), ("2", 4, "7=2|16=0|")]);
    assert!(
        said == ["A 3", "8 2 Y A", "4 3 Y"] && world.heard.of("message") == ["A"],
        "{said:?}"
    );
}

#[test]
fn a_record_that_cannot_be_appended_stops_the_engine_before_another_byte() {
    let mut world = World::new(Durability::Process);
    world.disk.set_room(Some(0));
    let mut seq = 1;
    let long = "x".repeat(500);
    world.fails_without_another_byte(|world| {
        seq += 1;
        world.write(&[("D", seq, &format!("11={seq}|58={long}|"))]);
    });
    assert!(seq > 50, "it failed at once, at {seq}");
}

/// Threads that send, and the orders of each.
const THREADS: usize = 4;
const ORDERS: usize = 500;

#[test]
fn threads_that_send_while_lines_break_send_each_message_once() {
    let weather = Weather {
        splits: true,
        cuts: true,
        room: 1 << 10,
    };
    let (net, heard) = (SimNet::new(7, weather), Heard::default());
    let start = |config, app, node| wire::start(config, app, node, &net, &SimDisk::new());
    let app = App::reports().writes_to(&heard);
    let mut acceptor = start(acceptor(Durability::Process), app, 1);
    let mut initiator = start(initiator(), App::reports(), 2);
    let events = events(&mut initiator);
    let busy = Arc::new(AtomicUsize::new(THREADS));
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let (mut handle, busy) = (initiator.handle(), Arc::clone(&busy));
            std::thread::spawn(move || {
                for number in 0..ORDERS {
                    let fields = format!("11={thread}-{number}\x01");
                    while let Err(error) = handle.send_fields(SessionId(0), b"D", fields.as_bytes())
                    {
                        assert_eq!(error, SendError::Full);
                        std::thread::yield_now();
                    }
                }
                busy.fetch_sub(1, Ordering::SeqCst);
            })
        })
        .collect();
    let (begin, mut round, mut resets) = (Instant::now(), 0_u64, 0);
    let quiet = |engine: &SimEngine| {
        engine
            .sessions()
            .all(|it| it.logged_on && it.waiting_bytes == 0)
    };
    while busy.load(Ordering::SeqCst) > 0
        || !quiet(&initiator)
        || heard.of("message").len() < THREADS * ORDERS
    {
        round += 1;
        net.advance(MILLISECOND);
        initiator.turn().expect("the initiator works");
        acceptor.turn().expect("the acceptor works");
        if round.is_multiple_of(29) {
            // Each connection that was made has two ends; the last one breaks.
            let events = events.lock().unwrap();
            let made = events
                .iter()
                .filter(|it| matches!(it, Event::Connected { .. }));
            if let Some(last) = made.count().checked_sub(1) {
                net.reset(ConnId(last as u32 * 2));
                resets += 1;
            }
        }
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "{} came",
            heard.of("message").len()
        );
    }
    threads
        .into_iter()
        .for_each(|thread| thread.join().expect("it sends"));
    assert!(resets >= 3, "only {resets} lines broke");
    let mut next: BTreeMap<String, usize> = BTreeMap::new();
    for id in heard.of("message") {
        let (thread, number) = id.split_once('-').expect("ours");
        let next = next.entry(thread.to_owned()).or_default();
        assert_eq!(number.parse(), Ok(*next), "of thread {thread}");
        *next += 1;
    }
    assert!(
        next.len() == THREADS && next.values().all(|count| *count == ORDERS),
        "{next:?}"
    );
}
