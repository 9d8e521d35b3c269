//! Numbers with units: durations and sizes.

use alloc::format;
use alloc::string::String;

const MILLI: u64 = 1_000_000;

const TIMES: [(&str, u64); 4] = [
    ("ms", MILLI),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Maximum number of decimals of a duration.
const DECIMALS: usize = 3;

/// A whole number. The text must consist of digits, without a sign or blanks.
#[must_use]
pub fn number(text: &str) -> Option<u64> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// A duration such as `500ms`, `1.5s`, `2m` or `1h30m`, in nanoseconds. The duration must be a whole number of
/// milliseconds. Each number has a unit, in upper or lower case.
#[must_use]
pub fn duration(text: &str) -> Option<u64> {
    let (mut rest, mut sum) = (text, 0_u64);
    while !rest.is_empty() {
        let (count, after) = rest.split_at(rest.find(|it: char| it.is_ascii_alphabetic())?);
        let end = after.find(|it: char| !it.is_ascii_alphabetic());
        let (unit, next) = after.split_at(end.unwrap_or(after.len()));
        let known = TIMES
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(unit));
        let thousandths = decimal(count.trim_end(), DECIMALS)?;
        let time = thousandths * u128::from(known?.1) / 1000;
        sum = sum.checked_add(u64::try_from(time).ok()?)?;
        rest = next;
    }
    (!text.is_empty() && sum.is_multiple_of(MILLI)).then_some(sum)
}

/// A number such as `1.5` with at most this many decimals, counted in units of the last decimal. There may be no sign
/// and no blanks.
#[must_use]
pub fn decimal(text: &str, decimals: usize) -> Option<u128> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    if whole.is_empty() || part.is_empty() || part.len() > decimals {
        return None;
    }
    let scale = 10_u128.checked_pow(u32::try_from(decimals).ok()?)?;
    let part = number(&format!("{part:0<decimals$}"))?;
    u128::from(number(whole)?)
        .checked_mul(scale)?
        .checked_add(part.into())
}

/// A duration in the form that settings have: `5s`, `500ms`.
#[must_use]
pub fn duration_text(nanoseconds: u64) -> String {
    let millis = nanoseconds / MILLI;
    match millis % 1000 {
        0 => format!("{}s", millis / 1000),
        _ => format!("{millis}ms"),
    }
}

/// A number of bytes: `65536`, `64K`, `16M`, `1G`, also `64KB`. K stands for 1024.
#[must_use]
pub fn bytes(text: &str) -> Option<u64> {
    let text = text.strip_suffix(['b', 'B']).unwrap_or(text);
    let digits = text.trim_end_matches(|it: char| it.is_ascii_alphabetic());
    let scale = match &text[digits.len()..] {
        "" => 1,
        "K" | "k" => 1 << 10,
        "M" | "m" => 1 << 20,
        "G" | "g" => 1 << 30,
        _ => return None,
    };
    number(digits.trim_end())?.checked_mul(scale)
}

/// A number of bytes with the largest unit that divides it: `64K`, `1000`.
pub(crate) fn bytes_text(bytes: u64) -> String {
    let units = [("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)];
    let unit = units
        .iter()
        .find(|(_, scale)| bytes > 0 && bytes.is_multiple_of(*scale));
    unit.map_or_else(
        || format!("{bytes}"),
        |(unit, scale)| format!("{}{unit}", bytes / scale),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_a_sum_of_numbers_with_units() {
        const SECOND: u64 = 1_000_000_000;
        for (text, wanted) in [
            ("500ms", SECOND / 2),
            ("1.5s", SECOND * 3 / 2),
            ("0s", 0),
            ("2m", 120 * SECOND),
            ("1h1m30s5ms", 3_690 * SECOND + SECOND / 200),
            ("30 S", 30 * SECOND),
        ] {
            assert_eq!(duration(text), Some(wanted), "{text}");
        }
        for text in [
            "",
            "s",
            "ms",
            "5",
            "-1s",
            "+1s",
            "1e3s",
            "infs",
            "xms",
            "+5ms",
            "1m 30s",
            "10s5",
            "1.s",
            ".5s",
            "1.0005s",
            "1.5ms",
            "1x",
            "99999999999999999999s",
            "5124096h",
            "9999999999999h",
        ] {
            assert_eq!(duration(text), None, "{text}");
        }
        assert_eq!(duration_text(SECOND * 3 / 2), "1500ms");
        assert_eq!(duration_text(60 * SECOND), "60s");
    }

    #[test]
    fn a_decimal_has_digits_on_both_sides_of_its_point() {
        for (text, wanted) in [("1.5", 1500), ("0.001", 1), ("7", 7000), ("007.10", 7100)] {
            assert_eq!(decimal(text, 3), Some(wanted), "{text}");
        }
        for text in [
            "", ".", "1.", ".5", "1.0000", "-1", "+1", "1e3", "1 ", "1.2.3",
        ] {
            assert_eq!(decimal(text, 3), None, "{text}");
        }
    }

    #[test]
    fn a_size_has_a_unit_of_1024() {
        for (text, wanted) in [
            ("65536", 65536),
            ("64K", 65536),
            ("1 MB", 1 << 20),
            ("1g", 1 << 30),
        ] {
            assert_eq!(bytes(text), Some(wanted), "{text}");
            assert_eq!(bytes(&bytes_text(wanted)), Some(wanted), "{text}");
        }
        assert_eq!(bytes_text(64 << 30), "64G");
        assert_eq!(bytes_text(1000), "1000");
        for text in ["", "B", "K", "-1", "64X", "99999999999999999999"] {
            assert_eq!(bytes(text), None, "{text}");
        }
    }
}
