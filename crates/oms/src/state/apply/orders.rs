//! Applies order events to the state.

use alloc::boxed::Box;

use crate::state::OmsState;
use crate::state::event::{OrderWord, RemadeEvent, RequestEvent, StrayEvent};
use crate::state::flow::Passed;
use crate::state::orders::remade::RemadeStep;
use crate::state::orders::strays::Stray;
use crate::state::orders::transition::{Happening, OrderState};
use crate::state::orders::{Fill, Pended, Place, Placement, Request, Retry};
use crate::state::quotes::QuoteSide;
use crate::state::tally::Tally;
use crate::values::canary::{self, OmsPlantedFault};
use crate::values::ids::{Party, SessionNo};
use crate::values::locate::Locate;
use crate::values::marks::RequestMarks;
use crate::values::reason::Why;
use crate::values::units::MOST;
use crate::values::value::{Effect, End, Number, Quantity, RequestKind, Text};

impl OmsState {
    pub(crate) fn apply_request(&mut self, event: &RequestEvent<'_>) -> Option<()> {
        match *event {
            RequestEvent::Taken { .. } => self.taken(event),
            RequestEvent::Refused {
                session,
                kind,
                id,
                used,
                ..
            } => {
                if used {
                    self.ids.add(session, id, 0);
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
                    self.ids.add(session, id, 0);
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
                    self.ids.add(session, id, 0);
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
                let kind = RequestKind::Replace;
                self.request(request, order, kind, (quantity, price, hold), id)
            }
            RequestEvent::CancelTaken { request, order, id } => {
                self.request(request, order, RequestKind::Cancel, (0, 0, 0), id)
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
            RequestEvent::ValidUntil { number, until } => {
                let fits = |state| until > 0 && state == OrderState::Queued;
                if let Some(order) = self.orders.get_mut(number) {
                    return fits(order.state).then(|| order.queued = -until);
                }
                let request = self.orders.request_mut(number)?;
                fits(request.state).then(|| request.queued = -until)
            }
            RequestEvent::Marks { session, mut marks } => {
                let session = self.sessions.get_mut(session)?;
                session.marks = RequestMarks::take(&mut marks)?;
                marks.is_empty().then_some(())
            }
        }
    }

    pub(crate) fn apply_word(&mut self, event: &OrderWord<'_>) -> Option<()> {
        match *event {
            OrderWord::Accepted {
                order, venue_id, ..
            } => self.change(order, |state, place| {
                state.step(place, Happening::Accept)?;
                // An operator who enters it gives none.
                if !venue_id.is_empty() {
                    state.orders.at_mut(place)?.venue_id = Text::new(venue_id);
                }
                Some(())
            }),
            OrderWord::Rejected { order, .. } => {
                self.change(order, |state, place| state.step(place, Happening::Reject))
            }
            OrderWord::Retried {
                order,
                attempt,
                due,
                not_on,
                ..
            } => self.retried(order, attempt, (due, not_on)),
            OrderWord::Filled { .. } => self.filled(event),
            OrderWord::Replaced {
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
            OrderWord::Lapsed { order } => {
                self.change(order, |state, place| state.step(place, Happening::Lapse))
            }
            OrderWord::Ended {
                order,
                how,
                request,
                ..
            }
            | OrderWord::LapseConfirmed {
                order,
                how,
                request,
                ..
            } => self.ended(order, how, request),
            OrderWord::DoneForDay { order, .. } => self.change(order, |state, place| {
                state.step(place, Happening::Rest)?;
                state.orders.at_mut(place)?.pended = None;
                Some(())
            }),
            OrderWord::Renewed { order, .. } => self.change(order, |state, place| {
                state.step(place, Happening::Renew)?;
                let pended = &mut state.orders.at_mut(place)?.pended;
                pended.take_if(|pended| pended.how == End::DoneForDay);
                Some(())
            }),
            OrderWord::Declined {
                request,
                ref reason,
                ..
            } => {
                let number = self.orders.request(request)?.1.number;
                self.change(number, |state, _| {
                    let declined = state.orders.remove_request(request)?;
                    let is_given_up = matches!(reason.why, Why::NotReceived | Why::GaveWay);
                    if is_given_up && declined.kind == RequestKind::Replace {
                        state.late.give_up(number, request);
                    }
                    Some(())
                })
            }
            OrderWord::Pended { .. } => self.pended(event),
            OrderWord::Asked { order, at, .. } => {
                self.orders.get_mut(order)?.asked = at;
                Some(())
            }
            OrderWord::Forgotten { order } => self.forget(order),
            OrderWord::Unanswered { request } => {
                let request = self.orders.request_mut(request)?;
                request.state = request.state.after(Happening::Lose)?;
                Some(())
            }
            OrderWord::VenueIdSet { order, venue_id } => {
                self.orders.get_mut(order)?.venue_id = Text::new(venue_id);
                Some(())
            }
            OrderWord::LapseCancelled { order, line } => {
                self.sessions.get(line)?;
                let order = self.orders.get(order)?;
                (order.state == OrderState::Lapsed).then_some(())
            }
            OrderWord::NoAnswer { request } => self.orders.request(request).map(|_| ()),
            OrderWord::NotAtVenue { order } => {
                self.change(order, |state, place| state.step(place, Happening::Doubt))
            }
            OrderWord::ForeignReport { line, order, .. } => {
                self.sessions.get(line)?;
                self.orders.get(order).map(|_| ())
            }
            OrderWord::ReportEntered { order, .. } => self.orders.get(order).map(|_| ()),
            OrderWord::TermsSet { .. } => self.set_terms(event),
        }
    }

    /// A venue does, or seems to do, a replace as Canceled and New.
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
        }
    }

    fn ended(&mut self, order: Number, how: End, request: Option<Number>) -> Option<()> {
        self.change(order, |state, place| {
            state.step(place, Happening::End(how))?;
            state.orders.at_mut(place)?.pended = None;
            if let Some(request) = request {
                let request = state.orders.remove_request(request)?;
                state.take_id(place, &request.id)?;
            }
            Some(())
        })
    }

    /// Remembers the fills of a removed order until the end of the next day.
    fn forget(&mut self, order: Number) -> Option<()> {
        if self.is_open(order) {
            return None;
        }
        for fill in self.orders.fills_of(order) {
            self.spent.add(fill.exec);
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
            self.late.forget(order);
        }
        if !self.remade.is_empty() {
            self.remade.forget(order);
        }
        if !self.locates.is_empty() {
            self.locates.forget(order);
        }
        match self.orders.forget(order)? {
            QuoteSide::None => {}
            QuoteSide::Bid => self.quotes.forget(order),
            QuoteSide::Offer => self.quotes.forget(order - 1),
        }
        Some(())
    }

    fn request(
        &mut self,
        number: Number,
        order: Number,
        kind: RequestKind,
        (quantity, price, hold): (Quantity, i64, i64),
        id: &[u8],
    ) -> Option<()> {
        if !self.is_open(order) || number != self.last + 1 || quantity > MOST {
            return None;
        }
        let session = self.orders.get(order)?.session;
        let request = Request {
            number,
            order: None,
            kind,
            state: OrderState::Queued,
            quantity,
            price,
            hold,
            id: Text::new(id),
            queued: 0,
        };
        let known = self.orders.get(order)?;
        let (party, before) = (known.party(), known.quantity);
        let usage = (kind == RequestKind::Replace).then(|| {
            (
                self.counted(known, None).reserved,
                self.reserved_above(order),
            )
        });
        self.change(order, |state, place| {
            state.orders.add_request(place, request).then_some(())
        })?;
        self.number(number)?;
        if !id.is_empty() {
            self.ids.add(session, id, order);
        }
        let mut passed = Passed::default();
        if let Some((reserved, above)) = usage {
            let known = self.orders.get_mut(order)?;
            known.replaces = known.replaces.saturating_add(1);
            let known = self.orders.get(order)?;
            let counted = self.counted(known, self.orders.request_of(known));
            passed.messages = 1;
            passed.quantity = quantity.saturating_sub(before);
            passed.value = counted.reserved - reserved;
            if self.families.parent_of(order).is_some() {
                // The parent counted the quantity.
                let released = above - self.reserved_above(order);
                (passed.quantity, passed.value) = (0, (passed.value - released).max(0));
            }
        } else if !id.is_empty() {
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
        // It keeps the time until which it is valid.
        let set = |queued: &mut i64| {
            if *queued >= 0 {
                *queued = at;
            }
        };
        if let Some(order) = self.orders.get_mut(number) {
            set(&mut order.queued);
        } else {
            set(&mut self.orders.request_mut(number)?.queued);
        }
        Some(())
    }

    fn sent(&mut self, number: Number, line: SessionNo) -> Option<()> {
        if let Some(order) = self.orders.get_mut(number) {
            order.state = order.state.after(Happening::Send)?;
            order.placement = Placement::Line(line);
            let of_line = self.sessions.get(line).map(|it| it.marks);
            if of_line.is_some_and(|marks| !marks.is_empty()) {
                return self.mark(number);
            }
            return Some(());
        }
        let request = self.orders.request_mut(number)?;
        request.state = request.state.after(Happening::Send)?;
        Some(())
    }

    /// What an order says over TMP from its first sending on: what its user says, else what its line says.
    pub(crate) fn mark(&mut self, number: Number) -> Option<()> {
        let order = self.orders.get_mut(number)?;
        let of = |session: SessionNo| self.sessions.get(session).map(|it| it.marks);
        if order.marks.is_empty() {
            order.marks = of(order.session)?.or(of(order.line()?)?);
        }
        Some(())
    }

    /// Its final state waits for missing fills.
    fn pended(&mut self, event: &OrderWord<'_>) -> Option<()> {
        let OrderWord::Pended {
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

    /// It was not sent yet under its new number.
    fn retried(
        &mut self,
        order: Number,
        attempt: Number,
        (due, not_on): (i64, Option<SessionNo>),
    ) -> Option<()> {
        let known = self.orders.get(order)?;
        if attempt != self.last + 1 || self.orders.request_of(known).is_some() {
            return None;
        }
        self.change(order, |state, place| {
            state.step(place, Happening::Retry)?;
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

    fn filled(&mut self, event: &OrderWord<'_>) -> Option<()> {
        let OrderWord::Filled {
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
            order.state.after(Happening::Fill { all })?;
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
            state.step(place, Happening::Fill { all })?;
            let order = state.orders.at_mut(place)?;
            order.filled = filled;
            let worth = i128::from(price) * i128::from(quantity);
            order.paid = order.paid.saturating_add(worth);
            state.late_fills += u64::from(!was_open);
            if !state.copies.is_off() {
                state.fill_heard(place, exec, (quantity, price));
            }
            // Of a spread its legs are traded.
            if state.spreads.is_empty() || state.spreads.legs(instrument).is_none() {
                state.trade(party, (buys, effect), (quantity, price));
            }
            Some(())
        })
    }

    /// A fill of an unknown order.
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
        self.spent.add(exec);
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
        let fill = (quantity, price);
        self.trade(
            Party::new(line, account, instrument),
            (side.is_buy(), effect),
            fill,
        );
        Some(())
    }

    pub(crate) fn trade(
        &mut self,
        party: Party,
        (buys, effect): (bool, Effect),
        (quantity, price): (Quantity, i64),
    ) {
        let (Some(account), Some(instrument)) = (party.account, party.instrument) else {
            return;
        };
        let holding = self.holding_mut(account, instrument);
        let before = holding.gained();
        holding.position.fill(buys, quantity, price, effect);
        if holding.mark == 0 && holding.opened_at == 0 {
            // Its earlier value is unknown.
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
        order.state.after(Happening::Replace { all })?;
        self.step(place, Happening::Replace { all })?;
        let request = self.orders.remove_request(request)?;
        let order = self.orders.at_mut(place)?;
        // The venue does not know an order that was not sent.
        if !is_unsent {
            order.current = request.number;
        }
        (order.quantity, order.price) = (quantity, price);
        if !self.remade.is_empty() {
            let number = self.orders.at(place)?.number;
            self.remade.forget(number);
        }
        let order = self.orders.at_mut(place)?;
        // The venue's result may differ from the request.
        order.hold = request.hold.max(price.saturating_abs());
        self.take_id(place, &request.id)
    }

    /// The ClOrdID of an accepted request becomes that of the order.
    fn take_id(&mut self, place: Place, id: &Text) -> Option<()> {
        if !id.bytes().is_empty() {
            self.orders.at_mut(place)?.id = id.clone();
        }
        Some(())
    }

    /// Final state of an order; `None` while it is open or unknown.
    #[must_use]
    pub fn end_of(&self, number: Number) -> Option<End> {
        match self.orders.get(number)?.state {
            OrderState::Ended(how) => Some(how),
            _ => None,
        }
    }
}
