//! `fixwire log anonymise`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::log::{fixwire, logs, message, text};

/// The content of a folder.
fn content(folder: &Path) -> String {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    names.sort();
    let texts = names
        .iter()
        .map(|path| format!("{}\n{}", path.display(), text(&fs::read(path).unwrap())));
    texts.collect()
}

#[test]
fn anonymous_logs_have_nothing_of_the_original_and_the_same_story() {
    let root = tempfile::tempdir().unwrap();
    logs(root.path());
    let secret = "49=CLIENT desk 7 : ";
    let other = message(
        "D",
        6,
        "CLIENT",
        8,
        "11=A2-later-order|1=JANE-4711|55=VOD|58=for BROKER|",
    );
    fs::write(
        root.path().join("CLIENT-notes.txt"),
        format!("{secret}{other}\n"),
    )
    .unwrap();
    let args = [
        "log",
        "anonymise",
        "logs",
        "CLIENT-notes.txt",
        "--to",
        "out",
    ];
    let output = fixwire(root.path(), &args);
    let errors = text(&output.stderr);
    // One message has a wrong BodyLength, one is cut off.
    assert_eq!(output.status.code(), Some(1));
    assert!(
        errors.contains("error: not written: logs/FIX.4.4-BROKER-CLIENT.messages.current.log:8: "),
        "{errors}"
    );
    assert!(errors.contains("error: not read: logs/"), "{errors}");
    let table = text(&output.stdout);
    assert!(
        table.contains("log-001.log") && table.contains("CLIENT-notes.txt"),
        "{table}"
    );
    let out = root.path().join("out");
    let said = content(&out).replace(&out.display().to_string(), "");
    for original in [
        "CLIENT", "BROKER", "tiger", "desk", "JANE", "4711", "A2-later", "unknown", "for ",
    ] {
        assert!(!said.contains(original), "{original}: {said}");
    }
    assert!(said.contains("\x0155=VOD\x01") && said.contains("\x0138=1500\x01"));
    assert!(
        said.contains("20261120-10:00:01.002") || said.contains("2026-11-20T10:00:01.002"),
        "{said}"
    );
    for file in fs::read_dir(&out).unwrap() {
        let mode = file.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    // The same summary, except for names.
    let summary = |path: &str| -> Value {
        let output = fixwire(root.path(), &["log", "summary", "--json", path]);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let (before, after) = (summary("logs"), summary("out"));
    assert_eq!(after["faults"], Value::Array(Vec::new()));
    assert_eq!(after["gaps"], before["gaps"]);
    assert_eq!(after["messages"], 8);
    assert_eq!(after["times"]["first"], before["times"]["first"]);
    assert_eq!(after["sessions"].as_array().unwrap().len(), 2);
    assert_eq!(
        after["sessions"][0]["in"].as_u64().unwrap() + after["sessions"][1]["in"].as_u64().unwrap(),
        4
    );
    // Never into a folder that is not empty.
    let output = fixwire(root.path(), &args);
    assert!(text(&output.stderr).contains("the folder is not empty"));
}

#[test]
fn a_key_makes_the_same_pseudonyms_again() {
    let root = tempfile::tempdir().unwrap();
    fs::write(
        root.path().join("x.log"),
        message("D", 1, "CLIENT", 1, "11=ORDER-1|"),
    )
    .unwrap();
    fs::write(root.path().join("key"), "sixteen bytes or more\n").unwrap();
    fs::write(root.path().join("short"), "too short\n").unwrap();
    let anonymise = |to: &str, more: &[&str]| {
        let args = [&["log", "anonymise", "x.log", "--to", to], more].concat();
        let output = fixwire(root.path(), &args);
        let text = fs::read(root.path().join(to).join("log-001.log")).unwrap_or_default();
        (output, text)
    };
    let (output, one) = anonymise("one", &["--key-file", "key"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(one, anonymise("two", &["--key-file", "key"]).1);
    let random = [anonymise("three", &[]).1, anonymise("four", &[]).1];
    assert!(random[0] != one && random[0] != random[1] && random[0].len() == one.len());
    let kept = text(&anonymise("five", &["--keep", "11,49"]).1);
    assert!(
        kept.contains("\x0111=ORDER-1\x01")
            && kept.contains("\x0149=CLIENT\x01")
            && !kept.contains("BROKER")
    );
    let (output, _) = anonymise("six", &["--key-file", "short"]);
    assert!(!output.status.success() && text(&output.stderr).contains("at least 16 bytes"));
    let (output, _) = anonymise("seven", &["--key-file", "no-file"]);
    assert!(!output.status.success() && text(&output.stderr).contains("no-file"));
}
