//! A progress bar with the remaining time, on a terminal only.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// Characters of the bar.
const WIDTH: usize = 20;

/// A progress bar; the bar is erased when this value is dropped.
///
/// The bar is drawn between steps, never during a step, because drawing takes a core.
#[derive(Debug)]
pub struct Progress {
    shown: bool,
    done: usize,
    steps: usize,
    started: Instant,
}

impl Progress {
    /// A bar with this number of steps.
    pub fn new(steps: usize) -> Self {
        Self {
            shown: stderr().is_terminal(),
            done: 0,
            steps,
            started: Instant::now(),
        }
    }

    /// Starts the next step.
    pub fn step(&mut self, what: &str) {
        if self.shown {
            let line = line(self.done, self.steps, self.started.elapsed(), what);
            let mut to = stderr().lock();
            // When the terminal is closed, the measurement continues.
            let _ = write!(to, "\r\x1b[K{line}");
            let _ = to.flush();
        }
        self.done += 1;
    }
}

/// The text of the bar after `done` steps. The time left assumes that the remaining steps take as long as the
/// finished ones.
fn line(done: usize, steps: usize, took: Duration, what: &str) -> String {
    let steps = steps.max(1);
    let full = (WIDTH * done / steps).min(WIDTH);
    let bar = format!("[{}{}]", "#".repeat(full), ".".repeat(WIDTH - full));
    let left = match done {
        0 => String::new(),
        _ => {
            let rest = steps.saturating_sub(done) as f64 / done as f64;
            format!(", about {:.0} s left", (took.as_secs_f64() * rest).ceil())
        }
    };
    format!("{bar} {what}{left}").chars().take(79).collect()
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_with_the_time_left() {
        let at = |done, seconds| {
            line(
                done,
                16,
                Duration::from_secs(seconds),
                "2,000/s: run 1 of 3",
            )
        };
        assert_eq!(at(0, 0), "[....................] 2,000/s: run 1 of 3");
        assert_eq!(
            at(4, 10),
            "[#####...............] 2,000/s: run 1 of 3, about 30 s left"
        );
        assert_eq!(
            at(20, 10),
            "[####################] 2,000/s: run 1 of 3, about 0 s left"
        );
        assert_eq!(
            line(1, 2, Duration::ZERO, &"x".repeat(100)).chars().count(),
            79
        );
    }
}
