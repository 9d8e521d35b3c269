//! Why a message is not converted.

use core::fmt;

use fixwire_protocol::Tag;

/// Why a message is not converted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Unconvertible {
    /// One of the two versions has no such message.
    MessageType,
    /// The target has no place for this field or its value, and the table says to reject it.
    Homeless(Tag),
    /// The target requires this field, and neither the message nor the table gives it.
    Missing(Tag),
}

impl fmt::Display for Unconvertible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MessageType => f.write_str("the other version has no such message"),
            Self::Homeless(tag) => write!(f, "the other version has no place for field {tag}"),
            Self::Missing(tag) => write!(f, "the other version requires field {tag}"),
        }
    }
}

impl core::error::Error for Unconvertible {}
