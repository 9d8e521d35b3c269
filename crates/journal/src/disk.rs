//! The trait `Disk`: storage of the journal, by the operating system or the simulator.

use super::fold::{Fold, States};
use super::segment::HEADER;
use super::{Base, JournalError, JournalTrouble, Start};
use fixwire_protocol::time::Timestamp;
use std::io;
use std::sync::Arc;

/// Wakes the thread that waits for news of the disk, for example a sleeping engine. Other threads call this function.
pub type DiskWakeUp = Arc<dyn Fn() + Send + Sync>;

/// Events of the journal's files since the last call.
#[derive(Debug, Default)]
pub struct DiskNews {
    /// Faults that have occurred.
    pub troubles: Vec<JournalTrouble>,
    /// Whether a failed [`Disk::prepare`] may be requested again.
    pub prepare_again: bool,
    /// Whether more segments may be retired, because a checkpoint is complete or an earlier [`Disk::retire`] has
    /// finished.
    pub look_again: bool,
}

/// A disk: keeps numbered segments of fixed length.
pub trait Disk: Send {
    /// The type of an open segment.
    type Segment: Segment;

    /// Whether one thread may read checkpoints while another reads segments.
    const BESIDE: bool = false;

    /// The numbers of all segments, ascending. When this call returns, the names of the segments are on disk, even if
    /// the process that created them was killed before it synced the names.
    ///
    /// # Errors
    ///
    /// The segments cannot be listed, or a foreign file has the name of a segment.
    fn segments(&mut self) -> Result<Vec<u32>, JournalError>;

    /// Opens an existing segment with its present length, which may be 0.
    ///
    /// # Errors
    ///
    /// The segment cannot be opened or mapped, is accessible to other users, or is not the file that was opened or
    /// created before.
    fn open(&mut self, number: u32) -> Result<Self::Segment, JournalError>;

    /// Creates the next segment: `len` bytes, allocated, and zero except for `header` at the start. When this call
    /// returns, the segment and its name are on disk, and the segment is recorded as the [`newest`](Self::newest).
    /// Replaces an unfinished segment with that number. If a [`prepare`](Self::prepare) of this number is running,
    /// waits for it and uses its result.
    ///
    /// # Errors
    ///
    /// The disk is full or returns an error. A later call may try again.
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

    /// `Some` for a ring, whose segments are kept in memory and end with the process: the number of segments. Records
    /// of a ring have no checksums, and its oldest segment is reused. `None` when segments survive the process.
    fn ring(&self) -> Option<usize> {
        None
    }

    /// Takes back the oldest segment of a ring, so that the next segment may use its memory.
    fn recycle(&mut self, _segment: Self::Segment) {}

    /// Takes back a segment that no one is reading. The segment's data is not synced. [`open`](Self::open) maps the
    /// segment again. Unmapping is slow, so a disk may do it in the background.
    fn let_go(&mut self, _segment: Self::Segment) {}

    /// Tells the disk that nothing more will be stored in this segment. The segment stays mapped.
    fn filled(&mut self, _segment: &Self::Segment) {}

    /// Where the journal begins; `None` when no segment was ever retired.
    ///
    /// # Errors
    ///
    /// The information is unreadable or damaged.
    fn base(&mut self) -> Result<Option<Base>, JournalError> {
        Ok(None)
    }

    /// The number of the newest segment that was created. `None` when segments do not survive the process, or when
    /// all programs that wrote the journal did not record this number.
    ///
    /// # Errors
    ///
    /// The information is unreadable or damaged.
    fn newest(&mut self) -> Result<Option<u32>, JournalError> {
        Ok(None)
    }

    /// Records the newest segment on disk. [`create`](Self::create) does this itself.
    ///
    /// # Errors
    ///
    /// The system error.
    fn set_newest(&mut self, _number: u32) -> Result<(), JournalError> {
        Ok(())
    }

    /// Whether there is [`news`](Self::news). Called in every turn, so it must be fast.
    #[inline]
    fn has_news(&self) -> bool {
        false
    }

    /// News since the last call.
    fn news(&mut self) -> DiskNews {
        DiskNews::default()
    }

    /// Sets the function that the disk calls when there is news.
    fn wake_with(&mut self, _wake_up: DiskWakeUp) {}

    /// Makes the journal begin at the segment `first`, which begins with a checkpoint and is passed as an open segment.
    /// Syncs that segment, then writes the [`Base`]. After writing the [`Base`], removes segments that were closed
    /// before `remove_before`; compresses the other segments before `first` if this is configured. The work may
    /// continue in the background.
    ///
    /// # Errors
    ///
    /// Errors of this attempt or of the previous one. A later attempt may succeed, except after
    /// [`JournalError::Unsynced`].
    fn retire(
        &mut self,
        _segment: &mut Self::Segment,
        _first: Start,
        _remove_before: Option<Timestamp>,
        _compress: bool,
    ) -> Result<(), JournalError> {
        Ok(())
    }

    /// Storage for the checkpoints of the application's state; `None` when nothing survives the process.
    fn states(&mut self) -> Option<Box<dyn States>> {
        None
    }

    /// Begins to make checkpoints in the background.
    ///
    /// # Errors
    ///
    /// The thread cannot be started.
    fn fold(&mut self, _fold: Fold) -> Result<(), JournalError> {
        Ok(())
    }

    /// The segment before which two checkpoints include all notes; `None` before two checkpoints exist.
    fn settled(&self) -> Option<u32> {
        None
    }

    /// A number that no earlier segment has had as its salt. The salt is the seed of the checksums, so that bytes of
    /// another segment never look like a record of this one.
    fn salt(&mut self) -> u64;

    /// The name of a segment in messages to people, which is its path.
    fn name(&self, number: u32) -> String;
}

/// The bytes of a segment. Only the owner stores bytes, and bytes that were stored never change.
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

    /// A hint that the next bytes will be stored in this range, whose pages are allocated already.
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
