//! Reads dictionary files of either format.

use fixwire_protocol::Dictionary;

use crate::document::{DictionaryError, DocumentLimits, root_name, text_of};
use crate::problem::DictionaryProblem;
use crate::{orchestra, quickfix};

/// Reads a file of either format, detected by its outermost element.
///
/// # Errors
///
/// [`DictionaryError`], also for bytes that are not UTF-8.
pub fn read(bytes: &[u8], limits: DocumentLimits) -> Result<Dictionary, DictionaryError> {
    if bytes.len() > limits.bytes {
        return Err(DictionaryError {
            line: 1,
            column: 1,
            problem: DictionaryProblem::TooLong {
                limit: limits.bytes,
            },
        });
    }
    let text = text_of(bytes)?;
    match root_name(text) {
        "repository" => orchestra::read(text, limits),
        _ => quickfix::read(text, limits),
    }
}
