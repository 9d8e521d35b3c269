//! Result files: a report as JSON that can be read again.
//!
//! The document is the [`Report`] with a key `format` before it. Times are nanoseconds; histograms are HdrHistogram's
//! V2 encoding, deflated, in base64, which other implementations read too.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Report, pace_text};

/// The format that is written. It grows when older readers would misread a file; new keys do not count.
pub const FORMAT: u32 = 1;

/// Why a file is not a report.
#[derive(Debug)]
pub struct ResultFileError {
    /// The file.
    pub path: PathBuf,
    /// The mistake.
    pub problem: ResultFileProblem,
}

/// Why a result file is invalid.
#[derive(Debug)]
#[non_exhaustive]
pub enum ResultFileProblem {
    /// It cannot be read.
    Unreadable(io::Error),
    /// It is not JSON, or a value in it is missing or has another type.
    Damaged(serde_json::Error),
    /// It is JSON without a format.
    NoFormat,
    /// Its format is not known here.
    Format(u32),
    /// A histogram and the figures beside it differ.
    Contradiction {
        /// The subject, pace and run.
        run: String,
        /// Values of the histogram.
        histogram: u64,
        /// The count that is written beside it.
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
                "result file of format {format}, this fixwire reads format {FORMAT}: use the fixwire that wrote it, \
                 or a newer one"
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

#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    #[serde(flatten)]
    report: &'a Report,
}

/// The report as a result file.
///
/// # Errors
///
/// A histogram cannot be encoded.
pub fn to_json(report: &Report) -> Result<String, serde_json::Error> {
    let document = Document {
        format: FORMAT,
        report,
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// Reads a result file.
///
/// # Errors
///
/// It cannot be read, is of another format, or is damaged; the text says where.
pub fn read(path: &Path) -> Result<Report, ResultFileError> {
    let text = fs::read_to_string(path).map_err(ResultFileProblem::Unreadable);
    text.and_then(|text| parse(&text))
        .map_err(|problem| ResultFileError {
            path: path.to_owned(),
            problem,
        })
}

fn parse(text: &str) -> Result<Report, ResultFileProblem> {
    #[derive(Deserialize)]
    struct Head {
        format: Option<u32>,
    }
    let head: Head = serde_json::from_str(text).map_err(ResultFileProblem::Damaged)?;
    match head.format {
        Some(FORMAT) => {}
        Some(format) => return Err(ResultFileProblem::Format(format)),
        None => return Err(ResultFileProblem::NoFormat),
    }
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
    use crate::report::sample;
    use crate::stats::Figures;

    #[test]
    fn a_report_survives_being_written_and_read() {
        let report = sample::report();
        let text = to_json(&report).unwrap();
        let again = parse(&text).unwrap();
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

    /// The same document; numbers may differ in their last digits, which reading rounds.
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
        let newer = text.replacen("\"format\": 1", "\"format\": 2", 1);
        assert!(matches!(parse(&newer), Err(ResultFileProblem::Format(2))));
        assert!(matches!(
            parse("{\"rows\": []}"),
            Err(ResultFileProblem::NoFormat)
        ));
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
