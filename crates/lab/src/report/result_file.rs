//! Result files: a report as JSON that can be read again.
//!
//! The document is the report, preceded by a key `format`. Format 1 is a [`Report`]; in format 2 the key `scenario`
//! says which report it is. Times are nanoseconds. Histograms are in HdrHistogram's V2 encoding, deflated, in base64,
//! which other implementations can read too.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::any::{AnyReport, OMS, TRANSACTIONS};
use super::oms::OmsReport;
use super::transactions::TransactionsReport;
use super::{Report, pace_text};

/// The newest format. The number increases only when older readers would misread a file; new keys alone do not
/// increase it.
pub const FORMAT: u32 = 2;
/// The format of files with runs at a rate. Older readers can read it too.
const FORMAT_OF_RATES: u32 = 1;

/// Why a file is not a report.
#[derive(Debug)]
pub struct ResultFileError {
    /// Path of the file.
    pub path: PathBuf,
    /// The error.
    pub problem: ResultFileProblem,
}

/// Why a result file is invalid.
#[derive(Debug)]
#[non_exhaustive]
pub enum ResultFileProblem {
    /// The file cannot be read.
    Unreadable(io::Error),
    /// The file is not JSON, or a value in it is missing or has another type.
    Damaged(serde_json::Error),
    /// The file is JSON, but has no `format`.
    NoFormat,
    /// The format is unknown.
    Format(u32),
    /// The format is known, but the scenario is not.
    Scenario(String),
    /// The file has the result of this bench, which has no runs at a rate.
    NotByRate(&'static str),
    /// The sum of the transactions of all milliseconds differs from the total in the file.
    Transactions {
        /// Sum over the milliseconds.
        per_ms: u64,
        /// The total in the file.
        transactions: u64,
    },
    /// A histogram does not have as many values as the file says.
    Contradiction {
        /// Subject, pace and run of the histogram.
        run: String,
        /// Number of values in the histogram.
        histogram: u64,
        /// The count in the file.
        count: u64,
    },
}

impl fmt::Display for ResultFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.problem {
            ResultFileProblem::Unreadable(error) => write!(f, "cannot be read: {error}"),
            ResultFileProblem::Damaged(error) => write!(f, "damaged result file: {error}"),
            ResultFileProblem::NoFormat => f.write_str(
                "not a result file: no \"format\"; write one with `fixwire bench echo --json FILE`",
            ),
            ResultFileProblem::Format(format) => write!(
                f,
                "result file of format {format}, this fixwire reads formats 1 to {FORMAT}: use the fixwire that wrote the file, or a newer fixwire"
            ),
            ResultFileProblem::Scenario(scenario) => write!(
                f,
                "result file of format {FORMAT} with scenario \"{scenario}\", expected \"{OMS}\" or \
                 \"{TRANSACTIONS}\": use the fixwire that wrote the file, or a newer fixwire"
            ),
            ResultFileProblem::NotByRate(scenario) => write!(
                f,
                "cannot compare: a result of `bench {scenario}` has no runs at a rate, which an interval needs; \
                 `fixwire bench report` shows several files on one page"
            ),
            ResultFileProblem::Transactions {
                per_ms,
                transactions,
            } => write!(
                f,
                "damaged result file: \"per_ms\" has {per_ms} transactions, \"transactions\" says {transactions}"
            ),
            ResultFileProblem::Contradiction {
                run,
                histogram,
                count,
            } => write!(
                f,
                "damaged result file: {run}: the histogram has {histogram} values, \"count\" says {count}"
            ),
        }
    }
}

impl std::error::Error for ResultFileError {}

/// A result file as JSON.
#[derive(Serialize)]
struct Document<'a, T> {
    format: u32,
    /// The scenario in format 2. `None` in format 1, where the report itself has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    scenario: Option<&'static str>,
    #[serde(flatten)]
    report: &'a T,
}

/// The report as a result file.
///
/// # Errors
///
/// A histogram cannot be encoded.
pub fn to_json(report: &Report) -> Result<String, serde_json::Error> {
    write(FORMAT_OF_RATES, None, report)
}

/// The result of any bench as a result file.
///
/// # Errors
///
/// A histogram cannot be encoded.
pub fn any_to_json(report: &AnyReport) -> Result<String, serde_json::Error> {
    match report {
        AnyReport::Rates(report) => to_json(report),
        AnyReport::Oms(report) => write(FORMAT, Some(OMS), &**report),
        AnyReport::Transactions(report) => write(FORMAT, Some(TRANSACTIONS), &**report),
    }
}

fn write(
    format: u32,
    scenario: Option<&'static str>,
    report: &impl Serialize,
) -> Result<String, serde_json::Error> {
    let document = Document {
        format,
        scenario,
        report,
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// Reads a result file with runs at a rate.
///
/// # Errors
///
/// The file cannot be read, has an unknown format, is from a bench without runs at a rate, or is damaged; the text
/// says where.
pub fn read(path: &Path) -> Result<Report, ResultFileError> {
    by_rate(path, read_any(path)?)
}

/// The result in this file, if it has runs at a rate.
///
/// # Errors
///
/// The file is from a bench without such runs.
pub fn by_rate(path: &Path, found: AnyReport) -> Result<Report, ResultFileError> {
    let problem = match found {
        AnyReport::Rates(report) => return Ok(*report),
        AnyReport::Oms(_) => ResultFileProblem::NotByRate(OMS),
        AnyReport::Transactions(_) => ResultFileProblem::NotByRate(TRANSACTIONS),
    };
    Err(ResultFileError {
        path: path.to_owned(),
        problem,
    })
}

/// Reads the result file of any bench.
///
/// # Errors
///
/// The file cannot be read, has an unknown format, or is damaged; the text says where.
pub fn read_any(path: &Path) -> Result<AnyReport, ResultFileError> {
    let text = fs::read_to_string(path).map_err(ResultFileProblem::Unreadable);
    text.and_then(|text| parse(&text))
        .map_err(|problem| ResultFileError {
            path: path.to_owned(),
            problem,
        })
}

fn parse(text: &str) -> Result<AnyReport, ResultFileProblem> {
    #[derive(Deserialize)]
    struct Head {
        format: Option<u32>,
        scenario: Option<String>,
    }
    let head: Head = serde_json::from_str(text).map_err(ResultFileProblem::Damaged)?;
    let scenario = head.scenario.unwrap_or_default();
    match (head.format, &*scenario) {
        (Some(FORMAT_OF_RATES), _) => parse_rates(text).map(AnyReport::from),
        (Some(FORMAT), OMS) => {
            let report: OmsReport =
                serde_json::from_str(text).map_err(ResultFileProblem::Damaged)?;
            Ok(report.into())
        }
        (Some(FORMAT), TRANSACTIONS) => parse_transactions(text).map(AnyReport::from),
        (Some(FORMAT), _) => Err(ResultFileProblem::Scenario(scenario)),
        (Some(format), _) => Err(ResultFileProblem::Format(format)),
        (None, _) => Err(ResultFileProblem::NoFormat),
    }
}

fn parse_transactions(text: &str) -> Result<TransactionsReport, ResultFileProblem> {
    let report: TransactionsReport =
        serde_json::from_str(text).map_err(ResultFileProblem::Damaged)?;
    let (per_ms, transactions) = (report.counted(), report.transactions);
    if per_ms != transactions {
        return Err(ResultFileProblem::Transactions {
            per_ms,
            transactions,
        });
    }
    Ok(report)
}

fn parse_rates(text: &str) -> Result<Report, ResultFileProblem> {
    let report: Report = serde_json::from_str(text).map_err(ResultFileProblem::Damaged)?;
    for row in &report.rows {
        for (index, run) in row.runs.iter().enumerate() {
            for (histogram, figures) in [
                (&run.histogram, &run.response),
                (&run.service_histogram, &run.service),
            ] {
                if histogram.len() != figures.count {
                    let pace = pace_text(row.pace);
                    return Err(ResultFileProblem::Contradiction {
                        run: format!("{} at {pace}, run {}", row.subject, index + 1),
                        histogram: histogram.len(),
                        count: figures.count,
                    });
                }
            }
        }
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::oms::line_protocol::LineProtocol;
    use crate::report::{oms, sample, transactions};
    use fixwire_stamps::stats::Figures;

    #[test]
    fn a_report_survives_being_written_and_read() {
        let report = sample::report();
        let text = to_json(&report).unwrap();
        let again = parse_rates(&text).unwrap();
        assert_eq!(again.rows.len(), report.rows.len());
        for (ours, again) in report.rows.iter().zip(&again.rows) {
            assert_eq!((ours.pace, &ours.subject), (again.pace, &again.subject));
            for (ours, again) in ours.runs.iter().zip(&again.runs) {
                assert_eq!(ours.histogram, again.histogram);
                assert_eq!(ours.service_histogram, again.service_histogram);
                assert_eq!(Figures::of(&again.histogram), ours.response);
                assert_eq!((&ours.series, ours.faults), (&again.series, again.faults));
            }
        }
        assert_eq!(again.origin, report.origin);
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_alike(&value(&text), &value(&to_json(&again).unwrap()));
    }

    /// The same document; numbers may differ in their last digits, which are rounded on reading.
    fn assert_alike(one: &Value, other: &Value) {
        match (one, other) {
            (Value::Object(one), Value::Object(other)) => {
                assert!(one.keys().eq(other.keys()));
                one.values()
                    .zip(other.values())
                    .for_each(|(one, other)| assert_alike(one, other));
            }
            (Value::Array(one), Value::Array(other)) => {
                assert_eq!(one.len(), other.len());
                one.iter()
                    .zip(other)
                    .for_each(|(one, other)| assert_alike(one, other));
            }
            (Value::Number(one), Value::Number(other)) => {
                let (one, other) = (one.as_f64().unwrap(), other.as_f64().unwrap());
                assert!((one - other).abs() <= one.abs() * 1e-12, "{one} {other}");
            }
            _ => assert_eq!(one, other),
        }
    }

    #[test]
    fn keys_that_are_new_are_skipped_and_newer_formats_refused() {
        let text = to_json(&sample::report()).unwrap();
        let more = text.replacen('{', "{\"later\": [1, {}],", 1);
        assert!(parse(&more).is_ok());
        let newer = text.replacen("\"format\": 1", "\"format\": 3", 1);
        assert!(matches!(parse(&newer), Err(ResultFileProblem::Format(3))));
        let other = text.replacen("\"format\": 1", "\"format\": 2", 1);
        assert!(matches!(parse(&other), Err(ResultFileProblem::Scenario(it)) if it == "echo"));
        assert!(matches!(
            parse("{\"rows\": []}"),
            Err(ResultFileProblem::NoFormat)
        ));
    }

    /// A file without a protocol is over FIX.
    #[test]
    fn the_lines_of_batches_are_in_the_file() {
        let read = |text: &str| match parse(text).unwrap() {
            AnyReport::Oms(report) => report,
            other => panic!("{other:?}"),
        };
        let text = any_to_json(&oms::sample::over_both().into()).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (&value["lines"], &value["also"]["lines"]),
            (&"fix".into(), &"tmp".into())
        );
        assert_eq!(value["also"]["rows"].as_array().map(Vec::len), Some(3));
        let both = read(&text);
        let lines: Vec<LineProtocol> = both.parts().map(|part| part.lines).collect();
        assert_eq!(lines, [LineProtocol::Fix, LineProtocol::Tmp]);
        let text = any_to_json(&oms::sample::report().into()).unwrap();
        assert!(!text.contains("\"also\""), "{text}");
        let before = text.replacen("  \"lines\": \"fix\",\n", "", 1);
        assert_ne!(before, text);
        assert_eq!(read(&before).lines, LineProtocol::Fix);
    }

    #[test]
    fn batches_and_transactions_survive_being_written_and_read() {
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        for (report, keys) in [
            (
                AnyReport::from(oms::sample::over_both()),
                &[
                    "lines",
                    "also",
                    "venue",
                    "place",
                    "gap_us",
                    "bare_write_ns",
                    "saturation",
                ][..],
            ),
            (
                AnyReport::from(transactions::sample::report()),
                &["place", "transactions", "seconds", "per_ms", "taken"],
            ),
        ] {
            let text = any_to_json(&report).unwrap();
            let scenario = report.facts().scenario;
            let head = format!("{{\n  \"format\": 2,\n  \"scenario\": \"{scenario}\",\n");
            assert!(text.starts_with(&head), "{text}");
            let written = value(&text);
            for key in keys {
                assert!(!written[key].is_null(), "{key}: {text}");
            }
            let again = parse(&text).unwrap();
            assert_eq!(again.facts().scenario, scenario);
            assert_alike(&written, &value(&any_to_json(&again).unwrap()));
            let more = text.replacen('{', "{\"later\": [1, {}],", 1);
            assert!(parse(&more).is_ok());
        }
    }

    #[test]
    fn batches_and_transactions_have_no_runs_at_a_rate_to_compare() {
        let folder = tempfile::tempdir().unwrap();
        for report in [
            AnyReport::from(oms::sample::report()),
            AnyReport::from(transactions::sample::report()),
        ] {
            let file = folder.path().join("found.json");
            fs::write(&file, any_to_json(&report).unwrap()).unwrap();
            assert!(read_any(&file).is_ok());
            let error = read(&file).unwrap_err().to_string();
            let scenario = report.facts().scenario;
            let part = format!(
                "found.json: cannot compare: a result of `bench {scenario}` has no runs at a rate"
            );
            assert!(error.contains(&part), "{error}");
        }
    }

    #[test]
    fn damage_of_batches_and_transactions_is_told_with_its_place() {
        let told = |report: AnyReport, from: &str, to: &str| {
            let text = any_to_json(&report).unwrap();
            assert!(text.contains(from), "{text}");
            let problem = parse(&text.replacen(from, to, 1)).unwrap_err();
            let path = "a.json".into();
            ResultFileError { path, problem }.to_string()
        };
        let wait = told(oms::sample::report().into(), "\"spin\"", "\"yield\"");
        assert!(
            wait.contains("`yield`") && wait.contains(" at line "),
            "{wait}"
        );
        let counts = told(
            transactions::sample::report().into(),
            "\"transactions\": 1530",
            "\"transactions\": 1531",
        );
        let part =
            "damaged result file: \"per_ms\" has 1530 transactions, \"transactions\" says 1531";
        assert!(counts.contains(part), "{counts}");
    }

    #[test]
    fn damage_is_told_with_its_place() {
        let text = to_json(&sample::report()).unwrap();
        let told = |text: &str| {
            let problem = parse(text).unwrap_err();
            let path = "a.json".into();
            ResultFileError { path, problem }.to_string()
        };
        let cut = told(&text[..text.len() / 2]);
        assert!(cut.contains("a.json") && cut.contains(" at line "), "{cut}");
        let key = "\"histogram\": \"";
        let line = 1 + text[..text.find(key).unwrap()].matches('\n').count();
        let spoiled = told(&text.replacen(key, "\"histogram\": \"AAAA", 1));
        assert!(spoiled.contains("histogram is damaged: "), "{spoiled}");
        assert!(spoiled.contains(&format!(" at line {line} ")), "{spoiled}");
        let contradiction = told(&text.replacen("\"count\": 1000", "\"count\": 999", 1));
        let run =
            "tcp floor at ping-pong, run 1: the histogram has 1000 values, \"count\" says 999";
        assert!(contradiction.contains(run), "{contradiction}");
        let pace = told(&text.replacen("\"pace\": 50000", "\"pace\": 0", 1));
        assert!(pace.contains("pace is neither"), "{pace}");
    }
}
