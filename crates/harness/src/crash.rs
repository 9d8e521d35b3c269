//! Crash points of a trial, and its failures.

use std::fmt;

/// How a process ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CrashKind {
    /// By `kill -9`.
    Kill,
    /// By a power cut: of what was not synced, each sector is on the disk or not.
    PowerCut,
    /// By a sync that fails, after which the engine ends by itself.
    FailedSync,
}

impl CrashKind {
    const NAMES: [(Self, &str); 3] = [
        (Self::Kill, "kill"),
        (Self::PowerCut, "power"),
        (Self::FailedSync, "sync"),
    ];
}

/// A point at which a trial lets the engine die: the operation of its disk or network, or for [`CrashKind::FailedSync`] the
/// sync, counted from 0.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CrashPoint {
    /// The source of random numbers.
    pub seed: u64,
    /// How the process ends.
    pub fault: CrashKind,
    /// Where.
    pub at: u64,
}

impl CrashPoint {
    /// Reads what [`Display`](fmt::Display) writes.
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
    /// Where the engine died; `None`: in the run without a crash.
    pub point: Option<CrashPoint>,
    /// The step of the script, counted from 1, and what it is.
    pub step: String,
    /// The failure.
    pub what: String,
    /// Everything that passed between the engine and its peers, a line each.
    pub trace: Vec<String>,
}

/// The variable that lets a trial play one [`CrashPoint`] only, and print what passes.
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

/// As for a person, since this is what `unwrap` prints.
impl fmt::Debug for TrialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for TrialError {}

/// The plays of a trial.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TrialTally {
    /// Ends of the process, while it recovered included.
    pub kills: u64,
    /// Power cuts, while it recovered included.
    pub power_cuts: u64,
    /// Syncs that failed.
    pub failed_syncs: u64,
    /// How many of these came while it recovered.
    pub during_recovery: u64,
    /// Messages that the application was handed by a second process.
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
