//! Orders that are good until a later date and are done for the day. They are not in the market until the next trading
//! day.

use crate::decide::core::{Core, Sink};
use crate::decide::venue::{ReportOutcome, VenueReport};
use crate::state::event::{LifecycleEvent, OrderEvent};
use crate::values::units::{scaled, units};
use crate::values::value::{End, Number};

impl Core {
    /// Handles a report of a fill or of a working order. An order that was done for the day works again.
    pub(crate) fn works(&mut self, at: i64, report: &VenueReport<'_>, sink: &mut impl Sink) {
        let order = self.state().orders().get(report.id.order);
        // Fills from before the order was done for the day may still arrive.
        let waits = order.is_none_or(|order| order.pended.is_some());
        if !waits && report.status != End::DoneForDay.byte() {
            self.renew(at, report.id.order, true, sink);
        }
    }

    /// Makes the order work again if it was done for the day.
    pub(crate) fn renew(
        &mut self,
        at: i64,
        order: Number,
        by_venue: bool,
        sink: &mut impl Sink,
    ) -> bool {
        let known = self.state().orders().get(order);
        let next = self.state().day() + 1;
        let rests = known.is_some_and(|known| known.rests_until(next));
        if rests {
            self.emit(
                at,
                &OrderEvent::Order(LifecycleEvent::Renewed { order, by_venue }),
                sink,
            );
        }
        rests
    }

    /// The venue reports that an order works again unchanged: ExecType(150) = D with ExecRestatementReason(378) = 1.
    pub(crate) fn restated(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let number = report.id.order;
        let known = self.state().orders().get(number);
        let Some(order) = known.filter(|order| order.state.is_open()) else {
            return ReportOutcome::Unreadable;
        };
        let scales = self.state().scales(order.instrument);
        let quantity = report.quantity.map(|it| units(it, scales.quantity));
        let price = report.price.filter(|_| order.kind.has_price());
        let price = price.map(|price| scaled(price, scales.price));
        if quantity.is_some_and(|it| it != Ok(order.quantity))
            || price.is_some_and(|it| it != Ok(order.price))
        {
            let heard = self.terms_restated(at, report, sink);
            self.renew(at, number, true, sink);
            return heard;
        }
        let filled = self.state().units(order.instrument, report.filled);
        let is_missing = filled.is_some_and(|filled| filled > order.filled);
        let heard = self.accepted(at, report, sink);
        match self.renew(at, number, true, sink) {
            _ if is_missing => ReportOutcome::FillsMissing(number),
            true => ReportOutcome::Taken,
            false => heard,
        }
    }
}
