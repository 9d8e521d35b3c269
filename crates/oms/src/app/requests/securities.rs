//! Sends lists of instruments to clients that request them: a few messages per turn, so that other work is not delayed.

use alloc::collections::VecDeque;
use alloc::sync::Arc;

use fixwire_protocol::{Nanos, Outbox, Refusal, SessionId};

use crate::fix::requests::securities::SecurityAnswer;
use crate::values::rules::InstrumentRule;

/// Maximum number of messages that are sent in one turn: a turn must stay short, so that orders do not wait.
const TURN: usize = 32;
/// Pause after such a turn, in which the client can read the messages.
const PACE: Nanos = Nanos(1_000_000);
/// Maximum number of requests of a session that may wait.
const MOST: usize = 4;

/// Answers that are being sent, in the order of their requests. An answer ends when its client disconnects, so answers
/// are not part of the state of the OMS.
#[derive(Debug, Default)]
pub(in crate::app) struct SecurityAnswers(VecDeque<SecurityAnswer>);

impl SecurityAnswers {
    /// Whether no answer is left to send.
    pub(in crate::app) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All answers, for tests.
    #[cfg(any(test, feature = "state-lines"))]
    pub(in crate::app) fn all(&self) -> impl Iterator<Item = &SecurityAnswer> {
        self.0.iter()
    }

    /// Adds an answer.
    ///
    /// # Errors
    ///
    /// The session has the maximum number of requests that wait.
    pub(in crate::app) fn add(&mut self, answer: SecurityAnswer) -> Result<(), Refusal> {
        let own = self.0.iter().filter(|it| it.to == answer.to);
        if own.count() >= MOST {
            return Err(Refusal::NotAvailable);
        }
        self.0.push_back(answer);
        Ok(())
    }

    /// Gives up the answers to a client that is disconnected.
    pub(in crate::app) fn stop(&mut self, session: SessionId) {
        self.0.retain(|answer| answer.to != session);
    }

    /// After a reload, answers that have begun go on with the instruments from before.
    pub(in crate::app) fn keep(&mut self, before: &[InstrumentRule]) {
        let mut begun = self.0.iter_mut().filter(|it| it.is_of_present()).peekable();
        if begun.peek().is_some() {
            let before = Arc::new(before.to_vec());
            begun.for_each(|answer| answer.keep(&before));
        }
    }

    /// Sends the next messages, while the outbox has room for this many entries and bytes. Returns the time until more
    /// can be sent; `None` when nothing is left.
    pub(in crate::app) fn send(
        &mut self,
        instruments: &[InstrumentRule],
        entries: usize,
        bytes: usize,
        outbox: &mut Outbox,
    ) -> Option<Nanos> {
        let mut left = TURN;
        while left > 0 && outbox.has_room(entries, bytes) {
            let answer = self.0.front_mut()?;
            let session = answer.to;
            left -= 1;
            if !answer.step(instruments, outbox) {
                self.0.pop_front();
            }
            // The sessions take turns: one message each.
            self.0.make_contiguous().sort_by_key(|it| it.to == session);
        }
        let wait = if left < TURN { PACE } else { Nanos(0) };
        (!self.0.is_empty()).then_some(wait)
    }
}
