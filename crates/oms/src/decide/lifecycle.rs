//! Steps in the life of an order that several features use: accepted, rejected, request declined, done for the day,
//! ended.

use crate::decide::core::{Core, Sink};
use crate::decide::venue::{EndNote, ReportOutcome, VenueReport, short};
use crate::decide::work::must_go;
use crate::state::event::{LifecycleEvent, OrderEvent};
use crate::state::orders::transition::{OrderState, Transition};
use crate::values::reason::{Reason, Why};
use crate::values::value::{End, Number, RequestKind};

impl Core {
    /// Records that the venue accepted an order, if it was not accepted before.
    #[inline]
    pub(crate) fn accepted(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let order = report.id.order;
        let state = self.state().orders().get(order).map(|order| order.state);
        if state
            .and_then(|state| state.after(Transition::Accept))
            .is_none()
        {
            return ReportOutcome::Known;
        }
        let event = OrderEvent::Order(LifecycleEvent::Accepted {
            order,
            venue_id: short(report.venue_id),
            at: report.at,
        });
        self.emit(at, &event, sink);
        ReportOutcome::Taken
    }

    /// Rejects an order that was not sent.
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

    /// Declines a replace or cancel, because the venue refused it or because it is no longer possible.
    pub fn decline(
        &mut self,
        at: i64,
        request: Number,
        why: Why,
        text: &[u8],
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        self.decline_for(at, request, Reason::of(why), text, sink)
    }

    pub(crate) fn decline_for(
        &mut self,
        at: i64,
        request: Number,
        reason: Reason,
        text: &[u8],
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let found = self.state().orders().request(request);
        let found = found.map(|(request, order)| (order.number, request.id.bytes().is_empty()));
        let Some((number, is_ours)) = found else {
            return ReportOutcome::Known;
        };
        if reason.why != Why::NotReceived || !self.state.is_open(number) {
            // The venue has answered, or there is nothing left to cancel.
            self.work.lapsed.lost.remove(&number);
        }
        let event = OrderEvent::Order(LifecycleEvent::Declined {
            request,
            reason,
            text,
        });
        self.emit(at, &event, sink);
        if is_ours {
            // The OMS waits, because the venue would reject a cancel that is sent at once again.
            self.work.look_later(at, number);
        } else {
            self.work.look_again(&self.state, number);
        }
        ReportOutcome::Taken
    }

    /// Declines the pending request of an order that was closed for another reason.
    pub(crate) fn decline_of(&mut self, at: i64, order: Number, sink: &mut impl Sink) {
        let orders = self.state().orders();
        let request = orders.get(order).and_then(|order| orders.request_of(order));
        if let Some(request) = request.map(|request| request.number) {
            self.decline(at, request, Why::TooLate, b"", sink);
        }
    }

    /// Declines the pending request of a filled order, if the request was not sent or the venue will not answer it.
    pub(crate) fn decline_filled(
        &mut self,
        at: i64,
        order: Number,
        answered: Option<Number>,
        sink: &mut impl Sink,
    ) {
        let orders = self.state().orders();
        let known = orders.get(order).filter(|order| !order.state.is_open());
        let request = known.and_then(|order| orders.request_of(order));
        let request = request.filter(|request| {
            request.state == OrderState::Queued || answered == Some(request.number)
        });
        if let Some(request) = request.map(|request| request.number) {
            self.decline(at, request, Why::TooLate, b"", sink);
        }
    }

    /// Closes an order for any reason other than a fill.
    pub(crate) fn end(
        &mut self,
        at: i64,
        order: Number,
        how: End,
        request: Option<Number>,
        note: EndNote<'_>,
        sink: &mut impl Sink,
    ) {
        if self.rests(order, how) {
            return self.rest(at, order, note, sink);
        }
        if request.is_none() {
            self.decline_of(at, order, sink);
        }
        // The client of a lapsed order already has an ExecutionReport(8) with ExecType(150) = C (Expired). The client
        // gets no second report, only the answer to a request of its own.
        let asked = request.and_then(|it| self.state().orders().request(it));
        let is_asked = asked.is_some_and(|(request, _)| !request.id.bytes().is_empty());
        let event = if !is_asked && self.has_lapsed(order) {
            OrderEvent::Order(LifecycleEvent::LapseConfirmed {
                order,
                how,
                request,
                at: note.at,
                text: note.text,
            })
        } else {
            OrderEvent::Order(LifecycleEvent::Ended {
                order,
                how,
                request,
                at: note.at,
                text: note.text,
            })
        };
        self.emit(at, &event, sink);
    }

    /// Whether the order has lapsed: the client got Expired, but the venue has not confirmed the end of the order.
    pub(crate) fn has_lapsed(&self, number: Number) -> bool {
        let order = self.state.orders().get(number);
        order.is_some_and(|order| order.state == OrderState::Lapsed)
    }

    /// Applies a final state that was held back, once the missing fills have arrived. A request for a filled order is
    /// declined as too late only when the venue says so.
    #[inline]
    pub(crate) fn settle(&mut self, at: i64, number: Number, sink: &mut impl Sink) {
        let Some(order) = self.state().orders().get(number) else {
            return;
        };
        let Some(pended) = &order.pended else {
            return;
        };
        if order.filled < pended.filled || !order.state.is_open() {
            return;
        }
        // The venue may have answered the request in the meantime.
        let request = pended.request;
        let request = request.filter(|it| self.state().orders().request(*it).is_some());
        let how = pended.how;
        let note = EndNote {
            at: pended.at,
            text: b"",
        };
        self.end(at, number, how, request, note, sink);
    }

    /// Whether an order in this final state works again on the next trading day.
    pub(crate) fn rests(&self, order: Number, how: End) -> bool {
        let order = self.state().orders().get(order);
        let next = self.state().day() + 1;
        how == End::DoneForDay && order.is_some_and(|order| order.outlives(next))
    }

    /// Records that an order is done for the day at the venue. The venue still answers requests for the order.
    pub(crate) fn rest(&mut self, at: i64, order: Number, note: EndNote<'_>, sink: &mut impl Sink) {
        let event = OrderEvent::Order(LifecycleEvent::DoneForDay {
            order,
            at: note.at,
            text: note.text,
        });
        self.emit(at, &event, sink);
    }

    /// Closes a parent order. This carries out a pending cancel of the client.
    pub(crate) fn end_parent(
        &mut self,
        at: i64,
        order: Number,
        how: End,
        text: &[u8],
        sink: &mut impl Sink,
    ) {
        let orders = self.state.orders();
        let request = orders.get(order).and_then(|it| orders.request_of(it));
        let request = request.filter(|it| it.kind == RequestKind::Cancel);
        let event = OrderEvent::Order(LifecycleEvent::Ended {
            order,
            how,
            request: request.map(|request| request.number),
            at: 0,
            text,
        });
        self.emit(at, &event, sink);
        self.forget(at, sink);
    }

    /// Closes a parent order that has no open child and must not continue.
    pub(crate) fn settle_parent(&mut self, at: i64, number: Number, sink: &mut impl Sink) {
        let orders = self.state.orders();
        let parent = orders.get(number);
        let Some(parent) = parent.filter(|it| it.state == OrderState::Parent) else {
            return;
        };
        if self.state.open_children(number).next().is_some() {
            return;
        }
        let is_over = match self.work.day_after() {
            Some(day) => !parent.outlives(day),
            None => number <= self.state.yesterday && !parent.outlives(self.state.day()),
        };
        if orders.request_of(parent).is_some() || must_go(&self.state, parent) {
            self.end_parent(at, number, End::Cancelled, b"", sink);
        } else if is_over {
            self.end_parent(at, number, End::Expired, b"end of the trading day", sink);
        }
    }
}
