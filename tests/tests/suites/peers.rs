//! Do we and other engines answer every order of the measurement, and would it see one that does not?
//!
//! `PEERS=all` builds and asks every acceptor of `peers/peers.list`, not only those that other suites build.

use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use fixwire_rigs::packages::workspace;
use fixwire_rigs::server::binary;

/// Acceptors whose packages other suites need too.
const COMMON: [&str; 7] = [
    "raw",
    "raw-block",
    "fixwire",
    "fixwire-spin",
    "quickfix-cpp",
    "quickfixj",
    "quickfixgo",
];
/// What the floor can be told to do wrong once in a thousand answers, and how it is counted.
const FAULTS: [(&str, &str); 4] = [
    ("bad-clordid", "1 wrongly"),
    ("bad-checksum", "1 wrongly"),
    ("bad-seq", "1 wrongly"),
    (
        "bad-drop",
        "1 were not answered, 0 twice, 0 out of order, 0 wrongly",
    ),
];

/// The acceptors of one check have the cores for themselves.
fn check(names: &[String]) -> Output {
    static CORES: Mutex<()> = Mutex::new(());
    let _cores = CORES.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = Command::new(binary().expect("fixwire is built"));
    command.args(["bench", "peers", "--check"]).args(names);
    command.current_dir(workspace());
    command.output().expect("fixwire runs")
}

/// 4,000 orders each, and how it waits.
#[test]
fn every_answer_is_right() {
    let all = std::env::var("PEERS").is_ok_and(|which| which == "all");
    let names = match all {
        true => Vec::new(),
        false => COMMON.map(str::to_owned).to_vec(),
    };
    let output = check(&names);
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    println!("{stdout}");
    assert!(output.status.success(), "{stdout}{stderr}");
    let right = stdout
        .lines()
        .filter(|line| line.starts_with("ok "))
        .count();
    assert!(right >= 2 * COMMON.len(), "{stdout}");
}

#[test]
fn a_wrong_answer_is_counted_as_what_it_is() {
    let names = FAULTS.map(|(fault, _)| format!("raw:{fault}"));
    let output = check(&names);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{stderr}");
    for (fault, counted) in FAULTS {
        let line = stderr.lines().find(|line| line.contains(fault));
        assert!(
            line.is_some_and(|line| line.ends_with(counted)),
            "{fault}: {stderr}"
        );
    }
}
