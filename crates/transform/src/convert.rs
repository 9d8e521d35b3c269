//! Converts messages from one FIX version to another, by conversion tables, which are readable text files.
//!
//! `docs/reference/conversion.md` describes the format of tables; the built-in tables are in the folder
//! `conversions` of this crate.

use alloc::sync::Arc;
use alloc::vec::Vec;

use fixwire_protocol::Tag;
use fixwire_protocol::dictionary::{Dictionary, Version};
use fixwire_protocol::time::LastMinute;

use crate::{Draft, TransformFailure};

mod built_in;
mod level;
mod link;
mod losses;
mod parse;
mod policy;
mod problem;
mod rest;
mod run;
mod statement;
#[cfg(test)]
mod tests;
mod tree;

pub use built_in::{BuiltInConversions, TableVersions};
pub use losses::Losses;
pub use parse::MAX_TABLE;
pub use policy::Policy;
pub use problem::{ConversionProblem, ConversionTableError};

use link::TableLink;
use policy::Policies;
use run::ConversionRun;
use tree::{ROOT, Tree};

/// A conversion from one version to another, with its working memory.
///
/// Made at start, in about ten milliseconds per table. Clones share dictionaries and tables. Each thread needs a
/// clone of its own.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The tables that a message passes through, in order; at least one.
    links: Vec<Arc<TableLink>>,
    /// The policies of all tables. If two tables have a policy for the same field, the first table's policy applies.
    policies: Policies,
    tree: Tree,
    lost: Vec<Tag>,
    times: LastMinute,
}

impl Conversion {
    /// The built-in conversion between two versions: by one table, or by a chain of tables. `None` when both versions
    /// are the same, and for FIXT.1.1. To make several conversions that share dictionaries and tables, use
    /// [`BuiltInConversions`].
    #[must_use]
    pub fn built_in(from: Version, to: Version) -> Option<Self> {
        BuiltInConversions::default().conversion(from, to)
    }

    /// The text of a built-in table, as the basis of a custom table. `None` for versions that are converted by a
    /// chain of tables.
    #[must_use]
    pub fn built_in_text(from: Version, to: Version) -> Option<&'static str> {
        built_in::text(from, to)
    }

    /// Reads a table between two versions of the FIX standard; the table names both versions.
    ///
    /// # Errors
    ///
    /// [`ConversionTableError`] for the first line that is invalid or can never have an effect.
    pub fn read(text: &str) -> Result<Self, ConversionTableError> {
        let (from, to) = parse::versions(text)?;
        let dictionary = |version| Arc::new(built_in::dictionary(version));
        Self::new(text, dictionary(from), dictionary(to))
    }

    /// Reads a table between two dictionaries, such as a counterparty's. The versions that the table names must be
    /// the dictionaries' versions. A dictionary above FIX 4.4 must include its transport dictionary.
    ///
    /// # Errors
    ///
    /// See [`Conversion::read`].
    pub fn new(
        text: &str,
        from: Arc<Dictionary>,
        to: Arc<Dictionary>,
    ) -> Result<Self, ConversionTableError> {
        let link = TableLink::new(text, from, to)?;
        Ok(Self {
            policies: link.policies.clone(),
            links: alloc::vec![Arc::new(link)],
            tree: Tree::default(),
            lost: Vec::new(),
            times: LastMinute::new(),
        })
    }

    /// An empty count of losses, with room for every field that this conversion can lose.
    #[must_use]
    pub fn losses(&self) -> Losses {
        let dictionaries = self.links.iter().flat_map(|link| [&*link.from, &*link.to]);
        Losses::new(dictionaries)
    }

    /// Converts a message in place. A [`Draft`] has no header fields that each session sets itself. In the result,
    /// fields are in the order of the target's dictionary, group counts match the number of entries, and all
    /// user-defined fields are kept.
    ///
    /// The statements run table after table. Fields that the target lacks, and fields that it requires, are checked
    /// once at the end. So an intermediate version does not restrict the fields that source and target share.
    ///
    /// Allocates memory only when a message is larger than all earlier messages. The time is proportional to the
    /// number of fields and of statements that apply to the message.
    ///
    /// # Errors
    ///
    /// [`TransformFailure::MessageType`], [`TransformFailure::Homeless`] and [`TransformFailure::Missing`]. In all
    /// three cases, draft and losses do not change.
    pub fn convert(
        &mut self,
        draft: &mut Draft,
        losses: &mut Losses,
    ) -> Result<(), TransformFailure> {
        self.lost.clear();
        draft.swap_text(self.tree.text_mut());
        let converted = self.run(draft);
        draft.swap_text(self.tree.text_mut());
        converted?;
        self.lost.iter().for_each(|&tag| losses.add(tag));
        Ok(())
    }

    /// The tags of the fields that the last conversion has lost, in the order in which it lost them. A tag is listed
    /// once for each lost field.
    #[must_use]
    pub fn lost(&self) -> &[Tag] {
        &self.lost
    }

    /// Converts the message whose text was loaded into the tree.
    fn run(&mut self, draft: &mut Draft) -> Result<(), TransformFailure> {
        for (at, link) in self.links.iter().enumerate() {
            let root = link.levels.root(self.tree.text(draft.msg_type_span()));
            let root = root.ok_or(TransformFailure::MessageType)?;
            match at {
                0 => self.tree.load(draft, &link.levels, root),
                _ => self.tree.change_levels(&link.levels, root),
            }
            let mut run = ConversionRun {
                link,
                policies: &self.policies,
                tree: &mut self.tree,
                lost: &mut self.lost,
                times: &mut self.times,
                scope: ROOT,
            };
            run.all();
            if at + 1 == self.links.len() {
                run.rest()?;
                self.tree.write(draft, &link.levels);
            }
        }
        Ok(())
    }
}
