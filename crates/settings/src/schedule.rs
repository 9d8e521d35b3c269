//! Makes the session schedule from its keys.

use std::collections::BTreeSet;
use std::io::Read;
use std::sync::Arc;

use fixwire_engine::regular;
use fixwire_engine::schedule::{Date, Day, Days, Edge, Hours, Schedule, TimeZone};
use fixwire_protocol::Timestamp;

use super::Id;
use super::resolved::SessionSettings;
use super::times::{ParseError, ZonedTime, dates, find_zone};
use super::value::SettingValue;

/// Keys that have no effect on a session that never ends.
const HOURS: [Id; 5] = [
    Id::StartTime,
    Id::EndTime,
    Id::StartDay,
    Id::EndDay,
    Id::Weekdays,
];
/// Maximum size in bytes of a file of dates. A file of this size has room for thousands of years.
const LARGEST_FILE: u64 = 1 << 20;

/// A key, and the reason why its value conflicts with other keys.
type Conflict = (Id, String);

/// The schedule without the days of `HolidayFile`. `None` when the session never ends and no other schedule key is
/// set. `given` is true for a key that the file has, even if its value is invalid.
///
/// # Errors
///
/// All conflicts.
pub(super) fn schedule(
    from: &SessionSettings,
    given: &dyn Fn(Id) -> bool,
) -> Result<Option<Schedule>, Vec<Conflict>> {
    let reader = Reader { from, given };
    let mut conflicts = reader.contradictions();
    let zone = match reader.zone() {
        Ok(zone) => zone,
        Err(conflict) => {
            conflicts.push(conflict);
            TimeZone::UTC
        }
    };
    let mut keep = |result: Result<Option<Hours>, Conflict>| {
        result.unwrap_or_else(|conflict| {
            conflicts.push(conflict);
            None
        })
    };
    let hours = keep(reader.hours(&zone));
    let logon = keep(reader.window(&zone));
    let reset = match reader.edge(Id::ResetSeqTime, &zone).transpose() {
        Ok(reset) => reset,
        Err(conflict) => {
            conflicts.push(conflict);
            None
        }
    };
    let schedule = Schedule {
        hours,
        logon,
        reset,
        closed_days: Arc::default(),
        zone,
    };
    if conflicts.is_empty() && never_opens(&schedule) {
        let note = "the time between LogonTime and LogoutTime is outside the session".to_owned();
        let keys = [Id::LogonTime, Id::LogoutTime, Id::LogonDay, Id::LogoutDay];
        let key = keys.into_iter().find(|id| reader.is_given(*id));
        conflicts.push((key.unwrap_or(Id::StartTime), note));
    }
    if !conflicts.is_empty() {
        return Err(conflicts);
    }
    let closed_days: BTreeSet<Date> = match from.find(Id::Holidays).map(|found| &found.value) {
        Some(SettingValue::Dates(dates)) => dates.iter().copied().collect(),
        _ => BTreeSet::new(),
    };
    let asked = schedule.hours.is_some()
        || schedule.logon.is_some()
        || schedule.reset.is_some()
        || !closed_days.is_empty()
        || reader.is_given(Id::HolidayFile);
    Ok(asked.then(|| Schedule {
        closed_days: Arc::new(closed_days),
        ..schedule
    }))
}

/// The schedule with the days of its `HolidayFile`. This function reads the file.
///
/// # Errors
///
/// The key with the error, and the reason.
pub(super) fn with_holidays(from: &SessionSettings) -> Result<Option<Schedule>, Conflict> {
    let schedule = schedule(from, &|id| from.is_in_file(id))
        .map_err(|mut conflicts| conflicts.swap_remove(0))?;
    let (Some(mut schedule), Some(path)) = (schedule.clone(), from.text(Id::HolidayFile)) else {
        return Ok(schedule);
    };
    let days = read_dates(path).map_err(|why| {
        let note = format!("cannot read the dates in {path}: {why}");
        (Id::HolidayFile, note)
    })?;
    Arc::make_mut(&mut schedule.closed_days).extend(days);
    Ok(Some(schedule))
}

/// A key that has no effect, for a warning.
pub(super) fn without_effect(from: &SessionSettings) -> Option<Id> {
    from.bool(Id::NonStopSession)
        .then(|| HOURS.into_iter().find(|id| from.is_in_file(*id)))?
}

fn read_dates(path: &str) -> Result<Vec<Date>, String> {
    let mut bytes = Vec::new();
    let file = regular::open(path).map_err(|error| error.to_string())?;
    let limited = &mut file.take(LARGEST_FILE + 1);
    let size = limited
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if size as u64 > LARGEST_FILE {
        return Err(format!("it is larger than {LARGEST_FILE} bytes"));
    }
    let text = fixwire_text::utf8(bytes)?;
    dates(&text).map_err(|error| error.to_string())
}

/// Whether the schedule allows no logon on any day.
fn never_opens(schedule: &Schedule) -> bool {
    /// 2026-01-05, a Monday.
    const ANY: Timestamp = Timestamp(1_767_571_200_000_000_000);
    let ahead = schedule.ahead(ANY);
    schedule.logon.is_some() && !ahead.may_log_on && ahead.opens.is_none()
}

struct Reader<'a> {
    from: &'a SessionSettings,
    given: &'a dyn Fn(Id) -> bool,
}

impl Reader<'_> {
    fn is_given(&self, id: Id) -> bool {
        (self.given)(id)
    }

    fn never_ends(&self) -> bool {
        self.from.bool(Id::NonStopSession)
    }

    fn clock(&self, id: Id) -> Option<&ZonedTime> {
        match &self.from.find(id)?.value {
            SettingValue::Clock(clock) => Some(clock),
            _ => None,
        }
    }

    fn days(&self, id: Id) -> Option<&[Day]> {
        match &self.from.find(id)?.value {
            SettingValue::Days(days) => Some(days),
            _ => None,
        }
    }

    fn day(&self, id: Id) -> Option<Day> {
        self.days(id)?.first().copied()
    }

    /// Finds keys that require or exclude other keys, and reports the conflicts.
    fn contradictions(&self) -> Vec<Conflict> {
        let mut found = Vec::new();
        if self.is_given(Id::ResetSeqTime) && self.from.text(Id::BeginString) == Some("FIX.4.0") {
            let note = "FIX.4.0 has no ResetSeqNumFlag(141): a session that is logged on cannot \
                        reset its sequence numbers";
            found.push((Id::ResetSeqTime, note.to_owned()));
        }
        if self.from.bool(Id::UseLocalTime) && self.is_given(Id::TimeZone) {
            let note = "UseLocalTime=Y and TimeZone both set the time zone: remove one of them";
            found.push((Id::TimeZone, note.to_owned()));
        }
        if self.never_ends() {
            return found;
        }
        let start = self.is_given(Id::StartTime);
        if start != self.is_given(Id::EndTime) {
            let there = if start { Id::StartTime } else { Id::EndTime };
            found.push((
                there,
                "set both StartTime and EndTime, or neither".to_owned(),
            ));
            return found;
        }
        let needs_times = [Id::StartDay, Id::EndDay, Id::Weekdays, Id::NonStopSession];
        if !start && let Some(id) = needs_times.into_iter().find(|id| self.is_given(*id)) {
            let note = match id {
                Id::NonStopSession => "NonStopSession=N requires StartTime and EndTime",
                _ => "StartDay, EndDay and Weekdays require StartTime and EndTime",
            };
            found.push((id, note.to_owned()));
        }
        for (one, other, note) in [
            (
                Id::StartDay,
                Id::EndDay,
                "StartDay requires EndDay: both define a weekly session",
            ),
            (
                Id::EndDay,
                Id::StartDay,
                "EndDay requires StartDay: both define a weekly session",
            ),
        ] {
            if self.is_given(one) && !self.is_given(other) {
                found.push((one, note.to_owned()));
            }
        }
        let of_week = self.is_given(Id::StartDay) || self.is_given(Id::EndDay);
        if self.is_given(Id::Weekdays) && of_week {
            let note = "Weekdays is for daily sessions, StartDay and EndDay for weekly ones: \
                        remove one";
            found.push((Id::Weekdays, note.to_owned()));
        }
        found
    }

    /// The time zone of times that do not name their own.
    fn zone(&self) -> Result<TimeZone, Conflict> {
        if self.from.bool(Id::UseLocalTime) {
            return find_zone("Local").map_err(|error| blame(Id::UseLocalTime, &error));
        }
        match self.from.text(Id::TimeZone) {
            Some(name) => find_zone(name).map_err(|error| blame(Id::TimeZone, &error)),
            None => Ok(TimeZone::UTC),
        }
    }

    fn edge(&self, id: Id, zone: &TimeZone) -> Option<Result<Edge, Conflict>> {
        let clock = self.clock(id)?;
        let zone = match &clock.zone {
            Some(name) => find_zone(name).map_err(|error| blame(id, &error)),
            None => Ok(zone.clone()),
        };
        Some(zone.map(|zone| Edge {
            time: clock.time,
            zone,
        }))
    }

    fn hours(&self, zone: &TimeZone) -> Result<Option<Hours>, Conflict> {
        if self.never_ends() {
            return Ok(None);
        }
        let start = self.edge(Id::StartTime, zone).transpose()?;
        let end = self.edge(Id::EndTime, zone).transpose()?;
        let (Some(start), Some(end)) = (start, end) else {
            return Ok(None);
        };
        let days = match (self.day(Id::StartDay), self.day(Id::EndDay)) {
            (Some(from), Some(to)) => Days::Week { from, to },
            _ => match self.days(Id::Weekdays) {
                Some(days) => Days::Each(days.iter().copied().collect()),
                None => Days::all(),
            },
        };
        Ok(Some(Hours { days, start, end }))
    }

    /// The logon window; `None` when the session's keys do not limit logon, so logon is always allowed within the
    /// session.
    fn window(&self, zone: &TimeZone) -> Result<Option<Hours>, Conflict> {
        let keys = [Id::LogonTime, Id::LogoutTime, Id::LogonDay, Id::LogoutDay];
        let Some(first) = keys.into_iter().find(|id| self.is_given(*id)) else {
            return Ok(None);
        };
        let hours = self.hours(zone)?;
        let broken = |id: &Id| self.is_given(*id) && self.from.find(*id).is_none();
        if keys.iter().chain(&HOURS).any(broken) {
            return Ok(None);
        }
        let edge = |id, usual: Option<&Edge>| match self.edge(id, zone) {
            Some(edge) => edge,
            None => usual.cloned().ok_or_else(|| {
                let note = "without StartTime, set both LogonTime and LogoutTime or neither";
                (first, note.to_owned())
            }),
        };
        let start = edge(Id::LogonTime, hours.as_ref().map(|hours| &hours.start))?;
        let end = edge(Id::LogoutTime, hours.as_ref().map(|hours| &hours.end))?;
        let (week_from, week_to) = match hours.map(|hours| hours.days) {
            Some(Days::Week { from, to }) => (Some(from), Some(to)),
            _ => (None, None),
        };
        let from = self.day(Id::LogonDay).or(week_from);
        let to = self.day(Id::LogoutDay).or(week_to);
        let days = match (from, to) {
            (Some(from), Some(to)) => Days::Week { from, to },
            (None, None) => Days::all(),
            _ => {
                let note = "without StartDay, set both LogonDay and LogoutDay or neither";
                return Err((first, note.to_owned()));
            }
        };
        Ok(Some(Hours { days, start, end }))
    }
}

fn blame(id: Id, error: &ParseError) -> Conflict {
    (id, error.to_string())
}
