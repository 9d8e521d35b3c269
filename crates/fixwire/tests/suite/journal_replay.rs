//! Sent messages can be read again: by MsgSeqNum, in ranges, over segments, resets and a ring.

use crate::common::journal::SMALL;

use fixwire::journal::sim::SimDisk;
use fixwire::journal::{
    Cause, Disk, Effect, Journal, JournalConfig, JournalId, JournalPosition, Memory, OsDisk,
    RecordKind, Stored,
};
use fixwire_protocol::time::Timestamp;
use proptest::prelude::*;
use std::collections::BTreeMap;

const WALL: Timestamp = Timestamp(1_000);

fn sent(session: JournalId, next_out: u64, epoch: u32) -> Cause<'static> {
    Cause {
        session,
        kind: RecordKind::Sent,
        inbound: None,
        next_in: 1,
        next_out,
        epoch,
    }
}

fn send<D: Disk>(journal: &mut Journal<D>, session: JournalId, seq: u64, epoch: u32, bytes: &[u8]) {
    let effect = Effect {
        session,
        seq,
        bytes,
    };
    journal
        .append(WALL, sent(session, seq + 1, epoch), std::iter::once(effect))
        .unwrap();
}

fn read_all<D: Disk>(
    journal: &mut Journal<D>,
    session: JournalId,
    from: u64,
    to: u64,
) -> Vec<(u64, u64, Vec<u8>)> {
    let mut replay = journal.replay(session, from, to);
    let mut all = Vec::new();
    while let Some(stored) = journal.next_of(&mut replay).unwrap() {
        all.push(match stored {
            Stored::Message { seq, bytes } => (seq, seq, bytes.to_vec()),
            Stored::Missing { from, to } => (from, to, Vec::new()),
        });
    }
    all
}

#[test]
fn a_replay_over_many_segments_reads_what_was_sent() {
    let (mut journal, _) = Journal::open(SimDisk::new(), SMALL).unwrap();
    let id = journal.register(WALL, "A").unwrap();
    let other = journal.register(WALL, "B").unwrap();
    for seq in 1..=2000 {
        send(
            &mut journal,
            id,
            seq,
            0,
            format!("message {seq}").as_bytes(),
        );
        send(&mut journal, other, seq, 0, b"other");
    }
    assert!(journal.end().segment() > 30, "the test wants many segments");
    let all = read_all(&mut journal, id, 1, 2000);
    assert_eq!(all.len(), 2000);
    for (seq, (from, to, bytes)) in (1..).zip(all) {
        assert_eq!((from, to), (seq, seq));
        assert_eq!(bytes, format!("message {seq}").as_bytes());
    }
    assert_eq!(
        read_all(&mut journal, id, 1999, 2003).last(),
        Some(&(2001, 2003, Vec::new()))
    );
    assert_eq!(read_all(&mut journal, id, 5, 4), []);
    assert_eq!(
        read_all(&mut journal, id, 3000, u64::MAX),
        [(3000, u64::MAX - 1, Vec::new())]
    );
}

#[test]
fn a_replay_goes_on_while_the_journal_rolls() {
    let (mut journal, _) = Journal::open(SimDisk::new(), SMALL).unwrap();
    let id = journal.register(WALL, "A").unwrap();
    for seq in 1..=500 {
        send(&mut journal, id, seq, 0, &seq.to_le_bytes());
    }
    let mut replay = journal.replay(id, 1, 600);
    let rolls = journal.end().segment();
    for seq in 1..=600_u64 {
        let stored = journal.next_of(&mut replay).unwrap().unwrap();
        assert_eq!(
            stored,
            Stored::Message {
                seq,
                bytes: &seq.to_le_bytes()
            }
        );
        if seq <= 200 {
            send(&mut journal, id, 500 + seq, 0, &(500 + seq).to_le_bytes());
        }
    }
    assert_eq!(journal.next_of(&mut replay).unwrap(), None);
    assert!(journal.end().segment() > rolls);
}

#[test]
fn a_long_replay_passes_each_message_about_twice() {
    // One index entry for 2^16 messages and more: the two buffers of a replay must do the rest.
    let config = JournalConfig {
        segment_bytes: 32 << 20,
        index_entries: 2,
        synced_before_sent: false,
        retention: None,
    };
    let (mut journal, _) = Journal::open(OsDisk::Memory(Memory::new(4)), config).unwrap();
    let id = journal.register(WALL, "A").unwrap();
    const COUNT: u64 = 200_000;
    for seq in 1..=COUNT {
        send(&mut journal, id, seq, 0, &seq.to_le_bytes());
    }
    let started = std::time::Instant::now();
    let mut replay = journal.replay(id, 1, COUNT);
    for seq in 1..=COUNT {
        assert_eq!(
            journal.next_of(&mut replay).unwrap(),
            Some(Stored::Message {
                seq,
                bytes: &seq.to_le_bytes()
            })
        );
    }
    // Walking back for each number would be 10^10 steps.
    assert!(started.elapsed().as_secs() < 20);
}

#[test]
fn numbers_before_a_reset_are_not_served() {
    let disk = SimDisk::new();
    let (mut journal, _) = Journal::open(disk.clone(), SMALL).unwrap();
    let id = journal.register(WALL, "A").unwrap();
    for seq in 1..=10 {
        send(&mut journal, id, seq, 0, b"before");
    }
    let mut running = journal.replay(id, 1, 10);
    assert!(matches!(
        journal.next_of(&mut running).unwrap(),
        Some(Stored::Message { seq: 1, .. })
    ));
    journal.reset(WALL, id).unwrap();
    assert_eq!(
        journal.next_of(&mut running).unwrap(),
        Some(Stored::Missing { from: 2, to: 10 })
    );
    assert_eq!(journal.outbound(id, 3).unwrap(), None);
    let counters = journal.counters(id).unwrap();
    assert_eq!(
        (counters.next_in, counters.next_out, counters.epoch),
        (1, 1, 1)
    );
    for seq in 1..=3 {
        send(&mut journal, id, seq, 1, b"after");
    }
    // A reset that comes with a message: the epoch changes in its record.
    let check = |journal: &mut Journal<SimDisk>| {
        assert_eq!(journal.outbound(id, 3).unwrap(), Some(&b"after"[..]));
        assert_eq!(journal.outbound(id, 4).unwrap(), None);
        assert_eq!(journal.counters(id).unwrap().epoch, 1);
    };
    check(&mut journal);
    drop(journal);
    let (mut journal, _) = Journal::open(disk, SMALL).unwrap();
    check(&mut journal);
    send(&mut journal, id, 1, 2, b"logon");
    assert_eq!(journal.outbound(id, 1).unwrap(), Some(&b"logon"[..]));
    assert_eq!(journal.outbound(id, 2).unwrap(), None);
}

#[test]
fn what_falls_off_the_ring_is_missing() {
    let (mut journal, _) = Journal::open(OsDisk::Memory(Memory::new(3)), SMALL).unwrap();
    let id = journal.register(WALL, "A").unwrap();
    for seq in 1..=1000_u64 {
        // Of many sizes, so that records do not end at the same places in two laps.
        send(
            &mut journal,
            id,
            seq,
            0,
            &seq.to_le_bytes().repeat(1 + seq as usize * 7 % 11),
        );
    }
    let all = read_all(&mut journal, id, 1, 1000);
    assert_eq!(all[0].0, 1);
    let first_kept = all[0].1 + 1;
    assert!((900..=999).contains(&first_kept), "{first_kept}");
    assert_eq!(all.len() as u64, 1000 - first_kept + 2);
    assert_eq!(journal.outbound(id, first_kept - 1).unwrap(), None);
    assert!(
        journal
            .outbound(id, first_kept)
            .unwrap()
            .unwrap()
            .starts_with(&first_kept.to_le_bytes())
    );
    let records: Vec<u64> = journal
        .reading()
        .unwrap()
        .records(JournalPosition::START)
        .map(|record| record.index)
        .collect();
    assert_eq!(records.last(), Some(&1000));
    assert!(records.windows(2).all(|pair| pair[0] + 1 == pair[1]));
}

#[test]
fn ids_stay_when_the_configuration_names_sessions_in_another_order() {
    let disk = SimDisk::new();
    let (mut journal, _) = Journal::open(disk.clone(), SMALL).unwrap();
    let a = journal.register(WALL, "FIX.4.2:A->B").unwrap();
    let b = journal.register(WALL, "FIX.4.4:../../etc->B").unwrap();
    assert_ne!(a, b);
    drop(journal);
    let (mut journal, _) = Journal::open(disk, SMALL).unwrap();
    let c = journal.register(WALL, "new").unwrap();
    assert_eq!(journal.register(WALL, "FIX.4.4:../../etc->B").unwrap(), b);
    assert_eq!(journal.register(WALL, "FIX.4.2:A->B").unwrap(), a);
    assert_eq!(c, JournalId(2));
}

#[test]
fn one_record_holds_a_cause_and_its_effects_for_several_sessions() {
    let disk = SimDisk::new();
    let (mut journal, _) = Journal::open(disk.clone(), SMALL).unwrap();
    let a = journal.register(WALL, "A").unwrap();
    let b = journal.register(WALL, "B").unwrap();
    let cause = Cause {
        session: a,
        kind: RecordKind::Message,
        inbound: Some(b"order"),
        next_in: 8,
        next_out: 4,
        epoch: 0,
    };
    let effects = [
        Effect {
            session: a,
            seq: 3,
            bytes: b"ack",
        },
        Effect {
            session: b,
            seq: 17,
            bytes: b"",
        },
        Effect {
            session: b,
            seq: 18,
            bytes: b"drop copy",
        },
    ];
    let before = journal.end();
    let end = journal.append(WALL, cause, effects.into_iter()).unwrap();
    assert_eq!(
        journal.bytes_between(before, end),
        64 + 8 + 24 + 8 + 24 + 24 + 16
    );
    let check = |journal: &mut Journal<SimDisk>| {
        let reading = journal.reading().unwrap();
        let record = reading.records(before).next().unwrap();
        assert_eq!(
            (record.at, record.end, record.kind),
            (before, end, RecordKind::Message)
        );
        assert_eq!(record.body, b"order");
        assert_eq!(record.effects.collect::<Vec<_>>(), effects);
        assert_eq!(journal.counters(b).unwrap().next_out, 19);
        assert_eq!(journal.counters(a).unwrap().next_in, 8);
        assert_eq!(journal.outbound(b, 17).unwrap(), Some(&b""[..]));
        assert_eq!(journal.outbound(b, 16).unwrap(), None);
    };
    check(&mut journal);
    drop(journal);
    check(&mut Journal::open(disk, SMALL).unwrap().0);
}

#[derive(Clone, Debug)]
enum Step {
    Send { session: u32, skip: u64, len: usize },
    Reset { session: u32 },
    SetBack { session: u32, to: u64 },
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let session = 0..3_u32;
    let step = prop_oneof![
        20 => (session.clone(), prop_oneof![9 => Just(0), 1 => 1..5_u64], 0..300_usize)
            .prop_map(|(session, skip, len)| Step::Send { session, skip, len }),
        1 => session.clone().prop_map(|session| Step::Reset { session }),
        1 => (session, 1..50_u64).prop_map(|(session, to)| Step::SetBack { session, to }),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..250)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_index_agrees_with_a_slow_model(steps in steps()) {
        let disk = SimDisk::new();
        let (mut journal, _) = Journal::open(disk.clone(), SMALL).unwrap();
        let mut model: Vec<(BTreeMap<u64, Vec<u8>>, u64, u32)> = vec![(BTreeMap::new(), 1, 0); 3];
        for name in ["A", "B", "C"] {
            journal.register(WALL, name).unwrap();
        }
        for (at, step) in steps.into_iter().enumerate() {
            match step {
                Step::Send { session, skip, len } => {
                    let (sent, next, epoch) = &mut model[session as usize];
                    let seq = *next + skip;
                    if sent.keys().last().is_some_and(|&last| seq <= last) {
                        sent.clear();
                    }
                    let mut bytes = vec![at as u8; len];
                    bytes.extend_from_slice(&seq.to_le_bytes());
                    send(&mut journal, JournalId(session), seq, *epoch, &bytes);
                    sent.insert(seq, bytes);
                    *next = seq + 1;
                }
                Step::Reset { session } => {
                    let (sent, next, epoch) = &mut model[session as usize];
                    journal.reset(WALL, JournalId(session)).unwrap();
                    sent.clear();
                    *next = 1;
                    *epoch += 1;
                }
                Step::SetBack { session, to } => model[session as usize].1 = to,
                Step::Reopen => {
                    drop(journal);
                    journal = Journal::open(disk.clone(), SMALL).unwrap().0;
                }
            }
        }
        for (session, (sent, _, epoch)) in model.iter().enumerate() {
            let id = JournalId(session as u32);
            prop_assert_eq!(journal.counters(id).unwrap().epoch, *epoch);
            let top = sent.keys().last().copied().unwrap_or(0) + 2;
            for seq in 0..=top {
                prop_assert_eq!(journal.outbound(id, seq).unwrap(), sent.get(&seq).map(Vec::as_slice));
            }
            let mut next = 1;
            for (from, to, bytes) in read_all(&mut journal, id, 1, top) {
                prop_assert_eq!(from, next);
                for seq in from..=to {
                    let expected = sent.get(&seq);
                    prop_assert_eq!(expected.is_some(), from == to && !bytes.is_empty());
                    if let Some(expected) = expected {
                        prop_assert_eq!(expected, &bytes);
                    }
                }
                next = to + 1;
            }
            prop_assert_eq!(next, top + 1);
        }
    }
}
