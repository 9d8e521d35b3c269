//! Record bodies that refer to other records: for resent messages, and for queued messages when they are processed.
//!
//! ```text
//! resent                                              dequeued
//!  byte  size                                          byte  size
//!     0     8  digits of a second in SendingTime(52)      0     8  MsgSeqNum of the queued message
//!     8        runs, in the order they went out           8     8  position of the record in which
//!                                                                  it came in
//! a run of messages                                   a gap fill
//!     0     8  MsgSeqNum of the first                     0     8  its MsgSeqNum
//!     8     8  MsgSeqNum of the last                      8     8  its NewSeqNo minus 1
//!    16     8  position of the effect with the last      16     8  0
//!    24     8  0                                         24     8  length of the gap fill
//!                                                        32        the gap fill; zeros up to a
//!                                                                  multiple of 8
//! ```
//!
//! The effects of a run are found from the last one, by following the links to the previous ones. A resent message is
//! the message in the effect, with three changes: PossDupFlag(43)=Y, OrigSendingTime(122), and the time of the record
//! as SendingTime(52); see [`repeat`](fixwire_protocol::repeat::repeat).

use super::record::{RecordKind, padded};
use super::segment::{JournalPosition, long};
use fixwire_protocol::Precision;

/// Number of bytes of a body before its first run.
const RUNS: usize = 8;
/// Number of bytes of a run before its gap fill.
pub const RUN: usize = 32;
/// Maximum number of messages in a run. The maximum is far more than an engine resends in one turn.
const LONGEST_RUN: u64 = 1 << 16;

/// A part of the body of a record of resent messages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Run<'a> {
    /// Stored messages.
    Messages {
        first: u64,
        last: u64,
        /// The position of the effect with the last message.
        at: JournalPosition,
    },
    /// A gap fill that replaces the messages from `first` to `last`.
    GapFill {
        first: u64,
        last: u64,
        bytes: &'a [u8],
    },
}

/// The runs in a body, up to the first invalid one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Runs<'a> {
    rest: &'a [u8],
}

impl<'a> Runs<'a> {
    /// Reads the number of digits of SendingTime(52), and the runs.
    pub(super) fn of(body: &'a [u8]) -> Option<(Precision, Self)> {
        let precision = match long(body.get(..RUNS)?, 0) {
            0 => Precision::Seconds,
            3 => Precision::Millis,
            6 => Precision::Micros,
            9 => Precision::Nanos,
            _ => return None,
        };
        let rest = &body[RUNS..];
        Some((precision, Self { rest }))
    }
}

impl<'a> Iterator for Runs<'a> {
    type Item = Run<'a>;

    fn next(&mut self) -> Option<Run<'a>> {
        let head = self.rest.get(..RUN)?;
        let [first, last, at, length] = [0, 8, 16, 24].map(|at| long(head, at));
        let at = JournalPosition::from_bits(at);
        let run = match (at, length) {
            _ if last < first => return None,
            (JournalPosition::START, 1..) => {
                let length = usize::try_from(length).ok()?;
                let bytes = self.rest[RUN..].get(..length)?;
                Run::GapFill { first, last, bytes }
            }
            (JournalPosition::START, 0) => return None,
            (_, 0) if last - first < LONGEST_RUN => Run::Messages { first, last, at },
            _ => return None,
        };
        let length = match run {
            Run::Messages { .. } => 0,
            Run::GapFill { bytes, .. } => padded(bytes.len()),
        };
        self.rest = self.rest.get(RUN + length..)?;
        Some(run)
    }
}

/// Writes the body of a record of resent messages.
#[derive(Debug, Default)]
pub struct Wrote {
    bytes: Vec<u8>,
    /// Offset of the run to which the next message may be added.
    open: Option<usize>,
    messages: u64,
}

impl Wrote {
    /// Begins again, with nothing written.
    pub fn clear(&mut self, precision: Precision) {
        let digits: u64 = match precision {
            Precision::Seconds => 0,
            Precision::Millis => 3,
            Precision::Micros => 6,
            Precision::Nanos => 9,
        };
        self.bytes.clear();
        self.bytes.extend_from_slice(&digits.to_le_bytes());
        self.open = None;
        self.messages = 0;
    }

    /// Adds a resent message, whose effect is at `at`.
    #[inline]
    pub fn message(&mut self, seq: u64, at: JournalPosition) {
        self.messages += 1;
        if let Some(run) = self.open {
            let last = long(&self.bytes, run + 8);
            let count = last - long(&self.bytes, run);
            if seq == last + 1 && count + 1 < LONGEST_RUN {
                self.bytes[run + 8..][..8].copy_from_slice(&seq.to_le_bytes());
                self.bytes[run + 16..][..8].copy_from_slice(&at.bits().to_le_bytes());
                return;
            }
        }
        self.open = Some(self.bytes.len());
        self.run(seq, seq, at.bits(), 0);
    }

    /// Adds a gap fill for the MsgSeqNums from `first` up to, but not including, `next`.
    pub fn gap_fill(&mut self, first: u64, next: u64, bytes: &[u8]) {
        self.messages += 1;
        self.open = None;
        let last = next.saturating_sub(1).max(first);
        self.run(first, last, 0, bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
        let end = padded(self.bytes.len());
        self.bytes.resize(end, 0);
    }

    fn run(&mut self, first: u64, last: u64, at: u64, length: u64) {
        for word in [first, last, at, length] {
            self.bytes.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// The body. The caller must return it with [`Wrote::put_back`].
    pub fn take_body(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Takes a body back, to reuse its memory.
    pub fn put_back(&mut self, body: Vec<u8>) {
        self.bytes = body;
    }

    /// Number of messages and gap fills in the body.
    pub fn messages(&self) -> u64 {
        self.messages
    }
}

/// The position at which a queued message was received. When the message is processed, this position is the body of
/// the record about it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Arrival {
    /// MsgSeqNum of the message.
    pub number: u64,
    /// The position of the record with the message.
    pub at: JournalPosition,
}

impl Arrival {
    /// The bytes for the body of a record: the MsgSeqNum, then the position, 8 bytes each.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.number.to_le_bytes());
        bytes[8..].copy_from_slice(&self.at.bits().to_le_bytes());
        bytes
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    #[must_use]
    pub fn read(body: &[u8]) -> Option<Self> {
        (body.len() == 16).then(|| Self {
            number: long(body, 0),
            at: JournalPosition::from_bits(long(body, 8)),
        })
    }
}

/// The fault in the body of such a record at `here`, if any. A record may only refer to earlier records.
pub(super) fn fault(kind: RecordKind, body: &[u8], here: JournalPosition) -> Option<&'static str> {
    match kind {
        RecordKind::Dequeued => {
            let arrival = Arrival::read(body).filter(|arrival| arrival.at < here);
            arrival
                .is_none()
                .then_some("the place of an earlier record")
        }
        RecordKind::Resent => {
            let expected = Some("runs of resent messages");
            let Some((_, mut runs)) = Runs::of(body) else {
                return expected;
            };
            let refers_on = |run: Run<'_>| matches!(run, Run::Messages { at, .. } if at >= here);
            let whole = !runs.by_ref().any(refers_on) && runs.rest.is_empty();
            (!whole).then_some("runs of resent messages")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(body: &[u8]) -> Vec<Run<'_>> {
        Runs::of(body)
            .map(|(_, runs)| runs.collect())
            .unwrap_or_default()
    }

    #[test]
    fn neighbours_are_one_run_and_gap_fills_stand_between() {
        let at = |byte| JournalPosition::new(3, byte);
        let mut wrote = Wrote::default();
        wrote.clear(Precision::Micros);
        wrote.gap_fill(1, 4, b"fill");
        for seq in 4..=6 {
            wrote.message(seq, at(seq as u32 * 100));
        }
        wrote.message(8, at(800));
        wrote.gap_fill(9, 10, b"eight by");
        wrote.message(10, at(1000));
        assert_eq!(wrote.messages(), 7);
        let (first, last) = (1, 3);
        let expected = [
            Run::GapFill {
                first,
                last,
                bytes: b"fill",
            },
            Run::Messages {
                first: 4,
                last: 6,
                at: at(600),
            },
            Run::Messages {
                first: 8,
                last: 8,
                at: at(800),
            },
            Run::GapFill {
                first: 9,
                last: 9,
                bytes: b"eight by",
            },
            Run::Messages {
                first: 10,
                last: 10,
                at: at(1000),
            },
        ];
        assert_eq!(runs(&wrote.bytes), expected);
        assert_eq!(
            Runs::of(&wrote.bytes).map(|found| found.0),
            Some(Precision::Micros)
        );
        assert_eq!(fault(RecordKind::Resent, &wrote.bytes, at(1001)), None);
        assert!(fault(RecordKind::Resent, &wrote.bytes, at(1000)).is_some());
        for cut in 0..wrote.bytes.len() {
            let body = &wrote.bytes[..cut];
            let whole = [8, 48, 80, 112, 152].contains(&cut);
            assert_eq!(
                fault(RecordKind::Resent, body, at(1001)).is_none(),
                whole,
                "{cut}"
            );
        }
    }

    #[test]
    fn a_queued_message_came_in_before_its_turn() {
        let (number, at) = (7, JournalPosition::new(2, 64));
        let arrival = Arrival { number, at };
        let body = arrival.to_bytes();
        assert_eq!(Arrival::read(&body), Some(arrival));
        assert_eq!(Arrival::read(&body[..15]), None);
        assert_eq!(
            fault(RecordKind::Dequeued, &body, JournalPosition::new(2, 65)),
            None
        );
        assert!(fault(RecordKind::Dequeued, &body, at).is_some());
        assert!(fault(RecordKind::Dequeued, b"", at).is_some());
    }
}
