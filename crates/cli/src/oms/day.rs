//! `fixwire oms day`: the tables of a trading day as files.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use fixwire::journal::{self, DumpFilter};
use fixwire::schedule::Date;
use fixwire_oms::OmsState;
use fixwire_oms::day::{DayNotes, DayReport, DayRow, DayTable, DayTableRow, DayValue};
use fixwire_protocol::{Ledger as _, Timestamp};
use fixwire_reader::ExportColumns;
#[cfg(feature = "parquet")]
use fixwire_reader::{ParquetExport, ParquetKind, ParquetValue};

use super::answers::{Ask, readable_journal, show, unreadable};
use crate::failure::{self, Failure};
use crate::log::moment;

/// Arguments of `fixwire oms day`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire oms day oms.toml --to reports
  fixwire oms day oms.toml --day 2026-11-23 --to reports --format parquet

Writes the files orders, rejected, fills, positions, limits and actions into the folder, and prints how many rows each
has. Files of these names in the folder are replaced once all rows are written. The journal has to reach back to the
day (JournalKeep).")]
pub struct OmsDayArgs {
    #[command(flatten)]
    ask: Ask,
    /// The trading day: 2026-11-23 [default: the newest of the journal]
    #[arg(long, value_name = "DATE", value_parser = date)]
    day: Option<u32>,
    /// The folder of the files; it is made when it is missing
    #[arg(long, value_name = "FOLDER")]
    to: PathBuf,
    /// The form of the files
    #[arg(long, value_enum, default_value = "csv")]
    format: Form,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Form {
    /// Comma-separated values with a heading
    Csv,
    /// Parquet, with the columns of CSV
    #[cfg(feature = "parquet")]
    Parquet,
}

/// A date such as 2026-11-23, as 20261123.
fn date(text: &str) -> Result<u32, String> {
    let wrong = || format!("{text} is not a date such as 2026-11-23");
    let parsed = text.parse::<Date>().map_err(|_| wrong())?;
    let (year, month, day) = (parsed.year(), parsed.month(), parsed.day());
    let number = i32::from(year) * 10_000 + i32::from(month) * 100 + i32::from(day);
    u32::try_from(number).map_err(|_| wrong())
}

/// 20261123 as 2026-11-23.
fn shown(date: u32) -> String {
    format!(
        "{}-{:02}-{:02}",
        date / 10_000,
        date / 100 % 100,
        date % 100
    )
}

/// The actions of operators, beside the tables of the OMS.
const ACTIONS: (&str, &[&str]) = ("actions", &["time", "session", "action"]);

/// Writes the tables of a day.
pub(super) fn run(args: &OmsDayArgs) -> Result<ExitCode, Failure> {
    let store = readable_journal(&args.ask)?;
    let (mut days, mut first) = (DayNotes::default(), None);
    let read = journal::each_line(&store, &DumpFilter::default(), |line| {
        if let Some((number, note)) = line.kept() {
            first.get_or_insert(number);
            days.take(number, note);
        }
        Ok(())
    });
    let read = read.map_err(unreadable)?;
    if let Some(damage) = read.bad.as_ref().filter(|_| !read.torn) {
        return Err(Failure::Text(format!(
            "the rows behind this damage would be missing, so no file is written: {damage}"
        )));
    }
    let is_whole = first.is_none_or(|first| first <= 1);
    let begun = match is_whole {
        true => None,
        // The newest checkpoint before which no note is left.
        false => oldest(&store)?,
    };
    if let Some((state, note)) = &begun {
        days.goes_on(state.day(), note + 1);
    }
    let date = args.day.or_else(|| days.dates().last());
    let notes = date.and_then(|date| days.notes_of(date));
    let (Some(date), Some(notes)) = (date, notes) else {
        return Err(no_day(&store, args.day, &days));
    };
    let early = before(&store, notes.start)?;
    let (state, known, notes) = match (early, begun) {
        // The day began before the first note that is left, or before the oldest checkpoint.
        (None, Some((state, note))) if state.day() == date => (state, note, note + 1..notes.end),
        (Some((state, note)), _) => (state, note, notes),
        (None, _) if is_whole => (OmsState::default(), 0, notes),
        (None, _) => {
            return Err(Failure::Text(format!(
                "the state before {} is not known: the journal {} begins later (JournalKeep), and has no checkpoint \
                 from before",
                shown(date),
                store.display()
            )));
        }
    };
    if state.day() == date {
        let text = format!(
            "the beginning of {} is missing: its segments were removed from the journal (JournalKeep)",
            shown(date)
        );
        failure::tell("warning", &text);
    }
    let mut files = DayFiles::new(args)?;
    let mut day = DayReport::new(state);
    let mut last = 0;
    let read = journal::each_line(&store, &DumpFilter::default(), |line| {
        if let Some((number, note)) = line.kept() {
            last = number;
            if number >= notes.start && number < notes.end {
                for row in day.take(note) {
                    files.add(&row)?;
                }
            } else if number > known && number < notes.start {
                day.pass(note);
            }
        }
        let is_in = last >= notes.start.max(1) && last < notes.end;
        if let Some((session, text)) = line.operator_action().filter(|_| is_in) {
            files.add_action(line.at(), session, text)?;
        }
        Ok(())
    });
    read.map_err(unreadable)?;
    for row in day.finish() {
        files.add(&row)?;
    }
    let written = files.finish()?;
    show(&args.ask, &written)?;
    Ok(ExitCode::SUCCESS)
}

fn no_day(store: &Path, wanted: Option<u32>, days: &DayNotes) -> Failure {
    let known: Vec<String> = days.dates().map(shown).collect();
    let known = match &known[..] {
        [] => "it has none".to_owned(),
        [only] => format!("it has {only}"),
        [from, .., to] => format!("it has days from {from} to {to}"),
    };
    let wanted = wanted.map_or_else(String::new, |day| format!(" {}", shown(day)));
    let store = store.display();
    Failure::Text(format!(
        "no trading day{wanted} in the journal {store}: {known}"
    ))
}

/// The newest state without notes from this number on, and the number of its last note.
fn before(store: &Path, note: u64) -> Result<Option<(OmsState, u64)>, Failure> {
    let mut state = OmsState::default();
    let found = journal::state_before(store, state.form().0, note).map_err(unreadable)?;
    let Some(found) = found else {
        return Ok(None);
    };
    let read = state.read(found.version, &found.state);
    read.map_err(|why| Failure::Text(format!("{}: a checkpoint: {why}", store.display())))?;
    Ok(Some((state, found.note)))
}

/// The oldest state of the journal, and the number of its last note.
fn oldest(store: &Path) -> Result<Option<(OmsState, u64)>, Failure> {
    let name = OmsState::default().form().0;
    let states = journal::stored_states(store).map_err(unreadable)?;
    let states = states.into_iter().flatten().filter(|it| it.name == name);
    match states.map(|state| state.note).min() {
        Some(note) => before(store, note + 1),
        None => Ok(None),
    }
}

/// The files of a day.
struct DayFiles {
    folder: PathBuf,
    /// In the order of [`DayTable::ALL`], and the actions.
    files: Vec<DayFile>,
}

struct DayFile {
    name: &'static str,
    /// With all rows it gets its own name.
    unfinished: PathBuf,
    rows: u64,
    out: Out,
}

enum Out {
    Csv(BufWriter<File>),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetExport<BufWriter<File>>>),
}

impl DayFiles {
    fn new(args: &OmsDayArgs) -> Result<Self, Failure> {
        let folder = &args.to;
        fs::create_dir_all(folder).map_err(|error| not_written(folder, &error))?;
        let tables = DayTable::ALL.iter().map(|it| (it.name(), it.columns()));
        let files = tables
            .chain([ACTIONS])
            .map(|(name, columns)| DayFile::new(folder, name, columns, args.format));
        Ok(Self {
            folder: folder.clone(),
            files: files.collect::<Result<_, _>>()?,
        })
    }

    /// Adds a row to its table.
    fn add(&mut self, row: &DayTableRow) -> io::Result<()> {
        let at = DayTable::ALL.iter().position(|it| *it == row.table);
        let file = at.and_then(|at| self.files.get_mut(at));
        file.map_or(Ok(()), |file| file.add(&row.row))
    }

    fn add_action(&mut self, at: Timestamp, session: &str, text: &[u8]) -> io::Result<()> {
        let row = vec![
            DayValue::Time(Some(at.0)),
            DayValue::Text(session.to_owned()),
            DayValue::Text(String::from_utf8_lossy(text).into_owned()),
        ];
        let file = self.files.last_mut().expect("the file of actions");
        file.add(&row)
    }

    /// Gives each file its name, and returns the number of rows of each.
    fn finish(self) -> Result<String, Failure> {
        let mut text = String::from("file\trows");
        let mut finished = Vec::new();
        for file in self.files {
            let rows = file.rows;
            let (unfinished, path) = file.finish(&self.folder)?;
            text += &format!("\n{}\t{rows}", path.display());
            finished.push((unfinished, path));
        }
        for (unfinished, path) in finished {
            fs::rename(unfinished, &path).map_err(|error| not_written(&path, &error))?;
        }
        Ok(text)
    }
}

impl DayFile {
    fn new(
        folder: &Path,
        name: &'static str,
        columns: &[&str],
        form: Form,
    ) -> Result<Self, Failure> {
        let ending = match form {
            Form::Csv => "csv",
            #[cfg(feature = "parquet")]
            Form::Parquet => "parquet",
        };
        // Another process may write the same day.
        let unfinished = format!("{name}.{ending}.unfinished-{}", std::process::id());
        let unfinished = folder.join(unfinished);
        let failure = |error: io::Error| not_written(&unfinished, &error);
        let file = File::create(&unfinished).map_err(failure)?;
        let mut file = BufWriter::with_capacity(1 << 16, file);
        let out = match form {
            Form::Csv => {
                writeln!(file, "{}", columns.join(",")).map_err(failure)?;
                Out::Csv(file)
            }
            #[cfg(feature = "parquet")]
            Form::Parquet => {
                let heads = columns.iter().map(|name| match *name {
                    "time" | "venue_time" | "entered" | "closed" => (*name, ParquetKind::Time),
                    _ => (*name, ParquetKind::Text),
                });
                let heads: Vec<_> = heads.collect();
                Out::Parquet(Box::new(ParquetExport::new(file, &heads).map_err(failure)?))
            }
        };
        Ok(Self {
            name,
            unfinished,
            rows: 0,
            out,
        })
    }

    fn add(&mut self, row: &DayRow) -> io::Result<()> {
        self.rows += 1;
        match &mut self.out {
            Out::Csv(out) => {
                for (at, value) in row.iter().enumerate() {
                    if at > 0 {
                        out.write_all(b",")?;
                    }
                    match value {
                        DayValue::Text(text) => ExportColumns::write_cell(text, out)?,
                        DayValue::Time(Some(time)) => {
                            out.write_all(moment(Timestamp(*time)).as_bytes())?;
                        }
                        DayValue::Time(None) => {}
                    }
                }
                writeln!(out)
            }
            #[cfg(feature = "parquet")]
            Out::Parquet(out) => out.add(row.iter().map(|value| match value {
                DayValue::Text(text) if text.is_empty() => None,
                DayValue::Text(text) => Some(ParquetValue::Text(text)),
                DayValue::Time(time) => time.map(ParquetValue::Time),
            })),
        }
    }

    /// The unfinished file, synced, and the name that it gets.
    fn finish(self, folder: &Path) -> Result<(PathBuf, PathBuf), Failure> {
        let (ending, flushed) = match self.out {
            Out::Csv(mut out) => ("csv", out.flush()),
            #[cfg(feature = "parquet")]
            Out::Parquet(out) => ("parquet", out.finish()),
        };
        let path = folder.join(format!("{}.{ending}", self.name));
        let synced = flushed.and_then(|()| File::open(&self.unfinished)?.sync_all());
        synced.map_err(|error| not_written(&path, &error))?;
        Ok((self.unfinished, path))
    }
}

fn not_written(path: &Path, error: &io::Error) -> Failure {
    Failure::Text(format!("{} cannot be written: {error}", path.display()))
}
