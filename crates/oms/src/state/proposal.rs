//! An order with the values that the controls check.

use crate::state::tally::Tally;
use crate::values::ids::{AccountNo, InstrumentNo, Party, SessionNo};
use crate::values::value::{Effect, OrderType, Price, Quantity, Side, TimeInForce};

/// An order that is to be checked: a new order, or an order with the terms of its replace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proposal {
    pub session: SessionNo,
    pub account: AccountNo,
    pub instrument: InstrumentNo,
    pub side: Side,
    pub kind: OrderType,
    pub price: Price,
    pub stop: Price,
    /// OrderQty(38), including the filled quantity.
    pub quantity: Quantity,
    pub filled: Quantity,
    /// Usage of the order before the request; zero for a new order.
    pub counted: Tally,
    /// Price at which the order's value was reserved before the request; 0 for a new order.
    pub held_at: Price,
    /// OrderQty(38) before the request; 0 for a new order.
    pub held: Quantity,
    /// TimeInForce(59).
    pub tif: TimeInForce,
    /// PositionEffect(77).
    pub effect: Effect,
    /// Number of replaces, the present one included; 0 for a new order.
    pub replaces: u16,
    /// The market price that is used instead of the symbol's reference price; `None` while it is unknown.
    pub market_price: Option<Price>,
    /// The present time, in nanoseconds since 1970.
    pub at: i64,
}

impl Proposal {
    /// Session, account and instrument of the request.
    #[inline]
    pub fn party(&self) -> Party {
        Party::new(self.session, self.account, self.instrument)
    }
}
