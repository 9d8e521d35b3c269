//! Names of instruments and accounts at a venue, as the files of a line group give them.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// A file with the names that a venue has for instruments or accounts.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct VenueNameFile {
    /// Name of the file; empty for no file.
    pub file: String,
    /// Its rows.
    pub rows: Vec<VenueNameRule>,
}

/// A row of such a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VenueNameRule {
    /// The OMS's name: Symbol(55) or Account(1).
    pub name: String,
    /// The fields that messages to the venue have instead, each as `tag=value` and SOH, the venue's name first.
    pub fields: Box<[u8]>,
}
