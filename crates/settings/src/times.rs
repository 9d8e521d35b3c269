//! Parses times of day with a time zone, days, dates and time zones.

use std::fmt;

use fixwire_engine::schedule::{Day, zone_name};
use jiff::civil::{Date, Time, Weekday};
use jiff::tz::TimeZone;

/// A time of day as written, and the name of its own time zone if it has one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ZonedTime {
    /// The time of day.
    pub time: Time,
    /// The time zone that follows the time, as in QuickFIX/J.
    pub zone: Option<String>,
}

/// Why a text is not valid.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ParseError {
    /// An unknown time zone.
    UnknownZone {
        /// The name.
        name: String,
        /// The most similar time zone.
        nearest: Option<String>,
        /// The correct form for a name from another system.
        advice: Option<String>,
    },
    /// The time zone of this machine is unknown.
    NoSystemZone {
        /// The error message of the time-zone library.
        why: String,
    },
    /// The text is not a calendar date.
    NotADate {
        /// The line of the text, from 1.
        line: usize,
        /// The text of the line.
        text: String,
    },
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownZone {
                name,
                nearest,
                advice,
            } => {
                write!(f, "unknown time zone `{}`", printable(name))?;
                match (advice, nearest) {
                    (Some(advice), _) => write!(f, ": {advice}"),
                    (None, Some(nearest)) => write!(f, ": did you mean `{nearest}`?"),
                    (None, None) => f.write_str(
                        ": use a name like Europe/London, an offset like +08:00, or UTC",
                    ),
                }
            }
            Self::NoSystemZone { why } => {
                write!(
                    f,
                    "the time zone of this machine is unknown ({why}): set TimeZone"
                )
            }
            Self::NotADate { line, text } => write!(
                f,
                "line {line}: `{}` is not a date: expected YYYY-MM-DD or YYYYMMDD",
                printable(text)
            ),
        }
    }
}

impl std::error::Error for ParseError {}

fn printable(text: &str) -> String {
    text.chars().take(80).flat_map(char::escape_debug).collect()
}

/// Reads `HH:MM:SS` or `HH:MM:SS Europe/London`; `None` when the text has another form.
#[must_use]
pub fn clock(text: &str) -> Option<ZonedTime> {
    let (time, zone) = match text.split_once(char::is_whitespace) {
        Some((time, zone)) => (time, Some(zone.trim())),
        None => (text, None),
    };
    let two = |text: Option<&str>| {
        let text = text.filter(|text| text.len() == 2)?;
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse::<i8>().ok())?
    };
    let mut parts = time.split(':');
    let (hour, minute, second) = (two(parts.next())?, two(parts.next())?, two(parts.next())?);
    if parts.next().is_some() || zone.is_some_and(str::is_empty) {
        return None;
    }
    Some(ZonedTime {
        time: Time::new(hour, minute, second, 0).ok()?,
        zone: zone.map(str::to_owned),
    })
}

/// Parses the English name of a day, in any case. The name may be cut after two or more letters.
#[must_use]
pub fn weekday(text: &str) -> Option<Day> {
    const NAMES: [&str; 7] = [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ];
    let text = text.to_ascii_lowercase();
    let at = NAMES
        .iter()
        .position(|name| text.len() >= 2 && name.starts_with(&text))?;
    Weekday::from_monday_zero_offset(at as i8).ok().map(Day)
}

/// Reads days that are separated by commas. Repeated days are removed.
#[must_use]
pub fn weekdays(text: &str) -> Option<Vec<Day>> {
    let mut days = Vec::new();
    for day in text.split(',') {
        let day = weekday(day.trim())?;
        if days.contains(&day) {
            return None;
        }
        days.push(day);
    }
    Some(days)
}

/// Reads dates of the form `YYYY-MM-DD` or `YYYYMMDD`, separated by commas or line ends. A `#` starts a comment.
///
/// # Errors
///
/// [`ParseError::NotADate`] for the first invalid date.
pub fn dates(text: &str) -> Result<Vec<Date>, ParseError> {
    let mut dates = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        for word in line
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty())
        {
            let date = date(word).ok_or_else(|| ParseError::NotADate {
                line: number + 1,
                text: word.to_owned(),
            })?;
            dates.push(date);
        }
    }
    Ok(dates)
}

fn date(text: &str) -> Option<Date> {
    let digits: String = match text.len() {
        8 => text.to_owned(),
        10 => {
            let dashes = text.as_bytes()[4] == b'-' && text.as_bytes()[7] == b'-';
            dashes.then(|| text.replace('-', ""))?
        }
        _ => return None,
    };
    if digits.len() != 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let year = digits[..4].parse().ok()?;
    let (month, day) = (digits[4..6].parse().ok()?, digits[6..].parse().ok()?);
    Date::new(year, month, day).ok()
}

/// The time zone with this name, in any case. The name is in the built-in time-zone database, is an offset such as
/// `+08:00`, or is `Local` for the time zone of this machine.
///
/// # Errors
///
/// [`ParseError::UnknownZone`] with the most similar name or with advice; [`ParseError::NoSystemZone`].
pub fn find_zone(name: &str) -> Result<TimeZone, ParseError> {
    if name.eq_ignore_ascii_case("local") {
        return TimeZone::try_system().map_err(|error| ParseError::NoSystemZone {
            why: error.to_string(),
        });
    }
    zone_name::find(name).ok_or_else(|| {
        let advice = zone_name::advice(name);
        ParseError::UnknownZone {
            name: name.to_owned(),
            nearest: match advice {
                None => nearest(name),
                Some(_) => None,
            },
            advice,
        }
    })
}

/// The time zone that was most likely meant: at most a third of the letters differ, or only the region is missing.
fn nearest(name: &str) -> Option<String> {
    const LONGEST: usize = 64;
    if name.len() > LONGEST {
        return None;
    }
    let plain = |text: &str| text.to_ascii_lowercase().replace([' ', '-'], "_");
    let wanted = plain(name);
    let mut best: Option<(usize, String)> = None;
    for known in jiff::tz::db().available() {
        let known = known.as_str();
        let whole = plain(known);
        let city = whole.rsplit('/').next().unwrap_or(&whole);
        let distance = if wanted == city {
            0
        } else {
            1 + fixwire_text::distance(&wanted, &whole)
        };
        // A short name without a region is similar to many others. The offsets of `Etc` have the opposite sign.
        if distance > 0 && (!known.contains('/') || known.starts_with("Etc/")) {
            continue;
        }
        let allowed = 1 + known.len() / 3;
        if distance <= allowed && best.as_ref().is_none_or(|(least, _)| distance < *least) {
            best = Some((distance, known.to_owned()));
        }
    }
    best.map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_days_and_dates_are_read_in_the_forms_of_all_dialects() {
        let clock = |text| super::clock(text).map(|clock| (clock.time.to_string(), clock.zone));
        assert_eq!(clock("08:30:05"), Some(("08:30:05".into(), None)));
        let zoned = clock("08:30:00 Europe/London").unwrap();
        assert_eq!(zoned.1.as_deref(), Some("Europe/London"));
        for bad in [
            "",
            "8:30:00",
            "08:30",
            "24:00:00",
            "08:60:00",
            "08:30:60",
            "08:30:00.5",
            "+8:30:00",
            "08:30:00 ",
            "08:30:00:00",
            "é:é:é",
        ] {
            assert_eq!(clock(bad), None, "{bad}");
        }
        for (text, day) in [
            ("Mo", Weekday::Monday),
            ("sun", Weekday::Sunday),
            ("THURSDAY", Weekday::Thursday),
        ] {
            assert_eq!(weekday(text), Some(Day(day)));
        }
        for bad in ["", "M", "T", "Mox", "Mondays", "1", "é"] {
            assert_eq!(weekday(bad), None, "{bad}");
        }
        assert_eq!(weekdays("Mon, Tue").map(|days| days.len()), Some(2));
        for bad in ["", "Mon,,Tue", "Mon,Mon", "Mon;Tue"] {
            assert_eq!(weekdays(bad), None, "{bad}");
        }
        let days = dates("20261225, 2027-01-01 # New Year\n\n# nothing\n2027-04-02\n").unwrap();
        assert_eq!(days.len(), 3);
        for bad in [
            "2026-02-30",
            "2026-1-01",
            "26-01-01",
            "2026/01/01",
            "x",
            "2026-0101é",
        ] {
            let error = dates(&format!("# one\n{bad}")).unwrap_err().to_string();
            assert!(error.starts_with("line 2: "), "{error}");
        }
    }

    #[test]
    fn an_unknown_zone_comes_with_the_nearest_name() {
        for (text, nearest) in [
            ("Europe/Lodnon", "Europe/London"),
            ("London", "Europe/London"),
            ("America/New York", "America/New_York"),
            ("new_york", "America/New_York"),
        ] {
            let error = find_zone(text).unwrap_err().to_string();
            assert!(error.contains(&format!("`{nearest}`?")), "{error}");
        }
        let long = "x".repeat(100_000);
        for text in ["Flurblburg", "", long.as_str()] {
            assert!(matches!(
                find_zone(text),
                Err(ParseError::UnknownZone { nearest: None, .. })
            ));
        }
        for text in ["GMT+8", "CST", "Eastern Standard Time"] {
            let error = find_zone(text).unwrap_err().to_string();
            assert!(
                !error.contains("Etc/GMT+8") && !error.contains("CET"),
                "{error}"
            );
        }
        // Three letters are similar to many zones.
        let error = find_zone("QST").unwrap_err().to_string();
        assert!(!error.contains("did you mean"), "{error}");
        assert!(find_zone("+08:00").is_ok());
        assert!(find_zone("europe/london").is_ok());
        assert!(find_zone("US/Eastern").is_ok());
    }
}
