//! The files of a trading day. The files of a day are written beside their final place, and moved there when all are
//! complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

#[cfg(feature = "parquet")]
use fixwire_oms::day::DayColumnKind;
use fixwire_oms::day::{ACTION_COLUMNS, DayColumn, DayRow, DayTable, DayTableRow, DayValue};
use fixwire_oms::rules::DayFormat;
use fixwire_protocol::Timestamp;
use fixwire_reader::ExportColumns;
#[cfg(feature = "parquet")]
use fixwire_reader::{ParquetExport, ParquetKind, ParquetValue};
use rustix::process::{Pid, test_kill_process};

use crate::failure::Failure;
use crate::log::moment;

/// The error for Parquet files when the feature is missing.
#[cfg(not(feature = "parquet"))]
pub(super) const NO_PARQUET: &str = "this fixwire was built without the feature parquet";

/// The actions of operators, beside the tables of the OMS.
const ACTIONS: (&str, &[DayColumn]) = (ACTION_TABLE, &ACTION_COLUMNS);
/// The name of their table.
pub(in crate::oms) const ACTION_TABLE: &str = "actions";
/// The file that says which events are in the tables. This file is moved to its place after all others.
const ABOUT: &str = "day.csv";
/// The prefix of the folder of unfinished files. The number of the process that writes them follows.
const UNFINISHED: &str = ".unfinished-";

/// The treatment of the day's files that have the other format.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Others {
    Stay,
    /// These files are removed before the file about the day appears.
    Removed,
}

/// The files of a day.
pub(super) struct DayFiles {
    folder: PathBuf,
    /// The files of the tables, in the order of [`DayTable::ALL`], then the file of the actions.
    files: Vec<DayFile>,
    format: DayFormat,
    others: Others,
    unfinished: Unfinished,
}

/// The folder of files that are not complete. The folder is removed when this value is dropped.
struct Unfinished {
    folder: PathBuf,
    /// The folder of the day, if it was created for these files. The folder is removed if it stays empty.
    made: Option<PathBuf>,
}

impl Unfinished {
    fn begin(folder: &Path) -> Result<Self, Failure> {
        let own = folder.join(format!("{UNFINISHED}{}", std::process::id()));
        let made = (!folder.exists()).then(|| folder.to_owned());
        fs::create_dir_all(folder).map_err(|error| not_written(folder, &error))?;
        remove_left(folder, &own).map_err(|error| not_written(folder, &error))?;
        fs::create_dir(&own).map_err(|error| not_written(&own, &error))?;
        Ok(Self { folder: own, made })
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // If this fails, the folder is removed before the next files are written.
        let _ = fs::remove_dir_all(&self.folder);
        if let Some(made) = &self.made {
            // This fails when the folder has files.
            let _ = fs::remove_dir(made);
        }
    }
}

/// Removes the folders that killed processes have left. One may have been left by an earlier process with the number of
/// this process.
fn remove_left(folder: &Path, own: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.strip_prefix(UNFINISHED)?.parse().ok());
        let Some(process) = number.and_then(Pid::from_raw) else {
            continue;
        };
        if path == own || test_kill_process(process) == Err(rustix::io::Errno::SRCH) {
            match fs::remove_dir_all(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
    }
    Ok(())
}

struct DayFile {
    /// Name of the file, with its extension.
    name: String,
    path: PathBuf,
    rows: u64,
    out: Out,
}

enum Out {
    Csv(BufWriter<File>),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetExport<BufWriter<File>>>),
}

/// The names of the tables and their columns.
fn tables() -> impl Iterator<Item = (&'static str, &'static [DayColumn])> {
    let tables = DayTable::ALL.iter().map(|it| (it.name(), it.columns()));
    tables.chain([ACTIONS])
}

fn file_name(table: &str, format: DayFormat) -> String {
    format!("{table}.{}", format.name())
}

/// The content of the file about a day.
fn about(date: u32, notes: &Range<u64>) -> String {
    let (first, last) = (notes.start, notes.end.saturating_sub(1));
    format!(
        "day,first_event,last_event\n{},{first},{last}\n",
        shown(date)
    )
}

/// Whether a folder has all files of a day, up to the day's last note, in one format.
pub(super) fn are_whole(folder: &Path, date: u32, notes: &Range<u64>) -> bool {
    let said = fs::read_to_string(folder.join(ABOUT)).unwrap_or_default();
    let row = said.lines().nth(1).unwrap_or_default();
    let mut cells = row.split(',');
    // The tables may begin earlier or later than the part of the day that the journal has now, so only their end is
    // compared.
    let is_day = cells.next() == Some(&*shown(date));
    let ends = cells.nth(1) == Some(&*notes.end.saturating_sub(1).to_string());
    let has_all = |(_, format): &(&str, DayFormat)| {
        tables().all(|(table, _)| folder.join(file_name(table, *format)).is_file())
    };
    is_day && ends && DayFormat::NAMES.iter().any(has_all)
}

/// The number of the first event in the files of a folder.
pub(super) fn first_event(folder: &Path) -> Option<u64> {
    let said = fs::read_to_string(folder.join(ABOUT)).ok()?;
    said.lines().nth(1)?.split(',').nth(1)?.parse().ok()
}

impl DayFiles {
    /// Begins the files for a folder, which is created when it is missing.
    ///
    /// # Errors
    ///
    /// The folder or file that cannot be created.
    pub(super) fn begin(folder: &Path, format: DayFormat, others: Others) -> Result<Self, Failure> {
        let unfinished = Unfinished::begin(folder)?;
        let files = tables().map(|(name, columns)| {
            let name = file_name(name, format);
            DayFile::new(&unfinished.folder, name, columns, format)
        });
        Ok(Self {
            files: files.collect::<Result<_, _>>()?,
            folder: folder.to_owned(),
            format,
            others,
            unfinished,
        })
    }

    /// Adds a row to its table.
    pub(super) fn add(&mut self, row: &DayTableRow) -> Result<(), Failure> {
        let at = DayTable::ALL.iter().position(|it| *it == row.table);
        let file = at.and_then(|at| self.files.get_mut(at));
        file.map_or(Ok(()), |file| file.add(&row.row))
    }

    /// Adds the action of an operator.
    pub(super) fn add_action(
        &mut self,
        at: Timestamp,
        session: &str,
        text: &[u8],
    ) -> Result<(), Failure> {
        let row = vec![
            DayValue::Time(Some(at.0)),
            DayValue::Text(session.to_owned()),
            DayValue::Text(String::from_utf8_lossy(text).into_owned()),
        ];
        let file = self.files.last_mut().expect("the file of actions");
        file.add(&row)
    }

    /// Moves the files to their places, the file about the day last. Returns the number of rows of each table.
    ///
    /// # Errors
    ///
    /// The file that cannot be completed or moved.
    pub(super) fn finish(self, date: u32, notes: &Range<u64>) -> Result<String, Failure> {
        let Self {
            folder,
            files,
            format,
            others,
            unfinished,
        } = self;
        let mut text = String::from("file\trows");
        let mut names = Vec::new();
        for file in files {
            let path = folder.join(&file.name);
            text += &format!("\n{}\t{}", path.display(), file.rows);
            names.push(file.finish()?);
        }
        let path = unfinished.folder.join(ABOUT);
        let written = fs::write(&path, about(date, notes)).and_then(|()| sync(&path));
        written.map_err(|error| not_written(&path, &error))?;
        let place = |name: &str| {
            let path = folder.join(name);
            fs::rename(unfinished.folder.join(name), &path)
                .map_err(|error| not_written(&path, &error))
        };
        names.iter().try_for_each(|name| place(name))?;
        if others == Others::Removed {
            remove_others(&folder, format)?;
        }
        place(ABOUT)?;
        sync(&folder).map_err(|error| not_written(&folder, &error))?;
        Ok(text)
    }
}

/// Removes the tables in the other format, which would seem complete beside a newer file about the day.
fn remove_others(folder: &Path, format: DayFormat) -> Result<(), Failure> {
    let others = DayFormat::NAMES.iter().filter(|(_, it)| *it != format);
    for (_, other) in others {
        for (table, _) in tables() {
            let path = folder.join(file_name(table, *other));
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    let path = path.display();
                    return Err(Failure::Text(format!("{path} cannot be removed: {error}")));
                }
                Ok(()) | Err(_) => {}
            }
        }
    }
    Ok(())
}

fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

impl DayFile {
    fn new(
        folder: &Path,
        name: String,
        columns: &[DayColumn],
        format: DayFormat,
    ) -> Result<Self, Failure> {
        let path = folder.join(&name);
        let out = Out::begin(&path, columns, format).map_err(|error| not_written(&path, &error))?;
        Ok(Self {
            name,
            path,
            rows: 0,
            out,
        })
    }

    fn add(&mut self, row: &DayRow) -> Result<(), Failure> {
        self.rows += 1;
        let added = self.out.add(row);
        added.map_err(|error| not_written(&self.path, &error))
    }

    /// Writes the whole file to the disk; returns its name.
    fn finish(self) -> Result<String, Failure> {
        let flushed = match self.out {
            Out::Csv(mut out) => out.flush(),
            #[cfg(feature = "parquet")]
            Out::Parquet(out) => out.finish(),
        };
        let synced = flushed.and_then(|()| sync(&self.path));
        synced.map_err(|error| not_written(&self.path, &error))?;
        Ok(self.name)
    }
}

impl Out {
    fn begin(path: &Path, columns: &[DayColumn], format: DayFormat) -> io::Result<Self> {
        let mut file = BufWriter::with_capacity(1 << 16, File::create(path)?);
        match format {
            DayFormat::Csv => {
                let names: Vec<&str> = columns.iter().map(|it| it.name).collect();
                writeln!(file, "{}", names.join(","))?;
                Ok(Self::Csv(file))
            }
            #[cfg(feature = "parquet")]
            DayFormat::Parquet => {
                let heads = columns.iter().map(|column| match column.kind {
                    DayColumnKind::Time => (column.name, ParquetKind::Time),
                    DayColumnKind::Text | DayColumnKind::Whole | DayColumnKind::Decimal => {
                        (column.name, ParquetKind::Text)
                    }
                });
                let heads: Vec<_> = heads.collect();
                let export = ParquetExport::new(file, &heads)?;
                Ok(Self::Parquet(Box::new(export)))
            }
            #[cfg(not(feature = "parquet"))]
            DayFormat::Parquet => Err(io::Error::other(NO_PARQUET)),
        }
    }

    fn add(&mut self, row: &DayRow) -> io::Result<()> {
        match self {
            Self::Csv(out) => {
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
            Self::Parquet(out) => out.add(row.iter().map(|value| match value {
                DayValue::Text(text) if text.is_empty() => None,
                DayValue::Text(text) => Some(ParquetValue::Text(text)),
                DayValue::Time(time) => time.map(ParquetValue::Time),
            })),
        }
    }
}

pub(super) fn not_written(path: &Path, error: &io::Error) -> Failure {
    Failure::Text(format!("{} cannot be written: {error}", path.display()))
}

/// 20261123 as 2026-11-23.
pub(in crate::oms) fn shown(date: u32) -> String {
    format!(
        "{}-{:02}-{:02}",
        date / 10_000,
        date / 100 % 100,
        date % 100
    )
}
