//! A process dies around reloads.

use fixwire_engine::Durability;
use fixwire_engine::protocol::session::BeginString;

use super::{is_kept, limit, replace};
use crate::floor::Floor;
use crate::proof::Proof;

/// Orders around reloads; the process dies after so many operations of disk and network.
fn play(durability: Durability, operations: Option<u64>) -> Floor {
    let mut floor = Floor::new(durability, BeginString::Fix44, BeginString::Fix44);
    if let Some(operations) = operations {
        floor.world.disk().stop_after(operations);
    }
    floor.order("A1", 1, 100);
    floor.edit(|files| {
        limit(files, "firm,RC6,1000", "firm,RC6,60");
        files.instruments += "NEW,0.5,1,7,,\n";
        replace(&mut files.instruments, ",0.05,", ",0.001,");
    });
    floor.reload().unwrap();
    floor.order("A2", 2, 100);
    floor.order("A3", 1, 40);
    floor.send(
        "D",
        "11=A4|55=NEW|54=1|38=20|40=2|44=7|60=20261122-08:00:00|",
    );
    floor.send("F", "11=A5|41=A1|55=XYZ|54=1|38=100|60=20261122-08:00:00|");
    floor.edit(|files| limit(files, "firm,RC6,60", "firm,RC6,200"));
    floor.reload().unwrap();
    floor.order("A6", 2, 100);
    floor
}

fn every_point(durability: Durability) {
    let told = |floor: &mut Floor| {
        floor.agrees();
        let mut told = floor.told(&[11, 39, 14, 151]);
        told.dedup();
        told
    };
    let mut proof = Proof::new(&format!("crash-reload-{durability:?}"));
    let whole = told(&mut play(durability, None));
    assert_eq!(whole.len(), 10, "{whole:?}");
    for operations in 0.. {
        let mut floor = play(durability, Some(operations));
        assert_eq!(told(&mut floor), whole, "operation {operations}");
        is_kept(&mut floor);
        let mut recorder = proof.recorder(&operations.to_string());
        floor.record(&mut recorder);
        proof.add(recorder);
        if floor.crashes == 0 {
            assert!(operations > 40, "{operations}");
            return proof.check(true);
        }
    }
}

#[test]
fn a_reload_is_whole_or_nothing_when_the_process_is_killed() {
    every_point(Durability::Process);
}

#[test]
fn a_reload_is_whole_or_nothing_when_the_power_is_cut() {
    every_point(Durability::Disk);
}
