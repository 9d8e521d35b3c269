//! Requests that a venue does not answer although the line is connected. The OMS requests the status of the order, and
//! if that is not answered, raises an event.
//!
//! ```text
//!   sent ------ 5 s ----> unknown; status of the order asked ------ 5 s ----> event NoAnswer
//!   line up again, unknown, asked ---------------------------------- 5 s ----> event NoAnswer
//! ```
//!
//! With `status_request = "no"` the OMS raises the event at once.
//!
//! The answer to the status request settles the request: the venue has carried the request out, has it pending, or did
//! not receive it. While the state of a request is unknown, the client may send a cancel. The OMS may cancel the order
//! during any request of a client, as the kill switch must.

use alloc::collections::VecDeque;

use fixwire_protocol::Nanos;

use crate::decide::core::{Core, Sink};
use crate::state::OmsState;
use crate::state::event::{LifecycleEvent, OrderEvent};
use crate::state::orders::transition::OrderState;
use crate::state::orders::{Order, Request};
use crate::values::ids::SessionNo;
use crate::values::reason::Why;
use crate::values::value::{End, Number};

/// How long a venue may take to answer a request, in nanoseconds.
const PATIENCE: i64 = 5_000_000_000;

/// Time that the OMS waits for New of a replace after Canceled, before it requests the status, in nanoseconds.
const TOGETHER: i64 = 2_000_000_000;

/// Time that the venue has to answer the status request after Canceled, in nanoseconds.
const DECISION: i64 = 3_000_000_000;

/// The next step for a request without an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Step {
    /// The OMS requests the status of the order.
    Ask,
    /// An event reports that the venue does not answer.
    Tell,
}

/// Requests that wait for an answer on lines that are up; derived from the state of the OMS.
#[derive(Debug, Default)]
pub(crate) struct Unanswered {
    /// Each request with its next step and the time of that step, sorted by time.
    pub(crate) waiting: VecDeque<(i64, Number, Step)>,
}

impl Unanswered {
    /// Registers a request that was sent.
    pub(crate) fn sent(&mut self, at: i64, request: Number) {
        let due = at.saturating_add(PATIENCE);
        self.waiting.push_back((due, request, Step::Ask));
    }

    /// Registers the requests of these orders, when their line is connected again and the OMS requests the status of
    /// the orders.
    pub(crate) fn line_up(&mut self, state: &OmsState, asked: &[Number]) {
        let orders = asked.iter().filter_map(|order| state.orders().get(*order));
        let requests = orders.filter_map(|order| state.orders().request_of(order));
        for request in requests.filter(|it| it.state == OrderState::Unknown) {
            self.asked(state.time(), request.number);
        }
    }

    /// Registers a request whose status the OMS has requested from the venue.
    fn asked(&mut self, at: i64, request: Number) {
        let due = at.saturating_add(PATIENCE);
        self.waiting.push_back((due, request, Step::Tell));
    }

    /// Registers a replace that was in flight when the venue cancelled its order. The OMS will soon request the status
    /// of the replace.
    #[cold]
    pub(crate) fn decides(&mut self, at: i64, request: Number) {
        self.is_pending(request);
        self.wait(at, TOGETHER, (request, Step::Ask));
    }

    /// Inserts a step that may be due earlier than steps that are already registered.
    #[cold]
    fn wait(&mut self, at: i64, time: i64, (request, step): (Number, Step)) {
        let due = at.saturating_add(time);
        let place = self.waiting.partition_point(|waits| waits.0 <= due);
        self.waiting.insert(place, (due, request, step));
    }

    /// Removes a request that the venue reports as pending. The venue will answer it later.
    pub(crate) fn is_pending(&mut self, request: Number) {
        self.waiting.retain(|(_, waits, _)| *waits != request);
    }
}

/// The closed orders of a line that have a request whose state is unknown.
pub(crate) fn lost_of_closed(state: &OmsState, line: SessionNo) -> impl Iterator<Item = Number> {
    let orders = state.orders().iter();
    let closed = orders.filter(move |order| order.line() == Some(line) && !order.state.is_open());
    let lost = closed.filter(|order| {
        let request = state.orders().request_of(order);
        request.is_some_and(|it| it.state == OrderState::Unknown)
    });
    lost.map(|order| order.number)
}

/// A request that waits for its answer on a connected line, with its order; `None` if the request does not wait.
fn waits(state: &OmsState, number: Number) -> Option<(&Request, &Order)> {
    let (request, order) = state.orders().request(number)?;
    let is_sent = matches!(request.state, OrderState::Sent | OrderState::Unknown);
    // The venue has reported the end of the order, which waits for missing fills and then settles the request.
    let is_over = order
        .pended
        .as_ref()
        .is_some_and(|pended| pended.how != End::DoneForDay || pended.request == Some(number));
    (is_sent && !is_over && state.is_line_ready(order)).then_some((request, order))
}

impl Core {
    /// Requests the status of orders whose requests were not answered in time, and raises events for requests that stay
    /// unanswered; returns the time until the next step is due.
    pub(crate) fn due_unanswered(&mut self, at: i64, sink: &mut impl Sink) -> Option<Nanos> {
        let left = self.next_unanswered()?.saturating_sub(at);
        if left > 0 {
            return Some(Nanos(left.unsigned_abs()));
        }
        let (_, number, step) = self.work.unanswered.waiting.pop_front()?;
        self.is_unanswered(at, number, step, sink);
        // The next task is to send a status request or a cancel.
        Some(Nanos(0))
    }

    /// The time of the next step for a request without an answer. Removes requests that no longer wait.
    #[inline]
    pub(crate) fn next_unanswered(&mut self) -> Option<i64> {
        while let Some((due, number, _)) = self.work.unanswered.waiting.front().copied() {
            if waits(&self.state, number).is_some() {
                return Some(due);
            }
            self.work.unanswered.waiting.pop_front();
        }
        None
    }

    #[cold]
    fn is_unanswered(&mut self, at: i64, number: Number, step: Step, sink: &mut impl Sink) {
        let Some((request, order)) = self.state.orders().request(number) else {
            return;
        };
        let (order, line) = (order.number, order.line());
        let (request, is_sent) = (number, request.state == OrderState::Sent);
        match step {
            Step::Ask => {
                if is_sent {
                    self.emit(
                        at,
                        &OrderEvent::Order(LifecycleEvent::Unanswered { request }),
                        sink,
                    );
                }
                let is_held = self.state.remade.is_held(order);
                let answers = line.is_none_or(|line| self.answers_status(line));
                if !is_held && !answers {
                    return self.no_answer(at, order, request, sink);
                }
                self.work.ask_about(order);
                match is_held {
                    true => self
                        .work
                        .unanswered
                        .wait(at, DECISION, (number, Step::Tell)),
                    false => self.work.unanswered.asked(at, number),
                }
            }
            Step::Tell => self.no_answer(at, order, request, sink),
        }
    }

    /// Handles a request if the venue answers neither the request nor the status request, or if the OMS may not request
    /// the status.
    fn no_answer(&mut self, at: i64, order: Number, request: Number, sink: &mut impl Sink) {
        self.emit(
            at,
            &OrderEvent::Order(LifecycleEvent::NoAnswer { request }),
            sink,
        );
        let known = self.state.orders().request(request);
        let is_ours = known.is_some_and(|(request, _)| request.id.bytes().is_empty());
        let is_open = self.state.is_open(order) && !self.state.remade.is_held(order);
        if is_ours || !is_open || self.is_lost_for_good(order) {
            // The OMS sends its own cancel again. No request can change a closed order, and the client knows a lapsed
            // order as closed.
            self.decline(at, request, Why::NotReceived, b"", sink);
            self.settle_cancel(at, order, sink);
            self.cancel_again(at, order, sink);
        }
    }
}
