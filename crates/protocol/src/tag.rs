//! Numbers of tags. The constants have the FIX names of the tags.

/// A field's number.
pub type Tag = u32;

include!(concat!(env!("OUT_DIR"), "/tags.rs"));
