//! `bench compare`: is one build faster than another?

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::output::{print, read_results};
use crate::compare::{self, ChangeWord};
use crate::error::Error;
use crate::report::any::AnyReport;
use crate::report::{Report, result_file};

/// Flags of `bench compare`.
#[derive(Args, Clone, Debug)]
pub struct CompareArgs {
    /// Result files of `--json`: A and B, or with --against all files of A
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Result files of B, when a side has several
    #[arg(long, num_args = 1.., value_name = "FILE")]
    pub against: Vec<PathBuf>,

    /// Print JSON instead of the table
    #[arg(long)]
    pub json: bool,

    /// Fail if B is slower in any figure
    #[arg(long)]
    pub fail_on_slower: bool,
}

/// Compares and prints.
///
/// # Errors
///
/// A file cannot be read, or the files cannot be compared.
pub fn run(args: &CompareArgs) -> Result<ExitCode, Error> {
    let (a, b) = args.sides()?;
    let read = |files: &[PathBuf]| read_results(files, result_file::read_any);
    let (found_a, found_b) = (read(a)?, read(b)?);
    check_lines(a.iter().zip(&found_a).chain(b.iter().zip(&found_b)))?;
    let comparison = compare::compare(&by_rate(a, found_a)?, &by_rate(b, found_b)?)
        .map_err(|error| Error::Results(error.to_string()))?;
    let mut text = String::new();
    if args.json {
        text = serde_json::to_string_pretty(&comparison)
            .map_err(|error| Error::Results(error.to_string()))?;
        text.push('\n');
    } else {
        compare::text::write(&comparison, &mut text)
            .map_err(|error| Error::Results(error.to_string()))?;
    }
    print(&text)?;
    Ok(
        if args.fail_on_slower && comparison.has(ChangeWord::Slower) {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        },
    )
}

/// The results in these files. Every result must have runs at a rate.
fn by_rate(files: &[PathBuf], found: Vec<AnyReport>) -> Result<Vec<Report>, Error> {
    let reports = files.iter().zip(found);
    let reports = reports.map(|(file, report)| result_file::by_rate(file, report));
    let reports: Result<_, _> = reports.collect();
    reports.map_err(|error| Error::Results(error.to_string()))
}

/// Refuses OMS results whose lines use different protocols, because the protocols would explain the difference.
fn check_lines<'a>(found: impl Iterator<Item = (&'a PathBuf, &'a AnyReport)>) -> Result<(), Error> {
    let mut first: Option<(&PathBuf, String)> = None;
    for (file, report) in found {
        let AnyReport::Oms(report) = report else {
            continue;
        };
        let lines = report.lines_text();
        match &first {
            None => first = Some((file, lines)),
            Some((other, of_other)) if *of_other != lines => {
                return Err(Error::Results(format!(
                    "{}: cannot compare: measured over {lines}, {} over {of_other}; measure both with the same \
                     --lines",
                    file.display(),
                    other.display()
                )));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

impl CompareArgs {
    /// The files of A and of B.
    fn sides(&self) -> Result<(&[PathBuf], &[PathBuf]), Error> {
        match (&self.files[..], &self.against[..]) {
            ([a, b], []) => Ok((std::slice::from_ref(a), std::slice::from_ref(b))),
            (_, []) => Err(Error::Flag {
                flag: "--against",
                problem: format!(
                    "{} files: name two files, or the files of A, then --against and the files of B",
                    self.files.len()
                ),
            }),
            (a, b) => Ok((a, b)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oms::line_protocol::LineProtocol;
    use crate::report::{oms, sample};

    #[test]
    fn results_without_runs_at_a_rate_are_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let [rates, batches] = ["echo.json", "oms.json"].map(|name| folder.path().join(name));
        std::fs::write(&rates, result_file::to_json(&sample::report()).unwrap()).unwrap();
        let report = oms::sample::report().into();
        std::fs::write(&batches, result_file::any_to_json(&report).unwrap()).unwrap();
        for files in [[&batches, &batches], [&rates, &batches]] {
            let error = run(&CompareArgs {
                files: files.map(Clone::clone).to_vec(),
                against: Vec::new(),
                json: false,
                fail_on_slower: false,
            });
            let error = error.unwrap_err().to_string();
            assert!(error.contains("oms.json: cannot compare: "), "{error}");
            assert!(error.contains("`bench oms`"), "{error}");
        }
    }

    #[test]
    fn results_over_fix_and_tmp_are_refused_with_the_lines_of_each() {
        let folder = tempfile::tempdir().unwrap();
        let mut over_tmp = oms::sample::report();
        over_tmp.lines = LineProtocol::Tmp;
        let reports = [
            ("fix.json", oms::sample::report()),
            ("tmp.json", over_tmp),
            ("both.json", oms::sample::over_both()),
        ];
        let [fix, tmp, both] = reports.map(|(name, report)| {
            let file = folder.path().join(name);
            std::fs::write(&file, result_file::any_to_json(&report.into()).unwrap()).unwrap();
            file
        });
        let refused = |a: &PathBuf, b: &PathBuf| {
            let error = run(&CompareArgs {
                files: vec![a.clone(), b.clone()],
                against: Vec::new(),
                json: false,
                fail_on_slower: false,
            });
            error.unwrap_err().to_string()
        };
        let error = refused(&fix, &tmp);
        let part = "tmp.json: cannot compare: measured over TAIFEX TMP lines, ";
        assert!(error.contains(part), "{error}");
        assert!(
            error.contains("fix.json over FIX 4.4 lines; measure both"),
            "{error}"
        );
        let error = refused(&both, &fix);
        assert!(
            error.contains("over FIX 4.4 and TAIFEX TMP lines; "),
            "{error}"
        );
        // Results of one protocol are refused because they are OMS results.
        assert!(refused(&tmp, &tmp).contains("has no runs at a rate"));
    }

    #[test]
    fn two_files_or_two_lists() {
        let args = |files: &[&str], against: &[&str]| CompareArgs {
            files: files.iter().map(PathBuf::from).collect(),
            against: against.iter().map(PathBuf::from).collect(),
            json: false,
            fail_on_slower: false,
        };
        let counts = |args: &CompareArgs| {
            let sides = args.sides();
            sides.map(|(a, b)| (a.len(), b.len())).ok()
        };
        assert_eq!(counts(&args(&["a", "b"], &[])), Some((1, 1)));
        assert_eq!(counts(&args(&["a", "b"], &["c"])), Some((2, 1)));
        assert_eq!(counts(&args(&["a"], &[])), None);
        assert_eq!(counts(&args(&["a", "b", "c"], &[])), None);
    }
}
