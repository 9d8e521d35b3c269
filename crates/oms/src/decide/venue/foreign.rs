//! Reports of a line about an order that is at another venue. Nothing of such a report is applied; an event reports it.

use core::fmt::Write as _;

use crate::decide::core::{Core, Sink};
use crate::decide::venue::{ReportKind, ReportOutcome, VenueReport};
use crate::state::event::{LifecycleEvent, OrderEvent};
use crate::state::orders::Order;
use crate::values::ids::SessionNo;
use crate::values::show::Sentence;
use crate::values::value::Number;

impl Core {
    /// Whether a session may report on an order. The session must be the order's line, a line of the same group, or a
    /// line of a helper group.
    #[inline]
    pub(crate) fn may_report(&self, session: SessionNo, order: &Order) -> bool {
        order.line() == Some(session) || self.lines.reaches(&self.state, session, order)
    }

    /// Whether a line may reject this order; also true if the order is not in memory.
    pub(crate) fn may_reject(&self, session: SessionNo, order: Number) -> bool {
        let order = self.state().orders().get(order);
        order.is_none_or(|order| self.may_report(session, order))
    }

    /// Handles a report of a line that does not have the order. A fill in such a report counts in no position, so an
    /// operator has to find its account.
    #[cold]
    pub(crate) fn foreign(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let mut text = Sentence::new();
        let what = match report.kind {
            ReportKind::New => "New",
            ReportKind::Fill => "fill",
            ReportKind::Replaced => "Replaced",
            ReportKind::Rejected => "Rejected",
            ReportKind::End(_) => "end",
            ReportKind::Renewed | ReportKind::Restated => "Restated",
            ReportKind::Bust => "Trade Cancel",
            ReportKind::Correct => "Trade Correct",
            ReportKind::Status(_) => "status",
            ReportKind::Other => "report",
        };
        // The buffer is always long enough for the text.
        let _ = text.write_str(what);
        if report.status > 0 {
            let _ = write!(text, ", OrdStatus(39) {}", char::from(report.status));
        }
        let values = [
            ("LastQty(32)", report.last_quantity),
            ("LastPx(31)", report.last_price),
            ("CumQty(14)", report.filled),
            ("OrderQty(38)", report.quantity),
            ("Price(44)", report.price),
        ];
        for (name, value) in values {
            if let Some(value) = value {
                let _ = write!(text, ", {name} {value}");
            }
        }
        self.foreign_message(at, report.line, report.id.order, text.bytes(), sink)
    }

    /// Raises the event for a message other than an ExecutionReport(8) from a line that does not have the order.
    #[cold]
    pub(crate) fn foreign_message(
        &mut self,
        at: i64,
        line: SessionNo,
        order: Number,
        text: &[u8],
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let event = OrderEvent::Order(LifecycleEvent::ForeignReport { line, order, text });
        self.emit(at, &event, sink);
        ReportOutcome::Known
    }
}
