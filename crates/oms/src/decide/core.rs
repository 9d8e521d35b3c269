//! Core: turns an input and the state into events; each event is applied before the next is decided.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::{Decimal, Ledger};

use crate::decide::queue::Lines;
use crate::decide::risk;
use crate::decide::work::Work;
use crate::state::OmsState;
use crate::state::conditions::Terms;
use crate::state::event::{OrderEvent, ParentEvent, RequestEvent};
use crate::state::known_prices::{AcceptedTerms, Prices};
use crate::state::orders::Order;
use crate::state::orders::own::OwnOrders;
use crate::state::orders::transition::OrderState;
use crate::state::orders::venue_ids::VenueIds;
use crate::state::pools::{PoolNumber, Pools};
use crate::state::proposal::Proposal;
use crate::state::tally::Tally;
use crate::values::ids::{InstrumentNo, SessionNo, Table};
use crate::values::locate::Locate;
use crate::values::reason::{Reason, Why};
use crate::values::rules::{InstrumentRule, RestrictedRule, Rights, RiskRules, UserRule};
use crate::values::units::{scaled, whole};
use crate::values::value::{
    Effect, Number, OrderType, Price, Quantity, RequestKind, Side, TimeInForce,
};
use crate::values::waived::Waived;

/// Receives each event once the state has it: keeps the journal note, and writes the messages to clients and
/// venues.
pub trait Sink {
    /// Called before an event is applied to the state.
    fn happens(&mut self, _state: &OmsState, _event: &OrderEvent<'_>) {}

    /// Called after an event was applied.
    fn happened(&mut self, state: &OmsState, event: &OrderEvent<'_>);
}

impl<F: FnMut(&OmsState, &OrderEvent<'_>)> Sink for F {
    fn happened(&mut self, state: &OmsState, event: &OrderEvent<'_>) {
        self(state, event);
    }
}

/// NewOrderSingle(D), as far as it could be read.
#[derive(Clone, Copy, Debug)]
pub struct NewOrder<'a> {
    /// The session, by its number in events.
    pub session: SessionNo,
    /// ClOrdID(11), of at most [`Text::MAX`](crate::Text::MAX) bytes.
    pub id: &'a [u8],
    /// Account(1); empty for none.
    pub account: &'a [u8],
    /// Symbol(55).
    pub symbol: &'a [u8],
    /// Side(54), when it is supported.
    pub side: Option<Side>,
    /// OrdType(40), when it is supported.
    pub kind: Option<OrderType>,
    /// TimeInForce(59), when it is supported.
    pub tif: Option<TimeInForce>,
    /// Price(44).
    pub price: Option<Decimal>,
    /// StopPx(99).
    pub stop: Option<Decimal>,
    /// OrderQty(38).
    pub quantity: Decimal,
    /// ExpireDate(432), as 20261122.
    pub until: Option<u32>,
    /// PositionEffect(77), when it is supported.
    pub effect: Option<Effect>,
    /// The stock of a short sale is located: LocateReqd(114) = N, or a LocateBroker(5700).
    pub is_located: bool,
    /// The number of a pool that the client names, in the field of the pool; empty for none.
    pub own_number: &'a [u8],
    /// What it asks for beside its usual fields.
    pub terms: Terms,
}

/// A new order that passed the controls.
pub(crate) struct Accepted {
    pub proposal: Proposal,
    /// The price to reserve for.
    pub hold: Price,
    /// The order number that the client chose.
    pub own_number: Option<PoolNumber>,
    /// What it asks for beside its usual fields.
    pub asked: Option<AcceptedTerms>,
}

/// A new order before the controls.
pub(crate) struct Proposed<'a> {
    pub proposal: Proposal,
    /// The settings of its instrument.
    pub rule: &'a InstrumentRule,
    /// What it asks for beside its usual fields.
    pub asked: Option<AcceptedTerms>,
}

/// OrderCancelReplaceRequest(G) or OrderCancelRequest(F).
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// The session, by its number in events.
    pub session: SessionNo,
    /// Which.
    pub kind: RequestKind,
    /// ClOrdID(11), of at most [`Text::MAX`](crate::Text::MAX) bytes.
    pub id: &'a [u8],
    /// OrigClOrdID(41).
    pub original: &'a [u8],
    /// OrderID(37), when it is a number.
    pub order_id: Option<Number>,
    /// Symbol(55).
    pub symbol: &'a [u8],
    /// Side(54).
    pub side: Option<Side>,
    /// OrderQty(38) of a replace.
    pub quantity: Option<Decimal>,
    /// Price(44) of a replace.
    pub price: Option<Decimal>,
    /// A replace must not be sent later than so many nanoseconds after it was received.
    pub valid_for: Option<i64>,
    /// Its other fields, which a replace cannot change: Account(1), OrdType(40), TimeInForce(59) and others.
    pub others: Others<'a>,
}

/// Fields of a replace that must equal those of the order if present.
#[derive(Clone, Copy, Debug, Default)]
pub struct Others<'a> {
    /// Account(1); empty for none.
    pub account: &'a [u8],
    /// OrdType(40).
    pub kind: Option<u8>,
    /// TimeInForce(59).
    pub tif: Option<u8>,
    /// StopPx(99).
    pub stop: Option<Decimal>,
    /// ExpireDate(432); empty for none.
    pub until: &'a [u8],
    /// PositionEffect(77); empty for none.
    pub effect: &'a [u8],
    /// HandlInst(21).
    pub handling: Option<u8>,
}

/// The OMS without its sessions.
#[derive(Debug)]
pub struct Core {
    pub(crate) state: OmsState,
    pub(crate) rules: RiskRules,
    /// Settings of each instrument of the state.
    pub(crate) instruments: Table<InstrumentNo, Option<InstrumentRule>>,
    /// Rights of each session of the state.
    pub(crate) users: Table<SessionNo, Option<UserRule>>,
    pub(crate) lines: Lines,
    /// Restrictions of each instrument of the state.
    pub(crate) restrictions: Table<InstrumentNo, Vec<RestrictedRule>>,
    pub(crate) own: OwnOrders,
    pub(crate) pools: Pools,
    pub(crate) prices: Prices,
    pub(crate) venue_ids: VenueIds,
    pub(crate) work: Work,
    /// Since when lines and drop copy sessions of venues are logged on.
    pub(crate) copy_since: BTreeMap<SessionNo, i64>,
    /// Decimals of prices over TMP, by instrument; empty when no line speaks TMP.
    pub(crate) tmp_scales: Table<InstrumentNo, u8>,
    /// A client may place parent orders.
    pub(crate) has_parents: bool,
    /// Its journal begins in place of one that was removed.
    pub(crate) replaces_journal: bool,
}

impl Core {
    /// An OMS without orders.
    #[must_use]
    pub fn new(rules: RiskRules) -> Self {
        Self {
            state: OmsState::with_capacity(rules.orders),
            instruments: Table::default(),
            users: Table::default(),
            lines: Lines::default(),
            restrictions: Table::default(),
            own: OwnOrders::new(rules.rejects_self_trades),
            pools: Pools::default(),
            prices: Prices::default(),
            venue_ids: VenueIds::default(),
            work: Work::default(),
            copy_since: BTreeMap::new(),
            tmp_scales: Table::default(),
            has_parents: rules.users.iter().any(|user| user.parents.is_some()),
            replaces_journal: false,
            rules,
        }
    }

    /// Its state.
    #[must_use]
    pub fn state(&self) -> &OmsState {
        &self.state
    }

    /// Its settings.
    #[must_use]
    pub fn rules(&self) -> &RiskRules {
        &self.rules
    }

    /// Its journal begins in place of one that was removed: its order numbers continue after those of that one.
    pub fn set_replaces_journal(&mut self) {
        self.replaces_journal = true;
    }

    /// Applies a journal note.
    pub fn replay_note(&mut self, note: &[u8]) {
        self.state.apply_note(note);
    }

    /// Loads the state from a checkpoint.
    ///
    /// # Errors
    ///
    /// The checkpoint is damaged; the state is unusable then.
    pub fn read(&mut self, version: u32, state: &[u8]) -> Result<(), String> {
        // Only one state at a time has the configured capacity.
        self.state = OmsState::default();
        let mut new = OmsState::with_room(self.rules.orders);
        new.read(version, state)?;
        self.state = new;
        Ok(())
    }

    /// Applies an event and passes it to the sink.
    pub(crate) fn emit(&mut self, at: i64, event: &OrderEvent<'_>, sink: &mut impl Sink) {
        sink.happens(&self.state, event);
        let touched = self.own.touched(&self.state, event);
        let done = self.state.apply(at, event);
        self.own.add(&self.state, touched);
        debug_assert!(done, "{event:?} does not fit");
        sink.happened(&self.state, event);
        self.lines.note(&self.state, event);
        self.work.note(&self.state, event);
        if self.venue_ids.is_used() {
            self.venue_ids.note(&self.state, event);
        }
        if !self.state.conditions.is_empty() {
            self.prices.note(&self.state, event);
        }
        if !self.state.families.is_empty() {
            self.follow(at, event, sink);
        }
    }

    /// Handles a client's new order, with or without a locate for its short sale.
    pub(crate) fn new_located(
        &mut self,
        at: i64,
        new: &NewOrder<'_>,
        locate: Locate<'_>,
        sink: &mut impl Sink,
    ) {
        let Accepted {
            proposal,
            hold,
            own_number,
            asked,
        } = match self.accept(at, new) {
            Ok(accepted) => accepted,
            Err(reason) => return self.refuse_located(at, new, locate, reason, sink),
        };
        let order = self.state.last + 1;
        if let Some(parent) = asked.and_then(|asked| asked.parent()) {
            self.emit(
                at,
                &OrderEvent::Parent(ParentEvent::ChildOf { order, parent }),
                sink,
            );
        }
        let event = OrderEvent::Request(RequestEvent::Taken {
            order,
            session: proposal.session,
            account: proposal.account,
            instrument: proposal.instrument,
            side: proposal.side,
            kind: proposal.kind,
            tif: proposal.tif,
            price: proposal.price,
            stop: proposal.stop,
            hold,
            quantity: proposal.quantity,
            until: new.until,
            effect: proposal.effect,
            id: new.id,
        });
        self.emit(at, &event, sink);
        if locate != Locate::NONE {
            self.located(at, order, locate, sink);
        }
        if let Some(named) = own_number {
            self.take_own_number(at, order, (named, new.own_number), sink);
        }
        let stays = asked.filter(|asked| self.take_terms(at, order, *asked, sink));
        if self.guard(at, proposal.party(), sink) {
            self.reject_unsent(at, order, Why::Killed, sink);
        } else if let Some(asked) = stays {
            self.keep(at, order, asked.is_parent(), sink);
        } else {
            self.send_order(at, order, sink);
        }
    }

    /// Checks a new order without changing anything.
    ///
    /// # Errors
    ///
    /// Why it would be rejected.
    pub fn check(&self, at: i64, new: &NewOrder<'_>) -> Result<(), Reason> {
        self.accept(at, new).map(|_| ())
    }

    fn accept(&self, at: i64, new: &NewOrder<'_>) -> Result<Accepted, Reason> {
        self.accept_as::<false>(at, new, 0)
    }

    /// Checks a new order, or a side of a quote: then `opposite` is the order that RC16 does not see.
    #[inline(always)]
    pub(crate) fn accept_as<const QUOTE: bool>(
        &self,
        at: i64,
        new: &NewOrder<'_>,
        opposite: Number,
    ) -> Result<Accepted, Reason> {
        let Proposed {
            mut proposal,
            rule,
            asked,
        } = self.proposed::<QUOTE>(at, new)?;
        let is_parent = asked.is_some_and(|asked| asked.is_parent());
        if !self.tmp_scales.is_empty() && !is_parent {
            self.check_tmp(&proposal, QUOTE)?;
        }
        if let Some(parent) = asked.and_then(|asked| asked.parent()) {
            self.check_child(&mut proposal, (parent, new.until))?;
        }
        self.check_restricted(&proposal, new.is_located)?;
        let hold = risk::check(&self.state, rule, &proposal)?;
        if !self.state.spreads.is_empty() {
            self.check_legs(&proposal, None, &Waived::default())?;
        }
        if asked.is_none_or(|asked| !asked.stays()) {
            self.own.check(&self.state, &proposal, opposite)?;
        }
        let own_number = match new.own_number {
            b"" => None,
            _ if is_parent => None,
            number => Some(self.check_own_number(new.session, proposal.instrument, number)?),
        };
        Ok(Accepted {
            proposal,
            hold,
            own_number,
            asked,
        })
    }

    /// A new order before the controls: its values, in units of its instrument.
    #[inline(always)]
    pub(crate) fn proposed<const QUOTE: bool>(
        &self,
        at: i64,
        new: &NewOrder<'_>,
    ) -> Result<Proposed<'_>, Reason> {
        let state = &self.state;
        if state.used(new.session, new.id).is_some() {
            return Err(Reason::of(Why::Duplicate));
        }
        if state.violations() > 0 {
            return Err(Reason::of(Why::Incomplete));
        }
        if let Some(why) = self.work.closed() {
            return Err(Reason::of(why));
        }
        let user = self.user(new.session)?;
        let default = user.default_account.as_ref();
        let account = match (new.account, default) {
            (b"", Some(default)) => default.as_bytes(),
            (account, _) => account,
        };
        let rights = user.rights(account);
        let right: fn(&Rights) -> bool = if QUOTE { |it| it.quote } else { |it| it.new };
        if !rights.map_or_else(|| user.may_always(right), right) {
            return Err(Reason::of(Why::NotAllowed));
        }
        let (Some(side), Some(kind), Some(tif)) = (new.side, new.kind, new.tif) else {
            return Err(Reason::of(Why::Unsupported));
        };
        let known = state.accounts().find(account);
        let known = known.filter(|_| rights.is_some());
        let account = known.ok_or(Reason::of(Why::Account))?;
        state.fetch(account, at);
        let instrument = state.instruments().find(new.symbol);
        let instrument = instrument.ok_or(Reason::of(Why::Symbol))?;
        let rule = self.rule(instrument)?;
        let default = user.marks.position_effect;
        let effect = match new.effect {
            // Of a quote the venue opens or closes by itself.
            Some(Effect::Netting) if QUOTE || (!rule.has_effect && default.is_none()) => {
                Effect::Netting
            }
            asked => self.effect_of(asked, default, instrument, rule.has_effect)?,
        };
        if new.until.is_some_and(|until| until < state.day()) {
            return Err(Reason::of(Why::Expired));
        }
        let price = |wanted: bool, price: Option<Decimal>| match (wanted, price) {
            (true, Some(price)) => scaled(price, rule.scale),
            (true, None) => Err(Reason::of(Why::Number)),
            (false, _) => Ok(0),
        };
        let limit = price(kind.has_price(), new.price)?;
        let stop = price(kind.has_stop(), new.stop)?;
        let is_plain = new.terms == Terms::NONE && user.validity.is_none();
        let asked = if is_plain && !kind.has_stop() {
            None
        } else {
            let of = (user, instrument, rule.scale);
            Some(self.asked(new, of, (side, kind, stop))?)
        };
        let proposal = Proposal {
            session: new.session,
            account,
            instrument,
            side,
            kind,
            price: limit,
            stop,
            quantity: whole(new.quantity)?,
            filled: 0,
            counted: Tally::default(),
            held_at: 0,
            held: 0,
            tif,
            effect,
            replaces: 0,
            market_price: self.market_price(instrument, side),
            at,
        };
        Ok(Proposed {
            proposal,
            rule,
            asked,
        })
    }

    pub(crate) fn rule(&self, instrument: InstrumentNo) -> Result<&InstrumentRule, Reason> {
        let rule = self.instruments.get(instrument);
        let rule = rule.and_then(Option::as_ref);
        rule.ok_or(Reason::of(Why::Symbol))
    }

    /// Handles a replace or cancel of a client.
    pub fn change(&mut self, at: i64, change: &Change<'_>, sink: &mut impl Sink) {
        let found = self.named(change);
        let order = found.map(|order| order.number);
        let is_used = self.state.used(change.session, change.id).is_some();
        let taken = match found {
            _ if is_used => Err(Reason::of(Why::Duplicate)),
            Some(order) => self.accept_change(at, change, order),
            None => Err(Reason::of(self.lost(change))),
        };
        let (order, taken) = match (order, taken) {
            (Some(order), Ok(taken)) => (order, taken),
            (_, reason) => {
                let reason = reason.err().unwrap_or(Reason::of(Why::UnknownOrder));
                return self.refuse_change_of(at, change, order, reason, sink);
            }
        };
        let known = self.state.orders().get(order);
        let is_unsent = known.is_some_and(|order| order.state.is_unsent());
        let request = self.state.last + 1;
        let id = change.id;
        match taken {
            Some((quantity, price, hold)) => {
                let event = OrderEvent::Request(RequestEvent::ReplaceTaken {
                    request,
                    order,
                    quantity,
                    price,
                    hold,
                    id,
                });
                self.emit(at, &event, sink);
                if self.guard_order(at, order, sink) {
                    self.decline(at, request, Why::Killed, b"", sink);
                    return;
                }
                self.limit_replace(at, change, request, sink);
            }
            None => {
                self.give_way(at, order, sink);
                self.emit(
                    at,
                    &OrderEvent::Request(RequestEvent::CancelTaken { request, order, id }),
                    sink,
                );
            }
        }
        if is_unsent {
            self.change_unsent(at, request, sink);
        } else {
            self.send_request(at, request, sink);
        }
    }

    /// Quantity, price and price to reserve for of a replace; `None` for a cancel.
    fn accept_change(
        &self,
        at: i64,
        change: &Change<'_>,
        order: &Order,
    ) -> Result<Option<(Quantity, Price, Price)>, Reason> {
        let state = &self.state;
        let is_replace = change.kind == RequestKind::Replace;
        let right: fn(&Rights) -> bool = if is_replace {
            |it| it.replace
        } else {
            |it| it.cancel
        };
        let account = state.accounts().name(order.account);
        if !self.user(change.session)?.may(account, right) {
            return Err(Reason::of(Why::NotAllowed));
        }
        // Of an order whose trading day is over only the rest can be cancelled.
        if !order.state.is_open() || (is_replace && order.state == OrderState::Lapsed) {
            return Err(Reason::of(Why::TooLate));
        }
        let request = state.orders().request_of(order);
        let waits = request.is_some_and(|it| is_replace || !self.gives_way(it, order, false));
        if waits || order.pended.is_some() || (is_replace && order.withdrawn) {
            return Err(Reason::of(Why::Pending));
        }
        if order.id.bytes() != change.original {
            return Err(Reason::of(Why::FormerId));
        }
        let symbol = state.instruments().name(order.instrument);
        let is_other = !change.symbol.is_empty() && change.symbol != symbol;
        if is_other || change.side.is_some_and(|side| side != order.side) {
            return Err(Reason::of(Why::Unchangeable));
        }
        let others = &change.others;
        let scale = state.scale(order.instrument);
        let stop = others.stop.map(|stop| scaled(stop, scale)).transpose()?;
        if (!others.account.is_empty() && others.account != account)
            || others.kind.is_some_and(|kind| kind != order.kind.byte())
            || others.tif.is_some_and(|tif| tif != order.tif.byte())
            || stop.is_some_and(|stop| stop != order.stop)
            || (!others.until.is_empty()
                && crate::values::day::compact(others.until) != order.until)
            || (!others.effect.is_empty() && others.effect != order.effect.field().as_slice())
        {
            return Err(Reason::of(Why::Unchangeable));
        }
        let is_parent = order.state == OrderState::Parent;
        if is_replace {
            change.check_values(order)?;
        }
        if is_replace && self.work.is_on_reserve() {
            return Err(Reason::of(Why::DiskFull));
        }
        if is_replace && self.cannot_replace(order.instrument) && !is_parent {
            return Err(Reason::of(Why::NoReplace));
        }
        if !order.state.is_unsent() && !state.is_line_ready(order) {
            return Err(Reason::of(Why::NoLine));
        }
        if !is_replace {
            risk::check_cancel(state, order.party(), at)?;
            return Ok(None);
        }
        let rule = self.rule(order.instrument)?;
        let quantity = change.quantity.map_or(Ok(order.quantity), whole)?;
        // FIX 4.4 Appendix D, C.3: a quantity below CumQty is amended to CumQty.
        let quantity = quantity.max(order.filled);
        let price = match change.price {
            Some(price) => scaled(price, rule.scale)?,
            None => order.price,
        };
        if !self.tmp_scales.is_empty() && !is_parent {
            self.check_tmp_change(order, quantity, price)?;
        }
        let (counted, held, held_at) = state.counted_before(order);
        let mut proposal = Proposal {
            session: order.session,
            account: order.account,
            instrument: order.instrument,
            side: order.side,
            kind: order.sent_kind(),
            price,
            stop: order.stop,
            quantity,
            filled: order.filled,
            counted,
            held_at,
            held,
            tif: order.tif,
            effect: order.effect,
            replaces: order.replaces.saturating_add(1),
            market_price: self.market_price(order.instrument, order.side),
            at,
        };
        if !state.families.is_empty() {
            self.check_family_change(order, &mut proposal)?;
        }
        self.check_restricted(&proposal, true)?;
        let hold = risk::check(state, rule, &proposal)?;
        if !state.spreads.is_empty() {
            self.check_legs(&proposal, Some(order), &Waived::default())?;
        }
        if order.state != OrderState::Held && !is_parent {
            self.own.check(state, &proposal, order.number)?;
        }
        Ok(Some((quantity, price, hold)))
    }
}
