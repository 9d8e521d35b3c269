//! Tests of schedules: one case for each known fault of other engines, and unusual days.

use super::*;
use jiff::civil::datetime;

fn find_zone(name: &str) -> TimeZone {
    TimeZone::get(name).unwrap()
}

/// The day whose name begins so.
fn weekday(name: &str) -> Day {
    let mut days = Weekday::Monday.cycle_forward().take(7);
    let day = days.find(|day| format!("{day:?}").starts_with(name));
    Day(day.unwrap())
}

/// `from` to `to`, each `HH:MM:SS Zone`.
fn hours(days: Days, from: &str, to: &str) -> Hours {
    let edge = |text: &str| {
        let (time, zone) = text.split_once(' ').unwrap_or((text, "UTC"));
        Edge {
            time: time.parse().unwrap(),
            zone: find_zone(zone),
        }
    };
    Hours {
        days,
        start: edge(from),
        end: edge(to),
    }
}

fn daily(from: &str, to: &str) -> Schedule {
    Schedule::new(hours(Days::all(), from, to))
}

fn on(days: &str, from: &str, to: &str) -> Schedule {
    let days = days.split(',').map(weekday).collect();
    Schedule::new(hours(Days::Each(days), from, to))
}

fn weekly(from_day: &str, from: &str, to_day: &str, to: &str) -> Schedule {
    let (from_day, to_day) = (weekday(from_day), weekday(to_day));
    let days = Days::Week {
        from: from_day,
        to: to_day,
    };
    Schedule::new(hours(days, from, to))
}

/// `2026-03-29 08:00`, UTC.
fn utc(text: &str) -> Timestamp {
    let text = format!("{}:00Z", text.replace(' ', "T"));
    timestamp(text.parse().unwrap())
}

fn shown(at: Timestamp) -> String {
    instant(at).strftime("%Y-%m-%d %H:%M").to_string()
}

/// The trading sessions that begin from `from` up to `to`, as `begin > end`, UTC.
fn periods(schedule: &Schedule, from: &str, to: &str) -> Vec<String> {
    let (mut now, end) = (utc(from), utc(to));
    let (mut found, mut began) = (Vec::new(), schedule.at(now).began);
    while now < end {
        let standing = schedule.at(now);
        if standing.began != began || standing.began == Some(now) {
            began = standing.began;
            if let Some(began) = began {
                found.push(format!("{} > {}", shown(began), shown(standing.until)));
            }
        }
        assert!(standing.until > now);
        now = standing.until;
    }
    found
}

fn is_open(schedule: &Schedule, at: &str) -> bool {
    schedule.at(utc(at)).may_log_on
}

#[test]
fn a_day_has_a_beginning_and_an_end() {
    let schedule = daily("08:00:00", "17:00:00");
    assert!(!is_open(&schedule, "2026-03-02 07:59"));
    assert!(is_open(&schedule, "2026-03-02 08:00"));
    assert!(is_open(&schedule, "2026-03-02 16:59"));
    assert!(!is_open(&schedule, "2026-03-02 17:00"));
    let standing = schedule.at(utc("2026-03-02 12:00"));
    assert_eq!(standing.began, Some(utc("2026-03-02 08:00")));
    assert_eq!(standing.until, utc("2026-03-02 17:00"));
}

#[test]
fn a_session_over_midnight_is_one_period() {
    // QuickFIX/J issue 1074: logged out at midnight UTC, and not logged on again.
    let schedule = daily("23:30:00 UTC", "17:30:00 America/New_York");
    let standing = schedule.at(utc("2025-11-05 00:00"));
    assert!(standing.may_log_on);
    assert_eq!(standing.began, Some(utc("2025-11-04 23:30")));
    assert_eq!(standing.until, utc("2025-11-05 22:30"));
}

#[test]
fn zones_of_start_and_end_may_differ() {
    // QuickFIX/J issues 486 and 574: the end came out before the start.
    let schedule = daily("18:00:00 Asia/Tokyo", "17:00:00 America/New_York");
    assert_eq!(
        periods(&schedule, "2026-03-06 00:00", "2026-03-10 00:00"),
        [
            "2026-03-06 09:00 > 2026-03-06 22:00",
            "2026-03-07 09:00 > 2026-03-07 22:00",
            "2026-03-08 09:00 > 2026-03-08 21:00",
            "2026-03-09 09:00 > 2026-03-09 21:00",
        ]
    );
    // QuickFIX/J issue 1146: the end of the week lay before its start.
    let week = weekly(
        "Sunday",
        "13:00:00 Australia/Victoria",
        "Saturday",
        "17:00:00 America/New_York",
    );
    assert_eq!(
        periods(&week, "2026-02-22 00:00", "2026-03-01 00:00"),
        ["2026-02-22 02:00 > 2026-02-28 22:00"]
    );
}

#[test]
fn weekdays_are_the_days_on_which_a_session_begins() {
    // QuickFIX/J pull request 568: with the days as the days of beginning, Friday is left out.
    let schedule = on(
        "Sun,Mon,Tue,Wed,Thu",
        "17:05:00 America/New_York",
        "16:55:00 America/New_York",
    );
    assert_eq!(
        periods(&schedule, "2026-06-05 00:00", "2026-06-09 00:00"),
        [
            "2026-06-07 21:05 > 2026-06-08 20:55",
            "2026-06-08 21:05 > 2026-06-09 20:55",
        ]
    );
    assert!(!is_open(&schedule, "2026-06-06 12:00"), "a Saturday");
    // QuickFIX/n pull request 845: Saturday's small hours belong to Friday's session.
    let late = on("Mon,Tue,Wed,Thu,Fri", "08:00:00", "02:00:00");
    assert!(is_open(&late, "2026-06-06 01:59"));
    assert!(!is_open(&late, "2026-06-06 02:00"));
    assert!(!is_open(&late, "2026-06-06 08:00"));
    assert!(!is_open(&late, "2026-06-08 01:00"), "Sunday's would be");
}

#[test]
fn the_days_inside_a_week_are_open_whatever_the_hour() {
    // QuickFIX/n issue 59.
    let schedule = weekly("Sun", "20:00:00", "Fri", "22:00:00");
    assert!(is_open(&schedule, "2026-03-05 03:00"), "a Thursday");
    assert!(!is_open(&schedule, "2026-03-06 22:00"));
    assert!(!is_open(&schedule, "2026-03-07 21:00"), "a Saturday");
    assert!(!is_open(&schedule, "2026-03-08 19:59"));
    assert!(is_open(&schedule, "2026-03-08 20:00"));
}

#[test]
fn a_period_begins_at_the_start_time_and_ends_at_the_end_time() {
    // QuickFIX/n issues 151 and 254, QuickFIX/Go issue 607: whatever happened at the end or between,
    // sequence numbers belong to the trading session in which they began.
    let schedule = daily("07:00:00", "22:00:00");
    assert_eq!(schedule.at(utc("2026-03-02 22:00")).began, None);
    assert_eq!(schedule.at(utc("2026-03-03 06:59")).began, None);
    let began = schedule.at(utc("2026-03-03 12:00")).began;
    assert_eq!(began, Some(utc("2026-03-03 07:00")));
}

#[test]
fn equal_times_make_a_day_or_a_week_without_a_pause() {
    // QuickFIX issue 87: with equal times the reset came at midnight instead.
    let schedule = daily("17:00:00", "17:00:00");
    assert_eq!(
        periods(&schedule, "2026-03-02 17:00", "2026-03-04 17:00"),
        [
            "2026-03-02 17:00 > 2026-03-03 17:00",
            "2026-03-03 17:00 > 2026-03-04 17:00",
        ]
    );
    let week = weekly("Mon", "00:00:00", "Mon", "00:00:00");
    assert_eq!(
        periods(&week, "2026-03-02 00:00", "2026-03-16 00:00"),
        [
            "2026-03-02 00:00 > 2026-03-09 00:00",
            "2026-03-09 00:00 > 2026-03-16 00:00",
        ]
    );
    // One day of the week only.
    let once = weekly("Mon", "08:00:00", "Mon", "17:00:00");
    assert_eq!(
        periods(&once, "2026-03-02 00:00", "2026-03-10 00:00"),
        [
            "2026-03-02 08:00 > 2026-03-02 17:00",
            "2026-03-09 08:00 > 2026-03-09 17:00",
        ]
    );
}

#[test]
fn the_local_hour_stays_when_clocks_change() {
    // QuickFIX/n pull request 144.
    let schedule = daily("08:00:00 Europe/London", "17:00:00 Europe/London");
    assert_eq!(
        periods(&schedule, "2026-03-28 00:00", "2026-03-30 00:00"),
        [
            "2026-03-28 08:00 > 2026-03-28 17:00",
            "2026-03-29 07:00 > 2026-03-29 16:00",
        ]
    );
    let night = daily("17:00:00 America/New_York", "17:00:00 America/New_York");
    assert_eq!(
        periods(&night, "2026-10-31 00:00", "2026-11-02 00:00"),
        [
            "2026-10-31 21:00 > 2026-11-01 22:00",
            "2026-11-01 22:00 > 2026-11-02 22:00",
        ]
    );
}

#[test]
fn a_time_that_is_skipped_is_when_clocks_jump() {
    // 02:30 does not exist in New York on 8 March 2026: 07:00 UTC is 03:00 there.
    let schedule = daily("02:30:00 America/New_York", "12:00:00 America/New_York");
    assert_eq!(
        periods(&schedule, "2026-03-08 00:00", "2026-03-09 00:00"),
        ["2026-03-08 07:00 > 2026-03-08 16:00"]
    );
    // Both are skipped: that day has no trading session, rather than one of a whole day.
    let lost = daily("02:10:00 America/New_York", "02:50:00 America/New_York");
    assert_eq!(
        periods(&lost, "2026-03-07 00:00", "2026-03-10 00:00"),
        [
            "2026-03-07 07:10 > 2026-03-07 07:50",
            "2026-03-09 06:10 > 2026-03-09 06:50",
        ]
    );
}

#[test]
fn a_time_that_comes_twice_counts_once() {
    // 01:00 to 02:00 comes twice in New York on 1 November 2026, from 05:00 UTC.
    let schedule = daily("01:15:00 America/New_York", "01:45:00 America/New_York");
    assert_eq!(
        periods(&schedule, "2026-11-01 00:00", "2026-11-03 00:00"),
        [
            "2026-11-01 05:15 > 2026-11-01 05:45",
            "2026-11-02 06:15 > 2026-11-02 06:45",
        ]
    );
    // Lord Howe goes back by half an hour.
    let howe = daily(
        "01:45:00 Australia/Lord_Howe",
        "03:00:00 Australia/Lord_Howe",
    );
    assert_eq!(
        periods(&howe, "2026-04-04 12:00", "2026-04-05 12:00"),
        ["2026-04-04 14:45 > 2026-04-04 16:30"]
    );
}

#[test]
fn a_day_that_a_zone_skips_has_no_session() {
    let schedule = daily("08:00:00 Pacific/Apia", "17:00:00 Pacific/Apia");
    assert_eq!(
        periods(&schedule, "2011-12-29 00:00", "2012-01-01 00:00"),
        [
            "2011-12-29 18:00 > 2011-12-30 03:00",
            "2011-12-30 18:00 > 2011-12-31 03:00",
            "2011-12-31 18:00 > 2012-01-01 03:00",
        ]
    );
    // The end of this one lies on the skipped day: it is over when the clock jumps past it.
    let night = daily("18:00:00 Pacific/Apia", "09:00:00 Pacific/Apia");
    assert_eq!(
        periods(&night, "2011-12-30 00:00", "2011-12-31 00:00"),
        ["2011-12-30 04:00 > 2011-12-30 10:00"]
    );
}

#[test]
fn clocks_that_go_back_over_midnight_do_not_repeat_a_day() {
    // St John's went back at 00:01 until 2011: 23:01 to 00:01 came twice.
    let zone = find_zone("America/St_Johns");
    let schedule = daily("00:00:00 America/St_Johns", "23:30:00 America/St_Johns");
    assert_eq!(
        periods(&schedule, "2010-11-07 00:00", "2010-11-08 12:00"),
        [
            "2010-11-07 02:30 > 2010-11-08 03:00",
            "2010-11-08 03:30 > 2010-11-09 03:00",
        ]
    );
    let second_pass = instant(utc("2010-11-07 03:00"));
    assert_eq!(
        zone.to_datetime(second_pass),
        datetime(2010, 11, 6, 23, 30, 0, 0)
    );
    assert_eq!(
        zone::day(&zone, second_pass).0,
        jiff::civil::date(2010, 11, 7)
    );
}

#[test]
fn a_window_limits_the_logon_and_not_the_numbers() {
    let mut schedule = weekly("Sun", "20:00:00", "Fri", "22:00:00");
    schedule.logon = Some(hours(Days::all(), "06:00:00", "23:00:00"));
    let night = schedule.at(utc("2026-03-04 03:00"));
    assert!(!night.may_log_on);
    assert_eq!(night.began, Some(utc("2026-03-01 20:00")));
    assert_eq!(night.until, utc("2026-03-04 06:00"));
    assert!(is_open(&schedule, "2026-03-04 06:00"));
    assert!(is_open(&schedule, "2026-03-06 21:59"));
    assert!(!is_open(&schedule, "2026-03-06 22:30"), "the week is over");
    // One that never ends may have a window too.
    let mut always = Schedule::non_stop();
    always.logon = Some(hours(Days::all(), "06:00:00", "23:00:00"));
    assert_eq!(always.at(utc("2026-03-04 03:00")).began, Some(FOREVER));
    assert!(!is_open(&always, "2026-03-04 03:00"));
}

#[test]
fn a_closed_day_has_no_session() {
    let christmas = Arc::new(BTreeSet::from([jiff::civil::date(2026, 12, 25)]));
    let closed = |schedule: Schedule| Schedule {
        closed_days: Arc::clone(&christmas),
        ..schedule
    };
    // Daily: as if the day were not one of the weekdays; the session of the eve runs to its end.
    let night = closed(daily("17:00:00", "16:00:00"));
    assert_eq!(
        periods(&night, "2026-12-24 12:00", "2026-12-28 00:00"),
        [
            "2026-12-24 17:00 > 2026-12-25 16:00",
            "2026-12-26 17:00 > 2026-12-27 16:00",
            "2026-12-27 17:00 > 2026-12-28 16:00",
        ]
    );
    // Weekly: closed from midnight to midnight in the zone of the start, with the same sequence numbers after.
    let week = closed(weekly(
        "Mon",
        "08:00:00 Asia/Tokyo",
        "Sat",
        "08:00:00 Asia/Tokyo",
    ));
    let before = week.at(utc("2026-12-24 14:59"));
    let during = week.at(utc("2026-12-24 15:00"));
    let after = week.at(utc("2026-12-25 15:00"));
    assert_eq!(
        [before, during, after].map(|standing| standing.may_log_on),
        [true, false, true]
    );
    assert_eq!([during.began, after.began], [before.began; 2]);
    assert_eq!(during.until, utc("2026-12-25 15:00"));
    // One that never ends.
    let always = closed(Schedule::non_stop());
    assert!(!is_open(&always, "2026-12-25 00:00"));
    assert!(is_open(&always, "2026-12-26 00:00"));
}

#[test]
fn a_calendar_without_an_open_day_ends_the_search() {
    let start = jiff::civil::date(2026, 1, 1);
    let days = std::iter::successors(Some(start), |day| day.tomorrow().ok());
    let mut schedule = daily("08:00:00", "17:00:00");
    schedule.closed_days = Arc::new(days.take(2000).collect());
    let standing = schedule.at(utc("2026-01-02 12:00"));
    assert_eq!(standing.began, None);
    assert!(standing.until > utc("2028-01-01 00:00"));
    assert_eq!(schedule.ahead(utc("2026-01-02 12:00")).opens, None);
}

#[test]
fn the_reset_time_is_every_day_whether_open_or_not() {
    let mut schedule = weekly("Sun", "20:00:00", "Fri", "22:00:00");
    schedule.reset = Some(Edge {
        time: Time::new(17, 0, 0, 0).unwrap(),
        zone: find_zone("America/New_York"),
    });
    let standing = schedule.at(utc("2026-03-09 20:59"));
    assert_eq!(standing.reset, Some(utc("2026-03-08 21:00")));
    assert_eq!(standing.until, utc("2026-03-09 21:00"));
    let standing = schedule.at(utc("2026-03-09 21:00"));
    assert_eq!(standing.reset, Some(utc("2026-03-09 21:00")));
}

#[test]
fn the_next_changes_are_told() {
    let schedule = on("Mon,Tue", "08:00:00", "17:00:00");
    let ahead = schedule.ahead(utc("2026-03-03 12:00"));
    assert!(ahead.may_log_on);
    assert_eq!(ahead.closes, Some(utc("2026-03-03 17:00")));
    assert_eq!(ahead.opens, Some(utc("2026-03-09 08:00")));
    assert_eq!(ahead.begins, ahead.opens);
    let seam = daily("17:00:00", "17:00:00").ahead(utc("2026-03-03 12:00"));
    assert_eq!(seam.closes, Some(utc("2026-03-03 17:00")));
    assert_eq!(seam.begins, seam.closes);
    let never = Schedule::non_stop().ahead(utc("2026-03-03 12:00"));
    assert!(never.may_log_on && never.closes.is_none() && never.begins.is_none());
}

#[test]
fn instants_at_the_ends_of_time_are_answered() {
    let mut all = daily("08:00:00 Asia/Tehran", "17:00:00 America/New_York");
    all.logon = Some(hours(Days::all(), "06:00:00", "23:00:00"));
    all.reset = Some(all.hours.as_ref().unwrap().start.clone());
    let mut week = weekly("Sun", "20:00:00", "Fri", "22:00:00 Asia/Tokyo");
    week.closed_days = Arc::new(BTreeSet::from([Date::MIN, Date::MAX]));
    for schedule in [&all, &week] {
        for at in [i64::MIN, i64::MIN + 1, 0, i64::MAX - 1, i64::MAX] {
            assert!(schedule.at(Timestamp(at)).until.0 >= at);
            let _ = schedule.ahead(Timestamp(at));
        }
    }
}

#[test]
fn a_schedule_says_what_it_is() {
    let mut schedule = on(
        "Mon,Fri",
        "08:00:00 Europe/London",
        "17:00:00 Europe/London",
    );
    schedule.reset = Some(schedule.hours.as_ref().unwrap().start.clone());
    assert_eq!(
        schedule.to_string(),
        "Monday Friday, 08:00:00 Europe/London to 17:00:00 Europe/London; \
         sequence numbers reset at 08:00:00 Europe/London while logged on"
    );
    assert_eq!(
        schedule.local(utc("2026-07-01 07:00")),
        "Wed 2026-07-01 08:00:00 +01:00"
    );
    assert_eq!(
        weekly("Sun", "20:00:00", "Fri", "22:00:00").to_string(),
        "weekly, Sunday 20:00:00 UTC to Friday 22:00:00 UTC"
    );
    for (seconds, name) in [(19_800, "+05:30"), (-12_600, "-03:30"), (3600, "+01:00")] {
        let mut edge = schedule.hours.as_ref().unwrap().start.clone();
        edge.zone = TimeZone::fixed(jiff::tz::Offset::from_seconds(seconds).unwrap());
        assert_eq!(edge.to_string(), format!("08:00:00 {name}"));
    }
}

#[test]
fn the_next_reset_is_that_of_the_time_of_day_too() {
    let mut schedule = Schedule::non_stop();
    assert_eq!(schedule.ahead(utc("2026-07-01 07:00")).begins, None);
    let edge = daily("08:00:00", "17:00:00").hours.unwrap().start;
    schedule.reset = Some(edge.clone());
    let ahead = schedule.ahead(utc("2026-07-01 07:00"));
    assert_eq!(ahead.begins, Some(utc("2026-07-01 08:00")));
    let ahead = schedule.ahead(utc("2026-07-01 09:00"));
    assert_eq!(ahead.begins, Some(utc("2026-07-02 08:00")));
    // The earlier one of the next trading session and the time of day.
    let mut schedule = daily("06:00:00", "17:00:00");
    schedule.reset = Some(edge);
    let ahead = schedule.ahead(utc("2026-07-01 07:00"));
    assert_eq!(ahead.begins, Some(utc("2026-07-01 08:00")));
    let ahead = schedule.ahead(utc("2026-07-01 09:00"));
    assert_eq!(ahead.begins, Some(utc("2026-07-02 06:00")));
}
