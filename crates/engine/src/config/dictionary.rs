//! Dictionaries that the settings name and that are missing.

use fixwire_protocol::dictionary::Version;

/// A missing dictionary file that was replaced by a built-in dictionary.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MissingDictionary {
    /// The file, as the settings name it.
    pub file: String,
    /// The dictionary that is used.
    pub version: Version,
}
