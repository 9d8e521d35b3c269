//! Points in time and durations: UTC for messages, and a monotonic clock for timers.

use core::fmt;
use core::ops::{Add, Sub};
use core::time::Duration;

const NANOS_PER_SECOND: i64 = 1_000_000_000;
const NANOS_PER_MILLI: i64 = 1_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// A time in UTC, as nanoseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Timestamp(pub i64);

/// A time of a clock that never goes back, in nanoseconds from some beginning. Timers use it.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Mono(pub u64);

/// A duration in nanoseconds.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Nanos(pub u64);

/// The present time of the two clocks. The clocks are read once in each turn.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Now {
    /// The UTC time. SendingTime and journal records have this time.
    pub wall: Timestamp,
    /// Drives timers.
    pub mono: Mono,
}

/// The number of digits in the fraction of a second.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Precision {
    /// `13:30:00`.
    Seconds,
    /// `13:30:00.123`.
    #[default]
    Millis,
    /// `13:30:00.123456`.
    Micros,
    /// `13:30:00.123456789`.
    Nanos,
}

/// Why a text is not a time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum TimeError {
    /// No time has this number of bytes.
    Length,
    /// At this offset another byte was expected.
    Byte {
        /// Byte offset in the text.
        at: usize,
    },
    /// The text has the right form, but there is no such time: 30 February, 24:00:00.
    NoSuchMoment,
    /// The time exists, but is outside the range of a [`Timestamp`], which holds the years 1678 to 2261.
    Range,
}

impl Timestamp {
    /// Reads a `UTCTimestamp`, for example `20260821-13:30:00.123456`.
    ///
    /// The text has whole seconds, or fractions of 3, 6, 9 or 12 digits. Picoseconds are cut to nanoseconds. Second
    /// 60 is read as the first instant of the next minute, so that times keep their order across a leap second.
    ///
    /// # Units
    ///
    /// Returns nanoseconds since 1970-01-01T00:00:00Z. Digits that the text does not have count as zero.
    ///
    /// # Errors
    ///
    /// [`TimeError::Length`] or [`TimeError::Byte`] when the text has another form. [`TimeError::NoSuchMoment`] when
    /// there is no such time. [`TimeError::Range`] when 64 bits of nanoseconds cannot hold the time;
    /// [`check_timestamp`] accepts such a time.
    ///
    /// # Source
    ///
    /// FIX 4.4 Volume 1, data type `UTCTimestamp`; FIX 5.0 SP2 for 6, 9 and 12 digits.
    #[inline]
    pub fn parse(text: &[u8]) -> Result<Self, TimeError> {
        let (seconds, nanos) = split_timestamp(text)?;
        Self::from_parts(seconds, nanos)
    }

    /// The time that is given by seconds since 1970 and the nanoseconds of the second.
    #[inline]
    fn from_parts(mut seconds: i64, mut nanos: i64) -> Result<Self, TimeError> {
        if seconds < 0 {
            // The first time of the range is within a second that begins before the range.
            seconds += 1;
            nanos -= NANOS_PER_SECOND;
        }
        seconds
            .checked_mul(NANOS_PER_SECOND)
            .and_then(|whole| whole.checked_add(nanos))
            .map(Self)
            .ok_or(TimeError::Range)
    }

    /// The difference between the two times, whichever is earlier.
    pub fn abs_diff(self, other: Self) -> Nanos {
        Nanos(self.0.abs_diff(other.0))
    }
}

/// Checks that a text is a `UTCTimestamp` of any year; see [`Timestamp::parse`].
///
/// # Errors
///
/// The errors of [`Timestamp::parse`], except [`TimeError::Range`].
pub fn check_timestamp(text: &[u8]) -> Result<(), TimeError> {
    split_timestamp(text).map(|_| ())
}

/// Reads a `UTCTimeOnly`: `13:30:00` with a fraction of 0, 3, 6, 9 or 12 digits. Returns nanoseconds since midnight.
/// Second 60 counts as the first second of the next minute.
///
/// # Errors
///
/// The errors of [`Timestamp::parse`], except [`TimeError::Range`].
pub fn parse_time_only(text: &[u8]) -> Result<Nanos, TimeError> {
    let (seconds, nanos) = split_clock(text, 0)?;
    Ok(Nanos((seconds * NANOS_PER_SECOND + nanos) as u64))
}

/// Reads a `UTCDateOnly` or `LocalMktDate`, such as `20260821`. Returns days since 1970-01-01.
///
/// # Errors
///
/// The errors of [`Timestamp::parse`], except [`TimeError::Range`].
pub fn parse_date(text: &[u8]) -> Result<i32, TimeError> {
    if text.len() != 8 {
        return Err(TimeError::Length);
    }
    split_date(text).map(|days| days as i32)
}

/// Checks that a text is a `MonthYear`: `YYYYMM`, `YYYYMMDD` or `YYYYMMwN` with N from 1 to 5.
///
/// # Errors
///
/// The errors of [`Timestamp::parse`], except [`TimeError::Range`].
pub fn check_month_year(text: &[u8]) -> Result<(), TimeError> {
    match text.len() {
        6 => {}
        8 if text[6] == b'w' => {
            if !matches!(text[7], b'1'..=b'5') {
                return Err(TimeError::Byte { at: 7 });
            }
        }
        8 => return parse_date(text).map(|_| ()),
        _ => return Err(TimeError::Length),
    }
    digits(text, 0, 4)?;
    match digits(text, 4, 2)? {
        1..=12 => Ok(()),
        _ => Err(TimeError::NoSuchMoment),
    }
}

/// Checks that a text is a `TZTimeOnly`: `HH:MM`, optionally seconds and a fraction, and then nothing, `Z`, `+hh`,
/// `-hh`, `+hh:mm` or `-hh:mm`.
///
/// # Errors
///
/// The errors of [`Timestamp::parse`], except [`TimeError::Range`].
pub fn check_tz_time_only(text: &[u8]) -> Result<(), TimeError> {
    check_tz_clock(text, 0)
}

/// Checks that a text is a `TZTimestamp`: a date, `-`, and a `TZTimeOnly`.
///
/// # Errors
///
/// The errors of [`Timestamp::parse`], except [`TimeError::Range`].
pub fn check_tz_timestamp(text: &[u8]) -> Result<(), TimeError> {
    if text.len() < 9 {
        return Err(TimeError::Length);
    }
    split_date(text)?;
    literal(text, 8, b'-')?;
    check_tz_clock(text, 9)
}

/// Writes timestamps. The writer keeps the text of the last second, because most times differ only in the fraction.
#[derive(Clone, Debug)]
pub struct TimestampWriter {
    second: i64,
    /// The time at which the millisecond of the text began, in nanoseconds; `None` if the text has no fraction of its
    /// second.
    millisecond: Option<i64>,
    text: [u8; TimestampWriter::MAX],
}

impl TimestampWriter {
    /// Maximum length of the text, as in `20260821-13:30:00.123456789`.
    pub const MAX: usize = 27;

    /// A writer that has written nothing yet.
    pub const fn new() -> Self {
        Self {
            second: 0,
            millisecond: None,
            text: *b"19700101-00:00:00.000000000",
        }
    }

    /// The time as a `UTCTimestamp`. The fraction is cut to the precision, not rounded.
    #[inline]
    pub fn format(&mut self, moment: Timestamp, precision: Precision) -> &[u8] {
        let is_written = self.millisecond.is_some_and(|from| {
            moment.0 >= from && (0..NANOS_PER_MILLI).contains(&moment.0.wrapping_sub(from))
        });
        if !is_written || precision != Precision::Millis {
            self.write(moment, precision);
        }
        &self.text[..precision.text_len()]
    }

    #[inline(never)]
    fn write(&mut self, moment: Timestamp, precision: Precision) {
        let second = moment.0.div_euclid(NANOS_PER_SECOND);
        if second != self.second {
            self.write_second(second);
        }
        let nanos = moment.0.rem_euclid(NANOS_PER_SECOND) as u32;
        match precision {
            Precision::Seconds => {}
            Precision::Millis => put(&mut self.text[18..21], nanos / 1_000_000),
            Precision::Micros => put(&mut self.text[18..24], nanos / 1_000),
            Precision::Nanos => put(&mut self.text[18..27], nanos),
        }
        // A text without a fraction keeps that of another second.
        self.millisecond = match precision {
            Precision::Seconds => None,
            _ => moment.0.checked_sub(moment.0.rem_euclid(NANOS_PER_MILLI)),
        };
    }

    #[cold]
    fn write_second(&mut self, second: i64) {
        let (year, month, day) = civil(second.div_euclid(SECONDS_PER_DAY));
        let of_day = second.rem_euclid(SECONDS_PER_DAY) as u32;
        put(&mut self.text[0..4], year as u32);
        put(&mut self.text[4..6], month);
        put(&mut self.text[6..8], day);
        put(&mut self.text[9..11], of_day / 3600);
        put(&mut self.text[12..14], of_day / 60 % 60);
        put(&mut self.text[15..17], of_day % 60);
        self.second = second;
    }
}

impl Default for TimestampWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl Precision {
    /// Number of bytes of a `UTCTimestamp` with this precision.
    pub const fn text_len(self) -> usize {
        match self {
            Self::Seconds => 17,
            Self::Millis => 21,
            Self::Micros => 24,
            Self::Nanos => 27,
        }
    }
}

impl Nanos {
    /// The duration zero.
    pub const ZERO: Self = Self(0);

    /// A duration of whole seconds. If it does not fit, the result is the longest duration.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1_000_000_000))
    }

    /// A duration of milliseconds. If it does not fit, the result is the longest duration.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// A duration of microseconds. If it does not fit, the result is the longest duration.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// The whole seconds of the duration. The rest is cut off.
    pub const fn as_secs(self) -> u64 {
        self.0 / 1_000_000_000
    }

    /// The whole milliseconds of the duration. The rest is cut off.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }
}

impl From<Duration> for Nanos {
    /// If the duration does not fit, the result is the longest duration, which is more than five hundred years.
    fn from(time: Duration) -> Self {
        Self(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl Mono {
    /// The time of a timer that does not run.
    pub const NEVER: Self = Self(u64::MAX);
}

impl Add<Nanos> for Mono {
    type Output = Self;

    /// The sum is at most the last time of the clock, because a timer may be set to "never".
    fn add(self, span: Nanos) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Sub for Mono {
    type Output = Nanos;

    /// The result is zero when `earlier` is the later time.
    fn sub(self, earlier: Self) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Nanos {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Add<Nanos> for Timestamp {
    type Output = Self;

    fn add(self, span: Nanos) -> Self {
        Self(self.0.saturating_add_unsigned(span.0))
    }
}

impl fmt::Display for Timestamp {
    /// Writes the time as a `UTCTimestamp` with nine digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut stamp = TimestampWriter::new();
        let text = stamp.format(*self, Precision::Nanos);
        f.write_str(core::str::from_utf8(text).unwrap_or_default())
    }
}

impl fmt::Display for TimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => f.write_str("wrong length for a time"),
            Self::Byte { at } => write!(f, "unexpected character at offset {at}"),
            Self::NoSuchMoment => f.write_str("not a valid date or time"),
            Self::Range => f.write_str("time outside the years 1678 to 2261"),
        }
    }
}

impl core::error::Error for TimeError {}

/// Seconds since 1970, and nanoseconds of the second.
#[inline]
fn split_timestamp(text: &[u8]) -> Result<(i64, i64), TimeError> {
    if text.len() < 17 {
        return Err(TimeError::Length);
    }
    let days = split_date(text)?;
    literal(text, 8, b'-')?;
    let (seconds, nanos) = split_clock(text, 9)?;
    Ok((days * SECONDS_PER_DAY + seconds, nanos))
}

/// Days since 1970 of the date `YYYYMMDD` with which the text begins. The text has at least 8 bytes.
#[inline]
fn split_date(text: &[u8]) -> Result<i64, TimeError> {
    let year = i64::from(digits(text, 0, 4)?);
    let month = digits(text, 4, 2)?;
    let day = digits(text, 6, 2)?;
    if !(1..=12).contains(&month) || day == 0 || day > days_in_month(year, month) {
        return Err(TimeError::NoSuchMoment);
    }
    Ok(days_since_1970(year, month, day))
}

/// Seconds and nanoseconds of the time `HH:MM:SS[.f]`, which is the text from `at` on.
#[inline]
fn split_clock(text: &[u8], at: usize) -> Result<(i64, i64), TimeError> {
    let len = text.len();
    if len < at + 8 {
        return Err(TimeError::Length);
    }
    let hour = digits(text, at, 2)?;
    literal(text, at + 2, b':')?;
    let minute = digits(text, at + 3, 2)?;
    literal(text, at + 5, b':')?;
    let second = digits(text, at + 6, 2)?;
    let nanos = fraction(text, at + 8)?;
    if hour > 23 || minute > 59 || second > 60 {
        return Err(TimeError::NoSuchMoment);
    }
    let seconds = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second);
    Ok((seconds, i64::from(nanos)))
}

/// Nanoseconds of the fraction at the end of the text. The decimal point of the fraction is at `at`. Without a fraction
/// the result is 0.
#[inline]
fn fraction(text: &[u8], at: usize) -> Result<u32, TimeError> {
    let nanos = match text.len() - at {
        0 => return Ok(0),
        4 => digits(text, at + 1, 3)? * 1_000_000,
        7 => digits(text, at + 1, 6)? * 1_000,
        10 => digits(text, at + 1, 9)?,
        13 => {
            digits(text, at + 10, 3)?;
            digits(text, at + 1, 9)?
        }
        _ => return Err(TimeError::Length),
    };
    literal(text, at, b'.')?;
    Ok(nanos)
}

fn check_tz_clock(text: &[u8], at: usize) -> Result<(), TimeError> {
    let clock = text.get(at..).ok_or(TimeError::Length)?;
    let zone = clock
        .iter()
        .position(|b| matches!(b, b'Z' | b'+' | b'-'))
        .unwrap_or(clock.len());
    let (time, zone_text) = clock.split_at(zone);
    if time.len() == 5 {
        literal(time, 2, b':')?;
        if digits(time, 0, 2)? > 23 || digits(time, 3, 2)? > 59 {
            return Err(TimeError::NoSuchMoment);
        }
    } else {
        split_clock(time, 0)?;
    }
    match zone_text.len() {
        0 => Ok(()),
        1 if zone_text[0] == b'Z' => Ok(()),
        3 | 6 if zone_text[0] != b'Z' => {
            let hours = digits(zone_text, 1, 2)?;
            let minutes = if zone_text.len() == 6 {
                literal(zone_text, 3, b':')?;
                digits(zone_text, 4, 2)?
            } else {
                0
            };
            if hours > 14 || minutes > 59 {
                return Err(TimeError::NoSuchMoment);
            }
            Ok(())
        }
        _ => Err(TimeError::Length),
    }
}

#[inline]
fn digits(text: &[u8], at: usize, count: usize) -> Result<u32, TimeError> {
    let mut value = 0;
    for (i, byte) in text[at..at + count].iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Err(TimeError::Byte { at: at + i });
        }
        value = value * 10 + u32::from(digit);
    }
    Ok(value)
}

#[inline]
fn literal(text: &[u8], at: usize, wanted: u8) -> Result<(), TimeError> {
    if text.get(at) == Some(&wanted) {
        Ok(())
    } else {
        Err(TimeError::Byte { at })
    }
}

#[inline]
fn put(out: &mut [u8], mut value: u32) {
    for byte in out.iter_mut().rev() {
        *byte = b'0' + (value % 10) as u8;
        value /= 10;
    }
}

#[inline]
fn days_in_month(year: i64, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Counts years that begin in March, so that the leap day is the last day of its year.
#[inline]
fn days_since_1970(year: i64, month: u32, day: u32) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = i64::from(if month <= 2 { month + 9 } else { month - 3 });
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day from the number of days since 1970. This function is the inverse of [`days_since_1970`].
fn civil(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = (of_year - (153 * month + 2) / 5 + 1) as u32;
    let month = (if month < 10 { month + 3 } else { month - 9 }) as u32;
    (year + era * 400 + i64::from(month <= 2), month, day)
}

mod last_minute;
pub use last_minute::LastMinute;

#[cfg(test)]
mod tests;
