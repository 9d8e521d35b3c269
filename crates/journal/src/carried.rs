//! The state of a session in the checkpoint at the start of a segment, as bytes.

use super::segment::{JournalPosition, long, word};
use fixwire_protocol::time::Timestamp;

/// The body of a [`Kind::Carried`](super::RecordKind::Carried) record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Carried<'a> {
    /// MsgSeqNum and position of the last message of the session; 0 if the session sent none since its reset.
    pub(super) last: (u64, JournalPosition),
    pub(super) began: Timestamp,
    /// Number of sessions in the checkpoint.
    pub(super) of: u32,
    /// Whether an operator has disabled the session.
    pub(super) disabled: bool,
    /// Number of the last messages of the session that wait for the next logon; at most [`MOST_WAITING`].
    pub(super) waiting: u64,
    pub(super) name: &'a str,
}

/// Maximum number of waiting messages that a checkpoint can record.
const MOST_WAITING: u64 = (u32::MAX >> 1) as u64;

/// Number of bytes before the name.
pub(super) const CARRIED: usize = 32;

impl<'a> Carried<'a> {
    pub(super) fn write(self, bytes: &mut Vec<u8>) {
        bytes.clear();
        bytes.extend_from_slice(&self.last.0.to_le_bytes());
        bytes.extend_from_slice(&self.last.1.bits().to_le_bytes());
        bytes.extend_from_slice(&self.began.0.to_le_bytes());
        bytes.extend_from_slice(&self.of.to_le_bytes());
        let waiting = self.waiting.min(MOST_WAITING) as u32;
        bytes.extend_from_slice(&(waiting << 1 | u32::from(self.disabled)).to_le_bytes());
        bytes.extend_from_slice(self.name.as_bytes());
    }

    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let name = bytes.get(CARRIED..)?;
        Some(Self {
            last: (long(bytes, 0), JournalPosition::from_bits(long(bytes, 8))),
            began: Timestamp(long(bytes, 16).cast_signed()),
            of: word(bytes, 24),
            disabled: word(bytes, 28) & 1 != 0,
            waiting: u64::from(word(bytes, 28) >> 1),
            name: str::from_utf8(name).ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_more_waiting_messages_than_fit_are_the_most() {
        for (disabled, waiting, read) in [
            (false, 0, 0),
            (true, 0, 0),
            (false, 1, 1),
            (true, 70_000, 70_000),
            (true, u64::MAX, MOST_WAITING),
        ] {
            let carried = Carried {
                last: (7, JournalPosition::new(3, 64)),
                began: Timestamp(5),
                of: 2,
                disabled,
                waiting,
                name: "FIX.4.4:US->THEM",
            };
            let mut bytes = Vec::new();
            carried.write(&mut bytes);
            let expected = Carried {
                waiting: read,
                ..carried
            };
            assert_eq!(Carried::read(&bytes), Some(expected));
        }
    }
}
