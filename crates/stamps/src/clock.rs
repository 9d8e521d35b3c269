//! The clock of a measurement.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Counts nanoseconds since its start, and keeps the wall time of the start.
///
/// Both ends of a measurement read the same clock, so that the start time can be sent in a ClOrdID(11).
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    started: Instant,
    wall: u64,
}

impl Clock {
    /// Starts a clock. The first reading is 1, since 0 is no reading.
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

    /// The reading that a ClOrdID(11) has; `None` when it is from before the start of this clock.
    #[inline]
    pub fn from_wall(&self, wall: u64) -> Option<u64> {
        wall.checked_sub(self.wall)
    }
}
