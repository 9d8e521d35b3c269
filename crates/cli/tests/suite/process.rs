//! The running process: a journal that is truncated under it, its CPU time, and its protection from other users.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::peer::{Peer, order};
use crate::running::{Running, fixwire, free_port};
use rustix::process::geteuid;

#[test]
fn a_segment_that_is_truncated_ends_the_process_with_a_word_about_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::start(folder.path(), "echo", "");
    let mut peer = Peer::connect(running.port, "BENCH", "EXEC");
    peer.log_on(30);
    let segment = folder.path().join("store/00000001.fwj");
    OpenOptions::new()
        .write(true)
        .open(segment)
        .unwrap()
        .set_len(0)
        .unwrap();
    peer.send("D", &order("1"));
    peer.closed();
    let line = running.hears("SIGBUS");
    assert!(line.contains("was truncated while it was in use"), "{line}");
    assert_eq!(running.ends().code(), Some(1));
}

/// Processor time of a process so far, in hundredths of a second.
fn processor_time(process: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_, behind_name) = stat.rsplit_once(") ").unwrap();
    let fields: Vec<&str> = behind_name.split(' ').collect();
    [fields[11], fields[12]]
        .iter()
        .map(|ticks| ticks.parse::<u64>().unwrap())
        .sum()
}

#[test]
fn an_idle_engine_that_blocks_uses_less_than_a_hundredth_of_a_core() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path(), "echo", "");
    let mut peer = Peer::connect(running.port, "BENCH", "EXEC");
    peer.log_on(1);
    let before = processor_time(running.child.id());
    thread::sleep(Duration::from_secs(3));
    let used = processor_time(running.child.id()) - before;
    assert!(used <= 3, "{used} hundredths of a second in three seconds");
    // It did not sleep through its timers.
    peer.expect("0");
}

/// On a machine without such a core.
#[test]
fn a_core_that_is_missing_is_named_with_its_setting() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::begin(folder.path(), "echo", "Core=1023", fixwire());
    let line = running.hears("cannot pin");
    let expected =
        "cannot pin the engine to its core (Core=1023): there is no core 1023: this machine has ";
    assert!(line.contains(expected), "{line}");
    assert_eq!(running.ends().code(), Some(1));
    let check = fixwire()
        .args(["check", "acceptor.cfg"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8(check.stderr).unwrap();
    let expected = "warning: Core=1023: there is no core 1023: this machine has ";
    assert!(said.contains(expected), "{said}");
    let last = String::from_utf8(check.stdout).unwrap();
    assert!(
        last.ends_with(" warnings\n") || last.ends_with(", 1 warning\n"),
        "{last}"
    );
}

#[test]
fn helpers_stay_off_the_core_that_the_engine_is_pinned_to() {
    let folder = tempfile::tempdir().unwrap();
    let extra = format!("Core=0\nFileLogPath={}/log", folder.path().display());
    let running = Running::start(folder.path(), "echo", &extra);
    let mut peer = Peer::connect(running.port, "BENCH", "EXEC");
    peer.log_on(30);
    // A thread that is just starting has the cores of its parent.
    let patience = Instant::now();
    let (engines, mut helpers) = loop {
        let (engines, helpers) = threads_of(running.child.id());
        let is_settled = engines == 1 && !helpers.iter().any(|(_, cores)| cores.starts_with('0'));
        if is_settled || patience.elapsed() > Duration::from_secs(10) {
            break (engines, helpers);
        }
        thread::sleep(Duration::from_millis(1));
    };
    helpers.sort();
    assert_eq!(engines, 1, "one thread is pinned; others are {helpers:?}");
    for (name, cores) in &helpers {
        assert!(!cores.starts_with('0'), "{name} may run on {cores}");
    }
    for helper in ["control", "journal-maker", "log-files", "print", "signals"] {
        assert!(
            helpers.iter().any(|(name, _)| name == helper),
            "{helper}: {helpers:?}"
        );
    }
}

/// Number of threads of a process that may run on core 0 only, and names and cores of the others.
fn threads_of(process: u32) -> (usize, Vec<(String, String)>) {
    let (mut engines, mut helpers) = (0, Vec::new());
    for task in fs::read_dir(format!("/proc/{process}/task")).unwrap() {
        let task = task.unwrap().path();
        // A thread may exit meanwhile.
        let text = |file| fs::read_to_string(task.join(file));
        let (Ok(name), Ok(status)) = (text("comm"), text("status")) else {
            continue;
        };
        let allowed = |line: &str| line.strip_prefix("Cpus_allowed_list:").map(str::to_owned);
        let cores = status.lines().find_map(allowed).unwrap();
        match cores.trim() {
            "0" => engines += 1,
            others => helpers.push((name.trim().to_owned(), others.to_owned())),
        }
    }
    (engines, helpers)
}

/// A user who is not root.
const NOBODY: u32 = 65534;

#[test]
fn only_with_core_dumps_does_the_system_show_the_process_to_its_own_user() {
    for shown in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        // Where others cannot enter the build folder, they can enter this one.
        let binary = folder.path().join("fixwire");
        // Copied by a program: a file that this process has open for writing while another test starts a process cannot
        // be executed.
        let mut copy = Command::new("cp");
        copy.arg(env!("CARGO_BIN_EXE_fixwire")).arg(&binary);
        assert!(copy.status().unwrap().success());
        let file = folder.path().join("a.cfg");
        let port = free_port();
        let text = format!(
            "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort={port}\nFileStorePath={}/store\n\
             NonStopSession=Y\n[SESSION]\nBeginString=FIX.4.2\nSenderCompID=A\nTargetCompID=B\n",
            folder.path().display()
        );
        fs::write(&file, text).unwrap();
        let (mut command, mut reader) = (Command::new(&binary), Command::new("cat"));
        if geteuid().is_root() {
            chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
            for command in [&mut command, &mut reader] {
                command.uid(NOBODY).gid(NOBODY);
            }
        }
        command
            .arg("run")
            .args(shown.then_some("--core-dumps"))
            .arg(&file);
        let running = Running::spawn(command, port);
        running.listens();
        let read = reader
            .arg(format!("/proc/{}/environ", running.child.id()))
            .output()
            .unwrap();
        assert_eq!(read.status.success(), shown, "{read:?}");
    }
}
