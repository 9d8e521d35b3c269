//! Messages of a scenario: from its notation to bytes, and from the session's bytes to the notation.

use fixwire_protocol::{Precision, SOH, Timestamp, TimestampWriter};

use super::{Fields, duration};

/// The fields that the player fills in.
#[derive(Clone, Copy, Debug)]
pub struct Header<'a> {
    /// BeginString(8)
    pub begin_string: &'a str,
    /// SenderCompID(49)
    pub sender: &'a str,
    /// TargetCompID(56)
    pub target: &'a str,
    /// MsgSeqNum(34)
    pub number: u64,
    /// SendingTime(52)
    pub now: Timestamp,
    /// Digits of times.
    pub precision: Precision,
}

/// Builds a whole message; header fields that the scenario gives win.
///
/// # Errors
///
/// A value that looks like a time and is not one.
pub fn build(header: Header<'_>, fields: &Fields) -> Result<Vec<u8>, String> {
    let given = |tag| fields.iter().find(|(other, _)| *other == tag);
    let mut body = String::new();
    let mut put = |tag: u32, value: &str| -> Result<(), String> {
        if value != "(none)" {
            let value = resolve(value, header.now, header.precision)?;
            body.push_str(&format!("{tag}={value}\x01"));
        }
        Ok(())
    };
    let number = header.number.to_string();
    for (tag, usual) in [
        (35, "(none)"),
        (34, number.as_str()),
        (49, header.sender),
        (52, "now"),
        (56, header.target),
    ] {
        let value = given(tag).map_or(usual, |(_, value)| value.as_str());
        put(tag, value)?;
    }
    for (tag, value) in fields {
        if ![8, 35, 34, 49, 52, 56].contains(tag) {
            put(*tag, value)?;
        }
    }
    let begin = given(8).map_or(header.begin_string, |(_, value)| value.as_str());
    let mut message = format!("8={begin}\x019={}\x01{body}", body.len()).into_bytes();
    let sum = message
        .iter()
        .fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    message.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    Ok(message)
}

/// `now`, `now+10s`, `now-121s` as a time; other values unchanged.
pub fn resolve(value: &str, now: Timestamp, precision: Precision) -> Result<String, String> {
    let Some(offset) = value.strip_prefix("now") else {
        return Ok(value.to_owned());
    };
    let nanos = |text| duration(text).map(|span| span.as_nanos() as i64);
    let at = match offset.as_bytes().first() {
        None => now.0,
        Some(b'+') => now.0 + nanos(&offset[1..])?,
        Some(b'-') => now.0 - nanos(&offset[1..])?,
        Some(_) => return Ok(value.to_owned()),
    };
    let mut stamp = TimestampWriter::new();
    let text = stamp.format(Timestamp(at), precision);
    Ok(String::from_utf8_lossy(text).into_owned())
}

/// The fields of a message that was sent. Data fields do not occur in scenarios.
pub fn split(message: &[u8]) -> Vec<(u32, String)> {
    message
        .split(|byte| *byte == SOH)
        .filter(|field| !field.is_empty())
        .map(|field| {
            let text = String::from_utf8_lossy(field);
            let (tag, value) = text.split_once('=').unwrap_or((&text, ""));
            (tag.parse().unwrap_or(0), value.to_owned())
        })
        .collect()
}

/// In the notation of scenarios.
pub fn show(message: &[u8]) -> String {
    String::from_utf8_lossy(message)
        .trim_end_matches('\x01')
        .replace('\x01', "|")
}
