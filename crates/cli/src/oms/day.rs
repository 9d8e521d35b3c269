//! `fixwire oms day`: the tables of a trading day as files.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use fixwire::journal::{self, DumpFilter, JournalError};
use fixwire::schedule::Date;
use fixwire_oms::OmsState;
use fixwire_oms::day::{DayNotes, DayRow, DayTable, DayValue, TradingDay};
use fixwire_protocol::{Ledger as _, Timestamp};
use fixwire_reader::ExportColumns;
#[cfg(feature = "parquet")]
use fixwire_reader::{ParquetExport, ParquetKind, ParquetValue};

use super::{Ask, question, show};
use crate::failure::{self, Failure};
use crate::log::moment;
use crate::session::{if_running, store};

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
    let store = store(&args.ask.at)?;
    // In a running OMS, only operators with the right may read orders.
    if let Some(mut client) = if_running(&args.ask.at) {
        let asked = client.ask(&question("status"));
        asked.map_err(|error| Failure::Text(error.to_string()))?;
    }
    let failure = |error: JournalError| Failure::Text(error.to_string());
    let before = oldest(&store)?;
    let mut days = DayNotes::new(&before);
    let mut first = None;
    let read = journal::each_line(&store, &DumpFilter::default(), |line| {
        if let Some((number, note)) = line.kept() {
            first.get_or_insert(number);
            days.take(number, note);
        }
        Ok(())
    })
    .map_err(failure)?;
    if read.segments == 0 {
        return Err(Failure::Text(format!(
            "{} contains no journal",
            store.display()
        )));
    }
    let date = args.day.or_else(|| days.dates().last());
    let notes = date.and_then(|date| days.notes_of(date));
    let (Some(date), Some(notes)) = (date, notes) else {
        let known: Vec<String> = days.dates().map(shown).collect();
        let known = match &known[..] {
            [] => "it has none".to_owned(),
            [only] => format!("it has {only}"),
            [from, .., to] => format!("it has days from {from} to {to}"),
        };
        let wanted = args
            .day
            .map_or_else(String::new, |day| format!(" {}", shown(day)));
        return Err(Failure::Text(format!(
            "no trading day{wanted} in the journal {}: {known}",
            store.display()
        )));
    };
    let first = first.unwrap_or_default();
    if notes.start == 0 && first > 1 {
        let text = format!(
            "the beginning of {} is missing: its segments were removed from the journal (JournalKeep)",
            shown(date)
        );
        failure::tell("warning", &text);
    }
    let mut files = DayFiles::new(args)?;
    let mut day = TradingDay::new(if first > 1 {
        before
    } else {
        OmsState::default()
    });
    let mut wrong = Ok(());
    let mut last = 0;
    let read = journal::each_line(&store, &DumpFilter::default(), |line| {
        if let Some((number, note)) = line.kept() {
            last = number;
            if number < notes.start {
                day.pass(note);
            } else if number < notes.end {
                let mut give = |table: DayTable, row: &DayRow| files.add(table, row, &mut wrong);
                day.take(note, &mut give);
            }
        }
        let is_in = last >= notes.start.max(1) && last < notes.end;
        if let Some((session, text)) = line.operator_action().filter(|_| is_in) {
            files.add_action(line.at(), session, text)?;
        }
        std::mem::replace(&mut wrong, Ok(()))
    })
    .map_err(failure)?;
    let mut give = |table: DayTable, row: &DayRow| files.add(table, row, &mut wrong);
    day.finish(&mut give);
    wrong?;
    if let Some(damage) = read.bad.as_ref().filter(|_| !read.torn) {
        failure::tell(
            "warning",
            &format!("later records are not in the tables: {damage}"),
        );
    }
    let written = files.finish()?;
    show(&args.ask, &written)?;
    Ok(ExitCode::SUCCESS)
}

/// The oldest state that the journal keeps; the empty state without one.
fn oldest(store: &Path) -> Result<OmsState, Failure> {
    let failure = |error: JournalError| Failure::Text(error.to_string());
    let mut before = OmsState::default();
    journal::refuse_other_version(store, Some(before.form())).map_err(failure)?;
    if let Some((version, bytes)) =
        journal::oldest_state(store, before.form().0).map_err(failure)?
    {
        let file = store.display();
        let read = before.read(version, &bytes);
        read.map_err(|why| Failure::Text(format!("{file}: the oldest checkpoint: {why}")))?;
    }
    Ok(before)
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

    /// Adds a row, unless one before could not be written.
    fn add(&mut self, table: DayTable, row: &DayRow, wrong: &mut io::Result<()>) {
        let at = DayTable::ALL.iter().position(|it| *it == table);
        if let (Some(at), Ok(())) = (at, &wrong) {
            *wrong = self.files[at].add(row);
        }
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
        let unfinished = folder.join(format!("{name}.{ending}.unfinished"));
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

    /// Its unfinished file, which is on disk, and its name.
    fn finish(self, folder: &Path) -> Result<(PathBuf, PathBuf), Failure> {
        let (ending, flushed) = match self.out {
            Out::Csv(mut out) => ("csv", out.flush()),
            #[cfg(feature = "parquet")]
            Out::Parquet(out) => ("parquet", out.finish()),
        };
        let path = folder.join(format!("{}.{ending}", self.name));
        flushed.map_err(|error| not_written(&path, &error))?;
        Ok((self.unfinished, path))
    }
}

fn not_written(path: &Path, error: &io::Error) -> Failure {
    Failure::Text(format!("{} cannot be written: {error}", path.display()))
}
