//! Parses times and sizes, in the notation of session settings.

use toml::de::DeValue;

/// A time in nanoseconds, more than zero: `10` is seconds; `500ms`, `30s`, `2m`, `1h30m` say their units.
pub(super) fn time(value: &DeValue<'_>) -> Option<u64> {
    match number(value) {
        Some(seconds) => seconds.checked_mul(1_000_000_000),
        None => fixwire_text::duration(value.as_str()?).filter(|time| *time > 0),
    }
}

/// A number of bytes: `65536`, `"64K"`, `"16M"`, `"1G"`; K is 1024.
pub(super) fn bytes(value: &DeValue<'_>) -> Option<u64> {
    number(value).or_else(|| fixwire_text::bytes(value.as_str()?))
}

/// A whole number without quotes.
pub(super) fn number(value: &DeValue<'_>) -> Option<u64> {
    match value {
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
        _ => None,
    }
}
