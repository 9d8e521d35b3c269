//! The process dies after each operation in turn.

use fixwire_engine::Durability;
use fixwire_engine::protocol::session::BeginString;

use fixwire_engine::protocol::Ledger;
use fixwire_harness::Turn;

use crate::floor::Floor;

/// Orders, a replace, a cancel, a refused order; the process dies after so many operations of disk and network.
fn play(durability: Durability, operations: Option<u64>) -> Floor {
    let mut floor = Floor::new(durability, BeginString::Fix44, BeginString::Fix44);
    if let Some(operations) = operations {
        floor.world.disk().stop_after(operations);
    }
    floor.order("A1", 1, 100);
    floor.order("A2", 2, 50);
    floor.send(
        "G",
        "11=A3|41=A1|55=XYZ|54=1|38=120|40=2|44=100|60=20261122-08:00:00|",
    );
    floor.send("F", "11=A4|41=A2|55=XYZ|54=2|38=50|60=20261122-08:00:00|");
    // More than may be bought at once.
    floor.order("A5", 1, 2000);
    floor.order("A6", 1, 10);
    floor
}

fn every_point(durability: Durability) {
    let whole = {
        let mut floor = play(durability, None);
        floor.agrees();
        floor.told(&[11, 39, 14, 151])
    };
    for operations in 0.. {
        let mut floor = play(durability, Some(operations));
        floor.agrees();
        let mut told = floor.told(&[11, 39, 14, 151]);
        // A new order that was in doubt is reported as the venue answers, nothing is reported twice.
        told.dedup();
        assert_eq!(told, whole, "operation {operations}");
        // Once more, in the end: the notes make the very same state.
        let before = floor.state().hash();
        floor.world.kill();
        assert_eq!(floor.world.start(), Turn::Alive);
        let after = floor.state().hash();
        assert_eq!(after, before, "operation {operations}: the notes");
        floor.settle();
        floor.agrees();
        if floor.crashes == 0 {
            assert!(operations > 40, "{operations}");
            return;
        }
    }
}

#[test]
fn nothing_is_sent_twice_or_forgotten_when_the_process_is_killed() {
    every_point(Durability::Process);
}

#[test]
fn nothing_is_sent_twice_or_forgotten_when_the_power_is_cut() {
    every_point(Durability::Disk);
}

#[test]
fn an_order_that_the_venue_never_saw_is_rejected_when_it_says_so() {
    let mut floor = Floor::new(Durability::Process, BeginString::Fix44, BeginString::Fix44);
    floor.venue.drops = vec![1];
    floor.order("A1", 1, 100);
    assert_eq!(floor.told(&[39]), [""; 0]);
    floor.world.disconnect(crate::floor::VENUE);
    floor.settle();
    assert_eq!(floor.told(&[39, 58]), ["8 unknown order"]);
}
