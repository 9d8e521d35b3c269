//! One engine with an application on a simulated machine, together with the peers of its sessions.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fixwire_engine::host::sim::{SimHost, SimNet, Weather};
use fixwire_engine::journal::sim::SimDisk;
use fixwire_engine::protocol::{Application, Nanos, SessionId};
use fixwire_engine::{Engine, EngineConfig, Handle, Limits, Wait};
use fixwire_random::Random;

use crate::peer::Peer;
use crate::watched::{Look, Watched};

/// Duration of a turn, in nanoseconds.
const TURN: Nanos = Nanos(1_000_000);
/// Number of turns without any activity after which all messages count as exchanged.
const SETTLED: usize = 6;
/// Number of turns after which time runs faster. An initiator may wait before it connects.
const SLOW: usize = 300;
/// Number of turns within which all messages must be exchanged.
const PATIENCE: usize = 600;
/// Maximum length of a message, in bytes.
const LONGEST: usize = 16 << 10;

/// The engine of one application in a world of its own. The world has a network, a disk that loses what a real disk may
/// lose, and a [`Peer`] for each session. The world runs in turns and in one thread. The random numbers of the world
/// follow a seed, so that everything can be reproduced.
///
/// ```no_run
/// # use fixwire_engine::EngineConfig;
/// # use fixwire_engine::protocol::{Application, SessionId};
/// # use fixwire_harness::World;
/// # fn test<Desk: Application + Default + 'static>(config: EngineConfig) {
/// let client = SessionId(0);
/// let mut world = World::new(&config, 1, Desk::default);
/// world.settle().unwrap();
/// world.send(client, "D", "11=A1|55=MSFT|54=1|38=100|40=1|");
/// world.settle().unwrap();
/// world.kill();
/// world.settle().unwrap();
/// assert_eq!(world.peer(client).received().count(), 1);
/// # }
/// ```
pub struct World<A: Application> {
    config: EngineConfig,
    make: Box<dyn FnMut() -> A>,
    look: Option<Look<A>>,
    net: SimNet,
    disk: SimDisk,
    peers: Vec<Peer>,
    engine: Option<Engine<Watched<A>, SimHost, SimDisk>>,
    node: u32,
    random: Random,
    /// Everything that was sent and received, one line each.
    trace: Vec<String>,
    /// The states of the application before the present turn, in all processes.
    past: Vec<String>,
    /// The error with which the engine stopped.
    fault: Option<String>,
}

/// The events of a turn.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Turn {
    /// The engine runs.
    Alive,
    /// The process of the engine has ended with this error.
    Ended(String),
}

impl<A: Application> World<A> {
    /// A world with the sessions, the durability and the checks of this configuration. The engine is not started.
    /// `make` creates the application for each process. Sizes are small: messages may have at most 16 KiB.
    pub fn new(config: &EngineConfig, seed: u64, make: impl FnMut() -> A + 'static) -> Self {
        let mut random = Random::new(seed);
        let weather = Weather {
            splits: random.below(2) == 0,
            cuts: random.below(2) == 0,
            room: 64 << 10,
        };
        let net = SimNet::new(seed, weather);
        let sessions = config.sessions.iter();
        Self {
            config: small(config),
            make: Box::new(make),
            look: None,
            peers: sessions.map(|session| Peer::new(session, &net)).collect(),
            net,
            disk: SimDisk::new(),
            engine: None,
            node: 0,
            random,
            trace: Vec::new(),
            past: Vec::new(),
            fault: None,
        }
    }

    pub(crate) fn watch(&mut self, look: Option<Look<A>>) {
        self.look = look;
    }

    /// The disk of the engine.
    #[must_use]
    pub fn disk(&self) -> &SimDisk {
        &self.disk
    }

    /// The network.
    #[must_use]
    pub fn net(&self) -> &SimNet {
        &self.net
    }

    /// The counterparty of a session.
    ///
    /// # Panics
    ///
    /// If the session is unknown.
    pub fn peer(&mut self, session: SessionId) -> &mut Peer {
        &mut self.peers[session.0 as usize]
    }

    /// The counterparties of all sessions, in configuration order.
    #[must_use]
    pub fn peers(&self) -> &[Peer] {
        &self.peers
    }

    /// The application in the running process.
    pub fn application(&mut self) -> Option<&mut A> {
        Some(&mut self.engine.as_mut()?.application_mut().app)
    }

    /// A handle such as other threads of the running process would have.
    #[must_use]
    pub fn handle(&self) -> Option<Handle> {
        Some(self.engine.as_ref()?.handle())
    }

    /// Everything that the engine and its peers have sent to each other, one line each.
    #[must_use]
    pub fn trace(&self) -> &[String] {
        &self.trace
    }

    pub(crate) fn note(&mut self, what: &str) {
        self.trace.push(format!("-- {what}"));
    }

    pub(crate) fn watched(&mut self) -> Option<&mut Watched<A>> {
        Some(self.engine.as_mut()?.application_mut())
    }

    /// The states in which the application may be after a kill. The set has the states of this turn; after a power
    /// failure, all states so far.
    pub(crate) fn states(&mut self, power: bool) -> Vec<String> {
        let mut states = match power {
            true => self.past.clone(),
            false => Vec::new(),
        };
        if let Some(watched) = self.watched() {
            states.extend_from_slice(watched.states());
        }
        states
    }

    pub(crate) fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    pub(crate) fn app_and_peers(&mut self) -> Option<(&A, &[Peer])> {
        let app = &self.engine.as_mut()?.application_mut().app;
        Some((app, &self.peers))
    }

    /// Sends a message of a peer, with the fields in `body`, where `|` stands for SOH. Returns the MsgSeqNum of the
    /// message.
    ///
    /// # Panics
    ///
    /// If the session is unknown.
    pub fn send(&mut self, session: SessionId, msg_type: &str, body: &str) -> u64 {
        self.peer(session).send(msg_type, body)
    }

    /// Closes the connection of a peer, which connects again shortly after.
    ///
    /// # Panics
    ///
    /// If the session is unknown.
    pub fn disconnect(&mut self, session: SessionId) {
        let Self { net, peers, .. } = self;
        peers[session.0 as usize].disconnect(net);
    }

    /// Advances the time.
    pub fn pass(&mut self, time: Nanos) {
        self.net.advance(time);
    }

    /// Starts a process if none is running. The process may be killed at once by [`SimDisk::stop_after`].
    pub fn start(&mut self) -> Turn {
        if self.engine.is_some() {
            return Turn::Alive;
        }
        self.node += 1;
        let host = SimHost::new(self.node, &self.net, &self.disk);
        let app = Watched::new((self.make)(), self.look.clone(), self.disk.clone());
        let config = self.config.clone();
        match caught(|| Engine::simulated(config, app, host)) {
            Ok(Ok(engine)) => {
                self.note("the engine starts");
                self.engine = Some(engine);
                self.ended()
            }
            Ok(Err(error)) => Turn::Ended(error.to_string()),
            Err(panic) => Turn::Ended(panic),
        }
    }

    /// Plays one turn of the engine and of every peer. The engine is started if necessary. A panic ends its process.
    ///
    /// # Errors
    ///
    /// The engine's error.
    pub fn turn(&mut self) -> Result<Turn, String> {
        if let Turn::Ended(why) = self.start() {
            return Ok(Turn::Ended(why));
        }
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        self.net.advance(TURN);
        self.step_peers()?;
        let Some(engine) = &mut self.engine else {
            return Ok(Turn::Alive);
        };
        if self.look.is_some() {
            let past = engine.application_mut().begin_turn();
            self.past.extend(past);
        }
        Ok(match caught(|| engine.turn()) {
            Ok(Ok(_)) => self.ended(),
            Ok(Err(error)) => Turn::Ended(error.to_string()),
            Err(panic) => Turn::Ended(panic),
        })
    }

    fn ended(&self) -> Turn {
        if self.disk.has_stopped() {
            return Turn::Ended("its machine has stopped".to_owned());
        }
        match &self.engine {
            Some(engine) if engine.is_done() => Turn::Ended("it was stopped".to_owned()),
            _ => Turn::Alive,
        }
    }

    fn step_peers(&mut self) -> Result<(), String> {
        for peer in &mut self.peers {
            let stepped = peer.step(&self.net);
            self.trace.append(&mut peer.trace);
            stepped.map_err(|what| format!("{}: {what}", peer.session()))?;
        }
        Ok(())
    }

    /// Plays turns until all messages are exchanged. Then every peer is logged on, and both sides have received
    /// everything.
    ///
    /// # Errors
    ///
    /// The process has ended, or ten minutes of simulated time were not enough.
    pub fn settle(&mut self) -> Result<(), String> {
        match self.settle_or_end()? {
            Turn::Alive => Ok(()),
            Turn::Ended(why) => Err(format!("the engine ended: {why}")),
        }
    }

    pub(crate) fn settle_or_end(&mut self) -> Result<Turn, String> {
        let mut still = 0;
        for turn in 0..PATIENCE {
            if turn >= SLOW {
                self.net.advance(Nanos::from_secs(2));
            }
            if let Turn::Ended(why) = self.turn()? {
                return Ok(Turn::Ended(why));
            }
            still = if self.agrees() { still + 1 } else { 0 };
            if still == SETTLED {
                return Ok(Turn::Alive);
            }
        }
        Err(self.disagreement())
    }

    fn agrees(&self) -> bool {
        let Some(engine) = &self.engine else {
            return false;
        };
        engine.sessions().zip(&self.peers).all(|(session, peer)| {
            session.logged_on
                && peer.is_quiet()
                && (session.next_in, session.next_out) == (peer.next_out(), peer.next_in())
        })
    }

    fn disagreement(&self) -> String {
        let Some(engine) = &self.engine else {
            return "no engine is running".to_owned();
        };
        let sessions = engine.sessions().zip(&self.peers);
        let lines = sessions.map(|(session, peer)| {
            format!(
                "{} {}, next MsgSeqNum in {} out {}; its peer in {} out {}",
                session.name,
                session.state,
                session.next_in,
                session.next_out,
                peer.next_in(),
                peer.next_out()
            )
        });
        let lines: Vec<String> = lines.collect();
        format!("the sessions do not become idle: {}", lines.join("; "))
    }

    /// Kills the process, as `kill -9` does. Data that was stored survives.
    pub fn kill(&mut self) {
        self.note("kill -9");
        self.end(false);
        self.disk.end_process();
    }

    /// Cuts the power. Each sector that was not synced survives or is lost.
    pub fn cut_power(&mut self) {
        self.note("power cut");
        self.end(true);
        let Self { disk, random, .. } = self;
        disk.cut_power(|choices| random.below(choices as u64) as usize);
    }

    fn end(&mut self, power: bool) {
        self.net.crash(self.node, power);
        if let Some(mut engine) = self.engine.take() {
            let states = engine.application_mut().states();
            self.past.extend_from_slice(states);
        }
        // Data that is on its way still arrives.
        self.fault = self.step_peers().err();
    }
}

/// The result, or the text of a panic if there was one.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let told = |panic: Box<dyn Any + Send>| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        format!("panic: {}", text.unwrap_or("without a text"))
    };
    // What is left of the engine is dropped.
    catch_unwind(AssertUnwindSafe(work)).map_err(told)
}

/// The configuration of the same engine, made smaller for a small world.
fn small(config: &EngineConfig) -> EngineConfig {
    let limits = config.limits;
    EngineConfig {
        wait: Wait::Spin,
        core: None,
        segment_bytes: 512 << 10,
        max_message: config.max_message.min(LONGEST),
        max_fields: config.max_fields.min(1024),
        read_buffer: LONGEST,
        limits: Limits {
            logon_bytes: limits.logon_bytes.min(LONGEST),
            outbox_bytes: limits.outbox_bytes.min(4 * LONGEST),
            outbox_messages: limits.outbox_messages.min(1024),
            ..limits
        },
        logs: Vec::new(),
        ..config.clone()
    }
}

impl<A: Application> std::fmt::Debug for World<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").finish_non_exhaustive()
    }
}
