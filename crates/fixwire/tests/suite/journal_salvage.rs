//! A damaged journal can be salvaged, and everybody is notified of what is lost.

use crate::common::journal::SMALL;
use fixwire::harness::Random;

use fixwire::Durability;
use fixwire::journal::sim::SimDisk;
use fixwire::journal::{
    Cause, Directory, Disk, Effect, Journal, JournalConfig, JournalError, JournalId,
    JournalPosition, RecordKind, Retention, Salvaged, SequenceCounters, salvage, verify,
};
use fixwire_protocol::time::{Nanos, Timestamp};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const NOW: Timestamp = Timestamp(1_787_319_000_000_000_000);
const NAMES: [&str; 2] = ["FIX.4.4:HOUSE->BROKER", "FIX.4.4:HOUSE->VENUE"];
const NOTES: &str = "notes of the application";

fn counters<D: Disk>(journal: &Journal<D>, id: JournalId) -> SequenceCounters {
    journal.counters(id).unwrap_or(SequenceCounters::NEW)
}

/// A message comes in to session `id`, and causes one in each of `to`.
fn trade<D: Disk>(
    journal: &mut Journal<D>,
    id: JournalId,
    to: &[JournalId],
) -> Result<(), JournalError> {
    let before = counters(journal, id);
    let answers: Vec<(JournalId, u64)> = to
        .iter()
        .map(|&to| (to, counters(journal, to).next_out))
        .collect();
    let own = u64::from(to.contains(&id));
    let wall = Timestamp(1_000 + journal.records_written() as i64);
    let cause = Cause {
        session: id,
        kind: RecordKind::Message,
        inbound: Some(&[b'i'; 150]),
        next_in: before.next_in + 1,
        next_out: before.next_out + own,
        epoch: before.epoch,
    };
    let effects = answers.iter().map(|&(session, seq)| Effect {
        session,
        seq,
        bytes: &[b'o'; 150],
    });
    journal.append(wall, cause, effects)?;
    journal.idle_work();
    Ok(())
}

/// Two sessions and an application's notes, in five segments. Answers the state of all sessions after
/// each record, and where it ends.
fn written(disk: &SimDisk, config: JournalConfig, notes: bool) -> Vec<(JournalPosition, Image)> {
    let images = write(disk, config, notes).unwrap();
    assert!(images.last().unwrap().0.segment() >= 4, "{images:?}");
    images
}

/// The same on a disk that may stop.
fn write(
    disk: &SimDisk,
    config: JournalConfig,
    notes: bool,
) -> Result<Vec<(JournalPosition, Image)>, JournalError> {
    let (mut journal, _) = Journal::open(disk.clone(), config)?;
    let mut images = Vec::new();
    let mut ids: Vec<JournalId> = Vec::new();
    for name in NAMES {
        ids.push(journal.register(NOW, name)?);
        images.push((journal.end(), image(&journal)));
    }
    if notes {
        ids.push(journal.register(NOW, NOTES)?);
        images.push((journal.end(), image(&journal)));
    }
    for number in 0..40 {
        let own = ids[number % 2];
        match number % 4 {
            0 if notes => trade(&mut journal, own, &ids)?,
            1 => trade(&mut journal, own, &ids[..2])?,
            _ => trade(&mut journal, own, &[own])?,
        }
        if number == 25 {
            images.push((journal.end(), image(&journal)));
            journal.reset(Timestamp(7_000), ids[0])?;
        }
        images.push((journal.end(), image(&journal)));
    }
    Ok(images)
}

/// The numbers of each session.
type Image = BTreeMap<String, SequenceCounters>;

fn image<D: Disk>(journal: &Journal<D>) -> Image {
    let sessions = journal.sessions();
    sessions
        .map(|(_, name, counters)| (name.to_owned(), counters))
        .collect()
}

fn folder() -> (TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("store");
    (root, path)
}

fn open(path: &Path) -> Result<Journal<Directory>, JournalError> {
    Journal::open(Directory::open(path)?, SMALL).map(|opened| opened.0)
}

fn bytes_of(path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.file_name().is_some_and(|name| name != "lock"))
        .map(|path| (path.file_name().unwrap().into(), fs::read(&path).unwrap()))
        .collect()
}

/// Salvages a journal that does not open: first on trial, then in earnest. Then it opens, its copy is
/// what it was, and each session goes on with the sequence numbers that were reported.
fn salvaged(path: &Path) -> (Salvaged, Journal<Directory>) {
    let refused = open(path).expect_err("the journal opens");
    assert!(refused.to_string().contains("journal salvage"), "{refused}");
    let process = Some(Durability::Process);
    let before = bytes_of(path);
    let trial = salvage(path, process, NOW, true).unwrap();
    assert_eq!(bytes_of(path), before, "a trial changed something");
    let done = salvage(path, process, NOW, false).unwrap();
    let copy = done.copy.clone().expect("a copy");
    assert_eq!(bytes_of(&copy), before, "the copy is another journal");
    assert_eq!(
        Salvaged {
            copy: None,
            ..done.clone()
        },
        trial
    );
    fs::remove_dir_all(copy).unwrap();
    let journal = open(path).unwrap_or_else(|error| panic!("still: {error}"));
    let now = image(&journal);
    for session in &done.sessions {
        if let Some(name) = &session.name {
            assert_eq!(now[name], session.next, "{name}");
        }
    }
    for (name, counters) in &done.others {
        assert_eq!(now[name], *counters, "{name}");
    }
    let again = salvage(path, process, NOW, true);
    assert!(
        matches!(again, Err(JournalError::Locked { .. })),
        "{again:?}"
    );
    drop(journal);
    assert_eq!(verify(path).unwrap().bad, None);
    let again = salvage(path, process, NOW, false);
    assert!(
        matches!(again, Err(JournalError::Sound { .. })),
        "{again:?}"
    );
    (done, open(path).unwrap())
}

/// Takes those out whose names are lost; answers how many.
fn forget_unnamed(truth: &mut Image, done: &Salvaged) -> usize {
    let unnamed = done
        .sessions
        .iter()
        .filter(|session| session.name.is_none());
    let unnamed: Vec<SequenceCounters> = unnamed.map(|session| session.next).collect();
    truth.retain(|_, counters| !unnamed.contains(counters));
    unnamed.len()
}

/// Messages that can be resent are those that were kept, and no others.
fn serves<D: Disk>(journal: &mut Journal<D>, done: &Salvaged) {
    for session in &done.sessions {
        let Some(name) = &session.name else { continue };
        let (id, _, now) = journal
            .sessions()
            .find(|(_, known, _)| known == name)
            .unwrap();
        if let Some((from, to)) = session.sent() {
            for seq in from..=to {
                assert_eq!(journal.outbound(id, seq).unwrap(), None, "{name} {seq}");
            }
        }
        if !session.was_reset() {
            for seq in 1..session.kept.next_out {
                assert!(journal.outbound(id, seq).unwrap().is_some(), "{name} {seq}");
            }
        }
        assert_eq!(now, session.next);
    }
}

#[test]
fn every_flipped_byte_of_a_journal_is_salvaged_or_opens() {
    for notes in [false, true] {
        let disk = SimDisk::new();
        let images = written(&disk, SMALL, notes);
        let last = images.last().unwrap().0.segment();
        let (mut refused, mut whole, mut nameless) = (0, 0, 0);
        for number in 1..=last {
            let bytes = disk.read(number).unwrap();
            // Each byte is tried where nothing is synced to a real disk; here a sample of each segment.
            for at in (0..bytes.len()).step_by(331).chain((0..64).step_by(5)) {
                let damaged = disk.copy();
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << (at % 8);
                damaged.write(number, Some(flipped));
                if Journal::open(damaged.copy(), SMALL).is_ok() {
                    continue;
                }
                let (_root, path) = folder();
                let opened = Journal::open(damaged.copy(), SMALL);
                if let Err(JournalError::OtherVersion { .. }) = opened {
                    // The damage may give the version of another build, and only that build can salvage it.
                    assert!((8..12).contains(&at), "{at}");
                    damaged.write_to(&path).unwrap();
                    let error = salvage(&path, Some(Durability::Process), NOW, false).unwrap_err();
                    assert!(error.to_string().contains("reads version 1"), "{error}");
                    continue;
                }
                refused += 1;
                damaged.write_to(&path).unwrap();
                let (done, mut journal) = salvaged(&path);
                serves(&mut journal, &done);
                // The header is rewritten, and nothing after it is missing.
                whole += u32::from(done.lost == 0);
                let truth = &images.last().unwrap().1;
                let known = done
                    .sessions
                    .iter()
                    .filter(|session| session.name.is_some());
                for session in known {
                    let name = session.name.as_deref().unwrap();
                    assert!(session.next.next_out <= truth[name].next_out, "{name}");
                }
                if number + 1 < last || done.lost == 0 {
                    // Whatever is lost, the numbers of the very end were read.
                    let (mut now, mut truth) = (image(&journal), truth.clone());
                    nameless += forget_unnamed(&mut truth, &done);
                    now.remove(NOTES);
                    truth.remove(NOTES);
                    assert_eq!(now, truth, "segment {number}, byte {at}");
                }
            }
        }
        assert!(
            refused > 50 && whole > 40,
            "{refused} refused, {whole} whole"
        );
        // Only where the record that names a session is itself damaged.
        assert!(nameless < 10, "{nameless} names lost");
    }
}

#[test]
fn segments_that_are_missing_or_cut_short_are_salvaged() {
    let disk = SimDisk::new();
    let images = written(&disk, SMALL, false);
    let last = images.last().unwrap().0.segment();
    let truth = &images.last().unwrap().1;
    for number in 1..=last {
        for keep in [
            None,
            Some(0),
            Some(40),
            Some(64),
            Some(700),
            Some(4095),
            Some(8192),
        ] {
            let (_root, path) = folder();
            disk.write_to(&path).unwrap();
            let file = path.join(format!("{number:08}.fwj"));
            match keep {
                None => fs::remove_file(&file).unwrap(),
                Some(length) => fs::File::options()
                    .write(true)
                    .open(&file)
                    .unwrap()
                    .set_len(length)
                    .unwrap(),
            }
            let (done, mut journal) = salvaged(&path);
            serves(&mut journal, &done);
            let (now, mut truth) = (image(&journal), truth.clone());
            if number + 1 < last || keep > Some(4000) {
                let unnamed = forget_unnamed(&mut truth, &done);
                assert_eq!(now, truth, "segment {number}, {keep:?}");
                assert!(unnamed == 0 || number == 1, "segment {number}, {keep:?}");
            } else {
                let before = images.iter().rev().find(|(end, _)| end.segment() < number);
                for (name, counters) in &before.unwrap().1 {
                    let reached = (now[name].epoch, now[name].next_out);
                    assert!(reached >= (counters.epoch, counters.next_out), "{name}");
                }
            }
        }
    }
}

#[test]
fn damaged_files_about_the_journal_lose_nothing() {
    let disk = SimDisk::new();
    let retention = Retention {
        keep: Some(Nanos(0)),
        resend: Some(Nanos(0)),
        compress: false,
    };
    let config = JournalConfig {
        retention: Some(retention),
        ..SMALL
    };
    let images = written(&disk, config, false);
    // Each segment but the first begins with a checkpoint.
    for name in ["base", "newest"] {
        for at in [0, 8, 12, 17, 30] {
            let (_root, path) = folder();
            disk.write_to(&path).unwrap();
            let file = path.join(name);
            let Ok(mut bytes) = fs::read(&file) else {
                panic!("no {name}");
            };
            bytes[at] ^= 1;
            fs::write(&file, bytes).unwrap();
            let (done, journal) = salvaged(&path);
            assert_eq!(
                (done.lost, done.sessions.len()),
                (0, 0),
                "{name}, byte {at}"
            );
            assert_eq!(image(&journal), images.last().unwrap().1);
        }
    }
}

/// With a checkpoint after the damage, only messages that could be resent from before it are lost.
#[test]
fn a_checkpoint_behind_the_damage_is_where_the_journal_begins_then() {
    let retention = Retention {
        keep: None,
        resend: None,
        compress: false,
    };
    let config = JournalConfig {
        retention: Some(retention),
        ..SMALL
    };
    for notes in [false, true] {
        let disk = SimDisk::new();
        let images = written(&disk, config, notes);
        let (_root, path) = folder();
        let mut bytes = disk.read(2).unwrap();
        bytes[1500] ^= 1;
        disk.write(2, Some(bytes));
        disk.write_to(&path).unwrap();
        let (done, journal) = salvaged(&path);
        if notes {
            // An application that lost its first notes would know less than one that lost its last ones.
            assert!(done.begins_at.is_none() && done.notes > 0, "{done:?}");
        } else {
            assert_eq!((done.begins_at, done.lost), (Some(3), 0), "{done:?}");
            assert_eq!(image(&journal), images.last().unwrap().1);
        }
    }
}

/// As the default durability leaves journals after a power cut: those that do not open are salvaged, all
/// of them, and no number that was given out is given out again when a record that reads says so.
#[test]
fn what_a_power_cut_leaves_is_salvaged_whenever_it_does_not_open() {
    let rehearsal = SimDisk::new();
    written(&rehearsal, SMALL, true);
    let operations = rehearsal.operations();
    let (mut refused, mut lost, mut cuts) = (0, 0, 0);
    for seed in 1..=300_u64 {
        let mut random = Random::new(seed);
        let disk = SimDisk::new();
        disk.stop_after(random.place(operations as usize) as u64);
        let worked = write(&disk, SMALL, true);
        disk.cut_power(|choices| random.place(choices));
        cuts += u32::from(worked.is_err());
        let opened = Journal::open(disk.copy(), SMALL).map(drop);
        let (_root, path) = folder();
        if opened.is_ok() {
            if seed % 50 == 0 {
                disk.write_to(&path).unwrap();
                let error = salvage(&path, Some(Durability::Process), NOW, false).unwrap_err();
                assert!(
                    matches!(error, JournalError::Sound { .. }),
                    "seed {seed}: {error}"
                );
            }
            continue;
        }
        refused += 1;
        disk.write_to(&path).unwrap();
        let (done, mut journal) = salvaged(&path);
        serves(&mut journal, &done);
        lost += done.lost;
    }
    println!("{refused} of {cuts} power cuts refused, {lost} records lost");
    assert!(refused >= 5 && lost > 0, "{refused} refused, {lost} lost");
}

#[test]
fn a_journal_of_an_engine_at_disk_is_not_cut_by_mistake() {
    let disk = SimDisk::new();
    let images = written(&disk, SMALL, false);
    // A page in the middle of the last segment never reached the disk.
    let last = images.last().unwrap().0;
    let mut bytes = disk.read(last.segment()).unwrap();
    let middle = images[images.len() - 3].0.offset() as usize;
    let next = images[images.len() - 2].0.offset() as usize;
    bytes[middle..next].fill(0);
    disk.write(last.segment(), Some(bytes));
    let (_root, path) = folder();
    disk.write_to(&path).unwrap();
    let error = salvage(&path, None, NOW, false).unwrap_err();
    assert!(
        error.to_string().contains("--durability process"),
        "{error}"
    );
    let error = salvage(&path, Some(Durability::Disk), NOW, false).unwrap_err();
    assert!(matches!(error, JournalError::Sound { .. }), "{error}");
    let (done, journal) = salvaged(&path);
    let (now, truth) = (image(&journal), &images.last().unwrap().1);
    // The last record reads, and the one before it does not, which was of the other session.
    assert_eq!(done.lost, 2);
    assert_eq!(now[NAMES[1]], truth[NAMES[1]]);
    assert_eq!(now[NAMES[0]].next_in + 1, truth[NAMES[0]].next_in);
}

#[test]
fn a_salvage_that_was_broken_off_is_not_taken_for_a_journal() {
    let disk = SimDisk::new();
    written(&disk, SMALL, false);
    let (_root, path) = folder();
    disk.write_to(&path).unwrap();
    fs::write(path.join("salvage"), "/backup/store").unwrap();
    let error = open(&path).unwrap_err().to_string();
    assert!(
        error.contains("interrupted") && error.contains("/backup/store"),
        "{error}"
    );
    let error = salvage(&path, None, NOW, false).unwrap_err();
    assert!(matches!(error, JournalError::Salvaging { .. }), "{error}");
    fs::remove_file(path.join("salvage")).unwrap();
    open(&path).unwrap();
}
