//! Applies the terms of orders that a venue reports late.

use crate::state::OmsState;
use crate::state::event::LifecycleEvent;
use crate::state::orders::transition::Transition;
use crate::values::units::MOST;

impl OmsState {
    /// Applies the terms that a venue has set for an order, with or without a pending request.
    #[cold]
    pub(crate) fn set_terms(&mut self, event: &LifecycleEvent<'_>) -> Option<()> {
        let LifecycleEvent::TermsSet {
            order: number,
            request,
            current,
            quantity,
            price,
            quantity_at,
            price_at,
        } = *event
        else {
            return None;
        };
        let is_its = |request| {
            let known = self.orders.request(request);
            known.is_some_and(|(_, order)| order.number == number)
        };
        if quantity > MOST || !request.is_none_or(is_its) {
            return None;
        }
        self.change(number, |state, place| {
            let all = state.orders.at(place)?.filled >= quantity;
            state.step(place, Transition::Replace { all })?;
            let closed = match request {
                Some(request) => Some(state.orders.remove_request(request)?),
                None => None,
            };
            let before = state.orders.at(place)?.current;
            if current != before {
                state.carry_on(place, current);
            }
            if !state.remade.is_empty() && (request.is_some() || current != before) {
                state.remade.forget(number);
            }
            let order = state.orders.at_mut(place)?;
            (order.quantity, order.price, order.current) = (quantity, price, current);
            // The value of an order for a spread is reserved at the prices of the legs.
            let of_legs = state.spreads.legs(order.instrument).map(|_| order.hold);
            match &closed {
                Some(closed) => order.hold = price.saturating_abs().max(closed.hold),
                None if order.kind.has_price() => {
                    order.hold = price.saturating_abs().max(of_legs.unwrap_or(0));
                }
                None => {}
            }
            if let Some(closed) = closed.filter(|closed| !closed.id.bytes().is_empty()) {
                order.id = closed.id;
            }
            Some(())
        })?;
        let terms = self.late.of(number);
        (terms.quantity_at, terms.price_at) = (quantity_at, price_at);
        if let Some(request) = request {
            let forgotten = terms.remember(request);
            self.forget_carried(forgotten);
        }
        Some(())
    }
}
