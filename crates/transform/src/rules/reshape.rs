//! The `format` action: changes the format of a value.

use alloc::vec::Vec;

use super::syntax::Format;

/// Reformats a value.
pub(super) fn reshape(text: &mut Vec<u8>, format: Format) {
    match format {
        Format::Upper => text.make_ascii_uppercase(),
        Format::Lower => text.make_ascii_lowercase(),
        Format::Trim => {
            let end = text.trim_ascii_end().len();
            text.truncate(end);
            let start = text.len() - text.trim_ascii_start().len();
            text.drain(..start);
        }
        Format::PadRight(width, fill) => {
            let len = text.len().max(width as usize);
            text.resize(len, fill);
        }
        Format::PadLeft(width, fill) => {
            let len = text.len().max(width as usize);
            let added = len - text.len();
            text.resize(len, fill);
            text.rotate_right(added);
            text[..added].fill(fill);
        }
        Format::Cut(most) => text.truncate(most as usize),
    }
}
