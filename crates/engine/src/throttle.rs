//! Connections that are read no further for a while, and messages that wait: [`flow`](crate::line::flow) carried out.

use std::ops::Range;

use fixwire_protocol::outbox::Entry;
use fixwire_protocol::session::is_admin;
use fixwire_protocol::{Application, Mono, Now, Number, Outbox, SessionId};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::event::{Ending, Event};
use crate::host::{ConnId, Host};
use crate::journal::{Disk, Kind};
use crate::line::Line;
use crate::line::link::Link;
use crate::release::Gate;

impl Line {
    /// Writes messages of a session whose peer takes only so many in a time.
    #[cold]
    pub(crate) fn send_paced(
        &mut self,
        now: Mono,
        host: &mut impl Host,
        conn: ConnId,
        outbox: &Outbox,
        run: Range<usize>,
        gate: Gate,
    ) -> Result<(), Ending> {
        let entries = &outbox.entries()[run.clone()];
        let counts = |entry: &Entry| !entry.is_discarded() && !is_admin(entry.msg_type());
        let mut left = self.allowance(now);
        let mut spent = 0;
        // The first one that has to wait; behind it all new ones wait, and behind older ones too.
        let late = entries.iter().position(|entry| {
            let late = counts(entry) && left == 0 && entry.number == Number::Next;
            if counts(entry) && !late {
                left = left.saturating_sub(1);
                spent += 1;
            }
            late
        });
        let result = match late {
            Some(late) if !self.output.has_backlog() => {
                let late = run.start + late;
                let first = self.output.send(host, conn, outbox, run.start..late, gate);
                self.output.defer_entry(outbox, late);
                first.and_then(|()| {
                    self.output
                        .send(host, conn, outbox, late + 1..run.end, gate)
                })
            }
            _ => self.output.send(host, conn, outbox, run, gate),
        };
        self.spend(now, spent);
        result
    }

    /// Messages that may be written to the peer now.
    pub(crate) fn allowance(&mut self, now: Mono) -> u64 {
        self.pacer
            .as_mut()
            .map_or(u64::MAX, |pacer| pacer.allowance(now))
    }

    /// So many were written.
    pub(crate) fn spend(&mut self, now: Mono, count: u64) {
        if let Some(pacer) = &mut self.pacer
            && let Some(until) = pacer.spend(now, count)
        {
            self.wake = self.wake.min(until);
        }
    }
}

impl<A: Application, H: Host, D: Disk> Engine<A, H, D> {
    /// A session's connection is not read before `until`.
    #[cold]
    pub(crate) fn pause(&mut self, session: usize, until: Mono) {
        let line = &mut self.core.lines[session];
        line.wake = line.wake.min(until);
        if let (Some(throttle), Some(Link { conn, .. })) = (&mut line.throttle, line.link)
            && !std::mem::replace(&mut throttle.paused, true)
        {
            self.host.hold(conn, true);
        }
    }

    /// A peer has sent more than it may: its Logout is written.
    #[cold]
    pub(crate) fn end_flood(&mut self, now: Now, session: usize) -> Result<Ending, EngineError> {
        let core = &mut self.core;
        // The verdict would be to wait for the answer; the connection ends at once.
        let state = &mut core.lines[session].session;
        let _ = state.log_out(now, "Throttle limit exceeded", &mut core.outbox);
        core.commit(now, session, Kind::Sent, None)?;
        Ok(Ending::Throttled)
    }

    /// Tells how many messages of a session were not logged, if any.
    pub(crate) fn tell_not_logged(&mut self, now: Now, session: usize, messages: Option<u64>) {
        if let Some(messages) = messages {
            let session = SessionId(session as u32);
            self.core
                .raise(now, &Event::NotLogged { session, messages });
        }
    }

    /// What throttle, pacer and stalled sockets waited for is due.
    pub(crate) fn wake(&mut self, now: Now, session: usize) -> Result<(), EngineError> {
        let line = &mut self.core.lines[session];
        if now.mono < line.wake {
            return Ok(());
        }
        line.wake = Mono::NEVER;
        let stall_time = self.core.stall_time;
        if let Some(until) = line.output.stalls_at(now.mono, stall_time) {
            if until <= now.mono {
                return self.disconnect(now, session, Ending::Stalled);
            }
            line.wake = until;
        }
        let mut not_logged = None;
        match line.trail.due() {
            Some(due) if due <= now.mono => not_logged = line.trail.take(now.mono),
            Some(due) => line.wake = line.wake.min(due),
            None => {}
        }
        if let Some(pacer) = &mut line.pacer {
            line.wake = line.wake.min(pacer.elapse(now.mono).unwrap_or(Mono::NEVER));
            if line.link.is_some() {
                self.core.set_busy(session);
            }
        }
        self.tell_not_logged(now, session, not_logged);
        let line = &mut self.core.lines[session];
        if let (Some(throttle), Some(Link { conn, .. })) = (&mut line.throttle, line.link)
            && std::mem::replace(&mut throttle.paused, false)
        {
            // It is paused again, if that must be, by the first message for which there is no token.
            self.host.hold(conn, false);
            self.process(now, session)?;
        }
        Ok(())
    }
}
