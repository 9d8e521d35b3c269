//! When the clock of a time zone reaches a given time.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp as Instant};

/// No clock differs from UTC by more than this.
const FARTHEST: SignedDuration = SignedDuration::from_hours(26);

/// The first instant at which the clock of a time zone shows this time or a later time.
///
/// * When clocks go forward over the time, it is reached at the jump.
/// * When clocks go back and the time comes twice, the first of the two instants counts.
/// * When the time zone skips a whole day, its times are reached at the jump too.
///
/// The search looks at what the clock shows from one transition to the next. The search therefore only converts
/// instants to local times, which is never ambiguous. Times at the ends of the calendar are reached never,
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
        // Either the clock jumped past the time, or it reaches the time before the next transition.
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

/// When the clock of a time zone reaches a time on a day; `None` when the time zone does not have the day.
#[must_use]
pub fn reach_on(zone: &TimeZone, date: Date, time: Time) -> Option<Instant> {
    exists(zone, date).then(|| reach(zone, date.to_datetime(time)))
}

/// Whether a time zone has a day. Samoa, for example, has no 30 December 2011.
#[must_use]
pub fn exists(zone: &TimeZone, date: Date) -> bool {
    let begins = reach(zone, date.to_datetime(Time::midnight()));
    zone.to_datetime(begins).date() == date
}

/// The day of a time zone to which an instant belongs, and when the next day begins. A day begins when the clock
/// first reaches its midnight, so no day comes twice.
#[must_use]
pub fn day(zone: &TimeZone, at: Instant) -> (Date, Instant) {
    let midnight = |date: Date| reach(zone, date.to_datetime(Time::midnight()));
    let shown = zone.to_datetime(at).date();
    // A clock that goes back over midnight shows the previous day again.
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
