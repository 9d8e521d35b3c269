//! An index of orders by the OrderID(37) of their venue, for reports that have no ClOrdID(11) of the OMS.
//!
//! Few venues send such reports. The index is built at the first of these reports, from the orders in memory, and kept
//! from then on; with other venues it costs nothing. It has room for all orders that the settings allow. When it is
//! full, it drops the orders that are no longer in memory.

use hashbrown::HashTable;
use siphasher::sip::SipHasher13;

use crate::state::OmsState;
use crate::state::event::{CopyEvent, LifecycleEvent, OrderEvent, StrayEvent};
use crate::state::orders::Order;
use crate::values::value::Number;

/// The index; derived from the state.
#[derive(Debug, Default)]
pub(crate) struct VenueIds {
    /// Hash of the OrderID(37), and the order; `None` until the index is built.
    table: Option<HashTable<(u64, Number)>>,
}

fn hash(id: &[u8]) -> u64 {
    SipHasher13::new().hash(id)
}

impl VenueIds {
    /// Whether the index was built and must be updated.
    #[inline]
    pub(crate) fn is_used(&self) -> bool {
        self.table.is_some()
    }

    /// Number of orders for which the index has room.
    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.table.as_ref().map_or(0, HashTable::capacity)
    }

    /// Builds the index, with room for this number of orders.
    pub(crate) fn make(&mut self, state: &OmsState, room: usize) {
        if self.table.is_some() {
            return;
        }
        let orders = state.orders();
        let mut table = HashTable::with_capacity(room.max(orders.iter().count()));
        for order in orders.iter().filter(|it| !it.venue_id.bytes().is_empty()) {
            let key = hash(order.venue_id.bytes());
            table.insert_unique(key, (key, order.number), |it| it.0);
        }
        self.table = Some(table);
    }

    /// Updates the index after an event was applied.
    #[cold]
    pub(crate) fn note(&mut self, state: &OmsState, event: &OrderEvent<'_>) {
        let (OrderEvent::Order(LifecycleEvent::Accepted { order, .. })
        | OrderEvent::Order(LifecycleEvent::VenueIdSet { order, .. })
        | OrderEvent::Copy(CopyEvent::External { order, .. })
        | OrderEvent::Stray(StrayEvent::Recalled { order, .. })) = *event
        else {
            return;
        };
        let (Some(table), Some(order)) = (&mut self.table, state.orders().get(order)) else {
            return;
        };
        let id = order.venue_id.bytes();
        let entry = (hash(id), order.number);
        if id.is_empty() || table.find(entry.0, |it| *it == entry).is_some() {
            return;
        }
        if table.len() == table.capacity() {
            let is_its = |order: &Order, key: u64| hash(order.venue_id.bytes()) == key;
            table.retain(|(key, number)| {
                let order = state.orders().get(*number);
                order.is_some_and(|order| is_its(order, *key))
            });
        }
        table.insert_unique(entry.0, entry, |it| it.0);
    }

    /// The order with this OrderID(37) for which `fits` is true, if there is exactly one.
    pub(crate) fn find(&self, id: &[u8], fits: impl Fn(Number) -> bool) -> Option<Number> {
        let table = self.table.as_ref()?;
        let key = hash(id);
        let named = table.iter_hash(key).filter(|it| it.0 == key);
        let mut named = named.map(|it| it.1).filter(|number| fits(*number));
        match (named.next(), named.next()) {
            (number, None) => number,
            _ => None,
        }
    }
}
