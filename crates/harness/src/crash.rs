//! Crash points of a trial, and its failures.

use std::fmt;

/// How a process ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CrashKind {
    /// By `kill -9`.
    Kill,
    /// By a power failure: each unsynced sector is on disk or not.
    PowerCut,
    /// By a failed sync, after which the engine stops by itself.
    FailedSync,
}

impl CrashKind {
    const NAMES: [(Self, &str); 3] = [
        (Self::Kill, "kill"),
        (Self::PowerCut, "power"),
        (Self::FailedSync, "sync"),
    ];
}

/// A point at which a trial kills the engine: the number of an operation of its disk or network, or for
/// [`CrashKind::FailedSync`] of a sync, from 0.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CrashPoint {
    /// The seed of the random numbers.
    pub seed: u64,
    /// How the process ends.
    pub fault: CrashKind,
    /// The number of the operation or sync.
    pub at: u64,
}

impl CrashPoint {
    /// Parses the output of [`Display`](fmt::Display).
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
    /// The crash point; `None`: in the run without a crash.
    pub point: Option<CrashPoint>,
    /// The step of the script, from 1, and its text.
    pub step: String,
    /// The failure.
    pub what: String,
    /// Everything sent between the engine and its peers, a line each.
    pub trace: Vec<String>,
}

/// The variable that makes a trial play only one [`CrashPoint`], and print the messages.
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

/// As for people, since `unwrap` prints this.
impl fmt::Debug for TrialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for TrialError {}

/// Number of plays of a trial.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TrialTally {
    /// Kills of the process, including those during recovery.
    pub kills: u64,
    /// Power failures, including those during recovery.
    pub power_cuts: u64,
    /// Failed syncs.
    pub failed_syncs: u64,
    /// How many of these happened during recovery.
    pub during_recovery: u64,
    /// Messages that were delivered to the application of a second process.
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
