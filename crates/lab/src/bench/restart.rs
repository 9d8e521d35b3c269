//! `bench restart`: sends many orders through an engine, then restarts the engine. Measures the size of the journal,
//! the time to the first answered Logon, and the cost of the checkpoints written meanwhile.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use fixwire::Engine;
use fixwire_protocol::Application;
use fixwire_protocol::dictionary::Version;
use fixwire_stamps::scenario::Echo;
use serde::Serialize;

use super::engine::folder;
use super::gateway::gateway_of;
use crate::error::{Error, engine_error};
use crate::machine;
use crate::oms::aging::{age_oms, aging_oms, oms_aging_settings};
use crate::oms::parts::{OrderFlow, client_writer};
use crate::report::thousands;
use crate::sockets::fix_client::Writer;
use crate::wired::aging::{Aged, Aging, age, pair, settings, wall};

/// Flags of `bench restart`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  fixwire bench restart --gateway --orders 10000000 --open 100000
  fixwire bench restart --oms            10,000,000 orders, the last 1,000,000 open")]
pub struct RestartArgs {
    /// Restart a gateway that tracks orders instead of an application that does not
    #[arg(long)]
    pub gateway: bool,

    /// Restart the OMS of bench oms with every control on; its orders are cancelled at the end
    #[arg(long, conflicts_with = "gateway")]
    pub oms: bool,

    /// Orders that pass before the restart; by default 1,000,000, of an OMS 10,000,000
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=50_000_000))]
    pub orders: Option<u64>,

    /// Orders that are open at a time; by default 100,000, of an OMS 1,000,000
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4_000_000))]
    pub open: Option<u64>,

    /// Seconds for which the journal keeps records that are no longer needed
    #[arg(long, value_name = "S", default_value_t = 2,
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub keep: u64,

    /// Number of timed starts
    #[arg(long, value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u32).range(1..=100))]
    pub runs: u32,

    /// Folder in which the journal is made; a temporary one by default
    #[arg(long, value_name = "DIR")]
    pub journal: Option<PathBuf>,

    /// Print the figures as JSON
    #[arg(long)]
    pub json: bool,

    /// Run as the started process: serve the journal of this folder at this port
    #[arg(long, value_name = "DIR", hide = true, requires = "port")]
    pub serve: Option<PathBuf>,
    /// See `serve`
    #[arg(long, hide = true)]
    pub port: Option<u16>,
}

impl RestartArgs {
    fn orders(&self) -> u64 {
        self.orders
            .unwrap_or(if self.oms { 10_000_000 } else { 1_000_000 })
    }

    fn open(&self) -> u64 {
        self.open
            .unwrap_or(if self.oms { 1_000_000 } else { 100_000 })
    }
}

/// The figures.
#[derive(Clone, Debug, Serialize)]
struct Found {
    orders: u64,
    open: u64,
    orders_a_second: f64,
    journal_bytes_written: u64,
    folder_bytes_at_most: u64,
    segments_beyond_kept_at_most: f64,
    folder_bytes_left: u64,
    checkpoints: usize,
    checkpoint_bytes: u64,
    /// Size of the newest checkpoint.
    newest_checkpoint_bytes: u64,
    /// Notes of an OMS that are newer than its newest checkpoint; `None` for other applications.
    notes_behind: Option<u64>,
    p50_ns: [u64; 2],
    p99_9_ns: [u64; 2],
    worst_ns: [u64; 2],
    beside: u64,
    start_ms: Vec<f64>,
}

const SEGMENT: f64 = (64 << 20) as f64;

/// Measures and prints.
///
/// # Errors
///
/// The measurement failed.
pub fn run(args: &RestartArgs) -> Result<ExitCode, Error> {
    if let (Some(folder), Some(port)) = (&args.serve, args.port) {
        serve(args, folder, port)?;
        return Ok(ExitCode::SUCCESS);
    }
    let found = measure(args)?;
    let text = match args.json {
        true => serde_json::to_string(&found).map_err(engine_error)? + "\n",
        false => shown(&found),
    };
    io::stdout()
        .write_all(text.as_bytes())
        .map_err(Error::system("write the report"))?;
    Ok(ExitCode::SUCCESS)
}

fn measure(args: &RestartArgs) -> Result<Found, Error> {
    let folder = folder(args.journal.as_deref())?;
    let aging = Aging {
        orders: args.orders(),
        open: args.open(),
        keep: Duration::from_secs(args.keep),
        core: machine::two_cores().map(|(core, _)| core),
    };
    let pair = pair(if args.gateway { 2 } else { 1 }, folder.path());
    let (aged, notes) = if args.oms {
        let found = age_oms(folder.path(), aging)?;
        let open = aging.orders.min(aging.open);
        if found.live != open {
            let what = format!("{} orders are open instead of {open}", found.live);
            return Err(Error::Session(what));
        }
        (found.aged, Some(found.notes))
    } else if args.gateway {
        (age(gateway(args)?, &pair, aging)?, None)
    } else {
        (age(Echo, &pair, aging)?, None)
    };
    let mut start_ms = Vec::new();
    for run in 0..args.runs {
        let took = start(args, folder.path(), aged.next[0] + u64::from(run))?;
        start_ms.push(took.as_secs_f64() * 1e3);
    }
    let Aged { alone, beside, .. } = aged;
    let newest = aged.newest.as_ref();
    Ok(Found {
        orders: aging.orders,
        open: aging.open,
        orders_a_second: aged.rate,
        journal_bytes_written: aged.written,
        folder_bytes_at_most: aged.most,
        segments_beyond_kept_at_most: aged.most_beyond as f64 / SEGMENT,
        folder_bytes_left: aged.left,
        checkpoints: aged.checkpoints,
        checkpoint_bytes: aged.checkpoint_bytes,
        newest_checkpoint_bytes: newest.map_or(0, |newest| newest.bytes),
        notes_behind: notes.map(|notes| notes - newest.map_or(0, |newest| newest.note)),
        p50_ns: [alone.p50, beside.p50],
        p99_9_ns: [alone.p99_9, beside.p99_9],
        worst_ns: [alone.worst, beside.worst],
        beside: beside.count,
        start_ms,
    })
}

fn shown(found: &Found) -> String {
    let mega = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let times = |name: &str, [alone, beside]: [u64; 2]| {
        let ratio = beside as f64 / alone.max(1) as f64;
        format!("    {name:<8}{alone:>12}{beside:>12}{ratio:>8.2}\n")
    };
    let (behind, timed) = match found.notes_behind {
        Some(notes) => {
            let behind = format!("  notes after the newest  {}\n", thousands(notes));
            (behind, "an order, to the venue,")
        }
        None => (String::new(), "a message"),
    };
    let starts: Vec<_> = found.start_ms.iter().map(|ms| format!("{ms:.0}")).collect();
    format!(
        "bench restart: {} orders, {} open at a time, {} a second\n  \
         first Logon answered    {} ms after the start of the process\n  \
         journal written         {}\n  \
         folder at most          {}\n  \
         beyond retention        {:.1} segments at most, without checkpoints\n  \
         folder at the end       {}\n  \
         checkpoints             {} of {} in all, the newest {}\n\
         {}  \
         time of {} inside the engine in ns: alone, and while a\n  checkpoint was written ({} messages), and the ratio\n\
         {}{}{}",
        thousands(found.orders),
        thousands(found.open),
        thousands(found.orders_a_second as u64),
        starts.join(" / "),
        mega(found.journal_bytes_written),
        mega(found.folder_bytes_at_most),
        found.segments_beyond_kept_at_most,
        mega(found.folder_bytes_left),
        found.checkpoints,
        mega(found.checkpoint_bytes),
        mega(found.newest_checkpoint_bytes),
        behind,
        timed,
        thousands(found.beside),
        times("p50", found.p50_ns),
        times("p99.9", found.p99_9_ns),
        times("worst", found.worst_ns),
    )
}

fn gateway(args: &RestartArgs) -> Result<impl Application + use<>, Error> {
    let rules = format!(
        "[gateway]\nmax_orders = {}\n\
         [[rule]]\nfrom = [\"VENUE\"]\ndo = ['return']\n\
         [[rule]]\nfrom = [\"CLIENT\"]\ndo = ['send VENUE']\n",
        2 * args.open()
    );
    gateway_of(&rules, &[Version::Fix42; 2])
}

/// The process that is started: the same engine over system sockets.
fn serve(args: &RestartArgs, folder: &Path, port: u16) -> Result<(), Error> {
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let keep = Duration::from_secs(args.keep);
    if args.oms {
        let config = oms_aging_settings(folder, listen, keep);
        let oms = aging_oms(args.open())?;
        return serve_with(Engine::new(config, oms).map_err(engine_error)?);
    }
    let pair = pair(if args.gateway { 2 } else { 1 }, folder);
    let config = settings(&pair, listen, keep);
    match args.gateway {
        true => serve_with(Engine::new(config, gateway(args)?).map_err(engine_error)?),
        false => serve_with(Engine::new(config, Echo).map_err(engine_error)?),
    }
}

fn serve_with<A: Application>(mut engine: Engine<A>) -> Result<(), Error> {
    engine.run().map_err(engine_error)
}

/// A process that is killed when this value is dropped.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        // The kill fails only when the process has exited already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Time from the start of a process to its answer to a Logon; the Logon has MsgSeqNum `seq`.
fn start(args: &RestartArgs, folder: &Path, seq: u64) -> Result<Duration, Error> {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map_err(Error::system("find a free port"))?;
    let program = std::env::current_exe().map_err(Error::system("find this program"))?;
    let mut command = Command::new(program);
    command.args(["bench", "restart", "--serve"]).arg(folder);
    command.args(["--port", &free.port().to_string()]);
    command.args([
        "--open",
        &args.open().to_string(),
        "--keep",
        &args.keep.to_string(),
    ]);
    command
        .args(args.gateway.then_some("--gateway"))
        .args(args.oms.then_some("--oms"))
        .stdin(Stdio::null());
    let mut writer = match args.oms {
        true => client_writer(folder, OrderFlow::default()),
        false => Writer::of_initiator(&pair(1, folder), 0),
    };
    writer.next_out = seq;
    let logon = writer.log_on(wall(), 0, false)?;
    let began = Instant::now();
    let mut started = Started(command.spawn().map_err(Error::system("start the engine"))?);
    let mut socket = loop {
        match TcpStream::connect(free) {
            Ok(socket) => break socket,
            Err(_) if began.elapsed() < Duration::from_secs(120) => {
                if let Ok(Some(status)) = started.0.try_wait() {
                    return Err(Error::Engine(format!("the process ended: {status}")));
                }
                std::thread::sleep(Duration::from_micros(200));
            }
            Err(error) => return Err(Error::system("connect to the engine")(error)),
        }
    };
    socket
        .write_all(logon)
        .map_err(Error::system("send the Logon"))?;
    let mut answer = [0; 512];
    let patience = Some(Duration::from_secs(120));
    let len = socket
        .set_read_timeout(patience)
        .and_then(|()| socket.read(&mut answer))
        .map_err(Error::system("read the answer to the Logon"))?;
    let took = began.elapsed();
    let text = String::from_utf8_lossy(&answer[..len]).replace('\x01', "|");
    match text.contains("|35=A|") {
        true => Ok(took),
        false => Err(Error::Session(format!("the answer to the Logon is {text}"))),
    }
}
