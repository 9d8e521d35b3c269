//! Low-latency settings take effect in the running process, and report what they need where they cannot.

use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{
    Pid, PidfdFlags, PidfdGetfdFlags, Resource, geteuid, getrlimit, pidfd_getfd, pidfd_open,
};
use socket2::SockRef;

use crate::peer::Peer;
use crate::running::{Running, fixwire};

/// A user who is not root.
const NOBODY: u32 = 65534;
/// Bit of CAP_IPC_LOCK.
const IPC_LOCK: u64 = 14;

/// A field of `/proc/PID/status`, its first word.
fn status(process: &str, name: &str) -> String {
    let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let word = line.and_then(|line| line.split_whitespace().next());
    word.expect("a field of this name").to_owned()
}

/// Whether this process and its children may lock all their memory.
fn may_lock() -> bool {
    let capabilities = u64::from_str_radix(&status("self", "CapEff:"), 16).unwrap();
    capabilities >> IPC_LOCK & 1 == 1 || getrlimit(Resource::Memlock).current.is_none()
}

#[test]
fn locked_memory_is_all_of_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::begin(folder.path(), "echo", "LockMemory=Y", fixwire());
    if !may_lock() {
        running.hears("cannot lock memory (LockMemory=Y): the limit is");
        assert_eq!(running.ends().code(), Some(1));
        return;
    }
    running.listens();
    let process = running.child.id().to_string();
    let kilobytes = |name| status(&process, name).parse::<u64>().unwrap();
    let (locked, resident) = (kilobytes("VmLck:"), kilobytes("VmRSS:"));
    assert!(
        locked > 1_000 && locked >= resident / 10 * 9,
        "{locked} kB are locked, {resident} are resident"
    );
    let mut peer = Peer::connect(running.port, "BENCH", "EXEC");
    peer.log_on(30);
    drop(running);
    let running = Running::start(folder.path(), "echo", "LockMemory=N");
    assert_eq!(status(&running.child.id().to_string(), "VmLck:"), "0");
}

#[test]
fn a_limit_of_locked_memory_is_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("fixwire");
    // Copied by a program: a file that this process has open for writing while another test starts a process cannot be
    // executed.
    let mut copy = Command::new("cp");
    copy.arg(env!("CARGO_BIN_EXE_fixwire")).arg(&binary);
    assert!(copy.status().unwrap().success());
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "ulimit -l 64; exec \"$0\" \"$@\""])
        .arg(&binary);
    if geteuid().is_root() {
        chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        shell.uid(NOBODY).gid(NOBODY);
    }
    let mut running = Running::begin(folder.path(), "echo", "LockMemory=Y", shell);
    let line = running.hears("cannot lock memory");
    let expected = "the limit is 64 KiB, and all memory of the process counts towards this limit: \
        raise it (LimitMEMLOCK=infinity of the service, or ulimit -l unlimited)";
    assert!(line.contains(expected), "{line}");
    assert_eq!(running.ends().code(), Some(1));
}

/// SO_BUSY_POLL of the socket of a process that is connected with this one, microseconds.
fn busy_poll(process: u32, client: &TcpStream) -> Option<u32> {
    let pid = Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
    let process_fd = pidfd_open(pid, PidfdFlags::empty()).unwrap();
    let files = fs::read_dir(format!("/proc/{process}/fd")).unwrap();
    let numbers = files.filter_map(|file| file.unwrap().file_name().to_str()?.parse().ok());
    let own = client.local_addr().unwrap();
    numbers
        .filter_map(|number| pidfd_getfd(&process_fd, number, PidfdGetfdFlags::empty()).ok())
        .find_map(|file| {
            let socket = SockRef::from(&file);
            let peer = socket.peer_addr().ok()?.as_socket()?;
            (peer == own).then(|| socket.busy_poll().unwrap())
        })
}

#[test]
fn busy_polling_reaches_the_socket_or_is_refused_with_an_event() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path(), "echo", "BusyPoll=40");
    let client = TcpStream::connect(("127.0.0.1", running.port)).unwrap();
    let mut peer = Peer::on(client.try_clone().unwrap(), "BENCH", "EXEC");
    peer.log_on(30);
    // The system refuses it for this process exactly when it refuses it for the engine.
    if SockRef::from(&client).set_busy_poll(40).is_ok() {
        assert_eq!(busy_poll(running.child.id(), &client), Some(40));
    } else {
        let line = running.hears("socket options not set");
        assert!(line.contains("BusyPoll=40: "), "{line}");
        assert!(
            line.contains("; set net.core.busy_read=40, or give the process CAP_NET_ADMIN"),
            "{line}"
        );
    }
}
