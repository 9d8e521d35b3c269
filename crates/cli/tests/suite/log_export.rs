//! `fixwire log export`.

use std::fs;

use serde_json::Value;

use crate::log::{fixwire, logs, message, text};

#[test]
fn csv_has_the_chosen_columns_and_json_lines_the_message() {
    let root = tempfile::tempdir().unwrap();
    logs(root.path());
    let args = [
        "log",
        "export",
        "--fields",
        "35,ClOrdID,38,554",
        "--of",
        "35=A|D",
        "logs",
    ];
    let output = fixwire(root.path(), &args);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("error: not read: "));
    let file = "logs/FIX.4.4-BROKER-CLIENT.messages.current.log";
    let session = "FIX.4.4:BROKER->CLIENT";
    let expected = [
        "file,place,time,session,direction,35,ClOrdID,38,554".to_owned(),
        format!("{file},1,2026-11-20T10:00:00.000000000Z,{session},in,A,,,***"),
        format!("{file},2,2026-11-20T10:00:00.001000000Z,{session},out,A,,,"),
        format!("{file},3,2026-11-20T10:00:01.002000000Z,{session},in,D,A1,1500,"),
        format!("{file},5,2026-11-20T10:00:04.004000000Z,{session},in,D,A2,3,"),
    ];
    assert_eq!(text(&output.stdout).lines().collect::<Vec<_>>(), expected);
    let args = ["log", "export", "--format", "jsonl", "logs"];
    let output = fixwire(root.path(), &args);
    let said = text(&output.stdout);
    assert!(!said.contains("tiger"), "{said}");
    let lines: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 8);
    assert_eq!(lines[0]["message"]["Body"]["Password"], "*****");
    assert_eq!(lines[2]["message"]["Body"]["ClOrdID"], "A1");
    assert_eq!(
        (&lines[2]["direction"], &lines[2]["place"]),
        (&"in".into(), &"3".into())
    );
    let hostile = message("D", 1, "CLIENT", 1, "11=A|11=B|");
    fs::write(root.path().join("twice.log"), hostile).unwrap();
    let output = fixwire(
        root.path(),
        &["log", "export", "--format", "jsonl", "twice.log"],
    );
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    let errors = text(&output.stderr);
    assert!(
        errors.contains("not written: twice.log:1: field 11 appears twice"),
        "{errors}"
    );
    let output = fixwire(
        root.path(),
        &["log", "export", "--fields", "Nonsense", "logs"],
    );
    assert!(!output.status.success() && text(&output.stderr).contains("Nonsense"));
}
