//! `bench parse-log`: one order framed, decoded, validated and journalled, without a network.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fixwire::journal::{self, Directory, Disk, Journal};
use fixwire_stamps::clock::Clock;
use fixwire_stamps::stats::histogram;

use super::args::{LoadArgs, on_own_thread};
use super::output::OutputArgs;
use crate::codec::time_batches;
use crate::error::Error;
use crate::hot_path::{HotPath, MOST_ORDERS, Stage};
use crate::load::{Faults, Pace, RunOutcome, TimedOrder};
use crate::machine::usage::{UsageReading, reset_peak_memory};
use crate::machine::{Machine, Noise};
use crate::progress::Progress;
use crate::report::{Report, Row, Run, Unit, pace_text};
use crate::sockets::arena::pin;

/// Flags of `bench parse-log`.
#[derive(Args, Clone, Debug)]
pub struct ParseLogArgs {
    /// Messages a second, open loop; may be repeated or a list. Closed loop, one right after the
    /// other, is measured first
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "10000,20000,50000,100000,200000",
          value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub rate: Vec<u32>,

    /// Warm-up messages before the first timed run of each rate
    #[arg(long, value_name = "N", default_value_t = 20_000,
          value_parser = clap::value_parser!(u32).range(0..=400_000))]
    pub warm_up: u32,

    /// Messages of a run
    #[arg(long, value_name = "N", default_value_t = 20_000,
          value_parser = clap::value_parser!(u32).range(1..=400_000))]
    pub iterations: u32,

    /// Runs of each rate
    #[arg(long, value_name = "N", default_value_t = 5,
          value_parser = clap::value_parser!(u32).range(1..=100))]
    pub runs: u32,

    /// The core to run on; "none" leaves it to the system
    #[arg(long, value_name = "N", default_value = "auto")]
    pub core: String,

    /// Folder for the journal, which is removed afterwards [default: the system's temporary folder]
    #[arg(long, value_name = "DIR")]
    pub journal: Option<PathBuf>,

    /// Where the figures go.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Number of messages in one timing of the stages.
const STAGE_BATCH: u32 = 10_000;
/// Timings of each stage; the best and the median are reported.
const STAGE_TIMINGS: usize = 15;

/// The subject.
const SUBJECT: &str = "parse, validate, log";

/// Measures and prints.
///
/// # Errors
///
/// The measurement failed, or its figures could not be written.
pub fn run(args: &ParseLogArgs) -> Result<ExitCode, Error> {
    args.output.check()?;
    let report = on_own_thread(|| measure(args))?;
    args.output.deliver(report)
}

/// Measures at each pace.
///
/// # Errors
///
/// The measurement failed.
pub fn measure(args: &ParseLogArgs) -> Result<Report, Error> {
    let core = core(&args.core)?;
    let machine = Machine::read();
    let within = args.journal.clone().unwrap_or_else(std::env::temp_dir);
    let folder = tempfile::Builder::new()
        .prefix("fixwire-bench-")
        .tempdir_in(&within)
        .map_err(Error::system(format!(
            "make a folder in {}",
            within.display()
        )))?;
    let mut journals = 0;
    let mut fresh = || -> Result<_, Error> {
        journals += 1;
        let path = folder.path().join(format!("journal-{journals}"));
        let disk = Directory::open(path).map_err(|error| Error::Engine(error.to_string()))?;
        let (journal, _) = Journal::open(disk, journal::JournalConfig::default())
            .map_err(|error| Error::Engine(error.to_string()))?;
        HotPath::new(journal)
    };
    let mut paces = vec![Pace::PingPong];
    paces.extend(args.rate.iter().map(|rate| Pace::PerSecond(*rate)));
    let mut progress = Progress::new(1 + paces.len() * args.runs as usize);

    // The first journal starts the threads of the journal. Create it before pinning, or these threads inherit our
    // core.
    let mut path = fresh()?;
    let _pinned = pin(core)?;
    progress.step("stages");
    let stages = stages(&mut path)?;
    let clock = Clock::start();
    let mut samples = args.output.sample_writer()?;
    let mut rows = Vec::new();
    for pace in paces {
        let mut runs = Vec::new();
        for run in 1..=args.runs {
            progress.step(&format!("{}: run {run} of {}", name(pace), args.runs));
            path = fresh()?;
            if run == 1 {
                one_run(&mut path, clock, LoadArgs::warm_up_pace(pace), args.warm_up)?;
            } else {
                one_run(
                    &mut path,
                    clock,
                    LoadArgs::warm_up_pace(pace),
                    args.warm_up.min(1_000),
                )?;
            }
            reset_peak_memory();
            let (usage, noise) = (UsageReading::take(), Noise::read());
            let outcome = one_run(&mut path, clock, pace, args.iterations)?;
            let mut timed = Run::new(outcome, [None; 2], noise.since(), &Default::default());
            timed.used = Some(usage.since());
            samples.run(SUBJECT, pace, run as usize, &mut timed)?;
            runs.push(timed);
        }
        rows.push(Row {
            pace,
            subject: SUBJECT.to_owned(),
            runs,
        });
    }
    let title = "a FIX 4.2 order framed, decoded, validated, journalled".to_owned();
    let settings = format!(
        "FIX.4.2 order framed, decoded, validated, journalled (process); no network; \
         {} messages a run, {} runs",
        args.iterations, args.runs
    );
    Ok(Report {
        unit: Unit::Nanos,
        rows,
        notes: stages,
        ..Report::new("parse-log", title, settings, machine)
    })
}

fn name(pace: Pace) -> String {
    match pace {
        Pace::PingPong => "closed loop".to_owned(),
        rate => pace_text(rate),
    }
}

/// The core to run on; by default the one on which an initiator would run.
fn core(text: &str) -> Result<Option<usize>, Error> {
    match text {
        "auto" => Ok(crate::machine::two_cores().map(|cores| cores.1)),
        "none" => Ok(None),
        core => core.parse().map(Some).map_err(|_| Error::Flag {
            flag: "--core",
            problem: format!("\"{core}\" is not a core, nor auto, nor none"),
        }),
    }
}

/// Passes `count` messages through parsing, validation and the journal, and times each message.
fn one_run<D: Disk>(
    path: &mut HotPath<D>,
    clock: Clock,
    pace: Pace,
    count: u32,
) -> Result<RunOutcome, Error> {
    let (mut response, mut service) = (histogram(), histogram());
    let mut orders = vec![TimedOrder::default(); count as usize];
    let start = clock.now();
    let mut end = start;
    for (index, order) in orders.iter_mut().enumerate() {
        let (intended, actual) = match pace {
            Pace::PingPong | Pace::Flood => {
                let now = clock.now();
                (now, now)
            }
            Pace::PerSecond(rate) => {
                let due = start + index as u64 * 1_000_000_000 / u64::from(rate);
                let mut now = clock.now();
                while now < due {
                    std::hint::spin_loop();
                    now = clock.now();
                }
                (due, now)
            }
        };
        path.run(Stage::Log)?;
        end = clock.now();
        response.saturating_record((end - intended).max(1));
        service.saturating_record((end - actual).max(1));
        *order = TimedOrder {
            intended: intended - start,
            actual: actual - start,
            answer: (end - start).max(1),
        };
        path.rest();
    }
    Ok(RunOutcome {
        response,
        service,
        faults: Faults::default(),
        sent: u64::from(count),
        start,
        elapsed: end - start,
        orders,
    })
}

/// Nanoseconds per message of each stage, measured in batches without reading the clock between messages.
fn stages<D: Disk>(path: &mut HotPath<D>) -> Result<Vec<String>, Error> {
    const { assert!(STAGE_BATCH as u64 * (STAGE_TIMINGS as u64 + 1) * 3 < MOST_ORDERS) };
    let mut notes = vec!["Nanoseconds a message, in batches, best and middle timing:".to_owned()];
    for stage in [Stage::Parse, Stage::Validate, Stage::Log] {
        let [best, middle] = time_batches(STAGE_TIMINGS, STAGE_BATCH, || {
            path.run(stage)?;
            if stage == Stage::Log {
                path.rest();
            }
            Ok::<_, Error>(())
        })?;
        notes.push(format!("  {:<20} {best:>6.1} {middle:>6.1}", stage.name()));
    }
    Ok(notes)
}
