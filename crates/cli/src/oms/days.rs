//! Trading days in time zones, for the OMS.

use fixwire::schedule::{Time, TimeZone};
use fixwire_oms::DaySpan;
use fixwire_protocol::Timestamp;

/// The trading day of an instant, if trading days begin this number of nanoseconds after midnight in this zone. `None`
/// for an unknown zone.
pub fn trading_day(zone: &str, begins: i64, at: Timestamp) -> Option<DaySpan> {
    let zone = TimeZone::get(zone).ok()?;
    let seconds = begins / 1_000_000_000;
    let part = |value: i64| i8::try_from(value).ok();
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let begins = Time::new(part(hour)?, part(minute)?, part(second)?, 0).ok()?;
    let found = fixwire::schedule::trading_day(&zone, begins, at)?;
    let date = found.date;
    let number = |of: i16| u32::try_from(of).ok();
    let day = number(date.year())? * 10_000
        + number(date.month().into())? * 100
        + number(date.day().into())?;
    Some(DaySpan {
        day,
        from: found.from,
        until: found.until,
    })
}
