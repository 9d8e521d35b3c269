//! The trait `Disk`: storage of the journal, by the operating system or the simulator.

use super::fold::{Fold, States};
use super::segment::HEADER;
use super::{Base, JournalError, JournalTrouble, Start};
use fixwire_protocol::time::Timestamp;
use std::io;
use std::sync::Arc;

/// Wakes those that wait for the disk, such as an engine that sleeps; called from other threads.
pub type DiskWakeUp = Arc<dyn Fn() + Send + Sync>;

/// News about the files of a journal.
#[derive(Debug, Default)]
pub struct DiskNews {
    /// The troubles.
    pub troubles: Vec<JournalTrouble>,
    /// A [`Disk::prepare`] that failed may be retried.
    pub prepare_again: bool,
    /// Segments may be retired that could not be before: a checkpoint has settled, or an earlier
    /// [`Disk::retire`] has come to its end.
    pub look_again: bool,
}

/// Keeps numbered segments of fixed length.
pub trait Disk: Send {
    /// One open segment.
    type Segment: Segment;

    /// Whether checkpoints may be read on one thread while segments are read on another.
    const BESIDE: bool = false;

    /// The numbers of all segments, ascending. Their names are on the disk when this returns: who made
    /// them may have died before that.
    ///
    /// # Errors
    ///
    /// When they cannot be listed, or something that is not ours has a segment's name.
    fn segments(&mut self) -> Result<Vec<u32>, JournalError>;

    /// Opens a segment that exists, with the length it has (which may be 0).
    ///
    /// # Errors
    ///
    /// When it cannot be opened or mapped, is open to others than its owner, or is not the file any more that
    /// was opened or made before.
    fn open(&mut self, number: u32) -> Result<Self::Segment, JournalError>;

    /// Makes the next segment: `len` bytes, allocated, zero but for `header` at their start, and on
    /// the disk with its name, and remembered as the [`newest`](Self::newest), when this returns. Replaces
    /// a segment of that number, which a crash left unfinished. Waits for a [`prepare`](Self::prepare) of this number and takes its result.
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

    /// Whether the pages of new segments are ready for stores.
    fn makes_ready(&self) -> bool {
        false
    }

    /// How many segments are kept when they are memory that ends with the process; `None` when they
    /// outlive it. Records of a ring are not checksummed, and its oldest segment makes room.
    fn ring(&self) -> Option<usize> {
        None
    }

    /// Takes back the oldest segment of a ring, whose memory the next may use.
    fn recycle(&mut self, _segment: Self::Segment) {}

    /// Takes back a segment that is not read now; [`open`](Self::open) maps it again. To take a map away is
    /// slow: a disk may do it beside the engine. What was stored is not on the disk because of that.
    fn let_go(&mut self, _segment: Self::Segment) {}

    /// Nothing more will be stored in this segment, which stays mapped.
    fn filled(&mut self, _segment: &Self::Segment) {}

    /// Where the journal begins; `None` when nothing of it was ever retired.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or is damaged.
    fn base(&mut self) -> Result<Option<Base>, JournalError> {
        Ok(None)
    }

    /// The newest segment that was made; `None` when nothing of the journal was written by a program that
    /// remembers it, or nothing outlives the process.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or is damaged.
    fn newest(&mut self) -> Result<Option<u32>, JournalError> {
        Ok(None)
    }

    /// Remembers the newest segment, on the disk. [`create`](Self::create) does so by itself.
    ///
    /// # Errors
    ///
    /// The system's error.
    fn set_newest(&mut self, _number: u32) -> Result<(), JournalError> {
        Ok(())
    }

    /// Whether there is [`news`](Self::news). Asked in every turn.
    #[inline]
    fn has_news(&self) -> bool {
        false
    }

    /// News since the last call.
    fn news(&mut self) -> DiskNews {
        DiskNews::default()
    }

    /// Whom to wake when there is news.
    fn wake_with(&mut self, _wake_up: DiskWakeUp) {}

    /// Lets the journal begin at `first`, whose open segment is given, and begins with a checkpoint:
    /// puts that on the disk, then [`Base`]; then removes segments that were closed before
    /// `remove_before`, and compresses the others before `first` when asked to. May continue in the background.
    ///
    /// # Errors
    ///
    /// Of this attempt or of the last. A later one may succeed, unless it is [`JournalError::Unsynced`].
    fn retire(
        &mut self,
        _segment: &mut Self::Segment,
        _first: Start,
        _remove_before: Option<Timestamp>,
        _compress: bool,
    ) -> Result<(), JournalError> {
        Ok(())
    }

    /// Where checkpoints of the application's state are; `None` when nothing outlives the process.
    fn states(&mut self) -> Option<Box<dyn States>> {
        None
    }

    /// Makes checkpoints from now on, beside the engine.
    ///
    /// # Errors
    ///
    /// When no thread can be started for it.
    fn fold(&mut self, _fold: Fold) -> Result<(), JournalError> {
        Ok(())
    }

    /// The segment before which all notes are in two checkpoints.
    fn settled(&self) -> Option<u32> {
        None
    }

    /// A number that no earlier segment has: it seeds the checksums, so that bytes of another segment
    /// never pass for a record of this one.
    fn salt(&mut self) -> u64;

    /// How a person finds this segment: its path.
    fn name(&self, number: u32) -> String;
}

/// A segment's bytes: one owner stores, what is stored stays.
pub trait Segment: Send {
    /// All bytes.
    fn bytes(&self) -> &[u8];

    /// Copies `bytes` to `at`.
    fn store(&mut self, at: usize, bytes: &[u8]);

    /// Stores a little-endian word after everything stored before it.
    fn publish(&mut self, at: usize, word: u32);

    /// Waits until a range is on the disk.
    ///
    /// # Errors
    ///
    /// When it may not be. Never retried.
    fn sync(&mut self, at: usize, len: usize) -> io::Result<()>;

    /// A hint that this range will soon be stored to.
    fn prefault(&mut self, _at: usize, _len: usize) {}

    /// A hint that the next stores go to this range, whose pages are allocated.
    fn prefetch(&self, _at: usize, _len: usize) {}

    /// A hint that records are appended to this segment from now on, or that it is full.
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
