//! Replaces whose reports come late or out of order: the venue's TransactTime(60) says which of its reports is older.
//!
//! ```text
//! replace 25 sent > line breaks > status without it > 25 given up      the client gets an OrderCancelReject
//! replace 26 sent                                                      and may replace the order again
//! the venue replaced by 26 at 10:00:05, by 25 at 10:00:07              reports in any order: 25 has the terms
//! ```
//!
//! Quantity and price have times of their own, since a report over TMP may have only one of them.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::core::{Core, Sink, scaled, whole};
use crate::event::OrderEvent;
use crate::reason::Why;
use crate::state::OmsState;
use crate::transition::Happening;
use crate::units::MOST;
use crate::value::{Number, Price, Quantity, RequestKind};
use crate::venue::{Heard, VenueReport};
use crate::wire::Wire;

/// Replaces of an order that are remembered; older ones are forgotten.
const REMEMBERED: usize = 8;

/// An order whose terms may be reported out of order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LateTerms {
    /// Replaces that were given up, which the venue may carry out after all, and those that were answered since, whose
    /// reports may come again.
    known: Vec<Number>,
    /// The venue's time of the quantity, in nanoseconds since 1970; 0 when it is unknown.
    quantity_at: i64,
    /// That of the price.
    price_at: i64,
}

/// Orders of which a replace was given up, and replaced ones that were placed elsewhere.
#[derive(Clone, Debug, Default)]
pub(crate) struct LateReplaces(BTreeMap<Number, LateTerms>);

impl LateReplaces {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn get(&self, order: Number) -> Option<&LateTerms> {
        self.0.get(&order)
    }

    /// A replace is answered as not received.
    #[cold]
    pub(crate) fn give_up(&mut self, order: Number, request: Number) {
        self.0.entry(order).or_default().remember(request);
    }

    pub(crate) fn forget(&mut self, order: Number) {
        self.0.remove(&order);
    }

    pub(crate) fn put(&self, to: &mut Vec<u8>) {
        (self.0.len() as u32).put(to);
        for (order, terms) in &self.0 {
            order.put(to);
            (terms.known.len() as u32).put(to);
            terms.known.iter().for_each(|request| request.put(to));
            terms.quantity_at.put(to);
            terms.price_at.put(to);
        }
    }

    pub(crate) fn take(from: &mut &[u8]) -> Option<Self> {
        let mut all = BTreeMap::new();
        for _ in 0..u32::take(from)? {
            let order = Wire::take(from)?;
            let mut terms = LateTerms::default();
            for _ in 0..u32::take(from)? {
                terms.known.push(Wire::take(from)?);
            }
            terms.quantity_at = Wire::take(from)?;
            terms.price_at = Wire::take(from)?;
            all.insert(order, terms);
        }
        Some(Self(all))
    }
}

impl OmsState {
    /// The venue has set the terms of an order, by a request that is pending or not.
    #[cold]
    pub(crate) fn set_terms(&mut self, event: &OrderEvent<'_>) -> Option<()> {
        let OrderEvent::TermsSet {
            order: number,
            request,
            current,
            quantity,
            price,
            quantity_at,
            price_at,
        } = *event
        else {
            return None;
        };
        let is_its = |request| {
            let known = self.orders.request(request);
            known.is_some_and(|(_, order)| order.number == number)
        };
        if quantity > MOST || !request.is_none_or(is_its) {
            return None;
        }
        self.change(number, |state, place| {
            let all = state.orders.at(place)?.filled >= quantity;
            state.step(place, Happening::Replace { all })?;
            let closed = match request {
                Some(request) => Some(state.orders.remove_request(request)?),
                None => None,
            };
            let order = state.orders.at_mut(place)?;
            (order.quantity, order.price, order.current) = (quantity, price, current);
            // A spread is reserved with the prices of its legs.
            let of_legs = state.spreads.legs(order.instrument).map(|_| order.hold);
            match &closed {
                Some(closed) => order.hold = price.saturating_abs().max(closed.hold),
                None if order.kind.has_price() => {
                    order.hold = price.saturating_abs().max(of_legs.unwrap_or(0));
                }
                None => {}
            }
            if let Some(closed) = closed.filter(|closed| !closed.id.bytes().is_empty()) {
                order.id = closed.id;
            }
            Some(())
        })?;
        let terms = self.late.0.entry(number).or_default();
        (terms.quantity_at, terms.price_at) = (quantity_at, price_at);
        if let Some(request) = request {
            terms.remember(request);
        }
        Some(())
    }
}

impl Core {
    /// A venue reports that it has replaced an order of which a replace was given up; `None` when the replace is
    /// neither pending nor known.
    #[cold]
    pub(crate) fn replaced_late(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        instrument: u32,
        sink: &mut impl Sink,
    ) -> Option<Heard> {
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
        let mut quantity = report.quantity.and_then(|it| whole(it).ok());
        let mut price = report.price.and_then(|it| scaled(it, scale).ok());
        // Over TMP a field that is missing did not change; over FIX the venue only did not repeat it.
        if let Some(asked) = pending.filter(|_| !self.speaks_tmp(report.line)) {
            quantity = quantity.or(Some(asked.0));
            price = price.or(Some(asked.1));
        }
        if pending.is_none() && (report.at == 0 || quantity.or(price.map(|_| 0)).is_none()) {
            // When it was, or what it set, is not known: a person has to ask.
            return Some(Heard::Unreadable);
        }
        // At the same time the one counts that was sent later.
        let is_later = request > order.current;
        let is_last =
            |set_at: i64| report.at == 0 || report.at > set_at || (report.at == set_at && is_later);
        let newer = terms.newest(quantity, price, is_last);
        let is_newest = is_last(terms.quantity_at.max(terms.price_at));
        if pending.is_none() && newer == (None, None) {
            return Some(Heard::Known);
        }
        let quantity = newer.0.unwrap_or(order.quantity);
        let all = order.filled >= quantity;
        let is_possible = order.state.after(Happening::Replace { all }).is_some();
        let event = OrderEvent::TermsSet {
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
        };
        if !is_possible {
            return Some(match pending {
                Some(_) => self.decline(at, request, Why::TooLate, report.text, sink),
                None => Heard::Known,
            });
        }
        // A replace implies that the venue accepted the order.
        self.accepted(at, report, sink);
        self.emit(at, &event, sink);
        Some(Heard::Taken)
    }

    /// A drop copy reports that an order placed elsewhere has these terms now.
    pub(crate) fn terms_of_external(
        &mut self,
        at: i64,
        order: Number,
        (quantity, price, venue_at): (Option<Quantity>, Option<Price>, i64),
        sink: &mut impl Sink,
    ) -> Heard {
        let orders = self.state().orders();
        let Some(known) = orders.get(order).filter(|it| it.state.is_open()) else {
            return Heard::Known;
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
            // An older report must not count after one that changes nothing either.
            _ if is_same && !is_news => return Heard::Known,
            _ if newer == (None, None) => return Heard::Known,
            0 => OrderEvent::Restated {
                order,
                quantity,
                price,
            },
            _ => OrderEvent::TermsSet {
                order,
                request: None,
                current: known.current,
                quantity,
                price,
                quantity_at: newer.0.map_or(terms.quantity_at, |_| venue_at),
                price_at: newer.1.map_or(terms.price_at, |_| venue_at),
            },
        };
        self.emit(at, &event, sink);
        self.forget(at, sink);
        Heard::Taken
    }
}

impl LateTerms {
    fn remember(&mut self, request: Number) {
        if self.known.len() == REMEMBERED {
            self.known.remove(0);
        }
        self.known.push(request);
    }

    /// Which of the reported terms are newer than those that are known.
    fn newest(
        &self,
        quantity: Option<Quantity>,
        price: Option<Price>,
        is_last: impl Fn(i64) -> bool,
    ) -> (Option<Quantity>, Option<Price>) {
        (
            quantity.filter(|_| is_last(self.quantity_at)),
            price.filter(|_| is_last(self.price_at)),
        )
    }
}
