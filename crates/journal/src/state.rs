//! The checkpoint file: the application's state, computed from the notes before a segment.
//!
//! ```text
//!  byte  size
//!     0     8  magic "FXWSTAT" 0x1A
//!     8     4  version, 1
//!    12     4  CRC-32C of bytes 16..128
//!    16     4  number of the segment, which is the file's name too
//!    20     4  session of the notes
//!    24     8  salt of the segment
//!    32     8  index of the first record of the segment
//!    40     8  number of the last note, 0 for none
//!    48     8  hash of the state
//!    56     4  version of the state
//!    60     4  length of the state's name, at most 32
//!    64    32  the state's name, then zeros
//!    96    32  zeros
//!   128        blocks of the state, each:
//!     0     4    bytes of the block, at most 1 MiB; 0 for the last, which says that the file is whole
//!     4     4    CRC-32C of the bytes, seeded with salt, offset and length as that of a record
//!     8          the bytes
//! ```
//!
//! All integers are little-endian. The file is written under a temporary name, synced, and renamed. A file with its
//! final name is therefore complete, unless it was damaged later.

use super::JournalId;
use super::error::Damage;
use super::record::seed;
use super::segment::{long, word};

/// Extension of the file.
pub(super) const SUFFIX: &str = ".fwk";
/// Maximum length of the name of a state, bytes.
pub const NAME: usize = 32;
/// Maximum size of a block of the state, bytes.
pub(super) const BLOCK: usize = 1 << 20;

const MAGIC: [u8; 8] = *b"FXWSTAT\x1a";
const VERSION: u32 = 1;
const HEADER: usize = 128;
const NAME_AT: usize = 64;
/// Number of bytes before a block's data.
const HEAD: usize = 8;

/// The header of a checkpoint.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Head {
    /// The segment to which the checkpoint belongs: it includes the notes before this segment.
    pub(super) segment: u32,
    pub(super) notes: JournalId,
    pub(super) salt: u64,
    pub(super) record: u64,
    pub(super) note: u64,
    pub(super) hash: u64,
    pub(super) version: u32,
    pub(super) name: String,
}

impl Head {
    pub(super) fn to_bytes(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.segment.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.notes.0.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.salt.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.record.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.note.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.hash.to_le_bytes());
        bytes[56..60].copy_from_slice(&self.version.to_le_bytes());
        bytes[60..64].copy_from_slice(&(self.name.len() as u32).to_le_bytes());
        bytes[NAME_AT..][..self.name.len()].copy_from_slice(self.name.as_bytes());
        let crc = crc32c::crc32c(&bytes[16..]);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Reads the header at the beginning of the file that belongs to a segment.
    fn read(bytes: &[u8], segment: u32, file: &str) -> Result<Self, Damage> {
        let damage = |offset: usize, expected: String, found: String| Damage {
            file: file.to_owned(),
            offset: offset as u64,
            expected,
            found,
        };
        let Some(head) = bytes.first_chunk::<HEADER>() else {
            let (expected, found) = (format!("a header of {HEADER} bytes"), "its end".into());
            return Err(damage(bytes.len(), expected, found));
        };
        if let Some(at) = (0..8).find(|&at| head[at] != MAGIC[at]) {
            let found = format!("byte {:#04x}", head[at]);
            return Err(damage(at, "the magic of a checkpoint".into(), found));
        }
        if word(head, 8) != VERSION {
            let found = format!("version {}, of another build", word(head, 8));
            return Err(damage(8, format!("version {VERSION}"), found));
        }
        if crc32c::crc32c(&head[16..]) != word(head, 12) {
            return Err(damage(
                12,
                "the CRC of bytes 16 to 127".into(),
                "another".into(),
            ));
        }
        if word(head, 16) != segment {
            let found = format!("segment {}", word(head, 16));
            return Err(damage(
                16,
                format!("segment {segment}, as its name says"),
                found,
            ));
        }
        let name = head[NAME_AT..].get(..word(head, 60) as usize);
        let name = name
            .filter(|name| name.len() <= NAME)
            .and_then(|name| str::from_utf8(name).ok());
        let Some(name) = name else {
            return Err(damage(60, "the name of a state".into(), "none".into()));
        };
        Ok(Self {
            segment,
            notes: JournalId(word(head, 20)),
            salt: long(head, 24),
            record: long(head, 32),
            note: long(head, 40),
            hash: long(head, 48),
            version: word(head, 56),
            name: name.to_owned(),
        })
    }
}

/// Writes a checkpoint in pieces; a piece is at most a block.
pub(super) struct Writer<'p> {
    put: &'p mut dyn FnMut(&[u8]),
    salt: u64,
    /// The offset of the next block in the file.
    at: usize,
    block: Vec<u8>,
    limit: usize,
}

impl<'p> Writer<'p> {
    /// Writes the header. Blocks will have `limit` bytes, at most [`BLOCK`].
    pub(super) fn begin(head: &Head, limit: usize, put: &'p mut dyn FnMut(&[u8])) -> Self {
        put(&head.to_bytes());
        Self {
            put,
            salt: head.salt,
            at: HEADER,
            block: vec![0; HEAD],
            limit: limit.min(BLOCK),
        }
    }

    /// Appends a piece of the state.
    pub(super) fn piece(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = self.limit + HEAD - self.block.len();
            let (now, later) = bytes.split_at(bytes.len().min(room));
            self.block.extend_from_slice(now);
            bytes = later;
            if self.block.len() == self.limit + HEAD {
                self.block();
            }
        }
    }

    fn block(&mut self) {
        let len = self.block.len() - HEAD;
        let crc = block_crc(self.salt, self.at, &self.block[HEAD..]);
        self.block[..4].copy_from_slice(&(len as u32).to_le_bytes());
        self.block[4..HEAD].copy_from_slice(&crc.to_le_bytes());
        (self.put)(&self.block);
        self.at += self.block.len();
        self.block.truncate(HEAD);
    }

    /// Marks the file as complete. Returns its length in bytes.
    pub(super) fn end(mut self) -> u64 {
        if self.block.len() > HEAD {
            self.block();
        }
        self.block();
        self.at as u64
    }
}

fn block_crc(salt: u64, at: usize, bytes: &[u8]) -> u32 {
    crc32c::crc32c_append(seed(salt, at, bytes.len()), bytes)
}

/// The header of a segment's checkpoint, and the state.
///
/// # Errors
///
/// The first byte that is wrong.
pub(super) fn read(
    mut bytes: Vec<u8>,
    segment: u32,
    file: &str,
) -> Result<(Head, Vec<u8>), Damage> {
    let head = Head::read(&bytes, segment, file)?;
    let damage = |offset: usize, expected: String, found: String| Damage {
        file: file.to_owned(),
        offset: offset as u64,
        expected,
        found,
    };
    let (mut at, mut end) = (HEADER, 0);
    loop {
        let Some(block) = bytes.get(at..at + HEAD) else {
            let found = "the end of the file".into();
            return Err(damage(at.min(bytes.len()), "a block".into(), found));
        };
        let (len, stored) = (word(block, 0) as usize, word(block, 4));
        let from = at + HEAD;
        if len > BLOCK || len > bytes.len() - from {
            let expected = "the length of a block".into();
            return Err(damage(at, expected, format!("{len}")));
        }
        let crc = block_crc(head.salt, at, &bytes[from..from + len]);
        if crc != stored {
            let expected = format!("CRC {crc:08x} of the block's {len} bytes");
            return Err(damage(at + 4, expected, format!("{stored:08x}")));
        }
        at = from + len;
        if len == 0 {
            break;
        }
        bytes.copy_within(from..at, end);
        end += len;
    }
    if at != bytes.len() {
        let found = format!("{} bytes more", bytes.len() - at);
        return Err(damage(at, "the end of the file".into(), found));
    }
    bytes.truncate(end);
    Ok((head, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> Head {
        Head {
            segment: 7,
            notes: JournalId(3),
            salt: 0x1234_5678_9ABC_DEF0,
            record: 900,
            note: 41,
            hash: 5,
            version: 2,
            name: "gateway".into(),
        }
    }

    fn written(state: &[u8], limit: usize) -> Vec<u8> {
        let mut file = Vec::new();
        let mut put = |piece: &[u8]| file.extend_from_slice(piece);
        let mut writer = Writer::begin(&head(), limit, &mut put);
        state.chunks(100).for_each(|piece| writer.piece(piece));
        let length = writer.end();
        assert_eq!(length, file.len() as u64);
        file
    }

    #[test]
    fn what_was_written_is_read_whatever_the_blocks() {
        let state: Vec<u8> = (0..1000_u32).map(|at| (at * 7) as u8).collect();
        for len in [0, 1, 99, 100, 128, 1000] {
            for limit in [1, 64, 100, BLOCK] {
                let file = written(&state[..len], limit);
                let read = read(file, 7, "x").unwrap();
                assert_eq!(read, (head(), state[..len].to_vec()), "{len} {limit}");
            }
        }
    }

    #[test]
    fn a_byte_that_was_flipped_cut_off_or_added_is_named() {
        let state = [9; 300];
        let whole = written(&state, 100);
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << bit;
                let damage = read(bytes, 7, "x").unwrap_err();
                // A flipped bit in a length makes the CRC after it wrong.
                assert!(damage.offset <= at as u64 + 4, "{at}: {damage}");
            }
            let damage = read(whole[..at].to_vec(), 7, "x").unwrap_err();
            assert!(damage.offset <= at as u64, "{at}: {damage}");
        }
        let mut longer = whole.clone();
        longer.push(0);
        assert_eq!(read(longer, 7, "x").unwrap_err().offset, whole.len() as u64);
        assert_eq!(read(whole, 8, "x").unwrap_err().offset, 16);
    }
}
