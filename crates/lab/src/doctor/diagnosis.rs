//! The combined result of all checks.

use std::cmp::Reverse;

use serde::Serialize;

use super::checks::{CHECKS, Check, CheckMethod, Weight};
use super::measure::Measured;
use super::observed::{Health, Observation, Observed};
use super::snapshot::Snapshot;
use crate::machine::two_cores;

/// Findings on a machine.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    /// The hot cores.
    pub cores: Vec<usize>,
    /// The process, if requested.
    pub pid: Option<u32>,
    /// The network card, if requested.
    pub interface: Option<String>,
    /// Interval between the readings of counters, seconds; `None` without an interval.
    pub seconds: Option<f64>,
    /// The findings, one for each check, by weight, the bad findings first.
    pub findings: Vec<Finding>,
    /// The measurement, if requested.
    pub measured: Option<Measured>,
}

/// Finding of one check.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Name of the check.
    pub name: &'static str,
    /// Weight of the check.
    pub weight: Weight,
    /// Health of the check.
    pub health: Health,
    /// The values.
    pub found: String,
    /// The good value.
    pub good: &'static str,
    /// The row of the table.
    #[serde(skip)]
    pub check: &'static Check,
}

impl Diagnosis {
    /// Runs all checks.
    pub fn of(observed: &Observed, measured: Option<Measured>) -> Self {
        let mut findings: Vec<Finding> = CHECKS
            .iter()
            .map(|check| Finding::of(check, observed, measured.as_ref()))
            .collect();
        findings.sort_by_key(|finding| (finding.weight, Reverse(finding.health)));
        Self {
            cores: observed.cores.clone(),
            pid: observed.pid,
            interface: observed.interface.clone(),
            seconds: observed.seconds(),
            findings,
            measured,
        }
    }

    /// The exit code for the worst finding, as `fixwire doctor --help` lists them.
    pub fn exit_code(&self) -> u8 {
        let code = |finding: &Finding| match (finding.health, finding.weight) {
            (Health::Bad, Weight::Fail) => 15,
            (Health::Bad, Weight::Verdict) => 14,
            (Health::Bad, Weight::High) => 13,
            (Health::Bad, Weight::Mid) => 12,
            (Health::Bad, Weight::Low) => 11,
            (Health::Unknown, weight) if weight != Weight::Info => 10,
            _ => 0,
        };
        self.findings.iter().map(code).max().unwrap_or(0)
    }
}

impl Finding {
    fn of(check: &'static Check, observed: &Observed, measured: Option<&Measured>) -> Self {
        let seen = match (check.how, measured) {
            (CheckMethod::Read(look), _) => look(observed),
            (CheckMethod::Measure(judge), Some(measured)) => judge(measured),
            (CheckMethod::Measure(_), None) => Observation::not_asked("a measurement"),
        };
        let (found, health) = seen.into_parts();
        Self {
            name: check.name,
            weight: check.weight,
            health,
            found,
            good: check.good,
            check,
        }
    }
}

/// Diagnosis for the result files of benches: of the two cores that benches use, without an interval and without
/// measurements.
pub fn facts() -> Diagnosis {
    let observed = Observed {
        before: None,
        now: Snapshot::of("/"),
        cores: hot_cores(),
        pid: None,
        interface: None,
        ethtool: None,
    };
    Diagnosis::of(&observed, None)
}

/// The two cores that benches use; empty on a machine with fewer than two.
pub fn hot_cores() -> Vec<usize> {
    two_cores().map_or_else(Vec::new, |(a, b)| vec![a, b])
}
