//! `bench tcp`: the floor alone.

use std::process::ExitCode;

use clap::Args;

use super::{LoadArgs, OutputArgs, on_own_thread};
use crate::arena::{Arena, pin};
use crate::clock::Clock;
use crate::error::Error;
use crate::floor::{ORDER_BYTES, REPORT_BYTES, Way};
use crate::machine::Machine;
use crate::progress::Progress;
use crate::report::{FLOOR, Report, Row, Unit, pace_text};

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
    let rows = pin(cores.map(|cores| cores.1)).and_then(|()| rows(args, &mut arena, orders));
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

fn rows(args: &LoadArgs, arena: &mut Arena, orders: usize) -> Result<Vec<Row>, Error> {
    let mut progress = Progress::new(args.paces().len() * (args.runs as usize + 1));
    let mut rows = Vec::new();
    for pace in args.paces() {
        let name = pace_text(pace);
        progress.step(&format!("{name}: warm-up"));
        arena.floor(
            Way::Back,
            LoadArgs::warm_up_pace(pace),
            args.warm_up as usize,
        )?;
        let mut runs = Vec::new();
        for run in 1..=args.runs {
            progress.step(&format!("{name}: run {run} of {}", args.runs));
            runs.push(arena.floor(Way::Back, pace, orders)?);
        }
        rows.push(Row {
            pace,
            subject: FLOOR.to_owned(),
            runs,
        });
    }
    Ok(rows)
}
