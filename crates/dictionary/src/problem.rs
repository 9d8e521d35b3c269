//! Errors in the definitions of a dictionary. Each says how to correct it.

use alloc::format;
use alloc::string::String;
use core::fmt;

use fixwire_protocol::dictionary::DefinitionProblem;

/// A fault in the definitions of a dictionary.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum DictionaryProblem {
    /// The definitions do not form a valid dictionary.
    Definition(DefinitionProblem),
    /// The text is not XML, or uses parts of XML that are not supported: entities or document types.
    Xml(String),
    /// The text is longer than `DocumentLimits::bytes`.
    TooLong {
        /// The limit, bytes.
        limit: usize,
    },
    /// The outermost element is not `<fix>`.
    WrongRoot(String),
    /// `<fix>` does not have this child element.
    MissingSection(&'static str),
    /// The group with this name has no `<numInGroup>` in an Orchestra file.
    GroupWithoutCount(String),
    /// An unexpected element.
    UnexpectedElement {
        /// The name of the element.
        found: String,
        /// The elements that are allowed here.
        expected: &'static str,
    },
    /// An element lacks this attribute, or the attribute is empty.
    MissingAttribute {
        /// The element's name.
        element: String,
        /// The attribute's name.
        attribute: &'static str,
    },
    /// The value of an attribute is not valid.
    BadAttribute {
        /// The attribute's name.
        attribute: &'static str,
        /// The value of the attribute.
        value: String,
        /// The allowed values.
        expected: &'static str,
    },
    /// The type of a field is unknown.
    UnknownType(String),
    /// Two definitions in an Orchestra file have this id. Both definitions are in the same scenario and have the same
    /// element name.
    DuplicateId(String),
    /// A code set has this value twice.
    DuplicateValue(String),
    /// A reference in an Orchestra file has an unknown id.
    UnknownId {
        /// The required kind of the id: field, component, group or codeSet.
        what: &'static str,
        /// The id or name that was not found.
        id: String,
    },
    /// The bytes are not UTF-8, or the file declares another encoding.
    Encoding(String),
}

impl From<DefinitionProblem> for DictionaryProblem {
    fn from(problem: DefinitionProblem) -> Self {
        Self::Definition(problem)
    }
}

impl fmt::Display for DictionaryProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Definition(problem) => definition(problem, f),
            Self::Xml(what) => write!(
                f,
                "invalid XML: {}; write plain elements and attributes",
                cut(what)
            ),
            Self::Encoding(found) => write!(
                f,
                "this is not UTF-8 but {}; convert the file to UTF-8",
                cut(found)
            ),
            Self::TooLong { limit } => write!(
                f,
                "longer than {limit} bytes; remove messages that you do not use"
            ),
            Self::WrongRoot(found) => write!(
                f,
                "the root element is <{}>, not <fix>; use a QuickFIX data dictionary or an \
                 Orchestra repository",
                cut(found)
            ),
            Self::MissingSection(name) => {
                write!(f, "the root element has no <{name}>; add it")
            }
            Self::GroupWithoutCount(name) => {
                let name = cut(name);
                write!(
                    f,
                    "the group {name} has no <numInGroup>; add it with the id of its count"
                )
            }
            Self::UnexpectedElement { found, expected } => {
                let found = cut(found);
                write!(f, "unexpected <{found}>; write {expected}")
            }
            Self::MissingAttribute { element, attribute } => {
                let element = cut(element);
                write!(f, "<{element}> has no {attribute}; add {attribute}=\"...\"")
            }
            Self::BadAttribute {
                attribute,
                value,
                expected,
            } => {
                let value = cut(value);
                write!(f, "invalid {attribute}=\"{value}\"; write {expected}")
            }
            Self::UnknownType(name) => {
                let name = cut(name);
                write!(
                    f,
                    "the field type {name} is unknown; write STRING to take any value"
                )
            }
            Self::DuplicateId(id) => {
                let id = cut(id);
                write!(f, "{id} is defined already; remove one")
            }
            Self::DuplicateValue(value) => {
                let value = cut(value);
                write!(f, "the value {value} is listed already; remove one")
            }
            Self::UnknownId { what, id } => {
                let id = cut(id);
                write!(f, "unknown {what} {id}; define it or correct the id")
            }
        }
    }
}

/// Writes the sentence for an error in definitions.
fn definition(problem: &DefinitionProblem, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match problem {
        DefinitionProblem::TooDeep => f.write_str(
            "groups are nested more than 8 deep, or groups and components together more than 64 deep; \
            flatten them",
        ),
        DefinitionProblem::TooMany { what, limit } => write!(
            f,
            "more than {limit} {what}; remove those that you do not use"
        ),
        DefinitionProblem::DuplicateTag(tag) => write!(
            f,
            "a field with number {tag} is defined already; remove one"
        ),
        DefinitionProblem::DuplicateField(name) => {
            let name = cut(name);
            write!(f, "a field {name} is defined already; rename or remove one")
        }
        DefinitionProblem::DuplicateComponent(name) => {
            let name = cut(name);
            write!(
                f,
                "a component {name} is defined already; rename or remove one"
            )
        }
        DefinitionProblem::DuplicateMessageType(name) => {
            let name = cut(name);
            write!(
                f,
                "a message with msgtype {name} is defined already; remove one"
            )
        }
        DefinitionProblem::UnknownField(name) => {
            let name = cut(name);
            write!(
                f,
                "unknown field {name}; define it in <fields> or correct the name"
            )
        }
        DefinitionProblem::UnknownComponent(name) => {
            let name = cut(name);
            write!(
                f,
                "unknown component {name}; define it in <components> or correct the name"
            )
        }
        DefinitionProblem::CyclicComponent(name) => {
            let name = cut(name);
            write!(f, "the component {name} contains itself; remove that use")
        }
        DefinitionProblem::EmptyGroup(name) => {
            let name = cut(name);
            write!(
                f,
                "the group {name} has no fields; add the one it begins with"
            )
        }
    }
}

/// A text that is cut for use in a sentence.
pub(crate) fn cut(text: &str) -> String {
    const LONGEST: usize = 120;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into(),
    }
}
