//! `bench report`: one HTML page from result files.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::output::{print, read_results, save, unwritable};
use crate::error::Error;
use crate::page;
use crate::report::{result_file, thousands};

/// Flags of `bench report`.
#[derive(Args, Clone, Debug)]
pub struct ReportArgs {
    /// Result files of `--json`
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// File of the page; "-": standard output
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    pub output: PathBuf,
}

/// Reads the files and writes the page.
///
/// # Errors
///
/// A file cannot be read, or the page cannot be written.
pub fn run(args: &ReportArgs) -> Result<ExitCode, Error> {
    let reports = read_results(&args.files, result_file::read_any)?;
    let names = args.files.iter().map(|file| file.display().to_string());
    let reports: Vec<_> = names.zip(reports).collect();
    let mut text = String::new();
    page::write(&reports, &mut text).map_err(unwritable("the page"))?;
    save(&args.output, text.as_bytes())?;
    if args.output.as_os_str() != "-" {
        let size = thousands(text.len() as u64);
        print(&format!("{}: {size} bytes\n", args.output.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{oms, sample, transactions};

    #[test]
    fn a_file_that_is_no_result_is_named_and_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let [good, bad, page] =
            ["good.json", "bad.json", "page.html"].map(|name| folder.path().join(name));
        std::fs::write(&good, result_file::to_json(&sample::report()).unwrap()).unwrap();
        std::fs::write(&bad, "{}").unwrap();
        let args = |files: &[&PathBuf]| ReportArgs {
            files: files.iter().map(|file| (*file).clone()).collect(),
            output: page.clone(),
        };
        let error = run(&args(&[&good, &bad])).unwrap_err().to_string();
        assert!(error.contains("bad.json: not a result file"), "{error}");
        assert!(!page.exists());
        run(&args(&[&good, &good])).unwrap();
        let text = std::fs::read_to_string(&page).unwrap();
        assert_eq!(text.matches("<article").count(), 2);
    }

    #[test]
    fn results_of_all_benches_make_one_page() {
        let folder = tempfile::tempdir().unwrap();
        let reports = [
            sample::report().into(),
            oms::sample::report().into(),
            transactions::sample::report().into(),
        ];
        let files: Vec<PathBuf> = ["echo.json", "oms.json", "transactions.json"]
            .map(|name| folder.path().join(name))
            .to_vec();
        for (file, report) in files.iter().zip(&reports) {
            std::fs::write(file, result_file::any_to_json(report).unwrap()).unwrap();
        }
        let output = folder.path().join("page.html");
        run(&ReportArgs {
            files,
            output: output.clone(),
        })
        .unwrap();
        let text = std::fs::read_to_string(&output).unwrap();
        for scenario in ["echo", "oms", "transactions"] {
            assert_eq!(text.matches(&format!("<h2>bench {scenario}: ")).count(), 1);
        }
    }
}
