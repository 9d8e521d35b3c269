//! The `format` action: changes the format of a value.

use alloc::vec::Vec;

use super::syntax::Format;

/// Reformats a value. The value is the end of a text, from `start` on.
pub(super) fn reshape(text: &mut Vec<u8>, start: usize, format: Format) {
    let len = text.len() - start;
    match format {
        Format::Upper => text[start..].make_ascii_uppercase(),
        Format::Lower => text[start..].make_ascii_lowercase(),
        Format::Trim => {
            let end = start + text[start..].trim_ascii_end().len();
            text.truncate(end);
            let blanks = end - start - text[start..].trim_ascii_start().len();
            text.drain(start..start + blanks);
        }
        Format::PadRight(width, fill) => text.resize(start + len.max(width as usize), fill),
        Format::PadLeft(width, fill) => {
            let added = (width as usize).saturating_sub(len);
            text.resize(text.len() + added, fill);
            text[start..].rotate_right(added);
        }
        Format::Cut(most) => text.truncate(start + most as usize),
    }
}
