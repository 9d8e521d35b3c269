//! `fixwire run` on SIGHUP and SIGUSR1: no session ends without a Logout.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::peer::{self, Peer};
use crate::running::{Running, SOON, fixwire};

const NAME: &str = "FIX.4.2:EXEC->BENCH";

fn log_on(running: &Running) -> Peer {
    let mut peer = Peer::connect(running.port, "BENCH", "EXEC");
    peer.log_on(30);
    running.hears("logged on");
    peer
}

/// Ends it with Logouts.
fn stop(mut running: Running, mut peer: Peer) {
    running.signal("TERM");
    peer.expect("5");
    peer.send("5", "");
    peer.closed();
    assert_eq!(running.ends().code(), Some(0));
    running.hears("disconnected: both sides have logged out");
    running.hears(&format!("stopped: {NAME} disconnected, next MsgSeqNum in "));
    running.hears("stopped: 1 session, ");
}

#[test]
fn usr1_prints_each_session_with_state_and_numbers_and_disturbs_none() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path(), "echo", "");
    running.signal("USR1");
    running.hears("status: 0 of 1 sessions logged on");
    running.hears(&format!(
        "status: {NAME} disconnected, next MsgSeqNum in 1, out 1"
    ));
    let mut peer = log_on(&running);
    peer.send("D", &peer::order("A1"));
    peer.expect("8");
    running.signal("USR1");
    running.hears("status: 1 of 1 sessions logged on");
    running.hears(&format!(
        "status: {NAME} logged on, next MsgSeqNum in 3, out 3"
    ));
    stop(running, peer);
}

#[test]
fn hup_and_usr1_while_it_starts_wait_until_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = fixwire();
    command.current_dir(folder.path());
    let running = Running::begin(folder.path(), "echo", "FileLogPath=log", command);
    running.catches_signals();
    running.signal("HUP");
    running.signal("USR1");
    // Before or after the first events.
    running.hears("status: 0 of 1 sessions logged on");
    let peer = log_on(&running);
    stop(running, peer);
}

#[test]
fn hup_opens_log_files_anew_and_no_line_is_lost_or_there_twice() {
    const ROUNDS: usize = 5;
    const ORDERS: usize = 40;
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let running = Running::start(
        folder.path(),
        "echo",
        &format!("FileLogPath={}", log.display()),
    );
    let mut peer = log_on(&running);
    let current = ["messages", "event"].map(|kind| {
        let name = format!("FIX.4.2-EXEC-BENCH.{kind}.current.log");
        (kind, log.join(name))
    });
    for round in 0..ROUNDS {
        for order in 0..ORDERS {
            // While traffic flows.
            if order == ORDERS / 2 && round > 0 {
                for (kind, path) in &current {
                    wait_for(path);
                    fs::rename(path, log.join(format!("{kind}.{round}"))).unwrap();
                }
                running.signal("HUP");
            }
            peer.send("D", &peer::order(&format!("A{round}-{order}-")));
        }
        for _ in 0..ORDERS {
            peer.expect("8");
        }
        if round > 0 {
            running.hears("message and event log in files: reopened");
        }
    }
    stop(running, peer);

    let read = |kind: &str| -> String {
        let old = (1..ROUNDS).map(|round| log.join(format!("{kind}.{round}")));
        let new = current
            .iter()
            .find(|(it, _)| *it == kind)
            .map(|it| it.1.clone());
        let files = old.chain(new).map(|path| fs::read_to_string(path).unwrap());
        files.collect()
    };
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for line in read("messages").lines() {
        let field = |tag: &str| {
            let mut fields = line.split('\x01');
            fields
                .find_map(|field| field.strip_prefix(tag))
                .map(str::to_owned)
        };
        if let (Some(kind), Some(id)) = (field("35="), field("11=")) {
            *found.entry(format!("{kind} {id}")).or_default() += 1;
        }
    }
    assert_eq!(found.len(), 2 * ROUNDS * ORDERS, "{found:?}");
    assert!(found.values().all(|times| *times == 1), "{found:?}");
    let events = read("event");
    for event in ["logged on", "received Logout", "disconnected: "] {
        assert_eq!(events.matches(event).count(), 1, "{event}: {events}");
    }
    let last = fs::read_to_string(&current[0].1).unwrap();
    assert!(
        last.contains("\x0135=5\x01"),
        "the new file is the one that is written: {last}"
    );
}

fn wait_for(path: &Path) {
    let deadline = Instant::now() + SOON;
    while !path.exists() {
        assert!(Instant::now() < deadline, "{} is not made", path.display());
        thread::sleep(Duration::from_millis(1));
    }
}

/// A terminal: the end of the terminal program, and the path of the other end.
fn terminal() -> (OwnedFd, File) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let path = ptsname(&master, Vec::new()).unwrap();
    // Otherwise it would become the terminal of this test.
    let slave = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(rustix::fs::OFlags::NOCTTY.bits() as i32)
        .open(path.to_str().unwrap())
        .unwrap();
    (master, slave)
}

/// `fixwire`, started by these programs, as the first process at a terminal.
fn at_terminal(slave: File, before: &[&str]) -> Command {
    // The test runner may ignore SIGHUP, and programs inherit that.
    let mut command = Command::new("env");
    command
        .args(["--default-signal=HUP", "setsid", "--ctty"])
        .args(before);
    command.arg(env!("CARGO_BIN_EXE_fixwire")).stdin(slave);
    command
}

#[test]
fn a_terminal_that_is_gone_logs_out_and_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let (master, slave) = terminal();
    let mut running = Running::begin(folder.path(), "echo", "", at_terminal(slave, &[]));
    running.listens();
    let mut peer = log_on(&running);
    // A manual SIGHUP changes nothing while the terminal is open.
    running.signal("HUP");
    running.signal("USR1");
    running.hears("status: 1 of 1 sessions logged on");
    peer.send("1", "112=still there");
    peer.expect("0");
    drop(master);
    peer.expect("5");
    peer.send("5", "");
    peer.closed();
    assert_eq!(running.ends().code(), Some(0));
}

#[test]
fn what_was_started_to_outlive_its_terminal_does() {
    let folder = tempfile::tempdir().unwrap();
    let (master, slave) = terminal();
    let running = Running::begin(folder.path(), "echo", "", at_terminal(slave, &["nohup"]));
    running.listens();
    let mut peer = log_on(&running);
    drop(master);
    running.signal("HUP");
    running.signal("USR1");
    running.hears("status: 1 of 1 sessions logged on");
    peer.send("1", "112=still there");
    peer.expect("0");
    stop(running, peer);
}
