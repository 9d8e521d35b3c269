//! `bench tcp`: the TCP floor alone, on this host or to another host.

use std::hint::spin_loop;
use std::net::{SocketAddr, TcpListener};
use std::process::ExitCode;

use clap::Args;
use fixwire_stamps::clock::Clock;
use fixwire_stamps::scenario::{ORDER_BYTES, REPORT_BYTES};

use super::args::{LoadArgs, on_own_thread};
use super::echo::host_and_port;
use super::output::OutputArgs;
use crate::error::Error;
use crate::load::arrivals::Arrivals;
use crate::load::{Load, Pace};
use crate::machine::gaps::{End, Ends, Watch};
use crate::machine::usage::UsageReading;
use crate::machine::{Machine, Noise};
use crate::report::{FLOOR, Report, Run};
use crate::sockets::arena::{Arena, PATIENCE, pin};
use crate::sockets::floor::{self, ReportWay};

/// Flags of `bench tcp`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "The floor between two hosts, and then an engine on the far host against that floor:
  far host:   fixwire bench tcp --serve 10.0.0.2:9900
  near host:  fixwire bench tcp --to 10.0.0.2:9900
              fixwire bench echo --peer 10.0.0.2:9880 --floor 10.0.0.2:9900"
)]
pub struct TcpArgs {
    /// Answer measurements with --to or --floor from another host, on the acceptor's core, until interrupted
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "to")]
    pub serve: Option<SocketAddr>,

    /// Measure the floor to a host where --serve runs, from the initiator's core
    #[arg(long, value_name = "HOST:PORT")]
    pub to: Option<String>,

    /// The load.
    #[command(flatten)]
    pub load: LoadArgs,
    /// The output.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Measures and prints.
///
/// # Errors
///
/// The measurement failed, or its figures could not be written.
pub fn run(args: &TcpArgs) -> Result<ExitCode, Error> {
    if let Some(address) = args.serve {
        let listener =
            TcpListener::bind(address).map_err(Error::system(format!("listen on {address}")))?;
        let address = listener.local_addr().unwrap_or(address);
        let _pinned = pin(args.load.two_cores()?.map(|cores| cores.0))?;
        eprintln!("bench tcp: answers on {address}, until it is ended (Ctrl+C)");
        match floor::serve(&listener).map_err(Error::system("accept a connection"))? {}
    }
    args.output.check()?;
    let report = on_own_thread(|| match &args.to {
        Some(to) => measure_to(to, args),
        None => measure(args),
    })?;
    args.output.deliver(report)
}

/// A floor whose server is another process.
pub(super) struct Remote {
    client: floor::FloorClient,
    clock: Clock,
    watch: Watch,
    ends: Ends,
}

impl Remote {
    /// Connects to the HOST:PORT of a flag.
    ///
    /// # Errors
    ///
    /// The address is invalid, or nothing listens there.
    pub(super) fn connect(flag: &'static str, to: &str) -> Result<Self, Error> {
        let (host, port) = host_and_port(flag, to)?;
        let clock = Clock::start();
        let client = floor::connect((host.as_str(), port)).map_err(Error::system(format!(
            "connect to {to}, where `fixwire bench tcp --serve` has to run"
        )))?;
        Ok(Self {
            client,
            clock,
            watch: Watch::new(clock),
            ends: Ends::default(),
        })
    }

    /// One run.
    ///
    /// # Errors
    ///
    /// The connection ended.
    pub(super) fn run(
        &mut self,
        arrivals: Arrivals,
        pace: Pace,
        orders: usize,
    ) -> Result<Run, Error> {
        let load = Load::new(pace, orders, PATIENCE.as_nanos() as u64);
        let mut load = load.arriving(&arrivals);
        self.ends.enter(End::Near);
        let (usage, noise) = (UsageReading::take(), Noise::read());
        self.watch.begin(&self.ends, End::Near);
        self.client
            .run(
                ReportWay::Back,
                &mut load,
                &self.clock,
                &mut self.watch,
                spin_loop,
            )
            .map_err(Error::system("exchange bytes with the other host"))?;
        let gaps = [self.watch.end(), Vec::new()];
        let mut run = Run::new(load.close(), [None; 2], noise.since(), &gaps);
        run.used = Some(usage.since());
        Ok(run)
    }
}

/// Measures the floor to another host that serves it.
fn measure_to(to: &str, args: &TcpArgs) -> Result<Report, Error> {
    let load = &args.load;
    let orders = load.orders()?;
    let core = load.two_cores()?.map(|cores| cores.1);
    let machine = Machine::read();
    let mut remote = Remote::connect("--to", to)?;
    let subjects = [(FLOOR, ())];
    let rows = load.rows(core, orders, &subjects, &args.output, |(), plan| {
        remote.run(load.arrivals(), plan.pace, plan.orders)
    })?;
    Ok(Report {
        rows,
        notes: vec!["Disturbances on the other host are not measured.".to_owned()],
        ..report(&format!("to {to}"), &format!("to {to}"), load, machine)
    })
}

/// Measures the floor at each pace.
///
/// # Errors
///
/// The measurement failed.
pub fn measure(args: &TcpArgs) -> Result<Report, Error> {
    let load = &args.load;
    let orders = load.orders()?;
    let cores = load.two_cores()?;
    let machine = Machine::read();
    let far = cores.map(|cores| cores.0);
    let mut arena = Arena::start(far, Clock::start(), || Ok(|| Ok(false)))?;
    arena.arrivals = load.arrivals();
    let subjects = [(FLOOR, ReportWay::Back)];
    let core = cores.map(|cores| cores.1);
    let rows = load.rows(core, orders, &subjects, &args.output, |way, plan| {
        arena.meter.counting = plan.counting;
        arena.floor(way, plan.pace, plan.orders)
    });
    arena.stop()?;
    Ok(Report {
        rows: rows?,
        ..report("over loopback", "loopback", load, machine)
    })
}

/// A report without rows; `way` is a part of its title, `short` a part of its settings.
fn report(way: &str, short: &str, load: &LoadArgs, machine: Machine) -> Report {
    let title = format!("the bytes of an order and its report {way}, no FIX");
    let settings = format!(
        "{ORDER_BYTES} bytes out, {REPORT_BYTES} back, {short}, TCP_NODELAY, busy-polled; {}",
        load.text()
    );
    Report::new("tcp", title, settings, machine)
}
