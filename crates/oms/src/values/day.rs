//! Trading dates.

use alloc::format;
use alloc::string::String;

use fixwire_protocol::{Nanos, Timestamp};

/// The date in UTC, such as 20261122.
pub(crate) fn date(at: Timestamp) -> u32 {
    // Converts days since 1970-01-01 to a civil date, in eras of 400 years that begin in March.
    let days = at.0.div_euclid(86_400_000_000_000) + 719_468;
    let era = days.div_euclid(146_097);
    let day = days.rem_euclid(146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let (month, late) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    let year = year + era * 400 + late;
    u32::try_from(year * 10_000 + month * 100 + day_of_month).unwrap_or(0)
}

const DAY: i64 = 86_400_000_000_000;

/// A trading day: its date, and the time from its start until the next trading day starts.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct DaySpan {
    /// The date, as 20261122.
    pub day: u32,
    /// Start of the day.
    pub from: Timestamp,
    /// The start of the next trading day.
    pub until: Timestamp,
}

impl DaySpan {
    /// Whether an instant belongs to the trading day.
    #[must_use]
    pub fn has(&self, at: Timestamp) -> bool {
        (self.from..self.until).contains(&at)
    }

    /// Time until the next trading day starts.
    pub(crate) fn left(&self, at: Timestamp) -> Nanos {
        Nanos(self.until.0.saturating_sub(at.0).max(0).unsigned_abs())
    }
}

/// Finds the trading day of an instant, when days begin this number of nanoseconds after midnight of a time zone;
/// `None` for an unknown zone.
pub type DayFinder = fn(zone: &str, begins: i64, at: Timestamp) -> Option<DaySpan>;

/// The trading day of an instant, when days begin this number of nanoseconds after midnight UTC. If they begin at noon
/// or later, a trading day has the date of the next day.
pub(crate) fn in_utc(begins: i64, at: Timestamp) -> DaySpan {
    let since = at.0.saturating_sub(begins).rem_euclid(DAY);
    let from = at.0.saturating_sub(since);
    let later = if begins >= DAY / 2 { DAY } else { 0 };
    DaySpan {
        day: date(Timestamp((from - begins).saturating_add(later))),
        from: Timestamp(from),
        until: Timestamp(from.saturating_add(DAY)),
    }
}

/// A time of day as text, `07:30` or `07:30:15`; given in nanoseconds after midnight.
#[must_use]
pub fn clock(at: i64) -> String {
    let (minutes, seconds) = (at / 60_000_000_000, at / 1_000_000_000 % 60);
    let clock = format!("{:02}:{:02}", minutes / 60, minutes % 60);
    match seconds {
        0 => clock,
        _ => format!("{clock}:{seconds:02}"),
    }
}

/// Reads a time such as `17:00`; returns nanoseconds after midnight.
pub(crate) fn time(text: &str) -> Option<i64> {
    let (hour, minute) = text.split_once(':')?;
    let number = |text: &str| {
        let is_number = text.len() == 2 && text.bytes().all(|it| it.is_ascii_digit());
        text.parse::<i64>().ok().filter(|_| is_number)
    };
    let (hour, minute) = (number(hour)?, number(minute)?);
    (hour < 24 && minute < 60).then_some((hour * 60 + minute) * 60_000_000_000)
}

/// Reads a time such as `17:00` or `17:00:30`; returns nanoseconds after midnight.
pub(crate) fn time_with_seconds(text: &str) -> Option<i64> {
    let Some((minutes, seconds)) = text
        .get(..5)
        .zip(text.get(5..))
        .filter(|it| !it.1.is_empty())
    else {
        return time(text);
    };
    let seconds = seconds.strip_prefix(':').filter(|it| it.len() == 2)?;
    let is_number = seconds.bytes().all(|it| it.is_ascii_digit());
    let seconds = seconds
        .parse::<u8>()
        .ok()
        .filter(|it| is_number && *it < 60)?;
    Some(time(minutes)? + i64::from(seconds) * 1_000_000_000)
}

/// The next instant at which it is the given time UTC, such as `17:00`, in nanoseconds since 1970.
pub(crate) fn next(at: i64, text: &str) -> Option<i64> {
    let time = time(text)?;
    let today = at.div_euclid(DAY) * DAY + time;
    Some(if today > at { today } else { today + DAY })
}

/// An instant in nanoseconds since 1970, as `2026-11-22 17:00 UTC`.
pub(crate) fn minute(at: i64) -> String {
    const MINUTE: i64 = 60_000_000_000;
    let minutes = at.rem_euclid(DAY) / MINUTE;
    let day = written(date(Timestamp(at)));
    format!("{day} {:02}:{:02} UTC", minutes / 60, minutes % 60)
}

/// Reads a date such as 20261122 from a FIX field.
pub(crate) fn compact(text: &[u8]) -> Option<u32> {
    let is_day = text.len() == 8 && text.iter().all(u8::is_ascii_digit);
    let number = core::str::from_utf8(text).ok().filter(|_| is_day);
    number?.parse().ok().filter(|day| *day > 0)
}

/// Whether the date `to` is more than a month after the date `from`.
pub(crate) fn is_far(from: u32, to: u32) -> bool {
    let count = |day: u32| (day / 10_000) * 372 + (day / 100 % 100) * 31 + day % 100;
    count(to).saturating_sub(count(from)) > 31
}

/// A date such as 20261122 in the form that operators write: 2026-11-22.
pub(crate) fn written(day: u32) -> String {
    format!(
        "{:04}-{:02}-{:02}",
        day / 10_000,
        day / 100 % 100,
        day % 100
    )
}

/// Reads a date such as 2026-11-22; returns 20261122.
pub(crate) fn parse(text: &str) -> Option<u32> {
    let mut parts = text.split('-');
    let mut number = |digits: usize| {
        let part = parts.next()?;
        let is_number = part.len() == digits && part.bytes().all(|it| it.is_ascii_digit());
        part.parse::<u32>().ok().filter(|_| is_number)
    };
    let (year, month, day) = (number(4)?, number(2)?, number(2)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    let is_day = (1..=days).contains(&day);
    (is_day && parts.next().is_none()).then_some(year * 10_000 + month * 100 + day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_may_have_seconds() {
        const SECOND: i64 = 1_000_000_000;
        for (text, wanted) in [
            ("07:30", Some(27_000)),
            ("07:30:15", Some(27_015)),
            ("23:59:59", Some(86_399)),
            ("07:30:60", None),
            ("07:30:+1", None),
            ("07:30:5", None),
            ("07:30-15", None),
            ("7:30", None),
            ("", None),
        ] {
            let wanted = wanted.map(|it: i64| it * SECOND);
            assert_eq!(time_with_seconds(text), wanted, "{text}");
        }
    }

    #[test]
    fn days_are_civil_dates() {
        for (text, wanted) in [
            ("19700101-00:00:00", 19_700_101),
            ("20000229-23:59:59", 20_000_229),
            ("20241231-23:59:59", 20_241_231),
            ("20261122-05:00:00", 20_261_122),
        ] {
            assert_eq!(date(Timestamp::parse(text.as_bytes()).unwrap()), wanted);
        }
    }

    #[test]
    fn trading_days_begin_at_their_time() {
        let at = |text: &str| Timestamp::parse(text.as_bytes()).unwrap();
        for (begins, now, day, hours) in [
            ("00:00", "20261122-05:00:00", 20_261_122, 19),
            ("06:00", "20261122-05:00:00", 20_261_121, 1),
            ("06:00", "20261122-06:00:00", 20_261_122, 24),
            ("22:00", "20261122-21:00:00", 20_261_122, 1),
            ("22:00", "20261122-22:00:00", 20_261_123, 24),
        ] {
            let begins = time(begins).unwrap();
            let span = in_utc(begins, at(now));
            assert_eq!(span.day, day, "{now}");
            assert!(span.has(at(now)) && !span.has(span.until), "{now}");
            assert_eq!(span.left(at(now)).0, hours * 3_600_000_000_000);
        }
        let now = at("20261122-05:00:00").0;
        assert_eq!(next(now, "05:00"), Some(at("20261123-05:00:00").0));
        assert_eq!(next(now, "05:01"), Some(at("20261122-05:01:00").0));
        for wrong in ["24:00", "5:00", "05:60", "0500", "05:00:00"] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn days_are_written_with_dashes() {
        assert_eq!(parse("2026-11-22"), Some(20_261_122));
        for wrong in [
            "20261122",
            "2026-13-01",
            "2026-11-31",
            "2026-02-29",
            "2026-11-22-1",
            "2026-1-2",
            "",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
