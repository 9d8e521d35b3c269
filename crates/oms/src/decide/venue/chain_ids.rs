//! Finds the order to which a message belongs. A client's request may name the order by any ClOrdID(11) of its chain. A
//! venue's report without a ClOrdID of the OMS names the order by OrigClOrdID(41) or OrderID(37).

use crate::decide::core::{Change, Core, Sink};
use crate::decide::venue::{VenueId, VenueReport, short};
use crate::state::event::{LifecycleEvent, OrderEvent};
use crate::state::orders::Order;
use crate::state::orders::transition::OrderState;
use crate::values::canary::{self, OmsPlantedFault};
use crate::values::ids::SessionNo;
use crate::values::reason::Why;
use crate::values::value::{Number, RequestKind};

impl Core {
    /// The order whose current ClOrdID(11) equals this OrigClOrdID(41).
    pub(crate) fn find(&self, session: SessionNo, original: &[u8]) -> Option<&Order> {
        let number = self.state.used(session, original)?;
        let order = self.state.orders().get(number)?;
        (order.id.bytes() == original).then_some(order)
    }

    /// The order of a client's request. It is found by any ClOrdID(11) of its chain, including the ClOrdID of a pending
    /// request, or else by OrderID(37).
    #[inline]
    pub(crate) fn named(&self, change: &Change<'_>) -> Option<&Order> {
        let orders = self.state.orders();
        let number = self.state.used(change.session, change.original);
        match number.and_then(|number| orders.get(number)) {
            None if number.is_none_or(|number| number == 0) => {
                let order = orders.get(change.order_id?)?;
                (order.session == change.session && !order.is_external()).then_some(order)
            }
            found => found,
        }
    }

    /// Why no order was found: the order is closed and removed from memory, or is unknown to the OMS.
    pub(crate) fn lost(&self, change: &Change<'_>) -> Why {
        match self.state.used(change.session, change.original) {
            Some(number) if number > 0 && self.state.orders().get(number).is_none() => Why::TooLate,
            _ => Why::UnknownOrder,
        }
    }

    /// The order of a venue's report. It is found by ClOrdID(11), else by OrigClOrdID(41) or OrderID(37).
    pub(crate) fn reported_order(&self, report: &VenueReport<'_>) -> Option<Number> {
        let order = self.state().orders().get(report.id.order);
        let number = order.map(|order| order.number);
        number.or_else(|| self.other_id(report).map(|id| id.order))
    }

    pub(crate) fn other_id(&self, report: &VenueReport<'_>) -> Option<VenueId> {
        let orders = self.state().orders();
        let original = report
            .original
            .and_then(|id| Some((id, orders.get(id.order)?)));
        if let Some((id, order)) = original.filter(|(_, order)| self.fits(report, order)) {
            let is_of_order = id.request == id.order || id.request <= order.current;
            return is_of_order.then_some(id);
        }
        // A ClOrdID(11) of the OMS that is not in memory belongs to another order.
        if report.id.order > 0 || matches!(report.venue_id, b"" | b"NONE") {
            return None;
        }
        self.order_of_venue_id(report)
    }

    /// Builds the index by OrderID(37) when the first report needs it.
    #[cold]
    pub(crate) fn index_venue_ids(&mut self, report: &VenueReport<'_>) {
        if report.id.order == 0 && !matches!(report.venue_id, b"" | b"NONE") {
            let room = self.rules().orders + self.rules().remembered;
            self.venue_ids.make(&self.state, room);
        }
    }

    /// The open order with the OrderID(37), line, symbol and side of a report, if there is exactly one. A bust or
    /// correction may be of a closed order, which has the fill that it names.
    fn order_of_venue_id(&self, report: &VenueReport<'_>) -> Option<VenueId> {
        let orders = self.state.orders();
        let of = report.reference.filter(|_| report.kind.is_undo());
        let fits = |number: Number| {
            let order = orders.get(number);
            order.is_some_and(|order| {
                order.venue_id.bytes() == report.venue_id
                    && (order.state.is_open() || of.is_some_and(|it| orders.has_fill(number, it)))
                    && self.fits(report, order)
            })
        };
        let number = self.venue_ids.find(report.venue_id, fits)?;
        let order = orders.get(number)?;
        Some(VenueId {
            order: number,
            request: order.current,
        })
    }

    /// Records the new OrderID(37) that an order gets by a replace.
    pub(crate) fn take_venue_id(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) {
        let venue_id = short(report.venue_id);
        let order = self.state.orders().get(report.id.order);
        let is_new = order.is_some_and(|it| it.venue_id.bytes() != venue_id);
        if is_new && !matches!(venue_id, b"" | b"NONE") && !self.speaks_tmp(report.line) {
            let order = report.id.order;
            self.emit(
                at,
                &OrderEvent::Order(LifecycleEvent::VenueIdSet { order, venue_id }),
                sink,
            );
        }
    }

    /// Whether a report has the same line, symbol and side as an order.
    fn fits(&self, report: &VenueReport<'_>, order: &Order) -> bool {
        let symbol = self.state().instruments().name(order.instrument);
        report.symbol == symbol
            && report.side.is_some_and(|side| side.agrees(order.side))
            && self.may_report(report.line, order)
            && !order.is_external()
    }

    /// The request that an OrderCancelReject(9) rejects: the request with the ClOrdID(11) of the reject.
    ///
    /// If no request has this ClOrdID, the order is found by ClOrdID(11) or OrigClOrdID(41). The request in flight of
    /// that order is the rejected one if its kind is that of CxlRejResponseTo(434).
    pub(crate) fn rejected_request(
        &self,
        id: Option<VenueId>,
        original: Option<VenueId>,
        kind: Option<RequestKind>,
    ) -> Option<VenueId> {
        let orders = self.state().orders();
        let is_request = |id: &VenueId| orders.request(id.request).is_some();
        if id.as_ref().is_some_and(is_request) {
            return id;
        }
        let order = |id: VenueId| orders.get(id.order);
        let named = match id.and_then(order) {
            // Another answer to the request arrived before.
            Some(order) if !is_order_id(order, id) => return id,
            Some(order) => Some(order),
            None => original.and_then(order),
        };
        let request = named.and_then(|order| Some((order, orders.request_of(order)?)));
        let request = request.filter(|(_, request)| {
            let is_in_flight = matches!(request.state, OrderState::Sent | OrderState::Unknown);
            is_in_flight && kind == Some(request.kind)
        });
        request.map(|(order, request)| VenueId {
            order: order.number,
            request: request.number,
        })
    }

    /// Whether an id belongs to an order, not to a request.
    pub(crate) fn is_sent_as(&self, id: VenueId) -> bool {
        let order = self.state().orders().get(id.order);
        let is_past = canary::is(OmsPlantedFault::RetryPast) && id.order == id.request;
        order.map_or(id.order, Order::attempt) == id.request || is_past
    }
}

/// Whether an id belongs to the order itself, and not to an answered request.
fn is_order_id(order: &Order, id: Option<VenueId>) -> bool {
    let number: Option<Number> = id.map(|id| id.request);
    number == Some(order.number) || number == Some(order.current)
}
