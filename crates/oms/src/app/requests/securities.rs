//! Sends lists of instruments to clients that request them: a few messages per turn, so that other work is not delayed.

use alloc::collections::VecDeque;
use alloc::sync::Arc;

use fixwire_protocol::{Mono, Nanos, Outbox, Refusal, SessionId};

use crate::fix::requests::securities::SecurityAnswer;
use crate::values::rules::InstrumentRule;

/// Number of instruments, or of messages without one, after which a turn ends: a turn must stay short, so that orders do
/// not wait. A SecurityList(y) has up to as many.
const TURN: usize = 50;
/// Pause after such a turn, in which orders are handled and the client can read the messages.
const PACE: Nanos = Nanos(1_000_000);
/// Maximum number of requests of a session that may wait.
const MOST: usize = 4;

/// Answers that are being sent, in the order of their requests. An answer ends when its client disconnects, so answers
/// are not part of the state of the OMS.
#[derive(Debug, Default)]
pub(in crate::app) struct SecurityAnswers {
    queue: VecDeque<SecurityAnswer>,
    /// When the pause after the last turn ends.
    next_at: Mono,
}

impl SecurityAnswers {
    /// Whether no answer is left to send.
    pub(in crate::app) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// All answers, for tests.
    #[cfg(any(test, feature = "state-lines"))]
    pub(in crate::app) fn all(&self) -> impl Iterator<Item = &SecurityAnswer> {
        self.queue.iter()
    }

    /// Adds an answer.
    ///
    /// # Errors
    ///
    /// The session has the maximum number of requests that wait.
    pub(in crate::app) fn add(&mut self, answer: SecurityAnswer) -> Result<(), Refusal> {
        let own = self.queue.iter().filter(|it| it.to == answer.to);
        if own.count() >= MOST {
            return Err(Refusal::NotAvailable);
        }
        self.queue.push_back(answer);
        Ok(())
    }

    /// Gives up the answers to a client that is disconnected.
    pub(in crate::app) fn stop(&mut self, session: SessionId) {
        self.queue.retain(|answer| answer.to != session);
    }

    /// After a reload, answers that have begun go on with the instruments from before.
    pub(in crate::app) fn keep(&mut self, before: &[InstrumentRule]) {
        let mut begun = self
            .queue
            .iter_mut()
            .filter(|it| it.is_of_present())
            .peekable();
        if begun.peek().is_some() {
            let before = Arc::new(before.to_vec());
            begun.for_each(|answer| answer.keep(&before));
        }
    }

    /// Ends the answers to sessions that have lost the right: the next message says so.
    pub(in crate::app) fn end_without_right(&mut self, may: impl Fn(SessionId) -> bool) {
        let lost = self.queue.iter_mut().filter(|answer| !may(answer.to));
        lost.for_each(SecurityAnswer::end_without_right);
    }

    /// Sends the next messages, while the outbox has room for this many entries and bytes. Returns the time until more
    /// can be sent; `None` when nothing is left.
    pub(in crate::app) fn send(
        &mut self,
        now: Mono,
        instruments: &[InstrumentRule],
        entries: usize,
        bytes: usize,
        outbox: &mut Outbox,
    ) -> Option<Nanos> {
        if now < self.next_at {
            return (!self.is_empty()).then_some(self.next_at - now);
        }
        let mut left = TURN;
        while left > 0
            && outbox.has_room(entries, bytes)
            && let Some(answer) = self.queue.front_mut()
        {
            let session = answer.to;
            let before = answer.sent();
            let goes_on = answer.step(instruments, outbox);
            left = left.saturating_sub((answer.sent() - before).max(1));
            if !goes_on {
                self.queue.pop_front();
            }
            // The sessions take turns: one message each.
            self.queue
                .make_contiguous()
                .sort_by_key(|it| it.to == session);
        }
        let mut wait = Nanos(0);
        if left == 0 {
            self.next_at = now + PACE;
            wait = PACE;
        }
        (!self.queue.is_empty()).then_some(wait)
    }
}
