//! Model: restatements with other terms.

use super::venue::number_of;
use super::{Fate, Fields, Model};

impl Model {
    /// The order has what the venue says, when all of it fits. What does not is a break, behind which a world ends.
    pub fn terms_restated(&mut self, number: u64, fields: &Fields<'_>) {
        let order = &self.orders[&number];
        let says_terms = [38, 44, 151].iter().any(|tag| fields.contains_key(tag));
        if !order.is_open() || !says_terms {
            return;
        }
        let said = |tag| number_of(fields, tag).map(|it| it.whole().ok());
        let leaves = said(151);
        let quantity = match (said(38), leaves) {
            (Some(quantity), _) => quantity,
            (None, Some(leaves)) => leaves.map(|leaves| order.filled + leaves),
            (None, None) => Some(order.quantity),
        };
        let cum = said(14).unwrap_or(Some(order.filled));
        let (Some(quantity), Some(cum)) = (quantity, cum) else {
            return;
        };
        let scale = self.world.symbols[order.symbol].scale;
        let price = number_of(fields, 44).filter(|_| "24".contains(order.kind));
        let price = price.map_or(Some(order.price), |price| price.scaled(scale).ok());
        if (quantity, price) == (order.quantity, Some(order.price)) {
            return;
        }
        let left = quantity - order.filled;
        let fits = leaves.is_none_or(|leaves| leaves == Some(left));
        let status = fields.get(&39).copied().unwrap_or_default();
        let is_live = match left {
            0 => ["", "2"].contains(&status),
            _ => ["", "0", "1", "5"].contains(&status),
        };
        let is_clear = left >= 0 && quantity > 0 && cum == order.filled && fits && is_live;
        let is_free = order.asked.as_ref().is_none_or(|it| it.what != 'G')
            && order.waiting.is_none()
            && !self.is_held(number);
        self.accepted(number);
        let Some(price) = price.filter(|_| is_clear && is_free) else {
            return;
        };
        let order = self.orders.get_mut(&number).unwrap();
        (order.quantity, order.price) = (quantity, price);
        order.hold = order.hold.max(price.abs());
        if left == 0 {
            order.fate = Fate::Over('2');
        }
        self.write_terms(number, fields);
        if left == 0 {
            self.over(number);
        }
    }
}
