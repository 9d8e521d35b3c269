//! Notes that an application stores in the journal; they are never sent.

use super::{BodyError, Content, Entry, Outbox};
use crate::{SessionId, Timestamp};

/// Number of bytes at the head of a note: one for its form, and 8 for the time in nanoseconds since 1970,
/// little-endian.
pub const NOTE_ROOM: usize = 9;
/// The form of a note with such a head.
const FORM: u8 = 1;

/// The time at which a stored note was kept, and the bytes that the application wrote. `None` when the bytes are not
/// a note.
#[must_use]
pub fn stored_note(stored: &[u8]) -> Option<(Timestamp, &[u8])> {
    let (_, rest) = stored.split_first().filter(|(form, _)| **form == FORM)?;
    let (time, note) = rest.split_first_chunk()?;
    Some((Timestamp(i64::from_le_bytes(*time)), note))
}

/// The session id in entries that belong to no session.
const NOBODY: SessionId = SessionId(u32::MAX);

impl Entry {
    /// Whether the entry is a note of the application. A note is kept and not sent.
    #[inline]
    pub fn is_note(&self) -> bool {
        self.content == Content::Note
    }
}

impl Outbox {
    /// Keeps bytes of the application in the journal record that is being written. The record also has the message that
    /// is being handled and the messages that are sent because of it. Notes are never sent. After a restart,
    /// [`Application::on_note`](crate::Application::on_note) gets the notes again.
    ///
    /// # Errors
    ///
    /// [`BodyError::Full`]. In this case nothing of the note is left.
    pub fn note(&mut self, note: &[u8]) -> Result<(), BodyError> {
        let mut body = self.begin(NOBODY, b"note");
        body.bytes(note).mark_note();
        body.finish()
    }

    /// Gives a note its number, and puts its form and time in front of it, which are [`NOTE_ROOM`] bytes. In other
    /// respects this is like [`Outbox::seal`].
    ///
    /// # Panics
    ///
    /// When the note is already sealed, or when a header has less room than this.
    pub fn seal_note(&mut self, index: usize, seq: u64, at: Timestamp) {
        self.discard_until(index);
        let entry = &self.entries[index];
        assert!(
            NOTE_ROOM <= self.header_room,
            "a note's head is shorter than a header"
        );
        let start = match self.sealed_end {
            0 => entry.start - NOTE_ROOM,
            end => end,
        };
        let end = start + NOTE_ROOM + (entry.end - entry.start);
        if start + NOTE_ROOM != entry.start {
            self.buffer
                .copy_within(entry.start..entry.end, start + NOTE_ROOM);
        }
        self.buffer[start] = FORM;
        self.buffer[start + 1..start + NOTE_ROOM].copy_from_slice(&at.0.to_le_bytes());
        self.set_sealed(index, start, end, seq);
    }
}
