//! Changes of all orders of an instrument or a line at once.

use super::Orders;
use crate::state::orders::transition::Transition;
use crate::values::ids::{InstrumentNo, SessionNo};

impl Orders {
    /// Rescales the prices of an instrument.
    pub(crate) fn rescale(&mut self, instrument: InstrumentNo, factor: i64) {
        let orders = &self.orders;
        self.requests.iter_mut().for_each(|request| {
            let order = request.order.and_then(|at| orders.get(at));
            if order.is_some_and(|order| order.instrument == instrument) {
                request.price = request.price.saturating_mul(factor);
                request.hold = request.hold.saturating_mul(factor);
            }
        });
        let is_its = |place| {
            let order = orders.get(place);
            order.is_some_and(|order| order.instrument == instrument)
        };
        self.fills.rescale(is_its, factor);
        let orders = self.orders.iter_mut();
        for order in orders.filter(|order| order.instrument == instrument) {
            order.price = order.price.saturating_mul(factor);
            order.stop = order.stop.saturating_mul(factor);
            order.hold = order.hold.saturating_mul(factor);
            order.paid = order.paid.saturating_mul(factor.into());
        }
    }

    /// Marks requests in flight on a session as unknown.
    pub(crate) fn lose(&mut self, line: SessionNo) {
        let orders = &self.orders;
        self.requests.iter_mut().for_each(|request| {
            let order = request.order.and_then(|at| orders.get(at));
            if order.is_some_and(|order| order.line() == Some(line))
                && let Some(state) = request.state.after(Transition::Lose)
            {
                request.state = state;
            }
        });
        self.orders.iter_mut().for_each(|order| {
            if order.line() == Some(line)
                && let Some(state) = order.state.after(Transition::Lose)
            {
                order.state = state;
            }
        });
    }
}
