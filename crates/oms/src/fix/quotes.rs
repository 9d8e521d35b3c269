//! Quotes in messages. A client's Quote(S) or QuoteCancel(Z) is answered by QuoteStatusReport(AI), in FIX 4.2 by
//! QuoteAcknowledgement(b).

use core::fmt::Write as _;

use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{
    Body, Decimal, Indexed, Message, Outbox, Precision, Refusal, Tag, Timestamp, tag,
};

use super::PutQuantity as _;
use super::clients::Client;
use super::requests::{byte, required};
use crate::decide::quotes::{NewQuote, QuoteCancel};
use crate::state::OmsState;
use crate::state::event::QuoteEvent;
use crate::state::orders::Order;
use crate::state::orders::transition::OrderState;
use crate::state::show::reason_text;
use crate::values::ids::SessionNo;
use crate::values::reason::Why;
use crate::values::show::{Sentence, price};
use crate::values::value::{End, Number, Text, TimeInForce};

/// QuoteStatus(297), called QuoteAckStatus in FIX 4.2.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum QuoteStatus {
    Accepted = 0,
    CanceledForSymbol = 1,
    CanceledAll = 4,
    Rejected = 5,
    RemovedFromMarket = 6,
    Expired = 7,
    NotFound = 9,
    Pending = 10,
    Canceled = 17,
}

/// QuoteID(117), if it is short enough for the ClOrdIDs of the two orders.
fn quote_id<'a>(message: &Indexed<'_, 'a>) -> Result<&'a [u8], Refusal> {
    let id = required(message, tag::QUOTE_ID)?;
    if id.len() > NewQuote::ID_MOST {
        return Err(Refusal::ValueOutOfRange(tag::QUOTE_ID));
    }
    Ok(id)
}

fn number(message: &Indexed<'_, '_>, tag: Tag) -> Result<Decimal, Refusal> {
    match message.decimal(tag) {
        None => Err(Refusal::ConditionallyRequiredFieldMissing(tag)),
        Some(Ok(value)) => Ok(value),
        Some(Err(_)) => Err(Refusal::IncorrectDataFormat(tag)),
    }
}

/// Reads a Quote(S).
///
/// # Errors
///
/// A field is missing, or is not a number.
pub(crate) fn quote<'a>(
    session: SessionNo,
    message: &Indexed<'_, 'a>,
) -> Result<NewQuote<'a>, Refusal> {
    Ok(NewQuote {
        session,
        id: quote_id(message)?,
        account: message.get(tag::ACCOUNT).unwrap_or_default(),
        symbol: required(message, tag::SYMBOL)?,
        bid: (
            number(message, tag::BID_PX)?,
            number(message, tag::BID_SIZE)?,
        ),
        offer: (
            number(message, tag::OFFER_PX)?,
            number(message, tag::OFFER_SIZE)?,
        ),
        // The FIX dictionaries have no TimeInForce(59) in S, but a custom dictionary may have it.
        tif: match message.get(tag::TIME_IN_FORCE) {
            None => Some(TimeInForce::Day),
            Some(_) => byte(message, tag::TIME_IN_FORCE)
                .and_then(TimeInForce::of)
                .filter(|tif| {
                    use TimeInForce::{Day, FillOrKill, ImmediateOrCancel};
                    matches!(tif, Day | ImmediateOrCancel | FillOrKill)
                }),
        },
        is_tradeable: matches!(message.get(tag::QUOTE_TYPE), None | Some(b"1")),
    })
}

/// Reads a QuoteCancel(Z).
///
/// # Errors
///
/// As [`quote`].
pub(crate) fn cancel<'a>(
    session: SessionNo,
    message: &Message<'a>,
) -> Result<QuoteCancel<'a>, Refusal> {
    let symbols = message
        .fields()
        .iter()
        .filter(|field| field.tag == tag::SYMBOL);
    let has_more = symbols.count() > 1;
    let symbol = message.get(tag::SYMBOL).unwrap_or_default();
    let message = &Indexed::new(message);
    required(message, tag::QUOTE_CANCEL_TYPE)?;
    let kind = byte(message, tag::QUOTE_CANCEL_TYPE).unwrap_or_default();
    let id = match (kind, message.get(tag::QUOTE_ID)) {
        // FIX 5.0 SP2 does not require QuoteID(117) here.
        (b'1' | b'4', None) => &b"NONE"[..],
        _ => quote_id(message)?,
    };
    Ok(QuoteCancel {
        session,
        id,
        kind,
        symbol,
        has_more,
    })
}

/// Answers a quote or a cancel of quotes: accepted, refused, or the number of orders that are being cancelled.
pub(crate) fn report(
    state: &OmsState,
    event: &QuoteEvent<'_>,
    message: Option<&Message<'_>>,
    client: Client,
    outbox: &mut Outbox,
) {
    let field = |tag| message.and_then(|message| message.get(tag));
    let named = field(tag::SYMBOL).filter(|symbol| symbol.len() <= Text::MAX);
    match *event {
        QuoteEvent::Quoted { order, .. } if !client.is_old() => {
            status(state, order, (QuoteStatus::Pending, b""), client, outbox);
        }
        QuoteEvent::QuoteRefused {
            id,
            ref reason,
            kind,
            ..
        } => {
            let instrument = named.and_then(|symbol| state.instruments().find(symbol));
            let scales = instrument.map(|instrument| state.scales(instrument));
            let text = reason_text(state, reason, scales.unwrap_or_default());
            let is_unknown = kind == b'Z' && reason.why == Why::UnknownQuote && !client.is_old();
            let status = if is_unknown {
                QuoteStatus::NotFound
            } else {
                QuoteStatus::Rejected
            };
            let mut answer = begin((id, named), status, client, outbox);
            if client.has_reject_reason()
                && let Some(code) = reject_reason(reason.why, client)
            {
                answer.uint(tag::QUOTE_REJECT_REASON, code);
            }
            finish(state, text.bytes(), client, answer);
        }
        QuoteEvent::QuotesWithdrawn {
            kind, id, orders, ..
        } if kind > 0 => {
            let status = match kind {
                b'1' => QuoteStatus::CanceledForSymbol,
                b'4' => QuoteStatus::CanceledAll,
                _ => QuoteStatus::Canceled,
            };
            let mut sentence = Sentence::new();
            // The sentence has room for any number.
            let _ = write!(sentence, "orders being cancelled: {orders}");
            let answer = begin((id, named), status, client, outbox);
            finish(state, sentence.bytes(), client, answer);
        }
        QuoteEvent::Quoted { .. }
        | QuoteEvent::QuotesWithdrawn { .. }
        | QuoteEvent::QuoteSent { .. } => {}
    }
}

impl Client {
    /// Whether the answer has QuoteRejectReason(300). QuoteStatusReport(AI) has it from FIX 5.0 SP1 on,
    /// QuoteAcknowledgement(b) in all versions.
    fn has_reject_reason(self) -> bool {
        self.is_old() || self.version >= Version::Fix50Sp1
    }
}

/// QuoteRejectReason(300); `None` in FIX 4.2, which has no value for other reasons.
fn reject_reason(why: Why, client: Client) -> Option<u64> {
    Some(match why {
        Why::Symbol | Why::NoRoute => 1,
        Why::DayEnds | Why::DiskFull | Why::Market => 2,
        Why::OrderQuantity | Why::Value => 3,
        Why::UnknownQuote => 5,
        Why::Duplicate => 6,
        Why::QuoteCrossed => 7,
        Why::Tick | Why::Collar | Why::TmpPrice => 8,
        Why::NotAllowed | Why::Account => 9,
        _ if client.is_old() => return None,
        _ => 99,
    })
}

fn begin<'o>(
    (id, symbol): (&[u8], Option<&[u8]>),
    status: QuoteStatus,
    client: Client,
    outbox: &'o mut Outbox,
) -> Body<'o> {
    let kind: &[u8] = if client.is_old() { b"b" } else { b"AI" };
    let mut answer = outbox.begin(client.session, kind);
    answer.field(tag::QUOTE_ID, id);
    if !client.is_old() {
        // FIX 4.4 requires Symbol(55) even if the answer is not about one symbol.
        answer.field(tag::SYMBOL, symbol.unwrap_or(b"[N/A]"));
    }
    answer.uint(tag::QUOTE_STATUS, status as u64);
    answer
}

fn finish(state: &OmsState, text: &[u8], client: Client, mut answer: Body<'_>) {
    if !client.is_old() {
        let now = Timestamp(state.time());
        answer.time(tag::TRANSACT_TIME, now, Precision::Millis);
    }
    if !text.is_empty() {
        answer.field(tag::TEXT, text);
    }
    // The outbox has room: that was checked before the event.
    let _ = answer.finish();
}

/// Writes the status of a quote, with the present state of both sides.
fn status(
    state: &OmsState,
    bid: Number,
    (status, text): (QuoteStatus, &[u8]),
    client: Client,
    outbox: &mut Outbox,
) {
    let Some(quote) = state.quotes.get(bid) else {
        return;
    };
    let symbol = state.instruments().name(quote.instrument);
    let ids = (quote.id.bytes(), Some(symbol));
    let mut answer = begin(ids, status, client, outbox);
    if !client.is_old() {
        answer.field(tag::ACCOUNT, state.accounts().name(quote.account));
        let scales = state.scales(quote.instrument);
        let of = |side| state.orders().get(side);
        for (order, (px, size)) in [
            (of(bid), (tag::BID_PX, tag::BID_SIZE)),
            (of(bid + 1), (tag::OFFER_PX, tag::OFFER_SIZE)),
        ] {
            if let Some(order) = order {
                answer.decimal(px, price(order.price, scales.price));
                answer.quantity(size, order.reported_leaves(), scales.quantity);
            }
        }
    }
    finish(state, text, client, answer);
}

/// Writes the status of a quote after a report of one of its sides, if that changed the status. `last` is the quantity
/// of the fill.
#[cold]
pub(super) fn side_changed(
    state: &OmsState,
    order: &Order,
    kind: u8,
    last: u64,
    client: Client,
    outbox: &mut Outbox,
) {
    let (Some(bid), Some(other)) = (order.quote(), order.other_side()) else {
        return;
    };
    let other = state.orders().get(other).map(|other| other.state);
    let ended = End::Cancelled;
    let other = match other.unwrap_or(OrderState::Ended(ended)) {
        // The client knows a lapsed order as expired.
        OrderState::Lapsed => OrderState::Ended(End::Expired),
        other => other,
    };
    let rejected = OrderState::Ended(End::Rejected);
    let is_last_fill = order.state == OrderState::Ended(End::Filled)
        && order.filled.saturating_sub(last) < order.quantity;
    let (is, text): (QuoteStatus, &[u8]) = match kind {
        // This side is accepted, and the other side was already accepted or rejected.
        b'0' if other == rejected => (QuoteStatus::Accepted, b"the other side was rejected"),
        b'0' if other.is_answered() => (QuoteStatus::Accepted, b""),
        b'8' if other == rejected => (QuoteStatus::Rejected, b"both sides were rejected"),
        b'8' if other.is_open() && other.is_answered() => {
            (QuoteStatus::Accepted, b"the other side was rejected")
        }
        b'C' if other == OrderState::Ended(End::Expired) => (QuoteStatus::Expired, b""),
        b'8' | b'4' | b'C' | b'3' if !other.is_open() => (QuoteStatus::RemovedFromMarket, b""),
        b'F' | b'1' | b'2' if is_last_fill && !other.is_open() => {
            (QuoteStatus::RemovedFromMarket, b"")
        }
        _ => return,
    };
    // FIX 4.2 has no status for a quote that was removed from the market.
    let is_known = matches!(is, QuoteStatus::Accepted | QuoteStatus::Rejected);
    if is_known || !client.is_old() {
        status(state, bid, (is, text), client, outbox);
    }
}
