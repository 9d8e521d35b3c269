//! Sessions follow their schedules: they open, close, and reset their sequence numbers.
//!
//! ```text
//!                     a session begins, numbers are older         logon allowed
//!   no connection -------------------------------> numbers at 1 -------------> dial, accept Logons
//!   connected ----- no logon, or numbers are of an earlier session ----------> Logout, then as above
//! ```
//!
//! The journal has the time at which the sequence numbers of a session began. A new trading session resets older
//! sequence numbers, in one record. So the reset happens exactly once, whether the process was up, down, or killed in
//! between. A clock that is set back does not repeat the reset.

use fixwire_protocol::session::Verdict;
use fixwire_protocol::{Application, Mono, Now};

use crate::engine::{Engine, Owner};
use crate::error::EngineError;
use crate::event::{Ending, Event};
use crate::host::Host;
use crate::journal::{Disk, RecordKind};
use crate::line::hours::{Step, Turned};
use crate::schedule::ScheduleState;

/// Text(58) of the Logout at the end of the schedule.
const CLOSING: &str = "Session closed: outside the session schedule";

impl<A: Application, H: Host, D: Disk> Engine<A, H, D> {
    /// Applies the schedule of a session. Called before a connection is attached to the session, and about every
    /// second.
    pub(crate) fn keep_hours(&mut self, now: Now, session: usize) -> Result<(), EngineError> {
        let core = &mut self.core;
        let line = &mut core.lines[session];
        let began = core.journal.numbers_began(line.journal).unwrap_or(now.wall);
        let Some((standing, step)) = line.follow_hours(now.wall, began) else {
            return Ok(());
        };
        match step {
            Step::Nothing => {}
            Step::LogOut => {
                let verdict = line.session.log_out(now, CLOSING, &mut core.outbox);
                core.commit(now, session, RecordKind::Sent, None, &mut self.app)?;
                if let Verdict::Disconnect(reason) = verdict {
                    self.disconnect(now, session, Ending::Session(reason))?;
                }
            }
            Step::Restart => {
                let kind = match line.link {
                    Some(_) => RecordKind::Sent,
                    None => RecordKind::Reset,
                };
                // The reset does not end a session that is disconnected or already closed.
                let _: Verdict = line.session.reset(now, &mut core.outbox);
                core.tell_reset(now, session, &mut self.app);
                core.commit(now, session, kind, None, &mut self.app)?;
                let session = core.lines[session].session.id();
                core.raise(now, &Event::NumbersRestarted { session });
            }
        }
        self.open_or_close(now, session, standing);
        Ok(())
    }

    /// Sets whether a session may connect and accept Logons.
    fn open_or_close(&mut self, now: Now, session: usize, standing: ScheduleState) {
        let line = &mut self.core.lines[session];
        let Turned {
            runs,
            may_log_on,
            drops,
        } = line.open_or_close(now.mono, standing);
        let id = line.session.id();
        let schedule = line.hours.as_ref().map(|hours| &hours.schedule);
        let event = may_log_on.map(|may| match (may, schedule) {
            (false, Some(schedule)) => Event::SessionClosed {
                session: id,
                opens: schedule.ahead(now.wall).opens,
            },
            _ => Event::SessionOpened { session: id },
        });
        if let Some(runs) = runs {
            self.app.on_hours(now, id, runs);
        }
        if let Some(conn) = drops {
            self.host.close(conn);
            self.set_owner(conn, Owner::Nobody);
        }
        if let Some(event) = event {
            self.core.raise(now, &event);
        }
    }

    /// Time at which the schedule of a session must be checked again.
    pub(crate) fn hours_due(&self, now: Now, session: usize) -> Mono {
        let hours = self.core.lines[session].hours.as_deref();
        hours.map_or(Mono::NEVER, |hours| hours.due(now))
    }
}
