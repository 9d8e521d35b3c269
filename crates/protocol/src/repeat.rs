//! Prepares a stored message for a resend.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::outbox::put_trailer;
use crate::put::{digits, put};
use crate::time::{Precision, Timestamp, TimestampWriter};
use crate::{SOH, Tag, value};

/// Why a stored message cannot be resent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum RepeatError {
    /// The outbox is full.
    Full,
    /// The message is longer than the outbox. The outbox was larger when the message was stored.
    TooLong,
    /// BeginString, BodyLength, MsgType, SendingTime or CheckSum is missing in the stored bytes, or not in its place.
    NotAMessage,
}

impl fmt::Display for RepeatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the outbox is full",
            Self::TooLong => "the stored message is longer than the outbox",
            Self::NotAMessage => "the stored bytes are not a message",
        })
    }
}

impl core::error::Error for RepeatError {}

const POSS_DUP: &[u8] = b"43=Y\x01";
const ORIG_SENDING_TIME: &[u8] = b"122=";
const TRAILER: usize = 7;

/// Writes a stored message into `into` as it is resent. The message gets PossDupFlag(43) = Y and this SendingTime(52).
/// The message's old SendingTime becomes OrigSendingTime(122), unless it already has that field.
/// [`Outbox::repeat`](crate::Outbox::repeat) writes the same bytes.
///
/// # Errors
///
/// [`RepeatError::NotAMessage`] when `stored` does not have the header of a message.
pub fn repeat(stored: &[u8], sending_time: &[u8], into: &mut Vec<u8>) -> Result<(), RepeatError> {
    let repeat = Repeat::of(stored, sending_time)?;
    into.clear();
    into.resize(repeat.len(), 0);
    repeat.write(into);
    Ok(())
}

/// Writes another SendingTime(52) into a complete message, and the CheckSum(10) that follows from it. The new time has
/// as many digits as the old one, so the message keeps its length. The fraction is cut, not rounded.
///
/// # Errors
///
/// [`RepeatError::NotAMessage`] when `message` does not have the header of a message, or its SendingTime does not have
/// the length of a `UTCTimestamp`. The message is then unchanged.
pub fn set_sending_time(message: &mut [u8], moment: Timestamp) -> Result<(), RepeatError> {
    let place = Repeat::of(message, &[])?.sending_time_at();
    let mut writer = TimestampWriter::new();
    let text = writer.format(moment, Precision::Nanos);
    let precisions = [
        Precision::Seconds,
        Precision::Millis,
        Precision::Micros,
        Precision::Nanos,
    ];
    let is_time = precisions.iter().any(|it| it.text_len() == place.len());
    let text = text
        .get(..place.len())
        .filter(|_| is_time)
        .ok_or(RepeatError::NotAMessage)?;
    message[place].copy_from_slice(text);
    put_trailer(message);
    Ok(())
}

/// The pieces of a stored message, and what is put between them.
pub(crate) struct Repeat<'a> {
    stored: &'a [u8],
    sending_time: &'a [u8],
    /// `8=FIX.4.4|`
    begin: Range<usize>,
    msg_type: Range<usize>,
    /// The bytes from `35=` to the end of the value of SendingTime(52).
    first: Range<usize>,
    /// The bytes from the field after SendingTime(52) to `10=`. The fields 43 and 122 in this range are left out.
    rest: Range<usize>,
    orig_sending_time: Range<usize>,
    /// The fields 43 and 122 in `rest`, in their order there.
    cut: [Range<usize>; 2],
    /// The fields 43 and 122 that are before SendingTime(52).
    cut_before: [Range<usize>; 2],
    body_len: usize,
    length_text: [u8; 20],
    length_at: usize,
}

impl<'a> Repeat<'a> {
    /// Reads the header, up to the first field that is not a header field.
    pub(crate) fn of(stored: &'a [u8], sending_time: &'a [u8]) -> Result<Self, RepeatError> {
        let none = || 0..0;
        let (mut begin, mut msg_type, mut sending, mut orig) = (none(), none(), none(), none());
        let mut body_at = 0;
        let mut cuts = [none(), none()];
        let mut sending_field = none();
        let trailer = stored
            .len()
            .checked_sub(TRAILER)
            .filter(|at| stored[*at..].starts_with(b"10=") && stored.ends_with(&[SOH]))
            .ok_or(RepeatError::NotAMessage)?;
        let mut at = 0;
        let mut data_len = None;
        while at < trailer {
            let Some((tag, field)) = field_at(&stored[..trailer], at, data_len.take()) else {
                break;
            };
            let whole = at..field.end + 1;
            match (tag, at) {
                (8, 0) => begin = whole.clone(),
                (9, _) if at == begin.end => body_at = whole.end,
                (35, _) if at == body_at => msg_type = field.clone(),
                (52, _) => (sending, sending_field) = (field.clone(), whole.clone()),
                (43, _) => cuts[0] = whole.clone(),
                (122, _) => (orig, cuts[1]) = (field.clone(), whole.clone()),
                (90 | 212, _) => data_len = value::uint(&stored[field.clone()]).ok(),
                _ if in_header(tag) => {}
                _ => break,
            }
            at = whole.end;
        }
        if begin.is_empty() || body_at == 0 || msg_type.is_empty() || sending.is_empty() {
            return Err(RepeatError::NotAMessage);
        }
        if orig.is_empty() {
            orig = sending.clone();
        }
        cuts.sort_by_key(|cut| cut.start);
        let before = |cut: &Range<usize>| cut.start < sending.start;
        let cut_before = cuts
            .clone()
            .map(|cut| if before(&cut) { cut } else { none() });
        let cut = cuts
            .clone()
            .map(|cut| if before(&cut) { none() } else { cut });
        let removed: usize = cuts.iter().map(Range::len).sum();
        let body_len = trailer - body_at - removed - sending.len()
            + sending_time.len()
            + POSS_DUP.len()
            + ORIG_SENDING_TIME.len()
            + orig.len()
            + 1;
        let mut length_text = [0; 20];
        let length_at = 20 - digits(body_len as u64, &mut length_text).len();
        Ok(Self {
            stored,
            sending_time,
            begin,
            msg_type,
            first: body_at..sending.start,
            rest: sending_field.end..trailer,
            orig_sending_time: orig,
            cut,
            cut_before,
            body_len,
            length_text,
            length_at,
        })
    }

    /// Number of bytes of the message that will be written.
    pub(crate) fn len(&self) -> usize {
        let length = self.length_text.len() - self.length_at;
        self.begin.len() + b"9=|".len() + length + self.body_len + TRAILER
    }

    /// Place of the value of SendingTime(52) in the stored message.
    fn sending_time_at(&self) -> Range<usize> {
        self.first.end..self.rest.start - 1
    }

    pub(crate) fn msg_type(&self) -> &'a [u8] {
        &self.stored[self.msg_type.clone()]
    }

    /// Writes the message. `out` has [`Repeat::len`] bytes.
    pub(crate) fn write(&self, out: &mut [u8]) {
        let stored = self.stored;
        let mut at = put(out, 0, &stored[self.begin.clone()]);
        at = put(out, at, b"9=");
        at = put(out, at, &self.length_text[self.length_at..]);
        at = put(out, at, &[SOH]);
        at = self.put_without(out, at, self.first.clone(), &self.cut_before);
        at = put(out, at, self.sending_time);
        at = put(out, at, &[SOH]);
        at = put(out, at, POSS_DUP);
        at = put(out, at, ORIG_SENDING_TIME);
        at = put(out, at, &stored[self.orig_sending_time.clone()]);
        at = put(out, at, &[SOH]);
        at = self.put_without(out, at, self.rest.clone(), &self.cut);
        debug_assert_eq!(at + TRAILER, out.len());
        put_trailer(out);
    }

    fn put_without(
        &self,
        out: &mut [u8],
        mut at: usize,
        range: Range<usize>,
        cuts: &[Range<usize>; 2],
    ) -> usize {
        let mut from = range.start;
        for cut in cuts.iter().filter(|cut| !cut.is_empty()) {
            at = put(out, at, &self.stored[from..cut.start]);
            from = cut.end;
        }
        put(out, at, &self.stored[from..range.end])
    }
}

/// The tag and the value of the field that begins at `at`. The value has `len` bytes if the length is known.
#[inline]
pub(crate) fn field_at(bytes: &[u8], at: usize, len: Option<u64>) -> Option<(Tag, Range<usize>)> {
    let equals = at + bytes[at..].iter().position(|b| *b == b'=')?;
    let tag = value::uint(&bytes[at..equals]).ok()?;
    let start = equals + 1;
    let end = match len {
        Some(len) => start.checked_add(usize::try_from(len).ok()?)?,
        None => start + bytes[start..].iter().position(|b| *b == SOH)?,
    };
    (bytes.get(end) == Some(&SOH)).then_some((Tag::try_from(tag).ok()?, start..end))
}

/// Whether a tag belongs to the standard header.
///
/// # Source
///
/// FIX 4.0 to 5.0 SP2, StandardHeader.
pub(crate) fn in_header(tag: Tag) -> bool {
    matches!(
        tag,
        34 | 49
            | 50
            | 56
            | 57
            | 91
            | 97
            | 115
            | 116
            | 128
            | 129
            | 142
            | 143
            | 144
            | 145
            | 213
            | 347
            | 369
            | 370
            | 627..=630 | 1128 | 1129 | 1156
    )
}
