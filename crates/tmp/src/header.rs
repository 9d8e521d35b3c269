//! The header that all messages begin with, and the checksum that they end with.
//!
//! ```text
//!   0 msg_length u16   2 MsgSeqNum u32   6 msg_time u32 s + u16 ms   12 MessageType u8
//!   13 fcm_id u16      15 session_id u16   17 body ...   last byte: sum of all before it, modulo 256
//! ```
//!
//! `msg_length` counts the bytes after itself without the checksum: the frame has 3 more.

use crate::wire::{TmpTime, WireField};

/// Bytes of the shortest frame: a header, a status, a checksum.
pub const FRAME_BYTES_LEAST: usize = 19;
/// Bytes of the longest frame that a length of 16 bits can state.
pub const FRAME_BYTES_MOST: usize = 65_538;

/// What the length field leaves out.
pub(crate) const LENGTH_ADDS: usize = 3;
/// Where the message's own fields begin.
pub(crate) const BODY_AT: usize = 17;
/// Where MessageType is.
pub(crate) const TYPE_AT: usize = 12;

/// What every message begins with, without length and type.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TmpHeader {
    /// MsgSeqNum; 0 in messages without one.
    pub msg_seq_num: u32,
    /// When it was sent.
    pub msg_time: TmpTime,
    /// The broker, from the exchange's file P06.
    pub fcm_id: u16,
    /// The exchange's number of the link.
    pub session_id: u16,
}

/// Writes the header of a frame that fills `frame`.
#[inline]
pub(crate) fn write_header(code: u8, header: &TmpHeader, frame: &mut [u8]) {
    // A frame has at most 65,538 bytes: whoever calls has checked it.
    let length = (frame.len() - LENGTH_ADDS) as u16;
    length.put(&mut frame[..2]);
    frame[TYPE_AT] = code;
    stamp(header, frame);
}

/// Writes what a link adds to a message: MsgSeqNum, time, broker and session.
#[inline]
pub(crate) fn stamp(header: &TmpHeader, frame: &mut [u8]) {
    header.msg_seq_num.put(&mut frame[2..6]);
    header.msg_time.put(&mut frame[6..12]);
    header.fcm_id.put(&mut frame[13..15]);
    header.session_id.put(&mut frame[15..17]);
}

/// Writes the checksum.
#[inline]
pub(crate) fn seal(frame: &mut [u8]) {
    if let Some((last, before)) = frame.split_last_mut() {
        *last = checksum(before);
    }
}

/// The sum of bytes, modulo 256.
#[inline]
#[must_use]
pub fn checksum(bytes: &[u8]) -> u8 {
    bytes
        .iter()
        .fold(0, |sum: u8, byte| sum.wrapping_add(*byte))
}
