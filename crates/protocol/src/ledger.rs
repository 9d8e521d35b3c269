//! State folded from notes alone, off the engine's thread.

use alloc::string::String;

use crate::Timestamp;

/// A ledger folds the notes of an application, from an empty state, into its state.
///
/// The engine gives each note to a ledger on a thread of its own, so that the journal need not keep all notes for ever:
/// from time to time it writes a ledger into a file, a checkpoint. A start reads the newest checkpoint, and the notes
/// after it.
///
/// The same notes in the same order make the same ledger: `apply` asks no clock, no file and nothing that
/// differs from one process to the next.
pub trait Ledger: Send {
    /// The state's name, and its version. The name has at most 32 bytes and stays; the version rises when the form of the
    /// notes, or that in which [`write`](Self::write) writes the state, changes. A journal with notes or checkpoints of
    /// another version is refused.
    fn form(&self) -> (&'static str, u32);

    /// Applies the next note, which was kept at the time `at`.
    fn apply(&mut self, at: Timestamp, note: &[u8]);

    /// Writes all of the state in pieces.
    fn write(&self, put: &mut dyn FnMut(&[u8]));

    /// Takes the state that [`write`](Self::write) wrote in this version, in place of what there is.
    ///
    /// # Errors
    ///
    /// The fault, as a sentence, also for an unknown version. The ledger is unusable then.
    fn read(&mut self, version: u32, state: &[u8]) -> Result<(), String>;

    /// A hash that is equal for equal states, in every process of this version.
    fn hash(&self) -> u64;
}
