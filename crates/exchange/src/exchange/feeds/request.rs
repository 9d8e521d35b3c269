//! Reads a MarketDataRequest(V).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::{Message, Refusal, Tag, tag};

use super::published_book::{DEPTH_MAX, FeedTerms, MdEntryType};
use crate::dialect::Dialect;
use crate::fields::{VALUE_MAX, number};
use crate::market::Market;

/// How a member gets the changes of a book.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FeedUpdates {
    /// A snapshot only.
    Never,
    /// A snapshot (W) after each change.
    Full,
    /// Incremental updates (X).
    Incremental,
}

/// A request for market data.
#[derive(Debug)]
pub(super) enum FeedRequest {
    /// Starts a subscription, or requests a snapshot only.
    Begin {
        terms: FeedTerms,
        updates: FeedUpdates,
        /// Indexes of the instruments.
        instruments: Vec<usize>,
    },
    /// Ends a subscription.
    End,
}

/// Why a request is answered with MarketDataRequestReject(Y).
#[derive(Debug)]
pub(super) struct MdReject {
    /// MDReqRejReason(281).
    pub(super) reason: u8,
    /// Text(58).
    pub(super) text: String,
}

impl MdReject {
    pub(super) fn new(reason: u8, text: impl ToString) -> Self {
        let text = text.to_string();
        Self { reason, text }
    }
}

/// Reads a request. An inner error is sent to the member in a MarketDataRequestReject(Y). An outer error says why the
/// member cannot get this reject.
pub(super) fn read(
    market: &Market,
    dialect: Dialect,
    message: &Message<'_>,
) -> Result<Result<FeedRequest, MdReject>, Refusal> {
    let all = |of: Tag| {
        let fields = message.fields().iter();
        let fields = fields.filter(move |field| field.tag == of);
        fields.map(|field| message.value(*field))
    };
    for of in [tag::MD_REQ_ID, tag::SYMBOL, tag::MD_ENTRY_TYPE] {
        if all(of).any(|value| value.len() > VALUE_MAX) {
            return Err(Refusal::ValueOutOfRange(of));
        }
    }
    let missing = Refusal::ConditionallyRequiredFieldMissing;
    let wants_updates = match message.get(tag::SUBSCRIPTION_REQUEST_TYPE) {
        Some(b"0") => false,
        Some(b"1") => true,
        Some(b"2") => return Ok(Ok(FeedRequest::End)),
        _ => {
            let text = "SubscriptionRequestType(263) must be 0, 1 or 2";
            return Ok(Err(MdReject::new(4, text)));
        }
    };
    let depth = message.get(tag::MARKET_DEPTH);
    let depth = match number(depth.ok_or(missing(tag::MARKET_DEPTH))?) {
        Some(0) => DEPTH_MAX,
        Some(depth) => usize::try_from(depth).map_or(DEPTH_MAX, |it| it.min(DEPTH_MAX)),
        None => {
            let text = "MarketDepth(264) must be 0 for the full book, 1 for the best prices, or a number of prices";
            return Ok(Err(MdReject::new(5, text)));
        }
    };
    let updates = match message.get(tag::MD_UPDATE_TYPE) {
        _ if !wants_updates => FeedUpdates::Never,
        None => return Err(missing(tag::MD_UPDATE_TYPE)),
        Some(b"0") => FeedUpdates::Full,
        Some(b"1") => FeedUpdates::Incremental,
        Some(_) => {
            let text = "MDUpdateType(265) must be 0 or 1";
            return Ok(Err(MdReject::new(6, text)));
        }
    };
    let is_aggregated = match message.get(tag::AGGREGATED_BOOK) {
        None | Some(b"Y") => true,
        Some(b"N") => false,
        Some(_) => {
            let text = "AggregatedBook(266) must be Y or N";
            return Ok(Err(MdReject::new(7, text)));
        }
    };
    let mut types = Vec::new();
    for value in all(tag::MD_ENTRY_TYPE) {
        let kind = match value {
            [byte] => MdEntryType::of(*byte),
            _ => None,
        };
        // In FIX dictionaries before 4.4, MDEntryType(269) has no value for the trade volume.
        let is_known = |it: &MdEntryType| *it != MdEntryType::Volume || dialect >= Dialect::Fix44;
        let Some(kind) = kind.filter(is_known) else {
            let value = String::from_utf8_lossy(value);
            let known = if dialect >= Dialect::Fix44 {
                "0, 1, 2, 4, 7, 8 or B"
            } else {
                "0, 1, 2, 4, 7 or 8"
            };
            let text = format!("MDEntryType(269)={value} is not supported: request {known}");
            return Ok(Err(MdReject::new(8, text)));
        };
        types.push(kind);
    }
    if types.is_empty() {
        return Err(missing(tag::MD_ENTRY_TYPE));
    }
    let mut instruments = Vec::new();
    for symbol in all(tag::SYMBOL) {
        let Some(index) = market.instrument(symbol) else {
            let symbol = String::from_utf8_lossy(symbol);
            let text = format!("Symbol(55)={symbol} is not traded here");
            return Ok(Err(MdReject::new(0, text)));
        };
        if !instruments.contains(&index) {
            instruments.push(index);
        }
    }
    if instruments.is_empty() {
        return Err(missing(tag::SYMBOL));
    }
    let terms = FeedTerms {
        depth,
        is_aggregated,
        types,
    };
    Ok(Ok(FeedRequest::Begin {
        terms,
        updates,
        instruments,
    }))
}
