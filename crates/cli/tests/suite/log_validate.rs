//! `fixwire log validate`.

use std::fs;

use serde_json::Value;

use crate::log::{fixwire, message, text};

#[test]
fn validate_names_what_a_session_would_reject() {
    let root = tempfile::tempdir().unwrap();
    let good = "11=A|55=VOD|54=1|60=20261120-10:00:01|38=1|40=1|";
    let log = [
        message("D", 1, "CLIENT", 1, good),
        message("D", 2, "CLIENT", 2, &good.replace("54=1", "54=?")),
        message("D", 3, "CLIENT", 3, &format!("{good}6000=1|")),
        message("A", 4, "CLIENT", 4, "98=0|108=x|554=tiger|"),
    ];
    fs::write(root.path().join("x.log"), log.join("\n")).unwrap();
    let output = fixwire(root.path(), &["log", "validate", "x.log"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in [
        "x.log:2 2026-11-20T10:00:02.000000000Z FIX.4.4:BROKER<>CLIENT ?   35=D 34=2: Value is incorrect (out of range) \
         for this tag: 54=?\n",
        "35=D 34=3: Invalid tag number: 6000=1\n",
        "35=A 34=4: Incorrect data format for value: 108=x\n",
        "3 of 4 messages have a problem\n",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(
        !said.contains("tiger") && !said.contains("x.log:1 "),
        "{said}"
    );
    let args = [
        "log",
        "validate",
        "--json",
        "--without",
        "validate-user-defined-fields",
        "x.log",
    ];
    let output = fixwire(root.path(), &args);
    let said = text(&output.stdout);
    let lines: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 3, "{said}");
    assert_eq!(
        (&lines[0]["tag"], &lines[0]["sessionRejectReason"]),
        (&"54".into(), &5.into())
    );
    assert_eq!(
        (&lines[2]["messages"], &lines[2]["invalid"]),
        (&4.into(), &2.into())
    );
    let output = fixwire(
        root.path(),
        &["log", "validate", "--dictionary", "FIX.9.9", "x.log"],
    );
    assert!(!output.status.success() && text(&output.stderr).contains("FIX.9.9"));
    fs::write(root.path().join("y.log"), &log[0]).unwrap();
    let output = fixwire(root.path(), &["log", "validate", "y.log"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stdout), "0 of 1 messages have a problem\n");
}
