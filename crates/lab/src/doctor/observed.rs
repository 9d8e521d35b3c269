//! Input and result of a check.

use serde::Serialize;

use super::snapshot::Snapshot;
use crate::machine::core_list;

/// Input of the checks: one or two snapshots, cores, a process and a network card.
#[derive(Debug)]
pub struct Observed {
    /// An earlier snapshot, for counters. Without it every count over an interval is unknown.
    pub before: Option<Snapshot>,
    /// The snapshot to check.
    pub now: Snapshot,
    /// The hot cores, which spin.
    pub cores: Vec<usize>,
    /// The process for the checks of a process, if requested.
    pub pid: Option<u32>,
    /// The network card, if requested.
    pub interface: Option<String>,
    /// The output of `ethtool -c` and `ethtool -k` for the card, if given.
    pub ethtool: Option<String>,
}

impl Observed {
    /// How much a counter has grown over the interval. `None` without an interval, when the counter cannot be read,
    /// or when the counter decreased.
    pub fn delta(&self, read: impl Fn(&Snapshot) -> Option<u64>) -> Option<u64> {
        // Read the counter in any case: this reading is the `before` of the next snapshot.
        let now = read(&self.now);
        now?.checked_sub(read(self.before.as_ref()?)?)
    }

    /// Seconds between the two snapshots.
    pub fn seconds(&self) -> Option<f64> {
        let now = self.now.uptime();
        let seconds = now? - self.before.as_ref()?.uptime()?;
        (seconds > 0.0).then_some(seconds)
    }

    /// Whether a list of cores, as the kernel writes it, contains every hot core; `None` without hot cores.
    pub fn holds_hot_cores(&self, list: &str) -> Option<bool> {
        if self.cores.is_empty() {
            return None;
        }
        let list = core_list(list);
        Some(self.cores.iter().all(|core| list.contains(core)))
    }

    /// Whether a list of cores contains no hot core; `None` without hot cores.
    pub fn spares_hot_cores(&self, list: &str) -> Option<bool> {
        if self.cores.is_empty() {
            return None;
        }
        let list = core_list(list);
        Some(!self.cores.iter().any(|core| list.contains(core)))
    }

    /// Whether a mask of cores, as the kernel writes it (`ff,ffffffff`), contains no hot core.
    pub fn mask_spares_hot_cores(&self, mask: &str) -> Option<bool> {
        if self.cores.is_empty() {
            return None;
        }
        let groups = mask.split(',').rev();
        let groups: Option<Vec<u32>> = groups
            .map(|group| u32::from_str_radix(group.trim(), 16).ok())
            .collect();
        let groups = groups?;
        let has = |core: &usize| {
            let group = groups.get(core / 32);
            group.is_some_and(|bits| bits >> (core % 32) & 1 == 1)
        };
        Some(!self.cores.iter().any(has))
    }

    /// A file of the process; `None` when no process was requested.
    pub fn of_process(&self, file: &str) -> Option<String> {
        Some(format!("proc/{}/{file}", self.pid?))
    }

    /// The hot cores as a list, `2,3`.
    pub fn core_text(&self) -> String {
        let cores: Vec<String> = self.cores.iter().map(usize::to_string).collect();
        cores.join(",")
    }
}

/// Health of a check.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Health {
    /// Good.
    Good,
    /// For information: there is no good or bad value.
    Recorded,
    /// The check was not requested: it needs a process, a network card or a measurement.
    NotAsked,
    /// The value could not be read.
    Unknown,
    /// Bad.
    Bad,
}

/// Observation of a check: values, and their worst health.
#[derive(Clone, Debug, Default)]
pub struct Observation {
    parts: Vec<String>,
    /// The worst health so far; `None` before the first value that was judged.
    health: Option<Health>,
}

impl Observation {
    /// An observation without values.
    pub fn new() -> Self {
        Self::default()
    }

    /// The value cannot be read.
    pub fn unknown(why: impl Into<String>) -> Self {
        Self::new().judge(why, None)
    }

    /// The check was not requested.
    pub fn not_asked(flag: &str) -> Self {
        Self {
            parts: vec![format!("needs {flag}")],
            health: Some(Health::NotAsked),
        }
    }

    /// Adds a value with its verdict: good, bad, or `None` when unknown.
    pub fn judge(mut self, value: impl Into<String>, good: Option<bool>) -> Self {
        let health = match good {
            Some(true) => Health::Good,
            Some(false) => Health::Bad,
            None => Health::Unknown,
        };
        self.health = self.health.max(Some(health));
        self.record(value)
    }

    /// Adds a value without a verdict. Control characters are replaced by `?`, so that they do not reach a terminal.
    pub fn record(mut self, value: impl Into<String>) -> Self {
        let value: String = value.into();
        if !value.is_empty() {
            self.parts.push(value.replace(char::is_control, "?"));
        }
        self
    }

    /// All values in one line, and the health of the check: [`Health::Recorded`] when no value was judged.
    pub fn into_parts(self) -> (String, Health) {
        let health = self.health.unwrap_or(Health::Recorded);
        (self.parts.join(", "), health)
    }
}

/// A named value, or `unknown`.
pub fn named<T: ToString>(name: &str, value: Option<T>) -> String {
    match value {
        Some(value) => format!("{name} {}", value.to_string()),
        None => format!("{name} unknown"),
    }
}
