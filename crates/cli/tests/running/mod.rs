//! The binary as it runs: what it says, how it takes signals, how it ends.
#![allow(dead_code, reason = "each test file uses its part")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

const SOON: Duration = Duration::from_secs(20);

/// A running `fixwire run`.
pub struct Running {
    pub child: Child,
    pub port: u16,
    events: Receiver<String>,
}

impl Running {
    /// Starts an acceptor of FIX.4.2:EXEC->BENCH, and waits until it listens; `extra` goes into
    /// `[DEFAULT]`.
    pub fn start(folder: &Path, app: &str, extra: &str) -> Self {
        let fixwire = || Command::new(env!("CARGO_BIN_EXE_fixwire"));
        let running = Self::begin(folder, app, extra, fixwire);
        running.hears("listening");
        running
    }

    /// The same with this command for `fixwire`, and without waiting.
    pub fn begin(folder: &Path, app: &str, extra: &str, command: impl FnOnce() -> Command) -> Self {
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
        let mut command = command();
        command
            .args(["run", "--app", app])
            // Without it only root may look into the process.
            .arg("--core-dumps")
            .arg(&file)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (tell, events) = channel();
        thread::spawn(move || {
            stderr
                .lines()
                .map_while(Result::ok)
                .try_for_each(|line| tell.send(line))
        });
        Self {
            child,
            port,
            events,
        }
    }

    /// Waits for an event line with this text.
    pub fn hears(&self, text: &str) -> String {
        let deadline = Instant::now() + SOON;
        let mut heard = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left) {
                Ok(line) if line.contains(text) => return line,
                Ok(line) => heard.push(line),
                Err(error) => panic!("no event {text:?} ({error}) in {heard:#?}"),
            }
        }
    }

    /// Sends a signal, by its name without SIG.
    pub fn signal(&self, name: &str) {
        let signal = match name {
            "HUP" => Signal::HUP,
            "INT" => Signal::INT,
            "TERM" => Signal::TERM,
            "USR1" => Signal::USR1,
            other => panic!("no signal {other} here"),
        };
        kill_process(Pid::from_child(&self.child), signal).unwrap();
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
        // Ends what a failed assertion left behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}
