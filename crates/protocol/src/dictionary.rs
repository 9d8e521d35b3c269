//! Which fields, values and messages a version of FIX has: definitions, built in or read from XML.
//!
//! A [`Dictionary`] is made once, at start, and then only read. [`delta`] changes one, [`validate`] holds
//! messages against it, [`json`] writes them with its names, [`generate`] writes typed Rust views from
//! it, [`mod@write`] writes it as XML again.

mod assemble;
mod built_in;
mod compile;
pub mod condition;
mod definitions;
pub mod delta;
mod document;
pub mod generate;
pub mod json;
mod kind;
mod names;
mod orchestra;
mod problem;
pub mod validate;
pub mod write;
mod xml;

pub use built_in::Version;
pub use condition::Condition;
pub use definitions::{
    ComponentDef, Dictionary, FIRST_USER_DEFINED, FieldDef, GroupDef, Member, MessageDef, ValueDef,
};
pub use document::{DictionaryError, Limits, text_of};
pub use kind::Kind;
pub use problem::Problem;
pub use validate::{Fault, RejectReason, Rules, Scratch};

use definitions::{NO_SLOT, has, set, unique};

impl Dictionary {
    /// The dictionary of a version of the standard; takes about a millisecond, so keep it.
    pub fn built_in(version: Version) -> Self {
        built_in::load(version)
    }

    /// Reads a QuickFIX data dictionary (the XML files that QuickFIX engines share).
    ///
    /// # Errors
    ///
    /// [`DictionaryError`] says where the text is wrong and what to do about it. There are no
    /// entities and no document types, and `limits` bounds size, depth and number of elements.
    pub fn from_quickfix_xml(text: &str, limits: Limits) -> Result<Self, DictionaryError> {
        xml::read(text, limits)
    }

    /// Reads a FIX Orchestra repository, version 1.0: FIX Latest, or what a venue publishes.
    ///
    /// Taken are fields, code sets, data types, components, groups and messages. Of a message, field or
    /// code set with several scenarios it is `base`, or the first when there is none; references to
    /// components and groups keep their scenario. A code set with a union type does not limit the
    /// values. Actors, flows, sections, categories, annotations and rules are not taken.
    ///
    /// # Errors
    ///
    /// [`DictionaryError`] says where the text is wrong, as for [`Self::from_quickfix_xml`].
    pub fn from_orchestra(text: &str, limits: Limits) -> Result<Self, DictionaryError> {
        orchestra::read(text, limits)
    }

    /// Reads a file of either kind; its outermost element says which.
    ///
    /// # Errors
    ///
    /// [`DictionaryError`], also for bytes that are not UTF-8.
    pub fn from_file(bytes: &[u8], limits: Limits) -> Result<Self, DictionaryError> {
        if bytes.len() > limits.bytes {
            return Err(DictionaryError {
                line: 1,
                column: 1,
                problem: Problem::TooLong {
                    limit: limits.bytes,
                },
            });
        }
        let text = text_of(bytes)?;
        match document::root_name(text) {
            "repository" => Self::from_orchestra(text, limits),
            _ => Self::from_quickfix_xml(text, limits),
        }
    }

    /// This application dictionary with the header, trailer and session messages of `transport`:
    /// what a FIXT session validates with. Where both define a field, or give its name to another
    /// tag, the transport's definition holds.
    pub fn over(&self, transport: &Self) -> Self {
        assemble::over(self, transport)
    }
}
