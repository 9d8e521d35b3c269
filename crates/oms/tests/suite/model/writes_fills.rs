//! Model: reports of what has become of fills, and those of legs.

use super::Model;
use super::writes::{Body, average, decimal, put_effect};

/// What a venue's report says of its order beside its values.
#[derive(Clone, Debug)]
pub struct Words {
    pub order: u64,
    /// It is of a leg of the order's spread.
    pub is_leg: bool,
    pub is_fill: bool,
    pub is_new: bool,
    /// Text(58).
    pub text: String,
}

impl Words {
    /// Whether the report of an order to its client tells what the venue's report says, without a text of its own.
    pub fn are_of(&self, number: u64, parent: Option<u64>, body: &Body) -> bool {
        let trans = body.get(20).unwrap_or("0");
        let kind = body.get(150).unwrap_or_default();
        let trades = body.get(32).is_some_and(|it| it != "0");
        let is_fill = trans == "0" && trades && ["F", "1", "2"].contains(&kind);
        let is_leg = body.get(442) == Some("2");
        let is_status = kind == "I" || trans == "3";
        if is_status || body.get(58).is_some() || is_leg != self.is_leg {
            return false;
        }
        match self.is_fill {
            true => is_fill && (number == self.order || (!is_leg && parent == Some(number))),
            false if is_leg => number == self.order && !is_fill,
            false => {
                let is_accepted = trans == "0" && kind == "0";
                number == self.order && !is_fill && (self.is_new || !is_accepted)
            }
        }
    }
}

impl Model {
    /// A fill was cancelled, or is of this size now.
    pub fn write_undone(&mut self, number: u64, size: (i128, i128), text: &str) {
        let mut body = Body::default();
        let (kind, more) = match size {
            (0, _) => ('H', Vec::new()),
            (quantity, price) => ('G', vec![(32, quantity), (31, price)]),
        };
        self.execution_body(number, kind, None, &more, &mut body);
        if !text.is_empty() {
            body.put(58, text);
        }
        self.write_to_client(number, body);
    }

    /// An operator set it to what its venue says.
    pub fn write_settled(&mut self, number: u64) {
        let mut body = Body::default();
        self.execution_body(number, 'D', None, &[], &mut body);
        let client = self.orders[&number].client;
        let is_old = self.world.clients[client].is_old;
        body.put(378, if is_old { 4 } else { 8 });
        self.write_to_client(number, body);
    }

    pub fn write_leg_fill(
        &mut self,
        number: u64,
        leg: (usize, super::spreads::Leg),
        size: (i128, i128),
    ) {
        self.write_leg(number, leg, size, false);
    }

    /// The fill of a leg was cancelled, or is of this size now.
    pub fn write_leg_undone(
        &mut self,
        number: u64,
        leg: (usize, super::spreads::Leg),
        size: (i128, i128),
    ) {
        self.write_leg(number, leg, size, true);
    }

    fn write_leg(
        &mut self,
        number: u64,
        (at, leg): (usize, super::spreads::Leg),
        (quantity, price): (i128, i128),
        is_undone: bool,
    ) {
        let order = &self.orders[&number];
        let is_old = self.world.clients[order.client].is_old;
        let symbol = &self.world.symbols[leg.symbol];
        let (filled, paid) = (order.legs.filled[at], order.legs.paid[at]);
        let left = leg.ratio * (order.leaves() + order.filled) - filled;
        let left = left.max(0);
        let mut body = Body::default();
        body.put(37, number).put(11, &order.id);
        self.put_secondary(number, &mut body);
        let status = self.orders[&number].status();
        let (trans, undone) = if quantity == 0 { (1, 'H') } else { (2, 'G') };
        if is_old {
            body.put(20, if is_undone { trans } else { 0 });
        }
        let kind = match (is_old, is_undone) {
            (true, true) => status,
            (false, true) => undone,
            (false, false) => 'F',
            (true, false) if left == 0 => '2',
            (true, false) => '1',
        };
        let order = &self.orders[&number];
        body.put(150, kind)
            .put(39, order.status())
            .put(1, self.world.accounts[order.account].name)
            .put(55, symbol.name)
            .put(54, if order.buys() == leg.buys { 1 } else { 2 })
            .put(38, leg.ratio * order.quantity);
        put_effect(order, &mut body);
        body.put(32, quantity)
            .put(31, decimal(price, symbol.scale))
            .put(151, left)
            .put(14, filled)
            .put(6, average(paid, filled, symbol.scale))
            .put(442, 2);
        self.write_to_client(number, body);
    }
}
