//! The positions that operators and files have set, from the notes of a journal.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Place;
use crate::state::OmsState;
use crate::state::event::{OrderEvent, SetupEvent, timed_event};
use crate::values::show::text;

/// A position that an operator or a file has set. Quantities are decimals.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PositionStep {
    /// The time, in nanoseconds since 1970.
    pub at: i64,
    /// Account(1).
    pub account: String,
    /// Symbol(55).
    pub symbol: String,
    /// Long quantity before.
    pub was_long: String,
    /// Long quantity.
    pub long: String,
    /// Short quantity before.
    pub was_short: String,
    /// Short quantity.
    pub short: String,
    /// The operator; empty for the file of an empty journal.
    pub who: String,
    /// The reason; empty for the file of an empty journal.
    pub why: String,
    /// The file; empty if the operator entered the position.
    pub file: String,
}

/// Collects the positions that operators and files have set from journal notes, the oldest first.
#[derive(Debug)]
pub struct PositionHistory {
    state: OmsState,
}

impl PositionHistory {
    /// A history; `state` is the state before the first note.
    #[must_use]
    pub fn new(state: OmsState) -> Self {
        Self { state }
    }

    /// Reads the next note; returns the positions that the note sets.
    pub fn take(&mut self, note: &[u8]) -> Vec<PositionStep> {
        let Some((at, event)) = timed_event(note) else {
            self.state.apply_note(note);
            return Vec::new();
        };
        let steps = if let OrderEvent::Setup(event) = &event {
            self.steps(at, event)
        } else {
            Vec::new()
        };
        self.state.apply(at, &event);
        steps
    }

    fn steps(&self, at: i64, event: &SetupEvent<'_>) -> Vec<PositionStep> {
        match *event {
            SetupEvent::Position {
                account,
                instrument,
                long,
                short,
                who,
            } => {
                let was = self.state.position(account, instrument);
                let quantities = [was.long, long, was.short, short];
                alloc::vec![PositionStep {
                    file: text(who),
                    ..self.step(at, (account, instrument), quantities)
                }]
            }
            SetupEvent::PositionSet {
                account,
                instrument,
                was_long,
                was_short,
                long,
                short,
                who,
                why,
            } => alloc::vec![PositionStep {
                who: text(who),
                why: text(why),
                ..self.step(
                    at,
                    (account, instrument),
                    [was_long, long, was_short, short]
                )
            }],
            SetupEvent::PositionsLoaded {
                file,
                who,
                why,
                changes,
                ..
            } => {
                let changes = changes.each().filter_map(|event| OrderEvent::of(event?));
                let steps = changes.filter_map(|event| {
                    if let OrderEvent::Setup(event) = event {
                        self.steps(at, &event).pop()
                    } else {
                        None
                    }
                });
                let steps = steps.map(|step| PositionStep {
                    who: text(who),
                    why: text(why),
                    file: text(file),
                    ..step
                });
                steps.collect()
            }
            SetupEvent::Session { .. }
            | SetupEvent::Account { .. }
            | SetupEvent::Instrument { .. }
            | SetupEvent::Build { .. }
            | SetupEvent::Client { .. }
            | SetupEvent::Market { .. }
            | SetupEvent::VenueSymbol { .. }
            | SetupEvent::VenueAccount { .. }
            | SetupEvent::ExecIds { .. } => Vec::new(),
        }
    }

    /// A step without an author. The quantities are: long before, long after, short before, short after.
    fn step(&self, at: i64, (account, instrument): Place, quantities: [u64; 4]) -> PositionStep {
        let quantities = quantities.map(|it| self.state.shown(instrument, it).to_string());
        let [was_long, long, was_short, short] = quantities;
        PositionStep {
            at,
            account: text(self.state.accounts().name(account)),
            symbol: text(self.state.instruments().name(instrument)),
            was_long,
            long,
            was_short,
            short,
            ..PositionStep::default()
        }
    }
}
