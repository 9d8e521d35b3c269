//! The layout of one record.
//!
//! ```text
//!  byte  size
//!     0     4  length of the record in bytes, a multiple of 8; stored last, 0 until then
//!     4     4  CRC-32C of bytes 8..length, seeded with salt, offset and length
//!     8     8  index of the record: contiguous over all segments, 0 for the first
//!    16     8  wall time, nanoseconds since 1970-01-01T00:00:00Z, signed
//!    24     8  position up to which the journal was known to be on the disk
//!    32     4  session
//!    36     2  kind: 1 message, 2 sent, 3 session, 4 reset, 5 note, 6 carried, 7 queued, 8 dequeued,
//!              9 duplicate, 10 ignored, 11 resent
//!    38     2  number of effects
//!    40     8  next_in of the session, after this record; 0 or 2^64-1 while a reset is under way
//!    48     8  next_out of the session, after this record
//!    56     4  epoch of the session: how often it was reset
//!    60     4  length of the body in bytes
//!    64        body: the inbound message, the session's name or the text, or what `resent` draws; zeros
//!              up to a multiple of 8
//!              effects, each:
//!     0     4    session
//!     4     4    length of the message in bytes
//!     8     8    MsgSeqNum
//!    16     8    position of the previous effect of that session since its reset, 0 for none
//!    24          the outbound message; zeros up to a multiple of 8
//! ```
//!
//! All integers are little-endian. A position has the number of the segment in its high half, and the offset in that
//! segment in its low half. Records start at multiples of 8.

use super::JournalId;
use super::segment::{JournalPosition, long, word};
use crate::canary;
use fixwire_protocol::time::Timestamp;
use std::ops::Range;

/// Number of bytes before a record's body.
pub const RECORD: usize = 64;
/// Number of bytes before an effect's message.
pub const EFFECT: usize = 24;

pub(super) const CRC_AT: usize = 4;
const INDEX_AT: usize = 8;
const WALL_AT: usize = 16;
pub(super) const SYNCED_AT: usize = 24;
const SESSION_AT: usize = 32;
const KIND_AT: usize = 36;
const EFFECTS_AT: usize = 38;
const NEXT_IN_AT: usize = 40;
const NEXT_OUT_AT: usize = 48;
const EPOCH_AT: usize = 56;
const BODY_AT: usize = 60;

/// The kind of a record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RecordKind {
    /// An inbound message. A record's effects are the messages that were sent because of it.
    Message,
    /// Messages that were sent without an inbound cause, for example a Heartbeat or an application's message.
    Sent,
    /// A session was registered; the body is its name.
    Session,
    /// The session's sequence numbers were reset or set without a message.
    Reset,
    /// A note: the body is a text for people.
    Note,
    /// The state of a session at the beginning of a segment, as a part of a checkpoint.
    Carried,
    /// A message was received above the expected MsgSeqNum, and waits until the gap is filled.
    Queued,
    /// A queued message was processed. The body has the position at which the message was received.
    Dequeued,
    /// A message was received with a MsgSeqNum that was received before.
    Duplicate,
    /// A message was received while the session was ending, or when there was no room to queue it. The message had no
    /// effect.
    Ignored,
    /// Stored messages and gap fills were sent for a ResendRequest. The body of the record lists the messages.
    Resent,
}

impl RecordKind {
    pub(super) const fn code(self) -> u16 {
        match self {
            Self::Message => 1,
            Self::Sent => 2,
            Self::Session => 3,
            Self::Reset => 4,
            Self::Note => 5,
            Self::Carried => 6,
            Self::Queued => 7,
            Self::Dequeued => 8,
            Self::Duplicate => 9,
            Self::Ignored => 10,
            Self::Resent => 11,
        }
    }

    const fn from_code(code: u16) -> Option<Self> {
        Some(match code {
            1 => Self::Message,
            2 => Self::Sent,
            3 => Self::Session,
            4 => Self::Reset,
            5 => Self::Note,
            6 => Self::Carried,
            7 => Self::Queued,
            8 => Self::Dequeued,
            9 => Self::Duplicate,
            10 => Self::Ignored,
            11 => Self::Resent,
            _ => return None,
        })
    }

    /// Whether the body is an inbound message.
    #[must_use]
    pub const fn is_inbound(self) -> bool {
        matches!(
            self,
            Self::Message | Self::Queued | Self::Duplicate | Self::Ignored
        )
    }
}

/// One sent message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Effect<'a> {
    /// The session of the message.
    pub session: JournalId,
    /// MsgSeqNum of the message.
    pub seq: u64,
    /// The complete message, as sent.
    pub bytes: &'a [u8],
}

/// The fixed part of a record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Head {
    pub(super) length: u32,
    pub(super) index: u64,
    pub(super) wall: Timestamp,
    pub(super) synced: JournalPosition,
    pub(super) session: JournalId,
    pub(super) kind: RecordKind,
    pub(super) effects: u16,
    pub(super) next_in: u64,
    pub(super) next_out: u64,
    pub(super) epoch: u32,
    pub(super) body: u32,
}

impl Head {
    /// The bytes of the fixed part. Length and CRC are 0: they are stored last.
    #[inline]
    pub(super) fn to_bytes(self) -> [u8; RECORD] {
        let mut bytes = [0; RECORD];
        bytes[INDEX_AT..][..8].copy_from_slice(&self.index.to_le_bytes());
        bytes[WALL_AT..][..8].copy_from_slice(&self.wall.0.to_le_bytes());
        bytes[SYNCED_AT..][..8].copy_from_slice(&self.synced.bits().to_le_bytes());
        bytes[SESSION_AT..][..4].copy_from_slice(&self.session.0.to_le_bytes());
        bytes[KIND_AT..][..2].copy_from_slice(&self.kind.code().to_le_bytes());
        bytes[EFFECTS_AT..][..2].copy_from_slice(&self.effects.to_le_bytes());
        bytes[NEXT_IN_AT..][..8].copy_from_slice(&self.next_in.to_le_bytes());
        bytes[NEXT_OUT_AT..][..8].copy_from_slice(&self.next_out.to_le_bytes());
        bytes[EPOCH_AT..][..4].copy_from_slice(&self.epoch.to_le_bytes());
        bytes[BODY_AT..][..4].copy_from_slice(&self.body.to_le_bytes());
        bytes
    }

    /// Reads the fixed part at `at`; `None` for an unknown kind. The caller makes sure that `at + RECORD` is within
    /// `bytes`.
    pub(super) fn read(bytes: &[u8], at: usize) -> Option<Self> {
        let kind = u16::from_le_bytes([bytes[at + KIND_AT], bytes[at + KIND_AT + 1]]);
        Some(Self {
            length: word(bytes, at),
            index: long(bytes, at + INDEX_AT),
            wall: Timestamp(long(bytes, at + WALL_AT).cast_signed()),
            synced: JournalPosition::from_bits(long(bytes, at + SYNCED_AT)),
            session: JournalId(word(bytes, at + SESSION_AT)),
            kind: RecordKind::from_code(kind)?,
            effects: u16::from_le_bytes([bytes[at + EFFECTS_AT], bytes[at + EFFECTS_AT + 1]]),
            next_in: long(bytes, at + NEXT_IN_AT),
            next_out: long(bytes, at + NEXT_OUT_AT),
            epoch: word(bytes, at + EPOCH_AT),
            body: word(bytes, at + BODY_AT),
        })
    }
}

/// The fixed part of an effect.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct EffectHead {
    pub(super) session: JournalId,
    pub(super) length: u32,
    pub(super) seq: u64,
    pub(super) previous: JournalPosition,
}

impl EffectHead {
    #[inline]
    pub(super) fn to_bytes(self) -> [u8; EFFECT] {
        let mut bytes = [0; EFFECT];
        bytes[..4].copy_from_slice(&self.session.0.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.length.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.seq.to_le_bytes());
        bytes[16..].copy_from_slice(&self.previous.bits().to_le_bytes());
        bytes
    }

    #[inline]
    pub(super) fn read(bytes: &[u8], at: usize) -> Self {
        Self {
            session: JournalId(word(bytes, at)),
            length: word(bytes, at + 4),
            seq: long(bytes, at + 8),
            previous: JournalPosition::from_bits(long(bytes, at + 16)),
        }
    }
}

/// `len`, rounded up to where the next item starts.
#[inline]
pub(super) const fn padded(len: usize) -> usize {
    len.next_multiple_of(8)
}

/// Size of a record without effects and with a body of this size.
pub const fn record_bytes(body: usize) -> u64 {
    (RECORD + padded(body)) as u64
}

/// The CRC that a record of `length` bytes at `at` must have.
#[inline]
pub(super) fn crc(bytes: &[u8], at: usize, length: usize, salt: u64) -> u32 {
    crc32c::crc32c_append(seed(salt, at, length), &bytes[at + INDEX_AT..at + length])
}

/// The CRC that a record must have whose bytes were read from position `at`.
pub(super) fn crc_of(record: &[u8], at: usize, salt: u64) -> u32 {
    crc32c::crc32c_append(seed(salt, at, record.len()), &record[INDEX_AT..])
}

/// The seed of a record's CRC. The seed includes position and segment, so that a record is invalid when it was copied
/// to another position or is left over from another segment.
#[inline]
pub(super) fn seed(salt: u64, at: usize, length: usize) -> u32 {
    let mixed = (salt ^ ((at as u64) << 32 | length as u64)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 32) as u32 ^ mixed as u32
}

/// The content at a position where a record may begin.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Found {
    /// A complete record, including its effects.
    Record(Head),
    /// No record: the length is 0, or there is no space for a record.
    Nothing,
    /// Invalid data.
    Fault(Fault),
}

/// Why the data is not a record.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Fault {
    /// Offset in the segment of the first byte of the wrong field.
    pub(super) at: usize,
    pub(super) expected: String,
    pub(super) found: String,
}

/// Whether there is a complete record with this salt at `at`. Fast, because no reason is given.
pub(super) fn is_record(bytes: &[u8], at: usize, salt: u64) -> bool {
    let room = bytes.len().saturating_sub(at);
    if room < RECORD {
        return false;
    }
    let length = word(bytes, at) as usize;
    length.is_multiple_of(8)
        && (RECORD..=room).contains(&length)
        && crc(bytes, at, length, salt) == word(bytes, at + CRC_AT)
}

/// Reads the record at `at`.
pub(super) fn find(bytes: &[u8], at: usize, salt: u64) -> Found {
    let room = bytes.len().saturating_sub(at);
    if room < RECORD {
        return Found::Nothing;
    }
    let length = word(bytes, at) as usize;
    if length == 0 {
        return Found::Nothing;
    }
    if !length.is_multiple_of(8) || !(RECORD..=room).contains(&length) {
        return Found::Fault(Fault {
            at,
            expected: format!("the length of a record, a multiple of 8 from {RECORD} to {room}"),
            found: format!("{length}"),
        });
    }
    let (computed, stored) = (crc(bytes, at, length, salt), word(bytes, at + CRC_AT));
    if computed != stored && !canary::is(canary::PlantedFault::SkipCrc) {
        return Found::Fault(checksum_fault(bytes, at, length, salt));
    }
    let Some(head) = Head::read(bytes, at) else {
        return Found::Fault(Fault {
            at: at + KIND_AT,
            expected: "the kind of a record, 1 to 11".into(),
            found: format!(
                "{}",
                u16::from_le_bytes([bytes[at + KIND_AT], bytes[at + KIND_AT + 1]])
            ),
        });
    };
    match shape_fault(bytes, at, &head) {
        Some(fault) => Found::Fault(fault),
        None => Found::Record(head),
    }
}

/// Checks that the body and the effects fill the record exactly.
pub(super) fn shape_fault(bytes: &[u8], at: usize, head: &Head) -> Option<Fault> {
    let end = at + head.length as usize;
    let fault = |at: usize, len: usize| {
        Some(Fault {
            at,
            expected: format!("a length that ends within the record, at byte {end}"),
            found: format!("{len} bytes"),
        })
    };
    let mut next = at + RECORD + padded(head.body as usize);
    if next > end {
        return fault(at + BODY_AT, head.body as usize);
    }
    for _ in 0..head.effects {
        if end - next < EFFECT {
            return fault(at + EFFECTS_AT, usize::from(head.effects));
        }
        let length = EffectHead::read(bytes, next).length as usize;
        if padded(length) > end - next - EFFECT {
            return fault(next + 4, length);
        }
        next += EFFECT + padded(length);
    }
    if next != end {
        return fault(at + EFFECTS_AT, usize::from(head.effects));
    }
    None
}

/// Finds a record whose length was not written and that ends at `end` at the latest. The length is computed from body
/// and effects, and the checksum confirms it.
pub(super) fn unpublished(bytes: &[u8], at: usize, end: usize, salt: u64) -> Option<Head> {
    let is_there = at + RECORD <= end && word(bytes, at) == 0;
    let mut head = is_there.then(|| Head::read(bytes, at))??;
    let mut next = (at + RECORD).checked_add(padded(head.body as usize))?;
    for _ in 0..head.effects {
        if end.checked_sub(next)? < EFFECT {
            return None;
        }
        let length = EffectHead::read(bytes, next).length as usize;
        next = (next + EFFECT).checked_add(padded(length))?;
    }
    if next > end || crc(bytes, at, next - at, salt) != word(bytes, at + CRC_AT) {
        return None;
    }
    head.length = (next - at) as u32;
    Some(head)
}

/// Whether a part of this data was never written, so that the disk has an older version of its page. A power failure
/// before a sync causes this, a flipped bit does not.
pub(super) fn never_written(bytes: &[u8], place: Range<usize>, salt: u64) -> bool {
    /// Shorter runs of zeros may be part of a complete record.
    const ENOUGH: usize = 32;
    /// At the border of a sector, shorter runs of zeros may be padding.
    const AT_BORDER: usize = 8;
    const SECTOR: usize = 512;
    let Range { mut start, end } = place;
    while let Some(head) = unpublished(bytes, start, end, salt) {
        start += head.length as usize;
    }
    let record = &bytes[start..end];
    // Neither checksum nor length was written. They are stored last, and one flipped bit cannot clear both.
    if record.len() >= RECORD && record[..CRC_AT + 4].iter().all(|&byte| byte == 0) {
        return true;
    }
    let are_zeros = |from: usize, to: usize| {
        from >= start && to <= end && bytes[from..to].iter().all(|&byte| byte == 0)
    };
    let mut zeros = 0;
    let has_hole = record.iter().any(|&byte| {
        zeros = if byte == 0 { zeros + 1 } else { 0 };
        zeros >= ENOUGH
    });
    let mut borders = (start.next_multiple_of(SECTOR)..end).step_by(SECTOR);
    let ends_at_border =
        borders.any(|at| are_zeros(at, at + AT_BORDER) || are_zeros(at - AT_BORDER, at));
    has_hole || ends_at_border && !one_bit_explains(bytes, start, salt)
}

/// Longer records are not searched for a flipped bit, because the time grows with the square of the length.
const SEARCHED: usize = 8192;

/// Whether a single flipped bit may explain an invalid record.
fn one_bit_explains(bytes: &[u8], at: usize, salt: u64) -> bool {
    let (length, stored) = (word(bytes, at) as usize, word(bytes, at + CRC_AT));
    let fits = |length: &usize| (RECORD..=bytes.len() - at).contains(length);
    let mut others = (3..32).map(|bit| length ^ 1 << bit).filter(fits);
    if others.any(|other| crc(bytes, at, other, salt) == stored) {
        return true;
    }
    fits(&length)
        && (length > SEARCHED
            || (crc(bytes, at, length, salt) ^ stored).count_ones() <= 1
            || checksum_fault(bytes, at, length, salt).at != at + CRC_AT)
}

/// Locates the cause of a wrong CRC: the exact field or byte if a single flipped bit explains it, otherwise the CRC
/// of the record.
fn checksum_fault(bytes: &[u8], at: usize, length: usize, salt: u64) -> Fault {
    let (computed, stored) = (crc(bytes, at, length, salt), word(bytes, at + CRC_AT));
    for bit in 3..32 {
        let other = length ^ 1 << bit;
        if (RECORD..=bytes.len() - at).contains(&other) && crc(bytes, at, other, salt) == stored {
            return Fault {
                at,
                expected: format!("length {other}, which the CRC of the record asks for"),
                found: format!("{length}"),
            };
        }
    }
    if (computed ^ stored).count_ones() > 1 && length <= SEARCHED {
        let mut copy = bytes[at..at + length].to_vec();
        let seed = seed(salt, at, length);
        for byte in INDEX_AT..length {
            for bit in 0..8 {
                copy[byte] ^= 1 << bit;
                if crc32c::crc32c_append(seed, &copy[INDEX_AT..]) == stored {
                    return Fault {
                        at: at + byte,
                        expected: format!(
                            "byte {:#04x}, which the CRC of the record asks for",
                            copy[byte]
                        ),
                        found: format!("{:#04x}", bytes[at + byte]),
                    };
                }
                copy[byte] ^= 1 << bit;
            }
        }
    }
    Fault {
        at: at + CRC_AT,
        expected: format!("CRC {computed:08x} of the record of {length} bytes"),
        found: format!("{stored:08x}"),
    }
}
