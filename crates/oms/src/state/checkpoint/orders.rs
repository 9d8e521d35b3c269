//! Orders of a checkpoint.

use alloc::vec::Vec;

use fixwire_ledger::{Put, Wire, record};

use crate::state::OmsState;
use crate::state::orders::transition::OrderState;
use crate::state::orders::{Fill, Order, Pended, Request, Retry};
use crate::state::quotes::QuoteSide;

/// Size in bytes of an order without texts, fills and request.
pub(super) const LEAST_ORDER: usize = 110;

record! {
    Order {
        number, current, quantity, filled, session, account, instrument, placement, side, kind, tif,
        until, effect, state, withdrawn, replaces, queued, price, stop, hold, asked, paid, id,
        venue_id, retry, pool, own_number, pool_number, pended, marks;
        request = None, last_fill = None, triggered = false, quote_side = QuoteSide::None
    }
}
record! { Retry { attempt, tries, due, not_on } }
record! { Pended { how, request, filled, at } }
record! { Fill { exec, quantity, price, report, undone } }
record! { Request { number, kind, state, quantity, price, hold, id, queued; order = None } }

impl Wire<'_> for OrderState {
    fn put(&self, to: &mut impl Put) {
        to.some([self.byte()]);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Self::of(u8::take(from)?)
    }
}

impl OmsState {
    pub(super) fn put_order(&self, order: &Order, to: &mut impl Put) {
        order.put(to);
        let fills = || self.orders.fills_of(order.number);
        (fills().count() as u32).put(to);
        fills().for_each(|fill| fill.put(to));
        let request = self.orders.request_of(order);
        request.is_some().put(to);
        if let Some(request) = request {
            request.put(to);
        }
    }

    pub(super) fn take_order(&mut self, from: &mut &[u8]) -> Option<()> {
        let order = Order::take(from)?;
        self.sessions.get(order.session)?;
        self.accounts.get(order.account)?;
        self.instruments.get(order.instrument)?;
        let has_pool = order.pool.is_none_or(|pool| self.pools.get(pool).is_some());
        let is_retried = order.retry.as_ref();
        let fits = has_pool
            && is_retried.is_none_or(|retry| retry.attempt <= self.last)
            && order.number <= self.last
            && self.orders.get(order.number).is_none();
        let place = fits.then(|| self.orders.add(order))?;
        for fill in <Vec<Fill>>::take(from)?.into_iter().rev() {
            self.orders.add_fill(place, fill).then_some(())?;
        }
        let request: Option<Request> = Wire::take(from)?;
        if let Some(request) = request {
            let is_new = self.orders.request(request.number).is_none();
            (is_new && request.number <= self.last).then_some(())?;
            self.orders.add_request(place, request).then_some(())?;
        }
        self.count_order(place)
    }
}
