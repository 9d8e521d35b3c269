//! SecurityStatusRequest(e) and TradingSessionStatusRequest(g) of a client, SecurityStatus(f) and TradingSessionStatus(h)
//! for it. To a venue the OMS sends g.

use fixwire_protocol::{Indexed, Message, Outbox, Refusal, SessionId, tag};

use super::clients::Client;
use super::requests::{byte, id, required};
use crate::state::OmsState;
use crate::values::ids::InstrumentNo;
use crate::values::value::{Market, Text};

/// SubscriptionRequestType(263).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Subscription {
    /// 0: the state now.
    State,
    /// 1: the state now, and each change.
    Updates,
    /// SubscriptionRequestType(263) = 2: no more updates.
    Nothing,
}

/// A request of a client.
#[derive(Clone, Debug)]
pub(crate) struct MarketRequest {
    /// MsgType(35): e or g.
    pub kind: u8,
    /// SecurityStatusReqID(324) or TradSesReqID(335).
    pub id: Text,
    /// The instrument of an e; `None` when it is unknown, and in a g, which is of all.
    pub instrument: Option<InstrumentNo>,
    /// Symbol(55) of an e, TradingSessionID(336) of a g.
    pub(crate) name: Text,
}

/// Reads one.
///
/// # Errors
///
/// A field is missing, too long, or has no value that is supported.
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
        // FIX 4.4 requires it in h, and not in g: 1 is the day session.
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

/// Writes the state of a market; without one it is unknown.
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
    // There is room: it was checked.
    let _ = answer.finish();
}

/// SecurityTradingStatus(326).
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

/// TradSesStatus(340).
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

/// Asks a venue for the state of trading, now and when it changes.
pub(crate) fn ask(line: SessionId, outbox: &mut Outbox) {
    let mut out = outbox.begin(line, b"g");
    out.field(tag::TRAD_SES_REQ_ID, b"1")
        .field(tag::TRADING_SESSION_ID, b"1")
        .char(tag::SUBSCRIPTION_REQUEST_TYPE, b'1');
    // Without room the line keeps the state that it had.
    let _ = out.finish();
}
