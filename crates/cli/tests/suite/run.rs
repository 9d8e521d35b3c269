//! The binary on real sockets: a file, a port, a peer, a signal.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::peer::{self, Peer};
use crate::running::{Running, SOON, fixwire, free_port};
use rustix::process::geteuid;

/// An echo with these settings and few file descriptors, whatever the limit of this process.
fn start_with_few(folder: &Path, descriptors: u32, settings: &str) -> Running {
    let (file, port) = (folder.join("acceptor.cfg"), free_port());
    fs::write(&file, settings.replace("{port}", &port.to_string())).unwrap();
    let mut shell = Command::new("sh");
    let limited = format!("ulimit -n {descriptors}; exec \"$0\" \"$@\"");
    shell.args(["-c", &limited, env!("CARGO_BIN_EXE_fixwire")]);
    let running = Running::run(shell, "echo", &file, port);
    running.listens();
    running
}

#[test]
fn an_order_gets_its_report_and_sigterm_ends_cleanly() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::start(folder.path(), "echo", "");
    let mut peer = Peer::connect(running.port, "BENCH", "EXEC");
    peer.log_on(30);
    running.hears("FIX.4.2:EXEC->BENCH logged on");
    peer.send("D", &peer::order("A1"));
    let report = peer.expect("8");
    assert!(
        report.contains("|11=A1|") && report.contains("|34=2|") && report.contains("|55=LCOM1|"),
        "{report}"
    );

    running.signal("TERM");
    peer.expect("5");
    peer.send("5", "");
    peer.closed();
    assert_eq!(running.ends().code(), Some(0));
    running.hears("disconnected");

    // The next run continues where this one ended.
    let mut running = Running::start(folder.path(), "echo", "");
    let mut peer = Peer::connect(running.port, "BENCH", "EXEC");
    peer.next_out = 4;
    peer.log_on(30);
    peer.send("D", &peer::order("A2"));
    let report = peer.expect("8");
    assert!(
        report.contains("|11=A2|") && report.contains("|34=5|"),
        "{report}"
    );
    drop(peer);
    running.hears("closed by the peer");
    running.signal("INT");
    assert_eq!(running.ends().code(), Some(0));

    let store = folder.path().join("store");
    let verify = fixwire()
        .args(["journal", "verify", "--json"])
        .arg(&store)
        .output()
        .unwrap();
    assert!(verify.status.success(), "{verify:?}");
    let dump = fixwire()
        .args(["journal", "dump", "--direction", "out"])
        .arg(&store)
        .output()
        .unwrap();
    let dump = String::from_utf8(dump.stdout).unwrap();
    assert!(
        dump.contains("|11=A1|") && dump.contains("|11=A2|"),
        "{dump}"
    );
}

/// Benches and external peers rely on these exact bytes.
#[test]
fn the_bench_answers_with_the_published_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path(), "bench", "");
    let mut peer = Peer::connect(running.port, "BENCH", "EXEC");
    peer.log_on(30);
    for id in ["A1", "A2"] {
        peer.send("D", &peer::order(id));
        let report = peer.expect("8");
        let body = format!(
            "|6=110.11|11={id}|14=7|17=tkacct.151124.e.EFX.122.6|20=0|37=tkacct.151124.e.EFX.122.6|39=0|\
             54=1|55=EFX|109=TEST|150=2|151=0|10="
        );
        assert!(report.contains(&body), "{report}");
    }
}

#[test]
fn a_second_signal_ends_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::start(folder.path(), "echo", "StopTimeout=600\nLogoutTimeout=600");
    let mut peer = Peer::connect(running.port, "BENCH", "EXEC");
    peer.log_on(30);
    running.signal("TERM");
    // It waits for the answer to its Logout.
    peer.expect("5");
    running.signal("TERM");
    assert_eq!(running.ends().code(), Some(128 + 15));
}

#[test]
fn what_arrives_is_printed_and_no_secret_or_control_byte_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::start(
        folder.path(),
        "log",
        "Durability=memory\nUseDataDictionary=N",
    );
    let mut peer = Peer::connect(running.port, "BENCH", "EXEC");
    peer.log_on(30);
    peer.send("D", "11=A\x1b[31m1|554=hunter2");
    peer.send("1", "112=done");
    peer.expect("0");
    running.signal("TERM");
    peer.expect("5");
    peer.send("5", "");
    assert_eq!(running.ends().code(), Some(0));
    let mut printed = String::new();
    running
        .child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut printed)
        .unwrap();
    assert_eq!(printed.lines().count(), 1, "{printed}");
    assert!(printed.contains("FIX.4.2:EXEC->BENCH"), "{printed}");
    assert!(printed.contains("|11=A\\x1b[31m1|554=***"), "{printed}");
    assert!(
        !folder.path().join("store").exists(),
        "memory leaves nothing on disk"
    );
}

#[test]
fn a_stranger_is_named_and_refused() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path(), "conformance", "");
    let mut peer = Peer::connect(running.port, "STRANGER", "EXEC");
    peer.send("A", "98=0|108=30");
    peer.closed();
    running.hears("unknown session: Logon with BeginString=FIX.4.2, SenderCompID=STRANGER, TargetCompID=EXEC, MsgSeqNum=1");
    let mut peer = Peer::connect(running.port, "BENCH", "EXEC");
    peer.log_on(30);
    peer.send("D", &peer::order("B7"));
    assert!(peer.expect("D").contains("|11=B7|"));
}

#[test]
fn a_port_in_use_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path(), "echo", "");
    let second = fixwire()
        .args(["run", "--app", "echo"])
        .arg(folder.path().join("acceptor.cfg"))
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(1));
    let said = String::from_utf8(second.stderr).unwrap();
    assert!(said.contains(&running.port.to_string()), "{said}");
}

#[test]
fn too_little_address_space_is_named_and_what_to_raise() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("acceptor.cfg");
    let text = format!(
        "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort={}\nFileStorePath={}\n\
         JournalSegmentSize=64M\nNonStopSession=Y\n\
         [SESSION]\nBeginString=FIX.4.2\nSenderCompID=EXEC\nTargetCompID=BENCH\n",
        free_port(),
        folder.path().join("store").display()
    );
    fs::write(&file, text).unwrap();
    let limited = "ulimit -v 60000; exec \"$0\" run --app echo \"$1\"";
    let mut shell = Command::new("sh");
    shell.args(["-c", limited, env!("CARGO_BIN_EXE_fixwire")]);
    let output = shell.arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    for text in [
        "warning: the address space is limited to 58 MiB (ulimit -v, LimitAS)",
        "the journal's segments need address space: raise the limit",
    ] {
        assert!(said.contains(text), "{text}: {said}");
    }
    let warns = said.contains("warning: running as root");
    assert_eq!(warns, geteuid().is_root(), "{said}");
}

/// T1, T19: the process listens only where its file says, and its files belong to its user.
#[test]
fn it_listens_at_its_port_alone_and_writes_for_its_user_alone() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path(), "log", "");
    let process = Path::new("/proc").join(running.child.id().to_string());
    let status = fs::read_to_string(process.join("status")).unwrap();
    let umask = status.lines().find(|line| line.starts_with("Umask:"));
    assert_eq!(umask, Some("Umask:\t0077"));
    let ports = listening_ports(&process);
    assert_eq!(ports, [running.port]);
}

/// The TCP ports at which a process listens.
fn listening_ports(process: &Path) -> Vec<u16> {
    let links = fs::read_dir(process.join("fd")).unwrap();
    let links = links.filter_map(|entry| fs::read_link(entry.unwrap().path()).ok());
    let sockets: Vec<String> = links
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.replace(']', "")))
        .collect();
    let mut ports = Vec::new();
    for table in ["tcp", "tcp6"] {
        let text = fs::read_to_string(process.join("net").join(table)).unwrap_or_default();
        for line in text.lines().skip(1) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [_, local, _, "0A", _, _, _, _, _, inode, ..] = words[..] else {
                continue;
            };
            if sockets.iter().any(|socket| socket == inode) {
                let port = local.rsplit(':').next().unwrap();
                ports.push(u16::from_str_radix(port, 16).unwrap());
            }
        }
    }
    ports
}

/// Unknown peers log on through a template until no descriptors are left. Configured sessions continue, over new
/// segments of the journal and the log, and get a connection when they reconnect.
#[test]
fn strangers_who_take_every_descriptor_stop_neither_the_engine_nor_a_configured_session() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display();
    let settings = format!(
        "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort={{port}}\nDialect=fixwire\n\
         SocketAcceptAddress=127.0.0.1\nFileStorePath={path}/store\nFileLogPath={path}/log\n\
         JournalSegmentSize=2M\nNonStopSession=Y\nBeginString=FIX.4.2\nSenderCompID=EXEC\n\
         MaxPendingConnections=10\nMaxFailedLogons=10000\nMaxFailedLogonsPerAddress=10000\n\
         [SESSION]\nTargetCompID=BENCH\n[SESSION]\nTargetCompID=*\nAcceptorTemplate=Y\n"
    );
    let mut running = start_with_few(folder.path(), 96, &settings);
    let told = running.hears("open files and sockets");
    assert!(told.contains("the limit is 96"), "{told}");
    let mut client = Peer::connect(running.port, "BENCH", "EXEC");
    client.log_on(30);
    let mut strangers = Vec::new();
    for number in 0..200 {
        let name: &'static str = format!("S{number}").leak();
        let mut stranger = Peer::connect(running.port, name, "EXEC");
        stranger.send("A", "98=0|108=0");
        strangers.push(stranger);
    }
    let text = "x".repeat(60_000);
    for number in 0..120 {
        client.send(
            "D",
            &format!("{}|58={text}", peer::order(&format!("c{number}"))),
        );
        client.expect("8");
    }
    let segments = fs::read_dir(folder.path().join("store")).unwrap();
    let segments = segments.filter(|file| {
        let name = file.as_ref().unwrap().file_name();
        name.to_string_lossy().ends_with(".fwj")
    });
    assert!(segments.count() >= 3, "several segments were begun");
    let log = folder
        .path()
        .join("log/FIX.4.2-EXEC-BENCH.messages.current.log");
    let deadline = Instant::now() + SOON;
    while !fs::read_to_string(&log).is_ok_and(|log| log.contains("11=c119\x01")) {
        assert!(Instant::now() < deadline, "its log goes on");
        thread::sleep(Duration::from_millis(10));
    }
    drop(client);
    let mut again = Peer::connect(running.port, "BENCH", "EXEC");
    again.next_out = 122;
    again.log_on(30);
    running.signal("TERM");
    assert!(running.ends().success());
}
