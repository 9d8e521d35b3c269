//! The built-in conversion tables, and the path of tables from any version to any other.
//!
//! ```text
//! FIX.4.0 -- FIX.4.1 -- FIX.4.2 -- FIX.4.4 -- FIX.5.0SP2 -- FIX.5.0SP1
//!                                     |           |
//!                                  FIX.4.3     FIX.5.0
//! ```

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::{Dictionary, Version};
use fixwire_protocol::time::LastMinute;

use super::link::TableLink;
use super::tree::Tree;
use super::{Conversion, ConversionTableError};
use crate::rules::nearest;

macro_rules! tables {
    ($($from:ident $to:ident $file:literal,)*) => {
        [$((
            Version::$from,
            Version::$to,
            include_str!(concat!("../../conversions/", $file, ".conv")),
        )),*]
    };
}

/// The built-in tables, in both directions between neighbouring versions.
pub const TABLES: [(Version, Version, &str); 14] = tables! {
    Fix40 Fix41 "fix40-fix41",
    Fix41 Fix40 "fix41-fix40",
    Fix41 Fix42 "fix41-fix42",
    Fix42 Fix41 "fix42-fix41",
    Fix42 Fix44 "fix42-fix44",
    Fix44 Fix42 "fix44-fix42",
    Fix43 Fix44 "fix43-fix44",
    Fix44 Fix43 "fix44-fix43",
    Fix44 Fix50Sp2 "fix44-fix50sp2",
    Fix50Sp2 Fix44 "fix50sp2-fix44",
    Fix50 Fix50Sp2 "fix50-fix50sp2",
    Fix50Sp2 Fix50 "fix50sp2-fix50",
    Fix50Sp1 Fix50Sp2 "fix50sp1-fix50sp2",
    Fix50Sp2 Fix50Sp1 "fix50sp2-fix50sp1",
};

/// Makes conversions from the built-in tables, and from custom tables that replace some of them. The conversions
/// share dictionaries and tables.
#[derive(Clone, Debug, Default)]
pub struct BuiltInConversions {
    dictionaries: Vec<(Version, Arc<Dictionary>)>,
    links: Vec<(Version, Version, Arc<TableLink>)>,
}

impl BuiltInConversions {
    /// Replaces the built-in table between these versions. If they are not neighbours, the table replaces all tables
    /// on the way between them. Conversions made earlier do not change.
    ///
    /// # Errors
    ///
    /// See [`Conversion::read`]. The call also fails when the table is for other versions.
    pub fn replace(
        &mut self,
        from: Version,
        to: Version,
        text: &str,
    ) -> Result<(), ConversionTableError> {
        let (source, target) = (self.dictionary(from), self.dictionary(to));
        let link = Arc::new(TableLink::new(text, source, target)?);
        self.links.retain(|known| (known.0, known.1) != (from, to));
        self.links.push((from, to, link));
        Ok(())
    }

    /// Whether the conversion `by` uses the table between these versions.
    #[must_use]
    pub fn is_used(&self, from: Version, to: Version, by: &Conversion) -> bool {
        let link = self.known(from, to);
        link.is_some_and(|link| by.links.iter().any(|used| Arc::ptr_eq(used, link)))
    }

    /// The conversion between two versions. `None` when both versions are the same, and for FIXT.1.1.
    pub fn conversion(&mut self, from: Version, to: Version) -> Option<Conversion> {
        let route = route(from, to)?;
        let (mut links, mut at) = (Vec::new(), 0);
        while at + 1 < route.len() {
            // Only a custom table can skip versions. The custom table that leads furthest is used.
            let mut further = (at + 2..route.len()).rev();
            let next = further.find(|&next| self.known(route[at], route[next]).is_some());
            let next = next.unwrap_or(at + 1);
            links.push(self.link(route[at], route[next])?);
            at = next;
        }
        let (first, others) = links.split_first()?;
        let mut policies = first.policies.clone();
        others.iter().for_each(|link| policies.add(&link.policies));
        Some(Conversion {
            links,
            policies,
            tree: Tree::default(),
            lost: Vec::new(),
            times: LastMinute::new(),
        })
    }

    fn link(&mut self, from: Version, to: Version) -> Option<Arc<TableLink>> {
        if let Some(link) = self.known(from, to) {
            return Some(link.clone());
        }
        let (source, target) = (self.dictionary(from), self.dictionary(to));
        let link = Arc::new(TableLink::new(text(from, to)?, source, target).ok()?);
        self.links.push((from, to, link.clone()));
        Some(link)
    }

    fn known(&self, from: Version, to: Version) -> Option<&Arc<TableLink>> {
        let mut known = self.links.iter();
        let (_, _, link) = known.find(|link| (link.0, link.1) == (from, to))?;
        Some(link)
    }

    fn dictionary(&mut self, version: Version) -> Arc<Dictionary> {
        let mut known = self.dictionaries.iter();
        if let Some((_, dictionary)) = known.find(|known| known.0 == version) {
            return dictionary.clone();
        }
        let made = Arc::new(dictionary(version));
        self.dictionaries.push((version, made.clone()));
        made
    }
}

/// The versions between which a custom table converts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TableVersions {
    /// The version of the messages.
    pub from: Version,
    /// The version into which the table converts them.
    pub to: Version,
}

impl TableVersions {
    /// Reads the name of a table in a settings file, such as `FIX.4.2 to FIX.4.4`.
    ///
    /// # Errors
    ///
    /// The text names no two versions between which a conversion is possible; perhaps with a hint.
    pub fn parse(name: &str) -> Result<Self, Option<String>> {
        let (from, to) = name.split_once(" to ").ok_or(None)?;
        let version = |name: &str| {
            let known = Version::from_name(name).filter(|version| version.name() == name);
            known.ok_or_else(|| nearest(name, Version::ALL.map(Version::name)))
        };
        let (from, to) = (version(from)?, version(to)?);
        match route(from, to) {
            Some(_) => Ok(Self { from, to }),
            None => Err(Some("no conversion between these versions".into())),
        }
    }
}

/// The text of the table from a version to a neighbouring version.
pub fn text(from: Version, to: Version) -> Option<&'static str> {
    let mut tables = TABLES.iter();
    let table = tables.find(|table| (table.0, table.1) == (from, to))?;
    Some(table.2)
}

/// The dictionary of a version. Above FIX 4.4 it includes the header, trailer and session messages of FIXT.1.1.
pub fn dictionary(version: Version) -> Dictionary {
    let dictionary = Dictionary::built_in(version);
    match version {
        Version::Fix50 | Version::Fix50Sp1 | Version::Fix50Sp2 => {
            dictionary.over(&Dictionary::built_in(Version::Fixt11))
        }
        _ => dictionary,
    }
}

/// The versions that a message passes through, from source to target. The versions form a tree, so there is only one
/// route.
pub fn route(from: Version, to: Version) -> Option<Vec<Version>> {
    let (mut up, mut down) = (to_the_root(from)?, to_the_root(to)?);
    // Both paths to the root share their last versions, from the version where they meet. All shared versions except
    // the first are dropped.
    let mut meet = up.pop().and(down.pop());
    while let (Some(one), Some(other)) = (up.last(), down.last())
        && one == other
    {
        meet = up.pop().and(down.pop());
    }
    up.extend(meet);
    up.extend(down.into_iter().rev());
    (up.len() > 1).then_some(up)
}

/// A version and the versions on its route to FIX 4.4.
fn to_the_root(version: Version) -> Option<Vec<Version>> {
    let mut way = alloc::vec![version];
    loop {
        way.push(match way.last()? {
            Version::Fix40 => Version::Fix41,
            Version::Fix41 => Version::Fix42,
            Version::Fix42 | Version::Fix43 | Version::Fix50Sp2 => Version::Fix44,
            Version::Fix50 | Version::Fix50Sp1 => Version::Fix50Sp2,
            Version::Fix44 => return Some(way),
            _ => return None,
        });
    }
}
