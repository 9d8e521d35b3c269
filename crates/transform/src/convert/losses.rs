//! Counts how often each field was lost in a conversion.

use alloc::vec::Vec;

use fixwire_protocol::Tag;
use fixwire_protocol::dictionary::Dictionary;

/// Counts of lost fields: one for each tag of the dictionaries on the route, and one for all other tags.
///
/// Each lost field counts, also each lost field in a group entry. A multiple-value field that loses some of its
/// values counts once. A field that a statement rewrites does not count.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Losses {
    /// Tag and count, sorted by tag.
    counts: Vec<(Tag, u64)>,
    others: u64,
}

impl Losses {
    pub(super) fn new<'a>(dictionaries: impl Iterator<Item = &'a Dictionary>) -> Self {
        let fields = dictionaries.flat_map(Dictionary::fields);
        let mut counts: Vec<_> = fields.map(|field| (field.tag, 0)).collect();
        counts.sort_unstable();
        counts.dedup();
        Self { counts, others: 0 }
    }

    pub(super) fn add(&mut self, tag: Tag) {
        let found = self.counts.binary_search_by_key(&tag, |&(tag, _)| tag);
        let count = match found {
            Ok(at) => &mut self.counts[at].1,
            Err(_) => &mut self.others,
        };
        *count = count.saturating_add(1);
    }

    /// Adds the counts of an earlier conversion that this conversion replaces.
    pub fn go_on_from(&mut self, other: &Self) {
        for (tag, count) in other.iter() {
            match self.counts.binary_search_by_key(&tag, |&(tag, _)| tag) {
                Ok(at) => self.counts[at].1 += count,
                Err(at) => self.counts.insert(at, (tag, count)),
            }
        }
        self.others += other.others;
    }

    /// Number of lost fields with this tag; 0 for a tag that no dictionary on the route has.
    #[must_use]
    pub fn of(&self, tag: Tag) -> u64 {
        let found = self.counts.binary_search_by_key(&tag, |&(tag, _)| tag);
        found.map_or(0, |at| self.counts[at].1)
    }

    /// Number of lost fields whose tags no dictionary on the route has.
    #[must_use]
    pub fn others(&self) -> u64 {
        self.others
    }

    /// The tags of lost fields, sorted, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Tag, u64)> {
        self.counts.iter().copied().filter(|&(_, count)| count > 0)
    }
}
