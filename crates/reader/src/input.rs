//! [`LogInput`]: one source of messages.

use crate::entry::LogEntry;
use crate::left_out::LeftOuts;

/// Result of looking for the next message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Step {
    /// A message is available from [`LogInput::entry`].
    Message,
    /// No message is available now, but more may follow.
    Wait,
    /// No more messages.
    End,
}

/// A source of messages.
pub(crate) trait LogInput: Send {
    /// Advances to the next message. Appends parts that cannot be read to `left_out`.
    fn advance(&mut self, left_out: &mut LeftOuts) -> Step;

    /// The current message, after [`Step::Message`].
    fn entry(&self) -> LogEntry<'_>;

    /// Number of lines without a message so far; blank lines do not count.
    fn other_lines(&self) -> u64 {
        0
    }

    /// For a text: the position after the current message, and the line number there.
    fn end(&self) -> (u64, u64) {
        (0, 0)
    }

    /// The latest time of the messages that were skipped before the current one; `None` when none was skipped.
    fn time_before(&self) -> Option<i64> {
        None
    }
}
