//! Follows a journal that an engine is writing, from another thread or process.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::archive::{list_all, read_any, read_base};
use super::error::Damage;
use super::files::{open_checked, segment_path};
use super::record::{CRC_AT, Head, RECORD, crc_of, shape_fault};
use super::segment::{HEADER, JournalPosition, check_version, long, word};
use super::{JournalError, view::Record};

/// Offset of the salt in a segment's header.
const SALT_AT: usize = 24;

/// Size of the first block that is read. Each further block is twice as large.
const FIRST_BLOCK: usize = 4096;
/// Maximum block size, unless a record is longer.
const LONGEST_BLOCK: usize = 1 << 18;

/// Reads records when they are committed. Takes no lock and maps nothing. The reader keeps one block or record in
/// memory; for a compressed segment, the whole segment.
#[derive(Debug)]
pub struct Tail {
    directory: PathBuf,
    at: JournalPosition,
    open: Option<Open>,
    block: Block,
    missed: Option<(u32, u32)>,
}

/// A block of the open segment, as it was when it was read. Data that was not committed then may have been written
/// since.
#[derive(Debug, Default)]
struct Block {
    at: u64,
    bytes: Vec<u8>,
    /// The length of the next block to read.
    next: usize,
}

impl Block {
    /// The given number of bytes at this position, if the block has all of them.
    fn get(&self, at: u64, len: usize) -> Option<&[u8]> {
        let from = usize::try_from(at.checked_sub(self.at)?).ok()?;
        self.bytes.get(from..from.checked_add(len)?)
    }

    /// Reads at least this number of bytes from this position. If the position follows the last block, the block
    /// becomes larger, because records are read in sequence.
    fn read(&mut self, open: &Open, at: u64, least: usize) -> io::Result<()> {
        let goes_on = !self.bytes.is_empty() && at > self.at;
        self.next = match goes_on {
            true => (2 * self.next).min(LONGEST_BLOCK),
            false => FIRST_BLOCK,
        };
        let len = (open.len.saturating_sub(at)).min(self.next.max(least) as u64) as usize;
        self.at = at;
        self.bytes.resize(len, 0);
        let read = open.bytes.read_exact_at(&mut self.bytes, at);
        if read.is_err() {
            self.bytes.clear();
        }
        read
    }

    fn clear(&mut self) {
        self.bytes.clear();
    }
}

/// The segment that is being read.
#[derive(Debug)]
pub(super) struct Open {
    bytes: Bytes,
    len: u64,
    salt: u64,
}

impl Open {
    /// Opens a segment; `None` when its file is missing.
    pub(super) fn find(directory: &Path, number: u32) -> Result<Option<Self>, JournalError> {
        match find(directory, number)? {
            Some((bytes, len)) => Self::new(bytes, len, directory, number).map(Some),
            None => Ok(None),
        }
    }

    fn new(bytes: Bytes, len: u64, directory: &Path, number: u32) -> Result<Self, JournalError> {
        let mut header = [0; HEADER];
        bytes
            .read_exact_at(&mut header, 0)
            .map_err(failed(directory, number))?;
        let file = segment_path(directory, number).display().to_string();
        check_version(&header, &file)?;
        let salt = long(&header, SALT_AT);
        Ok(Self { bytes, len, salt })
    }

    /// Length of the segment, in bytes.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The salt of the segment, which is the seed of its records' checksums.
    pub(super) fn salt(&self) -> u64 {
        self.salt
    }

    /// Reads `into.len()` bytes from `at` on; false if the segment has fewer.
    pub(super) fn read(&self, at: u64, into: &mut [u8]) -> io::Result<bool> {
        let there = at.saturating_add(into.len() as u64) <= self.len;
        if there {
            self.bytes.read_exact_at(into, at)?;
        }
        Ok(there)
    }
}

#[derive(Debug)]
enum Bytes {
    File(File),
    /// The content of a compressed file.
    Whole(Vec<u8>),
}

impl Bytes {
    fn read_exact_at(&self, into: &mut [u8], at: u64) -> io::Result<()> {
        match self {
            Self::File(file) => file.read_exact_at(into, at),
            Self::Whole(bytes) => {
                let from = bytes.get(at as usize..).unwrap_or_default();
                let from = from.get(..into.len()).ok_or(ErrorKind::UnexpectedEof)?;
                into.copy_from_slice(from);
                Ok(())
            }
        }
    }
}

impl Tail {
    /// A reader for the journal in `directory`. Reading begins at `from`, which is [`JournalPosition::START`] or the
    /// `end` of a record.
    #[must_use]
    pub fn new(directory: &Path, from: JournalPosition) -> Self {
        Self {
            directory: directory.to_owned(),
            at: from.max(JournalPosition::new(1, HEADER as u32)),
            open: None,
            block: Block::default(),
            missed: None,
        }
    }

    /// The first and the last of the segments that were removed before they were read completely; `None` if none was.
    #[must_use]
    pub fn missed(&self) -> Option<(u32, u32)> {
        self.missed
    }

    /// The position after the record that was read last.
    #[must_use]
    pub fn position(&self) -> JournalPosition {
        self.at
    }

    /// The next record; `None` when no further record is committed yet.
    ///
    /// # Errors
    ///
    /// The system error, and [`JournalError::Damaged`] for bytes that are not a record.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, JournalError> {
        let length = loop {
            if self.open.is_none() && !self.open_segment()? {
                return Ok(None);
            }
            let length = self.length()?;
            if length != 0 {
                break length;
            }
            let Some(next) = self.next_segment()? else {
                return Ok(None);
            };
            // The next segment has records, so this segment gets no more. But a record may have arrived just now.
            if self.length()? == 0 {
                self.at = next.at;
                self.open = next.open;
                self.block.clear();
                self.miss(next.missed);
            }
        };
        let is_whole = self.read_record(length)?;
        let at = self.at.offset() as usize;
        let damage = |offset: usize, expected: &str, found: String| {
            let path = segment_path(&self.directory, self.at.segment());
            JournalError::Damaged(Damage {
                file: path.display().to_string(),
                offset: offset as u64,
                expected: expected.into(),
                found,
            })
        };
        let room = match &self.open {
            Some(open) => open.len - at as u64,
            None => return Ok(None),
        };
        if !length.is_multiple_of(8) || length < RECORD || length as u64 > room {
            return Err(damage(at, "the length of a record", format!("{length}")));
        }
        if !is_whole {
            return Err(damage(
                at + CRC_AT,
                "the CRC of the record",
                "another".into(),
            ));
        }
        let bytes = self.block.get(at as u64, length).unwrap_or_default();
        let head = Head::read(bytes, 0)
            .filter(|head| shape_fault(bytes, 0, head).is_none())
            .ok_or_else(|| damage(at, "a whole record", "another shape".into()))?;
        let mut record = Record::view(bytes, 0, 0, &head);
        record.at = self.at;
        record.end = JournalPosition::new(self.at.segment(), (at + length) as u32);
        self.at = record.end;
        Ok(Some(record))
    }

    /// Opens the segment of the position. If that segment was removed, opens the first later one. Returns false when
    /// the segment does not exist yet.
    fn open_segment(&mut self) -> Result<bool, JournalError> {
        let (bytes, len) = loop {
            if let Some(found) = find(&self.directory, self.at.segment())? {
                break found;
            }
            let number = self.at.segment();
            let base = read_base(&self.directory)?;
            let Some(base) = base.filter(|base| base.first.segment > number) else {
                return Ok(false);
            };
            // The list includes this segment if it was compressed just now.
            let from = base.oldest.segment.max(number);
            let first = list_all(&self.directory, from)?.first().copied();
            let next = first.unwrap_or(base.first.segment);
            if next > number {
                self.miss(Some((number, next - 1)));
                self.at = JournalPosition::new(next, HEADER as u32);
            }
        };
        self.open = Some(Open::new(bytes, len, &self.directory, self.at.segment())?);
        Ok(true)
    }

    fn miss(&mut self, more: Option<(u32, u32)>) {
        if let Some((first, last)) = more {
            let first = self.missed.map_or(first, |(first, _)| first);
            self.missed = Some((first, last));
        }
    }

    /// The length of the record at the position; 0 when no record follows.
    fn length(&mut self) -> Result<usize, JournalError> {
        let at = u64::from(self.at.offset());
        let length = |block: &Block| {
            let bytes = block.get(at, 4).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u32::from_le_bytes) as usize
        };
        let known = length(&self.block);
        let Some(open) = &self.open else {
            return Ok(0);
        };
        if known != 0 || at + RECORD as u64 > open.len {
            return Ok(known);
        }
        self.block.read(open, at, RECORD).map_err(self.failed())?;
        Ok(length(&self.block))
    }

    /// Reads the record of this length at the position. Returns whether its checksum is correct; false also for an
    /// impossible length.
    fn read_record(&mut self, length: usize) -> Result<bool, JournalError> {
        let at = u64::from(self.at.offset());
        let Some(open) = &self.open else {
            return Ok(false);
        };
        if !length.is_multiple_of(8) || length < RECORD || length as u64 > open.len - at {
            return Ok(false);
        }
        let is_whole = |block: &Block| {
            let record = block.get(at, length);
            record.is_some_and(|record| {
                crc_of(record, at as usize, open.salt) == word(record, CRC_AT)
            })
        };
        if !is_whole(&self.block) {
            // The block may have been read before the record was written, so read it again.
            self.block.read(open, at, length).map_err(self.failed())?;
        }
        Ok(is_whole(&self.block))
    }

    /// A reader that begins with the next segment, if that segment has a record.
    fn next_segment(&self) -> Result<Option<Self>, JournalError> {
        let from = JournalPosition::new(self.at.segment() + 1, HEADER as u32);
        let mut next = Self::new(&self.directory, from);
        let goes_on = next.open_segment()? && next.length()? != 0;
        Ok(goes_on.then_some(next))
    }

    fn failed(&self) -> impl FnOnce(io::Error) -> JournalError + use<> {
        failed(&self.directory, self.at.segment())
    }
}

pub(super) fn failed(
    directory: &Path,
    number: u32,
) -> impl FnOnce(io::Error) -> JournalError + use<> {
    let path = segment_path(directory, number);
    JournalError::io("read", path.display().to_string())
}

/// The file of a segment and the segment's length in bytes; `None` when the file is missing.
fn find(directory: &Path, number: u32) -> Result<Option<(Bytes, u64)>, JournalError> {
    match open_checked(&segment_path(directory, number), false) {
        Ok(file) => {
            let len = file.metadata().map_err(failed(directory, number))?.len();
            return Ok(Some((Bytes::File(file), len)));
        }
        Err(error) if is_missing(&error) => {}
        Err(error) => return Err(error),
    }
    // The segment may have been retired.
    let mut whole = Vec::new();
    match read_any(directory, number, &mut whole) {
        Ok(_) => {
            let len = whole.len() as u64;
            Ok(Some((Bytes::Whole(whole), len)))
        }
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn is_missing(error: &JournalError) -> bool {
    matches!(error, JournalError::Io { source, .. } if source.kind() == ErrorKind::NotFound)
}
