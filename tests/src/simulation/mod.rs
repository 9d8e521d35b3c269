//! Worlds in which an engine dies at a chosen operation, again and again, and must lose nothing.
//!
//! A world is one seed: a real engine on a simulated machine, a counterparty that keeps every byte
//! ([`peer`]), a network that splits and breaks, a disk that tears. After each death the journal is
//! judged ([`check`]), the engine starts again, and at the end both sides must agree.

pub mod check;
pub mod peer;
pub mod world;

use std::fmt;
use std::ops::AddAssign;

/// What happened in a world, or in many.
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
    /// Damaged copies that were looked at.
    pub damages: u64,
    /// Connections that broke.
    pub resets: u64,
    /// One-way silences.
    pub silences: u64,
    /// Steps of the wall clock.
    pub clock_steps: u64,
    /// Sequence resets.
    pub sequence_resets: u64,
    /// Segments beyond the first.
    pub rolls: u64,
    /// Orders sent.
    pub orders: u64,
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
        self.sequence_resets += other.sequence_resets;
        self.rolls += other.rolls;
        self.orders += other.orders;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} crash points: {} kills, {} power cuts, {} during recovery, {} failed syncs, {} full disks; \
             {} worlds, {} orders, {} new segments, {} damaged copies, {} broken connections, {} silences, \
             {} clock steps, {} sequence resets",
            self.crash_points(),
            self.kills,
            self.power_cuts,
            self.nested,
            self.failed_syncs,
            self.full_disks,
            self.worlds,
            self.orders,
            self.rolls,
            self.damages,
            self.resets,
            self.silences,
            self.clock_steps,
            self.sequence_resets,
        )
    }
}

/// Plays the worlds of consecutive seeds until so many crash points have been met: what happened,
/// and one past the last seed.
///
/// # Errors
///
/// The seed that failed, and what did not hold.
pub fn campaign(seed: u64, crash_points: u64) -> Result<(Tally, u64), (u64, String)> {
    let mut tally = Tally::default();
    let mut next = seed;
    while tally.crash_points() < crash_points {
        tally += world::play(next).map_err(|what| (next, what))?;
        next += 1;
    }
    Ok((tally, next))
}
