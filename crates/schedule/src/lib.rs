//! Session schedules: whether a session is open at an instant, and how long this stays so.
//!
//! ```text
//!   StartTime         LogonTime        LogoutTime        EndTime          StartTime
//!       |-----------------|=================|----------------|                |------
//!       ^ trading session:   logon allowed                    closed           ^ the next one
//!         sequence numbers reset to 1
//! ```
//!
//! A [`Schedule`] is a value: it has no clock, remembers nothing and does not know its session. The engine calls
//! [`Schedule::at`] and acts on the answer. `docs/reference/schedules.md` explains the rules. All calculations from
//! local times to instants are in [`zone::reach`].
#![forbid(unsafe_code)]

mod days;
mod display;
mod period;
pub mod zone;
pub mod zone_name;

use std::collections::BTreeSet;
use std::sync::Arc;

use fixwire_protocol::Timestamp;
use jiff::Timestamp as Instant;
pub use jiff::civil::{Date, Time, Weekday};
pub use jiff::tz::TimeZone;

pub use days::{TradingDay, trading_day};
pub use display::utc;
pub use period::{DAYS_SEARCHED, Period};

/// When a session is open, when logon is allowed, and when sequence numbers are reset.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The trading sessions that recur. `None` for a session that never ends: only `reset` then resets its sequence
    /// numbers.
    pub hours: Option<Hours>,
    /// The logon window within the trading session. `None`: logon is allowed during the whole session, except on closed
    /// days.
    pub logon: Option<Hours>,
    /// The time of day at which a session that is logged on resets its sequence numbers. The session does so by a
    /// Logon with ResetSeqNumFlag(141).
    pub reset: Option<Edge>,
    /// Days without a trading session; see [`Schedule::at`].
    pub closed_days: Arc<BTreeSet<Date>>,
    /// Time zone of the closed days of a session that never ends. In a session with a schedule, closed days are in the
    /// time zone of the start.
    pub zone: TimeZone,
}

/// A schedule that recurs every day or every week.
#[derive(Clone, Debug)]
pub struct Hours {
    /// On which days.
    pub days: Days,
    /// Start time of the schedule.
    pub start: Edge,
    /// End time of the schedule: the first such time after the start.
    pub end: Edge,
}

/// The days on which trading sessions begin and end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Days {
    /// Trading sessions begin on each of these days, and last at most a day.
    Each(BTreeSet<Day>),
    /// A trading session begins on one day of the week and ends on another day, or on the same day.
    Week {
        /// The day on which the trading session begins.
        from: Day,
        /// The day on which the trading session ends.
        to: Day,
    },
}

/// A day of the week. The order of days begins with Monday.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Day(pub Weekday);

impl Ord for Day {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let number = |day: &Self| day.0.to_monday_zero_offset();
        number(self).cmp(&number(other))
    }
}

impl PartialOrd for Day {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// A time of day in a time zone.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Edge {
    /// The time that clocks in the time zone show.
    pub time: Time,
    /// Where.
    pub zone: TimeZone,
}

/// The state of a schedule at an instant.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ScheduleState {
    /// When the current trading session began. Older sequence numbers belong to an earlier trading session. `None`
    /// between two trading sessions; [`FOREVER`] for a session that never ends.
    pub began: Option<Timestamp>,
    /// Whether the session may be logged on.
    pub may_log_on: bool,
    /// The last time within the session at which sequence numbers are reset by the time of day, if there was one.
    pub reset: Option<Timestamp>,
    /// This state holds up to this instant, which is excluded.
    pub until: Timestamp,
}

/// The time at which a session without a beginning began.
pub const FOREVER: Timestamp = Timestamp(i64::MIN);

/// The next changes of a session, for an operator.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ahead {
    /// Whether a logon is allowed now.
    pub may_log_on: bool,
    /// When logon will next be allowed again after a time in which it is not allowed.
    pub opens: Option<Timestamp>,
    /// When the time in which logon is allowed will end next.
    pub closes: Option<Timestamp>,
    /// When sequence numbers are next reset: when the next trading session begins, or at the time of day for a reset.
    pub begins: Option<Timestamp>,
}

impl Days {
    /// Every day of the week.
    #[must_use]
    pub fn all() -> Self {
        Self::Each(Weekday::Monday.cycle_forward().take(7).map(Day).collect())
    }
}

impl Schedule {
    /// A schedule that has these trading sessions and no other rules.
    #[must_use]
    pub fn new(hours: Hours) -> Self {
        Self {
            zone: hours.start.zone.clone(),
            hours: Some(hours),
            ..Self::non_stop()
        }
    }

    /// A schedule for a session that never ends.
    #[must_use]
    pub fn non_stop() -> Self {
        Self {
            hours: None,
            logon: None,
            reset: None,
            closed_days: Arc::default(),
            zone: TimeZone::UTC,
        }
    }

    /// The state of the schedule at an instant.
    ///
    /// A day of [`closed_days`](Self::closed_days) is a day in the time zone of the start. A daily session does not
    /// start on a closed day; a session that started the day before runs to its end. In a weekly session, or in a
    /// session that never ends, logon is not allowed from midnight of the closed day to the next midnight, and the
    /// session keeps its sequence numbers.
    #[must_use]
    pub fn at(&self, now: Timestamp) -> ScheduleState {
        let now = instant(now);
        let mut until = Instant::MAX;
        let began = match &self.hours {
            None => Some(Instant::MIN),
            Some(hours) => {
                let (period, change) = hours.at(now, self.skipped());
                until = until.min(change);
                period.map(|period| period.start)
            }
        };
        let mut may_log_on = began.is_some();
        if let Some(window) = &self.logon {
            let (period, change) = window.at(now, &BTreeSet::new());
            until = until.min(change);
            may_log_on &= period.is_some();
        }
        if !self.closed_days.is_empty() && !self.is_daily() {
            let (day, end) = zone::day(self.own_zone(), now);
            until = until.min(end);
            may_log_on &= !self.closed_days.contains(&day);
        }
        let reset = self.reset.as_ref().and_then(|edge| {
            let (last, next) = edge.around(now);
            until = until.min(next);
            last
        });
        ScheduleState {
            began: began.map(timestamp),
            may_log_on,
            reset: reset.map(timestamp),
            until: timestamp(until),
        }
    }

    /// The next changes after an instant. A change that does not come within [`DAYS_SEARCHED`] days is `None`.
    #[must_use]
    pub fn ahead(&self, now: Timestamp) -> Ahead {
        let first = self.at(now);
        let mut ahead = Ahead {
            may_log_on: first.may_log_on,
            opens: None,
            closes: None,
            begins: None,
        };
        let most = i64::from(DAYS_SEARCHED) * 86_400_000_000_000;
        let horizon = Timestamp(now.0.saturating_add(most));
        let mut before = first;
        while before.until < horizon {
            let next = self.at(before.until);
            let at = Some(before.until);
            if before.may_log_on && !next.may_log_on {
                ahead.closes = ahead.closes.or(at);
            }
            if !before.may_log_on && next.may_log_on {
                ahead.opens = ahead.opens.or(at);
            }
            if next.began != before.began && next.began.is_some() {
                // Where two sessions meet, logon ends and begins at the same instant.
                if before.may_log_on && next.may_log_on {
                    ahead.closes = ahead.closes.or(at);
                    ahead.opens = ahead.opens.or(at);
                }
                ahead.begins = ahead.begins.or(at);
            }
            let all = ahead.opens.is_some() && ahead.closes.is_some();
            if all && (ahead.begins.is_some() || self.hours.is_none()) {
                break;
            }
            before = next;
        }
        if let Some(edge) = &self.reset {
            let (_, next) = edge.around(instant(now));
            let next = Some(timestamp(next)).filter(|next| *next < horizon);
            ahead.begins = ahead.begins.into_iter().chain(next).min();
        }
        ahead
    }

    /// The time zone in which the days count.
    pub(crate) fn own_zone(&self) -> &TimeZone {
        match &self.hours {
            Some(hours) => &hours.start.zone,
            None => &self.zone,
        }
    }

    fn is_daily(&self) -> bool {
        let days = self.hours.as_ref().map(|hours| &hours.days);
        matches!(days, Some(Days::Each(_)))
    }

    /// The days on which no trading session begins.
    fn skipped(&self) -> &BTreeSet<Date> {
        static NONE: BTreeSet<Date> = BTreeSet::new();
        if self.is_daily() {
            &self.closed_days
        } else {
            &NONE
        }
    }
}

fn instant(at: Timestamp) -> Instant {
    Instant::from_nanosecond(i128::from(at.0)).unwrap_or(Instant::MAX)
}

/// The instant as a timestamp. An instant outside the range of 64 bits of nanoseconds, such as one after the year
/// 2262, becomes the nearest end of the range.
pub(crate) fn timestamp(at: Instant) -> Timestamp {
    let nanos = at.as_nanosecond().clamp(i64::MIN.into(), i64::MAX.into());
    Timestamp(nanos as i64)
}

#[cfg(test)]
mod tests;
