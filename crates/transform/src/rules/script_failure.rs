//! Why a script fails, and how long it may run.

use core::fmt;

use fixwire_protocol::Tag;

/// Default maximum of operations of one run.
pub const OPERATIONS: u64 = 10_000;

/// A script that failed for a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ScriptFailure {
    /// The line of the file, from 1.
    pub line: u32,
    /// Why.
    pub fault: ScriptFault,
}

/// Why a script failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ScriptFault {
    /// The script exceeded its limit of operations.
    TooLong,
    /// A text, a list or the number of variables exceeded its limit.
    TooLarge,
    /// A value has the wrong type, or a field is missing.
    Kinds,
    /// Overflow, or division by zero.
    Number,
    /// Index out of range in a text or list.
    Bounds,
    /// The number in this field has more digits than a decimal of a script can hold: 28.
    TooManyDigits(Tag),
    /// The value of a field is not UTF-8.
    NotText,
    /// The field cannot be set or removed.
    NotWritable(Tag),
    /// The result of a condition is not a boolean.
    NoAnswer,
    /// The script executed `throw`.
    Thrown,
    /// Anything else.
    Other,
}

impl fmt::Display for ScriptFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "script, line {}: {}", self.line, self.fault)
    }
}

impl fmt::Display for ScriptFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "too many operations",
            Self::TooLarge => "text or list too large, or too many variables",
            Self::Kinds => "wrong type of value, or a field that is missing",
            Self::Number => "number too large, or division by zero",
            Self::Bounds => "index out of range",
            Self::TooManyDigits(tag) => {
                return write!(f, "number in field {tag} has more than 28 digits");
            }
            Self::NotText => "value is not UTF-8",
            Self::NotWritable(tag) => {
                return write!(f, "field {tag} cannot be set or removed here");
            }
            Self::NoAnswer => "result is neither true nor false",
            Self::Thrown => "script executed throw",
            Self::Other => "script failed",
        })
    }
}
