//! Converts messages from one FIX version to another, by a table that people can read.
//!
//! The format of tables is described in `docs/reference/conversion.md`; those of the gateway are in its folder
//! `conversions`.

use alloc::sync::Arc;
use alloc::vec::Vec;

use fixwire_protocol::Tag;
use fixwire_protocol::dictionary::{Dictionary, Version};
use fixwire_protocol::time::LastMinute;

use crate::Draft;

mod built_in;
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
mod unconvertible;

pub use built_in::BuiltInConversions;
pub(crate) use built_in::is_way;
pub use losses::Losses;
pub use problem::{ConversionProblem, ConversionTableError};
pub use rest::Policy;
pub use unconvertible::Unconvertible;

use level::Levels;
use rest::{Policies, Rest};
use run::ConversionRun;
use statement::Statement;
use tree::Tree;

/// Maximum length of a table, in bytes.
pub const MAX_TABLE: usize = 1 << 18;

/// A conversion from one version to another, with its working memory.
///
/// Made at start, in some ten milliseconds for each table. Dictionaries and tables are shared with
/// clones; each thread needs its own of the rest.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The tables that a message passes, at least one.
    links: Vec<Arc<Link>>,
    /// Those of all tables; of two for one field the first.
    policies: Policies,
    tree: Tree,
    lost: Vec<Tag>,
    times: LastMinute,
}

/// A table between two dictionaries.
#[derive(Debug)]
struct Link {
    from: Arc<Dictionary>,
    to: Arc<Dictionary>,
    levels: Levels,
    statements: Vec<Statement>,
    policies: Policies,
}

impl Link {
    fn new(
        text: &str,
        from: Arc<Dictionary>,
        to: Arc<Dictionary>,
    ) -> Result<Self, ConversionTableError> {
        let mut levels = Levels::new(&from, &to);
        let (statements, policies) = parse::table(text, &from, &to, &mut levels)?;
        Ok(Self {
            from,
            to,
            levels,
            statements,
            policies,
        })
    }
}

impl Conversion {
    /// The gateway's own conversion between two versions: its table, or the tables of the versions
    /// between them. `None` for a version and itself, and for FIXT.1.1. [`BuiltInConversions`] makes several that
    /// share what they can.
    #[must_use]
    pub fn built_in(from: Version, to: Version) -> Option<Self> {
        BuiltInConversions::default().conversion(from, to)
    }

    /// The text of the gateway's own table, to begin another one with; `None` for versions that it
    /// converts by the tables of those between them.
    #[must_use]
    pub fn built_in_text(from: Version, to: Version) -> Option<&'static str> {
        built_in::text(from, to)
    }

    /// Reads a table for two versions of the standard; it names them.
    ///
    /// # Errors
    ///
    /// [`ConversionTableError`] for the first line that is invalid or can never have an effect.
    pub fn read(text: &str) -> Result<Self, ConversionTableError> {
        let (from, to) = parse::versions(text)?;
        let dictionary = |version| Arc::new(built_in::dictionary(version));
        Self::new(text, dictionary(from), dictionary(to))
    }

    /// Reads a table for two dictionaries, such as those of a counterparty; the versions that it names
    /// must be theirs. A version above FIX 4.4 has to be laid over its transport.
    ///
    /// # Errors
    ///
    /// As [`Conversion::read`].
    pub fn new(
        text: &str,
        from: Arc<Dictionary>,
        to: Arc<Dictionary>,
    ) -> Result<Self, ConversionTableError> {
        let link = Link::new(text, from, to)?;
        Ok(Self {
            policies: link.policies.clone(),
            links: alloc::vec![Arc::new(link)],
            tree: Tree::default(),
            lost: Vec::new(),
            times: LastMinute::new(),
        })
    }

    /// A table of losses with room for all that this conversion can lose.
    #[must_use]
    pub fn losses(&self) -> Losses {
        let dictionaries = self.links.iter().flat_map(|link| [&*link.from, &*link.to]);
        Losses::new(dictionaries)
    }

    /// Converts a message in place. Header fields that each session writes for itself are no matter of
    /// a [`Draft`]. The fields come out in the order of the target's dictionary, counts are those of
    /// the entries there are, and user-defined fields stay.
    ///
    /// The statements of all tables are carried out one table after another; what the target has, and
    /// what it requires, is looked at once, at the end: no version between stands in the way of what
    /// both ends can say.
    ///
    /// Allocates nothing but the memory for a larger message than ever before. Takes time in
    /// proportion to the fields of the message and the statements that hold for it.
    ///
    /// # Errors
    ///
    /// [`Unconvertible`]; the draft and the losses are as they were then.
    pub fn convert(&mut self, draft: &mut Draft, losses: &mut Losses) -> Result<(), Unconvertible> {
        self.lost.clear();
        let mut last = None;
        for link in &self.links {
            let root = link.levels.root(draft.msg_type());
            let root = root.ok_or(Unconvertible::MessageType)?;
            match last.replace(link) {
                None => self.tree.load(draft, &link.levels, root),
                Some(_) => self.tree.change_levels(&link.levels, root),
            }
            run(link, &mut self.tree, &mut self.lost).all();
        }
        if let Some(link) = last {
            let mut rest = Rest {
                run: run(link, &mut self.tree, &mut self.lost),
                policies: &self.policies,
                from: &link.from,
                to: &link.to,
                times: &mut self.times,
            };
            rest.all()?;
            self.tree.write(draft, &link.levels);
        }
        self.lost.iter().for_each(|&tag| losses.add(tag));
        Ok(())
    }
}

fn run<'a>(link: &'a Link, tree: &'a mut Tree, lost: &'a mut Vec<Tag>) -> ConversionRun<'a> {
    ConversionRun {
        levels: &link.levels,
        statements: &link.statements,
        tree,
        lost,
    }
}
