//! The tables of a trading day as files: for `fixwire oms day`, and automatically at each change of the trading day.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use fixwire::schedule::Date;
use fixwire_oms::rules::DayFormat;

use super::answers::{Ask, readable_journal, show, until_whole};
use crate::failure::{self, Failure};
pub use roll::{DayFilesPlan, DayFilesThread, check};

use files::{DayFiles, Others, shown};
use source::{DayError, FoundDay};

pub(super) mod begin;
pub(super) mod files;
pub(super) mod places;
pub(super) mod roll;
pub(super) mod source;

/// Arguments of `fixwire oms day`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire oms day oms.toml --to reports
  fixwire oms day oms.toml --day 2026-11-23 --to reports --format parquet

Writes the files orders, rejected, fills, positions, limits and actions into the folder, and prints how many rows each
has; day.csv says which events are in them. Files of these names in the folder are replaced once all rows are written.
The journal has to reach back to the day (JournalKeep).")]
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

impl Form {
    fn format(self) -> DayFormat {
        match self {
            Self::Csv => DayFormat::Csv,
            #[cfg(feature = "parquet")]
            Self::Parquet => DayFormat::Parquet,
        }
    }
}

/// A date such as 2026-11-23, as 20261123.
fn date(text: &str) -> Result<u32, String> {
    let wrong = || format!("{text} is not a date such as 2026-11-23");
    let parsed = text.parse::<Date>().map_err(|_| wrong())?;
    let (year, month, day) = (parsed.year(), parsed.month(), parsed.day());
    let number = i32::from(year) * 10_000 + i32::from(month) * 100 + i32::from(day);
    u32::try_from(number).map_err(|_| wrong())
}

/// Writes the tables of a day.
pub(super) fn run(args: &OmsDayArgs) -> Result<ExitCode, Failure> {
    let store = readable_journal(&args.ask)?;
    let written = until_whole(|| match write(args, &store) {
        Ok(written) => Ok(Some(written)),
        Err(DayError::Removed(_)) => Ok(None),
        Err(error) => Err(error.into()),
    })?;
    show(&args.ask, &written)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the files, and returns the number of their rows as a table.
fn write(args: &OmsDayArgs, store: &Path) -> Result<String, DayError> {
    let day = FoundDay::find(store, args.day, None, &|| true)?;
    let (date, notes, is_cut) = (day.date, day.notes.clone(), day.is_cut());
    let mut files = DayFiles::begin(&args.to, args.format.format(), Others::Stay)?;
    day.write(&mut files, &|| true)?;
    let written = files.finish(date, &notes)?;
    if is_cut {
        let text = format!(
            "the beginning of {} is missing: its segments were removed from the journal (JournalKeep)",
            shown(date)
        );
        failure::tell("warning", &text);
    }
    Ok(written)
}
