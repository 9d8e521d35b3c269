//! Conversion tables of the settings.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::Version;
use fixwire_transform::convert::BuiltInConversions;
use siphasher::sip::SipHasher13;

/// A file with a conversion table that replaces a built-in one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConversionFile {
    /// The version of the fields.
    pub from: Version,
    /// The version into which the table converts them.
    pub to: Version,
    /// Name of the file.
    pub file: String,
    /// The table.
    pub text: String,
}

impl ConversionFile {
    /// The versions, as the settings have them.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} to {}", self.from.name(), self.to.name())
    }
}

/// The conversion tables of the settings.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ConversionFiles(Vec<ConversionFile>);

impl ConversionFiles {
    pub(crate) fn add(&mut self, file: ConversionFile) {
        self.0.push(file);
    }

    /// The files, in the order of the settings.
    pub fn iter(&self) -> impl Iterator<Item = &ConversionFile> {
        self.0.iter()
    }

    /// Returns these tables, and `tables` for all other versions.
    pub(crate) fn over(&self, mut tables: BuiltInConversions) -> BuiltInConversions {
        for it in &self.0 {
            // The reader of the settings has reported the mistakes.
            let _ = tables.replace(it.from, it.to, &it.text);
        }
        tables
    }

    /// The versions, files, and hashes of the tables.
    pub(crate) fn shown(&self) -> String {
        let shown = |it: &ConversionFile| {
            let hash = SipHasher13::new().hash(it.text.as_bytes());
            format!("{} = {} ({hash:016x})", it.name(), it.file)
        };
        let all: Vec<String> = self.0.iter().map(shown).collect();
        all.join(", ")
    }
}
