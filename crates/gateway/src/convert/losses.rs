//! Counts how often each field was lost in a conversion.

use alloc::vec::Vec;

use fixwire_protocol::Tag;
use fixwire_protocol::dictionary::Dictionary;

/// A count for each tag of the dictionaries that a message passes, and one for all others.
///
/// Counted are fields, those of groups each for itself; a field that loses some of its words counts
/// once. Fields that a statement says in another way are not lost.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Losses {
    /// In the order of tags.
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

    /// Goes on counting where another table is.
    pub(crate) fn go_on_from(&mut self, other: &Self) {
        for (tag, count) in other.iter() {
            match self.counts.binary_search_by_key(&tag, |&(tag, _)| tag) {
                Ok(at) => self.counts[at].1 += count,
                Err(at) => self.counts.insert(at, (tag, count)),
            }
        }
        self.others += other.others;
    }

    /// How often a field of this tag was lost; 0 for a tag that no dictionary has.
    #[must_use]
    pub fn of(&self, tag: Tag) -> u64 {
        let found = self.counts.binary_search_by_key(&tag, |&(tag, _)| tag);
        found.map_or(0, |at| self.counts[at].1)
    }

    /// How often fields were lost that no dictionary has.
    #[must_use]
    pub fn others(&self) -> u64 {
        self.others
    }

    /// The tags that were lost, in their order, and how often.
    pub fn iter(&self) -> impl Iterator<Item = (Tag, u64)> {
        self.counts.iter().copied().filter(|&(_, count)| count > 0)
    }
}
