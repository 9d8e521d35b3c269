//! Writes orders and requests as R01, or as R31 when the symbol has more than 20 bytes. Writes both sides of a quote as
//! one R09 or R39.

use fixwire_tmp::messages::{OrderEntry, QuoteEntry};
use fixwire_tmp::{
    ClientLinkSettings, TmpExecType, TmpHeader, TmpLayout, TmpOrdType, TmpPositionEffect, TmpSide,
    TmpSymbol, TmpTimeInForce,
};

use super::ids::{ord_id, user_define};
use super::inquiries::inquiry;
use crate::state::OmsState;
use crate::state::event::Outgoing;
use crate::state::orders::{Order, Request};
use crate::state::quotes::QuoteSide;
use crate::values::ids::{InstrumentNo, Table};
use crate::values::marks::RequestMarks;
use crate::values::value::{Number, OrderType, Price, Quantity, RequestKind, TimeInForce};

/// Number of bytes of an R39, the longest request.
pub(super) const LONGEST: usize = 104;
/// Maximum number of bytes of the symbol of an R01.
pub(super) const SHORT_SYMBOL: usize = 20;
/// Maximum number of bytes of the symbol of an R31.
pub(crate) const LONG_SYMBOL: usize = 40;

/// A request as a frame. The link adds MsgSeqNum and time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestFrame {
    pub(super) bytes: [u8; LONGEST],
    pub(super) len: usize,
}

impl RequestFrame {
    /// The frame of a message; `None` when it is too long.
    pub(crate) fn of<'a>(body: &impl TmpLayout<'a>) -> Option<Self> {
        let mut bytes = [0; LONGEST];
        let len = body.encode(&TmpHeader::default(), &mut bytes).ok()?;
        Some(Self { bytes, len })
    }

    #[cfg(any(test, feature = "state-lines"))]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.len]
    }
}

/// Values that all requests of a line have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineMarks {
    pub(super) fcm_id: u16,
    /// Values that are used when neither the order nor its user has them.
    pub(super) of_requests: RequestMarks,
}

impl LineMarks {
    pub(crate) fn of(settings: &ClientLinkSettings) -> Self {
        let marks = settings.marks;
        Self {
            fcm_id: settings.fcm_id,
            of_requests: RequestMarks {
                cm_id: marks.cm_id.unwrap_or(settings.fcm_id),
                effect: settings.effect_of_netting().map_or(0, |effect| effect.0),
                order_source: marks.order_source,
                info_source: marks.info_source,
                investor_flag: marks.investor_flag,
            },
        }
    }

    /// The same line, with the values that the settings of its line group give it.
    pub(super) fn with(self, marks: RequestMarks) -> Self {
        Self {
            of_requests: marks.or(self.of_requests),
            ..self
        }
    }
}

/// Values of an R01 that differ from request to request.
struct RequestTerms {
    exec_type: TmpExecType,
    number: Number,
    price: Price,
    quantity: u64,
    marks: RequestMarks,
}

impl RequestTerms {
    /// Whether the order gets the price of the request. If not, the exchange needs no price.
    fn sets_price(&self) -> bool {
        matches!(self.exec_type, TmpExecType::NEW | TmpExecType::PRICE)
    }
}

/// The frame of the order, request or status request that an event sends; `None` when TMP cannot carry one of its
/// values. `scales` is the number of decimals of prices in TMP messages, by instrument.
pub(crate) fn request(
    state: &OmsState,
    sent: &Outgoing<'_>,
    marks: &LineMarks,
    scales: &Table<InstrumentNo, u8>,
) -> Option<RequestFrame> {
    let (order, asked) = match *sent {
        Outgoing::Request(number) => match state.orders().get(number) {
            Some(order) => (order, new_order(order)),
            None => {
                let (request, order) = state.orders().request(number)?;
                (order, change(state, order, request))
            }
        },
        Outgoing::Status(order) => {
            let order = state.orders().get(order)?;
            (order, query(order))
        }
        Outgoing::Quote(order) => return quote(state, order, (marks, scales)),
        Outgoing::Inquiry(ref asked) => return inquiry(state, asked, marks),
        Outgoing::MassStatus { .. } | Outgoing::StrayCancel { .. } => return None,
    };
    let symbol = state.instruments().name(order.instrument);
    if symbol.len() <= SHORT_SYMBOL {
        frame::<SHORT_SYMBOL>(state, order, &asked, (marks, scales))
    } else {
        frame::<LONG_SYMBOL>(state, order, &asked, (marks, scales))
    }
}

/// A quantity in whole lots, as in TMP messages; `None` if it is not a whole number of lots, or more lots than TMP can
/// have.
fn lots(state: &OmsState, instrument: InstrumentNo, quantity: Quantity) -> Option<u16> {
    let one = 10_u64.pow(state.scales(instrument).quantity.into());
    let lots = u16::try_from(quantity / one).ok();
    lots.filter(|_| quantity.is_multiple_of(one))
}

/// Writes both sides of a quote as one frame.
fn quote(
    state: &OmsState,
    bid: Number,
    of: (&LineMarks, &Table<InstrumentNo, u8>),
) -> Option<RequestFrame> {
    let (bid, offer) = (state.orders().get(bid)?, state.orders().get(bid + 1)?);
    let symbol = state.instruments().name(bid.instrument);
    if symbol.len() <= SHORT_SYMBOL {
        quote_frame::<SHORT_SYMBOL>(state, (bid, offer), of)
    } else {
        quote_frame::<LONG_SYMBOL>(state, (bid, offer), of)
    }
}

fn quote_frame<const SYMBOL: usize>(
    state: &OmsState,
    (bid, offer): (&Order, &Order),
    (marks, scales): (&LineMarks, &Table<InstrumentNo, u8>),
) -> Option<RequestFrame> {
    let symbol = TmpSymbol::Text(state.instruments().name(bid.instrument));
    let (symbol_type, symbol) = symbol.field::<SYMBOL>().ok()?;
    let (scale, known) = (*scales.get(bid.instrument)?, state.scale(bid.instrument));
    let said = bid.marks.or(marks.of_requests);
    let entry = QuoteEntry::<SYMBOL> {
        exec_type: TmpExecType::NEW,
        cm_id: said.cm_id,
        fcm_id: marks.fcm_id,
        order_no: order_no(bid.pool_number.bytes())?,
        ord_id: ord_id(bid.current),
        user_define: user_define(bid.number),
        symbol_type,
        symbol,
        bid_px: wire_price(bid.price, known, scale)?,
        offer_px: wire_price(offer.price, known, scale)?,
        bid_size: lots(state, bid.instrument, bid.quantity)?,
        offer_size: lots(state, offer.instrument, offer.quantity)?,
        account: account_number(state.accounts().name(bid.account))?,
        account_flag: said.investor_flag,
        time_in_force: time_in_force(bid.tif)?,
        position_effect: TmpPositionEffect::QUOTE,
        order_source: said.order_source,
        info_source: said.info_source,
    };
    RequestFrame::of(&entry)
}

fn new_order(order: &Order) -> RequestTerms {
    RequestTerms {
        exec_type: TmpExecType::NEW,
        number: order.current,
        price: order.price,
        quantity: order.quantity,
        marks: order.marks,
    }
}

fn change(state: &OmsState, order: &Order, request: &Request) -> RequestTerms {
    let (exec_type, price, quantity) = match request.kind {
        RequestKind::Cancel => (TmpExecType::CANCEL, order.price, 0),
        RequestKind::Replace if request.quantity < order.quantity => {
            let removed = order.quantity - request.quantity;
            (TmpExecType::REDUCE, order.price, removed)
        }
        RequestKind::Replace => (TmpExecType::PRICE, request.price, 0),
    };
    RequestTerms {
        exec_type,
        number: request.number,
        price,
        quantity,
        marks: match state.carried.is_empty() {
            true => order.marks,
            false => state
                .carried
                .marks_of(request.number)
                .unwrap_or(order.marks),
        },
    }
}

fn query(order: &Order) -> RequestTerms {
    RequestTerms {
        exec_type: TmpExecType::QUERY,
        number: order.current,
        price: order.price,
        quantity: 0,
        marks: order.marks,
    }
}

fn frame<const SYMBOL: usize>(
    state: &OmsState,
    order: &Order,
    asked: &RequestTerms,
    (marks, scales): (&LineMarks, &Table<InstrumentNo, u8>),
) -> Option<RequestFrame> {
    let symbol = TmpSymbol::Text(state.instruments().name(order.instrument));
    let (symbol_type, symbol) = symbol.field::<SYMBOL>().ok()?;
    let kind = order.sent_kind();
    let price = match kind.has_price() {
        true => {
            let scale = *scales.get(order.instrument)?;
            let known = state.scale(order.instrument);
            match wire_price(asked.price, known, scale) {
                None if !asked.sets_price() => near_price(asked.price, known, scale),
                price => price?,
            }
        }
        false => 0,
    };
    let said = asked.marks.or(marks.of_requests);
    let entry = OrderEntry::<SYMBOL> {
        exec_type: asked.exec_type,
        cm_id: said.cm_id,
        fcm_id: marks.fcm_id,
        order_no: order_no(order.pool_number.bytes())?,
        ord_id: ord_id(asked.number),
        // Both sides of a quote have the number of the bid as user_define.
        user_define: user_define(order.quote().unwrap_or(order.number)),
        symbol_type,
        symbol,
        price,
        qty: lots(state, order.instrument, asked.quantity)?,
        account: account_number(state.accounts().name(order.account))?,
        account_flag: said.investor_flag,
        side: match order.side.is_buy() {
            true => TmpSide::BUY,
            false => TmpSide::SELL,
        },
        ord_type: match kind {
            OrderType::Limit => TmpOrdType::LIMIT,
            OrderType::Market => TmpOrdType::MARKET,
            _ => return None,
        },
        time_in_force: time_in_force(order.tif)?,
        position_effect: position_effect(order, asked.exec_type, said.effect)?,
        order_source: said.order_source,
        info_source: said.info_source,
    };
    RequestFrame::of(&entry)
}

/// PositionEffect of a request; `None` for a new order that has no PositionEffect.
fn position_effect(
    order: &Order,
    exec_type: TmpExecType,
    default: u8,
) -> Option<TmpPositionEffect> {
    let is_new = exec_type == TmpExecType::NEW;
    // One side of a quote that is sent alone is an ordinary order.
    if order.quote_side != QuoteSide::None && !is_new {
        return Some(TmpPositionEffect::QUOTE);
    }
    match (order.effect.field(), default) {
        (Some(own), _) => Some(TmpPositionEffect(own)),
        // The request is about an order that the exchange has, and names it by its number, so the PositionEffect does
        // not matter.
        (None, 0) => (!is_new).then_some(TmpPositionEffect::OPEN),
        (None, default) => Some(TmpPositionEffect(default)),
    }
}

/// A number from a pool as order_no; `None` if it does not have five characters.
fn order_no(text: &[u8]) -> Option<[u8; 5]> {
    text.try_into().ok()
}

/// The TMP value for a TimeInForce(59); `None` if TMP has no such value.
pub(crate) fn time_in_force(tif: TimeInForce) -> Option<TmpTimeInForce> {
    match tif {
        TimeInForce::Day => Some(TmpTimeInForce::DAY),
        TimeInForce::ImmediateOrCancel => Some(TmpTimeInForce::IOC),
        TimeInForce::FillOrKill => Some(TmpTimeInForce::FOK),
        _ => None,
    }
}

/// The account as a number; `None` when its name is not a number of 1 to 9 digits.
pub(crate) fn account_number(name: &[u8]) -> Option<u32> {
    if name.is_empty() || name.len() > 9 || !name.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let add = |number, digit: &u8| number * 10 + u32::from(digit - b'0');
    Some(name.iter().fold(0, add))
}

/// A price in a TMP message, with `scale` decimals instead of the `known` decimals of the state; `None` when it needs
/// more decimals or is too large.
pub(crate) fn wire_price(price: Price, known: u8, scale: u8) -> Option<i32> {
    let more = 10_i64.checked_pow(known.checked_sub(scale)?.into())?;
    if price % more != 0 {
        return None;
    }
    i32::try_from(price / more).ok()
}

/// A price in a TMP message that need not be exact. Further decimals are cut off; a price that is too large becomes 0.
fn near_price(price: Price, known: u8, scale: u8) -> i32 {
    let more = known.checked_sub(scale).map(|more| 10_i64.pow(more.into()));
    let price = more.and_then(|more| i32::try_from(price / more).ok());
    price.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_numbers_of_at_most_nine_digits() {
        assert_eq!(account_number(b"1234567"), Some(1_234_567));
        assert_eq!(account_number(b"0000012"), Some(12));
        assert_eq!(account_number(b"999999999"), Some(999_999_999));
        for wrong in [&b""[..], b"A1", b"1234567890", b"-1", b"12 "] {
            assert_eq!(account_number(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn prices_have_the_decimals_of_the_wire() {
        assert_eq!(wire_price(-12_300, 3, 1), Some(-123));
        assert_eq!(wire_price(12_345, 3, 1), None, "it has more decimals");
        assert_eq!(wire_price(i64::from(i32::MAX) + 1, 2, 2), None);
        assert_eq!(wire_price(7, 0, 2), None);
    }
}
