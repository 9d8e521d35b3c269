//! The machine of a measurement, and its disturbances.
//!
//! All values come from files of the kernel. A value that cannot be read is `unknown`; it does not fail the
//! measurement.

pub mod counts;
pub mod distance;
pub mod gaps;
pub mod usage;

use std::fmt;
use std::fs;

use serde::{Deserialize, Serialize};

/// Facts about the machine that are needed to compare figures.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Machine {
    /// Model name of the processor.
    pub processor: String,
    /// Cores this process may use.
    pub cores: usize,
    /// Kernel release.
    pub kernel: String,
    /// Clock source, for example `tsc`.
    pub clock_source: String,
    /// The hypervisor, or `none`.
    pub hypervisor: String,
    /// Frequency governor of the first core.
    pub governor: String,
    /// Cores that the kernel's command line keeps free of other work.
    pub isolated: String,
    /// Load average of the last minute when the measurement started.
    pub load: String,
}

impl Machine {
    /// Reads the facts of this machine.
    pub fn read() -> Self {
        let cpu_info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Self {
            processor: cpu_field(&cpu_info, "model name").unwrap_or_else(unknown),
            cores: allowed_cores().len(),
            kernel: file("/proc/sys/kernel/osrelease"),
            clock_source: file("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            hypervisor: hypervisor(&cpu_info),
            governor: file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            isolated: file("/sys/devices/system/cpu/isolated"),
            load: file("/proc/loadavg")
                .split(' ')
                .next()
                .map_or_else(unknown, str::to_owned),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {} cores, kernel {}, clock {}, hypervisor {}, governor {}, isolated {}, load {}",
            self.processor,
            self.cores,
            self.kernel,
            self.clock_source,
            self.hypervisor,
            self.governor,
            self.isolated,
            self.load
        )
    }
}

/// Counters of the time that other work took from this process. The difference of two readings is a
/// [`TakenByOthers`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Noise {
    steal_ticks: u64,
    preempted: u64,
}

/// Time taken by other work during a run.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct TakenByOthers {
    /// Time, in milliseconds over all cores, in which one of our cores had work but the hypervisor ran another
    /// machine. The kernel counts it in steps of 10 ms.
    pub steal_ms: u64,
    /// How often the measuring thread was preempted.
    pub preempted: u64,
}

impl TakenByOthers {
    /// Whether any time was taken.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.preempted > 0 || self.steal_ms > 0
    }
}

impl Noise {
    /// Reads the counters of the process and of the calling thread.
    pub fn read() -> Self {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
        Self {
            steal_ticks: steal_ticks(&stat).unwrap_or(0),
            preempted: status_field(&status, "nonvoluntary_ctxt_switches")
                .and_then(|text| text.parse().ok())
                .unwrap_or(0),
        }
    }

    /// Time taken since.
    pub fn since(self) -> TakenByOthers {
        let now = Self::read();
        TakenByOthers {
            steal_ms: now.steal_ticks.saturating_sub(self.steal_ticks) * 10,
            preempted: now.preempted.saturating_sub(self.preempted),
        }
    }
}

/// The cores this process may run on, ascending; empty when the kernel does not say.
pub fn allowed_cores() -> Vec<usize> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status_field(&status, "Cpus_allowed_list")
        .map(core_list)
        .unwrap_or_default()
}

/// Two cores for the two ends: two isolated cores if the machine has them, otherwise the first two allowed cores.
pub fn two_cores() -> Option<(usize, usize)> {
    let allowed = allowed_cores();
    let isolated: Vec<usize> = core_list(&file("/sys/devices/system/cpu/isolated"))
        .into_iter()
        .filter(|core| allowed.contains(core))
        .collect();
    match (&isolated[..], &allowed[..]) {
        ([a, b, ..], _) | (_, [a, b, ..]) => Some((*a, *b)),
        _ => None,
    }
}

/// Reads a list as the kernel writes it, `0-3,8`. Skips parts that are not numbers.
pub(crate) fn core_list(text: &str) -> Vec<usize> {
    let mut cores = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.trim().parse(), last.trim().parse::<usize>()) {
            cores.extend(first..=last.min(first + 4095));
        }
    }
    cores
}

fn unknown() -> String {
    "unknown".to_owned()
}

/// The first line of a file; `none` when it is empty.
fn file(path: &str) -> String {
    match fs::read_to_string(path) {
        Ok(text) => match text.lines().next().map(str::trim) {
            None | Some("") => "none".to_owned(),
            Some(line) => line.to_owned(),
        },
        Err(_) => unknown(),
    }
}

fn cpu_field(cpu_info: &str, name: &str) -> Option<String> {
    let line = cpu_info.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn hypervisor(cpu_info: &str) -> String {
    let flags = cpu_field(cpu_info, "flags").unwrap_or_default();
    if !flags.split(' ').any(|flag| flag == "hypervisor") {
        return "none".to_owned();
    }
    match file("/sys/class/dmi/id/sys_vendor").as_str() {
        "unknown" | "none" => "yes".to_owned(),
        vendor => vendor.to_owned(),
    }
}

/// The steal time: the eighth number of the first line of `/proc/stat`.
fn steal_ticks(stat: &str) -> Option<u64> {
    stat.lines().next()?.split_whitespace().nth(8)?.parse().ok()
}

pub(crate) fn status_field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        .map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores_as_the_kernel_writes_them() {
        assert_eq!(core_list("0-3,8\n"), [0, 1, 2, 3, 8]);
        assert_eq!(core_list("1"), [1]);
        assert!(core_list("none").is_empty());
    }

    #[test]
    fn steal_is_the_eighth_count() {
        assert_eq!(steal_ticks("cpu  1 2 3 4 5 6 7 88 9 10\ncpu0 1"), Some(88));
        assert_eq!(steal_ticks("cpu 1 2"), None);
        assert_eq!(steal_ticks(""), None);
    }

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let status = "voluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t9\n";
        assert_eq!(
            status_field(status, "nonvoluntary_ctxt_switches"),
            Some("9")
        );
        assert_eq!(status_field(status, "ctxt"), None);
    }
}
