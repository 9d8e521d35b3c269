//! `bench tcp`: the floor alone.

use std::process::ExitCode;

use clap::Args;

use super::args::{LoadArgs, OutputArgs, on_own_thread};
use crate::arena::Arena;
use crate::clock::Clock;
use crate::error::Error;
use crate::floor::{ORDER_BYTES, REPORT_BYTES, Way};
use crate::machine::Machine;
use crate::report::{FLOOR, Report, Unit};

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
    let report = on_own_thread(|| measure(&args.load))?;
    args.output.deliver(&report)
}

/// Measures the floor at each pace.
///
/// # Errors
///
/// The measurement could not be made.
pub fn measure(args: &LoadArgs) -> Result<Report, Error> {
    let orders = args.orders()?;
    let cores = args.two_cores()?;
    let machine = Machine::read();
    let mut arena = Arena::start(cores.map(|cores| cores.0), Clock::start(), || Ok(|| Ok(())))?;
    arena.arrivals = args.arrivals();
    let subjects = [(FLOOR, Way::Back)];
    let core = cores.map(|cores| cores.1);
    let rows = args.rows(core, orders, &subjects, |way, pace, orders| {
        arena.floor(way, pace, orders)
    });
    arena.stop()?;
    Ok(Report {
        scenario: "tcp",
        settings: format!(
            "{ORDER_BYTES} bytes out, {REPORT_BYTES} back, loopback, TCP_NODELAY, busy-polled; {}",
            args.text()
        ),
        unit: Unit::Micros,
        machine,
        rows: rows?,
        notes: Vec::new(),
    })
}
