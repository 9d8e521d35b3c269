//! Gaps: time in which the machine did not run a spinning loop.
//!
//! Each end of a measurement polls for work in a loop. A turn without work is a gap when it takes more than a
//! microsecond longer than such turns usually do: the hypervisor, an interrupt or another thread had the core. For a
//! turn with work only the kernel knows how long the thread waited for the core; the kernel is queried after a long
//! turn. The time of a gap in which other threads of this process ran does not count as taken by the machine.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU32, Ordering};

use fixwire_stamps::clock::Clock;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::load::RunOutcome;
use crate::machine::counts::own_thread;

/// The shortest interruption that counts as a gap, nanoseconds.
const SHORTEST: u64 = 1_000;
/// The kernel is queried after a turn of this length, nanoseconds; the query takes about 2 us.
const ASKED: u64 = 50_000;
/// A gap longer than this is not a timer tick of a virtual machine, nanoseconds.
pub const LONG: u64 = 100_000;
/// Maximum number of gaps kept; they need 4 MB.
const MOST: usize = 1 << 18;
/// When this number of gaps is kept, only gaps for which the kernel was queried are added.
const ENOUGH: usize = MOST / 4 * 3;

/// A gap in the time of a thread.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TimeGap {
    /// Start time on the clock of the measurement, nanoseconds.
    pub start: u64,
    /// Duration, nanoseconds.
    pub length: u32,
    /// The part of the gap in which other threads of this process ran, nanoseconds.
    pub ours: u32,
}

impl TimeGap {
    /// The part of the gap that the machine took, nanoseconds.
    pub fn machines(&self) -> u64 {
        self.length.saturating_sub(self.ours).into()
    }
}

/// Thread ids of both ends of a measurement; 0 when an end has no thread yet.
#[derive(Debug, Default)]
pub struct Ends {
    near: AtomicU32,
    far: AtomicU32,
}

/// An end of the measurement.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum End {
    /// Sends orders.
    Near,
    /// Answers orders.
    Far,
}

impl Ends {
    fn own(&self, end: End) -> &AtomicU32 {
        match end {
            End::Near => &self.near,
            End::Far => &self.far,
        }
    }

    /// Registers the calling thread as this end.
    pub fn enter(&self, end: End) {
        let number = own_thread().unwrap_or(0);
        self.own(end).store(number, Ordering::Release);
    }

    /// The thread of this end; `None` when it has none yet.
    pub fn thread(&self, end: End) -> Option<u32> {
        Some(self.own(end).load(Ordering::Acquire)).filter(|thread| *thread > 0)
    }

    /// The kernel's counters of the thread of an end.
    fn counters(&self, end: End) -> Option<File> {
        let thread = self.thread(end)?;
        File::open(format!("/proc/self/task/{thread}/schedstat")).ok()
    }
}

/// Processor time of a thread, nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Had {
    ran: u64,
    waited: u64,
}

impl Had {
    /// Reads the counters; all are zero when the kernel does not provide them.
    fn read(file: Option<&File>) -> Self {
        let mut text = [0; 96];
        let length = file.and_then(|file| file.read_at(&mut text, 0).ok());
        let text = std::str::from_utf8(&text[..length.unwrap_or(0)]).unwrap_or_default();
        let mut counts = text.split_ascii_whitespace().map(|count| count.parse());
        let mut next = || counts.next().and_then(Result::ok).unwrap_or(0);
        Self {
            ran: next(),
            waited: next(),
        }
    }
}

/// The kernel counters at the last query.
#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    own: Had,
    other: Had,
    /// CPU time of all threads of the process, nanoseconds.
    process: u64,
}

/// Detects gaps in one loop.
#[derive(Debug)]
pub struct Watch {
    clock: Clock,
    last: u64,
    /// Duration of a turn without work, nanoseconds times 256: a slow moving average.
    idle: u64,
    gaps: Vec<TimeGap>,
    own: Option<File>,
    other: Option<File>,
    asked: Asked,
}

impl Watch {
    /// A watch that has allocated all its memory.
    pub fn new(clock: Clock) -> Self {
        // Touches the memory once, so that a run has no page faults.
        let mut gaps = vec![
            TimeGap {
                start: 1,
                length: 1,
                ours: 1,
            };
            MOST
        ];
        gaps.clear();
        Self {
            clock,
            last: 0,
            idle: SHORTEST << 8,
            gaps,
            own: None,
            other: None,
            asked: Asked::default(),
        }
    }

    /// The clock that the watch reads.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The loop of `end` starts, on the calling thread.
    pub fn begin(&mut self, ends: &Ends, end: End) {
        let other = match end {
            End::Near => End::Far,
            End::Far => End::Near,
        };
        self.own = ends.counters(end);
        self.other = ends.counters(other);
        self.gaps.clear();
        self.asked = self.ask();
        self.last = self.clock.now();
    }

    /// Records the end of a turn at `now`, with or without work.
    #[inline]
    pub fn turned(&mut self, now: u64, worked: bool) {
        let took = now.saturating_sub(self.last);
        self.last = now;
        if worked {
            if took > ASKED {
                self.long_work(now, took);
            }
            return;
        }
        let usual = self.idle >> 8;
        // A gap changes the mean only a little. When turns take longer than estimated, the mean adapts.
        self.idle = self.idle + took.min(usual + SHORTEST) - usual;
        let longer = took.saturating_sub(usual);
        if longer > SHORTEST {
            self.gap(now, longer);
        }
    }

    /// The loop has ended; returns its gaps, oldest first.
    pub fn end(&mut self) -> Vec<TimeGap> {
        self.gaps.to_vec()
    }

    #[cold]
    fn gap(&mut self, now: u64, length: u64) {
        let ours = match length > ASKED {
            true => self.waited(length).1,
            false => 0,
        };
        self.note(now, length, ours);
    }

    #[cold]
    fn long_work(&mut self, now: u64, took: u64) {
        let (waited, ours) = self.waited(took);
        if waited > SHORTEST {
            self.note(now, waited, ours);
        }
    }

    fn note(&mut self, now: u64, length: u64, ours: u64) {
        let keeps = if length > ASKED { MOST } else { ENOUGH };
        if self.gaps.len() < keeps {
            self.gaps.push(TimeGap {
                start: now.saturating_sub(length),
                length: u32::try_from(length).unwrap_or(u32::MAX),
                ours: u32::try_from(ours).unwrap_or(u32::MAX),
            });
        }
    }

    /// How much of the last `took` nanoseconds this thread waited for its core. Also how much of that wait other
    /// threads of this process used, without the two ends.
    fn waited(&mut self, took: u64) -> (u64, u64) {
        let (before, now) = (self.asked, self.ask());
        self.asked = now;
        self.last = self.clock.now();
        let since = u64::saturating_sub;
        let waited = since(now.own.waited, before.own.waited).min(took);
        let ends = since(now.own.ran, before.own.ran) + since(now.other.ran, before.other.ran);
        let ours = since(since(now.process, before.process), ends);
        (waited, ours.min(waited))
    }

    fn ask(&self) -> Asked {
        let process = clock_gettime(ClockId::ProcessCPUTime);
        Asked {
            own: Had::read(self.own.as_ref()),
            other: Had::read(self.other.as_ref()),
            process: process.tv_sec as u64 * 1_000_000_000 + process.tv_nsec as u64,
        }
    }
}

/// Time taken from one end during a run, milliseconds.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct GapTotals {
    /// Number of gaps.
    pub gaps: u64,
    /// Time taken by the machine.
    pub machine_ms: f64,
    /// The longest gap taken by the machine.
    pub longest_ms: f64,
    /// Time taken by other threads of this process.
    pub ours_ms: f64,
}

impl GapTotals {
    /// Sums up gaps.
    pub fn of(gaps: &[TimeGap]) -> Self {
        let ms = |nanos: u64| nanos as f64 / 1e6;
        Self {
            gaps: gaps.len() as u64,
            machine_ms: ms(gaps.iter().map(TimeGap::machines).sum()),
            longest_ms: ms(gaps.iter().map(TimeGap::machines).max().unwrap_or(0)),
            ours_ms: ms(gaps.iter().map(|gap| u64::from(gap.ours)).sum()),
        }
    }
}

/// For each percentile of the tables: of the orders slower than the percentile, the share that gaps of the machine
/// delayed.
pub type Touched = [f64; 6];

/// The percentiles; the last is the slowest order.
const BEYOND: [f64; 6] = [0.5, 0.9, 0.99, 0.999, 0.9999, 1.0];

/// Assigns the gaps of both ends to the orders in progress at that time.
///
/// A gap is the cause of a slow order when the gap makes up more than half of the order's time above the median. When
/// a gap delayed the previous order, and this order had to wait for the previous one, that wait counts as a gap too.
/// Gaps of at most `least` nanoseconds are ignored.
pub fn touched(outcome: &RunOutcome, gaps: &[Vec<TimeGap>; 2], least: u64) -> Touched {
    let answered = || {
        let orders = outcome.orders.iter();
        orders.filter_map(|order| Some((order, order.response()?)))
    };
    let mut times: Vec<u64> = answered().map(|(_, response)| response).collect();
    if times.is_empty() {
        return Touched::default();
    }
    let half = times.len() / 2;
    let median = *times.select_nth_unstable(half).1;
    // Times of orders count from the start of the run. Where in a gap the machine's part lies is unknown.
    let machines = gaps.iter().flatten().filter(|gap| gap.machines() > least);
    let mut gaps: Vec<TimeGap> = machines
        .map(|gap| TimeGap {
            start: gap.start.saturating_sub(outcome.start),
            length: gap.machines() as u32,
            ours: 0,
        })
        .collect();
    gaps.sort_unstable_by_key(|gap| gap.start);
    let longest = gaps
        .iter()
        .map(|gap| u64::from(gap.length))
        .max()
        .unwrap_or(0);
    let (mut first, mut before, mut free) = (0, 0, 0_u64);
    let mut lives: Vec<(u64, bool)> = answered()
        .map(|(order, response)| {
            let over = |gap: &TimeGap| gap.start + longest < order.intended;
            while gaps.get(first).is_some_and(over) {
                first += 1;
            }
            let before_answer = gaps[first..]
                .iter()
                .take_while(|gap| gap.start < order.answer);
            let within = before_answer.map(|gap| {
                let end = (gap.start + u64::from(gap.length)).min(order.answer);
                end.saturating_sub(gap.start.max(order.intended))
            });
            let within = within.sum::<u64>();
            before = within.max(before.min(free.saturating_sub(order.intended)));
            free = order.answer;
            let excess = response.saturating_sub(median);
            (response, excess > 0 && before * 2 > excess)
        })
        .collect();
    lives.sort_unstable();
    BEYOND.map(|share| {
        let slower = &lives[((lives.len() as f64 * share) as usize).min(lives.len() - 1)..];
        slower.iter().filter(|life| life.1).count() as f64 / slower.len() as f64
    })
}

#[cfg(test)]
mod tests;
