//! Files of retired segments: the base file, compression and removal.

use super::base::{BASE, Base, Start};
use super::checkpoint::Checkpoint;
use super::files::{list, names, open_checked, remove, segment_path, sync_names, write_aside};
use super::record::RECORD;
use super::segment::HEADER;
use super::{Damage, JournalError};
use fixwire_protocol::time::Timestamp;
use lz4_flex::frame::{FrameDecoder, FrameEncoder, FrameInfo};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, Write};
use std::path::{Path, PathBuf};

/// Extension of the file of a compressed segment: one LZ4 frame with a checksum of its content.
pub(super) const COMPRESSED: &str = ".fwz";
/// Maximum length of a segment, in bytes. The rest of a longer file is not read.
pub(super) const LONGEST: u64 = 1 << 30;

pub(super) fn base_path(directory: &Path) -> PathBuf {
    directory.join("base")
}

/// Reads where the journal of a directory begins; `None` when no segment was ever retired.
pub(super) fn read_base(directory: &Path) -> Result<Option<Base>, JournalError> {
    let path = base_path(directory);
    let name = path.display().to_string();
    let file = match open_checked(&path, false) {
        Ok(file) => file,
        Err(JournalError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(BASE as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(JournalError::io("read", &name))?;
    let base = Base::read(&bytes, &name).map_err(JournalError::Damaged)?;
    Ok(Some(base))
}

/// The numbers of the segments in a directory from `oldest` on, including compressed segments.
pub(super) fn list_all(directory: &Path, oldest: u32) -> Result<Vec<u32>, JournalError> {
    let mut numbers = list(directory)?;
    numbers.extend(names(directory, COMPRESSED)?);
    numbers.retain(|&number| number >= oldest);
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

/// The open file of a segment, which may be compressed.
#[derive(Debug)]
pub(super) struct SegmentFile {
    /// The name of the file.
    name: String,
    file: File,
    is_compressed: bool,
}

impl SegmentFile {
    pub(super) fn open(directory: &Path, number: u32) -> Result<Self, JournalError> {
        let path = segment_path(directory, number);
        let (path, file, is_compressed) = match open_checked(&path, false) {
            Ok(file) => (path, file, false),
            Err(JournalError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                let path = compressed_path(directory, number);
                let file = open_checked(&path, false)?;
                (path, file, true)
            }
            Err(error) => return Err(error),
        };
        Ok(Self {
            name: path.display().to_string(),
            file,
            is_compressed,
        })
    }

    /// A reader for the content of the segment, from its beginning.
    fn reader(&self) -> Result<Box<dyn Read + '_>, JournalError> {
        let mut file = &self.file;
        file.rewind()
            .map_err(JournalError::io("read", &self.name))?;
        Ok(match self.is_compressed {
            true => Box::new(FrameDecoder::new(BufReader::new(file))),
            false => Box::new(file),
        })
    }

    /// Reads the whole segment into `bytes`, and returns the name of the file. If a compressed segment cannot be read,
    /// the error is reported as damage at an offset of the segment.
    pub(super) fn read_all(&self, bytes: &mut Vec<u8>) -> Result<String, JournalError> {
        bytes.clear();
        let read = self.reader()?.take(LONGEST + 1).read_to_end(bytes);
        match read {
            Ok(_) => Ok(self.name.clone()),
            Err(error) if self.is_compressed => Err(JournalError::Damaged(Damage {
                file: self.name.clone(),
                offset: bytes.len() as u64,
                expected: "an LZ4 frame with a whole segment".into(),
                found: error.to_string(),
            })),
            Err(error) => Err(JournalError::io("read", &self.name)(error)),
        }
    }
}

/// Reads a whole segment into `bytes`, and returns the name of its file. See [`SegmentFile::read_all`].
pub(super) fn read_any(
    directory: &Path,
    number: u32,
    bytes: &mut Vec<u8>,
) -> Result<String, JournalError> {
    SegmentFile::open(directory, number)?.read_all(bytes)
}

fn compressed_path(directory: &Path, number: u32) -> PathBuf {
    segment_path(directory, number).with_extension(&COMPRESSED[1..])
}

/// Makes the journal begin at the segment `first`, which begins with a checkpoint. Removes files of segments that
/// were closed before `remove_before`, and compresses the other files before `first`.
pub(super) fn retire(
    directory: &Path,
    first: Start,
    remove_before: Option<Timestamp>,
    compress: bool,
) -> Result<(), JournalError> {
    let path = segment_path(directory, first.segment);
    open_checked(&path, true)?
        .sync_data()
        .map_err(|source| JournalError::Unsynced {
            file: path.display().to_string(),
            source,
        })?;
    let before = read_base(directory)?;
    let look = |number| {
        let file = SegmentFile::open(directory, number).ok()?;
        let mut bytes = [0; HEADER + RECORD];
        file.reader().ok()?.read_exact(&mut bytes).ok()?;
        Checkpoint::peek(&bytes)
    };
    let base = Base::next(before, first, remove_before, look);
    if before != Some(base) {
        write_aside(directory, &base_path(directory), &mut |file| {
            file.write_all(&base.to_bytes())
        })?;
    }
    for number in list_all(directory, 0)? {
        let (plain, compressed) = (
            segment_path(directory, number),
            compressed_path(directory, number),
        );
        if number < base.oldest.segment {
            remove(&plain)?;
            remove(&compressed)?;
        } else if number < base.first.segment && compress && plain.exists() {
            write_aside(directory, &compressed, &mut |file| pack(&plain, file))?;
            remove(&plain)?;
        }
    }
    sync_names(directory)
}

/// Compresses a file.
fn pack(from: &Path, to: &mut File) -> io::Result<()> {
    // A file with a flipped bit may still decode to the same bytes. Only the checksum of the compressed block detects
    // such a bit.
    let info = FrameInfo::new()
        .block_checksums(true)
        .content_checksum(true);
    let mut encoder = FrameEncoder::with_frame_info(info, to);
    io::copy(&mut File::open(from)?, &mut encoder)?;
    encoder.finish().map_err(io::Error::other)?;
    Ok(())
}
