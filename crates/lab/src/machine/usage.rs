//! The CPU time, page faults, context switches and memory of a run: of the measuring thread and of the process.
//!
//! Read from clocks and kernel files. A file that cannot be read counts as zero and does not fail the measurement.

use std::fs;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::machine::status_field;

/// Consumption of a thread or a process.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Consumption {
    /// Time on a core, in user and kernel mode, nanoseconds.
    pub cpu_ns: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
    /// Page faults that waited for a disk.
    pub major_faults: u64,
    /// Context switches because it waited.
    pub voluntary_switches: u64,
    /// Context switches because another task took the core.
    pub involuntary_switches: u64,
}

/// Resets the peak of resident memory (proc_pid_clear_refs(5)).
pub fn reset_peak_memory() {
    // If not possible, the peak counts from the start of the process.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// Resources used by a run.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Used {
    /// The thread that sends orders and times their answers.
    pub thread: Consumption,
    /// The whole process: both ends, and the other threads that lived until the end of the run.
    pub process: Consumption,
    /// Peak resident memory of the process since [`reset_peak_memory`], KiB.
    pub peak_memory_kib: u64,
}

/// The counters at one moment; the difference of two is a [`Used`].
#[derive(Clone, Copy, Debug)]
pub struct UsageReading {
    thread: Consumption,
    process: Consumption,
}

impl UsageReading {
    /// Reads the counters; for a thread, those of the calling thread.
    pub fn take() -> Self {
        let thread = Consumption {
            cpu_ns: cpu_ns(ClockId::ThreadCPUTime),
            ..counters("/proc/thread-self")
        };
        let mut process = Consumption {
            cpu_ns: cpu_ns(ClockId::ProcessCPUTime),
            ..counters("/proc/self")
        };
        // The context switches in the status of a process are those of its first thread.
        let tasks = fs::read_dir("/proc/self/task").into_iter().flatten();
        let switches = tasks
            .flatten()
            .map(|task| switches(&task.path().to_string_lossy()));
        let sums = switches.fold((0, 0), |sum, task| (sum.0 + task.0, sum.1 + task.1));
        (process.voluntary_switches, process.involuntary_switches) = sums;
        Self { thread, process }
    }

    /// Resources used since then.
    pub fn since(self) -> Used {
        let now = Self::take();
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let peak = status_field(&status, "VmHWM").and_then(|text| text.strip_suffix(" kB"));
        Used {
            thread: now.thread.less(&self.thread),
            process: now.process.less(&self.process),
            peak_memory_kib: peak.and_then(|text| text.trim().parse().ok()).unwrap_or(0),
        }
    }
}

impl Consumption {
    /// The difference to an earlier reading.
    fn less(&self, earlier: &Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            voluntary_switches: self
                .voluntary_switches
                .saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(earlier.involuntary_switches),
        }
    }
}

fn cpu_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Page faults and context switches of a task, by its folder in `/proc`.
fn counters(folder: &str) -> Consumption {
    let stat = fs::read_to_string(format!("{folder}/stat")).unwrap_or_default();
    let (minor_faults, major_faults) = faults(&stat).unwrap_or_default();
    let (voluntary_switches, involuntary_switches) = switches(folder);
    Consumption {
        cpu_ns: 0,
        minor_faults,
        major_faults,
        voluntary_switches,
        involuntary_switches,
    }
}

/// Minor and major faults in a `stat` file: fields 10 and 12; the name (field 2) may contain spaces.
fn faults(stat: &str) -> Option<(u64, u64)> {
    let (_, after_name) = stat.rsplit_once(") ")?;
    let mut fields = after_name.split(' ');
    let minor = fields.nth(7)?.parse().ok()?;
    let major = fields.nth(1)?.parse().ok()?;
    Some((minor, major))
}

/// Voluntary and involuntary context switches of a task.
fn switches(folder: &str) -> (u64, u64) {
    let status = fs::read_to_string(format!("{folder}/status")).unwrap_or_default();
    let count = |name| {
        status_field(&status, name)
            .and_then(|text| text.parse().ok())
            .unwrap_or(0)
    };
    (
        count("voluntary_ctxt_switches"),
        count("nonvoluntary_ctxt_switches"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_found_behind_any_name() {
        let stat = "12 (a ) b) S 1 2 3 4 5 6 700 8 9 10 11";
        assert_eq!(faults(stat), Some((700, 9)));
        assert_eq!(faults("12 (a) S 1"), None);
    }

    #[test]
    fn what_a_thread_does_is_counted() {
        let before = UsageReading::take();
        let mut memory = vec![0_u8; 64 << 20];
        memory.iter_mut().step_by(4096).for_each(|page| *page = 1);
        std::thread::sleep(std::time::Duration::from_millis(1));
        let used = before.since();
        std::hint::black_box(&memory);
        for consumption in [used.thread, used.process] {
            assert!(
                consumption.cpu_ns > 0 && consumption.voluntary_switches > 0,
                "{used:?}"
            );
            // A huge page faults once for 2 MiB.
            assert!(consumption.minor_faults >= 32, "{used:?}");
        }
        assert!(used.peak_memory_kib >= 64 << 10, "{used:?}");
    }
}
