//! Places in a journal from which on it can be read again.

use std::collections::HashMap;

use fixwire::journal::{JournalId, JournalPosition, Record};

#[cfg(feature = "postgresql")]
use super::super::archive::Notes;

/// Number of notes from one place to the next.
const BETWEEN: u64 = 1024;

/// The positions of some notes in the journal, and the names of sessions that a reader needs from there on.
#[derive(Debug, Default)]
pub(in crate::oms) struct NotePlaces {
    /// Numbers of notes, rising, each with the position of its record.
    places: Vec<NotePlace>,
    names: HashMap<JournalId, String>,
}

#[derive(Clone, Copy, Debug)]
struct NotePlace {
    note: u64,
    #[cfg_attr(
        not(feature = "postgresql"),
        allow(dead_code, reason = "only rows in PostgreSQL need it")
    )]
    at: JournalPosition,
}

/// Where a reader begins.
#[cfg(feature = "postgresql")]
pub(in crate::oms) struct ReadPlace {
    pub(in crate::oms) at: JournalPosition,
    pub(in crate::oms) notes: Notes,
    /// The names of the sessions, by their ids in the journal.
    pub(in crate::oms) names: HashMap<JournalId, String>,
}

impl NotePlaces {
    /// Takes the next record of the journal, with the number of its first note.
    pub(in crate::oms) fn take(&mut self, record: &Record<'_>, first: Option<u64>) {
        if let Some(name) = record.session_name() {
            self.names.insert(record.session, name.to_owned());
        }
        let Some(note) = first else {
            return;
        };
        let last = self.places.last();
        if last.is_none_or(|last| note >= last.note + BETWEEN) {
            self.places.push(NotePlace {
                note,
                at: record.at,
            });
        }
    }

    /// The last known position from which a note and all later notes can be read; without one, the beginning of the
    /// journal.
    #[cfg(feature = "postgresql")]
    pub(in crate::oms) fn before(&self, note: u64, notes: &Notes) -> ReadPlace {
        let behind = self.places.partition_point(|place| place.note <= note);
        match behind.checked_sub(1).map(|last| self.places[last].at) {
            Some(at) => ReadPlace {
                at,
                notes: *notes,
                names: self.names.clone(),
            },
            None => ReadPlace {
                at: JournalPosition::START,
                notes: Notes::default(),
                names: HashMap::new(),
            },
        }
    }
}

#[cfg(all(test, feature = "postgresql"))]
mod tests {
    use super::*;

    #[test]
    fn a_reader_begins_at_the_last_place_before_its_note() {
        let place = |note, segment| NotePlace {
            note,
            at: JournalPosition::new(segment, 64),
        };
        let name = (JournalId(3), "oms".to_owned());
        let places = NotePlaces {
            places: vec![place(5, 1), place(5 + BETWEEN, 2)],
            names: HashMap::from([name.clone()]),
        };
        let notes = Notes::of_session(JournalId(3));
        for (note, segment) in [
            (5, 1),
            (4 + BETWEEN, 1),
            (5 + BETWEEN, 2),
            (9 + 9 * BETWEEN, 2),
        ] {
            let begin = places.before(note, &notes);
            assert_eq!(begin.at, JournalPosition::new(segment, 64), "{note}");
            assert_eq!(begin.names, HashMap::from([name.clone()]));
        }
        // An earlier note needs the whole journal, with the names in it.
        let begin = places.before(4, &notes);
        assert_eq!(begin.at, JournalPosition::START);
        assert!(begin.names.is_empty());
    }
}
