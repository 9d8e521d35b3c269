//! `Change`: one change of a dictionary, made from a statement.

use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::Tag;
use fixwire_protocol::dictionary::assemble::MAX_MEMBERS;
use fixwire_protocol::dictionary::condition::Test;
use fixwire_protocol::dictionary::{DataType, OtherValues};

/// Maximum number of statements in a delta. Two dictionaries can differ in this many places.
pub(super) const MAX_CHANGES: usize = 2 * MAX_MEMBERS;

/// A position in a file.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct SourcePosition {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// A change, and the position of its statement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Stated {
    pub(super) at: SourcePosition,
    pub(super) change: Change,
}

/// A statement. Names are as they were written.
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
        /// Values that are allowed in addition to the listed ones; `None` leaves this set unchanged.
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
        /// For a group, the first member of its entries, and whether this member is required.
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
        /// The places where the condition applies. If empty, it applies to every message that has all its fields.
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

/// A message, or one of the groups in it.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Place {
    pub(super) root: Root,
    /// The counts of the groups that lead to the place, beginning with the outermost.
    pub(super) groups: Vec<String>,
}

#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Root {
    Header,
    Trailer,
    Message(String),
}

/// The position of a new member.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Spot {
    First,
    After(String),
    Last,
}

/// A thing that a file defines and a statement mentions.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Thing {
    /// The version of the dictionary.
    Version,
    /// The field with this tag.
    Field(Tag),
    /// A value of the field with this tag.
    Value(Tag, String),
    /// The message with this type.
    Message(String),
    /// A member of a message, inside these groups. Without a message type the member belongs to header or trailer.
    Member(String, Vec<Tag>, Tag),
}
