//! Unneeded segments are removed, needed ones stay, and no crash on the way loses anything.

use fixwire::harness::Random;
use fixwire::journal::sim::SimDisk;
use fixwire::journal::{
    Cause, Directory, Disk, DumpFilter, DumpFormat, Effect, Journal, JournalConfig, JournalId,
    JournalTrouble, RecordKind, Retention, SequenceCounters, Stored, dump, verify,
};
use fixwire_protocol::time::{Nanos, Timestamp};
use std::fs;
use std::iter;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use tempfile::TempDir;

const SECOND: i64 = 1_000_000_000;
const KEEP: Retention = Retention {
    keep: Some(Nanos::from_secs(20)),
    resend: None,
    compress: false,
};
/// The same, and only messages of the last half minute are resent.
const RESEND: Retention = Retention {
    resend: Some(Nanos::from_secs(30)),
    ..KEEP
};

fn config(retention: Retention) -> JournalConfig {
    JournalConfig {
        segment_bytes: 8192,
        index_entries: 4,
        synced_before_sent: true,
        retention: Some(retention),
    }
}

/// Sends a message of about 500 bytes in session `id`, at this second.
fn send<D: Disk>(journal: &mut Journal<D>, id: JournalId, second: i64) -> Result<(), ()> {
    let SequenceCounters {
        next_in,
        next_out,
        epoch,
    } = journal.counters(id).ok_or(())?;
    let bytes = message(id, next_out);
    let effect = Effect {
        session: id,
        seq: next_out,
        bytes: &bytes,
    };
    let cause = Cause {
        session: id,
        kind: RecordKind::Sent,
        inbound: None,
        next_in,
        next_out: next_out + 1,
        epoch,
    };
    let wall = Timestamp(second * SECOND);
    let end = journal
        .append(wall, cause, iter::once(effect))
        .map_err(drop)?;
    journal.sync(end).map_err(drop)?;
    journal.idle_work();
    Ok(())
}

fn message(id: JournalId, seq: u64) -> Vec<u8> {
    format!("{} {seq} ", id.0).repeat(200).as_bytes()[..500].to_vec()
}

fn reset<D: Disk>(journal: &mut Journal<D>, id: JournalId, second: i64) -> Result<(), ()> {
    let end = journal
        .reset(Timestamp(second * SECOND), id)
        .map_err(drop)?;
    journal.sync(end).map_err(drop)?;
    Ok(())
}

/// All that was sent since the reset is there, byte by byte.
fn serves_all<D: Disk>(journal: &mut Journal<D>, id: JournalId) {
    let next = journal.counters(id).unwrap().next_out;
    let mut replay = journal.replay(id, 1, next - 1);
    let mut expected = 1;
    while let Some(stored) = journal.next_of(&mut replay).unwrap() {
        let whole = message(id, expected);
        let found = Stored::Message {
            seq: expected,
            bytes: &whole,
        };
        assert_eq!(stored, found);
        assert_eq!(journal.outbound(id, expected).unwrap(), Some(&whole[..]));
        expected += 1;
    }
    assert_eq!(expected, next);
}

/// Two sessions send; now and then one or both are reset. Answers what was certain when it stopped.
fn work(disk: &SimDisk) -> [SequenceCounters; 2] {
    let mut known = [SequenceCounters::NEW; 2];
    let Ok((mut journal, _)) = Journal::open(disk.clone(), config(KEEP)) else {
        return known;
    };
    let mut ids = [JournalId(0); 2];
    for (id, name) in ids.iter_mut().zip(["A", "B"]) {
        let Ok(found) = journal.register(Timestamp(0), name) else {
            return known;
        };
        *id = found;
    }
    let start = i64::try_from(journal.records_written()).unwrap();
    for second in start..start + 150 {
        let id = ids[(second % 2) as usize];
        let done = match second % 40 {
            38 | 39 => reset(&mut journal, id, second),
            _ => send(&mut journal, id, second),
        };
        if done.is_err() {
            break;
        }
        let at = id.0 as usize;
        known[at] = journal.counters(id).unwrap();
    }
    known
}

#[test]
fn a_crash_at_any_point_of_retiring_loses_nothing() {
    let disk = SimDisk::new();
    work(&disk);
    let operations = disk.operations();
    let gone = (1..).take_while(|&number| disk.read(number).is_none());
    assert!(gone.count() > 3, "nothing was removed");
    let mut retired = 0;
    for stop in 0..operations {
        let disk = SimDisk::new();
        disk.stop_after(stop);
        let before = work(&disk);
        let mut random = Random::new(stop);
        if stop % 3 == 0 {
            disk.end_process();
        } else {
            disk.cut_power(|choices| random.place(choices));
        }
        let (mut journal, _) = Journal::open(disk.clone(), config(KEEP))
            .unwrap_or_else(|error| panic!("stopped after {stop} operations: {error}"));
        retired += u32::from(journal.positions().0.segment() > 1);
        for (id, certain) in (0..2).map(JournalId).zip(before) {
            let Some(counters) = journal.counters(id) else {
                assert_eq!(
                    certain,
                    SequenceCounters::NEW,
                    "stopped after {stop} operations"
                );
                continue;
            };
            // What was on its way may be there too.
            let later = (counters.epoch, counters.next_out) >= (certain.epoch, certain.next_out);
            assert!(later, "stopped after {stop}: {certain:?}, now {counters:?}");
            serves_all(&mut journal, id);
        }
        drop(journal);
        // And it goes on.
        work(&disk);
    }
    assert!(
        retired > 100,
        "only {retired} of the crashes came after a removal"
    );
}

/// A journal in a directory in which session A has sent for 100 seconds and was then reset.
fn directory(retention: Retention) -> (TempDir, std::path::PathBuf) {
    let root = TempDir::new().unwrap();
    let path = root.path().join("journal");
    let mut journal = open(&path, retention);
    let a = journal.register(Timestamp(0), "A").unwrap();
    let b = journal.register(Timestamp(0), "B").unwrap();
    send(&mut journal, b, 0).unwrap();
    for second in 1..100 {
        send(&mut journal, a, second).unwrap();
    }
    // B still needs its first message, so nothing went.
    assert_eq!(journal.positions().0.segment(), 1);
    serves_all(&mut journal, a);
    serves_all(&mut journal, b);
    reset(&mut journal, a, 100).unwrap();
    reset(&mut journal, b, 100).unwrap();
    for second in 101..130 {
        send(&mut journal, a, second).unwrap();
    }
    serves_all(&mut journal, a);
    drop(journal);
    (root, path)
}

fn open(path: &Path, retention: Retention) -> Journal<Directory> {
    let directory = Directory::open(path).unwrap();
    Journal::open(directory, config(retention)).unwrap().0
}

fn endings(path: &Path, ending: &str) -> Vec<u32> {
    let mut found: Vec<u32> = fs::read_dir(path)
        .unwrap()
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.strip_suffix(ending)?.parse().ok()
        })
        .collect();
    found.sort_unstable();
    found
}

#[test]
fn what_nobody_needs_is_removed_and_the_rest_is_proved() {
    let (_root, path) = directory(KEEP);
    let kept = endings(&path, ".fwj");
    assert!(kept[0] > 3, "{kept:?}");
    let read = verify(&path).unwrap();
    assert_eq!(read.bad, None);
    assert_eq!(read.sessions, ["A", "B"]);
    let mut journal = open(&path, KEEP);
    assert_eq!(journal.counters(JournalId(0)).unwrap().epoch, 1);
    assert_eq!(
        journal.numbers_began(JournalId(1)),
        Some(Timestamp(100 * SECOND))
    );
    serves_all(&mut journal, JournalId(0));
}

#[test]
fn retired_segments_are_compressed_and_read_as_before() {
    let all = Retention {
        keep: None,
        compress: true,
        ..KEEP
    };
    let (_root, path) = directory(all);
    // Segments that the last roll retired are compressed once a segment is begun again, or now.
    let packed = endings(&path, ".fwz");
    assert!(packed.len() > 5 && packed[0] == 1, "{packed:?}");
    let text = |filter: DumpFilter| {
        let mut out = Vec::new();
        let read = dump(&path, &filter, &mut out, DumpFormat::Text).unwrap();
        assert_eq!(read.bad, None);
        String::from_utf8(out).unwrap()
    };
    assert_eq!(text(DumpFilter::default()).matches(" out ").count(), 129);
    serves_all(&mut open(&path, all), JournalId(0));
    // A flipped bit in a compressed file is found.
    let file = path.join(format!("{:08}.fwz", packed[2]));
    let whole = fs::read(&file).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 4;
        fs::write(&file, damaged).unwrap();
        let bad = verify(&path).unwrap().bad.expect("damage is found");
        assert!(bad.file.ends_with(".fwz"), "byte {at}: {bad}");
    }
    fs::remove_file(&file).unwrap();
    let bad = verify(&path).unwrap().bad.expect("the gap is found");
    assert_eq!(bad.expected, "this segment");
}

#[test]
fn messages_older_than_they_can_be_resent_become_gaps() {
    let root = TempDir::new().unwrap();
    let path = root.path().join("journal");
    let mut journal = open(&path, RESEND);
    let a = journal.register(Timestamp(0), "A").unwrap();
    for second in 1..100 {
        send(&mut journal, a, second).unwrap();
    }
    let mut replay = journal.replay(a, 1, 99);
    let Some(Stored::Missing { from: 1, to }) = journal.next_of(&mut replay).unwrap() else {
        panic!("the first are there");
    };
    assert!((20..70).contains(&to), "{to}");
    for seq in to + 1..100 {
        let bytes = message(a, seq);
        let stored = journal.next_of(&mut replay).unwrap();
        assert_eq!(stored, Some(Stored::Message { seq, bytes: &bytes }));
    }
    drop(journal);
    let mut journal = open(&path, RESEND);
    let mut replay = journal.replay(a, 1, 99);
    assert!(matches!(
        journal.next_of(&mut replay).unwrap(),
        Some(Stored::Missing { from: 1, .. })
    ));
    assert_eq!(journal.counters(a).unwrap().next_out, 100);
}

#[test]
fn messages_that_nobody_asks_for_keep_no_segment() {
    let root = TempDir::new().unwrap();
    let path = root.path().join("journal");
    let mut journal = open(&path, KEEP);
    let a = journal.register(Timestamp(0), "A").unwrap();
    let first = |journal: &Journal<Directory>| journal.positions().0.segment();
    for seq in 1..200 {
        send(&mut journal, a, seq).unwrap();
        if seq < 100 {
            journal.release_before(a, seq as u64 + 1);
        }
    }
    // Those up to 99 were released: the first that is needed is there, and not much before it.
    let begin = first(&journal);
    assert!(begin > 3, "{begin}");
    assert_eq!(journal.outbound(a, 60).unwrap(), None);
    for seq in 100..200 {
        let stored = journal.outbound(a, seq).unwrap();
        assert_eq!(stored, Some(&message(a, seq)[..]), "{seq}");
    }
    journal.release_before(a, u64::MAX);
    send(&mut journal, a, 200).unwrap();
    for _ in 0..40 {
        send(&mut journal, a, 201).unwrap();
    }
    assert!(first(&journal) + 2 >= journal.end().segment());
    // After a reset all of them are needed.
    reset(&mut journal, a, 300).unwrap();
    for second in 301..400 {
        send(&mut journal, a, second).unwrap();
    }
    serves_all(&mut journal, a);
    drop(journal);
    let mut journal = open(&path, KEEP);
    serves_all(&mut journal, a);
}

#[test]
fn notes_of_the_application_stay_for_ever() {
    let root = TempDir::new().unwrap();
    let path = root.path().join("journal");
    let mut journal = open(&path, RESEND);
    let a = journal.register(Timestamp(0), "A").unwrap();
    let notes = "notes of the application";
    let notes = journal.register(Timestamp(0), notes).unwrap();
    for second in 1..200 {
        let id = if second % 2 == 0 { a } else { notes };
        send(&mut journal, id, second).unwrap();
    }
    drop(journal);
    let mut journal = open(&path, RESEND);
    serves_all(&mut journal, notes);
}

#[test]
fn a_beginning_that_is_lost_or_damaged_is_refused() {
    let (_root, path) = directory(KEEP);
    let refused = |what: &str| {
        let directory = Directory::open(&path).unwrap();
        let error = Journal::open(directory, config(KEEP)).expect_err(what);
        let text = error.to_string();
        assert!(text.contains("is damaged"), "{what}: {text}");
        let seen = verify(&path).map_or(true, |read| read.bad.is_some());
        assert!(seen, "{what}: verify sees nothing");
    };
    let base = path.join("base");
    let whole = fs::read(&base).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        fs::write(&base, damaged).unwrap();
        refused(&format!("byte {at} of the base"));
        fs::write(&base, &whole[..at]).unwrap();
        refused(&format!("{at} bytes of the base"));
    }
    fs::remove_file(&base).unwrap();
    refused("no base");
    fs::write(&base, &whole).unwrap();
    fs::set_permissions(&base, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let first = path.join(format!(
        "{:08}.fwj",
        open(&path, KEEP).positions().0.segment()
    ));
    let segment = fs::read(&first).unwrap();
    // The checkpoint of two sessions: each of its bits counts, and zeros are no empty journal.
    for at in 64..256 {
        let mut damaged = segment.clone();
        damaged[at] ^= 1;
        fs::write(&first, damaged).unwrap();
        refused(&format!("byte {at} of the checkpoint"));
    }
    let mut emptied = segment.clone();
    emptied[64..].fill(0);
    fs::write(&first, emptied).unwrap();
    refused("an empty beginning");
    fs::write(&first, segment).unwrap();
    drop(open(&path, KEEP));
}

/// Wherever in a segment a session is registered, and so also where it begins the next one.
#[test]
fn a_session_that_begins_a_segment_is_read_again() {
    let mut began = 0;
    for pad in (0..1200).step_by(8) {
        let disk = SimDisk::new();
        let (mut journal, _) = Journal::open(disk.clone(), config(KEEP)).unwrap();
        let first = journal.register(Timestamp(0), "A").unwrap();
        for second in 0..12 {
            send(&mut journal, first, second).unwrap();
        }
        let wall = Timestamp(12 * SECOND);
        journal.note(wall, first, &"x".repeat(pad)).unwrap();
        let before = journal.end().segment();
        let second = journal.register(wall, "B").unwrap();
        began += u32::from(journal.end().segment() != before);
        send(&mut journal, second, 13).unwrap();
        drop(journal);
        disk.end_process();
        let (mut again, _) = Journal::open(disk, config(KEEP)).unwrap();
        let names: Vec<&str> = again.sessions().map(|(_, name, _)| name).collect();
        assert_eq!(names, ["A", "B"], "with {pad} bytes before");
        serves_all(&mut again, first);
        serves_all(&mut again, second);
    }
    assert!(began > 0, "no registration began a segment");
}

#[test]
fn a_session_knows_where_its_peer_logged_on_last_before_and_after_a_restart() {
    let disk = SimDisk::new();
    let (mut journal, _) = Journal::open(disk.clone(), config(KEEP)).unwrap();
    let id = journal.register(Timestamp(0), "A").unwrap();
    assert_eq!(journal.peer(id), None);
    for from in ["192.0.2.1", "::ffff:192.0.2.2"] {
        let from = from.parse().unwrap();
        journal.note_logon(Timestamp(0), id, from).unwrap();
    }
    let newest = Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)));
    assert_eq!(journal.peer(id), newest);
    drop(journal);
    disk.end_process();
    let (again, _) = Journal::open(disk, config(KEEP)).unwrap();
    assert_eq!(again.peer(id), newest);
}

#[test]
fn nothing_is_written_after_a_failed_sync_whoever_asked_for_it() {
    let mut while_retiring = 0;
    for failing in 0..200 {
        let disk = SimDisk::new();
        let (mut journal, _) = Journal::open(disk.clone(), config(KEEP)).unwrap();
        let id = journal.register(Timestamp(0), "A").unwrap();
        disk.fail_sync(failing);
        for second in 0..150 {
            let failed = disk.sync_has_failed();
            let done = match second % 40 {
                39 => reset(&mut journal, id, second),
                _ => send(&mut journal, id, second),
            };
            assert!(!failed || done.is_err(), "sync {failing}, second {second}");
            while_retiring += u32::from(done.is_ok() && disk.sync_has_failed());
        }
    }
    assert!(while_retiring > 0, "no segment was retired");
}

#[test]
fn names_that_are_too_many_for_a_checkpoint_are_reported() {
    let (mut journal, _) = Journal::open(SimDisk::new(), config(KEEP)).unwrap();
    let id = journal.register(Timestamp(0), "A").unwrap();
    for number in 0..30 {
        let name = format!("name{number}");
        journal.register(Timestamp(0), &name).unwrap();
    }
    let mut troubles = Vec::new();
    for second in 0..20 {
        send(&mut journal, id, second).unwrap();
        troubles.extend(journal.troubles(Timestamp(0)).unwrap());
    }
    let [JournalTrouble::NotRetired { error }, ..] = &troubles[..] else {
        panic!("{troubles:?}");
    };
    assert!(
        error.contains("31 sessions") && error.contains("JournalSegmentSize"),
        "{error}"
    );
}

/// Files that the journal itself removes, replaces and compresses are not reported as altered.
#[test]
fn retiring_is_no_alteration() {
    let root = TempDir::new().unwrap();
    let path = root.path().join("journal");
    let mut journal = open(&path, KEEP);
    let id = journal.register(Timestamp(0), "A").unwrap();
    let mut second = 0;
    let began = std::time::Instant::now();
    while began.elapsed().as_millis() < 3500 {
        for _ in 0..40 {
            second += 1;
            send(&mut journal, id, second).unwrap();
        }
        reset(&mut journal, id, second).unwrap();
        assert_eq!(journal.troubles(Timestamp(0)).unwrap(), []);
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert!(journal.positions().0.segment() > 3);
}
