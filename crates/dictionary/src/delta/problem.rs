//! Errors in a delta. Each says how to correct it.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use super::change::{SourcePosition, Thing};
use crate::problem::{DictionaryProblem, cut};

/// Why a delta cannot be read or applied.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DeltaError {
    /// The name of the delta.
    pub file: String,
    /// The position in the delta.
    pub at: SourcePosition,
    /// The error.
    pub problem: DeltaProblem,
    /// The other position, if there is a conflict.
    pub other: Option<Box<Other>>,
}

/// The position of the definition that is contradicted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Other {
    /// The definition is in another delta, or earlier in the same delta.
    Delta {
        /// The name of the delta.
        file: String,
        /// The position in that delta.
        at: SourcePosition,
    },
    /// The definition is in the base dictionary. [`place_of`](super::place_of) finds its position there.
    Base(Thing),
}

/// The fault of a statement.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum DeltaProblem {
    /// The XML cannot be read.
    Xml(DictionaryProblem),
    /// Invalid syntax.
    Syntax {
        /// The word that was found; empty at the end of the line.
        found: String,
        /// The words that are allowed here.
        expected: &'static str,
    },
    /// The delta is for another dictionary.
    WrongBase {
        /// The version for which the delta is.
        wanted: String,
        /// The dictionary's version.
        found: String,
    },
    /// An unknown name.
    Unknown {
        /// The kind of the thing: field, message, member, group, component or value.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A name is ambiguous, because two fields or messages have it.
    Ambiguous {
        /// field or message.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The thing already exists with another definition, or another delta has changed it.
    Conflict(String),
    /// The group would be left without members.
    EmptyGroup(String),
    /// No message has all fields of the condition.
    NoSuchMessage,
    /// A limit of dictionaries is exceeded.
    TooMany {
        /// The kind of items that were counted.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}

impl fmt::Display for DeltaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SourcePosition { line, column } = self.at;
        let (file, problem) = (&self.file, &self.problem);
        write!(f, "{file}, line {line}, column {column}: {problem}")?;
        match self.other.as_deref() {
            None => Ok(()),
            Some(Other::Delta { file, at }) => {
                let SourcePosition { line, column } = at;
                write!(
                    f,
                    " (the other place: {file}, line {line}, column {column})"
                )
            }
            Some(Other::Base(_)) => f.write_str(" (the other place: the dictionary it changes)"),
        }
    }
}

impl core::error::Error for DeltaError {}

impl fmt::Display for DeltaProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Xml(problem) => problem.fmt(f),
            Self::Syntax { found, expected } if found.is_empty() => {
                write!(f, "unexpected end of line; write {expected}")
            }
            Self::Syntax { found, expected } => {
                write!(f, "unexpected '{}'; write {expected}", cut(found))
            }
            Self::WrongBase { wanted, found } => write!(
                f,
                "this delta changes {}, but the dictionary is {}; use the right one",
                cut(wanted),
                cut(found)
            ),
            Self::Unknown { what, name } => {
                let name = cut(name);
                write!(f, "unknown {what} {name}; add it first or correct the name")
            }
            Self::Ambiguous { what, name } => write!(
                f,
                "{what} {} is ambiguous; write its number or type",
                cut(name)
            ),
            Self::Conflict(what) => {
                write!(f, "{}; change it with 'change', or remove one", cut(what))
            }
            Self::EmptyGroup(name) => write!(
                f,
                "the group {} would have no fields left; remove the group",
                cut(name)
            ),
            Self::NoSuchMessage => f.write_str(
                "no message, or not the message after 'in', has all these fields in one place; correct a \
                name, or write 'in MESSAGE:' before the condition",
            ),
            Self::TooMany { what, limit } => write!(
                f,
                "more than {limit} {what}; remove those that you do not use"
            ),
        }
    }
}
