//! [`Policy`]: what becomes of a field that the target version lacks.

use alloc::vec::Vec;

use fixwire_protocol::Tag;

/// The treatment of a field or value that the target's message lacks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Policy {
    /// The field is dropped and counted.
    Drop,
    /// The field's tag is raised by this number, at least 5000, to a user-defined tag. Data fields and their
    /// lengths are dropped and counted, since a user-defined field cannot hold SOH.
    Tag(u32),
    /// The message is not converted.
    Reject,
}

/// The policies of a table, or of several.
#[derive(Clone, Debug)]
pub struct Policies {
    pub usual: Policy,
    /// Policies of single fields, in the order of tags.
    pub fields: Vec<(Tag, Policy)>,
}

impl Policies {
    pub fn of(&self, tag: Tag) -> Policy {
        let found = self.fields.binary_search_by_key(&tag, |&(tag, _)| tag);
        found.map_or(self.usual, |at| self.fields[at].1)
    }

    /// Adds the policies of a later table, for fields without a policy.
    pub fn add(&mut self, later: &Self) {
        for &(tag, policy) in &later.fields {
            let found = self.fields.binary_search_by_key(&tag, |&(tag, _)| tag);
            if let Err(at) = found {
                self.fields.insert(at, (tag, policy));
            }
        }
    }
}
