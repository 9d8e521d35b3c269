//! Makes the answers of the venue that the trial stands for.

use fixwire_protocol::Decimal;

use super::answers::{Answer, AnswerKind};
use crate::decide::venue::rejects::VenueReject;
use crate::decide::venue::{ReportKind, VenueId, VenueReport, cut};
use crate::state::OmsState;
use crate::state::orders::{Order, Request};
use crate::values::rules::RejectCode;
use crate::values::show::price;
use crate::values::units::{scaled, units};
use crate::values::value::{End, Quantity, RequestKind};

/// The request of an order that was sent to the venue and has no answer.
pub(super) fn sent_request<'a>(state: &'a OmsState, order: &Order) -> Option<&'a Request> {
    let request = state.orders().request_of(order);
    request.filter(|request| !request.state.is_unsent())
}

/// The venue's reject of a replace or cancel of an order.
pub(super) fn venue_reject<'a>(order: &Order, answer: &'a Answer) -> VenueReject<'a> {
    VenueReject {
        code: answer.code.map(RejectCode::Cancel),
        status: working(order.filled),
        text: cut(&answer.text),
    }
}

/// The report of the venue that gives an order the outcome that the record's answer has, without the texts of OrderID(37)
/// and ClOrdID(11). The order must be at the venue; `execution` is the number of the report. `None` when no report gives
/// the order this outcome: a request was rejected, or a replace was not sent.
pub(super) fn venue_report<'a>(
    state: &OmsState,
    order: &Order,
    answer: &'a Answer,
    execution: u64,
) -> Option<VenueReport<'a>> {
    let request = sent_request(state, order);
    let is = |kind| move |request: &&Request| request.kind == kind;
    let request = match answer.kind {
        AnswerKind::New | AnswerKind::Rejected(_) if order.state.is_answered() => return None,
        AnswerKind::New | AnswerKind::Rejected(_) | AnswerKind::Fill | AnswerKind::Expired => None,
        AnswerKind::Canceled => request.filter(is(RequestKind::Cancel)),
        AnswerKind::Replaced => Some(request.filter(is(RequestKind::Replace))?),
        AnswerKind::Declined(_) => return None,
    };
    let current = VenueId {
        order: order.number,
        request: order.current,
    };
    let id = VenueId {
        request: request.map_or(order.current, |request| request.number),
        ..current
    };
    let scales = state.scales(order.instrument);
    let (mut quantity, mut filled) = (order.quantity, order.filled);
    let (kind, status) = match answer.kind {
        AnswerKind::New => (ReportKind::New, b'0'),
        AnswerKind::Fill => {
            filled = filled.saturating_add(units(answer.last?.0, scales.quantity).ok()?);
            let is_filled = filled >= quantity;
            (ReportKind::Fill, if is_filled { b'2' } else { b'1' })
        }
        AnswerKind::Canceled => (ReportKind::End(End::Cancelled), b'4'),
        AnswerKind::Replaced => {
            quantity = units(answer.quantity?, scales.quantity).ok()?;
            (ReportKind::Replaced, working(filled))
        }
        AnswerKind::Expired => (ReportKind::End(End::Expired), b'C'),
        AnswerKind::Rejected(_) => (ReportKind::Rejected, b'8'),
        AnswerKind::Declined(_) => return None,
    };
    let decimal = |quantity: Quantity| -> Option<Decimal> {
        Some(price(i64::try_from(quantity).ok()?, scales.quantity))
    };
    let limit = match answer.price {
        Some(limit) => Some(price(scaled(limit, scales.price).ok()?, scales.price)),
        None => None,
    };
    let is_over = matches!(status, b'2' | b'4' | b'8' | b'C');
    let leaves = if is_over {
        0
    } else {
        quantity.saturating_sub(filled)
    };
    let line = order.line()?;
    Some(VenueReport {
        original: request.map(|_| current),
        exec: execution,
        last_quantity: answer.last.map(|(quantity, _)| quantity),
        last_price: answer.last.map(|(_, price)| price),
        filled: decimal(filled),
        leaves: decimal(leaves),
        quantity: decimal(quantity),
        price: limit,
        side: Some(order.side),
        status,
        reason: answer.code,
        text: cut(&answer.text),
        ..VenueReport::of(line, id, kind)
    })
}

/// OrdStatus(39) of an order that is open.
fn working(filled: Quantity) -> u8 {
    if filled > 0 { b'1' } else { b'0' }
}
