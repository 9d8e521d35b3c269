//! Which fields identify orders in each request and each response.

use fixwire_protocol::{Tag, tag};

/// Ids that a venue tells apart: the same text may stand for one thing of each kind.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// ClOrdID(11), OrigClOrdID(41).
    Order,
    /// ListID(66).
    List,
    /// CrossID(548), OrigCrossID(551).
    Cross,
    /// QuoteID(117) of a quote that the client made.
    Quote,
    /// QuoteReqID(131).
    QuoteRequest,
    /// MDReqID(262).
    MarketData,
    /// MassStatusReqID(584).
    MassStatus,
    /// SecurityReqID(320).
    Security,
    /// SecurityStatusReqID(324).
    SecurityStatus,
    /// TradSesReqID(335).
    TradingSession,
    /// AllocID(70).
    Allocation,
    /// TradeRequestID(568).
    TradeCapture,
    /// PosReqID(710).
    Positions,
    /// UserRequestID(923).
    User,
}

impl Kind {
    /// All of them, each at the place of its number.
    pub(super) const ALL: [Self; 14] = [
        Self::Order,
        Self::List,
        Self::Cross,
        Self::Quote,
        Self::QuoteRequest,
        Self::MarketData,
        Self::MassStatus,
        Self::Security,
        Self::SecurityStatus,
        Self::TradingSession,
        Self::Allocation,
        Self::TradeCapture,
        Self::Positions,
        Self::User,
    ];
}

/// The role of an id in a message to a venue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// A new order, list or cross.
    Orders,
    /// A request to replace the order in OrigClOrdID(41).
    Replaces,
    /// A request to cancel the order in OrigClOrdID(41).
    Cancels,
    /// Another request whose responses carry this id.
    Asks,
    /// A reference to an earlier request.
    Names,
}

/// An id in a message to a venue.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// The field.
    pub tag: Tag,
    /// The kind of the id.
    pub kind: Kind,
    /// Its role in the message.
    pub role: Role,
}

const fn ask(tag: Tag, kind: Kind, role: Role) -> Ask {
    Ask { tag, kind, role }
}

const NEW: Ask = ask(tag::CL_ORD_ID, Kind::Order, Role::Orders);
const ORIG: Ask = ask(tag::ORIG_CL_ORD_ID, Kind::Order, Role::Names);
const OF_LIST: Ask = ask(tag::LIST_ID, Kind::List, Role::Names);

/// Messages to a venue, by MsgType(35), with the ids in them. FIX 4.0 to 5.0 SP2.
pub static ASKS: [(&[u8], &[Ask]); 32] = [
    (b"D", &[NEW, OF_LIST]),
    (
        b"F",
        &[
            ask(tag::CL_ORD_ID, Kind::Order, Role::Cancels),
            ORIG,
            OF_LIST,
        ],
    ),
    (
        b"G",
        &[
            ask(tag::CL_ORD_ID, Kind::Order, Role::Replaces),
            ORIG,
            OF_LIST,
        ],
    ),
    (b"H", &[ask(tag::CL_ORD_ID, Kind::Order, Role::Names)]),
    (b"E", &[ask(tag::LIST_ID, Kind::List, Role::Orders), NEW]),
    (b"K", &[OF_LIST]),
    (b"L", &[OF_LIST]),
    (b"M", &[OF_LIST]),
    (b"AB", &[NEW]),
    (
        b"AC",
        &[ask(tag::CL_ORD_ID, Kind::Order, Role::Replaces), ORIG],
    ),
    (b"s", &[ask(tag::CROSS_ID, Kind::Cross, Role::Orders), NEW]),
    (
        b"t",
        &[
            ask(tag::CROSS_ID, Kind::Cross, Role::Orders),
            ask(tag::ORIG_CROSS_ID, Kind::Cross, Role::Names),
            ask(tag::CL_ORD_ID, Kind::Order, Role::Replaces),
            ORIG,
        ],
    ),
    (
        b"u",
        &[
            ask(tag::CROSS_ID, Kind::Cross, Role::Orders),
            ask(tag::ORIG_CROSS_ID, Kind::Cross, Role::Names),
            ask(tag::CL_ORD_ID, Kind::Order, Role::Cancels),
            ORIG,
        ],
    ),
    (b"q", &[ask(tag::CL_ORD_ID, Kind::Order, Role::Asks)]),
    (b"CA", &[ask(tag::CL_ORD_ID, Kind::Order, Role::Asks)]),
    (b"Q", &[ask(tag::CL_ORD_ID, Kind::Order, Role::Names)]),
    (
        b"AF",
        &[ask(tag::MASS_STATUS_REQ_ID, Kind::MassStatus, Role::Asks)],
    ),
    (
        b"R",
        &[ask(tag::QUOTE_REQ_ID, Kind::QuoteRequest, Role::Asks)],
    ),
    (b"S", &[ask(tag::QUOTE_ID, Kind::Quote, Role::Asks)]),
    (b"i", &[ask(tag::QUOTE_ID, Kind::Quote, Role::Asks)]),
    (b"Z", &[ask(tag::QUOTE_ID, Kind::Quote, Role::Names)]),
    (b"a", &[ask(tag::QUOTE_ID, Kind::Quote, Role::Names)]),
    (b"V", &[ask(tag::MD_REQ_ID, Kind::MarketData, Role::Asks)]),
    (
        b"c",
        &[ask(tag::SECURITY_REQ_ID, Kind::Security, Role::Asks)],
    ),
    (
        b"v",
        &[ask(tag::SECURITY_REQ_ID, Kind::Security, Role::Asks)],
    ),
    (
        b"x",
        &[ask(tag::SECURITY_REQ_ID, Kind::Security, Role::Asks)],
    ),
    (
        b"e",
        &[ask(
            tag::SECURITY_STATUS_REQ_ID,
            Kind::SecurityStatus,
            Role::Asks,
        )],
    ),
    (
        b"g",
        &[ask(tag::TRAD_SES_REQ_ID, Kind::TradingSession, Role::Asks)],
    ),
    (b"J", &[ask(tag::ALLOC_ID, Kind::Allocation, Role::Asks)]),
    (
        b"AD",
        &[ask(tag::TRADE_REQUEST_ID, Kind::TradeCapture, Role::Asks)],
    ),
    (b"AN", &[ask(tag::POS_REQ_ID, Kind::Positions, Role::Asks)]),
    (b"BE", &[ask(tag::USER_REQUEST_ID, Kind::User, Role::Asks)]),
];

/// How a message to a venue names an order by ids that are not in [`ASKS`].
#[derive(Clone, Copy, Debug)]
pub struct Naming {
    /// OrderID(37), and ids beside it that nobody follows.
    pub ids: &'static [Tag],
    /// The client's id of the same order.
    pub by: Tag,
    /// That id is in no row of [`ASKS`].
    pub translates: bool,
}

const BY_ORIG: Naming = Naming {
    ids: &[tag::ORDER_ID, tag::SECONDARY_ORDER_ID],
    by: tag::ORIG_CL_ORD_ID,
    translates: false,
};
const BY_CL_ORD_ID: Naming = Naming {
    ids: &[
        tag::ORDER_ID,
        tag::SECONDARY_ORDER_ID,
        tag::SECONDARY_CL_ORD_ID,
    ],
    by: tag::CL_ORD_ID,
    translates: false,
};
const BY_UNFOLLOWED: Naming = Naming {
    translates: true,
    ..BY_CL_ORD_ID
};

/// Messages to a venue, by MsgType(35), that may name an order by the venue's OrderID(37). FIX 4.0 to
/// 5.0 SP2.
pub static NAMINGS: [(&[u8], Naming); 10] = [
    (b"F", BY_ORIG),
    (b"G", BY_ORIG),
    (b"H", BY_CL_ORD_ID),
    (b"Q", BY_CL_ORD_ID),
    (b"J", BY_UNFOLLOWED),
    (b"AC", BY_ORIG),
    (b"t", BY_ORIG),
    (b"u", BY_ORIG),
    (b"AD", BY_UNFOLLOWED),
    (b"BN", BY_UNFOLLOWED),
];

/// Messages to a venue that may reach the orders of all clients there: OrderMassCancelRequest(q),
/// OrderMassStatusRequest(AF), OrderMassActionRequest(CA).
pub static MASS_REQUESTS: [&[u8]; 3] = [b"q", b"AF", b"CA"];

/// The treatment of an id in a response that does not belong to its client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stranger {
    /// It is replaced by the id of the order that the answer is about.
    Own,
    /// It is replaced by the id of the order that this one was to replace or cancel, or removed.
    Before,
    /// The field is removed.
    Nothing,
    /// It is replaced by `NONE`: the field begins an entry of a repeating group, or is required.
    NoneText,
}

/// An id in a message from a venue.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// The field.
    pub tag: Tag,
    /// The kind of the id; `None` for OrderID(37), which is the venue's own.
    pub kind: Option<Kind>,
    /// The treatment of an id that does not belong to the client.
    pub stranger: Stranger,
}

const fn answer(tag: Tag, kind: Kind, stranger: Stranger) -> Answer {
    let kind = Some(kind);
    Answer {
        tag,
        kind,
        stranger,
    }
}

const ABOUT: Answer = answer(tag::CL_ORD_ID, Kind::Order, Stranger::Own);
const BEFORE: Answer = answer(tag::ORIG_CL_ORD_ID, Kind::Order, Stranger::Before);
const IN_LIST: Answer = answer(tag::LIST_ID, Kind::List, Stranger::Nothing);
const BY_ORDER_ID: Answer = Answer {
    tag: tag::ORDER_ID,
    kind: None,
    stranger: Stranger::Nothing,
};
const MASS_CANCEL: [Answer; 2] = [
    ABOUT,
    answer(tag::ORIG_CL_ORD_ID, Kind::Order, Stranger::NoneText),
];
const QUOTED: Answer = answer(tag::QUOTE_ID, Kind::Quote, Stranger::NoneText);
const QUOTE_REQUESTED: Answer = answer(tag::QUOTE_REQ_ID, Kind::QuoteRequest, Stranger::Nothing);
const MARKET_DATA: [Answer; 1] = [answer(tag::MD_REQ_ID, Kind::MarketData, Stranger::Nothing)];
const SECURITY: [Answer; 1] = [answer(
    tag::SECURITY_REQ_ID,
    Kind::Security,
    Stranger::Nothing,
)];
const TRADES: [Answer; 1] = [answer(
    tag::TRADE_REQUEST_ID,
    Kind::TradeCapture,
    Stranger::Nothing,
)];
const POSITIONS: [Answer; 1] = [answer(tag::POS_REQ_ID, Kind::Positions, Stranger::Nothing)];

/// Messages from a venue, by MsgType(35), with the ids in them: the client is found by the first
/// that is known. FIX 4.0 to 5.0 SP2.
pub static ANSWERS: [(&[u8], &[Answer]); 25] = [
    (
        b"8",
        &[
            ABOUT,
            BEFORE,
            BY_ORDER_ID,
            IN_LIST,
            answer(tag::CROSS_ID, Kind::Cross, Stranger::Nothing),
            answer(tag::ORIG_CROSS_ID, Kind::Cross, Stranger::Nothing),
            answer(tag::MASS_STATUS_REQ_ID, Kind::MassStatus, Stranger::Nothing),
        ],
    ),
    (b"9", &[ABOUT, BEFORE, BY_ORDER_ID, IN_LIST]),
    (
        b"N",
        &[
            answer(tag::LIST_ID, Kind::List, Stranger::NoneText),
            answer(tag::CL_ORD_ID, Kind::Order, Stranger::NoneText),
        ],
    ),
    (b"r", &MASS_CANCEL),
    (b"BZ", &MASS_CANCEL),
    (b"S", &[QUOTE_REQUESTED]),
    (b"AG", &[QUOTE_REQUESTED]),
    (b"b", &[QUOTED, QUOTE_REQUESTED]),
    (b"AI", &[QUOTED, QUOTE_REQUESTED]),
    (b"W", &MARKET_DATA),
    (b"X", &MARKET_DATA),
    (b"Y", &MARKET_DATA),
    (b"d", &SECURITY),
    (b"w", &SECURITY),
    (b"y", &SECURITY),
    (b"AA", &SECURITY),
    (
        b"f",
        &[answer(
            tag::SECURITY_STATUS_REQ_ID,
            Kind::SecurityStatus,
            Stranger::Nothing,
        )],
    ),
    (
        b"h",
        &[answer(
            tag::TRAD_SES_REQ_ID,
            Kind::TradingSession,
            Stranger::Nothing,
        )],
    ),
    (
        b"P",
        &[answer(tag::ALLOC_ID, Kind::Allocation, Stranger::NoneText)],
    ),
    (
        b"AS",
        &[answer(tag::ALLOC_ID, Kind::Allocation, Stranger::Nothing)],
    ),
    (b"AE", &TRADES),
    (b"AQ", &TRADES),
    (b"AO", &POSITIONS),
    (b"AP", &POSITIONS),
    (
        b"BF",
        &[answer(tag::USER_REQUEST_ID, Kind::User, Stranger::Nothing)],
    ),
];

/// The ids in a message to a venue; none for a type that is not in [`ASKS`].
pub(super) fn asks(msg_type: &[u8]) -> &'static [Ask] {
    let row = ASKS.iter().find(|(asked, _)| *asked == msg_type);
    row.map_or(&[], |(_, ids)| ids)
}

/// How a message to a venue names an order by the venue's ids; `None` for a type without them.
pub(super) fn naming(msg_type: &[u8]) -> Option<&'static Naming> {
    let row = NAMINGS.iter().find(|(named, _)| *named == msg_type);
    row.map(|(_, naming)| naming)
}

/// The ids in a message from a venue; none for a type that is not in [`ANSWERS`].
pub(super) fn answers(msg_type: &[u8]) -> &'static [Answer] {
    let row = ANSWERS.iter().find(|(answered, _)| *answered == msg_type);
    row.map_or(&[], |(_, ids)| ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_stands_at_its_number() {
        for (number, kind) in Kind::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, number);
        }
    }

    #[test]
    fn whatever_is_asked_is_answered_by_some_message() {
        for (msg_type, ids) in &ASKS {
            for id in ids.iter() {
                let answered = |(_, ids): &(_, &[Answer])| {
                    ids.iter().any(|answer| answer.kind == Some(id.kind))
                };
                assert!(ANSWERS.iter().any(answered), "{msg_type:?} {id:?}");
            }
        }
    }

    #[test]
    fn each_message_has_one_row() {
        for (at, (msg_type, _)) in ASKS.iter().enumerate() {
            assert!(!ASKS[..at].iter().any(|(other, _)| other == msg_type));
        }
        for (at, (msg_type, _)) in ANSWERS.iter().enumerate() {
            assert!(!ANSWERS[..at].iter().any(|(other, _)| other == msg_type));
        }
    }
}
