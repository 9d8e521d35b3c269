//! [`TransformFailure`]: why a message cannot be changed or converted.

use core::fmt;

use fixwire_protocol::{Tag, tag};

use crate::rules::ScriptFailure;

/// Maximum number of bytes that rules may add to one message. Each written field counts as its value plus 64 bytes.
pub const MAX_ADDED: usize = 1 << 20;
/// The maximum length of a value that `remember` stores.
pub const MAX_REMEMBERED: usize = 4 << 10;

/// Why an action of a rule failed for a message, or why the message cannot be converted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum TransformFailure {
    /// The field that should be copied, moved, mapped or put into a text is missing.
    NoField(Tag),
    /// The table has no entry for the value of this field.
    NotInTable(Tag),
    /// The field would become empty or contain SOH.
    BadValue(Tag),
    /// Entries of the group do not have this field; or they begin with it, so it cannot be removed.
    NotInEntry(Tag),
    /// The rules would add more than [`MAX_ADDED`] bytes to the message.
    TooLarge,
    /// The value of this field does not name a known session.
    NoSession(Tag),
    /// A script failed.
    Script(ScriptFailure),
    /// No value of this field is remembered for the order that the message responds to.
    NotRemembered(Tag),
    /// The value of this field is longer than [`MAX_REMEMBERED`].
    TooLong(Tag),
    /// The message contains a password, so its fields are not remembered.
    Secret,
    /// A rule would make the message a session-level message: MsgType(35) 0 to 5 or A.
    SessionMessage,
    /// One of the two versions lacks this message type.
    MessageType,
    /// The target version lacks this field or value in its place, and the policy is to reject.
    Homeless(Tag),
    /// The target version requires this field, but neither the message nor the table provides it.
    Missing(Tag),
}

impl TransformFailure {
    /// The field that causes the failure, if it is a field of the message.
    #[must_use]
    pub fn tag(&self) -> Option<Tag> {
        match *self {
            Self::NoField(tag)
            | Self::NotInTable(tag)
            | Self::BadValue(tag)
            | Self::NotInEntry(tag)
            | Self::NoSession(tag)
            | Self::NotRemembered(tag)
            | Self::TooLong(tag)
            | Self::Homeless(tag)
            | Self::Missing(tag) => Some(tag),
            Self::SessionMessage => Some(tag::MSG_TYPE),
            Self::TooLarge | Self::Script(_) | Self::Secret | Self::MessageType => None,
        }
    }
}

impl fmt::Display for TransformFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoField(tag) => write!(f, "field {tag} is missing"),
            Self::NotInTable(tag) => {
                write!(f, "the table has no entry for the value of field {tag}")
            }
            Self::BadValue(tag) => write!(f, "field {tag} would be empty or contain SOH"),
            Self::NotInEntry(tag) => {
                write!(
                    f,
                    "field {tag} cannot be set or removed in entries of the group"
                )
            }
            Self::TooLarge => write!(f, "the message would grow by more than {MAX_ADDED} bytes"),
            Self::NoSession(tag) => write!(f, "field {tag} does not name a known session"),
            Self::Script(failure) => failure.fmt(f),
            Self::NotRemembered(tag) => write!(f, "no remembered value for field {tag}"),
            Self::TooLong(tag) => write!(
                f,
                "field {tag} is longer than {MAX_REMEMBERED} bytes, the limit for remembered values"
            ),
            Self::Secret => f.write_str("a message with a password cannot be remembered"),
            Self::SessionMessage => {
                f.write_str("a rule cannot make a session-level message (MsgType 0 to 5 or A)")
            }
            Self::MessageType => f.write_str("the destination's FIX version has no such message"),
            Self::Homeless(tag) => {
                write!(f, "the destination's FIX version has no field {tag} here")
            }
            Self::Missing(tag) => write!(f, "the destination's FIX version requires field {tag}"),
        }
    }
}

impl core::error::Error for TransformFailure {}
