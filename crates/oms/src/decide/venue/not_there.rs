//! Handles a venue's answer that it does not have an order.

use crate::decide::core::{Core, Sink};
use crate::decide::venue::{ReportOutcome, VenueReport};
use crate::state::event::{LifecycleEvent, OrderEvent};
use crate::state::orders::transition::OrderState;
use crate::state::roll::is_unconfirmed;
use crate::values::reason::Why;
use crate::values::value::End;

impl Core {
    /// Handles the venue's answer that it does not have an order.
    ///
    /// An order that the venue never acknowledged is rejected. An order whose trading day is over has expired; over
    /// TMP, so has an order of an earlier day. The state of any other order becomes unknown until the venue reports
    /// more, and an event reports this. The value of such an order stays reserved, and the order can be cancelled.
    pub(crate) fn not_there(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let number = report.id.order;
        let (state, orders) = (self.state(), self.state().orders());
        let Some(order) = orders.get(number) else {
            return ReportOutcome::Known;
        };
        let is_unanswered = matches!(order.state, OrderState::Sent | OrderState::Unknown);
        if is_unanswered && !order.is_acknowledged() {
            self.reject(at, number, Why::Venue, report.text, sink);
            return ReportOutcome::Taken;
        }
        let (is_open, waits) = (order.state.is_open(), order.pended.is_some());
        let is_working = order.state == OrderState::Working;
        let is_of_earlier_day = number <= state.yesterday && !order.outlives(state.day());
        let lost = orders.request_of(order);
        let lost = lost.filter(|it| it.state == OrderState::Unknown);
        let has_expired =
            is_unconfirmed(state, order) || (is_of_earlier_day && self.speaks_tmp(report.line));
        if is_open && !waits && has_expired {
            self.end(at, number, End::Expired, None, report.end_note(), sink);
            return ReportOutcome::Taken;
        }
        let lost = lost.map(|request| request.number);
        if let Some(request) = lost.filter(|_| !waits) {
            self.decline(at, request, Why::NotReceived, report.text, sink);
        }
        if !is_open || waits {
            return ReportOutcome::Known;
        }
        if is_working {
            self.emit(
                at,
                &OrderEvent::Order(LifecycleEvent::NotAtVenue { order: number }),
                sink,
            );
        }
        ReportOutcome::NotAtVenue(number)
    }
}
