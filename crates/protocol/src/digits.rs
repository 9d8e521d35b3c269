//! Reads short numbers as one word instead of digit by digit.
//!
//! In a word, the first byte of the text is the lowest one. A digit's *figure* is its byte without the bits of `0`.

/// Eight bytes from an offset on.
#[inline]
pub(crate) fn word_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Whether each byte is the figure of a digit, 0 to 9.
#[inline]
pub(crate) fn are_figures(word: u64) -> bool {
    // A byte that is no figure gets its highest bit.
    (word.wrapping_add(0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080 == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_a_figure_or_not() {
        for byte in 0..=u8::MAX {
            for place in 0..8 {
                let word = u64::from(byte) << (8 * place);
                assert_eq!(are_figures(word), byte <= 9, "{byte} at {place}");
            }
        }
    }
}
