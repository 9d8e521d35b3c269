//! Moments and spans: UTC for what is written on the wire, a monotonic count for timers.

/// A moment of UTC, nanoseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Timestamp(pub i64);

/// A moment of a clock that never goes backwards, in nanoseconds since some start. Timers use it.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Mono(pub u64);

/// A span of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Nanos(pub u64);

/// The two clocks, read once a turn.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Now {
    /// Stamps SendingTime and records.
    pub wall: Timestamp,
    /// Drives timers.
    pub mono: Mono,
}
// H1: parse/format with Precision {Seconds, Millis, Micros, Nanos}, ops Mono + Nanos, Nanos::from_secs, ...
