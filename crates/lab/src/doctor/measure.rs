//! Measurements: gaps of a spinning loop, the cache of its core, and the round trip of bare TCP.

use std::thread;
use std::time::{Duration, Instant};

use fixwire_stamps::clock::Clock;
use fixwire_stamps::stats::Figures;
use serde::Serialize;

use super::cache::{self, KeptCache};
use super::observed::Observation;
use crate::bench::args::on_own_thread;
use crate::error::Error;
use crate::load::Pace;
use crate::sockets::arena::{Arena, pin};
use crate::sockets::floor::ReportWay;

/// Gaps longer than each of these are counted, nanoseconds.
pub const LIMITS: [u64; 4] = [1_000, 5_000, 20_000, 100_000];
/// A tuned machine has no gap this long, nanoseconds.
const LONGEST: u64 = 20_000;

/// Number of timed orders of the floor, after the same number for warm-up.
const ORDERS: usize = 20_000;

/// The measurements.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// The gaps of each hot core, all measured at once.
    pub jitter: Vec<Jitter>,
    /// The caches of the hot cores while they spin.
    pub cache: Vec<KeptCache>,
    /// The round trip of bare TCP over loopback, nanoseconds.
    pub floor: Figures,
}

/// Gaps in a spinning loop on one core: times in which the thread did not run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Jitter {
    /// The core.
    pub core: usize,
    /// How long the core was measured, in seconds.
    pub seconds: f64,
    /// How often the clock was read.
    pub readings: u64,
    /// Gaps of more than 1, 5, 20 and 100 microseconds.
    pub longer_than: [u64; LIMITS.len()],
    /// The longest gap, nanoseconds.
    pub worst: u64,
}

impl Jitter {
    /// Counts a gap, nanoseconds.
    #[inline]
    pub fn add(&mut self, gap: u64) {
        self.readings += 1;
        if gap <= LIMITS[0] {
            return;
        }
        for (count, limit) in self.longer_than.iter_mut().zip(LIMITS) {
            *count += u64::from(gap > limit);
        }
        self.worst = self.worst.max(gap);
    }
}

/// Measures everything on these cores: the jitter for `time`, and the floor between the first two cores. With fewer
/// than two cores, the threads of the floor run wherever the system places them.
///
/// # Errors
///
/// A core is not available to this process, or a thread or a loopback connection cannot be created.
pub fn measure(cores: &[usize], time: Duration) -> Result<Measured, Error> {
    let jitter = on_all(cores, "spin", |core| spin(core, time))?;
    let cache = cache::measure(cores)?;
    let pair = match cores {
        [server, client, ..] => Some((*server, *client)),
        _ => None,
    };
    let floor = on_own_thread(|| {
        let idle = || Ok(|| Ok(false));
        let mut arena = Arena::start(pair.map(|pair| pair.0), Clock::start(), idle)?;
        let _pinned = pin(pair.map(|pair| pair.1))?;
        arena.floor(ReportWay::Back, Pace::PingPong, ORDERS)?;
        let run = arena.floor(ReportWay::Back, Pace::PingPong, ORDERS)?;
        arena.stop()?;
        Ok(run.response)
    })?;
    Ok(Measured {
        jitter,
        cache,
        floor,
    })
}

/// Runs the same measurement on each of these cores at the same time.
pub(super) fn on_all<T: Send>(
    cores: &[usize],
    name: &'static str,
    work: impl Fn(usize) -> T + Sync,
) -> Result<Vec<T>, Error> {
    thread::scope(|scope| {
        let work = &work;
        let start = |core: usize| {
            let thread = thread::Builder::new().name(format!("{name}-{core}"));
            thread.spawn_scoped(scope, move || {
                let _pinned = pin(Some(core))?;
                Ok(work(core))
            })
        };
        let mut threads = Vec::new();
        for core in cores {
            threads.push(start(*core).map_err(Error::system("start a thread"))?);
        }
        let ended = threads.into_iter().map(|thread| thread.join());
        ended
            .map(|ended| ended.unwrap_or(Err(Error::Thread(name))))
            .collect()
    })
}

/// Reads the clock continuously.
fn spin(core: usize, time: Duration) -> Jitter {
    let mut jitter = Jitter {
        core,
        ..Jitter::default()
    };
    let start = Instant::now();
    let mut last = start;
    while last - start < time {
        let now = Instant::now();
        jitter.add((now - last).as_nanos() as u64);
        last = now;
    }
    jitter.seconds = (last - start).as_secs_f64();
    jitter
}

/// Whether the hot cores run without interruption.
pub fn jitter(of: &Measured) -> Observation {
    if of.jitter.is_empty() {
        return Observation::unknown("no hot cores given (--cores)");
    }
    of.jitter.iter().fold(Observation::new(), |seen, jitter| {
        let [one, five, twenty, hundred] = jitter.longer_than;
        let text = format!(
            "core {}: worst {:.1} us; >1 us {one}, >5 {five}, >20 {twenty}, >100 {hundred}",
            jitter.core,
            jitter.worst as f64 / 1e3
        );
        seen.judge(text, Some(jitter.worst < LONGEST))
    })
}

/// The floor: no engine on this machine can be faster.
pub fn floor(of: &Measured) -> Observation {
    let micros = |nanos: u64| format!("{:.1}", nanos as f64 / 1e3);
    let Figures {
        count,
        p50,
        p99,
        p99_9,
        ..
    } = of.floor;
    if count == 0 {
        return Observation::unknown("no answer");
    }
    Observation::new().record(format!(
        "p50 {}, p99 {}, p99.9 {} us",
        micros(p50),
        micros(p99),
        micros(p99_9)
    ))
}
