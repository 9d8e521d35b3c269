//! The peers' handling of message bytes.

use fixwire::protocol::{Now, Precision, TimestampWriter};

use crate::wire::{SOH, fields, show};

/// The length of the message at the beginning of `bytes`, if it is complete.
pub(super) fn whole(bytes: &[u8]) -> Result<Option<usize>, String> {
    let mut ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == SOH);
    let (Some((begin, _)), Some((length, _))) = (ends.next(), ends.next()) else {
        return Ok(None);
    };
    let body = bytes[begin + 1..length].strip_prefix(b"9=");
    let body = body.and_then(|text| std::str::from_utf8(text).ok()?.parse::<usize>().ok());
    let Some(body) = body else {
        return Err(format!(
            "W2: bytes that are not a message: {}",
            show(&bytes[..bytes.len().min(200)])
        ));
    };
    let end = length + 1 + body + 7;
    Ok((bytes.len() >= end).then_some(end))
}

/// A message without the fields that its repetition may change: 9, 10, 43, 52, 122.
pub fn essence(raw: &[u8]) -> Vec<u8> {
    let kept =
        fields(raw).filter(|(tag, _)| !matches!(*tag, b"9" | b"10" | b"43" | b"52" | b"122"));
    let mut bare = Vec::with_capacity(raw.len());
    for (tag, value) in kept {
        bare.extend_from_slice(tag);
        bare.push(b'=');
        bare.extend_from_slice(value.unwrap_or_default());
        bare.push(SOH);
    }
    bare
}

/// A moment as a `UTCTimestamp`.
pub(super) fn stamp(now: Now) -> String {
    let mut stamp = TimestampWriter::new();
    let text = stamp.format(now.wall, Precision::Millis);
    String::from_utf8_lossy(text).into_owned()
}
