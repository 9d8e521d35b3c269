//! Does each of 100,000 orders keep its terms and the fields that it carries, when the OMS is killed again and again?
//!
//! `fixwire client` sends orders, replaces and cancels through `fixwire run oms.toml` to `fixwire sim`, as fast as they
//! are answered, with hundreds of them on their way. They carry random texts, Parties with their sub-ids, capacities, a
//! custom tag and data that looks like other fields. In some worlds client and lines have different FIX versions, so
//! that the OMS converts the fields. SIGKILL ends the OMS among these requests, after any number of them, and its
//! journal goes through many segments, each with a checkpoint; in the middle of a life an operator begins the next
//! trading day, and the OMS is killed at once. In the end
//!
//! * the client has sent each request as it was drawn, and each order is at the exchange once, with the terms and the
//!   fields that were drawn, or those that they are in the version of the line;
//! * so are replaces, and cancels of the OMS have the Parties of their order;
//! * each request has one answer at either end, and by its reports each order is the same for client and exchange;
//! * `oms orders` has the open orders, and the files of both days all orders, with the drawn fields.
//!
//! `OMS_KILLS` is the number of kills (60), each with 1,667 orders; `FIXWIRE_SEED` repeats what is drawn.

use fixwire_rigs::oms::carried::Versions;
use fixwire_rigs::oms::floor::{Floor, date};
use fixwire_rigs::oms::stream::{Stream, StreamCounts};
use fixwire_rigs::oms::trader::Trader;
use fixwire_rigs::oms::worlds;
use fixwire_rigs::random::{Random, seed};
use fixwire_rigs::server::{Server, scratch};
use fixwire_rigs::trade::PATIENCE;
use std::fs;
use std::time::{Duration, Instant};

/// Worlds at the same time: the versions of the client and of the lines.
const WORLDS: [World; 4] = [
    ("FIX.4.4", BOTH, Versions::Alike),
    ("FIX.5.0SP2", BOTH, Versions::Alike),
    ("FIX.4.2", BOTH, Versions::From42),
    ("FIX.4.4", OLD, Versions::Into42),
];
type World = (&'static str, [(&'static str, &'static str); 2], Versions);
const BOTH: [(&str, &str); 2] = [("LINE1", "FIX.4.4"), ("LINE2", "FIX.5.0SP2")];
const OLD: [(&str, &str); 2] = [("LINE1", "FIX.4.2"), ("LINE2", "FIX.4.2")];
const CLIENT: &str = "CLIENT";
/// New orders for each kill.
const ORDERS: u64 = 1_667;
/// After this number of kills the books are compared, and a new life begins.
const KILLS_PER_LIFE: u64 = 15;
/// Requests on their way at the same time.
const ON_THE_WAY: usize = 300;
/// The output of the client may lack answers: after this time without one, while logged on, it goes on.
const STALLED: Duration = Duration::from_secs(3);
/// Refusals of a second request to begin a trading day.
const HAS_ROLLED: [&str; 2] = [
    "a new trading day is already starting",
    "is the trading day already",
];
/// Nothing arrives any more.
const QUIET: Duration = Duration::from_millis(1_500);

#[test]
fn a_hundred_thousand_orders_keep_what_they_carry_over_kills_and_a_roll() -> Result<(), String> {
    let seed = seed();
    let played = worlds::at_once(&WORLDS, worlds::kills(60), seed, &play)?;
    let mut total = Played::default();
    for one in &played {
        total.add(one);
    }
    println!("{total:?}, all as drawn; seed {seed}");
    let StreamCounts {
        orders,
        fills,
        carried,
        open,
        ..
    } = total.counts;
    // Some are refused by the limits, or while no line is logged on.
    let is_most = carried.orders > orders * 9 / 10;
    let checkpoints = total.checkpoints;
    match [fills, carried.replaces, carried.cancels, open, checkpoints].contains(&0) {
        false if is_most => Ok(()),
        _ => Err(format!("too little was seen: {total:?}")),
    }
}

/// The counts of a world.
#[derive(Clone, Copy, Debug, Default)]
struct Played {
    kills: u64,
    rolls: u64,
    /// Checkpoints in the journals of the OMS.
    checkpoints: usize,
    counts: StreamCounts,
}

impl Played {
    fn add(&mut self, other: &Self) {
        self.kills += other.kills;
        self.rolls += other.rolls;
        self.checkpoints += other.checkpoints;
        self.counts.add(&other.counts);
    }
}

fn play(name: &str, world: World, kills: u64, mut random: Random) -> Result<Played, String> {
    let mut total = Played::default();
    while total.kills < kills {
        let share = (kills - total.kills).min(KILLS_PER_LIFE);
        let life = Life::begin(name, world, &mut random)?;
        let lived = life.pass(share);
        let lived =
            lived.map_err(|fault| format!("{name}, {world:?}, after {}: {fault}", total.kills))?;
        total.add(&lived);
    }
    Ok(total)
}

/// The three processes of one world.
struct Life<'r> {
    floor: Floor,
    random: &'r mut Random,
    stream: Stream,
    client: Trader,
    oms: Option<Server>,
    sim: Server,
    /// When the number of answers last rose or the client was logged off, and the number.
    heard: (Instant, usize),
    /// Requests whose answers the client's output does not have.
    missed: usize,
    /// The trading days: that of the start, and the one that an operator begins.
    days: [String; 2],
}

impl<'r> Life<'r> {
    fn begin(
        name: &str,
        (version, lines, versions): World,
        random: &'r mut Random,
    ) -> Result<Self, String> {
        let folder = scratch(name).map_err(|error| error.to_string())?;
        let floor = Floor::new(&folder, &[(CLIENT, version)], &lines)?;
        let settings = floor.client(CLIENT, version)?;
        let sim = floor.open()?;
        let oms = floor.oms.spawn()?;
        let client = Trader::start(&floor.oms.binary, &settings, false)?;
        floor.wait_for_logons()?;
        Ok(Self {
            floor,
            random,
            stream: Stream::new(versions),
            client,
            oms: Some(oms),
            sim,
            heard: (Instant::now(), 0),
            missed: 0,
            days: [date(0), date(1)],
        })
    }

    fn pass(mut self, kills: u64) -> Result<Played, String> {
        let lived = self.live(kills);
        lived.map_err(|fault| {
            let oms = self.oms.as_ref().map(Server::last_words);
            let (oms, sim) = (oms.unwrap_or_default(), self.sim.last_words());
            format!("{fault}\nOMS: {oms}\nexchange: {sim}")
        })
    }

    fn live(&mut self, kills: u64) -> Result<Played, String> {
        for kill in 0..kills {
            let moment = kill * ORDERS + self.random.below(ORDERS);
            self.trade(moment)?;
            if kill == kills / 2 {
                self.roll()?;
            }
            self.kill()?;
        }
        self.trade(kills * ORDERS)?;
        let counts = self.settle()?;
        Ok(Played {
            kills,
            rolls: 1,
            checkpoints: self.checkpoints()?,
            counts,
        })
    }

    /// Trades until the client has sent this number of new orders. However slow the machine is, answers come.
    fn trade(&mut self, orders: u64) -> Result<(), String> {
        let mut moved = Instant::now();
        while (self.stream.orders() as u64) < orders {
            if self.listen()? {
                moved = Instant::now();
            } else {
                std::thread::sleep(Duration::from_micros(200));
            }
            if self.client.is_on && self.heard.0.elapsed() > STALLED {
                self.missed += self.on_the_way();
                self.heard.0 = Instant::now();
            }
            while self.on_the_way() < ON_THE_WAY && (self.stream.orders() as u64) < orders {
                self.stream.give(&mut self.client, self.random)?;
            }
            if moved.elapsed() > *PATIENCE {
                let sent = self.stream.orders();
                return Err(format!("no more answers after {sent} orders"));
            }
        }
        Ok(())
    }

    /// Requests without an answer in the client's output.
    fn on_the_way(&self) -> usize {
        let answered = self.heard.1 + self.missed;
        self.stream.given().saturating_sub(answered)
    }

    /// Takes the client's output; returns whether there are more answers.
    fn listen(&mut self) -> Result<bool, String> {
        self.client.listen()?;
        let answered = self.client.answered();
        let is_more = answered > self.heard.1;
        if is_more || !self.client.is_on {
            self.heard = (Instant::now(), answered);
        }
        Ok(is_more)
    }

    /// Begins the next trading day. An OMS that is still starting does not answer yet, and one that is slow may have
    /// begun the day although its answer came too late.
    fn roll(&self) -> Result<(), String> {
        let deadline = Instant::now() + *PATIENCE;
        loop {
            match self.floor.roll(&self.days[1]) {
                Ok(_) => return Ok(()),
                Err(fault) if HAS_ROLLED.iter().any(|it| fault.contains(it)) => return Ok(()),
                Err(fault) if Instant::now() > deadline => return Err(fault),
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// The OMS is killed, and starts again.
    fn kill(&mut self) -> Result<(), String> {
        self.oms.take().map(Server::kill).transpose()?;
        self.oms = Some(self.floor.oms.spawn()?);
        Ok(())
    }

    /// All messages on their way arrive, and all agree. A fault must stay the same for a while: on a slow machine one
    /// comparison may take longer than that.
    fn settle(&mut self) -> Result<StreamCounts, String> {
        let (mut last, mut since) = (String::new(), Instant::now());
        loop {
            self.floor.wait_for_logons()?;
            let mut moved = Instant::now();
            while moved.elapsed() < QUIET {
                if self.listen()? {
                    moved = Instant::now();
                }
                std::thread::sleep(Duration::from_millis(50));
            }
            match self.judge() {
                Ok(counts) => return Ok(counts),
                Err(fault) if fault == last && since.elapsed() > *PATIENCE => return Err(fault),
                Err(fault) if fault == last => {}
                Err(fault) => (last, since) = (fault, Instant::now()),
            }
            self.floor.cancel_lapsed();
        }
    }

    fn judge(&self) -> Result<StreamCounts, String> {
        let clients = self.floor.clients(&[CLIENT])?;
        let [client] = &clients[..] else {
            return Err("no client".into());
        };
        let exchange = self.floor.exchange()?;
        self.stream
            .agree(&self.floor, client, &exchange, &self.days)
    }

    /// The checkpoints that the OMS keeps: the two newest.
    fn checkpoints(&self) -> Result<usize, String> {
        let files = fs::read_dir(self.floor.store("oms")).map_err(|error| error.to_string())?;
        let paths = files.filter_map(|file| Some(file.ok()?.path()));
        let paths = paths.filter(|it| it.extension().is_some_and(|it| it == "fwk"));
        Ok(paths.count())
    }
}
