//! Worlds in which an engine dies at a chosen operation, again and again, and must lose nothing.
//!
//! A world is one seed: a real engine on a simulated machine, counterparties that keep every byte ([`peer`]), a network
//! that splits and breaks connections, a disk that tears writes. After each death the journal is judged ([`check`],
//! [`damage`]), the engine starts again, and at the end both sides must agree.

mod answerer;
pub mod check;
pub mod damage;
mod frames;
pub mod gateway;
pub mod image;
pub mod net;
pub mod peer;
pub mod rig;
mod trouble;
pub mod world;

use std::any::Any;
use std::fmt;
use std::ops::AddAssign;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

/// Counts of a world, or of many.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Tally {
    /// Worlds that were played to their end.
    pub worlds: u64,
    /// Deaths of the process alone.
    pub kills: u64,
    /// Losses of power.
    pub power_cuts: u64,
    /// Further deaths while recovering.
    pub nested: u64,
    /// Syncs that failed.
    pub failed_syncs: u64,
    /// Segments that the disk had no room for.
    pub full_disks: u64,
    /// Damaged copies that were checked.
    pub damages: u64,
    /// Connections that broke.
    pub resets: u64,
    /// One-way silences.
    pub silences: u64,
    /// Steps of the wall clock.
    pub clock_steps: u64,
    /// New trading sessions of a schedule.
    pub periods: u64,
    /// Sequence resets.
    pub sequence_resets: u64,
    /// Checkpoints of the application's state.
    pub checkpoints: u64,
    /// Segments beyond the first.
    pub rolls: u64,
    /// Orders sent.
    pub orders: u64,
    /// Commands of an operator and of other threads.
    pub commands: u64,
    /// Times that the operator stopped the engine.
    pub stops: u64,
    /// Journals that a loss of power without syncs has left unreadable.
    pub refused: u64,
}

impl Tally {
    /// Points at which a machine stopped.
    pub fn crash_points(&self) -> u64 {
        self.kills + self.power_cuts + self.nested + self.failed_syncs + self.full_disks
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.worlds += other.worlds;
        self.kills += other.kills;
        self.power_cuts += other.power_cuts;
        self.nested += other.nested;
        self.failed_syncs += other.failed_syncs;
        self.full_disks += other.full_disks;
        self.damages += other.damages;
        self.resets += other.resets;
        self.silences += other.silences;
        self.clock_steps += other.clock_steps;
        self.periods += other.periods;
        self.sequence_resets += other.sequence_resets;
        self.checkpoints += other.checkpoints;
        self.rolls += other.rolls;
        self.orders += other.orders;
        self.commands += other.commands;
        self.stops += other.stops;
        self.refused += other.refused;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} crash points: {} kills, {} power cuts, {} during recovery, {} failed syncs, {} full disks; \
             {} worlds, {} orders, {} new segments, {} checkpoints, {} damaged copies, {} broken connections, {} silences, \
             {} clock steps, {} periods, {} sequence resets, {} commands, {} stops, {} journals refused",
            self.crash_points(),
            self.kills,
            self.power_cuts,
            self.nested,
            self.failed_syncs,
            self.full_disks,
            self.worlds,
            self.orders,
            self.rolls,
            self.checkpoints,
            self.damages,
            self.resets,
            self.silences,
            self.clock_steps,
            self.periods,
            self.sequence_resets,
            self.commands,
            self.stops,
            self.refused,
        )
    }
}

/// Plays the worlds of consecutive seeds, in as many threads as there are processors, until this number of crash points
/// has been met or the time is over. Returns the results, and one past the last seed.
///
/// # Errors
///
/// The lowest seed that failed, and the violated invariant.
pub fn campaign(
    play: fn(u64) -> Result<Tally, String>,
    seed: u64,
    crash_points: u64,
    until: Option<Instant>,
) -> Result<(Tally, u64), (u64, String)> {
    // A world that is printed is played alone.
    let threads = if crash_points == 1 {
        1
    } else {
        thread::available_parallelism().map_or(1, usize::from)
    };
    let (next, met) = (AtomicU64::new(seed), AtomicU64::new(0));
    let failed = AtomicBool::new(false);
    let work = || {
        let mut tally = Tally::default();
        while met.load(Ordering::Relaxed) < crash_points
            && !failed.load(Ordering::Relaxed)
            && until.is_none_or(|until| Instant::now() < until)
        {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            let played = catch_unwind(|| play(seed));
            let played = played.unwrap_or_else(|panic| Err(told(&*panic)));
            let world = played.map_err(|what| {
                failed.store(true, Ordering::Relaxed);
                (seed, what)
            })?;
            met.fetch_add(world.crash_points(), Ordering::Relaxed);
            tally += world;
        }
        Ok(tally)
    };
    let ends: Vec<Result<Tally, (u64, String)>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let ends = threads.into_iter().map(|thread| thread.join());
        ends.map(|end| end.unwrap_or_else(|panic| Err((seed, told(&*panic)))))
            .collect()
    });
    let mut tally = Tally::default();
    let mut faults = Vec::new();
    for end in ends {
        match end {
            Ok(part) => tally += part,
            Err(fault) => faults.push(fault),
        }
    }
    match faults.into_iter().min() {
        Some(fault) => Err(fault),
        None => Ok((tally, next.into_inner())),
    }
}

/// The text of a panic.
fn told(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panic: {}", text.unwrap_or("without a text"))
}
