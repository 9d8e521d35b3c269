//! The trait `Disk`: storage of the journal, by the operating system or the simulator.

use super::fold::{Fold, States};
use super::segment::HEADER;
use super::{Base, JournalError, JournalTrouble, Start};
use fixwire_protocol::time::Timestamp;
use std::io;
use std::sync::Arc;

/// Wakes threads that wait for news of the disk, such as a sleeping engine; called from other threads.
pub type DiskWakeUp = Arc<dyn Fn() + Send + Sync>;

/// News about the files of a journal since the last call.
#[derive(Debug, Default)]
pub struct DiskNews {
    /// Faults that have occurred.
    pub troubles: Vec<JournalTrouble>,
    /// Whether a failed [`Disk::prepare`] may be retried.
    pub prepare_again: bool,
    /// Whether more segments may be retired, because a checkpoint is complete or an earlier [`Disk::retire`] has
    /// finished.
    pub look_again: bool,
}

/// Keeps numbered segments of fixed length.
pub trait Disk: Send {
    /// The type of an open segment.
    type Segment: Segment;

    /// Whether checkpoints may be read on one thread while segments are read on another.
    const BESIDE: bool = false;

    /// The numbers of all segments, ascending. Their names are on disk when this returns: the process that created them
    /// may have been killed before that.
    ///
    /// # Errors
    ///
    /// When they cannot be listed, or a foreign file has a segment's name.
    fn segments(&mut self) -> Result<Vec<u32>, JournalError>;

    /// Opens an existing segment with its current length (which may be 0).
    ///
    /// # Errors
    ///
    /// When it cannot be opened or mapped, is accessible to other users, or is no longer the file that was opened or
    /// created before.
    fn open(&mut self, number: u32) -> Result<Self::Segment, JournalError>;

    /// Creates the next segment: `len` bytes, allocated, zero except for `header` at the start, on disk with its name,
    /// and recorded as the [`newest`](Self::newest) when this returns. Replaces an unfinished segment with that number.
    /// Waits for a [`prepare`](Self::prepare) of this number and uses its result.
    ///
    /// # Errors
    ///
    /// When the disk is full or refuses; a later call may try again.
    fn create(
        &mut self,
        number: u32,
        len: usize,
        header: &[u8; HEADER],
    ) -> Result<Self::Segment, JournalError>;

    /// A hint that [`create`](Self::create) will soon be called with the same arguments.
    fn prepare(&mut self, number: u32, len: usize, header: &[u8; HEADER]);

    /// Whether the pages of new segments can be written without page faults.
    fn makes_ready(&self) -> bool {
        false
    }

    /// Number of segments in the ring, if segments are kept in memory and end with the process; `None` when they
    /// outlive it. Records of a ring have no checksums, and its oldest segment is used again.
    fn ring(&self) -> Option<usize> {
        None
    }

    /// Takes back the oldest segment of a ring, so that the next segment may use its memory.
    fn recycle(&mut self, _segment: Self::Segment) {}

    /// Takes back a segment that is not read now; [`open`](Self::open) maps it again. Unmapping is slow: a disk may do
    /// it in the background. This does not sync its data.
    fn let_go(&mut self, _segment: Self::Segment) {}

    /// Says that nothing more will be stored in this segment, which stays mapped.
    fn filled(&mut self, _segment: &Self::Segment) {}

    /// Where the journal begins; `None` when no segment was ever retired.
    ///
    /// # Errors
    ///
    /// When it is unreadable or damaged.
    fn base(&mut self) -> Result<Option<Base>, JournalError> {
        Ok(None)
    }

    /// The number of the newest segment that was created; `None` when the journal was written only by programs that do
    /// not record it, or when no segment outlives the process.
    ///
    /// # Errors
    ///
    /// When it is unreadable or damaged.
    fn newest(&mut self) -> Result<Option<u32>, JournalError> {
        Ok(None)
    }

    /// Records the newest segment on disk. [`create`](Self::create) does so by itself.
    ///
    /// # Errors
    ///
    /// The system error.
    fn set_newest(&mut self, _number: u32) -> Result<(), JournalError> {
        Ok(())
    }

    /// Whether there is [`news`](Self::news). Called in every turn.
    #[inline]
    fn has_news(&self) -> bool {
        false
    }

    /// News since the last call.
    fn news(&mut self) -> DiskNews {
        DiskNews::default()
    }

    /// Sets the function that is called when there is news.
    fn wake_with(&mut self, _wake_up: DiskWakeUp) {}

    /// Makes the journal begin at `first`, whose open segment is passed and begins with a checkpoint: syncs that, then
    /// writes [`Base`]; then removes segments that were closed before `remove_before`, and compresses the others before
    /// `first` if configured. May continue in the background.
    ///
    /// # Errors
    ///
    /// Errors of this attempt or of the last one. A later attempt may succeed, except after [`JournalError::Unsynced`].
    fn retire(
        &mut self,
        _segment: &mut Self::Segment,
        _first: Start,
        _remove_before: Option<Timestamp>,
        _compress: bool,
    ) -> Result<(), JournalError> {
        Ok(())
    }

    /// Storage of the checkpoints of the application's state; `None` when nothing outlives the process.
    fn states(&mut self) -> Option<Box<dyn States>> {
        None
    }

    /// Makes checkpoints from now on, in the background.
    ///
    /// # Errors
    ///
    /// When its thread cannot be started.
    fn fold(&mut self, _fold: Fold) -> Result<(), JournalError> {
        Ok(())
    }

    /// The segment before which two checkpoints have all notes; `None` before there are two.
    fn settled(&self) -> Option<u32> {
        None
    }

    /// A number that no earlier segment had as its salt. It seeds the checksums, so that bytes of another segment never
    /// look like a record of this one.
    fn salt(&mut self) -> u64;

    /// The name of a segment in messages to people, which is its path.
    fn name(&self, number: u32) -> String;
}

/// The bytes of a segment. Only its owner stores bytes, and stored bytes never change.
pub trait Segment: Send {
    /// All bytes of the segment.
    fn bytes(&self) -> &[u8];

    /// Copies `bytes` into the segment at offset `at`.
    fn store(&mut self, at: usize, bytes: &[u8]);

    /// Stores a little-endian word at offset `at`, after everything that was stored before it.
    fn publish(&mut self, at: usize, word: u32);

    /// Waits until a range of the segment is on disk.
    ///
    /// # Errors
    ///
    /// When the sync failed. Never retried.
    fn sync(&mut self, at: usize, len: usize) -> io::Result<()>;

    /// A hint that bytes will soon be stored in this range.
    fn prefault(&mut self, _at: usize, _len: usize) {}

    /// A hint that the next bytes are stored in this range, whose pages are allocated.
    fn prefetch(&self, _at: usize, _len: usize) {}

    /// A hint that records are appended to this segment from now on (true), or that it is full (false).
    fn appending(&mut self, _yes: bool) {}

    /// A hint that this range will soon be read.
    fn read_ahead(&mut self, _at: usize, _len: usize) {}
}

impl Segment for fixwire_sys::Map {
    fn bytes(&self) -> &[u8] {
        Self::bytes(self)
    }

    #[inline]
    fn store(&mut self, at: usize, bytes: &[u8]) {
        Self::store(self, at, bytes);
    }

    #[inline]
    fn publish(&mut self, at: usize, word: u32) {
        Self::publish(self, at, word);
    }

    fn sync(&mut self, at: usize, len: usize) -> io::Result<()> {
        Self::sync(self, at, len)
    }

    fn prefault(&mut self, at: usize, len: usize) {
        Self::prefault(self, at, len);
    }

    #[inline]
    fn prefetch(&self, at: usize, len: usize) {
        Self::prefetch(self, at, len);
    }

    fn appending(&mut self, yes: bool) {
        self.set_read_ahead(!yes);
    }

    fn read_ahead(&mut self, at: usize, len: usize) {
        Self::read_ahead(self, at, len);
    }
}
