//! The text of dump lines: secrets masked, bytes escaped, times formatted.

use fixwire_protocol::time::Timestamp;
use std::io::{self, Write};

/// Writes bytes on one line: `|` for SOH and `\xNN` for unprintable bytes, or the escapes of JSON.
///
/// # Errors
///
/// When writing to the output fails.
pub fn write_escaped(out: &mut impl Write, bytes: &[u8], json: bool) -> io::Result<()> {
    for &byte in bytes {
        match byte {
            1 => out.write_all(b"|")?,
            b'"' if json => out.write_all(b"\\\"")?,
            b'\\' => out.write_all(b"\\\\")?,
            b' '..=b'~' => out.write_all(&[byte])?,
            _ if json => write!(out, "\\u{byte:04x}")?,
            _ => write!(out, "\\x{byte:02x}")?,
        }
    }
    Ok(())
}

/// Writes bytes as hexadecimal digits.
pub(super) fn write_hex(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        let (high, low) = (usize::from(byte >> 4), usize::from(byte & 15));
        out.write_all(&[DIGITS[high], DIGITS[low]])?;
    }
    Ok(())
}

/// Writes a time as `2026-08-21T13:30:00.123456789Z`.
///
/// # Errors
///
/// When writing to the output fails.
pub fn write_moment(out: &mut impl Write, moment: Timestamp) -> io::Result<()> {
    let seconds = moment.0.div_euclid(1_000_000_000);
    let nanos = moment.0.rem_euclid(1_000_000_000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Count days from 0000-03-01, in eras of 400 years, so that the leap day is the last day of a year.
    let shifted = days + 719_468;
    let (era, day) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    write!(
        out,
        "{:04}-{month:02}-{day_of_month:02}T{:02}:{:02}:{:02}.{nanos:09}Z",
        era * 400 + year + carry,
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_the_calendar_has_them() {
        let cases = [
            (0, "1970-01-01T00:00:00.000000000Z"),
            (-1, "1969-12-31T23:59:59.999999999Z"),
            (1_709_164_800_000_000_001, "2024-02-29T00:00:00.000000001Z"),
            (1_787_319_000_123_456_789, "2026-08-21T13:30:00.123456789Z"),
            (951_868_799_000_000_000, "2000-02-29T23:59:59.000000000Z"),
        ];
        for (nanos, expected) in cases {
            let mut text = Vec::new();
            write_moment(&mut text, Timestamp(nanos)).unwrap();
            assert_eq!(String::from_utf8(text).unwrap(), expected);
        }
    }

    #[test]
    fn bytes_are_written_as_two_digits_each() {
        let mut text = Vec::new();
        write_hex(&mut text, &[0, 1, 0x9F, 0xFA]).unwrap();
        assert_eq!(text, b"00019ffa");
    }

    #[test]
    fn every_byte_stays_on_its_line() {
        let all: Vec<u8> = (0..=255).collect();
        for json in [false, true] {
            let mut text = Vec::new();
            write_escaped(&mut text, &all, json).unwrap();
            assert!(text.iter().all(|byte| (b' '..=b'~').contains(byte)));
        }
    }
}
