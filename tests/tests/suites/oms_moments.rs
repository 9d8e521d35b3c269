//! Does an OMS lose, double or mix up anything when it or its exchange is killed at the very moment of something rare?
//!
//! `fixwire client`, `fixwire run oms.toml` and `fixwire sim` trade. Four worlds run at once; each repeats one event:
//! the roll of a trading day; a trade that the exchange cancels or corrects; a command of an operator that is refused,
//! for a missing right or another reason; or a cancel of an order that cannot go out or whose order is not answered
//! yet. Up to 4 ms later the OMS or the exchange is ended by SIGKILL, often before the answer. After each kill and the
//! start that follows it
//!
//! * orders, positions and reservations of the OMS agree with the exchange's own book, and no break is open;
//! * the client has the same state, and each of its requests has one answer; no request reached the exchange twice;
//! * a refused command has changed no limit and no kill switch, and its refusal, once answered, is in the journal.
//!
//! `OMS_MOMENTS` is the number of kills of each kind (25), `FIXWIRE_SEED` repeats the moments.

use fixwire::control::{Asked, Client, ClientError, ControlQuestion, Place};
use fixwire::journal::{DumpFilter, DumpFormat, dump};
use fixwire_rigs::oms::books::agree;
use fixwire_rigs::oms::evening::Evening;
use fixwire_rigs::oms::floor::{ACCOUNTS, Floor, SYMBOLS, date};
use fixwire_rigs::oms::trader::Trader;
use fixwire_rigs::oms::venue;
use fixwire_rigs::random::{Random, seed};
use fixwire_rigs::server::{Server, scratch};
use fixwire_rigs::trade::PATIENCE;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

const CLIENT: &str = "CLIENT";
const LINES: [(&str, &str); 2] = [("LINE1", "FIX.4.4"), ("LINE2", "FIX.4.2")];
/// The latest moment of a death after its event, in microseconds.
const LATEST: u64 = 4_000;
/// The kills until a new world begins: a trading day may not be far ahead.
const KILLS_PER_LIFE: u64 = 25;
/// The state of an order of the day before whose end the venue has not confirmed.
const LAPSED: &str = "closed here, not confirmed by the venue";
/// Rights of the operator who runs this: without `kill` and `arm`.
const RIGHTS: &str = "\"read\", \"limit\", \"roll\", \"settle\", \"market\"";

/// The moments around which a process is killed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Moment {
    Roll,
    TradeChange,
    Refusal,
    HeldCancel,
}
const MOMENTS: [Moment; 4] = [
    Moment::Roll,
    Moment::TradeChange,
    Moment::Refusal,
    Moment::HeldCancel,
];

#[test]
fn kills_around_rare_moments_leave_all_in_agreement() -> Result<(), String> {
    let text = std::env::var("OMS_MOMENTS").ok();
    let kills: u64 = text.and_then(|text| text.parse().ok()).unwrap_or(25);
    let seed = seed();
    let played: Vec<Result<u64, String>> = thread::scope(|scope| {
        let worlds: Vec<_> = MOMENTS
            .iter()
            .map(|moment| scope.spawn(move || play(*moment, kills, seed)))
            .collect();
        let joined = worlds.into_iter().map(|world| world.join());
        joined
            .map(|end| end.unwrap_or_else(|_| Err("a world panicked".into())))
            .collect()
    });
    let faults: Vec<String> = played.iter().filter_map(|it| it.clone().err()).collect();
    let early: u64 = played.iter().flatten().sum();
    match (faults.is_empty(), early) {
        (false, _) => Err(format!("FIXWIRE_SEED={seed}: {}", faults.join("\n\n"))),
        (true, 0) => Err("no kill came before the answer to a command".into()),
        (true, _) => Ok(()),
    }
}

/// Plays one world; returns the number of kills before the answer.
fn play(moment: Moment, kills: u64, seed: u64) -> Result<u64, String> {
    let mut random = Random::new(seed ^ moment as u64);
    let (mut unanswered, mut requests) = (0, 0);
    let mut left = kills;
    while left > 0 {
        let share = left.min(KILLS_PER_LIFE);
        let mut life = Life::begin(moment, &mut random)?;
        for kill in 1..=share {
            let died = life.around().and_then(|()| life.settles());
            died.map_err(|fault| {
                let words = life.oms.as_ref().map(Server::last_words);
                let at = kills - left + kill;
                let words = words.unwrap_or_default();
                format!("{moment:?}, kill {at}: {fault}\nOMS: {words}")
            })?;
        }
        left -= share;
        unanswered += life.unanswered;
        requests += life.evening().heard()?.requests();
    }
    println!(
        "{kills} kills around {moment:?}, {unanswered} of them before the answer, {requests} requests; nothing lost, \
         doubled or mixed up; seed {seed}"
    );
    match requests {
        0 => Err(format!("{moment:?}: the client has asked for nothing")),
        _ => Ok(unanswered),
    }
}

/// The processes of one world.
struct Life<'r> {
    moment: Moment,
    floor: Floor,
    random: &'r mut Random,
    client: Trader,
    oms: Option<Server>,
    sim: Option<Server>,
    /// Kills, and those before the answer.
    kills: u64,
    unanswered: u64,
    /// Limits before the refused commands.
    limits: Vec<Value>,
    /// Reasons of the answered refusals.
    refused: Vec<String>,
}

impl<'r> Life<'r> {
    fn begin(moment: Moment, random: &'r mut Random) -> Result<Self, String> {
        let io = |error: std::io::Error| error.to_string();
        let folder = scratch(&format!("{moment:?}")).map_err(io)?;
        let floor = Floor::new(&folder, &[(CLIENT, "FIX.4.4")], &LINES)?;
        let settings = floor.client(CLIENT, "FIX.4.4")?;
        let mut text = fs::read_to_string(&floor.oms.settings).map_err(io)?;
        if moment == Moment::HeldCancel {
            // Orders wait for a line.
            text = text.replace("name = \"SIM\"\n", "name = \"SIM\"\nqueue = \"60s\"\n");
        }
        if moment == Moment::Refusal {
            text += &format!("[[operator]]\nuser = \"{}\"\nmay = [{RIGHTS}]\n", user()?);
        }
        fs::write(&floor.oms.settings, text).map_err(io)?;
        let sim = Some(floor.open()?);
        let oms = Some(floor.oms.start()?);
        let client = Trader::start(&floor.oms.binary, &settings, false)?;
        floor.wait_for_logons()?;
        let limits = floor.ask(&["limits"])?;
        Ok(Self {
            moment,
            floor,
            random,
            client,
            oms,
            sim,
            kills: 0,
            unanswered: 0,
            limits,
            refused: Vec::new(),
        })
    }

    fn evening(&self) -> Evening<'_> {
        Evening {
            floor: &self.floor,
            client: CLIENT,
        }
    }

    /// Some requests, then the world's event, and a kill.
    fn around(&mut self) -> Result<(), String> {
        self.kills += 1;
        for _ in 0..4 + self.random.below(8) {
            self.client.listen()?;
            if self.client.is_on {
                self.client.command(self.random)?;
            }
            thread::sleep(Duration::from_millis(self.random.below(8)));
        }
        match self.moment {
            Moment::Roll => {
                let day = format!("roll day={} cancel", date(self.kills));
                self.kill_around("oms", &day, false)?;
            }
            Moment::TradeChange => {
                let fills = venue::fills(&self.floor.tell_exchange("command", "fills")?);
                let at = self.random.below(fills.len() as u64) as usize;
                let command = match (fills.get(at), self.random.below(3)) {
                    (Some((id, quantity)), 0) => format!("correct {id} {quantity} @ 12.51"),
                    (Some((id, quantity)), 1) if *quantity > 1 => {
                        format!("correct {id} {}", quantity - 1)
                    }
                    (Some((id, _)), _) => format!("bust {id}"),
                    (None, _) => "fills".to_owned(),
                };
                let is_sim = self.random.below(2) == 0;
                self.kill_around("sim", &command, is_sim)?;
            }
            Moment::Refusal => {
                let account = ACCOUNTS[self.random.below(6) as usize];
                let command = match self.random.below(5) {
                    0 => "kill firm".to_owned(),
                    1 => format!("cancel account={account}"),
                    2 => "limit account=NOBODY RC6=5".to_owned(),
                    3 => "settle break=999 venue".to_owned(),
                    _ => "arm firm".to_owned(),
                };
                self.kill_around("oms", &command, false)?;
            }
            Moment::HeldCancel => self.held_cancel()?,
        }
        if self.sim.is_none() {
            self.sim = Some(self.floor.open()?);
        }
        if self.oms.is_none() {
            self.oms = Some(self.floor.oms.start()?);
        }
        self.floor.wait_for_logons()
    }

    /// Gives the OMS or the exchange a command, and kills one of them soon after.
    fn kill_around(&mut self, whom: &str, command: &str, is_sim: bool) -> Result<(), String> {
        let place = Place::in_store(&self.floor.store(whom));
        let deadline = Instant::now() + *PATIENCE;
        let mut control = loop {
            match Client::connect(&place.path, *PATIENCE) {
                Ok(control) => break control,
                Err(error) if Instant::now() > deadline => return Err(error.to_string()),
                Err(_) => thread::sleep(Duration::from_millis(10)),
            }
        };
        let why = format!("drill {}", self.kills);
        let asked = Asked {
            what: ControlQuestion::Command,
            why: Some(why.clone()),
            text: Some(command.to_owned()),
            ..Asked::default()
        };
        let pause = Duration::from_micros(self.random.below(LATEST));
        let victim = match is_sim {
            true => self.sim.take(),
            false => self.oms.take(),
        };
        let victim = victim.ok_or("nobody to kill")?;
        let answer = thread::scope(|scope| {
            let asks = scope.spawn(|| control.ask(&asked));
            thread::sleep(pause);
            let killed = victim.kill();
            let answer = asks
                .join()
                .map_err(|_| "the operator panicked".to_owned())?;
            killed.map(|()| answer)
        })?;
        let refused = matches!(answer, Err(ClientError::Refused(_)));
        self.unanswered += u64::from(answer.is_err() && !refused);
        match self.moment {
            Moment::Refusal if answer.is_ok() => Err(format!("{command} was carried out")),
            Moment::Refusal if refused => {
                self.refused.push(why);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Orders are cancelled while their lines are down, or before they are answered; then the OMS is killed.
    fn held_cancel(&mut self) -> Result<(), String> {
        let is_down = self.random.below(2) == 0;
        if is_down {
            self.sim.take().map(Server::kill).transpose()?;
        }
        for _ in 0..1 + self.random.below(3) {
            let (side, symbol) = (
                ["buy", "sell"][self.random.below(2) as usize],
                SYMBOLS[self.random.below(2) as usize],
            );
            let account = ACCOUNTS[self.random.below(6) as usize];
            if self.client.is_on && self.random.below(2) == 0 {
                let order = format!("new {side} 10 {symbol} @ 12.50 account {account}");
                self.client.tell(&order)?;
                self.client.tell("cancel last")?;
            } else if let (true, Some(order)) = (self.client.is_on, self.client.newest()) {
                let cancel = format!("cancel {order}");
                self.client.tell(&cancel)?;
            }
        }
        thread::sleep(Duration::from_micros(self.random.below(2 * LATEST)));
        self.oms.take().map(Server::kill).transpose()?;
        Ok(())
    }

    /// All messages on their way arrive; then all agree, and no break is open.
    fn settles(&mut self) -> Result<(), String> {
        let deadline = Instant::now() + *PATIENCE;
        loop {
            self.client.listen()?;
            match self.judge() {
                Ok(()) => return Ok(()),
                Err(fault) if Instant::now() > deadline => return Err(fault),
                Err(_) => {
                    self.cancel_lapsed();
                    thread::sleep(Duration::from_millis(100));
                }
            }
        }
    }

    fn judge(&self) -> Result<(), String> {
        self.evening().agree()?;
        let breaks = self.evening().breaks()?;
        if !breaks.is_empty() {
            return Err(format!("breaks after a kill: {breaks:?}"));
        }
        match self.moment {
            Moment::Roll | Moment::Refusal => {
                let clients = self.floor.clients(&[CLIENT])?;
                agree(&clients, &self.floor.books()?, &self.floor.exchange()?)?;
            }
            // Orders may end before they are sent.
            Moment::HeldCancel => {
                let exchange = self.floor.exchange()?;
                if let Some(id) = exchange.unanswered() {
                    return Err(format!("the exchange never answered {id}"));
                }
            }
            // Reports of cancelled trades are beyond these books.
            Moment::TradeChange => {}
        }
        if self.moment != Moment::Refusal {
            return Ok(());
        }
        let limits = self.floor.ask(&["limits"])?;
        if limits != self.limits {
            return Err(format!(
                "a refused command has made {limits:?} of {:?}",
                self.limits
            ));
        }
        let mut journal = Vec::new();
        let store = self.floor.store("oms");
        dump(
            &store,
            &DumpFilter::default(),
            &mut journal,
            DumpFormat::Json,
        )
        .map_err(|error| error.to_string())?;
        let journal = String::from_utf8_lossy(&journal);
        let is_kept = |why: &&String| journal.contains(&format!(": {why}: "));
        match self.refused.iter().find(|why| !is_kept(why)) {
            Some(why) => Err(format!("the journal does not have the refusal of {why}")),
            None => Ok(()),
        }
    }

    /// Cancels orders of the day before that the venue may still have, as operators do.
    fn cancel_lapsed(&self) {
        if self.moment != Moment::Roll {
            return;
        }
        let orders = self.floor.ask(&["orders", "--open"]).unwrap_or_default();
        let lapsed = orders.iter().filter(|order| order["state"] == LAPSED);
        let accounts: BTreeSet<&str> = lapsed.filter_map(|it| it["account"].as_str()).collect();
        for account in accounts {
            let scope = format!("account={account}");
            let _ = self.floor.tell(&["cancel", &scope, "--why", "a drill"]);
        }
    }
}

/// The name of the user who runs this.
fn user() -> Result<String, String> {
    let output = Command::new("id").arg("-un").output();
    let output = output.map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
