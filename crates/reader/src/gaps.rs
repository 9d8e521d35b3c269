//! [`LogGaps`]: finds sequence numbers that are missing from logs.

use std::collections::BTreeMap;

use fixwire_protocol::Timestamp;
use fixwire_protocol::value::uint;

use crate::entry::LogEntry;

/// Maximum number of senders that are counted separately.
const MOST_SENDERS: usize = 10_000;
/// Maximum length of the name of a sender, bytes.
const LONGEST_NAME: usize = 300;
/// Maximum number of gaps, over all senders.
const MOST_GAPS: usize = 100_000;

/// MsgSeqNums that were missing when a later MsgSeqNum arrived.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SequenceGap {
    /// The first missing MsgSeqNum.
    pub first: u64,
    /// The last missing MsgSeqNum.
    pub last: u64,
    /// The position of the message after the gap.
    pub place: String,
    /// Time of the message after the gap; `None` when it has no time.
    pub time: Option<Timestamp>,
    /// How many of the missing messages were resent, or filled by a SequenceReset(4).
    pub filled: u64,
}

/// The sequence numbers of one sender.
#[derive(Clone, Debug, Default)]
pub struct SenderSequence {
    /// Number of messages with a MsgSeqNum, without resent messages.
    pub messages: u64,
    /// The first MsgSeqNum.
    pub first: u64,
    /// The last MsgSeqNum.
    pub last: u64,
    /// How often the sequence numbers were reset.
    pub resets: u64,
    /// Gaps in the order in which they occurred; at most 100,000 over all senders.
    pub gaps: Vec<SequenceGap>,
    /// Number of gaps before a reset, which can no longer be filled.
    closed: usize,
}

/// The gaps of all senders.
#[derive(Clone, Debug, Default)]
pub struct LogGaps {
    /// By `FIX.4.4:SENDER->TARGET`.
    pub senders: BTreeMap<String, SenderSequence>,
    kept: usize,
}

impl LogGaps {
    /// Processes the MsgSeqNum of a message.
    pub fn add(&mut self, entry: &LogEntry<'_>) {
        if entry.mark == "dequeued" {
            return;
        }
        let Some(Ok(number)) = entry.get(34).map(uint) else {
            return;
        };
        let text = |tag| String::from_utf8_lossy(entry.get(tag).unwrap_or_default());
        let name = format!("{}:{}->{}", text(8), text(49), text(56));
        let is_known = self.senders.contains_key(&name);
        if !is_known && (self.senders.len() >= MOST_SENDERS || name.len() > LONGEST_NAME) {
            return;
        }
        let sender = self.senders.entry(name).or_default();
        let before = sender.gaps.len();
        sender.add(entry, number, self.kept < MOST_GAPS);
        self.kept += sender.gaps.len() - before;
    }

    /// Number of gaps, and number of MsgSeqNums in them that were not filled.
    #[must_use]
    pub fn totals(&self) -> (u64, u64) {
        let gaps = self.senders.values().flat_map(|sender| &sender.gaps);
        gaps.fold((0, 0), |(gaps, missing), gap| {
            (gaps + 1, missing + gap.missing())
        })
    }
}

impl SequenceGap {
    /// Number of MsgSeqNums that are still missing.
    #[must_use]
    pub fn missing(&self) -> u64 {
        (self.last - self.first + 1).saturating_sub(self.filled)
    }
}

impl SenderSequence {
    fn add(&mut self, entry: &LogEntry<'_>, number: u64, has_room: bool) {
        let msg_type = entry.get(35).unwrap_or_default();
        let fills_gap = msg_type == b"4" && entry.get(123) == Some(b"Y");
        let new_number = entry.get(36).filter(|_| msg_type == b"4").map(uint);
        // The last MsgSeqNum that this message accounts for.
        let covered = match new_number {
            Some(Ok(next)) if fills_gap => number.max(next.saturating_sub(1)),
            _ => number,
        };
        let is_duplicate = entry.get(43) == Some(b"Y");
        if self.messages == 0 && !is_duplicate {
            (self.first, self.last, self.messages) = (number, covered, 1);
            return;
        }
        let begins_anew = msg_type == b"A" && entry.get(141) == Some(b"Y");
        if is_duplicate || number <= self.last && !begins_anew {
            // A lower MsgSeqNum without PossDupFlag(43)=Y is either the same message in another log, or the sign of a
            // reset.
            if !is_duplicate && number == 1 && self.last > 1 && msg_type == b"A" {
                self.begin_anew(number);
            }
            self.fill(number, covered);
            return;
        }
        self.messages += 1;
        if begins_anew {
            self.begin_anew(number);
        } else if number - 1 > self.last && has_room {
            self.gaps.push(SequenceGap {
                first: self.last + 1,
                last: number - 1,
                place: format!("{}:{}", entry.file, entry.place),
                time: entry.time().0,
                filled: 0,
            });
        }
        self.last = match new_number {
            Some(Ok(next)) if !fills_gap => next.saturating_sub(1),
            _ => covered,
        };
    }

    fn begin_anew(&mut self, number: u64) {
        self.resets += 1;
        self.last = number;
        self.closed = self.gaps.len();
    }

    /// Records that these MsgSeqNums arrived later.
    fn fill(&mut self, first: u64, last: u64) {
        for gap in &mut self.gaps[self.closed..] {
            let (from, to) = (gap.first.max(first), gap.last.min(last));
            if from <= to {
                gap.filled = gap.filled.saturating_add(to - from + 1);
            }
        }
    }
}
