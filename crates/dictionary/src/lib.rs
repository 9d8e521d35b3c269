//! The forms in which people and programs keep dictionaries and messages, as functions of text.
//!
//! [`read()`] takes a file of either kind: QuickFIX XML ([`quickfix`]) or FIX Orchestra ([`orchestra`]);
//! [`mod@write`] makes such files. [`delta`] changes a dictionary, [`json`] writes messages with its names,
//! [`generate`] writes typed Rust views from it. What a dictionary is and does stands in
//! [`fixwire_protocol::dictionary`].
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod delta;
mod document;
pub mod generate;
pub mod json;
pub mod orchestra;
mod problem;
pub mod quickfix;
mod read;
pub mod write;

pub use document::{DictionaryError, Limits, text_of};
pub use problem::Problem;
pub use read::read;
