//! The line groups of orders for which the condition of a route decided.

use alloc::collections::BTreeMap;

use fixwire_ledger::record;

use crate::values::ids::SessionNo;
use crate::values::value::Number;

/// The orders in memory that the condition of a route sent to a line group, or kept from one, each with the first session
/// of its group. Most orders go by symbol alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routed(pub(crate) BTreeMap<Number, SessionNo>);

record! { Routed(_) }

impl Routed {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn add(&mut self, order: Number, line: SessionNo) {
        self.0.insert(order, line);
    }

    /// The first session of the line group of an order; `None` for one that goes by symbol alone.
    #[cold]
    pub(crate) fn of(&self, order: Number) -> Option<SessionNo> {
        self.0.get(&order).copied()
    }

    #[cold]
    pub(crate) fn forget(&mut self, order: Number) {
        self.0.remove(&order);
    }
}
