//! Token bucket of a rate limit: it allows a burst, then a steady rate.

use std::time::Duration;

use fixwire_protocol::{Mono, Nanos};

/// A rate limit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rate {
    /// Number of tokens in `per`, evenly spaced; at least 1.
    pub count: u32,
    /// The time for `count` tokens; not zero.
    pub per: Duration,
    /// Largest burst after a pause; at least 1.
    pub burst: u32,
}

impl Rate {
    /// A limit of `count` tokens per second, with a burst of the same size.
    #[must_use]
    pub const fn per_second(count: u32) -> Self {
        Self {
            count,
            per: Duration::from_secs(1),
            burst: count,
        }
    }

    /// A limit of `count` tokens per minute, with a burst of the same size.
    #[must_use]
    pub const fn per_minute(count: u32) -> Self {
        Self {
            count,
            per: Duration::from_secs(60),
            burst: count,
        }
    }

    /// Whether the rate limit is valid: above zero, and at most one token a nanosecond.
    pub(crate) fn is_sound(&self) -> bool {
        self.count > 0 && self.burst > 0 && self.interval().0 > 0
    }

    /// The time until the next token is added.
    fn interval(&self) -> Nanos {
        Nanos(Nanos::from(self.per).0 / u64::from(self.count.max(1)))
    }
}

/// Tokens that are used, and that refill over time.
///
/// The only state of a bucket is the time at which it will be full again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    interval: u64,
    burst: u64,
    full_at: u64,
}

impl Bucket {
    /// A full bucket.
    pub(crate) fn new(rate: &Rate) -> Self {
        let interval = rate.interval().0.max(1);
        Self {
            interval,
            burst: u64::from(rate.burst.max(1)),
            full_at: 0,
        }
    }

    /// Number of tokens available now.
    pub(crate) fn available(&self, now: Mono) -> u64 {
        let missing = self.full_at.saturating_sub(now.0).div_ceil(self.interval);
        self.burst.saturating_sub(missing)
    }

    /// Takes a token; false when none is available.
    pub(crate) fn take(&mut self, now: Mono) -> bool {
        let there = self.available(now) > 0;
        if there {
            self.spend(now, 1);
        }
        there
    }

    /// Takes this number of tokens. If fewer are available, the next tokens become available later.
    pub(crate) fn spend(&mut self, now: Mono, count: u64) {
        let cost = self.interval.saturating_mul(count);
        self.full_at = self.full_at.max(now.0).saturating_add(cost);
    }

    /// Puts a token back.
    pub(crate) fn give_back(&mut self) {
        self.full_at = self.full_at.saturating_sub(self.interval);
    }

    /// The earliest time at which a token is available.
    pub(crate) fn next(&self) -> Mono {
        let lead = (self.burst - 1).saturating_mul(self.interval);
        Mono(self.full_at.saturating_sub(lead))
    }

    /// Whether the bucket is full.
    pub(crate) fn is_full(&self, now: Mono) -> bool {
        self.full_at <= now.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_bucket_gives_its_burst_and_then_its_rate() {
        let rate = Rate {
            count: 10,
            per: Duration::from_secs(1),
            burst: 3,
        };
        let mut bucket = Bucket::new(&rate);
        let start = Mono(5 * SECOND);
        for _ in 0..3 {
            assert!(bucket.take(start));
        }
        assert!(!bucket.take(start), "the burst is spent");
        assert_eq!(bucket.next(), Mono(start.0 + SECOND / 10));
        assert!(!bucket.take(Mono(bucket.next().0 - 1)));
        assert!(bucket.take(bucket.next()));
        // However time is divided, only the burst and the rate get through.
        let mut taken = 0;
        for tick in 0..10_000 {
            let now = Mono(start.0 + 10 * SECOND + tick * SECOND / 1000);
            taken += u64::from(bucket.take(now));
        }
        assert_eq!(taken, 3 + 99);
    }

    #[test]
    fn a_token_that_is_given_back_can_be_taken_again() {
        let mut bucket = Bucket::new(&Rate::per_minute(1));
        let now = Mono(SECOND);
        assert!(bucket.take(now) && !bucket.take(now));
        bucket.give_back();
        assert!(bucket.is_full(now) && bucket.take(now));
        bucket.spend(now, 5);
        assert_eq!(bucket.available(Mono(SECOND + 120 * SECOND)), 0);
        assert_eq!(bucket.available(Mono(SECOND + 360 * SECOND)), 1);
    }

    #[test]
    fn extremes_neither_overflow_nor_open_the_gate() {
        let rate = Rate {
            count: u32::MAX,
            per: Duration::MAX,
            burst: u32::MAX,
        };
        let mut bucket = Bucket::new(&rate);
        bucket.spend(Mono(u64::MAX), u64::MAX);
        assert_eq!(bucket.available(Mono(0)), 0);
        let _ = bucket.next();
        let none = Rate {
            per: Duration::ZERO,
            ..rate
        };
        assert!(!none.is_sound());
    }
}
