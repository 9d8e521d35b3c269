//! One world, from its seed to agreement.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use fixwire::Engine;
use fixwire::config::{Connection, Durability, EngineConfig, Limits, SessionConfig, Wait};
use fixwire::host::sim::{SimHost, SimNet, Weather};
use fixwire::journal::sim::SimDisk;
use fixwire::journal::{Config as JournalConfig, JournalError, Retention};
use fixwire::protocol::dictionary::{Dictionary, Version};
use fixwire::protocol::session::{self, BeginString, Role};
use fixwire::protocol::{
    Application, Message, Mono, Nanos, Now, Outbox, Refusal, SessionId, Timestamp, tag,
};

use super::Tally;
use super::check::{self, reports_wanted};
use super::peer::{ENGINE_PORT, Manner, PORT, Peer};
use crate::random::Random;
use crate::wire::value;

/// Bytes of a journal segment: small, so that a few messages fill one.
const SEGMENT: usize = 28 << 10;
/// Steps in which both sides must have agreed after the last fault.
const PATIENCE: usize = 6_000;
const MILLI: u64 = 1_000_000;

/// Plays the world of a seed.
///
/// # Errors
///
/// The first thing that did not hold.
pub fn play(seed: u64) -> Result<Tally, String> {
    let mut world = World::new(seed);
    let result = world
        .trouble()
        .and_then(|()| world.agree())
        .and_then(|()| world.last_look());
    if result.is_err() && std::env::var_os("SIM_SHOW").is_some() {
        world.engine = None;
        check::print(&world.disk, world.journal);
    }
    result.map(|()| world.tally)
}

/// Answers orders with as many reports as their quantity says, and tells news when it is told to.
#[derive(Default)]
struct Answerer {
    news: u64,
    told: u64,
    text: usize,
    keeps_notes: bool,
    /// The orders that were handled, in this life and, by its notes, in those before.
    noted: Vec<Vec<u8>>,
}

impl Application for Answerer {
    fn on_message(
        &mut self,
        _now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let id = message.get(tag::CL_ORD_ID).unwrap_or_default();
        let quantity = match message.uint(tag::ORDER_QTY) {
            Some(Ok(quantity)) => quantity,
            _ => return Err(Refusal::ConditionallyRequiredFieldMissing(tag::ORDER_QTY)),
        };
        if self.keeps_notes {
            self.noted.push(id.to_vec());
            let _ = outbox.note(&[b"11=", id, b"\x01"].concat());
        }
        if quantity == 4 {
            return Err(Refusal::NotAuthorized);
        }
        for part in 1..=reports_wanted(quantity) {
            let mut body = outbox.begin(from, b"8");
            body.field(tag::CL_ORD_ID, id).uint(tag::LAST_SHARES, part);
            if let Some(text) = message.get(tag::TEXT) {
                body.field(tag::TEXT, text);
            }
            // One that does not fit would be missed by the checks.
            let _ = body.finish();
        }
        Ok(())
    }

    fn on_note(&mut self, _: Timestamp, note: &[u8]) {
        self.noted.extend(value(note, "11").map(<[u8]>::to_vec));
    }

    fn on_time(&mut self, _now: Now, outbox: &mut Outbox) -> Option<Mono> {
        while self.told < self.news {
            self.told += 1;
            let mut body = outbox.begin(SessionId(0), b"B");
            body.uint(tag::HEADLINE, self.told);
            body.field(tag::TEXT, &[b'n'; 512][..self.text]);
            let _ = body.finish();
        }
        None
    }
}

struct World {
    random: Random,
    net: SimNet,
    disk: SimDisk,
    config: EngineConfig,
    journal: JournalConfig,
    peer: Peer,
    engine: Option<Engine<Answerer, SimHost>>,
    /// The machine's number; a new one after each restart.
    node: u32,
    deaths: u64,
    orders: u64,
    text: usize,
    steps_clock: bool,
    keeps_notes: bool,
    tally: Tally,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let weather = Weather {
            splits: random.below(2) == 0,
            cuts: random.below(2) == 0,
            room: [128, 700, 4_096, 65_536][random.below(4) as usize],
        };
        let net = SimNet::new(random.below(u64::MAX), weather);
        let disk = SimDisk::new();
        let durability = match random.below(3) {
            0 => Durability::Process,
            _ => Durability::Disk,
        };
        if random.below(2) == 0 {
            disk.write_back(1 + random.below(u64::MAX - 1));
        }
        let steps_clock = random.below(8) == 0;
        let dials = random.below(2) == 0;
        let mut config = config(durability, dials, steps_clock);
        // Recovery begins with a checkpoint once a reset has retired the segments before it.
        config.retention = (random.below(2) == 0).then(Retention::default);
        Self {
            peer: Peer::new(dials, &net),
            net,
            disk,
            journal: JournalConfig {
                segment_bytes: SEGMENT,
                synced_before_sent: durability == Durability::Disk,
                ..JournalConfig::default()
            },
            config,
            engine: None,
            node: 0,
            deaths: 1 + random.below(4),
            orders: 4 + random.below(16),
            text: [1, 40, 400][random.below(3) as usize],
            steps_clock,
            keeps_notes: random.below(2) == 0,
            tally: Tally::default(),
            random,
        }
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.random.below(one_in) == 0
    }

    /// Starts the engine; it may die doing so.
    fn start(&mut self) -> Result<(), String> {
        self.node += 1;
        let host = SimHost::new(self.node, &self.net, &self.disk);
        let app = Answerer {
            text: self.text,
            keeps_notes: self.keeps_notes,
            ..Answerer::default()
        };
        let noted = check::noted(&self.disk, self.journal).unwrap_or_default();
        match Engine::with_host(self.config.clone(), app, host) {
            Ok(mut engine) => {
                if self.net.connections(self.node) > 0 {
                    return Err("A14: recovery opened a connection".into());
                }
                if engine.application_mut().noted != noted {
                    return Err("A4: the application got other notes than the journal has".into());
                }
                self.engine = Some(engine);
                Ok(())
            }
            Err(error) => self.died(&error),
        }
    }

    /// The part of the world in which things go wrong.
    fn trouble(&mut self) -> Result<(), String> {
        self.plan();
        self.start()?;
        let mut steps = 0;
        while self.deaths > 0 || self.orders > 0 {
            steps += 1;
            if steps > 4_000 {
                break;
            }
            self.act();
            self.weather();
            self.step(true)?;
        }
        Ok(())
    }

    /// Chooses the next point of death.
    fn plan(&mut self) {
        if self.deaths == 0 {
            return;
        }
        match self.random.below(12) {
            0 if self.config.durability == Durability::Disk => {
                self.disk.fail_sync(self.random.below(20));
            }
            1 => self.disk.set_room(Some(self.random.below(2) as u32)),
            _ => {
                let most = [20, 100, 400][self.random.below(3) as usize];
                self.disk.stop_after(self.random.below(most));
            }
        }
    }

    /// What the peer and the application do of their own will.
    fn act(&mut self) {
        if self.orders > 0 && self.peer.logged_on && self.chance(2) {
            self.orders -= 1;
            self.tally.orders += 1;
            let manner = match self.random.below(12) {
                0 => Manner::Lost,
                1 => Manner::Garbled,
                _ => Manner::Plain,
            };
            let quantity = 1 + self.random.below(4);
            let text = 1 + self.random.below(self.text as u64) as usize;
            self.peer.order(quantity, text, manner);
        }
        match self.random.below(80) {
            0..4 => {
                let draw = self.random.below(1 << 20);
                self.peer.repeat(draw);
            }
            4 => self.peer.provoke(),
            5 if self.peer.dials() && self.chance(4) => {
                self.tally.sequence_resets += 1;
                self.peer.wants_reset = true;
                self.peer.end(&self.net);
            }
            6..10 => {
                if let Some(engine) = &mut self.engine {
                    engine.application_mut().news += 1;
                }
            }
            _ => {}
        }
    }

    /// What the network and the clock do.
    fn weather(&mut self) {
        if let Some(conn) = self.peer.conn() {
            match self.random.below(120) {
                0 => {
                    self.tally.resets += 1;
                    self.net.reset(conn);
                }
                1..3 => {
                    self.tally.silences += 1;
                    let time = Nanos(self.random.below(40_000) * MILLI);
                    let end = fixwire::host::ConnId(conn.0 ^ self.random.below(2) as u32);
                    self.net.silence(end, time);
                }
                _ => {}
            }
        }
        if self.steps_clock && self.chance(40) {
            self.tally.clock_steps += 1;
            let day = 86_400_000_000_000;
            let step = if self.chance(2) { day } else { -day };
            self.net.step_wall(step);
        }
        let time = match self.random.below(40) {
            0 => 1_000 * (1 + self.random.below(10)),
            1..6 => 100,
            _ => 1 + self.random.below(5),
        };
        self.net.advance(Nanos(time * MILLI));
    }

    /// One turn of everybody.
    fn step(&mut self, mortal: bool) -> Result<(), String> {
        self.peer.step(&self.net)?;
        let Some(engine) = &mut self.engine else {
            return self.start();
        };
        let turned = engine.turn();
        if self.net.bytes_after_failed_sync() > 0 {
            return Err("A10: bytes were sent after a sync had failed".into());
        }
        match turned {
            Err(error) => self.died(&error),
            Ok(_) if self.disk.has_stopped() => self.died("it stopped"),
            Ok(_) if mortal || !engine.is_done() => Ok(()),
            Ok(_) => Err("the engine ended by itself".into()),
        }
    }

    /// The machine has stopped, or the engine has given up: looks at what is left and starts again.
    fn died(&mut self, why: impl ToString) -> Result<(), String> {
        let why = why.to_string();
        self.engine = None;
        let mut power = self.config.durability == Durability::Disk && self.chance(2);
        if self.disk.sync_has_failed() {
            self.tally.failed_syncs += 1;
            power = self.chance(2);
        } else if self.disk.has_stopped() {
            self.tally.kills += u64::from(!power);
            self.tally.power_cuts += u64::from(power);
        } else if why.contains(FULL) {
            self.tally.full_disks += 1;
            power = false;
        } else {
            return Err(format!("the engine ended: {why}"));
        }
        if std::env::var_os("SIM_SHOW").is_some() {
            println!("          died: {why}, power {power}");
        }
        self.disk.set_room(None);
        self.end(power);
        self.net.crash(self.node, power);
        self.deaths = self.deaths.saturating_sub(1);
        // What still travels arrives before anybody looks.
        self.peer.step(&self.net)?;
        self.look(power)?;
        self.plan();
        Ok(())
    }

    fn end(&mut self, power: bool) {
        if power {
            let random = &mut self.random;
            self.disk
                .cut_power(|choices| random.below(choices as u64) as usize);
        } else {
            self.disk.end_process();
        }
    }

    /// Judges the journal that a dead engine has left, and dies a few times more while recovering.
    fn look(&mut self, power: bool) -> Result<(), String> {
        let refused = |error: JournalError| format!("recovery after a crash: {error}");
        let before = check::image(&self.disk, self.journal).map_err(refused)?;
        for _ in 0..self.random.below(3) {
            self.disk.stop_after(self.random.below(12));
            self.node += 1;
            let host = SimHost::new(self.node, &self.net, &self.disk);
            let started = Engine::with_host(self.config.clone(), Answerer::default(), host);
            if self.disk.has_stopped() {
                self.tally.nested += 1;
            } else if let Err(error) = started {
                return Err(format!("A14: recovery: {error}"));
            }
            drop(started);
            self.net.crash(self.node, false);
            self.end(power);
            let after = check::image(&self.disk, self.journal).map_err(refused)?;
            if (after.records, after.counters) != (before.records.clone(), before.counters) {
                return Err("A14: a crash while recovering changed the journal".into());
            }
        }
        check::journal(
            &self.disk,
            self.journal,
            &self.peer,
            self.keeps_notes,
            false,
        )?;
        if self.chance(3) {
            self.tally.damages += 1;
            check::damage(&self.disk, self.journal, &mut self.random)?;
        }
        Ok(())
    }

    /// Nothing goes wrong any more: both sides come to the same numbers.
    fn agree(&mut self) -> Result<(), String> {
        self.disk.end_process();
        self.disk.set_room(None);
        self.deaths = 0;
        self.net.set_weather(Weather {
            splits: false,
            cuts: false,
            room: 65_536,
        });
        for _ in 0..PATIENCE {
            self.net.advance(Nanos(20 * MILLI));
            self.step(false)?;
            if self.agrees() {
                return Ok(());
            }
        }
        let state = self.engine.as_ref().and_then(|engine| {
            engine.sessions().next().map(|session| {
                let (name, next_in, next_out) =
                    (session.logged_on, session.next_in, session.next_out);
                format!("logged on {name}, next in {next_in}, next out {next_out}")
            })
        });
        Err(format!(
            "A3: no agreement: the engine is {state:?}, the peer: logged on {}, next in {}, next out {}",
            self.peer.logged_on, self.peer.next_in, self.peer.next_out
        ))
    }

    fn agrees(&self) -> bool {
        let session = self
            .engine
            .as_ref()
            .and_then(|engine| engine.sessions().next());
        session.is_some_and(|session| {
            session.logged_on
                && self.peer.logged_on
                && self.peer.is_quiet()
                && session.next_in == self.peer.next_out
                && session.next_out == self.peer.next_in
        })
    }

    /// The journal at the end, and what the peer was told of its orders.
    fn last_look(&mut self) -> Result<(), String> {
        self.engine = None;
        self.disk.end_process();
        let counters =
            check::journal(&self.disk, self.journal, &self.peer, self.keeps_notes, true)?;
        if (counters.next_in, counters.next_out) != (self.peer.next_out, self.peer.next_in) {
            return Err(format!("the journal ends with {counters:?}"));
        }
        for id in self.peer.current_orders() {
            let quantity = self.peer.orders.get(id).copied().unwrap_or_default();
            let came = self.peer.reports.get(id).copied().unwrap_or_default();
            if came != reports_wanted(quantity) {
                return Err(format!(
                    "A4: the peer has {came} reports for {id} of {quantity}"
                ));
            }
        }
        let segments = (1..)
            .take_while(|&number| self.disk.read(number).is_some())
            .count();
        self.tally.rolls = segments.saturating_sub(1) as u64;
        self.tally.worlds = 1;
        Ok(())
    }
}

/// What the system says when the disk is full.
const FULL: &str = "no storage space";

fn config(durability: Durability, peer_dials: bool, steps_clock: bool) -> EngineConfig {
    static DICTIONARY: OnceLock<Arc<Dictionary>> = OnceLock::new();
    let dictionary = DICTIONARY.get_or_init(|| Arc::new(Dictionary::built_in(Version::Fix42)));
    let (role, connection) = if peer_dials {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, ENGINE_PORT));
        (Role::Acceptor, Connection::Acceptor { listen })
    } else {
        let connection = Connection::Initiator {
            hosts: vec![("peer".to_owned(), PORT)],
            reconnect: vec![Duration::from_millis(50)],
            timeout: Duration::from_secs(5),
        };
        (Role::Initiator, connection)
    };
    let mut fix = session::Config::new(BeginString::Fix42, role, b"ENGINE", b"PEER");
    // Silences here are longer than any patience, and the peer counts requests: one for each gap.
    fix.limits.resend_patience = Nanos(u64::MAX);
    fix.dictionary = Some(Arc::clone(dictionary));
    if steps_clock {
        fix.max_latency = None;
    }
    EngineConfig {
        durability,
        wait: Wait::Spin,
        segment_bytes: SEGMENT,
        max_message: 1024,
        max_fields: 64,
        read_buffer: 2048,
        limits: Limits {
            pending: 4,
            pending_per_address: 4,
            logon_bytes: 512,
            outbox_bytes: 4096,
            outbox_messages: 32,
            replay_per_turn: 3,
            ..Limits::default()
        },
        sessions: vec![SessionConfig::new("ENGINE->PEER", fix, connection)],
        ..EngineConfig::default()
    }
}
