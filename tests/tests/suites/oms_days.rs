//! Is everything found, told and settled that a venue loses, changes, repeats, cancels or corrects in a day?
//!
//! `fixwire client`, `fixwire run oms.toml` and `fixwire sim` trade for a day, over lines of FIX 4.2 and 4.4: new
//! orders that meet, replaces and cancels. The exchange loses, doubles, repeats, delays, reorders or changes single
//! reports and cancel rejects, rejects requests, cancels and corrects trades; the wire loses and corrupts messages;
//! lines break; the OMS or the exchange is killed. In the evening the exchange lists the state of each order, and then
//!
//! * each order whose state in the OMS differs from the exchange's own book is among the OMS's breaks, and an event has
//!   reported the break;
//! * when an operator has settled the breaks, the OMS's orders, positions and reservations for open orders agree with
//!   the exchange;
//! * the client has the same state for each order, and each of its requests has one answer.
//!
//! `OMS_DAYS_REAL` is the number of days (12), `OMS_DAY_REAL` plays the day of one seed.

use fixwire_rigs::oms::evening::Evening;
use fixwire_rigs::oms::floor::{ACCOUNTS, Floor};
use fixwire_rigs::oms::trader::Trader;
use fixwire_rigs::oms::venue;
use fixwire_rigs::random::{Random, seed};
use fixwire_rigs::server::{Server, scratch};
use fixwire_rigs::trade::PATIENCE;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const CLIENT: &str = "CLIENT";
const LINES: [&str; 2] = ["LINE1", "LINE2"];
/// The versions of the lines, by day.
const VERSIONS: [[&str; 2]; 3] = [
    ["FIX.4.4", "FIX.4.2"],
    ["FIX.4.4", "FIX.4.4"],
    ["FIX.4.2", "FIX.4.2"],
];
/// The number of days played at the same time: mostly they wait.
const AT_ONCE: u64 = 6;
/// The number of steps in a day.
const STEPS: u32 = 60;
/// The OMS asks about a request that stays unanswered for this time, and reports it after the same time again.
const ASKS: Duration = Duration::from_secs(5);
/// The breaks that an operator finds the venue's fault, not the order's: the kinds that are settled as ours.
const OURS: [&str; 5] = [
    "fill that",
    "fill of an order",
    "ExecID",
    "bust",
    "correction",
];

#[test]
fn what_a_venue_does_wrong_in_a_day_is_found_told_and_settled() -> Result<(), String> {
    let variable = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    if let Some(seed) = variable("OMS_DAY_REAL") {
        let played = play("day", seed)?;
        println!("{played:?}");
        return Ok(());
    }
    let days = variable("OMS_DAYS_REAL").unwrap_or(12);
    let first = seed() % 1_000_000_000;
    let next = AtomicU64::new(0);
    let work = |world: u64| {
        let mut played = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= days {
                return played;
            }
            let seed = first + at;
            let day = play(&format!("world{world}"), seed);
            played.push(day.map_err(|fault| format!("OMS_DAY_REAL={seed}: {fault}")));
        }
    };
    let played: Vec<Result<Played, String>> = std::thread::scope(|scope| {
        let worlds: Vec<_> = (0..AT_ONCE)
            .map(|at| scope.spawn(move || work(at)))
            .collect();
        let joined = worlds.into_iter().map(|world| world.join());
        joined
            .flat_map(|end| end.unwrap_or_else(|_| vec![Err("a world panicked".into())]))
            .collect()
    });
    let mut total = Played::default();
    let mut faults = String::new();
    for day in &played {
        match day {
            Ok(day) => total.add(day),
            Err(fault) => {
                let _ = writeln!(faults, "{fault}\n");
            }
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    println!("{days} days from seed {first}: {total:?}; all was found, told and settled");
    let Played {
        fills,
        faults,
        changed,
        breaks,
        ..
    } = total;
    match [fills, faults, changed, breaks].contains(&0) {
        true => {
            Err("a day without trades, faults, cancelled trades or breaks shows nothing".into())
        }
        false => Ok(()),
    }
}

/// The counts of a day.
#[derive(Clone, Copy, Debug, Default)]
struct Played {
    requests: usize,
    /// Trades of the exchange without the cancelled ones.
    fills: usize,
    /// Faults of the exchange and the wire.
    faults: usize,
    /// Trades that the exchange has cancelled or corrected.
    changed: usize,
    kills: usize,
    /// Lines that were disconnected.
    cut: usize,
    /// Breaks that an operator has settled.
    breaks: usize,
    /// The client's reports about cancelled or corrected trades and about settlements.
    restated: usize,
}

impl Played {
    fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.fills += other.fills;
        self.faults += other.faults;
        self.changed += other.changed;
        self.kills += other.kills;
        self.cut += other.cut;
        self.breaks += other.breaks;
        self.restated += other.restated;
    }
}

fn play(name: &str, seed: u64) -> Result<Played, String> {
    let mut day = Day::begin(name, seed)?;
    let ended = day.pass().and_then(|()| day.ends());
    ended.map_err(|fault| {
        let words = day.oms.as_ref().map(Server::last_words);
        format!("{fault}\n{}OMS: {}", day.log, words.unwrap_or_default())
    })?;
    Ok(day.played)
}

/// The processes of a day.
struct Day {
    floor: Floor,
    random: Random,
    client: Trader,
    oms: Option<Server>,
    sim: Option<Server>,
    played: Played,
    /// A log of the day's actions, for a day that failed.
    log: String,
}

impl Day {
    fn begin(name: &str, seed: u64) -> Result<Self, String> {
        let mut random = Random::new(seed);
        let folder: PathBuf = scratch(name).map_err(|error| error.to_string())?;
        let [one, two] = VERSIONS[random.below(3) as usize];
        let lines = [(LINES[0], one), (LINES[1], two)];
        let floor = Floor::new(&folder, &[(CLIENT, "FIX.4.4")], &lines)?;
        let settings = floor.client(CLIENT, "FIX.4.4")?;
        let sim = Some(floor.open()?);
        let oms = Some(floor.oms.start()?);
        let client = Trader::start(&floor.oms.binary, &settings, true)?;
        floor.wait_for_logons()?;
        Ok(Self {
            floor,
            random,
            client,
            oms,
            sim,
            played: Played::default(),
            log: format!("lines of {one} and {two}\n"),
        })
    }

    fn draw(&mut self, limit: u64) -> u64 {
        self.random.below(limit)
    }

    fn note(&mut self, what: &str) {
        let _ = writeln!(self.log, "{what}");
    }

    /// Sends a command to the exchange, which may be starting and have no control socket yet.
    fn exchange(&mut self, command: &str) -> Option<String> {
        let answer = self.floor.tell_exchange("command", command);
        self.note(&format!("{command}: {answer:?}"));
        answer.ok()
    }

    fn pass(&mut self) -> Result<(), String> {
        for _ in 0..STEPS {
            self.client.listen()?;
            match self.draw(40) {
                0..=7 => self.fault(),
                8..=9 => self.wire_fault(),
                10..=12 => self.change_trade(),
                13 => self.break_line(),
                14 => {
                    let account = ACCOUNTS[self.draw(6) as usize];
                    let scope = format!("account={account}");
                    let told = self.floor.tell(&["cancel", &scope, "--why", "a drill"]);
                    self.note(&format!("cancel {scope}: {:?}", told.is_ok()));
                }
                15 => self.kill()?,
                _ => self.trade()?,
            }
        }
        Ok(())
    }

    /// A few requests of the client.
    fn trade(&mut self) -> Result<(), String> {
        for _ in 0..=self.draw(4) {
            if self.client.is_on {
                self.client.command(&mut self.random)?;
            }
            let pause = Duration::from_millis(self.draw(25));
            std::thread::sleep(pause);
            self.client.listen()?;
        }
        Ok(())
    }

    /// The exchange makes one of the next messages wrong.
    fn fault(&mut self) {
        let message = ["8", "8", "8", "9"][self.draw(4) as usize];
        let fault = match self.draw(10) {
            0..=2 => format!("drop type={message}"),
            3 => format!("duplicate type={message}"),
            4 => format!("repeat type={message} ms={}", 1 + self.draw(400)),
            5 => format!("reorder type={message}"),
            6 => format!("delay type={message} ms={}", 1 + self.draw(400)),
            7 => format!("reject type={}", ["D", "F", "G"][self.draw(3) as usize]),
            _ => format!("change type={message} {}", self.values(message)),
        };
        let is_set = self.exchange(&format!("fault {fault} count=1")).is_some();
        self.played.faults += usize::from(is_set);
    }

    /// Other values for a report or a cancel reject.
    fn values(&mut self, message: &str) -> String {
        let (quantity, cents) = (1 + self.draw(100), 45 + self.draw(11));
        let status = ["0", "1", "2", "4", "8", "C"][self.draw(6) as usize];
        let others = self.floor.tell_exchange("command", "orders");
        let others = venue::orders(&others.unwrap_or_default()).unwrap_or_default();
        let at = self.draw(others.len().max(1) as u64) as usize;
        let other = others.values().nth(at).map_or("999", |it| &*it.id);
        let choices = match message {
            "9" => 3,
            _ => 9,
        };
        match self.draw(choices) {
            0 => format!("set=39:{status}"),
            1 => format!("set=11:{other}"),
            2 if message == "9" => format!("set=102:{}", self.draw(4)),
            2 => format!("set=14:{quantity}"),
            3 => format!("set=151:{quantity}"),
            4 => format!("set=32:{quantity}"),
            5 => format!("set=31:12.{cents}"),
            6 => format!("set=38:{quantity}"),
            7 => format!("set=44:12.{cents}"),
            _ => format!("set=6:12.{cents}"),
        }
    }

    /// The wire loses or corrupts one of the next messages, or a session ends.
    fn wire_fault(&mut self) {
        let kind = ["gap", "checksum", "disconnect", "logout"][self.draw(4) as usize];
        let is_set = self.exchange(&format!("fault {kind} count=1")).is_some();
        self.played.faults += usize::from(is_set);
    }

    /// The exchange cancels or corrects a trade.
    fn change_trade(&mut self) {
        let listing = self.floor.tell_exchange("command", "fills");
        let fills = venue::fills(&listing.unwrap_or_default());
        let at = self.draw(fills.len().max(1) as u64) as usize;
        let Some((exec_id, quantity)) = fills.get(at) else {
            return;
        };
        let cents = 45 + self.draw(11);
        let command = match self.draw(3) {
            0 => format!("correct {exec_id} {quantity} @ 12.{cents}"),
            1 if *quantity > 1 => format!("correct {exec_id} {}", quantity - 1),
            _ => format!("bust {exec_id}"),
        };
        self.played.changed += usize::from(self.exchange(&command).is_some());
    }

    fn break_line(&mut self) {
        let line = LINES[self.draw(2) as usize];
        let told = self.floor.tell_exchange("disconnect", line);
        self.note(&format!("disconnect {line}: {}", told.is_ok()));
        self.played.cut += usize::from(told.is_ok());
    }

    /// OMS or exchange is killed, and restarted.
    fn kill(&mut self) -> Result<(), String> {
        let is_oms = self.draw(2) == 0;
        self.note(if is_oms {
            "kill the OMS"
        } else {
            "kill the exchange"
        });
        let pause = Duration::from_millis(self.draw(300));
        match is_oms {
            true => {
                self.oms.take().map(Server::kill).transpose()?;
                std::thread::sleep(pause);
                self.oms = Some(self.floor.oms.start()?);
            }
            false => {
                self.sim.take().map(Server::kill).transpose()?;
                std::thread::sleep(pause);
                self.sim = Some(self.floor.open()?);
            }
        }
        self.played.kills += 1;
        // Its counterparts notice, and log on again.
        self.floor.wait_for_logons()
    }

    /// The evening: faults end.
    fn ends(&mut self) -> Result<(), String> {
        self.floor.wait_for_logons()?;
        self.floor.tell_exchange("command", "fault clear")?;
        self.note("evening");
        std::thread::sleep(ASKS + Duration::from_secs(1));
        self.next_word()?;
        self.patiently(|day| day.evening().is_found())?;
        self.settle()?;
        let agreed = self.patiently(|day| day.evening().agree());
        agreed.map_err(|fault| format!("after all was settled: {fault}"))?;
        let fills = self.floor.tell_exchange("command", "fills")?;
        self.played.fills = fills.lines().count();
        let client = self.evening().heard()?;
        self.played.requests = client.requests();
        self.played.restated = client.restated;
        Ok(())
    }

    /// The exchange lists the state of each order.
    fn next_word(&mut self) -> Result<(), String> {
        self.floor.wait_for_logons()?;
        self.floor.tell_exchange("command", "status *")?;
        Ok(())
    }

    /// Waits until it holds.
    fn patiently(&self, holds: impl Fn(&Self) -> Result<(), String>) -> Result<(), String> {
        let deadline = Instant::now() + *PATIENCE;
        loop {
            match holds(self) {
                Err(_) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(100));
                }
                held => return held,
            }
        }
    }

    fn evening(&self) -> Evening<'_> {
        Evening {
            floor: &self.floor,
            client: CLIENT,
        }
    }

    /// An operator settles the breaks one after the other, each when its event has come.
    fn settle(&mut self) -> Result<(), String> {
        for _ in 0..200 {
            let breaks = self.evening().breaks()?;
            // CumQty(14) first: afterwards the fills that it counts are known.
            let what = |row: &Value| row["what"].as_str().unwrap_or_default().to_owned();
            let is_ours = |row: &Value| OURS.iter().any(|it| what(row).starts_with(it));
            let counts = |row: &&Value| what(row).contains("CumQty(14)") && !is_ours(row);
            let Some(row) = breaks.iter().find(counts).or(breaks.first()) else {
                return Ok(());
            };
            let number = row["break"].as_u64().ok_or_else(|| row.to_string())?;
            let event = format!("break {number}: ");
            // The break may be closed in the meantime.
            let is_open = |day: &Self| -> Result<bool, String> {
                let breaks = day.evening().breaks()?;
                Ok(breaks.iter().any(|it| it["break"] == row["break"]))
            };
            self.patiently(|day| match &day.oms {
                Some(oms) if oms.words().contains(&event) => Ok(()),
                _ if !is_open(day)? => Ok(()),
                _ => Err(format!("no event of {row}")),
            })?;
            if !is_open(self)? {
                continue;
            }
            let whose = if is_ours(row) { "ours" } else { "venue" };
            let told = self.floor.settle(number, whose);
            self.note(&format!("settle {row} {whose}: {told:?}"));
            told?;
            self.played.breaks += 1;
            self.next_word()?;
            std::thread::sleep(Duration::from_millis(200));
        }
        Err(format!(
            "breaks that do not end: {:?}",
            self.evening().breaks()?
        ))
    }
}
