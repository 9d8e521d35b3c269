//! One frame. Length, type and checksum are checked once; then its fields can be read.

use core::ops::Range;

use crate::error::{FrameError, TmpExpectedValue};
use crate::header::{FRAME_BYTES_LEAST, LENGTH_ADDS, TYPE_AT, TmpHeader, checksum, seal};
use crate::layout::{TmpLayout, TmpLayoutInfo};
use crate::wire::{TmpTime, WireField};

/// Byte offset of the key value in an L40.
const KEY_VALUE_AT: usize = 26;
/// MessageType of L40.
const L40_CODE: u8 = 40;

/// A frame whose length, type and checksum are correct. Borrowed from the receive buffer.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct TmpFrame<'a> {
    bytes: &'a [u8],
    info: &'static TmpLayoutInfo,
}

impl<'a> TmpFrame<'a> {
    /// Checks a whole frame: length, type and checksum, in this order.
    ///
    /// # Errors
    ///
    /// The first field that is wrong.
    #[inline]
    pub fn read(bytes: &'a [u8]) -> Result<Self, FrameError> {
        let frame = Self::read_again(bytes)?;
        let at = bytes.len() - 1;
        let (found, counted) = (bytes[at], checksum(&bytes[..at]));
        if found != counted {
            return Err(FrameError {
                message: frame.info.name,
                field: "checksum",
                at,
                found: u64::from(found),
                expected: TmpExpectedValue::Exactly(u64::from(counted)),
            });
        }
        Ok(frame)
    }

    /// As [`read`](Self::read), for a frame that was read before, such as that of
    /// [`LinkAction::Deliver`](crate::LinkAction::Deliver): the checksum is not checked again.
    ///
    /// # Errors
    ///
    /// The first field that is wrong.
    #[inline]
    pub fn read_again(bytes: &'a [u8]) -> Result<Self, FrameError> {
        let wrong = |message, field, at, found, expected| FrameError {
            message,
            field,
            at,
            found,
            expected,
        };
        let len = bytes.len();
        if len < FRAME_BYTES_LEAST {
            let least = TmpExpectedValue::AtLeast(FRAME_BYTES_LEAST as u64);
            return Err(wrong("frame", "length", 0, len as u64, least));
        }
        let stated = usize::from(u16::get(&bytes[..2]));
        let Some(info) = crate::messages::layout_of(bytes[TYPE_AT]) else {
            let known = TmpExpectedValue::OneOf("the types of TMP");
            let found = u64::from(bytes[TYPE_AT]);
            return Err(wrong("frame", "message_type", TYPE_AT, found, known));
        };
        if stated + LENGTH_ADDS != len {
            let right = TmpExpectedValue::Exactly((len - LENGTH_ADDS) as u64);
            return Err(wrong(info.name, "msg_length", 0, stated as u64, right));
        }
        if len != info.size && !(info.has_data && len > info.size) {
            let right = (info.size - LENGTH_ADDS) as u64;
            let right = match info.has_data {
                true => TmpExpectedValue::AtLeast(right),
                false => TmpExpectedValue::Exactly(right),
            };
            return Err(wrong(info.name, "msg_length", 0, stated as u64, right));
        }
        Ok(Self { bytes, info })
    }

    /// The frame's bytes.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// MessageType: nn for Lnn, 100 + nn for Rnn.
    #[inline]
    #[must_use]
    pub fn code(&self) -> u8 {
        self.info.code
    }

    /// The message's name, such as `R01`.
    #[inline]
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.info.name
    }

    /// The layout of the message.
    #[inline]
    #[must_use]
    pub fn layout(&self) -> &'static TmpLayoutInfo {
        self.info
    }

    /// The header.
    #[inline]
    #[must_use]
    pub fn header(&self) -> TmpHeader {
        TmpHeader {
            msg_seq_num: u32::get(&self.bytes[2..6]),
            msg_time: TmpTime::get(&self.bytes[6..12]),
            fcm_id: u16::get(&self.bytes[13..15]),
            session_id: u16::get(&self.bytes[15..17]),
        }
    }

    /// The byte at an offset after the header; zero after the end of the body.
    #[inline]
    pub(crate) fn byte(&self, at: usize) -> u8 {
        let body = &self.bytes[..self.bytes.len() - 1];
        body.get(at).copied().unwrap_or_default()
    }

    /// Reads a complete frame of a known type: header and fields.
    ///
    /// # Errors
    ///
    /// The first field that is wrong; this may be the MessageType.
    #[inline]
    pub fn decode<T: TmpLayout<'a>>(bytes: &'a [u8]) -> Result<(TmpHeader, T), FrameError> {
        let frame = Self::read(bytes)?;
        Ok((frame.header(), frame.body()?))
    }

    /// The fields of the message.
    ///
    /// # Errors
    ///
    /// The frame has a message of another type.
    #[inline]
    pub fn body<T: TmpLayout<'a>>(&self) -> Result<T, FrameError> {
        if self.info.code == T::CODE {
            return Ok(T::read(self.bytes));
        }
        Err(FrameError {
            message: T::NAME,
            field: "message_type",
            at: TYPE_AT,
            found: u64::from(self.info.code),
            expected: TmpExpectedValue::Exactly(u64::from(T::CODE)),
        })
    }
}

impl core::fmt::Debug for TmpFrame<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} of {} bytes", self.info.name, self.bytes.len())
    }
}

/// Byte range of the key value, if the frame is an L40. Journals and logs mask it together with the checksum, because
/// the key value could be computed from the checksum.
#[inline]
#[must_use]
pub fn key_value_range(frame: &[u8]) -> Option<Range<usize>> {
    let is_l40 = frame.len() > KEY_VALUE_AT + 1 && frame[TYPE_AT] == L40_CODE;
    is_l40.then_some(KEY_VALUE_AT..KEY_VALUE_AT + 1)
}

/// Overwrites the key value of a complete L40 with zero, and computes the checksum again. Other frames are not
/// changed.
pub fn mask_key(frame: &mut [u8]) {
    if let Some(key) = key_value_range(frame) {
        frame[key].fill(0);
        seal(frame);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::write_header;
    use crate::messages::{L20, L40, R01};
    use crate::{KeyValue, TmpStatus};
    use alloc::string::ToString;

    fn l20() -> [u8; 19] {
        let mut frame = [0; 19];
        let message = L20 {
            status: TmpStatus::OK,
        };
        message.encode(&TmpHeader::default(), &mut frame).unwrap();
        frame
    }

    #[test]
    fn an_error_names_message_field_offset_found_and_expected() {
        let text = |bytes: &[u8]| TmpFrame::read(bytes).unwrap_err().to_string();
        let good = l20();
        assert_eq!(TmpFrame::read(&good).unwrap().name(), "L20");
        assert_eq!(
            text(&good[..18]),
            "frame: length at byte 0 is 18, expected at least 19"
        );
        let mut bad = good;
        bad[18] = 7;
        assert_eq!(text(&bad), "L20: checksum at byte 18 is 7, expected 36");
        assert_eq!(TmpFrame::read_again(&bad).unwrap().name(), "L20");
        bad[1] = 17;
        assert_eq!(text(&bad), "L20: msg_length at byte 0 is 17, expected 16");
        assert!(TmpFrame::read_again(&bad).is_err());
        bad[12] = 9;
        let unknown = "frame: message_type at byte 12 is 9, expected one of the types of TMP";
        assert_eq!(text(&bad), unknown);
        let mut long = [0; 20];
        write_header(20, &TmpHeader::default(), &mut long);
        seal(&mut long);
        assert_eq!(text(&long), "L20: msg_length at byte 0 is 17, expected 16");
        let other = TmpFrame::read(&good).unwrap().body::<R01>().unwrap_err();
        assert_eq!(
            other.to_string(),
            "R01: message_type at byte 12 is 20, expected 101"
        );
    }

    #[test]
    fn a_key_is_masked() {
        let l40 = |key| {
            let message = L40 {
                key_value: KeyValue(key),
                append_no: 123,
                ..L40::default()
            };
            let mut frame = [0; 33];
            message.encode(&TmpHeader::default(), &mut frame).unwrap();
            frame
        };
        let masked = l40(0);
        for key in 0..100 {
            let mut frame = l40(key);
            assert_eq!(frame[key_value_range(&frame).unwrap()], [key]);
            mask_key(&mut frame);
            // No byte depends on the key, the checksum neither.
            assert_eq!(frame, masked);
            assert!(TmpFrame::read(&frame).is_ok());
        }
        let mut other = l20();
        mask_key(&mut other);
        assert_eq!(other, l20());
        assert_eq!(key_value_range(&l40(7)[..27]), None);
        mask_key(&mut []);
    }
}
