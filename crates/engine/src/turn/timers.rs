//! Executes due timers: of sessions, of connections without a Logon, of waiting messages.

use fixwire_protocol::{Application, Mono, Now};

use crate::engine::{Engine, Stopping};
use crate::error::EngineError;
use crate::event::Ending;
use crate::host::Host;
use crate::journal::{Disk, RecordKind};
use crate::line::flow::Woken;

impl<A: Application, H: Host, D: Disk> Engine<A, H, D> {
    /// Handles the timers that are due: of connections without a Logon, and of sessions.
    pub(super) fn elapse(&mut self, now: Now) -> Result<(), EngineError> {
        let mut due = std::mem::take(&mut self.due);
        if self.core.timers.take_due(now.mono, &mut due) {
            self.elapse_rest(now)?;
        }
        for session in due.drain(..) {
            self.elapse_session(now, session)?;
        }
        self.due = due;
        Ok(())
    }

    /// Handles what belongs to no session: links, connections without a Logon, suppressed events, a stop.
    fn elapse_rest(&mut self, now: Now) -> Result<(), EngineError> {
        if self.core.events.due().is_some_and(|due| due <= now.mono) {
            self.core.events.pass_counts(now);
        }
        self.elapse_guests(now);
        let links = self.elapse_links(now)?;
        let stopped = match self.stopping {
            Stopping::Until(deadline) => Some(deadline),
            Stopping::No | Stopping::Done => None,
        };
        let due = [stopped, self.lobby.due(), self.core.events.due()];
        let due = due.into_iter().flatten().min();
        self.core
            .timers
            .engine(due.unwrap_or(Mono::NEVER).min(links));
        Ok(())
    }

    /// Handles what is due for a session: its schedule, its own timers, messages that wait for its peer, its
    /// connection.
    fn elapse_session(&mut self, now: Now, session: usize) -> Result<(), EngineError> {
        self.keep_hours(now, session)?;
        let core = &mut self.core;
        let line = &mut core.lines[session];
        let due = line.session.next_due();
        if due.is_some_and(|due| due <= now.mono) && line.leaving().is_none() {
            let verdict = line.session.elapse(now, &mut core.outbox);
            core.note_end(session, verdict);
            core.commit(now, session, RecordKind::Sent, None, &mut self.app)?;
            if let Some(ending) = self.follow(now, session, verdict)? {
                self.part(now, session, ending)?;
            }
            self.release_if_full(now)?;
        }
        self.wake(now, session)?;
        if let Some(leaving) = self.core.lines[session].leaving() {
            match leaving.until <= now.mono {
                true => self.disconnect(now, session, leaving.why)?,
                false => {
                    let line = &self.core.lines[session];
                    let due = leaving.until.min(line.wake);
                    self.core.timers.session(session, due);
                }
            }
        } else {
            self.core.note_due(session);
        }
        let hours = self.hours_due(now, session);
        self.core.timers.session(session, hours);
        self.elapse_dialler(now, session)
    }

    /// Handles the due timers of throttle, rate limit and stalled socket.
    fn wake(&mut self, now: Now, session: usize) -> Result<(), EngineError> {
        match self.core.lines[session].wake(now.mono, self.core.stall_time) {
            None => Ok(()),
            Some(Woken::Stalled) => {
                self.disconnect(now, session, Ending::Stalled(self.core.stall_time))
            }
            Some(Woken::Goes {
                not_logged,
                sends,
                reads,
            }) => {
                if sends {
                    self.core.set_busy(session);
                }
                self.core.raise_not_logged(now, session, not_logged);
                let Some(conn) = reads else { return Ok(()) };
                self.host.hold(conn, false);
                self.process(now, session)
            }
        }
    }
}
