//! Limits the log records of messages that change no state of a session.

use std::time::Duration;

use fixwire_protocol::{Mono, Nanos};

use crate::bucket::{Bucket, Rate};

/// Interval between two events about unlogged messages.
const REPORT_EVERY: Nanos = Nanos(10_000_000_000);

/// The limit for the log of one session, and the count of messages above it.
#[derive(Debug)]
pub(crate) struct Trail {
    bucket: Bucket,
    /// Bytes per hour.
    pub(crate) most: u32,
    /// Number of messages that were not logged and that no event has reported yet.
    pub(crate) left_out: u64,
    /// Earliest time of the next event.
    pub(crate) report_at: Mono,
}

impl Trail {
    /// A limit of this number of bytes per hour, with a burst of the same size.
    pub(crate) fn new(bytes_per_hour: u32) -> Self {
        let rate = Rate {
            count: bytes_per_hour,
            per: Duration::from_secs(3600),
            burst: bytes_per_hour,
        };
        Self {
            bucket: Bucket::new(&rate),
            most: bytes_per_hour,
            left_out: 0,
            report_at: Mono(0),
        }
    }

    /// Whether a record of this size may be written; if not, counts the message.
    pub(crate) fn admits(&mut self, now: Mono, bytes: u64) -> bool {
        let admits = self.bucket.available(now) >= bytes;
        if admits {
            self.bucket.spend(now, bytes);
        }
        admits
    }

    /// Time at which an event is due; `None` when every message that was not logged has been reported.
    pub(crate) fn due(&self) -> Option<Mono> {
        (self.left_out > 0).then_some(self.report_at)
    }

    /// Number of messages that were not logged since the last call; `None` if there were none. The next event is due
    /// later.
    pub(crate) fn take(&mut self, now: Mono) -> Option<u64> {
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            self.report_at = now + REPORT_EVERY;
        }
        (left_out > 0).then_some(left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_the_limit_is_counted_and_told_now_and_then() {
        let hour = 3_600_000_000_000;
        let mut trail = Trail::new(1000);
        let at = |nanos| Mono(nanos);
        assert!(trail.admits(at(1), 900));
        assert!(!trail.admits(at(1), 101));
        assert!(trail.admits(at(1), 100));
        assert_eq!((trail.due(), trail.take(at(1))), (None, None));
        trail.left_out = 3;
        assert_eq!(trail.due(), Some(Mono(0)));
        assert_eq!(trail.take(at(1)), Some(3));
        trail.left_out = 2;
        assert_eq!(trail.due(), Some(Mono(1) + REPORT_EVERY));
        assert!(!trail.admits(at(hour / 4), 300));
        assert!(trail.admits(at(hour / 2), 300));
        assert!(trail.admits(at(3 * hour), 1000));
    }
}
