//! Sends orders and requests, queues them, or rejects them.

use crate::decide::core::{Core, Sink};
use crate::decide::queue::Next;
use crate::decide::risk;
use crate::state::event::{LifecycleEvent, LineEvent, OrderEvent, RequestEvent};
use crate::state::orders::transition::OrderState;
use crate::state::quotes::QuoteSide;
use crate::values::ids::{InstrumentNo, SessionNo};
use crate::values::reason::{Reason, Why};
use crate::values::value::{Number, RequestKind};

impl Core {
    /// Whether a session leads to a venue.
    #[must_use]
    pub fn is_line(&self, session: SessionNo) -> bool {
        self.lines.has(session)
    }

    /// Whether the venue of an instrument does not support replace.
    pub(crate) fn cannot_replace(&self, instrument: InstrumentNo) -> bool {
        let group = self.lines.group(instrument);
        group.is_some_and(|group| self.lines.groups[group].cannot_replace)
    }

    /// Whether the venue of an instrument does not support stop orders: the OMS holds them.
    pub(crate) fn cannot_stop(&self, instrument: InstrumentNo) -> bool {
        let group = self.lines.group(instrument);
        group.is_some_and(|group| self.lines.groups[group].cannot_stop)
    }

    /// Keeps the sequence numbers of a line that speaks TMP.
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
        let (party, instrument) = (order.party(), order.instrument);
        let Some(group) = self.lines.group(instrument) else {
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

    /// Sends an order on a session, with a pool number if it has a pool.
    pub(crate) fn send_on(
        &mut self,
        at: i64,
        number: Number,
        line: SessionNo,
        sink: &mut impl Sink,
    ) {
        if self.pools.is_empty() || self.give_number(at, number, sink) {
            self.emit(
                at,
                &OrderEvent::Request(RequestEvent::Sent { number, line }),
                sink,
            );
        }
    }

    pub(crate) fn reject_unsent(&mut self, at: i64, order: Number, why: Why, sink: &mut impl Sink) {
        self.reject_unsent_for(at, order, Reason::of(why), sink);
    }

    pub(crate) fn reject_unsent_for(
        &mut self,
        at: i64,
        order: Number,
        reason: Reason,
        sink: &mut impl Sink,
    ) {
        let event = OrderEvent::Order(LifecycleEvent::Rejected {
            order,
            reason,
            text: b"",
        });
        self.emit(at, &event, sink);
        self.forget(at, sink);
    }

    /// Sends a request on the session of its order, or queues it.
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
            return self.emit(
                at,
                &OrderEvent::Request(RequestEvent::Sent { number, line }),
                sink,
            );
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

    /// Sends queued messages that can go now and rejects those that timed out; cancels first.
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

    /// When the next queued message can be sent or times out.
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

    /// Sends a queued message, or rejects it when it timed out.
    pub(crate) fn send_waiting(
        &mut self,
        at: i64,
        (number, line): (Number, Option<SessionNo>),
        sink: &mut impl Sink,
    ) {
        if self.lines.lost.front() == Some(&number) {
            self.lines.lost.pop_front();
        }
        let orders = self.state.orders();
        let known = orders.get(number);
        if known.is_some_and(|order| order.quote_side != QuoteSide::None) {
            return self.send_waiting_side(at, number, line, sink);
        }
        let is_order = known.is_some();
        let order = match orders.request(number) {
            Some((request, order)) if request.kind == RequestKind::Replace => Some(order),
            Some(_) => None,
            None => orders.get(number),
        };
        if let Some(why) = order.and_then(|order| risk::stops(&self.state, order)) {
            // Since it was taken.
            if is_order {
                self.reject_unsent(at, number, why, sink);
            } else {
                self.decline(at, number, why, b"", sink);
            }
            return;
        }
        match line {
            Some(line) if is_order => self.send_on(at, number, line, sink),
            Some(line) => self.emit(
                at,
                &OrderEvent::Request(RequestEvent::Sent { number, line }),
                sink,
            ),
            None if is_order => self.reject_unsent(at, number, Why::Stale, sink),
            None => {
                self.decline(at, number, Why::Stale, b"", sink);
            }
        }
    }

    /// Executes a request for an order that was never sent.
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
}
