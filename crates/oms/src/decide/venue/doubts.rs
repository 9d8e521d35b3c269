//! Reports of a venue that change nothing in the OMS, but may differ from the order: reports without news, reports that
//! contradict themselves, and rejects of requests that the venue has already carried out. Each difference is a break.

use alloc::string::ToString;

use crate::decide::core::{Core, Sink};
use crate::decide::venue::agree::{Found, is_open_status};
use crate::decide::venue::rejects::VenueReject;
use crate::decide::venue::{ReportKind, ReportOutcome, VenueId, VenueReport};
use crate::state::orders::Order;
use crate::state::orders::transition::OrderState;
use crate::values::ids::SessionNo;
use crate::values::rules::RejectCode;
use crate::values::value::{BreakKind, End, Number};

impl VenueReport<'_> {
    /// Whether ExecType(150) and OrdStatus(39) contradict each other: one says that the order has ended, the other that
    /// the order is open or new. An OrdStatus of a pending request contradicts no ExecType, because it has precedence
    /// over the final states.
    #[inline]
    pub(crate) fn contradicts_itself(&self) -> bool {
        match self.kind {
            ReportKind::New => matches!(self.status, b'4' | b'8' | b'C'),
            ReportKind::End(_) | ReportKind::Rejected => {
                is_open_status(self.status)
                    && !matches!(self.status, b'6' | b'E')
                    && self.leaves.is_none_or(|it| it.mantissa != 0)
            }
            ReportKind::Fill
            | ReportKind::Replaced
            | ReportKind::Renewed
            | ReportKind::Bust
            | ReportKind::Correct
            | ReportKind::Restated
            | ReportKind::Status(_)
            | ReportKind::Other => false,
        }
    }

    /// A report that has only the OrdStatus(39) of a reject.
    fn of_reject(line: SessionNo, id: VenueId, status: u8) -> Self {
        Self {
            status,
            ..Self::of(line, id, ReportKind::Other)
        }
    }
}

impl Core {
    /// Handles a report that contradicts itself. Nothing is applied, and the OMS requests the status from the venue. In
    /// a report about a request, OrdStatus(39) is the status of the order.
    #[cold]
    pub(crate) fn contradicted(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) -> Option<ReportOutcome> {
        let number = report.id.order;
        let is_of_request = report.kind == ReportKind::Rejected && !self.is_sent_as(report.id);
        let order = self.state().orders().get(number)?;
        if is_of_request || order.is_external() {
            return None;
        }
        let cum = self.cum_qty(report);
        let left = order.quantity.saturating_sub(cum.unwrap_or(order.filled));
        let leaves = self.state().units(order.instrument, report.leaves);
        let leaves = leaves.unwrap_or(left);
        let total = cum.unwrap_or(order.filled).saturating_add(leaves);
        let what = match report.kind {
            ReportKind::New => "New",
            ReportKind::Rejected => "Rejected",
            _ => "an end",
        };
        let text = alloc::format!(
            "{} with {what}{}",
            char::from(report.status),
            self.cum_text(order.instrument, cum)
        );
        let found = Found {
            total: if is_open_status(report.status) {
                total
            } else {
                0
            },
            ..Found::of(BreakKind::Status, self.status_text(number), text)
        };
        self.raise(at, report, found, sink);
        Some(ReportOutcome::Broken)
    }

    fn status_text(&self, number: Number) -> alloc::string::String {
        let orders = self.state().orders();
        let status = orders.get(number).map(|order| orders.status(order));
        status.map_or_else(Default::default, |it| char::from(it).to_string())
    }

    /// Whether a report with this request id is compared with the order. The order must be at a venue that speaks FIX,
    /// and the venue must not be carrying out a replace as Canceled and New.
    fn is_compared(&self, order: &Order, line: Option<SessionNo>, request: Number) -> bool {
        !order.is_external()
            && !order.state.is_unsent()
            && !order.is_past(request)
            && !line.is_some_and(|line| self.speaks_tmp(line))
            && self.state().remade.get(order.number).is_none()
    }

    /// Compares a report that changed nothing with its order. Every report is compared by CumQty(14), and by its terms
    /// if it has terms.
    pub(crate) fn agree_beside(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        heard: ReportOutcome,
        sink: &mut impl Sink,
    ) {
        let (number, request) = (report.id.order, report.id.request);
        let orders = self.state().orders();
        let order = orders.get(number);
        let Some(order) = order.filter(|it| self.is_compared(it, Some(report.line), request))
        else {
            return;
        };
        let closes = matches!(report.kind, ReportKind::End(_) | ReportKind::Rejected);
        let is_live_again = !closes && self.is_replaced_after_end(report.id);
        if matches!(heard, ReportOutcome::Broken | ReportOutcome::Unknown) || is_live_again {
            return;
        }
        let in_flight = orders.request_of(order).map(|it| it.number);
        let is_its = request == order.current || in_flight == Some(request);
        let is_later = request > order.current;
        let (filled, waits) = (order.filled, order.pended.is_some());
        let instrument = order.instrument;
        let closes = match report.kind {
            ReportKind::End(_) => is_its || !order.state.is_open(),
            ReportKind::Rejected => self.is_sent_as(report.id),
            _ => false,
        };
        let cum = self.cum_qty(report).filter(|_| !waits);
        if let Some(cum) = cum {
            let ours = alloc::format!("CumQty {}", self.state().shown(instrument, filled));
            let venue = alloc::format!("CumQty {}", self.state().shown(instrument, cum));
            if cum > self.venue_filled(number) {
                let found = Found {
                    total: cum,
                    ..Found::of(BreakKind::FillsMissing, ours, venue)
                };
                self.raise(at, report, found, sink);
            } else if cum < filled && closes {
                let found = Found {
                    opposite: filled - cum,
                    ..Found::of(BreakKind::FillsSurplus, ours, venue)
                };
                self.raise(at, report, found, sink);
            }
        }
        let has_terms = match report.kind {
            ReportKind::New | ReportKind::Other | ReportKind::Renewed => is_its,
            // The replace of this report no longer waits for an answer.
            ReportKind::Replaced => is_its || (heard == ReportOutcome::Unreadable && is_later),
            _ => false,
        };
        if has_terms && !waits {
            self.agree_on_terms(at, report, sink);
        }
    }

    /// Compares OrdStatus(39) of a reject with the order. Also finds rejects of requests that the venue has already
    /// carried out.
    pub(crate) fn reject_agrees(
        &mut self,
        at: i64,
        id: VenueId,
        reject: &VenueReject<'_>,
        heard: ReportOutcome,
        sink: &mut impl Sink,
    ) {
        let orders = self.state().orders();
        let Some(order) = orders.get(id.order) else {
            return;
        };
        let line = order.line();
        let is_compared = self.is_compared(order, line, id.request)
            && order.pended.is_none()
            && order.state != OrderState::Lapsed;
        if !is_compared {
            return;
        }
        let is_gone = matches!(
            reject.code,
            Some(RejectCode::Cancel(1) | RejectCode::Business(1))
        );
        let is_open = order.state.is_open();
        let is_done = match order.state {
            OrderState::Ended(End::Cancelled) => id.request > order.current,
            _ => id.request == order.current && id.request != id.order,
        };
        let is_wrong = match reject.status {
            0 => heard == ReportOutcome::Known && is_done,
            b'0' => !is_open || order.filled > 0,
            b'1' => !is_open || order.filled == 0,
            b'2' => order.filled < order.quantity,
            b'3' => is_open && order.state != OrderState::DoneForDay,
            b'4' | b'C' => is_open || order.state == OrderState::Ended(End::Filled),
            b'8' => is_open,
            b'6' | b'E' => !is_open || orders.request_of(order).is_none(),
            status => is_open_status(status) && !is_open,
        };
        if !(is_wrong || is_gone && is_open) {
            return;
        }
        let status = match reject.status {
            0 if is_gone => b'8',
            status => status,
        };
        let text = match (is_gone, status) {
            (true, _) => "it does not have the order".to_string(),
            (false, 0) => "it rejects what it has done".to_string(),
            (false, status) => alloc::format!("{} in a reject", char::from(status)),
        };
        let may_trade = !is_open && !matches!(status, b'2' | b'3' | b'4' | b'8' | b'C');
        let found = Found {
            total: if may_trade { order.quantity } else { 0 },
            ..Found::of(BreakKind::Status, self.status_text(id.order), text)
        };
        let report = VenueReport::of_reject(line.unwrap_or(order.session), id, status);
        self.raise_on(at, line, &report, found, sink);
    }

    /// Handles a Reject(3) or BusinessMessageReject(j) for an order that the venue has already acknowledged.
    #[cold]
    pub(crate) fn refused_late(&mut self, at: i64, id: VenueId, sink: &mut impl Sink) {
        let Some(order) = self.state().orders().get(id.order) else {
            return;
        };
        let is_live = order.state.is_open() || order.state == OrderState::Ended(End::Filled);
        let line = order.line();
        if !is_live || !self.is_compared(order, line, id.request) {
            return;
        }
        let report = VenueReport::of_reject(line.unwrap_or(order.session), id, b'8');
        let text = "it rejects the order".to_string();
        let found = Found::of(BreakKind::Status, self.status_text(id.order), text);
        self.raise_on(at, line, &report, found, sink);
    }
}
