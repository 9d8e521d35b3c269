//! What the OMS does at a time of its own: one table.

use fixwire_protocol::Nanos;

use crate::decide::core::{Core, Sink};
use crate::decide::work::earlier;
use crate::values::value::Number;

/// What waits for a time, in the order in which it is done.
#[derive(Clone, Copy, Debug)]
enum Timer {
    /// Cancels of a mass cancel that wait for an answer to another request of their order.
    Cancels,
    /// Ends of orders whose fills are missing.
    Ends,
    /// Requests that the venue has not answered.
    Unanswered,
    /// Orders of former days whose line is up again.
    Lapsed,
    /// Breaks that become alarms.
    Alarms,
    /// Orders of clients that are disconnected.
    Withdrawals,
    /// Limits that expire.
    Limits,
    /// Conditional orders that a price has triggered, or that expire.
    Held,
    /// Fills that wait for their drop copy.
    Copies,
    /// Price inquiries without an answer.
    Inquiries,
    /// Answers to OrderMassStatusRequest(AF).
    MassStatus,
    /// Status requests that wait for room on their line.
    Asking,
    /// The roll of the trading day.
    Roll,
    /// Messages that are queued for a line.
    Queues,
    /// Orders that are sent again.
    Retries,
    /// Fills of legs of spreads.
    Legs,
}

impl Timer {
    const ALL: [Self; 16] = [
        Self::Cancels,
        Self::Ends,
        Self::Unanswered,
        Self::Lapsed,
        Self::Alarms,
        Self::Withdrawals,
        Self::Limits,
        Self::Held,
        Self::Copies,
        Self::Inquiries,
        Self::MassStatus,
        Self::Asking,
        Self::Roll,
        Self::Queues,
        Self::Retries,
        Self::Legs,
    ];
}

/// From now until then; nothing for a time that has passed.
#[inline]
fn until(at: i64, when: i64) -> Nanos {
    Nanos(when.saturating_sub(at).max(0).unsigned_abs())
}

impl Core {
    /// Does what is due: each timer does at most one step. Orders that have waited for missing fills too long are passed to
    /// `overdue`. Returns when the next step is due.
    pub fn due(
        &mut self,
        at: i64,
        overdue: &mut dyn FnMut(Number),
        sink: &mut impl Sink,
    ) -> Option<Nanos> {
        let next = Timer::ALL.map(|timer| self.step(timer, at, overdue, sink));
        next.into_iter().flatten().min()
    }

    /// Does a step of one timer, if it is due; when the next one is.
    #[inline(always)]
    fn step(
        &mut self,
        timer: Timer,
        at: i64,
        overdue: &mut dyn FnMut(Number),
        sink: &mut impl Sink,
    ) -> Option<Nanos> {
        match timer {
            Timer::Cancels => self.due_cancels(at),
            Timer::Ends => self.due_ends(at, overdue),
            Timer::Unanswered => self.due_unanswered(at, sink),
            Timer::Lapsed => self.due_lapsed(at, sink),
            Timer::Alarms => self.due_alarms(at, sink),
            Timer::Withdrawals => self.due_withdrawal(at, sink),
            Timer::Limits => self.due_limits(at, sink),
            Timer::Held => self.due_held(at, sink),
            Timer::Copies => self.due_copies(at, sink),
            Timer::Inquiries => self.due_inquiries(at, sink),
            Timer::MassStatus => self.due_mass(at, sink),
            Timer::Asking => {
                let when = earlier(self.due_asking(at), self.due_mass_asking(at));
                when.map(|when| until(at, when))
            }
            Timer::Roll => self.due_roll(at),
            Timer::Queues => self.due_waiting(at).map(|when| until(at, when)),
            Timer::Retries => self.due_retry(at).map(|when| until(at, when)),
            Timer::Legs => self.due_legs(at, sink),
        }
    }
}
