//! `bench sessions`: many sessions on one port, and peers that never read.
//!
//! One engine serves all sessions on one port; one thread plays all peers with bare sockets. Every peer sends orders
//! at a fixed rate; latency counts from when an order was due to the arrival of its report. Windows of equal length
//! follow one another, alternately without and with orders from peers that never read and whose sockets have long
//! been full. The ratio of the p99 of both kinds of windows shows what such peers cost the other sessions. One peer
//! in ten sends no orders and relies on Heartbeats.

mod peers;

use std::fs;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use clap::Args;
use fixwire::config::{Connection, Durability, EngineConfig, Limits, SessionConfig};
use fixwire::{Engine, Event, Handle};
use fixwire_protocol::session::{BeginString, Config, Role};
use fixwire_stamps::scenario::Echo;

use self::peers::Peers;
use crate::error::Error;
use crate::machine::counts::calls::Calls;
use crate::machine::counts::{self, own_thread, thread_named};
use crate::report::screen::counts::write_block;
use crate::sockets::meter::{Counting, Meter};

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

    /// Pairs of windows: without and with peers that never read
    #[arg(long, value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u32).range(1..=100))]
    pub pairs: u32,

    /// Also count what an order costs: instructions, page faults, context switches, interrupts, bytes to the disk, and
    /// with orders of ten sessions alone system calls
    #[arg(long)]
    pub counts: bool,
}

/// The result.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Windows without orders from peers that never read.
    pub quiet: Vec<Window>,
    /// Windows with orders from peers that never read.
    pub loud: Vec<Window>,
    /// Orders with a report, on sessions that read.
    pub answered: u64,
    /// Orders without a report on sessions that read.
    pub lost: u64,
    /// Heartbeats received by the peers that send no orders.
    pub heartbeats: u64,
    /// Faults of heartbeats: how often a peer without orders received nothing for two heartbeat intervals, plus the
    /// number of TestRequests (which mean that the engine missed a message of a peer).
    pub missed: u64,
    /// Sessions that read and were disconnected.
    pub ended: u64,
    /// Counts of each kind of window, if requested: without orders from peers that never read, and with them.
    pub counts: [Option<counts::Counts>; 2],
    /// System calls while ten sessions send orders, if requested.
    pub calls: Option<Calls>,
    /// Anonymous memory divided by the number of sessions, bytes. The peers' side is included; journal pages are
    /// mapped files and do not count.
    pub bytes_per_session: u64,
}

/// Latency of the sessions that read, nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    /// Orders that were sent, also by peers that never read.
    pub sent: u64,
    /// Median.
    pub p50: u64,
    /// 99th percentile.
    pub p99: u64,
}

impl Found {
    /// The p99 of the windows with orders from peers that never read (`loud`), divided by the p99 of the windows
    /// without (`quiet`). Of each kind, the window with the median p99 counts.
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
/// The measurement failed.
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
    let mut text = format!(
        "bench sessions: {sessions} sessions on one port, {rate} orders a second each\n\
         orders answered {}, lost {}; sessions ended {}\n\
         heartbeats received {}, missed {}\n\
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
    let titles = [
        "windows in which all read",
        "windows with peers that never read",
    ];
    for (title, (counts, calls)) in titles
        .iter()
        .zip(found.counts.iter().zip([&found.calls, &None]))
    {
        if let Some(counts) = counts {
            // Writing to a string cannot fail.
            let _ = write_block(title, counts, calls.as_ref(), &mut text);
        }
    }
    out.write_all(text.as_bytes())
        .map_err(Error::system("write the report"))?;
    let whole = found.lost == 0 && found.ended == 0 && found.missed == 0;
    Ok(if whole {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Sessions that send orders while the system calls are counted, which makes the engine slow.
const SESSIONS_TRACED: u32 = 10;
/// How long they do.
const TIME_TRACED: Duration = Duration::from_secs(2);
/// Name of the engine's thread.
const ENGINE_THREAD: &str = "engine";
/// Queued bytes of a session from which on the peer's socket is certainly full.
const BEHIND: u64 = 256 << 10;

/// Measures.
///
/// # Errors
///
/// The measurement failed.
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
    let mut meter = Meter::default();
    let mut counted = [Vec::new(), Vec::new()];
    let begin = |meter: &mut Meter, counting| {
        meter.counting = counting;
        meter.begin(own_thread(), thread_named(ENGINE_THREAD));
    };
    let counting = match args.counts {
        true => Counting::Counts,
        false => Counting::Off,
    };
    if args.counts {
        begin(&mut meter, Counting::Calls);
        let some = args.sessions.min(SESSIONS_TRACED);
        let played = peers.play(0..some, rate, TIME_TRACED, &mut found)?;
        found.calls = meter.end(played.sent).calls;
    }
    for pair in 0..args.pairs {
        begin(&mut meter, counting);
        let quiet = peers.play(0..args.sessions, rate, window, &mut found)?;
        counted[0].extend(meter.end(quiet.sent).counts);
        found.quiet.push(quiet);
        if pair == 0 {
            peers.turn_deaf(args.sessions, &counts.behind)?;
        }
        begin(&mut meter, counting);
        let loud = peers.play(0..all, rate, window, &mut found)?;
        counted[1].extend(meter.end(loud.sent).counts);
        found.loud.push(loud);
    }
    found.counts = counted.map(counts::Counts::pool);
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

/// Events of the engine.
#[derive(Debug, Default)]
struct Counts {
    /// Sessions that read but were disconnected.
    ended: AtomicU64,
    /// Sessions whose socket is full while more than [`BEHIND`] bytes wait in the journal.
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
        // Small buffers fill sooner.
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
            // Peers that never read must stay connected: a closed connection would cost nothing.
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
        .ok_or_else(|| Error::Engine("the acceptor does not listen".into()))?;
    let run = move || engine.run().map_err(|error| error.to_string());
    let thread = thread::Builder::new()
        .name(ENGINE_THREAD.into())
        .spawn(run)
        .map_err(Error::system("start a thread"))?;
    Ok((handle, address, counts, thread))
}

/// Anonymous memory of this process; mapped pages of the journal's files do not count.
fn anonymous_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) << 10
}
