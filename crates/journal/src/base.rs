//! The base: where the journal begins. This module also defines how long older segments are kept.

use super::Damage;
use super::segment::{long, word};
use fixwire_protocol::time::Nanos;

/// How long segments are kept that no session needs, that is, segments without a message that a peer may still
/// request. Checked whenever a new segment is begun.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Retention {
    /// How long records are kept before their segment is removed; `None` keeps them for ever.
    pub keep: Option<Nanos>,
    /// How long a message can be resent. `None`: until the sequence numbers of its session are reset. When the
    /// segment of an older message was retired, a gap fill replaces the message in a resend. Notes of the application
    /// do not expire: all segments from the first note on are kept, unless checkpoints include the notes.
    pub resend: Option<Nanos>,
    /// Whether retired segments are compressed.
    pub compress: bool,
}

/// A segment at which reading may begin, and the link to the segment before it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Start {
    /// The number of the segment.
    pub segment: u32,
    /// The salt of the previous segment.
    pub previous_salt: u64,
    /// The index of the first record in the segment.
    pub record: u64,
}

impl Start {
    /// The beginning of a journal without retired segments.
    pub const BEGIN: Self = Self {
        segment: 1,
        previous_salt: 0,
        record: 0,
    };
}

/// Where the journal begins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Base {
    /// The oldest segment that is kept.
    pub oldest: Start,
    /// The first segment that recovery reads.
    pub first: Start,
}

const MAGIC: [u8; 8] = *b"FXWBASE\x1a";
const VERSION: u32 = 1;
/// Size of the base file, in bytes.
pub(super) const BASE: usize = 64;

impl Base {
    /// The base of a journal without retired segments.
    pub const BEGIN: Self = Self {
        oldest: Start::BEGIN,
        first: Start::BEGIN,
    };

    /// The 64 bytes of the base file: magic, version, CRC-32C of bytes 16 to 63; the numbers of the segments `oldest`
    /// and `first`, 4 bytes each; the salts of the segments before them; the indices of their first records; zeros.
    pub(super) fn to_bytes(self) -> [u8; BASE] {
        let mut bytes = [0; BASE];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.oldest.segment.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.first.segment.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.oldest.previous_salt.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.first.previous_salt.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.oldest.record.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.first.record.to_le_bytes());
        let crc = crc32c::crc32c(&bytes[16..]);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    pub(super) fn read(bytes: &[u8], file: &str) -> Result<Self, Damage> {
        let damage = |offset: usize, expected: &str, found: String| Damage {
            file: file.to_owned(),
            offset: offset as u64,
            expected: expected.into(),
            found,
        };
        if bytes.len() != BASE {
            let found = format!("{} bytes", bytes.len());
            return Err(damage(bytes.len().min(BASE), "64 bytes", found));
        }
        if let Some(at) = (0..8).find(|&at| bytes[at] != MAGIC[at]) {
            let found = format!("byte {:#04x}", bytes[at]);
            return Err(damage(at, "the magic of a journal's base", found));
        }
        if word(bytes, 8) != VERSION {
            let found = format!("version {}", word(bytes, 8));
            return Err(damage(8, "version 1", found));
        }
        if crc32c::crc32c(&bytes[16..]) != word(bytes, 12) {
            return Err(damage(12, "the CRC of bytes 16 to 63", "another".into()));
        }
        let start = |number, salt, record| Start {
            segment: word(bytes, number),
            previous_salt: long(bytes, salt),
            record: long(bytes, record),
        };
        Ok(Self {
            oldest: start(16, 24, 40),
            first: start(20, 32, 48),
        })
    }
}
