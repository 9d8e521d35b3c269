//! Limits for a measurement, as text: `p99<50us, 2000/s: p50<1.3x`.
//!
//! ```text
//! assertions = assertion { "," assertion }
//! assertion  = [ selector ":" ] figure ( "<" | "<=" ) number unit
//! selector   = subject | pace | subject pace      for example fixwire, 2000/s, closed loop, fixwire 2000/s
//! figure     = "p" percentile | "mean" | "worst"  for example p50, p99.9
//! unit       = "ns" | "us" | "ms" | "s" | "x"     x: a multiple of the floor of the same run
//! ```
//!
//! An assertion applies to each row that its selector matches. Without a selector it applies to every row except the
//! floors; floors are asserted only when nothing else was measured. The asserted figure is the median of the response
//! time over the runs. With `x` it is the median of the ratios of run *n* to *the floor's run n*; runs are compared
//! only when their cores had the same distance.

use std::fmt;
use std::str::FromStr;

use fixwire_stamps::stats::median;

use crate::load::Pace;
use crate::report::{Report, Row, Run, pace_text};

/// One limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Assertion {
    text: String,
    subject: Option<String>,
    pace: Option<Pace>,
    figure: Figure,
    /// Whether a value equal to the limit passes.
    or_equal: bool,
    /// The limit: nanoseconds, or a multiple of the floor.
    limit: f64,
    relative: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Figure {
    /// A quantile, from 0 to 1.
    Quantile(f64),
    Mean,
    Worst,
}

/// Several limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Assertions(Vec<Assertion>);

/// Result of one assertion for one row.
#[derive(Clone, Debug, PartialEq)]
pub struct AssertionVerdict {
    /// The text of the assertion.
    pub assertion: String,
    /// The row, for example `fixwire at 2,000/s`; empty when no row matches.
    pub row: String,
    /// The figure in nanoseconds, or as a multiple of the floor; `None` when no figure is available.
    pub found: Option<f64>,
    /// Whether the figure is a multiple of the floor.
    pub relative: bool,
    /// Whether the row is within the limit; false without a figure.
    pub passed: bool,
}

/// Why an assertion cannot be checked, or which limits are exceeded.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AssertionError {
    /// The text is not an assertion.
    Syntax {
        /// The text.
        assertion: String,
        /// The mistake.
        problem: &'static str,
    },
    /// The limits that the report exceeds, and the limits that match no row of it.
    Failed(Vec<AssertionVerdict>),
}

/// Checks the limits against a report.
///
/// ```
/// use fixwire_lab::assertion::check;
/// use fixwire_lab::bench::{LoadArgs, OutputArgs, tcp};
///
/// let load = LoadArgs { rate: vec![1_000], warm_up: 10, runs: 1, ..LoadArgs::default() };
/// let load = LoadArgs { iterations: 50.try_into().unwrap(), cores: "none".to_owned(), ..load };
/// let args = tcp::TcpArgs { serve: None, to: None, load, output: OutputArgs::default() };
/// let report = tcp::measure(&args).unwrap();
/// check(&report, "p50<10s, 1000/s: worst<=1000s").unwrap();
/// let error = check(&report, "p99<1ns").unwrap_err().to_string();
/// assert!(error.starts_with("FAILED: p99<1ns: tcp floor at ping-pong: "), "{error}");
/// ```
///
/// # Errors
///
/// [`AssertionError::Syntax`] when the text cannot be read, [`AssertionError::Failed`] with every limit that is
/// exceeded or whose selector matches no row.
pub fn check(report: &Report, assertions: &str) -> Result<(), AssertionError> {
    let mut verdicts = assertions.parse::<Assertions>()?.judge(report);
    verdicts.retain(|verdict| !verdict.passed);
    if verdicts.is_empty() {
        Ok(())
    } else {
        Err(AssertionError::Failed(verdicts))
    }
}

impl Assertions {
    /// One verdict for each assertion and each row that the assertion matches. An assertion that matches no row gets
    /// a failed verdict.
    pub fn judge(&self, report: &Report) -> Vec<AssertionVerdict> {
        self.0
            .iter()
            .flat_map(|assertion| assertion.judge(report))
            .collect()
    }
}

impl FromStr for Assertions {
    type Err = AssertionError;

    fn from_str(text: &str) -> Result<Self, AssertionError> {
        text.split(',')
            .map(str::parse)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl FromStr for Assertion {
    type Err = AssertionError;

    fn from_str(text: &str) -> Result<Self, AssertionError> {
        let text = text.trim();
        let wrong = |problem| AssertionError::Syntax {
            assertion: text.to_owned(),
            problem,
        };
        // A subject may contain a colon: `peer 127.0.0.1:9880`.
        let (selector, limit) = text.rsplit_once(':').unwrap_or(("", text));
        let (figure, limit) = limit
            .split_once('<')
            .ok_or_else(|| wrong("no \"<\"; write it like p99<50us"))?;
        let (or_equal, limit) = match limit.strip_prefix('=') {
            Some(limit) => (true, limit),
            None => (false, limit),
        };
        let figure = figure_of(figure.trim())
            .ok_or_else(|| wrong("the figure must be p0 to p100, mean or worst"))?;
        let (limit, relative) = limit_of(limit.trim())
            .ok_or_else(|| wrong("the limit must be a number above 0 with a unit: ns, us, ms, s, or x for a multiple of TCP"))?;
        let (subject, pace) = selector_of(selector.trim());
        Ok(Self {
            text: text.to_owned(),
            subject,
            pace,
            figure,
            or_equal,
            limit,
            relative,
        })
    }
}

fn figure_of(name: &str) -> Option<Figure> {
    match name {
        "mean" => Some(Figure::Mean),
        "worst" => Some(Figure::Worst),
        _ => {
            let percentile: f64 = name.strip_prefix('p')?.parse().ok()?;
            (0.0..=100.0)
                .contains(&percentile)
                .then_some(Figure::Quantile(percentile / 100.0))
        }
    }
}

/// A limit in nanoseconds with `false`, or a multiple of the floor with `true`.
fn limit_of(text: &str) -> Option<(f64, bool)> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "ns" | "x" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    let number: f64 = digits.trim().parse().ok()?;
    (number.is_finite() && number > 0.0).then_some((number * factor, text.ends_with('x')))
}

fn selector_of(selector: &str) -> (Option<String>, Option<Pace>) {
    // The screen writes the name of the closed loop as two words.
    let selector = &selector.replace("closed loop", &pace_text(Pace::PingPong));
    let (subject, last) = selector.rsplit_once(' ').unwrap_or(("", selector));
    let (subject, pace) = match pace_of(last) {
        Some(pace) => (subject, Some(pace)),
        None => (selector.as_str(), None),
    };
    let subject = Some(subject.trim()).filter(|subject| !subject.is_empty());
    (subject.map(str::to_owned), pace)
}

fn pace_of(word: &str) -> Option<Pace> {
    let named = [Pace::PingPong, Pace::Flood];
    if let Some(pace) = named.into_iter().find(|pace| pace_text(*pace) == word) {
        return Some(pace);
    }
    word.strip_suffix("/s")?.parse().ok().map(Pace::PerSecond)
}

impl Assertion {
    fn judge(&self, report: &Report) -> Vec<AssertionVerdict> {
        let only_floors = report.rows.iter().all(Row::is_floor);
        let fits = |row: &&Row| {
            let subject = match &self.subject {
                Some(subject) => row.subject == *subject,
                None => only_floors || !row.is_floor(),
            };
            subject && self.pace.is_none_or(|pace| row.pace == pace)
        };
        let verdict = |row: String, found: Option<f64>| AssertionVerdict {
            assertion: self.text.clone(),
            row,
            found,
            relative: self.relative,
            passed: found
                .is_some_and(|found| found < self.limit || self.or_equal && found == self.limit),
        };
        let rows = report.rows.iter().filter(fits);
        let verdicts: Vec<_> = rows
            .map(|row| {
                let name = format!("{} at {}", row.subject, pace_text(row.pace));
                verdict(name, self.found(report, row))
            })
            .collect();
        if verdicts.is_empty() {
            return vec![verdict(String::new(), None)];
        }
        verdicts
    }

    /// The figure of a row; `None` when the row has no run with answers, or when the row has no floor to compare
    /// with.
    fn found(&self, report: &Report, row: &Row) -> Option<f64> {
        let of_run = |run: &Run| (run.response.count > 0).then(|| self.figure.of(run));
        let values: Vec<f64> = if self.relative {
            let floor = report.floor_of(row)?;
            row.comparable_runs(floor)
                .filter_map(|(ours, floor)| {
                    Some(of_run(ours)? / of_run(floor).filter(|nanos| *nanos > 0.0)?)
                })
                .collect()
        } else {
            row.runs.iter().filter_map(of_run).collect()
        };
        median(&values)
    }
}

impl Figure {
    fn of(self, run: &Run) -> f64 {
        match self {
            Self::Quantile(quantile) => run.histogram.value_at_quantile(quantile) as f64,
            Self::Mean => run.response.mean,
            Self::Worst => run.response.worst as f64,
        }
    }
}

impl AssertionVerdict {
    /// The figure with its unit.
    pub fn found_text(&self) -> String {
        match self.found {
            None if self.row.is_empty() => {
                "no row of the report has this subject and pace".to_owned()
            }
            None if self.relative => {
                "no run with a floor at the same distance of the cores".to_owned()
            }
            None => "no answered order".to_owned(),
            Some(ratio) if self.relative => format!("{ratio:.3}x"),
            Some(nanos) => format!("{:.3}us", nanos / 1e3),
        }
    }
}

impl fmt::Display for AssertionVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.passed { "passed" } else { "FAILED" };
        write!(f, "{word}: {}: ", self.assertion)?;
        if !self.row.is_empty() {
            write!(f, "{}: ", self.row)?;
        }
        f.write_str(&self.found_text())
    }
}

impl fmt::Display for AssertionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { assertion, problem } => write!(f, "\"{assertion}\": {problem}"),
            Self::Failed(verdicts) => {
                let lines: Vec<_> = verdicts.iter().map(ToString::to_string).collect();
                f.write_str(&lines.join("\n"))
            }
        }
    }
}

impl std::error::Error for AssertionError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn failed(assertions: &str) -> Vec<String> {
        match check(&sample::report(), assertions) {
            Ok(()) => Vec::new(),
            Err(AssertionError::Failed(verdicts)) => {
                verdicts.iter().map(ToString::to_string).collect()
            }
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn limits_hold_for_every_row_but_the_floors() {
        // Medians over the runs: 9,550 ns ping-pong, 16,550 ns at 50,000/s.
        assert!(failed("p50<17us, mean <= 0.017 ms,worst<1s, p0<16100ns").is_empty());
        let found = failed("p50<16us");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with("FAILED: p50<16us: fixwire at 50,000/s: 16.5"),
            "{found:?}"
        );
        assert_eq!(failed("p50<9us, p99<9us").len(), 4);
    }

    #[test]
    fn selectors_choose_rows() {
        assert!(failed("ping-pong: p50<10us").is_empty());
        assert!(failed("fixwire closed loop: p50<10us").is_empty());
        assert_eq!(failed("closed loop: p50<9us").len(), 1);
        assert_eq!(failed("50000/s: p50<10us").len(), 1);
        assert_eq!(failed("fixwire 50000/s: p50<10us").len(), 1);
        assert_eq!(failed("fixwire: p50<10us").len(), 1);
        assert!(failed("tcp floor ping-pong: p50<9us").is_empty());
        let none = failed("2000/s: p50<1s");
        let text = "FAILED: 2000/s: p50<1s: no row of the report has this subject and pace";
        assert_eq!(none, [text]);
    }

    #[test]
    fn times_the_floor_compares_run_with_run() {
        assert!(failed("ping-pong: p50<1.2x, 50000/s: p50<2x").is_empty());
        let found = failed("50000/s: p50<1.9x");
        assert!(found[0].contains("fixwire at 50,000/s: 1.9"), "{found:?}");
        let floor = failed("tcp floor: p50<2x");
        assert!(
            floor[0].ends_with("no run with a floor at the same distance of the cores"),
            "{floor:?}"
        );
    }

    #[test]
    fn the_limit_itself_passes_only_with_or_equal() {
        let report = sample::report();
        let worst = median(
            &report.rows[1]
                .runs
                .iter()
                .map(|run| run.response.worst as f64)
                .collect::<Vec<_>>(),
        );
        let worst = worst.unwrap();
        assert!(check(&report, &format!("ping-pong: worst<={worst}ns")).is_ok());
        assert!(check(&report, &format!("ping-pong: worst<{worst}ns")).is_err());
    }

    #[test]
    fn other_texts_are_refused_with_the_reason() {
        for (text, part) in [
            ("", "no \"<\""),
            ("p50<1us,", "no \"<\""),
            ("p50>1us", "no \"<\""),
            ("p101<1us", "the figure"),
            ("median<1us", "the figure"),
            ("p50<1", "the limit"),
            ("p50<-1us", "the limit"),
            ("p50<us", "the limit"),
            ("p50<1h", "the limit"),
        ] {
            let error = text.parse::<Assertions>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
