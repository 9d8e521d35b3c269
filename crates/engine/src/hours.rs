//! Sessions follow their schedules: they open, close and restart their numbers when these say so.
//!
//! ```text
//!                     a period begins, numbers are older          may log on
//!   no connection -------------------------------> numbers at 1 -------------> dial, take Logons
//!   connected ----- may not log on, or numbers are of an earlier period -----> Logout, then as above
//! ```
//!
//! The journal says when the numbers began. A period restarts them when they are older than the
//! period, in one record; so it happens once whether the process was up, down or killed on the way,
//! and a clock that is set back does not do it again.

use fixwire_protocol::session::{Exchange, Phase, Verdict};
use fixwire_protocol::{Application, Mono, Nanos, Now, Timestamp};

use crate::connect::State;
use crate::engine::{Engine, EngineError, Owner};
use crate::event::{Ending, Event};
use crate::host::Host;
use crate::journal::Kind;
use crate::schedule::{Schedule, Standing};

/// How often the wall clock is looked at: it may have been set.
const LOOK_AGAIN: Nanos = Nanos(1_000_000_000);
/// Numbers that begin so far ahead of the clock were given to them by a wrong one.
const WRONG_CLOCK: i64 = 86_400_000_000_000;
/// The Text(58) of the Logout at the end.
const CLOSING: &str = "The session time is over";

/// The schedule of one session, and how far it has been followed.
#[derive(Debug)]
pub(crate) struct Hours {
    schedule: Schedule,
    /// What the schedule said, and since when that holds.
    standing: Option<(Timestamp, Standing)>,
    /// The last reset time inside the session that needs no more attention.
    reset_seen: Option<Timestamp>,
    /// Numbers that begin far in the future count as begun at this moment.
    doubt: Option<Timestamp>,
    /// What the operator was told last.
    told: Option<bool>,
}

impl Hours {
    pub(crate) fn new(schedule: Schedule) -> Self {
        Self {
            schedule,
            standing: None,
            reset_seen: None,
            doubt: None,
            told: None,
        }
    }

    /// Whether the session may not be logged on, as far as the schedule was followed.
    pub(crate) fn is_closed(&self) -> bool {
        self.told == Some(false)
    }

    /// What the schedule says now.
    fn look(&mut self, now: Timestamp) -> Standing {
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
    fn is_stale(&mut self, now: Timestamp, standing: Standing, began: Timestamp) -> bool {
        let period = standing.began.filter(|_| self.schedule.hours.is_some());
        if began.0 <= now.0.saturating_add(WRONG_CLOCK) {
            self.doubt = None;
            return period.is_some_and(|period| began < period);
        }
        let counted = *self.doubt.get_or_insert(now);
        period.is_some_and(|period| counted < period)
    }

    /// When to look again.
    fn due(&self, now: Now) -> Mono {
        let until = self
            .standing
            .map_or(now.wall, |(_, standing)| standing.until);
        let rest = until.0.saturating_sub(now.wall.0).max(0).unsigned_abs();
        now.mono + Nanos(rest.min(LOOK_AGAIN.0))
    }
}

impl<A: Application, H: Host> Engine<A, H> {
    /// Carries out what the schedule of a session says now. Called when a connection is about to
    /// become the session's, and about every second.
    pub(crate) fn keep_hours(&mut self, now: Now, session: usize) -> Result<(), EngineError> {
        let core = &mut self.core;
        let line = &mut core.lines[session];
        let Some(hours) = line.hours.as_deref_mut() else {
            return Ok(());
        };
        let standing = hours.look(now.wall);
        let began = core.journal.numbers_began(line.journal).unwrap_or(now.wall);
        let stale = hours.is_stale(now.wall, standing, began);
        let state = &mut core.sessions[session];
        let mut verdict = Verdict::Handled;
        if line.conn.is_some() {
            if stale || !standing.may_log_on {
                verdict = state.log_out(now, CLOSING, &mut core.outbox);
                core.commit(now, session, Kind::Sent, None)?;
            } else if hours.reset_seen < standing.reset {
                self.reset_at_its_time(now, session, standing, began)?;
            }
        } else {
            hours.reset_seen = hours.reset_seen.max(standing.reset);
            if stale {
                // Neither a session that is down nor one that is settled ends by it.
                let _: Verdict = state.reset(now, &mut core.outbox);
                core.tell_reset(now, session, &mut self.app);
                core.commit(now, session, Kind::Reset, None)?;
                let session = core.sessions[session].id();
                self.core.raise(now, &Event::NumbersRestarted { session });
            }
        }
        if let Verdict::Disconnect(reason) = verdict {
            self.disconnect(now, session, Ending::Session(reason))?;
        }
        self.open_or_close(now, session, standing);
        Ok(())
    }

    /// Restarts the numbers of a session that is logged on at its reset time.
    fn reset_at_its_time(
        &mut self,
        now: Now,
        session: usize,
        standing: Standing,
        began: Timestamp,
    ) -> Result<(), EngineError> {
        let core = &mut self.core;
        let state = &mut core.sessions[session];
        let older = standing.reset.is_some_and(|reset| began < reset);
        let seen = match state.phase() {
            Phase::LoggedOn(up) if older && up.exchange == Exchange::Settled => {
                // Neither a session that is down nor one that is settled ends by it.
                let _: Verdict = state.reset(now, &mut core.outbox);
                core.tell_reset(now, session, &mut self.app);
                core.commit(now, session, Kind::Sent, None)?;
                let session = core.sessions[session].id();
                self.core.raise(now, &Event::NumbersRestarted { session });
                true
            }
            // Another exchange of Logons or Logouts is open: once it is over.
            Phase::LoggedOn(_) if older => false,
            _ => true,
        };
        if seen && let Some(hours) = &mut self.core.lines[session].hours {
            hours.reset_seen = standing.reset;
        }
        Ok(())
    }

    /// Lets a session dial and take Logons, or not.
    fn open_or_close(&mut self, now: Now, session: usize, standing: Standing) {
        let may = standing.may_log_on;
        let state = &mut self.core.sessions[session];
        state.allow_logons(may);
        let id = state.id();
        let line = &mut self.core.lines[session];
        let shut = standing.began.is_none();
        if std::mem::replace(&mut line.shut, shut) != shut {
            self.app.on_hours(now, id, !shut);
        }
        let Some(hours) = &mut line.hours else { return };
        let was = hours.told.replace(may);
        if let Some(dialler) = &mut self.diallers[session]
            && was != Some(may)
        {
            if let State::Dialling(conn, _) = dialler.state()
                && !may
            {
                self.host.close(conn);
                self.owners[conn.0 as usize] = Owner::Nobody;
            }
            dialler.set_open(now.mono, may);
        }
        if was != Some(may) {
            let event = if may {
                Event::SessionOpened { session: id }
            } else {
                let opens = hours.schedule.ahead(now.wall).opens;
                Event::SessionClosed { session: id, opens }
            };
            self.core.raise(now, &event);
        }
    }

    /// When the schedule of a session must be looked at again.
    pub(crate) fn hours_due(&self, now: Now, session: usize) -> Mono {
        let hours = self.core.lines[session].hours.as_deref();
        hours.map_or(crate::engine::NEVER, |hours| hours.due(now))
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
