//! Writes the files of each ended trading day, in a separate thread that follows the journal.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use fixwire::Durability;
use fixwire::journal::{JournalPosition, Tail};
use fixwire::settings::{LoadError, Settings, Source};
use fixwire_oms::day::DayNotes;
use fixwire_oms::load::Diagnostic;
use fixwire_oms::rules::{DayFolder, DayFormat, RiskRules};
use fixwire_oms::{OmsEvent, OmsListener};

use super::super::answers::unreadable;
use super::super::archive::Notes;
use super::super::load::found;
use super::begin;
use super::files::shown;
use super::files::{self, DayFiles, Others};
use super::places::NotePlaces;
#[cfg(feature = "postgresql")]
use super::places::ReadPlace;
use super::source::{DayError, FoundDay, oldest};
use crate::failure::Failure;
use crate::writable;

/// Time between two checks for new events.
const LOOK: Duration = Duration::from_secs(1);
/// Maximum time between two attempts. The first pause is twice [`LOOK`]; each further pause is twice the pause before.
const LONGEST: Duration = Duration::from_secs(60);

/// The folder of the files. In the settings the folder is relative to the folder of the settings.
fn place(settings: &Path, folder: &DayFolder) -> PathBuf {
    let beside = settings.parent().unwrap_or(Path::new(""));
    beside.join(&folder.name)
}

/// Checks that the files of ended days can be written.
///
/// # Errors
///
/// No journal is kept, the folder cannot be written, or this build cannot write the format of the files.
pub fn check(
    source: &Source,
    settings: &Settings,
    rules: &RiskRules,
    durability: Durability,
) -> Result<(), LoadError> {
    let Some(folder) = &rules.day_files else {
        return Ok(());
    };
    let wrong = |what: String, hint: &str| {
        let problem = Diagnostic::new(folder.place, what, hint);
        Err(found(source, settings, &[problem]))
    };
    if durability == Durability::Memory {
        let what = "day_files needs a journal, and Durability=memory keeps none".to_owned();
        return wrong(
            what,
            "set Durability to process or disk, or remove day_files",
        );
    }
    if cfg!(not(feature = "parquet")) && rules.day_format == DayFormat::Parquet {
        let what = "day_format = \"parquet\" needs a fixwire with the feature parquet".to_owned();
        return wrong(
            what,
            "write day_format = \"csv\", or build with --features parquet",
        );
    }
    let path = place(&source.path, folder);
    match writable::try_in(&path) {
        Ok(()) => Ok(()),
        Err(error) => {
            let path = path.display();
            let what = format!("day_files: this user cannot write to {path}: {error}");
            wrong(
                what,
                "give this user the right to write to the folder, or name another one",
            )
        }
    }
}

/// The files that the thread writes, and the journal that it reads.
#[derive(Debug)]
pub struct DayFilesPlan {
    journal: PathBuf,
    folder: PathBuf,
    format: DayFormat,
}

impl DayFilesPlan {
    /// The plan for a settings file; `None` when the OMS of the file writes no files.
    #[must_use]
    pub fn of(settings: &Path, rules: &RiskRules, journal: &Path) -> Option<Self> {
        let folder = rules.day_files.as_ref()?;
        Some(Self {
            journal: journal.to_owned(),
            folder: place(settings, folder),
            format: rules.day_format,
        })
    }
}

/// The thread that writes the files of ended days. The thread ends when this value is dropped. Files that are not
/// complete then are written after the next start.
#[derive(Debug)]
pub struct DayFilesThread {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl DayFilesThread {
    /// Starts the thread. The listener receives the thread's events.
    ///
    /// # Errors
    ///
    /// The thread cannot be started.
    pub fn start(plan: DayFilesPlan, listener: OmsListener) -> io::Result<Self> {
        let ends = Arc::new(AtomicBool::new(false));
        let follower = Follower {
            found: FoundDays::begin(&plan.journal),
            plan,
            listener,
            ends: Arc::clone(&ends),
            written: BTreeMap::new(),
            kept: None,
            cleared: None,
            told: BTreeMap::new(),
        };
        let thread = fixwire_threads::spawn("oms-days", move || follower.work())?;
        let thread = Some(thread);
        Ok(Self { ends, thread })
    }
}

impl Drop for DayFilesThread {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // If the thread has panicked, the panic was already reported.
            let _ = thread.join();
        }
    }
}

/// The days in the part of the journal that was read.
pub(in crate::oms) struct FoundDays {
    tail: Tail,
    notes: Notes,
    places: NotePlaces,
    pub(in crate::oms) days: DayNotes,
    /// The number of the first note.
    pub(in crate::oms) first: Option<u64>,
    /// The day whose beginning is no longer in the journal. The events of this day are known from the oldest checkpoint
    /// on.
    #[cfg_attr(
        not(feature = "postgresql"),
        allow(dead_code, reason = "only rows in PostgreSQL need it")
    )]
    pub(in crate::oms) cut: Option<u32>,
    /// All notes up to the present were read once.
    has_caught_up: bool,
    /// Whether a record has been read.
    has_begun: bool,
    /// The range of segments that were removed before the first record was read.
    missed: Option<(u32, u32)>,
}

impl FoundDays {
    pub(in crate::oms) fn begin(journal: &Path) -> Self {
        Self {
            tail: Tail::new(journal, JournalPosition::START),
            notes: Notes::default(),
            places: NotePlaces::default(),
            days: DayNotes::default(),
            first: None,
            cut: None,
            has_caught_up: false,
            has_begun: false,
            missed: None,
        }
    }

    /// Where reading a note and all later ones begins.
    #[cfg(feature = "postgresql")]
    pub(in crate::oms) fn place_of(&self, note: u64) -> ReadPlace {
        self.places.before(note, &self.notes)
    }

    /// Reads the notes since the last time, as long as `goes_on` returns true.
    ///
    /// # Errors
    ///
    /// The journal cannot be read, or segments were removed before they were read.
    pub(in crate::oms) fn read(
        &mut self,
        journal: &Path,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(), Failure> {
        loop {
            if !goes_on() {
                return Ok(());
            }
            let Some(record) = self.tail.next_record().map_err(unreadable)? else {
                break;
            };
            let mut begins = None;
            for (number, note) in self.notes.of(&record) {
                self.first.get_or_insert(number);
                begins.get_or_insert(number);
                self.days.take(number, note);
            }
            self.places.take(&record, begins);
            let missed = self.tail.missed();
            if !self.has_begun {
                self.has_begun = true;
                self.missed = missed;
            }
            if let Some((from, to)) = missed.filter(|_| missed != self.missed) {
                let why = format!("segments {from} to {to} were removed before they were read");
                return Err(Failure::Text(why));
            }
        }
        // All days that begin in the journal have been added. The oldest checkpoint may be of one of these days, or of
        // an earlier day.
        if !self.has_caught_up {
            self.has_caught_up = true;
            if self.first.is_some_and(|first| first > 1)
                && let Some((state, before)) = oldest(journal)?
            {
                let day = state.day();
                if self.days.notes_of(day).is_none() {
                    self.cut = Some(day);
                }
                self.days.goes_on(day, before + 1);
            }
        }
        Ok(())
    }
}

struct Follower {
    plan: DayFilesPlan,
    listener: OmsListener,
    ends: Arc<AtomicBool>,
    found: FoundDays,
    /// For each day whose files are complete or that the journal no longer has, the end of its notes.
    written: BTreeMap<u32, u64>,
    /// The newest day and its first note. The state before that note is kept, if the journal has it.
    kept: Option<(u32, u64)>,
    /// The newest ended day for which older states were removed.
    cleared: Option<u32>,
    /// The last failure of each day; `None` is the key for failures to read the journal.
    told: BTreeMap<Option<u32>, String>,
}

impl Follower {
    fn work(mut self) {
        let mut pause = LOOK;
        while self.goes_on() {
            let is_done = self.read() && self.keep_beginning() && self.write_ended();
            pause = match is_done {
                true => LOOK,
                false => (2 * pause).min(LONGEST),
            };
            if self.goes_on() {
                thread::park_timeout(pause);
            }
        }
    }

    fn goes_on(&self) -> bool {
        !self.ends.load(Ordering::Acquire)
    }

    /// Reads the events that were added since the last call; returns false when the journal cannot be read.
    fn read(&mut self) -> bool {
        let goes_on = || !self.ends.load(Ordering::Acquire);
        match self.found.read(&self.plan.journal, &goes_on) {
            Ok(()) => {
                self.told.remove(&None);
                true
            }
            Err(failure) => {
                self.fails(None, &failure.to_string(), true);
                // The next attempt reads the journal from its beginning.
                self.found = FoundDays::begin(&self.plan.journal);
                false
            }
        }
    }

    /// Keeps the state before the newest day; returns false when it cannot be written.
    fn keep_beginning(&mut self) -> bool {
        let days = &self.found.days;
        let newest = days.dates().last();
        let begins = newest.and_then(|date| Some((date, days.notes_of(date)?.start)));
        let Some((date, first)) = begins.filter(|it| self.kept != Some(*it)) else {
            return true;
        };
        let goes_on = || !self.ends.load(Ordering::Acquire);
        let kept = begin::keep(&self.plan.journal, &self.plan.folder, date, first, &goes_on);
        match kept {
            Ok(()) => {
                self.kept = begins;
                self.told.remove(&Some(date));
                true
            }
            Err(failure) => {
                self.fails(Some(date), &failure.to_string(), true);
                // The files of ended days do not need this state.
                self.write_ended();
                false
            }
        }
    }

    /// Writes the missing files of all ended days; returns false when some could not be written.
    fn write_ended(&mut self) -> bool {
        let ended: Vec<u32> = self.found.days.ended().collect();
        let mut is_done = true;
        for &date in &ended {
            is_done &= self.goes_on() && self.has_files(date);
        }
        if is_done
            && let Some(date) = ended.last()
            && self.cleared != Some(*date)
        {
            begin::remove_older(&self.plan.folder, *date);
            self.cleared = Some(*date);
        }
        is_done
    }

    /// Whether a day has its files, after an attempt to write missing files.
    fn has_files(&mut self, date: u32) -> bool {
        let Some(notes) = self.found.days.notes_of(date) else {
            return true;
        };
        // The notes of a day end elsewhere if the day was continued after its end.
        if self.written.get(&date) == Some(&notes.end) {
            return true;
        }
        let folder = self.plan.folder.join(shown(date));
        let written = match files::are_whole(&folder, date, &notes) {
            true => Ok(()),
            false => self.write(date, &folder),
        };
        match written {
            Ok(()) => {
                self.told.remove(&Some(date));
            }
            // The files of this day are written after the next start.
            Err(_) if !self.goes_on() => return false,
            Err(DayError::Missing(why)) => self.fails(Some(date), &why, false),
            Err(DayError::Removed(why)) => {
                self.fails(Some(date), &why, true);
                return false;
            }
            Err(DayError::Unreadable(failure)) => {
                self.fails(Some(date), &failure.to_string(), true);
                return false;
            }
        }
        self.written.insert(date, notes.end);
        true
    }

    fn write(&mut self, date: u32, folder: &Path) -> Result<(), DayError> {
        let ends = Arc::clone(&self.ends);
        let goes_on = move || !ends.load(Ordering::Acquire);
        // The folder is tested before the journal is read, because it may not be writable.
        let mut files = DayFiles::begin(folder, self.plan.format, Others::Removed)?;
        let day = FoundDay::find(
            &self.plan.journal,
            Some(date),
            Some(&self.plan.folder),
            &goes_on,
        )?;
        let (notes, is_cut) = (day.notes.clone(), day.is_cut());
        let had = files::first_event(folder).filter(|had| is_cut && *had < notes.start);
        if let Some(had) = had {
            return Err(DayError::Missing(format!(
                "the files in {} have the events of the day from {had} on, but the journal has them only \
                from {} on: the files are not replaced",
                folder.display(),
                notes.start
            )));
        }
        day.write(&mut files, &goes_on)?;
        files.finish(date, &notes)?;
        let (day, folder) = (date, folder.display().to_string());
        let folder = &*folder;
        (self.listener)(match is_cut {
            true => OmsEvent::DayFilesCut { day, folder },
            false => OmsEvent::DayFiles { day, folder },
        });
        Ok(())
    }

    /// Raises the event of a failure, unless the day's last failure was the same.
    fn fails(&mut self, day: Option<u32>, why: &str, again: bool) {
        if self.told.get(&day).is_none_or(|told| told != why) {
            self.told.insert(day, why.to_owned());
            (self.listener)(OmsEvent::DayFilesFailed { day, why, again });
        }
    }
}
