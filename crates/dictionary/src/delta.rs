//! Deltas: what a venue adds to a standard dictionary, removes from it or additionally requires.
//!
//! A delta is a QuickFIX XML file of things to add, or a text of one statement a line:
//!
//! ```text
//! base FIX.4.4                                              # refuse to change another one
//! add field 9001 VenueFlag CHAR
//! add value A ALPHA to VenueFlag
//! add member VenueFlag to NewOrderSingle required after ClOrdID
//! add group NoVenueLegs to D begin VenueLegID required      # a group has a first field
//! add member VenueLegQty to NoVenueLegs of D
//! add component Instrument to U1 required
//! change member Text of D required
//! remove value 9 from OrdType
//! remove member MinQty from D
//! in NewOrderSingle, G: Price required when OrdType in 2,4 and Side not in 1
//! ```
//!
//! Fields are named by name or number, messages by MsgType or name; a word with other letters stands in
//! quotes. Statements hold in their order. Two files that want different things, and an addition that
//! is there already as something else, are errors with both places.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use fixwire_protocol::Dictionary;

use crate::document::{self, DocumentLimits};
use crate::problem::DictionaryProblem;

mod apply;
mod change;
mod diff;
mod draft;
mod overlay;
mod problem;
mod show;
mod text;

pub use change::{SourcePosition, Thing};
pub use problem::{DeltaError, DeltaProblem, Other};
pub use show::statement;

use change::{Change, How, MAX_CHANGES, Place, Root, Spot, Stated};

/// Changes to a dictionary, in their order.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Delta {
    /// The name of the file in errors.
    name: String,
    changes: Vec<Stated>,
}

impl Delta {
    /// Reads a delta of either format; `name` is its name in errors.
    ///
    /// # Errors
    ///
    /// [`DeltaError`] with the place in the text.
    pub fn read(name: &str, text: &str, limits: DocumentLimits) -> Result<Self, DeltaError> {
        let is_xml = text.trim_start().starts_with('<');
        let changes = match is_xml {
            true => overlay::read(text, limits).map_err(|error| {
                let place = SourcePosition {
                    line: error.line,
                    column: error.column,
                };
                (place, DeltaProblem::Xml(error.problem))
            }),
            false if text.len() > limits.bytes => Err((
                SourcePosition { line: 1, column: 1 },
                DeltaProblem::Xml(DictionaryProblem::TooLong {
                    limit: limits.bytes,
                }),
            )),
            false => text::read(text),
        };
        match changes {
            Ok(changes) => Ok(Self {
                name: name.into(),
                changes,
            }),
            Err((at, problem)) => Err(DeltaError {
                file: name.into(),
                at,
                problem,
                other: None,
            }),
        }
    }

    /// The changes from `before` to `after`. Applying them gives a dictionary that is equal to
    /// `after`; written out, they are a delta in the form of statements.
    pub fn between(before: &Dictionary, after: &Dictionary) -> Self {
        Self {
            name: "difference".into(),
            changes: diff::changes(before, after),
        }
    }

    /// Whether there is nothing to change.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The statements, a line each.
    pub fn statements(&self) -> impl Iterator<Item = String> + '_ {
        self.changes
            .iter()
            .map(|stated| format!("{}", stated.change))
    }
}

impl fmt::Display for Delta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.changes
            .iter()
            .try_for_each(|stated| writeln!(f, "{}", stated.change))
    }
}

/// The dictionary with these deltas applied, one after the other.
///
/// # Errors
///
/// [`DeltaError`]: a statement that does not fit the dictionary, or a conflict between two
/// files.
pub fn apply(base: &Dictionary, deltas: &[Delta]) -> Result<Dictionary, DeltaError> {
    apply::apply(base, deltas)
}

/// Where a dictionary file defines a thing; of a member that is not found by itself the message's place.
pub fn place_of(text: &str, limits: DocumentLimits, thing: &Thing) -> Option<SourcePosition> {
    let found = document::parse(text, limits, |root| {
        Ok(overlay::find(root, thing).map(|node| node.range().start))
    });
    let (line, column) = document::line_and_column(text.get(..found.ok()??)?);
    Some(SourcePosition { line, column })
}

/// Who changed what.
type Touched = BTreeMap<Thing, (usize, SourcePosition)>;
