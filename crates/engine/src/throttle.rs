//! How much passes between a peer and its session: counted in messages, both ways.
//!
//! ```text
//!   peer -> Inbound: beyond its rate  Reject      answered, the application does not see it
//!                                     Delay       the connection is not read until a token is there
//!                                     Disconnect  Logout, and the connection is closed
//!   peer <- Pacer:   beyond its rate              waits in the journal, in order
//! ```

use std::ops::Range;

use fixwire_protocol::outbox::Entry;
use fixwire_protocol::session::is_admin;
use fixwire_protocol::{Application, Message, Mono, Now, Number, Outbox, Refusal, SessionId, tag};

use crate::bucket::{Bucket, Rate};
use crate::config::{Excess, Throttle};
use crate::engine::{Engine, EngineError, NEVER};
use crate::event::{Ending, Event};
use crate::host::{ConnId, Host};
use crate::journal::Kind;
use crate::line::Line;
use crate::release::Gate;

/// What a peer may send.
pub(crate) struct Inbound {
    bucket: Bucket,
    excess: Excess,
    /// The connection is not read.
    pub(crate) paused: bool,
}

/// What becomes of a message that has come in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Pass {
    /// It is taken.
    Now,
    /// It stays in the receive buffer until then.
    At(Mono),
    /// The connection ends.
    Never,
}

impl Inbound {
    pub(crate) fn new(throttle: Throttle) -> Self {
        Self {
            bucket: Bucket::new(&throttle.rate),
            excess: throttle.excess,
            paused: false,
        }
    }

    /// A message stands in the receive buffer.
    pub(crate) fn arrives(&mut self, now: Mono) -> Pass {
        match self.excess {
            Excess::Reject => Pass::Now,
            _ if self.bucket.take(now) => Pass::Now,
            Excess::Delay => Pass::At(self.bucket.next()),
            Excess::Disconnect => Pass::Never,
        }
    }

    /// A message is about to be given to the application: whether it may.
    #[cold]
    pub(crate) fn admits(&mut self, now: Mono, message: &Message<'_>) -> Result<(), Refusal> {
        let repeated = || message.get(tag::POSS_DUP_FLAG) == Some(b"Y");
        match self.excess == Excess::Reject && !repeated() && !self.bucket.take(now) {
            true => Err(Refusal::ThrottleLimitExceeded),
            false => Ok(()),
        }
    }
}

/// What a peer is sent.
pub(crate) struct Pacer {
    bucket: Bucket,
    /// No message may be written before this.
    out_until: Option<Mono>,
}

impl Pacer {
    pub(crate) fn new(rate: Rate) -> Self {
        Self {
            bucket: Bucket::new(&rate),
            out_until: None,
        }
    }

    /// Nothing may be written until the session is woken.
    pub(crate) fn is_out(&self) -> bool {
        self.out_until.is_some()
    }

    /// How many messages may be written now.
    pub(crate) fn allowance(&mut self, now: Mono) -> u64 {
        let available = self.bucket.available(now);
        if available > 0 {
            self.out_until = None;
        }
        available
    }

    /// So many were written; when the next one may be, if not now.
    pub(crate) fn spend(&mut self, now: Mono, count: u64) -> Option<Mono> {
        self.bucket.spend(now, count);
        self.out_until = (self.bucket.available(now) == 0).then(|| self.bucket.next());
        self.out_until
    }

    /// Time has passed: when it has to be looked at again.
    pub(crate) fn elapse(&mut self, now: Mono) -> Option<Mono> {
        self.out_until = self.out_until.filter(|until| *until > now);
        self.out_until
    }
}

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

impl<A: Application, H: Host> Engine<A, H> {
    /// A session's connection is not read before `until`.
    #[cold]
    pub(crate) fn pause(&mut self, session: usize, until: Mono) {
        let line = &mut self.core.lines[session];
        line.wake = line.wake.min(until);
        if let (Some(throttle), Some(conn)) = (&mut line.throttle, line.conn)
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
        let _ = core.sessions[session].log_out(now, "Throttle limit exceeded", &mut core.outbox);
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
        line.wake = NEVER;
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
            line.wake = line.wake.min(pacer.elapse(now.mono).unwrap_or(NEVER));
            if line.conn.is_some() {
                self.core.set_busy(session);
            }
        }
        self.tell_not_logged(now, session, not_logged);
        let line = &mut self.core.lines[session];
        if let (Some(throttle), Some(conn)) = (&mut line.throttle, line.conn)
            && std::mem::replace(&mut throttle.paused, false)
        {
            // It is paused again, if that must be, by the first message for which there is no token.
            self.host.hold(conn, false);
            self.process(now, session)?;
        }
        Ok(())
    }
}
