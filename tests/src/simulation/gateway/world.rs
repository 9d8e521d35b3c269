//! One world with a gateway, from its seed to agreement.

use std::sync::LazyLock;

use fixwire::Engine;
use fixwire::config::{Durability, EngineConfig};
use fixwire::host::sim::{SimHost, SimNet, Weather};
use fixwire::journal::sim::SimDisk;
use fixwire::journal::{FoldStep, JournalConfig, JournalError, Retention};
use fixwire::protocol::{Application, Nanos};
use fixwire_gateway::gateway::Reload;
use fixwire_gateway::{Gateway, GatewayContext, GatewaySession};
use fixwire_protocol::dictionary::Version;

use super::client::Client;
use super::judge::judge;
use super::venue::Venue;
use crate::random::Random;
use crate::simulation::Tally;
use crate::simulation::answerer::{SEGMENT, Speech, config, session};
use crate::simulation::check;
use crate::simulation::image::image;
use crate::simulation::net;
use crate::simulation::peer::{ENGINE_PORT, Identity, Peer};
use crate::simulation::trouble::{self, MILLI};

/// The number of steps in which all must have agreed after the last fault.
const PATIENCE: usize = 6_000;
/// Clients, then venues: name, letter of orders, port, version.
const PARTIES: [(&str, char, u16, Speech); 4] = [
    ("ANNA", 'A', 1001, Speech::Fix42),
    ("BERT", 'B', 1002, Speech::Fix42),
    ("FIRST", 'V', 1003, Speech::Fix44),
    ("SECOND", 'S', 1004, Speech::Fix42),
];
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
        .and_then(|()| judge(&world.clients, &world.venues, world.rules));
    if result.is_err() && *SHOWN {
        world.engine = None;
        check::print(&world.disk, world.journal);
    }
    world.tally.worlds = 1;
    result.map(|()| world.tally)
}

struct World {
    random: Random,
    /// Chooses the times of folds.
    folds: Random,
    net: SimNet,
    disk: SimDisk,
    config: EngineConfig,
    journal: JournalConfig,
    clients: Vec<Client>,
    venues: Vec<Venue>,
    engine: Option<Engine<Gateway, SimHost, SimDisk>>,
    node: u32,
    deaths: u64,
    requests: u64,
    /// The number of changes of the rules.
    rules: u64,
    /// The time for which the gateway holds messages for the second venue.
    live: Option<u64>,
    tally: Tally,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let weather = Weather {
            splits: random.below(2) == 0,
            cuts: random.below(2) == 0,
            room: [700, 4_096, 65_536][random.below(3) as usize],
        };
        let net = SimNet::new(random.below(u64::MAX), weather);
        let disk = SimDisk::new();
        let durability = match random.below(2) {
            0 => Durability::Process,
            _ => Durability::Disk,
        };
        if random.below(2) == 0 {
            disk.write_back(1 + random.below(u64::MAX - 1));
        }
        if random.below(2) == 0 {
            disk.make_ahead(1 + random.below(u64::MAX - 1));
        }
        let mut sessions = Vec::new();
        let mut peers = PARTIES.into_iter().map(|(name, letter, port, speech)| {
            let identity = Identity {
                name,
                letter,
                port,
                engine_port: ENGINE_PORT,
                begin: speech.begin(),
            };
            let peer = Peer::new(identity, random.below(2) == 0, &net);
            sessions.push(session(&peer, speech, false));
            peer
        });
        let clients = peers.by_ref().take(2).map(Client::new).collect();
        let venues = peers.zip(0..).map(|(peer, place)| Venue::new(peer, place));
        let venues = venues.collect();
        let mut config = config(durability, sessions);
        // Drawn separately, so that a seed always plays the same world.
        let mut folds = Random::new(!seed);
        if folds.below(2) == 0 {
            config.retention = Some(Retention {
                keep: Some(Nanos(folds.below(2_000) * MILLI)),
                resend: None,
                compress: folds.below(2) == 0,
            });
        }
        let more = [0, 0, 80][folds.below(3) as usize];
        config.limits.pending = 8;
        config.limits.pending_per_address = 8;
        Self {
            clients,
            venues,
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
            requests: 4 + random.below(24) + more,
            folds,
            rules: 0,
            live: [None, Some(5), Some(60)][random.below(3) as usize],
            tally: Tally::default(),
            random,
        }
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.random.below(one_in) == 0
    }

    fn peers(&mut self) -> impl Iterator<Item = &mut Peer> {
        let clients = self.clients.iter_mut().map(|client| &mut client.peer);
        clients.chain(self.venues.iter_mut().map(|venue| &mut venue.peer))
    }

    /// The file of the gateway.
    fn file(&self) -> String {
        let live = self.live.map_or(String::new(), |seconds| {
            format!("[target.SECOND]\ntime_to_live = '{seconds}s'\n")
        });
        let rules = super::rules(self.rules);
        format!("[gateway]\nmax_orders = 400\nmax_id = 16\n{live}{rules}")
    }

    /// The rules in the file, for a start or for a running gateway.
    fn read<T>(&self, read: impl FnOnce(&str, &GatewayContext<'_>) -> T) -> T {
        let sessions = PARTIES.map(|(name, _, _, speech)| GatewaySession {
            name,
            dictionary: speech.dictionary(),
            version: match speech {
                Speech::Fix44 => Version::Fix44,
                _ => Version::Fix42,
            },
            peer: name,
            resets: false,
        });
        let context = GatewayContext {
            sessions: &sessions,
            tables: &[],
            conversions: &[],
            hash_key: [7; 16],
        };
        read(&self.file(), &context)
    }

    fn gateway(&self) -> Gateway {
        let loaded = self.read(|file, context| Gateway::load(file, context, Box::new(|_| ())));
        loaded.unwrap_or_else(|mistakes| panic!("the rules are wrong: {mistakes:?}"))
    }

    fn start(&mut self) -> Result<(), String> {
        self.node += 1;
        let host = SimHost::new(self.node, &self.net, &self.disk);
        match Engine::simulated(self.config.clone(), self.gateway(), host) {
            Ok(engine) => {
                self.engine = Some(engine);
                self.compare()
            }
            Err(error) => self.died(&error),
        }
    }

    /// The gateway has the state that all notes ever written make.
    fn compare(&mut self) -> Result<(), String> {
        let mut ledger = self.gateway().ledger().ok_or("a gateway has a ledger")?;
        for (at, note) in check::all_notes(&self.disk, self.journal).map_err(|it| it.to_string())? {
            ledger.apply(at, &note);
        }
        let known = self
            .engine
            .as_mut()
            .map(|engine| engine.application_mut().state_hash());
        if known.is_some_and(|known| known != Some(ledger.hash())) {
            return Err("G5: a checkpoint and the notes behind it make another state".into());
        }
        Ok(())
    }

    /// Folds a little, as the background thread of an engine does.
    fn fold(&mut self) -> Result<(), String> {
        if self.folds.below(3) > 0 {
            return Ok(());
        }
        match self.disk.fold_step() {
            Some(Ok(FoldStep::Made { .. })) => self.tally.checkpoints += 1,
            Some(Err(error @ JournalError::StateDiffers { .. })) => {
                return Err(format!("G5: {error}"));
            }
            _ => {}
        }
        Ok(())
    }

    fn trouble(&mut self) -> Result<(), String> {
        self.plan();
        self.start()?;
        let mut steps = 0;
        while (self.deaths > 0 || self.requests > 0) && steps < 3_000 {
            steps += 1;
            self.act();
            let at = self.random.below(PARTIES.len() as u64) as usize;
            let conn = self.peers().nth(at).and_then(|peer| peer.conn());
            trouble::blow(&mut self.random, &self.net, conn, &mut self.tally);
            trouble::pass_time(&mut self.random, &self.net);
            self.step()?;
        }
        Ok(())
    }

    fn plan(&mut self) {
        if self.deaths > 0 {
            trouble::plan(&mut self.random, &self.disk, self.config.durability);
        }
    }

    /// Actions of clients and the owner of the gateway.
    fn act(&mut self) {
        let at = self.random.below(2) as usize;
        if self.requests > 0 && self.clients[at].peer.logged_on && self.chance(3) {
            self.requests -= 1;
            self.tally.orders += 1;
            let (quantity, kind) = (1 + self.random.below(9), self.random.below(6));
            let (venue, rules) = (self.random.below(2) as usize, self.rules);
            let client = &mut self.clients[at];
            let order = self.random.below(client.orders.len().max(1) as u64) as usize;
            match kind {
                0..2 if !client.orders.is_empty() => client.change(order, 'G', quantity, rules),
                2 if !client.orders.is_empty() => client.change(order, 'F', quantity, rules),
                _ => client.order(venue, quantity, rules),
            }
        }
        match self.random.below(200) {
            0..2 => {
                self.rules += 1;
                let mut new = self
                    .read(Reload::read)
                    .unwrap_or_else(|mistakes| panic!("the rules are wrong: {mistakes:?}"));
                if let Some(engine) = &mut self.engine {
                    let reloaded = engine.application_mut().reload(&mut new);
                    assert!(reloaded.is_ok(), "{reloaded:?}");
                    self.tally.commands += 1;
                }
            }
            2..5 => {
                // A venue or a client is away for some time.
                let at = self.random.below(PARTIES.len() as u64) as usize;
                let time = Nanos(self.random.below(20_000) * MILLI);
                let net = self.net.clone();
                if let Some(peer) = self.peers().nth(at) {
                    peer.stay_away(&net, time);
                }
            }
            _ => {}
        }
    }

    fn step(&mut self) -> Result<(), String> {
        self.step_parties()?;
        let Some(engine) = &mut self.engine else {
            return self.start();
        };
        let turned = engine.turn();
        self.fold()?;
        if self.net.bytes_after_failed_sync() > 0 {
            return Err("A10: bytes were sent after a sync had failed".into());
        }
        match turned {
            Err(error) => self.died(&error),
            Ok(_) if self.disk.has_stopped() => self.died("it stopped"),
            Ok(_) => Ok(()),
        }
    }

    fn step_parties(&mut self) -> Result<(), String> {
        for client in &mut self.clients {
            client.peer.step(&self.net)?;
            client.step()?;
        }
        for venue in &mut self.venues {
            venue.peer.step(&self.net)?;
            venue.step(&mut self.random)?;
        }
        Ok(())
    }

    fn died(&mut self, why: impl ToString) -> Result<(), String> {
        let why = why.to_string();
        self.engine = None;
        let one_in = (self.config.durability == Durability::Disk).then_some(2);
        let power =
            trouble::count_death(&mut self.random, &self.disk, one_in, &why, &mut self.tally)?;
        if *SHOWN {
            println!("          died: {why}, power {power}");
        }
        self.disk.set_room(None);
        trouble::end(&mut self.random, &self.disk, power);
        self.net.crash(self.node, power);
        self.deaths = self.deaths.saturating_sub(1);
        self.step_parties()?;
        image(&self.disk, self.journal)
            .map_err(|error| format!("recovery after a crash: {error}"))?;
        for _ in 0..self.random.below(2) {
            self.disk.stop_after(self.random.below(12));
            self.node += 1;
            let host = SimHost::new(self.node, &self.net, &self.disk);
            let started = Engine::simulated(self.config.clone(), self.gateway(), host);
            self.tally.nested += u64::from(self.disk.has_stopped());
            drop(started);
            self.net.crash(self.node, false);
            trouble::end(&mut self.random, &self.disk, power);
        }
        self.plan();
        Ok(())
    }

    /// Faults end: all sides reach the same sequence numbers, and no message is held.
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
            self.step()?;
            if self.agrees() {
                return Ok(());
            }
        }
        let state = self.engine.as_ref().map(|engine| {
            let numbers = engine
                .sessions()
                .map(|session| (session.logged_on, session.next_in, session.next_out));
            numbers.collect::<Vec<_>>()
        });
        Err(format!("G1: no agreement: {state:?}"))
    }

    fn agrees(&mut self) -> bool {
        let Some(engine) = &mut self.engine else {
            return false;
        };
        if engine.application_mut().held().count() > 0 {
            return false;
        }
        let clients = self.clients.iter().map(|client| &client.peer);
        let peers = clients.chain(self.venues.iter().map(|venue| &venue.peer));
        engine.sessions().zip(peers).all(|(session, peer)| {
            session.logged_on
                && peer.logged_on
                && peer.is_quiet()
                && net::nothing_travels(&self.net, peer.conn())
                && session.next_in == peer.next_out
                && session.next_out == peer.next_in
        })
    }
}
