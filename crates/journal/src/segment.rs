//! The first 64 bytes of a segment.
//!
//! ```text
//!  byte  size
//!     0     8  magic "FXWJRNL" 0x1A
//!     8     4  version: 1
//!    12     4  CRC-32C of bytes 16..64, seeded with the eight bytes of magic
//!    16     4  number of the segment, 1 for the first
//!    20     4  length of the segment in bytes, this header included
//!    24     8  salt: random, seeds the CRC of every record of this segment
//!    32     8  salt of the previous segment, 0 for the first
//!    40    24  zero
//! ```
//!
//! All integers are little-endian. Nothing in the header depends on where the previous segment ends, so another
//! thread can write and sync the header before the segment is needed. Two things link the segments: the salt of the
//! previous segment in the header, and the index in each record.

use super::error::{Damage, JournalError};

/// Size of a segment's header. The size is also the offset of the first record.
pub const HEADER: usize = 64;
/// Magic bytes at the start of every segment.
pub const MAGIC: [u8; 8] = *b"FXWJRNL\x1a";
/// The version of the segment format. This code reads no other version.
pub const VERSION: u32 = 1;
/// The length of a segment is a multiple of this number of bytes.
pub const SEGMENT_GRAIN: usize = 4096;

const VERSION_AT: usize = 8;
const CRC_AT: usize = 12;
const NUMBER_AT: usize = 16;
const LENGTH_AT: usize = 20;
const SALT_AT: usize = 24;
const PREVIOUS_SALT_AT: usize = 32;
const ZERO_AT: usize = 40;

/// A position in the journal: a segment, and an offset in it. A later position is greater.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct JournalPosition(u64);

impl JournalPosition {
    /// The position before everything; no record is at this position.
    pub const START: Self = Self(0);

    /// Offset `offset` in segment `segment`.
    #[must_use]
    pub const fn new(segment: u32, offset: u32) -> Self {
        Self((segment as u64) << 32 | offset as u64)
    }

    /// The position that has this 64-bit form, as in records.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The segment in the high half, the offset in the low half.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The number of the segment, from 1.
    #[must_use]
    pub const fn segment(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The offset in the segment.
    #[must_use]
    pub const fn offset(self) -> u32 {
        self.0 as u32
    }
}

/// The header of a segment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SegmentHeader {
    /// The number of the segment.
    pub number: u32,
    /// The length of the segment in bytes.
    pub length: u32,
    /// The seed of the CRCs of the segment's records.
    pub salt: u64,
    /// The salt of the segment before it.
    pub previous_salt: u64,
}

impl SegmentHeader {
    /// The 64 bytes of the header.
    #[must_use]
    pub fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[VERSION_AT..][..4].copy_from_slice(&VERSION.to_le_bytes());
        bytes[NUMBER_AT..][..4].copy_from_slice(&self.number.to_le_bytes());
        bytes[LENGTH_AT..][..4].copy_from_slice(&self.length.to_le_bytes());
        bytes[SALT_AT..][..8].copy_from_slice(&self.salt.to_le_bytes());
        bytes[PREVIOUS_SALT_AT..][..8].copy_from_slice(&self.previous_salt.to_le_bytes());
        let crc = header_crc(&bytes);
        bytes[CRC_AT..][..4].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Reads the header of a segment, which must have this number and this previous salt.
    ///
    /// # Errors
    ///
    /// [`JournalError::OtherVersion`], or [`JournalError::Damaged`] with the first wrong field.
    pub fn read(
        bytes: &[u8],
        number: u32,
        previous_salt: u64,
        file: &str,
    ) -> Result<Self, JournalError> {
        let damage = |offset: usize, expected: String, found: String| {
            JournalError::Damaged(Damage {
                file: file.to_owned(),
                offset: offset as u64,
                expected,
                found,
            })
        };
        let Some(head) = bytes.first_chunk::<HEADER>() else {
            return Err(damage(
                bytes.len(),
                format!("a header of {HEADER} bytes"),
                format!("the end of the file after {} bytes", bytes.len()),
            ));
        };
        if let Some(at) = (0..8).find(|&at| head[at] != MAGIC[at]) {
            let expected = format!("the journal's magic (byte {:#04x})", MAGIC[at]);
            return Err(damage(at, expected, format!("byte {:#04x}", head[at])));
        }
        check_version(head, file)?;
        if let Some(at) = (ZERO_AT..HEADER).find(|&at| head[at] != 0) {
            return Err(damage(at, "zero".into(), format!("byte {:#04x}", head[at])));
        }
        let header = Self::fields(head);
        if header.number != number {
            return Err(damage(
                NUMBER_AT,
                format!("segment number {number}"),
                format!("segment number {}", header.number),
            ));
        }
        if header.previous_salt != previous_salt {
            return Err(damage(
                PREVIOUS_SALT_AT,
                format!("the previous segment's salt {previous_salt:016x}"),
                format!("{:016x}", header.previous_salt),
            ));
        }
        if !(header.length as usize).is_multiple_of(SEGMENT_GRAIN) || header.length == 0 {
            return Err(damage(
                LENGTH_AT,
                format!("a length that is a multiple of {SEGMENT_GRAIN}"),
                format!("{}", header.length),
            ));
        }
        if header.length as usize != bytes.len() {
            return Err(damage(
                LENGTH_AT.max(bytes.len().min(header.length as usize)),
                format!("a file of {} bytes, as its header says", header.length),
                format!("{} bytes", bytes.len()),
            ));
        }
        let (expected, found) = (header_crc(head), word(head, CRC_AT));
        if expected != found {
            return Err(damage(
                CRC_AT,
                format!("CRC {expected:08x} of the header"),
                format!("{found:08x}"),
            ));
        }
        Ok(header)
    }
}

/// Refuses a header with another version. Version 0 does not exist, so it is treated as damage.
pub(super) fn check_version(head: &[u8; HEADER], file: &str) -> Result<(), JournalError> {
    match word(head, VERSION_AT) {
        VERSION => Ok(()),
        0 => Err(JournalError::Damaged(Damage {
            file: file.to_owned(),
            offset: VERSION_AT as u64,
            expected: format!("version {VERSION}"),
            found: "version 0".into(),
        })),
        version => Err(JournalError::OtherVersion {
            file: file.to_owned(),
            found: format!("version {version} of the journal's format"),
            reads: format!("version {VERSION}"),
        }),
    }
}

impl SegmentHeader {
    /// The fields of a header whose checksum is correct, wherever it is; `None` if it is damaged.
    pub(super) fn parse(head: &[u8; HEADER]) -> Option<Self> {
        let whole = head[..8] == MAGIC
            && word(head, VERSION_AT) == VERSION
            && header_crc(head) == word(head, CRC_AT);
        whole.then(|| Self::fields(head))
    }

    fn fields(head: &[u8; HEADER]) -> Self {
        Self {
            number: word(head, NUMBER_AT),
            length: word(head, LENGTH_AT),
            salt: long(head, SALT_AT),
            previous_salt: long(head, PREVIOUS_SALT_AT),
        }
    }
}

fn header_crc(head: &[u8; HEADER]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&MAGIC), &head[NUMBER_AT..])
}

#[inline]
pub(super) fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

#[inline]
pub(super) fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// The offset of the first byte that is not zero.
pub(super) fn first_not_zero(bytes: &[u8]) -> Option<usize> {
    // Search by page first, because almost always all bytes are zero.
    let page = bytes
        .chunks(4096)
        .position(|page| page.iter().any(|&byte| byte != 0))?;
    let from = page * 4096;
    bytes[from..]
        .iter()
        .position(|&byte| byte != 0)
        .map(|at| from + at)
}
