//! Deltas: additions of a venue to a standard dictionary, removals, and additional requirements.
//!
//! A delta is a QuickFIX XML file of additions, or a text with one statement per line:
//!
//! ```text
//! base FIX.4.4                                              # the delta is refused for any other dictionary
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
//! Fields are named by name or number, messages by MsgType or name; a word with other characters must be quoted.
//! Statements apply in order. Contradicting statements of two files, and an addition that already exists with another
//! definition, are errors with both positions.

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

/// Changes to a dictionary, in order.
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
    /// [`DeltaError`] with the position in the text.
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

    /// The changes from `before` to `after`. Applying them to `before` gives a dictionary equal to `after`; as text,
    /// they are a delta of statements.
    pub fn between(before: &Dictionary, after: &Dictionary) -> Self {
        Self {
            name: "difference".into(),
            changes: diff::changes(before, after),
        }
    }

    /// Whether there are no changes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The statements, one per line.
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

/// The dictionary with these deltas applied in order.
///
/// # Errors
///
/// [`DeltaError`]: a statement that does not fit the dictionary, or a conflict between two
/// files.
pub fn apply(base: &Dictionary, deltas: &[Delta]) -> Result<Dictionary, DeltaError> {
    apply::apply(base, deltas)
}

/// The position at which a dictionary file defines a thing; for a member without a position of its own, that of its
/// message.
pub fn place_of(text: &str, limits: DocumentLimits, thing: &Thing) -> Option<SourcePosition> {
    let found = document::parse(text, limits, |root| {
        Ok(overlay::find(root, thing).map(|node| node.range().start))
    });
    let (line, column) = document::line_and_column(text.get(..found.ok()??)?);
    Some(SourcePosition { line, column })
}

/// The deltas that changed each thing.
type Touched = BTreeMap<Thing, (usize, SourcePosition)>;
