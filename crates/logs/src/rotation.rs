//! Rotation of log files: a file that is full, or whose day is over, gets a name with its day and a number.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use fixwire_protocol::Timestamp;
use fixwire_protocol::time::{Precision, TimestampWriter};

/// Nanoseconds of a day.
const DAY: i64 = 86_400_000_000_000;
/// For this time the names found in the folder count as its content. A folder of many sessions is not read again for
/// each of them when their day ends.
const FRESH: Duration = Duration::from_secs(60);

/// When the file of a log is renamed and a new one begins, and how many renamed files stay.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct FileLogRotation {
    /// Maximum length of a file, bytes; a longer line gets a file of its own. `None`: no maximum.
    pub max_bytes: Option<u64>,
    /// Whether a file ends with its day, in UTC.
    pub daily: bool,
    /// Maximum number of renamed files for each file; the oldest files above it are removed. `None`: all stay.
    pub keep: Option<u32>,
}

impl FileLogRotation {
    /// Whether a line of this length and day begins a new file.
    pub(super) fn is_due(&self, file: &FileExtent, line: u64, day: LogDay) -> bool {
        let is_full = self.max_bytes.is_some_and(|most| file.bytes + line > most);
        // A line of an earlier day, after a step of the clock, begins no file.
        let is_over = self.daily && file.day.is_some_and(|last| day > last);
        file.bytes > 0 && (is_full || is_over)
    }
}

/// A day in UTC, counted from 1970-01-01.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct LogDay(i64);

impl LogDay {
    pub(super) fn of(wall: Timestamp) -> Self {
        Self(wall.0.div_euclid(DAY))
    }

    /// As `YYYYMMDD`.
    fn date(self) -> String {
        let midnight = Timestamp(self.0.saturating_mul(DAY));
        let mut writer = TimestampWriter::new();
        let text = writer.format(midnight, Precision::Seconds);
        String::from_utf8_lossy(&text[..8]).into_owned()
    }
}

/// How long a file is, and the day of its last line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FileExtent {
    pub bytes: u64,
    /// `None` for a file without a line.
    pub day: Option<LogDay>,
}

impl FileExtent {
    /// The extent of the file at this path. A file that cannot be examined counts as empty: opening it then fails too.
    pub(super) fn at(path: &Path) -> Self {
        let Ok(found) = fs::metadata(path) else {
            return Self::default();
        };
        let changed = found.modified().ok();
        let since = changed.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        let nanos = since.and_then(|since| i64::try_from(since.as_nanos()).ok());
        Self {
            bytes: found.len(),
            day: nanos
                .filter(|_| found.len() > 0)
                .map(|nanos| LogDay::of(Timestamp(nanos))),
        }
    }
}

/// The names in the folder of a log.
#[derive(Debug, Default)]
pub(super) struct LogFolder {
    names: BTreeSet<String>,
    read: Option<Instant>,
}

impl LogFolder {
    /// Renames a file whose last line is of this day, and then removes the oldest renamed files above `keep`.
    ///
    /// # Errors
    ///
    /// The folder cannot be read, or the file cannot be renamed: the file is as before.
    pub(super) fn rotate(&mut self, path: &Path, day: LogDay) -> io::Result<()> {
        let Some((folder, name)) = path.parent().zip(path.file_name()) else {
            return Err(ErrorKind::InvalidFilename.into());
        };
        self.refresh(folder)?;
        let stem = stem(&name.to_string_lossy());
        let date = day.date();
        let last = self.renamed(&stem).filter(|one| one.date == date);
        let last = last.map(|one| one.number).max().unwrap_or(0);
        let mut names = (last + 1..).map(|number| format!("{stem}.{date}-{number}.log"));
        // A file that is there already is not replaced.
        let is_free = |name: &String| !folder.join(name).exists();
        let Some(renamed) = names.find(is_free) else {
            return Err(ErrorKind::AlreadyExists.into());
        };
        match fs::rename(path, folder.join(&renamed)) {
            // Somebody else has renamed the file.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
            Ok(()) => drop(self.names.insert(renamed)),
        }
        Ok(())
    }

    /// The oldest renamed files of a file, above the number that stays.
    pub(super) fn surplus(&mut self, path: &Path, keep: u32) -> Vec<PathBuf> {
        let Some((folder, name)) = path.parent().zip(path.file_name()) else {
            return Vec::new();
        };
        let mut renamed: Vec<Renamed> = self.renamed(&stem(&name.to_string_lossy())).collect();
        renamed.sort_by(|a, b| (&a.date, a.number).cmp(&(&b.date, b.number)));
        let surplus = renamed.len().saturating_sub(keep as usize);
        renamed.truncate(surplus);
        let paths = renamed.iter().map(|one| {
            self.names.remove(&one.name);
            folder.join(&one.name)
        });
        paths.collect()
    }

    fn refresh(&mut self, folder: &Path) -> io::Result<()> {
        if self.read.is_some_and(|at| at.elapsed() < FRESH) {
            return Ok(());
        }
        self.names.clear();
        for entry in fs::read_dir(folder)? {
            let name = entry?.file_name();
            self.names.extend(name.into_string().ok());
        }
        self.read = Some(Instant::now());
        Ok(())
    }

    /// The renamed files of the file with this stem, also those that somebody has compressed.
    fn renamed(&self, stem: &str) -> impl Iterator<Item = Renamed> {
        let prefix = format!("{stem}.");
        let names = self.names.range(prefix.clone()..);
        let names = names.take_while({
            let prefix = prefix.clone();
            move |name| name.starts_with(&prefix)
        });
        names.filter_map(move |name| Renamed::parse(name, &prefix))
    }
}

/// A renamed file.
struct Renamed {
    name: String,
    /// `YYYYMMDD`.
    date: String,
    number: u32,
}

impl Renamed {
    fn parse(name: &str, prefix: &str) -> Option<Self> {
        let (when, ending) = name.strip_prefix(prefix)?.split_once(".log")?;
        let is_log = ending.is_empty() || ending.starts_with('.');
        let (date, number) = when.split_once('-').filter(|_| is_log)?;
        let is_date = date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit());
        Some(Self {
            name: name.to_owned(),
            date: date.to_owned(),
            number: number.parse().ok().filter(|_| is_date)?,
        })
    }
}

/// The beginning of the names that a file gets: its name without the last parts.
fn stem(name: &str) -> String {
    let name = name.strip_suffix(".log").unwrap_or(name);
    name.strip_suffix(".current").unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use fixwire_engine::journal::JournalPosition;
    use fixwire_engine::log::LogTarget;
    use tempfile::TempDir;

    use super::*;
    use crate::files::{FileLog, Files};
    use crate::store::Family;

    /// 2026-08-21T23:59:59Z
    const EVENING: Timestamp = Timestamp(1_787_356_799_000_000_000);
    const MORNING: Timestamp = Timestamp(EVENING.0 + 2_000_000_000);
    const NAME: &str = "FIX.4.2:A->B";
    /// Length of the line of an event of this test, bytes.
    const LINE: u64 = 41;

    struct World {
        folder: TempDir,
        log: FileLog,
        files: Files,
        to: u32,
    }

    impl World {
        fn new(layout: Family, rotation: FileLogRotation) -> Self {
            let folder = TempDir::new().unwrap();
            let log = FileLog {
                layout,
                rotation,
                ..FileLog::new(folder.path())
            };
            let files = Files::new(log.clone(), &[]).unwrap();
            Self {
                folder,
                log,
                files,
                to: 0,
            }
        }

        fn restart(&mut self) {
            self.files = Files::new(self.log.clone(), &[]).unwrap();
        }

        fn event(&mut self, wall: Timestamp, number: u32) {
            let text = format!("event {number:04}");
            self.files.event(Some(NAME), wall, &text);
        }

        fn flush(&mut self) -> Result<(), String> {
            self.to += 1;
            let to = JournalPosition::new(1, self.to);
            self.files.flush(to).map_err(|error| error.to_string())
        }

        /// The files, each with the numbers of its events.
        fn found(&self) -> Vec<(String, Vec<u32>)> {
            let entries = fs::read_dir(self.folder.path()).unwrap();
            let mut found: Vec<_> = entries
                .map(|entry| {
                    let path = entry.unwrap().path();
                    let text = fs::read_to_string(&path).unwrap();
                    let numbers = text.lines().map(|line| line[line.len() - 4..].parse());
                    let name = path.file_name().unwrap().to_string_lossy().into_owned();
                    (name, numbers.map(Result::unwrap).collect())
                })
                .collect();
            found.sort();
            found
        }

        #[track_caller]
        fn expect(&self, files: &[(&str, &[u32])]) {
            let files = files.iter();
            let files =
                files.map(|(name, events)| (format!("FIX.4.2-A-B.event.{name}"), events.to_vec()));
            assert_eq!(self.found(), files.collect::<Vec<_>>());
        }
    }

    fn sized(lines: u64, keep: Option<u32>) -> FileLogRotation {
        FileLogRotation {
            max_bytes: Some(LINE * lines),
            keep,
            ..FileLogRotation::default()
        }
    }

    #[test]
    fn a_full_file_gets_a_name_and_no_line_is_lost_or_cut() {
        let mut world = World::new(Family::Quickfix, sized(2, None));
        for number in 1..=5 {
            world.event(EVENING, number);
        }
        world.flush().unwrap();
        world.expect(&[
            ("20260821-1.log", &[1, 2]),
            ("20260821-2.log", &[3, 4]),
            ("current.log", &[5]),
        ]);
        // A start finds how long the file is, and which number is next.
        world.restart();
        world.event(EVENING, 6);
        world.event(EVENING, 7);
        world.flush().unwrap();
        assert_eq!(world.found().len(), 4);
        assert_eq!(world.found()[3].1, [7]);
        assert_eq!(world.found()[2].1, [5, 6]);
    }

    #[test]
    fn a_line_that_is_longer_than_a_file_has_a_file_of_its_own() {
        let mut world = World::new(Family::Quickfix, sized(0, None));
        for number in 1..=3 {
            world.event(EVENING, number);
            world.flush().unwrap();
        }
        world.expect(&[
            ("20260821-1.log", &[1]),
            ("20260821-2.log", &[2]),
            ("current.log", &[3]),
        ]);
    }

    #[test]
    fn a_file_ends_with_its_day() {
        let daily = FileLogRotation {
            daily: true,
            ..FileLogRotation::default()
        };
        let mut world = World::new(Family::Quickfix, daily);
        world.event(EVENING, 1);
        world.event(MORNING, 2);
        // The clock was set back.
        world.event(EVENING, 3);
        world.event(MORNING, 4);
        world.flush().unwrap();
        world.expect(&[("20260821-1.log", &[1]), ("current.log", &[2, 3, 4])]);
        let mut world = World::new(Family::QuickfixJ, daily);
        world.event(EVENING, 1);
        world.flush().unwrap();
        // The file of a day that is over when the process starts.
        let path = world.folder.path().join("FIX.4.2-A-B.event.log");
        let evening = Duration::from_nanos(EVENING.0.cast_unsigned());
        let file = fs::File::options().append(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + evening).unwrap();
        world.restart();
        world.event(MORNING, 2);
        world.flush().unwrap();
        world.expect(&[("20260821-1.log", &[1]), ("log", &[2])]);
    }

    #[test]
    fn the_oldest_renamed_files_are_removed_and_no_others() {
        let mut world = World::new(Family::Quickfix, sized(1, Some(2)));
        let name = |end: &str| world.folder.path().join(format!("FIX.4.2-A-B.event.{end}"));
        let others = ["20260821-x.log", "2026082-1.log", "20260820-1.txt", "log"];
        for other in others {
            fs::write(name(other), "0000\n").unwrap();
        }
        // Compressed by somebody: the oldest.
        fs::write(name("20260820-9.log.gz"), "0000\n").unwrap();
        for number in 1..=12 {
            world.event(EVENING, number);
        }
        world.flush().unwrap();
        let found = world.found();
        let renamed = ["20260821-10.log", "20260821-11.log", "current.log"];
        let mut expected: Vec<_> = others.iter().chain(&renamed).collect();
        expected.sort();
        let names: Vec<_> = found
            .iter()
            .map(|(name, _)| &name["FIX.4.2-A-B.event.".len()..])
            .collect();
        assert_eq!(names, expected.into_iter().copied().collect::<Vec<_>>());
        let events: Vec<u32> = found.into_iter().flat_map(|(_, events)| events).collect();
        assert_eq!(events.iter().filter(|event| **event > 0).count(), 3);
        assert!([10, 11, 12].iter().all(|event| events.contains(event)));
    }

    #[test]
    fn a_name_that_is_taken_is_passed_over() {
        let mut world = World::new(Family::Quickfix, sized(1, None));
        world.event(EVENING, 1);
        world.event(EVENING, 2);
        world.flush().unwrap();
        // The log has read the names before.
        let taken = "FIX.4.2-A-B.event.20260821-2.log";
        fs::write(world.folder.path().join(taken), "0000\n").unwrap();
        world.event(EVENING, 3);
        world.flush().unwrap();
        world.expect(&[
            ("20260821-1.log", &[1]),
            ("20260821-2.log", &[0]),
            ("20260821-3.log", &[2]),
            ("current.log", &[3]),
        ]);
    }

    #[test]
    fn a_file_that_cannot_be_renamed_is_tried_again_and_loses_nothing() {
        let mut world = World::new(Family::Quickfix, sized(1, None));
        world.event(EVENING, 1);
        world.flush().unwrap();
        let moved = world.folder.path().with_extension("moved");
        fs::rename(world.folder.path(), &moved).unwrap();
        world.event(EVENING, 2);
        for _ in 0..2 {
            let error = world.flush().unwrap_err();
            assert!(
                error.starts_with("cannot rename") && error.contains("current.log"),
                "{error}"
            );
        }
        fs::rename(&moved, world.folder.path()).unwrap();
        world.flush().unwrap();
        world.expect(&[("20260821-1.log", &[1]), ("current.log", &[2])]);
    }

    #[test]
    fn files_opened_anew_after_a_hangup_are_counted_anew() {
        let mut world = World::new(Family::Quickfix, sized(2, None));
        world.event(EVENING, 1);
        world.event(EVENING, 2);
        world.flush().unwrap();
        let path = world.folder.path().join("FIX.4.2-A-B.event.current.log");
        fs::rename(&path, path.with_extension("moved")).unwrap();
        assert_eq!(world.files.reopen(), Ok(true));
        world.event(EVENING, 3);
        world.event(EVENING, 4);
        world.flush().unwrap();
        world.expect(&[("current.log", &[3, 4]), ("current.moved", &[1, 2])]);
    }
}
