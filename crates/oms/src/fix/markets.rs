//! Reads the state of a market from SecurityStatus(f) and TradingSessionStatus(h) of a venue.

use alloc::format;
use alloc::string::String;

use fixwire_protocol::{Message, tag, value};

use crate::values::value::Market;

/// The state of a market that a message reports.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct MarketReport<'a> {
    /// Symbol(55); empty for all symbols.
    pub symbol: &'a [u8],
    pub state: Market,
    /// The field that gives the state, as text.
    pub why: String,
}

/// Reads the state of a market; `None` when the message gives none, for example because the OMS does not use the value
/// of its status.
pub(crate) fn market<'a>(message: &Message<'a>) -> Option<MarketReport<'a>> {
    let symbol = message.get(tag::SYMBOL).unwrap_or_default();
    let number = |tag| message.get(tag).and_then(|it| value::uint(it).ok());
    let (name, of, status) = match message.msg_type() {
        b"f" if symbol.is_empty() => return None,
        b"f" => (
            "SecurityTradingStatus",
            tag::SECURITY_TRADING_STATUS,
            number(tag::SECURITY_TRADING_STATUS)?,
        ),
        _ => (
            "TradSesStatus",
            tag::TRAD_SES_STATUS,
            number(tag::TRAD_SES_STATUS)?,
        ),
    };
    let state = match (of, status) {
        // SecurityTradingStatus(326): Ready to trade, Resume, Fast Market; TradSesStatus(340): Open.
        (tag::SECURITY_TRADING_STATUS, 3 | 17 | 23) | (tag::TRAD_SES_STATUS, 2) => Market::Open,
        // SecurityTradingStatus(326): Pre-open, Opening Rotation; TradSesStatus(340): Pre-Open.
        (tag::SECURITY_TRADING_STATUS, 21 | 22) | (tag::TRAD_SES_STATUS, 4) => Market::Auction,
        // SecurityTradingStatus(326): Opening Delay, Trading Halt; TradSesStatus(340): Halted.
        (tag::SECURITY_TRADING_STATUS, 1 | 2) | (tag::TRAD_SES_STATUS, 1) => Market::Halted,
        // SecurityTradingStatus(326): Not available for trading, Not traded on this market, Post-close;
        // TradSesStatus(340): Closed.
        (tag::SECURITY_TRADING_STATUS, 18 | 19 | 26) | (tag::TRAD_SES_STATUS, 3) => Market::Closed,
        _ => return None,
    };
    Some(MarketReport {
        symbol,
        state,
        why: format!("{name}({of}) = {status}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire_protocol::Decoder;

    #[test]
    fn each_status_is_a_state_or_nothing() {
        let mut decoder = Decoder::with_capacity(16);
        let mut state = |text: &str| {
            let bytes = format!("8=FIX.4.4|9=0|{text}|").replace('|', "\x01");
            let message = decoder.decode(bytes.as_bytes());
            market(&message).map(|it| (String::from_utf8_lossy(it.symbol).into_owned(), it.state))
        };
        let of = |symbol: &str, state| Some((symbol.into(), state));
        assert_eq!(state("35=f|55=VOD|326=2"), of("VOD", Market::Halted));
        assert_eq!(state("35=f|55=VOD|326=17"), of("VOD", Market::Open));
        assert_eq!(state("35=f|55=VOD|326=18"), of("VOD", Market::Closed));
        assert_eq!(state("35=f|55=VOD|326=21"), of("VOD", Market::Auction));
        assert_eq!(state("35=f|55=VOD|326=20"), None, "unknown");
        assert_eq!(state("35=f|326=2"), None);
        assert_eq!(state("35=h|336=1|340=3"), of("", Market::Closed));
        assert_eq!(state("35=h|336=1|340=4"), of("", Market::Auction));
        assert_eq!(state("35=h|336=1|340=2|55=VOD"), of("VOD", Market::Open));
        assert_eq!(state("35=h|336=1|340=5"), None, "it still trades");
        assert_eq!(state("35=h|336=1|340=6"), None);
        assert_eq!(state("35=h|336=1"), None);
    }
}
