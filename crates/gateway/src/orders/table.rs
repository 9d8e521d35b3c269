//! The fields that identify orders in each request and each response.

use fixwire_ledger::bytes;
use fixwire_protocol::{Tag, tag};

bytes! {
    /// The kind of an id. For a venue, equal ids of different kinds are different.
    IdKind {
        /// ClOrdID(11), OrigClOrdID(41).
        Order = 0,
        /// ListID(66).
        List = 1,
        /// CrossID(548), OrigCrossID(551).
        Cross = 2,
        /// QuoteID(117) of a quote that the client made.
        Quote = 3,
        /// QuoteReqID(131).
        QuoteRequest = 4,
        /// MDReqID(262).
        MarketData = 5,
        /// MassStatusReqID(584).
        MassStatus = 6,
        /// SecurityReqID(320).
        Security = 7,
        /// SecurityStatusReqID(324).
        SecurityStatus = 8,
        /// TradSesReqID(335).
        TradingSession = 9,
        /// AllocID(70).
        Allocation = 10,
        /// TradeRequestID(568).
        TradeCapture = 11,
        /// PosReqID(710).
        Positions = 12,
        /// UserRequestID(923).
        User = 13,
    }
}

/// The role of an id in a message to a venue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum IdRole {
    /// A new order, list or cross.
    Orders,
    /// A request to replace the order in OrigClOrdID(41).
    Replaces,
    /// A request to cancel the order in OrigClOrdID(41).
    Cancels,
    /// Any other request whose responses have this id.
    Asks,
    /// A reference to an earlier request.
    Names,
}

/// An id in a message to a venue.
#[derive(Clone, Copy, Debug)]
pub struct OutboundId {
    /// The field.
    pub tag: Tag,
    /// The kind of the id.
    pub kind: IdKind,
    /// Role of the id in the message.
    pub role: IdRole,
}

const fn ask(tag: Tag, kind: IdKind, role: IdRole) -> OutboundId {
    OutboundId { tag, kind, role }
}

const NEW: OutboundId = ask(tag::CL_ORD_ID, IdKind::Order, IdRole::Orders);
const ORIG: OutboundId = ask(tag::ORIG_CL_ORD_ID, IdKind::Order, IdRole::Names);
const OF_LIST: OutboundId = ask(tag::LIST_ID, IdKind::List, IdRole::Names);

/// Messages to a venue, by MsgType(35), with the ids in them. FIX 4.0 to 5.0 SP2.
pub static ASKS: [(&[u8], &[OutboundId]); 32] = [
    (b"D", &[NEW, OF_LIST]),
    (
        b"F",
        &[
            ask(tag::CL_ORD_ID, IdKind::Order, IdRole::Cancels),
            ORIG,
            OF_LIST,
        ],
    ),
    (
        b"G",
        &[
            ask(tag::CL_ORD_ID, IdKind::Order, IdRole::Replaces),
            ORIG,
            OF_LIST,
        ],
    ),
    (b"H", &[ask(tag::CL_ORD_ID, IdKind::Order, IdRole::Names)]),
    (
        b"E",
        &[ask(tag::LIST_ID, IdKind::List, IdRole::Orders), NEW],
    ),
    (b"K", &[OF_LIST]),
    (b"L", &[OF_LIST]),
    (b"M", &[OF_LIST]),
    (b"AB", &[NEW]),
    (
        b"AC",
        &[ask(tag::CL_ORD_ID, IdKind::Order, IdRole::Replaces), ORIG],
    ),
    (
        b"s",
        &[ask(tag::CROSS_ID, IdKind::Cross, IdRole::Orders), NEW],
    ),
    (
        b"t",
        &[
            ask(tag::CROSS_ID, IdKind::Cross, IdRole::Orders),
            ask(tag::ORIG_CROSS_ID, IdKind::Cross, IdRole::Names),
            ask(tag::CL_ORD_ID, IdKind::Order, IdRole::Replaces),
            ORIG,
        ],
    ),
    (
        b"u",
        &[
            ask(tag::CROSS_ID, IdKind::Cross, IdRole::Orders),
            ask(tag::ORIG_CROSS_ID, IdKind::Cross, IdRole::Names),
            ask(tag::CL_ORD_ID, IdKind::Order, IdRole::Cancels),
            ORIG,
        ],
    ),
    (b"q", &[ask(tag::CL_ORD_ID, IdKind::Order, IdRole::Asks)]),
    (b"CA", &[ask(tag::CL_ORD_ID, IdKind::Order, IdRole::Asks)]),
    (b"Q", &[ask(tag::CL_ORD_ID, IdKind::Order, IdRole::Names)]),
    (
        b"AF",
        &[ask(
            tag::MASS_STATUS_REQ_ID,
            IdKind::MassStatus,
            IdRole::Asks,
        )],
    ),
    (
        b"R",
        &[ask(tag::QUOTE_REQ_ID, IdKind::QuoteRequest, IdRole::Asks)],
    ),
    (b"S", &[ask(tag::QUOTE_ID, IdKind::Quote, IdRole::Asks)]),
    (b"i", &[ask(tag::QUOTE_ID, IdKind::Quote, IdRole::Asks)]),
    (b"Z", &[ask(tag::QUOTE_ID, IdKind::Quote, IdRole::Names)]),
    (b"a", &[ask(tag::QUOTE_ID, IdKind::Quote, IdRole::Names)]),
    (
        b"V",
        &[ask(tag::MD_REQ_ID, IdKind::MarketData, IdRole::Asks)],
    ),
    (
        b"c",
        &[ask(tag::SECURITY_REQ_ID, IdKind::Security, IdRole::Asks)],
    ),
    (
        b"v",
        &[ask(tag::SECURITY_REQ_ID, IdKind::Security, IdRole::Asks)],
    ),
    (
        b"x",
        &[ask(tag::SECURITY_REQ_ID, IdKind::Security, IdRole::Asks)],
    ),
    (
        b"e",
        &[ask(
            tag::SECURITY_STATUS_REQ_ID,
            IdKind::SecurityStatus,
            IdRole::Asks,
        )],
    ),
    (
        b"g",
        &[ask(
            tag::TRAD_SES_REQ_ID,
            IdKind::TradingSession,
            IdRole::Asks,
        )],
    ),
    (
        b"J",
        &[ask(tag::ALLOC_ID, IdKind::Allocation, IdRole::Asks)],
    ),
    (
        b"AD",
        &[ask(
            tag::TRADE_REQUEST_ID,
            IdKind::TradeCapture,
            IdRole::Asks,
        )],
    ),
    (
        b"AN",
        &[ask(tag::POS_REQ_ID, IdKind::Positions, IdRole::Asks)],
    ),
    (
        b"BE",
        &[ask(tag::USER_REQUEST_ID, IdKind::User, IdRole::Asks)],
    ),
];

/// How a message to a venue refers to an order by ids that are not in [`ASKS`].
#[derive(Clone, Copy, Debug)]
pub struct Naming {
    /// OrderID(37), and further ids, which are not tracked.
    pub ids: &'static [Tag],
    /// The field with the client's id of the same order.
    pub by: Tag,
    /// Whether the client's id must be translated here, because no row of [`ASKS`] has it.
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

/// Messages to a venue that may refer to an order by the venue's OrderID(37), by MsgType(35). FIX 4.0 to 5.0 SP2.
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

/// The treatment of an id in a response that is not one of the client's ids.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stranger {
    /// The id is replaced by the id of the order that the response is about.
    Own,
    /// The id is replaced by the id of the order that the request was to replace or cancel; without one, the field is
    /// removed.
    Before,
    /// The field is removed.
    Nothing,
    /// The id is replaced by `NONE`, because the field begins an entry of a repeating group, or is required.
    NoneText,
}

/// An id in a message from a venue.
#[derive(Clone, Copy, Debug)]
pub struct InboundId {
    /// The field.
    pub tag: Tag,
    /// The kind of the id; `None` for OrderID(37), which is the venue's own.
    pub kind: Option<IdKind>,
    /// The treatment of an id that does not belong to the client.
    pub stranger: Stranger,
}

const fn answer(tag: Tag, kind: IdKind, stranger: Stranger) -> InboundId {
    let kind = Some(kind);
    InboundId {
        tag,
        kind,
        stranger,
    }
}

const ABOUT: InboundId = answer(tag::CL_ORD_ID, IdKind::Order, Stranger::Own);
const BEFORE: InboundId = answer(tag::ORIG_CL_ORD_ID, IdKind::Order, Stranger::Before);
const IN_LIST: InboundId = answer(tag::LIST_ID, IdKind::List, Stranger::Nothing);
const BY_ORDER_ID: InboundId = InboundId {
    tag: tag::ORDER_ID,
    kind: None,
    stranger: Stranger::Nothing,
};
const MASS_CANCEL: [InboundId; 2] = [
    ABOUT,
    answer(tag::ORIG_CL_ORD_ID, IdKind::Order, Stranger::NoneText),
];
const QUOTED: InboundId = answer(tag::QUOTE_ID, IdKind::Quote, Stranger::NoneText);
const QUOTE_REQUESTED: InboundId =
    answer(tag::QUOTE_REQ_ID, IdKind::QuoteRequest, Stranger::Nothing);
const MARKET_DATA: [InboundId; 1] = [answer(
    tag::MD_REQ_ID,
    IdKind::MarketData,
    Stranger::Nothing,
)];
const SECURITY: [InboundId; 1] = [answer(
    tag::SECURITY_REQ_ID,
    IdKind::Security,
    Stranger::Nothing,
)];
const TRADES: [InboundId; 1] = [answer(
    tag::TRADE_REQUEST_ID,
    IdKind::TradeCapture,
    Stranger::Nothing,
)];
const POSITIONS: [InboundId; 1] = [answer(
    tag::POS_REQ_ID,
    IdKind::Positions,
    Stranger::Nothing,
)];

/// Messages from a venue, by MsgType(35), with the ids in them. The first known id determines the client. FIX 4.0 to
/// 5.0 SP2.
pub static ANSWERS: [(&[u8], &[InboundId]); 25] = [
    (
        b"8",
        &[
            ABOUT,
            BEFORE,
            BY_ORDER_ID,
            IN_LIST,
            answer(tag::CROSS_ID, IdKind::Cross, Stranger::Nothing),
            answer(tag::ORIG_CROSS_ID, IdKind::Cross, Stranger::Nothing),
            answer(
                tag::MASS_STATUS_REQ_ID,
                IdKind::MassStatus,
                Stranger::Nothing,
            ),
        ],
    ),
    (b"9", &[ABOUT, BEFORE, BY_ORDER_ID, IN_LIST]),
    (
        b"N",
        &[
            answer(tag::LIST_ID, IdKind::List, Stranger::NoneText),
            answer(tag::CL_ORD_ID, IdKind::Order, Stranger::NoneText),
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
            IdKind::SecurityStatus,
            Stranger::Nothing,
        )],
    ),
    (
        b"h",
        &[answer(
            tag::TRAD_SES_REQ_ID,
            IdKind::TradingSession,
            Stranger::Nothing,
        )],
    ),
    (
        b"P",
        &[answer(
            tag::ALLOC_ID,
            IdKind::Allocation,
            Stranger::NoneText,
        )],
    ),
    (
        b"AS",
        &[answer(tag::ALLOC_ID, IdKind::Allocation, Stranger::Nothing)],
    ),
    (b"AE", &TRADES),
    (b"AQ", &TRADES),
    (b"AO", &POSITIONS),
    (b"AP", &POSITIONS),
    (
        b"BF",
        &[answer(
            tag::USER_REQUEST_ID,
            IdKind::User,
            Stranger::Nothing,
        )],
    ),
];

/// Whether this field has an id that a gateway may rewrite.
#[inline]
#[must_use]
pub fn is_id(tag: Tag) -> bool {
    has(&IDS, tag)
}

/// A set of tags, one bit each.
pub(super) type TagBits = [u64; 40];

/// Whether a set has a tag.
#[inline]
pub(super) fn has(bits: &TagBits, tag: Tag) -> bool {
    let word = bits.get(tag as usize / 64);
    word.is_some_and(|word| word >> (tag % 64) & 1 == 1)
}

/// Adds a tag below 2,560 to a set; another tag does not compile in a constant.
pub(super) const fn add(bits: &mut TagBits, tag: Tag) {
    bits[tag as usize / 64] |= 1 << (tag % 64);
}

/// The tags in all rows of the tables, one bit each. Looked up for every field of every message.
pub(super) const IDS: TagBits = {
    let mut bits = [0; 40];
    let mut row = 0;
    while row < ASKS.len() {
        let asks = ASKS[row].1;
        let mut at = 0;
        while at < asks.len() {
            add(&mut bits, asks[at].tag);
            at += 1;
        }
        row += 1;
    }
    row = 0;
    while row < ANSWERS.len() {
        let answers = ANSWERS[row].1;
        let mut at = 0;
        while at < answers.len() {
            add(&mut bits, answers[at].tag);
            at += 1;
        }
        row += 1;
    }
    bits
};

/// For each one-character MsgType(35), its row in a table, counted from 1; 0 for none. Each message is looked up in all
/// tables, and most types have one character.
type Rows = [u8; 128];

static ASKED: Rows = rows(&ASKS);
static NAMED: Rows = rows(&NAMINGS);
static ANSWERED: Rows = rows(&ANSWERS);

const fn rows<T>(table: &[(&[u8], T)]) -> Rows {
    let mut rows = [0; 128];
    let mut at = 0;
    while at < table.len() {
        if let [letter] = table[at].0 {
            rows[*letter as usize] = at as u8 + 1;
        }
        at += 1;
    }
    rows
}

/// The row of a MsgType(35) in a table.
#[inline]
fn row<'t, T>(rows: &Rows, table: &'t [(&[u8], T)], msg_type: &[u8]) -> Option<&'t T> {
    let (_, row) = match msg_type {
        [letter] => {
            let row = rows.get(usize::from(*letter))?;
            table.get(usize::from(*row).checked_sub(1)?)
        }
        _ => table.iter().find(|(known, _)| *known == msg_type),
    }?;
    Some(row)
}

/// The ids in a message to a venue; none for a type that is not in [`ASKS`].
pub(super) fn asks(msg_type: &[u8]) -> &'static [OutboundId] {
    row(&ASKED, &ASKS, msg_type).map_or(&[], |ids| ids)
}

/// How a message to a venue refers to an order by the venue's ids; `None` for a type that does not.
pub(super) fn naming(msg_type: &[u8]) -> Option<&'static Naming> {
    row(&NAMED, &NAMINGS, msg_type)
}

/// The ids in a message from a venue; none for a type that is not in [`ANSWERS`].
pub(super) fn answers(msg_type: &[u8]) -> &'static [InboundId] {
    row(&ANSWERED, &ANSWERS, msg_type).map_or(&[], |ids| ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_number() {
        let kinds = (0..=u8::MAX).map_while(IdKind::of);
        for (number, kind) in kinds.enumerate() {
            assert_eq!((kind as usize, usize::from(kind.byte())), (number, number));
        }
        assert_eq!((0..=u8::MAX).filter_map(IdKind::of).count(), 14);
    }

    #[test]
    fn whatever_is_asked_is_answered_by_some_message() {
        for (msg_type, ids) in &ASKS {
            for id in ids.iter() {
                let answered = |(_, ids): &(_, &[InboundId])| {
                    ids.iter().any(|answer| answer.kind == Some(id.kind))
                };
                assert!(ANSWERS.iter().any(answered), "{msg_type:?} {id:?}");
            }
        }
    }

    #[test]
    fn ids_are_the_fields_of_the_tables() {
        let asks = ASKS.iter().flat_map(|(_, asks)| asks.iter());
        let answers = ANSWERS.iter().flat_map(|(_, answers)| answers.iter());
        let asked: alloc::vec::Vec<Tag> = asks.map(|ask| ask.tag).collect();
        let answered: alloc::vec::Vec<Tag> = answers.map(|answer| answer.tag).collect();
        for tag in (0..10_000).chain([Tag::MAX]) {
            let is_in_a_row = asked.contains(&tag) || answered.contains(&tag);
            assert_eq!(is_id(tag), is_in_a_row, "{tag}");
        }
    }

    #[test]
    fn each_row_is_found_by_its_type() {
        let found = |row: Option<&&[OutboundId]>| row.map(|ids| ids.as_ptr());
        for (msg_type, ids) in &ASKS {
            assert_eq!(found(row(&ASKED, &ASKS, msg_type)), Some(ids.as_ptr()));
        }
        for (msg_type, ids) in &ANSWERS {
            assert_eq!(answers(msg_type).as_ptr(), ids.as_ptr(), "{msg_type:?}");
        }
        for (msg_type, known) in &NAMINGS {
            assert!(core::ptr::eq(naming(msg_type).unwrap(), known));
        }
        for msg_type in [&b""[..], b"A", b"\xC4", b"DD", b"ABC"] {
            assert!(asks(msg_type).is_empty() && answers(msg_type).is_empty());
            assert!(naming(msg_type).is_none());
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
