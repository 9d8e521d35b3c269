//! A journal that ends with the process: a ring of segments in memory, with the same layout as on disk.

use super::fold::{Fold, States};
use super::segment::HEADER;
use super::{Base, Directory, Disk, DiskNews, JournalError, Start};
use crate::disk::DiskWakeUp;
use fixwire_protocol::time::Timestamp;
use fixwire_sys::Map;

/// A ring of segments in anonymous memory. A message that was overwritten can no longer be resent; the session sends
/// a gap fill instead.
#[derive(Debug)]
pub struct Memory {
    kept: usize,
    spare: Option<Map>,
    salt: u64,
}

impl Memory {
    /// A ring of this many segments, at least 2.
    #[must_use]
    pub fn new(kept: usize) -> Self {
        Self {
            kept: kept.max(2),
            spare: None,
            salt: 0,
        }
    }
}

impl Disk for Memory {
    type Segment = Map;

    fn segments(&mut self) -> Result<Vec<u32>, JournalError> {
        Ok(Vec::new())
    }

    fn open(&mut self, number: u32) -> Result<Map, JournalError> {
        Err(JournalError::io("open", self.name(number))(
            std::io::ErrorKind::NotFound.into(),
        ))
    }

    fn create(
        &mut self,
        number: u32,
        len: usize,
        header: &[u8; HEADER],
    ) -> Result<Map, JournalError> {
        let mut map = match self.spare.take() {
            Some(map) => map,
            None => Map::anonymous(len).map_err(JournalError::io("allocate", self.name(number)))?,
        };
        map.store(0, header);
        Ok(map)
    }

    fn prepare(&mut self, _number: u32, _len: usize, _header: &[u8; HEADER]) {}

    fn ring(&self) -> Option<usize> {
        Some(self.kept)
    }

    fn recycle(&mut self, segment: Map) {
        self.spare = Some(segment);
    }

    fn salt(&mut self) -> u64 {
        // Nothing in memory has a checksum, so any salt will do.
        self.salt += 1;
        self.salt
    }

    fn name(&self, number: u32) -> String {
        format!("memory segment {number}")
    }
}

/// The two disks of the operating system, selected by the durability setting.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each journal, and a box would be one more step to it"
)]
pub enum OsDisk {
    /// Outlives the process.
    Directory(Directory),
    /// Ends with the process.
    Memory(Memory),
}

impl Disk for OsDisk {
    type Segment = Map;

    const BESIDE: bool = true;

    fn segments(&mut self) -> Result<Vec<u32>, JournalError> {
        match self {
            Self::Directory(disk) => disk.segments(),
            Self::Memory(disk) => disk.segments(),
        }
    }

    fn open(&mut self, number: u32) -> Result<Map, JournalError> {
        match self {
            Self::Directory(disk) => Disk::open(disk, number),
            Self::Memory(disk) => disk.open(number),
        }
    }

    fn create(
        &mut self,
        number: u32,
        len: usize,
        header: &[u8; HEADER],
    ) -> Result<Map, JournalError> {
        match self {
            Self::Directory(disk) => disk.create(number, len, header),
            Self::Memory(disk) => disk.create(number, len, header),
        }
    }

    fn prepare(&mut self, number: u32, len: usize, header: &[u8; HEADER]) {
        match self {
            Self::Directory(disk) => disk.prepare(number, len, header),
            Self::Memory(disk) => disk.prepare(number, len, header),
        }
    }

    fn makes_ready(&self) -> bool {
        match self {
            Self::Directory(disk) => disk.makes_ready(),
            Self::Memory(disk) => disk.makes_ready(),
        }
    }

    #[inline]
    fn ring(&self) -> Option<usize> {
        match self {
            Self::Directory(disk) => disk.ring(),
            Self::Memory(disk) => disk.ring(),
        }
    }

    fn recycle(&mut self, segment: Map) {
        match self {
            Self::Directory(disk) => disk.recycle(segment),
            Self::Memory(disk) => disk.recycle(segment),
        }
    }

    fn let_go(&mut self, segment: Map) {
        match self {
            Self::Directory(disk) => disk.let_go(segment),
            Self::Memory(disk) => disk.let_go(segment),
        }
    }

    fn filled(&mut self, segment: &Map) {
        match self {
            Self::Directory(disk) => disk.filled(segment),
            Self::Memory(disk) => disk.filled(segment),
        }
    }

    fn base(&mut self) -> Result<Option<Base>, JournalError> {
        match self {
            Self::Directory(disk) => disk.base(),
            Self::Memory(disk) => disk.base(),
        }
    }

    fn newest(&mut self) -> Result<Option<u32>, JournalError> {
        match self {
            Self::Directory(disk) => disk.newest(),
            Self::Memory(disk) => disk.newest(),
        }
    }

    fn set_newest(&mut self, number: u32) -> Result<(), JournalError> {
        match self {
            Self::Directory(disk) => disk.set_newest(number),
            Self::Memory(disk) => disk.set_newest(number),
        }
    }

    #[inline]
    fn has_news(&self) -> bool {
        match self {
            Self::Directory(disk) => disk.has_news(),
            Self::Memory(disk) => disk.has_news(),
        }
    }

    fn news(&mut self) -> DiskNews {
        match self {
            Self::Directory(disk) => disk.news(),
            Self::Memory(disk) => disk.news(),
        }
    }

    fn wake_with(&mut self, wake_up: DiskWakeUp) {
        match self {
            Self::Directory(disk) => disk.wake_with(wake_up),
            Self::Memory(disk) => disk.wake_with(wake_up),
        }
    }

    fn retire(
        &mut self,
        segment: &mut Map,
        first: Start,
        remove_before: Option<Timestamp>,
        compress: bool,
    ) -> Result<(), JournalError> {
        match self {
            Self::Directory(disk) => disk.retire(segment, first, remove_before, compress),
            Self::Memory(disk) => disk.retire(segment, first, remove_before, compress),
        }
    }

    fn states(&mut self) -> Option<Box<dyn States>> {
        match self {
            Self::Directory(disk) => disk.states(),
            Self::Memory(disk) => disk.states(),
        }
    }

    fn fold(&mut self, fold: Fold) -> Result<(), JournalError> {
        match self {
            Self::Directory(disk) => disk.fold(fold),
            Self::Memory(disk) => disk.fold(fold),
        }
    }

    fn settled(&self) -> Option<u32> {
        match self {
            Self::Directory(disk) => disk.settled(),
            Self::Memory(disk) => disk.settled(),
        }
    }

    fn salt(&mut self) -> u64 {
        match self {
            Self::Directory(disk) => disk.salt(),
            Self::Memory(disk) => disk.salt(),
        }
    }

    fn name(&self, number: u32) -> String {
        match self {
            Self::Directory(disk) => disk.name(number),
            Self::Memory(disk) => disk.name(number),
        }
    }
}
