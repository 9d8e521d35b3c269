//! When the clock of a time zone reaches a time.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp as Instant};

/// Farther than this from UTC is not a clock.
const FARTHEST: SignedDuration = SignedDuration::from_hours(26);

/// The first instant at which the clock of a zone shows this time or a later one.
///
/// * A time that is skipped, because clocks go forward, is reached when they do.
/// * A time that comes twice, because clocks go back, is reached the first time.
/// * So is every time of a day that the zone skips altogether.
///
/// It is found by what the clock shows from one transition to the next, so it needs only the way from
/// instants to civil time, which has no ambiguity. Times at the ends of the calendar are reached never,
/// [`Instant::MAX`], or always, [`Instant::MIN`].
#[must_use]
pub fn reach(zone: &TimeZone, time: DateTime) -> Instant {
    let Ok(as_utc) = Offset::UTC.to_timestamp(time) else {
        return Instant::MAX;
    };
    let (Ok(first), Ok(last)) = (as_utc.checked_sub(FARTHEST), as_utc.checked_add(FARTHEST)) else {
        return match time.year() {
            ..0 => Instant::MIN,
            _ => Instant::MAX,
        };
    };
    let mut transitions = zone.following(first).map(|change| change.timestamp());
    let mut from = first;
    loop {
        let until = transitions.next().filter(|at| *at < last).unwrap_or(last);
        let offset = zone.to_offset(from);
        // The clock jumped past the time, or goes on to it before the next transition.
        if offset.to_datetime(from) >= time {
            return from;
        }
        match offset.to_timestamp(time) {
            Ok(at) if at < until => return at,
            _ if until == last => return last,
            _ => from = until,
        }
    }
}

/// When the clock of a zone reaches this time of a day; `None` when the zone has no such day.
#[must_use]
pub fn reach_on(zone: &TimeZone, date: Date, time: Time) -> Option<Instant> {
    exists(zone, date).then(|| reach(zone, date.to_datetime(time)))
}

/// Whether a zone has this day; Samoa, for example, has no 30 December 2011.
#[must_use]
pub fn exists(zone: &TimeZone, date: Date) -> bool {
    let begins = reach(zone, date.to_datetime(Time::midnight()));
    zone.to_datetime(begins).date() == date
}

/// The day of a zone that an instant belongs to, and when the next one begins. A day begins when the
/// clock first reaches its midnight, so none comes twice.
#[must_use]
pub fn day(zone: &TimeZone, at: Instant) -> (Date, Instant) {
    let midnight = |date: Date| reach(zone, date.to_datetime(Time::midnight()));
    let shown = zone.to_datetime(at).date();
    // Clocks that go back over midnight show the day before again.
    let next = shown.tomorrow().unwrap_or(Date::MAX);
    let mut date = if midnight(next) <= at { next } else { shown };
    loop {
        let Ok(tomorrow) = date.tomorrow() else {
            return (date, Instant::MAX);
        };
        let end = midnight(tomorrow);
        if end > at {
            return (date, end);
        }
        date = tomorrow;
    }
}
