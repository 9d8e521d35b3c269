//! Stores as the engines write them, byte by byte; `tests/tests/suites/stores.rs` has the engines themselves.

use std::fs;
use std::path::{Path, PathBuf};

use fixwire_engine::journal::{self, Cause, Directory, Journal, JournalConfig, RecordKind};
use fixwire_protocol::time::Timestamp;
use fixwire_protocol::{frame, tag};
use tempfile::TempDir;

use super::{Existing, Family, Imported, StoreError, export, import};

const NAME: &str = "FIX.4.2:A->B";
const NOW: Timestamp = Timestamp(1_800_000_000_000_000_000);

fn message(seq: u64, text: &str) -> Vec<u8> {
    let body = format!("35=D\x0149=A\x0156=B\x0134={seq}\x0152=20261121-14:58:34\x0158={text}\x01");
    let head = format!("8=FIX.4.2\x019={}\x01{body}", body.len());
    format!("{head}10={:03}\x01", frame::check_sum(head.as_bytes())).into_bytes()
}

/// The files of each engine after messages 1, 2 and 4, with 5 to send and 7 to expect next.
fn golden(family: Family) -> Vec<(&'static str, Vec<u8>)> {
    let messages = [message(1, "one"), message(2, "twenty"), message(4, "4")];
    let sizes = messages.each_ref().map(Vec::len);
    let body = messages.concat();
    let rows = [
        (1, 0, sizes[0]),
        (2, sizes[0], sizes[1]),
        (4, sizes[0] + sizes[1], sizes[2]),
    ];
    let text = |end: &str| {
        let rows = rows.map(|(seq, at, size)| format!("{seq},{at},{size}{end}"));
        rows.concat().into_bytes()
    };
    let binary = || {
        let rows = rows.map(|(seq, at, size)| {
            let mut row = [0; 16];
            row[3] = seq;
            row[10..12].copy_from_slice(&(at as u16).to_be_bytes());
            row[14..].copy_from_slice(&(size as u16).to_be_bytes());
            row
        });
        rows.concat()
    };
    let bytes = |text: &str| text.as_bytes().to_vec();
    match family {
        Family::Quickfix => vec![
            ("seqnums", bytes("0000000005 : 0000000007")),
            ("session", bytes("20261121-14:58:34")),
            ("header", text(" ")),
            ("body", body),
        ],
        Family::QuickfixJ => vec![
            ("senderseqnums", bytes("\0\x015")),
            ("targetseqnums", bytes("\0\x017")),
            ("session", bytes("\0\x1520261121-14:58:34.120")),
            ("header", binary()),
            ("body", body),
        ],
        Family::QuickfixGo => vec![
            ("senderseqnums", bytes("0000000000000000005")),
            ("targetseqnums", bytes("0000000000000000007")),
            ("session", bytes("2026-11-21T14:58:34.123456789Z")),
            ("header", text("\n")),
            ("body", body),
        ],
        Family::QuickfixN => vec![
            (
                "seqnums",
                bytes("00000000000000000005 : 00000000000000000007  "),
            ),
            ("session", bytes("20261121-14:58:34.123456 Z")),
            ("header", text("\n")),
            ("body", body),
        ],
    }
}

struct Place {
    root: TempDir,
}

impl Place {
    fn new(family: Family) -> Self {
        let place = Self {
            root: TempDir::new().unwrap(),
        };
        fs::create_dir(place.store()).unwrap();
        for (ending, bytes) in golden(family) {
            fs::write(place.file(ending), bytes).unwrap();
        }
        place
    }

    fn store(&self) -> PathBuf {
        self.root.path().join("old")
    }

    fn file(&self, ending: &str) -> PathBuf {
        self.store().join(format!("FIX.4.2-A-B.{ending}"))
    }

    fn journal(&self) -> PathBuf {
        self.root.path().join("journal")
    }

    fn import(&self, family: Family, existing: Existing) -> Result<Imported, StoreError> {
        import(family, &self.store(), &self.journal(), NAME, existing, NOW)
    }

    fn open(&self) -> Journal<Directory> {
        let directory = Directory::open(self.journal()).unwrap();
        Journal::open(directory, JournalConfig::default())
            .unwrap()
            .0
    }
}

/// All files in a folder except the lock, with their content.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap() != "lock")
        .map(|path| {
            let bytes = fs::read(&path).unwrap();
            (path.display().to_string(), bytes)
        })
        .collect();
    found.sort();
    found
}

#[test]
fn a_session_moves_in_and_back_with_the_same_bytes() {
    for family in Family::ALL {
        let place = Place::new(family);
        let moved = place.import(family, Existing::Refuse).unwrap();
        assert_eq!(
            (
                moved.messages,
                moved.next_in,
                moved.next_out,
                moved.left_out
            ),
            (3, 7, 5, 0)
        );
        assert!(journal::verify(&place.journal()).unwrap().bad.is_none());
        let mut journal = place.open();
        let id = journal.sessions().next().unwrap().0;
        assert_eq!(
            journal.outbound(id, 2).unwrap().unwrap(),
            message(2, "twenty")
        );
        assert_eq!(journal.outbound(id, 3).unwrap(), None);
        assert_eq!(journal.numbers_began(id), Some(moved.began));
        drop(journal);
        let back = place.root.path().join("back");
        let out = export(family, &place.journal(), &back, NAME).unwrap();
        assert_eq!((out.messages, out.next_in, out.next_out), (3, 7, 5));
        let bytes = |folder: &Path| files(folder).into_iter().map(|file| file.1);
        assert!(bytes(&back).eq(bytes(&place.store())), "{family:?}");
    }
}

#[test]
fn a_store_moves_from_any_engine_to_any_other() {
    for from in Family::ALL {
        let place = Place::new(from);
        place.import(from, Existing::Refuse).unwrap();
        for to in Family::ALL {
            let back = place.root.path().join(format!("{to:?}"));
            export(to, &place.journal(), &back, NAME).unwrap();
            for (ending, bytes) in golden(to) {
                // The engines store the session's start with more or fewer digits.
                if ending != "session" {
                    let written = fs::read(back.join(format!("FIX.4.2-A-B.{ending}"))).unwrap();
                    assert_eq!(written, bytes, "{from:?} to {to:?}: {ending}");
                }
            }
        }
    }
}

#[test]
fn a_session_whose_reset_is_under_way_moves_out_with_both_numbers_1() {
    for family in Family::ALL {
        let place = Place::new(family);
        place.import(family, Existing::Refuse).unwrap();
        {
            let mut journal = place.open();
            let cause = Cause {
                session: journal.sessions().next().unwrap().0,
                kind: RecordKind::Reset,
                inbound: None,
                next_in: 0,
                next_out: 5,
                epoch: 0,
            };
            journal.append(NOW, cause, std::iter::empty()).unwrap();
        }
        let back = place.root.path().join("back");
        let out = export(family, &place.journal(), &back, NAME).unwrap();
        assert_eq!((out.messages, out.next_in, out.next_out), (0, 1, 1));
        let again = place.root.path().join("again");
        let moved = import(family, &back, &again, NAME, Existing::Refuse, NOW).unwrap();
        assert_eq!((moved.messages, moved.next_in, moved.next_out), (0, 1, 1));
    }
}

#[test]
fn a_session_that_is_there_is_replaced_only_when_told() {
    let family = Family::Quickfix;
    let place = Place::new(family);
    place.import(family, Existing::Refuse).unwrap();
    let before = files(&place.journal());
    let error = place.import(family, Existing::Refuse).unwrap_err();
    assert!(matches!(
        error,
        StoreError::InUse {
            next_in: 7,
            next_out: 5,
            ..
        }
    ));
    assert!(files(&place.journal()) == before, "the journal has changed");
    fs::write(place.file("seqnums"), "0000000003 : 0000000009").unwrap();
    let moved = place.import(family, Existing::Replace).unwrap();
    assert_eq!((moved.messages, moved.left_out), (2, 1));
    let mut journal = place.open();
    let (id, _, counters) = journal.sessions().next().unwrap();
    assert_eq!((counters.next_in, counters.next_out), (9, 3));
    assert_eq!(
        journal.outbound(id, 2).unwrap().unwrap(),
        message(2, "twenty")
    );
    assert_eq!(journal.outbound(id, 4).unwrap(), None);
}

#[test]
fn other_sessions_of_the_journal_stay_and_so_do_files_of_a_store() {
    let family = Family::QuickfixGo;
    let place = Place::new(family);
    {
        let mut journal = place.open();
        let other = journal.register(NOW, "FIX.4.4:X->Y").unwrap();
        journal.reset(NOW, other).unwrap();
    }
    place.import(family, Existing::Refuse).unwrap();
    let names: Vec<_> = place
        .open()
        .sessions()
        .map(|(_, name, counters)| (name.to_owned(), counters.epoch, counters.next_out))
        .collect();
    let expected = [("FIX.4.4:X->Y".to_owned(), 1, 1), (NAME.to_owned(), 0, 5)];
    assert_eq!(names, expected);
    let before = files(&place.store());
    let error = export(family, &place.journal(), &place.store(), NAME).unwrap_err();
    assert!(matches!(error, StoreError::Occupied { .. }), "{error}");
    assert!(files(&place.store()) == before);
    let error = export(family, &place.journal(), &place.store(), "FIX.4.4:C->D").unwrap_err();
    assert!(
        error
            .to_string()
            .contains("it has: FIX.4.4:X->Y, FIX.4.2:A->B")
    );
    let nowhere = place.root.path().join("nowhere");
    let error = export(family, &nowhere, &place.store(), NAME).unwrap_err();
    assert!(matches!(error, StoreError::NoJournal { .. }), "{error}");
    assert!(!nowhere.exists());
}

#[test]
fn every_cut_and_every_changed_digit_of_a_store_is_refused_and_changes_nothing() {
    for family in Family::ALL {
        let place = Place::new(family);
        for (ending, whole) in golden(family) {
            let path = place.file(ending);
            let refused = |bytes: &[u8], what: &str| {
                fs::write(&path, bytes).unwrap();
                let error = match place.import(family, Existing::Refuse) {
                    Err(error) => error,
                    Ok(moved) => panic!("{family:?} {ending} {what}: {moved:?}"),
                };
                let StoreError::Damaged(damage) = &error else {
                    panic!("{family:?} {ending} {what}: {error}");
                };
                assert!(damage.file.contains("FIX.4.2-A-B."), "{error}");
                assert!(!place.journal().exists(), "{family:?} {ending} {what}");
            };
            for len in 0..whole.len() {
                // A number without its last digits is still a number. Java leaves a 1 unwritten.
                let shorter = match ending {
                    "seqnums" => family == Family::QuickfixN && (len == 0 || len > 42),
                    "targetseqnums" => family == Family::QuickfixJ && len == 0,
                    "session" => family == Family::QuickfixN && len >= 24,
                    _ => false,
                };
                if !shorter {
                    refused(&whole[..len], &format!("cut at {len}"));
                }
            }
            if matches!(ending, "body" | "header") {
                for at in 0..whole.len() {
                    let mut changed = whole.clone();
                    changed[at] ^= 1;
                    refused(&changed, &format!("changed at {at}"));
                }
                refused(&[&whole[..], b"x"].concat(), "longer");
            }
            fs::write(&path, &whole).unwrap();
        }
        for (ending, whole) in golden(family) {
            fs::remove_file(place.file(ending)).unwrap();
            let error = place.import(family, Existing::Refuse).unwrap_err();
            assert!(matches!(error, StoreError::Missing { .. }), "{error}");
            fs::write(place.file(ending), whole).unwrap();
        }
        place.import(family, Existing::Refuse).unwrap();
    }
}

#[test]
fn an_import_that_was_cut_off_leaves_the_journal_as_it_was() {
    let place = Place::new(Family::Quickfix);
    let before = {
        let mut journal = place.open();
        journal.register(NOW, "FIX.4.4:X->Y").unwrap();
        journal.positions().1
    };
    {
        // An import up to the moment before its end.
        let mut journal = place.open();
        journal.disk_mut().begin_pending(2).unwrap();
        journal.new_segment(NOW).unwrap();
        journal.register(NOW, NAME).unwrap();
    }
    assert!(place.journal().join("00000002.import").exists());
    let read = journal::verify(&place.journal()).unwrap();
    assert_eq!((read.sessions.len(), read.bad), (1, None));
    let journal = place.open();
    assert_eq!(journal.sessions().count(), 1);
    assert_eq!(journal.positions().1, before);
    assert!(!place.journal().join("00000002.import").exists());
    drop(journal);
    place
        .import(Family::Quickfix, Existing::Refuse)
        .expect("the next one is not in its way");
}

#[test]
fn a_journal_in_use_is_refused() {
    let place = Place::new(Family::Quickfix);
    let journal = place.open();
    let error = place.import(Family::Quickfix, Existing::Refuse);
    assert!(error.unwrap_err().to_string().contains("in use by another"));
    let back = place.root.path().join("back");
    let error = export(Family::Quickfix, &place.journal(), &back, NAME).unwrap_err();
    assert!(error.to_string().contains("in use by another"));
    drop(journal);
}

#[test]
fn of_a_number_that_was_used_twice_the_later_message_counts() {
    for family in Family::ALL {
        let place = Place::new(family);
        let (first, second) = (message(2, "first"), message(2, "second"));
        let (a, b) = (first.len(), second.len());
        let header = match family {
            Family::QuickfixJ => {
                let row = |at: usize, len: usize| {
                    let mut row = [0; 16];
                    row[3] = 2;
                    row[11] = at as u8;
                    row[15] = len as u8;
                    row
                };
                [row(0, a), row(a, b)].concat()
            }
            Family::Quickfix => format!("2,0,{a} 2,{a},{b} ").into_bytes(),
            _ => format!("2,0,{a}\r\n2,{a},{b}\r\n").into_bytes(),
        };
        fs::write(place.file("header"), header).unwrap();
        fs::write(place.file("body"), [first, second.clone()].concat()).unwrap();
        assert_eq!(place.import(family, Existing::Refuse).unwrap().messages, 1);
        let mut journal = place.open();
        let id = journal.sessions().next().unwrap().0;
        assert_eq!(journal.outbound(id, 2).unwrap().unwrap(), second);
    }
}

#[test]
fn a_size_in_characters_does_not_cut_a_message_of_java() {
    let place = Place::new(Family::QuickfixJ);
    let (first, second) = (message(1, "Zürich"), message(2, "Genève"));
    let row = |seq: u8, at: usize, len: usize| {
        let mut row = [0; 16];
        row[3] = seq;
        row[11] = at as u8;
        row[15] = len as u8 - 1;
        row
    };
    let rows = [row(1, 0, first.len()), row(2, first.len(), second.len())];
    fs::write(place.file("header"), rows.concat()).unwrap();
    fs::write(place.file("body"), [first, second.clone()].concat()).unwrap();
    place
        .import(Family::QuickfixJ, Existing::Refuse)
        .expect("both are whole");
    let mut journal = place.open();
    let id = journal.sessions().next().unwrap().0;
    assert_eq!(journal.outbound(id, 2).unwrap().unwrap(), second);
}

#[test]
fn a_password_does_not_enter_the_journal() {
    let place = Place::new(Family::Quickfix);
    let body = "35=A\x0149=A\x0156=B\x0134=1\x0152=20261121-14:58:34\x01554=tiger\x01";
    let head = format!("8=FIX.4.2\x019={}\x01{body}", body.len());
    let logon = format!("{head}10={:03}\x01", frame::check_sum(head.as_bytes()));
    fs::write(place.file("header"), format!("1,0,{} ", logon.len())).unwrap();
    fs::write(place.file("body"), logon).unwrap();
    place.import(Family::Quickfix, Existing::Refuse).unwrap();
    let mut journal = place.open();
    let id = journal.sessions().next().unwrap().0;
    let kept = journal.outbound(id, 1).unwrap().unwrap();
    assert!(kept.windows(10).any(|part| part == b"\x01554=*****"));
    let mut decoder = fixwire_protocol::Decoder::with_capacity(32);
    assert_eq!(decoder.decode(kept).get(tag::PASSWORD), Some(&b"*****"[..]));
}
