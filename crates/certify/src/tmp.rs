//! Certification over TMP: fields with names, frames, and the broker's end of a link.

pub(crate) mod fields;
pub(crate) mod frames;
pub(crate) mod link;
pub(crate) mod parse;
