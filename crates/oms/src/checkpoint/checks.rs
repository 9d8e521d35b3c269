//! Checks a state that was read: its parts fit together.

use alloc::vec::Vec;

use crate::state::OmsState;
use crate::value::Number;

impl OmsState {
    /// Accounts have no cycles.
    pub(super) fn check_parents(&self) -> Option<()> {
        for account in 0..self.account_names.len() {
            let mut above = self.parent(account);
            let mut steps = 0;
            while let Some(of) = above {
                if of >= self.account_names.len() || steps > self.account_names.len() {
                    return None;
                }
                steps += 1;
                above = self.parent(of);
            }
        }
        Some(())
    }

    /// The quantities of parents are those of their children.
    pub(super) fn complete_families(&mut self) -> Option<()> {
        let mut families = core::mem::take(&mut self.families);
        let held = |number| {
            let order = self.orders.get(number);
            order.map_or(0, |order| {
                let tally = self.counted(order, self.orders.request_of(order));
                tally.buying.saturating_add(tally.selling)
            })
        };
        families.complete(&self.orders, held)?;
        self.families = families;
        Some(())
    }

    /// Each closed order is listed once among the closed ones, and no number overflows.
    pub(super) fn check_ended(&self) -> Option<()> {
        const MOST: u64 = 1 << 62;
        let mut ended: Vec<Number> = self.orders.ended().iter().copied().collect();
        ended.sort_unstable();
        ended.dedup();
        let all = self.orders.iter().filter(|order| !order.state.is_open());
        let is_whole = ended.len() == self.orders.ended().len() && ended.len() == all.count();
        (is_whole && self.last < MOST && self.events < MOST).then_some(())
    }
}
