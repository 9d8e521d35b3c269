//! `fixwire oms history`: the events of an order in the journal.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use fixwire::journal::{self, DumpFilter, HeldSegments, JournalError};
use fixwire_oms::OmsState;
use fixwire_oms::history::History;
use fixwire_protocol::{Ledger as _, Precision, Timestamp, TimestampWriter};

use super::answers::{Ask, question, readable_journal, show, table, unreadable, until_whole};
use super::day::source::oldest;
use super::stamps::OrderStamps;
use crate::failure::{self, Failure};
use crate::session::{EngineFlags, if_running, store};

/// Reads the journal for the events of an order.
pub(super) fn show_history(ask: &Ask, number: u64) -> Result<ExitCode, Failure> {
    let store = readable_journal(ask)?;
    let Some(text) = until_whole(|| history(&store, number))? else {
        return Err(Failure::Text(format!(
            "no order {number} in the journal {}: unknown order, or the segments with its events \
            were removed (JournalKeep)",
            store.display()
        )));
    };
    show(ask, &text)?;
    if let (false, OrderStamps::Found(stamps)) =
        (ask.json, OrderStamps::of(&ask.at.engine, number)?)
    {
        writeln!(io::stdout())?;
        show_stamps(&stamps)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The events of an order as a table. The inner `None`: the journal has no event of this order. The outer `None`:
/// segments were removed before they were read.
fn history(store: &Path, number: u64) -> Result<Option<Option<String>>, Failure> {
    // Segments that are removed from now on are read.
    let held = HeldSegments::open(store).map_err(unreadable)?;
    let mut left = LeftNotes::new(store)?;
    let mut history = None;
    let mut text = String::from("time\tevent\twhat");
    let mut stamp = TimestampWriter::new();
    let mut steps = 0;
    let read = journal::each_line_of(&held, &DumpFilter::default(), |line| {
        let Some((seq, note)) = line.kept() else {
            return Ok(());
        };
        if !left.is_next(seq) {
            return Ok(());
        }
        let history: &mut History =
            history.get_or_insert_with(|| History::new(number, left.before()));
        if let Some(step) = history.take(note) {
            let at = stamp.format(Timestamp(step.at), Precision::Nanos);
            let at = String::from_utf8_lossy(at);
            text += &format!("\n{at}\t{}\t{}", step.event, step.text);
            steps += 1;
        }
        Ok(())
    });
    let read = read.map_err(unreadable)?;
    if read.removed.is_some() {
        return Ok(None);
    }
    if let Some(damage) = read.bad.as_ref().filter(|_| !read.torn) {
        let text = format!("later records are not shown: {damage}");
        failure::tell("warning", &text);
    }
    if steps > 0 {
        left.check(store)?;
    }
    Ok(Some((steps > 0).then_some(text)))
}

/// Prints the stamps of an order as a table.
pub(super) fn show_stamps(stamps: &[fixwire_stamps::Stamp]) -> io::Result<()> {
    let (head, rows) = OrderStamps::table(stamps);
    write!(io::stdout(), "{head}\n{}", table(&rows))
}

/// The notes that a journal still has, from the first note or from the oldest checkpoint on. The journal may also have
/// notes from before the oldest checkpoint, without the state before them (JournalKeep).
pub(super) struct LeftNotes {
    /// The oldest checkpoint, and the number of its last note.
    oldest: Option<(OmsState, u64)>,
    /// The state before the first note that is used.
    before: Option<OmsState>,
    /// The number of the next note that is used; `None` before a note is read.
    next: Option<u64>,
    /// The number of the first note that is missing.
    missing: Option<u64>,
}

impl LeftNotes {
    /// Reads the oldest checkpoint.
    ///
    /// # Errors
    ///
    /// A checkpoint cannot be read.
    pub(super) fn new(store: &Path) -> Result<Self, Failure> {
        Ok(Self {
            oldest: oldest(store)?,
            before: None,
            next: None,
            missing: None,
        })
    }

    /// Whether this note is used. A note is used if the state `before` does not include it yet, and no note before it
    /// is missing.
    pub(super) fn is_next(&mut self, number: u64) -> bool {
        let next = *self.next.get_or_insert_with(|| {
            let oldest = self.oldest.take().filter(|_| number > 1);
            let (before, note) = oldest.unwrap_or_default();
            self.before = Some(before);
            note + 1
        });
        if number > next {
            self.missing.get_or_insert(next);
        }
        if number != next || self.missing.is_some() {
            return false;
        }
        self.next = Some(number + 1);
        true
    }

    /// The state before the first note that is used.
    pub(super) fn before(&mut self) -> OmsState {
        let oldest = self.oldest.take().map(|(state, _)| state);
        self.before.take().or(oldest).unwrap_or_default()
    }

    /// Refuses a journal in which notes are missing.
    ///
    /// # Errors
    ///
    /// A note is missing.
    pub(super) fn check(&self, store: &Path) -> Result<(), Failure> {
        match self.missing {
            Some(missing) => Err(Failure::Text(format!(
                "event {missing} is missing in the journal {}: its segment was removed (JournalKeep); if an engine is \
                 running, try again",
                store.display()
            ))),
            None => Ok(()),
        }
    }
}

/// Reads the notes of the journal, the oldest first. `first` gets the state before the notes; `next` gets each note.
pub(super) fn read_notes<T>(
    at: &EngineFlags,
    first: impl Fn(OmsState) -> T,
    mut next: impl FnMut(&mut T, &[u8]),
) -> Result<T, Failure> {
    let store = store(at)?;
    // While the OMS runs, only operators with the right may read positions.
    if let Some(mut client) = if_running(at) {
        let asked = client.ask(&question("status"));
        asked.map_err(|error| Failure::Text(error.to_string()))?;
    }
    let failure = |error: JournalError| Failure::Text(error.to_string());
    journal::refuse_other_version(&store, Some(OmsState::default().form())).map_err(failure)?;
    until_whole(|| {
        // Segments that are removed from now on are read.
        let held = HeldSegments::open(&store).map_err(failure)?;
        let mut left = LeftNotes::new(&store)?;
        let mut done = None;
        let read = journal::each_line_of(&held, &DumpFilter::default(), |line| {
            if let Some((number, note)) = line.kept()
                && left.is_next(number)
            {
                let done = done.get_or_insert_with(|| first(left.before()));
                next(done, note);
            }
            Ok(())
        });
        let read = read.map_err(failure)?;
        if read.removed.is_some() {
            return Ok(None);
        }
        if let Some(damage) = read.bad.as_ref().filter(|_| !read.torn) {
            return Err(Failure::Text(format!(
                "the journal has a damage, and what was written after the damage cannot be read: {damage}"
            )));
        }
        if read.segments == 0 {
            return Err(Failure::Text(format!(
                "{} contains no journal",
                store.display()
            )));
        }
        left.check(&store)?;
        Ok(Some(done.unwrap_or_else(|| first(left.before()))))
    })
}
