//! What a measurement found, as data; its writers stand beside.

use serde::Serialize;

use crate::distance::Distance;
use crate::load::{Faults, Outcome, Pace};
use crate::machine::{Machine, Taken};
use crate::stages::Stages;
use crate::stats::{self, Figures};

pub mod csv;
pub mod flood;
pub mod stages;
pub mod svg;
pub mod table;

/// A whole measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The command, for example `echo`.
    pub scenario: &'static str,
    /// What was measured, in one line: profile, journal, counts.
    pub settings: String,
    /// What the table's figures are in; files are always in nanoseconds.
    pub unit: Unit,
    /// The machine.
    pub machine: Machine,
    /// The floor and the engine at each pace.
    pub rows: Vec<Row>,
    /// What a reader has to know beside the figures.
    pub notes: Vec<String>,
}

/// What the figures of a table are in.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Microseconds: round trips.
    Micros,
    /// Nanoseconds: work without a network.
    Nanos,
}

/// One subject at one pace, over the runs.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// When orders were due.
    #[serde(serialize_with = "pace_name")]
    pub pace: Pace,
    /// `tcp floor`, `fixwire`, or whose acceptor it was.
    pub subject: String,
    /// The runs, in order.
    pub runs: Vec<Run>,
}

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// From the intended send time, nanoseconds.
    pub response: Figures,
    /// From the actual send time, nanoseconds.
    pub service: Figures,
    /// Wrong, missing and surplus answers.
    pub faults: Faults,
    /// Orders sent.
    pub sent: u64,
    /// From the start to the last answer, seconds.
    pub seconds: f64,
    /// A cache line there and back, before and after, nanoseconds.
    pub core_to_core: [Option<f64>; 2],
    /// What that says.
    pub distance: Distance,
    /// What other work took.
    pub taken: Taken,
    /// Where the time of marked orders went, when that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stages: Option<Stages>,
    /// The response times themselves, for curves.
    #[serde(skip)]
    pub histogram: hdrhistogram::Histogram<u64>,
}

impl Run {
    /// Sums a run up.
    pub fn new(outcome: Outcome, core_to_core: [Option<f64>; 2], taken: Taken) -> Self {
        Self {
            response: Figures::of(&outcome.response),
            service: Figures::of(&outcome.service),
            faults: outcome.faults,
            sent: outcome.sent,
            seconds: outcome.elapsed as f64 / 1e9,
            core_to_core,
            distance: Distance::of(core_to_core[0], core_to_core[1]),
            taken,
            stages: None,
            histogram: outcome.response,
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

    /// The floor that a row is held against: the last one before it at its pace.
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

/// The subject of a floor row.
pub const FLOOR: &str = "tcp floor";
/// The subject of a floor row whose answers come on a second connection.
pub const FLOOR_ONWARD: &str = "tcp floor, onward";

impl Row {
    /// Whether it is a floor, against which others are held.
    pub fn is_floor(&self) -> bool {
        self.subject == FLOOR || self.subject == FLOOR_ONWARD
    }

    /// Each percentile of the response time as a multiple of the floor's: the median over the runs of
    /// run *n* against the floor's run *n*, which was made right before it. Pairs whose cores were
    /// not at one distance are left out.
    pub fn ratios(&self, floor: &Row) -> [Option<f64>; 6] {
        let pairs: Vec<_> = self
            .runs
            .iter()
            .zip(&floor.runs)
            .filter(|(ours, floor)| {
                ours.distance == floor.distance && ours.distance != Distance::Moved
            })
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

/// A pace as it is called in tables and files.
pub fn pace_text(pace: Pace) -> String {
    match pace {
        Pace::PingPong => "ping-pong".to_owned(),
        Pace::PerSecond(rate) => format!("{}/s", thousands(u64::from(rate))),
        Pace::Flood => "flood".to_owned(),
    }
}

fn pace_name<S: serde::Serializer>(pace: &Pace, to: S) -> Result<S::Ok, S::Error> {
    match pace {
        Pace::PingPong => to.serialize_str("ping-pong"),
        Pace::PerSecond(rate) => to.serialize_u32(*rate),
        Pace::Flood => to.serialize_str("flood"),
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
        let (mut response, mut service) = (crate::load::histogram(), crate::load::histogram());
        for i in 0..1_000 {
            response.saturating_record(base + i);
            service.saturating_record(base + i / 2);
        }
        let outcome = Outcome {
            response,
            service,
            faults: Faults::default(),
            sent: 1_000,
            elapsed: 500_000_000,
        };
        Run::new(outcome, [Some(distance); 2], Taken::default())
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
            scenario: "echo",
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
