//! Applies events of spreads: their legs, the fills of the legs, what the legs are exposed to.

use alloc::vec::Vec;

use crate::state::OmsState;
use crate::state::event::SpreadEvent;
use crate::state::leg_fills::LegFill;
use crate::state::orders::{Fill, Order};
use crate::state::spreads::{LegSource, OrderLegs, SpreadLeg};
use crate::state::tally::{Tally, Trade, TradeSide};
use crate::values::canary::{self, OmsPlantedFault};
use crate::values::ids::{AccountNo, InstrumentNo, Party};
use crate::values::scope::Scope;
use crate::values::value::{Number, Quantity, Side};

impl OmsState {
    /// The legs of an instrument that is a spread.
    #[must_use]
    pub fn legs(&self, instrument: InstrumentNo) -> Option<&[SpreadLeg; 2]> {
        self.spreads.legs(instrument)
    }

    /// Quantities that the legs of an order have filled, when its instrument is a spread.
    #[must_use]
    pub fn legs_of(&self, order: Number) -> Option<&OrderLegs> {
        self.spreads.get(order)
    }

    pub(crate) fn apply_spread(&mut self, event: &SpreadEvent<'_>) -> Option<()> {
        match *event {
            SpreadEvent::SpreadLegs { .. } => self.spread_set(event),
            SpreadEvent::LegFilled { .. } => self.leg_filled(event),
            SpreadEvent::LegUndone { .. } => self.leg_undone(event),
            SpreadEvent::LegsMissing { order } => self.spreads.reported(order),
        }
    }

    /// The fills of the symbol's orders in memory count as fills of the legs, since reports of earlier legs do not
    /// arrive.
    fn spread_set(&mut self, event: &SpreadEvent<'_>) -> Option<()> {
        let SpreadEvent::SpreadLegs {
            index,
            first,
            first_side,
            first_ratio,
            second,
            second_side,
            second_ratio,
        } = *event
        else {
            return None;
        };
        let leg = |instrument, side, ratio| SpreadLeg {
            instrument,
            side,
            ratio,
        };
        let legs = [
            leg(first, first_side, first_ratio),
            leg(second, second_side, second_ratio),
        ];
        for instrument in [index, first, second] {
            self.instruments.get(instrument)?;
        }
        self.spreads.may_be(index, &legs).then_some(())?;
        let orders = self.orders.iter().filter(|it| it.instrument == index);
        let orders: Vec<(Number, Quantity)> = orders.map(|it| (it.number, it.filled)).collect();
        for (order, _) in &orders {
            self.spread_forgotten(*order);
        }
        self.spreads.set(index, legs)?;
        for (order, filled) in orders {
            let of = OrderLegs {
                filled: legs.map(|leg| leg.quantity(filled)),
                ..OrderLegs::default()
            };
            self.spreads.insert(order, of);
            self.expose(order);
        }
        Some(())
    }

    fn leg_filled(&mut self, event: &SpreadEvent<'_>) -> Option<()> {
        let SpreadEvent::LegFilled {
            order: number,
            leg: at,
            in_fill,
            exec,
            quantity,
            price,
            ..
        } = *event
        else {
            return None;
        };
        let place = self.orders.place(number)?;
        let order = self.orders.at(place)?;
        let leg = *self.spreads.legs(order.instrument)?.get(usize::from(at))?;
        let party = Party::new(order.session, order.account, leg.instrument);
        let side = TradeSide {
            buys: leg.side_in(order.side).is_buy(),
            effect: order.effect,
        };
        let legs = self.spreads.get_mut(number)?;
        let filled = legs.filled.get_mut(usize::from(at))?;
        *filled = filled.checked_add(quantity)?;
        let fill = Fill {
            exec,
            report: self.events,
            ..Fill::default()
        };
        if !self.orders.add_fill(place, fill) && !canary::is(OmsPlantedFault::LegTwice) {
            *filled -= quantity;
            return None;
        }
        let fill = LegFill {
            leg: at,
            quantity,
            price,
            report: self.events,
            undone: 0,
        };
        self.spreads.fills.add(number, exec, fill);
        let legs = self.spreads.get_mut(number)?;
        let worth = i128::from(price) * i128::from(quantity);
        let paid = legs.paid.get_mut(usize::from(at))?;
        *paid = paid.saturating_add(worth);
        legs.source = match in_fill {
            true => LegSource::Fills,
            false => LegSource::Reports,
        };
        if !self.copies.is_off() {
            self.fill_heard(place, exec, (quantity, price));
        }
        self.trade(&Trade {
            party,
            side,
            quantity,
            price,
        });
        self.expose(number);
        Some(())
    }

    /// A new order of a spread has legs.
    #[cold]
    pub(crate) fn spread_taken(&mut self, order: Number, instrument: InstrumentNo) {
        if self.spreads.legs(instrument).is_some() {
            self.spreads.insert(order, OrderLegs::default());
            self.expose(order);
        }
    }

    /// The legs of an order that is removed from memory are exposed to nothing.
    #[cold]
    pub(crate) fn spread_forgotten(&mut self, number: Number) {
        let Some(of) = self.spreads.remove(number) else {
            return;
        };
        let Some(order) = self.orders.get(number) else {
            return;
        };
        let (account, side) = (order.account, order.side);
        let legs = self.spreads.legs(order.instrument).copied();
        for (leg, old) in legs.into_iter().flatten().zip(of.exposed) {
            self.expose_leg(account, &leg, leg.side_in(side), old, 0);
        }
    }

    /// Quantity of each leg that an order may still trade, when it may still fill this number of spreads.
    pub(crate) fn exposure(
        &self,
        order: &Order,
        legs: &[SpreadLeg; 2],
        sets: Quantity,
    ) -> [Quantity; 2] {
        if self.families.is_parent(order.number) {
            // The fills of its children are those of the legs.
            return legs.map(|leg| leg.quantity(sets));
        }
        let filled = self.spreads.get(order.number).map(|of| of.filled);
        let filled = filled.unwrap_or_default();
        let all = sets.saturating_add(order.filled);
        [0, 1].map(|at| legs[at].quantity(all).saturating_sub(filled[at]))
    }

    /// Counts the exposure of the legs of an order, after a change of the order or its legs.
    #[cold]
    pub(crate) fn expose(&mut self, number: Number) {
        let Some(order) = self.orders.get(number) else {
            return;
        };
        let Some(legs) = self.spreads.legs(order.instrument).copied() else {
            return;
        };
        let tally = self.counted(order, self.orders.request_of(order));
        let sets = tally.buying.saturating_add(tally.selling);
        let new = self.exposure(order, &legs, sets);
        let (account, side) = (order.account, order.side);
        if !self.families.is_parent(number) {
            self.spreads.compare(order, self.time);
        }
        let Some(of) = self.spreads.get_mut(number) else {
            return;
        };
        let old = core::mem::replace(&mut of.exposed, new);
        for at in [0, 1] {
            let leg = &legs[at];
            self.expose_leg(account, leg, leg.side_in(side), old[at], new[at]);
        }
    }

    fn expose_leg(
        &mut self,
        account: AccountNo,
        leg: &SpreadLeg,
        side: Side,
        old: Quantity,
        new: Quantity,
    ) {
        if old == new {
            return;
        }
        let tally = |quantity| Tally::open(side.is_buy(), quantity);
        let more = Tally::difference(&tally(old), &tally(new));
        let scopes = [
            Scope::Instrument(leg.instrument),
            Scope::Holding(account, leg.instrument),
        ];
        for scope in scopes {
            if let Some(standing) = self.standing_mut(scope) {
                standing.tally.add(&more);
            }
        }
    }

    /// Counts the exposure of the legs of all orders of a state that was read; `None` when orders and legs do not
    /// agree.
    pub(crate) fn complete_spreads(&mut self) -> Option<()> {
        if self.spreads.is_empty() {
            return self.spreads.orders().next().is_none().then_some(());
        }
        let is_spread = |order: &Order| self.spreads.legs(order.instrument).is_some();
        let of_spreads = self.orders.iter().filter(|order| is_spread(order)).count();
        let orders: Vec<Number> = self.spreads.orders().collect();
        let fits = |number: &Number| self.orders.get(*number).is_some_and(is_spread);
        if of_spreads != orders.len() || !orders.iter().all(fits) {
            return None;
        }
        for order in orders {
            self.expose(order);
        }
        Some(())
    }
}
