//! `fixwire journal dump`: queries, names, frames of links, and a growing journal.

use std::path::Path;
use std::process::Stdio;
use std::{
    io::{BufRead, BufReader},
    sync::mpsc::channel,
    thread,
};

use fixwire::journal::{Cause, Directory, Journal, JournalConfig, RecordKind};
use fixwire_protocol::Timestamp;

use crate::peer::{self, Peer};
use crate::running::{Running, SOON, fixwire};

/// The exit code, output and errors of a dump of `store` with these arguments.
fn dump(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let mut command = fixwire();
    command.args(["journal", "dump", "store"]).args(args);
    let output = command.current_dir(folder).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    (code, text(output.stdout), text(output.stderr))
}

/// An engine that has answered these orders.
fn traded(folder: &Path, ids: &[&str]) -> (Running, Peer) {
    let running = Running::start(folder, "echo", "");
    let mut peer = Peer::connect(running.port, "BENCH", "EXEC");
    peer.send("A", "98=0|108=30|95=7|96=hunter2");
    peer.expect("A");
    for id in ids {
        peer.send("D", &peer::order(id));
        peer.expect("8");
    }
    (running, peer)
}

#[test]
fn a_question_in_the_language_of_rules_finds_messages() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (_running, mut peer) = traded(folder, &["A1", "B1"]);
    peer.send("B", "148=a \"quoted\" headline|33=1|58=text");
    peer.expect("j");
    for (query, lines) in [
        ("MsgType = NewOrderSingle", 2),
        ("ClOrdID begins \"A\"", 2),
        ("11 = \"B1\" and MsgType = ExecutionReport", 1),
        ("Headline matches \"a .quoted. h\"", 1),
        ("any(33, Text = \"text\") or 148 = \"X\"", 1),
        ("MsgType = NewOrderSingle and OrderQty > 1", 0),
        ("message matches \"35=[Dj]\"", 3),
    ] {
        let (code, out, error) = dump(folder, &["--query", query]);
        assert_eq!(
            (code, out.lines().count()),
            (0, lines),
            "{query}: {out}{error}"
        );
    }
    for (query, says) in [
        (
            "ClOrdD = A",
            "at 1: unknown field 'ClOrdD' (did you mean 'ClOrdID'?)",
        ),
        (
            "Side =",
            "at 7: found the end of the text, expected a value",
        ),
        ("Side = \"\n", "must not have control characters"),
        ("source = B", "unknown session"),
        ("Text = a\"b", "at "),
    ] {
        let (code, out, error) = dump(folder, &["-q", query]);
        assert_eq!((code, out.as_str()), (1, ""), "{query}");
        assert!(
            error.starts_with("error: --query: ") && error.contains(says),
            "{error}"
        );
        assert_eq!(error.lines().count(), 1, "{error:?}");
    }
}

#[test]
fn messages_are_printed_with_names_and_groups_indented() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (_running, mut peer) = traded(folder, &["A1"]);
    peer.send("B", "148=Close|33=2|58=first|58=second|9001=ours");
    peer.expect("3");
    let (code, out, _) = dump(
        folder,
        &["--decode", "--mask", "148", "-q", "MsgType = News"],
    );
    assert_eq!(code, 0);
    let lines: Vec<&str> = out.lines().collect();
    assert!(
        lines[0].ends_with(" in      34=3 [rejected] News (B)"),
        "{out}"
    );
    let body: Vec<&str> = lines[8..lines.len() - 1].to_vec();
    let expected = [
        "  Headline(148)                      ***",
        "  LinesOfText(33)                    2",
        "  [1]",
        "    Text(58)                         first",
        "  [2]",
        "    Text(58)                         second",
        "  (9001)                             ours",
    ];
    assert_eq!(body, expected, "{out}");
    let (_, out, _) = dump(folder, &["--decode"]);
    assert!(
        out.contains("  Side(54)                           1 BUY\n"),
        "{out}"
    );
    assert!(
        out.contains("  RawData(96)                        ***\n"),
        "{out}"
    );
    assert!(!out.contains("hunter2"), "{out}");
    assert!(
        out.contains(" session "),
        "what is no message is a line as ever: {out}"
    );
    let (_, out, _) = dump(
        folder,
        &["--decode", "--dictionary", "FIX.4.0", "-q", "35 = B"],
    );
    assert!(out.contains("News (B)"), "{out}");
    let (code, _, error) = dump(folder, &["--decode", "--dictionary", "none.xml"]);
    assert!(code == 1 && error.contains("none.xml"), "{error}");
    let (code, _, error) = dump(folder, &["--decode", "--json"]);
    assert!(
        code == 2 && error.contains("cannot be used with"),
        "{error}"
    );
}

#[test]
fn a_dump_that_follows_prints_what_is_written_later() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (_running, mut peer) = traded(folder, &["A1"]);
    let mut follower = fixwire()
        .args([
            "journal",
            "dump",
            "store",
            "-f",
            "-q",
            "MsgType = NewOrderSingle",
        ])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(follower.stdout.take().unwrap());
    let (tell, heard) = channel();
    let reader = thread::spawn(move || {
        let mut lines = lines.lines().map_while(Result::ok);
        lines.try_for_each(|line| tell.send(line))
    });
    assert!(heard.recv_timeout(SOON).unwrap().contains("|11=A1|"));
    for id in ["A2", "A3"] {
        peer.send("D", &peer::order(id));
        peer.expect("8");
        let line = heard.recv_timeout(SOON).unwrap();
        assert!(line.contains(&format!("|11={id}|")), "{line}");
    }
    follower.kill().unwrap();
    follower.wait().unwrap();
    drop(reader.join());
    let (code, _, error) = dump(&folder.join("store"), &["-f"]);
    assert!(code == 1 && error.contains("No such file"), "{error}");
}

#[test]
fn frames_of_links_are_shown_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let directory = Directory::open(folder.join("store")).unwrap();
    let (mut journal, _) = Journal::open(directory, JournalConfig::default()).unwrap();
    let wall = Timestamp(1_787_319_000_000_000_000);
    let session = journal.register(wall, "LINK->VENUE").unwrap();
    let cause = Cause {
        session,
        kind: RecordKind::Message,
        inbound: Some(b"\x00\x04ping"),
        next_in: 2,
        next_out: 1,
        epoch: 1,
    };
    journal.append(wall, cause, std::iter::empty()).unwrap();
    drop(journal);
    let line = |args: &[&str]| {
        let (code, out, error) = dump(folder, &[&["--direction", "in"][..], args].concat());
        assert_eq!(code, 0, "{error}");
        out
    };
    let head = "2026-08-21T13:30:00.000000000Z LINK->VENUE in      frame=1 ";
    assert_eq!(line(&[]), format!("{head}000470696e67\n"));
    assert_eq!(line(&["--decode"]), format!("{head}000470696e67\n"));
    let text = format!("{head}\\x00\\x04ping\n");
    assert_eq!(line(&["--frames", "text"]), text);
    assert!(line(&["--json"]).ends_with(",\"frame\":\"000470696e67\"}\n"));
    // A query selects messages only.
    assert_eq!(line(&["--query", "11 = \"X\""]), "");
    let (code, _, error) = dump(folder, &["--frames", "tmp"]);
    assert!(code == 2 && error.contains("hex, text"), "{error}");
    let (code, _, error) = dump(folder, &["--frames", "text", "--json"]);
    assert!(code == 2 && error.contains("cannot be used"), "{error}");
}
