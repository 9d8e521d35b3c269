//! Reads times from a cron expression for one time a day or one a week.

/// A time on every day, or on one day of the week.
#[derive(Debug, Eq, PartialEq)]
pub struct Moment {
    /// `HH:MM:SS`.
    pub time: String,
    /// The day of the week.
    pub day: Option<&'static str>,
}

/// Parses a Quartz expression: seconds, minutes, hours, days of the month, months, days of the week and optionally
/// years. `None` when the expression has more than one time a day or a week.
pub fn read(text: &str) -> Option<Moment> {
    const DAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
    let any = |field: &str| matches!(field, "*" | "?");
    let fields: Vec<&str> = text.split_whitespace().collect();
    let (second, minute, hour, date, month, day) = match fields[..] {
        [second, minute, hour, date, month, day] => (second, minute, hour, date, month, day),
        [second, minute, hour, date, month, day, "*"] => (second, minute, hour, date, month, day),
        _ => return None,
    };
    if !any(date) || month != "*" {
        return None;
    }
    let number = |field: &str, below: u8| {
        let digits = field.bytes().all(|byte| byte.is_ascii_digit());
        field
            .parse::<u8>()
            .ok()
            .filter(|number| digits && *number < below)
    };
    let (second, minute, hour) = (number(second, 60)?, number(minute, 60)?, number(hour, 24)?);
    let day = match day {
        _ if any(day) => None,
        _ => {
            let named = DAYS.iter().find(|name| name.eq_ignore_ascii_case(day));
            // 1 is Sunday.
            let counted = || DAYS.get(usize::from(number(day, 8)?).checked_sub(1)?);
            Some(*named.or_else(counted)?)
        }
    };
    let time = format!("{hour:02}:{minute:02}:{second:02}");
    Some(Moment { time, day })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_time_a_day_or_a_week_is_read() {
        for (text, time, day) in [
            ("0 30 8 * * ?", "08:30:00", None),
            ("5 0 17 ? * *", "17:00:05", None),
            ("0 0 22 ? * sun *", "22:00:00", Some("SUN")),
            ("0 0 22 ? * 7", "22:00:00", Some("SAT")),
        ] {
            let time = time.to_owned();
            assert_eq!(read(text), Some(Moment { time, day }), "{text}");
        }
        for text in [
            "",
            "0 0 8",
            "0 0/5 * * * ?",
            "0 0 8,9 * * ?",
            "0 0 24 * * ?",
            "0 0 +8 * * ?",
            "0 0 8 1 * ?",
            "0 0 8 ? 1 MON",
            "0 0 8 ? * MON-FRI",
            "0 0 8 ? * 0",
            "0 0 8 ? * 8",
            "0 0 8 * * ? 2027",
            "0 0 8 * * ?|0 0 9 * * ?",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
