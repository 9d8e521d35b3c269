//! Lapsed orders, of an earlier trading day, whose line is connected again, and the time until which the venue may
//! answer a status request.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::state::OmsState;
use crate::state::orders::transition::OrderState;
use crate::state::orders::{Order, Request};
use crate::values::value::{Number, RequestKind};

/// How long a venue may take to answer the status request, in nanoseconds.
const PATIENCE: i64 = 5_000_000_000;

/// Lapsed orders of lines that are connected again; derived from the state.
#[derive(Debug, Default)]
pub(crate) struct LapsedOrders {
    /// Orders whose status the OMS has requested, and whether they have a place in `waiting`.
    pub asked: BTreeMap<Number, bool>,
    /// The time until which the venue may answer, by order, the earliest time first.
    pub waiting: VecDeque<(i64, Number)>,
    /// Orders, lapsed or not, whose pending cancel was in flight when the line disconnected or the process ended: if
    /// the venue does not have this cancel and the order lapses, the OMS sends one more on this connection.
    pub lost: BTreeSet<Number>,
}

impl LapsedOrders {
    /// Whether no answer of a venue may make the OMS cancel a lapsed order.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.asked.is_empty() && self.lost.is_empty()
    }

    /// Adds the lapsed orders and the lost cancels of a connected line. `asked` are the orders whose status the OMS will
    /// request.
    pub(crate) fn line_up(&mut self, state: &OmsState, asked: &[Number]) {
        let orders = asked.iter().filter_map(|order| state.orders().get(*order));
        for order in orders.clone() {
            match is_cancel_lost(state, order) {
                true => self.lost.insert(order.number),
                false => self.lost.remove(&order.number),
            };
        }
        let lapsed = orders.filter(|order| may_be_cancelled(state, order));
        let lapsed: BTreeSet<Number> = lapsed.map(|order| order.number).collect();
        self.waiting.retain(|(_, waits)| !lapsed.contains(waits));
        self.asked.extend(lapsed.into_iter().map(|it| (it, false)));
    }

    /// Removes the lost cancel of an order that has ended.
    #[inline]
    pub(crate) fn ended(&mut self, order: Number) {
        if !self.lost.is_empty() {
            self.lost.remove(&order);
        }
    }

    /// Records that the status request of an order was sent.
    pub(crate) fn sent(&mut self, at: i64, order: Number) {
        if let Some(waits @ false) = self.asked.get_mut(&order) {
            *waits = true;
            self.waiting.push_back((at.saturating_add(PATIENCE), order));
        }
    }

    /// Adds an order whose status the OMS may not request. The cancel of the order is due at once.
    pub(crate) fn not_asked(&mut self, at: i64, order: Number) {
        if let Some(waits) = self.asked.get_mut(&order) {
            *waits = true;
            let place = self.waiting.partition_point(|(due, _)| *due <= at);
            self.waiting.insert(place, (at, order));
        }
    }
}

/// Whether the OMS may cancel an order without an operator: the order has lapsed, no fills are missing, and no cancel
/// is in flight.
pub(crate) fn may_be_cancelled(state: &OmsState, order: &Order) -> bool {
    let request = state.orders().request_of(order);
    let is_cancelled = request.is_some_and(|it| it.kind == RequestKind::Cancel);
    order.state == OrderState::Lapsed && order.pended.is_none() && !is_cancelled
}

/// Whether an order is open and it is unknown if the venue has the pending cancel of the order.
fn is_cancel_lost(state: &OmsState, order: &Order) -> bool {
    let request = state.orders().request_of(order);
    let is_lost = |it: &Request| it.kind == RequestKind::Cancel && it.state == OrderState::Unknown;
    order.state.is_open() && request.is_some_and(is_lost)
}
