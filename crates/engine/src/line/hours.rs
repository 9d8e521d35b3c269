//! The schedule of one session, and how far it has been followed.

use fixwire_protocol::{Mono, Nanos, Now, Timestamp};

use crate::schedule::{Schedule, Standing};

/// How often the wall clock is looked at: it may have been set.
const LOOK_AGAIN: Nanos = Nanos(1_000_000_000);
/// Numbers that begin so far ahead of the clock were given to them by a wrong one.
const WRONG_CLOCK: i64 = 86_400_000_000_000;

/// The schedule of one session, and how far it has been followed.
#[derive(Debug)]
pub(crate) struct Hours {
    pub(crate) schedule: Schedule,
    /// What the schedule said, and since when that holds.
    standing: Option<(Timestamp, Standing)>,
    /// The last reset time inside the session that needs no more attention.
    pub(crate) reset_seen: Option<Timestamp>,
    /// Numbers that begin far in the future count as begun at this moment.
    doubt: Option<Timestamp>,
    /// What the operator was told last.
    pub(crate) told: Option<bool>,
    /// No period runs: what is written for the session now would be lost when the next begins.
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

    /// Whether the session may not be logged on, as far as the schedule was followed.
    pub(crate) fn is_closed(&self) -> bool {
        self.told == Some(false)
    }

    /// What the schedule says now.
    pub(crate) fn look(&mut self, now: Timestamp) -> Standing {
        match self.standing {
            Some((since, standing)) if since <= now && now < standing.until => standing,
            _ => {
                let standing = self.schedule.at(now);
                self.standing = Some((now, standing));
                if self.reset_seen.is_none() {
                    // What was due before we looked for the first time is nobody's reset.
                    self.reset_seen = standing.reset;
                }
                standing
            }
        }
    }

    /// Numbers that began at `began` are older than the running period.
    pub(crate) fn is_stale(
        &mut self,
        now: Timestamp,
        standing: Standing,
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

    /// When to look again.
    pub(crate) fn due(&self, now: Now) -> Mono {
        let until = self
            .standing
            .map_or(now.wall, |(_, standing)| standing.until);
        let rest = until.0.saturating_sub(now.wall.0).max(0).unsigned_abs();
        now.mono + Nanos(rest.min(LOOK_AGAIN.0))
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
        // If it is this clock that is wrong, what the journal says counts once it is right.
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
