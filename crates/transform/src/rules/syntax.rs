//! The syntax trees of conditions, with names not yet resolved, and the words of the language.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

pub use crate::value_test::Op;

/// A name or a text, and its byte offset in the condition or action.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NameToken {
    /// The text, without quotes.
    pub text: String,
    /// Byte offset.
    pub at: usize,
}

/// The notation of a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// `"EUR"`
    Quoted,
    /// `100.5`
    Number,
    /// `NewOrderSingle`, `SELL_SHORT`: a message's name, or the dictionary's name of a value.
    Word,
}

/// A value that a field is compared with.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RuleValue {
    /// The text and its position.
    pub name: NameToken,
    /// The notation of the value.
    pub form: Form,
}

/// How a field is compared with a pattern.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PatternMatch {
    /// `like`: in the pattern, `*` matches any text and `?` matches one byte.
    Like,
    /// `matches`: a regular expression.
    Matches,
    /// `begins`
    Begins,
    /// `contains`
    Contains,
}

/// The words that begin a condition with a syntax of its own, or that follow a field.
pub const CONDITIONS: [&str; 20] = [
    "in", "like", "matches", "begins", "contains", "length", "bits", "today", "time", "has", "any",
    "all", "active", "source", "target", "message", "script", "and", "or", "not",
];

/// A condition on a message, or on a group entry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Condition {
    /// `a and b`
    And(Vec<Condition>),
    /// `a or b`
    Or(Vec<Condition>),
    /// `not a`
    Not(Box<Condition>),
    /// `F = value`
    Compare(NameToken, Op, RuleValue),
    /// `F in (a, b)`
    In(NameToken, Vec<RuleValue>),
    /// `F in table.column`
    InTable(NameToken, NameToken),
    /// `F like "A*"`
    Text(NameToken, PatternMatch, NameToken),
    /// `length(F) >= n`
    Length(NameToken, Op, u32),
    /// `bits(F, 0xHEX)`
    Bits(NameToken, u64),
    /// `today(F)`
    Today(NameToken),
    /// `time >= "HH:MM"`: the time of day in UTC, in nanoseconds after midnight.
    Time {
        /// Byte offset of the word.
        at: usize,
        /// The operator.
        op: Op,
        /// The time.
        time: u64,
    },
    /// `has(F)`
    Has(NameToken),
    /// `any(NoAllocs, a)`
    AnyEntry(NameToken, Box<Condition>),
    /// `all(NoAllocs, a)`
    AllEntries(NameToken, Box<Condition>),
    /// `active(SESSION)`
    Active(NameToken),
    /// `source = "A"`, `source in ("A", "@clients")`
    Source(Vec<NameToken>),
    /// `target = "A"`, `target != "A"`, `target in ("A", "@venues")`
    Target {
        /// Byte offset of the word.
        at: usize,
        /// Whether the condition is true for the named sessions, or for all others.
        named: bool,
        /// The names.
        names: Vec<NameToken>,
    },
    /// `message matches "R"`
    Message(NameToken),
    /// `script large`
    Script(NameToken),
}

/// The words that begin an action.
pub const ACTIONS: [&str; 24] = [
    "set",
    "copy",
    "try",
    "move",
    "remove",
    "map",
    "format",
    "each",
    "drop",
    "convert",
    "send",
    "return",
    "reject",
    "answer",
    "connect",
    "disconnect",
    "stop",
    "count",
    "notify",
    "throttle",
    "script",
    "remember",
    "recall",
    "forget",
];

/// How `format` changes a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// ASCII letters become capitals.
    Upper,
    /// ASCII letters become small.
    Lower,
    /// Removes spaces at both ends.
    Trim,
    /// Pads at the left to at least this number of bytes.
    PadLeft(u32, u8),
    /// Pads at the right to at least this number of bytes.
    PadRight(u32, u8),
    /// Keeps at most this number of bytes, the first ones.
    Cut(u32),
}

/// The message type that a `reject` sends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RejectKind {
    /// The reject that fits the message: ExecutionReport(8) or OrderCancelReject(9) for an order, otherwise
    /// BusinessMessageReject(j).
    Fitting,
    /// Reject(3).
    Session,
    /// BusinessMessageReject(j).
    Business,
    /// ExecutionReport(8) with OrdStatus(39) = 8, or OrderCancelReject(9).
    Order,
}
