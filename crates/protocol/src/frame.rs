//! Splits a stream of bytes into messages.
//!
//! A message has `8=FIX.n.m`, then `9=` with the length of the body, then the body, which begins with `35=`, and at
//! the end `10=` with the sum of all bytes before it. This module examines nothing else.

use core::fmt;

use wide::u8x16;

use crate::SOH;
use crate::decimal::digits::{are_figures, word_at};

/// The meaning of the start of a stream of bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Frame {
    /// A message of `len` bytes, after `skip` bytes that belong to no message.
    Whole {
        /// Number of bytes before the message. The skipped bytes belong to no message.
        skip: usize,
        /// Number of bytes of the message.
        len: usize,
    },
    /// The message is not complete yet.
    Partial {
        /// Number of bytes that belong to no message. These bytes can be dropped before more bytes are read.
        skip: usize,
    },
    /// A message that must be ignored. The MsgSeqNum of the ignored message does not count as received.
    Garbled {
        /// Number of bytes to drop. The next message can begin after the dropped bytes.
        skip: usize,
        /// In which way the message is garbled.
        why: Garbled,
    },
    /// A message that is longer than allowed. BodyLength(9) shows this before the body arrives. The stream cannot
    /// continue after it.
    TooLarge {
        /// Number of bytes before the message. These bytes belong to no message.
        skip: usize,
        /// Number of bytes that the whole message would have.
        len: u64,
    },
}

/// Why bytes are not a message although they begin like one.
///
/// # Source
///
/// FIX Session Protocol, "garbled message".
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Garbled {
    /// The bytes before a message, or where a message should begin, do not begin with `8=FIX`. [`next`] skips them.
    NoMessage,
    /// BeginString(8) is not `FIX.n.m` or `FIXT.n.m`.
    BeginString,
    /// BodyLength(9) is not the second field, does not consist of digits, or is not a possible length.
    BodyLength,
    /// MsgType(35) is not the third field.
    MsgType,
    /// The body does not end with `10=`, three digits and SOH at the place that BodyLength gives.
    Trailer,
    /// CheckSum(10) is not the sum of the bytes before it.
    CheckSum {
        /// The value of CheckSum(10).
        stated: u16,
        /// The sum of the bytes before CheckSum(10).
        counted: u8,
    },
}

impl fmt::Display for Garbled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMessage => f.write_str("bytes between messages that do not begin with 8=FIX"),
            Self::BeginString => f.write_str("invalid BeginString(8)"),
            Self::BodyLength => f.write_str("invalid BodyLength(9)"),
            Self::MsgType => f.write_str("the third field is not MsgType(35)"),
            Self::Trailer => f.write_str("no CheckSum(10) where BodyLength(9) says"),
            Self::CheckSum { stated, counted } => {
                write!(f, "CheckSum(10) is {stated:03}, expected {counted:03}")
            }
        }
    }
}

const BEGIN: &[u8; 5] = b"8=FIX";
/// Number of bytes of the trailer: `10=ddd` and SOH.
const TRAILER: usize = 7;
/// Number of bytes of the shortest body: `35=0` and SOH.
const SHORTEST_BODY: u64 = 5;
/// Maximum number of digits of BodyLength(9). This maximum is enough for a number of 64 bits, also with the zeros in
/// front that some peers write.
const LENGTH_DIGITS: usize = 20;

/// Finds the next message in `bytes`. The bytes begin where the previous message ended.
///
/// After [`Frame::Partial`] the same bytes are examined again, but only the fields before the body. A message that
/// arrives byte by byte therefore does not cost more than its length. `max_len` is the maximum length of a message, in
/// bytes.
///
/// After garbled bytes, the search for the next message continues at the next `8=FIX`, wherever it is. Only the bytes
/// that BodyLength covers are skipped as a whole, even if the trailer after them is wrong or missing. This way the
/// content of a data field is not taken for a message. If BodyLength is too large and covers the beginning of the
/// next message, that message is lost too.
#[inline]
pub fn next(bytes: &[u8], max_len: usize) -> Frame {
    scan(bytes, max_len, true)
}

/// Does the same as [`next`], for a session that does not check CheckSum(10). Any three digits are accepted.
#[inline]
pub fn next_unsummed(bytes: &[u8], max_len: usize) -> Frame {
    scan(bytes, max_len, false)
}

/// The sum of the bytes modulo 256, as in CheckSum(10).
#[inline]
pub fn check_sum(bytes: &[u8]) -> u8 {
    let (pieces, rest) = bytes.as_chunks::<16>();
    let mut sums = pieces
        .iter()
        .fold(u8x16::ZERO, |sums, piece| sums + u8x16::new(*piece));
    match bytes.last_chunk::<16>() {
        // The last block was partly counted already. The bytes that were counted are masked out.
        Some(last) => {
            let mask = REST[rest.len() % 16..].first_chunk().unwrap_or(&[0; 16]);
            sums += u8x16::new(*last) & u8x16::new(*mask);
        }
        None => return rest.iter().fold(0, |sum, byte| sum.wrapping_add(*byte)),
    }
    sums.to_array()
        .iter()
        .fold(0, |sum, byte| sum.wrapping_add(*byte))
}

/// Masks for the last bytes of a block: the 16 bytes from `n` on keep the last `n` bytes.
static REST: [u8; 32] = {
    let mut masks = [0; 32];
    let mut at = 16;
    while at < masks.len() {
        masks[at] = u8::MAX;
        at += 1;
    }
    masks
};

/// Why the end of a message cannot be found.
enum Stop {
    Partial,
    Garbled(Garbled),
    /// BodyLength(9) does not lead to a trailer. The value is the offset at which the trailer should begin.
    NoTrailer(usize),
    TooLarge(u64),
}

#[inline]
fn scan(bytes: &[u8], max_len: usize, summed: bool) -> Frame {
    match usual(bytes, max_len, summed) {
        Some(len) => Frame::Whole { skip: 0, len },
        None => general(bytes, max_len, summed),
    }
}

/// The length of the message at the start of `bytes`, if it is whole, has no fault, and begins as nearly all messages
/// do: FIX.4.n or FIXT.1.1, and a BodyLength of three digits. [`general`] decides about all other bytes.
#[inline]
fn usual(bytes: &[u8], max_len: usize, summed: bool) -> Option<usize> {
    let head: &[u8; 24] = bytes.first_chunk()?;
    let length_at = match word_at(head, 0)? {
        FIX_4 if head[8].is_ascii_digit() => 9,
        FIXT_1 if head[8..10] == *b".1" => 10,
        _ => return None,
    };
    let named = word_at(head, length_at)?;
    let body = three_digits((named >> 24) as u32)?;
    let body_at = length_at + b"|9=ddd|".len();
    if named as u32 & 0x00ff_ffff != u32::from_le_bytes(*b"\x019=\0")
        || head.get(body_at..body_at + 3) != Some(b"35=")
    {
        return None;
    }
    // One byte of the body is read with the trailer.
    let trailer_at = body_at + usize::from(body) - 1;
    let trailer = word_at(bytes, trailer_at)?;
    let stated = three_digits((trailer >> 32) as u32)?;
    let len = trailer_at + 1 + TRAILER;
    let fits = u64::from(body) >= SHORTEST_BODY && len <= max_len;
    if !fits || trailer as u32 != u32::from_le_bytes(*b"\x0110=") {
        return None;
    }
    let right = !summed || stated == u16::from(check_sum(&bytes[..=trailer_at]));
    right.then_some(len)
}

const FIX_4: u64 = u64::from_le_bytes(*b"8=FIX.4.");
const FIXT_1: u64 = u64::from_le_bytes(*b"8=FIXT.1");

/// The number that three digits are. The fourth byte must be SOH.
#[inline]
fn three_digits(text: u32) -> Option<u16> {
    let digits = text ^ u32::from_le_bytes([b'0', b'0', b'0', SOH]);
    let [hundreds, tens, ones, end] = digits.to_le_bytes().map(u16::from);
    (end == 0 && are_figures(u64::from(digits))).then_some(hundreds * 100 + tens * 10 + ones)
}

/// Finds the next message, however it begins.
#[inline(never)]
fn general(bytes: &[u8], max_len: usize, summed: bool) -> Frame {
    let skip = if bytes.starts_with(BEGIN) {
        0
    } else {
        find_begin(bytes, 0)
    };
    let rest = &bytes[skip..];
    match measure(rest, max_len) {
        Ok(len) => {
            let (message, trailer) = (&rest[..len - TRAILER], &rest[len - TRAILER..len]);
            if summed {
                let stated = trailer[3..6]
                    .iter()
                    .fold(0, |n, digit| n * 10 + u16::from(digit - b'0'));
                let counted = check_sum(message);
                if stated != u16::from(counted) {
                    return Frame::Garbled {
                        skip: skip + len,
                        why: Garbled::CheckSum { stated, counted },
                    };
                }
            }
            Frame::Whole { skip, len }
        }
        Err(Stop::Partial) => Frame::Partial { skip },
        Err(Stop::TooLarge(len)) => Frame::TooLarge { skip, len },
        Err(Stop::Garbled(why)) => Frame::Garbled {
            skip: find_begin(bytes, skip + 1),
            why,
        },
        Err(Stop::NoTrailer(at)) => Frame::Garbled {
            skip: find_begin(bytes, skip + at),
            why: Garbled::Trailer,
        },
    }
}

/// The offset of the first `8=FIX` from `from` on. At the end of the bytes, the beginning of `8=FIX` counts too.
#[cold]
fn find_begin(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(found) = bytes[at..].iter().position(|b| *b == BEGIN[0]) {
        at += found;
        let rest = &bytes[at..];
        if rest.starts_with(BEGIN) || BEGIN.starts_with(rest) {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

/// Returns the length of the message at the start of `bytes`, after a check that the trailer has the right form.
#[inline]
fn measure(bytes: &[u8], max_len: usize) -> Result<usize, Stop> {
    let length_at = begin_string_end(bytes)?;
    expect(bytes, length_at, b"9=", Garbled::BodyLength)?;
    let (body, body_at) = body_length(bytes, length_at + 2)?;
    let len = body.saturating_add((body_at + TRAILER) as u64);
    if len > max_len as u64 {
        return Err(Stop::TooLarge(len));
    }
    if body < SHORTEST_BODY {
        return Err(Stop::Garbled(Garbled::BodyLength));
    }
    expect(bytes, body_at, b"35=", Garbled::MsgType)?;
    let len = len as usize;
    let body_end = len - TRAILER;
    // One byte of the trailer is enough to show that a length is wrong.
    let trailer_at = body_end - 1;
    match expect(bytes, trailer_at, b"\x0110=", Garbled::Trailer) {
        Err(Stop::Garbled(_)) => return Err(Stop::NoTrailer(trailer_at)),
        other => other?,
    }
    for at in body_end + 3..body_end + 6 {
        if !byte(bytes, at)?.is_ascii_digit() {
            return Err(Stop::NoTrailer(trailer_at));
        }
    }
    if byte(bytes, len - 1)? != SOH {
        return Err(Stop::NoTrailer(trailer_at));
    }
    Ok(len)
}

/// The offset of the field after `8=FIX.n.m` or `8=FIXT.n.m`.
#[inline]
fn begin_string_end(bytes: &[u8]) -> Result<usize, Stop> {
    let mut at = BEGIN.len();
    if byte(bytes, at)? == b'T' {
        at += 1;
    }
    for _ in 0..2 {
        if byte(bytes, at)? != b'.' || !byte(bytes, at + 1)?.is_ascii_digit() {
            return Err(Stop::Garbled(Garbled::BeginString));
        }
        at += 2;
    }
    if byte(bytes, at)? != SOH {
        return Err(Stop::Garbled(Garbled::BeginString));
    }
    Ok(at + 1)
}

/// The number that begins at `from`, and the offset of the next field.
#[inline]
fn body_length(bytes: &[u8], from: usize) -> Result<(u64, usize), Stop> {
    let mut value: u64 = 0;
    for at in from..=from + LENGTH_DIGITS {
        let digit = byte(bytes, at)?.wrapping_sub(b'0');
        if digit <= 9 {
            value = value
                .checked_mul(10)
                .and_then(|v| v.checked_add(u64::from(digit)))
                .ok_or(Stop::Garbled(Garbled::BodyLength))?;
        } else if bytes[at] == SOH && at > from {
            return Ok((value, at + 1));
        } else {
            break;
        }
    }
    Err(Stop::Garbled(Garbled::BodyLength))
}

#[inline]
fn byte(bytes: &[u8], at: usize) -> Result<u8, Stop> {
    bytes.get(at).copied().ok_or(Stop::Partial)
}

/// This function is always inlined. `wanted` is constant in each call, so the comparison becomes a few instructions.
#[inline(always)]
fn expect(bytes: &[u8], at: usize, wanted: &[u8], why: Garbled) -> Result<(), Stop> {
    let there = bytes.get(at..).ok_or(Stop::Partial)?;
    if there.starts_with(wanted) {
        Ok(())
    } else if wanted.starts_with(there) {
        Err(Stop::Partial)
    } else {
        Err(Stop::Garbled(why))
    }
}

#[cfg(test)]
mod tests;
