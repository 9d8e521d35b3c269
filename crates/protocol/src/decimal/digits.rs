//! Reads short numbers as one word instead of digit by digit.
//!
//! In a word, the first byte of the text is the lowest one. A digit's *figure* is its byte without the bits of `0`.

/// Eight zeros.
const ZEROS: u64 = u64::from_ne_bytes([b'0'; 8]);

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

/// Whether the bytes from `start` to `end` are one to eight digits. `false` also when they are near the start of
/// `bytes`.
#[inline(always)]
pub(crate) fn is_short_number(bytes: &[u8], start: usize, end: usize) -> bool {
    short_figures(bytes, start, end).is_some_and(are_figures)
}

/// Whether the bytes from `start` to `end` are one to eight bytes, digits and at most one point. `false` also when they
/// are near the start of `bytes`.
#[inline(always)]
pub(crate) fn is_short_decimal(bytes: &[u8], start: usize, end: usize) -> bool {
    const POINTS: u64 = ZEROS ^ u64::from_ne_bytes([b'.'; 8]);
    let Some(figures) = short_figures(bytes, start, end) else {
        return false;
    };
    // The highest bit of each byte that is a point.
    let points = zeros(figures ^ POINTS);
    let single = points & points.wrapping_sub(1) == 0;
    let alone = points != 0 && end.wrapping_sub(start) == 1;
    single && !alone && are_figures(figures & !((points >> 7) * 0xff))
}

/// One to eight bytes that end at `end`, without the bits of `0`. The digits are the highest bytes of the word; the
/// other bytes are 0.
#[inline(always)]
fn short_figures(bytes: &[u8], start: usize, end: usize) -> Option<u64> {
    let len = end.wrapping_sub(start);
    let word = u64::from_le_bytes(*bytes.get(..end)?.last_chunk()?);
    // The bytes before are shifted out.
    let figures = (word ^ ZEROS) >> (64_usize.wrapping_sub(len.wrapping_mul(8)) % 64);
    (len.wrapping_sub(1) < 8).then_some(figures)
}

/// The highest bit of each byte that is 0.
#[inline(always)]
fn zeros(word: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    !(((word & LOW) + LOW) | word | LOW)
}

/// The number that four to eight digits are; `None` for any other text.
#[inline]
pub(crate) fn four_to_eight(text: &[u8]) -> Option<u64> {
    let first = u64::from(u32::from_le_bytes(*text.first_chunk()?));
    let last = u64::from(u32::from_le_bytes(*text.last_chunk()?));
    let left = 8_usize.checked_sub(text.len())?;
    // The two halves overlap. The missing digits in front become zeros.
    let figures = ((first | last << (32 - 8 * left)) ^ ZEROS) << (8 * left);
    are_figures(figures).then(|| value(figures))
}

/// The number of eight figures. Neighbours are joined: eight figures to four pairs, to two, to one number.
#[inline]
fn value(figures: u64) -> u64 {
    let pairs = figures.wrapping_mul(10 << 8 | 1) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100 << 16 | 1) >> 16 & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(10_000 << 32 | 1) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(text: &[u8]) -> Option<u64> {
        let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
        digits.then(|| core::str::from_utf8(text).ok()?.parse().ok())?
    }

    proptest! {
        #[test]
        fn words_are_read_as_digits_are(text in "[0-9]{0,10}", at in 0_usize..12, other: u8) {
            let mut text = text.into_bytes();
            for spoilt in [false, true] {
                if let (true, Some(byte)) = (spoilt, text.get_mut(at)) {
                    *byte = other;
                }
                let wanted = number(&text).filter(|_| (4..=8).contains(&text.len()));
                prop_assert_eq!(four_to_eight(&text), wanted);
                let bytes = [b"10=:/\xff\x01=".as_slice(), &text[..], b"=9"].concat();
                let short = number(&text).is_some() && text.len() <= 8;
                prop_assert_eq!(is_short_number(&bytes, 8, 8 + text.len()), short);
            }
        }
    }

    proptest! {
        #[test]
        fn short_decimals_have_at_most_one_point(text in "[0-9.]{0,9}|[0-9]{0,4}[.][0-9]{0,4}", at in 0_usize..12, other: u8) {
            let mut text = text.into_bytes();
            for spoilt in [false, true] {
                if let (true, Some(byte)) = (spoilt, text.get_mut(at)) {
                    *byte = other;
                }
                let bytes = [b"10=:/\xff.0=".as_slice(), &text[..], b".9"].concat();
                let points = text.iter().filter(|byte| **byte == b'.').count();
                let digits = text.iter().filter(|byte| byte.is_ascii_digit()).count();
                let wanted = digits > 0 && points <= 1 && digits + points == text.len() && text.len() <= 8;
                prop_assert_eq!(is_short_decimal(&bytes, 9, 9 + text.len()), wanted);
            }
        }
    }

    #[test]
    fn each_byte_is_a_figure_or_not() {
        for byte in 0..=u8::MAX {
            for place in 0..8 {
                let word = u64::from(byte) << (8 * place);
                assert_eq!(are_figures(word), byte <= 9, "{byte} at {place}");
            }
        }
        assert!(
            !is_short_number(b"1234567", 0, 7),
            "no eight bytes before its end"
        );
    }
}
