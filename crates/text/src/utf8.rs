//! Texts of files that must be UTF-8.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The text of a file.
///
/// # Errors
///
/// The place of the first byte that is not UTF-8, from line 1 and column 1, and what to do. The column counts
/// characters.
pub fn utf8(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| {
        let (read, rest) = error.as_bytes().split_at(error.utf8_error().valid_up_to());
        let byte = rest.first().copied().unwrap_or_default();
        let line = 1 + read.iter().filter(|byte| **byte == b'\n').count();
        let begun = read.rsplit(|byte| *byte == b'\n').next().unwrap_or(read);
        let is_first = |byte: &&u8| **byte & 0xC0 != 0x80;
        let column = 1 + begun.iter().filter(is_first).count();
        format!(
            "line {line}, column {column}: the byte 0x{byte:02X} is not UTF-8: save the file as UTF-8"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_that_is_not_utf8_has_its_place() {
        assert_eq!(utf8("\u{e9}\n".into()).as_deref(), Ok("\u{e9}\n"));
        let wrong = |bytes: &[u8]| utf8(bytes.to_vec()).unwrap_err();
        assert_eq!(
            wrong(b"a,b\n\xC3\xA9,Soci\xE9t\n"),
            "line 2, column 7: the byte 0xE9 is not UTF-8: save the file as UTF-8"
        );
        // UTF-16, and a character that ends with the file.
        assert!(wrong(b"\xFF\xFEa\0").starts_with("line 1, column 1: the byte 0xFF"));
        assert!(wrong(b"a\n\n\xC3").starts_with("line 3, column 1: the byte 0xC3"));
    }
}
