//! What an application keeps in the journal, and nobody is sent.

use super::{BodyError, Entry, Outbox};
use crate::put::put;
use crate::{SOH, SessionId};

/// No session's.
const NOBODY: SessionId = SessionId(u32::MAX);

impl Entry {
    /// Whether it is a note of the application: kept, not sent.
    pub fn is_note(&self) -> bool {
        self.is_note
    }
}

impl Outbox {
    /// Keeps bytes of the application's in the journal record that is being written, with the message
    /// that is being handled and those that are sent because of it. Nobody is sent them; after a restart
    /// [`Application::on_note`](crate::Application::on_note) gets them back.
    ///
    /// # Errors
    ///
    /// [`BodyError::Full`]; nothing of the note is left then.
    pub fn note(&mut self, note: &[u8]) -> Result<(), BodyError> {
        let mut body = self.begin(NOBODY, b"note");
        body.bytes(note).mark_note();
        body.finish()
    }

    /// Gives a note its number, and puts the time in front of it as `52=<time>` and SOH. As
    /// [`Outbox::seal`] otherwise.
    ///
    /// # Panics
    ///
    /// When the note is sealed already, or `time` is longer than the room for a header.
    pub fn seal_note(&mut self, index: usize, seq: u64, time: &[u8]) {
        self.discard_until(index);
        let entry = &self.entries[index];
        let head = b"52=|".len() + time.len();
        assert!(head <= self.header_room, "a time is shorter than a header");
        let start = match self.sealed_end {
            0 => entry.start - head,
            end => end,
        };
        let end = start + head + (entry.end - entry.start);
        self.buffer
            .copy_within(entry.start..entry.end, start + head);
        let at = put(&mut self.buffer, start, b"52=");
        let at = put(&mut self.buffer, at, time);
        self.buffer[at] = SOH;
        self.set_sealed(index, start, end, seq);
    }
}
