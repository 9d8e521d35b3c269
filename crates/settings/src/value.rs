//! [`ValueKind`] is the type of a key's value, and [`SettingValue`] is the value.

use std::net::IpAddr;
use std::time::Duration;

use fixwire_engine::schedule::{Date, Day};
use fixwire_text::number;

use super::times::{ZonedTime, clock, dates, weekday, weekdays};

/// The type of a value.
#[derive(Clone, Copy, Debug)]
pub enum ValueKind {
    /// `Y` or `N`.
    Bool,
    /// A whole number within bounds.
    Int {
        /// The minimum.
        min: u64,
        /// The maximum.
        max: u64,
        /// The unit, such as "tag" or "messages"; empty for a plain number.
        unit: &'static str,
    },
    /// A factor with at most three decimals, stored in thousandths.
    Factor {
        /// The minimum, in thousandths.
        min: u64,
        /// The maximum, in thousandths.
        max: u64,
    },
    /// A duration. `10` means seconds; `500ms`, `30s`, `2m` and `1m30s` have units.
    Time {
        /// The minimum, in milliseconds.
        min: u64,
        /// The maximum, in milliseconds.
        max: u64,
    },
    /// A number of bytes: `65536`, `64K`, `16M`, `1G`. K stands for 1024.
    Bytes {
        /// The minimum.
        min: u64,
        /// The maximum.
        max: u64,
    },
    /// Printable text that is not empty.
    Text,
    /// Text without spaces and without `*`, `?` and `@`, which have special meanings in lists of names.
    Name,
    /// A [`ValueKind::Name`] that may also have one `*`, in whose place each session of a template has its own id.
    SessionName,
    /// Text that is never shown.
    Secret,
    /// The path of a file or folder. A relative path starts from the folder of the settings file.
    Path,
    /// One of these words, in any case. Each has the canonical word for it.
    Word(&'static [(&'static str, &'static str)]),
    /// An IP address to listen on.
    Ip,
    /// A host name or address to connect to.
    Host,
    /// A TCP port.
    Port,
    /// A time of the form `HH:MM:SS`, optionally with a time zone.
    TimeOfDay,
    /// A day of the week.
    Day,
    /// Days of the week, separated by commas.
    Days,
    /// Dates, separated by commas.
    Dates,
    /// Pauses: `30`, or `3x10;5x20;60` for three pauses of 10 s, five of 20 s, and then 60 s for ever.
    Pauses,
    /// `tag=value`.
    TagValue,
    /// Tags, separated by commas.
    Tags,
}

/// A checked value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SettingValue {
    /// Value of a [`ValueKind::Bool`].
    Bool(bool),
    /// Value of a [`ValueKind::Int`], [`ValueKind::Factor`] (thousandths), [`ValueKind::Bytes`] or [`ValueKind::Port`].
    Int(u64),
    /// Value of a [`ValueKind::Time`].
    Time(Duration),
    /// Value of a [`ValueKind::TimeOfDay`].
    Clock(ZonedTime),
    /// Value of a [`ValueKind::Day`] or [`ValueKind::Days`]: at least one day.
    Days(Vec<Day>),
    /// Value of a [`ValueKind::Dates`].
    Dates(Vec<Date>),
    /// Value of a [`ValueKind::Text`], [`ValueKind::Name`], [`ValueKind::SessionName`], [`ValueKind::Secret`], [`ValueKind::Path`] or
    /// [`ValueKind::Host`].
    Text(String),
    /// Value of a [`ValueKind::Word`]: the canonical word.
    Word(&'static str),
    /// Value of a [`ValueKind::Ip`].
    Ip(IpAddr),
    /// Value of a [`ValueKind::Pauses`]. The list has at least one pause, and the last pause repeats.
    Pauses(Vec<Duration>),
    /// Value of a [`ValueKind::TagValue`].
    TagValue(u32, String),
    /// Value of a [`ValueKind::Tags`]: at least one tag.
    Tags(Vec<u32>),
}

impl ValueKind {
    /// Parses a value of this kind.
    ///
    /// # Errors
    ///
    /// The expected value, to follow the word "expected".
    pub fn parse(self, text: &str) -> Result<SettingValue, String> {
        self.read(text).ok_or_else(|| self.expected())
    }

    /// The form that a value of this kind must have.
    pub fn expected(self) -> String {
        match self {
            Self::Bool => "Y or N".into(),
            Self::Int {
                min,
                max: u64::MAX,
                unit,
            } => format!("a number of {unit}, {min} or more"),
            Self::Int { min, max, unit: "" } => format!("a number, {min} to {max}"),
            Self::Int { min, max, unit } => format!("a number of {unit}, {min} to {max}"),
            Self::Factor { min, max } => {
                format!("a number, {} to {}", thousandths(min), thousandths(max))
            }
            Self::Time { min, max } => format!(
                "a time of {} to {}: seconds, or with units as in 500ms, 30s or 1m30s",
                millis(min),
                millis(max)
            ),
            Self::Bytes { min, max } => format!(
                "a number of bytes, {} to {}, optionally with suffix K, M or G",
                bytes(min),
                bytes(max)
            ),
            Self::Text | Self::Secret => "text without control characters, not empty".into(),
            Self::Name => "a name without spaces, control characters, `*`, `?` and `@`".into(),
            Self::SessionName => {
                "a name without spaces, control characters, `?` and `@`; with `AcceptorTemplate=Y` it may have one `*`".into()
            }
            Self::Path => "a path, not empty".into(),
            Self::Word(words) => {
                let mut names: Vec<&str> = Vec::new();
                for (_, meaning) in words {
                    if !names.contains(meaning) {
                        names.push(meaning);
                    }
                }
                let last = names.pop().unwrap_or("");
                if names.is_empty() {
                    last.into()
                } else {
                    format!("{} or {last}", names.join(", "))
                }
            }
            Self::Ip => "an IP address".into(),
            Self::Host => "a host name or an IP address".into(),
            Self::Port => "a port, 1 to 65535".into(),
            Self::TimeOfDay => {
                "a time of day, HH:MM:SS, optionally with a time zone: 08:00:00 Europe/London"
                    .into()
            }
            Self::Day => "a day of the week, such as Monday, Mon or Mo".into(),
            Self::Days => "days of the week, each once, such as Mon,Tue,Fri".into(),
            Self::Dates => "dates, such as 2026-12-25,2027-01-01".into(),
            Self::Pauses => "seconds, or a list such as 3x10;5x20;60, each 1 s to 1 day".into(),
            Self::TagValue => "tag=value".into(),
            Self::Tags => "tags separated by commas, such as 448,58".into(),
        }
    }

    /// The unit of a number that is written without one; empty when the value is not a number.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Int { unit, .. } => unit,
            Self::Time { .. } | Self::Pauses => "s",
            Self::Bytes { .. } => "bytes",
            _ => "",
        }
    }

    fn read(self, text: &str) -> Option<SettingValue> {
        match self {
            Self::Bool => match text.to_ascii_uppercase().as_str() {
                "Y" | "YES" | "TRUE" => Some(SettingValue::Bool(true)),
                "N" | "NO" | "FALSE" => Some(SettingValue::Bool(false)),
                _ => None,
            },
            Self::Int {
                min,
                max,
                unit: "seconds",
            } => {
                let millis = time(text).filter(|millis| millis.is_multiple_of(1000))?;
                within(millis / 1000, min, max).map(SettingValue::Int)
            }
            Self::Int { min, max, .. } => within(number(text)?, min, max).map(SettingValue::Int),
            Self::Factor { min, max } => within(factor(text)?, min, max).map(SettingValue::Int),
            Self::Time { min, max } => {
                let millis = within(time(text)?, min, max)?;
                Some(SettingValue::Time(Duration::from_millis(millis)))
            }
            Self::Bytes { min, max } => {
                within(fixwire_text::bytes(text)?, min, max).map(SettingValue::Int)
            }
            Self::Text | Self::Secret | Self::Path => printable(text),
            Self::Name => printable(text)
                .filter(|_| !text.contains(|c: char| c.is_whitespace() || "*?@".contains(c))),
            Self::SessionName => printable(text)
                .filter(|_| !text.contains(|c: char| c.is_whitespace() || "?@".contains(c)))
                .filter(|_| text.matches('*').count() <= 1),
            Self::Host => printable(text).filter(|_| !text.contains(char::is_whitespace)),
            Self::Word(words) => words
                .iter()
                .find(|(word, _)| word.eq_ignore_ascii_case(text))
                .map(|(_, meaning)| SettingValue::Word(meaning)),
            Self::Ip => {
                let bare = text
                    .strip_prefix('[')
                    .and_then(|rest| rest.strip_suffix(']'));
                match text {
                    "*" => "0.0.0.0".parse().ok(),
                    "localhost" => "127.0.0.1".parse().ok(),
                    _ => bare.unwrap_or(text).parse().ok(),
                }
                .map(SettingValue::Ip)
            }
            Self::Port => within(number(text)?, 1, u64::from(u16::MAX)).map(SettingValue::Int),
            Self::TimeOfDay => clock(text).map(SettingValue::Clock),
            Self::Day => weekday(text).map(|day| SettingValue::Days(vec![day])),
            Self::Days => weekdays(text).map(SettingValue::Days),
            Self::Dates => dates(text)
                .ok()
                .filter(|days| !days.is_empty())
                .map(SettingValue::Dates),
            Self::Pauses => pauses(text).map(SettingValue::Pauses),
            Self::TagValue => {
                let (tag, value) = text.split_once('=')?;
                let tag = within(number(tag.trim())?, 1, u64::from(u32::MAX))?;
                printable(value)?;
                Some(SettingValue::TagValue(
                    u32::try_from(tag).ok()?,
                    value.into(),
                ))
            }
            Self::Tags => {
                let tag = |text: &str| {
                    let tag = within(number(text.trim())?, 1, u64::from(u32::MAX))?;
                    u32::try_from(tag).ok()
                };
                let tags: Option<Vec<u32>> = text.split(',').map(tag).collect();
                tags.map(SettingValue::Tags)
            }
        }
    }
}

fn printable(text: &str) -> Option<SettingValue> {
    (!text.is_empty() && !text.chars().any(char::is_control))
        .then(|| SettingValue::Text(text.into()))
}

fn within(value: u64, min: u64, max: u64) -> Option<u64> {
    (min..=max).contains(&value).then_some(value)
}

/// The duration in milliseconds. A number without a unit is in seconds.
fn time(text: &str) -> Option<u64> {
    if let Some(seconds) = number(text) {
        return seconds.checked_mul(1000);
    }
    Some(fixwire_text::duration(text)? / 1_000_000)
}

/// Thousandths.
fn factor(text: &str) -> Option<u64> {
    u64::try_from(fixwire_text::decimal(text, 3)?).ok()
}

fn pauses(text: &str) -> Option<Vec<Duration>> {
    const DAY: u64 = 86_400_000;
    const MOST: usize = 1000;
    let mut all = Vec::new();
    for part in text.split(';') {
        let part = part.trim();
        let (times, pause) = part.split_once('x').unwrap_or(("1", part));
        let times = usize::try_from(number(times.trim())?).ok()?;
        let pause = within(time(pause.trim())?, 1, DAY)?;
        if times == 0 || all.len() + times > MOST {
            return None;
        }
        all.resize(all.len() + times, Duration::from_millis(pause));
    }
    Some(all)
}

/// A number of thousandths as text, without zeros at the end.
pub fn thousandths(value: u64) -> String {
    let text = format!("{}.{:03}", value / 1000, value % 1000);
    text.trim_end_matches('0').trim_end_matches('.').into()
}

fn millis(value: u64) -> String {
    match value {
        0 => "0 s".into(),
        _ if value.is_multiple_of(86_400_000) => format!("{} days", value / 86_400_000),
        _ if value.is_multiple_of(1000) => format!("{} s", value / 1000),
        _ => format!("{value} ms"),
    }
}

fn bytes(value: u64) -> String {
    for (unit, size) in [("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)] {
        if value > 0 && value.is_multiple_of(size) {
            return format!("{}{unit}", value / size);
        }
    }
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECONDS: ValueKind = ValueKind::Time {
        min: 1000,
        max: 60_000,
    };
    const SIZE: ValueKind = ValueKind::Bytes {
        min: 1,
        max: 1 << 30,
    };

    #[test]
    fn good_values_are_read() {
        for (kind, text, value) in [
            (ValueKind::Bool, "y", SettingValue::Bool(true)),
            (SECONDS, "10", SettingValue::Time(Duration::from_secs(10))),
            (
                SECONDS,
                "1500ms",
                SettingValue::Time(Duration::from_millis(1500)),
            ),
            (SECONDS, "1m", SettingValue::Time(Duration::from_secs(60))),
            (
                SECONDS,
                "0m30s",
                SettingValue::Time(Duration::from_secs(30)),
            ),
            (
                SECONDS,
                "1.5s",
                SettingValue::Time(Duration::from_millis(1500)),
            ),
            (
                ValueKind::Time {
                    min: 0,
                    max: u64::MAX,
                },
                "1h1m30s5ms",
                SettingValue::Time(Duration::from_millis(3_690_005)),
            ),
            (
                ValueKind::Int {
                    min: 0,
                    max: 3600,
                    unit: "seconds",
                },
                "1m30s",
                SettingValue::Int(90),
            ),
            (SIZE, "64K", SettingValue::Int(65536)),
            (SIZE, "1 MB", SettingValue::Int(1 << 20)),
            (
                ValueKind::Factor { min: 0, max: 9000 },
                "1.45",
                SettingValue::Int(1450),
            ),
            (
                ValueKind::Ip,
                "[::1]",
                SettingValue::Ip("::1".parse().unwrap()),
            ),
            (
                ValueKind::TimeOfDay,
                "23:59:59 Europe/Paris",
                SettingValue::Clock(clock("23:59:59 Europe/Paris").unwrap()),
            ),
            (
                ValueKind::Day,
                "Mo",
                SettingValue::Days(weekdays("Mon").unwrap()),
            ),
            (
                ValueKind::Days,
                "Mo,Fri",
                SettingValue::Days(weekdays("Mon,Fri").unwrap()),
            ),
            (
                ValueKind::Dates,
                "20261225",
                SettingValue::Dates(dates("2026-12-25").unwrap()),
            ),
            (
                ValueKind::TagValue,
                "553=a=b",
                SettingValue::TagValue(553, "a=b".into()),
            ),
        ] {
            assert_eq!(kind.parse(text), Ok(value), "{text}");
        }
        assert_eq!(
            ValueKind::Tags.parse("58, 448"),
            Ok(SettingValue::Tags(vec![58, 448]))
        );
        let pauses = ValueKind::Pauses.parse("2x10; 60").unwrap();
        let seconds = [10, 10, 60].map(Duration::from_secs).to_vec();
        assert_eq!(pauses, SettingValue::Pauses(seconds));
    }

    #[test]
    fn bad_values_are_refused_with_what_was_expected() {
        let int = ValueKind::Int {
            min: 1,
            max: 5,
            unit: "messages",
        };
        for (kind, text) in [
            (ValueKind::Bool, ""),
            (ValueKind::Bool, "1"),
            (int, "0"),
            (int, "6"),
            (int, "+3"),
            (int, "-1"),
            (int, "99999999999999999999999"),
            (SECONDS, "0"),
            (SECONDS, "18446744073709551615m"),
            (SECONDS, "10x"),
            (SECONDS, "10s5"),
            (SECONDS, "s"),
            (SECONDS, "-1m30s"),
            (SECONDS, "1m 30s"),
            (SECONDS, "1.5"),
            (SECONDS, "1.0005s"),
            (SECONDS, "1m18446744073709551615m"),
            (
                ValueKind::Int {
                    min: 0,
                    max: 60,
                    unit: "seconds",
                },
                "1500ms",
            ),
            (SIZE, "B"),
            (ValueKind::Factor { min: 0, max: 9000 }, "1."),
            (ValueKind::Factor { min: 0, max: 9000 }, "1.2345"),
            (ValueKind::Text, "a\u{1}b"),
            (ValueKind::Name, "a b"),
            (ValueKind::Name, "A*"),
            (ValueKind::SessionName, "A?"),
            (ValueKind::SessionName, "A**"),
            (ValueKind::Host, "a b"),
            (ValueKind::Port, "65536"),
            (ValueKind::Port, "0"),
            (ValueKind::TimeOfDay, "24:00:00"),
            (ValueKind::TimeOfDay, "1:00:00"),
            (ValueKind::Day, "Mon,Tue"),
            (ValueKind::Days, "Mon,Mon"),
            (ValueKind::Dates, "2026-02-30"),
            (ValueKind::Dates, "# nothing"),
            (ValueKind::Pauses, "0"),
            (ValueKind::Pauses, "3x"),
            (ValueKind::Pauses, "99999999x10"),
            (ValueKind::TagValue, "x=1"),
            (ValueKind::TagValue, "553="),
            (ValueKind::Tags, ""),
            (ValueKind::Tags, "1,"),
            (ValueKind::Tags, "0"),
            (ValueKind::Tags, "a"),
        ] {
            assert_eq!(kind.parse(text), Err(kind.expected()), "{text}");
        }
        assert_eq!(int.expected(), "a number of messages, 1 to 5");
    }
}
