//! Conditional requirements: fields that a message must have if other fields have certain values.
//!
//! ```text
//! Price required when OrdType in 2,4                                     every message that has both
//! in NewOrderSingle, G: StopPx required when OrdType = 3 and Side not in 1
//! in NoPartyIDs of NewOrderSingle: PartyIDSource required when PartyID present
//! ```

use alloc::string::String;
use alloc::vec::Vec;

use crate::Tag;

/// A conditional requirement of a message, or of the entries of one of its groups.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ConditionalRequirement {
    /// The NumInGroup fields of the groups that lead to the entries, beginning with the outermost. Empty for the
    /// message itself.
    pub path: Vec<Tag>,
    /// The field that must be present.
    pub required: Tag,
    /// The field is required if all these terms are true.
    pub terms: Vec<Term>,
}

/// A test that a field must pass, so that a requirement applies.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Term {
    /// The field that is tested. The tested field is in the same message or entry, or in the header.
    pub tag: Tag,
    /// The test.
    pub test: Test,
}

/// The test of a field.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Test {
    /// The field is present.
    Present,
    /// The field is missing.
    Absent,
    /// The field has one of these values. If the field has several values, one match is enough.
    In(Vec<String>),
    /// The field is present and has none of these values.
    NotIn(Vec<String>),
}

/// Maximum number of terms of one condition.
pub const MAX_TERMS: usize = 32;
