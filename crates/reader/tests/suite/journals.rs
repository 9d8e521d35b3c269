//! Journals: the same messages as in a dump, also from compressed segments and during writing.

use std::path::Path;

use fixwire_journal::{
    Cause, Directory, DumpFilter, Effect, Journal, JournalConfig, JournalId, RecordKind, Retention,
    each_line,
};
use fixwire_protocol::time::{Nanos, Timestamp};
use fixwire_reader::{LogReader, LogStep, ReadOptions};

use crate::samples::{bytes_of, order};

/// Appends an inbound order and its report.
fn append(journal: &mut Journal<Directory>, session: JournalId, number: usize) {
    let (inbound, report) = (order(2 * number + 1), order(2 * number + 2));
    let cause = Cause {
        session,
        kind: RecordKind::Message,
        inbound: Some(&inbound),
        next_in: number as u64 + 2,
        next_out: number as u64 + 2,
        epoch: 0,
    };
    let effect = Effect {
        session,
        seq: number as u64 + 1,
        bytes: &report,
    };
    let wall = Timestamp(number as i64 * 1_000_000_000);
    journal
        .append(wall, cause, std::iter::once(effect))
        .unwrap();
    journal.idle_work();
}

fn dumped(folder: &Path) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    each_line(folder, &DumpFilter::default(), |line| {
        messages.extend(line.raw_message().map(<[u8]>::to_vec));
        Ok(())
    })
    .unwrap();
    messages
}

#[test]
fn a_journal_has_the_messages_of_its_dump_compressed_or_not() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("journal");
    let config = JournalConfig {
        segment_bytes: 1 << 16,
        retention: Some(Retention {
            keep: None,
            resend: Some(Nanos(0)),
            compress: true,
        }),
        ..JournalConfig::default()
    };
    let (mut journal, _) = Journal::open(Directory::open(&folder).unwrap(), config).unwrap();
    let session = journal
        .register(Timestamp(0), "FIX.4.4:BROKER->CLIENT")
        .unwrap();
    let mut count = 0;
    while count < 2000 || !folder.join("00000001.fwz").exists() {
        append(&mut journal, session, count);
        count += 1;
        assert!(count < 20_000, "segment 1 is never retired");
    }
    let (messages, left_out) = bytes_of(&folder);
    assert_eq!(left_out, Vec::<String>::new());
    assert_eq!(messages.len(), 2 * count);
    assert!(messages == dumped(&folder));
}

#[test]
fn a_journal_is_followed_while_it_is_written() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("journal");
    let directory = Directory::open(&folder).unwrap();
    let config = JournalConfig {
        segment_bytes: 1 << 13,
        ..JournalConfig::default()
    };
    let (mut journal, _) = Journal::open(directory, config).unwrap();
    let session = journal
        .register(Timestamp(0), "FIX.4.4:BROKER->CLIENT")
        .unwrap();
    let options = ReadOptions {
        follow: true,
        ..ReadOptions::default()
    };
    let mut reader = LogReader::open(std::slice::from_ref(&folder), options).unwrap();
    for number in 0..300 {
        append(&mut journal, session, number);
        for (expected, way) in [(2 * number + 1, "In"), (2 * number + 2, "Out")] {
            let LogStep::Message(entry) = reader.next_step() else {
                panic!("message {expected} is missing");
            };
            assert_eq!(entry.bytes, order(expected));
            assert_eq!(entry.session(), "FIX.4.4:BROKER->CLIENT");
            assert_eq!(format!("{:?}", entry.direction().unwrap()), way);
            assert_eq!(
                entry.time().0,
                Some(Timestamp(number as i64 * 1_000_000_000))
            );
        }
        assert!(matches!(reader.next_step(), LogStep::Wait));
    }
    assert_eq!(reader.take_left_out(), []);
}
