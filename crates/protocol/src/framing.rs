//! Framing of a protocol other than FIX whose messages state their length.
//!
//! ```text
//!   0          length_at            length_at + length_bytes              length + adds
//!   | ...      | length             | ...                   | check sum   |
//! ```
//!
//! A [`Framing`] describes the frames as data: where the length is, what it counts, its limits, and the checksum. The
//! content of a frame is up to the application.

use core::fmt;

/// How frames of a protocol are separated.
///
/// ```
/// use fixwire_protocol::framing::{FrameCheck, Framing};
///
/// // TAIFEX TMP: a length of two bytes, which counts neither itself nor the check sum behind the message.
/// let tmp = Framing::big_endian(0, 2).adding(3).within(19, 65_538).with_sum_of_bytes();
/// assert_eq!(tmp.check, FrameCheck::SumOfBytes);
/// assert_eq!(tmp.check(), Ok(()));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Framing {
    /// Byte offset of the length in a frame.
    pub length_at: usize,
    /// Number of bytes that the length has, 1 to 4.
    pub length_bytes: usize,
    /// Whether the most significant byte of the length comes first.
    pub big_endian: bool,
    /// Number of bytes of a frame that the length does not count.
    pub adds: usize,
    /// Number of bytes of the shortest frame.
    pub least: usize,
    /// Number of bytes of the longest frame.
    pub most: usize,
    /// The kind of checksum that frames have.
    pub check: FrameCheck,
}

/// The kind of checksum that frames have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FrameCheck {
    /// Frames have no checksum.
    None,
    /// The last byte is the sum of all bytes before it, modulo 256.
    SumOfBytes,
}

/// The meaning of the start of a stream of frames.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Framed {
    /// A frame of this many bytes.
    Whole(usize),
    /// The frame is not complete yet.
    More,
    /// The bytes are not a frame. The start of the next frame is unknown, so the stream cannot continue.
    Bad(BadFrame),
}

/// Why bytes are not a frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BadFrame {
    /// The frame would be shorter than [`Framing::least`] or longer than [`Framing::most`].
    Length {
        /// The length that the frame states.
        stated: u32,
        /// Number of bytes that the frame would have.
        bytes: u64,
        /// Number of bytes of the shortest frame that is allowed.
        least: usize,
        /// Number of bytes of the longest frame that is allowed.
        most: usize,
    },
    /// The checksum is not the sum of the bytes before it.
    CheckSum {
        /// The checksum that the frame states.
        stated: u8,
        /// The sum of the bytes before the checksum.
        counted: u8,
    },
}

/// Ends the connection of a link. An event shows the reason.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Hangup(pub &'static str);

/// Why a [`Framing`] cannot work.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FramingError {
    /// `length_bytes` is not 1 to 4.
    LengthBytes(usize),
    /// The shortest frame has no room for the length and the checksum.
    Least {
        /// The configured length of the shortest frame, in bytes.
        least: usize,
        /// Number of bytes that every frame needs.
        needed: usize,
    },
    /// The longest frame is shorter than the shortest one.
    Most {
        /// The configured length of the longest frame, in bytes.
        most: usize,
        /// The configured length of the shortest frame, in bytes.
        least: usize,
    },
}

impl Framing {
    /// Frames with a length field of this size at this offset, with the most significant byte first. The length counts
    /// all bytes of the frame, there is no checksum, and a frame has at most 65,535 bytes. Other methods can change the
    /// counted bytes, the checksum and the maximum length.
    #[must_use]
    pub const fn big_endian(length_at: usize, length_bytes: usize) -> Self {
        Self {
            length_at,
            length_bytes,
            big_endian: true,
            adds: 0,
            least: length_at.saturating_add(length_bytes),
            most: 65_535,
            check: FrameCheck::None,
        }
    }

    /// As [`Framing::big_endian`], but the least significant byte of the length comes first.
    #[must_use]
    pub const fn little_endian(length_at: usize, length_bytes: usize) -> Self {
        Self {
            big_endian: false,
            ..Self::big_endian(length_at, length_bytes)
        }
    }

    /// Sets the number of bytes of each frame that the length does not count.
    #[must_use]
    pub const fn adding(mut self, adds: usize) -> Self {
        self.adds = adds;
        self
    }

    /// Sets the number of bytes of the shortest and of the longest frame.
    #[must_use]
    pub const fn within(mut self, least: usize, most: usize) -> Self {
        self.least = least;
        self.most = most;
        self
    }

    /// Sets that the last byte of a frame is its checksum, as in [`FrameCheck::SumOfBytes`].
    #[must_use]
    pub const fn with_sum_of_bytes(mut self) -> Self {
        self.check = FrameCheck::SumOfBytes;
        self
    }

    /// Checks that the framing can work.
    ///
    /// # Errors
    ///
    /// The first problem that was found.
    pub fn check(&self) -> Result<(), FramingError> {
        let (least, most) = (self.least, self.most);
        if !(1..=4).contains(&self.length_bytes) {
            return Err(FramingError::LengthBytes(self.length_bytes));
        }
        let sum = usize::from(self.check == FrameCheck::SumOfBytes);
        let needed = self.length_at.saturating_add(self.length_bytes + sum);
        if least < needed {
            return Err(FramingError::Least { least, needed });
        }
        if most < least {
            return Err(FramingError::Most { most, least });
        }
        Ok(())
    }

    /// Finds the next frame in `bytes`. The bytes begin where the previous frame ended. An impossible length is
    /// detected as soon as the bytes of the length have arrived, and a wrong checksum as soon as the frame has
    /// arrived. The function never waits for more than [`Framing::most`] bytes.
    #[inline]
    #[must_use]
    pub fn next(&self, bytes: &[u8]) -> Framed {
        let Some(stated) = self.length(bytes) else {
            return Framed::More;
        };
        let total = u64::from(stated).saturating_add(self.adds as u64);
        let (least, most) = (self.least, self.most);
        if total < least as u64 || total > most as u64 {
            return Framed::Bad(BadFrame::Length {
                stated,
                bytes: total,
                least,
                most,
            });
        }
        // The value is at most `most`, so it fits into a `usize`.
        let total = total as usize;
        let Some(frame) = bytes.get(..total) else {
            return Framed::More;
        };
        if let (FrameCheck::SumOfBytes, Some((stated, summed))) = (self.check, frame.split_last()) {
            let (stated, counted) = (*stated, sum_of_bytes(summed));
            if stated != counted {
                return Framed::Bad(BadFrame::CheckSum { stated, counted });
            }
        }
        match total {
            // A framing that passes `check` cannot have such frames.
            0 => Framed::More,
            total => Framed::Whole(total),
        }
    }

    /// Makes changed bytes a valid frame again. `original` is the frame before the change: its length is copied into
    /// the changed frame, and the checksum is calculated again.
    pub(crate) fn mend(&self, changed: &mut [u8], original: &[u8]) {
        let length = self.length_at..self.length_at.saturating_add(self.length_bytes);
        if let (Some(to), Some(from)) = (changed.get_mut(length.clone()), original.get(length)) {
            to.copy_from_slice(from);
        }
        if let (FrameCheck::SumOfBytes, Some((sum, summed))) =
            (self.check, changed.split_last_mut())
        {
            *sum = sum_of_bytes(summed);
        }
    }

    /// The length that a frame states, if all bytes of the length have arrived.
    #[inline]
    fn length(&self, bytes: &[u8]) -> Option<u32> {
        let end = self.length_at.checked_add(self.length_bytes)?;
        let digits = bytes.get(self.length_at..end)?;
        let add = |sum: u32, byte: &u8| (sum << 8) | u32::from(*byte);
        Some(match self.big_endian {
            true => digits.iter().fold(0, add),
            false => digits.iter().rev().fold(0, add),
        })
    }
}

/// The sum of the bytes modulo 256, which is the checksum of [`FrameCheck::SumOfBytes`].
#[inline]
#[must_use]
pub fn sum_of_bytes(bytes: &[u8]) -> u8 {
    bytes
        .iter()
        .fold(0, |sum: u8, byte| sum.wrapping_add(*byte))
}

impl fmt::Display for BadFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length {
                stated,
                bytes,
                least,
                most,
            } => write!(
                f,
                "length field {stated} gives a frame of {bytes} bytes, outside the limits {least} to {most}"
            ),
            Self::CheckSum { stated, counted } => {
                write!(f, "checksum {stated}, expected {counted}")
            }
        }
    }
}

impl core::error::Error for BadFrame {}

impl fmt::Display for FramingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LengthBytes(bytes) => {
                write!(
                    f,
                    "the length field of a frame has {bytes} bytes, but must have 1 to 4"
                )
            }
            Self::Least { least, needed } => write!(
                f,
                "the shortest frame has {least} bytes, but its length and checksum end at byte {needed}"
            ),
            Self::Most { most, least } => write!(
                f,
                "the longest frame has {most} bytes, fewer than the shortest, which has {least}"
            ),
        }
    }
}

impl core::error::Error for FramingError {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const TMP: Framing = Framing::big_endian(0, 2)
        .adding(3)
        .within(19, 65_538)
        .with_sum_of_bytes();

    /// A frame of TMP's shape.
    fn tmp(body: &[u8]) -> Vec<u8> {
        let mut frame = (body.len() as u16).to_be_bytes().to_vec();
        frame.extend_from_slice(body);
        frame.push(sum_of_bytes(&frame));
        frame
    }

    #[test]
    fn a_frame_is_whole_when_its_last_byte_is_there() {
        for len in [16, 100, 65_535] {
            let frame = tmp(&vec![7; len]);
            assert_eq!(TMP.next(&frame), Framed::Whole(len + 3));
            assert_eq!(TMP.next(&frame[..frame.len() - 1]), Framed::More);
            let two = [&frame[..], &frame[..]].concat();
            assert_eq!(TMP.next(&two), Framed::Whole(len + 3));
        }
        assert_eq!(TMP.next(&[]), Framed::More);
        assert_eq!(TMP.next(&[0]), Framed::More);
    }

    #[test]
    fn a_wrong_length_is_known_at_once_and_a_wrong_sum_at_the_end() {
        let Framed::Bad(why) = TMP.next(&[0, 15]) else {
            panic!("it is too short");
        };
        assert_eq!(
            why.to_string(),
            "length field 15 gives a frame of 18 bytes, outside the limits 19 to 65538"
        );
        let mut frame = tmp(&[1; 16]);
        frame[5] ^= 1;
        let Framed::Bad(why) = TMP.next(&frame) else {
            panic!("its sum is wrong");
        };
        assert_eq!(why.to_string(), "checksum 32, expected 31");
        assert_eq!(TMP.next(&frame[..18]), Framed::More);
    }

    #[test]
    fn a_length_of_little_endian_counts_what_its_protocol_says() {
        let own = Framing::little_endian(1, 4).within(5, 300);
        assert_eq!(own.check(), Ok(()));
        let mut frame = vec![9, 44, 1, 0, 0];
        frame.resize(300, 0);
        assert_eq!(own.next(&frame), Framed::Whole(300));
        frame[1] = 45;
        assert!(matches!(own.next(&frame), Framed::Bad(_)));
        let huge = own.next(&[9, 255, 255, 255, 255]);
        let (stated, bytes) = (u32::MAX, u64::from(u32::MAX));
        let (least, most) = (5, 300);
        assert_eq!(
            huge,
            Framed::Bad(BadFrame::Length {
                stated,
                bytes,
                least,
                most
            })
        );
    }

    #[test]
    fn a_framing_that_cannot_work_is_refused() {
        let refused = |framing: Framing| framing.check().unwrap_err().to_string();
        let length_bytes = 5;
        let text = refused(Framing {
            length_bytes,
            ..TMP
        });
        assert_eq!(
            text,
            "the length field of a frame has 5 bytes, but must have 1 to 4"
        );
        let text = refused(Framing { least: 2, ..TMP });
        assert_eq!(
            text,
            "the shortest frame has 2 bytes, but its length and checksum end at byte 3"
        );
        let text = refused(Framing { most: 18, ..TMP });
        assert_eq!(
            text,
            "the longest frame has 18 bytes, fewer than the shortest, which has 19"
        );
    }

    fn framing() -> impl Strategy<Value = Framing> {
        let sizes = (0..6_usize, 0..6_usize, 0..9_usize, 0..12_usize, 0..40_usize);
        (sizes, any::<bool>(), any::<bool>()).prop_map(|(sizes, big_endian, sums)| Framing {
            length_at: sizes.0,
            length_bytes: sizes.1,
            big_endian,
            adds: sizes.2,
            least: sizes.3,
            most: sizes.4,
            check: match sums {
                true => FrameCheck::SumOfBytes,
                false => FrameCheck::None,
            },
        })
    }

    proptest! {
        /// For any framing, sound or not: no panic, and every found frame is inside the bytes.
        #[test]
        fn nothing_is_found_beyond_the_bytes(
            framing in framing(),
            bytes in prop::collection::vec(any::<u8>(), 0..64),
        ) {
            if let Framed::Whole(len) = framing.next(&bytes) {
                prop_assert!(len > 0 && len <= bytes.len());
                prop_assert!((framing.least..=framing.most).contains(&len));
            }
        }

        /// A verdict of a first part does not change when more arrives.
        #[test]
        fn what_is_said_of_a_part_is_said_of_the_whole(
            framing in framing().prop_filter("sound", |it| it.check().is_ok()),
            bytes in prop::collection::vec(any::<u8>(), 0..64),
        ) {
            let whole = framing.next(&bytes);
            for end in 0..bytes.len() {
                let part = framing.next(&bytes[..end]);
                prop_assert!(part == Framed::More || part == whole);
                prop_assert!(part != Framed::More || end < framing.most);
            }
        }

        /// Frames written by a framing are read back, one after the other.
        #[test]
        fn frames_in_a_row_are_found(bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 16..80), 1..8)) {
            let stream: Vec<u8> = bodies.iter().flat_map(|body| tmp(body)).collect();
            let mut rest = &stream[..];
            for body in &bodies {
                prop_assert_eq!(TMP.next(rest), Framed::Whole(body.len() + 3));
                rest = &rest[body.len() + 3..];
            }
            prop_assert!(rest.is_empty());
        }
    }
}
