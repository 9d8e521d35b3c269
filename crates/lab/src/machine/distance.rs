//! Distance between two cores: the round-trip time of a cache line.
//!
//! On a virtual machine the host may move cores. A cache line goes there and back in about 60 ns when the cores share
//! a cache, in about 300 ns otherwise. Every measured round trip changes with this distance, and the guest cannot see
//! the move. So the distance is measured before and after each run, and only runs with the same distance are
//! compared.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// Two cores share a cache when the round trip of a cache line is shorter than this, nanoseconds.
const NEAR: f64 = 150.0;

/// How long to wait for the other thread to send the cache line back.
const GIVE_UP: Duration = Duration::from_millis(500);

/// A counter alone in its cache lines. While the counter is odd, the other core has to answer; when it is even, the
/// answer is back.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct CacheLine(AtomicU64);

impl CacheLine {
    /// Answers once if an answer is due; the far thread calls this in a loop.
    #[inline]
    pub fn send_back(&self) {
        let ball = self.0.load(Ordering::Acquire);
        if ball % 2 == 1 {
            self.0.store(ball + 1, Ordering::Release);
        } else {
            // Reading the counter too often would slow the cache line down.
            std::hint::spin_loop();
        }
    }

    /// The round trip in nanoseconds: the best mean of 50 batches of 200, so that an interruption does not count.
    /// `None` when no thread answers.
    pub fn measure(&self) -> Option<f64> {
        self.rally(50, 200, GIVE_UP)
    }

    /// The best mean of a number of batches of `batch` round trips; `None` when a batch takes longer than `give_up`.
    fn rally(&self, batches: u32, batch: u32, give_up: Duration) -> Option<f64> {
        let mut best = f64::MAX;
        for _ in 0..batches {
            let start = Instant::now();
            for _ in 0..batch {
                let ball = self.0.load(Ordering::Relaxed) | 1;
                self.0.store(ball, Ordering::Release);
                let mut spins = 0_u32;
                while self.0.load(Ordering::Acquire) == ball {
                    std::hint::spin_loop();
                    spins += 1;
                    if spins.is_multiple_of(1 << 16) {
                        if start.elapsed() > give_up {
                            return None;
                        }
                        std::thread::yield_now();
                    }
                }
            }
            best = best.min(start.elapsed().as_nanos() as f64 / f64::from(batch));
        }
        Some(best)
    }
}

/// Distance of the two cores during a run.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Distance {
    /// The cores shared a cache, before and after the run.
    Near,
    /// The cores did not share a cache, before and after the run.
    Far,
    /// The host moved the cores during the run.
    Moved,
    /// The distance was not measured.
    Unknown,
}

impl Distance {
    /// Label for the round trips before and after a run, nanoseconds.
    pub fn of(before: Option<f64>, after: Option<f64>) -> Self {
        match (before, after) {
            (Some(before), Some(after)) => match (before < NEAR, after < NEAR) {
                (true, true) => Self::Near,
                (false, false) => Self::Far,
                _ => Self::Moved,
            },
            _ => Self::Unknown,
        }
    }

    /// Text of the distance in a table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Near => "near",
            Self::Far => "far",
            Self::Moved => "moved",
            Self::Unknown => "?",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn a_ball_comes_back_only_when_somebody_sends_it() {
        let line = Arc::new(CacheLine::default());
        let stop = Arc::new(AtomicBool::new(false));
        let far = std::thread::spawn({
            let (line, stop) = (line.clone(), stop.clone());
            move || {
                while !stop.load(Ordering::Relaxed) {
                    line.send_back();
                }
            }
        });
        // Other tests may use the cores: few round trips, without a timeout.
        let there_and_back = line.rally(2, 10, Duration::from_secs(60));
        stop.store(true, Ordering::Relaxed);
        far.join().unwrap();
        assert!(there_and_back.is_some_and(|nanos| nanos > 1.0));
        assert_eq!(line.rally(1, 1, Duration::from_millis(20)), None);
    }

    #[test]
    fn a_run_has_the_label_of_both_its_ends() {
        assert_eq!(Distance::of(Some(60.0), Some(62.0)), Distance::Near);
        assert_eq!(Distance::of(Some(310.0), Some(280.0)), Distance::Far);
        assert_eq!(Distance::of(Some(60.0), Some(280.0)), Distance::Moved);
        assert_eq!(Distance::of(None, Some(280.0)), Distance::Unknown);
    }
}
