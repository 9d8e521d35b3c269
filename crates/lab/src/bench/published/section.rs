//! One scenario of `bench published`: how it is measured, and its text on the screen.

use std::iter;
use std::path::PathBuf;

use clap::{Args, Parser};

use super::layout::note;
use crate::bench::output::{print, save_result, unwritable};
use crate::error::Error;
use crate::report::{Report, screen};

/// How scenarios are run: full or quick, and the folders.
#[derive(Clone, Debug, Default)]
pub(super) struct Setting {
    /// Few messages.
    pub(super) quick: bool,
    /// Folder for the journals.
    pub(super) journal: Option<PathBuf>,
    /// Folder for the result files.
    pub(super) results: Option<PathBuf>,
}

/// The command line of another bench.
#[derive(Parser)]
struct Line<A: Args> {
    #[command(flatten)]
    args: A,
}

impl Setting {
    /// The flags of `bench NAME`, and the command as text: `always`, and then the flags of a full or of a quick run.
    pub(super) fn args<A: Args>(
        &self,
        name: &str,
        always: &str,
        [full, quick]: [&str; 2],
    ) -> Result<(A, String), Error> {
        let size = if self.quick { quick } else { full };
        let flags = always.split_whitespace().chain(size.split_whitespace());
        let mut line: Vec<String> = flags.map(str::to_owned).collect();
        if let Some(folder) = &self.journal {
            line.extend(["--journal".to_owned(), folder.display().to_string()]);
        }
        let command = note(&format!("fixwire bench {name} {}", line.join(" ")));
        let parsed = Line::<A>::try_parse_from(iter::once(name.to_owned()).chain(line));
        let args = parsed.map_err(|error| Error::Results(error.to_string()))?;
        Ok((args.args, command))
    }

    /// The result file of this name, if requested.
    pub(super) fn result(&self, name: &str) -> Option<PathBuf> {
        let folder = self.results.as_ref()?;
        Some(folder.join(format!("{name}.json")))
    }
}

/// The result, ready to print.
#[derive(Debug, Default)]
pub(super) struct Section {
    /// The tables.
    pub(super) text: String,
    /// The reports for the tables, each with the name of its result file.
    pub(super) reports: Vec<(String, Report)>,
}

impl Section {
    /// Prints the section and writes the result files. Returns whether all answers were correct.
    pub(super) fn deliver(mut self, setting: &Setting) -> Result<bool, Error> {
        let (mut text, mut passed) = (String::new(), true);
        for (_, report) in &self.reports {
            screen::faults(report, &mut text).map_err(unwritable("the faults"))?;
            passed &= report.faults().total() == 0;
        }
        text += &self.text;
        for (name, report) in &self.reports {
            let disturbed = screen::disturbance(report, "");
            if !disturbed.is_empty() {
                text += &note(&format!("{name}: {disturbed}"));
            }
        }
        print(&text)?;
        for (name, report) in &mut self.reports {
            if let Some(path) = setting.result(name) {
                save_result(report, &path)?;
            }
        }
        Ok(passed)
    }
}
