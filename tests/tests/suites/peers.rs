//! Do we and other engines answer every order of the measurement, and would it see one that does not?
//!
//! `PEERS=all` builds and asks every acceptor of `peers/peers.list`, not only those that other suites build.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fixwire_lab::load::Pace;
use fixwire_lab::report::{FLOOR_SLEEPS, FLOOR_SPINS, result_file};
use fixwire_rigs::packages::workspace;
use fixwire_rigs::server::{binary, scratch};

/// Acceptors whose packages other suites also need.
const COMMON: [&str; 7] = [
    "raw",
    "raw-block",
    "fixwire",
    "fixwire-spin",
    "quickfix-cpp",
    "quickfixj",
    "quickfixgo",
];
/// Faults that the floor can inject once in a thousand answers, and the counter for each.
const FAULTS: [(&str, &str); 4] = [
    ("bad-clordid", "1 answered wrongly"),
    ("bad-checksum", "1 answered wrongly"),
    ("bad-seq", "1 answered wrongly"),
    (
        "bad-drop",
        "1 were not answered, 0 answered twice, 0 answered out of order, 0 answered wrongly",
    ),
];

/// The acceptors of one test have the cores to themselves.
fn cores() -> MutexGuard<'static, ()> {
    static CORES: Mutex<()> = Mutex::new(());
    CORES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn bench() -> Command {
    let mut command = Command::new(binary().expect("fixwire is built"));
    command.args(["bench", "peers"]).current_dir(workspace());
    command
}

fn check(names: &[String]) -> Output {
    let _cores = cores();
    let output = bench().arg("--check").args(names).output();
    output.expect("fixwire runs")
}

/// 4,000 orders each, and the way of waiting.
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

#[test]
fn without_its_floor_nothing_is_shown() {
    const LIST: &str =
        "raw-block | memory | sleeps | - | - | -\nfixwire | memory | sleeps | - | - | -\n";
    const RUN: &str = "#!/bin/sh\n[ \"$1\" = build ] && exit\necho no such device >&2; exit 3\n";
    let folder = scratch("peers-without-floor").expect("a folder");
    let script = folder.join("run.sh");
    std::fs::write(folder.join("peers.list"), LIST).expect("a list");
    std::fs::write(&script, RUN).expect("a script");
    std::fs::set_permissions(&script, Permissions::from_mode(0o755)).expect("a program");
    let output = bench().arg("--folder").arg(&folder).output();
    let output = output.expect("fixwire runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    let floor = "raw-block:memory: the acceptor exited before it listened (exit status: 3)\n    no such device\n";
    assert!(stderr.contains(floor), "{stderr}");
    let other = format!("fixwire:memory: not shown, because {FLOOR_SLEEPS}, its floor, failed\n");
    assert!(stderr.contains(&other), "{stderr}");
}

#[test]
fn engines_stand_beside_the_floor_of_their_kind() {
    let _cores = cores();
    let folder = scratch("peers").expect("a folder");
    let result = folder.join("peers.json");
    let mut command = bench();
    command.args([
        "fixwire:memory",
        "fixwire-spin:memory",
        "--rate",
        "2000",
        "--flood",
    ]);
    command.args([
        "--iterations",
        "500",
        "--warm-up",
        "200",
        "--runs",
        "2",
        "--json",
    ]);
    let output = command.arg(&result).output().expect("fixwire runs");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}{stderr}");
    for line in stdout.lines() {
        // A path is as long as it is.
        assert!(line.chars().count() <= 80 || line.contains('/'), "{line}");
    }
    let report = result_file::read(&result).expect("a result file");
    for pace in [Pace::PingPong, Pace::PerSecond(2_000), Pace::Flood] {
        let rows: Vec<_> = report.rows.iter().filter(|row| row.pace == pace).collect();
        let subjects: Vec<_> = rows.iter().map(|row| &*row.subject).collect();
        let expected = [
            FLOOR_SPINS,
            "fixwire-spin:memory",
            FLOOR_SLEEPS,
            "fixwire:memory",
        ];
        assert_eq!(subjects, expected);
        for row in &rows {
            assert_eq!(row.runs.len(), 2, "{}", row.subject);
            assert!(
                row.runs.iter().all(|run| run.sent == 500),
                "{}",
                row.subject
            );
        }
        assert_eq!(
            report.floor_of(rows[1]).map(|floor| &*floor.subject),
            Some(FLOOR_SPINS)
        );
        assert_eq!(
            report.floor_of(rows[3]).map(|floor| &*floor.subject),
            Some(FLOOR_SLEEPS)
        );
    }
}
