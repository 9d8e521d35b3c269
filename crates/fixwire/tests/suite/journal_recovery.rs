//! Whatever happens to the files, a journal opens with what was written or says what is wrong.

use crate::common::journal::SMALL;
use fixwire::harness::Random;

use fixwire::journal::sim::SimDisk;
use fixwire::journal::{
    Cause, Damage, Effect, Journal, JournalConfig, JournalError, JournalId, JournalPosition,
    RecordKind,
};
use fixwire_protocol::time::Timestamp;

const WALL: Timestamp = Timestamp(1_000);

/// An order and its answer, in one record.
fn order(
    journal: &mut Journal<SimDisk>,
    number: u64,
    len: usize,
) -> Result<JournalPosition, JournalError> {
    let session = JournalId(0);
    let (inbound, outbound) = (vec![b'i'; len], vec![b'o'; len + 1]);
    let cause = Cause {
        session,
        kind: RecordKind::Message,
        inbound: Some(&inbound),
        next_in: number + 1,
        next_out: number + 1,
        epoch: 0,
    };
    let effect = Effect {
        session,
        seq: number,
        bytes: &outbound,
    };
    journal.append(WALL, cause, std::iter::once(effect))
}

/// A journal with this many orders; answers where each ends.
fn written(orders: u64, len: usize) -> (SimDisk, Vec<JournalPosition>) {
    let disk = SimDisk::new();
    let (mut journal, _) = Journal::open(disk.clone(), SMALL).unwrap();
    journal.register(WALL, "FIX.4.2:EXEC->BENCH").unwrap();
    let mut ends = vec![journal.end()];
    for number in 1..=orders {
        ends.push(order(&mut journal, number, len).unwrap());
    }
    (disk, ends)
}

/// Summary of a journal, for comparison.
fn state(journal: &mut Journal<SimDisk>) -> String {
    let mut text = format!("{:?}", journal.sessions().collect::<Vec<_>>());
    for record in journal.reading().unwrap().records(JournalPosition::START) {
        text += &format!("\n{record:?}");
    }
    text
}

fn damage(result: Result<(Journal<SimDisk>, fixwire::journal::Recovered), JournalError>) -> Damage {
    match result {
        Err(JournalError::Damaged(damage)) => damage,
        // A flipped bit may look like another version.
        Err(JournalError::OtherVersion { file, found, reads }) => Damage {
            file,
            offset: 8,
            expected: reads,
            found,
        },
        Err(other) => panic!("another error: {other}"),
        Ok((_, recovered)) => panic!("opened: {recovered:?}"),
    }
}

fn files(disk: &SimDisk) -> Vec<Option<Vec<u8>>> {
    (1..=9).map(|number| disk.read(number)).collect()
}

fn flip(disk: &SimDisk, number: u32, at: usize, bits: u8) -> SimDisk {
    let flipped = disk.copy();
    let mut bytes = disk.read(number).unwrap();
    bytes[at] ^= bits;
    flipped.write(number, Some(bytes));
    flipped
}

#[test]
fn every_flipped_bit_is_found() {
    flip_every_byte(SMALL);
    flip_every_byte(JournalConfig {
        synced_before_sent: true,
        ..SMALL
    });
}

fn flip_every_byte(config: JournalConfig) {
    let (disk, ends) = written(20, 100);
    let last = *ends.last().unwrap();
    assert_eq!(last.segment(), 2, "the test wants two segments");
    let whole = state(&mut Journal::open(disk.copy(), SMALL).unwrap().0);
    for number in 1..=2 {
        for at in 0..4096 {
            let place = JournalPosition::new(number, at as u32);
            let flipped = flip(&disk, number, at, 1 << (at % 8));
            let before = files(&flipped);
            match Journal::open(flipped.clone(), config) {
                Err(JournalError::OtherVersion { file, .. }) => {
                    assert_eq!(file, format!("sim/{number:08}.fwj"));
                    assert!((8..12).contains(&at), "{place:?}");
                    assert_eq!(files(&flipped), before, "{place:?}");
                }
                Err(JournalError::Damaged(damage)) => {
                    assert_eq!(damage.file, format!("sim/{number:08}.fwj"));
                    // A flipped bit of a header or of a short record is named to its field at least.
                    let off = (damage.offset as i64 - at as i64).abs();
                    assert!(off < 8 || at < 64, "{place:?}: {damage}");
                    assert_eq!(
                        files(&flipped),
                        before,
                        "{place:?}: refusing changed a file"
                    );
                }
                Ok((mut journal, recovered)) => {
                    // Only after the last whole record: an unfinished one, or the unused end.
                    let torn = recovered
                        .torn
                        .unwrap_or_else(|| panic!("{place:?} unnoticed"));
                    assert!(place >= ends[ends.len() - 2], "{place:?}: {torn:?}");
                    assert!(
                        torn.why.offset.abs_diff(at as u64) < 8,
                        "{place:?}: {torn:?}"
                    );
                    assert!(recovered.records >= 20, "{place:?}");
                    assert!(whole.contains(state(&mut journal).lines().last().unwrap()));
                }
                Err(other) => panic!("{place:?}: {other}"),
            }
        }
    }
}

#[test]
fn the_only_record_is_never_taken_for_an_unfinished_one() {
    let (disk, _) = written(0, 0);
    for at in 64..64 + 64 + 24 {
        let result = Journal::open(flip(&disk, 1, at, 0x40), SMALL);
        let found = damage(result);
        assert!(found.offset.abs_diff(at as u64) < 8, "{at}: {found}");
    }
}

#[test]
fn a_record_cut_at_any_byte_is_cut_off() {
    let (disk, ends) = written(5, 100);
    let whole = disk.read(1).unwrap();
    let (start, end) = (ends[4].offset() as usize, ends[5].offset() as usize);
    for cut in start..end {
        for published in [false, true] {
            let mut bytes = whole.clone();
            bytes[cut..].fill(0);
            if !published {
                bytes[start..start + 4].fill(0);
            }
            if bytes == whole {
                // Only zeros of the last message's padding were cut.
                assert!(published && cut >= end - 3);
                continue;
            }
            let torn_disk = disk.copy();
            torn_disk.write(1, Some(bytes));
            let (mut journal, recovered) = Journal::open(torn_disk.clone(), SMALL).unwrap();
            assert_eq!(recovered.records, 5);
            assert!(
                recovered
                    .torn
                    .is_none_or(|torn| torn.offset == start as u64)
            );
            assert_eq!(journal.end(), ends[4]);
            assert_eq!(
                journal.outbound(JournalId(0), 4).unwrap().map(<[u8]>::len),
                Some(101)
            );
            assert_eq!(journal.outbound(JournalId(0), 5).unwrap(), None);
            drop(journal);
            let rest = torn_disk.read(1).unwrap();
            assert!(rest[start..].iter().all(|&byte| byte == 0));
            let (_, again) = Journal::open(torn_disk, SMALL).unwrap();
            assert_eq!(again.torn, None);
        }
    }
}

#[test]
fn a_hole_before_a_valid_record_is_refused() {
    let (disk, ends) = written(8, 100);
    let whole = disk.read(1).unwrap();
    let (start, end) = (ends[4].offset() as usize, ends[5].offset() as usize);
    // A whole record gone, its first word gone, and 512 bytes gone.
    for hole in [
        start..end,
        start..start + 4,
        start / 512 * 512 + 512..start / 512 * 512 + 1024,
    ] {
        let mut bytes = whole.clone();
        bytes[hole.clone()].fill(0);
        let holed = disk.copy();
        holed.write(1, Some(bytes));
        let before = files(&holed);
        let found = damage(Journal::open(holed.clone(), SMALL));
        assert_eq!(found.file, "sim/00000001.fwj");
        assert!(
            found.offset >= start as u64 && found.offset <= end as u64 + 8,
            "{found}"
        );
        assert_eq!(files(&holed), before);
    }
}

#[test]
fn a_segment_that_lost_its_end_is_refused_when_another_follows() {
    let (disk, ends) = written(20, 100);
    let of_first: Vec<&JournalPosition> = ends.iter().filter(|end| end.segment() == 1).collect();
    let record = of_first[of_first.len() - 2].offset() as usize;
    let mut bytes = disk.read(1).unwrap();
    bytes[record..].fill(0);
    let lost = disk.copy();
    lost.write(1, Some(bytes));
    let found = damage(Journal::open(lost, SMALL));
    // The records of the next segment do not continue those that are left.
    assert_eq!(
        (found.file.as_str(), found.offset),
        ("sim/00000002.fwj", 72)
    );
}

#[test]
fn bytes_of_another_segment_are_never_records() {
    let (disk, _) = written(20, 100);
    // The same journal again: same bytes at the same places, but other salts.
    let (first, second) = (disk.read(1).unwrap(), disk.read(2).unwrap());
    let mut stale = second.clone();
    let used = second.iter().rposition(|&byte| byte != 0).unwrap() + 1;
    let used = used.next_multiple_of(8);
    stale[used..].copy_from_slice(&first[used..]);
    let recycled = disk.copy();
    recycled.write(2, Some(stale));
    let (journal, recovered) = Journal::open(recycled.clone(), SMALL).unwrap();
    assert!(recovered.torn.is_some());
    assert_eq!(recovered.records, 21);
    drop(journal);
    assert_eq!(recycled.read(2).unwrap(), second);
}

#[test]
fn files_that_are_not_the_journals_are_refused() {
    let (disk, _) = written(30, 100);
    let whole = disk.read(2).unwrap();
    let mut other_version = whole.clone();
    other_version[8] = 3;
    let (other, _) = written(30, 100);
    drop(other);
    type Case<'a> = (&'a str, u32, Option<Vec<u8>>, u64, &'a str);
    let cases: [Case<'_>; 9] = [
        ("empty", 2, Some(vec![]), 0, "header"),
        ("short header", 2, Some(whole[..63].to_vec()), 63, "header"),
        ("short", 2, Some(whole[..4095].to_vec()), 4095, "4096 bytes"),
        (
            "long",
            2,
            Some([&whole[..], &[0; 4096]].concat()),
            4096,
            "4096 bytes",
        ),
        ("all zero", 2, Some(vec![0; 4096]), 0, "magic"),
        ("foreign", 2, Some(b"#!/bin/sh".repeat(400)), 0, "magic"),
        ("version", 2, Some(other_version), 8, "version 1"),
        ("number", 2, disk.read(3), 16, "segment number 2"),
        ("missing", 2, None, 0, "this segment"),
    ];
    for (name, number, bytes, offset, expected) in cases {
        let wrong = disk.copy();
        wrong.write(number, bytes);
        let before = files(&wrong);
        let found = damage(Journal::open(wrong.clone(), SMALL));
        assert_eq!(found.file, "sim/00000002.fwj", "{name}");
        assert_eq!(found.offset, offset, "{name}: {found}");
        assert!(found.expected.contains(expected), "{name}: {found}");
        assert_eq!(files(&wrong), before, "{name}");
    }
    let first_gone = disk.copy();
    first_gone.write(1, None);
    assert_eq!(
        damage(Journal::open(first_gone, SMALL)).file,
        "sim/00000001.fwj"
    );
}

/// Registers, writes orders that roll, syncs some; stops wherever the disk stops. Answers the state
/// after each record that was written, and how many of them a sync covered.
fn workload(disk: &SimDisk, config: JournalConfig) -> (Vec<String>, usize) {
    let (mut states, mut durable) = (vec![], 0);
    let run = |states: &mut Vec<String>, durable: &mut usize| -> Result<(), JournalError> {
        let (mut journal, _) = Journal::open(disk.clone(), config)?;
        states.push(state(&mut journal));
        *durable = 1;
        journal.register(WALL, "A")?;
        states.push(state(&mut journal));
        let end = journal.end();
        journal.sync(end)?;
        *durable = states.len();
        for number in 1..=18 {
            let end = order(&mut journal, number, 200)?;
            states.push(state(&mut journal));
            if number % 3 == 0 {
                journal.sync(end)?;
                *durable = states.len();
            }
        }
        Ok(())
    };
    let _ = run(&mut states, &mut durable);
    (states, durable)
}

#[test]
fn a_process_that_ends_at_any_operation_keeps_every_record() {
    let rehearsal = SimDisk::new();
    let (all, _) = workload(&rehearsal, SMALL);
    let operations = rehearsal.operations();
    assert!(all.len() == 20 && operations > 100);
    for stop in 0..operations {
        let disk = SimDisk::new();
        disk.stop_after(stop);
        workload(&disk, SMALL);
        disk.end_process();
        // The records whose last word was stored; what the stopped process believed does not count.
        let (mut journal, _) = Journal::open(disk.clone(), SMALL).unwrap();
        let found = state(&mut journal);
        let at = all.iter().position(|state| *state == found);
        let at = at.unwrap_or_else(|| panic!("stop {stop}: no state of the rehearsal: {found}"));
        drop(journal);
        // Opening again, stopped at each operation of it, finds the same.
        let nested = disk.copy();
        for stop in 0..20 {
            nested.stop_after(stop);
            let _ = Journal::open(nested.clone(), SMALL);
            nested.end_process();
        }
        assert_eq!(state(&mut Journal::open(nested, SMALL).unwrap().0), all[at]);
    }
}

#[test]
fn states_grow_with_the_operations() {
    let mut last = 0;
    let rehearsal = SimDisk::new();
    let (all, _) = workload(&rehearsal, SMALL);
    for stop in 0..=rehearsal.operations() {
        let disk = SimDisk::new();
        disk.stop_after(stop);
        workload(&disk, SMALL);
        disk.end_process();
        let (mut journal, _) = Journal::open(disk, SMALL).unwrap();
        let at = all
            .iter()
            .position(|state| *state == self::state(&mut journal))
            .unwrap();
        assert!(at >= last, "stop {stop}: {at} records after {last}");
        last = at;
    }
    assert_eq!(last, all.len() - 1);
}

#[test]
fn a_power_cut_keeps_what_was_synced_or_is_refused() {
    let refused = cut_power(SMALL);
    // Of 3000: what docs/operating/salvage.md calls 3 in 100.
    assert!((60..=120).contains(&refused), "{refused} refused");
}

#[test]
fn a_power_cut_is_survived_when_nothing_is_sent_before_its_sync() {
    let refused = cut_power(JournalConfig {
        synced_before_sent: true,
        ..SMALL
    });
    assert_eq!(refused, 0);
}

/// Cuts the power at random operations of the workload; answers how often opening refused.
fn cut_power(config: JournalConfig) -> usize {
    let rehearsal = SimDisk::new();
    let (all, _) = workload(&rehearsal, config);
    let operations = rehearsal.operations();
    let mut refused = 0;
    for seed in 1..=3000_u64 {
        let mut random = Random::new(seed);
        let disk = SimDisk::new();
        disk.stop_after(random.place(operations as usize) as u64);
        let (_, durable) = workload(&disk, config);
        disk.cut_power(|choices| random.place(choices));
        let before = files(&disk);
        match Journal::open(disk.clone(), config) {
            Ok((mut journal, _)) => {
                let found = state(&mut journal);
                let at = all.iter().position(|state| *state == found);
                let at = at.unwrap_or_else(|| panic!("seed {seed}: no state of the rehearsal"));
                assert!(at + 1 >= durable, "seed {seed}: {at} of {durable} durable");
                drop(journal);
                disk.cut_power(|choices| random.place(choices));
                let mut again = Journal::open(disk, config).unwrap().0;
                assert_eq!(state(&mut again), found, "seed {seed}");
            }
            Err(JournalError::Damaged(_)) => {
                refused += 1;
                assert_eq!(files(&disk), before, "seed {seed}: refusing changed a file");
            }
            Err(other) => panic!("seed {seed}: {other}"),
        }
    }
    println!("{refused} of 3000 refused");
    refused
}

#[test]
fn a_sync_that_failed_poisons_the_journal() {
    for nth in 0..3 {
        let (disk, _) = written(1, 100);
        let (mut journal, _) = Journal::open(disk.clone(), SMALL).unwrap();
        disk.fail_sync(nth);
        for number in 2..=4 + nth {
            let end = order(&mut journal, number, 100).unwrap();
            if number - 2 < nth {
                assert_eq!(journal.sync(end).unwrap(), end);
            }
        }
        let end = journal.end();
        assert!(matches!(
            journal.sync(end),
            Err(JournalError::Unsynced { .. })
        ));
        assert!(matches!(journal.sync(end), Err(JournalError::Poisoned)));
        assert!(matches!(
            order(&mut journal, 9, 1),
            Err(JournalError::Poisoned)
        ));
        assert!(matches!(
            journal.reset(WALL, JournalId(0)),
            Err(JournalError::Poisoned)
        ));
        assert_eq!(journal.end(), end, "nothing was written");
        // A restart reads the truth.
        drop(journal);
        disk.end_process();
        Journal::open(disk, SMALL).unwrap();
    }
}

#[test]
fn a_full_disk_loses_nothing_and_can_be_tried_again() {
    let (disk, _) = written(1, 100);
    let (mut journal, _) = Journal::open(disk.clone(), SMALL).unwrap();
    disk.set_room(Some(0));
    let mut number = 2;
    while order(&mut journal, number, 100).is_ok() {
        number += 1;
    }
    assert!(matches!(
        order(&mut journal, number, 100),
        Err(JournalError::Io { .. })
    ));
    let counters = journal.counters(JournalId(0)).unwrap();
    assert_eq!(
        counters.next_in, number,
        "the refused record changed nothing"
    );
    disk.set_room(None);
    order(&mut journal, number, 100).unwrap();
    let whole = state(&mut journal);
    drop(journal);
    assert_eq!(state(&mut Journal::open(disk, SMALL).unwrap().0), whole);
}

#[test]
fn a_record_that_no_segment_holds_is_refused_alone() {
    let (disk, _) = written(1, 100);
    let (mut journal, _) = Journal::open(disk, SMALL).unwrap();
    assert!(matches!(
        order(&mut journal, 2, 2500),
        Err(JournalError::TooLarge { .. })
    ));
    order(&mut journal, 2, 1900).unwrap();
    let many = std::iter::repeat_n(
        Effect {
            session: JournalId(0),
            seq: 3,
            bytes: b"",
        },
        65_536,
    );
    let sent = Cause {
        session: JournalId(0),
        kind: RecordKind::Sent,
        inbound: None,
        next_in: 3,
        next_out: 3,
        epoch: 0,
    };
    let result = journal.append(WALL, sent, many);
    assert!(matches!(
        result,
        Err(JournalError::TooManyEffects { effects: 65_536 })
    ));
    let stranger = Effect {
        session: JournalId(7),
        seq: 1,
        bytes: b"",
    };
    let result = journal.append(WALL, sent, std::iter::once(stranger));
    assert!(matches!(
        result,
        Err(JournalError::UnknownSession(JournalId(7)))
    ));
}

#[test]
fn no_bytes_make_opening_panic() {
    let (disk, _) = written(20, 60);
    let mut random = Random::new(0x5EED);
    for _ in 0..5000 {
        let broken = disk.copy();
        let number = 1 + random.place(2) as u32;
        let mut bytes = broken.read(number).unwrap();
        for _ in 0..1 + random.place(4) {
            let at = random.place(bytes.len());
            let end = (at + 1 + random.place(64)).min(bytes.len());
            let from = random.place(bytes.len() - (end - at) + 1);
            match random.place(3) {
                0 => bytes[at..end].fill(random.place(256) as u8),
                1 => bytes.copy_within(from..from + end - at, at),
                _ => bytes.truncate(end),
            }
        }
        broken.write(number, Some(bytes));
        let before = files(&broken);
        let config = JournalConfig {
            synced_before_sent: random.place(2) == 1,
            ..SMALL
        };
        match Journal::open(broken.clone(), config) {
            Ok((mut journal, _)) => {
                let once = state(&mut journal);
                drop(journal);
                assert_eq!(state(&mut Journal::open(broken, config).unwrap().0), once);
            }
            Err(_) => assert_eq!(files(&broken), before),
        }
    }
}
