//! Line groups of orders whose route was decided by a condition.

use alloc::collections::BTreeMap;

use fixwire_ledger::record;

use crate::values::ids::SessionNo;
use crate::values::value::Number;

/// The orders in memory whose symbol has a route with a condition, each with the first session of its line group. The
/// line group of other orders follows from the symbol.
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

    /// The first session of the line group of an order; `None` if its symbol alone decides the route.
    #[cold]
    pub(crate) fn of(&self, order: Number) -> Option<SessionNo> {
        self.0.get(&order).copied()
    }

    #[cold]
    pub(crate) fn forget(&mut self, order: Number) {
        self.0.remove(&order);
    }
}
