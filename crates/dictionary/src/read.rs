//! Reads dictionary files of either form.

use alloc::format;
use alloc::vec::Vec;

use fixwire_protocol::Dictionary;

use crate::document::{DictionaryError, DocumentLimits, root_name, single_bytes, text_of};
use crate::lenient::DictionaryNote;
use crate::problem::DictionaryProblem;
use crate::{orchestra, quickfix};

/// Reads a dictionary file of either form. The outermost element decides which form it is.
///
/// # Errors
///
/// [`DictionaryError`], also when the bytes are not UTF-8.
pub fn read(bytes: &[u8], limits: DocumentLimits) -> Result<Dictionary, DictionaryError> {
    read_noting(bytes, limits).map(|(dictionary, _)| dictionary)
}

/// As [`read()`]. Also returns notes on irregular forms in a QuickFIX file, and on how they were read.
///
/// # Errors
///
/// As for [`read()`].
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
