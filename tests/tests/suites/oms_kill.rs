//! Does an OMS lose, double or mix up anything when it, its client or its exchange is killed?
//!
//! `fixwire client`, `fixwire run oms.toml` and `fixwire sim` trade in FIX 4.2, 4.4 and 5.0 SP2: new orders that meet,
//! replaces, cancels and mass cancels that do not wait for their answers, and orders that the limits refuse. SIGKILL
//! ends each of them at random moments, also during a start, sometimes two at once, and each starts again; in some
//! worlds the exchange sends reports twice and out of order, in some the lines are TMP. In the end, by the journals of
//! client and exchange and by the OMS's answers to its operator:
//!
//! * no request reached the exchange twice, and each was answered once, at either end;
//! * a mass cancel was reported with the number of open orders, and none of them is open;
//! * in one world each order, replace and cancel at the exchange carries what the client's request carried: texts,
//!   capacities, Parties with their sub-ids and a custom tag; a cancel of the OMS has the Parties of its order;
//! * every order is the same in all three: state, quantity, price, filled, left, average price;
//! * positions follow from the orders, and add up to zero, since both sides of every trade are here;
//! * an account for which the kill switch was used has no open orders;
//! * a trading day that an operator began in the middle, when one of the three was killed, has begun: no order of the
//!   day before is open;
//! * a start after a clean stop, which is how the OMS sometimes ends, finds the state that the stop noted.
//!
//! `OMS_KILLS` is the number of kills (230), `FIXWIRE_SEED` repeats the moments.

use fixwire_rigs::oms::books::{Books, agree};
use fixwire_rigs::oms::carried::{self, CarriedCounts, Versions};
use fixwire_rigs::oms::dialogue::{Dialogue, Told};
use fixwire_rigs::oms::floor::{ACCOUNTS, Floor, TMP, date};
use fixwire_rigs::oms::trader::{ERRORS, Trader};
use fixwire_rigs::oms::worlds;
use fixwire_rigs::random::{Random, seed};
use fixwire_rigs::server::{Server, scratch};
use fixwire_rigs::trade::PATIENCE;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Worlds at the same time: the version of the client, the lines, and the exchange's fault in one report of ten.
const WORLDS: [World; 7] = [
    ("FIX.4.2", FIX_LINES, &[]),
    ("FIX.4.4", FIX_LINES, &[]),
    ("FIX.5.0SP2", FIX_LINES, &[]),
    ("FIX.4.4", FIX_LINES, &["reorder", "duplicate"]),
    ("FIX.4.4", TMP_LINES, &[]),
    // A TMP link keeps the order of its reports by their numbers.
    ("FIX.5.0SP2", TMP_LINES, &["duplicate"]),
    ("FIX.4.4", CARRYING_LINES, &["duplicate"]),
];
type World = (
    &'static str,
    [(&'static str, &'static str); 2],
    &'static [&'static str],
);
const FIX_LINES: [(&str, &str); 2] = [("LINE1", "FIX.4.4"), ("LINE2", "FIX.4.2")];
/// Lines whose versions have all fields that orders of this world carry.
const CARRYING_LINES: [(&str, &str); 2] = [("LINE1", "FIX.4.4"), ("LINE2", "FIX.5.0SP2")];
const TMP_LINES: [(&str, &str); 2] = [("LINE1", TMP), ("LINE2", TMP)];
/// After this number of deaths the books are compared, and a new world begins.
const DEATHS_PER_LIFE: u64 = 25;
/// Lives of a world that has not traded or carried enough, in addition to those of its kills.
const MORE_LIVES: u32 = 5;
/// The latest moment of a death, and the latest for a process that may not have started yet.
const LATEST: u64 = 1_500_000;
const EARLY: u64 = 40_000;
/// The time between two commands of the client.
const PACE: Duration = Duration::from_millis(4);
/// The account for which the kill switch is used, in the middle of a life.
const KILLED: &str = ACCOUNTS[5];
/// The event for a state that differs from the one noted at a clean stop.
const DIFFERS: &str = "give a state with hash";
const CLIENT: &str = "CLIENT";

#[test]
fn client_oms_and_exchange_agree_over_kills_of_each() -> Result<(), String> {
    let seed = seed();
    let played = worlds::at_once(&WORLDS, worlds::kills(230), seed, &play)?;
    let mut total = Played::default();
    for one in &played {
        if one.fills == 0 {
            return Err("a world has not traded".into());
        }
        total.add(one);
    }
    println!("{total:?}, nothing lost, doubled or mixed up; seed {seed}");
    match total {
        Played { changes: 0, .. } => Err("no request has changed an order".into()),
        Played { rolled: 0, .. } => Err("no trading day has begun with orders of another".into()),
        Played { carried, .. } if carried.lacks_some() => Err(format!(
            "orders, replaces or cancels have carried nothing: {carried:?}"
        )),
        Played { withdrawn: 0, .. } => Err("no mass cancel has met an open order".into()),
        _ => Ok(()),
    }
}

/// The counts of a world.
#[derive(Clone, Debug, Default)]
struct Played {
    /// Kills of client, OMS and exchange.
    deaths: [u64; 3],
    /// Clean stops of the OMS.
    stops: u64,
    /// Messages of the client.
    requests: usize,
    /// Messages that reached the exchange.
    sent: usize,
    /// Reports that reached the client.
    fills: usize,
    /// Replaces and cancels that were carried out.
    changes: usize,
    /// Mass cancels, and the orders cancelled by them.
    mass_cancels: usize,
    withdrawn: usize,
    /// Uses of the kill switch.
    switched: usize,
    /// Trading days that began with orders of the day before.
    rolled: usize,
    /// Requests with carried fields at the exchange.
    carried: CarriedCounts,
}

impl Played {
    fn add(&mut self, other: &Self) {
        for (mine, more) in self.deaths.iter_mut().zip(other.deaths) {
            *mine += more;
        }
        self.requests += other.requests;
        self.sent += other.sent;
        self.fills += other.fills;
        self.changes += other.changes;
        self.stops += other.stops;
        self.mass_cancels += other.mass_cancels;
        self.withdrawn += other.withdrawn;
        self.switched += other.switched;
        self.rolled += other.rolled;
        self.carried.orders += other.carried.orders;
        self.carried.replaces += other.carried.replaces;
        self.carried.cancels += other.carried.cancels;
    }
}

fn play(name: &str, world: World, kills: u64, mut random: Random) -> Result<Played, String> {
    let mut total = Played::default();
    let mut left = kills;
    // On a loaded machine a world may trade, or carry, nothing in so few lives: it has more of them.
    let mut more = MORE_LIVES;
    let carries = world.1 == CARRYING_LINES;
    let lacks = |total: &Played| total.fills == 0 || carries && total.carried.lacks_some();
    while left > 0 || (lacks(&total) && more > 0) {
        if left == 0 {
            (left, more) = (DEATHS_PER_LIFE, more - 1);
        }
        let deaths = left.min(DEATHS_PER_LIFE);
        left -= deaths;
        let life = Life::begin(name, world, &mut random);
        let lived = life.and_then(|life| life.pass(deaths));
        let lived = lived.map_err(|fault| {
            format!(
                "{name}, {world:?}, after {} kills or more: {fault}",
                kills.saturating_sub(left + deaths)
            )
        })?;
        total.add(&lived);
    }
    Ok(total)
}

/// The three processes of one world.
struct Life<'r> {
    floor: Floor,
    random: &'r mut Random,
    client: Option<Trader>,
    oms: Option<Server>,
    sim: Option<Server>,
    settings: PathBuf,
    deaths: [u64; 3],
    /// Clean stops of the OMS.
    stops: u64,
    /// Whether the client's version has mass cancels.
    has_mass: bool,
    /// The exchange's faults.
    faults: &'static [&'static str],
    /// Orders carry fields; those that were drawn.
    carries: bool,
    drawn: BTreeSet<String>,
    /// The last order of the account with the kill switch.
    last: Option<u64>,
    /// The last order before the new trading day.
    rolled: Option<u64>,
}

impl<'r> Life<'r> {
    fn begin(
        name: &str,
        (version, lines, faults): World,
        random: &'r mut Random,
    ) -> Result<Self, String> {
        let folder = scratch(name).map_err(|error| error.to_string())?;
        let floor = Floor::new(&folder, &[(CLIENT, version)], &lines)?;
        floor.set_faults(faults, 10)?;
        let mut life = Self {
            faults,
            carries: lines == CARRYING_LINES,
            drawn: BTreeSet::new(),
            settings: floor.client(CLIENT, version)?,
            floor,
            random,
            client: None,
            oms: None,
            sim: None,
            deaths: [0; 3],
            stops: 0,
            has_mass: version != "FIX.4.2",
            last: None,
            rolled: None,
        };
        life.start()?;
        Ok(life)
    }

    /// Starts the stopped processes, in any order.
    fn start(&mut self) -> Result<(), String> {
        let first = self.random.below(3);
        for at in 0..3 {
            match (first + at) % 3 {
                0 if self.client.is_none() => {
                    let (binary, settings) = (&self.floor.oms.binary, &self.settings);
                    self.client = Some(Trader::start(binary, settings, self.has_mass)?);
                }
                1 if self.oms.is_none() => self.oms = Some(self.floor.oms.spawn()?),
                2 if self.sim.is_none() => self.sim = Some(self.floor.open()?),
                _ => {}
            }
        }
        Ok(())
    }

    fn pass(mut self, deaths: u64) -> Result<Played, String> {
        while self.deaths.iter().sum::<u64>() < deaths {
            let is_early = self.random.below(4) == 0;
            let latest = if is_early { EARLY } else { LATEST };
            let moment = Duration::from_micros(self.random.below(latest));
            self.trade(moment)?;
            if self.last.is_none() && self.deaths.iter().sum::<u64>() > deaths / 2 {
                self.last = self.switch().ok();
            }
            if self.rolled.is_none() && self.deaths.iter().sum::<u64>() > deaths / 3 {
                self.rolled = self.floor.roll(&date(1)).ok();
            }
            self.kill()?;
            if self.random.below(5) == 0 {
                self.kill()?;
            }
            self.start()?;
            self.state_is_the_same()?;
        }
        let settled = self.settle();
        settled.map_err(|fault| {
            let said = |server: &Option<Server>| {
                let words = server.as_ref().map(Server::last_words);
                words.unwrap_or_default()
            };
            format!(
                "{fault}\nOMS: {}\nexchange: {}",
                said(&self.oms),
                said(&self.sim)
            )
        })
    }

    /// The client sends for this time, if it is logged on.
    fn trade(&mut self, time: Duration) -> Result<(), String> {
        let until = Instant::now() + time;
        while Instant::now() < until {
            self.command()
                .map_err(|fault| format!("{fault}: {}", self.client_errors()))?;
            std::thread::sleep(PACE.min(until.saturating_duration_since(Instant::now())));
        }
        Ok(())
    }

    /// Gives the client a command, if it is logged on.
    fn command(&mut self) -> Result<(), String> {
        let Some(client) = &mut self.client else {
            return Ok(());
        };
        client.listen()?;
        if client.is_on {
            if self.carries {
                let drawn = carried::draw(self.random, Versions::Alike);
                client.fields.clone_from(&drawn);
                self.drawn.insert(drawn);
            }
            client.command(self.random)?;
        }
        Ok(())
    }

    /// The end of the client's standard error stream.
    fn client_errors(&self) -> String {
        let text = std::fs::read_to_string(self.settings.with_file_name(ERRORS));
        let text = text.unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(3)..].join("; ")
    }

    /// One of the running processes is killed.
    fn kill(&mut self) -> Result<(), String> {
        // The OMS is in the middle of its work.
        let victim = [0, 1, 1, 2][self.random.below(4) as usize];
        let is_dead = match victim {
            0 => self.client.take().map(drop).is_none(),
            // The first one always: what was never killed has nothing else to show.
            1 if self.oms.is_some() && (self.stops == 0 || self.random.below(4) == 0) => {
                return self.stop();
            }
            1 => self.oms.take().map(Server::kill).transpose()?.is_none(),
            _ => self.sim.take().map(Server::kill).transpose()?.is_none(),
        };
        self.deaths[victim] += u64::from(!is_dead);
        Ok(())
    }

    /// The OMS ends cleanly, and notes the hash of its state.
    fn stop(&mut self) -> Result<(), String> {
        // A process that is still starting does not handle signals yet.
        self.oms_answers()?;
        self.oms
            .take()
            .map(|oms| oms.terminate(*PATIENCE))
            .transpose()?;
        self.stops += 1;
        Ok(())
    }

    fn oms_answers(&self) -> Result<(), String> {
        let deadline = Instant::now() + *PATIENCE;
        while let Err(fault) = self.floor.tell(&["status"]) {
            if Instant::now() > deadline {
                return Err(fault);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// No start has found a state that differs from the noted one.
    fn state_is_the_same(&self) -> Result<(), String> {
        for server in [&self.oms, &self.sim].into_iter().flatten() {
            if let Some(line) = server.words().lines().find(|line| line.contains(DIFFERS)) {
                return Err(line.to_owned());
            }
        }
        Ok(())
    }

    /// After one more clean stop the OMS has the same orders and positions.
    fn stays_the_same(&mut self) -> Result<(), String> {
        let books = self.books_at_rest()?;
        self.stop()?;
        self.start()?;
        self.oms_answers()?;
        let again = self.floor.books()?;
        self.state_is_the_same()?;
        match again == books {
            true => Ok(()),
            false => Err(format!("a clean stop makes {again:?} of {books:?}")),
        }
    }

    /// The books, when they have not changed for a second: a client that has just logged on may still send.
    fn books_at_rest(&self) -> Result<Books, String> {
        let deadline = Instant::now() + *PATIENCE;
        let mut books = self.floor.books()?;
        while Instant::now() < deadline {
            std::thread::sleep(Duration::from_secs(1));
            let again = self.floor.books()?;
            if again == books {
                return Ok(books);
            }
            books = again;
        }
        Err("the OMS never comes to rest".to_owned())
    }

    /// Uses the kill switch for an account, unless the OMS does not answer; returns the account's last order.
    fn switch(&self) -> Result<u64, String> {
        let scope = format!("account={KILLED}");
        self.floor.tell(&["kill", &scope, "--why", "a drill"])?;
        let orders = self.floor.ask(&["orders", "--account", KILLED])?;
        let numbers = orders.iter().filter_map(|order| order["order"].as_u64());
        Ok(numbers.max().unwrap_or(0))
    }

    /// No order of the day before is open, except good-till-cancelled ones.
    fn has_rolled(&self, client: &Dialogue) -> Result<(), String> {
        let Some(last) = self.rolled else {
            return Ok(());
        };
        let is_old = |told: &Told| told.order_id.parse::<u64>().is_ok_and(|it| it <= last);
        let is_left = |(id, told): &(&String, &Told)| {
            told.standing.state == "open" && is_old(told) && !client.lasting.contains(*id)
        };
        match client.orders.iter().find(is_left) {
            Some((id, told)) => Err(format!("{id} is open in the day after {last}: {told:?}")),
            None => Ok(()),
        }
    }

    /// The killed account has neither open nor new orders.
    fn stays_killed(&self, books: &Books) -> Result<(), String> {
        let Some(last) = self.last else {
            return Ok(());
        };
        let limits = self.floor.ask(&["limits"])?;
        let scope = format!("account={KILLED}");
        let is_killed = |row: &Value| row["scope"] == scope && row["trading"] == "killed";
        if !limits.iter().any(is_killed) {
            return Err(format!("{KILLED} trades again"));
        }
        let mut orders = books.orders.iter().filter(|it| it.1.account == KILLED);
        match orders.find(|(number, order)| **number > last || order.standing.state == "open") {
            Some(order) => Err(format!("{KILLED} was killed and has {order:?}")),
            None => Ok(()),
        }
    }

    /// All messages on their way arrive, and the three agree.
    fn settle(&mut self) -> Result<Played, String> {
        if !self.faults.is_empty() {
            // The exchange sends the messages it kept back at its next start.
            self.sim.take().map(Server::kill).transpose()?;
            self.floor.set_faults(&[], 0)?;
            self.start()?;
        }
        let deadline = Instant::now() + *PATIENCE;
        let played = loop {
            std::thread::sleep(Duration::from_millis(250));
            if let Some(client) = &mut self.client {
                client.listen()?;
            }
            match self.judge() {
                Ok(played) => break played,
                Err(fault) if Instant::now() > deadline => return Err(fault),
                Err(_) => self.floor.cancel_lapsed(),
            }
        };
        self.stays_the_same()?;
        for server in [self.oms.take(), self.sim.take()].into_iter().flatten() {
            server.terminate(*PATIENCE)?;
        }
        Ok(played)
    }

    fn judge(&self) -> Result<Played, String> {
        self.state_is_the_same()?;
        let clients = self.floor.clients(&[CLIENT])?;
        let exchange = self.floor.exchange()?;
        let books = self.floor.books()?;
        agree(&clients, &books, &exchange)?;
        self.stays_killed(&books)?;
        let [client] = &clients[..] else {
            return Err("no client".into());
        };
        self.has_rolled(client)?;
        let carried = match self.carries {
            true => carried::compare((&self.drawn, Versions::Alike), client, &exchange)?,
            false => CarriedCounts::default(),
        };
        Ok(Played {
            carried,
            deaths: self.deaths,
            stops: self.stops,
            switched: usize::from(self.last.is_some()),
            rolled: usize::from(self.rolled.is_some_and(|last| last > 0)),
            requests: client.requests(),
            sent: exchange.requests(),
            fills: client.fills,
            changes: client.changes,
            mass_cancels: client.mass_cancels(),
            withdrawn: client.withdrawn.len(),
        })
    }
}
