//! Detects whether the terminal that started this process is still open.

use std::fs::{self, File};
use std::io::{self, IsTerminal};

/// The terminal at the start.
pub struct Terminal {
    /// Whether the process had a controlling terminal.
    controlling: bool,
    /// Whether standard input was a terminal.
    stdin: bool,
}

impl Terminal {
    /// The present terminal. A process that ignores SIGHUP, as with `nohup`, must outlive its terminal, so it counts as
    /// a process without a terminal.
    pub fn now() -> Self {
        let outlives = ignores_hangup();
        Self {
            controlling: !outlives && has_controlling_terminal(),
            stdin: !outlives && io::stdin().is_terminal(),
        }
    }

    /// Whether a terminal that was present at the start was closed.
    pub fn is_gone(&self) -> bool {
        self.controlling && !has_controlling_terminal() || self.stdin && !io::stdin().is_terminal()
    }
}

fn has_controlling_terminal() -> bool {
    File::open("/dev/tty").is_ok()
}

/// Whether SIGHUP is ignored; false when unknown.
fn ignores_hangup() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // SIGHUP is signal 1, which is the lowest bit.
    ignored.is_some_and(|mask| mask & 1 == 1)
}
