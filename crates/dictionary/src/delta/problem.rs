//! Errors in a delta, each with a remedy.

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
    /// The position in it.
    pub at: SourcePosition,
    /// The error.
    pub problem: DeltaProblem,
    /// The other position of a conflict.
    pub other: Option<Box<Other>>,
}

/// The position of the contradicted definition.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Other {
    /// In another delta, or earlier in the same one.
    Delta {
        /// The name of the delta.
        file: String,
        /// The position in it.
        at: SourcePosition,
    },
    /// In the base dictionary; [`place_of`](super::place_of) finds it there.
    Base(Thing),
}

/// Errors of a statement.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum DeltaProblem {
    /// The XML cannot be read.
    Xml(DictionaryProblem),
    /// Invalid syntax.
    Syntax {
        /// The word, empty at the end of the line.
        found: String,
        /// The words allowed here.
        expected: &'static str,
    },
    /// The delta is for another dictionary.
    WrongBase {
        /// The version that the delta names.
        wanted: String,
        /// The dictionary's version.
        found: String,
    },
    /// An unknown name.
    Unknown {
        /// field, message, member, group, component or value.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// An ambiguous name of two fields or messages.
    Ambiguous {
        /// field or message.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// It already exists with another definition, or another delta has changed it.
    Conflict(String),
    /// The group would have no members left.
    EmptyGroup(String),
    /// No message has all fields of the condition.
    NoSuchMessage,
    /// A limit of dictionaries is exceeded.
    TooMany {
        /// The kind of items counted.
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
                "no message, or not that one, has all these fields side by side; correct a name \
                 or write 'in MESSAGE:' before",
            ),
            Self::TooMany { what, limit } => write!(
                f,
                "more than {limit} {what}; remove those that you do not use"
            ),
        }
    }
}
