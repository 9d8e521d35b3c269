//! The session schedule of one session, and where the session is in it.

use fixwire_protocol::session::{PendingReply, Phase};
use fixwire_protocol::{Mono, Nanos, Now, Timestamp};

use super::Line;
use super::dialler::State;
use crate::host::ConnId;
use crate::schedule::{Schedule, ScheduleState};

/// Interval at which the wall clock is checked, because it may have been set.
const LOOK_AGAIN: Nanos = Nanos(1_000_000_000);
/// Maximum time by which the recorded beginning of the sequence numbers may be in the future, in nanoseconds. If it
/// is later, a wrong clock has set it.
const WRONG_CLOCK: i64 = 86_400_000_000_000;

/// The session schedule of one session, and where the session is in it.
#[derive(Debug)]
pub(crate) struct Hours {
    pub(crate) schedule: Schedule,
    /// The last answer of the schedule and the time of that answer; `None` before the first check.
    standing: Option<(Timestamp, ScheduleState)>,
    /// The last reset time (`ResetSeqTime`) that was handled; `None` if none was handled yet.
    pub(crate) reset_seen: Option<Timestamp>,
    /// Set when the sequence numbers seem to have begun far in the future: the time at which they count as begun
    /// instead.
    doubt: Option<Timestamp>,
    /// Whether logon was allowed at the last report to the operator; `None` before the first report.
    pub(crate) told: Option<bool>,
    /// Whether the session is outside its trading session. If so, a message written now would be lost when the next
    /// trading session begins.
    pub(crate) shut: bool,
}

impl Hours {
    pub(crate) fn new(schedule: Schedule) -> Self {
        Self {
            schedule,
            standing: None,
            reset_seen: None,
            doubt: None,
            told: None,
            shut: false,
        }
    }

    /// Whether logon is not allowed, as of the last check of the schedule.
    pub(crate) fn is_closed(&self) -> bool {
        self.told == Some(false)
    }

    /// The schedule's current answer.
    pub(crate) fn look(&mut self, now: Timestamp) -> ScheduleState {
        match self.standing {
            Some((since, standing)) if since <= now && now < standing.until => standing,
            _ => {
                let standing = self.schedule.at(now);
                self.standing = Some((now, standing));
                if self.reset_seen.is_none() {
                    // A reset that was due before the first check is skipped.
                    self.reset_seen = standing.reset;
                }
                standing
            }
        }
    }

    /// Whether sequence numbers that began at `began` are older than the current trading session.
    pub(crate) fn is_stale(
        &mut self,
        now: Timestamp,
        standing: ScheduleState,
        began: Timestamp,
    ) -> bool {
        let period = standing.began.filter(|_| self.schedule.hours.is_some());
        if began.0 <= now.0.saturating_add(WRONG_CLOCK) {
            self.doubt = None;
            return period.is_some_and(|period| began < period);
        }
        let counted = *self.doubt.get_or_insert(now);
        period.is_some_and(|period| counted < period)
    }

    /// Time at which the schedule must be checked again.
    pub(crate) fn due(&self, now: Now) -> Mono {
        let until = self
            .standing
            .map_or(now.wall, |(_, standing)| standing.until);
        let rest = until.0.saturating_sub(now.wall.0).max(0).unsigned_abs();
        now.mono + Nanos(rest.min(LOOK_AGAIN.0))
    }
}

/// What the schedule requires next for a session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Step {
    Nothing,
    LogOut,
    /// The session's sequence numbers must be reset.
    Restart,
}

/// A change when a session opens or closes.
#[derive(Default)]
pub(crate) struct Turned {
    /// The trading session has begun (true) or ended (false), and the application must be notified. `None` without a
    /// change.
    pub(crate) runs: Option<bool>,
    /// Logon is now allowed (true) or not allowed any more (false), and an event must report it. `None` without a
    /// change.
    pub(crate) may_log_on: Option<bool>,
    /// The connection of an attempt to connect that must be given up, if any.
    pub(crate) drops: Option<ConnId>,
}

impl Line {
    /// The schedule's current answer and the next step; `None` for a session without a schedule. `began` is when the
    /// session's sequence numbers began.
    pub(crate) fn follow_hours(
        &mut self,
        now: Timestamp,
        began: Timestamp,
    ) -> Option<(ScheduleState, Step)> {
        let hours = self.hours.as_deref_mut()?;
        let standing = hours.look(now);
        let stale = hours.is_stale(now, standing, began);
        if self.link.is_none() {
            hours.reset_seen = hours.reset_seen.max(standing.reset);
            return Some((standing, if stale { Step::Restart } else { Step::Nothing }));
        }
        if stale || !standing.may_log_on {
            return Some((standing, Step::LogOut));
        }
        if hours.reset_seen >= standing.reset {
            return Some((standing, Step::Nothing));
        }
        let older = standing.reset.is_some_and(|reset| began < reset);
        let step = match self.session.phase() {
            Phase::LoggedOn(up) if older && up.exchange == PendingReply::Settled => Step::Restart,
            // While another exchange of Logons or Logouts is in progress, wait for its end.
            Phase::LoggedOn(_) if older => return Some((standing, Step::Nothing)),
            _ => Step::Nothing,
        };
        hours.reset_seen = standing.reset;
        Some((standing, step))
    }

    /// Sets whether the session may connect and accept Logons.
    pub(crate) fn open_or_close(&mut self, now: Mono, standing: ScheduleState) -> Turned {
        let may = standing.may_log_on;
        self.session.allow_logons(may);
        let mut turned = Turned::default();
        let Some(hours) = &mut self.hours else {
            return turned;
        };
        let runs = standing.began.is_some();
        turned.runs = (std::mem::replace(&mut hours.shut, !runs) == runs).then_some(runs);
        if hours.told.replace(may) == Some(may) {
            return turned;
        }
        turned.may_log_on = Some(may);
        if let Some(dialler) = &mut self.dialler {
            if let State::Dialling(conn, _) = dialler.state()
                && !may
            {
                turned.drops = Some(conn);
            }
            dialler.set_open(now, may);
        }
        turned
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{Days, Edge, Hours as Times, Time, TimeZone};

    const HOUR: i64 = 3_600_000_000_000;
    const DAY: i64 = 24 * HOUR;

    /// 08:00 to 17:00 UTC every day.
    fn hours() -> Hours {
        let edge = |hour| Edge {
            time: Time::new(hour, 0, 0, 0).unwrap(),
            zone: TimeZone::UTC,
        };
        Hours::new(Schedule::new(Times {
            days: Days::all(),
            start: edge(8),
            end: edge(17),
        }))
    }

    fn is_stale(hours: &mut Hours, now: i64, began: i64) -> bool {
        let standing = hours.look(Timestamp(now));
        hours.is_stale(Timestamp(now), standing, Timestamp(began))
    }

    #[test]
    fn numbers_are_stale_when_a_period_has_begun_since() {
        let mut hours = hours();
        let day = 20_000 * DAY;
        let noon = day + 12 * HOUR;
        assert!(is_stale(&mut hours, noon, day + 7 * HOUR));
        assert!(!is_stale(&mut hours, noon, day + 8 * HOUR));
        assert!(!is_stale(&mut hours, noon, noon));
        assert!(
            !is_stale(&mut hours, day + 7 * HOUR, day - 10 * HOUR),
            "closed"
        );
    }

    #[test]
    fn a_clock_that_is_set_back_makes_nothing_stale() {
        let mut hours = hours();
        let day = 20_000 * DAY;
        let began = day + 8 * HOUR + 1;
        for now in [
            day + 9 * HOUR,
            day + 6 * HOUR,
            day - 12 * HOUR,
            day + 9 * HOUR,
        ] {
            assert!(!is_stale(&mut hours, now, began), "{now}");
        }
        assert!(is_stale(&mut hours, day + DAY + 8 * HOUR, began));
    }

    #[test]
    fn a_clock_that_was_years_ahead_does_not_stop_the_resets() {
        let mut hours = hours();
        let day = 20_000 * DAY;
        let (noon, began) = (day + 12 * HOUR, day + 3000 * DAY);
        assert!(
            !is_stale(&mut hours, noon, began),
            "they count as begun now"
        );
        assert!(!is_stale(&mut hours, noon + HOUR, began));
        assert!(is_stale(&mut hours, noon + DAY, began));
        // If this clock is wrong, the time in the journal counts once the clock is right.
        assert!(!is_stale(&mut hours, began + HOUR, began));
        assert_eq!(hours.doubt, None);
    }

    #[test]
    fn the_clock_is_looked_at_every_second_at_least() {
        let mut hours = hours();
        let now = |wall| Now {
            wall: Timestamp(wall),
            mono: Mono(5),
        };
        let day = 20_000 * DAY;
        hours.look(Timestamp(day));
        assert_eq!(hours.due(now(day)), Mono(5) + LOOK_AGAIN);
        hours.look(Timestamp(day + 8 * HOUR - 7));
        assert_eq!(hours.due(now(day + 8 * HOUR - 7)), Mono(12));
        assert_eq!(hours.due(now(day + 9 * HOUR)), Mono(5));
    }
}
