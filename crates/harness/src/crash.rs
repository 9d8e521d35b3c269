//! The points of a trial at which the engine crashes, and the failures of a trial.

use std::fmt;

/// How the process of the engine ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CrashKind {
    /// By `kill -9`.
    Kill,
    /// By a power failure. Each sector that was not synced is on the disk or is not.
    PowerCut,
    /// By a sync that fails. After the failed sync the engine stops by itself.
    FailedSync,
}

impl CrashKind {
    const NAMES: [(Self, &str); 3] = [
        (Self::Kill, "kill"),
        (Self::PowerCut, "power"),
        (Self::FailedSync, "sync"),
    ];
}

/// A point at which a trial kills the engine. The point is the number of an operation of the engine's disk or network,
/// counted from zero. For [`CrashKind::FailedSync`] the number is that of a sync.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CrashPoint {
    /// The seed for random numbers.
    pub seed: u64,
    /// How the process ends.
    pub fault: CrashKind,
    /// The number of the operation or of the sync.
    pub at: u64,
}

impl CrashPoint {
    /// Parses a crash point in the form in which [`Display`](fmt::Display) writes it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        let seed = parts.next()?.parse().ok()?;
        let name = parts.next()?;
        let (fault, _) = CrashKind::NAMES.into_iter().find(|(_, own)| *own == name)?;
        let at = parts.next()?.parse().ok()?;
        let point = Self { seed, fault, at };
        parts.next().is_none().then_some(point)
    }
}

/// `SEED/kill/OPERATION`, `SEED/power/OPERATION`, `SEED/sync/NUMBER`.
impl fmt::Display for CrashPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = CrashKind::NAMES.iter().find(|(own, _)| *own == self.fault);
        let name = name.map_or("", |(_, name)| name);
        write!(f, "{}/{name}/{}", self.seed, self.at)
    }
}

/// A failure of a trial.
#[derive(Clone, Eq, PartialEq)]
pub struct TrialError {
    /// The crash point; `None` for the run without a crash.
    pub point: Option<CrashPoint>,
    /// The step of the script: its number, from 1, and its text.
    pub step: String,
    /// The failure.
    pub what: String,
    /// Everything that the engine and its peers have sent to each other, one line each.
    pub trace: Vec<String>,
}

/// The environment variable that makes a trial play only one [`CrashPoint`] and print the messages.
pub const REPEAT: &str = "FIXWIRE_CRASH";

impl fmt::Display for TrialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.point {
            None => write!(
                f,
                "{}: {}\nin the play without a crash point",
                self.step, self.what
            ),
            Some(point) => write!(
                f,
                "{point}, {}: {}\nrepeat it with the whole conversation: {REPEAT}={point}",
                self.step, self.what
            ),
        }
    }
}

/// Writes the same text as `Display`, because `unwrap` prints this.
impl fmt::Debug for TrialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for TrialError {}

/// The events in the plays of a trial, as numbers.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TrialTally {
    /// Number of times that the process was killed. Kills during recovery count too.
    pub kills: u64,
    /// Number of power failures. Power failures during recovery count too.
    pub power_cuts: u64,
    /// Failed syncs.
    pub failed_syncs: u64,
    /// Number of kills, power failures and failed syncs that happened during recovery.
    pub during_recovery: u64,
    /// Number of messages that were given to the application in a second process.
    pub handed_again: u64,
}

impl TrialTally {
    pub(crate) fn add(&mut self, other: &Self) {
        self.kills += other.kills;
        self.power_cuts += other.power_cuts;
        self.failed_syncs += other.failed_syncs;
        self.during_recovery += other.during_recovery;
        self.handed_again += other.handed_again;
    }
}

impl fmt::Display for TrialTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} kills, {} power cuts, {} failed syncs, {} of them during recovery; {} messages handed to the \
             application again",
            self.kills, self.power_cuts, self.failed_syncs, self.during_recovery, self.handed_again
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_point_is_read_as_it_is_written() {
        for text in ["1/kill/0", "7/power/123", "18446744073709551615/sync/3"] {
            assert_eq!(CrashPoint::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "1/kill", "1/kill/2/3", "x/kill/1", "1/murder/1"] {
            assert_eq!(CrashPoint::parse(text), None, "{text}");
        }
    }
}
