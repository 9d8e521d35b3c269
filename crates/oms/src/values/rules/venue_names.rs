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
}

/// A row of a file with names at a venue.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VenueNameRule {
    /// The OMS's name: Symbol(55) or Account(1).
    pub name: String,
    /// The fields that name the instrument or account in messages to the venue, each as `tag=value` and SOH. The field
    /// with the venue's name comes first.
    pub fields: Box<[u8]>,
}
