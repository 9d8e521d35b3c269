//! The running binary: its output, its signals, its end.
#![allow(dead_code, reason = "each test file uses its part")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use socket2::{Domain, Socket, Type};

pub const SOON: Duration = Duration::from_secs(20);

/// A running `fixwire run`.
pub struct Running {
    pub child: Child,
    pub port: u16,
    lines: Receiver<String>,
}

impl Running {
    /// Starts an acceptor of FIX.4.2:EXEC->BENCH, and waits until it listens; `extra` goes into
    /// `[DEFAULT]`.
    pub fn start(folder: &Path, app: &str, extra: &str) -> Self {
        let running = Self::begin(folder, app, extra, fixwire());
        running.listens();
        running
    }

    /// The same with this command instead of `fixwire`, and without waiting.
    pub fn begin(folder: &Path, app: &str, extra: &str, command: Command) -> Self {
        let file = folder.join("acceptor.cfg");
        let store = folder.join("store");
        let port = free_port();
        let text = format!(
            "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort={port}\n\
             SocketAcceptAddress=127.0.0.1\nFileStorePath={}\nJournalSegmentSize=2M\n\
             NonStopSession=Y\n{extra}\n\
             [SESSION]\nBeginString=FIX.4.2\nSenderCompID=EXEC\nTargetCompID=BENCH\n",
            store.display()
        );
        fs::write(&file, text).unwrap();
        Self::run(command, app, &file, port)
    }

    /// Runs an application with a settings file that makes it listen at this port.
    pub fn run(mut command: Command, app: &str, file: &Path, port: u16) -> Self {
        command
            .args(["run", "--app", app])
            // Without it only root may read the process.
            .arg("--core-dumps")
            .arg(file)
            .stdout(Stdio::piped());
        Self::spawn(command, port)
    }

    /// Spawns a command whose settings make it listen at this port.
    pub fn spawn(mut command: Command, port: u16) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (tell, lines) = channel();
        thread::spawn(move || {
            stderr
                .lines()
                .map_while(Result::ok)
                .try_for_each(|line| tell.send(line))
        });
        Self { child, port, lines }
    }

    /// Waits until it listens at its port.
    pub fn listens(&self) {
        let line = self.hears("listening");
        assert!(line.ends_with(&format!(":{}", self.port)), "{line}");
    }

    /// Waits for a line with this text.
    pub fn hears(&self, text: &str) -> String {
        self.hears_until(&[text]).pop().unwrap()
    }

    /// The lines up to the first one with one of these texts.
    pub fn hears_until(&self, texts: &[&str]) -> Vec<String> {
        let deadline = Instant::now() + SOON;
        let mut heard: Vec<String> = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => heard.push(line),
                Err(error) => panic!("no line with {texts:?} ({error}) in {heard:#?}"),
            }
            let last = &heard[heard.len() - 1];
            if texts.iter().any(|text| last.contains(text)) {
                return heard;
            }
        }
    }

    /// Sends a signal, by its name without SIG.
    pub fn signal(&self, name: &str) {
        let signal = match name {
            "CONT" => Signal::CONT,
            "HUP" => Signal::HUP,
            "INT" => Signal::INT,
            "STOP" => Signal::STOP,
            "TERM" => Signal::TERM,
            "USR1" => Signal::USR1,
            other => panic!("no signal {other} here"),
        };
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits until SIGHUP and SIGUSR1 no longer end it, which is the earliest moment at which it handles signals.
    pub fn catches_signals(&self) {
        const BOTH: u64 = 1 | (1 << 9);
        let status = format!("/proc/{}/status", self.child.id());
        let catches = || {
            let status = fs::read_to_string(&status).unwrap_or_default();
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
            caught.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & BOTH == BOTH)
        };
        let deadline = Instant::now() + SOON;
        while !catches() {
            assert!(Instant::now() < deadline, "SIGHUP or SIGUSR1 is not caught");
            thread::sleep(Duration::from_micros(100));
        }
        // The handler is installed shortly before its action is set.
        thread::sleep(Duration::from_millis(10));
    }

    pub fn ends(&mut self) -> ExitStatus {
        let deadline = Instant::now() + SOON;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "the program does not end");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Kills a process that a failed assertion left running.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn fixwire() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fixwire"))
}

/// A port that the system does not assign to connections.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    loop {
        let port = NEXT.fetch_add(1, Ordering::Relaxed) + std::process::id() as u16 % 10_000;
        let port = 12_000 + port % 20_000;
        if is_free(port) {
            return port;
        }
    }
}

/// Whether nothing listens there. Binds without listening: a program that another test starts at this moment has a copy
/// of the socket until it runs, and would keep the port occupied.
fn is_free(port: u16) -> bool {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.set_reuse_address(true).unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    socket.bind(&address.into()).is_ok()
}
