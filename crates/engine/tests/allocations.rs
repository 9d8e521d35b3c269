//! A million orders through an engine, and not one allocation after the warm-up.
//!
//! The engine is real, with journal and validation; its world is a script in memory, because a
//! system call allocates nothing of ours; one test does the same over TCP. What it does not cover:
//! making a segment of a journal on disk, making connections, and TLS.

mod common;
#[path = "common/script.rs"]
mod script;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use common::{Echo, PATIENCE, Peer, Seen, acceptor_session, config};
use fixwire::protocol::Dictionary;
use fixwire::protocol::dictionary::Version;
use fixwire::{Durability, Engine};
use script::Script;

/// Orders answered, and allocations made meanwhile.
fn orders(count: u64, batch: usize, durability: Durability, segment: usize) -> (u64, u64) {
    let folder = tempfile::tempdir().unwrap();
    let mut session = acceptor_session("127.0.0.1:9");
    session.session.dictionary = Some(Arc::new(Dictionary::built_in(Version::Fix42)));
    let mut settings = config(&folder.path().join("store"), session);
    (settings.durability, settings.segment_bytes) = (durability, segment);
    let seen = Arc::new(Seen::default());
    let mut engine = Engine::with_host(settings, Echo(seen), Script::new(batch)).unwrap();
    let run = |engine: &mut Engine<Echo, Script>, count: u64| {
        engine.host_mut().left = count;
        while engine.host_mut().left > 0 {
            engine.turn().unwrap();
        }
    };
    // Long enough to go once round the ring of a journal in memory.
    run(&mut engine, 100_000);
    let before = engine.host_mut().reports;
    let info = allocation_counter::measure(|| run(&mut engine, count));
    let host = engine.host_mut();
    (host.reports - before, info.count_total)
}

#[test]
fn a_million_orders_in_batches_allocate_nothing() {
    assert_eq!(
        orders(1_000_000, 32, Durability::Memory, 8 << 20),
        (1_000_000, 0)
    );
}

#[test]
fn orders_one_by_one_allocate_nothing_with_a_journal_on_disk() {
    assert_eq!(
        orders(100_000, 1, Durability::Process, 256 << 20),
        (100_000, 0)
    );
}

/// The operating system's part: reading from and writing to a connection without TLS.
#[test]
fn orders_over_tcp_allocate_nothing_once_the_connection_stands() {
    const ORDERS: u64 = 5_000;
    let folder = tempfile::tempdir().unwrap();
    let session = acceptor_session("127.0.0.1:0");
    let mut settings = config(&folder.path().join("store"), session);
    settings.durability = Durability::Memory;
    let seen = Arc::new(Seen::default());
    let mut engine = Engine::new(settings, Echo(Arc::clone(&seen))).unwrap();
    let to = engine.addresses().next().unwrap();
    let peer = std::thread::spawn(move || {
        let mut peer = Peer::log_on(to, 1);
        for number in 1..=ORDERS {
            peer.send(
                "D",
                &format!("11={number}|55=LCOM1|54=1|38=1|40=2|44=200.0|"),
            );
            assert!(peer.receive().unwrap().contains("|35=8|"));
        }
    });
    let orders = |wanted: u64, engine: &mut Engine<Echo>| {
        let start = Instant::now();
        while seen.orders.load(Ordering::SeqCst) < wanted {
            assert!(start.elapsed() < PATIENCE);
            engine.turn().unwrap();
        }
    };
    orders(1_000, &mut engine);
    let info = allocation_counter::measure(|| orders(ORDERS, &mut engine));
    assert_eq!(info.count_total, 0);
    // The last report has to leave.
    while !peer.is_finished() {
        engine.turn().unwrap();
    }
    peer.join().unwrap();
}
