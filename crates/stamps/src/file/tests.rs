use super::*;

use std::fs;
use std::path::PathBuf;

fn stamp(order: u64) -> Stamp {
    let mut stamp = Stamp::new(b'D', b"A", FirstState::Sending);
    (stamp.order, stamp.written) = (order, 7);
    stamp
}

/// Runs an OMS that writes a stamp of this order; returns the number of bytes cut off at the start.
fn run(path: &Path, order: u64) -> u64 {
    let file = StampsFile::start(path, |error| panic!("{error}")).unwrap();
    file.stamps().keep(&mut vec![stamp(order)]);
    file.cut()
}

fn orders(path: &Path) -> Vec<u64> {
    let stamps = read(fs::read(path).unwrap().as_slice(), None).unwrap();
    stamps.iter().map(|it| it.order).collect()
}

fn refused(path: &Path) -> String {
    StampsFile::start(path, |_| ()).unwrap_err().to_string()
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stamps.txt");
    (folder, path)
}

#[test]
fn a_start_appends_to_what_the_one_before_has_written() {
    let (_folder, path) = folder();
    assert_eq!((run(&path, 1), run(&path, 2)), (0, 0));
    assert_eq!(orders(&path), [1, 2]);
    assert_eq!(fs::read_to_string(&path).unwrap().matches(HEAD).count(), 1);
}

/// Wherever a kill cuts the file: complete lines stay, and the rest of an incomplete one is removed.
#[test]
fn an_unfinished_last_line_is_cut_off_wherever_it_ends() {
    let (_folder, path) = folder();
    run(&path, 1);
    run(&path, 2);
    let whole = fs::read(&path).unwrap();
    let line = whole.len() - HEAD.len() - 1;
    assert_eq!(line % 2, 0);
    let (first, second) = (whole.len() - line, whole.len() - line / 2);
    for len in 0..=whole.len() {
        fs::write(&path, &whole[..len]).unwrap();
        let (kept, left): (&[u64], _) = if len < first {
            (&[3], len)
        } else if len < second {
            (&[3], len - first)
        } else if len < whole.len() {
            (&[1, 3], len - second)
        } else {
            (&[1, 2, 3], 0)
        };
        assert_eq!(run(&path, 3), left as u64, "{len}");
        assert_eq!(orders(&path), kept, "{len}");
    }
}

/// A system crash may leave a file that is longer than the written data.
#[test]
fn zeros_at_the_end_are_cut_off() {
    let (_folder, path) = folder();
    run(&path, 1);
    let mut text = fs::read(&path).unwrap();
    text.resize(text.len() + 30_000, 0);
    fs::write(&path, text).unwrap();
    assert_eq!(run(&path, 2), 30_000);
    assert_eq!(orders(&path), [1, 2]);
}

#[test]
fn another_file_is_refused_and_stays_as_it_is() {
    let (_folder, path) = folder();
    let head = "byte 0: the first line is not that of a stamps file of this version; move";
    let broken = format!("{HEAD}\n1|a|D|Sent|1|2|3|4|5\n1|half");
    let line = format!("byte {}: unknown state; move", HEAD.len() + 1);
    let changed = HEAD.replace("T1(found)", "T1(seen)");
    for (text, wanted) in [
        ("ClOrdID|MsgType|State|T0\na|D|Sending|1\n", head),
        ("x", head),
        (&changed, "byte 43: the first line"),
        (&broken, &line),
    ] {
        fs::write(&path, text).unwrap();
        let said = refused(&path);
        assert!(said.starts_with(wanted), "{said}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn a_file_that_another_process_writes_is_refused() {
    let (_folder, path) = folder();
    let first = StampsFile::start(&path, |_| ()).unwrap();
    assert_eq!(refused(&path), "another process writes this stamps file");
    drop(first);
    run(&path, 1);
}
