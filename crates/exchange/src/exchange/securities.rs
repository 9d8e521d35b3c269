//! Lists of instruments for FIX members: SecurityListRequest(x) and SecurityDefinitionRequest(c).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_book::PriceBand;
use fixwire_protocol::{Message, Outbox, Refusal, SessionId, tag};

use crate::dialect::Dialect;
use crate::fields::{FieldWriter, text};
use crate::instrument::Instrument;
use crate::leg_config::{LegConfig, noted_legs};
use crate::market::Market;

/// Maximum number of instruments in one SecurityList(y).
const LIST_MAX: usize = 50;
/// Room in the outbox for the header and trailer of each answer, in bytes.
const MESSAGE_ROOM: usize = 256;

/// Answers a SecurityListRequest(x) with SecurityList(y). SecurityListRequestType(559) selects one symbol (0) or all
/// (4).
pub(super) fn list(
    market: &Market,
    from: SessionId,
    dialect: Dialect,
    request: &Message<'_>,
    outbox: &mut Outbox,
) -> Result<(), Refusal> {
    if request.get(tag::SUBSCRIPTION_REQUEST_TYPE) == Some(b"2") {
        return Ok(());
    }
    let id = request.get(tag::SECURITY_REQ_ID).unwrap_or_default();
    // SecurityRequestResult(560): 0 when instruments were found, 1 when the request type is not supported, 2 when no
    // instrument was found.
    let (result, found) = match request.get(tag::SECURITY_LIST_REQUEST_TYPE) {
        Some(b"4") => (b'0', traded(market).collect()),
        Some(b"0") => match symbol(market, request)? {
            Some(instrument) => (b'0', Vec::from([instrument])),
            None => (b'2', Vec::new()),
        },
        _ => (b'1', Vec::new()),
    };
    let mut parts: Vec<&[&Instrument]> = found.chunks(LIST_MAX).collect();
    if parts.is_empty() {
        parts.push(&[]);
    }
    let bodies = parts.iter().enumerate().map(|(place, part)| {
        let mut out = FieldWriter::default();
        out.put(tag::SECURITY_REQ_ID, id);
        out.put(tag::SECURITY_RESPONSE_ID, id);
        out.char(tag::SECURITY_REQUEST_RESULT, result);
        out.uint(tag::TOT_NO_RELATED_SYM, found.len() as u64);
        if dialect >= Dialect::Fix44 {
            let is_last = place + 1 == parts.len();
            out.char(tag::LAST_FRAGMENT, if is_last { b'Y' } else { b'N' });
        }
        if !part.is_empty() {
            out.uint(tag::NO_RELATED_SYM, part.len() as u64);
        }
        for instrument in *part {
            put_instrument(dialect, true, instrument, &mut out);
        }
        out
    });
    send(from, b"y", &bodies.collect::<Vec<_>>(), outbox)
}

/// Answers a SecurityDefinitionRequest(c) with SecurityDefinition(d): one for the requested symbol, or one for each
/// instrument.
pub(super) fn define(
    market: &Market,
    from: SessionId,
    dialect: Dialect,
    request: &Message<'_>,
    outbox: &mut Outbox,
) -> Result<(), Refusal> {
    let id = request.get(tag::SECURITY_REQ_ID).unwrap_or_default();
    // SecurityResponseType(323): accepted, list of securities, rejected, or no match.
    let (response, found, why) = match request.get(tag::SECURITY_REQUEST_TYPE) {
        // From FIX 4.4 on, SecurityResponseType(323) = 4 belongs to SecurityList(y).
        Some(b"3" | b"8") if dialect < Dialect::Fix44 => (b'4', traded(market).collect(), ""),
        Some(b"3" | b"8") => (b'1', traded(market).collect(), ""),
        Some(b"0" | b"1" | b"4") => match symbol(market, request)? {
            Some(instrument) => (b'1', Vec::from([instrument]), ""),
            None => (b'6', Vec::new(), "Symbol(55) is not traded here"),
        },
        _ => {
            let why = "SecurityRequestType(321) is not supported: request 0 with a Symbol(55), or 3 for all symbols";
            (b'5', Vec::new(), why)
        }
    };
    let begin = |number: usize| {
        let mut out = FieldWriter::default();
        out.put(tag::SECURITY_REQ_ID, id);
        // Each response has a SecurityResponseID(322) of its own.
        let response_id = [id, format!("-{number}").as_bytes()].concat();
        out.put(tag::SECURITY_RESPONSE_ID, &response_id);
        out.char(tag::SECURITY_RESPONSE_TYPE, response);
        if dialect == Dialect::Fix42 {
            out.uint(tag::TOTAL_NUM_SECURITIES, found.len() as u64);
        }
        out
    };
    if found.is_empty() {
        let mut out = begin(1);
        if dialect > Dialect::Fix42 || response == b'6' {
            out.put(tag::SYMBOL, request.get(tag::SYMBOL).unwrap_or_default());
        }
        out.put(tag::TEXT, why.as_bytes());
        return send(from, b"d", &[out], outbox);
    }
    let bodies = (1..).zip(&found).map(|(number, instrument)| {
        let mut out = begin(number);
        put_instrument(dialect, false, instrument, &mut out);
        out
    });
    send(from, b"d", &bodies.collect::<Vec<_>>(), outbox)
}

/// The instrument with the Symbol(55) of the request; `None` if the exchange does not trade it.
fn symbol<'a>(
    market: &'a Market,
    request: &Message<'_>,
) -> Result<Option<&'a Instrument>, Refusal> {
    let missing = Refusal::ConditionallyRequiredFieldMissing(tag::SYMBOL);
    let symbol = request.get(tag::SYMBOL).ok_or(missing)?;
    let index = market.instrument(symbol);
    Ok(index.map(|index| &market.instruments[index]))
}

fn traded(market: &Market) -> impl Iterator<Item = &Instrument> {
    market.instruments.iter().filter(|it| !it.is_gone)
}

/// Writes an instrument with its tick, lot, price band and legs. Values for which the message has no field are written
/// in Text(58).
fn put_instrument(dialect: Dialect, in_list: bool, instrument: &Instrument, out: &mut FieldWriter) {
    out.put(tag::SYMBOL, instrument.symbol.as_bytes());
    if instrument.legs.is_some() && dialect > Dialect::Fix42 {
        out.put(tag::SECURITY_TYPE, b"MLEG");
    }
    let (any, band) = (PriceBand::ANY, instrument.book.band());
    let low = (band.low > any.low).then(|| instrument.price(band.low));
    let high = (band.high < any.high).then(|| instrument.price(band.high));
    if dialect >= Dialect::Fix50Sp1 {
        out.decimal(tag::MIN_PRICE_INCREMENT, instrument.tick);
    }
    let has_rules = in_list && dialect >= Dialect::Fix50Sp1;
    if has_rules {
        out.optional(tag::LOW_LIMIT_PRICE, low);
        out.optional(tag::HIGH_LIMIT_PRICE, high);
        out.decimal(tag::ROUND_LOT, instrument.lot);
    }
    if dialect > Dialect::Fix42 {
        put_legs(instrument, out);
    }
    if has_rules {
        return;
    }
    if (Dialect::Fix43..Dialect::Fix50Sp1).contains(&dialect) {
        out.decimal(tag::ROUND_LOT, instrument.lot);
    }
    let shown = |it| String::from_utf8_lossy(&text(it)).into_owned();
    let (tick, lot) = (shown(instrument.tick), shown(instrument.lot));
    let mut words = format!("Tick {tick}, lot {lot}");
    for (name, price) in [("low", low), ("high", high)] {
        if let Some(price) = price {
            words += &format!(", {name} {}", shown(price));
        }
    }
    if let Some(legs) = &instrument.legs {
        words += &format!(", {}", noted_legs(legs));
    }
    out.put(tag::TEXT, words.as_bytes());
}

fn put_legs(instrument: &Instrument, out: &mut FieldWriter) {
    let Some(legs) = &instrument.legs else {
        return;
    };
    out.uint(tag::NO_LEGS, legs.len() as u64);
    for LegConfig {
        symbol,
        buys,
        ratio,
    } in legs
    {
        out.put(tag::LEG_SYMBOL, symbol.as_bytes());
        out.uint(tag::LEG_RATIO_QTY, u64::from(*ratio));
        out.char(tag::LEG_SIDE, if *buys { b'1' } else { b'2' });
    }
}

/// Sends all answers, or none of them.
fn send(
    to: SessionId,
    msg_type: &[u8],
    bodies: &[FieldWriter],
    outbox: &mut Outbox,
) -> Result<(), Refusal> {
    let bytes: usize = bodies.iter().map(|it| it.0.len() + MESSAGE_ROOM).sum();
    if !outbox.has_room(bodies.len(), bytes) {
        return Err(Refusal::NotAvailable);
    }
    for body in bodies {
        let mut answer = outbox.begin(to, msg_type);
        answer.encoded(&body.0);
        answer.finish().map_err(|_| Refusal::NotAvailable)?;
    }
    Ok(())
}
