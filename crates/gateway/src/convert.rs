//! Makes a message of one version of FIX one of another, by a table that people can read.
//!
//! The format of tables is described in `docs/conversion.md`; those of the gateway are in its folder
//! `conversions`.

use alloc::sync::Arc;
use alloc::vec::Vec;

use fixwire_protocol::Tag;
use fixwire_protocol::dictionary::{Dictionary, Version};

use crate::Draft;

mod level;
mod losses;
mod parse;
mod problem;
mod rest;
mod run;
mod statement;
#[cfg(test)]
mod tests;
mod tree;

pub use losses::Losses;
pub use problem::{Problem, TableError};
pub use rest::Policy;

use level::Levels;
use rest::{Policies, Rest};
use run::Run;
use statement::Statement;
use tree::Tree;

/// The tables that come with the gateway.
const BUILT_IN: [(Version, Version, &str); 4] = [
    (
        Version::Fix42,
        Version::Fix44,
        include_str!("../conversions/fix42-fix44.conv"),
    ),
    (
        Version::Fix44,
        Version::Fix42,
        include_str!("../conversions/fix44-fix42.conv"),
    ),
    (
        Version::Fix44,
        Version::Fix50Sp2,
        include_str!("../conversions/fix44-fix50sp2.conv"),
    ),
    (
        Version::Fix50Sp2,
        Version::Fix44,
        include_str!("../conversions/fix50sp2-fix44.conv"),
    ),
];

/// The longest table that is read, in bytes.
pub const MAX_TABLE: usize = 1 << 18;

/// The way from one version to another, with the memory that a message takes under way.
///
/// Made at start, in some ten milliseconds. The dictionaries, about a megabyte each, are shared; each
/// thread needs its own of the rest.
#[derive(Clone, Debug)]
pub struct Conversion {
    from: Arc<Dictionary>,
    to: Arc<Dictionary>,
    levels: Levels,
    statements: Vec<Statement>,
    policies: Policies,
    tree: Tree,
    lost: Vec<Tag>,
}

impl Conversion {
    /// The gateway's own table between two versions; `None` when it has none.
    #[must_use]
    pub fn built_in(from: Version, to: Version) -> Option<Self> {
        let same = |table: &&(Version, Version, &str)| (table.0, table.1) == (from, to);
        let (_, _, text) = BUILT_IN.iter().find(same)?;
        Self::read(text).ok()
    }

    /// The text of the gateway's own table, to begin another one with.
    #[must_use]
    pub fn built_in_text(from: Version, to: Version) -> Option<&'static str> {
        let same = |table: &&(Version, Version, &str)| (table.0, table.1) == (from, to);
        BUILT_IN.iter().find(same).map(|table| table.2)
    }

    /// Reads a table for two versions of the standard; it names them.
    ///
    /// # Errors
    ///
    /// [`TableError`] for the first line that makes no sense or can never have an effect.
    pub fn read(text: &str) -> Result<Self, TableError> {
        let (from, to) = parse::versions(text)?;
        Self::new(text, Arc::new(dictionary(from)), Arc::new(dictionary(to)))
    }

    /// Reads a table for two dictionaries, such as those of a counterparty; the versions that it names
    /// must be theirs. A version above FIX 4.4 has to be laid over its transport.
    ///
    /// # Errors
    ///
    /// As [`Conversion::read`].
    pub fn new(text: &str, from: Arc<Dictionary>, to: Arc<Dictionary>) -> Result<Self, TableError> {
        let mut levels = Levels::new(&from, &to);
        let (statements, policies) = parse::table(text, &from, &to, &mut levels)?;
        Ok(Self {
            from,
            to,
            levels,
            statements,
            policies,
            tree: Tree::default(),
            lost: Vec::new(),
        })
    }

    /// A table of losses with room for all that this conversion can lose.
    #[must_use]
    pub fn losses(&self) -> Losses {
        Losses::new([&self.from, &self.to])
    }

    /// Converts a message in place. Header fields that each session writes for itself are no matter of
    /// a [`Draft`]. The fields come out in the order of the target's dictionary, counts are those of
    /// the entries there are, and user-defined fields stay.
    ///
    /// Allocates nothing but the memory for a larger message than ever before. Takes time in
    /// proportion to the fields of the message and the statements that hold for it.
    ///
    /// # Errors
    ///
    /// [`Unconvertible`]; the draft and the losses are as they were then.
    pub fn convert(&mut self, draft: &mut Draft, losses: &mut Losses) -> Result<(), Unconvertible> {
        let root = self.levels.root(draft.msg_type());
        let root = root.ok_or(Unconvertible::MessageType)?;
        self.lost.clear();
        self.tree.load(draft, &self.levels, root);
        let mut run = Run {
            levels: &self.levels,
            statements: &self.statements,
            tree: &mut self.tree,
            lost: &mut self.lost,
        };
        run.all();
        let mut rest = Rest {
            run,
            policies: &self.policies,
            from: &self.from,
            to: &self.to,
        };
        rest.all()?;
        self.tree.write(draft, &self.levels);
        self.lost.iter().for_each(|&tag| losses.add(tag));
        Ok(())
    }
}

/// The dictionary of a version; above FIX 4.4 with header, trailer and session messages of FIXT.1.1.
fn dictionary(version: Version) -> Dictionary {
    let dictionary = Dictionary::built_in(version);
    match version {
        Version::Fix50 | Version::Fix50Sp1 | Version::Fix50Sp2 => {
            dictionary.over(&Dictionary::built_in(Version::Fixt11))
        }
        _ => dictionary,
    }
}

/// Why a message is not converted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Unconvertible {
    /// One of the two versions has no such message.
    MessageType,
    /// The target has no place for this field or its value, and the table says to reject it.
    Homeless(Tag),
    /// The target requires this field, and neither the message nor the table gives it.
    Missing(Tag),
}

impl core::fmt::Display for Unconvertible {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::MessageType => f.write_str("the other version has no such message"),
            Self::Homeless(tag) => write!(f, "the other version has no place for field {tag}"),
            Self::Missing(tag) => write!(f, "the other version requires field {tag}"),
        }
    }
}

impl core::error::Error for Unconvertible {}
