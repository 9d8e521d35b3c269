//! Changes to a dictionary: what a venue adds to the standard, removes from it or asks for besides.
//!
//! A delta is a QuickFIX XML file of things to add, or a text of one statement a line:
//!
//! ```text
//! base FIX.4.4                                              # refuse to change another one
//! add field 9001 VenueFlag CHAR
//! add value A ALPHA to VenueFlag
//! add member VenueFlag to NewOrderSingle required after ClOrdID
//! add group NoVenueLegs to D begin VenueLegID required      # a group has a first field
//! add member VenueLegQty to NoVenueLegs of D
//! add component Instrument to U1 required
//! change member Text of D required
//! remove value 9 from OrdType
//! remove member MinQty from D
//! in NewOrderSingle, G: Price required when OrdType in 2,4 and Side not in 1
//! ```
//!
//! Fields are named by name or number, messages by MsgType or name; a word with other letters stands in
//! quotes. Statements hold in their order. Two files that want different things, and an addition that
//! is there already as something else, are errors with both places.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::condition::Test;
use super::document::cut;
use super::problem::Problem;
use super::{Condition, Dictionary, Kind, Limits, document};
use crate::Tag;

mod apply;
mod diff;
mod draft;
mod overlay;
mod show;
mod text;

/// Changes to a dictionary, in their order.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Delta {
    /// What the file is called in errors.
    name: String,
    changes: Vec<Stated>,
}

impl Delta {
    /// Reads a delta of either form; `name` is what errors call it.
    ///
    /// # Errors
    ///
    /// [`DeltaError`] with the place in the text.
    pub fn read(name: &str, text: &str, limits: Limits) -> Result<Self, DeltaError> {
        let is_xml = text.trim_start().starts_with('<');
        let changes = match is_xml {
            true => overlay::read(text, limits).map_err(|error| {
                let place = Position {
                    line: error.line,
                    column: error.column,
                };
                (place, DeltaProblem::Xml(error.problem))
            }),
            false if text.len() > limits.bytes => Err((
                Position { line: 1, column: 1 },
                DeltaProblem::Xml(Problem::TooLong {
                    limit: limits.bytes,
                }),
            )),
            false => text::read(text),
        };
        match changes {
            Ok(changes) => Ok(Self {
                name: name.into(),
                changes,
            }),
            Err((at, problem)) => Err(DeltaError {
                file: name.into(),
                at,
                problem,
                other: None,
            }),
        }
    }

    /// The changes that make `after` of `before`. Applying them gives a dictionary that is equal to
    /// `after`; written out, they are a delta in the form of statements.
    pub fn between(before: &Dictionary, after: &Dictionary) -> Self {
        Self {
            name: "difference".into(),
            changes: diff::changes(before, after),
        }
    }

    /// Whether there is nothing to change.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The statements, a line each.
    pub fn statements(&self) -> impl Iterator<Item = String> + '_ {
        self.changes
            .iter()
            .map(|stated| format!("{}", stated.change))
    }
}

impl fmt::Display for Delta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.changes
            .iter()
            .try_for_each(|stated| writeln!(f, "{}", stated.change))
    }
}

/// The dictionary with these deltas applied, one after the other.
///
/// # Errors
///
/// [`DeltaError`]: a statement that does not fit the dictionary, or two files that want different
/// things.
pub fn apply(base: &Dictionary, deltas: &[Delta]) -> Result<Dictionary, DeltaError> {
    apply::apply(base, deltas)
}

/// A place in a file.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Character of the line, from 1.
    pub column: u32,
}

/// A change and the place that asks for it.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Stated {
    at: Position,
    change: Change,
}

/// One statement. Words are names as they were written.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Change {
    Base(String),
    Version(String),
    Field {
        how: How,
        tag: Tag,
        name: String,
        kind: Kind,
        length: Option<String>,
    },
    RemoveField(String),
    Value {
        how: How,
        value: String,
        name: String,
        field: String,
    },
    RemoveValue {
        value: String,
        field: String,
    },
    Message {
        how: How,
        msg_type: String,
        name: String,
    },
    RemoveMessage(String),
    Member {
        member: String,
        place: Place,
        required: bool,
        spot: Spot,
        /// Of a group, the member that its entries begin with and whether it is required.
        begin: Option<(String, bool)>,
    },
    Component {
        name: String,
        place: Place,
        required: bool,
        spot: Spot,
    },
    Requirement {
        member: String,
        place: Place,
        required: bool,
    },
    RemoveMember {
        member: String,
        place: Place,
    },
    Condition {
        how: How,
        /// Empty: every message that has all its fields.
        places: Vec<Place>,
        required: String,
        terms: Vec<(String, Test)>,
    },
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum How {
    Add,
    Change,
    Remove,
}

impl How {
    fn word(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Change => "change",
            Self::Remove => "remove",
        }
    }
}

/// A message, or one of its groups.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Place {
    root: Root,
    /// The counts of the groups that lead to it, the outermost first.
    groups: Vec<String>,
}

#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Root {
    Header,
    Trailer,
    Message(String),
}

/// Where a member is put among the others.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Spot {
    First,
    After(String),
    Last,
}

/// Something that a statement speaks of and that a file defines.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Thing {
    /// What the dictionary is called.
    Version,
    /// The field of this tag.
    Field(Tag),
    /// A value of a field.
    Value(Tag, String),
    /// The message of this type.
    Message(String),
    /// A member of a message (of header and trailer: without a type), inside these groups.
    Member(String, Vec<Tag>, Tag),
}

/// Why a delta cannot be read or applied.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DeltaError {
    /// The name that the delta was read under.
    pub file: String,
    /// Where in it.
    pub at: Position,
    /// What is wrong there.
    pub problem: DeltaProblem,
    /// The other place of a conflict.
    pub other: Option<Box<Other>>,
}

/// The place that a statement contradicts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Other {
    /// In another delta, or further up in the same one.
    Delta {
        /// The name that it was read under.
        file: String,
        /// Where in it.
        at: Position,
    },
    /// In the dictionary that is changed; [`place_of`] finds it there.
    Base(Thing),
}

/// What is wrong with a statement.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum DeltaProblem {
    /// The XML cannot be read.
    Xml(Problem),
    /// The words make no statement.
    Syntax {
        /// The word, empty at the end of the line.
        found: String,
        /// What may stand there.
        expected: &'static str,
    },
    /// The delta is for another dictionary.
    WrongBase {
        /// What it says.
        wanted: String,
        /// The dictionary's version.
        found: String,
    },
    /// Nothing has this name.
    Unknown {
        /// field, message, member, group, component or value.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Two fields or messages have this name.
    Ambiguous {
        /// field or message.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// It is there already, as something else, or another delta has changed it.
    Conflict(String),
    /// The group would have no members left.
    EmptyGroup(String),
    /// No message has all fields of the condition.
    NoSuchMessage,
    /// More than a dictionary may have.
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}

impl fmt::Display for DeltaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { line, column } = self.at;
        let (file, problem) = (&self.file, &self.problem);
        write!(f, "{file}, line {line}, column {column}: {problem}")?;
        match self.other.as_deref() {
            None => Ok(()),
            Some(Other::Delta { file, at }) => {
                let Position { line, column } = at;
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
                write!(f, "the line ends too early; write {expected}")
            }
            Self::Syntax { found, expected } => {
                write!(f, "'{}' does not belong here; write {expected}", cut(found))
            }
            Self::WrongBase { wanted, found } => write!(
                f,
                "this changes {}, and the dictionary is {}; name the right one",
                cut(wanted),
                cut(found)
            ),
            Self::Unknown { what, name } => {
                let name = cut(name);
                write!(
                    f,
                    "there is no {what} {name}; add it first or correct the name"
                )
            }
            Self::Ambiguous { what, name } => write!(
                f,
                "there are two of the {what} {}; write its number or type",
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
                "no message, or not that one, has all these fields side by side; correct a name or \
                 say 'in MESSAGE:' before",
            ),
            Self::TooMany { what, limit } => write!(
                f,
                "more than {limit} {what}; remove those that you do not use"
            ),
        }
    }
}

/// Most statements of one delta.
const MAX_CHANGES: usize = 200_000;

/// Where a dictionary file defines a thing; of a member that is not found by itself the message's place.
pub fn place_of(text: &str, limits: Limits, thing: &Thing) -> Option<Position> {
    let found = document::parse(text, limits, |root| {
        Ok(overlay::find(root, thing).map(|node| node.range().start))
    });
    let (line, column) = document::line_and_column(text.get(..found.ok()??)?);
    Some(Position { line, column })
}

/// A condition as a statement.
pub(super) fn show_condition(
    dictionary: &Dictionary,
    condition: &Condition,
    message: &str,
) -> String {
    let name = |tag: Tag| match dictionary.field(tag) {
        Some(field) => field.name.clone(),
        None => format!("{tag}"),
    };
    let terms = condition.terms.iter();
    let change = Change::Condition {
        how: How::Add,
        places: [Place {
            root: Root::Message(message.into()),
            groups: condition.path.iter().map(|&tag| name(tag)).collect(),
        }]
        .into(),
        required: name(condition.required),
        terms: terms
            .map(|term| (name(term.tag), term.test.clone()))
            .collect(),
    };
    format!("{change}")
}

/// Who changed what.
type Touched = BTreeMap<Thing, (usize, Position)>;
