//! tcpdump next to a connection.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// A running capture. tcpdump is killed when this is dropped.
pub struct Capture {
    child: Child,
    said: BufReader<ChildStderr>,
    path: PathBuf,
}

impl Capture {
    /// Captures everything on this port of the loopback interface into a file; returns when tcpdump listens.
    pub fn start(path: &Path, port: u16) -> Result<Self, String> {
        let mut command = Command::new("tcpdump");
        // Kernel buffers of 32 MiB; packets are written at once; no change of user, since another user could not write
        // here.
        command.args(["-i", "lo", "-B", "32768", "-U", "-Z", "root", "-w"]);
        command.arg(path).args(["tcp", "port", &port.to_string()]);
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        let cure = "apt-get install tcpdump; it needs CAP_NET_RAW";
        let mut child = command
            .spawn()
            .map_err(|error| format!("tcpdump: {error}; {cure}"))?;
        let stderr = child.stderr.take().ok_or("tcpdump has no stderr")?;
        let mut capture = Self {
            child,
            said: BufReader::new(stderr),
            path: path.to_owned(),
        };
        let mut said = String::new();
        while !said.contains("listening on") {
            let read = capture.said.read_line(&mut said);
            if read.map_err(|error| format!("tcpdump: {error}"))? == 0 {
                return Err(format!("tcpdump ended: {said}; {cure}"));
            }
        }
        Ok(capture)
    }

    /// Waits until the file stops growing, and ends tcpdump; an error if it dropped packets.
    pub fn finish(mut self) -> Result<(), String> {
        // The kernel hands packets over after a second at the latest.
        const REST: Duration = Duration::from_millis(2_500);
        let length = || std::fs::metadata(&self.path).map_or(0, |data| data.len());
        let (mut known, mut since) = (length(), Instant::now());
        while since.elapsed() < REST {
            std::thread::sleep(Duration::from_millis(20));
            if length() != known {
                (known, since) = (length(), Instant::now());
            }
        }
        kill_process(Pid::from_child(&self.child), Signal::INT)
            .map_err(|error| format!("tcpdump: {error}"))?;
        let mut said = String::new();
        let read = self.said.read_to_string(&mut said);
        read.map_err(|error| format!("tcpdump: {error}"))?;
        let status = self.child.wait();
        let status = status.map_err(|error| format!("tcpdump: {error}"))?;
        if status.success() && said.contains("\n0 packets dropped by kernel") {
            return Ok(());
        }
        Err(format!("tcpdump, {status}: {said}"))
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
