//! An engine after many orders, and the state of its journal.
//!
//! Journal, session, application and gateway are real, and the journal is in a folder. Sockets are in memory, so that
//! a turn takes only the engine's time for a message, from `read` to `write`. Clocks are those of the system.

use std::collections::VecDeque;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fixwire::host::{Host, HostAround};
use fixwire::journal::{Retention, StoredState, stored_states};
use fixwire::{Connection, Engine, EngineConfig};
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::session::Role;
use fixwire_protocol::{Application, Nanos, Now, Timestamp, tag};
use fixwire_stamps::scenario::EXECUTION_REPORT;
use fixwire_stamps::stats::Figures;
use fixwire_threads::Pinned;
use hdrhistogram::Histogram;

use crate::error::{Error, engine_error};
use crate::progress::Progress;
use crate::sockets::arena::pin;
use crate::sockets::fix_client::Writer;
use crate::sockets::numbered::Numbered;
use crate::sockets::pair::PairConfig;
use crate::wired::disk;
use crate::wired::wires::{WALL, Wires};

/// MsgSeqNum of the first message after the Logon. All MsgSeqNums have eight digits.
const FIRST_SEQ: u64 = 10_000_000;
/// The first ClOrdID, and the first number in the venue's own ids.
const FIRST_ID: u64 = 1_000_000_000_000;
/// Number of turns after which an answer counts as missing.
const MOST_TURNS: usize = 100;
/// How often the journal folder is checked.
const LOOK: Duration = Duration::from_millis(20);

/// The load.
#[derive(Clone, Copy, Debug)]
pub struct Aging {
    /// Total number of orders.
    pub orders: u64,
    /// Number of orders that are open at a time: each order is filled after this number of later orders.
    pub open: u64,
    /// How long the journal keeps messages for resends, and records that are no longer needed.
    pub keep: Duration,
    /// The core of the engine; `None` leaves it to the scheduler.
    pub core: Option<usize>,
}

/// The result.
#[derive(Clone, Debug, Default)]
pub struct Aged {
    /// Time of a message inside the engine while no checkpoint was written, nanoseconds.
    pub alone: Figures,
    /// Time of a message inside the engine while a checkpoint was written, nanoseconds.
    pub beside: Figures,
    /// Average orders per second.
    pub rate: f64,
    /// Bytes written to the journal.
    pub written: u64,
    /// Largest size of the journal's folder, bytes.
    pub most: u64,
    /// Largest number of journal bytes that were neither covered by a checkpoint nor within the retention time.
    pub most_beyond: u64,
    /// Size of the checkpoints at the end, bytes.
    pub checkpoint_bytes: u64,
    /// Number of checkpoints.
    pub checkpoints: usize,
    /// Size of the newest checkpoint, bytes.
    pub newest: Option<StoredState>,
    /// Size of the journal's folder at the end, bytes.
    pub left: u64,
    /// The next MsgSeqNum of each peer.
    pub next: Vec<u64>,
}

/// The settings of a client and a venue; the engine between them has its journal in a folder.
pub fn pair(sessions: usize, journals: &Path) -> PairConfig {
    PairConfig::new("BENCH", "GATE", &vec![Version::Fix42; sessions], journals)
}

/// The settings of the engine between client and venue.
pub fn settings(pair: &PairConfig, listen: SocketAddr, keep: Duration) -> EngineConfig {
    let connection = Connection::Acceptor { listen };
    retiring(pair.engine(Role::Acceptor, connection), keep)
}

/// Settings with which old segments are removed.
pub(crate) fn retiring(mut config: EngineConfig, keep: Duration) -> EngineConfig {
    for session in &mut config.sessions {
        // All messages have the same SendingTime, whatever the clock says.
        session.session.max_latency = None;
    }
    let keep = Some(Nanos::from(keep));
    config.retention = Some(Retention {
        keep,
        resend: keep,
        compress: false,
    });
    config
}

/// Sends the orders through the engine.
///
/// # Errors
///
/// The engine stopped, or a message had no answer.
pub fn age<A: Application>(app: A, pair: &PairConfig, aging: Aging) -> Result<Aged, Error> {
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
    let writers = (0..pair.sessions.len()).map(|number| Writer::of_initiator(pair, number));
    let logons: Result<Vec<_>, _> = writers
        .map(|mut writer| writer.log_on_and_fill(WALL, FIRST_SEQ))
        .collect();
    let config = settings(pair, listen, aging.keep);
    let mut engine = AgingEngine::start(app, config, &logons?, aging)?;
    let mut progress = Progress::new(100);
    let (mut order, mut report) = (orders(pair)?, reports(pair)?);
    let last = pair.sessions.len() - 1;
    for number in 0..aging.orders {
        if number % (aging.orders / 100).max(1) == 0 {
            progress.step(&format!("order {number} of {}", aging.orders));
        }
        let took = engine.pass(0, order.take(), last)?;
        engine.record(took);
        if last > 0 && number >= aging.open {
            let took = engine.pass(last, report.take(), 0)?;
            engine.record(took);
        }
    }
    drop(progress);
    engine.end()
}

/// An engine on a separate core, whose peers are a script.
pub struct AgingEngine<A: Application> {
    engine: Engine<A, Clocked>,
    folder: PathBuf,
    orders: u64,
    times: Times,
    watch: Watch,
    began: Instant,
    _pinned: Option<Pinned>,
}

impl<A: Application> AgingEngine<A> {
    /// Starts the engine. Each peer connects, sends these bytes, and receives an answer.
    ///
    /// # Errors
    ///
    /// The engine did not start, or did not answer.
    pub fn start(
        app: A,
        config: EngineConfig,
        logons: &[Vec<u8>],
        aging: Aging,
    ) -> Result<Self, Error> {
        let pinned = pin(aging.core)?;
        let (folder, segment) = (config.journal_dir.clone(), config.segment_bytes as u64);
        let mut host = Clocked {
            wires: Wires::default(),
            began: Instant::now(),
            wall: wall(),
        };
        for (number, logon) in logons.iter().enumerate() {
            host.wires.connect(number, logon);
        }
        let engine = Engine::with_host(config, app, host, disk).map_err(engine_error)?;
        let watch = Watch::start(&folder, segment, aging.keep)?;
        let times = Times {
            alone: histogram()?,
            beside: histogram()?,
            is_beside: Arc::clone(&watch.is_writing),
        };
        let mut aging = Self {
            engine,
            folder,
            orders: aging.orders,
            times,
            watch,
            began: Instant::now(),
            _pinned: pinned,
        };
        for number in 0..logons.len() {
            aging.await_message(number)?;
        }
        aging.began = Instant::now();
        Ok(aging)
    }

    /// A peer sends a message. Returns the nanoseconds of the turn in which another peer receives a message.
    ///
    /// # Errors
    ///
    /// The engine stopped, or no message was received.
    pub fn pass(&mut self, from: usize, bytes: &[u8], to: usize) -> Result<u64, Error> {
        self.engine.host_mut().wires.send(from, bytes);
        self.await_message(to)
    }

    fn await_message(&mut self, number: usize) -> Result<u64, Error> {
        for _ in 0..MOST_TURNS {
            let began = Instant::now();
            self.engine.turn().map_err(engine_error)?;
            let took = began.elapsed().as_nanos() as u64;
            if self.engine.host_mut().wires.took(number, 1) {
                return Ok(took);
            }
        }
        Err(Error::Session(format!("no message for peer {number}")))
    }

    /// Records the time that a message took, nanoseconds.
    pub fn record(&mut self, took: u64) {
        let times = match self.times.is_beside.load(Ordering::Relaxed) {
            true => &mut self.times.beside,
            false => &mut self.times.alone,
        };
        times.saturating_record(took.max(1));
    }

    /// The application.
    pub fn application(&mut self) -> &mut A {
        self.engine.application_mut()
    }

    /// Ends the measurement, and leaves the journal as a killed process leaves it.
    ///
    /// # Errors
    ///
    /// The monitor thread failed, or the newest checkpoint is damaged.
    pub fn end(self) -> Result<Aged, Error> {
        let seconds = self.began.elapsed().as_secs_f64();
        let next = self.engine.sessions().map(|it| it.next_in).collect();
        drop(self.engine);
        let mut aged = self.watch.end()?;
        let mut states = stored_states(&self.folder).map_err(engine_error)?;
        aged.newest = states.pop().transpose().map_err(engine_error)?;
        aged.rate = self.orders as f64 / seconds.max(1e-9);
        aged.alone = Figures::of(&self.times.alone);
        aged.beside = Figures::of(&self.times.beside);
        aged.next = next;
        Ok(aged)
    }
}

/// The clock of the system.
pub(crate) fn wall() -> Timestamp {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    Timestamp(now.unwrap_or_default().as_nanos() as i64)
}

fn histogram() -> Result<Histogram<u64>, Error> {
    Histogram::new_with_max(10_000_000_000, 3).map_err(engine_error)
}

/// The client's orders.
fn orders(pair: &PairConfig) -> Result<Numbered, Error> {
    let mut client = Writer::of_initiator(pair, 0);
    client.next_out = FIRST_SEQ;
    client
        .order(FIRST_ID, WALL)
        .map_err(crate::sockets::fix_client::unwritten)?;
    Ok(Numbered::new(client.sealed().to_vec(), &["34", "11"]))
}

/// The venue's reports, which fill the orders one after another.
fn reports(pair: &PairConfig) -> Result<Numbered, Error> {
    let mut venue = Writer::of_initiator(pair, pair.sessions.len() - 1);
    venue.next_out = FIRST_SEQ;
    let report = venue.message(EXECUTION_REPORT, WALL, |body| {
        body.uint(tag::ORDER_ID, FIRST_ID)
            .uint(tag::EXEC_ID, FIRST_ID)
            .char(tag::EXEC_TRANS_TYPE, b'0')
            .char(tag::EXEC_TYPE, b'2')
            .char(tag::ORD_STATUS, b'2')
            .uint(tag::CL_ORD_ID, FIRST_ID)
            .field(tag::SYMBOL, b"LCOM1")
            .char(tag::SIDE, b'1')
            .uint(tag::ORDER_QTY, 1)
            .uint(tag::LEAVES_QTY, 0)
            .uint(tag::CUM_QTY, 1)
            .uint(tag::AVG_PX, 200);
    })?;
    Ok(Numbered::new(report.to_vec(), &["34", "11", "37", "17"]))
}

/// Duration of turns with work.
struct Times {
    alone: Histogram<u64>,
    beside: Histogram<u64>,
    is_beside: Arc<AtomicBool>,
}

/// Watches the folder of a journal on a thread of its own.
struct Watch {
    ends: Arc<AtomicBool>,
    is_writing: Arc<AtomicBool>,
    thread: thread::JoinHandle<Aged>,
}

impl Watch {
    fn start(folder: &Path, segment: u64, keep: Duration) -> Result<Self, Error> {
        let (ends, is_writing) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let watcher = Watcher {
            folder: folder.to_owned(),
            segment,
            keep,
            ends: Arc::clone(&ends),
            is_writing: Arc::clone(&is_writing),
            history: VecDeque::new(),
            aged: Aged::default(),
        };
        let thread = fixwire_threads::spawn("watch", move || watcher.run());
        Ok(Self {
            ends,
            is_writing,
            thread: thread.map_err(Error::system("start a thread"))?,
        })
    }

    fn end(self) -> Result<Aged, Error> {
        self.ends.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| Error::Thread("watch"))
    }
}

struct Watcher {
    folder: PathBuf,
    segment: u64,
    keep: Duration,
    ends: Arc<AtomicBool>,
    is_writing: Arc<AtomicBool>,
    /// Sizes of the journal in bytes, each with the time at which it was reached.
    history: VecDeque<(Instant, u64)>,
    aged: Aged,
}

impl Watcher {
    fn run(mut self) -> Aged {
        while !self.ends.load(Ordering::Relaxed) {
            self.look();
            thread::sleep(LOOK);
        }
        self.look();
        self.aged
    }

    fn look(&mut self) {
        let (mut newest, mut all, mut states, mut files) = (0, 0, 0, 0);
        let mut is_writing = false;
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let (name, len) = (entry.file_name(), entry.metadata().map_or(0, |it| it.len()));
            let name = name.to_string_lossy().into_owned();
            all += len;
            is_writing |= name.ends_with(".fwk.new");
            if name.ends_with(".fwk") {
                states += len;
                files += 1;
            } else if let Some(number) = name.strip_suffix(".fwj") {
                newest = newest.max(number.parse().unwrap_or(0));
            }
        }
        self.is_writing.store(is_writing, Ordering::Relaxed);
        let (now, written) = (Instant::now(), newest * self.segment);
        self.history.push_back((now, written));
        while self.history.len() > 1 && now - self.history[1].0 > self.keep {
            self.history.pop_front();
        }
        let kept = written - self.history.front().map_or(0, |first| first.1);
        let aged = &mut self.aged;
        aged.most = aged.most.max(all);
        aged.most_beyond = aged.most_beyond.max(all.saturating_sub(states + kept));
        (aged.checkpoint_bytes, aged.checkpoints) = (states, files);
        (aged.written, aged.left) = (written, all);
    }
}

/// In-memory sockets, and the system's clocks, both counted from the same moment.
struct Clocked {
    wires: Wires,
    began: Instant,
    wall: Timestamp,
}

impl HostAround for Clocked {
    type Within = Wires;

    fn within(&self) -> &Wires {
        &self.wires
    }

    fn within_mut(&mut self) -> &mut Wires {
        &mut self.wires
    }

    fn on_now(&mut self) -> Now {
        let passed = self.began.elapsed().as_nanos() as i64;
        let mut now = self.wires.now();
        (now.wall.0, now.mono.0) = (self.wall.0 + passed, passed.unsigned_abs());
        now
    }
}
