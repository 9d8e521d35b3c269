//! Parses times and sizes, in the notation of session settings.

use toml::de::DeValue;

/// A time in nanoseconds: `10` is seconds; `500ms`, `30s`, `2m`, `1h30m` say their units.
pub(super) fn time(value: &DeValue<'_>) -> Option<u64> {
    const UNITS: [(&str, u64); 4] = [
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ];
    if let Some(seconds) = number(value) {
        return seconds.checked_mul(1_000_000_000);
    }
    let (mut rest, mut sum) = (value.as_str()?, 0_u64);
    while !rest.is_empty() {
        let (count, behind) = split(rest, |c| !c.is_ascii_digit());
        let (unit, further) = split(behind, |c| c.is_ascii_digit());
        let (_, scale) = UNITS.iter().find(|(known, _)| *known == unit)?;
        sum = sum.checked_add(count.parse::<u64>().ok()?.checked_mul(*scale)?)?;
        rest = further;
    }
    (sum > 0).then_some(sum)
}

/// A number of bytes: `65536`, `64K`, `16M`, `1G`; K is 1024.
pub(super) fn bytes(value: &DeValue<'_>) -> Option<u64> {
    if let Some(bytes) = number(value) {
        return Some(bytes);
    }
    let (count, unit) = split(value.as_str()?, |c| !c.is_ascii_digit());
    let scale = match unit {
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    count.parse::<u64>().ok()?.checked_mul(scale)
}

/// A whole number without quotes.
pub(super) fn number(value: &DeValue<'_>) -> Option<u64> {
    match value {
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
        _ => None,
    }
}

fn split(text: &str, at: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(at).unwrap_or(text.len()))
}
