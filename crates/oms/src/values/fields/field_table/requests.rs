//! The fields of clients' requests.

use super::FieldClass::{
    Carried, Checked, Instruction, Listed, Named, Never, Passed, Refused, Session, Set, Used,
};
use super::tags;
use super::{CARRYING, FieldCondition, FieldRow, Messages};

/// MsgType(35) of each request that clients may send; the place is the number of its bit.
pub const REQUESTS: &[&str] = &[
    "D", "G", "F", "H", "q", "AF", "S", "Z", "R", "e", "g", "BW", "c", "x",
];

pub(crate) const D: Messages = 1;
pub(crate) const G: Messages = 1 << 1;
pub(crate) const F: Messages = 1 << 2;
pub(crate) const H: Messages = 1 << 3;
pub(crate) const MASS_CANCEL: Messages = 1 << 4;
pub(crate) const AF: Messages = 1 << 5;
pub(crate) const S: Messages = 1 << 6;
pub(crate) const Z: Messages = 1 << 7;
pub(crate) const R: Messages = 1 << 8;
const SECURITY: Messages = 1 << 9;
const TRADING: Messages = 1 << 10;
const BW: Messages = 1 << 11;
const DEFINITION: Messages = 1 << 12;
const LIST: Messages = 1 << 13;
const ALL: Messages = (1 << 14) - 1;
/// The requests for definitions and lists of instruments.
pub(super) const ABOUT_INSTRUMENTS: Messages = DEFINITION | LIST;

/// The requests that name one instrument.
const NAMING: Messages = D | G | F | H | MASS_CANCEL | AF | S | R | SECURITY;

/// The fields of requests. The first row with a tag and a message decides. Only rows of Refused and Never may repeat a
/// tag of an earlier row.
#[rustfmt::skip]
pub const REQUEST_FIELDS: &[FieldRow] = &[
    row(&[8, 9, 10, 34, 35, 43, 49, 52, 56, 122, 369, 1128], ALL, Session, "each session has its own"),
    row(&[97], ALL, Used, "a request that is known already is answered, not repeated"),
    row(&[50, 57, 142, 143], CARRYING | S, Passed, "but not as in the identity of the client's session: the line has one of its own"),
    row(&[50, 57, 142, 143], ALL & !(CARRYING | S), Checked(FieldCondition::Identity), "the message is of this session; the line has an identity of its own"),

    row(&[1, 38, 40, 54, 55, 59, 77], D | G, Carried, ""),
    row(&[44], D | G, Checked(FieldCondition::Price), "carried"),
    row(&[99], D | G, Checked(FieldCondition::Stop), "carried, or the condition of an order that the OMS holds"),
    row(&[432], D | G, Checked(FieldCondition::ExpireDate), "carried"),
    row(&[11], D | G | F, Set, "the venue gets the number of the order or request, the client its own ClOrdID in each report"),
    row(&[41], G | F, Set, "the venue gets the number of the order"),
    row(&[60], D | G | F | S | R, Set, "the time at which the OMS sends the request"),
    row(&[21], D | G, Checked(FieldCondition::HandlInst), "the OMS sends 1, automated: nobody intervenes"),
    row(&[37], G | F | H, Checked(FieldCondition::OrderId), "the order is named twice; the venue has its own OrderID"),
    row(&[100], D | G, Checked(FieldCondition::Destination), "the line leads there: no effect at the venue"),
    row(&[167], D | G | F, Checked(FieldCondition::Spread), "the OMS sends MLEG itself"),
    row(&[22, 48, 207], NAMING, Checked(FieldCondition::Security), "another name of the instrument; the venue gets the names of its line group"),
    row(&[200, 541], NAMING, Checked(FieldCondition::Security), "when the instrument matures"),
    row(&[114, 5700], D, Checked(FieldCondition::OverFix), "carried; RC3 checks it"),
    row(&[114, 5700], G, Checked(FieldCondition::Locate), "carried"),
    row(&[1080, 1081], D, Checked(FieldCondition::Parents), "names the parent, which the OMS keeps"),
    row(&[1100, 1101, 1102, 1103, 1107, 1109], D, Checked(FieldCondition::Trigger), "the OMS holds the order until then"),

    row(&[1, 54, 55], F, Used, "compared with the order, whose values the OMS sends"),
    row(&[38], F, Set, "a cancel is for all that is open: the OMS sends the quantity of the order"),

    row(&[11], H, Used, "names the order"),
    row(&[1, 54, 55], H, Used, "ClOrdID(11) names the order; the answer has the values of the order"),
    row(&[11, 54, 60, 530], MASS_CANCEL, Used, "the OMS cancels the orders one by one"),
    row(&[1], MASS_CANCEL, Used, "the OMS cancels the orders of the account"),
    row(&[55], MASS_CANCEL, Checked(FieldCondition::OneSymbol), "the OMS cancels the orders of the symbol"),
    row(&[1, 54, 55, 584, 585], AF, Used, "the OMS answers"),

    row(&[1, 55, 59, 132, 133, 134, 135], S, Carried, "in the orders of both sides"),
    row(&[117], S, Set, "the venue gets the numbers of the orders, the client its own QuoteID in each report"),
    row(&[537], S, Used, "must be 1 (Tradeable)"),
    row(&[55, 117, 295, 298], Z, Used, "the OMS cancels the orders of the quotes"),
    row(&[131], R, Set, "the venue gets the number of the inquiry, the client its own QuoteReqID in the answer"),
    row(&[146], R, Set, "one symbol"),
    row(&[55], R, Carried, ""),
    row(&[38, 54], R, Checked(FieldCondition::OverFix), "carried"),
    row(&[1], R, Used, "the account whose rights and limits count"),

    row(&[55, 263, 324], SECURITY, Used, "the OMS answers"),
    row(&[263, 335, 336], TRADING, Used, "the OMS answers"),
    row(&[15, 22, 48, 55, 167, 200, 207, 263, 320, 541], ABOUT_INSTRUMENTS, Used, "the OMS answers"),
    row(&[321], DEFINITION, Used, "the OMS answers"),
    row(&[559], LIST, Used, "the OMS answers"),
    row(&[314, 319, 827, 1465, 1470, 1471], ABOUT_INSTRUMENTS, Refused, "the file of instruments does not have it"),
    row(&[1182, 1183, 1346, 1347, 1351, 1355], BW, Used, "the OMS answers"),

    row(tags::PARTIES, CARRYING | S, Passed, "parties, clients and brokers"),
    row(tags::REGULATION, CARRYING | S, Passed, "capacities, restrictions, times and desks of regulations"),
    row(tags::LABELS, CARRYING | S, Passed, "identifiers, and kinds of accounts"),
    row(tags::ON_BEHALF, CARRYING | S, Passed, "on behalf of whom and to whom; the encoding of texts"),
    row(tags::TEXTS, CARRYING | S, Passed, "free text"),
    row(tags::NAMES, CARRYING | S, Named, "controls know an instrument by Symbol(55) alone: name it where it cannot mean another one"),
    row(tags::AFTER_TRADE, CARRYING | S, Named, "allocation, settlement and commission: no control knows them, and they may change what a trade costs"),
    row(tags::ALGORITHMS, D | G, Instruction, "an algorithm of the venue decides when and how the order trades, within its quantity and price"),
    row(tags::DISPLAYED, D | G, Instruction, "the venue shows a part of the quantity; every control counts all of it"),
    row(&[18], D | G, Listed, "instructions: some show, peg or hold the order"),

    row(tags::TERMS, ALL, Never, "how, when and how much of an order trades"),
    row(tags::PEGS, ALL, Never, "pegged and discretionary prices"),
    row(tags::TRIGGERS, ALL, Never, "conditions that the OMS does not watch"),
    row(tags::HEADER, ALL, Refused, "on behalf of whom, to whom, signatures and data: the line has a header of its own"),
    row(tags::PARTIES, ALL, Refused, "parties, clients and brokers"),
    row(tags::INSTRUMENT, ALL, Refused, "the OMS knows instruments by Symbol(55) alone"),
    row(tags::UNDERLYINGS, ALL, Refused, "the OMS knows instruments by Symbol(55) alone"),
    row(tags::LEGS, ALL, Refused, "a spread is a symbol of its own"),
    row(tags::SETTLEMENT, ALL, Refused, "money, settlement, allocation, yields"),
    row(tags::REGULATION, ALL, Refused, "capacities, restrictions, times and desks of regulations"),
    row(tags::QUOTES, ALL, Refused, "a quote has the prices and sizes of both sides"),
    row(tags::ROUTING, ALL, Refused, "routes of the settings lead to the market"),
    row(tags::IDS, ALL, Refused, "identifiers that the OMS does not keep"),
    row(tags::TEXTS, ALL, Refused, "free text"),
    row(tags::ELSEWHERE, ALL, Refused, "other requests have it, or the same with another value"),
];

const fn row(
    tags: &'static [fixwire_protocol::Tag],
    messages: Messages,
    class: super::FieldClass,
    reason: &'static str,
) -> FieldRow {
    FieldRow {
        tags,
        messages,
        class,
        reason,
    }
}
