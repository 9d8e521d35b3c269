//! The peers of `bench sessions`: bare sockets, all played by one thread.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fixwire_protocol::{Frame, Precision, Timestamp, TimestampWriter, frame};
use hdrhistogram::Histogram;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use super::{Found, Window};
use crate::error::Error;

/// HeartBtInt of every session, seconds.
const HEART_BEAT: u64 = 2;
/// Interval between two Heartbeats of a peer.
const BEAT: Duration = Duration::from_secs(HEART_BEAT / 2);
/// The longest latency that the histogram can represent, nanoseconds.
const LONGEST: u64 = 60_000_000_000;
/// Shortest wait of a poller.
const TICK: Duration = Duration::from_millis(1);
/// One peer of this number sends no orders.
const QUIET: u32 = 10;

/// All peers, played by one thread.
pub(super) struct Peers {
    poll: Poll,
    events: Events,
    peers: Vec<Peer>,
    stamp: TimestampWriter,
    /// Peers from this index on send orders only after they have stopped reading.
    readers: u32,
    /// Peers from this index on do not read.
    pub(super) deaf_from: u32,
    start: Instant,
}

struct Peer {
    stream: TcpStream,
    name: String,
    seq: u64,
    /// Received bytes of an incomplete message.
    arrived: Vec<u8>,
    /// Bytes that the socket did not accept.
    unsent: Vec<u8>,
    /// When each order without a report was due.
    due: VecDeque<Duration>,
    heard: Duration,
    logged_on: bool,
    closed: bool,
}

impl Peers {
    /// Connects all peers and logs them on, a few at a time.
    pub(super) fn connect(count: u32, readers: u32, to: SocketAddr) -> Result<Self, Error> {
        let mut all = Self {
            poll: Poll::new().map_err(Error::system("poll"))?,
            events: Events::with_capacity(1024),
            peers: Vec::new(),
            stamp: TimestampWriter::new(),
            readers,
            deaf_from: u32::MAX,
            start: Instant::now(),
        };
        for index in 0..count {
            let stream = std::net::TcpStream::connect(to).map_err(Error::system("connect"))?;
            let options = stream
                .set_nodelay(true)
                .and_then(|()| stream.set_nonblocking(true));
            options.map_err(Error::system("set up a socket"))?;
            let mut stream = TcpStream::from_std(stream);
            let interest = Interest::READABLE | Interest::WRITABLE;
            all.poll
                .registry()
                .register(&mut stream, Token(index as usize), interest)
                .map_err(Error::system("poll"))?;
            all.peers.push(Peer {
                stream,
                name: format!("P{index}"),
                seq: 1,
                arrived: Vec::new(),
                unsent: Vec::new(),
                due: VecDeque::new(),
                heard: all.start.elapsed(),
                logged_on: false,
                closed: false,
            });
            all.say(index as usize, "A", &format!("98=0|108={HEART_BEAT}|"));
            if index % 64 == 63 || index + 1 == count {
                all.until_logged_on()?;
            }
        }
        Ok(all)
    }

    fn until_logged_on(&mut self) -> Result<(), Error> {
        let begin = Instant::now();
        let mut nothing = Tally::default();
        while self.peers.iter().any(|peer| !peer.logged_on) {
            self.hear(Duration::from_millis(10), &mut nothing)?;
            if begin.elapsed() > Duration::from_secs(30) {
                return Err(Error::Session("the Logons took too long".into()));
            }
        }
        Ok(())
    }

    /// From now on the peers from index `readers` on never read. They send orders until their sockets are full.
    pub(super) fn turn_deaf(&mut self, readers: u32, behind: &AtomicU64) -> Result<(), Error> {
        self.deaf_from = readers;
        let begin = Instant::now();
        let mut beats = self.start.elapsed();
        let mut nothing = Tally::default();
        while behind.load(Ordering::Relaxed) < self.peers.len() as u64 - u64::from(readers) {
            for index in readers as usize..self.peers.len() {
                for id in 0..8 {
                    self.say(index, "D", &format!("11=F{id}|55=LCOM1|54=1|38=1|40=1|"));
                }
            }
            self.hear(Duration::ZERO, &mut nothing)?;
            let now = self.start.elapsed();
            if now >= beats {
                beats = now + BEAT;
                self.beat(now, &mut nothing);
            }
            if begin.elapsed() > Duration::from_secs(60) {
                return Err(Error::Session("the sockets do not become full".into()));
            }
        }
        Ok(())
    }

    fn say(&mut self, index: usize, kind: &str, fields: &str) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let nanos = now.map_or(0, |since| since.as_nanos() as i64);
        let time = self.stamp.format(Timestamp(nanos), Precision::Millis);
        let time = String::from_utf8_lossy(time);
        let peer = &mut self.peers[index];
        let (seq, name) = (peer.seq, &peer.name);
        let body = format!("35={kind}|34={seq}|49={name}|52={time}|56=HOUSE|{fields}");
        let whole = format!("8=FIX.4.2|9={}|{body}", body.len()).replace('|', "\x01");
        let sum = frame::check_sum(whole.as_bytes());
        peer.seq += 1;
        peer.unsent
            .extend_from_slice(format!("{whole}10={sum:03}\x01").as_bytes());
        peer.flush();
    }

    /// Lets the peers in `who` send orders at this rate for this time.
    pub(super) fn play(
        &mut self,
        who: std::ops::Range<u32>,
        rate: u64,
        time: Duration,
        found: &mut Found,
    ) -> Result<Window, Error> {
        let mut tally = Tally::default();
        let begin = self.start.elapsed();
        let senders: Vec<u32> = who
            .filter(|index| index % QUIET != QUIET - 1 || *index >= self.deaf_from)
            .collect();
        let gap = Duration::from_secs(1) / rate as u32;
        let mut next = 0_u64;
        let mut beats = begin;
        loop {
            let now = self.start.elapsed();
            if now >= begin + time {
                break;
            }
            // The due times of the sessions are spread evenly over the interval between two orders of one session.
            let count = senders.len().max(1) as u64;
            let due = |number: u64| {
                begin
                    + gap * (number / count) as u32
                    + gap.mul_f64((number % count) as f64 / count as f64)
            };
            while !senders.is_empty() && due(next) <= now {
                let index = senders[(next % count) as usize] as usize;
                if !self.peers[index].closed {
                    if (index as u32) < self.deaf_from {
                        self.peers[index].due.push_back(due(next));
                    }
                    self.say(index, "D", &format!("11={next}|55=LCOM1|54=1|38=1|40=1|"));
                }
                next += 1;
            }
            if now >= beats {
                beats = now + BEAT;
                self.beat(now, &mut tally);
            }
            let left = match senders.is_empty() {
                true => TICK * 10,
                false => due(next).saturating_sub(self.start.elapsed()),
            };
            // The poller rounds a wait up to its tick, which would make an order late.
            let wait = if left < TICK {
                Duration::ZERO
            } else {
                left - TICK
            };
            self.hear(wait.min(TICK * 10), &mut tally)?;
        }
        found.answered += tally.histogram.as_ref().map_or(0, Histogram::len);
        found.heartbeats += tally.heartbeats;
        found.missed += tally.missed;
        Ok(tally
            .histogram
            .map_or_else(Window::default, |histogram| Window {
                sent: next,
                p50: histogram.value_at_quantile(0.5),
                p99: histogram.value_at_quantile(0.99),
            }))
    }

    /// Sends Heartbeats for idle peers, and checks that the engine's Heartbeats arrive.
    fn beat(&mut self, now: Duration, tally: &mut Tally) {
        for index in 0..self.peers.len() {
            let peer = &self.peers[index];
            let silent = index as u32 % QUIET == QUIET - 1 || index as u32 >= self.readers;
            if peer.closed || !silent {
                continue;
            }
            let late = now.saturating_sub(peer.heard) > 2 * Duration::from_secs(HEART_BEAT);
            if late && (index as u32) < self.deaf_from {
                tally.missed += 1;
            }
            self.say(index, "0", "");
        }
    }

    /// Waits for the last reports.
    pub(super) fn drain(&mut self, readers: u32, found: &mut Found) -> Result<(), Error> {
        let begin = Instant::now();
        let mut tally = Tally::default();
        let open = |all: &Self| -> usize {
            all.peers[..readers as usize]
                .iter()
                .map(|peer| peer.due.len())
                .sum()
        };
        while open(self) > 0 && begin.elapsed() < Duration::from_secs(10) {
            self.hear(Duration::from_millis(10), &mut tally)?;
        }
        found.answered += tally.histogram.map_or(0, |histogram| histogram.len());
        found.lost = open(self) as u64;
        Ok(())
    }

    fn hear(&mut self, wait: Duration, tally: &mut Tally) -> Result<(), Error> {
        let mut events = std::mem::replace(&mut self.events, Events::with_capacity(0));
        match self.poll.poll(&mut events, Some(wait)) {
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                return Err(Error::system("poll")(error));
            }
            _ => {}
        }
        for event in &events {
            let index = event.token().0;
            self.peers[index].flush();
            if event.is_readable() && (index as u32) < self.deaf_from {
                let answers = self.peers[index].read(self.start, tally);
                for id in answers {
                    self.say(index, "0", &format!("112={id}|"));
                }
            }
        }
        self.events = events;
        Ok(())
    }
}

#[derive(Default)]
struct Tally {
    histogram: Option<Histogram<u64>>,
    heartbeats: u64,
    missed: u64,
}

impl Peer {
    /// Writes queued bytes, as many as the socket accepts.
    fn flush(&mut self) {
        while !self.unsent.is_empty() && !self.closed {
            match self.stream.write(&self.unsent) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => self.closed = true,
            }
        }
    }

    /// Reads all available bytes. Returns the TestReqID(112) of each TestRequest, which needs an answer.
    fn read(&mut self, start: Instant, tally: &mut Tally) -> Vec<String> {
        let mut bytes = [0; 16 << 10];
        loop {
            match self.stream.read(&mut bytes) {
                Ok(0) => {
                    self.closed = true;
                    break;
                }
                Ok(count) => self.arrived.extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => {
                    self.closed = true;
                    break;
                }
            }
        }
        let now = start.elapsed();
        let mut tests = Vec::new();
        let mut at = 0;
        while let Frame::Whole { skip, len } = frame::next(&self.arrived[at..], 1 << 16) {
            let message = &self.arrived[at + skip..at + skip + len];
            at += skip + len;
            self.heard = now;
            match kind(message) {
                b"8" => {
                    if let Some(due) = self.due.pop_front() {
                        let taken = now.saturating_sub(due).as_nanos() as u64;
                        let histogram = tally.histogram.get_or_insert_with(|| {
                            Histogram::new_with_max(LONGEST, 3)
                                .unwrap_or_else(|_| unreachable!("these bounds are allowed"))
                        });
                        histogram.saturating_record(taken);
                    }
                }
                b"0" => tally.heartbeats += 1,
                b"1" => {
                    tally.missed += 1;
                    tests.push("TEST".to_owned());
                }
                b"A" => self.logged_on = true,
                _ => {}
            }
        }
        self.arrived.drain(..at);
        tests
    }
}

/// MsgType of a whole message.
fn kind(message: &[u8]) -> &[u8] {
    let mut fields = message.split(|byte| *byte == 1);
    fields
        .find_map(|field| field.strip_prefix(b"35="))
        .unwrap_or_default()
}
