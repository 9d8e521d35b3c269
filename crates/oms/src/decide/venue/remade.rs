//! Venues that carry out a replace as Canceled and New, in either order, or confirm it with ExecType(150) = 0.
//!
//! The venue accepts a replace in flight by New, or by OrdStatus(39) = 0 or 1, under the ClOrdID(11) of the replace.
//!
//! A Canceled that arrives while a replace is in flight is held back: the answer to the replace decides whether the
//! order is closed. If the venue does not answer, the OMS requests the status under the ClOrdID of the replace. An
//! order that is closed in the OMS but open at the venue is cancelled at the venue.

use crate::decide::core::{Core, Sink};
use crate::decide::venue::EndNote;
use crate::decide::venue::{ReportKind, ReportOutcome, VenueId, VenueReport};
use crate::state::OmsState;
use crate::state::event::{LifecycleEvent, OrderEvent, RemadeEvent, StrayEvent};
use crate::state::orders::remade::RemadeStep;
use crate::state::orders::transition::{OrderState, Transition};
use crate::state::orders::{Order, Request};
use crate::state::roll::is_unconfirmed;
use crate::values::ids::InstrumentNo;
use crate::values::reason::Why;
use crate::values::value::{End, Number, Quantity, RequestKind};

/// Maximum time between New of the replaced order and Canceled of the former order, in nanoseconds. If Canceled arrives
/// later, the OMS requests the status.
const TOGETHER: i64 = 5_000_000_000;

fn is_in_flight(request: &Request) -> bool {
    matches!(request.state, OrderState::Sent | OrderState::Unknown)
}

/// The pending replace of an order, if the venue has it or may have it.
fn replace_of<'s>(state: &'s OmsState, order: &Order) -> Option<&'s Request> {
    let request = state.orders().request_of(order);
    request.filter(|it| it.kind == RequestKind::Replace && is_in_flight(it))
}

impl OmsState {
    /// The pending replace whose answer decides whether an order is cancelled; `None` when there is no such replace.
    #[cold]
    pub(crate) fn deciding(&self, order: &Order) -> Option<Number> {
        let is_held = self.remade.is_held(order.number);
        let replace = replace_of(self, order).filter(|_| is_held);
        replace.map(|it| it.number)
    }
}

impl Core {
    /// Handles ExecType(150) = 0 for the order itself, or for a replace that the venue carries out or confirms in this
    /// way.
    #[inline(always)]
    pub(crate) fn new_reported(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        instrument: InstrumentNo,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        if report.id.request == report.id.order {
            return self.accepted(at, report, sink);
        }
        match self.confirmed(at, report, instrument, sink) {
            Some(heard) => heard,
            None => self.accepted(at, report, sink),
        }
    }

    /// Handles a report that an order is open, with the id of a request; `None` when the id is that of the order
    /// itself.
    #[cold]
    pub(crate) fn confirmed(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        instrument: InstrumentNo,
        sink: &mut impl Sink,
    ) -> Option<ReportOutcome> {
        let (number, request) = (report.id.order, report.id.request);
        let state = self.state();
        let order = state.orders().get(number)?;
        if request == number || request == order.current {
            return None;
        }
        let pending = state.orders().request(request);
        let pending = pending.filter(|(_, of)| of.number == number);
        let terms = state.late.get(number);
        match pending {
            Some((it, _)) if it.kind == RequestKind::Replace && is_in_flight(it) => {}
            None if self.is_replaced_after_end(report.id) => {
                return Some(self.live_after_end(at, report, sink));
            }
            None if terms.is_some_and(|it| it.known.contains(&request)) => {}
            // The venue's first report of the order has the id of a request.
            _ if order.state.after(Transition::Accept).is_some() => return None,
            // The report gives an earlier state of the order again.
            None if request < order.current => return Some(ReportOutcome::Known),
            _ => return Some(ReportOutcome::Unreadable),
        }
        let (former, was_held) = (order.current, state.remade.is_held(number));
        let heard = self.replaced(at, report, instrument, sink);
        let order = self.state().orders().get(number);
        let is_its = order.is_some_and(|it| it.current == request && it.state.is_open());
        let is_new = report.kind == ReportKind::New;
        if heard == ReportOutcome::Taken
            && is_its
            && is_new
            && !was_held
            && !self.speaks_tmp(report.line)
        {
            let event = OrderEvent::Remade(RemadeEvent::ReplacedAsNew {
                order: number,
                former,
            });
            self.emit(at, &event, sink);
        }
        Some(heard)
    }

    /// Whether a status with the id of a request belongs to a replace: a replace in flight, or a replace of an order
    /// that is closed in the OMS.
    #[cold]
    pub(crate) fn is_open_as_replace(&self, id: VenueId) -> bool {
        let orders = self.state().orders();
        match orders.request(id.request) {
            Some((request, of)) => {
                of.number == id.order
                    && request.kind == RequestKind::Replace
                    && is_in_flight(request)
            }
            None => self.is_replaced_after_end(id),
        }
    }

    /// Whether an order is closed in the OMS, and this id belongs to a later replace of the order that is no longer
    /// pending.
    #[inline(always)]
    pub(crate) fn is_replaced_after_end(&self, id: VenueId) -> bool {
        let order = self.state().orders().get(id.order);
        order.is_some_and(|order| is_closed(order) && id.request > order.current)
            && self.state().orders().request(id.request).is_none()
    }

    /// Handles Canceled for an order that the venue has entered again under the id of a replace.
    #[cold]
    pub(crate) fn former_cancelled(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) -> Option<ReportOutcome> {
        let number = report.id.order;
        let order = self.state().orders().get(number)?;
        let RemadeStep::Former {
            number: former,
            at: since,
        } = self.state().remade.get(number)?
        else {
            return None;
        };
        let is_of_request = self.state().orders().request(report.id.request).is_some();
        let is_its = report.id.request == former
            || report.original.is_some_and(|it| {
                it.order == number && it.request == former && report.id.request == order.current
            });
        if is_of_request || !is_its {
            return None;
        }
        self.emit(
            at,
            &OrderEvent::Remade(RemadeEvent::CancelDropped { order: number }),
            sink,
        );
        if at.saturating_sub(since) > TOGETHER {
            // Canceled may be for the order with the replaced terms, if the venue confirmed the replace with New only.
            self.work.ask_once(number);
        }
        Some(ReportOutcome::Known)
    }

    /// Holds back Canceled while a replace is in flight, because the answer to the replace decides whether the order is
    /// closed. `None` when no replace is in flight.
    #[cold]
    pub(crate) fn hold_cancel(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        filled: Quantity,
        sink: &mut impl Sink,
    ) -> Option<ReportOutcome> {
        let number = report.id.order;
        let state = self.state();
        let order = state.orders().get(number)?;
        if is_unconfirmed(state, order) {
            return None;
        }
        let request = replace_of(state, order)?.number;
        let is_of_replace = report.id.request == request;
        if state.remade.is_held(number) {
            let is_answer = matches!(report.kind, ReportKind::Status(_)) && is_of_replace;
            // Another report that the order is cancelled has no news.
            return (!is_answer).then_some(ReportOutcome::Known);
        }
        // An operator who enters the report has asked the venue already.
        let is_by_hand = report.text_id.is_empty();
        let is_told = matches!(report.kind, ReportKind::End(_)) && !is_by_hand;
        if !is_told || self.speaks_tmp(report.line) {
            return None;
        }
        let event = OrderEvent::Remade(RemadeEvent::CancelHeld {
            order: number,
            of_replace: is_of_replace,
            filled,
            at: report.at,
        });
        self.emit(at, &event, sink);
        Some(ReportOutcome::Taken)
    }

    /// Handles a fill with the ClOrdID(11) of a replace: the venue has accepted the replace, so the order stays open.
    #[cold]
    pub(crate) fn fill_of_replace(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        instrument: InstrumentNo,
        sink: &mut impl Sink,
    ) {
        let order = self.state().orders().get(report.id.order);
        let decides = order.and_then(|order| self.state().deciding(order));
        if decides == Some(report.id.request) {
            self.replaced(at, report, instrument, sink);
        }
    }

    /// Handles a report that shows an order as open, after the venue has reported it as Canceled.
    #[cold]
    pub(crate) fn open_after_cancel(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) {
        let order = report.id.order;
        if self.state().remade.is_held(order) {
            self.emit(
                at,
                &OrderEvent::Remade(RemadeEvent::CancelDropped { order }),
                sink,
            );
        }
    }

    /// Handles the venue's answer that it has no order under the ClOrdID(11) of a replace, for an order that the venue
    /// has cancelled. The venue never received the replace.
    #[cold]
    pub(crate) fn replace_not_there(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) -> Option<ReportOutcome> {
        let order = self.state().orders().get(report.id.order)?;
        let request = self.state().deciding(order)?;
        self.decline(at, request, Why::NotReceived, report.text, sink);
        self.settle_cancel(at, report.id.order, sink);
        Some(ReportOutcome::Taken)
    }

    /// Closes an order that the venue has cancelled, once no request in flight can change that.
    #[inline]
    pub(crate) fn settle_cancel(&mut self, at: i64, number: Number, sink: &mut impl Sink) {
        if self.state().remade.is_empty() {
            return;
        }
        let state = self.state();
        let Some(RemadeStep::Held { filled, at: of, .. }) = state.remade.get(number) else {
            return;
        };
        let order = state.orders().get(number);
        let request = order.and_then(|order| state.orders().request_of(order));
        if !request.is_some_and(is_in_flight) {
            self.cancelled(at, number, (filled, of), sink);
        }
    }

    /// Closes an order because the venue has cancelled it, or holds back this final state until the missing fills
    /// arrive.
    #[cold]
    fn cancelled(
        &mut self,
        at: i64,
        order: Number,
        (filled, venue_at): (Quantity, i64),
        sink: &mut impl Sink,
    ) {
        let known = self.state().orders().get(order);
        let Some(known) = known.filter(|it| it.state.is_open()) else {
            return;
        };
        let how = End::Cancelled;
        if filled > known.filled && known.pended.is_none() {
            let event = OrderEvent::Order(LifecycleEvent::Pended {
                order,
                how,
                request: None,
                filled,
                at: venue_at,
            });
            return self.emit(at, &event, sink);
        }
        self.end(
            at,
            order,
            how,
            None,
            EndNote {
                at: venue_at,
                text: b"",
            },
            sink,
        );
    }

    /// Handles ExecType(150) = 5. If Canceled with the ClOrdID(11) of the replace arrived before, it belongs to the
    /// replaced order, because reports may arrive out of order; the order is then closed.
    #[inline(always)]
    pub(crate) fn replace_reported(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        instrument: InstrumentNo,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        if self.state().remade.is_empty() {
            return self.replaced(at, report, instrument, sink);
        }
        let number = report.id.order;
        let held = self.state().remade.get(number);
        let heard = self.replaced(at, report, instrument, sink);
        if let Some(RemadeStep::Held {
            filled,
            at: venue_at,
            of_replace: true,
        }) = held
            && heard == ReportOutcome::Taken
            && !self.state().remade.is_held(number)
        {
            self.cancelled(at, number, (filled, venue_at), sink);
        }
        heard
    }

    /// Handles an order that is closed in the OMS but open at the venue under the ClOrdID(11) of a replace. Sends a
    /// cancel and raises an event.
    #[cold]
    pub(crate) fn live_after_end(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let (order, former) = (report.id.order, report.id.request);
        let state = self.state();
        if state.remade.get(order) == Some(RemadeStep::Stray(former)) {
            return ReportOutcome::Known;
        }
        let is_sent = former <= state.last && state.is_ready(report.line);
        if !is_sent || self.speaks_tmp(report.line) || !self.is_line(report.line) {
            return ReportOutcome::Unreadable;
        }
        let event = OrderEvent::Stray(StrayEvent::StrayCancelled {
            order,
            former,
            request: state.last + 1,
            line: report.line,
        });
        self.emit(at, &event, sink);
        ReportOutcome::Known
    }

    /// Whether the OMS has sent a cancel for an order that is closed in the OMS and open at the venue.
    pub(crate) fn has_stray_cancel(&self, order: Number) -> bool {
        matches!(self.state().remade.get(order), Some(RemadeStep::Stray(_)))
    }
}

/// Whether an order is closed so that no report can open it again.
pub(crate) fn is_closed(order: &Order) -> bool {
    !matches!(order.state, OrderState::Ended(End::Filled)) && !order.state.is_open()
}
