//! Deltas. A delta has a venue's additions to a standard dictionary, and also removals and additional requirements.
//!
//! A delta is a QuickFIX XML file of additions, or a text with one statement on each line:
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
//! A field is given by its name or number, and a message by its MsgType or name. A word with other characters must be
//! in quotes. Statements apply in order. There are two kinds of errors that name two positions: statements of two files
//! contradict each other, or an added definition already exists with another definition.

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
    /// The name of the file, for errors.
    name: String,
    changes: Vec<Stated>,
}

impl Delta {
    /// Reads a delta of either form. `name` is the name of the delta in errors.
    ///
    /// # Errors
    ///
    /// [`DeltaError`] with a position in the text.
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

    /// The changes from `before` to `after`. Applied to `before` they give a dictionary equal to `after`. As text
    /// they are a delta of statements.
    pub fn between(before: &Dictionary, after: &Dictionary) -> Self {
        Self {
            name: "difference".into(),
            changes: diff::changes(before, after),
        }
    }

    /// Whether the delta has no changes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The statements of the delta, one for each line.
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

/// Applies the deltas to a dictionary, in order, and returns the result.
///
/// # Errors
///
/// [`DeltaError`] when a statement does not fit the dictionary, or when two files conflict.
pub fn apply(base: &Dictionary, deltas: &[Delta]) -> Result<Dictionary, DeltaError> {
    apply::apply(base, deltas)
}

/// The position at which a dictionary file defines a thing. For a member that has no position of its own, the position
/// is that of its message.
pub fn place_of(text: &str, limits: DocumentLimits, thing: &Thing) -> Option<SourcePosition> {
    let found = document::parse(text, limits, |root| {
        Ok(overlay::find(root, thing).map(|node| node.range().start))
    });
    let (line, column) = document::line_and_column(text.get(..found.ok()??)?);
    Some(SourcePosition { line, column })
}

/// The index of the delta that has changed each thing, and the position of the change.
type Touched = BTreeMap<Thing, (usize, SourcePosition)>;
