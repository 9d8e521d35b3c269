//! Messages that the application receives once, and those it may receive again after a crash.

use crate::common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use fixwire::config::Durability;
use fixwire::harness::Random;
use fixwire::harness::World;
use fixwire::journal::sim::SimDisk;
use fixwire::journal::{self, Journal, JournalPosition};
use fixwire::protocol::{SessionId, tag};

use common::app::{App, answer, text};
use common::wire;

const PEER: SessionId = SessionId(0);

/// Two orders, the end of the process, and a peer that resends what it is asked for: what the application has
/// seen, as ClOrdID, MsgSeqNum and PossDupFlag. With notes it
/// notes each, and in the end knows both, from a note or from a new delivery.
fn seen(seed: u64, durability: Durability, power: bool, notes: bool) -> Vec<String> {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&heard);
    let app = move || {
        let hears = Arc::clone(&hears);
        let app = App::new(move |from, order, outbox| {
            let seen = [tag::CL_ORD_ID, 34, 43].map(|tag| text(order, tag));
            hears.lock().unwrap().push(seen.join(" "));
            match seen[0].as_str() {
                "QUIET" => Ok(()),
                _ => answer(order, from, b"8", outbox),
            }
        });
        App {
            keeps_notes: notes,
            ..app
        }
    };
    let config = wire::config(durability, vec![wire::acceptor("PEER")]);
    let mut world = World::new(&config, seed, app);
    world.settle().unwrap();
    for order in ["ANSWERED", "QUIET"] {
        world.send(PEER, "D", &format!("11={order}|"));
        world.settle().unwrap();
    }
    match power {
        true => world.cut_power(),
        false => world.kill(),
    }
    world.settle().unwrap();
    let knows = world.application().unwrap().heard.of("message");
    if notes {
        assert_eq!(knows, ["ANSWERED", "QUIET"], "{seed}");
    }
    heard.lock().unwrap().clone()
}

#[test]
fn a_process_that_ends_is_handed_no_order_again() {
    for durability in [Durability::Process, Durability::Disk] {
        for seed in 1..=50 {
            let seen = seen(seed, durability, false, seed % 2 == 0);
            assert_eq!(seen, ["ANSWERED 2 -", "QUIET 3 -"], "{seed}");
        }
    }
}

/// With `disk`, what leaves waits for the disk, and the order that caused it with it; an order that causes
/// nothing does not. What comes again has its MsgSeqNum, and PossDupFlag.
#[test]
fn after_a_power_cut_only_an_order_without_an_effect_may_come_again() {
    let mut again = 0;
    for seed in 1..=200 {
        let mut seen = seen(seed, Durability::Disk, true, false);
        if seen.len() == 3 {
            assert_eq!(seen.pop().unwrap(), "QUIET 3 Y", "{seed}");
            again += 1;
        }
        assert_eq!(seen, ["ANSWERED 2 -", "QUIET 3 -"], "{seed}");
    }
    assert!(again > 0, "it never came again: the text says that it may");
}

/// A note is an effect: what leaves waits for it.
#[test]
fn after_a_power_cut_no_order_comes_again_that_was_noted() {
    for seed in 1..=200 {
        let seen = seen(seed, Durability::Disk, true, true);
        assert_eq!(seen, ["ANSWERED 2 -", "QUIET 3 -"], "{seed}");
    }
}

/// With `process` a power cut takes the end of the journal: an order comes again, and its answer has a MsgSeqNum that
/// the peer has counted.
#[test]
fn after_a_power_cut_without_syncs_numbers_are_too_low_or_the_journal_is_refused() {
    let config = wire::config(Durability::Process, vec![wire::acceptor("PEER")]);
    let (mut whole, mut too_low, mut refused) = (0, 0, 0);
    for seed in 1..=200 {
        let mut world = World::new(&config, seed, App::reports);
        for order in 0..40 {
            world.send(PEER, "D", &format!("11=A{order}|58={}|", "x".repeat(400)));
            world.settle().unwrap();
        }
        world.cut_power();
        match world.settle() {
            Ok(()) => whole += 1,
            Err(what) if what.contains("MsgSeqNum") => too_low += 1,
            Err(what) => {
                assert!(what.contains("damaged"), "{what}");
                refused += 1;
            }
        }
    }
    assert!(
        too_low > 0 && refused > 0,
        "{whole} whole, {too_low} too low, {refused} refused"
    );
}

/// What reads the journal from outside may act on it.
#[test]
fn what_a_record_says_is_synced_survives_a_power_cut() {
    let config = wire::config(Durability::Disk, vec![wire::acceptor("PEER")]);
    let sizes = journal::JournalConfig {
        synced_before_sent: true,
        ..journal::JournalConfig::default()
    };
    let mut cut = 0;
    for seed in 1..=50 {
        let mut world = World::new(&config, seed, App::reports);
        world.settle().unwrap();
        for order in ["A", "QUIET", "B", "QUIET"] {
            world.send(PEER, "D", &format!("11={order}|"));
            world.settle().unwrap();
        }
        world.kill();
        let read = |disk: SimDisk| {
            let (mut journal, _) = Journal::open(disk, sizes).unwrap();
            let reading = journal.reading().unwrap();
            let records = reading.records(JournalPosition::START);
            let synced = records.map(|record| record.synced).max().unwrap();
            (synced, journal.end())
        };
        let (synced, end) = read(world.disk().copy());
        let mut random = Random::new(seed);
        world.disk().cut_power(|choices| random.place(choices));
        let (_, left) = read(world.disk().copy());
        assert!(synced > JournalPosition::START && left >= synced, "{seed}");
        cut += u32::from(left < end);
    }
    assert!(cut > 0, "nothing was lost");
}

/// The end of the process ends its connections without a word to the next one.
#[test]
fn a_connection_that_ended_with_the_process_is_not_told_to_the_next_one() {
    let told = Arc::new(AtomicU32::new(0));
    let counts = Arc::clone(&told);
    let app = move || {
        let counts = Arc::clone(&counts);
        App {
            on_disconnect: Box::new(move |_, _, _| {
                counts.fetch_add(1, Ordering::Relaxed);
            }),
            ..App::default()
        }
    };
    let config = wire::config(Durability::Process, vec![wire::acceptor("PEER")]);
    let mut world = World::new(&config, 1, app);
    world.settle().unwrap();
    world.kill();
    world.settle().unwrap();
    assert_eq!(told.load(Ordering::Relaxed), 0);
    world.disconnect(PEER);
    world.settle().unwrap();
    assert_eq!(told.load(Ordering::Relaxed), 1);
}
