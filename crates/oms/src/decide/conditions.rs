//! Holds conditional orders, and triggers an order when a price meets its condition.

use fixwire_protocol::Nanos;

use crate::decide::core::{Change, Core, NewOrder, Sink};
use crate::decide::parents;
use crate::decide::risk;
use crate::decide::spreads;
use crate::state::conditions::Terms;
use crate::state::event::{ConditionEvent, LifecycleEvent, OrderEvent, RequestEvent};
use crate::state::known_prices::{AcceptedTerms, place};
use crate::state::orders::Order;
use crate::state::orders::transition::OrderState;
use crate::state::parents::FamilyRole;
use crate::state::proposal::Proposal;
use crate::values::ids::{InstrumentNo, SessionNo};
use crate::values::reason::{Reason, Why};
use crate::values::rules::{ReferencePrice, UserRule};
use crate::values::units::scaled;
use crate::values::value::{End, Number, OrderType, Price, PriceField, Side};
use crate::values::waived::Waived;

impl Core {
    /// Terms of a new order in addition to its usual fields.
    #[cold]
    pub(crate) fn asked(
        &self,
        new: &NewOrder<'_>,
        user: &UserRule,
        instrument: InstrumentNo,
        side: Side,
        kind: OrderType,
        stop: Price,
    ) -> Result<AcceptedTerms, Reason> {
        let Terms {
            valid_for,
            condition,
            role,
        } = new.terms;
        let own = match kind {
            OrderType::IfTouched => Some((PriceField::Last, !side.is_buy(), stop)),
            OrderType::Stop | OrderType::StopLimit
                if self.cannot_stop(self.lines.group_by(new.route, instrument)) =>
            {
                Some((PriceField::Last, side.is_buy(), stop))
            }
            _ => None,
        };
        let condition = match (condition, own) {
            (None, own) => own,
            // A new order may have one condition only: not two, and not one besides a stop price that the venue
            // watches.
            (Some(_), _) if kind.has_stop() => return Err(Reason::of(Why::TwoConditions)),
            (Some(wish), _) => {
                let price = scaled(wish.price, self.state.scale(instrument))?;
                Some((wish.field, wish.rises, price))
            }
        };
        if condition.is_some() {
            let most = user.conditional.ok_or(Reason::of(Why::NotConditional))?;
            let held = self.state.conditions.held_by(new.session);
            if held >= most {
                return Err(Reason {
                    value: held as i128 + 1,
                    limit: most as i128,
                    ..Reason::of(Why::Conditionals)
                });
            }
        }
        if let (Some(role), Some(tif)) = (role, new.tif) {
            parents::check_role(&self.state, new.session, user, role, kind, tif)?;
        }
        let is_parent = role == Some(FamilyRole::Parent);
        if is_parent && (condition.is_some() || valid_for.is_some()) {
            return Err(Reason::of(Why::ParentCondition));
        }
        Ok(AcceptedTerms {
            valid_for: valid_for.or(user.validity).filter(|_| !is_parent),
            condition,
            role,
        })
    }

    /// Limits the validity of a new order, and holds the order if it has a condition. Returns whether the order is not
    /// sent now.
    #[cold]
    pub(crate) fn take_terms(
        &mut self,
        at: i64,
        order: Number,
        asked: AcceptedTerms,
        sink: &mut impl Sink,
    ) -> bool {
        if let Some(time) = asked.valid_for {
            let until = at.saturating_add(time);
            let number = order;
            self.emit(
                at,
                &OrderEvent::Request(RequestEvent::ValidUntil { number, until }),
                sink,
            );
        }
        let Some((field, rises, price)) = asked.condition else {
            return asked.is_parent();
        };
        let event = OrderEvent::Condition(ConditionEvent::Held {
            order,
            field,
            rises,
            price,
        });
        self.emit(at, &event, sink);
        true
    }

    /// Limits the validity of a replace that may have to wait.
    pub(crate) fn limit_replace(
        &mut self,
        at: i64,
        change: &Change<'_>,
        number: Number,
        sink: &mut impl Sink,
    ) {
        let user = self.user(change.session).ok();
        let time = change.valid_for.or(user.and_then(|user| user.validity));
        if let Some(time) = time {
            let until = at.saturating_add(time);
            self.emit(
                at,
                &OrderEvent::Request(RequestEvent::ValidUntil { number, until }),
                sink,
            );
        }
    }

    /// Triggers a new order if the current price already meets the condition of the order.
    pub(crate) fn look_at_price(&mut self, at: i64, order: Number, sink: &mut impl Sink) {
        let Some(condition) = self.state.conditions.get(order) else {
            return;
        };
        let (instrument, field) = (condition.instrument, condition.field);
        let quote = self.prices.quotes.get(instrument);
        let price = quote.and_then(|quote| quote[place(field)]);
        if let Some(price) = price.filter(|price| condition.is_met(*price)) {
            self.touch(at, instrument, field, price, b"", sink);
        }
    }

    /// The market price that the price controls use for an order; `None` when they use the reference price of the
    /// files.
    pub(crate) fn market_price(&self, instrument: InstrumentNo, side: Side) -> Option<Price> {
        let field = match self.rules.reference_price {
            ReferencePrice::File => return None,
            ReferencePrice::Last => PriceField::Last,
            ReferencePrice::Best if side.is_buy() => PriceField::Offer,
            ReferencePrice::Best => PriceField::Bid,
        };
        let price = self.prices.quotes.get(instrument)?[place(field)]?;
        // A feed gives 0 for an unknown price; only a spread may really have price 0.
        let is_one = price != 0 || self.state.spreads.legs(instrument).is_some();
        is_one.then_some(price)
    }

    fn touch(
        &mut self,
        at: i64,
        instrument: InstrumentNo,
        field: PriceField,
        price: Price,
        who: &[u8],
        sink: &mut impl Sink,
    ) {
        let event = OrderEvent::Condition(ConditionEvent::Touched {
            instrument,
            field,
            price,
            who,
        });
        self.emit(at, &event, sink);
    }

    /// Sets or removes a price of an instrument. [`touch_all`](Self::touch_all) later marks the orders whose condition
    /// the price meets.
    pub(crate) fn set_price(
        &mut self,
        instrument: InstrumentNo,
        field: PriceField,
        price: Option<Price>,
        session: Option<SessionNo>,
    ) {
        if let Some(quote) = self.prices.quotes.get_mut(instrument) {
            quote[place(field)] = price;
        }
        if let Some(price) = price
            && self.state.conditions.meets(instrument, field, price)
        {
            let tick = (instrument, field, price, session);
            self.prices.ticks.push_back(tick);
        }
    }

    /// Forgets all prices when the session that provides them disconnects, because prices may change after that.
    pub(crate) fn forget_prices(&mut self) {
        self.prices.forget();
    }

    /// Marks the orders whose condition a new price meets, for at most `most` prices; [`work`](Self::work) triggers
    /// these orders.
    pub(crate) fn touch_all(&mut self, at: i64, most: usize, sink: &mut impl Sink) {
        for _ in 0..most {
            let Some((instrument, field, price, session)) = self.prices.ticks.pop_front() else {
                return;
            };
            // A price before this one may have met the same conditions.
            if self.state.conditions.meets(instrument, field, price) {
                let who = crate::Text::new(self.name_of(session));
                self.touch(at, instrument, field, price, who.bytes(), sink);
            }
        }
    }

    /// The name of a session, cut to the length that a journal note can hold.
    fn name_of(&self, session: Option<SessionNo>) -> &[u8] {
        let name = session.map_or(&b""[..], |it| self.state.sessions().name(it));
        &name[..name.len().min(crate::Text::MAX)]
    }

    /// Sets a price that an operator entered.
    pub(crate) fn price_by_hand(
        &mut self,
        at: i64,
        instrument: InstrumentNo,
        field: PriceField,
        price: Price,
        who: &[u8],
        sink: &mut impl Sink,
    ) {
        self.set_price(instrument, field, Some(price), None);
        let tick = self.prices.ticks.back().copied();
        if tick == Some((instrument, field, price, None)) {
            self.prices.ticks.pop_back();
            self.touch(at, instrument, field, price, who, sink);
        }
    }

    /// Number of orders whose condition is met and that are not triggered yet.
    pub(crate) fn met(&self) -> usize {
        self.state.conditions.touched().len()
    }

    /// Whether [`trigger_next`](Self::trigger_next) has something to do.
    pub(crate) fn has_triggers(&self) -> bool {
        !self.prices.ticks.is_empty() || !self.state.conditions.touched().is_empty()
    }

    /// Triggers the next order whose condition is met; returns false when there is no such order.
    #[cold]
    pub(crate) fn trigger_next(&mut self, at: i64, sink: &mut impl Sink) -> bool {
        if !self.prices.ticks.is_empty() {
            self.touch_all(at, 1, sink);
            return true;
        }
        let Some(number) = self.state.conditions.touched().first().copied() else {
            return false;
        };
        let Some(order) = self.state.orders().get(number) else {
            return false;
        };
        if order.valid_until().is_some_and(|until| until <= at) {
            self.expire_held(at, number, sink);
            return true;
        }
        match self.check_touched(at, order) {
            Ok(()) => {
                self.emit(
                    at,
                    &OrderEvent::Condition(ConditionEvent::Triggered { order: number }),
                    sink,
                );
                self.send_order(at, number, sink);
            }
            Err(reason) => self.reject_unsent_for(at, number, reason, sink),
        }
        true
    }

    /// Checks a triggered order again, with the values with which it will be sent.
    fn check_touched(&self, at: i64, order: &Order) -> Result<(), Reason> {
        let rule = self.rule(order.instrument)?;
        self.check_not_expired(order.instrument, rule)?;
        let proposal = Proposal {
            session: order.session,
            account: order.account,
            instrument: order.instrument,
            side: order.side,
            kind: order.kind.triggered(),
            price: order.price,
            stop: order.stop,
            quantity: order.quantity,
            filled: 0,
            counted: self.state.counted(order, None),
            held_at: order.hold,
            held: order.quantity,
            tif: order.tif,
            effect: order.effect,
            replaces: order.replaces,
            market_price: self.market_price(order.instrument, order.side),
            at,
        };
        self.check_restricted(&proposal, true)?;
        risk::check_again(&self.state, rule, &proposal)?;
        if !self.state.spreads.is_empty() {
            spreads::check_legs(self, &proposal, Some(order), &Waived::default())?;
        }
        self.own.check(&self.state, &proposal, order.number)
    }

    fn expire_held(&mut self, at: i64, order: Number, sink: &mut impl Sink) {
        let event = OrderEvent::Order(LifecycleEvent::Ended {
            order,
            how: End::Expired,
            request: None,
            at: 0,
            text: b"not triggered within its validity",
        });
        self.emit(at, &event, sink);
        self.forget(at, sink);
    }

    /// Closes the next held order whose time for a trigger is over.
    pub(crate) fn due_held(&mut self, at: i64, sink: &mut impl Sink) -> Option<Nanos> {
        while let Some((until, number)) = self.prices.deadlines.first().copied() {
            let order = self.state.orders().get(number);
            let is_held = order.is_some_and(|order| order.state == OrderState::Held);
            if is_held && until > at {
                return Some(Nanos((until - at).unsigned_abs()));
            }
            self.prices.deadlines.pop_first();
            if is_held {
                self.expire_held(at, number, sink);
                return Some(Nanos(0));
            }
        }
        None
    }
}
