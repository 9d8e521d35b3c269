//! Deaths of a process that the next one must make good, before the power is cut.

use fixwire::journal::sim::SimDisk;
use fixwire::journal::{Cause, Journal, JournalConfig, JournalId, JournalPosition, RecordKind};
use fixwire_protocol::time::Timestamp;

const DISK: JournalConfig = JournalConfig {
    segment_bytes: 8192,
    index_entries: 4,
    synced_before_sent: true,
    retention: None,
};
const WALL: Timestamp = Timestamp(1_000);

fn open(disk: &SimDisk) -> Journal<SimDisk> {
    Journal::open(disk.clone(), DISK).unwrap().0
}

/// Appends one inbound message of this length.
fn append(journal: &mut Journal<SimDisk>, number: u64, len: usize) -> JournalPosition {
    let cause = Cause {
        session: JournalId(0),
        kind: RecordKind::Message,
        inbound: Some(&vec![b'i'; len]),
        next_in: number + 1,
        next_out: 1,
        epoch: 0,
    };
    journal.append(WALL, cause, std::iter::empty()).unwrap()
}

fn next_in(disk: &SimDisk) -> u64 {
    open(disk).counters(JournalId(0)).unwrap().next_in
}

#[test]
fn what_a_failed_sync_left_out_is_written_by_the_next_process() {
    let disk = SimDisk::new();
    let mut journal = open(&disk);
    journal.register(WALL, "A").unwrap();
    append(&mut journal, 1, 100);
    disk.fail_sync(0);
    journal.sync(journal.end()).unwrap_err();
    drop(journal);
    disk.end_process();
    // It may send what it finds, so that must be on the disk.
    assert_eq!(next_in(&disk), 2);
    disk.cut_power(|_| 0);
    assert_eq!(next_in(&disk), 2);
}

#[test]
fn a_segment_whose_maker_died_has_a_name_before_it_is_used() {
    for operations in 0..12 {
        let disk = SimDisk::new();
        disk.stop_after(operations);
        drop(Journal::open(disk.clone(), DISK));
        disk.end_process();
        let mut journal = open(&disk);
        journal.register(WALL, "A").unwrap();
        append(&mut journal, 1, 100);
        journal.sync(journal.end()).unwrap();
        drop(journal);
        disk.cut_power(|_| 0);
        assert_eq!(next_in(&disk), 2, "stopped after {operations} operations");
    }
}

#[test]
fn a_page_between_two_stores_of_a_record_is_no_damage() {
    let disk = SimDisk::new();
    let mut journal = open(&disk);
    journal.register(WALL, "A").unwrap();
    let first = append(&mut journal, 1, 3000).offset() as usize;
    append(&mut journal, 2, 500);
    append(&mut journal, 3, 1000);
    drop(journal);
    let whole = disk.read(1).unwrap();
    // The second record has its length but not yet its checksum, no head, or all but its length.
    for (missing, next) in [(0..4, 4), (0..8, 2), (0..64, 2), (64..200, 2)] {
        let mut bytes = whole.clone();
        bytes[first..][missing.clone()].fill(0);
        disk.write(1, Some(bytes));
        assert_eq!(next_in(&disk.copy()), next, "bytes {missing:?} are missing");
    }
    // One flipped bit is damage, as ever.
    for at in [0, 4, 8, 300] {
        let mut bytes = whole.clone();
        bytes[first + at] ^= 0x10;
        disk.write(1, Some(bytes.clone()));
        assert!(Journal::open(disk.clone(), DISK).is_err(), "byte {at}");
        assert_eq!(disk.read(1), Some(bytes));
    }
}
