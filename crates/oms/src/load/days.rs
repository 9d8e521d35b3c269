//! Settings of the trading day.

use alloc::format;

use toml::de::DeTable;

use super::{Reader, duration};
use crate::values::rules::DayBegins;

/// Longest `roll_wait`, in nanoseconds.
const LONGEST: i64 = 3_600_000_000_000;

impl Reader<'_> {
    /// A time of day in UTC, in nanoseconds after midnight.
    pub(super) fn time_of_day(&mut self, table: &DeTable<'_>, key: &str) -> Option<i64> {
        let text = self.text(table, key)?;
        let time = crate::values::day::time_with_seconds(&text);
        if time.is_none() {
            let place = table.get(key).map_or(0, |it| it.span().start);
            let what = format!("{key} = \"{text}\" is not a time of day");
            self.wrong(place, what, "write it in UTC: 07:30, 07:30:15");
        }
        time
    }

    /// `17:05 America/New_York`: when trading days begin.
    pub(super) fn day_begins(&mut self, table: &DeTable<'_>, oms: usize) {
        const KEY: &str = "day_begins";
        let Some(value) = table.get(KEY) else {
            let hint = "write when a trading day begins, with its time zone: day_begins = \"17:05 America/New_York\"; day_begins = \"00:00 UTC\" is the day of a file without it";
            return self.wrong(oms, "[oms] day_begins is missing".into(), hint);
        };
        let place = value.span().start;
        let Some(text) = self.text(table, KEY) else {
            return;
        };
        let (time, zone) = text.split_once(' ').unwrap_or((&text, ""));
        let zone = zone.trim();
        let Some(time) = crate::values::day::time_with_seconds(time) else {
            let what = format!("{KEY} = \"{text}\" is not a time of day and a time zone");
            return self.wrong(place, what, "write it as 00:00 UTC, 17:05 America/New_York");
        };
        if zone.is_empty() {
            let what = format!("{KEY} = \"{text}\" has no time zone");
            let hint = format!("write it as {text} UTC, or 17:05 America/New_York");
            return self.wrong(place, what, &hint);
        }
        let is_utc = zone.eq_ignore_ascii_case(DayBegins::UTC);
        let zone = if is_utc { DayBegins::UTC } else { zone }.into();
        self.rules.day_begins = DayBegins { time, zone, place };
    }

    /// `60s`: how long a roll waits for the venues.
    pub(super) fn roll_wait(&mut self, table: &DeTable<'_>) {
        let Some(text) = self.text(table, "roll_wait") else {
            return;
        };
        match duration(&text).filter(|time| (0..=LONGEST).contains(time)) {
            Some(time) => self.rules.roll_wait = time,
            None => {
                let what = format!("roll_wait = \"{text}\" is not a time");
                let hint = "write how long a roll waits for cancels (at most 3600s): 10s, 60s";
                self.wrong(Self::place(table, "roll_wait"), what, hint);
            }
        }
    }
}
