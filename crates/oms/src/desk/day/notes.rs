//! The trading days of a journal, from its notes.

use alloc::vec::Vec;

use fixwire_ledger::{Put as _, state_hash};

use crate::state::event::{DayEvent, OrderEvent, timed_event};

/// The trading days of a journal, and their first notes.
#[derive(Clone, Debug, Default)]
pub struct DayNotes {
    /// The date of each trading day, and the number of its first note.
    days: Vec<(u32, u64)>,
    /// The number of the last note read; 0 before the first one.
    last: u64,
}

impl DayNotes {
    /// Reads a note, the oldest first.
    pub fn take(&mut self, number: u64, note: &[u8]) {
        self.last = number;
        let Some((_, OrderEvent::Day(event))) = timed_event(note) else {
            return;
        };
        match event {
            DayEvent::Day { date, .. } => self.days.push((date, number)),
            // A trading day that was started too early has no orders: the day before it continues, or the day gets the
            // earlier date with all its notes.
            DayEvent::DayBack { date, .. } => {
                let mut first = number;
                while let Some((_, begun)) = self.days.pop_if(|(day, _)| *day > date) {
                    first = begun;
                }
                if self.days.last().is_none_or(|(day, _)| *day < date) {
                    self.days.push((date, first));
                }
            }
            DayEvent::DayAsked { .. } | DayEvent::NumbersAfter { .. } => {}
        }
    }

    /// The beginning of a day is no longer in the journal: a checkpoint of the day is before this note.
    pub fn goes_on(&mut self, date: u32, note: u64) {
        let at = self.days.partition_point(|(_, first)| *first < note);
        if self.days.iter().all(|(day, _)| *day != date) {
            self.days.insert(at, (date, note));
        }
    }

    /// A day that [`goes_on`](Self::goes_on) began at an earlier note than was known.
    pub fn went_on_from(&mut self, date: u32, note: u64) {
        if let Some(day) = self.days.iter_mut().find(|(day, _)| *day == date) {
            day.1 = day.1.min(note);
        }
    }

    /// The number of the last note read; 0 before the first one.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The trading day of a note; `None` before the first day.
    #[must_use]
    pub fn day_of(&self, note: u64) -> Option<DayStart> {
        let after = self.days.partition_point(|(_, first)| *first <= note);
        let &(date, first) = self.days.get(after.checked_sub(1)?)?;
        Some(DayStart { date, first })
    }

    /// The days, the oldest first.
    pub fn dates(&self) -> impl Iterator<Item = u32> + '_ {
        self.days.iter().map(|(date, _)| *date)
    }

    /// The days after which another one began, the oldest first.
    pub fn ended(&self) -> impl Iterator<Item = u32> + '_ {
        let ended = self.days.len().saturating_sub(1);
        self.dates().take(ended)
    }

    /// The range of note numbers of a trading day; `None` when the journal has no such day. The range of the newest day
    /// ends with the last note that was read: notes written since then are not part of it.
    #[must_use]
    pub fn notes_of(&self, date: u32) -> Option<core::ops::Range<u64>> {
        let at = self.days.iter().position(|(day, _)| *day == date)?;
        let from = self.days[at].1;
        let next = self.days.get(at + 1).map(|(_, note)| *note);
        Some(from..next.unwrap_or(self.last + 1).max(from))
    }
}

/// The beginning of a trading day.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DayStart {
    /// The date, such as 20261122.
    pub date: u32,
    /// The number of its first note.
    pub first: u64,
}

/// A hash of a note: equal for equal bytes, in every process of this version. The hash recognises the journal of a
/// note.
#[must_use]
pub fn note_hash(note: &[u8]) -> u64 {
    state_hash(|to| to.text(note))
}
