//! The journal in a real directory: who may open it, what it prints and what verifying it finds.

use crate::common::journal::SMALL;

use fixwire::journal::{
    Cause, Direction, Directory, DumpFilter, DumpFormat, Effect, Journal, JournalConfig,
    JournalError, JournalId, RecordKind, Recovered, dump, verify,
};
use fixwire_protocol::time::Timestamp;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

const WALL: Timestamp = Timestamp(1_787_319_000_123_456_789);
const LOGON: &[u8] = b"8=FIX.4.2\x019=1\x0135=A\x0134=1\x01554=hunter2\x0110=000\x01";

fn open(path: &Path) -> Result<(Journal<Directory>, Recovered), JournalError> {
    Journal::open(Directory::open(path)?, SMALL)
}

fn logon(journal: &mut Journal<Directory>, seq: u64) {
    let session = JournalId(0);
    let cause = Cause {
        session,
        kind: RecordKind::Message,
        inbound: Some(LOGON),
        next_in: seq + 1,
        next_out: seq + 1,
        epoch: 0,
    };
    let effect = Effect {
        session,
        seq,
        bytes: b"8=FIX.4.2\x0135=A\x0158=a\n\xff\x01",
    };
    journal
        .append(WALL, cause, std::iter::once(effect))
        .unwrap();
}

/// A journal of two segments in a directory of its own.
fn written(logons: u64) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let (mut journal, recovered) = open(&path).unwrap();
    assert_eq!(recovered, Recovered::default());
    journal.register(WALL, "FIX.4.2:../EXEC->BENCH").unwrap();
    for seq in 1..=logons {
        logon(&mut journal, seq);
        journal.idle_work();
    }
    let end = journal.end();
    assert_eq!(journal.sync(end).unwrap(), end);
    (directory, path)
}

#[test]
fn a_journal_is_found_again_and_only_its_owner_can_read_it() {
    let (_keep, path) = written(60);
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
    let mut names = Vec::new();
    for entry in fs::read_dir(&path).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().mode() & 0o777, 0o600);
        names.push(entry.file_name().into_string().unwrap());
    }
    names.retain(|name| name != "lock" && name != "newest");
    assert!(names.len() > 2);
    assert!(
        names
            .iter()
            .all(|name| name.len() == 12 && name.ends_with(".fwj")),
        "{names:?}"
    );
    let (mut journal, recovered) = open(&path).unwrap();
    assert_eq!((recovered.records, recovered.torn), (61, None));
    assert_eq!(journal.counters(JournalId(0)).unwrap().next_in, 61);
    assert!(
        journal
            .outbound(JournalId(0), 7)
            .unwrap()
            .unwrap()
            .starts_with(b"8=FIX.4.2")
    );
    for seq in 61..=200 {
        logon(&mut journal, seq);
    }
    drop(journal);
    assert_eq!(open(&path).unwrap().1.records, 201);
}

#[test]
fn a_directory_has_one_owner_at_a_time() {
    let (_keep, path) = written(1);
    let held = open(&path).unwrap();
    assert!(matches!(open(&path), Err(JournalError::Locked { .. })));
    // A lock file that a user takes for a left-over, and removes, still locks.
    fs::remove_file(path.join("lock")).unwrap();
    assert!(matches!(open(&path), Err(JournalError::Locked { .. })));
    // And so does the file alone, which is all that earlier versions lock.
    drop(held);
    let lock = fs::File::create(path.join("lock")).unwrap();
    lock.set_permissions(fs::Permissions::from_mode(0o600))
        .unwrap();
    lock.lock().unwrap();
    assert!(matches!(open(&path), Err(JournalError::Locked { .. })));
    drop(lock);
    let held = open(&path).unwrap();
    drop(held);
    open(&path).unwrap();
}

#[test]
fn what_others_can_read_is_refused() {
    for (name, mode) in [
        ("", 0o750),
        ("", 0o701),
        ("00000001.fwj", 0o640),
        ("00000001.fwj", 0o602),
    ] {
        let (_keep, path) = written(1);
        let file = path.join(name);
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let error = open(&path).unwrap_err();
        assert!(
            matches!(error, JournalError::Exposed { .. }),
            "{name} {mode:o}: {error}"
        );
        assert!(error.to_string().contains("chmod"), "{error}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    }
}

#[test]
fn strangers_in_the_directory_are_refused_or_ignored() {
    let (_keep, path) = written(60);
    for name in ["1.fwj", "000000001.fwj", "copy.fwj", "00000000.fwj"] {
        fs::write(path.join(name), b"").unwrap();
        assert!(
            matches!(open(&path), Err(JournalError::Damaged(_))),
            "{name}"
        );
        fs::remove_file(path.join(name)).unwrap();
    }
    // Files of a crash during the making of a segment are not part of the journal.
    let next = fs::read_dir(&path).unwrap().count();
    for unfinished in [&b""[..], &[0; 4096], b"FXWJ"] {
        fs::write(path.join(format!("{next:08}.new")), unfinished).unwrap();
        open(&path).unwrap();
    }
    for other in ["README", "x.txt", "00000001.fwj.bak", "fwj"] {
        fs::write(path.join(other), b"\0").unwrap();
    }
    open(&path).unwrap();
    let first = path.join("00000001.fwj");
    let moved = path.join("elsewhere");
    fs::rename(&first, &moved).unwrap();
    assert!(
        matches!(open(&path), Err(JournalError::Damaged(_))),
        "missing"
    );
    symlink(&moved, &first).unwrap();
    assert!(
        matches!(open(&path), Err(JournalError::Io { doing: "open", .. })),
        "link"
    );
    fs::remove_file(&first).unwrap();
    fs::write(&first, b"short").unwrap();
    fs::set_permissions(&first, fs::Permissions::from_mode(0o600)).unwrap();
    let error = open(&path).unwrap_err().to_string();
    assert!(
        error.contains("00000001.fwj is damaged at byte 5: expected a header"),
        "{error}"
    );
}

#[test]
fn verifying_names_any_flipped_bit_of_a_file() {
    let (_keep, path) = written(20);
    let whole = verify(&path).unwrap();
    assert_eq!((whole.records, whole.bad.clone()), (21, None));
    assert_eq!(whole.sessions, ["FIX.4.2:../EXEC->BENCH"]);
    for number in 1..=whole.segments {
        let file = path.join(format!("{number:08}.fwj"));
        let bytes = fs::read(&file).unwrap();
        // Every byte is tried where it is cheaper, in memory; the steps of 3 try all bits.
        for at in (0..bytes.len()).step_by(3) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            fs::write(&file, &flipped).unwrap();
            let verified = match verify(&path) {
                // It may be another version.
                Err(JournalError::OtherVersion { file: named, .. }) => {
                    assert!((8..12).contains(&at), "{number}:{at}");
                    assert_eq!(named, file.display().to_string());
                    continue;
                }
                verified => verified.unwrap(),
            };
            let bad = verified
                .bad
                .unwrap_or_else(|| panic!("{number}:{at} unnoticed"));
            assert_eq!(bad.file, file.display().to_string());
            assert!(
                at < 64 || bad.offset.abs_diff(at as u64) < 8,
                "{number}:{at}: {bad}"
            );
            assert!(verified.records <= 21);
        }
        fs::write(&file, &bytes).unwrap();
    }
    assert_eq!(verify(&path).unwrap(), whole);
}

#[test]
fn a_dump_shows_everything_but_secrets() {
    let (_keep, path) = written(2);
    let (mut journal, _) = open(&path).unwrap();
    journal
        .note(WALL, JournalId(0), "peer went silent")
        .unwrap();
    journal.reset(WALL, JournalId(0)).unwrap();
    let text = |filter: &DumpFilter, format| {
        let mut out = Vec::new();
        let verified = dump(&path, filter, &mut out, format).unwrap();
        assert_eq!(verified.bad, None);
        String::from_utf8(out).unwrap()
    };
    let head = "2026-08-21T13:30:00.123456789Z FIX.4.2:../EXEC->BENCH";
    let expected = [
        "session FIX.4.2:../EXEC->BENCH",
        "in      34=1 8=FIX.4.2|9=1|35=A|34=1|554=***|10=000|",
        "out     34=1 8=FIX.4.2|35=A|58=a\\x0a\\xff|",
        "in      34=1 8=FIX.4.2|9=1|35=A|34=1|554=***|10=000|",
        "out     34=2 8=FIX.4.2|35=A|58=a\\x0a\\xff|",
        "note    peer went silent",
        "reset   next_in=1 next_out=1 epoch=1",
    ];
    let expected: String = expected.map(|line| format!("{head} {line}\n")).concat();
    assert_eq!(text(&DumpFilter::default(), DumpFormat::Text), expected);
    let masked = DumpFilter {
        masked: vec![58],
        direction: Some(Direction::Out),
        ..DumpFilter::default()
    };
    let lines = [1, 2].map(|seq| format!("{head} out     34={seq} 8=FIX.4.2|35=A|58=***|\n"));
    assert_eq!(text(&masked, DumpFormat::Text), lines.concat());
    let json = text(&DumpFilter::default(), DumpFormat::Json);
    assert_eq!(json.lines().count(), 7);
    assert!(!json.contains("hunter2"));
    assert!(
        json.starts_with(
            "{\"at\":\"1:64\",\"time\":\"2026-08-21T13:30:00.123456789Z\",\"record\":0,"
        )
    );
    let out = Some(Direction::Out);
    let cases = [
        (
            DumpFilter {
                direction: out,
                ..DumpFilter::default()
            },
            2,
        ),
        (
            DumpFilter {
                direction: out,
                first_seq: Some(2),
                ..DumpFilter::default()
            },
            1,
        ),
        (
            DumpFilter {
                last_seq: Some(1),
                ..DumpFilter::default()
            },
            3,
        ),
        (
            DumpFilter {
                session: Some("other".into()),
                ..DumpFilter::default()
            },
            0,
        ),
        (
            DumpFilter {
                from: Some(Timestamp(WALL.0 + 1)),
                ..DumpFilter::default()
            },
            0,
        ),
        (
            DumpFilter {
                until: Some(WALL),
                ..DumpFilter::default()
            },
            0,
        ),
    ];
    for (filter, lines) in cases {
        assert_eq!(
            text(&filter, DumpFormat::Text).lines().count(),
            lines,
            "{filter:?}"
        );
    }
}

#[test]
fn settings_that_cannot_work_are_named() {
    let (_keep, path) = written(1);
    for (config, name) in [
        (
            JournalConfig {
                segment_bytes: 5000,
                ..SMALL
            },
            "segment_bytes",
        ),
        (
            JournalConfig {
                segment_bytes: 2 << 30,
                ..SMALL
            },
            "segment_bytes",
        ),
        (
            JournalConfig {
                index_entries: 1,
                ..SMALL
            },
            "index_entries",
        ),
    ] {
        let error = Journal::open(Directory::open(&path).unwrap(), config).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
}
