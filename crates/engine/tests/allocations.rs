//! A million orders through an engine, and not one allocation after the warm-up.
//!
//! The engine is real, with journal and validation; its world is a script in memory, because a
//! system call allocates nothing of ours. What it does not cover: making a segment of a journal on
//! disk, and connections.

mod common;
#[path = "common/script.rs"]
mod script;

use std::sync::Arc;

use common::{Echo, Seen, acceptor_session, config};
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
