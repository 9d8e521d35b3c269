//! Errors in a conversion table, each with its remedy.

use alloc::string::String;
use core::fmt;

use fixwire_protocol::Tag;

/// Why a conversion table is refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConversionTableError {
    /// The line, from 1.
    pub line: usize,
    /// The error.
    pub problem: ConversionProblem,
}

/// An error in a line.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ConversionProblem {
    /// The table is longer than [`MAX_TABLE`](super::MAX_TABLE).
    TooLong,
    /// The table does not begin with its two versions.
    NoVersions,
    /// An unknown FIX version.
    UnknownVersion(String),
    /// The dictionary's version differs from the version in the table.
    OtherVersion {
        /// The version in the table.
        table: String,
        /// The version of the dictionary.
        dictionary: String,
    },
    /// An unknown statement.
    UnknownStatement(String),
    /// A line, or a part of a line, does not have this form.
    Form(&'static str),
    /// A closing quote is missing.
    OpenQuote,
    /// Neither dictionary has this field.
    UnknownField(String),
    /// The source has no such message.
    UnknownMessage(String),
    /// The target has no message of this type.
    NoSuchTarget(String),
    /// In that position, neither dictionary has this group.
    UnknownGroup(Tag),
    /// The field cannot have this value.
    UnknownValue {
        /// The field.
        tag: Tag,
        /// The value.
        value: String,
    },
    /// A field has two policies.
    TwicePolicy(Tag),
    /// Adding this offset does not make tags user-defined.
    Offset(String),
    /// A statement precedes the first `for`.
    NoMessages,
    /// The statement never applies: the source lacks this field where `for` reads it, or the target lacks the field
    /// where it is written.
    NeverApplies(Tag),
    /// No message and no group has all fields of the statement.
    AppliesNowhere,
    /// The conditions on this field are never true together.
    Contradiction(Tag),
    /// The row is never used, because an earlier row of the map matches the same values.
    ShadowedRow(String),
    /// The row has no value on the left.
    BlindRow(String),
}

impl fmt::Display for ConversionTableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl core::error::Error for ConversionTableError {}

impl fmt::Display for ConversionProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "a table may have at most {} bytes", super::MAX_TABLE),
            Self::NoVersions => {
                f.write_str("a table begins with its versions: `from FIX.4.2`, then `to FIX.4.4`")
            }
            Self::UnknownVersion(name) => write!(
                f,
                "unknown version {name}; write the version as in BeginString, with its service pack: FIX.4.2 or \
                 FIX.5.0SP2"
            ),
            Self::OtherVersion { table, dictionary } => write!(
                f,
                "the table is for version {table}, but the dictionary is for version {dictionary}; use a dictionary of \
                 the version that the table names"
            ),
            Self::UnknownStatement(word) => write!(
                f,
                "unknown statement {word}; a statement begins with set, default, remove, move, \
                 map, word, entry, field, join, split, wrap, unwrap, sum, difference, for or \
                 homeless"
            ),
            Self::Form(form) => write!(f, "write it as `{form}`"),
            Self::OpenQuote => f.write_str("missing closing quote; quote each whole word"),
            Self::UnknownField(name) => write!(
                f,
                "neither version has a field {name}; use its tag, or its name as the FIX \
                 specification spells it"
            ),
            Self::UnknownMessage(name) => write!(
                f,
                "the source version has no message {name}; use its MsgType, or its name as the \
                 FIX specification spells it"
            ),
            Self::NoSuchTarget(name) => write!(
                f,
                "the target version has no message {name}, so such messages are never converted; remove {name}"
            ),
            Self::UnknownGroup(tag) => write!(
                f,
                "neither version has group {tag} in this place; a path lists the count fields of groups from the \
                 outermost, as in E/73/78"
            ),
            Self::UnknownValue { tag, value } => write!(
                f,
                "value {value} is not valid for field {tag}; use a value that the dictionary lists, in the format of \
                 the field's type"
            ),
            Self::TwicePolicy(tag) => write!(
                f,
                "field {tag} already has a policy; remove one of the two policies"
            ),
            Self::Offset(offset) => write!(
                f,
                "{offset} is not an offset for user-defined fields; use a number from 5000 to 100000000"
            ),
            Self::NoMessages => {
                f.write_str("this statement applies to no message type; put `for` and message \
                             types before it")
            }
            Self::NeverApplies(tag) => write!(
                f,
                "this statement can never apply: the source has no field {tag} in the places that `for` names, or the \
                 target has no field {tag} where the statement writes it; name fewer places in `for`"
            ),
            Self::AppliesNowhere => f.write_str(
                "this statement can never apply: no message or group has all fields of the statement; look at both \
                    dictionaries",
            ),
            Self::Contradiction(tag) => write!(
                f,
                "this statement can never apply: its conditions on field {tag} exclude each other; remove one of these \
                 conditions"
            ),
            Self::ShadowedRow(row) => write!(
                f,
                "row {row} can never apply: an earlier row already matches the same values; put row {row} first"
            ),
            Self::BlindRow(row) => write!(
                f,
                "row {row} has no value on the left; write at least one value there"
            ),
        }
    }
}
