//! Model: replaces whose reports come late or out of order.

use super::remade::Remade;
use super::venue::{number_of, whole};
use super::{Fate, Fields, Model, Number, TOO_LATE};

/// An order of which replaces were given up, with the venue's times of its terms; empty while they are unknown.
#[derive(Clone, Debug, Default)]
pub struct Late {
    pub given_up: Vec<u64>,
    quantity_at: String,
    price_at: String,
}

impl Late {
    /// Its report may come, or come again.
    fn remember(&mut self, request: u64) {
        self.given_up.push(request);
        if self.given_up.len() > 8 {
            self.given_up.remove(0);
        }
    }
}

impl Model {
    /// A replace is answered as not received.
    pub fn give_up(&mut self, number: u64, request: u64) {
        let order = self.orders.get_mut(&number).unwrap();
        order.late.get_or_insert_default().remember(request);
    }

    /// The venue reports a replace of such an order; whether it is one that is pending or was given up.
    pub fn replaced_late(&mut self, number: u64, request: u64, fields: &Fields<'_>) -> bool {
        let order = &self.orders[&number];
        let Some(mut late) = order.late.clone() else {
            return false;
        };
        let asked = order.asked.clone();
        let asked = asked.filter(|asked| asked.number == request && asked.what == 'G');
        if asked.is_none() && !late.given_up.contains(&request) {
            return false;
        }
        let scale = self.world.symbols[order.symbol].scale;
        let mut quantity = whole(fields, 38);
        let price: Option<Number> = number_of(fields, 44);
        let mut price = price.and_then(|price| price.scaled(scale).ok());
        if let Some(asked) = &asked {
            quantity = quantity.or(Some(asked.quantity));
            price = price.or(Some(asked.price));
        }
        let time = fields.get(&60).copied().unwrap_or_default();
        let is_held = matches!(order.remade, Some(Remade::Held(..)));
        if asked.is_none() && ((time.is_empty() && !is_held) || (quantity, price) == (None, None)) {
            return true;
        }
        let current = order.current;
        let counts =
            |set: &str| time.is_empty() || time > set || (time == set && request > current);
        let is_last = counts(late.quantity_at.as_str().max(&late.price_at));
        quantity = quantity.filter(|_| counts(&late.quantity_at));
        price = price.filter(|_| counts(&late.price_at));
        if asked.is_none() && (quantity, price) == (None, None) {
            return true;
        }
        if matches!(order.fate, Fate::Over(how) if how != '2') {
            if asked.is_some() {
                self.decline(request, &TOO_LATE);
            }
            return true;
        }
        for (set, at) in [
            (quantity.is_some(), &mut late.quantity_at),
            (price.is_some(), &mut late.price_at),
        ] {
            if set && time > at.as_str() {
                time.clone_into(at);
            }
        }
        self.accepted(number);
        let is_spread = self.legs_of(self.orders[&number].symbol).is_some();
        let order = self.orders.get_mut(&number).unwrap();
        let (original, was_open) = (order.id.clone(), order.is_open());
        order.late = Some(late);
        order.quantity = quantity.unwrap_or(order.quantity);
        order.price = price.unwrap_or(order.price);
        if asked.is_some() || is_last {
            order.remade = None;
        }
        if is_last {
            order.current = request;
        }
        match &asked {
            Some(asked) => order.hold = asked.hold.max(order.price.abs()),
            None if "24".contains(order.kind) => {
                let least = if is_spread { order.hold } else { 0 };
                order.hold = order.price.abs().max(least);
            }
            None => {}
        }
        order.fate = match order.fate {
            _ if order.filled >= order.quantity => Fate::Over('2'),
            Fate::Done => Fate::Done,
            Fate::Lapsed => Fate::Lapsed,
            _ => Fate::Working,
        };
        let is_open = order.is_open();
        if let Some(asked) = asked {
            order.asked = None;
            order.late.as_mut().unwrap().remember(request);
            if !asked.id.is_empty() {
                order.id = asked.id;
            }
            self.write_execution(number, '5', Some(&original), &[]);
        } else {
            self.write_late(number);
        }
        match (was_open, is_open) {
            (true, false) => self.over(number),
            (false, true) => self.ended.retain(|ended| *ended != number),
            _ => {}
        }
        true
    }
}
