//! Reads and writes the file formats of dictionaries and messages. All functions work on text.
//!
//! [`read()`] reads a dictionary file of either form: QuickFIX XML ([`quickfix`]) or FIX Orchestra ([`orchestra`]).
//! [`mod@write`] writes dictionary files of both forms. [`delta`] changes a dictionary, [`json`] writes messages with
//! the dictionary's names, and [`generate`] writes typed Rust views for a dictionary. The dictionary itself is in
//! [`fixwire_protocol::dictionary`].
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod delta;
mod document;
pub mod generate;
pub mod json;
mod lenient;
pub mod orchestra;
mod problem;
pub mod quickfix;
mod read;
pub mod write;

pub use document::{DictionaryError, DocumentLimits, text_of};
pub use lenient::DictionaryNote;
pub use problem::DictionaryProblem;
pub use read::{read, read_noting};
