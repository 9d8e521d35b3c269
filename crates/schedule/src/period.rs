//! Recurring trading sessions: which of them contains an instant, and when this changes.

use std::collections::BTreeSet;

use jiff::Timestamp as Instant;
use jiff::civil::Date;

use super::zone::{reach, reach_on};
use super::{Day, Days, Edge, Hours};

/// How far ahead the next trading session is searched. If the next trading session is farther away, the search is
/// repeated after this time.
pub const DAYS_SEARCHED: u16 = 800;
/// A trading session that began longer ago has ended: a session lasts at most a week, and time zones may add some
/// time.
const LONGEST_DAYS: u16 = 10;

/// One of the recurring trading sessions. A period includes its `start` and excludes its `end`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Period {
    /// The first instant of the period.
    pub start: Instant,
    /// The first instant after the period.
    pub end: Instant,
}

impl Hours {
    /// The trading session that contains an instant, and the next instant at which a trading session begins or ends.
    /// No trading session begins on a day of `skipped`.
    pub(super) fn at(&self, now: Instant, skipped: &BTreeSet<Date>) -> (Option<Period>, Instant) {
        let today = self.start.zone.to_datetime(now).date();
        let next = days_from(today.yesterday().unwrap_or(today))
            .take(DAYS_SEARCHED.into())
            .filter_map(|date| self.starting(date, skipped))
            .find(|period| period.start > now);
        let last = days_back(today.tomorrow().unwrap_or(today))
            .take(LONGEST_DAYS.into())
            .filter_map(|date| self.starting(date, skipped))
            .find(|period| period.start <= now);
        let next = next.map_or_else(|| far_ahead(now), |period| period.start);
        match last.filter(|period| now < period.end) {
            // A trading session ends at the latest when another one begins.
            Some(Period { start, end }) => {
                let end = end.min(next);
                (Some(Period { start, end }), end)
            }
            None => (None, next),
        }
    }

    /// The trading session that begins on this day, in the time zone of its start.
    fn starting(&self, date: Date, skipped: &BTreeSet<Date>) -> Option<Period> {
        let day = Day(date.weekday());
        let begins = match &self.days {
            Days::Each(days) => days.contains(&day),
            Days::Week { from, .. } => *from == day,
        };
        if !begins || skipped.contains(&date) {
            return None;
        }
        let start = reach_on(&self.start.zone, date, self.start.time)?;
        let end = self.end_of(date, start)?;
        // If start and end fall into the same gap of the clock, nothing is left of the session.
        (start < end).then_some(Period { start, end })
    }

    /// When a trading session ends that begins on `date` at the instant `start`.
    fn end_of(&self, date: Date, start: Instant) -> Option<Instant> {
        let ends = |date: Date| match self.days {
            Days::Each(_) => true,
            Days::Week { to, .. } => to == Day(date.weekday()),
        };
        let Edge { time, zone } = &self.end;
        let instant = |date: Date| reach(zone, date.to_datetime(*time));
        if self.start.zone == *zone {
            // Compare the times as written, so that a session does not become a day longer when the clock jumps over
            // both times.
            let from = date.to_datetime(self.start.time);
            let mut days = days_from(date).take(LONGEST_DAYS.into());
            return days
                .find(|date| ends(*date) && date.to_datetime(*time) > from)
                .map(instant);
        }
        let there = zone.to_datetime(start).date();
        days_from(there.yesterday().unwrap_or(there))
            .take(LONGEST_DAYS.into())
            .filter(|date| ends(*date))
            .map(instant)
            .find(|end| *end > start)
    }
}

impl Edge {
    /// The last instant up to `now` at which the clock reached this time, and the next such instant.
    pub(super) fn around(&self, now: Instant) -> (Option<Instant>, Instant) {
        let today = self.zone.to_datetime(now).date();
        let on = |date: Date| reach_on(&self.zone, date, self.time);
        let last = days_back(today.tomorrow().unwrap_or(today))
            .take(LONGEST_DAYS.into())
            .filter_map(on)
            .find(|at| *at <= now);
        let next = days_from(today.yesterday().unwrap_or(today))
            .take(LONGEST_DAYS.into())
            .filter_map(on)
            .find(|at| *at > now);
        (last, next.unwrap_or_else(|| far_ahead(now)))
    }
}

fn days_from(first: Date) -> impl Iterator<Item = Date> {
    std::iter::successors(Some(first), |date| date.tomorrow().ok())
}

fn days_back(last: Date) -> impl Iterator<Item = Date> {
    std::iter::successors(Some(last), |date| date.yesterday().ok())
}

/// When to search again, if no change is near.
fn far_ahead(now: Instant) -> Instant {
    let span = jiff::SignedDuration::from_hours(24 * (i64::from(DAYS_SEARCHED) - 2));
    now.checked_add(span).unwrap_or(Instant::MAX)
}
