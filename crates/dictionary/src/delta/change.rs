//! `Change`: one change to a dictionary, from a statement.

use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::Tag;
use fixwire_protocol::dictionary::assemble::MAX_MEMBERS;
use fixwire_protocol::dictionary::condition::Test;
use fixwire_protocol::dictionary::{DataType, OtherValues};

/// Maximum number of statements in a delta: as many as two dictionaries can differ in.
pub(super) const MAX_CHANGES: usize = 2 * MAX_MEMBERS;

/// A position in a file.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct SourcePosition {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// A change and the position of its statement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Stated {
    pub(super) at: SourcePosition,
    pub(super) change: Change,
}

/// One statement. Names are as written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Change {
    Base(String),
    Version(String),
    Field {
        how: How,
        tag: Tag,
        name: String,
        kind: DataType,
        length: Option<String>,
        /// Values allowed besides the listed ones; `None` leaves them unchanged.
        others: Option<OtherValues>,
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
        /// For a group, the first member of its entries and whether it is required.
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
pub(super) enum How {
    Add,
    Change,
    Remove,
}

impl How {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Change => "change",
            Self::Remove => "remove",
        }
    }
}

/// A message, or one of its groups.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Place {
    pub(super) root: Root,
    /// The counts of the groups that lead to it, the outermost first.
    pub(super) groups: Vec<String>,
}

#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Root {
    Header,
    Trailer,
    Message(String),
}

/// The position for a new member.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Spot {
    First,
    After(String),
    Last,
}

/// A thing that a statement mentions and a file defines.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Thing {
    /// The name of the dictionary.
    Version,
    /// The field with this tag.
    Field(Tag),
    /// A value of a field.
    Value(Tag, String),
    /// The message with this type.
    Message(String),
    /// A member of a message (without a type: of header and trailer), inside these groups.
    Member(String, Vec<Tag>, Tag),
}
