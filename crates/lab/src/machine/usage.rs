//! CPU time, page faults, context switches and memory of a run, for the measuring thread and for the process.
//!
//! Sources are getrusage(2), clocks and files of the kernel. A value that cannot be read counts as zero and does not
//! fail the measurement.

use std::fs;

use nix::sys::resource::{UsageWho, getrusage};
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
    /// Context switches because the thread waited.
    pub voluntary_switches: u64,
    /// Context switches because the kernel gave the core to another task.
    pub involuntary_switches: u64,
}

/// Resets the peak of resident memory (proc_pid_clear_refs(5)).
pub fn reset_peak_memory() {
    // If the reset fails, the peak counts from the start of the process.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// Resources used by a run.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Used {
    /// The thread that sends orders and times their answers.
    pub thread: Consumption,
    /// The whole process: both ends, and all other threads, including ended threads.
    pub process: Consumption,
    /// Peak resident memory of the process since [`reset_peak_memory`], KiB.
    pub peak_memory_kib: u64,
}

/// The counters at one moment. The difference of two readings is a [`Used`].
#[derive(Clone, Copy, Debug)]
pub struct UsageReading {
    thread: Consumption,
    process: Consumption,
}

impl UsageReading {
    /// Reads the counters of the process and of the calling thread.
    pub fn take() -> Self {
        Self {
            thread: Consumption::of(UsageWho::RUSAGE_THREAD, ClockId::ThreadCPUTime),
            process: Consumption::of(UsageWho::RUSAGE_SELF, ClockId::ProcessCPUTime),
        }
    }

    /// Resources used since this reading.
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
    /// Consumption of the thread or the process since its start. CPU time is read from `clock`, which is finer than
    /// getrusage(2).
    fn of(whose: UsageWho, clock: ClockId) -> Self {
        let time = clock_gettime(clock);
        let mut consumption = Self {
            cpu_ns: time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned(),
            ..Self::default()
        };
        if let Ok(usage) = getrusage(whose) {
            consumption.minor_faults = usage.minor_page_faults().cast_unsigned();
            consumption.major_faults = usage.major_page_faults().cast_unsigned();
            consumption.voluntary_switches = usage.voluntary_context_switches().cast_unsigned();
            consumption.involuntary_switches = usage.involuntary_context_switches().cast_unsigned();
        }
        consumption
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_thread_does_is_counted() {
        let before = UsageReading::take();
        let mut memory = vec![0_u8; 64 << 20];
        memory.iter_mut().step_by(4096).for_each(|page| *page = 1);
        std::thread::sleep(std::time::Duration::from_millis(1));
        // The process has what its ended threads did too.
        let slept =
            || (0..20).for_each(|_| std::thread::sleep(std::time::Duration::from_micros(50)));
        std::thread::spawn(slept).join().unwrap();
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
        assert!(used.process.voluntary_switches >= 20, "{used:?}");
        assert!(used.peak_memory_kib >= 64 << 10, "{used:?}");
    }
}
