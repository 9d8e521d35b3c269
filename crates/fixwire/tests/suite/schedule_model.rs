//! Do schedules say what a slow and obvious model says, minute by minute for ten years?
//!
//! The model walks through every minute and asks only what the clocks of the zones show then. It knows
//! nothing of transitions, gaps or folds: a time is reached when the clock first shows it, or
//! a later one. `SCHEDULE_CASES` is the number of random schedules for each zone, `FIXWIRE_SEED` the seed.

use std::collections::BTreeSet;
use std::sync::Arc;

use fixwire::harness::Random;
use fixwire::protocol::Timestamp;
use fixwire::schedule::{
    Date, Day, Days, Edge, FOREVER, Hours, Schedule, ScheduleState, Time, TimeZone, Weekday,
    find_zone,
};

/// Zones with many rules, and the years that are odd in some of them.
const ZONES: [(&str, u32); 36] = [
    ("UTC", 2020),
    ("Africa/Cairo", 2014),
    ("Africa/Casablanca", 2012),
    ("Africa/Casablanca", 2026),
    ("Africa/El_Aaiun", 2030),
    ("Africa/Juba", 2015),
    ("America/Asuncion", 2017),
    ("America/Caracas", 2008),
    ("America/Havana", 2010),
    ("America/New_York", 2020),
    ("America/Nuuk", 2019),
    ("America/Santiago", 2013),
    ("America/Sao_Paulo", 2010),
    ("America/Scoresbysund", 2018),
    ("America/St_Johns", 2004),
    ("Antarctica/Casey", 2010),
    ("Antarctica/Troll", 2020),
    ("Asia/Amman", 2014),
    ("Asia/Beirut", 2017),
    ("Asia/Gaza", 2009),
    ("Asia/Kathmandu", 2020),
    ("Asia/Kolkata", 2000),
    ("Asia/Pyongyang", 2011),
    ("Asia/Tehran", 2014),
    ("Asia/Tokyo", 2020),
    ("Australia/Lord_Howe", 2019),
    ("Australia/Sydney", 2022),
    ("Europe/Dublin", 2024),
    ("Europe/Istanbul", 2008),
    ("Europe/London", 2021),
    ("Europe/Volgograd", 2012),
    ("Pacific/Apia", 2008),
    ("Pacific/Chatham", 2019),
    ("Pacific/Fakaofo", 2006),
    ("Pacific/Fiji", 2012),
    ("Pacific/Norfolk", 2013),
];
const YEARS: u32 = 10;
/// Minutes that a current trading session may have begun before the first compared one.
const WARM_UP: usize = 20 * 1440;
const MINUTE: i64 = 60_000_000_000;
const DAY: i32 = 1440;

fn chance(random: &mut Random, percent: u64) -> bool {
    random.below(100) < percent
}

/// The clock of a zone, for each minute of a stretch of time.
struct Wall {
    zone: TimeZone,
    /// Minutes since 1970-01-01 00:00 as the clock shows them.
    shows: Vec<i32>,
    /// The latest that it has shown so far.
    reached: Vec<i32>,
}

impl Wall {
    fn watch(zone: TimeZone, first: i64, minutes: usize) -> Self {
        let mut latest = i32::MIN;
        let (mut shows, mut reached) = (Vec::new(), Vec::new());
        for minute in 0..minutes {
            let utc = (first + minute as i64) * 60;
            let ahead = zone.to_offset(jiff::Timestamp::from_second(utc).unwrap());
            let local = utc + i64::from(ahead.seconds());
            assert_eq!(local % 60, 0);
            let now = (local / 60) as i32;
            latest = latest.max(now);
            shows.push(now);
            reached.push(latest);
        }
        Self {
            zone,
            shows,
            reached,
        }
    }

    /// The times that the clock reaches at a minute and whose day it has: mostly one.
    fn news(&self, at: usize) -> impl Iterator<Item = i32> {
        let (before, now) = (self.reached[at - 1], self.reached[at]);
        let has_day = move |time: &i32| {
            let day = time.div_euclid(DAY);
            before.div_euclid(DAY) == day || now.div_euclid(DAY) == day
        };
        (before + 1..=now).filter(has_day)
    }
}

/// Hours as the model has them.
struct Shifts<'a> {
    start: &'a Wall,
    end: &'a Wall,
    starts: i32,
    ends: i32,
    days: Days,
    skipped: BTreeSet<i32>,
    /// The minute it began, and the time of the end's clock at which it ends.
    running: Option<(usize, i32)>,
}

impl Shifts<'_> {
    fn step(&mut self, at: usize) {
        if let Some((_, until)) = self.running
            && self.end.reached[at] >= until
        {
            self.running = None;
        }
        for time in self.start.news(at) {
            let day = time.div_euclid(DAY);
            let begins = match &self.days {
                Days::Each(days) => days.contains(&weekday(day)),
                Days::Week { from, .. } => *from == weekday(day),
            };
            if time.rem_euclid(DAY) != self.starts || !begins || self.skipped.contains(&day) {
                continue;
            }
            let here = self.start.zone == self.end.zone;
            let from = if here { time } else { self.end.reached[at] };
            let until = (from + 1..)
                .find(|time| time.rem_euclid(DAY) == self.ends && self.may_end(*time))
                .unwrap();
            if self.end.reached[at] < until {
                self.running = Some((at, until));
            }
        }
    }

    fn may_end(&self, time: i32) -> bool {
        match self.days {
            Days::Each(_) => true,
            Days::Week { to, .. } => to == weekday(time.div_euclid(DAY)),
        }
    }
}

/// 1970-01-01 was a Thursday.
fn weekday(day: i32) -> Day {
    let number = (day + 3).rem_euclid(7);
    Day(Weekday::from_monday_zero_offset(number as i8).unwrap())
}

/// A random schedule, and the same for the model.
struct Case<'a> {
    schedule: Schedule,
    hours: Option<Shifts<'a>>,
    logon: Option<Shifts<'a>>,
    reset: Option<(&'a Wall, i32)>,
    closed: BTreeSet<i32>,
    home: &'a Wall,
}

impl<'a> Case<'a> {
    fn random(random: &mut Random, walls: [&'a Wall; 2], first_day: i32) -> Self {
        let home = walls[0];
        let closed: BTreeSet<i32> = match chance(random, 40) {
            true => (0..400)
                .map(|_| first_day + random.below(3650) as i32)
                .collect(),
            false => BTreeSet::new(),
        };
        let mut case = Self {
            schedule: Schedule {
                zone: home.zone.clone(),
                closed_days: Arc::new(closed.iter().map(|day| date(*day)).collect()),
                ..Schedule::non_stop()
            },
            hours: None,
            logon: None,
            reset: None,
            closed,
            home,
        };
        if chance(random, 85) {
            let (hours, mut shifts) = hours(random, walls);
            if matches!(shifts.days, Days::Each(_)) {
                shifts.skipped = case.closed.clone();
            }
            case.home = shifts.start;
            (case.schedule.hours, case.hours) = (Some(hours), Some(shifts));
        }
        if chance(random, 40) {
            let (hours, shifts) = hours(random, walls);
            (case.schedule.logon, case.logon) = (Some(hours), Some(shifts));
        }
        if chance(random, 40) {
            let (wall, time) = (walls[random.below(2) as usize], time(random));
            case.schedule.reset = Some(edge(wall, time));
            case.reset = Some((wall, time));
        }
        case
    }

    /// Compares every minute.
    fn play(&mut self, random: &mut Random, first: i64) {
        let instant = |at: usize| Timestamp((first + at as i64) * MINUTE);
        let minutes = self.home.shows.len();
        let mut said: Option<ScheduleState> = None;
        let mut reset = None;
        for at in 1..minutes {
            let mut may_log_on = true;
            let mut began = Some(FOREVER);
            if let Some(hours) = &mut self.hours {
                hours.step(at);
                began = hours.running.map(|(began, _)| instant(began));
                may_log_on &= began.is_some();
            }
            if let Some(logon) = &mut self.logon {
                logon.step(at);
                may_log_on &= logon.running.is_some();
            }
            let daily = self.hours.as_ref();
            let daily = daily.is_some_and(|hours| matches!(hours.days, Days::Each(_)));
            let day = self.home.reached[at].div_euclid(DAY);
            may_log_on &= daily || !self.closed.contains(&day);
            if let Some((wall, time)) = self.reset
                && wall.news(at).any(|news| news.rem_euclid(DAY) == time)
            {
                reset = Some(instant(at));
            }
            if at < WARM_UP {
                continue;
            }
            let expect = |standing: ScheduleState, when: Timestamp| {
                let found = (standing.began, standing.may_log_on, standing.reset);
                assert_eq!(
                    found,
                    (began, may_log_on, reset),
                    "at {} in {} (found, then expected): {}",
                    jiff::Timestamp::from_nanosecond(when.0.into()).unwrap(),
                    self.home.zone.iana_name().unwrap_or_default(),
                    self.schedule,
                );
                assert!(standing.until > when);
                let until = standing.until.0;
                assert!(
                    until % MINUTE == 0 || until == i64::MAX,
                    "{}",
                    self.schedule
                );
            };
            let now = instant(at);
            let standing = match said {
                Some(standing) if now < standing.until => standing,
                _ => self.schedule.at(now),
            };
            expect(standing, now);
            said = Some(standing);
            if random.below(2000) == 0 {
                // Asked in the middle, it says the same.
                let middle = Timestamp(now.0 + random.below(MINUTE as u64) as i64);
                expect(self.schedule.at(middle), middle);
            }
        }
    }
}

fn hours<'a>(random: &mut Random, walls: [&'a Wall; 2]) -> (Hours, Shifts<'a>) {
    let start = walls[chance(random, 30) as usize];
    let end = walls[chance(random, 40) as usize];
    let (starts, ends) = (time(random), time(random));
    let day = |random: &mut Random| weekday(random.below(7) as i32);
    let days = match random.below(3) {
        0 => Days::all(),
        1 => Days::Each((0..4).map(|_| day(random)).collect()),
        _ => Days::Week {
            from: day(random),
            to: day(random),
        },
    };
    let hours = Hours {
        days: days.clone(),
        start: edge(start, starts),
        end: edge(end, ends),
    };
    let shifts = Shifts {
        start,
        end,
        starts,
        ends,
        days,
        skipped: BTreeSet::new(),
        running: None,
    };
    (hours, shifts)
}

/// A minute of the day, often one at which clocks are changed somewhere.
fn time(random: &mut Random) -> i32 {
    const ODD: [i32; 16] = [
        0, 1, 30, 59, 60, 61, 90, 105, 120, 135, 150, 180, 1380, 1381, 1410, 1439,
    ];
    match chance(random, 65) {
        true => ODD[random.below(16) as usize],
        false => random.below(1440) as i32,
    }
}

fn edge(wall: &Wall, time: i32) -> Edge {
    Edge {
        time: Time::constant((time / 60) as i8, (time % 60) as i8, 0, 0),
        zone: wall.zone.clone(),
    }
}

fn date(day: i32) -> Date {
    jiff::Timestamp::from_second(i64::from(day) * 86_400)
        .unwrap()
        .to_zoned(TimeZone::UTC)
        .date()
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap())
}

/// Ten years in each zone of one share of them.
fn play(share: usize, shares: usize) {
    let (seed, cases) = (number("FIXWIRE_SEED", 1), number("SCHEDULE_CASES", 2));
    for (index, (name, year)) in ZONES.into_iter().enumerate() {
        if index % shares != share {
            continue;
        }
        let mut random = Random::new(seed.wrapping_mul(1_000).wrapping_add(index as u64));
        let first_day = (Date::constant(year as i16, 1, 1) - Date::constant(1970, 1, 1)).get_days();
        let first = i64::from(first_day) * 1440 - WARM_UP as i64;
        let minutes = WARM_UP + (YEARS * 366) as usize * 1440;
        let partner = ZONES[random.below(ZONES.len() as u64) as usize].0;
        let walls =
            [name, partner].map(|name| Wall::watch(find_zone(name).unwrap(), first, minutes));
        for _ in 0..cases {
            Case::random(&mut random, [&walls[0], &walls[1]], first_day).play(&mut random, first);
        }
    }
}

#[test]
fn ten_years_in_the_first_quarter_of_the_zones() {
    play(0, 4);
}

#[test]
fn ten_years_in_the_second_quarter_of_the_zones() {
    play(1, 4);
}

#[test]
fn ten_years_in_the_third_quarter_of_the_zones() {
    play(2, 4);
}

#[test]
fn ten_years_in_the_last_quarter_of_the_zones() {
    play(3, 4);
}
