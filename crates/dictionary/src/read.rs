//! Reads dictionary files of either format.

use alloc::vec::Vec;

use fixwire_protocol::Dictionary;

use crate::document::{DictionaryError, DocumentLimits, latin1, root_name, text_of};
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

/// [`read()`] that also says which odd forms of a QuickFIX file it has read and how.
///
/// # Errors
///
/// As [`read()`].
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
    let latin = latin1(bytes);
    let text = match &latin {
        Some(text) => text.as_str(),
        None => text_of(bytes)?,
    };
    let (dictionary, mut notes) = match root_name(text) {
        "repository" => (orchestra::read(text, limits)?, Vec::new()),
        _ => quickfix::read_noting(text, limits)?,
    };
    if latin.is_some() {
        let text = "read as ISO-8859-1, as the file says".into();
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
