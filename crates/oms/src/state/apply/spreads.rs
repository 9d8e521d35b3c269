//! Applies events of spreads: their legs, fills of the legs, and the exposure of the legs.

use alloc::vec::Vec;

use crate::state::OmsState;
use crate::state::event::SpreadEvent;
use crate::state::leg_fills::LegFill;
use crate::state::orders::{Fill, Order};
use crate::state::spreads::{LegSource, OrderLegs, SpreadLeg};
use crate::state::tally::{Trade, TradeSide};
use crate::values::canary::{self, OmsPlantedFault};
use crate::values::ids::{InstrumentNo, Party};
use crate::values::value::{Number, Price, Quantity};

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

    /// Sets the legs of a spread. Earlier fills of the spread's orders in memory count as fills of the legs, since no
    /// reports of those legs will arrive.
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
            self.fill_heard(place, leg.instrument, exec, (quantity, price));
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

    /// Adds the legs of a new order of a spread.
    #[cold]
    pub(crate) fn spread_taken(&mut self, order: Number, instrument: InstrumentNo) {
        if self.spreads.legs(instrument).is_some() {
            self.spreads.insert(order, OrderLegs::default());
            self.expose(order);
        }
    }

    /// Removes the exposure of the legs of an order that is removed from memory.
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

    /// Counts the exposure of the legs of all orders, after a state was read from a checkpoint; `None` when the orders
    /// and legs in the state contradict each other.
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

    /// Applies a bust or correction of a leg's fill.
    pub(crate) fn leg_undone(&mut self, event: &SpreadEvent<'_>) -> Option<()> {
        let SpreadEvent::LegUndone {
            order: number,
            leg: at,
            exec,
            by,
            was_quantity,
            was_price,
            quantity,
            price,
            ..
        } = *event
        else {
            return None;
        };
        let (was, now) = ((was_quantity, was_price), (quantity, price));
        let order = self.orders.get(number)?;
        let leg = *self.spreads.legs(order.instrument)?.get(usize::from(at))?;
        let party = Party::new(order.session, order.account, leg.instrument);
        let side = TradeSide {
            buys: leg.side_in(order.side).is_buy(),
            effect: order.effect,
        };
        let fill = self.spreads.fills.get_mut(number, exec)?;
        let is_its = (fill.quantity, fill.price) == was && fill.leg == at;
        (is_its && fill.undone == 0 && by != 0).then_some(())?;
        fill.undone = by;
        let is_today = !self.rejected.is_past(fill.report);
        let legs = self.spreads.get_mut(number)?;
        let worth = |(quantity, price): (Quantity, Price)| i128::from(price) * i128::from(quantity);
        let filled = legs.filled.get_mut(usize::from(at))?;
        *filled = filled.checked_sub(was.0)?.checked_add(now.0)?;
        let paid = legs.paid.get_mut(usize::from(at))?;
        *paid = paid.saturating_sub(worth(was)).saturating_add(worth(now));
        let trade = |(quantity, price)| Trade {
            party,
            side,
            quantity,
            price,
        };
        self.untrade(&trade(was), is_today);
        if now.0 > 0 {
            let fill = LegFill {
                leg: at,
                quantity,
                price,
                report: self.events,
                undone: 0,
            };
            self.spreads.fills.add(number, by, fill);
            self.trade(&trade(now));
        }
        self.expose(number);
        Some(())
    }
}
