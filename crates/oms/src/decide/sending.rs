//! Sends orders and requests, queues them, or rejects them; sends the OMS's own cancels.

use alloc::vec::Vec;

use fixwire_ledger::Wire as _;

use crate::decide::core::{AcceptingLines, Core, Sink};
use crate::decide::queue::Next;
use crate::state::event::{LifecycleEvent, LineEvent, OrderEvent, RequestEvent};
use crate::state::orders::transition::OrderState;
use crate::state::orders::{Order, Request};
use crate::values::fields::carried::{CarriedField, CarriedFields, each_field};
use crate::values::fields::contract::{Contract, Passage};
use crate::values::fields::conversion::CarryingRequest;
use crate::values::fields::field_table::request_bit;
use crate::values::fields::{LostField, MissingTerms, QUOTE_MAX, SENT_MAX, check_taken};
use crate::values::ids::SessionNo;
use crate::values::marks::RequestMarks;
use crate::values::reason::{Reason, Why};
use crate::values::rules::{LineGroup, StatusRule};
use crate::values::value::{Effect, End, Number, RequestKind};

impl Core {
    /// Checks that each line to which a new order may be sent has the fields of its terms. Without ExpireDate(432), an
    /// order good till a date would stay open at the venue.
    ///
    /// # Errors
    ///
    /// The first field that a line does not have.
    #[cold]
    pub(crate) fn check_terms(
        &self,
        group: Option<usize>,
        until: Option<u32>,
        effect: Effect,
    ) -> Result<(), Reason> {
        let groups = &self.lines.groups;
        let Some(group) = group.and_then(|group| groups.get(group)) else {
            return Ok(());
        };
        let helpers = group.helpers.iter().filter_map(|it| groups.get(*it));
        let mut lines = helpers.chain([group]).flat_map(|it| &it.lines);
        lines.try_for_each(|line| {
            let missing = self.missing_terms.get(*line);
            let missing = missing.map_or(&[][..], |it| it.of_orders.as_slice());
            let lost = MissingTerms::first(missing, until, effect);
            lost.map_or(Ok(()), |tag| Err(Reason::not_carried(tag)))
        })
    }

    /// Checks that a line has the fields of the terms of an order, in the order itself or in its replace.
    ///
    /// # Errors
    ///
    /// The first field that the line does not have.
    #[inline]
    fn check_terms_on(&self, number: Number, line: SessionNo) -> Result<(), Reason> {
        match self.missing_terms.get(line) {
            Some(missing) if *missing != MissingTerms::default() => {
                self.check_missing(number, missing)
            }
            _ => Ok(()),
        }
    }

    #[cold]
    fn check_missing(&self, number: Number, missing: &MissingTerms) -> Result<(), Reason> {
        let orders = self.state.orders();
        let (order, missing) = match (orders.get(number), orders.request(number)) {
            (Some(order), _) => (order, &missing.of_orders),
            (None, Some((request, order))) if request.kind == RequestKind::Replace => {
                (order, &missing.of_replaces)
            }
            (None, _) => return Ok(()),
        };
        let lost = MissingTerms::first(missing, order.until, order.effect);
        lost.map_or(Ok(()), |tag| Err(Reason::not_carried(tag)))
    }

    /// Records the sequence numbers of a line that speaks TMP.
    pub(crate) fn set_link_numbers(
        &mut self,
        at: i64,
        line: SessionNo,
        inbound: u32,
        outbound: u32,
        sink: &mut impl Sink,
    ) {
        if self.state.link_numbers(line) != (inbound, outbound) {
            let event = OrderEvent::Line(LineEvent::LinkNumbers {
                line,
                inbound,
                outbound,
            });
            self.emit(at, &event, sink);
        }
    }

    /// Sends a new order, queues it, or rejects it.
    pub(crate) fn send_order(&mut self, at: i64, number: Number, sink: &mut impl Sink) {
        let Some(order) = self.state.orders().get(number) else {
            return;
        };
        let party = order.party();
        let Some(group) = self.lines.group_of(&self.state, order) else {
            return self.reject_unsent(at, number, Why::NoRoute, sink);
        };
        let waits = !self.lines.groups[group].orders.is_empty();
        let work = &self.work;
        let leaving = |line| work.is_leaving(line);
        let line = match waits {
            true => Err((Why::Busy, None)),
            false => self.lines.choose(&self.state, at, group, party, leaving),
        };
        match line {
            Ok(line) => self.send_on(at, number, line, sink),
            Err(_) if self.lines.groups[group].patience.is_some() => {
                self.emit(
                    at,
                    &OrderEvent::Request(RequestEvent::Queued { number }),
                    sink,
                );
                let order = self.state.orders().get(number);
                let valid_until = order.and_then(|order| order.valid_until());
                self.lines.wait_for_group(group, number, valid_until);
            }
            Err((why, _)) => self.reject_unsent(at, number, why, sink),
        }
    }

    /// Sends an order on a session, with a number of its pool if it has a pool.
    pub(crate) fn send_on(
        &mut self,
        at: i64,
        number: Number,
        line: SessionNo,
        sink: &mut impl Sink,
    ) {
        let marks = match self.carried_by(line, number) {
            Ok(marks) => marks,
            Err(lost) => {
                return self.reject_unsent_for(at, number, Reason::of_field(lost), sink);
            }
        };
        let checked = self.check_names(number, line);
        if let Err(reason) = checked.and_then(|()| self.check_terms_on(number, line)) {
            return self.reject_unsent_for(at, number, reason, sink);
        }
        if !self.pools.is_empty()
            && let Err(reason) = self.give_number(at, number, sink)
        {
            return self.reject_unsent_for(at, number, reason, sink);
        }
        self.mark(at, number, marks, sink);
        self.emit(
            at,
            &OrderEvent::Request(RequestEvent::Sent { number, line }),
            sink,
        );
    }

    /// Sets the line group whose lines accept the fields of the request that is being handled; `None` before the next
    /// input.
    #[inline]
    pub(crate) fn lines_accept(&mut self, group: Option<usize>) {
        let after = self.state.last;
        self.accepting = group.map(|group| AcceptingLines { group, after });
    }

    /// Checks that a line accepts the fields that an order or a request carries.
    ///
    /// Returns the values over TMP that follow from these fields; `None` for a request that has the values of its
    /// order.
    ///
    /// # Errors
    ///
    /// The field that the line refuses. The settings have changed since the request came in, or values of `map` make
    /// the message too long.
    #[inline]
    pub(crate) fn carried_by(
        &mut self,
        line: SessionNo,
        number: Number,
    ) -> Result<Option<RequestMarks>, LostField> {
        match self.state.carried.has(number) {
            false => Ok(None),
            true if self.is_accepted(line, number) => {
                debug_assert_eq!(self.check_carried(line, number), Ok(None));
                Ok(None)
            }
            true => self.check_carried(line, number),
        }
    }

    /// Whether the line was found to accept these fields when their request came in.
    fn is_accepted(&self, line: SessionNo, number: Number) -> bool {
        self.accepting.is_some_and(|accepting| {
            number > accepting.after && self.group_at(line) == Some(accepting.group)
        })
    }

    #[cold]
    fn check_carried(
        &mut self,
        line: SessionNo,
        number: Number,
    ) -> Result<Option<RequestMarks>, LostField> {
        let group = self.lines.line(line).map(|line| line.group);
        let Some(group) = group.and_then(|group| self.rules.groups.get(group)) else {
            return Ok(None);
        };
        let orders = self.state.orders();
        let (order, msg_type): (_, &[u8]) = match orders.request(number) {
            Some((request, order)) if request.kind == RequestKind::Replace => (order, b"G"),
            Some((_, order)) => (order, b"F"),
            None => match orders.get(number) {
                Some(order) => (order, b"D"),
                None => return Ok(None),
            },
        };
        let user = self.user(order.session).ok();
        if group.over_tmp {
            return self.over_tmp(group, number, order, Some(line));
        }
        let contract = &group.contract;
        let user = user.map(|user| &user.contract);
        let bit = request_bit(msg_type);
        let CarriedFields { header, body, .. } = self.state.carried.of(number);
        let mut fields = each_field(header).chain(each_field(body));
        let is_quote = orders.get(number).is_some_and(|it| it.quote().is_some());
        let limit = if is_quote { 2 * QUOTE_MAX } else { SENT_MAX };
        let mut len = 0;
        fields.try_for_each(|field| {
            len += sent_len(contract, &field);
            match len > limit {
                true => Err(field.tag.into()),
                false => check_taken(group, user, bit, field.tag, field.value),
            }
        })?;
        let request = CarryingRequest {
            client: order.session,
            line,
            msg_type,
            side: order.side,
            fields: self.state.carried.of(number),
            by_oms: false,
        };
        if !self.converter.is_between(order.session, line) {
            if number <= self.unchecked {
                self.converter.check(&request)?;
            }
            return Ok(None);
        }
        let converted = self.converter.convert(&request)?;
        let parts = converted.iter().flat_map(|it| [it.header, it.body]);
        let mut fields = parts.flat_map(each_field);
        let mut len = 0;
        fields.try_for_each(|field| {
            len += sent_len(contract, &field);
            match len > limit {
                true => Err(LostField::from(field.tag)),
                false => Ok(()),
            }
        })?;
        Ok(None)
    }

    /// The values over TMP that follow from the fields of an order or a request; `None` when no field gives a value. An
    /// order keeps the values with which it was first sent. Fields that a replace keeps change no value.
    fn over_tmp(
        &self,
        group: &LineGroup,
        number: Number,
        order: &Order,
        line: Option<SessionNo>,
    ) -> Result<Option<RequestMarks>, LostField> {
        let CarriedFields { header, body, kept } = self.state.carried.of(number);
        let mut marks = RequestMarks::default();
        for field in each_field(header).chain(each_field(body)) {
            let filled = group.tmp_fields;
            let filled = filled.fill(&group.contract, field.tag, field.value, &mut marks);
            filled.map_err(|why| LostField::over_tmp(field.tag, why))?;
        }
        let has_values = number == order.number && !order.marks.is_empty();
        if has_values || (marks.is_empty() && kept.is_empty()) {
            return Ok(None);
        }
        let of = |session| self.state.sessions.get(session).map(|it| it.marks);
        let known = order.marks.or(of(order.session).unwrap_or_default());
        let of_line = line.and_then(of).unwrap_or_default();
        // The values are recorded even if the order has the same ones, because another replace may be reported late
        // before this one.
        Ok(Some(marks.or(known).or(of_line)))
    }

    /// Records the values over TMP of a replace, for an order that was sent over TMP and waits to be sent again.
    ///
    /// # Errors
    ///
    /// The field that the line group refuses.
    #[cold]
    pub(crate) fn mark_unsent(
        &mut self,
        at: i64,
        request: Number,
        sink: &mut impl Sink,
    ) -> Result<(), LostField> {
        let found = self.state.orders().request(request);
        let Some((RequestKind::Replace, order)) = found.map(|(it, order)| (it.kind, order)) else {
            return Ok(());
        };
        if order.marks.is_empty() {
            return Ok(());
        }
        let group = self.lines.group_of(&self.state, order);
        let group = group.and_then(|group| self.rules.groups.get(group));
        if let Some(group) = group.filter(|group| group.over_tmp) {
            let marks = self.over_tmp(group, request, order, None)?;
            self.mark(at, request, marks, sink);
        }
        Ok(())
    }

    /// Records the values over TMP that follow from the fields of an order or a request.
    #[inline]
    pub(crate) fn mark(
        &mut self,
        at: i64,
        number: Number,
        marks: Option<RequestMarks>,
        sink: &mut impl Sink,
    ) {
        if let Some(marks) = marks {
            let mut bytes = Vec::new();
            marks.put(&mut bytes);
            let marks = &bytes;
            let event = OrderEvent::Request(RequestEvent::Marked { number, marks });
            self.emit(at, &event, sink);
        }
    }

    /// Sends a replace or cancel on a session, or declines it.
    pub(crate) fn send_request_on(
        &mut self,
        at: i64,
        number: Number,
        line: SessionNo,
        sink: &mut impl Sink,
    ) {
        let marks = match self.carried_by(line, number) {
            Ok(marks) => marks,
            Err(lost) => {
                self.decline_for(at, number, Reason::of_field(lost), b"", sink);
                return;
            }
        };
        if let Err(reason) = self.check_terms_on(number, line) {
            self.decline_for(at, number, reason, b"", sink);
            return;
        }
        self.mark(at, number, marks, sink);
        let event = OrderEvent::Request(RequestEvent::Sent { number, line });
        self.emit(at, &event, sink);
    }

    /// Sends a replace or cancel on the session of its order, or queues it.
    pub(crate) fn send_request(&mut self, at: i64, number: Number, sink: &mut impl Sink) {
        let Some((request, order)) = self.state.orders().request(number) else {
            return;
        };
        let (kind, line) = (request.kind, order.line());
        let is_cancel = kind == RequestKind::Cancel;
        let has_room = |line| match is_cancel {
            true => self.lines.room(at, line, true).is_ok(),
            false => self.lines.turn(at, line).is_ok(),
        };
        if let Some(line) = line
            && self.state.is_ready(line)
            && has_room(line)
        {
            return self.send_request_on(at, number, line, sink);
        }
        let group = line.and_then(|line| self.lines.line(line));
        let group = group.map(|line| line.group);
        let patience = group.and_then(|group| self.lines.groups[group].patience);
        if is_cancel || patience.is_some() {
            self.emit(
                at,
                &OrderEvent::Request(RequestEvent::Queued { number }),
                sink,
            );
            if let Some((request, _)) = self.state.orders().request(number) {
                self.lines.wait_for_line(line, request);
            }
        } else {
            self.decline(at, number, Why::Busy, b"", sink);
        }
    }

    /// The next queued message that can be sent or has timed out; cancels come first. Also returns the session on which
    /// it is sent, or `None` if it timed out.
    #[inline]
    pub(crate) fn next_waiting(&mut self, at: i64) -> Option<(Number, Option<SessionNo>)> {
        if self.lines.waits() {
            self.next_of_queues(at)
        } else {
            None
        }
    }

    #[cold]
    fn next_of_queues(&mut self, at: i64) -> Option<(Number, Option<SessionNo>)> {
        let done = |(number, next)| match next {
            Next::Goes(line) => Some((number, Some(line))),
            Next::Stale => Some((number, None)),
            Next::Waits(_) => None,
        };
        let (state, lines, work) = (&self.state, &mut self.lines, &self.work);
        if let Some(lost) = lines.lost.front() {
            return Some((*lost, None));
        }
        let leaving = |line| work.is_leaving(line);
        let mut requests = (0..lines.sessions.len())
            .filter_map(|place| lines.next_request(state, at, lines.sessions[place]));
        if let Some(found) = requests.find_map(done) {
            return Some(found);
        }
        let mut orders =
            (0..lines.groups.len()).filter_map(|group| lines.next_order(state, at, group, leaving));
        orders.find_map(done)
    }

    /// The time at which the next queued message can be sent or times out.
    #[inline]
    pub(crate) fn due_waiting(&mut self, at: i64) -> Option<i64> {
        if self.lines.waits() {
            self.due_of_queues(at)
        } else {
            None
        }
    }

    #[cold]
    fn due_of_queues(&mut self, at: i64) -> Option<i64> {
        let when = |next| match next {
            Next::Waits(when) => when,
            _ => at,
        };
        let (state, lines, work) = (&self.state, &mut self.lines, &self.work);
        let leaving = |line| work.is_leaving(line);
        let requests = (0..lines.sessions.len())
            .filter_map(|place| lines.next_request(state, at, lines.sessions[place]));
        let requests = requests.map(|(_, next)| when(next)).min();
        let groups = 0..lines.groups.len();
        let orders = groups.filter_map(|group| lines.next_order(state, at, group, leaving));
        let orders = orders.map(|(_, next)| when(next)).min();
        requests
            .into_iter()
            .chain(orders)
            .min()
            .filter(|when| *when < i64::MAX)
    }

    /// Cancels an order without a client message.
    pub(crate) fn cancel_now(&mut self, at: i64, number: Number, sink: &mut impl Sink) {
        let orders = self.state().orders();
        let Some(order) = orders.get(number).filter(|it| it.state.is_open()) else {
            return;
        };
        if order.state == OrderState::Parent {
            if self.state.open_children(number).next().is_none() {
                self.end_parent(at, number, End::Cancelled, b"", sink);
            }
            return;
        }
        if order.state.is_unsent() {
            let event = OrderEvent::Order(LifecycleEvent::Ended {
                order: number,
                how: End::Cancelled,
                request: None,
                at: 0,
                text: b"cancelled before it was sent to the venue",
            });
            self.emit(at, &event, sink);
            return self.forget(at, sink);
        }
        // A queued replace must not be sent before the cancel.
        let unsent = orders.request_of(order);
        let unsent = unsent
            .filter(|it| it.kind == RequestKind::Replace && it.state == OrderState::Queued)
            .map(|request| request.number);
        if let Some(request) = unsent {
            self.decline(at, request, Why::TooLate, b"", sink);
            return self.cancel_now(at, number, sink);
        }
        if !self.state().is_line_ready(order) {
            return;
        }
        // A cancel of the OMS that is in flight is enough. Any other request may never be answered, so the OMS sends a
        // cancel although the request is in flight.
        if let Some(request) = orders.request_of(order) {
            if !self.gives_way(request, order, true) {
                return;
            }
            self.give_way(at, number, sink);
        }
        self.work.lapsed.lost.remove(&number);
        let request = self.state.last + 1;
        let (order, id) = (number, b"");
        self.emit(
            at,
            &OrderEvent::Request(RequestEvent::CancelTaken { request, order, id }),
            sink,
        );
        self.send_request(at, request, sink);
    }

    /// Whether a cancel may be sent while this request is pending. `to_oms` means that the OMS itself cancels the
    /// order, such as for the kill switch; it does not wait for the answer to a client's request. Without `to_oms`, a
    /// client cancels the order.
    pub(crate) fn gives_way(&self, request: &Request, order: &Order, to_oms: bool) -> bool {
        let is_own_cancel = request.kind == RequestKind::Cancel && request.id.bytes().is_empty();
        let may = match request.state {
            OrderState::Unknown | OrderState::Sent if to_oms => !is_own_cancel,
            OrderState::Unknown => true,
            _ => false,
        };
        may && self.state.is_line_ready(order)
    }

    /// Declines the pending request of an order, because another cancel is sent.
    #[cold]
    #[inline]
    pub(crate) fn give_way(&mut self, at: i64, order: Number, sink: &mut impl Sink) {
        let orders = self.state.orders();
        let request = orders.get(order).and_then(|order| orders.request_of(order));
        if let Some(request) = request.map(|request| request.number) {
            let event = OrderEvent::Order(LifecycleEvent::Declined {
                request,
                reason: Reason::of(Why::GaveWay),
                text: b"",
            });
            self.emit(at, &event, sink);
        }
    }

    /// Requests the status of an order from its venue, if the line group passes on status requests of clients. Returns
    /// whether it does.
    pub(crate) fn pass_on_status(&mut self, number: Number) -> bool {
        let Some(order) = self.state.orders().get(number) else {
            return false;
        };
        let is_there = order.state.is_open()
            && !order.state.is_unsent()
            && order.state != OrderState::Parent
            && self.state.is_line_ready(order);
        let group = order.line().and_then(|line| self.group_of(line));
        let passes = is_there && group.is_some_and(|it| it.status == StatusRule::PassOn);
        if passes {
            self.work.ask_once(number);
        }
        passes
    }
}

/// Length of a field as a line with this contract gets it.
fn sent_len(contract: &Contract, field: &CarriedField<'_>) -> usize {
    match contract.of(field.tag).map(|it| it.pass(field.value)) {
        Some(Passage::Value(value)) => field.bytes.len() - field.value.len() + value.len(),
        Some(Passage::Dropped | Passage::Refused) => 0,
        None => field.bytes.len(),
    }
}
