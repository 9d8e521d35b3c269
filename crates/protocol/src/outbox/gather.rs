//! Gathers sealed messages for writing, so that the messages of one session are next to each other.

use super::{Content, Outbox, State};
use crate::SessionId;

impl Outbox {
    /// Makes [`Outbox::gather`] possible. Gathering doubles the memory of the outbox.
    #[must_use]
    pub fn with_gather(mut self) -> Self {
        self.gathered = alloc::vec![0; self.buffer.len()];
        self
    }

    /// Puts the messages of each session next to each other, in the order in which they were written, so that each
    /// session has one slice. The slice of `last` follows those of all other sessions. Notes and discarded messages are left out. Call this only when everything in the outbox
    /// is sealed, and write nothing more before [`Outbox::clear`].
    ///
    /// # Panics
    ///
    /// When the outbox was made without [`Outbox::with_gather`].
    pub fn gather(&mut self, last: SessionId) {
        debug_assert!(
            self.unsealed().is_empty(),
            "what is not sealed has no place yet"
        );
        self.entries
            .retain(|entry| entry.state == State::Sealed && entry.content != Content::Note);
        // The order of bytes is the order of writing.
        self.entries
            .sort_unstable_by_key(|entry| (entry.session == last, entry.session, entry.start));
        let mut at = 0;
        for entry in &mut self.entries {
            let end = at + (entry.end - entry.start);
            self.gathered[at..end].copy_from_slice(&self.buffer[entry.start..entry.end]);
            (entry.start, entry.end) = (at, end);
            at = end;
        }
        core::mem::swap(&mut self.buffer, &mut self.gathered);
        self.next = self.entries.len();
        self.sealed_end = at;
        self.at = at;
    }
}
