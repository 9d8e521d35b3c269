//! Trading days in a time zone.

use fixwire_protocol::Timestamp;
use jiff::Timestamp as Instant;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

use crate::zone::reach;

/// A trading day.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TradingDay {
    /// The date of the day.
    pub date: Date,
    /// The start of the day.
    pub from: Timestamp,
    /// The start of the next trading day.
    pub until: Timestamp,
}

const NOON: Time = Time::constant(12, 0, 0, 0);

/// The trading day to which an instant belongs, when days begin at the time `begins` of a time zone. `None` at the
/// ends of the calendar.
///
/// A trading day that begins at noon or later has the date of the next day. When clocks go forward over the time, the
/// day begins at the jump. When clocks go back over the time, the day begins when the time is reached first.
#[must_use]
pub fn trading_day(zone: &TimeZone, begins: Time, at: Timestamp) -> Option<TradingDay> {
    let now = Instant::from_nanosecond(at.0.into()).ok()?;
    let starts = |date: Date| reach(zone, date.to_datetime(begins));
    let mut date = zone.to_datetime(now).date().tomorrow().ok()?;
    while starts(date) > now {
        date = date.yesterday().ok()?;
    }
    let next = date.tomorrow().ok()?;
    let stamp = |at: Instant| i64::try_from(at.as_nanosecond()).ok().map(Timestamp);
    Some(TradingDay {
        date: if begins >= NOON { next } else { date },
        from: stamp(starts(date))?,
        until: stamp(starts(next))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000_000_000;

    const FIVE_PAST_FIVE: Time = time(17, 5);

    const fn time(hour: i8, minute: i8) -> Time {
        Time::constant(hour, minute, 0, 0)
    }

    /// Zone, start of its days, a time, and its trading day.
    const CASES: &[(&str, Time, &str, i32)] = &[
        ("UTC", time(0, 0), "20261128-23:59:59", 20_261_128),
        ("UTC", time(0, 0), "20261129-00:00:00", 20_261_129),
        ("UTC", time(22, 0), "20261128-22:00:00", 20_261_129),
        // Clocks go forward on March 8 and back on November 1.
        (
            "America/New_York",
            FIVE_PAST_FIVE,
            "20260307-22:04:59",
            20_260_307,
        ),
        (
            "America/New_York",
            FIVE_PAST_FIVE,
            "20260307-22:05:00",
            20_260_308,
        ),
        (
            "America/New_York",
            FIVE_PAST_FIVE,
            "20260308-21:04:59",
            20_260_308,
        ),
        (
            "America/New_York",
            FIVE_PAST_FIVE,
            "20260308-21:05:00",
            20_260_309,
        ),
        (
            "America/New_York",
            FIVE_PAST_FIVE,
            "20261031-21:05:00",
            20_261_101,
        ),
        (
            "America/New_York",
            FIVE_PAST_FIVE,
            "20261101-22:04:59",
            20_261_101,
        ),
        (
            "America/New_York",
            FIVE_PAST_FIVE,
            "20261101-22:05:00",
            20_261_102,
        ),
        // 02:30 does not exist on March 8: the clock passes it at 07:00 UTC.
        (
            "America/New_York",
            time(2, 30),
            "20260308-06:59:59",
            20_260_307,
        ),
        (
            "America/New_York",
            time(2, 30),
            "20260308-07:00:00",
            20_260_308,
        ),
        // 01:30 comes twice on November 1: the first time counts.
        (
            "America/New_York",
            time(1, 30),
            "20261101-05:29:59",
            20_261_031,
        ),
        (
            "America/New_York",
            time(1, 30),
            "20261101-05:30:00",
            20_261_101,
        ),
        (
            "America/New_York",
            time(1, 30),
            "20261101-06:30:00",
            20_261_101,
        ),
        ("Asia/Kolkata", time(0, 0), "20261128-18:29:59", 20_261_128),
        ("Asia/Kolkata", time(0, 0), "20261128-18:30:00", 20_261_129),
        (
            "Australia/Adelaide",
            time(7, 0),
            "20261128-20:29:59",
            20_261_128,
        ),
        (
            "Australia/Adelaide",
            time(7, 0),
            "20261128-20:30:00",
            20_261_129,
        ),
        ("Asia/Taipei", time(15, 0), "20261128-07:00:00", 20_261_129),
    ];

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn trading_days_begin_at_the_time_of_their_zone() {
        let day_of = |zone: &str, begins, at| {
            trading_day(&TimeZone::get(zone).unwrap(), begins, at).unwrap()
        };
        let number = |date: Date| {
            i32::from(date.year()) * 10_000 + i32::from(date.month()) * 100 + i32::from(date.day())
        };
        for (zone, begins, now, day) in CASES.iter().copied() {
            let span = day_of(zone, begins, at(now));
            assert_eq!(number(span.date), day, "{zone} {now}");
            assert!(span.from <= at(now) && at(now) < span.until, "{zone} {now}");
            let next = day_of(zone, begins, span.until);
            assert_eq!(next.from, span.until, "{zone} {now}");
            assert!(next.date > span.date, "{zone} {now}");
        }
        let length = |now| {
            let span = day_of("America/New_York", FIVE_PAST_FIVE, at(now));
            (span.until.0 - span.from.0) / HOUR
        };
        assert_eq!(length("20260308-12:00:00"), 23);
        assert_eq!(length("20261101-12:00:00"), 25);
    }
}
