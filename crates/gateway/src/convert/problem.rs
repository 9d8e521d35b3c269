//! What can be wrong with the text of a conversion table, as a sentence with a remedy.

use alloc::string::String;
use core::fmt;

use fixwire_protocol::Tag;

/// Why a table is refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TableError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a line.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// The table is longer than [`MAX_TABLE`](super::MAX_TABLE).
    TooLong,
    /// The table does not begin with its versions.
    NoVersions,
    /// FIX has no such version.
    UnknownVersion(String),
    /// The dictionary is one of another version.
    OtherVersion {
        /// What the table says.
        table: String,
        /// What the dictionary says.
        dictionary: String,
    },
    /// A line that begins with no known word.
    UnknownStatement(String),
    /// A statement of another form than this.
    Form(&'static str),
    /// A quotation mark without a second one.
    OpenQuote,
    /// Neither dictionary has this field.
    UnknownField(String),
    /// The source has no such message.
    UnknownMessage(String),
    /// The target has no message of this type.
    NoSuchTarget(String),
    /// Neither dictionary has this group in that place.
    UnknownGroup(Tag),
    /// The field cannot have this value.
    UnknownValue {
        /// The field.
        tag: Tag,
        /// The value.
        value: String,
    },
    /// A policy is given twice for one field.
    TwicePolicy(Tag),
    /// An offset with which fields would not be user-defined ones.
    Offset(String),
    /// A statement before the first `for`.
    NoMessages,
    /// The place that `for` names does not have this field, or the target does not where one is
    /// written.
    NeverApplies(Tag),
    /// None of the messages and groups has all fields of the statement.
    AppliesNowhere,
    /// Conditions that are never met together.
    Contradiction(Tag),
    /// An earlier row of the map takes everything that this one would.
    ShadowedRow(String),
    /// The row says nothing of what its fields have to be.
    BlindRow(String),
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl core::error::Error for TableError {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "a table has at most {} bytes", super::MAX_TABLE),
            Self::NoVersions => {
                f.write_str("a table begins with its versions: `from FIX.4.2`, then `to FIX.4.4`")
            }
            Self::UnknownVersion(name) => write!(
                f,
                "there is no version {name}; write it as BeginString does, with service packs, such as FIX.4.2 or FIX.5.0SP2"
            ),
            Self::OtherVersion { table, dictionary } => write!(
                f,
                "the table is for {table}, the dictionary for {dictionary}; give the one that the table names"
            ),
            Self::UnknownStatement(word) => write!(
                f,
                "{word} is no statement; one begins with set, default, remove, move, map, word, entry, field, join, split, wrap, unwrap, sum, difference, for or homeless"
            ),
            Self::Form(form) => write!(f, "write it as `{form}`"),
            Self::OpenQuote => f.write_str("a quotation mark is not closed; quote each whole word"),
            Self::UnknownField(name) => write!(
                f,
                "neither version has a field {name}; give its number, or its name in the spelling of the standard"
            ),
            Self::UnknownMessage(name) => write!(
                f,
                "the source has no message {name}; give its MsgType, or its name in the spelling of the standard"
            ),
            Self::NoSuchTarget(name) => write!(
                f,
                "the target has no message {name}, so it is never converted; leave it out"
            ),
            Self::UnknownGroup(tag) => write!(
                f,
                "there is no group {tag} in that place; a path names the counts of groups from the outermost, as in E/73/78"
            ),
            Self::UnknownValue { tag, value } => write!(
                f,
                "field {tag} cannot have the value {value}; use one that the dictionary lists, in the form of its type"
            ),
            Self::TwicePolicy(tag) => write!(
                f,
                "there is a policy for field {tag} already; leave one of them"
            ),
            Self::Offset(offset) => write!(
                f,
                "{offset} is no offset for user-defined fields; use one from 5000 to 100000000"
            ),
            Self::NoMessages => {
                f.write_str("it is not said where this holds; put `for` and message types before it")
            }
            Self::NeverApplies(tag) => write!(
                f,
                "this can never apply: field {tag} is not there, or not in the target where it is written; narrow down `for`"
            ),
            Self::AppliesNowhere => f.write_str(
                "this can never apply: no message or group has all of its fields; look at both dictionaries",
            ),
            Self::Contradiction(tag) => write!(
                f,
                "this can never apply: its conditions on field {tag} exclude each other; leave one of them"
            ),
            Self::ShadowedRow(row) => write!(
                f,
                "row {row} can never apply: an earlier row takes all that it would; put it first"
            ),
            Self::BlindRow(row) => write!(
                f,
                "row {row} asks for no value; name at least one on the left"
            ),
        }
    }
}
