//! The header with which every message begins, and the checksum with which every message ends.
//!
//! ```text
//!   0 msg_length u16   2 MsgSeqNum u32   6 msg_time u32 s + u16 ms   12 MessageType u8
//!   13 fcm_id u16      15 session_id u16   17 body ...   last byte: sum of all before it, modulo 256
//! ```
//!
//! `msg_length` counts the bytes after itself, without the checksum. So the frame has 3 bytes more.

use crate::wire::{TmpTime, WireField};

/// Length of the shortest frame in bytes: a header, a status and a checksum.
pub const FRAME_BYTES_LEAST: usize = 19;
/// Length of the longest frame in bytes, given a length field of 16 bits.
pub const FRAME_BYTES_MOST: usize = 65_538;

/// Bytes of a frame that the length field does not count.
pub(crate) const LENGTH_ADDS: usize = 3;
/// Byte offset of the message's own fields.
pub(crate) const BODY_AT: usize = 17;
/// Where MessageType is.
pub(crate) const TYPE_AT: usize = 12;

/// The header of every message, without length and type.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TmpHeader {
    /// MsgSeqNum; 0 in a message without one.
    pub msg_seq_num: u32,
    /// Time at which the message was sent.
    pub msg_time: TmpTime,
    /// The broker's number, from the exchange's file P06.
    pub fcm_id: u16,
    /// The number that the exchange gave to the link.
    pub session_id: u16,
}

/// Writes the header for the message that `frame` contains.
#[inline]
pub(crate) fn write_header(code: u8, header: &TmpHeader, frame: &mut [u8]) {
    // A frame has at most 65,538 bytes; the caller has checked this.
    let length = (frame.len() - LENGTH_ADDS) as u16;
    length.put(&mut frame[..2]);
    frame[TYPE_AT] = code;
    stamp(header, frame);
}

/// Writes the values that a link sets in a message: MsgSeqNum, time, broker and session.
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
