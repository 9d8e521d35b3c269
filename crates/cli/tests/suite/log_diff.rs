//! `fixwire log diff`.

use std::fs;

use serde_json::Value;

use crate::log::{fixwire, logs, message, text};

#[test]
fn diff_lists_what_differs_between_two_sides() {
    let root = tempfile::tempdir().unwrap();
    let ours = [
        message("D", 1, "CLIENT", 1, "11=A|38=1|"),
        message("8", 1, "BROKER", 1, "11=A|"),
        message("D", 2, "CLIENT", 2, "11=B|"),
    ];
    let theirs = [
        message("D", 1, "CLIENT", 1, "11=A|38=2|"),
        message("8", 1, "BROKER", 1, "11=A|"),
    ];
    fs::write(root.path().join("ours.log"), ours.join("\n")).unwrap();
    fs::write(root.path().join("theirs.log"), theirs.join("\n")).unwrap();
    let output = fixwire(root.path(), &["log", "diff", "ours.log", "theirs.log"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stdout),
        "differs: A ours.log:1, B theirs.log:1: CLIENT->BROKER 34=1 35=D\n  OrderQty(38): A 1, B 2\n\
         only in A: ours.log:3 2026-11-20T10:00:02.000000000Z CLIENT->BROKER 34=2 35=D\n\
         1 messages are the same, 1 differ, 1 are only in A, 0 only in B\n"
    );
    let output = fixwire(
        root.path(),
        &["log", "diff", "--json", "theirs.log", "ours.log"],
    );
    let said = text(&output.stdout);
    let lines: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["fields"][0]["tag"], 38);
    assert_eq!(
        (&lines[1]["onlyIn"], &lines[1]["message"]["msgSeqNum"]),
        (&"B".into(), &2.into())
    );
    assert_eq!(lines[2]["same"], 1);
    for (args, code, said) in [
        (
            &["ours.log", "ours.log"][..],
            0,
            "3 messages are the same, 0 differ",
        ),
        (
            &["--ignore", "38", "theirs.log", "ours.log"],
            1,
            "2 messages are the same, 0 differ",
        ),
    ] {
        let output = fixwire(root.path(), &[&["log", "diff"], args].concat());
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        assert!(text(&output.stdout).contains(said), "{args:?}");
    }
    let output = fixwire(root.path(), &["log", "diff", "-", "-"]);
    assert!(
        !output.status.success() && text(&output.stderr).contains("write the other side to a file")
    );
    // Unreadable parts are named, and the readable ones shown.
    logs(root.path());
    let output = fixwire(root.path(), &["log", "diff", "logs", "logs"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).starts_with("8 messages are the same, 0 differ"));
    assert_eq!(text(&output.stderr).matches("error: not read: ").count(), 2);
}
