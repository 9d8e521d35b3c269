//! `bench tcp`: the floor alone.

use std::process::ExitCode;

use clap::Args;

use super::args::{LoadArgs, on_own_thread};
use super::output::OutputArgs;
use crate::arena::Arena;
use crate::clock::Clock;
use crate::error::Error;
use crate::floor::{ORDER_BYTES, REPORT_BYTES, Way};
use crate::machine::Machine;
use crate::report::{FLOOR, Origin, Report, Unit};

/// Flags of `bench tcp`.
#[derive(Args, Clone, Debug)]
pub struct TcpArgs {
    /// What is measured.
    #[command(flatten)]
    pub load: LoadArgs,
    /// Where it goes.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Measures and prints.
///
/// # Errors
///
/// The measurement could not be made, or its figures not be written.
pub fn run(args: &TcpArgs) -> Result<ExitCode, Error> {
    args.output.check()?;
    let report = on_own_thread(|| measure(args))?;
    args.output.deliver(&report)
}

/// Measures the floor at each pace.
///
/// # Errors
///
/// The measurement could not be made.
pub fn measure(args: &TcpArgs) -> Result<Report, Error> {
    let load = &args.load;
    let orders = load.orders()?;
    let cores = load.two_cores()?;
    let machine = Machine::read();
    let mut arena = Arena::start(cores.map(|cores| cores.0), Clock::start(), || Ok(|| Ok(())))?;
    arena.arrivals = args.arrivals();
    let subjects = [(FLOOR, Way::Back)];
    let core = cores.map(|cores| cores.1);
    let rows = load.rows(
        core,
        orders,
        &subjects,
        &args.output,
        |way, pace, orders| arena.floor(way, pace, orders),
    );
    arena.stop()?;
    Ok(Report {
        origin: Origin::here(),
        scenario: "tcp".to_owned(),
        settings: format!(
            "{ORDER_BYTES} bytes out, {REPORT_BYTES} back, loopback, TCP_NODELAY, busy-polled; {}",
            load.text()
        ),
        unit: Unit::Micros,
        machine,
        rows: rows?,
        notes: Vec::new(),
        host_facts: None,
    })
}
