//! Requests of clients about orders: a new order, a replace, a cancel.

use fixwire_protocol::Decimal;

use crate::decide::core::{Accepted, Beside, Change, Core, NewOrder, Proposed, Sink};
use crate::decide::parents;
use crate::decide::risk;
use crate::decide::spreads;
use crate::state::conditions::Terms;
use crate::state::event::{LifecycleEvent, OrderEvent, ParentEvent, RejectedEvent, RequestEvent};
use crate::state::orders::Order;
use crate::state::orders::rejected::RefusedTerms;
use crate::state::orders::transition::OrderState;
use crate::state::proposal::Proposal;
use crate::state::tally::Tally;
use crate::values::fields::carried::CarriedFields;
use crate::values::ids::{Party, SessionNo};
use crate::values::locate::Locate;
use crate::values::reason::{Reason, Why};
use crate::values::rules::Rights;
use crate::values::units::{scaled, units};
use crate::values::value::{Effect, End, Number, Price, Quantity, RequestKind};
use crate::values::waived::Waived;

impl Core {
    /// Handles a client's new order without a locate and without fields for the venue.
    pub fn new_order(&mut self, at: i64, new: &NewOrder<'_>, sink: &mut impl Sink) {
        self.new_with(at, new, None, sink);
    }

    /// Handles a client's new order: every step from the client's message to the venue's line.
    ///
    /// Before this call, `app/says` has checked the rate limit of the client, and `app/requests` has read the
    /// NewOrderSingle(D) and refused it if a field would not reach the venue. [`emit`](Core::emit) handles what follows
    /// from each event, such as a report.
    pub(crate) fn new_with(
        &mut self,
        at: i64,
        new: &NewOrder<'_>,
        beside: Option<Beside<'_>>,
        sink: &mut impl Sink,
    ) {
        // Checks whether the client may place the order, and whether the order passes the controls. The state has not
        // changed yet: a reject only emits an event.
        let Accepted {
            proposal,
            hold,
            own_number,
            asked,
        } = match self.accept(at, new) {
            Ok(accepted) => accepted,
            Err(reason) => return self.refuse_with(at, new, beside, reason, sink),
        };
        let order = self.state.last + 1;
        // A child takes over a quantity of its parent. This event comes first, so that the quantity never counts twice.
        if let Some(parent) = asked.and_then(|asked| asked.parent()) {
            self.emit(
                at,
                &OrderEvent::Parent(ParentEvent::ChildOf { order, parent }),
                sink,
            );
        }
        // The OMS accepts the order: the order has a number, and counts for every limit of its scopes from now on.
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
        // Other values of the order are stored under its number: the locate, the fields that the venue gets unchanged,
        // the client's order number, the validity, the condition.
        if let Some(beside) = beside {
            self.take_beside(at, order, new.route, beside, sink);
        }
        if let Some(named) = own_number {
            self.take_own_number(at, order, named, new.own_number, sink);
        }
        let stays = asked.filter(|asked| self.take_terms(at, order, *asked, sink));
        if let Some(reason) = self.guard(at, proposal.party(), sink) {
            // The order exceeds a limit that activates a kill switch: it must not be sent.
            self.reject_unsent_for(at, order, reason, sink);
        } else if let Some(asked) = stays {
            // A parent order is never sent, and a conditional order is not sent yet.
            self.keep(at, order, asked.is_parent(), sink);
        } else {
            // A session of the order's line group gets the order, with a number of its pool: the event `Sent` writes a
            // NewOrderSingle(D) or R01 on that line. If no session can send, the order is queued or rejected.
            self.send_order(at, order, sink);
        }
    }

    /// Stores the locate of an order, and the fields that it carries to the venue.
    #[cold]
    fn take_beside(
        &mut self,
        at: i64,
        order: Number,
        route: Option<SessionNo>,
        Beside { locate, fields }: Beside<'_>,
        sink: &mut impl Sink,
    ) {
        self.routed(at, order, route, sink);
        if locate != Locate::NONE {
            self.located(at, order, locate, sink);
        }
        self.carry(at, order, fields, sink);
    }

    /// Records the line group that the condition of a route chose for an order.
    #[cold]
    pub(crate) fn routed(
        &mut self,
        at: i64,
        order: Number,
        route: Option<SessionNo>,
        sink: &mut impl Sink,
    ) {
        if let Some(line) = route {
            let event = OrderEvent::Request(RequestEvent::Routed { order, line });
            self.emit(at, &event, sink);
        }
    }

    /// Records the fields that an order or a request carries to the venue.
    #[cold]
    pub(crate) fn carry(
        &mut self,
        at: i64,
        number: Number,
        fields: CarriedFields<'_>,
        sink: &mut impl Sink,
    ) {
        if !fields.is_empty() {
            let CarriedFields { header, body, kept } = fields;
            let event = OrderEvent::Request(RequestEvent::Fields {
                number,
                header,
                body,
                kept,
            });
            self.emit(at, &event, sink);
        }
    }

    /// Records the locate of an order.
    #[cold]
    pub(crate) fn located(
        &mut self,
        at: i64,
        order: Number,
        locate: Locate<'_>,
        sink: &mut impl Sink,
    ) {
        let Locate { reqd, broker } = locate;
        let event = OrderEvent::Request(RequestEvent::Located {
            order,
            reqd,
            broker,
        });
        self.emit(at, &event, sink);
    }

    /// Keeps a new order that is not sent now: a held order or a parent order.
    #[cold]
    pub(crate) fn keep(&mut self, at: i64, order: Number, is_parent: bool, sink: &mut impl Sink) {
        if is_parent {
            self.emit(
                at,
                &OrderEvent::Parent(ParentEvent::ParentAccepted { order }),
                sink,
            );
        } else {
            self.look_at_price(at, order, sink);
        }
    }

    /// Checks a new order; changes nothing.
    ///
    /// # Errors
    ///
    /// Why the order would be rejected.
    pub fn check(&self, at: i64, new: &NewOrder<'_>) -> Result<(), Reason> {
        self.accept(at, new).map(|_| ())
    }

    fn accept(&self, at: i64, new: &NewOrder<'_>) -> Result<Accepted, Reason> {
        self.accept_as::<false>(at, new, 0)
    }

    /// Checks a new order, or one side of a quote. For a side, `opposite` is the order of the other side, which RC16
    /// ignores.
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
            let group = self.lines.group_by(new.route, proposal.instrument);
            self.check_tmp(&proposal, group, QUOTE)?;
        }
        if !self.missing_terms.is_empty() && !is_parent {
            let group = self.lines.group_by(new.route, proposal.instrument);
            self.check_terms(group, new.until, proposal.effect)?;
        }
        if let Some(parent) = asked.and_then(|asked| asked.parent()) {
            parents::check_child(&self.state, &mut proposal, parent, new.until)?;
        }
        self.check_restricted(&proposal, new.is_located)?;
        let hold = risk::check(&self.state, rule, &proposal)?;
        if !self.state.spreads.is_empty() {
            spreads::check_legs(self, &proposal, None, &Waived::default())?;
        }
        if asked.is_none_or(|asked| !asked.stays()) {
            self.own.check(&self.state, &proposal, opposite)?;
        }
        let own_number = match new.own_number {
            b"" => None,
            _ if is_parent => None,
            number => {
                let group = self.lines.group_by(new.route, proposal.instrument);
                Some(self.check_own_number(new.session, group, number)?)
            }
        };
        Ok(Accepted {
            proposal,
            hold,
            own_number,
            asked,
        })
    }

    /// Reads the values of a new order in the units of its instrument. Does not check the controls.
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
        self.check_not_expired(instrument, rule)?;
        let default = user.marks.position_effect;
        let effect = match new.effect {
            // For a quote, the venue decides whether a fill opens or closes a position.
            Some(Effect::Netting) if QUOTE || (!rule.has_effect && default.is_none()) => {
                Effect::Netting
            }
            asked => {
                let group = self.lines.group_by(new.route, instrument);
                self.effect_of(asked, default, group, rule.has_effect)?
            }
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
            Some(self.asked(new, user, instrument, side, kind, stop)?)
        };
        let proposal = Proposal {
            session: new.session,
            account,
            instrument,
            side,
            kind,
            price: limit,
            stop,
            quantity: units(new.quantity, rule.quantity_scale)?,
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

    /// Refuses a new order. An operator can rerun the order if its locate can be kept. This is so if the order has no
    /// locate, or if the locate only says that the stock of a short sale is located.
    pub(crate) fn refuse_with(
        &mut self,
        at: i64,
        new: &NewOrder<'_>,
        beside: Option<Beside<'_>>,
        reason: Reason,
        sink: &mut impl Sink,
    ) {
        let Beside { locate, fields } = beside.unwrap_or(Beside::NONE);
        let is_kept = match (locate.reqd, locate.broker) {
            (0, b"") => true,
            (b'N', b"") => new.is_located,
            _ => false,
        };
        let kept = self.kept(at, new, reason).filter(|_| is_kept);
        let event = OrderEvent::Request(RequestEvent::Refused {
            session: new.session,
            kind: None,
            order: None,
            id: new.id,
            original: b"",
            used: reason.why != Why::Duplicate,
            reason,
            terms: self.refused_terms(new),
        });
        self.emit(at, &event, sink);
        if let Some(terms) = kept {
            let event = OrderEvent::Rejected(RejectedEvent::RejectKept {
                terms,
                id: new.id,
                header: fields.header,
                body: fields.body,
            });
            self.emit(at, &event, sink);
        }
        self.guard(at, Party::of_session(new.session), sink);
    }

    /// Handles a client's replace or cancel that carries no fields to the venue.
    pub fn change(&mut self, at: i64, change: &Change<'_>, sink: &mut impl Sink) {
        self.change_with(at, change, None, sink);
    }

    /// Handles a client's replace or cancel, which may carry fields to the venue.
    pub(crate) fn change_with(
        &mut self,
        at: i64,
        change: &Change<'_>,
        fields: Option<CarriedFields<'_>>,
        sink: &mut impl Sink,
    ) {
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
                if let Some(fields) = fields {
                    self.carry(at, request, fields, sink);
                }
                if let Some(reason) = self.guard_order(at, order, sink) {
                    self.decline_for(at, request, reason, b"", sink);
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
                if let Some(fields) = fields {
                    self.carry(at, request, fields, sink);
                }
            }
        }
        if !is_unsent {
            return self.send_request(at, request, sink);
        }
        match self.mark_unsent(at, request, sink) {
            Ok(()) => self.change_unsent(at, request, sink),
            Err(lost) => {
                self.decline_for(at, request, Reason::of_field(lost), b"", sink);
            }
        }
    }

    /// For a replace, the new quantity, the new price, and the price at which value is reserved; `None` for a cancel.
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
        // An order whose trading day is over cannot be replaced; only its open quantity can be cancelled.
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
        if let Some(tag) = change.differs(state, order)? {
            return Err(Reason {
                value: tag.into(),
                ..Reason::of(Why::Unchangeable)
            });
        }
        let is_parent = order.state == OrderState::Parent;
        if is_replace {
            change.check_values(order)?;
        }
        if is_replace && self.work.is_on_reserve() {
            return Err(Reason::of(Why::DiskFull));
        }
        if is_replace && self.cannot_replace(order) && !is_parent {
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
        let quantity = match change.quantity {
            Some(quantity) => units(quantity, rule.quantity_scale)?,
            None => order.quantity,
        };
        // FIX 4.4 Volume 4, Appendix D, C.3: the venue raises a quantity below CumQty(14) to CumQty.
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
            parents::check_family_change(state, order, &mut proposal)?;
        }
        self.check_restricted(&proposal, true)?;
        let hold = risk::check(state, rule, &proposal)?;
        if !state.spreads.is_empty() {
            spreads::check_legs(self, &proposal, Some(order), &Waived::default())?;
        }
        if order.state != OrderState::Held && !is_parent {
            self.own.check(state, &proposal, order.number)?;
        }
        Ok(Some((quantity, price, hold)))
    }

    /// Carries out a replace or cancel of an order that was never sent.
    pub(crate) fn change_unsent(&mut self, at: i64, request: Number, sink: &mut impl Sink) {
        let Some((asked, order)) = self.state.orders().request(request) else {
            return;
        };
        let is_parent = order.state == OrderState::Parent;
        let (order, text) = (
            order.number,
            &b"cancelled before it was sent to the venue"[..],
        );
        let event = match asked.kind {
            RequestKind::Cancel if is_parent => return self.cancel_parent(at, order, sink),
            RequestKind::Cancel => OrderEvent::Order(LifecycleEvent::Ended {
                order,
                how: crate::End::Cancelled,
                request: Some(request),
                at: 0,
                text,
            }),
            RequestKind::Replace => OrderEvent::Order(LifecycleEvent::Replaced {
                request,
                quantity: asked.quantity,
                price: asked.price,
                at: 0,
            }),
        };
        self.emit(at, &event, sink);
        self.forget(at, sink);
    }

    /// Handles a client's cancel of a parent: the OMS first cancels the children.
    #[cold]
    pub(crate) fn cancel_parent(&mut self, at: i64, parent: Number, sink: &mut impl Sink) {
        if !self.work.cancel_children(&self.state, parent) {
            self.end_parent(at, parent, End::Cancelled, b"", sink);
        }
    }

    /// Refuses a replace or cancel of an order; the order is `None` if it was not found.
    pub(crate) fn refuse_change_of(
        &mut self,
        at: i64,
        change: &Change<'_>,
        order: Option<Number>,
        reason: Reason,
        sink: &mut impl Sink,
    ) {
        let known = order.and_then(|order| self.state.orders().get(order));
        let known = known.filter(|_| change.kind == RequestKind::Replace);
        let terms = self.refused_values(
            known.map(|order| order.instrument),
            change.quantity,
            change.price,
        );
        let event = OrderEvent::Request(RequestEvent::Refused {
            session: change.session,
            kind: Some(change.kind),
            order,
            id: change.id,
            original: change.original,
            used: reason.why != Why::Duplicate,
            reason,
            terms: RefusedTerms {
                instrument: None,
                ..terms
            },
        });
        self.emit(at, &event, sink);
        if change.kind == RequestKind::Replace {
            self.guard(at, Party::of_session(change.session), sink);
        }
    }

    /// OrderQty(38) of an order reduced by `by`, not below 0; `None` when the OMS does not have the order. Fills that
    /// arrive in the meantime do not matter, because OrderQty includes them.
    #[cold]
    pub(crate) fn reduced(
        &self,
        session: SessionNo,
        original: &[u8],
        by: Decimal,
    ) -> Option<Decimal> {
        let order = self.find(session, original)?;
        let scale = self.state.scales(order.instrument).quantity;
        // A quantity that is not a multiple of the instrument's unit is refused, as in OrderQty(38).
        let Ok(by) = units(by, scale) else {
            return Some(by);
        };
        let left = i64::try_from(order.quantity.saturating_sub(by)).ok()?;
        Decimal::new(left, scale)
    }
}
