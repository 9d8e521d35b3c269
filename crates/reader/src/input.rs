//! [`LogInput`]: one source of messages.

use crate::entry::LogEntry;
use crate::left_out::LeftOuts;

/// Result of looking for the next message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Step {
    /// There is one: [`LogInput::entry`].
    Message,
    /// None now, perhaps later.
    Wait,
    /// No further one.
    End,
}

/// A source of messages.
pub(crate) trait LogInput: Send {
    /// Goes to the next message. What cannot be read is added to `left_out`.
    fn advance(&mut self, left_out: &mut LeftOuts) -> Step;

    /// The message it is at, after [`Step::Message`].
    fn entry(&self) -> LogEntry<'_>;

    /// Lines without a message so far, but for blank ones.
    fn other_lines(&self) -> u64 {
        0
    }

    /// Of a text, the place behind the message it is at, and the line there.
    fn end(&self) -> (u64, u64) {
        (0, 0)
    }

    /// The last time of what was skipped before the message it is at.
    fn time_before(&self) -> Option<i64> {
        None
    }
}
