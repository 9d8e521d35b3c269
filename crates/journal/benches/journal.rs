//! What does one record cost, and how fast is a journal read after a restart?
//!
//! Input: an order of 212 bytes, alone and with an answer of 213 bytes. The next pages are made writable outside the
//! timed part, as the engine does after its socket writes; the part with page faults is timed separately. Everything is
//! hot in cache, so these are floors.
//!
//! `cargo bench -p fixwire-journal --bench journal -- [records to recover, default 1000000]`

use fixwire_journal::{
    Cause, Directory, Disk, Effect, Journal, JournalConfig, JournalId, Memory, OsDisk, RecordKind,
};
use fixwire_protocol::time::Timestamp;
use std::time::{Duration, Instant};

const BATCH: u64 = 50;
const BATCHES: u64 = 20_000;

/// Nanoseconds per record: median and 99th percentile over batches, with the pages ready or not.
fn append<D: Disk>(name: &str, disk: D, answers: usize, idle: bool) {
    let (mut journal, _) = Journal::open(disk, JournalConfig::default()).expect("opens");
    let session = journal
        .register(Timestamp(0), "FIX.4.2:EXEC->BENCH")
        .expect("registers");
    let (inbound, outbound) = ([b'x'; 212], [b'y'; 213]);
    let mut next = 1;
    let mut times = Vec::with_capacity(BATCHES as usize);
    for _ in 0..BATCHES {
        let started = Instant::now();
        for _ in 0..BATCH {
            let cause = Cause {
                session,
                kind: RecordKind::Message,
                inbound: Some(&inbound),
                next_in: next + 1,
                next_out: next + 1,
                epoch: 0,
            };
            let effects = [Effect {
                session,
                seq: next,
                bytes: &outbound,
            }];
            let effects = effects.into_iter().take(answers);
            journal
                .append(Timestamp(next as i64), cause, effects)
                .expect("appends");
            next += 1;
        }
        times.push(started.elapsed());
        if idle {
            for _ in 0..BATCH {
                journal.idle_work();
            }
        }
    }
    times.sort_unstable();
    let per = |time: Duration| time.as_nanos() as f64 / BATCH as f64;
    let mean = per(times.iter().sum::<Duration>() / BATCHES as u32);
    println!(
        "append {name:<28} median {:6.1} ns, p99 {:6.1} ns, mean {mean:6.1} ns",
        per(times[times.len() / 2]),
        per(times[times.len() * 99 / 100]),
    );
}

fn recover(records: u64) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("journal");
    let (mut journal, _) = Journal::open(
        Directory::open(&path).expect("opens"),
        JournalConfig::default(),
    )
    .expect("opens");
    let session = journal
        .register(Timestamp(0), "FIX.4.2:EXEC->BENCH")
        .expect("registers");
    for next in 1..=records {
        let cause = Cause {
            session,
            kind: RecordKind::Message,
            inbound: Some(&[b'x'; 212]),
            next_in: next + 1,
            next_out: 1,
            epoch: 0,
        };
        journal
            .append(Timestamp(0), cause, std::iter::empty())
            .expect("appends");
        journal.idle_work();
    }
    drop(journal);
    // The first opening also waits for the disk; the second reads what is in memory.
    let disk = Directory::open(&path).expect("opens");
    drop(Journal::open(disk, JournalConfig::default()).expect("opens"));
    let started = Instant::now();
    let disk = Directory::open(&path).expect("opens");
    let (journal, recovered) = Journal::open(disk, JournalConfig::default()).expect("opens");
    let took = started.elapsed();
    assert_eq!(
        journal.counters(JournalId(0)).expect("registered").next_in,
        records + 1
    );
    println!(
        "recover {} records, {} MB: {:.2} s, {:.2} GB/s",
        recovered.records,
        recovered.bytes / 1_000_000,
        took.as_secs_f64(),
        recovered.bytes as f64 / took.as_nanos() as f64
    );
}

fn main() {
    let records = std::env::args()
        .skip(1)
        .find_map(|text| text.parse().ok())
        .unwrap_or(1_000_000);
    for (answers, name) in [(0, "order"), (1, "order and answer")] {
        let memory = OsDisk::Memory(Memory::new(2));
        append(&format!("{name}, memory"), memory, answers, true);
        for (idle, how) in [(true, "file"), (false, "file with faults")] {
            let directory = tempfile::tempdir().expect("a directory");
            let disk = Directory::open(directory.path().join("journal")).expect("opens");
            append(
                &format!("{name}, {how}"),
                OsDisk::Directory(disk),
                answers,
                idle,
            );
        }
    }
    recover(records);
}
