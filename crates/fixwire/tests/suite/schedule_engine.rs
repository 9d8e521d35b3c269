//! Do two engines open, close and reset their sequence numbers exactly by their schedules, over days of
//! virtual time, killed on the way?

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fixwire::event::{Ending, Event, MessageLoss};
use fixwire::harness::Random;
use fixwire::host::sim::SimNet;
use fixwire::journal::sim::SimDisk;
use fixwire::journal::{Journal, JournalConfig};
use fixwire::protocol::session::{BeginString, Config, DisconnectReason, Role};
use fixwire::protocol::{Nanos, Outbox, SessionId, Timestamp, tag};
use fixwire::schedule::{Days, Edge, Hours, Schedule, Time, clock, dates, find_zone, weekdays};
use fixwire::{Connection, Durability, EngineConfig, SessionConfig};

use crate::common::app::{App, send};
use crate::common::wire::{self, SimEngine, calm};

const PORT: u16 = 5001;
const SECOND: u64 = 1_000_000_000;
const MINUTE: u64 = 60 * SECOND;

/// One firm: its engine, when it is up, the events for its operator, and how many orders it has handled.
struct Firm {
    net: SimNet,
    disk: SimDisk,
    role: Role,
    schedule: Schedule,
    node: u32,
    engine: Option<SimEngine>,
    heard: Arc<Mutex<Vec<(Timestamp, Event)>>>,
    taken: Arc<Mutex<u64>>,
}

impl Firm {
    fn new(net: &SimNet, role: Role, schedule: &Schedule) -> Self {
        let mut firm = Self {
            net: net.clone(),
            disk: SimDisk::new(),
            role,
            schedule: schedule.clone(),
            node: if role == Role::Acceptor { 1_000 } else { 0 },
            engine: None,
            heard: Arc::default(),
            taken: Arc::default(),
        };
        firm.start();
        firm
    }

    fn start(&mut self) {
        self.node += 1;
        let (own, peer): (&[u8], &[u8]) = match self.role {
            Role::Acceptor => (b"EXEC", b"DESK"),
            Role::Initiator => (b"DESK", b"EXEC"),
        };
        let mut fix = Config::new(BeginString::Fix42, self.role, own, peer);
        fix.heart_bt_int_seconds = 0;
        let connection = match self.role {
            Role::Acceptor => Connection::Acceptor {
                listen: SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)),
            },
            Role::Initiator => Connection::Initiator {
                hosts: vec![("exec".to_owned(), PORT)],
                reconnect: vec![Duration::from_secs(1)],
                timeout: Duration::from_secs(5),
            },
        };
        let mut session = SessionConfig::new("S", fix, connection);
        session.schedule = Some(self.schedule.clone());
        let config = EngineConfig {
            durability: Durability::Process,
            segment_bytes: 4 << 20,
            max_message: 4096,
            read_buffer: 8192,
            sessions: vec![session],
            ..EngineConfig::default()
        };
        let taken = Arc::clone(&self.taken);
        let desk = App::new(move |_, _, _| {
            *taken.lock().unwrap() += 1;
            Ok(())
        });
        let mut engine = wire::start(config, desk, self.node, &self.net, &self.disk);
        let heard = Arc::clone(&self.heard);
        engine.on_event(move |now, event| heard.lock().unwrap().push((now.wall, event.clone())));
        self.engine = Some(engine);
    }

    /// The process is killed.
    fn kill(&mut self) {
        self.engine = None;
        self.disk.end_process();
        self.net.crash(self.node, false);
    }

    fn turn(&mut self) {
        if let Some(engine) = &mut self.engine
            && engine.turn().is_err()
        {
            assert!(self.disk.has_stopped(), "only a machine that stopped fails");
            self.kill();
        }
    }

    fn order(&mut self) {
        if let Some(engine) = &mut self.engine {
            let order = |outbox: &mut Outbox| {
                send(outbox, SessionId(0), b"D", tag::CL_ORD_ID, b"1").unwrap();
            };
            engine.application_mut().later.push(Box::new(order));
        }
    }

    fn open(&mut self) -> Option<bool> {
        let heard = &self.engine.as_mut()?.application_mut().heard;
        heard.of("open").pop().map(|open| open == "true")
    }

    /// Logged on, next_in, next_out.
    fn state(&self) -> Option<(bool, u64, u64)> {
        let engine = self.engine.as_ref()?;
        let session = engine.sessions().next().unwrap();
        Some((session.logged_on, session.next_in, session.next_out))
    }

    fn is_logged_on(&self) -> bool {
        self.state().is_some_and(|(logged_on, ..)| logged_on)
    }

    fn times(&self, wanted: impl Fn(&Event) -> bool) -> Vec<Timestamp> {
        let heard = self.heard.lock().unwrap();
        let found = heard.iter().filter(|(_, event)| wanted(event));
        found.map(|(at, _)| *at).collect()
    }

    /// How often the numbers restarted, by the journal that the process leaves behind.
    fn epoch(&mut self) -> u32 {
        self.kill();
        let config = JournalConfig {
            segment_bytes: 4 << 20,
            ..JournalConfig::default()
        };
        let (journal, _) = Journal::open(self.disk.copy(), config).unwrap();
        let (_, _, counters) = journal.sessions().next().unwrap();
        counters.epoch
    }

    fn restarts(&self) -> Vec<Timestamp> {
        self.times(|event| matches!(event, Event::NumbersRestarted { .. }))
    }
}

fn network() -> SimNet {
    SimNet::new(1, calm(1 << 16))
}

/// Both work until nothing more happens.
fn settle(firms: &mut [Firm; 2]) {
    for _ in 0..12 {
        firms.iter_mut().for_each(Firm::turn);
    }
}

fn advance(net: &SimNet, firms: &mut [Firm; 2], nanos: u64) {
    net.advance(Nanos(nanos));
    settle(firms);
}

fn edge(text: &str) -> Edge {
    let clock = clock(text).unwrap();
    let zone = find_zone(clock.zone.as_deref().unwrap_or("UTC")).unwrap();
    Edge {
        time: clock.time,
        zone,
    }
}

fn daily(from: &str, to: &str) -> Schedule {
    Schedule::new(Hours {
        days: Days::all(),
        start: edge(from),
        end: edge(to),
    })
}

/// The world begins on Monday, 2026-03-02, at 08:00:01 UTC.
fn at(net: &SimNet) -> jiff::Zoned {
    let wall = net.now().wall.0;
    let at = jiff::Timestamp::from_nanosecond(wall.into()).unwrap();
    at.in_tz("America/New_York").unwrap()
}

/// The expected state, by the clock on the wall in New York: the number of the current trading session.
type Model = fn(&jiff::Zoned) -> Option<i64>;

/// Monday to Friday, 08:00 to 17:00, but not on 10 March.
fn office(now: &jiff::Zoned) -> Option<i64> {
    let working = now.weekday().to_monday_zero_offset() < 5;
    let open = (8..17).contains(&now.hour());
    let closed = now.date() == jiff::civil::date(2026, 3, 10);
    (working && open && !closed).then(|| day_number(now.date()))
}

/// The whole day, from 17:00 to 17:00.
fn round_the_clock(now: &jiff::Zoned) -> Option<i64> {
    Some(day_number(now.date()) + i64::from(now.hour() >= 17))
}

fn day_number(date: jiff::civil::Date) -> i64 {
    i64::from((date - jiff::civil::date(2026, 1, 1)).get_days())
}

/// Two weeks, over the day on which New York changes its clocks. Every minute, one millisecond before
/// it and at it, both engines are as the model says; now and then one of them is down for a while.
fn weeks(schedule: &Schedule, model: Model, seed: u64) {
    let net = network();
    let roles = [Role::Initiator, Role::Acceptor];
    let mut firms = roles.map(|role| Firm::new(&net, role, schedule));
    let mut random = Random::new(seed);
    // The trading session of each firm's sequence numbers, how often they were reset, and for how long it is down.
    let period = model(&at(&net));
    let (mut known, mut restarts, mut down) = ([period; 2], [0_usize; 2], [0_u64; 2]);
    let mut before = None;
    advance(&net, &mut firms, MINUTE - SECOND);
    for minute in 0..14 * 24 * 60 {
        let now = at(&net);
        let period = model(&now);
        if let (Some(Some(before)), Some(period)) = (before, period)
            && before != period
        {
            // At a seam both have logged out, and may have logged on again.
            advance(&net, &mut firms, SECOND);
        }
        for (firm, state) in firms.iter().zip(known.iter_mut().zip(&mut restarts)) {
            let (known, restarts) = state;
            if firm.engine.is_some() && period.is_some() && *known != period {
                (*known, *restarts) = (period, *restarts + 1);
            }
            assert_eq!(firm.restarts().len(), *restarts, "{:?} at {now}", firm.role);
        }
        let both = firms.iter().all(|firm| firm.engine.is_some());
        // After a kill the initiator waits for a second.
        if both && period.is_some() && !firms[0].is_logged_on() {
            advance(&net, &mut firms, 2 * SECOND);
        }
        for firm in &firms {
            assert_eq!(
                firm.is_logged_on(),
                both && period.is_some(),
                "{:?} at {now}",
                firm.role
            );
        }
        if both && period.is_some() {
            let numbers = firms.each_ref().map(|firm| firm.state().unwrap());
            assert_eq!(
                (numbers[0].1, numbers[0].2),
                (numbers[1].2, numbers[1].1),
                "{now}"
            );
            if before != Some(period) && known == [period; 2] && down == [0; 2] {
                assert_eq!(numbers[0], (true, 2, 2), "both have begun anew at {now}");
            }
        }
        if minute % 50 == 0 && both && period.is_some() {
            firms[0].order();
        }
        for (firm, down) in firms.iter_mut().zip(&mut down) {
            match *down {
                0 if random.one_in(900) => {
                    firm.kill();
                    *down = 1 + random.below(2000);
                }
                0 => {}
                1 => {
                    firm.start();
                    *down = 0;
                }
                _ => *down -= 1,
            }
        }
        settle(&mut firms);
        before = Some(period);
        // Up to the last millisecond nothing changes.
        let rest = MINUTE - (net.now().wall.0 as u64) % MINUTE;
        advance(&net, &mut firms, rest - 1_000_000);
        let late = firms.iter().all(|firm| firm.engine.is_some()) && period.is_some();
        assert_eq!(firms[0].is_logged_on(), late, "just before {}", at(&net));
        assert_eq!(firms[1].is_logged_on(), late, "just before {}", at(&net));
        advance(&net, &mut firms, 1_000_000);
        if model(&at(&net)).is_none() {
            assert!(
                !firms[0].is_logged_on() && !firms[1].is_logged_on(),
                "at {}",
                at(&net)
            );
        }
    }
    assert!(restarts.iter().all(|count| *count > 4), "{restarts:?}");
    assert!(*firms[1].taken.lock().unwrap() > 5);
    let epochs = firms.each_mut().map(|firm| firm.epoch() as usize);
    assert_eq!(epochs, restarts);
}

#[test]
fn working_days_open_close_and_restart_to_the_minute() {
    let mut schedule = daily("08:00:00 America/New_York", "17:00:00 America/New_York");
    if let Some(hours) = &mut schedule.hours {
        let days = weekdays("Mon,Tue,Wed,Thu,Fri").unwrap();
        hours.days = Days::Each(days.into_iter().collect());
    }
    schedule.closed_days = Arc::new(dates("2026-03-10").unwrap().into_iter().collect());
    for seed in 1..=3 {
        weeks(&schedule, office, seed);
    }
}

#[test]
fn a_day_that_ends_as_the_next_begins_restarts_at_the_seam() {
    let schedule = daily("17:00:00 America/New_York", "17:00:00 America/New_York");
    for seed in 1..=3 {
        weeks(&schedule, round_the_clock, seed);
    }
}

/// Both are up shortly before 09:00 UTC on the second day of 09:00 to 17:00; numbers are of the first.
fn eve(net: &SimNet) -> [Firm; 2] {
    let schedule = daily("09:00:00", "17:00:00");
    let mut firms = [Role::Initiator, Role::Acceptor].map(|role| Firm::new(net, role, &schedule));
    advance(net, &mut firms, 2 * 60 * MINUTE);
    firms[0].order();
    advance(net, &mut firms, SECOND);
    assert_eq!(firms[0].state(), Some((true, 2, 3)));
    advance(net, &mut firms, 20 * 60 * MINUTE);
    for firm in &firms {
        assert_eq!(firm.restarts().len(), 1);
        assert!(!firm.is_logged_on());
    }
    let rest = 25 * 60 * MINUTE - SECOND;
    let passed = net.now().mono.0 - SECOND;
    advance(net, &mut firms, rest - passed - 1_000_000);
    firms
}

#[test]
fn a_kill_at_any_point_of_the_opening_restarts_the_numbers_once() {
    let mut whole = 0;
    for (who, operations) in (0..2).flat_map(|who| (0..60).map(move |n| (who, n))) {
        let net = network();
        let mut firms = eve(&net);
        firms[who].disk.stop_after(operations);
        advance(&net, &mut firms, 1_000_000);
        advance(&net, &mut firms, 2 * SECOND);
        if firms[who].disk.has_stopped() {
            firms[who].kill();
            firms[who].start();
        } else {
            whole += 1;
        }
        firms[who].disk.stop_after(1 << 40);
        for _ in 0..5 {
            advance(&net, &mut firms, 2 * SECOND);
        }
        for firm in &firms {
            let (logged_on, next_in, next_out) = firm.state().unwrap();
            assert!(logged_on, "{who} {operations}");
            // One Logon each before and after the kill, at most, and what a gap took.
            assert!(
                next_in < 8 && next_out < 8,
                "{who} {operations}: {next_in} {next_out}"
            );
        }
        let numbers = firms.each_ref().map(|firm| firm.state().unwrap());
        assert_eq!((numbers[0].1, numbers[0].2), (numbers[1].2, numbers[1].1));
        // Nothing more happens in this trading session.
        advance(&net, &mut firms, 60 * MINUTE);
        let epochs = firms.each_mut().map(Firm::epoch);
        assert_eq!(epochs, [2, 2], "one for each day: {who} {operations}");
    }
    assert!(whole > 0, "the last points are behind the opening");
}

#[test]
fn a_clock_that_is_set_restarts_nothing_twice() {
    let net = network();
    let mut firms = eve(&net);
    advance(&net, &mut firms, 1_000_000);
    let hour = (60 * MINUTE) as i64;
    for step in [
        -2 * hour,
        2 * hour,
        -hour / 2,
        hour / 2,
        -30 * hour,
        30 * hour,
    ] {
        net.step_wall(step);
        for _ in 0..4 {
            advance(&net, &mut firms, 2 * SECOND);
        }
    }
    for firm in &firms {
        assert!(firm.is_logged_on());
        assert_eq!(firm.restarts().len(), 2, "one for each day");
    }
    // A step over the end and the next start closes, restarts once, and opens.
    net.step_wall(24 * hour);
    for _ in 0..4 {
        advance(&net, &mut firms, 2 * SECOND);
    }
    for firm in &firms {
        assert!(firm.is_logged_on());
        assert_eq!(firm.restarts().len(), 3);
    }
}

#[test]
fn a_closed_session_takes_no_logon_and_no_message() {
    let net = network();
    // The initiator believes that it is open all day; the acceptor closes at 17:00.
    let mut firms = [
        Firm::new(&net, Role::Initiator, &daily("08:00:00", "23:00:00")),
        Firm::new(&net, Role::Acceptor, &daily("08:00:00", "17:00:00")),
    ];
    advance(&net, &mut firms, SECOND);
    assert!(firms[0].is_logged_on());
    advance(&net, &mut firms, 9 * 60 * MINUTE);
    assert!(!firms[0].is_logged_on());
    for _ in 0..5 {
        advance(&net, &mut firms, 2 * SECOND);
    }
    let refused = firms[1].times(|event| {
        let why = Ending::Session(DisconnectReason::LogonRefused);
        matches!(event, Event::Disconnected { why: ending, .. } if *ending == why)
    });
    assert!(!refused.is_empty(), "each Logon is answered and closed");
    let answered = firms[0].times(|event| {
        let why = Ending::Session(DisconnectReason::RefusedByPeer);
        matches!(event, Event::Disconnected { why: ending, .. } if *ending == why)
    });
    assert_eq!(answered.len(), refused.len(), "with a Logout");
    // A message written now would belong to no trading session.
    let numbers = firms[1].state();
    firms[1].order();
    settle(&mut firms);
    assert_eq!(firms[1].state(), numbers);
    let not_sent = firms[1].times(|event| {
        let why = MessageLoss::OutOfSchedule;
        matches!(event, Event::MessagesLost { messages: 1, why: loss, .. } if *loss == why)
    });
    assert_eq!(not_sent.len(), 1);
    assert_eq!([firms[0].open(), firms[1].open()], [None, Some(false)]);
    firms[1].kill();
    firms[1].start();
    settle(&mut firms);
    assert_eq!(firms[1].open(), Some(false));
    let closed = firms[1]
        .heard
        .lock()
        .unwrap()
        .iter()
        .find_map(|(_, event)| match event {
            Event::SessionClosed { opens, .. } => {
                Some(event.to_string()).filter(|_| opens.is_some())
            }
            _ => None,
        });
    let until = "closed until 2026-03-03T08:00:00Z by the session schedule";
    assert_eq!(closed.as_deref(), Some(until));
    advance(&net, &mut firms, 16 * 60 * MINUTE);
    assert_eq!(firms[1].open(), Some(true));
}

#[test]
fn a_window_inside_the_session_keeps_the_numbers() {
    let net = network();
    let mut schedule = Schedule::non_stop();
    let window = daily("06:00:00", "20:00:00");
    schedule.logon = window.hours;
    let mut firms = [Role::Initiator, Role::Acceptor].map(|role| Firm::new(&net, role, &schedule));
    advance(&net, &mut firms, SECOND);
    assert_eq!(firms[0].state(), Some((true, 2, 2)));
    advance(&net, &mut firms, 13 * 60 * MINUTE);
    assert!(!firms[0].is_logged_on() && !firms[1].is_logged_on());
    assert_eq!(firms[1].open(), None);
    // A message written now waits for the morning.
    firms[1].order();
    advance(&net, &mut firms, SECOND);
    advance(&net, &mut firms, 11 * 60 * MINUTE);
    advance(&net, &mut firms, 2 * SECOND);
    assert!(firms[0].is_logged_on());
    assert_eq!(*firms[0].taken.lock().unwrap(), 1);
    // Two Logons and a Logout each; the acceptor's order, and the request for it.
    assert_eq!(firms[0].state(), Some((true, 5, 5)));
    assert!(firms[0].restarts().is_empty());
}

#[test]
fn numbers_restart_inside_the_session_at_the_reset_time() {
    restart_at_the_reset_time([Role::Initiator, Role::Acceptor]);
    restart_at_the_reset_time([Role::Acceptor, Role::Initiator]);
}

fn restart_at_the_reset_time(roles: [Role; 2]) {
    let net = network();
    let mut schedule = Schedule::non_stop();
    let time = Time::constant(10, 0, 0, 0);
    schedule.reset = Some(Edge {
        time,
        ..edge("10:00:00")
    });
    let mut firms = [
        Firm::new(&net, roles[0], &schedule),
        Firm::new(&net, roles[1], &Schedule::non_stop()),
    ];
    advance(&net, &mut firms, SECOND);
    for _ in 0..3 {
        firms[0].order();
        advance(&net, &mut firms, SECOND);
    }
    assert_eq!(firms[0].state(), Some((true, 2, 5)));
    let to_ten = 2 * 60 * MINUTE - 5 * SECOND;
    advance(&net, &mut firms, to_ten - 1_000_000);
    assert!(firms[0].restarts().is_empty());
    advance(&net, &mut firms, 1_000_000);
    // A Logon with ResetSeqNumFlag each way, and the connection stays.
    assert_eq!(firms[0].state(), Some((true, 2, 2)));
    assert_eq!(firms[1].state(), Some((true, 2, 2)));
    assert_eq!(firms[0].restarts(), [net.now().wall]);
    assert!(
        firms[0]
            .times(|event| matches!(event, Event::Disconnected { .. }))
            .is_empty()
    );
    // Set back and forward again, it is not done a second time.
    for step in [-(60 * MINUTE as i64), 60 * MINUTE as i64] {
        net.step_wall(step);
        advance(&net, &mut firms, 2 * SECOND);
    }
    assert_eq!(firms[0].restarts().len(), 1);
    // A session that is not logged on at that time is left alone, after it too.
    firms[1].kill();
    advance(&net, &mut firms, 24 * 60 * MINUTE);
    firms[1].start();
    for _ in 0..3 {
        advance(&net, &mut firms, 2 * SECOND);
    }
    assert!(firms[0].is_logged_on());
    assert_eq!(firms[0].restarts().len(), 1);
    advance(&net, &mut firms, 24 * 60 * MINUTE);
    assert_eq!(firms[0].restarts().len(), 2, "and restarts on the next day");
}
