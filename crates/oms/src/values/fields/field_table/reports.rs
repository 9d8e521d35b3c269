//! The fields of venues' messages.

use super::FieldClass::{Carried, Counted, Passed, Session, Set, Used};
use super::tags;
use super::{FieldRow, Messages};

/// MsgType(35) of each message of a venue that the OMS reads. The index of a MsgType is the number of its bit.
pub const VENUE_MESSAGES: &[&str] = &["8", "9", "j", "3", "AI", "AG", "b", "S", "f", "h", "W", "X"];

const EXECUTION: Messages = 1;
const CANCEL_REJECT: Messages = 1 << 1;
const BUSINESS_REJECT: Messages = 1 << 2;
const REJECT: Messages = 1 << 3;
const AI: Messages = 1 << 4;
const AG: Messages = 1 << 5;
const QUOTE_ACK: Messages = 1 << 6;
const S: Messages = 1 << 7;
const SECURITY: Messages = 1 << 8;
const TRADING: Messages = 1 << 9;
const SNAPSHOT: Messages = 1 << 10;
const INCREMENT: Messages = 1 << 11;
/// The bit of messages that the OMS does not read.
pub(super) const OTHER: Messages = 1 << 12;
const REPORTS: Messages = EXECUTION | CANCEL_REJECT;
const ALL: Messages = (1 << 13) - 1;

/// The fields of reports. The first row with a tag and a message decides. A field that is in no row is counted.
#[rustfmt::skip]
pub const REPORT_FIELDS: &[FieldRow] = &[
    row(&[8, 9, 10, 34, 35, 43, 49, 50, 52, 56, 57, 97, 122, 142, 143, 369, 1128], ALL, Session, "each session has its own"),
    row(&[31, 32], EXECUTION, Carried, "of a fill"),
    row(tags::EXECUTIONS, EXECUTION, Passed, "where the trade was done, in what capacity, and what it costs"),
    row(tags::PARTIES, EXECUTION, Passed, "parties, clients and brokers"),
    row(&[347], EXECUTION, Passed, "the encoding of texts"),
    row(tags::TEXTS, EXECUTION, Passed, "free text, unless the OMS has a text of its own in the report"),
    row(&[1, 38, 40, 44, 54, 55, 59, 77, 99, 432], EXECUTION, Set, "the client gets the values of its order"),
    row(&[6, 14, 39, 150, 151, 20], EXECUTION, Set, "the client gets what follows from the fills of its order"),
    row(&[11, 17, 37, 41], EXECUTION, Set, "the client gets the ids of its order, and the number of the event as ExecID"),
    row(&[60], EXECUTION, Set, "the client gets the time of the OMS"),
    row(&[21], EXECUTION, Used, "as in the order"),
    row(&[103, 378], EXECUTION, Used, "decides what becomes of the order"),
    row(&[167, 442, 555, 600, 624, 637, 1418], EXECUTION, Used, "spreads and their legs"),
    row(&[1, 11, 37, 39, 41, 60, 102, 434], CANCEL_REJECT, Set, "the client gets the ids and the status of its order"),
    row(&[58], CANCEL_REJECT | BUSINESS_REJECT | REJECT, Carried, ""),
    row(&[45, 372, 379, 380], BUSINESS_REJECT, Used, "names the rejected request"),
    row(&[45, 371, 372, 373], REJECT, Used, "names the rejected request"),
    row(&[55, 60, 117, 131, 297, 300], AI | QUOTE_ACK, Used, "answers a price inquiry"),
    row(&[55, 131, 146, 658], AG, Used, "answers a price inquiry"),
    row(&[58], AI | QUOTE_ACK | AG, Carried, ""),
    row(&[55, 117, 131], S, Used, "answers a price inquiry"),
    row(&[55, 324, 326], SECURITY, Used, "the state of a market"),
    row(&[335, 336, 340], TRADING, Used, "the state of a market"),
    row(&[55, 262, 268, 269, 270, 271, 279, 290, 1023], SNAPSHOT | INCREMENT, Used, "prices of a market"),

    row(&[19], EXECUTION, Counted, "the client gets the number of its own report of the fill"),
    row(tags::HEADER, REPORTS, Counted, "on behalf of whom, to whom, signatures and data: each session has a header of its own"),
    row(tags::TEXTS, CANCEL_REJECT, Counted, "free text"),
    row(tags::PARTIES, CANCEL_REJECT, Counted, "parties, clients and brokers"),
    row(tags::TERMS, EXECUTION, Counted, "how, when and how much of an order trades: as its client asked"),
    row(tags::PEGS, EXECUTION, Counted, "pegged and discretionary prices"),
    row(tags::TRIGGERS, EXECUTION, Counted, "conditions that the venue watches"),
    row(tags::INSTRUMENT, EXECUTION, Counted, "the OMS knows instruments by Symbol(55) alone"),
    row(tags::UNDERLYINGS, EXECUTION, Counted, "the OMS knows instruments by Symbol(55) alone"),
    row(tags::LEGS, EXECUTION, Counted, "a spread is a symbol of its own"),
    row(tags::SETTLEMENT, REPORTS, Counted, "money, settlement, allocation, yields"),
    row(tags::REGULATION, REPORTS, Counted, "capacities, restrictions, times and desks of regulations"),
    row(tags::IDS, REPORTS, Counted, "identifiers that the OMS does not keep"),
    row(tags::QUOTES, EXECUTION, Counted, "of the quote that was traded"),
    row(tags::NESTED_PARTIES, EXECUTION, Counted, "parties of legs, allocations and single fills"),
    row(tags::OF_REPORTS, REPORTS, Counted, "rates, points, yields, allocations and crosses of an execution, and numbers of reports"),
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
