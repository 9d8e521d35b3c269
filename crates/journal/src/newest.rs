//! The file `newest`: it has the number of the newest segment, so that the loss of that segment is detected.
//!
//! ```text
//!  byte  size
//!     0     8  magic "FXWLAST" 0x1A
//!     8     4  version, 1
//!    12     4  CRC-32C of bytes 16..32
//!    16     4  number of the newest segment, 0 when none was made yet
//!    20    12  zero
//! ```
//!
//! A segment and its name are on disk before this file has the number of the segment. This file has the number before
//! a record is written to the segment. So after a crash the journal has at most one segment more than this file says,
//! and never one less.

use super::files::{open_checked, pending, write_aside};
use super::segment::word;
use super::{Damage, JournalError};
use std::io::{self, Read, Write};
use std::path::Path;

/// The name of the file.
pub(super) const NEWEST: &str = "newest";
const MAGIC: [u8; 8] = *b"FXWLAST\x1a";
const VERSION: u32 = 1;
/// Length of the file in bytes.
const LENGTH: usize = 32;

/// The number in the file. `None` if the file is missing: then no program that writes this file has written to the
/// journal.
pub(super) fn read(directory: &Path) -> Result<Option<u32>, JournalError> {
    let path = directory.join(NEWEST);
    let name = path.display().to_string();
    let file = match open_checked(&path, false) {
        Ok(file) => file,
        Err(JournalError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(LENGTH as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(JournalError::io("read", &name))?;
    parse(&bytes, &name)
        .map_err(JournalError::Damaged)
        .map(Some)
}

/// Writes the number to disk, atomically.
pub(super) fn write(directory: &Path, number: u32) -> Result<(), JournalError> {
    write_aside(directory, &directory.join(NEWEST), &mut |file| {
        file.write_all(&to_bytes(number))
    })
}

/// The newest segment that was created and is part of the journal; `None` when unknown.
pub(super) fn newest_of(path: &Path) -> Result<Option<u32>, JournalError> {
    let newest = read(path)?;
    Ok(match pending(path)? {
        Some(first) => newest.map(|newest| newest.min(first.saturating_sub(1))),
        None => newest,
    })
}

/// The file's bytes.
pub(super) fn to_bytes(number: u32) -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[16..20].copy_from_slice(&number.to_le_bytes());
    let crc = crc32c::crc32c(&bytes[16..]);
    bytes[12..16].copy_from_slice(&crc.to_le_bytes());
    bytes
}

fn parse(bytes: &[u8], file: &str) -> Result<u32, Damage> {
    let damage = |offset: usize, expected: String, found: String| Damage {
        file: file.to_owned(),
        offset: offset as u64,
        expected,
        found,
    };
    if bytes.len() != LENGTH {
        let found = format!("{} bytes", bytes.len());
        let expected = format!("{LENGTH} bytes");
        return Err(damage(bytes.len().min(LENGTH), expected, found));
    }
    if let Some(at) = (0..8).find(|&at| bytes[at] != MAGIC[at]) {
        let expected = "the magic of the file that names the newest segment";
        return Err(damage(
            at,
            expected.into(),
            format!("byte {:#04x}", bytes[at]),
        ));
    }
    if word(bytes, 8) != VERSION {
        let found = format!("version {}", word(bytes, 8));
        return Err(damage(8, format!("version {VERSION}"), found));
    }
    if crc32c::crc32c(&bytes[16..]) != word(bytes, 12) {
        return Err(damage(
            12,
            "the CRC of bytes 16 to 31".into(),
            "another".into(),
        ));
    }
    Ok(word(bytes, 16))
}

/// The error for a newest segment that is missing.
pub(super) fn newest_is_missing(file: String) -> Damage {
    Damage {
        file,
        offset: 0,
        expected: "this segment, which the file `newest` names".into(),
        found: "no such file".into(),
    }
}
