//! What the OMS does when a time is reached, in one table.

use fixwire_protocol::Nanos;

use crate::decide::core::{Core, Sink};
#[cfg(debug_assertions)]
use crate::state::OmsState;
#[cfg(debug_assertions)]
use crate::state::event::OrderEvent;
use crate::values::value::Number;

/// Later than any time.
const NEVER: Nanos = Nanos(u64::MAX);

/// Time from now until `when`; 0 for a time that has passed.
#[inline(always)]
fn until(at: i64, when: Option<i64>) -> Option<Nanos> {
    when.map(|when| Nanos(when.saturating_sub(at).max(0).unsigned_abs()))
}

impl Core {
    /// The time until the next step, if nothing is to be done now and only requests to venues wait for their time: the
    /// usual case, for which no row of [`due`](Self::due) needs a look. `None` in all other cases.
    ///
    /// The inner `None` means that no step is due at any time.
    #[inline]
    pub(crate) fn idle_until(&mut self, at: i64) -> Option<Option<Nanos>> {
        if self.has_other_timers() || self.has_work(at) {
            return None;
        }
        match self.next_unanswered() {
            None => Some(None),
            Some(due) if due > at => Some(until(at, Some(due))),
            Some(_) => None,
        }
    }

    /// Whether a row of [`due`](Self::due) other than that of unanswered requests may have a step. It has none while its
    /// queue is empty.
    #[inline(always)]
    fn has_other_timers(&mut self) -> bool {
        let (work, state) = (&self.work, &self.state);
        // Lengths are added and not compared one by one: nearly always all are 0.
        let queued = work.later.len()
            | work.pended.len()
            | work.lapsed.waiting.len()
            | work.alarms.len()
            | work.gone.len()
            | state.expiries.len()
            | self.prices.deadlines.len()
            | state.quotes.inquiries.len()
            | work.mass.asked.len()
            | work.asking.len()
            | work.mass.waiting.len()
            | state.spreads.waiting.len();
        queued != 0
            || work.retries.look < i64::MAX
            || work.roll.is_some()
            || !state.copies.is_off()
            || self.lines.waits()
    }

    /// Checks that no row has a step, and that the rows give the same time.
    #[cfg(debug_assertions)]
    pub(crate) fn assert_idle(&mut self, at: i64, until: Option<Nanos>) {
        let mut none = |_: &OmsState, event: &OrderEvent<'_>| panic!("not idle: {event}");
        let due = self.due(at, &mut |order| panic!("not idle: {order}"), &mut none);
        assert_eq!(due, until, "at {at}");
    }

    /// Does what is due: at most one step of each row, from the first row to the last. Passes orders that have waited
    /// too long for missing fills to `overdue`. Returns the time until the next step.
    pub fn due(
        &mut self,
        at: i64,
        overdue: &mut dyn FnMut(Number),
        sink: &mut impl Sink,
    ) -> Option<Nanos> {
        let steps = [
            // Cancels of a mass cancel that wait for the answer to another request of their order.
            self.due_cancels(at),
            // Final states that wait for missing fills.
            self.due_ends(at, overdue),
            // Requests that the venue has not answered.
            self.due_unanswered(at, sink),
            // Orders of earlier trading days whose line is up again.
            self.due_lapsed(at, sink),
            // Breaks that become alarms.
            self.due_alarms(at, sink),
            // Orders of clients that are disconnected.
            self.due_withdrawal(at, sink),
            // Limits that expire.
            self.due_limits(at, sink),
            // Conditional orders that a price has triggered, or that expire.
            self.due_held(at, sink),
            // Fills that wait for their drop copy.
            self.due_copies(at, sink),
            // Price inquiries without an answer.
            self.due_inquiries(at, sink),
            // Answers to OrderMassStatusRequest(AF).
            self.due_mass(at, sink),
            // Status requests that wait for room on their line.
            until(at, self.due_asking(at)),
            until(at, self.due_mass_asking(at)),
            // The roll of the trading day.
            self.due_roll(at),
            // Messages that are queued for a line.
            until(at, self.due_waiting(at)),
            // Orders that are sent again.
            until(at, self.due_retry(at)),
            // Fills of legs of spreads.
            self.due_legs(at, sink),
        ];
        let mut next = NEVER;
        for step in steps {
            next = next.min(step.unwrap_or(NEVER));
        }
        (next < NEVER).then_some(next)
    }
}
