//! [`Unconvertible`]: why a message cannot be converted.

use core::fmt;

use fixwire_protocol::Tag;

/// Why a message cannot be converted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Unconvertible {
    /// One of the two versions lacks this message type.
    MessageType,
    /// The target version lacks this field or value here, and the policy is to reject.
    Homeless(Tag),
    /// The target version requires this field, and neither the message nor the table provides it.
    Missing(Tag),
}

impl fmt::Display for Unconvertible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MessageType => f.write_str("the destination's FIX version has no such message"),
            Self::Homeless(tag) => write!(
                f,
                "the destination's FIX version has no field {tag} \
                                              here"
            ),
            Self::Missing(tag) => write!(f, "the destination's FIX version requires field {tag}"),
        }
    }
}

impl core::error::Error for Unconvertible {}
