//! Applies events of breaks between reports of venues and orders.

use crate::state::OmsState;
use crate::state::event::BreakEvent;
use crate::state::orders::breaks::VenueBreak;
use crate::state::orders::strays::StrayUndo;
use crate::state::orders::transition::{OrderState, Transition};
use crate::state::tally::TradeSide;
use crate::values::ids::Party;
use crate::values::units::MOST;
use crate::values::value::{Amount, BreakKind, End, Number, Price, Quantity, Text};

impl OmsState {
    pub(crate) fn apply_break(&mut self, event: &BreakEvent<'_>) -> Option<()> {
        match *event {
            BreakEvent::VenueBroken { .. } => self.broken(event),
            BreakEvent::BreakAlarmed { number } => {
                self.breaks.get_mut(number)?.is_alarmed = true;
                Some(())
            }
            BreakEvent::SettleAsked {
                number, venue, who, ..
            } => {
                let by = Text::new(&who[..who.len().min(Text::MAX)]);
                let asked_by = match self.strays.asked_by(number) {
                    Some(asked_by) => asked_by,
                    None => &mut self.breaks.get_mut(number)?.asked_by,
                };
                *asked_by = Some((by, venue));
                Some(())
            }
            BreakEvent::BreakSettled { number, venue, .. } => self.break_settled(number, venue),
            BreakEvent::TermsSettled {
                order,
                quantity,
                price,
            }
            | BreakEvent::TermsRestated {
                order,
                quantity,
                price,
                ..
            } => self.terms_settled(order, quantity, price),
            BreakEvent::FillsSettled {
                order,
                filled,
                paid,
                open,
            } => self.fills_settled(order, filled, paid, open),
        }
    }

    fn broken(&mut self, event: &BreakEvent<'_>) -> Option<()> {
        let BreakEvent::VenueBroken {
            kind,
            order,
            line,
            exec,
            filled,
            quantity,
            price,
            paid,
            status,
            total,
            opposite,
            ours,
            venue,
        } = *event
        else {
            return None;
        };
        let is_sane = [quantity, total, opposite].iter().all(|it| *it <= 2 * MOST);
        is_sane.then_some(())?;
        let found = VenueBreak {
            kind,
            order,
            line,
            exec,
            filled,
            quantity,
            price,
            paid,
            status,
            total,
            opposite,
            ours: Text::new(ours),
            venue: Text::new(venue),
            since: self.time,
            is_alarmed: false,
            is_settled: false,
            asked_by: None,
        };
        let number = self.events;
        self.change(order, |state, _| {
            state.breaks.put_in(number, found);
            Some(())
        })?;
        if !self.is_open(order) {
            self.orders.stays(order);
        }
        Some(())
    }

    /// Allows a closed order to leave memory once it has no open break.
    fn unbroken(&mut self, order: Number) {
        if !self.is_open(order) && !self.breaks.has_open(order) {
            self.orders.may_go(order);
        }
    }

    /// Closes a break; `None` when no break has this number.
    pub(crate) fn break_closed(&mut self, number: u64) -> Option<()> {
        let order = self.breaks.get(number)?.order;
        self.change(order, |state, _| state.breaks.close(number).map(|_| ()))?;
        self.unbroken(order);
        Some(())
    }

    fn break_settled(&mut self, number: u64, venue: bool) -> Option<()> {
        if self.strays.get(number).is_some() {
            return self.stray_settled(number, venue);
        }
        if let Some(undo) = self.strays.undos.remove(&number) {
            self.used_execs.add(undo.own_key());
            return Some(());
        }
        let found = self.breaks.get(number)?;
        let (order, kind) = (found.order, found.kind);
        self.change(order, |state, place| {
            if kind == BreakKind::FillsMissing && !venue {
                // A final state of the order no longer waits for the missing fills.
                let order = state.orders.at_mut(place)?;
                let filled = order.filled;
                if let Some(pended) = &mut order.pended {
                    pended.filled = filled;
                }
            }
            state.breaks.settle(number)
        })?;
        self.unbroken(order);
        Some(())
    }

    fn terms_settled(&mut self, number: Number, quantity: Quantity, price: Price) -> Option<()> {
        (quantity <= MOST).then_some(())?;
        self.change(number, |state, place| {
            let order = state.orders.at(place)?;
            let may_trade = order.state.is_open() || order.state == OrderState::Ended(End::Filled);
            if may_trade {
                let all = order.filled >= quantity;
                state.step(place, Transition::Replace { all })?;
            }
            let order = state.orders.at_mut(place)?;
            order.hold = order.hold.max(price.saturating_abs());
            (order.quantity, order.price) = (quantity, price);
            Some(())
        })
    }

    fn fills_settled(
        &mut self,
        number: Number,
        filled: Quantity,
        paid: Amount,
        open: bool,
    ) -> Option<()> {
        (filled <= MOST).then_some(())?;
        self.change(number, |state, place| {
            let order = state.orders.at(place)?;
            let (party, instrument) = (order.party(), order.instrument);
            let side = order.trade_side();
            let (was, more) = (order.filled, paid.saturating_sub(order.paid));
            let all = filled >= order.quantity;
            let next = match order.state {
                OrderState::Ended(_) if open && !all => OrderState::Working,
                OrderState::Ended(how) => OrderState::Ended(how),
                state if all => state.after(Transition::Fill { all })?,
                state if state.is_unsent() => return None,
                _ if open => OrderState::Working,
                _ => OrderState::Ended(End::Cancelled),
            };
            let order = state.orders.at_mut(place)?;
            (order.filled, order.paid, order.state) = (filled, paid, next);
            // For a spread, the fill traded the legs.
            if state.spreads.legs(instrument).is_some() {
                return Some(());
            }
            state.trade_worth(party, side, i128::from(filled) - i128::from(was), more);
            Some(())
        })
    }

    /// Applies a decision on a fill of an unknown order. Unless the decision is that the venue is right, the fill is
    /// taken out of the position.
    pub(crate) fn stray_settled(&mut self, number: u64, venue: bool) -> Option<()> {
        let stray = self.strays.remove(number)?;
        if !venue {
            self.used_execs
                .add(StrayUndo::taken_out(stray.line, stray.exec));
            let party = Party::new(stray.line, stray.account, stray.instrument);
            let side = TradeSide {
                buys: stray.side.is_buy(),
                effect: stray.effect,
            };
            let quantity = i128::from(stray.quantity);
            let worth = quantity.saturating_mul(stray.price.into());
            self.trade_worth(party, side, -quantity, -worth);
        }
        Some(())
    }
}
