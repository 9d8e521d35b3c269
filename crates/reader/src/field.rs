//! The fields of a message as they appear in a log. Nothing is checked, and the lengths of data fields are ignored.

use fixwire_protocol::{SOH, Tag};
use memchr::memchr;

/// Every field that begins after a SOH with a tag of at most four digits, even inside a data field.
pub(crate) fn fields(bytes: &[u8]) -> impl Iterator<Item = (Tag, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let (mut tag, mut digits) = (0, 0);
            while let Some(byte) = rest.get(digits)
                && byte.is_ascii_digit()
                && digits < 4
            {
                tag = tag * 10 + Tag::from(byte - b'0');
                digits += 1;
            }
            let has_tag = digits > 0 && rest.get(digits) == Some(&b'=');
            let text = if has_tag { &rest[digits + 1..] } else { rest };
            let end = end_of(text);
            let value = &text[..end];
            rest = text.get(end + 1..).unwrap_or_default();
            if has_tag {
                return Some((tag, value));
            }
        }
        None
    })
}

/// The end of the field. Most fields end within eight bytes, so eight bytes are searched at once.
pub(crate) fn end_of(text: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    if let Some(bytes) = text.first_chunk() {
        // The lowest zero byte marks the first SOH.
        let word = u64::from_le_bytes(*bytes) ^ (ONES * SOH as u64);
        let zeros = word.wrapping_sub(ONES) & !word & (ONES << 7);
        if zeros != 0 {
            return zeros.trailing_zeros() as usize / 8;
        }
    }
    memchr(SOH, text).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn fields_end_at_the_first_soh(text in "[=\\x01129a]{0,60}") {
            let expected: Vec<(Tag, &[u8])> = text
                .as_bytes()
                .split(|byte| *byte == SOH)
                .filter_map(|field| {
                    let equals = field.iter().position(|byte| *byte == b'=')?;
                    let (tag, value) = (&field[..equals], &field[equals + 1..]);
                    let is_tag = (1..=4).contains(&equals) && tag.iter().all(u8::is_ascii_digit);
                    let tag = str::from_utf8(tag).ok()?.parse().ok()?;
                    is_tag.then_some((tag, value))
                })
                .collect();
            prop_assert_eq!(fields(text.as_bytes()).collect::<Vec<_>>(), expected);
        }
    }
}
