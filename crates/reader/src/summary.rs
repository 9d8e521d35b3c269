//! [`LogSummary`]: what logs contain, and what is wrong with their messages.

use std::collections::BTreeMap;

use fixwire_journal::Direction;
use fixwire_protocol::{Garbled, Timestamp};

use crate::entry::{LogEntry, TimeSource};
use crate::gaps::LogGaps;

/// Maximum number of sessions and of types that are counted separately; further ones are counted together.
const MOST: usize = 10_000;
/// Maximum length of a name.
const LONGEST_NAME: usize = 300;
/// The name under which sessions and types above the limit are counted.
const BEYOND: &str = "(others)";
/// Maximum number of kinds of faults of which the first position is kept.
const KINDS: usize = 16;

/// Counts over all processed messages.
#[derive(Clone, Debug, Default)]
pub struct LogSummary {
    /// Messages.
    pub messages: u64,
    /// The earliest and the latest time; `None` when no message has a time.
    pub times: Option<(Timestamp, Timestamp)>,
    /// Number of messages by the origin of their time.
    pub time_sources: BTreeMap<TimeSource, u64>,
    /// Messages by MsgType(35).
    pub types: BTreeMap<String, u64>,
    /// Counts by session, named as by [`LogEntry::session`].
    pub sessions: BTreeMap<String, SessionSummary>,
    /// Faults of frames, by text without numbers: how often, and the position of the first.
    pub faults: BTreeMap<&'static str, (u64, String)>,
    /// Missing sequence numbers.
    pub gaps: LogGaps,
}

/// Counts of one session.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SessionSummary {
    /// Number of inbound messages.
    pub received: u64,
    /// Number of outbound messages.
    pub sent: u64,
    /// Number of messages with unknown direction.
    pub unknown: u64,
    /// Number of possible duplicates (PossDupFlag(43)=Y).
    pub duplicates: u64,
    /// Number of Reject(3), BusinessMessageReject(j) and OrderCancelReject(9).
    pub rejects: u64,
    /// The earliest and the latest time; `None` when no message has a time.
    pub times: Option<(Timestamp, Timestamp)>,
}

impl LogSummary {
    /// Counts a message.
    pub fn add(&mut self, entry: &LogEntry<'_>) {
        self.messages += 1;
        let (time, source) = entry.time();
        *self.time_sources.entry(source).or_default() += 1;
        widen(&mut self.times, time);
        let msg_type = entry.get(35).unwrap_or_default();
        *known(&mut self.types, &String::from_utf8_lossy(msg_type)) += 1;
        if let Some(fault) = entry.fault
            && self.faults.len() < KINDS
        {
            let place = || (0, format!("{}:{}", entry.file, entry.place));
            self.faults.entry(kind(fault)).or_insert_with(place).0 += 1;
        }
        let session = known(&mut self.sessions, &entry.session());
        widen(&mut session.times, time);
        match entry.direction() {
            Some(Direction::In) => session.received += 1,
            Some(Direction::Out) => session.sent += 1,
            None => session.unknown += 1,
        }
        session.rejects += u64::from(matches!(msg_type, b"3" | b"j" | b"9"));
        let is_duplicate = entry.get(43) == Some(b"Y");
        session.duplicates += u64::from(is_duplicate);
        self.gaps.add(entry);
    }
}

fn widen(times: &mut Option<(Timestamp, Timestamp)>, time: Option<Timestamp>) {
    if let Some(time) = time {
        let (first, last) = times.unwrap_or((time, time));
        *times = Some((first.min(time), last.max(time)));
    }
}

/// The entry of a name; when there are too many names, the entry of the common name.
fn known<'a, T: Default>(map: &'a mut BTreeMap<String, T>, name: &str) -> &'a mut T {
    let is_short = name.len() <= LONGEST_NAME;
    let name = match is_short && (map.len() < MOST || map.contains_key(name)) {
        true => name,
        false => BEYOND,
    };
    if !map.contains_key(name) {
        map.insert(name.to_owned(), T::default());
    }
    map.get_mut(name).expect("it was put there")
}

/// A fault without its numbers.
pub(crate) fn kind(fault: Garbled) -> &'static str {
    match fault {
        Garbled::BeginString => "invalid BeginString(8)",
        Garbled::BodyLength => "invalid BodyLength(9)",
        Garbled::MsgType => "the third field is not MsgType(35)",
        Garbled::Trailer => "no CheckSum(10) where BodyLength(9) says",
        Garbled::CheckSum { .. } => "wrong CheckSum(10)",
        _ => "invalid frame",
    }
}
