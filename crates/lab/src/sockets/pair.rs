//! Two connected engines: ours at both ends, or ours against another engine.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::{Duration, Instant};

use fixwire::host::Os;
use fixwire::{
    Connection, Durability, Engine, EngineConfig, Event, Handle, Host, SendError, SessionConfig,
    Wait,
};
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::session::{BeginString, Config, Role};
use fixwire_protocol::{Application, Dictionary};
use fixwire_stamps::clock::Clock;

use crate::error::{Error, engine_error};
use crate::load::{Load, Pace, RunState};
use crate::machine::counts::EngineThread;
use crate::report::Run;
use crate::sockets::arena::{Arena, PATIENCE, Task};
use crate::sockets::push::Pushed;
use crate::sockets::trader::Trader;
use crate::stages::marks::{MarkingHost, PairMarks};
use crate::stages::own_work::OwnWork;
use crate::stages::{StagedOrder, Stages};

/// Settings of the two ends.
#[derive(Clone, Debug)]
pub struct PairConfig {
    /// An external acceptor; `None` for ours.
    pub peer: Option<(String, u16)>,
    /// CompID of the end that sends orders.
    pub initiator: String,
    /// CompID of the end that answers.
    pub acceptor: String,
    /// FIX version of each session. From the second session on, the CompIDs end in the session's number.
    pub sessions: Vec<Version>,
    /// Durability of a message before it is sent.
    pub durability: Durability,
    /// Whether every rule of the dictionary and the CheckSum are checked.
    pub checked: bool,
    /// Length of a journal segment; `None`: the default.
    pub segment_bytes: Option<usize>,
    /// Whether TCP_NODELAY is set.
    pub nodelay: bool,
    /// HeartBtInt(108), seconds.
    pub heart_bt_int_seconds: u32,
    /// Timeout for Logons, answers and Logouts.
    pub patience: Duration,
    /// While this flag is true, the status of our acceptor is requested each millisecond, as a monitor does. `None`:
    /// the status is never requested.
    pub asked: Option<Arc<AtomicBool>>,
    /// Folder that gets a journal folder for each end.
    pub journals: PathBuf,
}

impl PairConfig {
    /// Settings with our engine at both ends, every check, journals in this folder and no Heartbeats.
    #[must_use]
    pub fn new(initiator: &str, acceptor: &str, sessions: &[Version], journals: &Path) -> Self {
        Self {
            peer: None,
            initiator: initiator.to_owned(),
            acceptor: acceptor.to_owned(),
            sessions: sessions.to_vec(),
            durability: Durability::Process,
            checked: true,
            segment_bytes: None,
            nodelay: true,
            heart_bt_int_seconds: 0,
            patience: PATIENCE,
            asked: None,
            journals: journals.to_owned(),
        }
    }

    /// The engine settings of one end.
    pub(crate) fn engine(&self, role: Role, connection: Connection) -> EngineConfig {
        let folder = match role {
            Role::Initiator => "initiator",
            Role::Acceptor => "acceptor",
        };
        let numbers = 0..self.sessions.len();
        let sessions = numbers.map(|number| self.session(role, number, &connection));
        let default = EngineConfig::default();
        EngineConfig {
            journal_dir: self.journals.join(folder),
            durability: self.durability,
            wait: Wait::Spin,
            sessions: sessions.collect(),
            segment_bytes: self.segment_bytes.unwrap_or(default.segment_bytes),
            ..default
        }
    }

    /// BeginString and the CompIDs of the initiator and the acceptor of a session.
    pub fn names(&self, number: usize) -> (BeginString, String, String) {
        let begin_string = match self.sessions[number] {
            Version::Fix44 => BeginString::Fix44,
            _ => BeginString::Fix42,
        };
        let suffix = match number {
            0 => String::new(),
            _ => (number + 1).to_string(),
        };
        let named = |id: &str| format!("{id}{suffix}");
        (begin_string, named(&self.initiator), named(&self.acceptor))
    }

    fn session(&self, role: Role, number: usize, connection: &Connection) -> SessionConfig {
        let (begin_string, initiator, acceptor) = self.names(number);
        let (own, peer) = match role {
            Role::Initiator => (initiator, acceptor),
            Role::Acceptor => (acceptor, initiator),
        };
        let version = self.sessions[number];
        let mut session = Config::new(begin_string, role, own.as_bytes(), peer.as_bytes());
        session.heart_bt_int_seconds = self.heart_bt_int_seconds;
        session.reset_on.logon = role == Role::Initiator;
        session.dictionary = self
            .checked
            .then(|| Arc::new(Dictionary::built_in(version)));
        let name = format!("{}:{own}->{peer}", version.name());
        let mut session = SessionConfig::new(name, session, connection.clone());
        session.validate_checksum = self.checked;
        session.nodelay = self.nodelay;
        session
    }

    /// An acceptor that answers with `app`, for [`Arena::start`]; its address goes to `listening`.
    fn acceptor<A: Application, H: Host, F: FnOnce(Os) -> H>(
        &self,
        app: A,
        around: F,
        listening: &Sender<SocketAddr>,
    ) -> Result<impl FnMut() -> Result<bool, Error> + use<A, H, F>, Error> {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let config = self.engine(Role::Acceptor, Connection::Acceptor { listen });
        let mut engine = Engine::around(config, app, around).map_err(engine_error)?;
        if let Some(address) = engine.addresses().next() {
            // The receiver is missing only when the near end has failed.
            let _ = listening.send(address);
        }
        if let Some(asked) = self.asked.as_ref().map(Arc::downgrade) {
            let handle = engine.handle();
            thread::Builder::new()
                .name("asks".to_owned())
                .spawn(move || ask(handle, &asked))
                .map_err(Error::system("start a thread"))?;
        }
        Ok(move || Ok(engine.turn().map_err(engine_error)? > 0))
    }

    /// Starts the far thread with an acceptor of ours that answers with `app`, on this core.
    ///
    /// # Errors
    ///
    /// The acceptor did not start.
    pub fn start_acceptor<A: Application + Send + 'static>(
        &self,
        far_core: Option<usize>,
        clock: Clock,
        app: A,
    ) -> Result<(Arena, SocketAddr), Error> {
        self.start_acceptor_around(far_core, clock, app, |os| os)
    }

    fn start_acceptor_around<A: Application + Send + 'static, H: Host>(
        &self,
        far_core: Option<usize>,
        clock: Clock,
        app: A,
        around: impl FnOnce(Os) -> H + Send + 'static,
    ) -> Result<(Arena, SocketAddr), Error> {
        let (sender, listening) = channel();
        let config = self.clone();
        let make = move || config.acceptor(app, around, &sender);
        let arena = Arena::start(far_core, clock, make)?;
        match listening.recv() {
            Ok(address) => Ok((arena, address)),
            Err(_) => {
                arena.stop()?;
                Err(Error::Thread("acceptor"))
            }
        }
    }
}

/// The two ends of a measurement, logged on.
pub struct Pair<H: Host = Os> {
    /// The floor and the far thread.
    pub arena: Arena,
    engine: Engine<Trader, H>,
    marks: Option<PairMarks>,
    clock: Clock,
    patience: Duration,
    trouble: Trouble,
}

/// The last error of the connection.
type Trouble = Arc<Mutex<Option<String>>>;

impl Pair {
    /// Starts both ends, with `app` in our acceptor on this core, and waits until the session is logged on. The
    /// caller pins itself afterwards, because threads that engines start would inherit its core.
    ///
    /// # Errors
    ///
    /// An engine did not start, or the session is not logged on in time.
    pub fn start<A: Application + Send + 'static>(
        config: &PairConfig,
        far_core: Option<usize>,
        app: A,
    ) -> Result<Self, Error> {
        Self::start_by(Clock::start(), config, far_core, app)
    }

    /// As [`Pair::start`], with a clock that `app` also reads.
    ///
    /// # Errors
    ///
    /// See [`Pair::start`].
    pub fn start_by<A: Application + Send + 'static>(
        clock: Clock,
        config: &PairConfig,
        far_core: Option<usize>,
        app: A,
    ) -> Result<Self, Error> {
        let same = (|os| os, |os| os);
        Self::start_around(config, far_core, app, clock, None, same)
    }
}

impl Pair<MarkingHost<Os>> {
    /// As [`Pair::start`], with time stamps for orders at both ends; the acceptor must be ours.
    ///
    /// # Errors
    ///
    /// See [`Pair::start`].
    pub fn start_marked<A: Application + Send + 'static>(
        config: &PairConfig,
        far_core: Option<usize>,
        app: A,
    ) -> Result<Self, Error> {
        let clock = Clock::start();
        let marks = PairMarks::new(clock);
        let (near, far) = (marks.clone(), marks.clone());
        let around = (move |os| near.initiator(os), move |os| far.acceptor(os));
        Self::start_around(config, far_core, app, clock, Some(marks), around)
    }
}

impl<H: Host> Pair<H> {
    fn start_around<A: Application + Send + 'static>(
        config: &PairConfig,
        far_core: Option<usize>,
        app: A,
        clock: Clock,
        marks: Option<PairMarks>,
        (near, far): (impl FnOnce(Os) -> H, impl FnOnce(Os) -> H + Send + 'static),
    ) -> Result<Self, Error> {
        let (arena, host) = match &config.peer {
            Some((host, port)) => (
                Arena::start(far_core, clock, || Ok(|| Ok(false)))?,
                (host.clone(), *port),
            ),
            None => {
                let (arena, address) = config.start_acceptor_around(far_core, clock, app, far)?;
                (arena, (address.ip().to_string(), address.port()))
            }
        };
        let connection = Connection::Initiator {
            hosts: vec![host],
            reconnect: vec![Duration::from_millis(100)],
            timeout: config.patience,
        };
        let (patience, is_elsewhere) = (config.patience, config.peer.is_some());
        let trader = Trader::new(clock);
        let config = config.engine(Role::Initiator, connection);
        let engine = Engine::around(config, trader, near).map_err(engine_error);
        let mut engine = match engine {
            Ok(engine) => engine,
            Err(error) => {
                arena.stop()?;
                return Err(error);
            }
        };
        let trouble = Trouble::default();
        engine.on_event(listener(trouble.clone()));
        let mut pair = Self {
            arena,
            engine,
            marks,
            clock,
            patience,
            trouble,
        };
        if is_elsewhere {
            pair.arena.meter.engine = Some(EngineThread::Elsewhere);
        }
        let logged_on = pair.log_on();
        pair.arena.assign(Task::Rest);
        match logged_on {
            Ok(()) => Ok(pair),
            Err(error) => {
                pair.arena.stop()?;
                Err(error)
            }
        }
    }

    fn log_on(&mut self) -> Result<(), Error> {
        self.arena.assign(Task::Engine);
        let start = Instant::now();
        while !self.engine.application_mut().is_logged_on() {
            self.engine.turn().map_err(engine_error)?;
            Arena::pause(self.arena.is_alone());
            if self.arena.far_ended() || start.elapsed() > self.patience {
                return Err(self.session_error("no session in time"));
            }
        }
        Ok(())
    }

    /// One run of orders through the engines.
    ///
    /// # Errors
    ///
    /// An engine failed or a session ended.
    pub fn run(&mut self, pace: Pace, orders: usize) -> Result<Run, Error> {
        let (mut run, staged) = self.run_staged(pace, orders)?;
        if let Some(orders) = staged {
            run.stages = Some(Stages::of(&orders, &run.histogram));
            run.own_work = Some(OwnWork::of(&orders, &self.arena.gaps));
        }
        Ok(run)
    }

    /// One run of orders through the engines. Also returns the time-stamped orders, if any.
    fn run_staged(
        &mut self,
        pace: Pace,
        orders: usize,
    ) -> Result<(Run, Option<Vec<StagedOrder>>), Error> {
        let (clock, engine, marks) = (self.clock, &mut self.engine, &self.marks);
        let patience = self.patience.as_nanos() as u64;
        let run = self.arena.timed(Task::Engine, |arena| {
            let mut load = Load::new(pace, orders, patience).arriving(&arena.arrivals);
            if let Some(marks) = marks {
                marks.begin(orders);
            }
            arena.begin_counts();
            load.begin(clock.now());
            engine.application_mut().load = Some(load);
            let logged_on = turns(engine, arena, clock)?;
            let load = engine.application_mut().load.take();
            let staged = marks.as_ref().zip(load.as_ref());
            let staged = staged.map(|(marks, load)| marks.end(load));
            let outcome = load.map(Load::close).unwrap_or_default();
            Ok((outcome, (logged_on, staged)))
        });
        let (run, (logged_on, staged)) = run?;
        self.finished(run, logged_on).map(|run| (run, staged))
    }

    /// One run in which the acceptor, a [`Pusher`](crate::sockets::push::Pusher), sends reports.
    ///
    /// # Errors
    ///
    /// An engine failed or a session ended.
    pub fn receive(&mut self, mut pushed: Pushed) -> Result<Run, Error> {
        let (clock, engine) = (self.clock, &mut self.engine);
        let (run, logged_on) = self.arena.timed(Task::Engine, |arena| {
            arena.begin_counts();
            pushed.begin(clock.now());
            engine.application_mut().pushed = Some(pushed);
            let logged_on = turns(engine, arena, clock)?;
            let pushed = engine.application_mut().pushed.take();
            let outcome = pushed.map(Pushed::close).unwrap_or_default();
            Ok((outcome, logged_on))
        })?;
        self.finished(run, logged_on)
    }

    /// Returns the run if the session stayed logged on to its end; otherwise the error.
    fn finished(&self, run: Run, logged_on: bool) -> Result<Run, Error> {
        if logged_on {
            Ok(run)
        } else {
            Err(self.session_error("the session ended during a run"))
        }
    }

    /// Logs out and ends both ends.
    ///
    /// # Errors
    ///
    /// The error of the far end.
    pub fn stop(mut self) -> Result<(), Error> {
        self.arena.assign(Task::Engine);
        if self.engine.handle().stop().is_ok() {
            let start = Instant::now();
            while !self.engine.is_done() && start.elapsed() < self.patience {
                if self.engine.turn().is_err() {
                    break;
                }
                Arena::pause(self.arena.is_alone());
            }
        }
        self.arena.stop()
    }

    fn session_error(&self, what: &str) -> Error {
        let trouble = self.trouble.lock().ok().and_then(|trouble| trouble.clone());
        Error::Session(match trouble {
            Some(trouble) => format!("{what}: {trouble}"),
            None => what.to_owned(),
        })
    }
}

/// Runs the engine until the trader's run or its session ends; returns whether the session is still logged on.
fn turns<H: Host>(
    engine: &mut Engine<Trader, H>,
    arena: &mut Arena,
    clock: Clock,
) -> Result<bool, Error> {
    let alone = arena.is_alone();
    let (mut state, mut logged_on, mut before) = (RunState::Running, true, 0);
    while state == RunState::Running && logged_on {
        engine.turn().map_err(engine_error)?;
        let trader = engine.application_mut();
        logged_on = trader.is_logged_on();
        let now = clock.now();
        let Some((goes_on, moves)) = trader.progress(now) else {
            break;
        };
        state = goes_on;
        arena
            .watch
            .turned(now, moves > std::mem::replace(&mut before, moves));
        if alone {
            Arena::pause(true);
        }
    }
    Ok(logged_on)
}

/// Requests the status each millisecond while `wanted` is true, until the engine or the flag's owner has ended.
fn ask(mut engine: Handle, wanted: &Weak<AtomicBool>) {
    while let Some(is_wanted) = wanted.upgrade() {
        if !is_wanted.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(10));
            continue;
        }
        match engine.status() {
            // A stopping engine may not answer.
            Ok(answer) => drop(answer.recv()),
            Err(SendError::Stopped) => return,
            Err(_) => {}
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// A listener that keeps the last event with the reason why a connection failed or closed.
fn listener(trouble: Trouble) -> impl FnMut(fixwire_protocol::Now, &Event) + Send + 'static {
    move |_, event| {
        let bad = matches!(
            event,
            Event::DialFailed { .. } | Event::Disconnected { .. } | Event::Refused { .. }
        );
        if bad && let Ok(mut trouble) = trouble.lock() {
            *trouble = Some(event.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire_stamps::scenario::Echo;

    #[test]
    fn stages_of_each_marked_order_add_up_to_its_time() {
        let journals = tempfile::tempdir().unwrap();
        let config = PairConfig {
            heart_bt_int_seconds: 3600,
            ..PairConfig::new("BENCH", "EXEC", &[Version::Fix42], journals.path())
        };
        let mut pair = Pair::start_marked(&config, None, Echo).unwrap();
        // So fast that one turn of an engine handles several orders.
        for pace in [Pace::PingPong, Pace::PerSecond(200_000)] {
            let (run, orders) = pair.run_staged(pace, 1_600).unwrap();
            let orders = orders.unwrap();
            assert_eq!((run.sent, run.faults.total()), (1_600, 0));
            assert_eq!(orders.len(), 100, "one order in 16 has every mark");
            for order in &orders {
                assert_eq!(order.stages.iter().sum::<u64>(), order.response);
            }
        }
        pair.stop().unwrap();
    }
}
