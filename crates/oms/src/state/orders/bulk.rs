//! Functions that change all orders of an instrument or of a line at once.

use super::{Order, Orders};
use crate::state::orders::transition::Transition;
use crate::values::ids::{InstrumentNo, SessionNo};
use crate::values::units::Rescale;

impl Order {
    /// Gives the prices and quantities of the order more decimals.
    pub(crate) fn rescale(&mut self, by: Rescale) {
        by.price(&mut self.price);
        by.price(&mut self.stop);
        by.price(&mut self.hold);
        by.quantity(&mut self.quantity);
        by.quantity(&mut self.filled);
        by.paid(&mut self.paid);
        if let Some(pended) = &mut self.pended {
            by.quantity(&mut pended.filled);
        }
    }
}

impl Orders {
    /// Rescales the prices and quantities of an instrument that gets more decimals.
    pub(crate) fn rescale(&mut self, instrument: InstrumentNo, by: Rescale) {
        let orders = &self.orders;
        self.requests.iter_mut().for_each(|request| {
            let order = request.order.and_then(|at| orders.get(at));
            if order.is_some_and(|order| order.instrument == instrument) {
                by.price(&mut request.price);
                by.price(&mut request.hold);
                by.quantity(&mut request.quantity);
            }
        });
        let is_its = |place| {
            let order = orders.get(place);
            order.is_some_and(|order| order.instrument == instrument)
        };
        self.fills.rescale(is_its, by);
        let orders = self.orders.iter_mut();
        for order in orders.filter(|order| order.instrument == instrument) {
            order.rescale(by);
        }
    }

    /// Sets the state of requests in flight on a session to unknown.
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
