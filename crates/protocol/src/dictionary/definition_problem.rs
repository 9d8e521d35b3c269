//! Errors in definitions, whatever source they were read from.

use alloc::string::String;

use crate::Tag;

/// Why definitions are not a valid dictionary.
///
/// These are facts about them: a reader adds the place and makes a sentence of both.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum DefinitionProblem {
    /// Groups are nested deeper than 8, or groups and components deeper than 64.
    TooDeep,
    /// There are more items of a kind than a dictionary may have.
    TooMany {
        /// The kind of item that exceeds its limit.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// Two fields have this tag.
    DuplicateTag(Tag),
    /// Two fields have this name.
    DuplicateField(String),
    /// Two components have this name.
    DuplicateComponent(String),
    /// Two messages have this MsgType(35).
    DuplicateMessageType(String),
    /// A layout names a field that is not defined.
    UnknownField(String),
    /// A layout names a component that is not defined.
    UnknownComponent(String),
    /// A component contains itself, directly or through others.
    CyclicComponent(String),
    /// A group has no field, so its entries would have no beginning.
    EmptyGroup(String),
}
