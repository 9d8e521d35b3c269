//! Reads dictionary files of either format.

use alloc::format;
use alloc::vec::Vec;

use fixwire_protocol::Dictionary;

use crate::document::{DictionaryError, DocumentLimits, root_name, single_bytes, text_of};
use crate::lenient::DictionaryNote;
use crate::problem::DictionaryProblem;
use crate::{orchestra, quickfix};

/// Reads a file of either format, detected by its outermost element.
///
/// # Errors
///
/// [`DictionaryError`], also for bytes that are not UTF-8.
pub fn read(bytes: &[u8], limits: DocumentLimits) -> Result<Dictionary, DictionaryError> {
    read_noting(bytes, limits).map(|(dictionary, _)| dictionary)
}

/// The same as [`read()`]; also returns notes on irregular forms of a QuickFIX file, and how they were read.
///
/// # Errors
///
/// See [`read()`].
pub fn read_noting(
    bytes: &[u8],
    limits: DocumentLimits,
) -> Result<(Dictionary, Vec<DictionaryNote>), DictionaryError> {
    if bytes.len() > limits.bytes {
        return Err(DictionaryError {
            line: 1,
            column: 1,
            problem: DictionaryProblem::TooLong {
                limit: limits.bytes,
            },
        });
    }
    let single = single_bytes(bytes);
    let text = match &single {
        Some((text, _)) => text.as_str(),
        None => text_of(bytes)?,
    };
    let (dictionary, mut notes) = match root_name(text) {
        "repository" => (orchestra::read(text, limits)?, Vec::new()),
        _ => quickfix::read_noting(text, limits)?,
    };
    if let Some((_, encoding)) = single {
        let text = format!("read as {encoding}, as the file says");
        notes.insert(
            0,
            DictionaryNote {
                line: 1,
                column: 1,
                text,
            },
        );
    }
    Ok((dictionary, notes))
}
