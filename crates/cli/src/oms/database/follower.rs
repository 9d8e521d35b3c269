//! The thread that writes the rows: it follows the journal, and the engine never waits for it.

use std::collections::BTreeSet;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use fixwire::journal::JournalError;
use fixwire::log::{LogError, RowChange, RowDatabase, RowDay, RowFault, RowPosition, RowSettings};
use fixwire_oms::rules::RiskRules;
use fixwire_oms::{OmsEvent, OmsListener, OmsState};

use super::super::answers::unreadable;
use super::super::day::begin;
use super::super::day::files::shown;
use super::super::day::roll::FoundDays;
use super::super::day::source;
use super::progress::{Progress, ReadStart};
use super::{row_settings, rows};
use crate::failure::Failure;
use crate::teller::now;

/// Time between two searches of the journal for new events.
const LOOK: Duration = Duration::from_millis(100);
/// The first pause after a failure. Each further failure doubles the pause.
const AGAIN: Duration = Duration::from_millis(250);
/// The longest pause after a failure.
const AGAIN_AT_MOST: Duration = Duration::from_secs(30);
/// The age of the last written event, in nanoseconds, at which the database counts as slow.
const LATE: i64 = 60_000_000_000;
/// Time limit for the last rows when the engine stops. The rest follows after the next start.
const ENDING: Duration = Duration::from_secs(5);
/// The folder, inside the folder of the journal, with the name of the store and the states before trading days.
const FOLDER: &str = "oms-database";

/// The rows that the thread writes, and their database.
#[derive(Debug)]
pub struct DatabasePlan {
    journal: PathBuf,
    rows: RowSettings,
}

impl DatabasePlan {
    /// The plan of a settings file; `None` when the settings name no database.
    ///
    /// # Errors
    ///
    /// The file with the password cannot be read, or is empty.
    pub fn of(settings: &Path, rules: &RiskRules, journal: &Path) -> Result<Option<Self>, Failure> {
        let rows = row_settings(settings, rules).map_err(Failure::Text)?;
        Ok(rows.map(|rows| Self {
            journal: journal.to_owned(),
            rows,
        }))
    }
}

/// The thread that writes the rows. When this value is dropped, the thread writes the rows of the last events and
/// ends.
#[derive(Debug)]
pub struct DatabaseThread {
    ends: Arc<AtomicBool>,
    /// Closed when the thread has ended.
    ended: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl DatabaseThread {
    /// Starts the thread. The listener gets the thread's events. Also succeeds when the database does not answer.
    ///
    /// # Errors
    ///
    /// The address of the database is invalid, or the thread cannot be started.
    pub fn start(plan: DatabasePlan, listener: OmsListener) -> Result<Self, Failure> {
        let database = RowDatabase::new(&plan.rows, rows::VERSION, rows::tables());
        let database = database.map_err(|error| Failure::Text(error.to_string()))?;
        let ends = Arc::new(AtomicBool::new(false));
        let (alive, ended) = sync_channel(0);
        let follower = Follower {
            folder: plan.journal.join(FOLDER),
            found: FoundDays::begin(&plan.journal),
            journal: plan.journal,
            database,
            store: None,
            progress: None,
            is_open: false,
            reported: BTreeSet::new(),
            is_behind: false,
            listener,
            ends: Arc::clone(&ends),
        };
        let work = move || {
            let _alive = alive;
            follower.work();
        };
        let thread = fixwire_threads::spawn("oms-database", work).map_err(Failure::thread)?;
        Ok(Self {
            ends,
            ended,
            thread: Some(thread),
        })
    }
}

impl Drop for DatabaseThread {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            if self.ended.recv_timeout(ENDING) == Err(RecvTimeoutError::Timeout) {
                // The database does not answer, or many rows are left. The thread is not waited for. A change is
                // carried out completely or not at all.
                return;
            }
            // A panicking thread has already reported it.
            let _ = thread.join();
        }
    }
}

/// Why rows are not written now.
pub(super) enum Fault {
    /// Another attempt may succeed.
    Failed(String),
    /// The rows in the database do not belong to this journal or version.
    Refused(String),
    /// The journal is read again, because a trading day was taken back.
    Again,
}

impl From<RowFault> for Fault {
    fn from(fault: RowFault) -> Self {
        match fault {
            RowFault::Failed(LogError(why)) => Self::Failed(why),
            RowFault::Refused(LogError(why)) => Self::Refused(why),
        }
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure.to_string())
    }
}

impl From<LogError> for Fault {
    fn from(LogError(why): LogError) -> Self {
        Self::Failed(why)
    }
}

impl From<JournalError> for Fault {
    fn from(error: JournalError) -> Self {
        unreadable(error).into()
    }
}

struct Follower {
    journal: PathBuf,
    /// The folder with our files.
    folder: PathBuf,
    database: RowDatabase,
    /// The name of the journal in the database; `None` before the name was read.
    store: Option<String>,
    found: FoundDays,
    progress: Option<Progress>,
    /// Whether the position in the database is known.
    is_open: bool,
    /// The failures that were reported since the last time that all rows were in the database.
    reported: BTreeSet<String>,
    is_behind: bool,
    listener: OmsListener,
    ends: Arc<AtomicBool>,
}

impl Follower {
    fn work(mut self) {
        let mut pause = AGAIN;
        loop {
            let ends = self.ends.load(Ordering::Acquire);
            match self.round() {
                Ok(true) => {
                    pause = AGAIN;
                    self.check_late();
                }
                Ok(false) => {
                    pause = AGAIN;
                    self.has_caught_up();
                    if ends {
                        return;
                    }
                    thread::park_timeout(LOOK);
                }
                Err(fault) => {
                    self.fails(fault);
                    if ends {
                        return;
                    }
                    thread::park_timeout(pause);
                    pause = (2 * pause).min(AGAIN_AT_MOST);
                }
            }
        }
    }

    /// Writes the rows of new events. Returns whether there may be more rows to write now.
    fn round(&mut self) -> Result<bool, Fault> {
        if let Err(failure) = self.found.read(&self.journal, &|| true) {
            // The next attempt reads the journal from its beginning.
            self.found = FoundDays::begin(&self.journal);
            self.progress = None;
            return Err(failure.into());
        }
        let store = self.store()?;
        if !self.is_open {
            self.open(&store)?;
        }
        let Some(progress) = &mut self.progress else {
            return Err(Fault::Again);
        };
        // If the last change failed, the same change is written first. Then there are more rows to write.
        let mut is_full = true;
        if progress.sent.is_none() {
            is_full = match progress.read(&self.journal, &self.folder, &mut self.found) {
                Ok(is_full) => is_full,
                Err(fault) => {
                    self.progress = None;
                    if let Fault::Failed(_) = fault {
                        // Segments may have been removed.
                        self.found = FoundDays::begin(&self.journal);
                    }
                    return Err(fault);
                }
            };
        }
        let Some(change) = progress.next_change() else {
            return Ok(false);
        };
        let written = self.database.write(&store, change);
        written?;
        progress.is_written();
        Ok(is_full)
    }

    /// The name of the journal in the database.
    fn store(&mut self) -> Result<String, Fault> {
        if let Some(store) = &self.store {
            return Ok(store.clone());
        }
        let folder = &self.folder;
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|error| {
            Fault::Failed(format!("{} cannot be made: {error}", folder.display()))
        })?;
        let store = RowDatabase::store(&folder.join("store.id"))?;
        self.store = Some(store.clone());
        Ok(store)
    }

    /// Connects to the database. Begins to read the journal after the position in the database, unless the rows that
    /// were read continue exactly there.
    fn open(&mut self, store: &str) -> Result<(), Fault> {
        let position = self.database.open(store)?;
        let goes_on = match &mut self.progress {
            Some(progress)
                if progress.sent.as_ref().map(|it| it.to) == position && position.is_some() =>
            {
                progress.is_written();
                true
            }
            Some(progress) => progress.written == position,
            None => false,
        };
        if !goes_on {
            self.progress = None;
            self.progress = Some(self.begin(store, position)?);
        }
        self.is_open = true;
        Ok(())
    }

    /// Begins to read the journal after a position of the database. If an operator returned to a day before the day of
    /// that position, the rows of that later day are removed first.
    fn begin(&mut self, store: &str, position: Option<RowPosition>) -> Result<Progress, Fault> {
        let Some(at) = position else {
            let start = self.first_state()?;
            return self.begin_at(start, None);
        };
        let last = self.found.days.last();
        if at.event > last {
            return Err(Fault::Refused(format!(
                "the database has rows of events up to {} of store {store}, but the journal ends with \
                event {last}: restore the journal; if the journal is new, remove the folder {}; if \
                the journal has lost its end, remove this folder and also the rows of this store",
                at.event,
                self.folder.display()
            )));
        }
        let mut at = at;
        if let Some(day) = at.day {
            if self.found.cut == Some(day.date) {
                self.found.days.went_on_from(day.date, day.first);
            }
            if !self.has_day(day) {
                at = self.go_back(store, at, day)?;
            }
        }
        let start = self.state_for(at)?;
        self.begin_at(start, Some(at))
    }

    fn begin_at(&self, start: ReadStart, position: Option<RowPosition>) -> Result<Progress, Fault> {
        let progress = Progress::new(&self.journal, &self.found, start, position);
        if let Some((day, state)) = progress.begun_day()
            && day.first == progress.event() + 1
        {
            begin::keep_state(&self.folder, day.date, day.first, state)?;
        }
        Ok(progress)
    }

    /// The oldest state of the journal.
    fn first_state(&mut self) -> Result<ReadStart, Fault> {
        if self.found.first.is_none_or(|first| first <= 1) {
            return Ok(ReadStart {
                state: OmsState::default(),
                note: 0,
                day: None,
            });
        }
        let (state, note) = self.oldest()?;
        (self.listener)(OmsEvent::DatabaseIncomplete { from: 1, to: note });
        let day = None;
        Ok(ReadStart { state, note, day })
    }

    fn oldest(&self) -> Result<(OmsState, u64), Fault> {
        let oldest = source::oldest(&self.journal)?;
        oldest.ok_or_else(|| {
            let why =
                "the first events were removed from the journal, and the journal has no checkpoint";
            Fault::Failed(why.to_owned())
        })
    }

    /// The state from which the events after a position are read. If the state is known, it is the state before the day
    /// of the position.
    fn state_for(&mut self, at: RowPosition) -> Result<ReadStart, Fault> {
        let first = at.day.map_or(at.event + 1, |day| day.first);
        if let Some(state) = self.state_before(at.day, first)? {
            let (note, day) = (first - 1, at.day);
            return Ok(ReadStart { state, note, day });
        }
        if let Some((state, note)) = source::before(&self.journal, at.event + 1)?
            && note + 1 >= first
        {
            let date = at.day.map_or(state.day(), |day| day.date);
            (self.listener)(OmsEvent::DatabaseDayCut {
                day: date,
                after: note,
            });
            let day = at.day;
            return Ok(ReadStart { state, note, day });
        }
        let (state, note) = self.oldest()?;
        let from = at.event + 1;
        (self.listener)(OmsEvent::DatabaseIncomplete { from, to: note });
        let day = None;
        Ok(ReadStart { state, note, day })
    }

    /// The state before a note: the kept state of the day, or else a state of the journal.
    fn state_before(&self, day: Option<RowDay>, first: u64) -> Result<Option<OmsState>, Fault> {
        let has_notes = self.found.first.is_some_and(|oldest| oldest <= first);
        let kept = day.and_then(|day| begin::read(&self.folder, day.date, first));
        match kept.filter(|_| has_notes) {
            Some(state) => Ok(Some(state)),
            None if first <= 1 => Ok(has_notes.then(OmsState::default)),
            None => Ok(begin::state_before(&self.journal, first, &|| true)?),
        }
    }

    /// Whether the day of the database is still in the journal. An operator may have taken the day back.
    fn has_day(&self, day: RowDay) -> bool {
        let notes = self.found.days.notes_of(day.date);
        let has = notes.is_some_and(|notes| notes.contains(&day.first));
        has || self.found.first.is_some_and(|oldest| day.first < oldest)
    }

    /// Removes the rows of a day that was taken back, and the rows of the day before it, which continues. The rows of
    /// that day are written again.
    fn go_back(&mut self, store: &str, at: RowPosition, day: RowDay) -> Result<RowPosition, Fault> {
        let refused = |why: &str| {
            let day = shown(day.date);
            Fault::Refused(format!(
                "trading day {day} was taken back, but its rows cannot be removed from the database: \
                {why}; remove the rows of store {store}, or restore the folder {}",
                self.folder.display()
            ))
        };
        let begun = self.found.days.day_of(day.first);
        let begun = begun.ok_or_else(|| refused("the journal has no earlier day"))?;
        let kept = begin::first_after(&self.folder, begun.date).unwrap_or(begun.first);
        let first = if kept < day.first { kept } else { begun.first };
        let to = RowDay {
            date: begun.date,
            first,
        };
        if self.state_before(Some(to), first)?.is_none() {
            return Err(refused("the state before the day that goes on is missing"));
        }
        let to = RowPosition {
            journal: 0,
            event: first - 1,
            hash: 0,
            day: Some(to),
        };
        let change = RowChange {
            from: Some(at),
            to,
            remove: Some(shown(begun.date)),
            rows: Vec::new(),
        };
        self.database.write(store, &change)?;
        Ok(to)
    }

    /// Raises the event of a failure, unless the same failure was reported since the last time that all rows were in
    /// the database.
    fn fails(&mut self, fault: Fault) {
        self.is_open = false;
        let (is_refused, why) = match fault {
            Fault::Again => return,
            Fault::Failed(why) => (false, why),
            Fault::Refused(why) => (true, why),
        };
        if !self.reported.insert(why.clone()) {
            return;
        }
        let why = &*why;
        if is_refused {
            (self.listener)(OmsEvent::DatabaseRefused { why });
        } else {
            let events = self.missing();
            (self.listener)(OmsEvent::DatabaseFailed { why, events });
        }
        self.is_behind = true;
    }

    /// Number of events without rows; `None` while the position in the database is unknown.
    fn missing(&self) -> Option<u64> {
        let written = self.progress.as_ref()?.written;
        let written = written.map_or(0, |written| written.event);
        Some(self.found.days.last().saturating_sub(written))
    }

    /// Raises the event of a slow database, once for each time that the database falls behind.
    fn check_late(&mut self) {
        let wall = self.progress.as_ref().map_or(i64::MAX, |it| it.wall);
        if !self.is_behind && now().0.saturating_sub(wall) > LATE {
            self.is_behind = true;
            let events = self.missing().unwrap_or_default();
            (self.listener)(OmsEvent::DatabaseSlow { events });
        }
    }

    fn has_caught_up(&mut self) {
        self.reported.clear();
        if std::mem::take(&mut self.is_behind) {
            let event = self.progress.as_ref().map_or(0, Progress::event);
            (self.listener)(OmsEvent::DatabaseCaughtUp { event });
        }
    }
}
