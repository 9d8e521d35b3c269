//! `bench sessions`: many sessions on one port, and peers that never read.
//!
//! One engine takes all sessions on one port; one thread plays all peers with bare sockets. Every peer
//! sends orders at a fixed rate; latency counts from the moment an order was due until its report has
//! come. Windows of the same length follow one another, without and with orders of peers that never read
//! and whose sockets have long been full; the ratio of their p99 is what such peers cost the others. One
//! peer in ten sends nothing and counts on heartbeats.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Args;
use fixwire::config::{Connection, Durability, EngineConfig, Limits, SessionConfig};
use fixwire::{Engine, Event, Handle};
use fixwire_protocol::session::{BeginString, Config, Role};
use fixwire_protocol::{Frame, Precision, Stamp, Timestamp, frame};
use hdrhistogram::Histogram;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use crate::error::Error;
use crate::scenario::Echo;

/// Flags of `bench sessions`.
#[derive(Args, Clone, Debug)]
pub struct SessionsArgs {
    /// Sessions that read; one in ten of them sends nothing
    #[arg(long, value_name = "N", default_value_t = 1000,
          value_parser = clap::value_parser!(u32).range(10..=10_000))]
    pub sessions: u32,

    /// Sessions that send and never read
    #[arg(long, value_name = "N", default_value_t = 100,
          value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub deaf: u32,

    /// Orders a second of each session
    #[arg(long, value_name = "N", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub rate: u32,

    /// Seconds of a window
    #[arg(long, value_name = "N", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub seconds: u32,

    /// Pairs of windows: without and with those that never read
    #[arg(long, value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u32).range(1..=100))]
    pub pairs: u32,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Of each window without orders of peers that never read.
    pub quiet: Vec<Window>,
    /// Of each window with them.
    pub loud: Vec<Window>,
    /// Orders answered, and those that were not.
    pub answered: u64,
    /// Orders of sessions that read which have no report.
    pub lost: u64,
    /// Heartbeats that the quiet sessions heard.
    pub heartbeats: u64,
    /// Times that a quiet session heard nothing for two heartbeat intervals, and TestRequests: the engine
    /// missed what a peer had sent.
    pub missed: u64,
    /// Sessions that read and were disconnected.
    pub ended: u64,
    /// Bytes of anonymous memory for each session, those of the peers' side included; journal pages are
    /// not anonymous.
    pub bytes_per_session: u64,
}

/// Latency of the sessions that read, nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    /// Half of the reports came within it.
    pub p50: u64,
    /// 99 of 100 came within it.
    pub p99: u64,
}

impl Found {
    /// p99 of the median window with them over that of the median window without.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        let median = |windows: &[Window]| {
            let mut values: Vec<_> = windows.iter().map(|window| window.p99).collect();
            values.sort_unstable();
            values.get(values.len() / 2).copied().unwrap_or(0)
        };
        median(&self.loud) as f64 / (median(&self.quiet).max(1)) as f64
    }
}

/// Measures and prints.
///
/// # Errors
///
/// The measurement could not be made.
pub fn run(args: &SessionsArgs) -> Result<ExitCode, Error> {
    let found = measure(args)?;
    let micros = |windows: &[Window], which: fn(&Window) -> u64| {
        let texts: Vec<_> = windows
            .iter()
            .map(|window| format!("{:.0}", which(window) as f64 / 1e3))
            .collect();
        texts.join(" / ")
    };
    let line = |name: &str, windows: &[Window]| {
        format!(
            "  {name:<24}{:<28}{}\n",
            micros(windows, |window| window.p50),
            micros(windows, |window| window.p99),
        )
    };
    let SessionsArgs {
        sessions,
        deaf,
        rate,
        ..
    } = args;
    let mut out = io::stdout().lock();
    let text = format!(
        "{sessions} sessions on one port, {rate} orders a second each\n\
         orders answered {}, lost {}; sessions ended {}\n\
         heartbeats heard {}, missed {}\n\
         anonymous memory for each session, both ends: {} bytes\n\
         us, each window           p50                         p99\n{}{}\
         ratio of the p99 medians: {:.2}\n",
        found.answered,
        found.lost,
        found.ended,
        found.heartbeats,
        found.missed,
        found.bytes_per_session,
        line("all read", &found.quiet),
        line(&format!("{deaf} more never read"), &found.loud),
        found.ratio(),
    );
    out.write_all(text.as_bytes())
        .map_err(Error::system("write the report"))?;
    let whole = found.lost == 0 && found.ended == 0 && found.missed == 0;
    Ok(if whole {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// HeartBtInt of every session, seconds.
const HEART_BEAT: u64 = 2;
/// Between two Heartbeats of a peer.
const BEAT: Duration = Duration::from_secs(HEART_BEAT / 2);
/// The longest latency that is told from longer ones, nanoseconds.
const LONGEST: u64 = 60_000_000_000;
/// Bytes that wait for a peer when its socket is certainly full.
const BEHIND: u64 = 256 << 10;
/// No poller waits for less.
const TICK: Duration = Duration::from_millis(1);
/// One session in so many sends nothing.
const QUIET: u32 = 10;

/// Measures.
///
/// # Errors
///
/// The measurement could not be made.
pub fn measure(args: &SessionsArgs) -> Result<Found, Error> {
    let all = args.sessions + args.deaf;
    let folder = tempfile::tempdir().map_err(Error::system("make a folder"))?;
    let before = anonymous_bytes();
    let (mut handle, address, counts, engine) = start(args, folder.path())?;
    let mut peers = Peers::connect(all, args.sessions, address)?;
    let mut found = Found::default();
    let rate = u64::from(args.rate);
    let window = Duration::from_secs(args.seconds.into());
    peers.play(1..1, rate, Duration::from_secs(1), &mut found)?;
    peers.play(0..args.sessions, rate, window / 4, &mut Found::default())?;
    for pair in 0..args.pairs {
        let quiet = peers.play(0..args.sessions, rate, window, &mut found)?;
        found.quiet.push(quiet);
        if pair == 0 {
            peers.turn_deaf(args.sessions, &counts.behind)?;
        }
        let loud = peers.play(0..all, rate, window, &mut found)?;
        found.loud.push(loud);
    }
    peers.drain(args.sessions, &mut found)?;
    found.bytes_per_session = anonymous_bytes().saturating_sub(before) / u64::from(all);
    found.ended = counts.ended.load(Ordering::Relaxed);
    drop(peers);
    handle
        .stop()
        .map_err(|error| Error::Engine(error.to_string()))?;
    engine
        .join()
        .map_err(|_| Error::Thread("engine"))?
        .map_err(Error::Engine)?;
    Ok(found)
}

type EngineThread = thread::JoinHandle<Result<(), String>>;

/// What the engine tells.
#[derive(Debug, Default)]
struct Counts {
    /// Sessions that read and were disconnected.
    ended: AtomicU64,
    /// Sessions whose socket is full, and for which much waits in the journal.
    behind: AtomicU64,
}

fn start(
    args: &SessionsArgs,
    folder: &std::path::Path,
) -> Result<(Handle, SocketAddr, Arc<Counts>, EngineThread), Error> {
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    let readers = args.sessions;
    let session = |index: u32| {
        let peer = format!("P{index}");
        let fix = Config::new(
            BeginString::Fix42,
            Role::Acceptor,
            b"HOUSE",
            peer.as_bytes(),
        );
        let mut session = SessionConfig::new(peer, fix, Connection::Acceptor { listen });
        // Full sooner.
        session.send_buffer = (index >= readers).then_some(16 << 10);
        session
    };
    let config = EngineConfig {
        journal_dir: folder.join("journal"),
        durability: Durability::Process,
        limits: Limits {
            pending: 256,
            pending_per_address: 256,
            lag_bytes: 4 * BEHIND,
            events_per_second: 1 << 20,
            // Those that never read stay: they would cost nothing when they have been disconnected.
            stall_time: Duration::from_secs(24 * 3600),
            ..Limits::default()
        },
        sessions: (0..readers + args.deaf).map(session).collect(),
        ..EngineConfig::default()
    };
    let failed = |error: fixwire::EngineError| Error::Engine(error.to_string());
    let mut engine = Engine::new(config, Echo).map_err(failed)?;
    let counts = Arc::new(Counts::default());
    let told = Arc::clone(&counts);
    engine.on_event(move |_, event| match event {
        Event::SlowReader { .. } => drop(told.behind.fetch_add(1, Ordering::Relaxed)),
        Event::Disconnected { session, .. } if session.0 < readers => {
            told.ended.fetch_add(1, Ordering::Relaxed);
        }
        _ => {}
    });
    let handle = engine.handle();
    let address = engine
        .addresses()
        .next()
        .ok_or_else(|| Error::Engine("it does not listen".into()))?;
    let run = move || engine.run().map_err(|error| error.to_string());
    let thread = thread::Builder::new()
        .name("engine".into())
        .spawn(run)
        .map_err(Error::system("start a thread"))?;
    Ok((handle, address, counts, thread))
}

/// All peers, played by one thread.
struct Peers {
    poll: Poll,
    events: Events,
    peers: Vec<Peer>,
    stamp: Stamp,
    /// Those from here on send only where they do not read.
    readers: u32,
    /// From here on they do not read.
    deaf_from: u32,
    start: Instant,
}

struct Peer {
    stream: TcpStream,
    name: String,
    seq: u64,
    /// What has arrived and is no whole message yet.
    arrived: Vec<u8>,
    /// What the socket did not take.
    unsent: Vec<u8>,
    /// When each order without a report was due.
    due: VecDeque<Duration>,
    heard: Duration,
    logged_on: bool,
    closed: bool,
}

impl Peers {
    /// Connects all and logs them on, a few at a time.
    fn connect(count: u32, readers: u32, to: SocketAddr) -> Result<Self, Error> {
        let mut all = Self {
            poll: Poll::new().map_err(Error::system("poll"))?,
            events: Events::with_capacity(1024),
            peers: Vec::new(),
            stamp: Stamp::new(),
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

    /// From now on those from `readers` on never read. They send orders until their sockets are full.
    fn turn_deaf(&mut self, readers: u32, behind: &AtomicU64) -> Result<(), Error> {
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

    /// Lets some of the peers send for a time.
    fn play(
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
            // The sessions are spread over the interval between two orders of one of them.
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
            // The poller rounds up to its tick, and an order would leave late.
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
                p50: histogram.value_at_quantile(0.5),
                p99: histogram.value_at_quantile(0.99),
            }))
    }

    /// Those that send nothing else show that they live, and look whether the engine does.
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
    fn drain(&mut self, readers: u32, found: &mut Found) -> Result<(), Error> {
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
    /// Writes what waits, as much as the socket takes.
    fn flush(&mut self) {
        while !self.unsent.is_empty() && !self.closed {
            match self.stream.write(&self.unsent) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => self.closed = true,
            }
        }
    }

    /// Reads all there is; the TestReqIDs that want an answer.
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

/// Anonymous memory of this process: pages of the journal's files are not among it.
fn anonymous_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) << 10
}
