//! `bench compare`: is one build faster than another?

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::output::{print, read_results};
use crate::compare::{self, ChangeWord};
use crate::error::Error;
use crate::report::result_file;

/// Flags of `bench compare`.
#[derive(Args, Clone, Debug)]
pub struct CompareArgs {
    /// Result files of `--json`: A and B, or with --against all those of A
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
    let read = |files: &[PathBuf]| read_results(files, result_file::read);
    let comparison = compare::compare(&read(a)?, &read(b)?)
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

impl CompareArgs {
    /// The files of A and of B.
    fn sides(&self) -> Result<(&[PathBuf], &[PathBuf]), Error> {
        match (&self.files[..], &self.against[..]) {
            ([a, b], []) => Ok((std::slice::from_ref(a), std::slice::from_ref(b))),
            (_, []) => Err(Error::Flag {
                flag: "--against",
                problem: format!(
                    "{} files: give two, or those of A, then --against and those of B",
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
