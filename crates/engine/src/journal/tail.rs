//! Follows a journal that an engine writes, from another thread or process.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::archive::read_base;
use super::directory::{open_checked, segment_path};
use super::error::Damage;
use super::record::{CRC_AT, Head, RECORD, crc_of, shape_fault};
use super::segment::{HEADER, Position, long, word};
use super::{JournalError, read::Record};

/// Byte of a segment's header where its salt stands.
const SALT_AT: usize = 24;

/// Reads records as they are committed. Takes no lock, maps nothing, and holds one record in memory.
#[derive(Debug)]
pub struct Tail {
    directory: PathBuf,
    at: Position,
    open: Option<Open>,
    bytes: Vec<u8>,
}

/// The segment that is read.
#[derive(Debug)]
struct Open {
    file: File,
    len: u64,
    salt: u64,
}

impl Tail {
    /// A reader of the journal in `directory` that begins at `from`: [`Position::START`], or the `end`
    /// of a record.
    #[must_use]
    pub fn new(directory: &Path, from: Position) -> Self {
        Self {
            directory: directory.to_owned(),
            at: from.max(Position::new(1, HEADER as u32)),
            open: None,
            bytes: Vec::new(),
        }
    }

    /// Behind the last record that was read.
    #[must_use]
    pub fn position(&self) -> Position {
        self.at
    }

    /// The next record; `None` when nothing further is committed yet.
    ///
    /// # Errors
    ///
    /// What the system answers, and [`JournalError::Damaged`] for bytes that are no record.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, JournalError> {
        let length = loop {
            if self.open.is_none() && !self.open_segment()? {
                return Ok(None);
            }
            let length = self.length()?;
            if length != 0 {
                break length;
            }
            if !self.goes_on()? {
                return Ok(None);
            }
            // The next segment has records, so this one gets no more; one may have come just now.
            if self.length()? == 0 {
                self.at = Position::new(self.at.segment() + 1, HEADER as u32);
                self.open = None;
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
            open.file
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
        record.end = Position::new(self.at.segment(), (at + length) as u32);
        self.at = record.end;
        Ok(Some(record))
    }

    /// Opens the segment of the position; false when it is not there yet.
    fn open_segment(&mut self) -> Result<bool, JournalError> {
        let path = segment_path(&self.directory, self.at.segment());
        let file = match open_checked(&path, false) {
            Ok(file) => file,
            Err(JournalError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                // It may have been retired.
                match read_base(&self.directory)? {
                    Some(base) if base.first.segment > self.at.segment() => {
                        self.at = Position::new(base.first.segment, HEADER as u32);
                        return self.open_segment();
                    }
                    _ => return Ok(false),
                }
            }
            Err(error) => return Err(error),
        };
        let len = file.metadata().map_err(self.failed())?.len();
        let mut header = [0; HEADER];
        file.read_exact_at(&mut header, 0).map_err(self.failed())?;
        let salt = long(&header, SALT_AT);
        self.open = Some(Open { file, len, salt });
        Ok(true)
    }

    /// The length of the record at the position; 0 when there is none.
    fn length(&self) -> Result<usize, JournalError> {
        let Some(open) = &self.open else {
            return Ok(0);
        };
        let at = u64::from(self.at.offset());
        if at + RECORD as u64 > open.len {
            return Ok(0);
        }
        let mut length = [0; 4];
        open.file
            .read_exact_at(&mut length, at)
            .map_err(self.failed())?;
        Ok(u32::from_le_bytes(length) as usize)
    }

    /// Whether the next segment has a record.
    fn goes_on(&self) -> Result<bool, JournalError> {
        let next = Self::new(
            &self.directory,
            Position::new(self.at.segment() + 1, HEADER as u32),
        );
        let mut next = next;
        Ok(next.open_segment()? && next.length()? != 0)
    }

    fn failed(&self) -> impl FnOnce(io::Error) -> JournalError + use<> {
        let path = segment_path(&self.directory, self.at.segment());
        JournalError::io("read", path.display().to_string())
    }
}
