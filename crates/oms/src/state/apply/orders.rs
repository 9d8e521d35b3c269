//! Applies order events to the state.

use alloc::boxed::Box;
use alloc::vec::Vec;

use fixwire_ledger::Wire as _;
use siphasher::sip::SipHasher13;

use crate::state::OmsState;
use crate::state::checkpoint::recalled::RecalledOrder;
use crate::state::event::{LifecycleEvent, RemadeEvent, RequestEvent, StrayEvent};
use crate::state::filter::OrderFilter;
use crate::state::flow::Passed;
use crate::state::orders::ids::{OrderContent, UsedBy};
use crate::state::orders::remade::RemadeStep;
use crate::state::orders::strays::{Stray, StrayUndo};
use crate::state::orders::transition::{OrderState, Transition};
use crate::state::orders::waiting::QueueTime;
use crate::state::orders::{Fill, Order, Pended, Place, Placement, Request, Retry};
use crate::state::quotes::QuoteSide;
use crate::state::tally::{Tally, Trade, TradeSide};
use crate::values::canary::{self, OmsPlantedFault};
use crate::values::fields::carried::CarriedFields;
use crate::values::ids::{Party, SessionNo};
use crate::values::locate::Locate;
use crate::values::marks::RequestMarks;
use crate::values::reason::Why;
use crate::values::units::{MOST, Scales};
use crate::values::value::{Effect, End, Number, Quantity, RequestKind, Text};

/// Corrections of one fill of which each is known by all former ExecIDs(17) when its order leaves memory. The same
/// report of a later one is a break.
const MOST_CORRECTIONS: usize = 100;

impl OmsState {
    pub(crate) fn apply_request(&mut self, event: &RequestEvent<'_>) -> Option<()> {
        match *event {
            RequestEvent::Taken { .. } => self.taken(event),
            RequestEvent::Refused {
                session,
                kind,
                id,
                used,
                ref reason,
                ..
            } => {
                if used {
                    let by = match kind {
                        None => UsedBy::rejected(reason),
                        Some(_) => UsedBy::REQUEST,
                    };
                    self.ids.add(session, id, by);
                }
                if kind != Some(RequestKind::Cancel) {
                    let refused = Passed {
                        refused: 1,
                        ..Passed::default()
                    };
                    self.pass_session(session, refused);
                }
                self.recent.forget(self.time);
                Some(())
            }
            RequestEvent::MassCancelRefused {
                session, id, used, ..
            } => {
                if used {
                    self.ids.add(session, id, UsedBy::REQUEST);
                }
                Some(())
            }
            RequestEvent::MassCancelTaken {
                session,
                filter,
                id,
                ..
            } => {
                if let Some(session) = session {
                    self.ids.add(session, id, UsedBy::REQUEST);
                    let cancel = Passed {
                        cancels: 1,
                        ..Passed::default()
                    };
                    self.pass_session(session, cancel);
                }
                self.withdraw(filter);
                Some(())
            }
            RequestEvent::ReplaceTaken {
                request,
                order,
                quantity,
                price,
                hold,
                id,
            } => {
                let replace = Request {
                    kind: RequestKind::Replace,
                    quantity,
                    price,
                    hold,
                    id: Text::new(id),
                    ..Request::cancel(request)
                };
                self.request(order, replace)
            }
            RequestEvent::CancelTaken { request, order, id } => {
                let cancel = Request {
                    id: Text::new(id),
                    ..Request::cancel(request)
                };
                self.request(order, cancel)
            }
            RequestEvent::Sent { number, line } => self.sent(number, line),
            RequestEvent::Queued { number } => self.queued(number),
            RequestEvent::Located {
                order,
                reqd,
                broker,
            } => {
                self.orders.get(order)?;
                self.locates.add(order, Locate { reqd, broker });
                Some(())
            }
            RequestEvent::Routed { order, line } => {
                self.orders.get(order)?;
                self.sessions.get(line)?;
                self.routed.add(order, line);
                Some(())
            }
            RequestEvent::Fields {
                number,
                header,
                body,
                kept,
            } => {
                let is_order = self.orders.get(number).is_some();
                (is_order || self.orders.request(number).is_some()).then_some(())?;
                self.carried
                    .add(number, CarriedFields { header, body, kept });
                Some(())
            }
            RequestEvent::Marked { number, mut marks } => {
                let read = RequestMarks::take(&mut marks)?;
                marks.is_empty().then_some(())?;
                self.marked(number, read)
            }
            RequestEvent::ValidUntil { number, until } => {
                let fits = |state| until > 0 && state == OrderState::Queued;
                if let Some(order) = self.orders.get_mut(number) {
                    return fits(order.state).then(|| order.queued = QueueTime::Until(until));
                }
                let request = self.orders.request_mut(number)?;
                fits(request.state).then(|| request.queued = QueueTime::Until(until))
            }
            RequestEvent::Marks { session, mut marks } => {
                let session = self.sessions.get_mut(session)?;
                session.marks = RequestMarks::take(&mut marks)?;
                marks.is_empty().then_some(())
            }
        }
    }

    pub(crate) fn apply_lifecycle(&mut self, event: &LifecycleEvent<'_>) -> Option<()> {
        match *event {
            LifecycleEvent::Accepted {
                order, venue_id, ..
            } => self.change(order, |state, place| {
                state.step(place, Transition::Accept)?;
                // A report that an operator enters has no OrderID(37).
                if !venue_id.is_empty() {
                    state.orders.at_mut(place)?.venue_id = Text::new(venue_id);
                }
                Some(())
            }),
            LifecycleEvent::Rejected { order, .. } => {
                self.change(order, |state, place| state.step(place, Transition::Reject))
            }
            LifecycleEvent::Retried {
                order,
                attempt,
                due,
                not_on,
                ..
            } => self.retried(order, attempt, due, not_on),
            LifecycleEvent::Filled { .. } => self.filled(event),
            LifecycleEvent::Replaced {
                request,
                quantity,
                price,
                ..
            } => {
                let number = self.orders.request(request)?.1.number;
                self.change(number, |state, place| {
                    state.replaced(place, request, quantity, price)
                })
            }
            LifecycleEvent::Lapsed { order } => {
                self.change(order, |state, place| state.step(place, Transition::Lapse))
            }
            LifecycleEvent::Ended {
                order,
                how,
                request,
                ..
            }
            | LifecycleEvent::LapseConfirmed {
                order,
                how,
                request,
                ..
            } => self.ended(order, how, request),
            LifecycleEvent::DoneForDay { order, .. } => self.change(order, |state, place| {
                state.step(place, Transition::Rest)?;
                state.orders.at_mut(place)?.pended = None;
                Some(())
            }),
            LifecycleEvent::Renewed { order, .. } => self.change(order, |state, place| {
                state.step(place, Transition::Renew)?;
                let pended = &mut state.orders.at_mut(place)?.pended;
                pended.take_if(|pended| pended.how == End::DoneForDay);
                Some(())
            }),
            LifecycleEvent::Declined {
                request,
                ref reason,
                ..
            } => {
                let number = self.orders.request(request)?.1.number;
                self.change(number, |state, _| {
                    let declined = state.orders.remove_request(request)?;
                    let is_given_up = matches!(reason.why, Why::NotReceived | Why::GaveWay);
                    // The carried fields of the replace stay in memory, because the venue may still carry the replace
                    // out. The order then gets these fields.
                    let forgotten = match is_given_up && declined.kind == RequestKind::Replace {
                        true => state.late.give_up(number, request),
                        false => Some(request),
                    };
                    state.forget_carried(forgotten);
                    Some(())
                })
            }
            LifecycleEvent::Pended { .. } => self.pended(event),
            LifecycleEvent::Asked { order, at, .. } => {
                self.orders.get_mut(order)?.asked = at;
                Some(())
            }
            LifecycleEvent::Forgotten { order } => self.forget(order),
            LifecycleEvent::Unanswered { request } => {
                let request = self.orders.request_mut(request)?;
                request.state = request.state.after(Transition::Lose)?;
                Some(())
            }
            LifecycleEvent::VenueIdSet { order, venue_id } => {
                self.orders.get_mut(order)?.venue_id = Text::new(venue_id);
                Some(())
            }
            LifecycleEvent::ExecIdPassed { order, kind, id } => {
                let is_fit = self.exec_ids.is_on() && id.len() <= Text::MAX;
                self.orders.get(order).filter(|_| is_fit)?;
                let key = (order, SipHasher13::new().hash(id));
                self.exec_ids.all.insert(key, (kind, Text::new(id)));
                Some(())
            }
            LifecycleEvent::LapseCancelled { order, line } => {
                self.sessions.get(line)?;
                let order = self.orders.get(order)?;
                (order.state == OrderState::Lapsed).then_some(())
            }
            LifecycleEvent::NoAnswer { request } => self.orders.request(request).map(|_| ()),
            LifecycleEvent::NotAtVenue { order } => {
                self.change(order, |state, place| state.step(place, Transition::Doubt))
            }
            LifecycleEvent::ForeignReport { line, order, .. } => {
                self.sessions.get(line)?;
                self.orders.get(order).map(|_| ())
            }
            LifecycleEvent::ReportEntered { order, .. } => self.orders.get(order).map(|_| ()),
            LifecycleEvent::TermsSet { .. } => self.set_terms(event),
        }
    }

    /// Applies a replace that a venue carries out, or seems to carry out, as Canceled and New.
    pub(crate) fn apply_remade(&mut self, event: &RemadeEvent) -> Option<()> {
        match *event {
            RemadeEvent::CancelHeld {
                order,
                of_replace,
                filled,
                at,
            } => {
                self.is_open(order).then_some(())?;
                let held = RemadeStep::Held {
                    filled,
                    at,
                    of_replace,
                };
                self.remade.set(order, held);
                Some(())
            }
            RemadeEvent::ReplacedAsNew { order, former } => {
                self.is_open(order).then_some(())?;
                let at = self.time;
                self.remade
                    .set(order, RemadeStep::Former { number: former, at });
                Some(())
            }
            RemadeEvent::CancelDropped { order } => self.remade.forget(order),
        }
    }

    pub(crate) fn apply_stray(&mut self, event: &StrayEvent<'_>) -> Option<()> {
        match *event {
            StrayEvent::StrayFill { .. } => self.strayed(event),
            StrayEvent::StrayCancelled {
                order,
                former,
                request,
                line,
            } => {
                self.sessions.get(line)?;
                self.orders.get(order)?;
                self.number(request)?;
                self.remade.set(order, RemadeStep::Stray(former));
                Some(())
            }
            StrayEvent::StrayUndo { .. } => self.stray_undone(event),
            StrayEvent::Recalled {
                order,
                price_scale,
                quantity_scale,
                row,
                ..
            } => {
                let scales = Scales {
                    price: price_scale,
                    quantity: quantity_scale,
                };
                RecalledOrder::read(row)?.enter(order, scales, self)
            }
        }
    }

    /// Lists a bust or correction of a fill that is not in memory.
    fn stray_undone(&mut self, event: &StrayEvent<'_>) -> Option<()> {
        let StrayEvent::StrayUndo {
            line,
            order,
            correction,
            account,
            instrument,
            side,
            exec,
            of,
            quantity,
            price,
            filled,
            status,
            at,
            id,
            fill,
            text,
        } = *event
        else {
            return None;
        };
        let undo = StrayUndo {
            line,
            order,
            is_correction: correction,
            account,
            instrument,
            side,
            exec,
            of,
            quantity,
            price,
            filled,
            status,
            at,
            id: Text::new(id),
            fill: Text::new(fill),
            text: Text::new(text),
            asked_by: None,
        };
        self.is_undo_of_known(&undo).then_some(())?;
        self.strays.undos.insert(self.events, undo);
        Some(())
    }

    fn ended(&mut self, order: Number, how: End, request: Option<Number>) -> Option<()> {
        self.change(order, |state, place| {
            state.step(place, Transition::End(how))?;
            state.orders.at_mut(place)?.pended = None;
            if let Some(request) = request {
                let request = state.remove_request(request)?;
                state.take_id(place, &request.id)?;
            }
            Some(())
        })
    }

    /// Removes a request that is answered or has no effect.
    pub(crate) fn remove_request(&mut self, request: Number) -> Option<Request> {
        self.forget_carried(Some(request));
        self.orders.remove_request(request)
    }

    /// Removes the carried fields of orders and requests that no longer need them.
    pub(crate) fn forget_carried(&mut self, numbers: impl IntoIterator<Item = Number>) {
        if !self.carried.is_empty() {
            let all = numbers.into_iter();
            all.for_each(|number| self.carried.forget(number));
        }
    }

    /// Gives the fields that a replace carries to its order.
    pub(crate) fn carry_on(&mut self, place: Place, request: Number) {
        if !self.carried.is_empty()
            && let Some(order) = self.orders.at_mut(place)
        {
            match self.carried.marks_of(request) {
                Some(marks) => order.marks = marks,
                // The order was on a line over TMP, and waits to be sent again on a line group over FIX: TMP values are
                // computed again from the fields of the order.
                None if order.state.is_unsent() && self.carried.differ(order.number, request) => {
                    order.marks = RequestMarks::default();
                }
                None => {}
            }
            self.carried.replace(order.number, request);
        }
    }

    /// Removes an order from memory; its fills are remembered until the end of the next day.
    fn forget(&mut self, order: Number) -> Option<()> {
        if self.is_open(order) {
            return None;
        }
        let line = self.orders.get(order)?.line();
        for fill in self.orders.fills_of(order) {
            self.used_execs.add(fill.exec);
            // A bust may name a corrected fill by any ExecID(17) that it had.
            let undone = |it: &&Fill| it.undone != 0;
            let next = |it: &&Fill| self.orders.fill(order, it.undone).filter(undone);
            let chain = core::iter::successors(Some(fill).filter(undone), next);
            for (undone, line) in chain.take(MOST_CORRECTIONS).zip(line.into_iter().cycle()) {
                let key = StrayUndo::key(line, order, fill.exec, undone.undone);
                self.used_execs.add(key);
            }
        }
        if let Some(left) = self.strays.recalled.get_mut(&order) {
            *left = Some(self.events);
        }
        if !self.spreads.is_empty() {
            self.spread_forgotten(order);
        }
        self.conditions.forget(order);
        if !self.breaks.is_empty() {
            self.breaks.forget(order);
        }
        self.families.forget(order);
        if !self.late.is_empty() {
            let terms = self.late.forget(order);
            self.forget_carried(terms.into_iter().flat_map(|terms| terms.known));
        }
        if !self.remade.is_empty() {
            self.remade.forget(order);
        }
        if self.exec_ids.is_on() {
            self.exec_ids.forget(order);
        }
        if !self.locates.is_empty() {
            self.locates.forget(order);
        }
        if !self.routed.is_empty() {
            self.routed.forget(order);
        }
        if !self.carried.is_empty() {
            let request = self.orders.get(order);
            let request = request.and_then(|it| self.orders.request_of(it));
            let request = request.map(|it| it.number);
            self.forget_carried(request.into_iter().chain([order]));
        }
        match self.orders.forget(order)? {
            QuoteSide::None => {}
            QuoteSide::Bid => self.quotes.forget(order),
            QuoteSide::Offer => self.quotes.forget(order - 1),
        }
        Some(())
    }

    fn request(&mut self, order: Number, request: Request) -> Option<()> {
        let Request {
            number,
            kind,
            quantity,
            ..
        } = request;
        if !self.is_open(order) || number != self.last + 1 || quantity > MOST {
            return None;
        }
        let session = self.orders.get(order)?.session;
        let id = request.id.clone();
        let known = self.orders.get(order)?;
        let (party, before, instrument) = (known.party(), known.quantity, known.instrument);
        let usage = (kind == RequestKind::Replace).then(|| {
            (
                self.counted(known, None).reserved,
                self.reserved_above(order),
            )
        });
        let add = |state: &mut Self, place| state.orders.add_request(place, request).then_some(());
        // A cancel changes neither the usage of its order nor what follows from the usage.
        match kind == RequestKind::Cancel && self.families.is_empty() && self.spreads.is_empty() {
            true => add(self, self.orders.place(order)?)?,
            false => self.change(order, add)?,
        }
        self.number(number)?;
        let is_named = !id.bytes().is_empty();
        if is_named {
            self.ids.add(session, id.bytes(), order);
        }
        let mut passed = Passed::default();
        if let Some((reserved, above)) = usage {
            let known = self.orders.get_mut(order)?;
            known.replaces = known.replaces.saturating_add(1);
            let known = self.orders.get(order)?;
            let counted = self.counted(known, self.orders.request_of(known));
            passed.messages = 1;
            passed.quantity = self.in_limits(instrument, quantity.saturating_sub(before));
            passed.value = counted.reserved - reserved;
            if self.families.parent_of(order).is_some() {
                // The parent has already counted this quantity.
                let released = above - self.reserved_above(order);
                (passed.quantity, passed.value) = (0, (passed.value - released).max(0));
            }
        } else if is_named {
            passed.cancels = 1;
        }
        self.pass(party, passed);
        if kind == RequestKind::Cancel && !self.families.is_empty() {
            self.withdraw_children(order);
        }
        Some(())
    }

    fn queued(&mut self, number: Number) -> Option<()> {
        let at = self.time;
        if let Some(order) = self.orders.get_mut(number) {
            order.queued.queue(at);
        } else {
            self.orders.request_mut(number)?.queued.queue(at);
        }
        Some(())
    }

    fn sent(&mut self, number: Number, line: SessionNo) -> Option<()> {
        if let Some(order) = self.orders.get_mut(number) {
            order.state = order.state.after(Transition::Send)?;
            order.placement = Placement::Line(line);
            let of_line = self.sessions.get(line).map(|it| it.marks);
            if of_line.is_some_and(|marks| !marks.is_empty()) {
                return self.mark(number);
            }
            return Some(());
        }
        let request = self.orders.request_mut(number)?;
        request.state = request.state.after(Transition::Send)?;
        Some(())
    }

    /// Sets the TMP values of an order that is not sent yet, or of a request with fields of its own.
    #[cold]
    fn marked(&mut self, number: Number, marks: RequestMarks) -> Option<()> {
        self.carried.has(number).then_some(())?;
        if let Some(order) = self.orders.get_mut(number) {
            return order.state.is_unsent().then(|| order.marks = marks);
        }
        self.orders.request(number)?;
        self.carried.marks.insert(number, marks);
        Some(())
    }

    /// Sets the TMP values of an order when it is sent for the first time: the values of its user, else of its line.
    pub(crate) fn mark(&mut self, number: Number) -> Option<()> {
        let order = self.orders.get_mut(number)?;
        let of = |session: SessionNo| self.sessions.get(session).map(|it| it.marks);
        if order.marks.is_empty() {
            order.marks = of(order.session)?.or(of(order.line()?)?);
        }
        Some(())
    }

    /// Holds back the final state of an order until the missing fills arrive.
    fn pended(&mut self, event: &LifecycleEvent<'_>) -> Option<()> {
        let LifecycleEvent::Pended {
            order,
            how,
            request,
            filled,
            at,
        } = *event
        else {
            return None;
        };
        let pended = Pended {
            how,
            request,
            filled,
            at,
        };
        let waits = !canary::is(OmsPlantedFault::DropPended);
        self.orders.get_mut(order)?.pended = waits.then(|| Box::new(pended));
        if self.remade.is_held(order) {
            self.remade.forget(order);
        }
        Some(())
    }

    /// Gives an order a new number for a retry; the order is not sent yet.
    fn retried(
        &mut self,
        order: Number,
        attempt: Number,
        due: i64,
        not_on: Option<SessionNo>,
    ) -> Option<()> {
        let known = self.orders.get(order)?;
        if attempt != self.last + 1 || self.orders.request_of(known).is_some() {
            return None;
        }
        self.change(order, |state, place| {
            state.step(place, Transition::Retry)?;
            let order = state.orders.at_mut(place)?;
            let tries = order.retry.as_ref().map_or(0, |retry| retry.tries);
            order.retry = Some(Box::new(Retry {
                attempt,
                tries: tries.saturating_add(1),
                due,
                not_on,
            }));
            (order.current, order.placement) = (attempt, Placement::Unsent);
            Some(())
        })?;
        self.number(attempt)
    }

    fn filled(&mut self, event: &LifecycleEvent<'_>) -> Option<()> {
        let LifecycleEvent::Filled {
            order: number,
            exec,
            quantity,
            price,
            ..
        } = *event
        else {
            return None;
        };
        self.change(number, |state, place| {
            let order = state.orders.at(place)?;
            let filled = order.filled.checked_add(quantity)?;
            let all = filled >= order.quantity;
            let (party, instrument) = (order.party(), order.instrument);
            let (buys, was_open) = (order.side.is_buy(), order.state.is_open());
            let effect = order.effect;
            order.state.after(Transition::Fill { all })?;
            let fill = Fill {
                exec,
                quantity,
                price,
                report: state.events,
                undone: 0,
            };
            if !state.orders.add_fill(place, fill) {
                return None;
            }
            state.step(place, Transition::Fill { all })?;
            let order = state.orders.at_mut(place)?;
            order.filled = filled;
            let worth = i128::from(price) * i128::from(quantity);
            order.paid = order.paid.saturating_add(worth);
            state.late_fills += u64::from(!was_open);
            if !state.copies.is_off() {
                state.fill_heard(place, instrument, exec, (quantity, price));
            }
            // For a spread, the fill trades the legs.
            if state.spreads.is_empty() || state.spreads.legs(instrument).is_none() {
                let trade = Trade {
                    party,
                    side: TradeSide { buys, effect },
                    quantity,
                    price,
                };
                state.trade(&trade);
            }
            Some(())
        })
    }

    /// Applies a fill of an unknown order.
    fn strayed(&mut self, event: &StrayEvent<'_>) -> Option<()> {
        let StrayEvent::StrayFill {
            line,
            account,
            instrument,
            side,
            effect,
            exec,
            quantity,
            price,
            id,
        } = *event
        else {
            return None;
        };
        self.used_execs.add(exec);
        self.sessions.get(line)?;
        self.accounts.get(account)?;
        self.instruments.get(instrument)?;
        self.late_fills += 1;
        let effect = effect.unwrap_or(Effect::Netting);
        let stray = Stray {
            line,
            account,
            instrument,
            side,
            effect,
            exec,
            quantity,
            price,
            id: Text::new(id),
            asked_by: None,
        };
        self.strays.add(self.events, stray);
        self.trade(&Trade {
            party: Party::new(line, account, instrument),
            side: TradeSide {
                buys: side.is_buy(),
                effect,
            },
            quantity,
            price,
        });
        Some(())
    }

    fn replaced(
        &mut self,
        place: Place,
        request: Number,
        quantity: Quantity,
        price: i64,
    ) -> Option<()> {
        let order = self.orders.at(place)?;
        let all = order.filled >= quantity;
        let is_unsent = order.state.is_unsent();
        order.state.after(Transition::Replace { all })?;
        self.step(place, Transition::Replace { all })?;
        self.carry_on(place, request);
        let request = self.remove_request(request)?;
        let order = self.orders.at_mut(place)?;
        // An order that was not sent has no number at the venue.
        if !is_unsent {
            order.current = request.number;
        }
        (order.quantity, order.price) = (quantity, price);
        if !self.remade.is_empty() {
            let number = self.orders.at(place)?.number;
            self.remade.forget(number);
        }
        let order = self.orders.at_mut(place)?;
        // The price that the venue sets may be higher than the price of the request.
        order.hold = request.hold.max(price.saturating_abs());
        self.take_id(place, &request.id)
    }

    /// Makes the ClOrdID(11) of an accepted request the ClOrdID of the order.
    fn take_id(&mut self, place: Place, id: &Text) -> Option<()> {
        if !id.bytes().is_empty() {
            self.orders.at_mut(place)?.id = id.clone();
        }
        Some(())
    }

    /// Final state of an order; `None` while the order is open or if it is not in memory.
    #[must_use]
    pub fn end_of(&self, number: Number) -> Option<End> {
        match self.orders.get(number)?.state {
            OrderState::Ended(how) => Some(how),
            _ => None,
        }
    }

    fn taken(&mut self, event: &RequestEvent<'_>) -> Option<()> {
        let RequestEvent::Taken {
            order,
            session,
            account,
            instrument,
            side,
            kind,
            tif,
            price,
            stop,
            hold,
            quantity,
            until,
            effect,
            id,
        } = *event
        else {
            return None;
        };
        self.sessions.get(session)?;
        self.accounts.get(account)?;
        self.instruments.get(instrument)?;
        (quantity <= MOST).then_some(())?;
        self.number(order)?;
        let new = Order {
            number: order,
            current: order,
            session,
            account,
            instrument,
            placement: Placement::Unsent,
            side,
            kind,
            tif,
            until,
            effect,
            state: OrderState::Queued,
            price,
            stop,
            hold,
            quantity,
            filled: 0,
            paid: 0,
            id: Text::new(id),
            venue_id: Text::EMPTY,
            request: None,
            last_fill: None,
            pended: None,
            asked: 0,
            withdrawn: false,
            replaces: 0,
            queued: QueueTime::None,
            retry: None,
            pool_number: Text::EMPTY,
            pool: None,
            own_number: false,
            triggered: false,
            quote_side: QuoteSide::None,
            marks: RequestMarks::default(),
        };
        let tally = self.counted(&new, None);
        if self.recent.is_on {
            let hash = self.ids.hash_of_order(OrderContent {
                account,
                instrument,
                side,
                kind,
                quantity,
                price,
            });
            // A child order is not counted as identical to its parent order.
            let is_child = self.families.parent_of(order).is_some();
            self.recent
                .add(self.time, if is_child { !hash } else { hash });
        }
        self.ids.add(session, id, order);
        self.orders.add(new);
        let party = Party::new(session, account, instrument);
        self.count(party, &Tally::default(), &tally);
        let passed = if self.families.parent_of(order).is_some() {
            self.child_taken(order, &tally)
        } else {
            Passed {
                messages: 1,
                quantity: self.in_limits(instrument, quantity),
                value: tally.reserved,
                ..Passed::default()
            }
        };
        self.pass(party, passed);
        if !self.spreads.is_empty() {
            self.spread_taken(order, instrument);
        }
        Some(())
    }

    fn withdraw(&mut self, filter: OrderFilter) {
        let orders = self.orders.iter();
        let open = orders.filter(|order| order.state.is_open() && filter.has(self, order));
        let open: Vec<Number> = open.map(|order| order.number).collect();
        for number in open {
            if let Some(order) = self.orders.get_mut(number) {
                order.withdrawn = true;
            }
        }
    }
}
