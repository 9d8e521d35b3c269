//! Restatements: ExecType(150) = D, by which a venue sets terms that the client did not request.
//!
//! ```text
//!   38, 44, 151 agree with each other and with CumQty(14) --> the order has them; its client gets Restated
//!   they do not, or a replace is in flight ----------------> a break: the venue is asked, limits count the larger
//! ```
//!
//! ExecRestatementReason(378) gives the reason, such as 3 (Repricing of order) or 5 (Partial decline of OrderQty). The
//! OMS handles all reasons in the same way. FIX 4.4 Volume 4: a restatement is the state of the order from then on.

use crate::decide::core::{Core, Sink};
use crate::decide::venue::{ReportOutcome, VenueReport};
use crate::state::event::{BreakEvent, OrderEvent};
use crate::state::orders::Order;
use crate::state::orders::transition::Transition;
use crate::values::units::{scaled, units};
use crate::values::value::{Number, Price, Quantity, RequestKind};

/// Terms in a restatement of an order.
enum NewTerms {
    /// The terms equal the order's terms, or cannot be read.
    Nothing,
    /// OrderQty(38) and Price(44).
    Other(Quantity, Price),
    /// The terms contradict each other, or do not fit the order's fills.
    Unclear,
}

impl Core {
    /// Handles a restatement with other terms, or for a reason other than 1, GT renewal.
    #[cold]
    pub(crate) fn terms_restated(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let number = report.id.order;
        let order = self.state().orders().get(number);
        let says_terms =
            report.quantity.is_some() || report.price.is_some() || report.leaves.is_some();
        let Some(order) = order.filter(|order| order.state.is_open() && says_terms) else {
            return ReportOutcome::Unreadable;
        };
        let terms = self.new_terms(order, report);
        if matches!(terms, NewTerms::Nothing) {
            return ReportOutcome::Unreadable;
        }
        self.accepted(at, report, sink);
        if let NewTerms::Other(quantity, price) = terms
            && self.may_become(number, quantity)
        {
            let event = OrderEvent::Break(BreakEvent::TermsRestated {
                order: number,
                quantity,
                price,
                reason: report.reason.unwrap_or(0),
                at: report.at,
                text: report.text,
            });
            self.emit(at, &event, sink);
            self.decline_filled(at, number, None, sink);
            self.guard_order(at, number, sink);
        }
        // Unclear terms are compared with the order, which raises a break.
        ReportOutcome::Taken
    }

    /// Whether the OrderQty(38) of an order in its present state may change to `quantity`.
    fn may_become(&self, number: Number, quantity: Quantity) -> bool {
        let order = self.state().orders().get(number);
        order.is_some_and(|order| {
            let all = order.filled >= quantity;
            order.state.after(Transition::Replace { all }).is_some()
        })
    }

    fn new_terms(&self, order: &Order, report: &VenueReport<'_>) -> NewTerms {
        let filled = order.filled;
        let parts = self.state().scales(order.instrument).quantity;
        let read = |said: Option<_>| said.map(|it| units(it, parts).ok());
        let (quantity, leaves) = (read(report.quantity), read(report.leaves));
        let cum = read(report.filled).unwrap_or(Some(filled));
        let quantity = match (quantity, leaves) {
            (Some(quantity), _) => quantity,
            (None, Some(leaves)) => leaves.map(|leaves| filled.saturating_add(leaves)),
            (None, None) => Some(order.quantity),
        };
        let scale = self.state().scale(order.instrument);
        let price = report.price.filter(|_| order.sent_kind().has_price());
        let price = price.map_or(Some(order.price), |price| scaled(price, scale).ok());
        let (Some(quantity), Some(cum)) = (quantity, cum) else {
            return NewTerms::Nothing;
        };
        let Some(price) = price else {
            return NewTerms::Unclear;
        };
        if (quantity, price) == (order.quantity, order.price) {
            return NewTerms::Nothing;
        }
        let left = quantity.checked_sub(filled);
        let fits = leaves.is_none_or(|leaves| leaves == left);
        let is_live = match left {
            Some(0) => matches!(report.status, 0 | b'2'),
            _ => matches!(report.status, 0 | b'0' | b'1' | b'5'),
        };
        let request = self.state().orders().request_of(order);
        let is_asked = request.is_some_and(|it| it.kind == RequestKind::Replace);
        let waits = order.pended.is_some() || self.state().remade.is_held(order.number);
        let is_clear = left.is_some() && quantity > 0 && cum == filled && fits && is_live;
        match is_clear && !is_asked && !waits {
            true => NewTerms::Other(quantity, price),
            false => NewTerms::Unclear,
        }
    }
}
