//! The time zone that applies to times without a zone.

use fixwire_protocol::Timestamp;
use fixwire_schedule::zone_name;
use jiff::tz::TimeZone;
use jiff::{Timestamp as Moment, civil};

/// Nanoseconds of a second.
pub(crate) const SECOND: i64 = 1_000_000_000;
/// Seconds of a quarter of an hour: zone offsets change only on a quarter.
const QUARTER: i64 = 900;

/// The time zone of a log whose times do not state one.
#[derive(Clone, Debug)]
pub struct LogZone(TimeZone);

impl LogZone {
    /// UTC.
    #[must_use]
    pub fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// Reads `UTC`, an offset such as `+08:00`, or the name of a zone such as `Asia/Taipei`.
    ///
    /// # Errors
    ///
    /// A sentence that states the expected forms.
    pub fn parse(text: &str) -> Result<Self, String> {
        zone_name::find(text).map(Self).ok_or_else(|| {
            let advice = zone_name::advice(text)
                .unwrap_or_else(|| "expected UTC, +08:00 or a name such as Asia/Taipei".to_owned());
            format!("unknown time zone {text}: {advice}")
        })
    }
}

/// Converts local times to UTC. Caches the offset for the last quarter of an hour.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    zone: LogZone,
    quarter: i64,
    offset: i64,
}

impl Clock {
    pub(crate) fn new(zone: LogZone) -> Self {
        Self {
            zone,
            quarter: i64::MIN,
            offset: 0,
        }
    }

    /// The instant of a local time, which is given as if it were UTC. A local time that occurs twice, because the
    /// clocks are set back, gives the first of the two instants.
    pub(crate) fn moment(&mut self, local: Timestamp) -> Option<Timestamp> {
        let seconds = local.0.div_euclid(SECOND);
        let quarter = seconds.div_euclid(QUARTER);
        if quarter != self.quarter {
            let zone = &self.zone.0;
            let time = Moment::from_second(seconds).ok()?;
            let time: civil::DateTime = TimeZone::UTC.to_datetime(time);
            let moment = zone.to_ambiguous_timestamp(time).compatible().ok()?;
            self.offset = seconds - moment.as_second();
            self.quarter = quarter;
        }
        let moment = local.0.checked_sub(self.offset * SECOND);
        moment.map(Timestamp)
    }
}

/// The offset in `Z`, `+08`, `+0800` or `+08:00`, in seconds; `None` for any other text.
pub(crate) fn offset(text: &[u8]) -> Option<i64> {
    zone_name::offset(text).map(i64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_an_offset_or_a_name() {
        let at = |zone: &str, text: &str| {
            let mut clock = Clock::new(LogZone::parse(zone).unwrap());
            let local = Timestamp::parse(text.as_bytes()).unwrap();
            let moment = clock.moment(local).unwrap();
            (local.0 - moment.0) / SECOND / 60
        };
        assert_eq!(at("UTC", "20260821-13:30:00"), 0);
        assert_eq!(at("Asia/Taipei", "20260821-13:30:00"), 480);
        assert_eq!(at("-03:30", "20260821-13:30:00"), -210);
        assert_eq!(at("Europe/London", "20260821-13:30:00"), 60);
        assert_eq!(at("Europe/London", "20261121-13:30:00"), 0);
        let why = LogZone::parse("Mars/Base").unwrap_err();
        assert!(why.contains("Mars/Base") && why.contains("+08:00"), "{why}");
    }
}
