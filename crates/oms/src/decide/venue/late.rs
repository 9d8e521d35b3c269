//! Handles reports about replaces, including reports that arrive late or out of order.

use crate::decide::core::{Core, Sink};
use crate::decide::venue::{ReportOutcome, VenueReport};
use crate::state::event::{CopyEvent, LifecycleEvent, OrderEvent};
use crate::state::orders::late::LateTerms;
use crate::state::orders::transition::Transition;
use crate::values::ids::InstrumentNo;
use crate::values::reason::Why;
use crate::values::units::scaled;
use crate::values::value::{Number, Price, Quantity, RequestKind};

impl Core {
    /// Handles a report that the venue has carried out a replace, which the OMS may have given up. `None` when the
    /// replace is not pending and is not one that the OMS gave up for this order.
    #[cold]
    pub(crate) fn replaced_late(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        instrument: InstrumentNo,
        sink: &mut impl Sink,
    ) -> Option<ReportOutcome> {
        let (number, request) = (report.id.order, report.id.request);
        let state = self.state();
        let terms = state.late.get(number)?;
        let order = state.orders().get(number)?;
        let pending = state
            .orders()
            .request(request)
            .filter(|(pending, of)| pending.kind == RequestKind::Replace && of.number == number);
        let pending = pending.map(|(pending, _)| (pending.quantity, pending.price));
        if pending.is_none() && !terms.known.contains(&request) {
            return None;
        }
        let scale = state.scale(instrument);
        let mut quantity = state.units(instrument, report.quantity);
        let mut price = report.price.and_then(|it| scaled(it, scale).ok());
        // Over TMP, a field that is missing did not change. Over FIX, the venue only did not repeat it.
        if let Some(asked) = pending.filter(|_| !self.speaks_tmp(report.line)) {
            quantity = quantity.or(Some(asked.0));
            price = price.or(Some(asked.1));
        }
        // If the venue reported the order as Canceled before, this replace is the venue's latest change.
        let has_time = report.at > 0 || state.remade.is_held(number);
        if pending.is_none() && (!has_time || quantity.or(price.map(|_| 0)).is_none()) {
            // The time of the replace or its terms are unknown: a person has to ask the venue.
            return Some(ReportOutcome::Unreadable);
        }
        // If two replaces have the same time, the one that was sent later decides.
        let is_later = request > order.current;
        let is_last =
            |set_at: i64| report.at == 0 || report.at > set_at || (report.at == set_at && is_later);
        let newer = terms.newest(quantity, price, is_last);
        let is_newest = is_last(terms.quantity_at.max(terms.price_at));
        if pending.is_none() && newer == (None, None) {
            return Some(ReportOutcome::Known);
        }
        let quantity = newer.0.unwrap_or(order.quantity);
        let all = order.filled >= quantity;
        let is_possible = order.state.after(Transition::Replace { all }).is_some();
        let event = OrderEvent::Order(LifecycleEvent::TermsSet {
            order: number,
            request: pending.map(|_| request),
            current: if is_newest { request } else { order.current },
            quantity,
            price: newer.1.unwrap_or(order.price),
            quantity_at: newer
                .0
                .map_or(terms.quantity_at, |_| report.at.max(terms.quantity_at)),
            price_at: newer
                .1
                .map_or(terms.price_at, |_| report.at.max(terms.price_at)),
        });
        if !is_possible {
            return Some(match pending {
                Some(_) => self.decline(at, request, Why::TooLate, report.text, sink),
                None => ReportOutcome::Known,
            });
        }
        // A replace implies that the venue accepted the order.
        self.accepted(at, report, sink);
        self.emit(at, &event, sink);
        Some(ReportOutcome::Taken)
    }

    /// Handles a drop copy with the present terms of an order placed elsewhere.
    pub(crate) fn terms_of_external(
        &mut self,
        at: i64,
        order: Number,
        quantity: Option<Quantity>,
        price: Option<Price>,
        venue_at: i64,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let orders = self.state().orders();
        let Some(known) = orders.get(order).filter(|it| it.state.is_open()) else {
            return ReportOutcome::Known;
        };
        let unknown = LateTerms::default();
        let terms = self.state().late.get(order).unwrap_or(&unknown);
        let newer = terms.newest(quantity, price, |set_at| {
            venue_at == 0 || venue_at >= set_at
        });
        let (quantity, price) = (
            newer.0.unwrap_or(known.quantity),
            newer.1.unwrap_or(known.price),
        );
        let is_same = (quantity, price) == (known.quantity, known.price);
        let is_news = venue_at > terms.quantity_at.max(terms.price_at);
        let event = match venue_at {
            // A later report with the same terms is recorded too, so that an older report that follows does not change
            // the terms.
            _ if is_same && !is_news => return ReportOutcome::Known,
            _ if newer == (None, None) => return ReportOutcome::Known,
            0 => OrderEvent::Copy(CopyEvent::Restated {
                order,
                quantity,
                price,
            }),
            _ => OrderEvent::Order(LifecycleEvent::TermsSet {
                order,
                request: None,
                current: known.current,
                quantity,
                price,
                quantity_at: newer.0.map_or(terms.quantity_at, |_| venue_at),
                price_at: newer.1.map_or(terms.price_at, |_| venue_at),
            }),
        };
        self.emit(at, &event, sink);
        self.forget(at, sink);
        ReportOutcome::Taken
    }

    pub(crate) fn replaced(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        instrument: InstrumentNo,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        if self.is_replaced_after_end(report.id) && !self.speaks_tmp(report.line) {
            return self.live_after_end(at, report, sink);
        }
        if !self.state().late.is_empty()
            && let Some(heard) = self.replaced_late(at, report, instrument, sink)
        {
            return heard;
        }
        let Some((request, order)) = self.state().orders().request(report.id.request) else {
            // The report is a duplicate, or unsolicited, or the OMS has already rejected the client's request.
            let order = self.state().orders().get(report.id.order);
            let holds = order.is_some_and(|order| report.id.request <= order.current);
            return if report.id.order == report.id.request || !holds {
                ReportOutcome::Unreadable
            } else {
                ReportOutcome::Known
            };
        };
        if request.kind != RequestKind::Replace || order.number != report.id.order {
            return ReportOutcome::Unreadable;
        }
        let (number, state, filled) = (request.number, order.state, order.filled);
        let scale = self.state().scale(instrument);
        let quantity = self.state().units(instrument, report.quantity);
        let price = report.price.and_then(|it| scaled(it, scale).ok());
        // Terms other than the requested terms are a break. Over TMP they are not, because the exchange may set them.
        let is_set = self.speaks_tmp(report.line);
        let cum = self.state().units(instrument, report.filled);
        let is_amended =
            |it: &Quantity| request.quantity < *it && (*it == filled || Some(*it) == cum);
        let quantity = quantity.filter(|it| is_set || is_amended(it));
        let price = price.filter(|_| is_set);
        let quantity = quantity.unwrap_or(request.quantity);
        let event = OrderEvent::Order(LifecycleEvent::Replaced {
            request: number,
            quantity,
            price: price.unwrap_or(request.price),
            at: report.at,
        });
        let all = filled >= quantity;
        if state.after(Transition::Replace { all }).is_none() {
            return self.decline(at, number, Why::TooLate, report.text, sink);
        }
        // A replace implies that the venue accepted the order.
        self.accepted(at, report, sink);
        self.emit(at, &event, sink);
        self.take_venue_id(at, report, sink);
        ReportOutcome::Taken
    }
}
