//! One direction of a TCP connection: puts the segments of a capture in order and finds messages in them.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

use fixwire_protocol::{Garbled, Timestamp};

use crate::find::Kind;
use crate::left_out::LeftOut;
use crate::packet::TcpSegment;
use crate::scan::{Scan, Scanner};
use crate::zone::SECOND;

/// Bytes that wait for a missing segment, at most.
const MOST_WAITING: usize = 1 << 20;
/// Segments that wait, at most.
const MOST_SEGMENTS: usize = 1024;
/// How long a segment waits by the clock of the capture: what is not repeated within that time never is.
const PATIENCE: i64 = 10 * SECOND;
/// Segments that are held until the first byte of a connection is known that was open before the capture.
const HELD: usize = 4;
/// As long as these are held, at most.
const HELD_TIME: i64 = SECOND / 5;
/// A sequence number further away is one of another connection with the same addresses.
const NEAR: i64 = 64 << 20;
/// Why bytes between messages are left out.
const UNREAD: &str = "no FIX message";
/// Room for the first block.
const BLOCK: usize = 4096;

/// Result of looking for the next message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum FlowStep {
    /// A message.
    Message,
    /// Bytes that are left out.
    LeftOut(LeftOut),
    /// Nothing further now.
    More,
}

/// What one end of a connection sends.
pub(crate) struct TcpFlow {
    from: SocketAddr,
    to: SocketAddr,
    /// The sequence number of the first byte, in 64 bits.
    first: i64,
    /// That of the next byte to be searched.
    next: i64,
    started: bool,
    /// By their sequence numbers: bytes, time and packet.
    waiting: BTreeMap<i64, (Vec<u8>, Timestamp, u64)>,
    waiting_bytes: usize,
    /// Where the bytes of packets end in the stream.
    arrivals: VecDeque<(u64, Timestamp, u64)>,
    scanner: Scanner,
    /// The time and the packet of the message that was found.
    pub(crate) completed: (Timestamp, u64),
    /// Behind the last message, or what is left out.
    told: u64,
    has_messages: bool,
    /// A message was found that is still to be given.
    is_found: bool,
    /// The hole before the first waiting segment is given up.
    give_up: bool,
    /// The peer has confirmed the bytes before this one.
    confirmed: i64,
    finished: Option<i64>,
    /// Nothing more comes.
    pub(crate) closed: bool,
    /// The packet that came last.
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

    /// A sequence number in 64 bits: the one nearest to where the stream is.
    fn wide(&self, seq: u32) -> i64 {
        self.next + i64::from(seq.wrapping_sub(self.next as u32) as i32)
    }

    /// Takes a segment.
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

    /// Begins with what is held, without the beginning of the connection.
    fn start(&mut self) {
        self.started = true;
        if let Some((&seq, _)) = self.waiting.first_key_value() {
            (self.first, self.next) = (seq, seq);
        }
    }

    /// The peer has confirmed what comes before this number.
    pub(crate) fn confirm(&mut self, ack: u32) {
        let ack = self.wide(ack);
        if (ack - self.next).abs() <= NEAR {
            self.confirmed = self.confirmed.max(ack);
        }
    }

    /// Gives up what is missing, so that less waits.
    pub(crate) fn hurry(&mut self) {
        self.give_up = true;
    }

    /// No more segments come.
    pub(crate) fn close(&mut self) {
        self.closed = true;
        if !self.started {
            self.start();
            self.drain();
        }
    }

    /// Bytes in memory.
    pub(crate) fn held(&self) -> usize {
        self.waiting_bytes + self.scanner.held()
    }

    /// The message that was found.
    pub(crate) fn message(&self) -> &[u8] {
        self.scanner.message()
    }

    /// What is wrong with it.
    pub(crate) fn fault(&self) -> Option<Garbled> {
        self.scanner.found.fault
    }

    /// Moves segments that continue the stream into the scanner.
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
                // What came too early is complete when the bytes before it are.
                let (_, then, before) = self.arrivals.back().copied().unwrap_or((0, time, packet));
                let arrived = (time.max(then), packet.max(before));
                self.arrivals
                    .push_back((self.scanner.read_to(), arrived.0, arrived.1));
            }
        }
    }

    /// The next message, or what is left out.
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
        // Nothing that is found later ends before this place.
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

    /// Notes where the message that was found ends, and when it was complete.
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

    /// What of the stream before a hole or its end is no message.
    fn unread(&mut self) -> Option<LeftOut> {
        let (from, to) = (self.told, self.scanner.read_to());
        self.told = self.told.max(to);
        let is_some = to > from && self.has_messages;
        is_some.then(|| self.left_out(from, to - from, UNREAD))
    }

    /// Goes on behind a hole; what was lost in it.
    fn skip(&mut self) -> Option<LeftOut> {
        let from = self.scanner.read_to();
        let to = match self.waiting.first_key_value() {
            Some((&seq, _)) => seq,
            None if self.closed => match self.finished {
                Some(end) => end,
                // A FIN that was not captured counts as one byte.
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
            file: String::new(),
            connection: Some(format!("{} > {}", self.from, self.to)),
            at: Some(at),
            len: Some(len),
            why: why.to_owned(),
        }
    }
}
