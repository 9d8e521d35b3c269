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
use fixwire_protocol::{Application, Mono, Now, Timestamp};

use crate::engine::{Engine, Owner};
use crate::error::EngineError;
use crate::event::{Ending, Event};
use crate::host::Host;
use crate::journal::{Disk, Kind};
use crate::line::dialler::State;
use crate::schedule::Standing;

/// The Text(58) of the Logout at the end.
const CLOSING: &str = "The session time is over";

impl<A: Application, H: Host, D: Disk> Engine<A, H, D> {
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
        let state = &mut line.session;
        let mut verdict = Verdict::Handled;
        if line.link.is_some() {
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
                let session = core.lines[session].session.id();
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
        let state = &mut core.lines[session].session;
        let older = standing.reset.is_some_and(|reset| began < reset);
        let seen = match state.phase() {
            Phase::LoggedOn(up) if older && up.exchange == Exchange::Settled => {
                // Neither a session that is down nor one that is settled ends by it.
                let _: Verdict = state.reset(now, &mut core.outbox);
                core.tell_reset(now, session, &mut self.app);
                core.commit(now, session, Kind::Sent, None)?;
                let session = core.lines[session].session.id();
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
        let line = &mut self.core.lines[session];
        line.session.allow_logons(may);
        let id = line.session.id();
        let Some(hours) = &mut line.hours else { return };
        let shut = standing.began.is_none();
        if std::mem::replace(&mut hours.shut, shut) != shut {
            self.app.on_hours(now, id, !shut);
        }
        let was = hours.told.replace(may);
        if let Some(dialler) = &mut line.dialler
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
        hours.map_or(Mono::NEVER, |hours| hours.due(now))
    }
}
