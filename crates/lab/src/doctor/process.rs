//! Checks of a process: the scheduling of its threads.

use super::memory::stat_field;
use super::observed::{Observation, Observed, named};
use super::snapshot::Snapshot;
use crate::machine::core_list;

/// A thread of the process.
struct Thread {
    id: u32,
    /// Cores on which the thread may run, as the kernel lists them.
    cores: Vec<usize>,
    /// Scheduling policy: 1 is FIFO, 2 is RR.
    policy: u64,
    priority: u64,
}

impl Thread {
    fn is_real_time(&self) -> bool {
        matches!(self.policy, 1 | 2)
    }

    fn policy(&self) -> String {
        match self.policy {
            0 => "OTHER".to_owned(),
            1 => format!("FIFO {}", self.priority),
            2 => format!("RR {}", self.priority),
            3 => "BATCH".to_owned(),
            5 => "IDLE".to_owned(),
            6 => "DEADLINE".to_owned(),
            other => format!("policy {other}"),
        }
    }
}

/// The threads of the process; `None` when a thread cannot be read, or the list is empty.
fn threads(of: &Observed) -> Option<Vec<Thread>> {
    let folder = of.of_process("task")?;
    let read = |id: u32| {
        let stat = format!("{folder}/{id}/stat");
        let cores = of
            .now
            .field(&format!("{folder}/{id}/status"), "Cpus_allowed_list")?;
        Some(Thread {
            id,
            cores: core_list(&cores),
            policy: stat_field(&of.now, &stat, 41)?,
            priority: stat_field(&of.now, &stat, 40)?,
        })
    };
    let threads: Vec<Thread> = of
        .now
        .numbers(&folder)?
        .into_iter()
        .map(read)
        .collect::<Option<_>>()?;
    (!threads.is_empty()).then_some(threads)
}

pub fn real_time_throttle(of: &Observed) -> Observation {
    let Some(runtime) = of.now.number("proc/sys/kernel/sched_rt_runtime_us") else {
        return Observation::unknown("sched_rt_runtime_us unknown");
    };
    let shown = format!("sched_rt_runtime_us {runtime}");
    if of.pid.is_none() {
        return Observation::not_asked("--pid").record(shown);
    }
    let Some(threads) = threads(of) else {
        return Observation::new()
            .judge(shown, None)
            .judge("threads unknown", None);
    };
    let seen = Observation::new();
    let real_time: Vec<_> = threads
        .iter()
        .filter(|thread| thread.is_real_time())
        .collect();
    if real_time.is_empty() {
        return seen
            .judge(shown, Some(runtime >= 0))
            .record("no real-time thread");
    }
    let isolated = of.now.line("sys/devices/system/cpu/isolated");
    let alone = isolated.map(|list| {
        let isolated = core_list(&list);
        let is = |thread: &&Thread| thread.cores.iter().all(|core| isolated.contains(core));
        real_time.iter().all(is)
    });
    let text = match alone {
        Some(true) => "real-time threads on isolated cores",
        Some(false) => "real-time threads on other cores",
        None => "real-time threads, isolated cores unknown",
    };
    // Real-time throttling stops a spinning thread. Without throttling, the thread needs a core of its own.
    let good = if runtime >= 0 { Some(false) } else { alone };
    seen.judge(shown, good).record(text)
}

fn pushed_off(of: &Snapshot, folder: &str, thread: u32) -> Option<u64> {
    let count = of.field(
        &format!("{folder}/{thread}/status"),
        "nonvoluntary_ctxt_switches",
    );
    count?.parse().ok()
}

pub fn policy(of: &Observed) -> Observation {
    let Some(folder) = of.of_process("task") else {
        return Observation::not_asked("--pid");
    };
    let Some(threads) = threads(of) else {
        return Observation::unknown("threads unknown");
    };
    if of.cores.is_empty() {
        return Observation::unknown("no hot cores given (--cores)");
    }
    let is_hot = |thread: &&Thread| matches!(thread.cores[..], [core] if of.cores.contains(&core));
    let hot: Vec<_> = threads.iter().filter(is_hot).collect();
    if hot.is_empty() {
        let text = format!("none of {} threads is pinned to a hot core", threads.len());
        return Observation::new().judge(text, Some(false));
    }
    let mut seen = Observation::new();
    for thread in hot {
        let core = thread.cores[0];
        let others = threads
            .iter()
            .filter(|other| other.cores.contains(&core))
            .count()
            - 1;
        let text = format!("core {core}: thread {} {}", thread.id, thread.policy());
        seen = seen.judge(text, Some(others == 0));
        if others > 0 {
            seen = seen.record(format!("{others} other threads may run on it"));
        }
        let switches = of.delta(|of| pushed_off(of, &folder, thread.id));
        let good = switches.map(|count| count == 0);
        seen = seen.judge(named("preempted", switches), good);
    }
    seen
}
