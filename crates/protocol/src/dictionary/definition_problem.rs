//! Errors in definitions. These limits do not depend on the source of the definitions.

use alloc::string::String;

use crate::Tag;

/// Why definitions do not make a valid dictionary.
///
/// An error is a fact about the definitions. A reader of definitions adds the place and makes a sentence.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum DefinitionProblem {
    /// Groups are nested more than 8 deep, or groups and components more than 64 deep.
    TooDeep,
    /// There are more items of a kind than a dictionary may have.
    TooMany {
        /// The kind of item of which there are too many.
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
    /// A component contains itself, either directly or through other components.
    CyclicComponent(String),
    /// A group has no field, so there would be no beginning of its entries.
    EmptyGroup(String),
}
