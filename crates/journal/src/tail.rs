//! Follows a journal that an engine writes, from another thread or process.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::archive::{list_all, read_any, read_base};
use super::error::Damage;
use super::files::{open_checked, segment_path};
use super::record::{CRC_AT, Head, RECORD, crc_of, shape_fault};
use super::segment::{HEADER, JournalPosition, long, read_version, word};
use super::{JournalError, view::Record};

/// The byte of the salt in a segment's header.
const SALT_AT: usize = 24;

/// Reads records as they are committed. Takes no lock, maps nothing, and holds one record in memory; of a
/// compressed segment all of it.
#[derive(Debug)]
pub struct Tail {
    directory: PathBuf,
    at: JournalPosition,
    open: Option<Open>,
    bytes: Vec<u8>,
    missed: Option<(u32, u32)>,
}

/// A segment that is read.
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
        read_version(&header, &file).map_err(JournalError::Damaged)?;
        let salt = long(&header, SALT_AT);
        Ok(Self { bytes, len, salt })
    }

    /// Its length in bytes.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The start value of its records' checksums.
    pub(super) fn salt(&self) -> u64 {
        self.salt
    }

    /// Reads `into.len()` bytes from `at` on; whether there are so many.
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
    /// Of a compressed file.
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
    /// A reader of the journal in `directory` that begins at `from`: [`JournalPosition::START`], or the `end`
    /// of a record.
    #[must_use]
    pub fn new(directory: &Path, from: JournalPosition) -> Self {
        Self {
            directory: directory.to_owned(),
            at: from.max(JournalPosition::new(1, HEADER as u32)),
            open: None,
            bytes: Vec::new(),
            missed: None,
        }
    }

    /// The first and the last of the segments that were removed before they were read to their end;
    /// `None` without any.
    #[must_use]
    pub fn missed(&self) -> Option<(u32, u32)> {
        self.missed
    }

    /// Behind the last record that was read.
    #[must_use]
    pub fn position(&self) -> JournalPosition {
        self.at
    }

    /// The next record; `None` when nothing further is committed yet.
    ///
    /// # Errors
    ///
    /// The system's error, and [`JournalError::Damaged`] for bytes that are not a record.
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
            // The next segment has records, so this one gets no more; one may have come just now.
            if self.length()? == 0 {
                self.at = next.at;
                self.open = next.open;
                self.miss(next.missed);
            }
        };
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
        let (salt, room) = match &self.open {
            Some(open) => (open.salt, open.len - at as u64),
            None => return Ok(None),
        };
        if !length.is_multiple_of(8) || length < RECORD || length as u64 > room {
            return Err(damage(at, "the length of a record", format!("{length}")));
        }
        self.bytes.resize(length, 0);
        if let Some(open) = &self.open {
            open.bytes
                .read_exact_at(&mut self.bytes, at as u64)
                .map_err(self.failed())?;
        }
        if crc_of(&self.bytes, at, salt) != word(&self.bytes, CRC_AT) {
            return Err(damage(
                at + CRC_AT,
                "the CRC of the record",
                "another".into(),
            ));
        }
        let head = Head::read(&self.bytes, 0)
            .filter(|head| shape_fault(&self.bytes, 0, head).is_none())
            .ok_or_else(|| damage(at, "a whole record", "another shape".into()))?;
        let mut record = Record::view(&self.bytes, 0, 0, &head);
        record.at = self.at;
        record.end = JournalPosition::new(self.at.segment(), (at + length) as u32);
        self.at = record.end;
        Ok(Some(record))
    }

    /// Opens the segment of the position, or when it was removed the first one behind it; false when it is
    /// not there yet.
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
            // This one is in the list when it was compressed just now.
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
    fn length(&self) -> Result<usize, JournalError> {
        let Some(open) = &self.open else {
            return Ok(0);
        };
        let at = u64::from(self.at.offset());
        if at + RECORD as u64 > open.len {
            return Ok(0);
        }
        let mut length = [0; 4];
        open.bytes
            .read_exact_at(&mut length, at)
            .map_err(self.failed())?;
        Ok(u32::from_le_bytes(length) as usize)
    }

    /// A reader of the next segment, if that has a record.
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
    // It may have been retired.
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
