//! The neutral initiator that measures every acceptor: orders out, reports back, each of them checked.
//!
//! `peers/README.md` says what is measured and how.

#![forbid(unsafe_code)]

mod fix;
mod initiator;
mod machine;

use std::net::TcpStream;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{fmt, thread};

use hdrhistogram::Histogram;
use pico_args::Arguments;

use initiator::{Initiator, Pace, Run};

const USAGE: &str = "\
peer-driver fix --port P --peer NAME --mode MODE --waits spins|sleeps [--pid PID] [--core N] [--other N]
                [--warmup N] [--rates N,N] [--secs S] [--runs N] [--ping-pong N] [--flood N]
                [--window N] [--batch N] [--max-run-secs S] [--no-reset]
peer-driver distance --core A --other B     nanoseconds for a cache line to go there and back";

/// How long the acceptor may take to listen.
const CONNECT: Duration = Duration::from_secs(30);
/// Rest between two runs, in milliseconds.
const REST_MS: u64 = 200;

fn main() -> ExitCode {
    match start() {
        Ok(code) => code,
        Err(what) => {
            eprintln!("peer-driver: {what}");
            ExitCode::from(2)
        }
    }
}

fn start() -> Result<ExitCode, String> {
    let mut args = Arguments::from_env();
    let command = args.subcommand().map_err(text)?;
    let options = Options::read(&mut args).map_err(text)?;
    let rest = args.finish();
    if let Some(unknown) = rest.first() {
        return Err(format!("what is {unknown:?}?\n{USAGE}"));
    }
    if let Some(core) = options.core {
        machine::pin(core)?;
    }
    match command.as_deref() {
        Some("fix") => measure(&options),
        Some("distance") => {
            println!("{:.0}", machine::distance_ns(options.other.unwrap_or(0)));
            Ok(ExitCode::SUCCESS)
        }
        _ => Err(USAGE.to_owned()),
    }
}

/// What is measured, and how often.
struct Options {
    port: u16,
    peer: String,
    mode: String,
    /// How the acceptor is said to wait: `spins` or `sleeps`.
    waits: String,
    /// The acceptor's process, of which that is found out.
    pid: Option<u32>,
    core: Option<usize>,
    /// The acceptor's core: the distance to it is measured before and after each run.
    other: Option<usize>,
    warm_up: u64,
    rates: Vec<u64>,
    secs: f64,
    runs: u32,
    ping_pong: u64,
    flood: u64,
    window: u64,
    batch: u64,
    max_run_ns: u64,
    /// The Logon has no ResetSeqNumFlag.
    no_reset: bool,
}

impl Options {
    fn read(args: &mut Arguments) -> Result<Self, pico_args::Error> {
        let list = |text: &str| {
            let numbers = text.split(',').filter(|number| !number.is_empty());
            numbers.map(str::parse).collect::<Result<Vec<u64>, _>>()
        };
        let seconds: f64 = args.opt_value_from_str("--max-run-secs")?.unwrap_or(15.0);
        Ok(Self {
            port: args.opt_value_from_str("--port")?.unwrap_or(0),
            peer: args.opt_value_from_str("--peer")?.unwrap_or_default(),
            mode: args.opt_value_from_str("--mode")?.unwrap_or_default(),
            waits: args.opt_value_from_str("--waits")?.unwrap_or_default(),
            pid: args.opt_value_from_str("--pid")?,
            core: args.opt_value_from_str("--core")?,
            other: args.opt_value_from_str("--other")?,
            warm_up: args.opt_value_from_str("--warmup")?.unwrap_or(0),
            rates: args.opt_value_from_fn("--rates", list)?.unwrap_or_default(),
            secs: args.opt_value_from_str("--secs")?.unwrap_or(5.0),
            runs: args.opt_value_from_str("--runs")?.unwrap_or(1),
            ping_pong: args.opt_value_from_str("--ping-pong")?.unwrap_or(0),
            flood: args.opt_value_from_str("--flood")?.unwrap_or(0),
            window: args.opt_value_from_str("--window")?.unwrap_or(256),
            batch: args.opt_value_from_str("--batch")?.unwrap_or(32),
            max_run_ns: (seconds * 1e9) as u64,
            no_reset: args.contains("--no-reset"),
        })
    }

    /// The phases, in their order: name, rate, orders, pace and runs.
    fn phases(&self) -> Vec<(&'static str, u64, u64, Pace, u32)> {
        let closed = |window, batch| Pace::Closed { window, batch };
        let mut phases = vec![("warm-up", 0, self.warm_up, closed(4, 1), 1)];
        for &rate in &self.rates {
            let interval = (1e9 * 1024.0 / rate as f64).round() as u64;
            let count = (rate as f64 * self.secs) as u64;
            phases.push(("rate", rate, count, Pace::Open { interval }, self.runs));
        }
        phases.push(("ping-pong", 0, self.ping_pong, closed(1, 1), self.runs));
        let batch = self.batch.min(self.window);
        phases.push((
            "flood",
            0,
            self.flood,
            closed(self.window, batch),
            self.runs,
        ));
        phases.retain(|(_, _, count, _, _)| *count > 0);
        phases
    }
}

/// Measures one acceptor; the exit code says whether every answer was right.
fn measure(options: &Options) -> Result<ExitCode, String> {
    let socket = connect(options.port)?;
    machine::lock_memory();
    let phases = options.phases();
    let most = phases.iter().map(|(_, _, count, _, _)| *count).max();
    let mut initiator = Initiator::new(socket, most.unwrap_or(0));
    if !initiator.log_on(!options.no_reset) {
        return Err(format!("no Logon from {}", options.peer));
    }
    let mut errors = 0;
    for (name, rate, count, pace, runs) in phases {
        for run in 1..=runs {
            if initiator.ended {
                return Err(format!(
                    "{} {}: the session ended early",
                    options.peer, options.mode
                ));
            }
            let before = distance(options.other);
            let result = initiator.run(pace, count, options.max_run_ns);
            let distances = [before, distance(options.other)];
            errors += result.errors.total();
            println!(
                "{}",
                Line {
                    options,
                    phase: name,
                    rate,
                    run,
                    result: &result,
                    distances
                }
            );
            initiator.idle(REST_MS);
        }
    }
    eprintln!("a report: {}", fix::printable(&initiator.first_report));
    if let Some(pid) = options.pid {
        let waits = if machine::sleeps(pid)? {
            "sleeps"
        } else {
            "spins"
        };
        if waits != options.waits {
            return Err(format!(
                "{} {waits}, and peers.list says that it {}",
                options.peer, options.waits
            ));
        }
    }
    initiator.log_out();
    Ok(ExitCode::from(u8::from(errors > 0)))
}

fn connect(port: u16) -> Result<TcpStream, String> {
    let until = Instant::now() + CONNECT;
    loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(socket) => {
                socket.set_nodelay(true).map_err(text)?;
                socket.set_nonblocking(true).map_err(text)?;
                return Ok(socket);
            }
            Err(error) if Instant::now() > until => {
                return Err(format!("no connection to port {port}: {error}"));
            }
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
    }
}

fn distance(other: Option<usize>) -> f64 {
    other.map_or(0.0, machine::distance_ns)
}

fn text(error: impl fmt::Display) -> String {
    error.to_string()
}

/// One run as a line of JSON; times in nanoseconds.
struct Line<'a> {
    options: &'a Options,
    phase: &'a str,
    rate: u64,
    run: u32,
    result: &'a Run,
    distances: [f64; 2],
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            options,
            phase,
            rate,
            run,
            result,
            distances: [before, after],
        } = self;
        let (peer, mode, waits) = (&options.peer, &options.mode, &options.waits);
        write!(
            f,
            r#"{{"peer":"{peer}","mode":"{mode}","waits":"{waits}","phase":"{phase}","rate":{rate},"run":{run},"#
        )?;
        let (sent, received, errors) = (result.sent, result.received, &result.errors);
        write!(
            f,
            r#""sent":{sent},"count":{received},"errors":{},"#,
            errors.total()
        )?;
        if errors.total() > 0 {
            write!(f, r#""error_kinds":"{errors:?}","#)?;
        }
        percentiles(f, &result.due)?;
        write!(f, r#","built":{{"#)?;
        percentiles(f, &result.built)?;
        let seconds = result.wall_ns as f64 / 1e9;
        let achieved = received as f64 / seconds;
        write!(
            f,
            r#"}},"achieved":{achieved:.0},"seconds":{seconds:.3},"distance_ns":[{before:.0},{after:.0}]}}"#
        )
    }
}

fn percentiles(f: &mut fmt::Formatter<'_>, times: &Histogram<u64>) -> fmt::Result {
    write!(f, r#""min":{}"#, times.min())?;
    for percent in [50.0, 90.0, 99.0, 99.9, 99.99] {
        write!(f, r#","p{percent}":{}"#, times.value_at_percentile(percent))?;
    }
    write!(f, r#","max":{}"#, times.max())
}
