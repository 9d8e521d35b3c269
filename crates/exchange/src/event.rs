//! Events of the market, as journal notes. The note of an event is written before the event is applied to the market,
//! so every change has its note.

use alloc::format;
use alloc::string::String;

use fixwire_ledger::{Bytes, Put, Wire, bytes, events, record};
use fixwire_protocol::{Decimal, Timestamp};

use crate::config::TraderTerms;
use crate::dialect::Dialect;
use crate::fields::RequestFields;

bytes! {
    /// MsgType(35) of a request.
    RequestMsgType {
        /// NewOrderSingle (D).
        New = b'D',
        /// OrderCancelRequest (F).
        Cancel = b'F',
        /// OrderCancelReplaceRequest (G).
        Replace = b'G',
        /// OrderStatusRequest (H).
        Status = b'H',
        /// OrderMassCancelRequest (q).
        MassCancel = b'q',
        /// OrderMassStatusRequest (AF).
        MassStatus = 0xAF,
        /// A query of a TMP member.
        TmpQuery = b'I',
        /// A request of a TMP member that is rejected; its OrdRejReason(103) has the status code.
        TmpReject = b'3',
    }
}

impl RequestMsgType {
    /// The type for a FIX MsgType(35); `None` if the message is not one of these requests.
    pub(crate) fn of_fix(msg_type: &[u8]) -> Option<Self> {
        match msg_type {
            b"AF" => Some(Self::MassStatus),
            [byte @ (b'D' | b'F' | b'G' | b'H' | b'q')] => Self::of(*byte),
            _ => None,
        }
    }
}

/// A request of a member.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct MemberRequest<'a> {
    pub(crate) member: u32,
    pub(crate) at: Timestamp,
    pub(crate) msg_type: RequestMsgType,
    /// The fields of the request that the exchange uses.
    pub(crate) fields: RequestFields<'a>,
}

record! { MemberRequest<'a> { member, at, msg_type, fields } }

impl<'a> Wire<'a> for RequestFields<'a> {
    fn put(&self, to: &mut impl Put) {
        Bytes(self.bytes).put(to);
    }

    fn take(from: &mut &'a [u8]) -> Option<Self> {
        Bytes::take(from).map(|bytes| Self::new(bytes.0))
    }
}

/// Quantity and price of a corrected trade.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Correction {
    pub(crate) quantity: Decimal,
    /// The new price; `None` if the price is unchanged.
    pub(crate) price: Option<Decimal>,
}

record! { Correction { quantity, price } }

events! {
    /// An event of the market.
    MarketEvent ['a] {
        /// The number of closed orders to remember was set. The number applies from this note on.
        1 Limits { remembered_max: u32 = "The number.", }
        /// A member was added, or its FIX version or precision has changed.
        2 Member {
            number: u32 = "Its number in events.",
            dialect: Dialect = "Its FIX version, or TMP.",
            digits: u8 = "Fraction digits of its times.",
            name: &'a str = "Name of its session or line.",
        }
        /// An instrument was added to the settings file, or was changed there.
        3 Instrument { at: Timestamp = "When.", noted: &'a str = "Its settings: see `Instrument::noted`.", }
        /// An instrument was removed from the settings file.
        4 Gone { at: Timestamp = "When.", symbol: &'a str = "Symbol(55).", }
        /// A request of a member.
        5 Request { request: MemberRequest<'a> = "The request.", }
        /// A new order that follows a script.
        6 Scripted { request: MemberRequest<'a> = "The order.", script: &'a str = "Name and steps of its script, a line each.", }
        /// The next step of a scripted order is due.
        7 Step { at: Timestamp = "When.", order: u64 = "OrderID(37).", }
        /// An operator requested a report of an order's status.
        8 Status { at: Timestamp = "When.", order: u64 = "OrderID(37).", }
        /// An operator changed the trading state.
        9 State { at: Timestamp = "When.", state: &'a str = "Its name.", symbol: &'a str = "Symbol(55).", }
        /// An operator ended an auction call with its trades.
        10 Uncross { at: Timestamp = "When.", symbol: &'a str = "Symbol(55).", }
        /// An operator cancelled a trade, or corrected it.
        11 TradeChange {
            at: Timestamp = "When.",
            exec_id: u64 = "ExecID(17) of the trade.",
            to: Option<Correction> = "Its correction; `None` if it is cancelled.",
        }
        /// An operator changed a price band.
        12 Band { low: Decimal = "Lowest price.", high: Decimal = "Highest price.", symbol: &'a str = "Symbol(55).", }
        /// Queued reports were written.
        13 Written { at: u64 = "Index of the first one.", count: u64 = "Their number.", }
        /// A TMP line received a message.
        14 Received { member: u32 = "The line's member.", inbound: u32 = "MsgSeqNum of the message.", }
        /// A frame is kept for a TMP line.
        15 Kept { member: u32 = "The line's member.", msg_seq_num: u32 = "Its MsgSeqNum.", frame: Bytes<'a> = "The frame.", }
        /// From this note on, copies of reports of TMP orders are kept.
        16 Copies {}
        /// A trader of an instrument was added to the settings file, changed there, or removed.
        17 Trader {
            at: Timestamp = "When.",
            symbol: &'a str = "Symbol(55).",
            terms: Option<TraderTerms> = "Its terms; `None` if there is no trader any more.",
        }
        /// The next step of the trader of an instrument is due.
        18 TraderStep { at: Timestamp = "When.", symbol: &'a str = "Symbol(55).", }
    }
}

/// The event in a journal note as text, with SOH after each field of a message; `None` if the note does not belong to
/// an exchange.
#[must_use]
pub fn event_text(note: &[u8]) -> Option<String> {
    let event = MarketEvent::of(note)?;
    Some(format!("{event:?}").replace("\\u{1}", "\x01"))
}
