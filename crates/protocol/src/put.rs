//! Short pieces of text into a buffer, without calls to `memcpy` and `format!`.
//!
//! Each function writes at an offset and returns the offset behind what it wrote. A buffer too short
//! is a bug of the caller and panics.

use crate::{SOH, Tag};

/// Copies `text`. Most values are short: two overlapping words beat a call.
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

/// Whether the text holds SOH, a word at a time.
#[inline]
pub(crate) fn has_soh(text: &[u8]) -> bool {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGHS: u64 = ONES * 0x80;
    let soh_in = |word: &[u8; 8]| {
        let differs = u64::from_le_bytes(*word) ^ (ONES * SOH as u64);
        differs.wrapping_sub(ONES) & !differs & HIGHS
    };
    match (text.as_chunks(), text.last_chunk()) {
        ((words, _), Some(last)) => {
            words
                .iter()
                .fold(soh_in(last), |found, word| found | soh_in(word))
                != 0
        }
        _ => text
            .iter()
            .fold(false, |found, byte| found | (*byte == SOH)),
    }
}

#[inline]
fn copy_ends<const N: usize>(out: &mut [u8], text: &[u8]) {
    let last = text.len() - N;
    let (Some(first), Some(end)) = (text.first_chunk::<N>(), text.last_chunk::<N>()) else {
        return;
    };
    out[..N].copy_from_slice(first);
    out[last..].copy_from_slice(end);
}

/// Writes a tag and `=`. A tag known at compile time becomes one store; up to seven bytes behind the
/// text are overwritten.
#[inline]
pub(crate) fn put_tag(out: &mut [u8], at: usize, tag: Tag) -> usize {
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
        _ => {
            let end = put_digits(out, at, u64::from(tag));
            out[end] = b'=';
            return end + 1;
        }
    };
    out[at..at + 8].copy_from_slice(&word.to_le_bytes());
    at + len
}

/// Writes a number.
#[inline]
pub(crate) fn put_digits(out: &mut [u8], at: usize, value: u64) -> usize {
    if value < 10 {
        out[at] = b'0' + value as u8;
        return at + 1;
    }
    let len = value.ilog10() as usize + 1;
    let end = at + len;
    let mut rest = value;
    for byte in out[at..end].iter_mut().rev() {
        *byte = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    end
}

/// The text of a number, made in the end of `out`.
#[inline]
pub(crate) fn digits(mut value: u64, out: &mut [u8; 20]) -> &[u8] {
    let mut at = out.len();
    loop {
        at -= 1;
        out[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            return &out[at..];
        }
    }
}

/// Writes `10=`, three digits and SOH at the beginning of `out`.
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
