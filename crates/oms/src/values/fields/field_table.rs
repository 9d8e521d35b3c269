//! What the OMS does with each field of a client's request, and with each field of a venue's report. The OMS, the page
//! docs/reference/oms-fields.md and `fixwire check` all use this table.
//!
//! A field that is not in the table is refused. Each new field of a dictionary needs a row, because a test sends every
//! field.

use fixwire_protocol::{Field, Tag};

use super::contract::{ContractKey, Treatment};

mod reports;
mod requests;
mod tags;

pub use reports::{REPORT_FIELDS, VENUE_MESSAGES};
pub use requests::{REQUEST_FIELDS, REQUESTS};
pub(crate) use tags::{DISPLAYED, WHOSE};

/// Tags below this are looked up in an array.
pub(crate) const LOW: usize = 2048;

/// A set of messages, as one bit for each. Messages of clients and messages of venues use the bits separately.
pub type Messages = u16;

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct FieldRow {
    /// The tags of the fields.
    pub tags: &'static [Tag],
    /// The messages to which the row applies.
    pub messages: Messages,
    /// What the OMS does with the fields.
    pub class: FieldClass,
    /// Why the OMS does this.
    pub reason: &'static str,
}

/// What the OMS does with a field of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FieldClass {
    /// The field belongs to the session layer.
    Session,
    /// The field is passed on with its value.
    Carried,
    /// The OMS writes its own value.
    Set,
    /// The OMS uses the field; the receiver of the message does not need it.
    Used,
    /// The field is accepted if a condition is true; otherwise the request is refused.
    Checked(FieldCondition),
    /// The field is passed on unchanged, unless a user or a line group has another setting.
    Passed,
    /// The field is refused, unless a user or a line group names it.
    Named,
    /// The field is refused, unless a user or a line group names it in `carry` or `map`. It cannot be dropped, because
    /// without it the order would trade in another way.
    Instruction,
    /// The field is refused, unless a user or a line group names its value in `map`. An order with another value would
    /// trade in another way.
    Listed,
    /// The field is refused, unless a user or a line group names it in `drop` or `set`.
    Refused,
    /// The request is refused, whatever the settings say, because without the field the order would trade in another
    /// way.
    Never,
    /// The field is not passed on; each such field is counted.
    Counted,
}

/// The condition under which a field of a request is accepted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FieldCondition {
    /// The field is part of the identity of the client's session.
    Identity,
    /// The value is 1 or 2, or 3 for a parent order of a user with `parents`.
    HandlInst,
    /// The OrdType(40) of the order has a limit price.
    Price,
    /// The OrdType(40) of the order has a stop price.
    Stop,
    /// TimeInForce(59) is 6.
    ExpireDate,
    /// The field equals `ex_destination` of the line group.
    Destination,
    /// The value is MLEG and the symbol is a spread, or the file of instruments has this value for the symbol.
    Spread,
    /// The field is the OrderID(37) that the OMS gave the order.
    OrderId,
    /// The user has the setting `parents`.
    Parents,
    /// The field is part of a condition that the OMS watches.
    Trigger,
    /// The field equals the order's field.
    Locate,
    /// The line speaks FIX.
    OverFix,
    /// The request is for one symbol.
    OneSymbol,
    /// The field is what the file of instruments has for the symbol.
    Security,
}

impl FieldCondition {
    /// The condition as a sentence for the reference page.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Identity => "as in the identity of the client's session",
            Self::HandlInst => "1 or 2; 3 of a user with `parents`",
            Self::Price => "when the order has a limit price",
            Self::Stop => "when the order has a stop price",
            Self::ExpireDate => "with TimeInForce(59) = 6",
            Self::Destination => "equal to `ex_destination` of the line group",
            Self::Spread => {
                "MLEG, for the symbol of a spread, or as the file of instruments has it"
            }
            Self::OrderId => "the OrderID(37) that the OMS gave the order",
            Self::Parents => "of a user with `parents`",
            Self::Trigger => "as one price of the own symbol",
            Self::Locate => "equal to that of the order",
            Self::OverFix => "over FIX, not over TMP",
            Self::OneSymbol => "with a request type for one symbol",
            Self::Security => "as the file of instruments has it for the symbol",
        }
    }

    /// Whether settings may name a field that does not meet the condition.
    pub(crate) fn may_be_named(self) -> bool {
        matches!(self, Self::Identity | Self::Destination | Self::Security)
    }

    /// Whether `drop` may name a field that does not meet the condition. It may if the order trades in the same way
    /// with or without the field.
    fn may_be_dropped(self) -> bool {
        matches!(
            self,
            Self::Identity | Self::Destination | Self::Spread | Self::Parents | Self::Security
        )
    }

    /// Whether the condition is checked when the values of the request are read, since most requests have the field.
    const fn is_read_with_values(self) -> bool {
        matches!(
            self,
            Self::HandlInst | Self::Price | Self::Stop | Self::OneSymbol
        )
    }
}

impl FieldClass {
    /// Name of the class on the reference page.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Carried => "carried",
            Self::Set => "set",
            Self::Used => "used",
            Self::Checked(_) => "checked",
            Self::Passed => "passed on",
            Self::Named => "named",
            Self::Instruction => "instruction",
            Self::Listed => "listed",
            Self::Refused => "refused",
            Self::Never => "refused, never dropped",
            Self::Counted => "not passed on",
        }
    }

    const fn passes(self) -> bool {
        match self {
            Self::Session | Self::Carried | Self::Set | Self::Used => true,
            Self::Checked(condition) => condition.is_read_with_values(),
            Self::Passed
            | Self::Named
            | Self::Instruction
            | Self::Listed
            | Self::Refused
            | Self::Never
            | Self::Counted => false,
        }
    }
}

/// For each tag below [`LOW`], the messages in which its field needs no closer look.
const fn passing(rows: &[FieldRow]) -> [Messages; LOW] {
    let mut all = [0; LOW];
    let mut at = 0;
    while at < rows.len() {
        let row = rows[at];
        let mut place = 0;
        while place < row.tags.len() {
            let tag = row.tags[place] as usize;
            if tag < LOW && row.class.passes() {
                all[tag] |= row.messages;
            }
            place += 1;
        }
        at += 1;
    }
    all
}

static PASSING_REQUESTS: [Messages; LOW] = passing(REQUEST_FIELDS);
static PASSING_REPORTS: [Messages; LOW] = passing(REPORT_FIELDS);

/// Number of messages that a set of messages can hold.
const ALL: usize = Messages::BITS as usize;

/// The tags below 64 that need no closer look, as one word for each message. Most fields have such a tag.
const fn words(passing: &[Messages; LOW]) -> [u64; ALL] {
    let mut all = [0; ALL];
    let mut tag = 0;
    while tag < u64::BITS as usize {
        let mut message = 0;
        while message < ALL {
            all[message] |= ((passing[tag] >> message & 1) as u64) << tag;
            message += 1;
        }
        tag += 1;
    }
    all
}

static REQUEST_WORDS: [u64; ALL] = words(&PASSING_REQUESTS);
static REPORT_WORDS: [u64; ALL] = words(&PASSING_REPORTS);

/// A summary of the tags of a message, made in one pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Glance {
    /// The message.
    message: Messages,
    /// A bit for each tag below 64 that the message has.
    low: u64,
    /// Number of tags from 64 on.
    high: usize,
    /// Whether none of the tags from 64 on needs a closer look.
    high_pass: bool,
}

impl Glance {
    /// The summary of a message without fields.
    #[inline(always)]
    pub(crate) fn at(message: Messages) -> Self {
        Self {
            message,
            low: 0,
            high: 0,
            high_pass: true,
        }
    }

    /// Adds a field of a request.
    #[inline(always)]
    pub(crate) fn add_of_request(&mut self, tag: Tag) {
        let message = self.message;
        self.add(tag, |tag| passes(tag, message));
    }

    /// Adds a field of a report.
    #[inline(always)]
    pub(crate) fn add_of_report(&mut self, tag: Tag) {
        let message = self.message;
        self.add(tag, |tag| is_passed_on(tag, message));
    }

    #[inline(always)]
    fn add(&mut self, tag: Tag, passes: impl FnOnce(Tag) -> bool) {
        match tag {
            0..64 => self.low |= 1 << tag,
            _ => {
                self.high += 1;
                self.high_pass &= passes(tag);
            }
        }
    }

    #[inline(always)]
    fn all_pass(&self, words: &[u64; ALL]) -> bool {
        let known = words.get(self.message.trailing_zeros() as usize);
        self.high_pass && known.is_some_and(|known| self.low & !known == 0)
    }

    /// Whether no field of a request with this number of fields needs a closer look, and no field occurs twice.
    ///
    /// A request with more than one tag of 64 or higher is not checked further: the answer is false. Most requests have at
    /// most one such tag.
    #[inline(always)]
    pub(crate) fn is_usual_request(&self, fields: usize) -> bool {
        let is_once = self.high < 2 && self.low.count_ones() as usize + self.high == fields;
        is_once && self.all_pass(&REQUEST_WORDS)
    }

    /// Whether each field of a report is passed on, or is left out without being counted.
    #[inline(always)]
    pub(crate) fn is_usual_report(&self) -> bool {
        self.all_pass(&REPORT_WORDS)
    }
}

/// Whether no field of a request needs a closer look, and no field occurs twice, see [`Glance::is_usual_request`].
#[inline(always)]
pub(crate) fn is_usual_request(fields: &[Field], message: Messages) -> bool {
    let mut seen = Glance::at(message);
    fields.iter().for_each(|it| seen.add_of_request(it.tag));
    seen.is_usual_request(fields.len())
}

/// Whether each field of a report is passed on, or is left out without being counted.
#[inline(always)]
pub(crate) fn is_usual_report(fields: &[Field], message: Messages) -> bool {
    let mut seen = Glance::at(message);
    fields.iter().for_each(|it| seen.add_of_report(it.tag));
    seen.is_usual_report()
}

/// Whether a field of a request needs no closer look.
#[inline(always)]
pub(crate) fn passes(tag: Tag, message: Messages) -> bool {
    let known = PASSING_REQUESTS.get(tag as usize);
    known.is_some_and(|known| known & message != 0)
}

/// Whether a field of a report is passed on, or is left out without being counted.
#[inline(always)]
pub(crate) fn is_passed_on(tag: Tag, message: Messages) -> bool {
    let known = PASSING_REPORTS.get(tag as usize);
    known.is_some_and(|known| known & message != 0)
}

/// A set of rows, by their places in a table.
type Rows = u128;

/// The rows that have a tag, by tag.
const fn rows_by_tag(rows: &[FieldRow]) -> [Rows; LOW] {
    assert!(rows.len() <= Rows::BITS as usize);
    let mut all = [0; LOW];
    let mut place = 0;
    while place < rows.len() {
        let tags = rows[place].tags;
        let mut at = 0;
        while at < tags.len() {
            if (tags[at] as usize) < LOW {
                all[tags[at] as usize] |= 1 << place;
            }
            at += 1;
        }
        place += 1;
    }
    all
}

static REQUEST_ROWS: [Rows; LOW] = rows_by_tag(REQUEST_FIELDS);
static REPORT_ROWS: [Rows; LOW] = rows_by_tag(REPORT_FIELDS);

fn row_of(
    rows: &'static [FieldRow],
    by_tag: &[Rows; LOW],
    tag: Tag,
    message: Messages,
) -> Option<&'static FieldRow> {
    let Some(mut left) = by_tag.get(tag as usize).copied() else {
        // Few rows have such a tag.
        let mut rows = rows.iter().filter(|row| row.messages & message != 0);
        return rows.find(|row| row.tags.contains(&tag));
    };
    while left != 0 {
        let row = &rows[left.trailing_zeros() as usize];
        if row.messages & message != 0 {
            return Some(row);
        }
        left &= left - 1;
    }
    None
}

/// The row for a field of a request; `None` if no row has the field, which is then refused.
#[must_use]
pub fn request_field(tag: Tag, message: Messages) -> Option<&'static FieldRow> {
    row_of(REQUEST_FIELDS, &REQUEST_ROWS, tag, message)
}

/// The row for a field of a report; `None` if no row has the field, which is then counted.
#[must_use]
pub fn report_field(tag: Tag, message: Messages) -> Option<&'static FieldRow> {
    row_of(REPORT_FIELDS, &REPORT_ROWS, tag, message)
}

/// Whether a client gets a field of a report unchanged.
pub(crate) fn goes_to_client(tag: Tag, message: Messages) -> bool {
    report_field(tag, message).is_some_and(|row| row.class == FieldClass::Passed)
}

/// Whether a field of an order says how the venue trades the order, and only settings pass it on. A line without the field
/// would trade the order in another way.
pub(crate) fn is_instruction(tag: Tag) -> bool {
    let row = request_field(tag, requests::D);
    row.is_some_and(|row| matches!(row.class, FieldClass::Instruction | FieldClass::Listed))
}

/// Whether a field belongs to the header or the trailer, which each session has for itself.
pub(crate) fn is_of_session_header(tag: Tag) -> bool {
    tags::HEADER.contains(&tag)
}

/// Whether a field names or describes an instrument.
pub(crate) fn is_of_instrument(tag: Tag) -> bool {
    tags::INSTRUMENT.contains(&tag)
}

/// The bit of a client's request; 0 for a message that is no such request.
#[must_use]
pub fn request_bit(msg_type: &[u8]) -> Messages {
    bit(REQUESTS, msg_type)
}

/// The bit of a venue's message; all messages that the OMS does not read share one bit.
#[must_use]
pub fn report_bit(msg_type: &[u8]) -> Messages {
    match bit(VENUE_MESSAGES, msg_type) {
        0 => reports::OTHER,
        bit => bit,
    }
}

#[inline]
fn bit(of: &[&str], msg_type: &[u8]) -> Messages {
    let mut all = of.iter().map(|known| known.as_bytes());
    let place = match msg_type {
        // Nearly all MsgTypes have one letter, which is compared without a call.
        [letter] => all.position(|known| matches!(known, [it] if it == letter)),
        _ => all.position(|known| known == msg_type),
    };
    place.map_or(0, |place| 1 << place)
}

/// The requests whose fields contracts can pass on.
pub(crate) const CARRYING: Messages = requests::D | requests::G | requests::F;
/// The requests whose fields go to venues in orders.
pub(crate) const ORDERING: Messages = CARRYING | requests::S;

/// What the OMS does with a field of a request that no contract names; `None` for a field that the OMS reads or writes
/// itself.
#[must_use]
pub fn request_treatment(tag: Tag, message: Messages) -> Option<Treatment<'static>> {
    match request_field(tag, message).map(|row| row.class) {
        Some(
            FieldClass::Session
            | FieldClass::Carried
            | FieldClass::Set
            | FieldClass::Used
            | FieldClass::Checked(_),
        ) => None,
        Some(FieldClass::Passed) => Some(Treatment::Carry),
        Some(
            FieldClass::Named
            | FieldClass::Instruction
            | FieldClass::Listed
            | FieldClass::Refused
            | FieldClass::Never
            | FieldClass::Counted,
        )
        | None => Some(Treatment::Refuse),
    }
}

/// Why a key of a contract may not name a tag; `None` when it may name the tag.
#[must_use]
pub fn why_not(key: ContractKey, tag: Tag) -> Option<&'static str> {
    const TRADES: &str =
        "without it orders would trade in another way than their clients asked for";
    const SESSION: &str = "it belongs to the session layer";
    let may_carry = matches!(
        key,
        ContractKey::Carry | ContractKey::Set | ContractKey::Map
    );
    // What a list of instruments uses is in no order, where it can be lost; a user's `refuse` counts for lists too.
    let messages = match may_carry {
        true => CARRYING,
        false => Messages::MAX & !requests::ABOUT_INSTRUMENTS,
    };
    let rows = REQUEST_FIELDS.iter();
    let rows = rows.filter(|row| row.messages & messages != 0 && row.tags.contains(&tag));
    // For `carry`, `set` and `map`, the first row of an order request decides. A field that any request needs cannot be
    // dropped.
    let mut rows = rows.take(if may_carry { 1 } else { usize::MAX });
    rows.find_map(|row| match (row.class, key) {
        (FieldClass::Session, _) => Some(SESSION),
        (FieldClass::Checked(condition), ContractKey::Drop) if condition.may_be_dropped() => None,
        (FieldClass::Checked(condition), _) if may_carry && condition.may_be_named() => None,
        (
            FieldClass::Carried | FieldClass::Set | FieldClass::Used | FieldClass::Checked(_),
            ContractKey::Drop,
        ) => Some("requests have it: it is not lost"),
        (FieldClass::Carried | FieldClass::Set | FieldClass::Used | FieldClass::Checked(_), _) => {
            Some("the OMS reads or writes it itself")
        }
        (FieldClass::Never | FieldClass::Instruction | FieldClass::Listed, ContractKey::Drop) => {
            Some(TRADES)
        }
        (FieldClass::Never, ContractKey::Carry | ContractKey::Set | ContractKey::Map) => {
            Some("it decides how an order trades, and no control of the OMS knows it")
        }
        (FieldClass::Refused, ContractKey::Carry | ContractKey::Map) => Some(row.reason),
        (FieldClass::Instruction | FieldClass::Listed, ContractKey::Set) => {
            Some("clients say how their orders trade")
        }
        (FieldClass::Listed, ContractKey::Carry) => {
            Some("some of its values trade in another way: name those that do not in map")
        }
        (
            FieldClass::Passed
            | FieldClass::Named
            | FieldClass::Instruction
            | FieldClass::Listed
            | FieldClass::Refused
            | FieldClass::Never
            | FieldClass::Counted,
            _,
        ) => None,
    })
}
