//! Tag numbers by their FIX names, in the spelling of constants.

/// A field's number.
pub type Tag = u32;

include!(concat!(env!("OUT_DIR"), "/tags.rs"));
