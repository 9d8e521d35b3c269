//! Session schedules: whether a session is open at an instant, and until when.
//!
//! ```text
//!   StartTime         LogonTime        LogoutTime        EndTime          StartTime
//!       |-----------------|=================|----------------|                |------
//!       ^ trading session:   logon allowed                    closed           ^ the next one
//!         sequence numbers reset to 1
//! ```
//!
//! A [`Schedule`] is a value: it has no clock, remembers nothing and knows no session. The engine
//! asks [`Schedule::at`] and acts; `docs/reference/schedules.md` has the rules in words. The one piece of
//! arithmetic between civil time and instants is [`zone::reach`].
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

/// When a session is open, when logon is allowed, and when its sequence numbers are reset.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The recurring trading sessions; `None` for a session that never ends and whose sequence numbers are never reset
    /// by themselves.
    pub hours: Option<Hours>,
    /// Within the session, when it may be logged on; `None`: all the time.
    pub logon: Option<Hours>,
    /// The time of day at which a session that is logged on resets its sequence numbers with a Logon that has
    /// ResetSeqNumFlag(141).
    pub reset: Option<Edge>,
    /// Days without a trading session; see [`Schedule::at`].
    pub closed_days: Arc<BTreeSet<Date>>,
    /// Time zone of the closed days, for a session that never ends. One with a schedule has
    /// the zone of its start.
    pub zone: TimeZone,
}

/// Hours that come again every day or every week.
#[derive(Clone, Debug)]
pub struct Hours {
    /// On which days.
    pub days: Days,
    /// When they begin.
    pub start: Edge,
    /// The end: the first such time after the start.
    pub end: Edge,
}

/// The days on which trading sessions begin and end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Days {
    /// They begin on each of these days, and end within a day.
    Each(BTreeSet<Day>),
    /// They begin on one day of the week and end on another, or on the same.
    Week {
        /// The day they begin.
        from: Day,
        /// The day they end.
        to: Day,
    },
}

/// A day of the week; ordered from Monday.
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

/// A time of day somewhere.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Edge {
    /// The clock in that time zone.
    pub time: Time,
    /// Where.
    pub zone: TimeZone,
}

/// The state of a schedule at an instant.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ScheduleState {
    /// When the current trading session began: older sequence numbers belong to an earlier one. `None` between
    /// two trading sessions; [`FOREVER`] for a session that never ends.
    pub began: Option<Timestamp>,
    /// The session may be logged on.
    pub may_log_on: bool,
    /// The last time of day at which sequence numbers are reset inside of the session, if any.
    pub reset: Option<Timestamp>,
    /// All of this is so up to this instant, exclusive.
    pub until: Timestamp,
}

/// The begin of a session that never began.
pub const FOREVER: Timestamp = Timestamp(i64::MIN);

/// The next changes of a session, as an operator wants to know them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ahead {
    /// Whether a logon is allowed now.
    pub may_log_on: bool,
    /// When it may next be logged on after a time when it may not.
    pub opens: Option<Timestamp>,
    /// When it may next no longer be logged on.
    pub closes: Option<Timestamp>,
    /// When the next trading session begins, and the sequence numbers are reset.
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
    /// A session with these trading sessions and nothing else.
    #[must_use]
    pub fn new(hours: Hours) -> Self {
        Self {
            zone: hours.start.zone.clone(),
            hours: Some(hours),
            ..Self::non_stop()
        }
    }

    /// A session that never ends.
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
    /// A day of [`closed_days`](Self::closed_days) counts in the zone of the start. Hours that begin
    /// every day do not begin on it; those that began the day before run to their end. A session of a
    /// week, or one that never ends, may not be logged on from that day's midnight to the next, and
    /// keeps its sequence numbers.
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

    /// The next changes after an instant; `None` where none comes within [`DAYS_SEARCHED`] days.
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
                // At a seam the session closes and opens in the same instant.
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
        ahead
    }

    /// The zone whose days count.
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

/// Instants beyond what 64 bits of nanoseconds hold, the year 2262, are the last that they hold.
pub(crate) fn timestamp(at: Instant) -> Timestamp {
    let nanos = at.as_nanosecond().clamp(i64::MIN.into(), i64::MAX.into());
    Timestamp(nanos as i64)
}

#[cfg(test)]
mod tests;
