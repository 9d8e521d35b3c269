//! The dictionary of a FIX version: fields, values and messages, and validation against it.
//!
//! A [`Dictionary`] is made once, at the start, and then only read. [`validate`] checks messages against it. The
//! dictionaries of the standard are built in. There are two other ways to make a dictionary, and the crate
//! `fixwire-dictionary` offers both for files. [`mod@compile`] takes definitions by name, as they are in a file.
//! [`mod@assemble`] takes the definitions of a dictionary after they were changed.

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
    /// The dictionary of a version of the standard. Making a dictionary takes about a millisecond, so keep the result.
    pub fn built_in(version: Version) -> Self {
        built_in::load(version)
    }

    /// This application dictionary together with the header, trailer and session messages of `transport`. A FIXT
    /// session validates with the result. Where both dictionaries define a field, or give its name to different tags,
    /// the definition of `transport` applies.
    pub fn over(&self, transport: &Self) -> Self {
        assemble::over(self, transport)
    }
}
