//! Gathers sealed messages for writing, with the messages of one session side by side.

use super::{Content, Outbox, State};

impl Outbox {
    /// Makes [`Outbox::gather`] possible; takes as much memory again as the outbox has.
    #[must_use]
    pub fn with_gather(mut self) -> Self {
        self.gathered = alloc::vec![0; self.buffer.len()];
        self
    }

    /// Puts the messages of each session side by side, in the order of their writing, so that each session has one
    /// slice. Notes and discarded messages are left out. Only an outbox of which everything is sealed, and in which
    /// nothing more is written before [`Outbox::clear`], can do so.
    ///
    /// # Panics
    ///
    /// Where the outbox was made without [`Outbox::with_gather`].
    pub fn gather(&mut self) {
        debug_assert!(
            self.unsealed().is_empty(),
            "what is not sealed has no place yet"
        );
        self.entries
            .retain(|entry| entry.state == State::Sealed && entry.content != Content::Note);
        // Bytes are in the order of their writing.
        self.entries
            .sort_unstable_by_key(|entry| (entry.session, entry.start));
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
