//! Names of instruments and accounts at a venue, as the files of a line group give them.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// A file with the names that a venue has for instruments or accounts.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct VenueNameFile {
    /// Name of the file; empty for no file.
    pub file: String,
    /// The rows of the file.
    pub rows: Vec<VenueNameRule>,
    /// Where the file and its rows are, for messages about mistakes.
    pub places: NamePlaces,
}

/// Where a file of names is in the settings, and where its rows are in the file. All places are equal, because a row means
/// the same in each of them.
#[derive(Clone, Debug, Default)]
pub struct NamePlaces {
    /// Byte offset of the file's name in the settings.
    pub at: usize,
    /// The line of each row in the file, from 1.
    pub lines: Vec<usize>,
}

impl PartialEq for NamePlaces {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for NamePlaces {}

/// A row of a file with names at a venue.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VenueNameRule {
    /// The OMS's name: Symbol(55) or Account(1).
    pub name: String,
    /// The fields that name the instrument or account in messages to the venue, each as `tag=value` and SOH. The field
    /// with the venue's name comes first.
    pub fields: Box<[u8]>,
}
