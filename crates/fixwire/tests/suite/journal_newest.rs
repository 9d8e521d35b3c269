//! The newest segment is remembered: when it is missing, the journal does not open with older numbers.

use crate::common::journal::SMALL;

use fixwire::journal::sim::SimDisk;
use fixwire::journal::{
    Cause, Directory, Disk, Journal, JournalError, JournalId, RecordKind, SequenceCounters, verify,
};
use fixwire_protocol::time::Timestamp;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const WALL: Timestamp = Timestamp(1_000);

/// Writes this number of inbound messages of 500 bytes: seven fill a segment.
fn write<D: Disk>(journal: &mut Journal<D>, messages: u64) -> Result<(), JournalError> {
    let id = journal.register(WALL, "A")?;
    for _ in 0..messages {
        let before = journal.counters(id).unwrap_or(SequenceCounters::NEW);
        let cause = Cause {
            session: id,
            kind: RecordKind::Message,
            inbound: Some(&[b'm'; 500]),
            next_in: before.next_in + 1,
            next_out: before.next_out,
            epoch: before.epoch,
        };
        let end = journal.append(WALL, cause, std::iter::empty())?;
        journal.sync(end)?;
        journal.idle_work();
    }
    Ok(())
}

fn open(path: &Path) -> Result<Journal<Directory>, JournalError> {
    Journal::open(Directory::open(path)?, SMALL).map(|opened| opened.0)
}

/// A journal of four segments.
fn written() -> (TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("journal");
    let mut journal = open(&path).unwrap();
    write(&mut journal, 24).unwrap();
    assert_eq!(journal.end().segment(), 4);
    drop(journal);
    // The one that was made ahead, if it was.
    let ahead = segment(&path, 5);
    assert!(!ahead.exists() || fs::metadata(&ahead).unwrap().len() == 4096);
    (root, path)
}

fn segment(path: &Path, number: u32) -> PathBuf {
    path.join(format!("{number:08}.fwj"))
}

fn segments(path: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "fwj"))
        .collect();
    found.sort();
    found
}

#[test]
fn a_missing_last_segment_is_refused_by_name() {
    let (_root, path) = written();
    let last = segments(&path).pop().unwrap();
    fs::remove_file(&last).unwrap();
    let error = open(&path).unwrap_err().to_string();
    assert!(error.contains(&last.display().to_string()), "{error}");
    assert!(
        error.contains("no such file") && error.contains("salvage"),
        "{error}"
    );
    let bad = verify(&path).unwrap().bad.expect("verify sees it");
    assert_eq!(bad.file, last.display().to_string());
}

#[test]
fn no_segment_left_is_refused_by_name() {
    let (_root, path) = written();
    for segment in segments(&path) {
        fs::remove_file(segment).unwrap();
    }
    let error = open(&path).unwrap_err().to_string();
    assert!(error.contains("no such file"), "{error}");
    assert!(verify(&path).unwrap().bad.is_some());
    // Who knows better says so, once.
    let anew = || Journal::open(Directory::open_anew(&path)?, SMALL).map(|opened| opened.0);
    let mut journal = anew().unwrap();
    write(&mut journal, 1).unwrap();
    drop(journal);
    let error = anew().unwrap_err();
    assert!(matches!(error, JournalError::NotEmpty { .. }), "{error}");
    assert_eq!(
        open(&path).unwrap().counters(JournalId(0)).unwrap().next_in,
        2
    );
}

/// The state of a folder whose files were removed all but the lock, and of one that a backup of an older
/// version was restored to in part.
#[test]
fn a_lock_without_anything_else_is_refused_until_told() {
    let (_root, path) = written();
    for entry in fs::read_dir(&path).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() != "lock" {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    let error = open(&path).unwrap_err();
    assert!(matches!(error, JournalError::Emptied { .. }), "{error}");
    assert!(error.to_string().contains("--new-journal"), "{error}");
    drop(Directory::open_anew(&path).unwrap());
    write(&mut open(&path).unwrap(), 1).unwrap();
}

#[test]
fn a_folder_without_the_file_opens_as_before_and_has_one_then() {
    let (_root, path) = written();
    let newest = path.join("newest");
    fs::remove_file(&newest).unwrap();
    assert_eq!(
        open(&path).unwrap().counters(JournalId(0)).unwrap().next_in,
        25
    );
    assert_eq!(verify(&path).unwrap().bad, None);
    assert!(newest.exists());
    fs::remove_file(segments(&path).pop().unwrap()).unwrap();
    open(&path).unwrap_err();
}

#[test]
fn a_damaged_file_is_refused_whatever_byte_it_is() {
    let (_root, path) = written();
    let newest = path.join("newest");
    let whole = fs::read(&newest).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        for bytes in [&damaged[..], &whole[..at]] {
            fs::write(&newest, bytes).unwrap();
            let error = open(&path).unwrap_err().to_string();
            assert!(error.contains("newest is damaged at byte"), "{error}");
            verify(&path).unwrap_err();
        }
    }
    fs::write(&newest, &whole).unwrap();
    open(&path).unwrap();
}

/// An engine that never got as far as its first segment leaves a folder that opens.
#[test]
fn a_folder_that_never_had_a_segment_opens() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("journal");
    drop(Directory::open(&path).unwrap());
    assert!(segments(&path).is_empty());
    write(&mut open(&path).unwrap(), 1).unwrap();
}

/// Stopped at each operation, by the end of the process or of the power: it opens, has what was synced,
/// and notices when the segment with its last record is taken away then.
#[test]
fn a_crash_at_any_point_leaves_a_journal_that_opens_and_that_notices_its_loss() {
    let work = |disk: &SimDisk| {
        let synced = SMALL.segment_bytes as u64;
        let (mut journal, _) = Journal::open(disk.clone(), SMALL).map_err(drop)?;
        write(&mut journal, 24).map_err(drop)?;
        Ok::<_, ()>(synced)
    };
    let rehearsal = SimDisk::new();
    work(&rehearsal).unwrap();
    let operations = rehearsal.operations();
    let mut noticed = 0;
    for stop in 0..operations {
        for (cut, kept) in [(false, 0), (true, 0), (true, 1)] {
            let disk = SimDisk::new();
            disk.stop_after(stop);
            let _ = work(&disk);
            if cut {
                disk.cut_power(|choices| kept.min(choices - 1));
            } else {
                disk.end_process();
            }
            let (journal, _) = Journal::open(disk.copy(), SMALL)
                .unwrap_or_else(|error| panic!("stopped after {stop}, cut {cut}: {error}"));
            let last = journal.end().segment();
            if last == 1 {
                continue;
            }
            let lost = disk.copy();
            for number in last..last + 2 {
                lost.write(number, None);
            }
            Journal::open(lost, SMALL).expect_err("the last segment is missing");
            noticed += 1;
        }
    }
    assert!(noticed > operations, "only {noticed} of {operations}");
}

#[test]
fn an_import_that_was_broken_off_takes_the_mark_back_too() {
    let (_root, path) = written();
    let last = segments(&path).len() as u32;
    // As `fixwire journal import` leaves the folder when the machine stops in the middle of it.
    let mut directory = Directory::open(&path).unwrap();
    fs::write(path.join(format!("{:08}.import", last + 1)), b"").unwrap();
    directory.set_newest(last + 1).unwrap();
    drop(directory);
    fs::copy(segment(&path, last), segment(&path, last + 1)).unwrap();
    assert_eq!(verify(&path).unwrap().bad, None);
    assert_eq!(
        open(&path).unwrap().counters(JournalId(0)).unwrap().next_in,
        25
    );
    assert!(!segment(&path, last + 1).exists());
}
