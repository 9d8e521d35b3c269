//! Orders that are to be sent again, and when it is of use to look at them.

use alloc::collections::BTreeSet;

use crate::order::Retry;
use crate::state::State;
use crate::transition::OrderState;
use crate::value::Number;

/// All of it follows from the state.
#[derive(Debug)]
pub(crate) struct Retries {
    /// From when on they may leave, and their numbers.
    waiting: BTreeSet<(i64, Number)>,
    /// Before this time none of them can leave or is too old.
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

    /// Something has changed for them.
    pub(crate) fn look_again(&mut self) {
        if !self.waiting.is_empty() {
            self.look = i64::MIN;
        }
    }

    /// The first one behind another that still waits; those that do no longer are dropped.
    pub(crate) fn next(&mut self, state: &State, behind: (i64, Number)) -> Option<(i64, Number)> {
        loop {
            let from = (behind.0, behind.1.saturating_add(1));
            let next = self.waiting.range(from..).next().copied()?;
            if retry_of(state, next.1).is_some_and(|retry| retry.due == next.0) {
                return Some(next);
            }
            self.waiting.remove(&next);
        }
    }
}

/// How an order that waits for it is sent again.
pub(crate) fn retry_of(state: &State, number: Number) -> Option<&Retry> {
    let order = state.orders().get(number)?;
    let waits = order.state == OrderState::Queued;
    order.retry.as_deref().filter(|_| waits)
}
