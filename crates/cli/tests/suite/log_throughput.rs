//! `fixwire log throughput`.

use std::fs;

use serde_json::Value;

use crate::log::{fixwire, message, text};

#[test]
fn throughput_has_the_layout_of_analyse_and_counts_what_is_asked_for() {
    let root = tempfile::tempdir().unwrap();
    let lines = [0, 0, 0, 1, 5].map(|milli| {
        let order = message("D", milli + 1, "CLIENT", 0, "11=A|");
        let report = message("8", milli + 1, "BROKER", 0, "11=A|");
        let resent = message("D", milli + 1, "CLIENT", 0, "43=Y|11=A|");
        [order, report, resent]
            .map(|text| format!("20261120-10:00:00.{milli:03} : {text}\n"))
            .concat()
    });
    fs::write(root.path().join("x.log"), lines.concat()).unwrap();
    let output = fixwire(root.path(), &["log", "throughput", "x.log"]);
    assert_eq!(
        text(&output.stdout),
        "5 transactions in 0.005 s\n\
         per ms       ms     share\n     0        3   50.000%\n     1        2   33.333%\n     3        1   16.667%\n"
    );
    let args = [
        "log",
        "throughput",
        "--json",
        "--of",
        "35=8",
        "--ours",
        "BROKER",
    ];
    for (way, count) in [("out", 5), ("in", 0)] {
        let args = [&args[..], &["--direction", way, "x.log"]].concat();
        let output = fixwire(root.path(), &args);
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["transactions"], count, "{way}");
    }
    let output = fixwire(root.path(), &["log", "throughput", "--of", "x", "x.log"]);
    assert!(!output.status.success() && text(&output.stderr).contains("expected a tag"));
}
