//! State that is built from notes alone, outside the engine's thread.

use alloc::string::String;

use crate::Timestamp;

/// A ledger builds the state of an application from the application's notes. A ledger begins with an empty state.
///
/// The engine passes each note to a ledger on a separate thread. From time to time the engine writes the ledger into
/// a file, a checkpoint, so that the journal need not keep all notes for ever. A start reads the newest checkpoint
/// and the notes after it.
///
/// The same notes in the same order must give the same ledger. So `apply` must not read a clock or a file, or use
/// anything that differs from one process to another.
pub trait Ledger: Send {
    /// The name of the state, and its version. The name has at most 32 bytes and never changes. The version rises
    /// when the form of the notes changes, or the form in which [`write`](Self::write) writes the state. The engine
    /// refuses a journal with notes or checkpoints of another version.
    fn form(&self) -> (&'static str, u32);

    /// Applies the next note. `at` is the time at which the engine recorded the note.
    fn apply(&mut self, at: Timestamp, note: &[u8]);

    /// Writes the whole state, in pieces.
    fn write(&self, put: &mut dyn FnMut(&[u8]));

    /// Replaces the state by one that [`write`](Self::write) has written in this version.
    ///
    /// # Errors
    ///
    /// The fault, as a sentence. An unknown version is an error too. After an error the ledger cannot be used.
    fn read(&mut self, version: u32, state: &[u8]) -> Result<(), String>;

    /// A hash of the state. Equal states have equal hashes, in every process of this version.
    fn hash(&self) -> u64;
}
