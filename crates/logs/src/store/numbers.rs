//! The small files of a store: sequence numbers, and the session's creation time.

use fixwire_protocol::time::{Precision, Timestamp, TimestampWriter};

use super::Family;

/// The fault in a small file: the offset, the expected content and the actual content.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Wrong {
    pub(super) at: usize,
    pub(super) expected: &'static str,
    pub(super) found: String,
}

fn wrong<T>(bytes: &[u8], at: usize, expected: &'static str) -> Result<T, Wrong> {
    let found = match bytes.get(at) {
        Some(byte) => format!("byte {byte:#04x}"),
        None => format!("the end of the file after {} bytes", bytes.len()),
    };
    Err(Wrong {
        at,
        expected,
        found,
    })
}

/// The two sequence numbers in a `.seqnums` file: the next to send, and the next expected. QuickFIX/n writes the file
/// with its first message. Until then the file is empty.
pub(super) fn read_pair(family: Family, bytes: &[u8]) -> Result<(u64, u64), Wrong> {
    if family == Family::QuickfixN && bytes.is_empty() {
        return Ok((1, 1));
    }
    let (sender, at) = digits(family, bytes, 0)?;
    if bytes.get(at..at + 3) != Some(b" : ") {
        let differs = (0..3).find(|&n| bytes.get(at + n) != Some(&b" : "[n]));
        return wrong(
            bytes,
            at + differs.unwrap_or(0),
            "` : ` between two sequence numbers",
        );
    }
    let width = at;
    let (target, at) = digits(family, bytes, at + 3)?;
    // Both numbers have leading zeros, and 10 or 20 digits. A shorter number was cut off.
    if width < 10 || at != 2 * width + 3 {
        return wrong(
            bytes,
            at,
            "two sequence numbers with equal digit counts, 10 or more",
        );
    }
    end(bytes, at)?;
    Ok((sender, target))
}

/// The sequence number in a `.senderseqnums` or `.targetseqnums`.
pub(super) fn read_single(family: Family, bytes: &[u8]) -> Result<u64, Wrong> {
    if family == Family::QuickfixGo {
        let (number, at) = digits(family, bytes, 0)?;
        if at < 19 {
            return wrong(bytes, at, "a number of 19 digits");
        }
        end(bytes, at)?;
        return Ok(number);
    }
    if bytes.is_empty() {
        // The file is written with the first message. Until then the number is 1.
        return Ok(1);
    }
    let text = java_text(bytes)?;
    let (number, at) = digits(family, text, 0).map_err(shifted)?;
    if at < text.len() {
        return wrong(bytes, at + 2, "only digits");
    }
    // Digits of a longer number may follow: Java overwrites the file, and never shortens it.
    match bytes[2 + text.len()..]
        .iter()
        .position(|byte| !byte.is_ascii_digit())
    {
        Some(more) => wrong(bytes, 2 + text.len() + more, "the end of the file"),
        None => Ok(number),
    }
}

/// A string in the format of Java's `writeUTF`: its length in two bytes, then its bytes.
fn java_text(bytes: &[u8]) -> Result<&[u8], Wrong> {
    let Some(length) = bytes.first_chunk::<2>() else {
        return wrong(bytes, bytes.len(), "two bytes of length");
    };
    let length = usize::from(u16::from_be_bytes(*length));
    match bytes.get(2..2 + length) {
        Some(text) => Ok(text),
        None => wrong(bytes, bytes.len(), "as many bytes as the length says"),
    }
}

fn shifted(wrong: Wrong) -> Wrong {
    Wrong {
        at: wrong.at + 2,
        ..wrong
    }
}

/// A sequence number above 0 that the engine can have written; and the position after it.
fn digits(family: Family, bytes: &[u8], from: usize) -> Result<(u64, usize), Wrong> {
    let mut number = 0_u64;
    let mut at = from;
    while let Some(digit) = bytes.get(at).filter(|byte| byte.is_ascii_digit()) {
        let next = number
            .checked_mul(10)
            .and_then(|number| number.checked_add(u64::from(digit - b'0')));
        let Some(next) = next.filter(|next| *next <= family.highest()) else {
            return wrong(bytes, at, "a sequence number that its engine can store");
        };
        number = next;
        at += 1;
    }
    if at == from {
        return wrong(bytes, at, "a digit");
    }
    if number == 0 {
        return wrong(bytes, from, "a sequence number, 1 or higher");
    }
    Ok((number, at))
}

/// Checks that only blanks follow.
fn end(bytes: &[u8], at: usize) -> Result<(), Wrong> {
    match bytes[at..]
        .iter()
        .position(|byte| !matches!(byte, b' ' | b'\r' | b'\n'))
    {
        Some(more) => wrong(bytes, at + more, "the end of the file"),
        None => Ok(()),
    }
}

/// The time in a `.session` file at which the session began.
pub(super) fn read_time(family: Family, bytes: &[u8]) -> Result<Timestamp, Wrong> {
    let text = match family {
        Family::QuickfixJ => java_text(bytes)?,
        _ => bytes.trim_ascii_end(),
    };
    let shift = if family == Family::QuickfixJ { 2 } else { 0 };
    if shift + text.len() < bytes.trim_ascii_end().len() {
        return wrong(bytes, shift + text.len(), "the end of the file");
    }
    parse_time(family, text).map_err(|(at, expected)| Wrong {
        at: at + shift,
        expected,
        found: format!("`{}`", String::from_utf8_lossy(text).escape_default()),
    })
}

/// Parses a date and a time of day as in FIX, with any number of decimals, and then the zone in the engine's
/// notation.
fn parse_time(family: Family, text: &[u8]) -> Result<Timestamp, (usize, &'static str)> {
    const SHAPE: &str = "a moment such as 20261121-14:58:34";
    const RFC: &str = "a moment such as 2026-11-21T14:58:34.123Z";
    let plain: Vec<u8>;
    let (moment, rest, start) = if family == Family::QuickfixGo {
        let (Some(head), Some(b"-"), Some(b"-"), Some(b"T")) = (
            text.get(..19),
            text.get(4..5),
            text.get(7..8),
            text.get(10..11),
        ) else {
            return Err((0, RFC));
        };
        plain = [&head[..4], &head[5..7], &head[8..10], b"-", &head[11..]].concat();
        (&plain[..], &text[19..], 19)
    } else {
        let head = text.get(..17).ok_or((0, SHAPE))?;
        (head, &text[17..], 17)
    };
    let seconds = Timestamp::parse(moment).map_err(|_| (0, SHAPE))?;
    if family == Family::QuickfixN && rest.get(..1) != Some(b".") {
        return Err((start, "a point and 6 digits"));
    }
    let mut nanos = 0_i64;
    let mut rest = rest;
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
        if !(1..=9).contains(&count) || family == Family::QuickfixN && count != 6 {
            return Err((start + 1, "1 to 9 digits behind the point"));
        }
        let zeros = std::iter::repeat(&b'0');
        for digit in fraction[..count].iter().chain(zeros).take(9) {
            nanos = nanos * 10 + i64::from(digit - b'0');
        }
        rest = &fraction[count..];
    }
    let offset = match (family, rest) {
        (_, b"") if family != Family::QuickfixGo => 0,
        (Family::QuickfixN, b" " | b" Z") | (Family::QuickfixGo, b"Z") => 0,
        (Family::QuickfixN, [b' ', zone @ ..]) | (Family::QuickfixGo, zone) => {
            zone_seconds(zone)
                .ok_or((text.len() - rest.len(), "`Z` or an offset such as +01:00"))?
        }
        _ => return Err((text.len() - rest.len(), "the end of the moment")),
    };
    Ok(Timestamp(seconds.0 + nanos - offset * 1_000_000_000))
}

/// Seconds east of UTC, from `+01:00`; `None` for another text.
fn zone_seconds(zone: &[u8]) -> Option<i64> {
    let [sign, h1, h2, b':', m1, m2] = zone else {
        return None;
    };
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
    let minutes = (digit(h1)? * 10 + digit(h2)?) * 60 + digit(m1)? * 10 + digit(m2)?;
    match sign {
        b'+' => Some(minutes * 60),
        b'-' => Some(-minutes * 60),
        _ => None,
    }
}

/// The files for the sequence numbers: extension and bytes of each.
pub(super) fn write_numbers(
    family: Family,
    sender: u64,
    target: u64,
) -> Vec<(&'static str, Vec<u8>)> {
    let single = |number: u64| match family {
        Family::QuickfixJ => java_bytes(&number.to_string()),
        _ => format!("{number:019}").into_bytes(),
    };
    match family {
        // Newer releases write 20 digits, and read 10. Older releases overwrite only the first 10 digits. They would
        // read the remaining digits of a longer number as part of the new number.
        Family::Quickfix => vec![(
            "seqnums",
            format!("{sender:010} : {target:010}").into_bytes(),
        )],
        Family::QuickfixN => {
            vec![(
                "seqnums",
                format!("{sender:020} : {target:020}  ").into_bytes(),
            )]
        }
        Family::QuickfixJ | Family::QuickfixGo => vec![
            ("senderseqnums", single(sender)),
            ("targetseqnums", single(target)),
        ],
    }
}

/// The content of a `.session` file.
pub(super) fn write_time(family: Family, began: Timestamp) -> Vec<u8> {
    let mut stamp = TimestampWriter::new();
    let mut text = |precision| {
        let text = stamp.format(began, precision);
        String::from_utf8_lossy(text).into_owned()
    };
    match family {
        Family::Quickfix => text(Precision::Seconds).into_bytes(),
        Family::QuickfixJ => java_bytes(&text(Precision::Millis)),
        Family::QuickfixN => format!("{} Z", text(Precision::Micros)).into_bytes(),
        Family::QuickfixGo => {
            let text = text(Precision::Nanos);
            let (date, time) = text.split_at(8);
            let time = time[1..].trim_end_matches('0').trim_end_matches('.');
            // Whole minutes keep their zeros: Go removes trailing zeros of decimals only.
            let time = if time.len() < 8 { &text[9..17] } else { time };
            format!("{}-{}-{}T{time}Z", &date[..4], &date[4..6], &date[6..]).into_bytes()
        }
    }
}

fn java_bytes(text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
    [&length.to_be_bytes()[..], text.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_each_engine_wrote_them() {
        for text in [
            "0000000017 : 0000000005",
            "00000000000000000017 : 00000000000000000005",
            "00000000000000000017 : 00000000000000000005  ",
        ] {
            assert_eq!(
                read_pair(Family::Quickfix, text.as_bytes()),
                Ok((17, 5)),
                "{text}"
            );
        }
        assert_eq!(read_single(Family::QuickfixJ, b"\0\x03101"), Ok(101));
        assert_eq!(read_single(Family::QuickfixJ, b"\0\x02991"), Ok(99));
        assert_eq!(read_single(Family::QuickfixJ, b""), Ok(1));
        assert_eq!(read_pair(Family::QuickfixN, b""), Ok((1, 1)));
        let high = b"0000000001 : 8000000007";
        let wrong = read_pair(Family::Quickfix, high).unwrap_err();
        assert_eq!((wrong.at, wrong.found.as_str()), (22, "byte 0x37"));
        let high = b"00000000000000000001 : 00000000008000000007";
        assert_eq!(read_pair(Family::QuickfixN, high), Ok((1, 8_000_000_007)));
        assert_eq!(
            read_single(Family::QuickfixGo, b"0000000000000000017\n"),
            Ok(17)
        );
    }

    #[test]
    fn numbers_that_no_engine_writes_are_named_by_their_byte() {
        let at = |text: &[u8]| read_pair(Family::Quickfix, text).unwrap_err().at;
        assert_eq!(at(b""), 0);
        assert_eq!(at(b"0000000017"), 10);
        assert_eq!(at(b"0000000017 ; 5"), 11);
        assert_eq!(at(b"0000000017 : "), 13);
        assert_eq!(at(b"0000000017 : 0000000005 7"), 24);
        assert_eq!(at(b"0000000017 : 000000000"), 13);
        assert_eq!(at(b"0000000017 : 000000012"), 22);
        assert_eq!(at(b"0000000017 : 00000000000000000012"), 33);
        assert_eq!(at(b"0000000000 : 0000000005"), 0);
        assert_eq!(at(b"99999999999999999999 : 1"), 9);
        let at = |text: &[u8]| read_single(Family::QuickfixJ, text).unwrap_err().at;
        assert_eq!(at(b"\0"), 1);
        assert_eq!(at(b"\0\x05101"), 5);
        assert_eq!(at(b"\0\x031x1"), 3);
        assert_eq!(at(b"\0\x02991\0"), 5);
    }

    #[test]
    fn the_beginning_is_written_as_it_was_read() {
        let cases: [(Family, &[u8]); 6] = [
            (Family::Quickfix, b"20261121-14:58:34"),
            (Family::QuickfixJ, b"\0\x1520261121-14:58:34.120"),
            (Family::QuickfixN, b"20261121-14:58:34.123450 Z"),
            (Family::QuickfixGo, b"2026-11-21T14:58:34.12345Z"),
            (Family::QuickfixGo, b"2026-11-21T14:58:30Z"),
            (Family::QuickfixGo, b"2026-11-21T10:00:00Z"),
        ];
        for (family, bytes) in cases {
            let began = read_time(family, bytes).unwrap();
            assert_eq!(write_time(family, began), bytes, "{family:?}");
        }
        let go = |text: &[u8]| read_time(Family::QuickfixGo, text).unwrap();
        assert_eq!(
            go(b"2026-11-21T15:58:30+01:00"),
            go(b"2026-11-21T14:58:30Z")
        );
        for (family, bytes) in [
            (Family::Quickfix, &b"20261321-14:58:34"[..]),
            (Family::Quickfix, b"20261121-14:58"),
            (Family::QuickfixJ, b"\0\x1520261121-14:58:34.120x"),
            (Family::QuickfixGo, b"2026-11-21T14:58:34"),
            (Family::QuickfixN, b"20261121-14:58:34. Z"),
        ] {
            assert!(read_time(family, bytes).is_err(), "{family:?}");
        }
    }
}
