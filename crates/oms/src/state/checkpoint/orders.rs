//! Orders of a checkpoint.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::take_all;
use crate::state::OmsState;
use crate::state::orders::transition::OrderState;
use crate::state::orders::{Fill, Order, Pended, Request};
use crate::state::quotes::QuoteSide;
use crate::values::marks::RequestMarks;
use fixwire_ledger::Wire;

/// Size in bytes of an order without texts, fills and request.
pub(super) const LEAST_ORDER: usize = 110;

impl OmsState {
    pub(super) fn put_order(&self, order: &Order, to: &mut Vec<u8>) {
        for number in [order.number, order.current, order.quantity, order.filled] {
            number.put(to);
        }
        order.session.put(to);
        order.account.put(to);
        order.instrument.put(to);
        order.placement.put(to);
        order.side.put(to);
        order.kind.put(to);
        order.tif.put(to);
        order.until.put(to);
        order.effect.put(to);
        order.state.byte().put(to);
        order.withdrawn.put(to);
        order.replaces.put(to);
        order.queued.put(to);
        for price in [order.price, order.stop, order.hold, order.asked] {
            price.put(to);
        }
        order.paid.put(to);
        order.id.put(to);
        order.venue_id.put(to);
        order.retry.is_some().put(to);
        if let Some(retry) = &order.retry {
            retry.attempt.put(to);
            retry.tries.put(to);
            retry.due.put(to);
            retry.not_on.put(to);
        }
        order.pool.put(to);
        order.own_number.put(to);
        order.pool_number.put(to);
        order.pended.is_some().put(to);
        if let Some(pended) = &order.pended {
            pended.how.put(to);
            pended.request.put(to);
            pended.filled.put(to);
            pended.at.put(to);
        }
        order.marks.put(to);
        let fills = || self.orders.fills_of(order.number);
        (fills().count() as u32).put(to);
        fills().for_each(|fill| put_fill(fill, to));
        let request = self.orders.request_of(order);
        request.is_some().put(to);
        if let Some(request) = request {
            request.number.put(to);
            request.kind.put(to);
            request.state.byte().put(to);
            request.quantity.put(to);
            request.price.put(to);
            request.hold.put(to);
            request.id.put(to);
            request.queued.put(to);
        }
    }

    pub(super) fn take_order(&mut self, from: &mut &[u8]) -> Option<()> {
        let [number, current, quantity, filled] = take_all(from)?;
        let mut order = Order {
            number,
            current,
            session: Wire::take(from)?,
            account: Wire::take(from)?,
            instrument: Wire::take(from)?,
            placement: Wire::take(from)?,
            side: Wire::take(from)?,
            kind: Wire::take(from)?,
            tif: Wire::take(from)?,
            until: Wire::take(from)?,
            effect: Wire::take(from)?,
            state: OrderState::of(u8::take(from)?)?,
            withdrawn: Wire::take(from)?,
            replaces: Wire::take(from)?,
            queued: Wire::take(from)?,
            price: 0,
            stop: 0,
            hold: 0,
            quantity,
            filled,
            paid: 0,
            id: crate::Text::EMPTY,
            venue_id: crate::Text::EMPTY,
            request: None,
            last_fill: None,
            pended: None,
            asked: 0,
            retry: None,
            pool_number: crate::Text::EMPTY,
            pool: None,
            own_number: false,
            triggered: false,
            quote_side: QuoteSide::None,
            marks: RequestMarks::default(),
        };
        [order.price, order.stop, order.hold, order.asked] = take_all(from)?;
        order.paid = Wire::take(from)?;
        order.id = Wire::take(from)?;
        order.venue_id = Wire::take(from)?;
        self.take_venue_numbers(&mut order, from)?;
        if bool::take(from)? {
            order.pended = Some(Box::new(Pended {
                how: Wire::take(from)?,
                request: Wire::take(from)?,
                filled: Wire::take(from)?,
                at: Wire::take(from)?,
            }));
        }
        order.marks = RequestMarks::take(from)?;
        self.sessions.get(order.session)?;
        self.accounts.get(order.account)?;
        self.instruments.get(order.instrument)?;
        if number > self.last || self.orders.get(number).is_some() {
            return None;
        }
        let place = self.orders.add(order);
        let mut fills = Vec::new();
        for _ in 0..u32::take(from)? {
            fills.push(take_fill(from)?);
        }
        for fill in fills.into_iter().rev() {
            self.orders.add_fill(place, fill).then_some(())?;
        }
        if bool::take(from)? {
            let request = Request {
                number: Wire::take(from)?,
                order: None,
                kind: Wire::take(from)?,
                state: OrderState::of(u8::take(from)?)?,
                quantity: Wire::take(from)?,
                price: Wire::take(from)?,
                hold: Wire::take(from)?,
                id: Wire::take(from)?,
                queued: Wire::take(from)?,
            };
            let is_new = self.orders.request(request.number).is_none();
            (is_new && request.number <= self.last).then_some(())?;
            self.orders.add_request(place, request).then_some(())?;
        }
        self.count_order(place)
    }
}

fn put_fill(fill: &Fill, to: &mut Vec<u8>) {
    let Fill {
        exec,
        quantity,
        price,
        report,
        undone,
    } = *fill;
    exec.put(to);
    quantity.put(to);
    price.put(to);
    report.put(to);
    undone.put(to);
}

fn take_fill(from: &mut &[u8]) -> Option<Fill> {
    Some(Fill {
        exec: Wire::take(from)?,
        quantity: Wire::take(from)?,
        price: Wire::take(from)?,
        report: Wire::take(from)?,
        undone: Wire::take(from)?,
    })
}
