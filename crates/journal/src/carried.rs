//! A session in the checkpoint at the start of a segment, as bytes.

use super::segment::{JournalPosition, long, word};
use fixwire_protocol::time::Timestamp;

/// The body of a [`Kind::Carried`](super::RecordKind::Carried) record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Carried<'a> {
    /// MsgSeqNum and place of the session's last message; 0 for none since its reset.
    pub(super) last: (u64, JournalPosition),
    pub(super) began: Timestamp,
    /// How many sessions the checkpoint has.
    pub(super) of: u32,
    /// An operator has disabled the session.
    pub(super) disabled: bool,
    pub(super) name: &'a str,
}

/// Bytes before the name.
pub(super) const CARRIED: usize = 32;

impl<'a> Carried<'a> {
    pub(super) fn write(self, bytes: &mut Vec<u8>) {
        bytes.clear();
        bytes.extend_from_slice(&self.last.0.to_le_bytes());
        bytes.extend_from_slice(&self.last.1.bits().to_le_bytes());
        bytes.extend_from_slice(&self.began.0.to_le_bytes());
        bytes.extend_from_slice(&self.of.to_le_bytes());
        bytes.extend_from_slice(&u32::from(self.disabled).to_le_bytes());
        bytes.extend_from_slice(self.name.as_bytes());
    }

    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let name = bytes.get(CARRIED..)?;
        Some(Self {
            last: (long(bytes, 0), JournalPosition::from_bits(long(bytes, 8))),
            began: Timestamp(long(bytes, 16).cast_signed()),
            of: word(bytes, 24),
            disabled: word(bytes, 28) & 1 != 0,
            name: str::from_utf8(name).ok()?,
        })
    }
}
