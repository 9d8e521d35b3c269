//! Writes short values into a buffer without calls of `memcpy` and `format!`.
//!
//! Each function writes at an offset and returns the offset after the bytes that it has written. If the buffer is too
//! short, the caller has a bug and the function panics.

use wide::u8x16;

use crate::{SOH, Tag};

/// Copies `text`. Most values are short, and copying two words that overlap is faster than a call.
#[inline]
pub(crate) fn put(out: &mut [u8], at: usize, text: &[u8]) -> usize {
    let len = text.len();
    let end = at + len;
    let out = &mut out[at..end];
    match len {
        0 => {}
        1..4 => {
            out[0] = text[0];
            out[len / 2] = text[len / 2];
            out[len - 1] = text[len - 1];
        }
        4..8 => copy_ends::<4>(out, text),
        8..=16 => copy_ends::<8>(out, text),
        17..=32 => copy_ends::<16>(out, text),
        _ => out.copy_from_slice(text),
    }
    end
}

/// Copies `text` and puts SOH after it. `None` when the text is empty or contains SOH; the written bytes then mean
/// nothing. The first and the last piece overlap, as in [`put`].
#[inline(always)]
pub(crate) fn put_value(out: &mut [u8], at: usize, text: &[u8]) -> Option<usize> {
    let len = text.len();
    let end = at + len;
    let (soh, room) = out[at..=end].split_last_mut()?;
    *soh = SOH;
    let spoilt = match len {
        0 => true,
        1..4 => [0, len / 2, len - 1].iter().fold(false, |spoilt, &i| {
            room[i] = text[i];
            spoilt | (text[i] == SOH)
        }),
        4..8 => {
            copy_ends::<4>(room, text);
            ends(text).is_none_or(|[first, last]: [&[u8; 4]; 2]| {
                let first = u64::from(u32::from_le_bytes(*first));
                word_has_soh(first | u64::from(u32::from_le_bytes(*last)) << 32)
            })
        }
        8..16 => {
            copy_ends::<8>(room, text);
            ends(text).is_none_or(|[first, last]: [&[u8; 8]; 2]| {
                word_has_soh(u64::from_le_bytes(*first)) | word_has_soh(u64::from_le_bytes(*last))
            })
        }
        16..=32 => {
            copy_ends::<16>(room, text);
            halves_have_soh(text)
        }
        _ => {
            room.copy_from_slice(text);
            text.contains(&SOH)
        }
    };
    (!spoilt).then_some(end + 1)
}

/// Whether two texts are equal. Short texts are compared without a call.
#[inline]
pub(crate) fn same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    match one.len() {
        4..8 => ends::<4>(one) == ends::<4>(other),
        8..=16 => ends::<8>(one) == ends::<8>(other),
        _ => one == other,
    }
}

/// Whether a text contains SOH. A text of at most 32 bytes is checked without a call.
#[inline]
pub(crate) fn has_soh(text: &[u8]) -> bool {
    match text.len() {
        16..=32 => halves_have_soh(text),
        _ => text.contains(&SOH),
    }
}

/// Whether a text of 16 to 32 bytes contains SOH. The result is true for a shorter text.
#[inline]
fn halves_have_soh(text: &[u8]) -> bool {
    ends(text).is_none_or(|[first, last]: [&[u8; 16]; 2]| {
        let soh = u8x16::splat(SOH);
        let found = u8x16::new(*first).simd_eq(soh) | u8x16::new(*last).simd_eq(soh);
        found.to_bitmask() != 0
    })
}

#[inline]
fn word_has_soh(word: u64) -> bool {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGHS: u64 = ONES * 0x80;
    let differs = word ^ (ONES * SOH as u64);
    differs.wrapping_sub(ONES) & !differs & HIGHS != 0
}

/// The first and the last `N` bytes of a text. The two parts overlap if the text has fewer than two times `N` bytes.
#[inline]
fn ends<const N: usize>(text: &[u8]) -> Option<[&[u8; N]; 2]> {
    Some([text.first_chunk()?, text.last_chunk()?])
}

#[inline]
fn copy_ends<const N: usize>(out: &mut [u8], text: &[u8]) {
    if let (Some([first, last]), Some(room)) = (ends::<N>(text), out.first_chunk_mut()) {
        *room = *first;
        if let Some(room) = out.last_chunk_mut() {
            *room = *last;
        }
    }
}

/// The text of a tag and `=`. The compiler makes this text if it knows the tag.
#[derive(Clone, Copy)]
pub(crate) struct TagText {
    /// The bytes of the text. The first byte is the lowest one.
    word: u64,
    /// The number of digits. The number is 0 for a tag of more than four digits, which is written in another way.
    len: u32,
    tag: Tag,
}

impl TagText {
    /// The longest: `4294967295=`.
    pub(crate) const MAX: usize = 11;

    #[inline(always)]
    pub(crate) fn of(tag: Tag) -> Self {
        let digit = |power: u32| u64::from(b'0') + u64::from(tag / power % 10);
        let equals = u64::from(b'=');
        let (word, len) = match tag {
            0..10 => (digit(1) | equals << 8, 2),
            10..100 => (digit(10) | digit(1) << 8 | equals << 16, 3),
            100..1_000 => (
                digit(100) | digit(10) << 8 | digit(1) << 16 | equals << 24,
                4,
            ),
            1_000..10_000 => (
                digit(1_000) | digit(100) << 8 | digit(10) << 16 | digit(1) << 24 | equals << 32,
                5,
            ),
            _ => (0, 0),
        };
        Self { word, len, tag }
    }

    pub(crate) fn tag(self) -> Tag {
        self.tag
    }

    /// Writes the text. Up to six bytes after it may be overwritten.
    #[inline(always)]
    pub(crate) fn put(self, out: &mut [u8], at: usize) -> usize {
        if self.len == 0 {
            return self.put_long(out, at);
        }
        out[at..at + 8].copy_from_slice(&self.word.to_le_bytes());
        at + self.len as usize
    }

    #[cold]
    fn put_long(self, out: &mut [u8], at: usize) -> usize {
        let end = put_digits(out, at, u64::from(self.tag));
        out[end] = b'=';
        end + 1
    }

    /// Writes the text, a value of one byte, and SOH.
    #[inline(always)]
    pub(crate) fn put_with(self, out: &mut [u8], at: usize, value: u8) -> usize {
        if self.len == 0 {
            let at = self.put_long(out, at);
            out[at..at + 2].copy_from_slice(&[value, SOH]);
            return at + 2;
        }
        let field = self.word | u64::from(u16::from_le_bytes([value, SOH])) << (8 * self.len);
        out[at..at + 8].copy_from_slice(&field.to_le_bytes());
        at + self.len as usize + 2
    }
}

/// Writes a number. Up to seven bytes after it may be overwritten.
#[inline]
pub(crate) fn put_digits(out: &mut [u8], at: usize, value: u64) -> usize {
    match value {
        0..10 => {
            out[at] = b'0' + value as u8;
            at + 1
        }
        10..EIGHT_DIGITS => NumberText::of(value).put(out, at),
        _ => put_long_digits(out, at, value),
    }
}

/// The first number with more than eight digits.
const EIGHT_DIGITS: u64 = 100_000_000;

/// The text of a number. For a number of at most eight digits it is one word.
#[derive(Clone, Copy)]
pub(crate) struct NumberText {
    value: u64,
    /// The bytes of a number of at most eight digits. The first byte is the lowest one.
    word: u64,
    /// The number of digits.
    pub(crate) len: usize,
}

impl NumberText {
    #[inline(always)]
    pub(crate) fn of(value: u64) -> Self {
        if value >= EIGHT_DIGITS {
            let len = value.ilog10() as usize + 1;
            return Self {
                value,
                word: 0,
                len,
            };
        }
        let figures = figures(value);
        // The first digit is the lowest byte. Zeros in front are shifted out.
        let zeros = (figures.trailing_zeros() / 8).min(7);
        Self {
            value,
            word: (figures | ZEROS) >> (8 * zeros),
            len: 8 - zeros as usize,
        }
    }

    /// Writes the text. Up to seven bytes after it may be overwritten.
    #[inline(always)]
    pub(crate) fn put(self, out: &mut [u8], at: usize) -> usize {
        if self.value >= EIGHT_DIGITS {
            return put_long_digits(out, at, self.value);
        }
        out[at..at + 8].copy_from_slice(&self.word.to_le_bytes());
        at + self.len
    }
}

/// Whether [`put_decimal`] can write a number of this many digits after the point.
#[inline(always)]
pub(crate) fn is_short_decimal(mantissa: u64, scale: u8) -> bool {
    mantissa < EIGHT_DIGITS && (1..8).contains(&scale)
}

/// Writes a decimal with `scale` digits after the point, for which [`is_short_decimal`] is true. Up to seven bytes after
/// it may be overwritten.
#[inline(always)]
pub(crate) fn put_decimal(out: &mut [u8], at: usize, mantissa: u64, scale: u8) -> usize {
    let figures = figures(mantissa);
    let scale = u32::from(scale % 8);
    // A digit stays in front of the point.
    let zeros = (figures.trailing_zeros() / 8).min(7 - scale);
    let digits = (figures | ZEROS) >> (8 * zeros);
    let whole = 8 - zeros - scale;
    let point = at + whole as usize;
    let end = point + 1 + scale as usize;
    out[at..at + 8].copy_from_slice(&digits.to_le_bytes());
    out[point + 1..point + 9].copy_from_slice(&(digits >> (8 * whole % 64)).to_le_bytes());
    out[point] = b'.';
    end
}

/// Writes a number of more than eight digits.
#[inline(never)]
fn put_long_digits(out: &mut [u8], at: usize, value: u64) -> usize {
    let (first, last) = (value / EIGHT_DIGITS, value % EIGHT_DIGITS);
    if first >= EIGHT_DIGITS {
        let mut text = [0; 20];
        return put(out, at, digits(value, &mut text));
    }
    let at = NumberText::of(first).put(out, at);
    out[at..at + 8].copy_from_slice(&(figures(last) | ZEROS).to_le_bytes());
    at + 8
}

/// Eight zeros.
const ZEROS: u64 = u64::from_ne_bytes([b'0'; 8]);

/// The digits of a number below 100,000,000, each as a byte from 0 to 9, the first one lowest. The number is split into
/// fours, these into pairs, and the pairs into digits, with a multiplication in place of each division.
#[inline(always)]
fn figures(value: u64) -> u64 {
    let fours = (value / 10_000) | ((value % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let pairs = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | ((pairs - 10 * tens) << 8)
}

/// The number in digits, written at the end of `out`.
#[inline]
pub(crate) fn digits(mut value: u64, out: &mut [u8; 20]) -> &[u8] {
    let mut at = out.len();
    while value >= 10 && at >= 2 {
        let pair = (value % 100) as usize;
        value /= 100;
        at -= 2;
        out[at..at + 2].copy_from_slice(&PAIRS[pair]);
    }
    if at == out.len() || value != 0 && at > 0 {
        at -= 1;
        out[at] = b'0' + value as u8;
    }
    &out[at..]
}

/// The numbers 0 to 99, each with two digits.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + number as u8 / 10, b'0' + number as u8 % 10];
        number += 1;
    }
    pairs
};

/// Writes `10=`, three digits and SOH at the start of `out`.
#[inline]
pub(crate) fn put_three(out: &mut [u8], sum: u8) {
    out[..7].copy_from_slice(&[
        b'1',
        b'0',
        b'=',
        b'0' + sum / 100,
        b'0' + sum / 10 % 10,
        b'0' + sum % 10,
        SOH,
    ]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn texts_of_every_length_are_copied_and_searched_as_a_whole() {
        for len in 0..70 {
            let text: Vec<u8> = (2..).take(len).collect();
            let mut out = vec![0xff; len + 10];
            assert_eq!(put(&mut out, 5, &text), 5 + len);
            assert_eq!(out, [&[0xff; 5], &text[..], &[0xff; 5]].concat());
            assert!(same(&text, &out[5..5 + len]), "{len}");
            assert!(!same(&text, &out[5..6 + len]), "{len}");
            let wanted = (len > 0).then_some(6 + len);
            assert_eq!(put_value(&mut out, 5, &text), wanted);
            assert!(!has_soh(&text), "{len}");
            let soh = &[SOH][..];
            assert_eq!(out, [&[0xff; 5], &text[..], soh, &[0xff; 4]].concat());
            for at in 0..len {
                let mut spoilt = text.clone();
                spoilt[at] = SOH;
                assert_eq!(put_value(&mut out, 5, &spoilt), None, "{at} of {len}");
                assert!(has_soh(&spoilt), "{at} of {len}");
                assert!(!same(&text, &spoilt), "{at} of {len}");
            }
        }
    }

    #[test]
    fn decimals_are_written_as_others_write_them() {
        let mantissas = [0, 1, 9, 10, 99, 1250, 1_234_567, 12_345_678, 99_999_999];
        for mantissa in mantissas.into_iter().chain(0..2_000) {
            for scale in 1..8_u8 {
                assert!(is_short_decimal(mantissa, scale));
                let mut out = [0xff; 30];
                let end = put_decimal(&mut out, 3, mantissa, scale);
                let one = 10_u64.pow(scale.into());
                let (whole, part) = (mantissa / one, mantissa % one);
                let digits = usize::from(scale);
                let wanted = std::format!("{whole}.{part:0digits$}");
                assert_eq!(&out[3..end], wanted.as_bytes(), "{mantissa} {scale}");
                assert_eq!(&out[..3], [0xff; 3]);
            }
        }
        assert!(!is_short_decimal(EIGHT_DIGITS, 1) && !is_short_decimal(1, 8));
        assert!(!is_short_decimal(1, 0));
    }

    #[test]
    fn each_group_of_digits_is_written_in_each_place() {
        for part in 0..10_000 {
            for number in [
                part,
                part * 10_000 + 1,
                part * EIGHT_DIGITS + 7,
                part * 1_000_000_000_000 + 99,
            ] {
                let mut out = [0xff; 30];
                let end = put_digits(&mut out, 3, number);
                assert_eq!(&out[3..end], number.to_string().as_bytes());
            }
        }
    }

    #[test]
    fn numbers_and_tags_are_written_as_others_write_them() {
        let powers = (0..20).map(|power| 10_u64.pow(power));
        for number in powers
            .flat_map(|ten| [ten - 1, ten, ten + 1])
            .chain([u64::MAX, 4_711])
        {
            let (mut text, mut out) = ([0; 20], [0xff; 30]);
            assert_eq!(digits(number, &mut text), number.to_string().as_bytes());
            let end = put_digits(&mut out, 3, number);
            assert_eq!(&out[3..end], number.to_string().as_bytes());
            assert_eq!(&out[..3], [0xff; 3]);
            let text = NumberText::of(number);
            assert_eq!((text.put(&mut out, 3), text.len), (end, end - 3));
            assert_eq!(&out[3..end], number.to_string().as_bytes());
            let tag = number as Tag;
            let end = TagText::of(tag).put(&mut out, 3);
            assert_eq!(&out[3..end], (tag.to_string() + "=").as_bytes());
        }
    }
}
