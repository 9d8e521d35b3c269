//! Dictionary files that the settings name but that are missing.

use fixwire_protocol::dictionary::Version;

/// A missing dictionary file that was replaced by a built-in dictionary.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MissingDictionary {
    /// Path of the file, as in the settings.
    pub file: String,
    /// The built-in dictionary that is used instead.
    pub version: Version,
}
