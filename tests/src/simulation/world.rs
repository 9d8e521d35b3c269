//! One world, from its seed to agreement.

mod acts;

use std::sync::LazyLock;

use fixwire::config::{Durability, EngineConfig};
use fixwire::host::sim::{SimHost, SimNet, Weather};
use fixwire::journal::sim::SimDisk;
use fixwire::journal::{JournalConfig, JournalError, Retention, SequenceCounters};
use fixwire::protocol::Nanos;
use fixwire::{Engine, Handle, SessionStatus};

use super::Tally;
use super::answerer::{Answerer, SEGMENT, Speech, config, schedule, session};
use super::check::{self, crosses, reports_wanted};
use super::damage::damage;
use super::image::{Image, image};
use super::net;
use super::peer::{ENGINE_PORT, Identity, Peer};
use super::trouble::{self, MILLI};
use crate::random::Random;

/// Steps in which both sides must have agreed after the last fault.
const PATIENCE: usize = 6_000;
/// Steps for which both sides must agree.
const SETTLED: usize = 20;
/// The peers that a world can have.
const PEERS: [(&str, char, u16); 2] = [("PEER", 'O', 1001), ("OTHER", 'Q', 1002)];
/// With the variable `SIM_SHOW` a world is printed.
static SHOWN: LazyLock<bool> = LazyLock::new(|| std::env::var_os("SIM_SHOW").is_some());

/// Plays the world of a seed.
///
/// # Errors
///
/// The first invariant that did not hold.
pub fn play(seed: u64) -> Result<Tally, String> {
    let mut world = World::new(seed);
    let result = world
        .trouble()
        .and_then(|()| world.agree())
        .and_then(|()| world.last_look());
    if result.is_err() && *SHOWN {
        world.engine = None;
        check::print(&world.disk, world.journal);
    }
    result.map(|()| world.tally)
}

struct World {
    random: Random,
    net: SimNet,
    disk: SimDisk,
    config: EngineConfig,
    journal: JournalConfig,
    peers: Vec<Peer>,
    engine: Option<Engine<Answerer, SimHost, SimDisk>>,
    /// Two ways to send it commands.
    handles: Vec<Handle>,
    /// The machine's number; a new one after each restart.
    node: u32,
    deaths: u64,
    orders: u64,
    text: usize,
    steps_clock: bool,
    keeps_notes: bool,
    /// Whether it has more than one session of FIX 4.2 with orders.
    is_wide: bool,
    /// Whether its sessions have a schedule.
    is_scheduled: bool,
    /// The session whose sequence numbers the operator wants to reset.
    to_reset: Option<usize>,
    /// Whether that reset has happened.
    was_reset: bool,
    /// The operator stops the engine, to restart it.
    stopping: bool,
    /// Power was lost without a sync: the sides cannot agree any more.
    is_over: bool,
    tally: Tally,
}

impl World {
    /// One seed in four makes a world with a single session of FIX 4.2, without commands.
    fn new(seed: u64) -> Self {
        let is_wide = seed % 4 != 3;
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
        // Recovery begins with a checkpoint once a reset has retired the segments before it.
        let mut retention = (random.below(2) == 0).then(Retention::default);
        let deaths = 1 + random.below(4);
        let orders = 4 + random.below(16);
        let text = [1, 40, 400][random.below(3) as usize];
        let keeps_notes = random.below(2) == 0;
        let mut speech = Speech::Fix42;
        let mut dialling = vec![dials];
        let mut is_scheduled = false;
        if is_wide {
            speech = [Speech::Fix42, Speech::Fix44, Speech::Fix50][random.below(3) as usize];
            if random.below(2) == 0 {
                dialling.push(random.below(2) == 0);
            }
            if random.below(2) == 0 {
                disk.make_ahead(1 + random.below(u64::MAX - 1));
            }
            is_scheduled = random.below(4) == 0 && !steps_clock;
            if let Some(retention) = &mut retention {
                retention.keep =
                    [None, Some(Nanos(0)), Some(Nanos(500 * MILLI))][random.below(3) as usize];
                retention.compress = random.below(2) == 0;
            }
        }
        let peers: Vec<Peer> = PEERS
            .into_iter()
            .zip(dialling)
            .map(|((name, letter, port), dials)| {
                let identity = Identity {
                    name,
                    letter,
                    port,
                    engine_port: ENGINE_PORT,
                    begin: speech.begin(),
                };
                Peer::new(identity, dials, &net)
            })
            .collect();
        let session = |peer: &Peer| {
            let mut config = session(peer, speech, steps_clock || is_scheduled);
            config.schedule = is_scheduled.then(schedule);
            config
        };
        let sessions = peers.iter().map(session).collect();
        Self {
            peers,
            net,
            disk,
            journal: JournalConfig {
                segment_bytes: SEGMENT,
                synced_before_sent: durability == Durability::Disk,
                ..JournalConfig::default()
            },
            config: EngineConfig {
                retention,
                ..config(durability, sessions)
            },
            engine: None,
            handles: Vec::new(),
            node: 0,
            deaths,
            orders,
            text,
            steps_clock,
            keeps_notes,
            is_wide,
            is_scheduled,
            to_reset: None,
            was_reset: false,
            stopping: false,
            is_over: false,
            tally: Tally::default(),
            random,
        }
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.random.below(one_in) == 0
    }

    /// One of the peers.
    fn any_peer(&mut self) -> usize {
        match self.peers.len() {
            1 => 0,
            count => self.random.below(count as u64) as usize,
        }
    }

    fn image(&self) -> Result<Image, JournalError> {
        image(&self.disk, self.journal)
    }

    /// Starts the engine, which may die in the start.
    fn start(&mut self) -> Result<(), String> {
        self.node += 1;
        let host = SimHost::new(self.node, &self.net, &self.disk);
        let app = Answerer {
            sessions: self.peers.len() as u32,
            text: self.text,
            keeps_notes: self.keeps_notes,
            ..Answerer::default()
        };
        let noted = check::noted(&self.disk, self.journal, self.peers.len()).unwrap_or_default();
        match Engine::simulated(self.config.clone(), app, host) {
            Ok(mut engine) => {
                if self.net.connections(self.node) > 0 {
                    return Err("A14: recovery opened a connection".into());
                }
                if engine.application_mut().noted != noted {
                    return Err("A4: the application got other notes than the journal has".into());
                }
                self.handles = vec![engine.handle(), engine.handle()];
                self.engine = Some(engine);
                Ok(())
            }
            Err(error) => self.died(&error),
        }
    }

    /// The part of the world with faults.
    fn trouble(&mut self) -> Result<(), String> {
        self.plan();
        self.start()?;
        let mut steps = 0;
        while (self.deaths > 0 || self.orders > 0) && !self.is_over {
            steps += 1;
            if steps > 4_000 {
                break;
            }
            self.act();
            if self.is_wide {
                self.command();
            }
            self.weather();
            self.step(true)?;
        }
        Ok(())
    }

    /// One turn of the engine and all peers.
    fn step(&mut self, mortal: bool) -> Result<(), String> {
        for peer in &mut self.peers {
            peer.step(&self.net)?;
        }
        if self.engine.is_none() {
            return self.start();
        }
        self.turn(mortal)?;
        if self.reset() {
            self.turn(mortal)?;
        }
        Ok(())
    }

    /// One turn of the engine.
    fn turn(&mut self, mortal: bool) -> Result<(), String> {
        let Some(engine) = &mut self.engine else {
            return Ok(());
        };
        let turned = engine.turn();
        if self.net.bytes_after_failed_sync() > 0 {
            return Err("A10: bytes were sent after a sync had failed".into());
        }
        match turned {
            Err(error) => self.died(&error),
            Ok(_) if self.disk.has_stopped() => self.died("it stopped"),
            Ok(_) if !engine.is_done() => Ok(()),
            Ok(_) if self.stopping => self.stopped(),
            Ok(_) if mortal => Ok(()),
            Ok(_) => Err("the engine ended by itself".into()),
        }
    }

    /// The operator has stopped the engine, in good order.
    fn stopped(&mut self) -> Result<(), String> {
        self.engine = None;
        self.disk.end_process();
        self.net.crash(self.node, false);
        self.tally.stops += 1;
        for peer in &mut self.peers {
            peer.step(&self.net)?;
        }
        self.forget_commands();
        self.plan();
        self.judge(false).map(drop)
    }

    /// Commands die with the engine.
    fn forget_commands(&mut self) {
        self.handles.clear();
        self.to_reset = None;
        self.stopping = false;
        for peer in &mut self.peers {
            // A Logout may still be on its way.
            peer.provoked |= std::mem::take(&mut peer.stopping) && peer.conn().is_some();
        }
    }

    fn judge(&self, is_end: bool) -> Result<Vec<SequenceCounters>, String> {
        check::journal(
            &self.disk,
            self.journal,
            &self.peers,
            self.keeps_notes,
            is_end,
        )
    }

    /// The machine has stopped, or the engine has given up: judges its journal and starts again.
    fn died(&mut self, why: impl ToString) -> Result<(), String> {
        let why = why.to_string();
        self.engine = None;
        let one_in = match self.config.durability {
            Durability::Disk => Some(2),
            _ => self.is_wide.then_some(8),
        };
        let power =
            trouble::count_death(&mut self.random, &self.disk, one_in, &why, &mut self.tally)?;
        if *SHOWN {
            println!("          died: {why}, power {power}");
        }
        self.disk.set_room(None);
        let before = self.image().map_err(refused)?;
        self.end(power);
        self.net.crash(self.node, power);
        self.deaths = self.deaths.saturating_sub(1);
        if power && self.config.durability == Durability::Process {
            self.is_over = true;
            return self.lost_tail(&before);
        }
        // Messages still on their way arrive first.
        for peer in &mut self.peers {
            peer.step(&self.net)?;
        }
        self.forget_commands();
        self.look(power)?;
        self.plan();
        Ok(())
    }

    /// Power was lost without a sync before each message: the journal is refused, or lacks only its end, from a record
    /// on that no other record shows to be on the disk.
    fn lost_tail(&mut self, before: &Image) -> Result<(), String> {
        match self.image() {
            Ok(left) if before.begins_with(&left) => {
                let synced = before.spans.iter().map(|span| span.synced).max();
                let mut covered = before.spans.iter().filter(|span| Some(span.end) <= synced);
                if covered.any(|span| span.end > left.end) {
                    let kept = left.end;
                    return Err(format!("A1: synced up to {synced:?}, left up to {kept:?}"));
                }
                Ok(())
            }
            Ok(_) => Err("A9: after a loss of power the journal has other records".into()),
            Err(JournalError::Damaged(_)) => {
                self.tally.refused += 1;
                Ok(())
            }
            Err(error) => Err(refused(error)),
        }
    }

    fn end(&mut self, power: bool) {
        trouble::end(&mut self.random, &self.disk, power);
    }

    /// Judges the journal of a dead engine, and dies a few times more while recovering.
    fn look(&mut self, power: bool) -> Result<(), String> {
        let before = self.image().map_err(refused)?;
        for _ in 0..self.random.below(3) {
            self.disk.stop_after(self.random.below(12));
            self.node += 1;
            let host = SimHost::new(self.node, &self.net, &self.disk);
            let started = Engine::simulated(self.config.clone(), Answerer::default(), host);
            if self.disk.has_stopped() {
                self.tally.nested += 1;
            } else if let Err(error) = started {
                return Err(format!("A14: recovery: {error}"));
            }
            drop(started);
            self.net.crash(self.node, false);
            self.end(power);
            let after = self.image().map_err(refused)?;
            let counters = after.counters.starts_with(&before.counters);
            if after.records != before.records || !counters {
                return Err("A14: a crash while recovering changed the journal".into());
            }
        }
        self.judge(false)?;
        if self.chance(3) {
            self.tally.damages += 1;
            damage(&self.disk, self.journal, &mut self.random)?;
        }
        Ok(())
    }

    /// Faults end: both sides reach the same numbers.
    fn agree(&mut self) -> Result<(), String> {
        if self.is_over {
            return Ok(());
        }
        self.to_reset = None;
        self.disk.end_process();
        self.disk.set_room(None);
        self.deaths = 0;
        self.net.set_weather(Weather {
            splits: false,
            cuts: false,
            room: 65_536,
        });
        let mut steps = 0;
        for _ in 0..PATIENCE {
            self.net.advance(Nanos(20 * MILLI));
            self.step(false)?;
            // Numbers can be equal by chance while messages wait for their turn.
            steps = if self.agrees() { steps + 1 } else { 0 };
            if steps == SETTLED {
                return Ok(());
            }
        }
        let state = self.engine.as_ref().map(|engine| {
            let numbers =
                |session: SessionStatus<'_>| (session.logged_on, session.next_in, session.next_out);
            engine.sessions().map(numbers).collect::<Vec<_>>()
        });
        let peers: Vec<_> = self
            .peers
            .iter()
            .map(|peer| (peer.logged_on, peer.next_in, peer.next_out))
            .collect();
        Err(format!(
            "A3: no agreement: logged on, next in, next out: the engine is {state:?}, the peers {peers:?}"
        ))
    }

    fn agrees(&self) -> bool {
        let Some(engine) = &self.engine else {
            return false;
        };
        let mut pairs = engine.sessions().zip(&self.peers);
        !self.stopping
            && pairs.all(|(session, peer)| {
                session.logged_on
                    && peer.logged_on
                    && peer.is_quiet()
                    && net::nothing_travels(&self.net, peer.conn())
                    && session.next_in == peer.next_out
                    && session.next_out == peer.next_in
            })
    }

    /// The journal at the end, and the reports that the peers received about their orders.
    fn last_look(&mut self) -> Result<(), String> {
        self.tally.worlds = 1;
        if self.is_over {
            return Ok(());
        }
        self.engine = None;
        self.disk.end_process();
        let counters = self.judge(true)?;
        for (counters, peer) in counters.iter().zip(&self.peers) {
            if (counters.next_in, counters.next_out) != (peer.next_out, peer.next_in) {
                return Err(format!("the journal ends with {counters:?}"));
            }
        }
        for (at, peer) in self.peers.iter().enumerate() {
            let other = self.peers.get(1 - at);
            for id in peer.current_orders() {
                let quantity = peer.orders.get(id).copied().unwrap_or_default();
                let came = peer.reports.get(id).copied().unwrap_or_default();
                if came != reports_wanted(quantity) {
                    return Err(format!(
                        "A4: the peer has {came} reports for {id} of {quantity}"
                    ));
                }
                let told = other.and_then(|other| other.crossed.get(id)).copied();
                let wanted = u64::from(crosses(quantity));
                let may_be_void = other.is_some_and(|other| other.epoch > 0);
                if told.unwrap_or_default() != wanted && !may_be_void {
                    return Err(format!(
                        "A4: the other peer received {told:?} reports of {id} of {quantity}"
                    ));
                }
            }
        }
        if let Some(twice) = self
            .peers
            .iter()
            .flat_map(|peer| &peer.crossed)
            .find(|told| *told.1 > 1)
        {
            return Err(format!(
                "A4: the other peer received a report twice: {twice:?}"
            ));
        }
        let segments = (1..)
            .take_while(|&number| self.disk.read(number).is_some())
            .count();
        self.tally.rolls = segments.saturating_sub(1) as u64;
        Ok(())
    }
}

fn refused(error: JournalError) -> String {
    format!("recovery after a crash: {error}")
}
