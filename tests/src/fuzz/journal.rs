//! For any content of its files, opening a journal returns an error or a prefix of the true records.
//!
//! Input: a byte that chooses one of two ways. *A segment*: a valid header, then the bytes of the input as records; a
//! bit says whether the length and checksum of a record are corrected, so that the reader reaches the records after it.
//! *A journal*: a few records that the journal itself wrote, then edits of its files: flipped bits, zeroed bytes, a
//! lost tail, missing or swapped segments.

use fixwire::journal::segment::{HEADER, SegmentHeader};
use fixwire::journal::sim::SimDisk;
use fixwire::journal::{
    Cause, Effect, Journal, JournalConfig, JournalError, JournalId, JournalPosition, Record,
    RecordKind, Recovered, SequenceCounters, Stored,
};
use fixwire_protocol::Timestamp;

use super::hold;
use super::input::Input;

const WALL: Timestamp = Timestamp(1_000);
const SEGMENT: usize = 4096;
const RECORD: usize = 64;
/// More segments than the longest written journal has.
const MOST_SEGMENTS: u32 = 9;

type Opened = Result<(Journal<SimDisk>, Recovered), JournalError>;

/// Panics when recovery breaks its promises for this input.
pub fn run(data: &[u8]) {
    check(data, Journal::open).unwrap_or_else(|what| panic!("{what}"));
}

/// [`run`] for any recovery.
///
/// # Errors
///
/// The violated property.
pub fn check(data: &[u8], open: impl Fn(SimDisk, JournalConfig) -> Opened) -> Result<(), String> {
    let mut input = Input::new(data);
    let how = input.byte();
    let config = JournalConfig {
        segment_bytes: SEGMENT,
        index_entries: 4,
        synced_before_sent: how & 2 == 2,
        retention: None,
    };
    match how & 1 {
        0 => read_segment(input, config, open),
        _ => read_edited(input, config, open),
    }
}

/// Records that were never written.
fn read_segment(
    mut input: Input<'_>,
    config: JournalConfig,
    open: impl Fn(SimDisk, JournalConfig) -> Opened,
) -> Result<(), String> {
    let header = SegmentHeader {
        number: 1,
        length: SEGMENT as u32,
        salt: u64::from(input.byte()),
        previous_salt: 0,
    };
    let mend = input.byte();
    let mut bytes = header.to_bytes().to_vec();
    bytes.extend_from_slice(&input.rest()[..input.rest().len().min(SEGMENT - HEADER)]);
    let written = bytes.len();
    bytes.resize(SEGMENT, 0);
    if mend & 1 == 1 {
        put_right(&mut bytes, written, header.salt, mend & 2 == 2);
    }
    let disk = SimDisk::new();
    disk.write(1, Some(bytes.clone()));
    match open(disk.clone(), config) {
        Err(error) => {
            hold!(!error.to_string().is_empty(), "an error without a word");
            hold!(
                disk.read(1).as_ref() == Some(&bytes),
                "refused and changed: {error}"
            );
            Ok(())
        }
        Ok((mut journal, recovered)) => {
            let lost = written > HEADER + RECORD
                && recovered.records == 0
                && recovered.torn.is_none()
                && bytes[HEADER..].iter().any(|byte| *byte != 0);
            hold!(!lost, "read as empty, and it is not");
            let reading = journal.reading().map_err(|error| error.to_string())?;
            for record in reading.records(JournalPosition::START) {
                // The record refers to a record before it, or to none.
                let found = reading.inbound(&record);
                hold!(found.is_none_or(|body| body.len() < SEGMENT), "too long");
            }
            works(journal, &disk, config, recovered.records)
        }
    }
}

/// Gives each record from the first on a correct checksum, and an index if asked to.
fn put_right(bytes: &mut [u8], written: usize, salt: u64, index: bool) {
    let (mut at, mut number) = (HEADER, 0u64);
    while at + RECORD <= written {
        let stated = u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let length = (stated as usize / 8 * 8).clamp(RECORD, SEGMENT - at);
        bytes[at..at + 4].copy_from_slice(&(length as u32).to_le_bytes());
        if index {
            bytes[at + 8..at + 16].copy_from_slice(&number.to_le_bytes());
            bytes[at + 36] = 1 + bytes[at + 36] % 11;
            bytes[at + 37] = 0;
            bytes[at + 38] %= 4;
            bytes[at + 39] = 0;
        }
        let crc = crc(&bytes[at + 8..at + length], seed(salt, at, length));
        bytes[at + 4..at + 8].copy_from_slice(&crc.to_le_bytes());
        (at, number) = (at + length, number + 1);
    }
}

/// As `docs/reference/journal-format.md` says.
fn seed(salt: u64, at: usize, length: usize) -> u32 {
    let mixed = (salt ^ ((at as u64) << 32 | length as u64)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 32) as u32 ^ mixed as u32
}

/// CRC-32C, one bit after the other.
fn crc(bytes: &[u8], seed: u32) -> u32 {
    !bytes.iter().fold(!seed, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            sum >> 1 ^ if sum & 1 == 1 { 0x82F6_3B78 } else { 0 }
        })
    })
}

/// A journal's own records, then damage.
fn read_edited(
    mut input: Input<'_>,
    config: JournalConfig,
    open: impl Fn(SimDisk, JournalConfig) -> Opened,
) -> Result<(), String> {
    let disk = SimDisk::new();
    let truth = write(&mut input, &disk, config).map_err(|error| format!("writing: {error}"))?;
    let before = files(&disk);
    while !input.is_empty() {
        edit(&mut input, &disk);
    }
    let after = files(&disk);
    let (mut journal, recovered) = match open(disk.clone(), config) {
        Ok(opened) => opened,
        Err(error) => {
            hold!(after != before, "refused what is whole: {error}");
            hold!(files(&disk) == after, "refused and changed: {error}");
            return Ok(());
        }
    };
    let got = told(&mut journal)?;
    let kept = got.len();
    hold!(
        got.len() as u64 == recovered.records,
        "says {} records",
        recovered.records
    );
    hold!(truth.len() >= kept, "{kept} records of {}", truth.len());
    for (got, (_, truth)) in got.iter().zip(&truth) {
        hold!(got == truth, "got {got:?}, wrote {truth:?}");
    }
    for (lost, (range, _)) in truth.iter().enumerate().skip(kept) {
        let image = |files: &[Option<Vec<u8>>]| {
            let file = files[range.0.segment() as usize - 1].as_ref()?;
            file.get(range.0.offset() as usize..range.1.offset() as usize)
                .map(<[u8]>::to_vec)
        };
        let damaged = image(&before) != image(&after);
        // Records that no sync covered may be lost, with unsynced records before them, when no message was sent because
        // of them.
        let unsynced = config.synced_before_sent && lost > kept;
        hold!(
            damaged || unsynced,
            "record {lost} is whole, and lost with {kept}"
        );
    }
    works(journal, &disk, config, recovered.records)
}

type Written = ((JournalPosition, JournalPosition), Told);

/// A few records, as the input orders; returns the records and their places.
fn write(
    input: &mut Input<'_>,
    disk: &SimDisk,
    config: JournalConfig,
) -> Result<Vec<Written>, JournalError> {
    let (mut journal, _) = Journal::open(disk.clone(), config)?;
    let mut numbers = [(1, 0u32); 2];
    for name in ["FIX.4.2:A->B", "FIX.4.4:A->C"] {
        journal.register(WALL, name)?;
    }
    for _ in 0..input.byte() % 24 {
        let (what, len) = (input.byte(), usize::from(input.byte()) * 3);
        let session = JournalId(u32::from(what & 1));
        let (next_out, epoch) = &mut numbers[usize::from(what & 1)];
        match what % 32 {
            2 | 3 => {
                journal.reset(WALL, session)?;
                (*next_out, *epoch) = (1, *epoch + 1);
            }
            4 => drop(journal.note(WALL, session, "a note")?),
            6..=9 => {
                let kinds = [
                    RecordKind::Queued,
                    RecordKind::Duplicate,
                    RecordKind::Ignored,
                    RecordKind::Dequeued,
                ];
                let kind = kinds[usize::from(what % 32 - 6)];
                let inbound = match kind {
                    // The part of an earlier record's place that is checked.
                    RecordKind::Dequeued => [7_u64, 1 << 32 | HEADER as u64]
                        .map(u64::to_le_bytes)
                        .concat(),
                    _ => vec![what; len],
                };
                let cause = Cause {
                    session,
                    kind,
                    inbound: Some(&inbound),
                    next_in: 1,
                    next_out: *next_out,
                    epoch: *epoch,
                };
                journal.append(WALL, cause, std::iter::empty())?;
            }
            5 => drop(journal.sync(journal.end())?),
            _ => {
                let (inbound, outbound) = (vec![what; len], vec![what; len / 2 + 1]);
                let effects = (0..u64::from(what / 64)).map(|n| Effect {
                    session,
                    seq: *next_out + n,
                    bytes: &outbound,
                });
                let cause = Cause {
                    session,
                    kind: RecordKind::Message,
                    inbound: Some(&inbound),
                    next_in: 1,
                    next_out: *next_out + u64::from(what / 64),
                    epoch: *epoch,
                };
                journal.append(WALL, cause, effects.clone())?;
                *next_out = cause.next_out;
            }
        }
    }
    let reading = journal.reading()?;
    let records = reading.records(JournalPosition::START);
    Ok(records
        .map(|record| ((record.at, record.end), Told::of(&record)))
        .collect())
}

fn edit(input: &mut Input<'_>, disk: &SimDisk) {
    let (how, number) = (input.byte(), 1 + u32::from(input.byte()) % 3);
    let at = usize::from(input.short()) % SEGMENT;
    let more = usize::from(input.byte());
    let Some(mut bytes) = disk.read(number) else {
        return;
    };
    let to = (at + 8 * more).min(bytes.len());
    match how % 8 {
        0..=2 if at < bytes.len() => bytes[at] ^= 1 << (more % 8),
        3 if at < to => bytes[at..to].fill(0),
        4 if at < to => bytes[at..to].fill(0xFF),
        5 => bytes.truncate(at),
        6 => {
            let other = disk.read(1 + number % 3);
            disk.write(1 + number % 3, Some(bytes));
            return disk.write(number, other);
        }
        7 if how >= 128 => return disk.write(number, None),
        _ => {}
    }
    disk.write(number, Some(bytes));
}

fn files(disk: &SimDisk) -> Vec<Option<Vec<u8>>> {
    (1..=MOST_SEGMENTS)
        .map(|number| disk.read(number))
        .collect()
}

/// A record in its readable form, without the state of its sync.
#[derive(Debug, Eq, PartialEq)]
struct Told {
    index: u64,
    session: JournalId,
    kind: RecordKind,
    counters: SequenceCounters,
    body: Vec<u8>,
    effects: Vec<(JournalId, u64, Vec<u8>)>,
}

impl Told {
    fn of(record: &Record<'_>) -> Self {
        let effects = record.effects;
        Self {
            index: record.index,
            session: record.session,
            kind: record.kind,
            counters: record.counters,
            body: record.body.to_vec(),
            effects: effects
                .map(|effect| (effect.session, effect.seq, effect.bytes.to_vec()))
                .collect(),
        }
    }
}

/// Every record.
fn told(journal: &mut Journal<SimDisk>) -> Result<Vec<Told>, String> {
    let reading = journal.reading().map_err(|error| error.to_string())?;
    let records = reading.records(JournalPosition::START);
    Ok(records.map(|record| Told::of(&record)).collect())
}

/// After recovery, messages can be read by MsgSeqNum and the journal can be written to, and both still hold after
/// another start.
fn works(
    mut journal: Journal<SimDisk>,
    disk: &SimDisk,
    config: JournalConfig,
    records: u64,
) -> Result<(), String> {
    let sessions: Vec<_> = journal
        .sessions()
        .map(|(id, _, counters)| (id, counters))
        .collect();
    for (id, counters) in &sessions {
        for seq in (0..40).chain([counters.next_out, u64::MAX]) {
            let found = journal.outbound(*id, seq);
            hold!(found.is_ok(), "{seq} cannot be read");
        }
        let mut replay = journal.replay(*id, 1, 40);
        let mut expected = 1;
        loop {
            let stored = journal.next_of(&mut replay);
            let Some(stored) = stored.map_err(|error| error.to_string())? else {
                break;
            };
            let (from, to) = match stored {
                Stored::Message { seq, bytes } => {
                    let bytes = bytes.to_vec();
                    let again = journal.outbound(*id, seq);
                    hold!(
                        again.is_ok_and(|again| again == Some(&bytes[..])),
                        "{seq} is two messages"
                    );
                    (seq, seq)
                }
                Stored::Missing { from, to } => (from, to),
            };
            hold!(
                from == expected && to >= from && to <= 40,
                "{from} to {to} behind {expected}"
            );
            expected = to + 1;
        }
        hold!(expected == 41, "the replay ends at {expected}");
    }
    let known = sessions.len();
    let added = match journal.register(WALL, "another session") {
        Ok(_) => 1,
        Err(error) => return Err(format!("cannot go on: {error}")),
    };
    let again = journal.sessions().count();
    drop(journal);
    disk.end_process();
    let (journal, recovered) =
        Journal::open(disk.clone(), config).map_err(|error| format!("not again: {error}"))?;
    let expected = records + u64::from(again > known);
    hold!(
        recovered.records == expected,
        "{} of {expected} records, {added}",
        recovered.records
    );
    hold!(journal.sessions().count() == again, "a session is lost");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five records, then a bit of the third one is flipped.
    const FLIPPED: &[u8] = &[1, 5, 64, 9, 65, 9, 64, 9, 128, 9, 4, 0, 0, 0, 0x50, 1, 3];

    #[test]
    fn recovery_passes() {
        run(FLIPPED);
        run(&FLIPPED[..12]);
    }

    #[test]
    fn the_checksum_is_the_journals_own() {
        let disk = SimDisk::new();
        let input = &mut Input::new(&[3, 64, 9, 65, 9, 64, 9]);
        let config = JournalConfig {
            segment_bytes: SEGMENT,
            index_entries: 4,
            synced_before_sent: false,
            retention: None,
        };
        write(input, &disk, config).expect("room");
        let bytes = disk.read(1).expect("a segment");
        let header = SegmentHeader::read(&bytes, 1, 0, "1").expect("a header");
        let end = bytes
            .iter()
            .rposition(|byte| *byte != 0)
            .map_or(0, |last| last + 1);
        let mut mended = bytes.clone();
        mended[HEADER + 4] ^= 1;
        put_right(&mut mended, end, header.salt, false);
        assert!(mended == bytes);
    }

    #[test]
    fn a_recovery_that_begins_anew_is_found() {
        let anew = |disk: SimDisk, config| match Journal::open(disk, config) {
            Err(_) => Journal::open(SimDisk::new(), config),
            opened => opened,
        };
        let what = check(FLIPPED, anew).expect_err("it lost everything");
        assert!(what.contains("lost"), "{what}");
    }

    #[test]
    fn a_recovery_that_changes_what_it_refuses_is_found() {
        let careless = |disk: SimDisk, config| {
            let opened = Journal::open(disk.clone(), config);
            if opened.is_err() {
                disk.write(2, Some(vec![0; SEGMENT]));
            }
            opened
        };
        assert!(check(FLIPPED, careless).is_err());
    }
}
