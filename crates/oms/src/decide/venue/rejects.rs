//! Rejects of a venue: of new orders, which may be sent again, and of requests.

use fixwire_protocol::tag;

use crate::decide::core::{Core, Sink};
use crate::decide::venue::EndNote;
use crate::decide::venue::{ReportOutcome, VenueId, VenueReport};
use crate::state::event::{LifecycleEvent, OrderEvent};
use crate::state::orders::transition::OrderState;
use crate::state::roll::is_unconfirmed;
use crate::values::reason::{Reason, Why};
use crate::values::rules::RejectCode;
use crate::values::show::Sentence;
use crate::values::value::{End, Number};

/// A reject from a venue.
#[derive(Clone, Copy, Debug, Default)]
pub struct VenueReject<'a> {
    /// The reject code, with the kind of message that had it.
    pub code: Option<RejectCode>,
    /// OrdStatus(39); 0 when the reject has none.
    pub status: u8,
    /// Text(58).
    pub text: &'a [u8],
}

impl VenueReject<'_> {
    /// Whether an order may be open at the venue with this ClOrdID(11), in spite of the reject.
    pub(crate) fn may_live(&self) -> bool {
        self.code == Some(RejectCode::DUPLICATE)
    }
}

impl Reason {
    /// The reason for a venue's reject. `value` is the code and `limit` is the tag of the code; both are 0 without a
    /// code.
    fn of_venue(code: Option<RejectCode>) -> Self {
        let (tag, code) = match code {
            Some(RejectCode::Order(code)) => (tag::ORD_REJ_REASON, code),
            Some(RejectCode::Cancel(code)) => (tag::CXL_REJ_REASON, code),
            Some(RejectCode::Business(code)) => (tag::BUSINESS_REJECT_REASON, code),
            Some(RejectCode::Tmp(_)) | None => (0, 0),
        };
        Self {
            value: code.into(),
            limit: tag.into(),
            ..Self::of(Why::Venue)
        }
    }
}

impl Core {
    pub(crate) fn rejected(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let reject = VenueReject {
            code: report.reason.map(RejectCode::Order),
            status: report.status,
            text: report.text,
        };
        if !self.is_sent_as(report.id) {
            // OrdStatus(39) belongs to the request, not to the order.
            let reject = VenueReject {
                status: 0,
                ..reject
            };
            return self.declined(at, report.id, &reject, sink);
        }
        if !self.is_open(report.id.order) {
            return ReportOutcome::Known;
        }
        self.rejected_as(at, report.id.order, &reject, sink);
        ReportOutcome::Taken
    }

    /// Sends a rejected new order again, or closes it.
    fn rejected_as(
        &mut self,
        at: i64,
        order: Number,
        reject: &VenueReject<'_>,
        sink: &mut impl Sink,
    ) {
        if !self.retry(at, order, reject, sink) {
            let mut room = Sentence::new();
            let text = self.said(order, reject, &mut room);
            match self.state_after(order, reject) {
                Some(how) => self.end_rejected(at, order, how, text, sink),
                None => {
                    let reason = Reason::of_venue(reject.code);
                    self.reject_for(at, order, reason, text, sink);
                }
            }
        }
    }

    /// Closes a rejected order, in the final state that the settings give.
    fn end_rejected(
        &mut self,
        at: i64,
        order: Number,
        how: End,
        text: &[u8],
        sink: &mut impl Sink,
    ) {
        self.decline_of(at, order, sink);
        let event = OrderEvent::Order(LifecycleEvent::Ended {
            order,
            how,
            request: None,
            at: 0,
            text,
        });
        self.emit(at, &event, sink);
    }

    /// Whether the OMS sent a status request with this id, which is also the present id of the order.
    pub(crate) fn was_asked(&self, id: VenueId) -> bool {
        let order = self.state().orders().get(id.order);
        order.is_some_and(|order| order.asked > 0 && order.current == id.request)
    }

    pub(crate) fn reject(
        &mut self,
        at: i64,
        order: Number,
        why: Why,
        text: &[u8],
        sink: &mut impl Sink,
    ) {
        self.reject_for(at, order, Reason::of(why), text, sink);
    }

    fn reject_for(
        &mut self,
        at: i64,
        order: Number,
        reason: Reason,
        text: &[u8],
        sink: &mut impl Sink,
    ) {
        self.decline_of(at, order, sink);
        if self.has_lapsed(order) {
            return self.end(
                at,
                order,
                End::Rejected,
                None,
                EndNote { at: 0, text },
                sink,
            );
        }
        let event = OrderEvent::Order(LifecycleEvent::Rejected {
            order,
            reason,
            text,
        });
        self.emit(at, &event, sink);
    }

    /// Rejects an order or request that its line could not send.
    pub(crate) fn not_sendable(&mut self, at: i64, number: Number, sink: &mut impl Sink) {
        let state = self.state().orders().get(number).map(|order| order.state);
        match state {
            None => {
                self.decline(at, number, Why::TmpValues, b"", sink);
            }
            Some(OrderState::Sent | OrderState::Unknown) => {
                self.reject(at, number, Why::TmpValues, b"", sink);
            }
            Some(_) => {}
        }
        self.forget(at, sink);
    }

    fn is_open(&self, order: Number) -> bool {
        let order = self.state().orders().get(order);
        order.is_some_and(|order| order.state.is_open())
    }

    /// Handles a venue's reject of a request, by OrderCancelReject(9) or another message.
    pub fn declined(
        &mut self,
        at: i64,
        id: VenueId,
        reject: &VenueReject<'_>,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let known = self.state().orders().request(id.request);
        if known.is_some_and(|(_, order)| order.number != id.order) {
            return ReportOutcome::Unreadable;
        }
        let mut room = Sentence::new();
        let text = self.said(id.order, reject, &mut room);
        let reason = Reason::of_venue(reject.code);
        let heard = self.decline_for(at, id.request, reason, text, sink);
        if heard == ReportOutcome::Taken {
            self.settle_cancel(at, id.order, sink);
            self.rejected_at_end(at, id.order, reject, sink);
            self.ask_if_gone(id.order, reject);
        }
        self.reject_agrees(at, id, reject, heard, sink);
        heard
    }

    /// Requests the status of an order that is open in the OMS, if the status in a TMP reject may mean that the
    /// exchange no longer has the order.
    fn ask_if_gone(&mut self, number: Number, reject: &VenueReject<'_>) {
        let is_gone = matches!(reject.code, Some(RejectCode::Tmp(40_005..=40_007 | 40_010)));
        let order = self.state().orders().get(number).filter(|_| is_gone);
        if order.is_some_and(|it| it.state.is_open() && !it.state.is_unsent()) {
            self.work.ask_once(number);
        }
    }

    /// Handles a reject of a new order or a request at session level or business level.
    pub fn refused(
        &mut self,
        at: i64,
        id: VenueId,
        reject: &VenueReject<'_>,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        if !self.is_sent_as(id) {
            return self.declined(at, id, reject, sink);
        }
        let order = self.state().orders().get(id.order);
        let is_unanswered = order.is_some_and(|order| {
            let is_sent = matches!(
                order.state,
                OrderState::Sent | OrderState::Unknown | OrderState::Lapsed
            );
            is_sent && !order.is_acknowledged()
        });
        if !is_unanswered {
            self.refused_late(at, id, sink);
            return ReportOutcome::Known;
        }
        self.rejected_as(at, id.order, reject, sink);
        self.forget(at, sink);
        ReportOutcome::Taken
    }

    /// Closes an order whose trading day is over, when a reject of the venue says that the venue no longer has it.
    pub(crate) fn rejected_at_end(
        &mut self,
        at: i64,
        number: Number,
        reject: &VenueReject<'_>,
        sink: &mut impl Sink,
    ) {
        // Too late, or unknown order; over TMP: no such order, already cancelled, or not in the book.
        let is_gone = matches!(
            reject.code,
            Some(RejectCode::Cancel(0 | 1) | RejectCode::Tmp(40_005 | 40_007 | 40_010))
        );
        let is_closed = matches!(reject.status, b'C' | b'4' | b'8');
        if (is_gone || is_closed) && self.is_unconfirmed(number) {
            self.end(
                at,
                number,
                End::Expired,
                None,
                EndNote {
                    at: 0,
                    text: reject.text,
                },
                sink,
            );
        }
    }

    fn is_unconfirmed(&self, number: Number) -> bool {
        let order = self.state.orders().get(number);
        order.is_some_and(|order| is_unconfirmed(&self.state, order))
    }
}
