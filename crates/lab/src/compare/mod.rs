//! Compares two builds by their result files: is the second build faster, slower, or is no clear difference visible?
//!
//! Each run gives one value of each percentile. The sample is the runs, not the orders, because all orders of one run
//! share what the machine did during that run. The ratio is the ratio of the geometric means over the runs. Its
//! interval is Welch's *t* on the logarithms, which allows a different spread on each side. All intervals of a
//! comparison hold together at 95 % (Bonferroni: each interval has 1 - 0.05 / the number of intervals). A verdict
//! follows from its interval alone, so when builds are equal, at most 5 in 100 comparisons call anything faster or
//! slower.

use std::fmt;

use fixwire_stamps::stats::COLUMNS;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::load::Pace;
use crate::machine::distance::Distance;
use crate::report::{Report, Row, Run, pace_text};

pub mod text;

/// Highest probability that a comparison of equal builds calls any figure faster or slower.
const FAMILY_ERROR: f64 = 0.05;
/// Fewest runs of a side that give an interval.
const RUNS_MIN: usize = 3;
/// A verdict `no difference seen` must exclude a change by this factor.
const CHANGE: f64 = 1.1;
/// Resolution of the histograms: a smaller difference between runs is an accident of rounding.
const RESOLUTION: f64 = 0.001;

/// The result of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The command that was measured.
    pub scenario: String,
    /// Settings of the measurements.
    pub settings: String,
    /// Place and time of the measurements of A, by file.
    pub a: Vec<String>,
    /// Place and time of the measurements of B, by file.
    pub b: Vec<String>,
    /// Each subject at each pace.
    pub rows: Vec<ComparedRow>,
}

/// A subject at a pace.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedRow {
    /// The subject.
    pub subject: String,
    /// The pace.
    pub pace: String,
    /// Distance of the cores in the compared runs.
    pub distance: Distance,
    /// Runs of A and of B that are compared.
    pub runs: [usize; 2],
    /// Percentiles, in the order of [`COLUMNS`].
    pub percentiles: Vec<ComparedPercentile>,
}

/// A percentile of the response time.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedPercentile {
    /// Name of the percentile, for example `99.9`.
    pub name: &'static str,
    /// Geometric mean over the runs of A and of B, nanoseconds.
    pub nanos: [f64; 2],
    /// B divided by A.
    pub ratio: f64,
    /// Interval of the ratio. All intervals of the comparison together hold at 95 %. `None` when a side has too few
    /// runs.
    pub interval: Option<[f64; 2]>,
    /// The verdict.
    pub word: ChangeWord,
}

/// Verdict on B, from an interval.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub enum ChangeWord {
    /// The whole interval is below 1.
    #[serde(rename = "faster")]
    Faster,
    /// The whole interval is above 1.
    #[serde(rename = "slower")]
    Slower,
    /// The interval contains 1 and excludes a change of 10 %.
    #[serde(rename = "no difference seen")]
    NoDifference,
    /// The interval contains both 1 and a change of 10 %, or could not be computed.
    #[serde(rename = "too few runs")]
    TooFewRuns,
}

impl ChangeWord {
    /// The verdict as printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::NoDifference => "no difference seen",
            Self::TooFewRuns => "too few runs",
        }
    }

    fn of(interval: Option<[f64; 2]>) -> Self {
        match interval {
            Some([low, _]) if low > 1.0 => Self::Slower,
            Some([_, high]) if high < 1.0 => Self::Faster,
            Some([low, high]) if low > 1.0 / CHANGE && high < CHANGE => Self::NoDifference,
            _ => Self::TooFewRuns,
        }
    }
}

/// Why reports are not comparable.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Incomparable {
    /// A side has no report.
    Empty,
    /// The reports differ in a fact that must be the same on both sides.
    Differs {
        /// Name of the fact: host, scenario or settings.
        what: &'static str,
        /// The fact in the first report.
        first: String,
        /// The fact in the other report.
        other: String,
    },
    /// The cores of a row were never at the same distance on both sides.
    Distance {
        /// The row, for example `fixwire at 2,000/s`.
        row: String,
        /// The distances in A and in B.
        distances: [String; 2],
    },
    /// The reports have no row in common.
    NoCommonRow,
}

impl fmt::Display for Incomparable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("name a result file for each side"),
            Self::Differs { what, first, other } => {
                write!(
                    f,
                    "cannot compare: different {what}: \"{first}\" and \"{other}\""
                )
            }
            Self::Distance { row, distances } => write!(
                f,
                "cannot compare: the cores of {row} were {} in A, {} in B: measure again until both have runs of one \
                 distance",
                distances[0], distances[1]
            ),
            Self::NoCommonRow => {
                f.write_str("cannot compare: no subject was measured at the same pace in A and B")
            }
        }
    }
}

impl std::error::Error for Incomparable {}

/// Compares the runs of `b` with the runs of `a`; each side may consist of several reports.
///
/// Left out are rows that only one side has, and runs during which the cores moved. When a row has both near and far
/// runs, the comparison uses the distance of which both sides have more runs.
///
/// # Errors
///
/// The reports differ in host, scenario or settings, or have no runs whose cores were at the same distance.
pub fn compare(a: &[Report], b: &[Report]) -> Result<Comparison, Incomparable> {
    let (Some(first), Some(_)) = (a.first(), b.first()) else {
        return Err(Incomparable::Empty);
    };
    for other in a.iter().chain(b).skip(1) {
        same(first, other)?;
    }
    let mut rows = Vec::new();
    let mut seen: Vec<(&str, Pace)> = Vec::new();
    for row in a.iter().flat_map(|report| &report.rows) {
        let key = (row.subject.as_str(), row.pace);
        if !seen.contains(&key) && runs(b, row).next().is_some() && runs(a, row).next().is_some() {
            seen.push(key);
            rows.push(PairedRow::new(a, b, row)?);
        }
    }
    if rows.is_empty() {
        return Err(Incomparable::NoCommonRow);
    }
    let tests = rows.len() * COLUMNS.len();
    let origin = |report: &Report| {
        let origin = &report.origin;
        format!("{}, {}: {}", origin.host, origin.date, origin.command)
    };
    Ok(Comparison {
        scenario: first.scenario.clone(),
        settings: without_runs(&first.settings).to_owned(),
        a: a.iter().map(origin).collect(),
        b: b.iter().map(origin).collect(),
        rows: rows.iter().map(|row| row.compared(tests)).collect(),
    })
}

/// The runs, in all reports, of the subject and pace of `row`.
fn runs<'a>(reports: &'a [Report], row: &Row) -> impl Iterator<Item = &'a Run> {
    reports
        .iter()
        .flat_map(|report| &report.rows)
        .filter(|other| other.subject == row.subject && other.pace == row.pace)
        .flat_map(|row| &row.runs)
}

/// Whether the figures of two reports have the same meaning; an error says what differs.
fn same(first: &Report, other: &Report) -> Result<(), Incomparable> {
    let host = |report: &Report| {
        let machine = &report.machine;
        format!(
            "{}: {}, {} cores, kernel {}, clock {}, hypervisor {}, governor {}, isolated {}",
            report.origin.host,
            machine.processor,
            machine.cores,
            machine.kernel,
            machine.clock_source,
            machine.hypervisor,
            machine.governor,
            machine.isolated
        )
    };
    let facts = |report: &Report| {
        [
            ("scenario", report.scenario.clone()),
            ("settings", without_runs(&report.settings).to_owned()),
            ("host", host(report)),
        ]
    };
    for ((what, first), (_, other)) in facts(first).into_iter().zip(facts(other)) {
        if first != other {
            return Err(Incomparable::Differs { what, first, other });
        }
    }
    Ok(())
}

/// Settings without their last part, the number of runs, which may differ.
fn without_runs(settings: &str) -> &str {
    match settings.rsplit_once(", ") {
        Some((before, last)) if last.ends_with(" runs") => before,
        _ => settings,
    }
}

/// Runs of one row on both sides, at one distance.
struct PairedRow<'a> {
    row: &'a Row,
    distance: Distance,
    sides: [Vec<&'a Run>; 2],
}

impl<'a> PairedRow<'a> {
    fn new(a: &'a [Report], b: &'a [Report], row: &'a Row) -> Result<Self, Incomparable> {
        let at = |reports: &'a [Report], distance| {
            let runs = runs(reports, row)
                .filter(move |run| run.distance == distance && run.response.count > 0);
            runs.collect::<Vec<_>>()
        };
        let distances = [Distance::Near, Distance::Far, Distance::Unknown];
        let both = |distance| {
            let sides = [at(a, distance), at(b, distance)];
            (distance, sides)
        };
        let best = distances
            .map(both)
            .into_iter()
            .max_by_key(|(_, sides)| sides[0].len().min(sides[1].len()));
        match best {
            Some((distance, sides)) if sides.iter().all(|side| !side.is_empty()) => Ok(Self {
                row,
                distance,
                sides,
            }),
            _ => Err(Incomparable::Distance {
                row: format!("{} at {}", row.subject, pace_text(row.pace)),
                distances: [a, b].map(|side| {
                    let mut names: Vec<_> =
                        runs(side, row).map(|run| run.distance.name()).collect();
                    names.sort_unstable();
                    names.dedup();
                    names.join(" and ")
                }),
            }),
        }
    }

    /// Compares two samples. `tests` is the number of tests in the whole comparison, for the width of the intervals.
    fn compared(&self, tests: usize) -> ComparedRow {
        let percentile = |index: usize| {
            let logs = self.sides.each_ref().map(|runs| {
                let nanos = runs.iter().map(|run| run.response.columns()[index]);
                nanos.map(|nanos| (nanos.max(1) as f64).ln()).collect()
            });
            compared_percentile(COLUMNS[index], &logs, tests)
        };
        ComparedRow {
            subject: self.row.subject.clone(),
            pace: pace_text(self.row.pace),
            distance: self.distance,
            runs: self.sides.each_ref().map(Vec::len),
            percentiles: (0..COLUMNS.len()).map(percentile).collect(),
        }
    }
}

fn compared_percentile(
    name: &'static str,
    logs: &[Vec<f64>; 2],
    tests: usize,
) -> ComparedPercentile {
    let [a, b] = logs.each_ref().map(|logs| mean(logs));
    let interval = logs
        .iter()
        .all(|logs| logs.len() >= RUNS_MIN)
        .then(|| welch(logs, FAMILY_ERROR / tests as f64))
        .map(|half| [(b - a - half).exp(), (b - a + half).exp()]);
    ComparedPercentile {
        name,
        nanos: [a.exp(), b.exp()],
        ratio: (b - a).exp(),
        interval,
        word: ChangeWord::of(interval),
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Half the width of the interval for a difference of two means, by Welch's *t* with Satterthwaite's degrees of
/// freedom. The interval misses the true difference with probability `error`. Each sample has at least two values.
fn welch(samples: &[Vec<f64>; 2], error: f64) -> f64 {
    let [a, b] = samples.each_ref().map(|sample| {
        let (mean, count) = (mean(sample), sample.len() as f64);
        let squares: f64 = sample.iter().map(|value| (value - mean).powi(2)).sum();
        // Adds the variance of rounding to the histogram's resolution.
        let variance = squares / (count - 1.0) + RESOLUTION.powi(2) / 12.0;
        (variance / count, count)
    });
    let variance = a.0 + b.0;
    let freedom = variance.powi(2) / (a.0.powi(2) / (a.1 - 1.0) + b.0.powi(2) / (b.1 - 1.0));
    let quantile = StudentsT::new(0.0, 1.0, freedom)
        .map_or(f64::INFINITY, |t| t.inverse_cdf(1.0 - error / 2.0));
    quantile * variance.sqrt()
}

impl Comparison {
    /// Whether any setting contains this word.
    pub fn has(&self, word: ChangeWord) -> bool {
        let mut all = self.rows.iter().flat_map(|row| &row.percentiles);
        all.any(|percentile| percentile.word == word)
    }
}

#[cfg(test)]
mod tests;
