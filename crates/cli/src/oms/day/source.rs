//! A trading day in a journal: its notes, and the state before them.

use std::io;
use std::ops::Range;
use std::path::Path;

use fixwire::journal::{self, DumpFilter, HeldSegments};
use fixwire_oms::OmsState;
use fixwire_oms::day::{DayNotes, DayReport};
use fixwire_protocol::Ledger as _;

use super::super::answers::unreadable;
use super::begin;
use super::files::DayFiles;
use super::files::shown;
use crate::failure::Failure;

/// The error when a day is not read to its end.
const UNFINISHED: &str = "the files are not finished";

/// A trading day of a journal.
pub(super) struct FoundDay {
    /// The date, such as 20261122.
    pub(super) date: u32,
    /// The numbers of the day's notes.
    pub(super) notes: Range<u64>,
    state: OmsState,
    /// The number of the last note in `state`.
    known: u64,
    /// Number of operators' actions after the last note of the day.
    last_actions: usize,
    /// The segments in which the day was found, also those that were removed since.
    held: HeldSegments,
}

/// Why a day cannot be read from a journal.
pub(super) enum DayError {
    /// The journal does not have the day, or no longer has what is needed for the day.
    Missing(String),
    /// Segments were removed before they were read. Another attempt begins at the present beginning of the journal.
    Removed(String),
    /// The journal cannot be read.
    Unreadable(Failure),
}

impl From<DayError> for Failure {
    fn from(error: DayError) -> Self {
        match error {
            DayError::Missing(why) | DayError::Removed(why) => Self::Text(why),
            DayError::Unreadable(failure) => failure,
        }
    }
}

impl From<Failure> for DayError {
    fn from(failure: Failure) -> Self {
        Self::Unreadable(failure)
    }
}

impl FoundDay {
    /// Finds a day in a journal; without a date, the newest day. The newest day ends with the last note that is found,
    /// because an engine may be writing the journal. `kept` is the folder of the kept states before days.
    ///
    /// # Errors
    ///
    /// The journal does not have the day or cannot be read, or `goes_on` was false.
    pub(super) fn find(
        store: &Path,
        wanted: Option<u32>,
        kept: Option<&Path>,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Self, DayError> {
        let (mut days, mut first, mut trailing) = (DayNotes::default(), None, 0);
        // Segments that are removed from now on are read.
        let held = HeldSegments::open(store).map_err(unreadable)?;
        let read = journal::each_line_of(&held, &DumpFilter::default(), |line| {
            if !goes_on() {
                return Err(io::Error::other(UNFINISHED));
            }
            if let Some((number, note)) = line.kept() {
                first.get_or_insert(number);
                days.take(number, note);
                trailing = 0;
            }
            trailing += usize::from(line.operator_action().is_some());
            Ok(())
        });
        let read = read.map_err(unreadable)?;
        if let Some((first, last)) = read.removed {
            return Err(removed(&format!("segments {first} to {last} were")));
        }
        if let Some(damage) = read.bad.as_ref().filter(|_| !read.torn) {
            let why = format!(
                "the rows after this damage would be missing, so no file is written: {damage}"
            );
            return Err(Failure::Text(why).into());
        }
        let is_whole = first.is_none_or(|first| first <= 1);
        let begun = match is_whole {
            true => None,
            // The journal has lost its first notes, so its events are known only from its oldest checkpoint on.
            false => oldest(store)?,
        };
        if let Some((state, note)) = &begun {
            days.goes_on(state.day(), note + 1);
        }
        let date = wanted.or_else(|| days.dates().last());
        let notes = date.and_then(|date| days.notes_of(date));
        let (Some(date), Some(notes)) = (date, notes) else {
            return Err(no_day(store, wanted, &days));
        };
        let last_actions = match days.dates().last() == Some(date) {
            true => trailing,
            false => usize::MAX,
        };
        let kept = kept.and_then(|folder| begin::read(folder, date, notes.start));
        let early = match kept {
            Some(state) => Some((state, notes.start - 1)),
            None => before(store, notes.start)?,
        };
        let oldest_note = begun.as_ref().map(|(_, note)| *note);
        let (state, known, notes) = match (early, begun) {
            // The day began before the first note in the journal, or before the oldest checkpoint.
            (None, Some((state, note))) if state.day() == date => {
                (state, note, note + 1..notes.end)
            }
            (Some((state, note)), _) => (state, note, notes),
            (None, _) if is_whole => (OmsState::default(), 0, notes),
            // The OMS has replaced the oldest checkpoint since it was read.
            (None, _) if oldest(store)?.map(|(_, note)| note) != oldest_note => {
                return Err(removed("the oldest checkpoint was"));
            }
            (None, _) => {
                return Err(DayError::Missing(format!(
                    "the state before {} is not known: the journal {} begins later (JournalKeep), and has no \
                     checkpoint from before",
                    shown(date),
                    store.display()
                )));
            }
        };
        Ok(Self {
            date,
            notes,
            state,
            known,
            last_actions,
            held,
        })
    }

    /// Whether the beginning of the day is no longer in the journal.
    pub(super) fn is_cut(&self) -> bool {
        self.state.day() == self.date
    }

    /// Adds the rows of the day to its files, as long as `goes_on` returns true.
    ///
    /// # Errors
    ///
    /// The journal cannot be read, a file cannot be written, or `goes_on` returned false.
    pub(super) fn write(
        self,
        files: &mut DayFiles,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(), DayError> {
        let Self {
            notes,
            known,
            mut last_actions,
            held,
            ..
        } = self;
        let mut day = DayReport::new(self.state);
        let (mut wrong, mut last, mut next) = (None, 0, known + 1);
        let read = journal::each_line_of(&held, &DumpFilter::default(), |line| {
            let mut add = |added: Result<(), Failure>| {
                added.map_err(|failure| {
                    wrong = Some(DayError::from(failure));
                    io::Error::other("a file of the day")
                })
            };
            if !goes_on() {
                return add(Err(Failure::Text(UNFINISHED.to_owned())));
            }
            if let Some((number, note)) = line.kept() {
                last = number;
                if number > known && number < notes.end {
                    if number != next {
                        wrong = Some(removed(&format!("event {next} was")));
                        return Err(io::Error::other(UNFINISHED));
                    }
                    next += 1;
                }
                if notes.contains(&number) {
                    for row in day.take(note) {
                        add(files.add(&row))?;
                    }
                } else if number > known && number < notes.start {
                    day.pass(note);
                }
            }
            let is_in = last >= notes.start.max(1) && last < notes.end;
            if let Some((session, text)) = line.operator_action().filter(|_| is_in) {
                if last + 1 == notes.end {
                    if last_actions == 0 {
                        return Ok(());
                    }
                    last_actions -= 1;
                }
                add(files.add_action(line.at(), session, text))?;
            }
            Ok(())
        });
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        read.map_err(unreadable)?;
        if next < notes.end {
            return Err(removed(&format!("event {next} was")));
        }
        Ok(day.finish().try_for_each(|row| files.add(&row))?)
    }
}

fn removed(what: &str) -> DayError {
    let why = format!("{what} removed while the journal was read: set JournalKeep longer");
    DayError::Removed(why)
}

fn no_day(store: &Path, wanted: Option<u32>, days: &DayNotes) -> DayError {
    let known: Vec<String> = days.dates().map(shown).collect();
    let known = match &known[..] {
        [] => "the journal has none".to_owned(),
        [only] => format!("the journal has only {only}"),
        [from, .., to] => format!("the journal has days from {from} to {to}"),
    };
    let wanted = wanted.map_or_else(String::new, |day| format!(" {}", shown(day)));
    let store = store.display();
    DayError::Missing(format!(
        "no trading day{wanted} in the journal {store}: {known}"
    ))
}

/// The newest state without notes from this number on, and the number of its last note.
pub(in crate::oms) fn before(store: &Path, note: u64) -> Result<Option<(OmsState, u64)>, Failure> {
    let mut state = OmsState::default();
    let found = journal::state_before(store, state.form().0, note).map_err(unreadable)?;
    let Some(found) = found else {
        return Ok(None);
    };
    let read = state.read(found.version, &found.state);
    read.map_err(|why| Failure::Text(format!("{}: a checkpoint: {why}", store.display())))?;
    Ok(Some((state, found.note)))
}

/// Number of attempts to read the oldest state. An engine replaces it when it makes a newer one.
const ATTEMPTS: u32 = 5;

/// The oldest state of the journal, and the number of its last note.
pub(in crate::oms) fn oldest(store: &Path) -> Result<Option<(OmsState, u64)>, Failure> {
    let name = OmsState::default().form().0;
    for _ in 0..ATTEMPTS {
        let states = journal::stored_states(store).map_err(unreadable)?;
        let states = states.into_iter().flatten().filter(|it| it.name == name);
        let Some(note) = states.map(|state| state.note).min() else {
            return Ok(None);
        };
        let found = before(store, note + 1)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}
