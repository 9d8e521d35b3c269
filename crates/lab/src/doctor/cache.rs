//! Whether the data of a core stay in its cache while the core spins. A spinning engine waits between orders, and
//! then needs its data at once.

use std::hint::black_box;
use std::time::{Duration, Instant};

use fastrand::Rng;
use fixwire_stamps::stats::median;
use serde::Serialize;

use super::measure::{Measured, on_all};
use super::observed::Observation;
use crate::error::Error;

/// Cache lines that are read: 128 KiB, about what an OMS reads for one order.
const LINES: usize = 2048;
/// Numbers in a line.
const IN_LINE: usize = 64 / size_of::<u32>();
/// How long the core spins between two reads of the lines.
const PAUSE: Duration = Duration::from_millis(10);
const ROUNDS: usize = 31;
/// A higher ratio of the second read to the first is bad.
const MOST: u64 = 3;

/// How long a core takes to read 128 KiB, line by line in random order: medians in nanoseconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct KeptCache {
    /// The core.
    pub core: usize,
    /// Read again at once.
    pub at_once: u64,
    /// Read again after 10 ms of spinning.
    pub after_pause: u64,
}

/// Measures all these cores at once.
pub(super) fn measure(cores: &[usize]) -> Result<Vec<KeptCache>, Error> {
    on_all(cores, "cache", |core| {
        let lines = Lines::new();
        let [mut at_once, mut after_pause] = [[0.0; ROUNDS]; 2];
        for round in 0..ROUNDS {
            lines.read();
            at_once[round] = lines.read();
            let start = Instant::now();
            while start.elapsed() < PAUSE {}
            after_pause[round] = lines.read();
        }
        let [at_once, after_pause] =
            [at_once, after_pause].map(|times| median(&times).unwrap_or_default() as u64);
        KeptCache {
            core,
            at_once,
            after_pause,
        }
    })
}

/// Memory in which each cache line has the index of the line that is read next.
struct Lines(Vec<u32>);

impl Lines {
    fn new() -> Self {
        let mut order: Vec<u32> = (0..LINES as u32).collect();
        Rng::with_seed(1).shuffle(&mut order);
        let mut lines = vec![0; LINES * IN_LINE];
        for (at, line) in order.iter().enumerate() {
            lines[*line as usize * IN_LINE] = order[(at + 1) % LINES];
        }
        Self(lines)
    }

    /// Reads all lines; returns the time in nanoseconds.
    fn read(&self) -> f64 {
        let start = Instant::now();
        let mut line = 0;
        for _ in 0..LINES {
            line = self.0[line as usize * IN_LINE];
        }
        black_box(line);
        start.elapsed().as_nanos() as f64
    }
}

/// Whether other work leaves the caches of the hot cores alone.
pub fn kept_cache(of: &Measured) -> Observation {
    if of.cache.is_empty() {
        return Observation::unknown("no hot cores given (--cores)");
    }
    of.cache.iter().fold(Observation::new(), |seen, cache| {
        let [at_once, after] = [cache.at_once, cache.after_pause].map(|ns| ns as f64 / 1e3);
        let text = format!(
            "core {}: {at_once:.1} us, after 10 ms {after:.1}",
            cache.core
        );
        seen.judge(text, Some(cache.after_pause <= MOST * cache.at_once))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_passes_every_line_once() {
        let lines = Lines::new();
        let mut seen = vec![false; LINES];
        let mut line = 0;
        for _ in 0..LINES {
            assert!(!std::mem::replace(&mut seen[line], true));
            line = lines.0[line * IN_LINE] as usize;
        }
        assert_eq!(line, 0);
    }
}
