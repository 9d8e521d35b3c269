//! The result of a measurement as data. Its writers are in the same folder.

use std::fs;
use std::time::SystemTime;

use fixwire_protocol::time::Timestamp;
use fixwire_stamps::stats::{self, Figures};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::load::series::{RunSecond, per_second};
use crate::load::{Faults, Pace, RunOutcome, TimedOrder};
use crate::machine::counts::Counts;
use crate::machine::counts::calls::Calls;
use crate::machine::distance::Distance;
use crate::machine::gaps::{self, TimeGap, Touched};
use crate::machine::usage::Used;
use crate::machine::{Machine, TakenByOthers};
use crate::stages::Stages;
use crate::stages::own_work::OwnWork;

pub mod any;
pub(crate) mod chart;
pub mod csv;
pub(crate) mod encoded;
pub mod flood;
pub mod hlog;
pub mod junit;
pub mod oms;
pub(crate) mod percentiles;
pub mod picture;
pub mod result_file;
pub mod samples;
pub mod screen;
pub mod side_by_side;
pub mod stages;
pub mod svg;
pub mod table;
pub mod transactions;

/// A whole measurement.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Report {
    /// When, where and by which command the figures were measured.
    pub origin: Provenance,
    /// The command, for example `echo`.
    pub scenario: String,
    /// What is measured, in plain words and at most 60 characters.
    #[serde(default)]
    pub title: String,
    /// The settings, in one line: profile, journal, counts.
    pub settings: String,
    /// Unit of the times in the table; result files are always in nanoseconds.
    pub unit: Unit,
    /// The machine.
    pub machine: Machine,
    /// The rows of the floor and the engine at each pace.
    pub rows: Vec<Row>,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// Diagnosis of `fixwire doctor` without measurements, for result files. Its `findings` are the results of the
    /// checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_facts: Option<serde_json::Value>,
}

/// When, where and by which command a measurement was made.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Provenance {
    /// Version of the lab.
    pub version: String,
    /// The command line, with spaces between its arguments.
    pub command: String,
    /// When the results were written, for example `2026-08-21T13:30:00Z`.
    pub date: String,
    /// The host name.
    pub host: String,
}

impl Report {
    /// A report in microseconds, without notes.
    #[must_use]
    pub fn new(scenario: &str, title: String, settings: String, machine: Machine) -> Self {
        Self {
            origin: Provenance::here(),
            scenario: scenario.to_owned(),
            title,
            settings,
            unit: Unit::Micros,
            machine,
            rows: Vec::new(),
            notes: Vec::new(),
            host_facts: None,
        }
    }
}

impl Provenance {
    /// The origin of a measurement by this process, at this time.
    pub fn here() -> Self {
        let since_1970 = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        // For example "20260821-13:30:00.000000000".
        let time = Timestamp(since_1970.as_nanos() as i64).to_string();
        let (day, second) = (&time[..8], &time[9..17]);
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: std::env::args_os()
                .map(|argument| argument.to_string_lossy().into_owned())
                .collect::<Vec<_>>()
                .join(" "),
            date: format!("{}-{}-{}T{second}Z", &day[..4], &day[4..6], &day[6..]),
            host: host.trim().to_owned(),
        }
    }
}

/// Unit of a table.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Microseconds: round trips.
    Micros,
    /// Nanoseconds: work without a network.
    Nanos,
}

/// One subject at one pace, with all runs.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Row {
    /// When orders were due.
    #[serde(with = "pace")]
    pub pace: Pace,
    /// `tcp floor`, `fixwire`, or the name of the acceptor.
    pub subject: String,
    /// The runs, in order.
    pub runs: Vec<Run>,
}

/// One run.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Run {
    /// Response times, from the intended send time, nanoseconds.
    pub response: Figures,
    /// Service times, from the actual send time, nanoseconds.
    pub service: Figures,
    /// Wrong, missing and surplus answers.
    pub faults: Faults,
    /// Orders sent.
    pub sent: u64,
    /// From the start to the last answer, seconds.
    pub seconds: f64,
    /// Round trip of a cache line, before and after the run, nanoseconds.
    pub core_to_core: [Option<f64>; 2],
    /// Whether the cores shared a cache.
    pub distance: Distance,
    /// Time taken by other work, as counted by the kernel.
    pub taken: TakenByOthers,
    /// Time taken from the initiator and the acceptor, as measured by their loops.
    #[serde(default)]
    pub gaps: [gaps::GapTotals; 2],
    /// For each percentile: of the orders slower than the percentile, the share that gaps of the machine delayed.
    #[serde(default)]
    pub touched: Touched,
    /// As `touched`, but only for gaps over 0.1 ms: time slices of other programs, pauses of a virtual machine.
    #[serde(default)]
    pub touched_long: Touched,
    /// Counts of the run, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// System calls of a run of their own after the last run of a row, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Calls>,
    /// Times of the marked orders without the time between the ends and without gaps, if measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_work: Option<OwnWork>,
    /// Times of the stages of marked orders, if measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stages: Option<Stages>,
    /// CPU time, page faults, context switches and memory, if available.
    pub used: Option<Used>,
    /// The run second by second; empty when the single orders were not kept.
    pub series: Vec<RunSecond>,
    /// The response times themselves, for curves.
    #[serde(with = "encoded")]
    pub histogram: Histogram<u64>,
    /// The service times themselves.
    #[serde(with = "encoded")]
    pub service_histogram: Histogram<u64>,
    /// The orders, with times from the start of the run. They are kept until they are written as samples or dropped,
    /// and are not in result files.
    #[serde(skip)]
    pub orders: Vec<TimedOrder>,
}

impl Run {
    /// The figures of a run; `gaps` are those of the initiator and of the acceptor.
    pub fn new(
        outcome: RunOutcome,
        core_to_core: [Option<f64>; 2],
        taken: TakenByOthers,
        gaps: &[Vec<TimeGap>; 2],
    ) -> Self {
        Self {
            response: Figures::of(&outcome.response),
            service: Figures::of(&outcome.service),
            faults: outcome.faults,
            sent: outcome.sent,
            seconds: outcome.elapsed as f64 / 1e9,
            core_to_core,
            distance: Distance::of(core_to_core[0], core_to_core[1]),
            taken,
            touched: gaps::touched(&outcome, gaps, 0),
            touched_long: gaps::touched(&outcome, gaps, gaps::LONG),
            gaps: gaps.each_ref().map(|gaps| gaps::GapTotals::of(gaps)),
            counts: None,
            calls: None,
            own_work: None,
            stages: None,
            used: None,
            series: per_second(&outcome.orders),
            histogram: outcome.response,
            service_histogram: outcome.service,
            orders: outcome.orders,
        }
    }
}

impl Report {
    /// All faults of all runs.
    pub fn faults(&self) -> Faults {
        let mut all = Faults::default();
        for run in self.rows.iter().flat_map(|row| &row.runs) {
            all.add(&run.faults);
        }
        all
    }

    /// The floor that a row is compared with: the last floor before it at its pace.
    pub fn floor_of(&self, row: &Row) -> Option<&Row> {
        let before = self
            .rows
            .iter()
            .take_while(|other| !std::ptr::eq(*other, row));
        before
            .filter(|other| other.pace == row.pace && other.is_floor())
            .last()
    }
}

/// The machine caused a percentile when gaps delayed more than this share of the orders slower than the percentile.
const MOST_TOUCHED: f64 = 0.5;
/// Gaps of the machine delay clearly more orders of a run than of the floor run beside it when the two shares of
/// delayed orders differ by more than this.
const CLEARLY: f64 = 0.25;
/// Number of percentiles that decide whether a run was disturbed: 50, 90, 99, 99.9 %.
const JUDGED: usize = 4;

impl Report {
    /// Whether the machine caused a percentile of a row in most of its runs: either by long gaps, or by gaps of any
    /// length and clearly more than in the floor run beside each run. A virtual machine always has short gaps.
    pub fn is_machines(&self, row: &Row, column: usize) -> bool {
        let runs = 0..row.runs.len();
        runs.filter(|run| self.is_machines_run(row, *run, column))
            .count()
            * 2
            > row.runs.len()
    }

    /// Whether the machine caused the figure of one run.
    pub fn is_machines_run(&self, row: &Row, run: usize, column: usize) -> bool {
        let beside = self.floor_of(row).and_then(|floor| floor.runs.get(run));
        row.runs.get(run).is_some_and(|run| {
            run.touched_long[column] > MOST_TOUCHED
                || beside.is_some_and(|floor| run.is_touched_more(floor, column))
        })
    }

    /// Number of runs of a row that the machine disturbed.
    pub fn disturbed(&self, row: &Row) -> usize {
        let runs = 0..row.runs.len();
        runs.filter(|run| (0..JUDGED).any(|column| self.is_machines_run(row, *run, column)))
            .count()
    }
}

impl Run {
    /// Whether gaps caused a percentile of this run, and clearly more so than in the run beside it.
    fn is_touched_more(&self, beside: &Run, column: usize) -> bool {
        let touched = self.touched[column];
        touched > MOST_TOUCHED && touched > beside.touched[column] + CLEARLY
    }
}

/// The subject of a floor row.
pub const FLOOR: &str = "tcp floor";
/// The subject of a floor row whose answers arrive on a second connection.
pub const FLOOR_ONWARD: &str = "tcp floor, onward";
/// The subject of a floor row whose server is a process that spins.
pub const FLOOR_SPINS: &str = "tcp floor, spins";
/// The subject of a floor row whose server is a process that sleeps until data arrives.
pub const FLOOR_SLEEPS: &str = "tcp floor, sleeps";

impl Row {
    /// Whether the row is a floor, with which other rows are compared.
    pub fn is_floor(&self) -> bool {
        [FLOOR, FLOOR_ONWARD, FLOOR_SPINS, FLOOR_SLEEPS].contains(&&*self.subject)
    }

    /// Whether gaps caused a percentile in most runs of this row, but not in the runs of the other row.
    pub(crate) fn is_touched_more(&self, other: &Row, column: usize) -> bool {
        let pairs = self.runs.iter().zip(&other.runs);
        let more = pairs.filter(|(ours, other)| ours.is_touched_more(other, column));
        more.count() * 2 > self.runs.len()
    }

    /// Each run with the floor run just before it, except pairs whose cores were at different distances. When the
    /// floor runs on another host, its distance is unknown.
    pub fn comparable_runs<'a>(
        &'a self,
        floor: &'a Row,
    ) -> impl Iterator<Item = (&'a Run, &'a Run)> {
        self.runs.iter().zip(&floor.runs).filter(|(ours, floor)| {
            let same = [ours.distance, Distance::Unknown].contains(&floor.distance);
            same && ours.distance != Distance::Moved
        })
    }

    /// Each percentile of the response time as a multiple of the floor's: the median over the runs of run *n* divided
    /// by the floor run *n* just before it. Pairs whose cores were at different distances are left out.
    pub fn ratios(&self, floor: &Row) -> [Option<f64>; 6] {
        let pairs: Vec<_> = self
            .comparable_runs(floor)
            .map(|(ours, floor)| (ours.response.columns(), floor.response.columns()))
            .collect();
        std::array::from_fn(|column| {
            let ratios: Vec<f64> = pairs
                .iter()
                .filter(|(_, floor)| floor[column] > 0)
                .map(|(ours, floor)| ours[column] as f64 / floor[column] as f64)
                .collect();
            stats::median(&ratios)
        })
    }
}

/// The name of a pace in tables and files.
pub fn pace_text(pace: Pace) -> String {
    match pace {
        Pace::PingPong => PING_PONG.to_owned(),
        Pace::PerSecond(rate) => format!("{}/s", thousands(u64::from(rate))),
        Pace::Flood => FLOOD.to_owned(),
    }
}

/// A pace in CSV and JSON: `ping-pong`, `flood`, or the orders a second as a number.
pub(crate) fn pace_cell(pace: Pace) -> String {
    match pace {
        Pace::PingPong => PING_PONG.to_owned(),
        Pace::PerSecond(rate) => rate.to_string(),
        Pace::Flood => FLOOD.to_owned(),
    }
}

const PING_PONG: &str = "ping-pong";
const FLOOD: &str = "flood";

/// A pace in JSON: the text `ping-pong` or `flood`, or a number.
mod pace {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{FLOOD, PING_PONG};
    use crate::load::Pace;

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum PaceValue {
        Rate(u32),
        Name(String),
    }

    pub fn serialize<S: Serializer>(pace: &Pace, to: S) -> Result<S::Ok, S::Error> {
        match pace {
            Pace::PingPong => to.serialize_str(PING_PONG),
            Pace::PerSecond(rate) => to.serialize_u32(*rate),
            Pace::Flood => to.serialize_str(FLOOD),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Pace, D::Error> {
        match PaceValue::deserialize(from) {
            Ok(PaceValue::Rate(rate)) if rate > 0 => Ok(Pace::PerSecond(rate)),
            Ok(PaceValue::Name(name)) if name == PING_PONG => Ok(Pace::PingPong),
            Ok(PaceValue::Name(name)) if name == FLOOD => Ok(Pace::Flood),
            _ => Err(D::Error::custom(
                "pace is neither \"ping-pong\", \"flood\" nor a rate above 0",
            )),
        }
    }
}

/// A count with commas between thousands.
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Reports for the tests of the writers.
#[cfg(test)]
pub(crate) mod sample {
    use super::*;

    pub(crate) fn run(base: u64, distance: f64) -> Run {
        let (mut response, mut service) = (
            fixwire_stamps::stats::histogram(),
            fixwire_stamps::stats::histogram(),
        );
        for i in 0..1_000 {
            response.saturating_record(base + i);
            service.saturating_record(base + i / 2);
        }
        let outcome = RunOutcome {
            response,
            service,
            faults: Faults::default(),
            sent: 1_000,
            elapsed: 500_000_000,
            orders: (0..1_000)
                .map(|i| TimedOrder {
                    intended: i * 500_000,
                    actual: i * 500_000 + i.div_ceil(2),
                    answer: i * 500_000 + base + i,
                })
                .collect(),
            start: 0,
        };
        Run::new(
            outcome,
            [Some(distance); 2],
            TakenByOthers::default(),
            &Default::default(),
        )
    }

    pub(crate) fn report() -> Report {
        let row = |pace, subject: &str, base| Row {
            pace,
            subject: subject.to_owned(),
            runs: vec![
                run(base, 60.0),
                run(base + 100, 300.0),
                run(base + 50, 60.0),
            ],
        };
        let rate = Pace::PerSecond(50_000);
        Report {
            origin: Provenance::here(),
            scenario: "echo".to_owned(),
            title: "FIX 4.2 order and report over TCP".to_owned(),
            settings: "profile balanced".to_owned(),
            unit: Unit::Micros,
            machine: Machine::read(),
            rows: vec![
                row(Pace::PingPong, FLOOR, 8_000),
                row(Pace::PingPong, "fixwire", 9_000),
                row(rate, FLOOR, 8_000),
                row(rate, "fixwire", 16_000),
            ],
            notes: vec!["a note".to_owned()],
            host_facts: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_compares_only_runs_at_one_distance() {
        let row = |runs: Vec<Run>| Row {
            pace: Pace::PingPong,
            subject: String::new(),
            runs,
        };
        let floor = row(vec![sample::run(10_000, 60.0), sample::run(10_000, 300.0)]);
        let ours = row(vec![sample::run(20_000, 60.0), sample::run(90_000, 60.0)]);
        let ratio = ours.ratios(&floor)[0].unwrap();
        assert!((ratio - 20_500.0 / 10_500.0).abs() < 0.01, "{ratio}");
        let apart = row(vec![sample::run(20_000, 300.0)]);
        assert_eq!(apart.ratios(&floor)[0], None);
    }

    #[test]
    fn counts_are_readable() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_000), "1,000");
        assert_eq!(thousands(1_234_567), "1,234,567");
    }
}
