//! One direction of a TCP connection: puts captured segments in order, and finds messages in the data.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

use fixwire_protocol::{Garbled, Timestamp};

use crate::find::Kind;
use crate::left_out::LeftOut;
use crate::packet::TcpSegment;
use crate::scan::{Scan, Scanner};
use crate::zone::SECOND;

/// Maximum number of bytes that wait for a missing segment.
const MOST_WAITING: usize = 1 << 20;
/// Maximum number of segments that wait for a missing one.
const MOST_SEGMENTS: usize = 1024;
/// How long segments wait for a missing one, by the clock of the capture. After this time, a segment that was not
/// retransmitted is given up.
const PATIENCE: i64 = 10 * SECOND;
/// Maximum number of segments that are held back until the sequence number at which the stream begins is known. Only
/// for a connection that was open before the capture.
const HELD: usize = 4;
/// Maximum time for which these segments are held back.
const HELD_TIME: i64 = SECOND / 5;
/// A sequence number further away than this belongs to another connection with the same addresses. Bytes.
const NEAR: i64 = 64 << 20;
/// The reason given for bytes between messages that are left out.
const UNREAD: &str = "no FIX message";
/// Size of the first block.
const BLOCK: usize = 4096;

/// Result of looking for the next message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum FlowStep {
    /// A message.
    Message,
    /// Skipped bytes.
    LeftOut(LeftOut),
    /// Nothing more now.
    More,
}

/// The data that one end of a connection sends.
pub(crate) struct TcpFlow {
    from: SocketAddr,
    to: SocketAddr,
    /// The sequence number of the first byte, extended to 64 bits.
    first: i64,
    /// The sequence number of the next byte that must be searched.
    next: i64,
    started: bool,
    /// Segments that wait for a missing one, by sequence number: bytes, time and packet number.
    waiting: BTreeMap<i64, (Vec<u8>, Timestamp, u64)>,
    waiting_bytes: usize,
    /// For each packet, its end in the stream, its time and its number.
    arrivals: VecDeque<(u64, Timestamp, u64)>,
    scanner: Scanner,
    /// Time and number of the packet that completed the message that was found.
    pub(crate) completed: (Timestamp, u64),
    /// The position after the last message or skipped part that was returned.
    told: u64,
    has_messages: bool,
    /// Whether a message was found that was not returned yet.
    is_found: bool,
    /// Whether the missing bytes before the first waiting segment are given up.
    give_up: bool,
    /// The sequence number up to which the peer has acknowledged bytes.
    confirmed: i64,
    finished: Option<i64>,
    /// Whether the stream has ended.
    pub(crate) closed: bool,
    /// The last packet.
    pub(crate) last_packet: u64,
}

impl TcpFlow {
    pub(crate) fn new(segment: &TcpSegment<'_>) -> Self {
        let begin = (1 << 40) + i64::from(segment.seq) + i64::from(segment.syn);
        Self {
            from: segment.from,
            to: segment.to,
            first: begin,
            next: begin,
            started: segment.syn,
            waiting: BTreeMap::new(),
            waiting_bytes: 0,
            arrivals: VecDeque::new(),
            scanner: Scanner::new(Kind::Stream, BLOCK),
            completed: (Timestamp(0), 0),
            told: 0,
            has_messages: false,
            is_found: false,
            give_up: false,
            confirmed: begin,
            finished: None,
            closed: false,
            last_packet: 0,
        }
    }

    /// Whether a segment belongs to another connection with the same addresses.
    pub(crate) fn is_other(&self, segment: &TcpSegment<'_>) -> bool {
        let seq = self.wide(segment.seq) + i64::from(segment.syn);
        let begins_anew = segment.syn && self.started && seq != self.first;
        begins_anew || (seq - self.next).abs() > NEAR
    }

    /// A sequence number extended to 64 bits: of all possible values, the one nearest to the current position.
    fn wide(&self, seq: u32) -> i64 {
        self.next + i64::from(seq.wrapping_sub(self.next as u32) as i32)
    }

    /// Adds a segment.
    pub(crate) fn add(&mut self, segment: &TcpSegment<'_>, time: Timestamp, packet: u64) {
        self.last_packet = packet;
        let mut seq = self.wide(segment.seq);
        if segment.syn {
            seq += 1;
            if !self.started {
                (self.first, self.next, self.started) = (seq, seq, true);
            }
        }
        if segment.fin {
            self.finished = Some(seq + segment.carried as i64);
        }
        let end = seq + segment.payload.len() as i64;
        if !segment.payload.is_empty() && end > self.next_or_least() {
            let is_longer = |kept: &(Vec<u8>, _, _)| kept.0.len() < segment.payload.len();
            if self.waiting.get(&seq).is_none_or(is_longer) {
                let kept = (segment.payload.to_vec(), time, packet);
                self.waiting_bytes += segment.payload.len();
                if let Some(before) = self.waiting.insert(seq, kept) {
                    self.waiting_bytes -= before.0.len();
                }
            }
        }
        if !self.started {
            let is_due = self.waiting.len() >= HELD || self.has_waited(time, HELD_TIME);
            if is_due {
                self.start();
            }
        }
        if self.started {
            self.drain();
            let is_full = self.waiting_bytes > MOST_WAITING || self.waiting.len() > MOST_SEGMENTS;
            self.give_up |= is_full || self.has_waited(time, PATIENCE);
        }
    }

    fn next_or_least(&self) -> i64 {
        if self.started { self.next } else { i64::MIN }
    }

    fn has_waited(&self, now: Timestamp, time: i64) -> bool {
        let first = self.waiting.values().map(|(_, time, _)| time.0).min();
        first.is_some_and(|first| now.0.saturating_sub(first) > time)
    }

    /// Starts the stream with the segments that were held back; the beginning of the connection is missing.
    fn start(&mut self) {
        self.started = true;
        if let Some((&seq, _)) = self.waiting.first_key_value() {
            (self.first, self.next) = (seq, seq);
        }
    }

    /// Records that the peer has acknowledged the bytes before this sequence number.
    pub(crate) fn confirm(&mut self, ack: u32) {
        let ack = self.wide(ack);
        if (ack - self.next).abs() <= NEAR {
            self.confirmed = self.confirmed.max(ack);
        }
    }

    /// Gives up the missing bytes, so that fewer bytes must wait.
    pub(crate) fn hurry(&mut self) {
        self.give_up = true;
    }

    /// Records that no more segments follow.
    pub(crate) fn close(&mut self) {
        self.closed = true;
        if !self.started {
            self.start();
            self.drain();
        }
    }

    /// Number of bytes in memory.
    pub(crate) fn held(&self) -> usize {
        self.waiting_bytes + self.scanner.held()
    }

    /// The message found.
    pub(crate) fn message(&self) -> &[u8] {
        self.scanner.message()
    }

    /// The fault of the frame of the message that was found; `None` for a correct frame.
    pub(crate) fn fault(&self) -> Option<Garbled> {
        self.scanner.found.fault
    }

    /// Moves the segments that continue the stream into the scanner.
    fn drain(&mut self) {
        while let Some(entry) = self.waiting.first_entry() {
            let seq = *entry.key();
            if seq > self.next {
                break;
            }
            let (bytes, time, packet) = entry.remove();
            self.waiting_bytes -= bytes.len();
            let known = (self.next - seq) as usize;
            if let Some(new) = bytes.get(known..).filter(|new| !new.is_empty()) {
                self.scanner.push(new);
                self.next += new.len() as i64;
                // A segment that arrived early counts as complete when the bytes before it have arrived.
                let (_, then, before) = self.arrivals.back().copied().unwrap_or((0, time, packet));
                let arrived = (time.max(then), packet.max(before));
                self.arrivals
                    .push_back((self.scanner.read_to(), arrived.0, arrived.1));
            }
        }
    }

    /// The next message or skipped part.
    pub(crate) fn next(&mut self) -> FlowStep {
        if std::mem::take(&mut self.is_found) {
            return FlowStep::Message;
        }
        let ended = self.give_up || self.closed;
        match self.scanner.next(ended) {
            Scan::Message => {
                let (from, to) = (self.told, self.scanner.found.offset);
                self.found();
                if to > from {
                    self.is_found = true;
                    return FlowStep::LeftOut(self.left_out(from, to - from, UNREAD));
                }
                return FlowStep::Message;
            }
            Scan::LeftOut(at, len, why) => {
                self.told = at + len;
                return FlowStep::LeftOut(self.left_out(at, len, why));
            }
            Scan::More => {}
        }
        // No later message ends before this position, so the records of earlier packets can go.
        let searched = self.scanner.searched();
        while self.arrivals.front().is_some_and(|it| it.0 <= searched) {
            self.arrivals.pop_front();
        }
        if !ended {
            return FlowStep::More;
        }
        if let Some(unread) = self.unread() {
            return FlowStep::LeftOut(unread);
        }
        self.skip().map_or(FlowStep::More, FlowStep::LeftOut)
    }

    /// Records where the message that was found ends, and when it was complete.
    fn found(&mut self) {
        self.told = self.scanner.end();
        self.has_messages = true;
        while let Some(&(end, time, packet)) = self.arrivals.front() {
            self.completed = (time, packet);
            if end >= self.told {
                break;
            }
            self.arrivals.pop_front();
        }
    }

    /// The bytes before a gap, or before the end, that are not a message.
    fn unread(&mut self) -> Option<LeftOut> {
        let (from, to) = (self.told, self.scanner.read_to());
        self.told = self.told.max(to);
        let is_some = to > from && self.has_messages;
        is_some.then(|| self.left_out(from, to - from, UNREAD))
    }

    /// Continues after a gap. Returns the part that is lost, if any.
    fn skip(&mut self) -> Option<LeftOut> {
        let from = self.scanner.read_to();
        let to = match self.waiting.first_key_value() {
            Some((&seq, _)) => seq,
            None if self.closed => match self.finished {
                Some(end) => end,
                // An acknowledged FIN counts as one byte, even if the FIN was not captured.
                None if self.confirmed == self.next + 1 => self.next,
                None => self.confirmed,
            },
            None => self.next,
        };
        self.give_up = false;
        if to <= self.next {
            return None;
        }
        let lost = (to - self.next) as u64;
        self.next = to;
        self.told = from + lost;
        self.scanner.jump(self.told, None);
        self.arrivals.clear();
        self.drain();
        Some(self.left_out(from, lost, "lost, or cut off by the capture"))
    }

    fn left_out(&self, at: u64, len: u64, why: &str) -> LeftOut {
        LeftOut {
            connection: Some(format!("{} > {}", self.from, self.to)),
            ..LeftOut::bytes("", at, Some(len), why)
        }
    }
}
