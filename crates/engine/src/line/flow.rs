//! Rate limits between a peer and its session, in both directions.
//!
//! ```text
//!   peer -> Inbound: beyond its rate  Reject      answered, the application does not see it
//!                                     Delay       the connection is not read until a token is available
//!                                     Disconnect  Logout, and the connection is closed
//!   peer <- Pacer:   beyond its rate              waits in the journal, in order, and is sent with a new SendingTime
//! ```

use std::ops::Range;

use fixwire_protocol::outbox::Entry;
use fixwire_protocol::session::is_admin;
use fixwire_protocol::{Message, Mono, MsgSeqNumSource, Nanos, Now, Outbox, Refusal, tag};

use super::Line;
use crate::bucket::{Bucket, Rate};
use crate::config::{Excess, Throttle};
use crate::event::Ending;
use crate::host::{ConnId, Host};
use crate::line::output::{Gate, Pace};

/// The inbound rate limit of a peer.
pub(crate) struct Inbound {
    bucket: Bucket,
    excess: Excess,
    /// Whether reading the connection is paused.
    pub(crate) paused: bool,
}

/// What to do with a received message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Pass {
    /// The message is accepted.
    Now,
    /// The message stays in the receive buffer until this time.
    At(Mono),
    /// The connection is closed.
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

    /// Decides what to do with a message in the receive buffer.
    pub(crate) fn arrives(&mut self, now: Mono) -> Pass {
        match self.excess {
            Excess::Reject => Pass::Now,
            _ if self.bucket.take(now) => Pass::Now,
            Excess::Delay => Pass::At(self.bucket.next()),
            Excess::Disconnect => Pass::Never,
        }
    }

    /// Whether a message may be delivered to the application.
    #[cold]
    pub(crate) fn admits(&mut self, now: Mono, message: &Message<'_>) -> Result<(), Refusal> {
        let repeated = || message.get(tag::POSS_DUP_FLAG) == Some(b"Y");
        match self.excess == Excess::Reject && !repeated() && !self.bucket.take(now) {
            true => Err(Refusal::ThrottleLimitExceeded),
            false => Ok(()),
        }
    }
}

/// The outbound rate limit of a peer.
pub(crate) struct Pacer {
    bucket: Bucket,
    /// No message may be written before this time. `None`: messages may be written now.
    out_until: Option<Mono>,
}

impl Pacer {
    pub(crate) fn new(rate: Rate) -> Self {
        Self {
            bucket: Bucket::new(&rate),
            out_until: None,
        }
    }

    /// Whether nothing may be written until the session is woken.
    pub(crate) fn is_out(&self) -> bool {
        self.out_until.is_some()
    }

    /// Number of messages that may be written now.
    pub(crate) fn allowance(&mut self, now: Mono) -> u64 {
        let available = self.bucket.available(now);
        if available > 0 {
            self.out_until = None;
        }
        available
    }

    /// Counts written messages. Returns when the next one may be written, if it must wait.
    pub(crate) fn spend(&mut self, now: Mono, count: u64) -> Option<Mono> {
        self.bucket.spend(now, count);
        self.out_until = (self.bucket.available(now) == 0).then(|| self.bucket.next());
        self.out_until
    }

    /// Handles the passage of time. Returns when to check again.
    pub(crate) fn elapse(&mut self, now: Mono) -> Option<Mono> {
        self.out_until = self.out_until.filter(|until| *until > now);
        self.out_until
    }
}

impl Line {
    /// Writes messages of a session with an outbound rate limit.
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
        // The first message that must wait. New messages wait after it, and also after older waiting messages.
        let late = entries.iter().position(|entry| {
            let late = counts(entry) && left == 0 && entry.number == MsgSeqNumSource::Next;
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

    /// Number of messages that may be written to the peer now.
    pub(crate) fn allowance(&mut self, now: Mono) -> u64 {
        self.pacer
            .as_mut()
            .map_or(u64::MAX, |pacer| pacer.allowance(now))
    }

    /// How waiting messages may be written to the peer now. With a rate limit a message can wait for longer than the
    /// MaxLatency of the peer, so it gets the SendingTime(52) at which it leaves.
    pub(crate) fn pace(&mut self, now: Now) -> Pace {
        Pace {
            most: self.allowance(now.mono),
            sending_time: self.pacer.is_some().then_some(now.wall),
        }
    }

    /// Whether the rate limit allows no message now.
    #[inline]
    pub(crate) fn is_paced_out(&self) -> bool {
        self.pacer.as_ref().is_some_and(Pacer::is_out)
    }

    /// Counts written messages.
    pub(crate) fn spend(&mut self, now: Mono, count: u64) {
        if let Some(pacer) = &mut self.pacer
            && let Some(until) = pacer.spend(now, count)
        {
            self.wake = self.wake.min(until);
        }
    }

    /// Pauses reading from the connection until `until`. Returns the connection if reading was not paused before.
    #[cold]
    pub(crate) fn pause(&mut self, until: Mono) -> Option<ConnId> {
        self.wake = self.wake.min(until);
        let throttle = self.throttle.as_mut()?;
        let was_paused = std::mem::replace(&mut throttle.paused, true);
        self.link.filter(|_| !was_paused).map(|link| link.conn)
    }

    /// What is due for throttle, rate limit, log and a stalled socket; `None` when nothing is due.
    pub(crate) fn wake(&mut self, now: Mono, stall_time: Nanos) -> Option<Woken> {
        if now < self.wake {
            return None;
        }
        self.wake = Mono::NEVER;
        let stalls = self.output.stalls_at(now, stall_time);
        if stalls.is_some_and(|until| until <= now) {
            return Some(Woken::Stalled);
        }
        self.wake = stalls.unwrap_or(Mono::NEVER);
        let mut not_logged = None;
        match self.trail.due() {
            Some(due) if due <= now => not_logged = self.trail.take(now),
            Some(due) => self.wake = self.wake.min(due),
            None => {}
        }
        if let Some(pacer) = &mut self.pacer {
            self.wake = self.wake.min(pacer.elapse(now).unwrap_or(Mono::NEVER));
        }
        let throttle = self.throttle.as_mut();
        let was_paused = throttle.is_some_and(|it| std::mem::replace(&mut it.paused, false));
        Some(Woken::Goes {
            not_logged,
            sends: self.pacer.is_some() && self.link.is_some(),
            reads: self.link.filter(|_| was_paused).map(|link| link.conn),
        })
    }
}

/// What must be done for a session whose timers are due.
pub(crate) enum Woken {
    /// The connection must be closed, because the peer read nothing for too long.
    Stalled,
    /// The session continues.
    Goes {
        /// Number of messages that were not logged, if an event about them is due.
        not_logged: Option<u64>,
        /// Whether waiting messages may be written.
        sends: bool,
        /// The connection to be read again, if reading was paused. The first message without a token pauses it again.
        reads: Option<ConnId>,
    },
}
