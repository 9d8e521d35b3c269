//! Files of which each row is a command.

use std::process::ExitCode;

use fixwire_oms::RowCommands;
use fixwire_oms::load::Diagnostic;

use super::answers::{answer, command, mistakes, question};
use super::recall::{checked, with_recall};
use crate::failure::Failure;
use crate::session::EngineFlags;

/// The rows of a file, each a command.
pub(super) struct Rows<'a> {
    pub name: &'a str,
    pub file: &'a RowCommands,
    /// The query by which the OMS checks a row.
    pub check: &'a str,
    /// The words that precede the arguments of each row.
    pub verb: &'a str,
    pub done: &'a str,
}

impl Rows<'_> {
    /// Sends each row as a command. Before sending, the OMS checks `together` rows at a time. Nothing is sent if the
    /// form of the file has a mistake, or if the OMS finds an error in any row.
    pub fn tell(&self, at: &EngineFlags, why: &str, together: usize) -> Result<ExitCode, Failure> {
        let Self {
            name, verb, done, ..
        } = self;
        let wrong = all_mistakes(name, &self.file.mistakes, self.check(at, why, together))?;
        if !wrong.is_empty() {
            return Ok(mistakes(&wrong));
        }
        for (line, words) in &self.file.rows {
            let told = with_recall(at, why, || command(at, format!("{verb}{words}"), why));
            told.map_err(|failure| match failure {
                Failure::Text(text) => Failure::Text(format!(
                    "{name}:{line}: {text}; the rows before this row are {done}"
                )),
                other => other,
            })?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The errors that the OMS finds in the rows whose form has no mistake.
    fn check(
        &self,
        at: &EngineFlags,
        why: &str,
        together: usize,
    ) -> Result<Vec<WrongRow>, Failure> {
        let mut wrong = Vec::new();
        for some in self.file.rows.chunks(together) {
            let all: Vec<&str> = some.iter().map(|(_, words)| words.as_str()).collect();
            let check = format!("{} {}", self.check, all.join(";"));
            let found = match self.file.mistakes.is_empty() {
                true => checked(at, why, &check)?,
                // Nothing will be sent, so orders that are not in memory are not brought back either.
                false => answer(at, question(&check))?,
            };
            wrong.extend(found.lines().filter_map(|line| {
                let (place, what) = line.split_once('\t')?;
                let place = place.parse::<usize>().ok()?.checked_sub(1)?;
                let line = some.get(place)?.0;
                Some(WrongRow {
                    line,
                    what: what.to_owned(),
                })
            }));
        }
        Ok(wrong)
    }
}

/// An error that the OMS found in a row of a file.
pub(super) struct WrongRow {
    /// The row's line in the file.
    pub line: usize,
    pub what: String,
}

/// The mistakes in the form of a file together with the errors that the OMS found in its other rows, by line. When the
/// form has mistakes, they are listed also if no OMS runs.
pub(super) fn all_mistakes(
    name: &str,
    form: &[Diagnostic],
    found: Result<Vec<WrongRow>, Failure>,
) -> Result<Vec<String>, Failure> {
    let found = match found {
        Err(failure) if form.is_empty() => return Err(failure),
        found => found.unwrap_or_default(),
    };
    let line = |error: &Diagnostic| error.file.as_ref().map_or(0, |(_, line)| *line);
    let form = form.iter().map(|error| (line(error), error.to_string()));
    let found = found.into_iter();
    let found = found.map(|it| (it.line, format!("{name}:{}: {}", it.line, it.what)));
    let mut all: Vec<(usize, String)> = form.chain(found).collect();
    all.sort_by_key(|(line, _)| *line);
    Ok(all.into_iter().map(|(_, text)| text).collect())
}
