//! The position in the journal up to which rows have been made, and the rows that are not in the database yet.

use std::collections::HashMap;
use std::path::Path;

use fixwire::journal::{JournalId, JournalPosition, Record, RecordKind, Tail, is_action};
use fixwire::log::{RowChange, RowDay, RowPosition};
use fixwire_oms::OmsState;
use fixwire_oms::day::{DayReport, DayStart, note_hash};

use super::super::answers::unreadable;
use super::super::archive::Notes;
use super::super::day::begin;
use super::super::day::places::ReadPlace;
use super::super::day::roll::FoundDays;
use super::follower::Fault;
use super::rows::RowBatch;

/// Number of rows written at once.
const ROWS: usize = 4096;

/// Where reading begins.
pub(super) struct ReadStart {
    pub(super) state: OmsState,
    /// The number of the last note in the state.
    pub(super) note: u64,
    /// The day in the database, if the new rows continue this day without a gap.
    pub(super) day: Option<RowDay>,
}

/// The journal up to the last record that was read, and the rows that are not in the database yet.
pub(super) struct Progress {
    tail: Tail,
    notes: Notes,
    /// The names of sessions, by their ids in the journal.
    names: HashMap<JournalId, String>,
    fold: Fold,
    rows: RowBatch,
    /// The number of the last note that was read. Notes that are already in the state also count.
    seen: u64,
    /// When the last record was written.
    pub(super) wall: i64,
    /// The rows of all records before this position are in the database.
    until: JournalPosition,
    /// Whether the records with rows in the database have all been read.
    is_live: bool,
    /// The position in the database.
    pub(super) written: Option<RowPosition>,
    /// The change that was sent last, until it is known to be in the database.
    pub(super) sent: Option<RowChange>,
}

impl Progress {
    /// Begins to read a journal: after the last note of the state, or after the last event in the database if that is
    /// older. `written` is the position in the database.
    pub(super) fn new(
        journal: &Path,
        found: &FoundDays,
        start: ReadStart,
        written: Option<RowPosition>,
    ) -> Self {
        let ReadStart {
            state,
            note,
            day: known,
        } = start;
        // A day whose first note is the next one begins only when that note is read.
        let begun = found.days.day_of(note + 1);
        let begun = begun.filter(|begun| begun.first != note + 1);
        let day = begun.map(|begun| {
            let known = known.filter(|known| known.date == begun.date && known.first <= note + 1);
            let first = known.map_or(note + 1, |known| known.first);
            let date = begun.date;
            RowDay { date, first }
        });
        let until = written.map_or(0, |written| written.journal);
        // The last event in the database is compared with the same event of the journal.
        let first = written.map_or(note, |written| written.event.min(note));
        let ReadPlace { at, notes, names } = found.place_of(first);
        Self {
            tail: Tail::new(journal, at),
            notes,
            names,
            fold: Fold {
                report: DayReport::live(state),
                note,
                last: Vec::new(),
                day,
                begun,
            },
            rows: RowBatch::default(),
            seen: 0,
            wall: 0,
            until: JournalPosition::from_bits(until),
            is_live: false,
            written,
            sent: None,
        }
    }

    /// The number of the last event that was read.
    pub(super) fn event(&self) -> u64 {
        self.fold.note
    }

    /// The trading day of the present rows, and the state before the first of these rows; `None` before the first
    /// day.
    pub(super) fn begun_day(&self) -> Option<(RowDay, &OmsState)> {
        Some((self.fold.day?, self.fold.report.state()))
    }

    /// Reads records to the end of the journal, or until the batch is full. Returns whether the batch is full.
    ///
    /// # Errors
    ///
    /// The error of the reading. After an error the journal has to be read again, from a state.
    pub(super) fn read(
        &mut self,
        journal: &Path,
        folder: &Path,
        found: &mut FoundDays,
    ) -> Result<bool, Fault> {
        let Self {
            tail,
            notes,
            names,
            fold,
            rows,
            seen,
            wall,
            until,
            is_live,
            written,
            ..
        } = self;
        // The rows of orders are added when the batch is complete. While `is_live` is false, the rows are already in
        // the database.
        while !*is_live || rows.len() + fold.report.changes() < ROWS {
            let Some(record) = tail.next_record().map_err(unreadable)? else {
                return Ok(false);
            };
            *wall = record.wall.0;
            if let Some(name) = record.session_name() {
                names.insert(record.session, name.to_owned());
            }
            if !*is_live && record.at >= *until {
                *is_live = true;
                // These rows are already in the database.
                drop(fold.report.changed());
            }
            let mut to = is_live.then_some(&mut *rows);
            for (number, note) in notes.of(&record) {
                *seen = number;
                check_hash(*written, number, note)?;
                if number <= fold.note {
                    continue;
                }
                if number != fold.note + 1 {
                    let why = format!(
                        "event {} was removed while the journal was read",
                        fold.note + 1
                    );
                    return Err(Fault::Failed(why));
                }
                if number > found.days.last() {
                    found.read(journal, &|| true)?;
                }
                fold.take(found, folder, (number, note), to.as_deref_mut())?;
            }
            if let (Some(rows), Some(day)) = (to, fold.day)
                && *seen == fold.note
            {
                let name = names.get(&record.session);
                add_action(name.map(String::as_str), day, &record, rows);
            }
        }
        Ok(true)
    }

    /// The next change for the database; `None` when the database has all rows.
    pub(super) fn next_change(&mut self) -> Option<&RowChange> {
        if self.sent.is_none() && self.is_live {
            let Fold {
                report,
                note,
                last,
                day,
                ..
            } = &mut self.fold;
            if let Some(day) = *day {
                let changed = report.changed();
                changed.iter().for_each(|row| self.rows.add(day, row));
            }
            let event = self.written.map_or(0, |written| written.event);
            if self.rows.len() > 0 || *note > event {
                if let Some(day) = *day {
                    self.rows.add_day(day, *note);
                }
                let hash = match (&last[..], self.written) {
                    // Only records without notes.
                    ([], Some(written)) if written.event == *note => written.hash,
                    ([], _) => 0,
                    (last, _) => note_hash(last),
                };
                self.sent = Some(RowChange {
                    from: self.written,
                    to: RowPosition {
                        journal: self.tail.position().bits(),
                        event: *note,
                        hash,
                        day: *day,
                    },
                    remove: None,
                    rows: self.rows.take(),
                });
            }
        }
        self.sent.as_ref()
    }

    /// Records that the database has the change that was sent last.
    pub(super) fn is_written(&mut self) {
        if let Some(sent) = self.sent.take() {
            self.written = Some(sent.to);
        }
    }
}

/// Checks that the last event in the database is the same event in the journal.
fn check_hash(written: Option<RowPosition>, number: u64, note: &[u8]) -> Result<(), Fault> {
    match written {
        Some(RowPosition { event, hash, .. })
            if event == number && hash != 0 && hash != note_hash(note) =>
        {
            Err(Fault::Refused(format!(
                "event {number} of the journal is not the event {number} that the database has rows of"
            )))
        }
        Some(_) | None => Ok(()),
    }
}

/// Adds a row for a record, if the record is an operator's action on the session with this name.
fn add_action(name: Option<&str>, day: RowDay, record: &Record<'_>, rows: &mut RowBatch) {
    if let (RecordKind::Note, Some(name)) = (record.kind, name)
        && is_action(name, record.body)
    {
        rows.add_action(day, name, record);
    }
}

/// The state after the notes that were read, and the trading day of the rows.
struct Fold {
    report: DayReport,
    /// The number of the last note.
    note: u64,
    /// The bytes of the last note; empty if it was not read.
    last: Vec<u8>,
    /// The day of the rows; `None` before the first day.
    day: Option<RowDay>,
    /// The same day in the journal.
    begun: Option<DayStart>,
}

impl Fold {
    /// Reads the next note. Without a batch, no rows are added, because the database already has them.
    fn take(
        &mut self,
        found: &FoundDays,
        folder: &Path,
        (number, note): (u64, &[u8]),
        mut rows: Option<&mut RowBatch>,
    ) -> Result<(), Fault> {
        let begun = found.days.day_of(number);
        if begun != self.begun {
            // Otherwise the day was taken back.
            let Some(start) = begun.filter(|begun| begun.first == number) else {
                return Err(Fault::Again);
            };
            if let Some(day) = self.day {
                let last = self.report.end_day();
                if let Some(rows) = &mut rows {
                    last.iter().for_each(|row| rows.add(day, row));
                    rows.add_day(day, number - 1);
                }
            }
            begin::keep_state(folder, start.date, number, self.report.state())?;
            if let Some(oldest) = found.days.dates().next() {
                begin::remove_older(folder, oldest);
            }
            self.begun = begun;
            self.day = Some(RowDay {
                date: start.date,
                first: number,
            });
        }
        match self.day {
            None => self.report.pass(note),
            Some(day) => {
                let finished = self.report.take(note);
                if let Some(rows) = rows {
                    finished.for_each(|row| rows.add(day, &row));
                }
            }
        }
        self.note = number;
        self.last.clear();
        self.last.extend_from_slice(note);
        Ok(())
    }
}
