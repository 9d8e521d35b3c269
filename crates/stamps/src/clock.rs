//! The clock of a measurement.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Counts nanoseconds since it was started, and keeps the wall time of its start.
///
/// Both ends of a measurement read the same clock, so that a start time can travel in a ClOrdID.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    started: Instant,
    wall: u64,
}

impl Clock {
    /// Starts at one: zero is never a reading.
    pub fn start() -> Self {
        let since_1970 = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            started: Instant::now(),
            wall: u64::try_from(since_1970.as_nanos()).unwrap_or(0),
        }
    }

    /// Nanoseconds since the start; never goes backwards.
    #[inline]
    pub fn now(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64 + 1
    }

    /// A reading as nanoseconds since 1970 (19 digits until the year 2286), for a ClOrdID.
    #[inline]
    pub fn to_wall(&self, reading: u64) -> u64 {
        self.wall + reading
    }

    /// The reading in a ClOrdID; `None` when it is older than this clock.
    #[inline]
    pub fn from_wall(&self, wall: u64) -> Option<u64> {
        wall.checked_sub(self.wall)
    }
}
