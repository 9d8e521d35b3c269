//! One line that says what is being measured, on a terminal only.

use std::io::{IsTerminal, Write, stderr};

/// The line; gone when this is dropped.
///
/// It changes between runs, never during one: drawing takes a core.
#[derive(Debug)]
pub struct Progress {
    shown: bool,
    done: usize,
    steps: usize,
}

impl Progress {
    /// A line for so many steps.
    pub fn new(steps: usize) -> Self {
        Self {
            shown: stderr().is_terminal(),
            done: 0,
            steps,
        }
    }

    /// The next step starts.
    pub fn step(&mut self, what: &str) {
        self.done += 1;
        if self.shown {
            let mut to = stderr().lock();
            // A terminal that went away is no reason to stop measuring.
            let _ = write!(to, "\r\x1b[K[{}/{}] {what}", self.done, self.steps);
            let _ = to.flush();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}
