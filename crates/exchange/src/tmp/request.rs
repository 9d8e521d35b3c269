//! Requests of TMP members, converted to the form that notes use.

use alloc::vec::Vec;

use fixwire_book::Side;
use fixwire_protocol::{Decimal, tag};
use fixwire_tmp::messages::{OrderEntry, QuoteEntry};
use fixwire_tmp::uncertain::{WRONG_INVESTOR, WRONG_SOURCE, has_sources, is_quote_entry};
use fixwire_tmp::{
    SystemType, TmpExecType, TmpOrdType, TmpPositionEffect, TmpSide, TmpStatus, TmpSymbol,
    TmpTimeInForce,
};

use crate::event::RequestMsgType;
use crate::fields::FieldWriter;
use crate::instrument::{Instrument, units};
use crate::market::Market;
use crate::orders::Order;
use crate::tmp::reports::is_immediate;
use crate::tmp::ticket::TmpTicket;

/// A request of a TMP member, in the form that notes use.
#[derive(Debug)]
pub(crate) struct TmpRequest {
    /// The member whose order the request is about.
    pub(crate) member: u32,
    pub(crate) msg_type: RequestMsgType,
    pub(crate) fields: Vec<u8>,
}

/// The line on which a request arrived, and facts about its arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TmpAsker {
    pub(crate) member: u32,
    /// The broker of the line.
    pub(crate) fcm_id: u16,
    /// The market of the line.
    pub(crate) system: SystemType,
    /// The status code of a normal reply: 0 or a warning.
    pub(crate) status: TmpStatus,
    /// MsgSeqNum of the request; and its arrival time, in nanoseconds since 1970.
    pub(crate) msg_seq_num: u32,
    pub(crate) at: u64,
}

/// The request in an R01 or R31, or its reject.
pub(crate) fn order<const SYMBOL: usize>(
    market: &Market,
    from: &TmpAsker,
    entry: &OrderEntry<SYMBOL>,
) -> TmpRequest {
    let translated = match entry.exec_type {
        _ if entry.fcm_id != from.fcm_id => Err(TmpStatus::BROKER),
        _ if !has_sources(entry.order_source, &entry.info_source) => Err(WRONG_SOURCE),
        TmpExecType::NEW => new_order(market, from, entry, None),
        TmpExecType::CANCEL
        | TmpExecType::REDUCE
        | TmpExecType::PRICE
        | TmpExecType::PRICE_HERE
        | TmpExecType::QUERY => change(market, from, entry),
        _ => Err(TmpStatus::EXEC_TYPE),
    };
    translated.unwrap_or_else(|status| refused(from, entry, status))
}

/// The reject of an R01 or R31, with this status code.
pub(crate) fn refused<const SYMBOL: usize>(
    from: &TmpAsker,
    entry: &OrderEntry<SYMBOL>,
    status: TmpStatus,
) -> TmpRequest {
    rejected(&ticket(from, entry), entry.side, status)
}

/// The two orders in an R09 or R39, or their rejects. Both orders are rejected if `status` is given. Each side is a
/// limit order of its own.
pub(crate) fn quote<const SYMBOL: usize>(
    market: &Market,
    from: &TmpAsker,
    quote: &QuoteEntry<SYMBOL>,
    refusal: Option<TmpStatus>,
) -> [TmpRequest; 2] {
    let both = [
        (TmpSide::BUY, quote.bid_px, quote.bid_size),
        (TmpSide::SELL, quote.offer_px, quote.offer_size),
    ];
    both.map(|(side, price, qty)| {
        let entry = OrderEntry::<SYMBOL> {
            exec_type: quote.exec_type,
            cm_id: quote.cm_id,
            fcm_id: quote.fcm_id,
            order_no: quote.order_no,
            ord_id: quote.ord_id,
            user_define: quote.user_define,
            symbol_type: quote.symbol_type,
            symbol: quote.symbol,
            price,
            qty,
            account: quote.account,
            account_flag: quote.account_flag,
            side,
            ord_type: TmpOrdType::LIMIT,
            time_in_force: quote.time_in_force,
            position_effect: quote.position_effect,
            order_source: quote.order_source,
            info_source: quote.info_source,
        };
        let translated = match (refusal, entry.exec_type) {
            (Some(status), _) => Err(status),
            _ if entry.fcm_id != from.fcm_id => Err(TmpStatus::BROKER),
            _ if !has_sources(entry.order_source, &entry.info_source) => Err(WRONG_SOURCE),
            (None, exec_type) if is_quote_entry(exec_type) => {
                new_order(market, from, &entry, Some(side))
            }
            _ => Err(TmpStatus::EXEC_TYPE),
        };
        let ticket = TmpTicket {
            quote_side: Some(side),
            ..ticket(from, &entry)
        };
        translated.unwrap_or_else(|status| rejected(&ticket, side, status))
    })
}

fn new_order<const SYMBOL: usize>(
    market: &Market,
    from: &TmpAsker,
    entry: &OrderEntry<SYMBOL>,
    quote_side: Option<TmpSide>,
) -> Result<TmpRequest, TmpStatus> {
    let index = market.instrument(text(entry)?).ok_or(TmpStatus::PRODUCT)?;
    let instrument = &market.instruments[index];
    if instrument.lot.scale != 0 {
        // Quantities over TMP are whole numbers, so the lot must be a whole number too.
        return Err(TmpStatus::PRODUCT);
    }
    if entry.side.name().is_none() {
        return Err(TmpStatus::SIDE);
    }
    let time_in_force = match entry.time_in_force {
        TmpTimeInForce::DAY => b'0',
        TmpTimeInForce::IOC => b'3',
        TmpTimeInForce::FOK => b'4',
        _ => return Err(TmpStatus::TIME_IN_FORCE),
    };
    let effect = entry.position_effect;
    let is_right = match quote_side {
        Some(_) => effect == TmpPositionEffect::QUOTE,
        None => effect.is_of_orders(from.system),
    };
    if !is_right {
        return Err(TmpStatus::POSITION_EFFECT);
    }
    if matches!(entry.account_flag, 0 | b' ') {
        return Err(WRONG_INVESTOR);
    }
    let price = match entry.ord_type {
        TmpOrdType::LIMIT => Some(price(entry.price, instrument)),
        TmpOrdType::MARKET if !is_immediate(entry.time_in_force) => {
            return Err(TmpStatus::MARKET_NEEDS_IOC);
        }
        TmpOrdType::MARKET => None,
        TmpOrdType::MARKET_WITH_PROTECTION => {
            let protected = protected(instrument, entry.side);
            Some(protected.ok_or(TmpStatus::PRICE_TYPE)?)
        }
        _ => return Err(TmpStatus::ORD_TYPE),
    };
    let mut fields = FieldWriter::default();
    fields.uint(tag::ACCOUNT, u64::from(entry.account));
    let ticket = TmpTicket {
        quote_side,
        ..ticket(from, entry)
    };
    fields.put(tag::CL_ORD_ID, &ticket.write());
    fields.decimal(tag::ORDER_QTY, Decimal::from_int(i64::from(entry.qty)));
    fields.char(tag::ORD_TYPE, if price.is_some() { b'2' } else { b'1' });
    fields.optional(tag::PRICE, price);
    put_side(&mut fields, entry.side);
    fields.put(tag::SYMBOL, instrument.symbol.as_bytes());
    fields.char(tag::TIME_IN_FORCE, time_in_force);
    Ok(TmpRequest {
        member: from.member,
        msg_type: RequestMsgType::New,
        fields: fields.0,
    })
}

/// A replace, cancel or query of an order.
fn change<const SYMBOL: usize>(
    market: &Market,
    from: &TmpAsker,
    entry: &OrderEntry<SYMBOL>,
) -> Result<TmpRequest, TmpStatus> {
    let order = market
        .tmp_order(entry.fcm_id, entry.order_no, entry.side)
        .ok_or(TmpStatus::NO_SUCH_ORDER)?;
    let instrument = &market.instruments[order.instrument as usize];
    let symbol = text(entry)?;
    if !symbol.is_empty() && symbol != instrument.symbol.as_bytes() {
        return Err(TmpStatus::OTHER_PRODUCT);
    }
    if entry.side.0 != 0 && side_code(entry.side) != Some(order.side) {
        return Err(TmpStatus::OTHER_SIDE);
    }
    let new_price = price(entry.price, instrument);
    let asked = ticket(from, entry);
    let (msg_type, fields) = changed(order, instrument, &asked, Some(new_price))?;
    Ok(TmpRequest {
        member: order.member,
        msg_type,
        fields,
    })
}

/// MsgType and fields of the replace or cancel that a ticket stands for, given the present state of the order. When a
/// script answers the request later, they are computed again.
pub(crate) fn changed(
    order: &Order,
    instrument: &Instrument,
    asked: &TmpTicket,
    asked_price: Option<Decimal>,
) -> Result<(RequestMsgType, Vec<u8>), TmpStatus> {
    let current = TmpTicket::read(order.cl_ord_id()).ok_or(TmpStatus::NO_SUCH_ORDER)?;
    let mut ticket = TmpTicket {
        home: current.home,
        symbol_type: current.symbol_type,
        account_flag: current.account_flag,
        ord_type: current.ord_type,
        time_in_force: current.time_in_force,
        position_effect: current.position_effect,
        cm_id: current.cm_id,
        quote_side: current.quote_side,
        ..*asked
    };
    if ticket.status == TmpStatus::REDUCED_MORE_THAN_LEFT {
        ticket.status = TmpStatus::OK;
    }
    let is_open = order.closed.is_none();
    let mut quantity = order.quantity;
    let mut new_price = order.price.map(|ticks| instrument.price(ticks));
    let msg_type = match asked.exec_type {
        TmpExecType::QUERY => RequestMsgType::TmpQuery,
        TmpExecType::REDUCE if is_open => {
            let removed = units(Decimal::from_int(i64::from(asked.qty)), instrument.lot);
            let removed = removed.map_err(|_| TmpStatus::QUANTITY)?;
            let removed = u64::try_from(removed).unwrap_or_default();
            if removed == 0 {
                return Err(TmpStatus::QUANTITY);
            }
            let left = order.leaves();
            if removed > left {
                ticket.status = TmpStatus::REDUCED_MORE_THAN_LEFT;
            }
            quantity = quantity.saturating_sub(removed);
            if removed < left {
                RequestMsgType::Replace
            } else {
                RequestMsgType::Cancel
            }
        }
        TmpExecType::PRICE | TmpExecType::PRICE_HERE if is_open => {
            if is_immediate(current.time_in_force) {
                return Err(TmpStatus::NO_PRICE_CHANGE);
            }
            if asked.exec_type == TmpExecType::PRICE_HERE {
                ticket.home = asked.via;
            }
            new_price = asked_price;
            RequestMsgType::Replace
        }
        // A cancel, or a change that arrives too late.
        _ => RequestMsgType::Cancel,
    };
    let mut fields = FieldWriter::default();
    fields.put(tag::CL_ORD_ID, &ticket.write());
    if msg_type == RequestMsgType::Replace {
        fields.decimal(tag::ORDER_QTY, instrument.quantity(quantity));
        fields.char(tag::ORD_TYPE, order.ord_type);
    }
    fields.put(tag::ORIG_CL_ORD_ID, order.cl_ord_id());
    if msg_type == RequestMsgType::Replace {
        fields.optional(tag::PRICE, new_price);
    }
    fields.char(tag::SIDE, order.side);
    Ok((msg_type, fields.0))
}

fn rejected(ticket: &TmpTicket, side: TmpSide, status: TmpStatus) -> TmpRequest {
    let mut fields = FieldWriter::default();
    fields.put(tag::CL_ORD_ID, &ticket.write());
    put_side(&mut fields, side);
    fields.uint(tag::ORD_REJ_REASON, u64::from(status.0));
    TmpRequest {
        member: ticket.via,
        msg_type: RequestMsgType::TmpReject,
        fields: fields.0,
    }
}

fn ticket<const SYMBOL: usize>(from: &TmpAsker, entry: &OrderEntry<SYMBOL>) -> TmpTicket {
    TmpTicket {
        via: from.member,
        home: from.member,
        exec_type: entry.exec_type,
        cm_id: entry.cm_id,
        fcm_id: entry.fcm_id,
        order_no: entry.order_no,
        ord_id: entry.ord_id,
        user_define: entry.user_define,
        symbol_type: entry.symbol_type,
        account_flag: entry.account_flag,
        ord_type: entry.ord_type,
        time_in_force: entry.time_in_force,
        position_effect: entry.position_effect,
        qty: entry.qty,
        status: from.status,
        msg_seq_num: from.msg_seq_num,
        at: from.at,
        quote_side: None,
    }
}

/// The symbol of a request as text. A numeric symbol would need a product list, which the exchange does not have.
fn text<const SYMBOL: usize>(entry: &OrderEntry<SYMBOL>) -> Result<&[u8], TmpStatus> {
    match TmpSymbol::read(entry.symbol_type, &entry.symbol) {
        Ok(TmpSymbol::Text(text)) => Ok(text),
        _ => Err(TmpStatus::PRODUCT),
    }
}

/// The limit price of a market order with protection: the best price of the other side. Without a best price, the
/// last price; without a last price, the reference price.
fn protected(instrument: &Instrument, side: TmpSide) -> Option<Decimal> {
    let book = &instrument.book;
    let other = if side == TmpSide::BUY {
        Side::Sell
    } else {
        Side::Buy
    };
    let best = book.depth(other).find_map(|level| level.price);
    let ticks = best.or(book.last()).or(book.reference())?;
    Some(instrument.price(ticks))
}

/// A price in TMP as a decimal. The unit of a TMP price is the last decimal of the tick.
fn price(price: i32, instrument: &Instrument) -> Decimal {
    Decimal {
        mantissa: i64::from(price),
        scale: instrument.tick.scale,
    }
}

fn put_side(fields: &mut FieldWriter, side: TmpSide) {
    if let Some(code) = side_code(side) {
        fields.char(tag::SIDE, code);
    }
}

/// Side(54).
fn side_code(side: TmpSide) -> Option<u8> {
    match side {
        TmpSide::BUY => Some(b'1'),
        TmpSide::SELL => Some(b'2'),
        _ => None,
    }
}
