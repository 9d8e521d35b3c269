//! Requests of clients for the state of a market: SecurityStatusRequest(e) is answered by SecurityStatus(f),
//! TradingSessionStatusRequest(g) by TradingSessionStatus(h). The OMS itself sends g to venues.

use fixwire_protocol::{Indexed, Message, Outbox, Refusal, SessionId, tag};

use super::clients::Client;
use super::requests::{byte, id, required};
use crate::state::OmsState;
use crate::values::ids::InstrumentNo;
use crate::values::value::{Market, Text};

/// SubscriptionRequestType(263): what the client wants.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Subscription {
    /// 0: the present state.
    State,
    /// 1: the present state, and each later change.
    Updates,
    /// 2: no further updates.
    Nothing,
}

/// A client's request for the state of a market.
#[derive(Clone, Debug)]
pub(crate) struct MarketRequest {
    /// MsgType(35): e or g.
    pub kind: u8,
    /// SecurityStatusReqID(324) or TradSesReqID(335).
    pub id: Text,
    /// The instrument of an e; `None` when the OMS does not have the symbol. Also `None` in a g, which is about all
    /// markets.
    pub instrument: Option<InstrumentNo>,
    /// Symbol(55) of an e, TradingSessionID(336) of a g.
    pub(crate) name: Text,
}

/// Reads a request.
///
/// # Errors
///
/// A field is missing, is too long, or has a value that is not supported.
pub(crate) fn read(
    state: &OmsState,
    message: &Message<'_>,
) -> Result<(MarketRequest, Subscription), Refusal> {
    let kind = if message.msg_type() == b"e" {
        b'e'
    } else {
        b'g'
    };
    let message = &Indexed::new(message);
    let (id_tag, name_tag) = match kind {
        b'e' => (tag::SECURITY_STATUS_REQ_ID, tag::SYMBOL),
        _ => (tag::TRAD_SES_REQ_ID, tag::TRADING_SESSION_ID),
    };
    let name = match kind {
        b'e' => required(message, name_tag)?,
        // FIX 4.4 requires TradingSessionID(336) in h, but not in g: 1 is the day session.
        _ => message.get(name_tag).unwrap_or(b"1"),
    };
    if name.len() > Text::MAX {
        return Err(Refusal::ValueOutOfRange(name_tag));
    }
    required(message, tag::SUBSCRIPTION_REQUEST_TYPE)?;
    let asked = match byte(message, tag::SUBSCRIPTION_REQUEST_TYPE) {
        Some(b'0') => Subscription::State,
        Some(b'1') => Subscription::Updates,
        Some(b'2') => Subscription::Nothing,
        _ => return Err(Refusal::ValueOutOfRange(tag::SUBSCRIPTION_REQUEST_TYPE)),
    };
    let instrument = (kind == b'e').then(|| state.instruments().find(name));
    let request = MarketRequest {
        kind,
        id: Text::new(id(message, id_tag)?),
        instrument: instrument.flatten(),
        name: Text::new(name),
    };
    Ok((request, asked))
}

impl MarketRequest {
    /// Whether the request is for all markets.
    pub(crate) fn is_of_all(&self) -> bool {
        self.kind == b'g'
    }
}

/// Writes the answer with the state of a market; `None` is written as an unknown state.
pub(crate) fn write(
    request: &MarketRequest,
    market: Option<Market>,
    client: Client,
    outbox: &mut Outbox,
) {
    let is_of_all = request.is_of_all();
    let mut answer = outbox.begin(client.session, if is_of_all { b"h" } else { b"f" });
    if is_of_all {
        answer
            .field(tag::TRAD_SES_REQ_ID, request.id.bytes())
            .field(tag::TRADING_SESSION_ID, request.name.bytes())
            .uint(tag::TRAD_SES_STATUS, session_status(market));
    } else {
        answer
            .field(tag::SECURITY_STATUS_REQ_ID, request.id.bytes())
            .field(tag::SYMBOL, request.name.bytes())
            .uint(tag::SECURITY_TRADING_STATUS, trading_status(market));
        if market.is_none() {
            answer.field(tag::TEXT, b"unknown symbol");
        }
    }
    // The outbox has room: that was checked before.
    let _ = answer.finish();
}

/// SecurityTradingStatus(326) for the state of a market.
fn trading_status(market: Option<Market>) -> u64 {
    match market {
        // Ready to trade.
        Some(Market::Open) => 17,
        // Pre-open.
        Some(Market::Auction) => 21,
        // Trading halt.
        Some(Market::Halted) => 2,
        // Not available for trading.
        Some(Market::Closed) => 18,
        // Unknown or invalid.
        None => 20,
    }
}

/// TradSesStatus(340) for the state of a market.
fn session_status(market: Option<Market>) -> u64 {
    match market {
        Some(Market::Open) => 2,
        Some(Market::Auction) => 4,
        Some(Market::Halted) => 1,
        Some(Market::Closed) => 3,
        // Unknown.
        None => 0,
    }
}

/// Writes a request to a venue for the state of trading, now and whenever it changes.
pub(crate) fn ask(line: SessionId, outbox: &mut Outbox) {
    let mut out = outbox.begin(line, b"g");
    out.field(tag::TRAD_SES_REQ_ID, b"1")
        .field(tag::TRADING_SESSION_ID, b"1")
        .char(tag::SUBSCRIPTION_REQUEST_TYPE, b'1');
    // If the outbox has no room, nothing is sent, and the markets of the line keep their state.
    let _ = out.finish();
}
