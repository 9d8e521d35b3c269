//! `bench oms`: batches of orders and cancels through an OMS, as published for f9omstw.
//!
//! Source: its benchmark of 2019, whose T2-T1 is shown beside ours; docs/internals/benchmarks.md says what differs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use fixwire::Wait;

use super::args::on_own_thread;
use super::oms_memory::{self, Part};
use super::oms_screen::screen;
use super::output::{check_file, deliver_any};
use crate::analysis::percentile;
use crate::arena::pin;
use crate::bare_write::bare_writes;
use crate::error::Error;
use crate::machine::{Machine, Noise, TakenByOthers};
use crate::oms_rig::{Behind, ChangeTarget, Leave, LoadRequest, Rig, RigConfig, RigRun, cores};
use crate::progress::Progress;
use crate::published::{OMS, OMS_LARGEST};
use crate::report::Provenance;
use crate::report::oms::{
    BatchFigures, BatchPace, BatchRequest, BatchRow, BatchWait, OmsReport, OmsSaturation,
};
use crate::report::table::micros;
use crate::stamps::Stamp;

/// Flags of `bench oms`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  fixwire bench oms                      the table, three minutes at most
  fixwire bench oms --published          with 60 orders at one each 1 s, 0.5 s and 0.1 s
  fixwire bench oms --memory             memory of a live order, of the OMS and of its copy
  fixwire bench oms --memory --live 100000 --churn 10000000
                                         how it grows when orders end")]
pub struct OmsArgs {
    /// Batch sizes, in orders
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_value = "1,10,100,1000,10000,100000",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub batch: Vec<u32>,

    /// Microseconds between the orders of paced batches; published: 8.45 to 10.2
    #[arg(long, value_name = "US", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub gap: u32,

    /// Also play 60 orders with 1 s, 0.5 s and 0.1 s between them
    #[arg(long)]
    pub published: bool,

    /// Orders of the throughput run; 0 skips it
    #[arg(long, value_name = "N", default_value_t = 1_000_000,
          value_parser = clap::value_parser!(u32).range(0..=10_000_000))]
    pub saturation: u32,

    /// Use the simulated exchange as the venue instead of bare sockets that accept each order
    #[arg(long)]
    pub exchange: bool,

    /// Measure the memory of live orders instead
    #[arg(long)]
    pub memory: bool,

    /// Live orders of --memory, a row for each
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_value = "1000000,4000000",
          value_parser = clap::value_parser!(u32).range(1000..=20_000_000))]
    pub live: Vec<u32>,

    /// With --memory: number of orders that pass, with --live of them open at a time
    #[arg(long, value_name = "N", requires = "memory",
          value_parser = clap::value_parser!(u32).range(1000..=50_000_000))]
    pub churn: Option<u32>,

    /// Measure one row of --memory in this process: with checkpoints or without
    #[arg(long, hide = true, requires = "memory")]
    pub part: Option<Part>,

    /// Folder in which the journal is made; a temporary one by default
    #[arg(long, value_name = "DIR")]
    pub journal: Option<PathBuf>,

    /// Print every batch and time instead of the short screen
    #[arg(long)]
    pub details: bool,

    /// Write the result file, which `bench report` reads; without FILE or with "-" to standard output instead of the
    /// screen. With --memory: its figures
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,
}

const SHOWN: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// Measures and prints.
///
/// # Errors
///
/// The measurement failed.
pub fn run(args: &OmsArgs) -> Result<ExitCode, Error> {
    if args.memory {
        return oms_memory::run(args);
    }
    args.json.as_deref().map_or(Ok(()), check_file)?;
    let report = on_own_thread(|| measure(args))?;
    let text = if args.details {
        details(&report)
    } else {
        screen(&report)
    };
    deliver_any(report.into(), &text, args.json.as_deref())
}

/// A new folder for journals, removed when it is dropped.
pub(super) fn folder(within: Option<&Path>) -> Result<tempfile::TempDir, Error> {
    let within = within.map_or_else(std::env::temp_dir, Path::to_owned);
    let folder = tempfile::Builder::new()
        .prefix("fixwire-bench-")
        .tempdir_in(&within);
    folder.map_err(Error::system(format!(
        "make a folder in {}",
        within.display()
    )))
}

/// Length of an order as the OMS sends it, with numbers of six digits.
const ORDER_BYTES: usize = 163;

fn measure(args: &OmsArgs) -> Result<OmsReport, Error> {
    let machine = Machine::read();
    let cores = cores();
    let near = cores.as_ref().map(|it| it[1]);
    let most = args.batch.iter().copied().max().unwrap_or(1) as usize;
    let behind = match args.exchange {
        true => Behind::Exchange,
        false => Behind::Sockets,
    };
    let config = |wait| RigConfig {
        wait,
        behind,
        cores: cores.clone(),
        orders: most.max(args.saturation as usize) + 1000,
        stamps: 2 * most + 2000,
    };
    let place = config(Wait::Spin).place();
    let slow = if args.published { 6 } else { 0 };
    let steps = 2 * (args.batch.len() * 4 + slow) + 2;
    let mut progress = Progress::new(steps);
    let gap = u64::from(args.gap) * 1000;
    progress.step("bare write");
    let far = cores.as_ref().map(|it| it[0]);
    let mut bare_write_ns = [[0; 5]; 2];
    for (figures, gap) in bare_write_ns.iter_mut().zip([gap, 0]) {
        let mut times = bare_writes((far, near), ORDER_BYTES, 20_000, gap)?;
        *figures = five(&mut times);
    }
    let mut rows = Vec::new();
    for (wait, shown) in [
        (Wait::Spin, BatchWait::Spin),
        (Wait::Block, BatchWait::Block),
    ] {
        let name = shown.name();
        let folder = folder(args.journal.as_deref())?;
        // Pinned only now: the threads of a rig would inherit its core.
        let rig = Rig::start(&config(wait), folder.path())?;
        let pinned = pin(near)?;
        let mut batches = Batches {
            rig,
            wait: shown,
            stamps: Vec::new(),
            rows: &mut rows,
        };
        batches.warm_up()?;
        for (leave, pace) in [
            (Leave::Each(gap), BatchPace::Paced),
            (Leave::Within(usize::MAX), BatchPace::Unpaced),
        ] {
            for count in &args.batch {
                let how = pace.name();
                progress.step(&format!("{name}, {how}: {count}"));
                batches.play(&count.to_string(), *count as usize, leave, pace)?;
                progress.step(&format!("{name}, {how}: {count} cancelled"));
            }
        }
        for ms in [1000, 500, 100].into_iter().filter(|_| args.published) {
            progress.step(&format!("{name}: 60 each {ms} ms"));
            let leave = Leave::Each(ms * 1_000_000);
            batches.play(&format!("60 each {ms} ms"), 60, leave, BatchPace::Slow)?;
            progress.step(&format!("{name}: 60 each {ms} ms cancelled"));
        }
        batches.rig.stop()?;
        drop(pinned);
    }
    progress.step("saturation");
    let saturation = match args.saturation {
        0 => None,
        orders => Some(saturate(&config(Wait::Spin), near, orders as usize, args)?),
    };
    let venue = match behind {
        Behind::Sockets => "venue that accepts what it reads",
        Behind::Exchange => "simulated exchange",
    };
    Ok(OmsReport {
        origin: Provenance::here(),
        machine,
        venue: venue.to_owned(),
        place: place.to_owned(),
        gap_us: args.gap,
        bare_write_ns,
        rows,
        saturation,
        host_facts: None,
    })
}

fn saturate(
    config: &RigConfig,
    near: Option<usize>,
    orders: usize,
    args: &OmsArgs,
) -> Result<OmsSaturation, Error> {
    let folder = folder(args.journal.as_deref())?;
    let mut rig = Rig::start(config, folder.path())?;
    let _pinned = pin(near)?;
    rig.stamps.switch(false);
    let run = rig.run((0..orders).map(|_| LoadRequest::New), Leave::Within(4096))?;
    rig.stop()?;
    let span = run.span().max(1) as f64;
    Ok(OmsSaturation {
        orders,
        orders_a_second: orders as f64 * 1e9 / span,
        client_share: run.work[0] as f64 / span,
        venue_share: run.work[1] as f64 / span,
    })
}

/// Batches through one rig.
struct Batches<'a> {
    rig: Rig,
    wait: BatchWait,
    stamps: Vec<Stamp>,
    rows: &'a mut Vec<BatchRow>,
}

impl Batches<'_> {
    fn warm_up(&mut self) -> Result<(), Error> {
        let first = self.rig.requests;
        let count = 5_000;
        let leave = Leave::Within(64);
        self.rig.run((0..count).map(|_| LoadRequest::New), leave)?;
        let cancels = (0..count as u64).map(|at| first + at);
        let cancels: Vec<LoadRequest> = cancels
            .map(|at| LoadRequest::Cancel(ChangeTarget::of(at)))
            .collect();
        self.rig.run(cancels.into_iter(), leave)?;
        Ok(())
    }

    /// Sends a number of orders, then their cancels.
    fn play(
        &mut self,
        name: &str,
        count: usize,
        leave: Leave,
        pace: BatchPace,
    ) -> Result<(), Error> {
        let first = self.rig.requests;
        let orders = (0..count).map(|_| LoadRequest::New);
        let cancels = (0..count).map(|at| LoadRequest::Cancel(ChangeTarget::of(first + at as u64)));
        let published = OMS.iter().find(|it| it.batch == name);
        let published_us = published.map(|it| match self.wait {
            BatchWait::Spin => it.spin,
            BatchWait::Block => it.block,
        });
        let row = self.one(orders, leave)?;
        self.rows.push(BatchRow {
            batch: name.to_owned(),
            pace,
            published_us,
            ..row
        });
        let row = self.one(cancels, leave)?;
        self.rows.push(BatchRow {
            batch: name.to_owned(),
            request: BatchRequest::Cancel,
            pace,
            ..row
        });
        Ok(())
    }

    /// The figures of some requests; name, request, pace and what is published are left to the caller.
    fn one(
        &mut self,
        requests: impl ExactSizeIterator<Item = LoadRequest>,
        leave: Leave,
    ) -> Result<BatchRow, Error> {
        let count = requests.len();
        self.settle(0)?;
        self.stamps.clear();
        let noise = Noise::read();
        let run = self.rig.run(requests, leave)?;
        let taken = noise.since();
        self.settle(2 * count)?;
        let row = row(self.wait, &run, &self.stamps, count)?;
        Ok(BatchRow { taken, ..row })
    }

    /// Waits for a number of stamps of the OMS, which hands over those of a batch when idle.
    fn settle(&mut self, count: usize) -> Result<(), Error> {
        for _ in 0..2000 {
            let lost = self.rig.stamps.take(&mut self.stamps);
            if lost > 0 {
                return Err(Error::Session(format!("{lost} stamps are lost")));
            }
            if count > 0 && self.stamps.len() >= count {
                return Ok(());
            }
            self.rig.rest(std::time::Duration::from_millis(1))?;
            if count == 0 {
                return Ok(());
            }
        }
        let found = self.stamps.len();
        Err(Error::Session(format!(
            "{found} of {count} stamps were received"
        )))
    }
}

/// The figures of a batch: each request has its stamp, and that of the venue's report.
fn row(wait: BatchWait, run: &RigRun, stamps: &[Stamp], count: usize) -> Result<BatchRow, Error> {
    let is_report = |it: &&Stamp| matches!(it.kind, b'8' | b'9');
    let requests: Vec<&Stamp> = stamps.iter().filter(|it| !is_report(it)).collect();
    let reports: Vec<&Stamp> = stamps.iter().filter(is_report).collect();
    if requests.len() != count || reports.len() != count {
        return Err(Error::Session(format!(
            "{} requests and {} reports of {count} have stamps",
            requests.len(),
            reports.len()
        )));
    }
    let of = |time: fn(&Stamp) -> (u64, u64)| {
        let times = requests.iter().map(|it| time(it));
        let mut times: Vec<u64> = times.map(|(from, to)| to.saturating_sub(from)).collect();
        five(&mut times)
    };
    let mut untouched: Vec<u64> = untouched(&run.late)
        .map(|at| requests[at].written.saturating_sub(requests[at].found))
        .collect();
    let t4 = reports.iter().zip(&run.answered);
    let mut t4: Vec<u64> = t4.map(|(it, t4)| t4.saturating_sub(it.read)).collect();
    let first = run.sent.first().copied().unwrap_or(0);
    let last_t2 = requests.iter().map(|it| it.written).max().unwrap_or(0);
    Ok(BatchRow {
        wait,
        batch: String::new(),
        request: BatchRequest::New,
        pace: BatchPace::Paced,
        t2_t1_ns: of(|it| (it.found, it.written)),
        untouched_ns: (!untouched.is_empty()).then(|| five(&mut untouched)),
        untouched: untouched.len(),
        t2_read_ns: of(|it| (it.read, it.written)),
        journalled_t1_ns: of(|it| (it.found, it.journalled)),
        t4_t3_ns: five(&mut t4),
        first_t0_to_last_t2_ns: last_t2.saturating_sub(first),
        first_t0_to_last_t4_ns: run.span(),
        published_us: None,
        taken: TakenByOthers::default(),
    })
}

/// Requests that were sent on time, as were those before them: delayed requests arrive in a burst, which the OMS has
/// to work off.
fn untouched(late: &[u64]) -> impl Iterator<Item = usize> {
    /// Nanoseconds.
    const LATE: u64 = 10_000;
    const BEFORE: usize = 32;
    (0..late.len()).filter(|at| {
        let before = &late[at.saturating_sub(BEFORE)..=*at];
        before.iter().all(|late| *late < LATE)
    })
}

/// Percentiles as published: the value at floor(n * p).
fn five(times: &mut [u64]) -> BatchFigures {
    times.sort_unstable();
    let mut found = [0; 5];
    for (to, p) in found.iter_mut().zip(SHOWN) {
        *to = percentile(times, p).unwrap_or(0);
    }
    found[4] = times.last().copied().unwrap_or(0);
    found
}

fn details(found: &OmsReport) -> String {
    let mut text = format!(
        "FIX 4.2 client, OMS with every control and its journal (durability process), FIX 4.4 {}; {}\n{}\n",
        found.venue, found.place, found.machine
    );
    let five = |it: &BatchFigures| it.map(|ns| format!("{:>7}", micros(ns))).concat();
    text += &format!(
        "\nmicroseconds; T1: the OMS has found the message; T2: what it sends is written; percentiles 50, 90, 99, \
         99.9, worst\n{:<6}{:<16}{:<8}{:<9}{:>35}  {:>7} {:>8}{:>9}{:>11}  {}\n",
        "wait",
        "batch",
        "",
        "",
        "T2-T1",
        "journal",
        "T0..T2",
        "T0..T4",
        "T4-T3 p50",
        "published T2-T1"
    );
    for row in &found.rows {
        let published = row
            .published_us
            .map(|it| it.map(|it| it.to_string()).join(" / "));
        let _ = writeln!(
            text,
            "{:<6}{:<16}{:<8}{:<9}{}  {:>7} {:>7.4}s{:>8.4}s{:>11}  {}{}",
            row.wait.name(),
            row.batch,
            row.request.name(),
            row.pace.name(),
            five(&row.t2_t1_ns),
            micros(row.journalled_t1_ns[0]),
            row.first_t0_to_last_t2_ns as f64 / 1e9,
            row.first_t0_to_last_t4_ns as f64 / 1e9,
            micros(row.t4_t3_ns[0]),
            published.unwrap_or_default(),
            if row.is_disturbed() { "  *" } else { "" },
        );
    }
    for row in &found.rows {
        if let Some(on_time) = &row.on_time() {
            let _ = writeln!(
                text,
                "{:<6}{:<16}{:<8}{:<9}{}  the {} before which the client was not held up",
                row.wait.name(),
                row.batch,
                row.request.name(),
                "paced",
                five(on_time),
                row.untouched
            );
        }
    }
    text += "journal: p50 from T1 to the record committed; *: the client's thread was preempted, or the \
             hypervisor took time\n";
    for (name, figures) in ["paced", "unpaced"].into_iter().zip(&found.bare_write_ns) {
        let _ = writeln!(
            text,
            "{:<39}{}",
            format!("write(2) of {ORDER_BYTES} bytes, {name}"),
            five(figures)
        );
    }
    let _ = writeln!(
        text,
        "published, {}: first T0 to last T2 {} s block, {} s busy; last reply {} s",
        OMS_LARGEST.batch, OMS_LARGEST.block, OMS_LARGEST.spin, OMS_LARGEST.replied
    );
    if let Some(saturation) = &found.saturation {
        let _ = writeln!(
            text,
            "{} orders at once: {:.0} a second, answered and reported; of the time the client worked {:.0} %, the \
             venue on its thread {:.0} %",
            saturation.orders,
            saturation.orders_a_second,
            100.0 * saturation.client_share,
            100.0 * saturation.venue_share,
        );
    }
    text
}
