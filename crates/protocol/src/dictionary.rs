//! The dictionary of a FIX version: fields, values and messages, and validation against it.
//!
//! A [`Dictionary`] is made once, at start, and then only read; [`validate`] checks messages against it. The standard's
//! dictionaries are built in. Others are made in two ways, which the crate `fixwire-dictionary` offers for files:
//! [`mod@compile`] takes definitions by name, as in a file, and [`mod@assemble`] takes the changed definitions of a
//! dictionary.

pub mod assemble;
mod built_in;
pub mod compile;
pub mod condition;
mod definition_problem;
mod definitions;
mod kind;
pub mod names;
mod other_values;
pub mod validate;

pub use built_in::Version;
pub use condition::ConditionalRequirement;
pub use definition_problem::DefinitionProblem;
pub use definitions::{
    ComponentDef, Dictionary, FIRST_USER_DEFINED, FieldDef, GroupDef, Member, MessageDef, ValueDef,
};
pub use kind::DataType;
pub use other_values::OtherValues;
pub use validate::{RejectReason, Scratch, ValidationFault, ValidationRules};

use definitions::{NO_SLOT, has, set, unique};

impl Dictionary {
    /// The dictionary of a version of the standard; takes about a millisecond, so keep it.
    pub fn built_in(version: Version) -> Self {
        built_in::load(version)
    }

    /// This application dictionary with the header, trailer and session messages of `transport`: a FIXT session
    /// validates with the result. If both dictionaries define a field, or give its name to different tags, the
    /// definition of the transport applies.
    pub fn over(&self, transport: &Self) -> Self {
        assemble::over(self, transport)
    }
}
