//! Why bytes are not a message, or why a field has a value that is not allowed.

use core::fmt;

/// A wrong field in a frame: message, field, offset, value found and value expected.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FrameError {
    /// The message, such as `R01`; `frame` while the message type is unknown.
    pub message: &'static str,
    /// The field, such as `checksum`. `length` is the number of bytes that were given.
    pub field: &'static str,
    /// Byte offset of the field in the frame.
    pub at: usize,
    /// What was found.
    pub found: u64,
    /// The expected value.
    pub expected: TmpExpectedValue,
}

/// The value that a field should have had.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TmpExpectedValue {
    /// This value.
    Exactly(u64),
    /// This value or a larger one.
    AtLeast(u64),
    /// This value or a smaller one.
    AtMost(u64),
    /// One of these values, as text.
    OneOf(&'static str),
}

impl FrameError {
    /// Whether the frame has the wrong number of bytes (status 92). All other errors are status 93.
    #[must_use]
    pub fn is_length(&self) -> bool {
        self.field == "length" || self.field == "msg_length"
    }
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            message,
            field,
            at,
            found,
            expected,
        } = self;
        write!(
            f,
            "{message}: {field} at byte {at} is {found}, expected {expected}"
        )
    }
}

impl fmt::Display for TmpExpectedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(value) => write!(f, "{value}"),
            Self::AtLeast(value) => write!(f, "at least {value}"),
            Self::AtMost(value) => write!(f, "at most {value}"),
            Self::OneOf(values) => write!(f, "one of {values}"),
        }
    }
}

impl core::error::Error for FrameError {}
