//! [`Policy`]: what happens to a field that the target version lacks.

use alloc::vec::Vec;

use fixwire_protocol::Tag;

/// What happens to a field or value that the target's message lacks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Policy {
    /// The field is dropped and counted.
    Drop,
    /// The field's tag is raised by this number, at least 5000, so that it becomes user-defined. Data fields and
    /// their length fields are dropped and counted instead, because a user-defined field cannot contain SOH.
    Tag(u32),
    /// The whole message is rejected, not converted.
    Reject,
}

/// The policies of one table, or of several tables.
#[derive(Clone, Debug)]
pub struct Policies {
    pub usual: Policy,
    /// Policies for single fields, sorted by tag.
    pub fields: Vec<(Tag, Policy)>,
}

impl Policies {
    pub fn of(&self, tag: Tag) -> Policy {
        let found = self.fields.binary_search_by_key(&tag, |&(tag, _)| tag);
        found.map_or(self.usual, |at| self.fields[at].1)
    }

    /// Adds the policies of a later table, for fields that have no policy yet.
    pub fn add(&mut self, later: &Self) {
        for &(tag, policy) in &later.fields {
            let found = self.fields.binary_search_by_key(&tag, |&(tag, _)| tag);
            if let Err(at) = found {
                self.fields.insert(at, (tag, policy));
            }
        }
    }
}
