//! Two threads, each pinned to a core of its own, that alternately measure the TCP floor and an engine.
//!
//! The near thread is the caller: it sends orders and records their times. The far thread answers in the way that the
//! near thread requests: as the server of the TCP floor, or by running an engine. The same two threads run the TCP
//! floor and the engine in turn, so that the machine disturbs both measurements alike.

use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use fixwire_stamps::clock::Clock;
use fixwire_threads::Pinned;

use crate::error::Error;
use crate::load::arrivals::Arrivals;
use crate::load::{Load, Pace, RunOutcome};
use crate::machine::Noise;
use crate::machine::distance::CacheLine;
use crate::machine::gaps::{End, Ends, TimeGap, Watch};
use crate::machine::usage::UsageReading;
use crate::report::Run;
use crate::sockets::floor::{self, ReportWay};
use crate::sockets::meter::Meter;

/// Task of the far thread.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Task {
    /// No task.
    Rest,
    /// Sends a cache line back and forth, to measure the distance of the cores.
    Distance,
    /// Answers orders of the TCP floor on the connection on which they arrive.
    Floor,
    /// Answers orders of the TCP floor on a second connection.
    FloorOnward,
    /// Runs the engine of the far thread.
    Engine,
    /// Exits.
    Stop,
}

/// State shared by both threads.
#[derive(Debug, Default)]
struct Shared {
    task: AtomicU8,
    /// The task that the far thread began last.
    begun: AtomicU8,
    line: CacheLine,
    ends: Ends,
    /// The gaps of the far end during its previous task.
    far_gaps: Mutex<Vec<TimeGap>>,
}

/// The near end, and the thread of the far end.
#[derive(Debug)]
pub struct Arena {
    /// The clock of both ends.
    pub clock: Clock,
    /// Arrival times of the orders of an open loop.
    pub arrivals: Arrivals,
    shared: Arc<Shared>,
    far: JoinHandle<Result<(), Error>>,
    floor: floor::FloorClient,
    /// Detects gaps in the loop of the near end.
    pub watch: Watch,
    /// Counts what the ends do.
    pub meter: Meter,
    /// The gaps of the near and the far end in the last run.
    pub gaps: [Vec<TimeGap>; 2],
    alone: bool,
    pinned: bool,
}

/// Time without an answer after which a run counts its outstanding orders as lost.
pub const PATIENCE: Duration = Duration::from_secs(10);

impl Arena {
    /// Starts the far thread on a core and connects the floor. `make` builds the engine on the far thread and returns
    /// a closure for one turn; the closure returns whether there was work. The caller pins itself with [`pin`]
    /// afterwards, because threads that it starts would inherit its core.
    ///
    /// # Errors
    ///
    /// The loopback interface or a thread is not available.
    pub fn start<M, T>(core: Option<usize>, clock: Clock, make: M) -> Result<Self, Error>
    where
        M: FnOnce() -> Result<T, Error> + Send + 'static,
        T: FnMut() -> Result<bool, Error>,
    {
        let pair = || connected_pair().map_err(Error::system("connect over loopback"));
        let (first, second) = (pair()?, pair()?);
        let set_up = || Error::system("set up a socket");
        let floor = floor::FloorClient::new([first.0, second.0]).map_err(set_up())?;
        let server = floor::Server::new([first.1, second.1]).map_err(set_up())?;
        let shared = Arc::new(Shared::default());
        let far = thread::Builder::new()
            .name("far".to_owned())
            .spawn({
                let shared = shared.clone();
                move || far_thread(core, &shared, Watch::new(clock), server, make)
            })
            .map_err(Error::system("start a thread"))?;
        Ok(Self {
            clock,
            arrivals: Arrivals::default(),
            shared,
            far,
            floor,
            watch: Watch::new(clock),
            meter: Meter::default(),
            gaps: Default::default(),
            pinned: core.is_some(),
            alone: thread::available_parallelism().is_ok_and(|cores| cores.get() == 1),
        })
    }

    /// Sets the task of the far thread.
    pub fn assign(&self, task: Task) {
        self.shared.task.store(task as u8, Ordering::Release);
        self.far.thread().unpark();
    }

    /// Assigns a task, and waits until the far thread has finished the last turn of its previous task. Otherwise an
    /// interruption of that turn would count for the new task.
    fn assign_and_wait(&self, task: Task) {
        self.assign(task);
        while self.shared.begun.load(Ordering::Acquire) != task as u8 && !self.far_ended() {
            Self::pause(self.alone);
        }
    }

    /// Whether the far thread has exited. Before it is stopped, it exits only because of an error.
    pub fn far_ended(&self) -> bool {
        self.far.is_finished()
    }

    /// Yields when both ends share the only core; otherwise spins.
    #[inline]
    pub fn pause(alone: bool) {
        if alone {
            thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }

    /// Whether both ends share the only core.
    pub fn is_alone(&self) -> bool {
        self.alone
    }

    /// One run over the bare sockets.
    ///
    /// # Errors
    ///
    /// The connection or the far thread ended.
    pub fn floor(&mut self, way: ReportWay, pace: Pace, orders: usize) -> Result<Run, Error> {
        let task = match way {
            ReportWay::Back => Task::Floor,
            ReportWay::Onward => Task::FloorOnward,
        };
        self.timed(task, |arena| {
            let load = Load::new(pace, orders, PATIENCE.as_nanos() as u64);
            let mut load = load.arriving(&arena.arrivals);
            let (clock, alone) = (arena.clock, arena.alone);
            arena.begin_counts();
            arena
                .floor
                .run(way, &mut load, &clock, &mut arena.watch, || {
                    Self::pause(alone)
                })
                .map_err(Error::system("exchange bytes over loopback"))?;
            Ok((load.close(), ()))
        })
        .map(|(run, ())| run)
    }

    /// One run, with the distance of the cores before and after it, and the time taken by other work. `run` must
    /// report each turn of its loop to `watch`.
    ///
    /// # Errors
    ///
    /// When `run` fails.
    pub fn timed<T>(
        &mut self,
        task: Task,
        run: impl FnOnce(&mut Self) -> Result<(RunOutcome, T), Error>,
    ) -> Result<(Run, T), Error> {
        let before = self.distance();
        self.shared.ends.enter(End::Near);
        self.assign_and_wait(task);
        let (usage, noise) = (UsageReading::take(), Noise::read());
        self.watch.begin(&self.shared.ends, End::Near);
        let found = run(self);
        let orders = found.as_ref().map_or(0, |(outcome, _)| outcome.sent);
        let measured = self.meter.end(orders);
        let (taken, used) = (noise.since(), usage.since());
        self.assign_and_wait(Task::Rest);
        let near = self.watch.end();
        let far = match task {
            // The far thread records no gaps while it rests. At this time `far_gaps` still has the gaps of its
            // previous task.
            Task::Rest => Vec::new(),
            _ => std::mem::take(&mut *self.shared.far_gaps()),
        };
        let (outcome, rest) = found?;
        let after = self.distance();
        self.assign(Task::Rest);
        self.gaps = [near, far];
        let mut run = Run::new(outcome, [before, after], taken, &self.gaps);
        run.used = Some(used);
        (run.counts, run.calls) = (measured.counts, measured.calls);
        Ok((run, rest))
    }

    /// The run begins: its memory is allocated. Counts from now on, if counts are requested. `run` of
    /// [`timed`](Self::timed) calls this.
    pub fn begin_counts(&mut self) {
        let [near, far] = [End::Near, End::Far].map(|end| self.shared.ends.thread(end));
        self.meter.begin(near, far);
    }

    /// Round trip of a cache line, nanoseconds; `None` when the ends are not pinned.
    fn distance(&self) -> Option<f64> {
        if !self.pinned || self.far_ended() {
            return None;
        }
        self.assign(Task::Distance);
        self.shared.line.measure()
    }

    /// Ends the far thread.
    ///
    /// # Errors
    ///
    /// The error of the far thread.
    pub fn stop(self) -> Result<(), Error> {
        self.assign(Task::Stop);
        self.far.join().unwrap_or(Err(Error::Thread("acceptor")))
    }
}

impl Shared {
    fn far_gaps(&self) -> MutexGuard<'_, Vec<TimeGap>> {
        self.far_gaps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn far_thread<M, T>(
    core: Option<usize>,
    shared: &Shared,
    mut watch: Watch,
    mut server: floor::Server,
    make: M,
) -> Result<(), Error>
where
    M: FnOnce() -> Result<T, Error>,
    T: FnMut() -> Result<bool, Error>,
{
    let mut turn = make()?;
    let clock = watch.clock();
    // Read this before pinning: a pinned thread sees one core, however many the machine has.
    let alone = thread::available_parallelism().is_ok_and(|cores| cores.get() == 1);
    let _pinned = pin(core)?;
    shared.ends.enter(End::Far);
    const DISTANCE: u8 = Task::Distance as u8;
    const FLOOR: u8 = Task::Floor as u8;
    const FLOOR_ONWARD: u8 = Task::FloorOnward as u8;
    const ENGINE: u8 = Task::Engine as u8;
    const STOP: u8 = Task::Stop as u8;
    let mut serve = |way| {
        let served = server.turn(way);
        served.map_err(Error::system("exchange bytes over loopback"))
    };
    let mut begun = Task::Rest as u8;
    loop {
        let task = shared.task.load(Ordering::Acquire);
        if task != begun {
            begun = task;
            *shared.far_gaps() = watch.end();
            watch.begin(&shared.ends, End::Far);
            shared.begun.store(task, Ordering::Release);
        }
        let worked = match task {
            ENGINE => turn()?,
            FLOOR => serve(ReportWay::Back)?,
            FLOOR_ONWARD => serve(ReportWay::Onward)?,
            DISTANCE => {
                shared.line.send_back();
                false
            }
            STOP => return Ok(()),
            // Sleep until the next task, so as not to disturb other work on this core.
            _ => {
                thread::park();
                false
            }
        };
        watch.turned(clock.now(), worked);
        if alone {
            thread::yield_now();
        }
    }
}

/// Pins the calling thread to a core. Helper threads of engines avoid the core until the result is dropped.
///
/// # Errors
///
/// The core does not exist or is not available to this process.
pub fn pin(core: Option<usize>) -> Result<Option<Pinned>, Error> {
    let pin = |core| {
        fixwire_threads::pin(core).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => Error::Flag {
                flag: "--cores",
                problem: format!("core {core} is not available to this process"),
            },
            _ => Error::system(format!("run on core {core}"))(error),
        })
    };
    core.map(pin).transpose()
}

/// Two ends of one TCP connection over loopback.
pub(crate) fn connected_pair() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let near = TcpStream::connect(listener.local_addr()?)?;
    let far = loop {
        let (far, from) = listener.accept()?;
        if from == near.local_addr()? {
            break far;
        }
    };
    Ok((near, far))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use rustix::thread::{CpuSet, sched_getaffinity};

    use super::*;
    use crate::load::Faults;

    #[test]
    fn the_floor_answers_each_order_once() {
        let idle = || Ok(|| Ok(false));
        let mut arena = Arena::start(None, Clock::start(), idle).unwrap();
        for pace in [Pace::PingPong, Pace::PerSecond(20_000)] {
            for way in [ReportWay::Back, ReportWay::Onward] {
                let run = arena.floor(way, pace, 500).unwrap();
                if (run.sent, run.faults) != (500, Faults::default()) {
                    let far = arena.stop();
                    panic!(
                        "{way:?} {pace:?}: {} sent, {:?}; the far end: {far:?}",
                        run.sent, run.faults
                    );
                }
                assert_eq!(run.response.count, 500);
                assert!(run.response.p50 >= run.service.min && run.service.min > 500);
            }
        }
        arena.stop().unwrap();
    }

    #[test]
    fn a_far_engine_that_fails_is_told() {
        let failing = || Err::<fn() -> Result<bool, Error>, _>(Error::Engine("no disk".to_owned()));
        let arena = Arena::start(None, Clock::start(), failing).unwrap();
        let error = arena.stop().unwrap_err();
        assert_eq!(error.to_string(), "the engine stopped: no disk");
    }

    #[test]
    fn helpers_leave_the_core_of_an_end() {
        let near = thread::spawn(|| {
            let all = sched_getaffinity(None).unwrap();
            assert!(all.count() > 1, "this test needs two cores");
            let core = (0..CpuSet::MAX_CPU).find(|core| all.is_set(*core));
            let _pinned = pin(core).unwrap();
            let leaves_it = || {
                let helper = fixwire_threads::spawn("helper", || sched_getaffinity(None));
                let cores = helper.unwrap().join().unwrap().unwrap();
                core.is_some_and(|core| !cores.is_set(core)) && cores.count() == all.count() - 1
            };
            // Other tests of this process may have pinned the other cores; then helpers have all of them.
            let deadline = Instant::now() + Duration::from_secs(20);
            while !leaves_it() {
                assert!(Instant::now() < deadline, "the helper stays on the core");
                thread::sleep(Duration::from_millis(20));
            }
        });
        near.join().unwrap();
    }

    #[test]
    fn a_core_that_does_not_exist_is_named() {
        let text = pin(Some(1_000_000)).unwrap_err().to_string();
        assert!(
            text.contains("--cores") && text.contains("1000000"),
            "{text}"
        );
    }
}
