//! Orders that are to be sent again, and the time at which to check them next.

use alloc::collections::BTreeSet;

use crate::state::OmsState;
use crate::state::orders::Retry;
use crate::state::orders::transition::OrderState;
use crate::values::ids::SessionNo;
use crate::values::reason::Why;
use crate::values::value::Number;

/// An order that is to be sent again, with the session for it or the reason why it is not sent.
pub(crate) type Again = (Number, Result<SessionNo, Why>);

/// The waiting retries of all orders; derived from the state.
#[derive(Debug)]
pub(crate) struct Retries {
    /// Earliest send time and number of each order.
    pub(crate) waiting: BTreeSet<(i64, Number)>,
    /// The next check: until this time, no order can be sent again and no order times out.
    pub look: i64,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            waiting: BTreeSet::new(),
            look: i64::MAX,
        }
    }
}

impl Retries {
    pub(crate) fn add(&mut self, due: i64, order: Number) {
        self.waiting.insert((due, order));
        self.look_again();
    }

    /// Makes the OMS check the retries again, since a session may have become available.
    pub(crate) fn look_again(&mut self) {
        if !self.waiting.is_empty() {
            self.look = i64::MIN;
        }
    }

    /// The next waiting order after the given one; removes orders that no longer wait.
    pub(crate) fn next(
        &mut self,
        state: &OmsState,
        due: i64,
        number: Number,
    ) -> Option<(i64, Number)> {
        loop {
            let from = (due, number.saturating_add(1));
            let next = self.waiting.range(from..).next().copied()?;
            if retry_of(state, next.1).is_some_and(|retry| retry.due == next.0) {
                return Some(next);
            }
            self.waiting.remove(&next);
        }
    }
}

/// Retry state of an order that waits to be sent again; `None` for another order.
pub(crate) fn retry_of(state: &OmsState, number: Number) -> Option<&Retry> {
    let order = state.orders().get(number)?;
    let waits = order.state == OrderState::Queued;
    order.retry.as_deref().filter(|_| waits)
}
