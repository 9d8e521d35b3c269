//! Formats a schedule in words, for `fixwire check`.

use std::fmt;

use jiff::tz::Offset;

use fixwire_protocol::Timestamp;

use super::{Days, Edge, Hours, Schedule, instant};

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hours {
            Some(hours) => write!(f, "{hours}")?,
            None => f.write_str("never ends")?,
        }
        if let Some(window) = &self.logon {
            write!(f, "; logged on {window}")?;
        }
        if let Some(reset) = &self.reset {
            write!(f, "; sequence numbers reset at {reset} while logged on")?;
        }
        match self.closed_days.len() {
            0 => Ok(()),
            1 => f.write_str("; 1 closed day"),
            days => write!(f, "; {days} closed days"),
        }
    }
}

impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { days, start, end } = self;
        match days {
            Days::Week { from, to } => {
                write!(f, "weekly, {:?} {start} to {:?} {end}", from.0, to.0)
            }
            Days::Each(days) if days.len() == 7 => write!(f, "daily, {start} to {end}"),
            Days::Each(days) => {
                let names: Vec<String> = days.iter().map(|day| format!("{:?}", day.0)).collect();
                write!(f, "{}, {start} to {end}", names.join(" "))
            }
        }
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.time.strftime("%H:%M:%S"))?;
        match (self.zone.iana_name(), self.zone.to_fixed_offset()) {
            (Some(name), _) => f.write_str(name),
            // `TimeZone=+05:30`
            (None, Ok(offset)) => f.write_str(&offset_text(offset)),
            (None, Err(_)) => f.write_str("local time"),
        }
    }
}

/// An offset from UTC, for example `+05:30`.
fn offset_text(offset: Offset) -> String {
    let seconds = offset.seconds();
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = seconds.unsigned_abs() / 60;
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

/// An instant in UTC, for example `2026-03-30T07:00:00Z`.
#[must_use]
pub fn utc(at: Timestamp) -> String {
    instant(at).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

impl Schedule {
    /// An instant as the clocks in the session's time zone show it, for example `Mon 2026-03-30 08:00:00 +01:00`.
    #[must_use]
    pub fn local(&self, at: Timestamp) -> String {
        let there = instant(at).to_zoned(self.own_zone().clone());
        there.strftime("%a %Y-%m-%d %H:%M:%S %:z").to_string()
    }
}
