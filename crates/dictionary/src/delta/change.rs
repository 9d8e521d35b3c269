//! `Change`: one change to a dictionary, as its statement defines it.

use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::Tag;
use fixwire_protocol::dictionary::assemble::MAX_MEMBERS;
use fixwire_protocol::dictionary::condition::Test;
use fixwire_protocol::dictionary::{DataType, OtherValues};

/// Most statements of one delta: as many as two dictionaries with all their members can differ in.
pub(super) const MAX_CHANGES: usize = 2 * MAX_MEMBERS;

/// A place in a file.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct SourcePosition {
    /// Line, from 1.
    pub line: u32,
    /// Character of the line, from 1.
    pub column: u32,
}

/// A change and the place that asks for it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Stated {
    pub(super) at: SourcePosition,
    pub(super) change: Change,
}

/// One statement. Words are names as they were written.
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
        /// The values besides the listed ones; `None` leaves them as they are.
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

/// Where a member is put among the others.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Spot {
    First,
    After(String),
    Last,
}

/// Something that a statement speaks of and that a file defines.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Thing {
    /// The name of the dictionary.
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
