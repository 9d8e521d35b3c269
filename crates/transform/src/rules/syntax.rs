//! The syntax trees of rules, with names not yet resolved.

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

/// How a value is written.
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
    /// `like`: `*` for any text, `?` for one byte.
    Like,
    /// `matches`: a regular expression.
    Matches,
    /// `begins`
    Begins,
    /// `contains`
    Contains,
}

/// The words that begin a condition with its own syntax, or follow a field.
pub const CONDITIONS: [&str; 19] = [
    "in", "like", "matches", "begins", "contains", "length", "bits", "today", "has", "any", "all",
    "active", "source", "target", "message", "script", "and", "or", "not",
];

/// A condition of a message, or of a group entry.
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
        /// Whether the named sessions match, or all others.
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

/// Where a message goes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SendTarget {
    /// `send VENUE`
    Session(NameToken),
    /// `send by table Symbol venues.venue`
    Table(NameToken, NameToken),
    /// `send by DeliverToCompID`
    DeliverToCompId(usize),
}

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
    /// The reject that fits the message: an order's own reject for an order, else a business reject.
    Fitting,
    /// Reject(3).
    Session,
    /// BusinessMessageReject(j).
    Business,
    /// ExecutionReport(8) with OrdStatus(39) = 8, or OrderCancelReject(9).
    Order,
}

/// An action on a message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Action {
    /// `set F "text"`
    Set(NameToken, NameToken),
    /// `copy F to G`; `try` skips an absent F.
    Copy {
        /// F
        from: NameToken,
        /// G
        to: NameToken,
        /// Whether `try` stands before it.
        tried: bool,
    },
    /// `move F to G`
    Move {
        /// F
        from: NameToken,
        /// G
        to: NameToken,
        /// Whether `try` stands before it.
        tried: bool,
    },
    /// `remove F`
    Remove(NameToken),
    /// `map F by table.column to G else "x"`
    Map {
        /// F, looked up in the table's first column.
        from: NameToken,
        /// `table.column`
        table: NameToken,
        /// G
        to: NameToken,
        /// The value of G when F or its row is missing.
        otherwise: Option<NameToken>,
        /// Whether `try` stands before it.
        tried: bool,
    },
    /// `format F upper`
    Format(NameToken, Format),
    /// `format F sha256 with "key"`
    Pseudonym(NameToken, Option<NameToken>),
    /// `each NoAllocs: set AllocAccount "X"`
    Each(NameToken, Box<Action>),
    /// `drop entries of NoAllocs where (condition)`
    Drop(NameToken, Condition),
    /// `script fill`
    Script(NameToken),
    /// `recall Account, Text else "x"`
    Recall {
        /// The fields.
        fields: Vec<NameToken>,
        /// The value of a field without a remembered value.
        otherwise: Option<NameToken>,
        /// Whether `try` stands before it.
        tried: bool,
    },
    /// `remember Account, Text`, with its byte offset.
    Remember(Vec<NameToken>, usize),
    /// `forget`, with its byte offset.
    Forget(usize),
    /// `convert`
    Convert,
    /// `send VENUE`
    Send(SendTarget),
    /// `copy to AUDIT`
    CopyTo(NameToken),
    /// `return`
    Return,
    /// `reject "text"`
    Reject(RejectKind, NameToken),
    /// `answer status`
    AnswerStatus,
    /// `connect VENUE`
    Connect(NameToken),
    /// `disconnect VENUE`
    Disconnect(NameToken),
    /// `stop`
    Stop,
    /// `count NAME`
    Count(NameToken),
    /// `notify "text"`
    Notify(NameToken),
    /// `throttle 100 per second else reject`
    Throttle {
        /// Messages a second, also the maximum burst.
        rate: u32,
        /// Whether excess messages are rejected; otherwise they are dropped.
        reject: bool,
    },
}

impl Action {
    /// Whether the action decides, so that with `match = "first"` no later rule sees the message.
    pub fn decides(&self) -> bool {
        matches!(
            self,
            Self::Send(_) | Self::Return | Self::Reject(..) | Self::AnswerStatus | Self::Stop
        )
    }

    /// Whether the action changes fields.
    pub fn changes(&self) -> bool {
        matches!(
            self,
            Self::Set(..)
                | Self::Copy { .. }
                | Self::Move { .. }
                | Self::Remove(_)
                | Self::Map { .. }
                | Self::Format(..)
                | Self::Pseudonym(..)
                | Self::Each(..)
                | Self::Drop(..)
                | Self::Script(_)
                | Self::Recall { .. }
        )
    }

    /// Whether the action uses the present fields.
    pub fn uses_fields(&self) -> bool {
        self.hands_out() || matches!(self, Self::Remember(..))
    }

    /// Whether the action emits the fields.
    pub fn hands_out(&self) -> bool {
        matches!(self, Self::Send(_) | Self::Return | Self::CopyTo(_))
    }
}
