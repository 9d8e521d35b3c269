//! Output of a measurement: the table, files, and the exit code.

use std::fmt;
use std::fs;
use std::io::{self, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::assertion::Assertions;
use crate::doctor;
use crate::error::Error;
use crate::load::Pace;
use crate::report::any::AnyReport;
use crate::report::result_file::ResultFileError;
use crate::report::samples::SampleWriter;
use crate::report::{
    Report, Run, csv, flood, hlog, junit, result_file, screen, stages, svg, table,
};

/// Outputs in addition to the table.
#[derive(Args, Clone, Debug, Default)]
pub struct OutputArgs {
    /// Print the table of each run instead of the short screen
    #[arg(long)]
    pub details: bool,

    /// Write everything as JSON to a file, which `bench compare` reads; with "-" to standard output instead of the screen
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write CSV with one line per run and kind of time
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,

    /// Draw the percentile curves
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,

    /// Write CSV with one line per order: due time, response time and service time
    #[arg(long, value_name = "FILE")]
    pub samples: Option<PathBuf>,

    /// Write the histograms as an interval log of HdrHistogram
    #[arg(long, value_name = "FILE")]
    pub hlog: Option<PathBuf>,

    /// Fail if a limit is exceeded, for example "p99<50us, 2000/s: p50<1.3x" (x: times the floor)
    #[arg(long, value_name = "LIMITS")]
    pub assert: Option<String>,

    /// Write the limits and the check of the answers as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    /// Print the percentiles of each run for TeamCity
    #[arg(long)]
    pub teamcity: bool,
}

/// Writes the samples of each run, if requested, and frees their memory.
pub(super) struct Samples(Option<(PathBuf, SampleWriter)>);

impl Samples {
    /// Run number `run`, counted from 1, has ended.
    pub(super) fn run(
        &mut self,
        subject: &str,
        pace: Pace,
        number: usize,
        run: &mut Run,
    ) -> Result<(), Error> {
        let orders = std::mem::take(&mut run.orders);
        if let Some((path, writer)) = &mut self.0 {
            writer
                .run(subject, pace, number, &orders)
                .map_err(Error::system(format!("write {}", path.display())))?;
        }
        Ok(())
    }
}

impl OutputArgs {
    /// Checks before the measurement that the files can be written and the limits are valid.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.assertions()?;
        if self.teamcity && self.json.as_deref().is_some_and(is_dash) {
            return Err(Error::Flag {
                flag: "--teamcity",
                problem: "prints to standard output, where --json - writes".to_owned(),
            });
        }
        let tables = [&self.json, &self.csv, &self.svg];
        let others = [&self.samples, &self.hlog, &self.junit];
        let files = tables.into_iter().chain(others);
        files.flatten().try_for_each(|path| check_file(path))
    }

    fn assertions(&self) -> Result<Option<Assertions>, Error> {
        let parsed = self.assert.as_deref().map(str::parse::<Assertions>);
        parsed.transpose().map_err(|error| Error::Flag {
            flag: "--assert",
            problem: error.to_string(),
        })
    }

    /// Starts the file of samples, if requested.
    pub(super) fn sample_writer(&self) -> Result<Samples, Error> {
        let create = |path: &PathBuf| {
            let writer = SampleWriter::create(path)
                .map_err(Error::system(format!("write {}", path.display())))?;
            Ok((path.clone(), writer))
        };
        Ok(Samples(self.samples.as_ref().map(create).transpose()?))
    }

    /// Prints and writes a report; the exit code says whether all answers were correct and all limits kept.
    pub(super) fn deliver(&self, report: Report) -> Result<ExitCode, Error> {
        self.deliver_as(report, |report, text| {
            screen::write(report, text)?;
            flood::write(report, text)
        })
    }

    /// Delivers a report whose first screen is written by `shown`.
    pub(super) fn deliver_as(
        &self,
        mut report: Report,
        screen: impl FnOnce(&Report, &mut String) -> fmt::Result,
    ) -> Result<ExitCode, Error> {
        let json_out = self.json.as_deref().is_some_and(is_dash);
        if !json_out {
            let mut text = String::new();
            let written = match self.details {
                true => {
                    table::write(&report, &mut text).and_then(|()| flood::write(&report, &mut text))
                }
                false => screen(&report, &mut text),
            };
            written
                .and_then(|()| stages::write(&report, &mut text))
                .and_then(|()| stages::own_work::write(&report, &mut text))
                .and_then(|()| screen::counts::write(&report, &mut text))
                .map_err(unwritable("the table"))?;
            print(&text)?;
        }
        if let Some(path) = &self.json {
            save_result(&mut report, path)?;
        }
        let report = &report;
        self.write_files(report)?;
        let assertions = self.assertions()?;
        let verdicts = assertions.map_or_else(Vec::new, |assertions| assertions.judge(report));
        if let Some(path) = &self.junit {
            let mut text = String::new();
            junit::write(report, &verdicts, &mut text).map_err(unwritable("JUnit XML"))?;
            save(path, text.as_bytes())?;
        }
        if self.teamcity {
            let mut text = String::new();
            junit::write_teamcity(report, &mut text).map_err(unwritable("statistics"))?;
            print(&text)?;
        }
        let mut kept = true;
        for verdict in &verdicts {
            kept &= verdict.passed;
            // Prints the table to standard output, or JSON.
            eprintln!("{verdict}");
        }
        Ok(if kept && report.faults().total() == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }

    fn write_files(&self, report: &Report) -> Result<(), Error> {
        if let Some(path) = &self.csv {
            let mut text = String::new();
            csv::write(report, &mut text).map_err(unwritable("CSV"))?;
            save(path, text.as_bytes())?;
        }
        if let Some(path) = &self.svg {
            let mut text = String::new();
            svg::write(report, &mut text).map_err(unwritable("SVG"))?;
            save(path, text.as_bytes())?;
        }
        if let Some(path) = &self.hlog {
            let mut log = Vec::new();
            hlog::write(report, &mut log).map_err(Error::system("write an interval log"))?;
            save(path, &log)?;
        }
        Ok(())
    }
}

/// Checks before a measurement that the folder of a file exists.
pub(super) fn check_file(path: &Path) -> Result<(), Error> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if is_dash(path) || folder.is_none_or(Path::is_dir) {
        return Ok(());
    }
    Err(Error::System {
        doing: format!("write {}", path.display()),
        source: io::ErrorKind::NotFound.into(),
    })
}

/// Prints the screen, unless the result file goes to standard output, and writes the result file, if requested.
pub(super) fn deliver_any(
    mut report: AnyReport,
    screen: &str,
    json: Option<&Path>,
) -> Result<ExitCode, Error> {
    if !json.is_some_and(is_dash) {
        print(screen)?;
    }
    if let Some(path) = json {
        save_any(&mut report, path)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a result file, with the facts of the host.
pub(super) fn save_result(report: &mut Report, path: &Path) -> Result<(), Error> {
    report.host_facts = host_facts();
    save_json(result_file::to_json(report), path)
}

fn save_any(report: &mut AnyReport, path: &Path) -> Result<(), Error> {
    report.set_host_facts(host_facts());
    save_json(result_file::any_to_json(report), path)
}

/// Read after the measurement: it opens some files of each process.
fn host_facts() -> Option<serde_json::Value> {
    serde_json::to_value(doctor::facts()).ok()
}

fn save_json(text: Result<String, serde_json::Error>, path: &Path) -> Result<(), Error> {
    let text = text.map_err(|error| Error::System {
        doing: "write JSON".to_owned(),
        source: error.into(),
    })?;
    save(path, text.as_bytes())
}

fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Reads result files with runs at a rate, or results of any bench.
pub(super) fn read_results<T>(
    files: &[PathBuf],
    read: fn(&Path) -> Result<T, ResultFileError>,
) -> Result<Vec<T>, Error> {
    let reports = files.iter().map(|file| read(file));
    reports
        .collect::<Result<_, _>>()
        .map_err(|error| Error::Results(error.to_string()))
}

pub(super) fn unwritable(what: &'static str) -> impl FnOnce(std::fmt::Error) -> Error {
    move |error| Error::System {
        doing: format!("write {what}"),
        source: io::Error::other(error),
    }
}

/// Writes to standard output.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    print_bytes(text.as_bytes())
}

fn print_bytes(bytes: &[u8]) -> Result<(), Error> {
    let mut to = stdout().lock();
    to.write_all(bytes)
        .and_then(|()| to.flush())
        .map_err(Error::system("write to standard output"))
}

/// Writes the bytes to a file, or to standard output when the path is "-".
pub(super) fn save(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    if is_dash(path) {
        return print_bytes(bytes);
    }
    fs::write(path, bytes).map_err(Error::system(format!("write {}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn an_output_folder_that_is_missing_is_told_before_the_run() {
        let output = OutputArgs {
            csv: Some("/no/such/folder/x.csv".into()),
            ..OutputArgs::default()
        };
        assert!(
            output
                .check()
                .unwrap_err()
                .to_string()
                .contains("/no/such/folder/x.csv")
        );
        assert!(
            OutputArgs {
                json: Some("-".into()),
                ..OutputArgs::default()
            }
            .check()
            .is_ok()
        );
    }

    #[test]
    fn limits_that_cannot_be_read_are_told_before_the_run() {
        let output = OutputArgs {
            assert: Some("p99<50".to_owned()),
            ..OutputArgs::default()
        };
        let error = output.check().unwrap_err().to_string();
        assert!(
            error.starts_with("--assert: \"p99<50\": the limit"),
            "{error}"
        );
    }

    #[test]
    fn a_limit_that_is_not_kept_fails_the_command() {
        let code = |limits: &str| {
            let output = OutputArgs {
                assert: Some(limits.to_owned()),
                ..OutputArgs::default()
            };
            format!("{:?}", output.deliver(sample::report()).unwrap())
        };
        assert_eq!(code("p50<1s"), format!("{:?}", ExitCode::SUCCESS));
        assert_eq!(code("p50<1s, p50<1us"), format!("{:?}", ExitCode::FAILURE));
    }
}
