//! Refuses orders and requests that TMP cannot carry, before anything is sent.

use fixwire_protocol::tag;

use super::orders::{LONG_SYMBOL, account_number, time_in_force, wire_price};
use crate::decide::core::Core;
use crate::state::orders::Order;
use crate::state::proposal::Proposal;
use crate::state::quotes::QuoteSide;
use crate::values::ids::InstrumentNo;
use crate::values::reason::{Reason, Why};
use crate::values::units::Scales;
use crate::values::value::{Effect, Price, Quantity};

impl Core {
    /// Whether orders for a line group go over TMP.
    fn is_over_tmp(&self, group: Option<usize>) -> bool {
        group.is_some_and(|group| self.lines.groups[group].over_tmp)
    }

    /// Whether a line of a group needs PositionEffect even in orders of symbols with netting positions.
    fn needs_effect(&self, group: Option<usize>) -> bool {
        group.is_some_and(|group| self.lines.groups[group].needs_effect)
    }

    /// Whether a line of a group is for futures, which do not have PositionEffect A.
    fn has_futures(&self, group: Option<usize>) -> bool {
        group.is_some_and(|group| self.lines.groups[group].has_futures)
    }

    /// The PositionEffect of a new order. The value comes from the order, or over TMP, if the order has none, from the
    /// default of the user. `has_effect` is false if positions of the instrument net.
    #[inline(never)]
    pub(crate) fn effect_of(
        &self,
        asked: Option<Effect>,
        default: Option<Effect>,
        group: Option<usize>,
        has_effect: bool,
    ) -> Result<Effect, Reason> {
        let over_tmp = self.is_over_tmp(group);
        let asked = match asked.map(Effect::asked) {
            Some(Effect::Netting) if over_tmp => Some(default.unwrap_or(Effect::Netting)),
            asked => asked,
        };
        let why = match asked {
            Some(Effect::Netting) if !has_effect => return Ok(Effect::Netting),
            Some(Effect::Netting) => Why::Effect,
            None if over_tmp => Why::TmpEffectValue,
            Some(Effect::Automatic) if over_tmp && self.has_futures(group) => Why::TmpEffectValue,
            Some(effect) if over_tmp && has_effect => return Ok(effect),
            Some(effect) if over_tmp => return Ok(effect.netting()),
            Some(effect @ (Effect::Open | Effect::Close)) if has_effect => return Ok(effect),
            Some(Effect::Open | Effect::Close) => Why::NoEffect,
            // For a FIX venue, the other values mean something else.
            Some(_) | None => Why::Effect,
        };
        Err(Reason::of(why))
    }

    /// Checks that a new order fits into an R01. A held order becomes a limit or market order before it is sent, and is
    /// checked as such.
    #[inline(never)]
    pub(crate) fn check_tmp(
        &self,
        order: &Proposal,
        group: Option<usize>,
        is_quote: bool,
    ) -> Result<(), Reason> {
        if !self.is_over_tmp(group) {
            return Ok(());
        }
        let state = self.state();
        if order.side.is_short() {
            return Err(Reason::not_carried(tag::SIDE));
        }
        let why = if time_in_force(order.tif).is_none() {
            Why::TmpTimeInForce
        } else if account_number(state.accounts().name(order.account)).is_none() {
            Why::TmpAccount
        } else if state.instruments().name(order.instrument).len() > LONG_SYMBOL {
            Why::TmpSymbol
        } else if !is_quote && order.effect == Effect::Netting && self.needs_effect(group) {
            Why::TmpEffect
        } else {
            return self.check_tmp_values(order.instrument, order.quantity, order.price);
        };
        Err(Reason::of(why))
    }

    /// Checks that a replace can be sent. The replace must change the price or reduce the quantity, but not both. The
    /// OMS itself carries out the replace of an order that was not sent.
    #[inline(never)]
    pub(crate) fn check_tmp_change(
        &self,
        order: &Order,
        quantity: Quantity,
        price: Price,
    ) -> Result<(), Reason> {
        if !self.is_over_tmp(self.lines.group_of(&self.state, order)) {
            return Ok(());
        }
        self.check_tmp_values(order.instrument, quantity, price)?;
        let why = if order.state.is_unsent() {
            return Ok(());
        } else if order.quote_side != QuoteSide::None && price != order.price {
            Why::QuotePrice
        } else if quantity > order.quantity {
            Why::TmpIncrease
        } else if quantity < order.quantity && price != order.price {
            Why::TmpBoth
        } else {
            return Ok(());
        };
        Err(Reason::of(why))
    }

    fn check_tmp_values(
        &self,
        instrument: InstrumentNo,
        quantity: Quantity,
        price: Price,
    ) -> Result<(), Reason> {
        if quantity > u64::from(u16::MAX) {
            return Err(Reason {
                value: quantity.into(),
                limit: u16::MAX.into(),
                ..Reason::of(Why::TmpQuantity)
            });
        }
        let Scales {
            price: known,
            quantity: 0,
        } = self.state().scales(instrument)
        else {
            // The quantities of the order have decimals, because the order was meant for another line.
            return Err(Reason::of(Why::TmpValues));
        };
        let scale = self.tmp_scales.get(instrument);
        match scale.and_then(|scale| wire_price(price, known, *scale)) {
            Some(_) => Ok(()),
            None => Err(Reason::of(Why::TmpPrice)),
        }
    }
}
