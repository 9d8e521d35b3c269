//! Changes an order together with the usage of its scopes, its parent, and the legs of its spread.

use crate::state::apply::parents::quantity_of;
use crate::state::copies::ENDED;
use crate::state::flow::Passed;
use crate::state::orders::transition::Transition;
use crate::state::orders::{Order, Place};
use crate::state::spreads::SpreadLeg;
use crate::state::tally::{Tally, Trade, TradeSide};
use crate::state::{OmsState, Standing};
use crate::values::canary::{self, OmsPlantedFault};
use crate::values::ids::{AccountNo, Party, SessionNo};
use crate::values::scope::Scope;
use crate::values::value::{Number, Quantity, Side};

impl OmsState {
    /// Changes an order and its usage. `change` receives the index of the order.
    ///
    /// If `change` fails half-way, the usage is still that of the order. Only an event in a modified journal can make
    /// it fail.
    pub(crate) fn change(
        &mut self,
        number: Number,
        change: impl FnOnce(&mut Self, Place) -> Option<()>,
    ) -> Option<()> {
        let place = self.orders.place(number)?;
        let order = self.orders.at(place)?;
        let old = self.counted(order, self.orders.request_of(order));
        let party = order.party();
        let was_open = order.state.is_open();
        let done = change(self, place);
        let order = self.orders.at(place)?;
        let new = self.counted(order, self.orders.request_of(order));
        let is_open = order.state.is_open();
        self.count(party, &old, &new);
        if !self.families.is_empty() {
            self.child_changed(number, &old, &new);
        }
        if !self.spreads.is_empty() {
            self.expose(number);
        }
        match (was_open, is_open) {
            (true, false) => {
                if canary::is(OmsPlantedFault::ReleaseTwice) {
                    self.count(party, &old, &new);
                }
                self.orders.at_mut(place)?.pended = None;
                if !self.remade.is_empty() {
                    self.remade.forget(number);
                }
                self.orders.has_ended(number, self.breaks.has_open(number));
                self.conditions.has_ended(number);
                self.families.has_ended(number);
                if !self.copies.is_off() {
                    self.copies.settle((number, ENDED));
                }
            }
            (false, true) => {
                self.orders.is_open_again(number);
                self.families.is_open_again(number);
            }
            _ => {}
        }
        done
    }

    pub(crate) fn is_open(&self, number: Number) -> bool {
        let order = self.orders.get(number);
        order.is_some_and(|order| order.state.is_open())
    }

    /// Applies a state transition to an order.
    pub(crate) fn step(&mut self, place: Place, happening: Transition) -> Option<()> {
        let order = self.orders.at_mut(place)?;
        order.state = order.state.after(happening)?;
        Some(())
    }

    /// Takes the next order number; `None` if `number` is another one, since order numbers are consecutive.
    pub(crate) fn number(&mut self, number: Number) -> Option<()> {
        if number != self.last + 1 {
            return None;
        }
        self.last = number;
        Some(())
    }

    /// Changes the usage of every scope of an order.
    pub(crate) fn count(&mut self, party: Party, old: &Tally, new: &Tally) {
        if old == new {
            return;
        }
        let more = Tally::difference(old, new);
        self.each_standing(party, |standing| {
            standing.tally.add(&more);
        });
    }

    /// Calls `change` for every scope of an order.
    pub(crate) fn each_standing(&mut self, party: Party, mut change: impl FnMut(&mut Standing)) {
        change(&mut self.firm);
        if let Some(session) = party.session.and_then(|it| self.sessions.get_mut(it)) {
            change(&mut session.standing);
        }
        let mut owner = party.account;
        while let Some(account) = owner.and_then(|it| self.accounts.get_mut(it)) {
            change(&mut account.standing);
            owner = account.parent;
        }
        if let Some(instrument) = party.instrument.and_then(|it| self.instruments.get_mut(it)) {
            change(&mut instrument.standing);
        }
        if let (Some(account), Some(instrument)) = (party.account, party.instrument) {
            change(&mut self.holding_mut(account, instrument).standing);
        }
    }

    /// Counts flow for every scope of an order.
    pub(crate) fn pass(&mut self, party: Party, passed: Passed) {
        if !self.has_flow {
            return;
        }
        let at = self.time;
        self.each_standing(party, |standing| {
            if let Some(flow) = &mut standing.flow {
                flow.add(at, &passed);
            }
        });
    }

    /// Counts flow of a session that belongs to no account and no symbol.
    pub(crate) fn pass_session(&mut self, session: SessionNo, passed: Passed) {
        let at = self.time;
        let session = self.sessions.get_mut(session);
        let session = session.map(|session| &mut session.standing);
        for standing in session.into_iter().chain([&mut self.firm]) {
            if let Some(flow) = &mut standing.flow {
                flow.add(at, &passed);
            }
        }
    }

    pub(crate) fn count_for_parents(&mut self, account: AccountNo, old: &Tally, new: &Tally) {
        let mut above = self.parent(account);
        while let Some(of) = above {
            let account = &mut self.accounts[of];
            account.standing.tally.change(old, new);
            above = account.parent;
        }
    }

    /// Changes the usage of the parent after the usage of a child has changed: the parent reserves what its children do
    /// not hold.
    #[cold]
    pub(crate) fn child_changed(&mut self, order: Number, old: &Tally, new: &Tally) {
        let Some(buys) = self.orders.get(order).map(|it| it.side.is_buy()) else {
            return;
        };
        let (old, new) = (quantity_of(old, buys), quantity_of(new, buys));
        let Some(parent) = self.families.parent_of(order).filter(|_| old != new) else {
            return;
        };
        if canary::is(OmsPlantedFault::CountTwice) && new > old {
            return;
        }
        let counted = |state: &Self| {
            let order = state.orders.get(parent)?;
            let tally = state.counted(order, state.orders.request_of(order));
            Some((order.party(), tally))
        };
        let before = counted(self);
        self.families.hold(parent, old, new);
        let after = counted(self);
        if let (Some((party, old)), Some((_, new))) = (before, after) {
            self.count(party, &old, &new);
        }
        self.expose(parent);
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

    /// Quantity of each leg that an order of a spread may still trade, if `sets` more sets of the spread may be filled.
    pub(crate) fn exposure(
        &self,
        order: &Order,
        legs: &[SpreadLeg; 2],
        sets: Quantity,
    ) -> [Quantity; 2] {
        if self.families.is_parent(order.number) {
            // A parent has no fills of its own: the fills of the children trade the legs.
            return legs.map(|leg| leg.quantity(sets));
        }
        let filled = self.spreads.get(order.number).map(|of| of.filled);
        let filled = filled.unwrap_or_default();
        let all = sets.saturating_add(order.filled);
        [0, 1].map(|at| legs[at].quantity(all).saturating_sub(filled[at]))
    }

    pub(crate) fn expose_leg(
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

    pub(crate) fn trade(&mut self, trade: &Trade) {
        let Trade {
            party,
            side: TradeSide { buys, effect },
            quantity,
            price,
        } = *trade;
        let (Some(account), Some(instrument)) = (party.account, party.instrument) else {
            return;
        };
        let holding = self.holding_mut(account, instrument);
        let before = holding.gained();
        holding.position.fill(buys, quantity, price, effect);
        if holding.mark == 0 && holding.opened_at == 0 {
            // The value that the position had the day before is unknown.
            holding.opened_at = price;
        }
        holding.mark = price;
        let after = holding.gained();
        let old = Tally {
            gained: self.gain(instrument, before),
            ..Tally::default()
        };
        let new = Tally {
            traded: self.worth_at_most(instrument, price, quantity),
            gained: self.gain(instrument, after),
            ..Tally::default()
        };
        self.count(party, &old, &new);
        let passed = Passed {
            executions: 1,
            ..Passed::default()
        };
        self.pass(party, passed);
    }

    /// Changes position, profit and value traded by a quantity and the amount paid for it; both may be negative.
    pub(crate) fn trade_worth(
        &mut self,
        party: Party,
        TradeSide { buys, effect }: TradeSide,
        quantity: i128,
        worth: i128,
    ) {
        let (Some(account), Some(instrument)) = (party.account, party.instrument) else {
            return;
        };
        let holding = self.holding_mut(account, instrument);
        let before = holding.gained();
        holding.position.adjust(buys, quantity, worth, effect);
        let after = holding.gained();
        let old = Tally {
            gained: self.gain(instrument, before),
            ..Tally::default()
        };
        let new = Tally {
            traded: self.gain(instrument, worth),
            gained: self.gain(instrument, after),
            ..Tally::default()
        };
        self.count(party, &old, &new);
    }
}
