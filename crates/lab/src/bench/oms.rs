//! `bench oms`: batches of orders and cancels through an OMS, as published for f9omstw.
//!
//! Source: the benchmark of f9omstw of 2019, whose T2-T1 is shown next to ours; docs/internals/benchmarks.md says what
//! differs.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fixwire::Wait;
use fixwire_stamps::Stamp;
use fixwire_stamps::analysis::{RequestSpreads, percentile};

use super::args::{TRACED_ORDERS, on_own_thread};
use super::engine::folder;
use super::oms_details::{counts, details};
use super::oms_memory::{self, Part};
use super::oms_screen::screen;
use super::output::{check_file, deliver_any};
use crate::error::Error;
use crate::machine::counts::calls::Calls;
use crate::machine::counts::{own_thread, thread_named};
use crate::machine::{Machine, Noise, TakenByOthers};
use crate::oms::rig::{
    Behind, ChangeTarget, Leave, LineProtocol, LoadRequest, OMS_THREAD, Rig, RigConfig, RigRun,
    cores,
};
use crate::progress::Progress;
use crate::published::OMS;
use crate::report::Provenance;
use crate::report::oms::{
    BatchFigures, BatchPace, BatchRequest, BatchRow, BatchWait, OmsFigures, OmsReport,
    OmsSaturation,
};
use crate::sockets::arena::pin;
use crate::sockets::bare_write::bare_writes;
use crate::sockets::meter::{Counting, Meter};

/// Flags of `bench oms`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  fixwire bench oms                      the table over FIX, three minutes at most
  fixwire bench oms --lines tmp          the same over a line that speaks TAIFEX TMP
  fixwire bench oms --published          over FIX and over TMP, with 60 orders each, one every 1 s, 0.5 s and 0.1 s
  fixwire bench oms --memory             memory per live order, in the OMS and in its checkpoint copy
  fixwire bench oms --memory --live 100000 --churn 10000000
                                         how memory grows as orders end")]
pub struct OmsArgs {
    /// Protocol of the line between OMS and venue; the bench measures both in turn [default: fix; with --published:
    /// fix,tmp]
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',', value_enum)]
    pub lines: Vec<LineProtocol>,

    /// Batch sizes, in orders
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_value = "1,10,100,1000,10000,100000",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub batch: Vec<u32>,

    /// Microseconds between the orders of paced batches; published: 8.45 to 10.2
    #[arg(long, value_name = "US", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub gap: u32,

    /// Also play 60 orders with 1 s between them, then with 0.5 s and 0.1 s, and as many bare writes
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

    /// Also count what a request costs: instructions, page faults, context switches, interrupts, bytes to the disk, and
    /// in a batch of its own system calls
    #[arg(long, conflicts_with = "memory")]
    pub counts: bool,

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
        return oms_memory::run(args, args.one_protocol()?);
    }
    args.json.as_deref().map_or(Ok(()), check_file)?;
    let report = on_own_thread(|| measure(args))?;
    let mut text = if args.details {
        details(&report)
    } else {
        screen(&report)
    };
    counts(&report, &mut text);
    deliver_any(report.into(), &text, args.json.as_deref())
}

impl OmsArgs {
    /// The protocols of lines that are measured.
    fn protocols(&self) -> Vec<LineProtocol> {
        let mut lines = self.lines.clone();
        if lines.is_empty() {
            lines.push(LineProtocol::Fix);
            if self.published {
                lines.push(LineProtocol::Tmp);
            }
        }
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// The intervals of the slow rates, milliseconds between two orders.
    fn slow(&self) -> &'static [u64] {
        match self.published {
            true => &[1000, 500, 100],
            false => &[],
        }
    }

    /// The protocol of the line for `--memory`, which measures one protocol only.
    fn one_protocol(&self) -> Result<LineProtocol, Error> {
        match self.lines[..] {
            [] => Ok(LineProtocol::Fix),
            [lines] => Ok(lines),
            _ => Err(Error::Flag {
                flag: "--lines",
                problem: "--memory measures one protocol at a time: give fix or tmp".to_owned(),
            }),
        }
    }
}

/// Number of orders of a row at a slow rate.
const SLOW_ORDERS: usize = 60;

fn measure(args: &OmsArgs) -> Result<OmsReport, Error> {
    let machine = Machine::read();
    let cores = cores();
    let most = args.batch.iter().copied().max().unwrap_or(1) as usize;
    let config = RigConfig {
        wait: Wait::Spin,
        behind: match args.exchange {
            true => Behind::Exchange,
            false => Behind::Sockets,
        },
        lines: LineProtocol::Fix,
        cores,
        orders: most.max(args.saturation as usize) + 1000,
        stamps: 2 * most + 2000,
    };
    let venue = match config.behind {
        Behind::Sockets => "venue that accepts every order",
        Behind::Exchange => "simulated exchange",
    };
    let protocols = args.protocols();
    let slow = args.slow();
    let steps = 2 * (args.batch.len() * 4 + slow.len() * 2) + slow.len() + 2;
    let mut progress = Progress::new(protocols.len() * steps);
    let mut measured = Vec::new();
    for lines in protocols {
        let config = RigConfig {
            lines,
            ..config.clone()
        };
        measured.push(over(&config, args, &mut progress)?);
    }
    let mut measured = measured.into_iter();
    let first = measured.next();
    let Some(first) = first else {
        return Err(Error::Flag {
            flag: "--lines",
            problem: "no protocol: give fix or tmp".to_owned(),
        });
    };
    Ok(OmsReport {
        origin: Provenance::here(),
        machine,
        lines: first.lines,
        venue: venue.to_owned(),
        place: config.place().to_owned(),
        gap_us: args.gap,
        bare_write_ns: first.bare_write_ns,
        rows: first.rows,
        saturation: first.saturation,
        also: measured.next().map(Box::new),
        host_facts: None,
    })
}

/// Measures an OMS whose line to the venue uses one protocol.
fn over(config: &RigConfig, args: &OmsArgs, progress: &mut Progress) -> Result<OmsFigures, Error> {
    let core = |at: usize| config.cores.as_ref().map(|it| it[at]);
    let gap = u64::from(args.gap) * 1000;
    let lines = config.lines;
    let called = lines.called();
    progress.step(&format!("{called}: bare write"));
    let mut bare_write_ns = [[0; 5]; 2];
    for (figures, gap) in bare_write_ns.iter_mut().zip([gap, 0]) {
        *figures = bare_write(config, 20_000, gap)?;
    }
    let mut slow_write_ns = Vec::new();
    for ms in args.slow() {
        progress.step(&format!("{called}: bare write each {ms} ms"));
        slow_write_ns.push(bare_write(config, SLOW_ORDERS, ms * 1_000_000)?);
    }
    let mut rows = Vec::new();
    for (wait, shown) in [
        (Wait::Spin, BatchWait::Spin),
        (Wait::Block, BatchWait::Block),
    ] {
        let name = format!("{called}, {}", shown.name());
        let folder = folder(args.journal.as_deref())?;
        // Pin this thread only now: threads that a rig starts would inherit its core.
        let config = RigConfig {
            wait,
            ..config.clone()
        };
        let rig = Rig::start(&config, folder.path())?;
        let pinned = pin(core(1))?;
        let mut batches = Batches {
            rig,
            wait: shown,
            stamps: Vec::new(),
            counts: args.counts,
            meter: Meter::default(),
            slow_write_ns: &slow_write_ns,
            rows: &mut rows,
        };
        batches.warm_up()?;
        batches.play_all(args, &name, progress)?;
        batches.rig.stop()?;
        drop(pinned);
    }
    progress.step(&format!("{called}: saturation"));
    let saturation = match args.saturation {
        0 => None,
        orders => Some(saturate(config, core(1), orders as usize, args)?),
    };
    Ok(OmsFigures {
        lines,
        bare_write_ns,
        rows,
        saturation,
    })
}

/// The times of bare writes of an order, `gap` nanoseconds apart: at most `most` writes, and no more than fit into
/// ten seconds (but at least [`SLOW_ORDERS`], when `most` allows it).
fn bare_write(config: &RigConfig, most: usize, gap: u64) -> Result<BatchFigures, Error> {
    let core = |at: usize| config.cores.as_ref().map(|it| it[at]);
    let in_time = usize::try_from(10_000_000_000 / gap.max(1)).unwrap_or(most);
    let count = most.min(in_time.max(SLOW_ORDERS));
    let bytes = config.lines.order_bytes();
    let mut times = bare_writes((core(0), core(1)), bytes, count, gap)?;
    Ok(five(&mut times))
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
    counts: bool,
    meter: Meter,
    /// The figures of bare writes, one for each slow rate.
    slow_write_ns: &'a [BatchFigures],
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
        let run = self.rig.run(cancels.into_iter(), leave)?;
        self.settle(&run)
    }

    /// Runs all batches: paced batches, batches at once, and with `--published` the batches at slow rates.
    fn play_all(
        &mut self,
        args: &OmsArgs,
        name: &str,
        progress: &mut Progress,
    ) -> Result<(), Error> {
        let gap = u64::from(args.gap) * 1000;
        for (leave, pace) in [
            (Leave::Each(gap), BatchPace::Paced),
            (Leave::Within(usize::MAX), BatchPace::Unpaced),
        ] {
            for count in &args.batch {
                let how = pace.name();
                progress.step(&format!("{name}, {how}: {count}"));
                self.play(&count.to_string(), *count as usize, leave, pace)?;
                progress.step(&format!("{name}, {how}: {count} cancelled"));
            }
        }
        for (ms, bare_write_ns) in args.slow().iter().zip(self.slow_write_ns) {
            let batch = format!("{SLOW_ORDERS} each {ms} ms");
            progress.step(&format!("{name}: {batch}"));
            let (first, leave) = (self.rows.len(), Leave::Each(ms * 1_000_000));
            self.play(&batch, SLOW_ORDERS, leave, BatchPace::Slow)?;
            // The writer spins.
            if self.wait == BatchWait::Spin {
                self.rows[first].bare_write_ns = Some(*bare_write_ns);
            }
            progress.step(&format!("{name}: {batch} cancelled"));
        }
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
        if self.counts && pace != BatchPace::Slow {
            let (first, count) = (self.rig.requests, count.min(TRACED_ORDERS));
            let orders = (0..count).map(|_| LoadRequest::New);
            let cancels = (0..count as u64).map(|at| first + at);
            let cancels = cancels.map(|at| LoadRequest::Cancel(ChangeTarget::of(at)));
            let cancels: Vec<LoadRequest> = cancels.collect();
            let calls = [
                self.calls(orders, leave)?,
                self.calls(cancels.into_iter(), leave)?,
            ];
            let last = self.rows.len() - 2;
            for (row, calls) in self.rows[last..].iter_mut().zip(calls) {
                row.calls = calls;
            }
        }
        Ok(())
    }

    /// The figures of one batch of requests. The caller fills in name, request, pace and the published figures.
    fn one(
        &mut self,
        requests: impl ExactSizeIterator<Item = LoadRequest>,
        leave: Leave,
    ) -> Result<BatchRow, Error> {
        let count = requests.len();
        let noise = Noise::read();
        if self.counts {
            self.meter(Counting::Counts);
        }
        let run = self.rig.run(requests, leave)?;
        let counts = self.meter.end(count as u64).counts;
        let taken = noise.since();
        self.settle(&run)?;
        let row = row(self.wait, &run, &self.stamps, count)?;
        Ok(BatchRow {
            taken,
            counts,
            ..row
        })
    }

    /// Starts to count the work of the OMS, and of this thread.
    fn meter(&mut self, counting: Counting) {
        self.meter.counting = counting;
        self.meter.begin(own_thread(), thread_named(OMS_THREAD));
    }

    /// A batch of requests whose system calls are counted; nothing is timed.
    fn calls(
        &mut self,
        requests: impl ExactSizeIterator<Item = LoadRequest>,
        leave: Leave,
    ) -> Result<Option<Calls>, Error> {
        let count = requests.len() as u64;
        self.meter(Counting::Calls);
        let run = self.rig.run(requests, leave)?;
        let calls = self.meter.end(count).calls;
        self.settle(&run)?;
        Ok(calls)
    }

    /// Waits until the OMS has delivered the stamps of a run, two for each request; the OMS delivers stamps when it
    /// is idle. Discards stamps from before the run.
    fn settle(&mut self, run: &RigRun) -> Result<(), Error> {
        self.stamps.clear();
        let (count, began) = (2 * run.sent.len(), run.sent.first().copied().unwrap_or(0));
        for _ in 0..2000 {
            let lost = self.rig.stamps.take(&mut self.stamps);
            if lost > 0 {
                return Err(Error::Session(format!("{lost} stamps are lost")));
            }
            self.stamps.retain(|it| it.read >= began);
            if self.stamps.len() >= count {
                return Ok(());
            }
            self.rig.rest(std::time::Duration::from_millis(1))?;
        }
        let found = self.stamps.len();
        Err(Error::Session(format!(
            "{found} of {count} stamps were received"
        )))
    }
}

/// The figures of one batch. Each request must have a stamp, and so must the venue's report on it.
fn row(wait: BatchWait, run: &RigRun, stamps: &[Stamp], count: usize) -> Result<BatchRow, Error> {
    let is_report = |it: &&Stamp| matches!(it.kind, b'8' | b'9');
    let requests: Vec<&Stamp> = stamps.iter().filter(|it| !is_report(it)).collect();
    let reports: Vec<&Stamp> = stamps.iter().filter(is_report).collect();
    if requests.len() != count || reports.len() != count {
        return Err(Error::Session(format!(
            "{} of {count} requests and {} of {count} reports have stamps",
            requests.len(),
            reports.len()
        )));
    }
    let of = |time: fn(&Stamp) -> (u64, u64)| {
        let times = requests.iter().map(|it| time(it));
        let mut times: Vec<u64> = times.map(|(from, to)| to.saturating_sub(from)).collect();
        five(&mut times)
    };
    let times = requests.iter().zip(&run.sent);
    let times = times.map(|(it, sent)| [*sent, it.found, it.written].map(|at| at as i64));
    let layout = RequestSpreads::of(&times.collect::<Vec<_>>());
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
        published_layout: Some(layout),
        counts: None,
        calls: None,
        published_us: None,
        bare_write_ns: None,
        taken: TakenByOthers::default(),
    })
}

/// Indices of the requests that the client sent on time after requests that were on time too. Delayed requests arrive
/// in a burst, and the OMS has to work off the burst first.
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: OmsArgs,
    }

    fn args(flags: &[&str]) -> OmsArgs {
        let line = ["oms"].iter().chain(flags);
        Line::try_parse_from(line).unwrap().args
    }

    #[test]
    fn lines_are_fix_unless_it_is_said_or_published() {
        let both = [LineProtocol::Fix, LineProtocol::Tmp];
        for (flags, expected) in [
            (&[][..], &both[..1]),
            (&["--published"], &both),
            (&["--lines", "tmp"], &both[1..]),
            (&["--lines", "tmp", "--published"], &both[1..]),
            (&["--lines", "tmp,fix"], &both),
            (&["--lines", "fix", "--lines", "fix"], &both[..1]),
        ] {
            assert_eq!(args(flags).protocols(), expected, "{flags:?}");
        }
        assert!(Line::try_parse_from(["oms", "--lines", "itch"]).is_err());
    }

    #[test]
    fn memory_is_that_of_one_protocol() {
        let lines = |flags: &[&str]| {
            args(flags)
                .one_protocol()
                .map_err(|error| error.to_string())
        };
        assert_eq!(lines(&["--memory"]), Ok(LineProtocol::Fix));
        assert_eq!(
            lines(&["--memory", "--lines", "tmp"]),
            Ok(LineProtocol::Tmp)
        );
        let error = lines(&["--memory", "--lines", "fix,tmp"]).unwrap_err();
        assert!(
            error.starts_with("--lines: --memory measures one protocol"),
            "{error}"
        );
    }

    /// Each row over FIX has a row over TMP, with the figures of each request.
    #[test]
    fn the_rows_over_tmp_are_those_over_fix() {
        let flags = "--lines fix,tmp --batch 1,20 --saturation 500 --gap 100";
        let flags: Vec<&str> = flags.split_whitespace().collect();
        let report = measure(&args(&flags)).unwrap();
        let parts: Vec<_> = report.parts().collect();
        assert_eq!(
            parts.iter().map(|part| part.lines).collect::<Vec<_>>(),
            [LineProtocol::Fix, LineProtocol::Tmp]
        );
        let names = |at: usize| {
            let rows = parts[at].rows.iter();
            let names = rows.map(|it| (it.wait, it.batch.clone(), it.request, it.pace));
            names.collect::<Vec<_>>()
        };
        assert_eq!(names(0).len(), 2 * 2 * 2 * 2);
        assert_eq!(names(0), names(1));
        for part in &parts {
            assert!(part.bare_write_ns[0][0] > 0);
            assert_eq!(part.saturation.map(|it| it.orders), Some(500));
            for row in part.rows {
                let (t2, journalled) = (row.t2_t1_ns[0], row.journalled_t1_ns[0]);
                assert!(0 < journalled && journalled <= t2, "{row:?}");
                assert!(row.t2_t1_ns.is_sorted() && row.t4_t3_ns[0] > 0, "{row:?}");
                assert!(
                    row.first_t0_to_last_t4_ns >= row.first_t0_to_last_t2_ns,
                    "{row:?}"
                );
            }
        }
    }
}
