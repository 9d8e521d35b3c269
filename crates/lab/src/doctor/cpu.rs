//! Checks of cores: what else may run on them, their frequency, and their clock.

use super::observed::{Observation, Observed, named};
use super::snapshot::Snapshot;
use crate::machine::core_list;

/// Longest wake-up time of a C-state that is still harmless, microseconds.
const SHALLOW: i64 = 2;
/// Busy share of a core that counts as idle.
const IDLE: f64 = 0.01;
/// A core above this share of its highest frequency counts as running at the highest frequency.
const NEAR_HIGHEST: f64 = 0.95;

/// Shown for a check that needs hot cores when none are configured.
const NO_CORES: &str = "no hot cores given (--cores)";

fn cpu_file(core: usize, file: &str) -> String {
    format!("sys/devices/system/cpu/cpu{core}/{file}")
}

fn flags(of: &Snapshot) -> Option<Vec<String>> {
    let flags = of.field("proc/cpuinfo", "flags")?;
    Some(flags.split_whitespace().map(str::to_owned).collect())
}

/// A value in a line of `proc/stat`, in clock ticks. `count` 0 is the time of user programs.
fn ticks(of: &Snapshot, line: &str, count: usize) -> Option<u64> {
    let text = of.text("proc/stat")?;
    let mut lines = text.lines().map(str::split_whitespace);
    let mut words = lines.find_map(|mut words| (words.next()? == line).then_some(words))?;
    words.nth(count)?.parse().ok()
}

pub fn virtual_machine(of: &Observed) -> Observation {
    let virtual_one = flags(&of.now).map(|flags| flags.iter().any(|flag| flag == "hypervisor"));
    let steal = of.delta(|of| ticks(of, "cpu", 7));
    let what = match virtual_one {
        Some(true) => {
            let maker = of.now.line("sys/class/dmi/id/sys_vendor");
            format!("virtual machine {}", maker.unwrap_or_default())
        }
        Some(false) => "bare metal".to_owned(),
        None => "virtual machine unknown".to_owned(),
    };
    Observation::new()
        .judge(what.trim_end(), virtual_one.map(|it| !it))
        .judge(named("steal ticks", steal), steal.map(|ticks| ticks == 0))
}

pub fn isolated(of: &Observed) -> Observation {
    let Some(isolated) = of.now.line("sys/devices/system/cpu/isolated") else {
        return Observation::unknown("isolated cores unknown");
    };
    let good = of.holds_hot_cores(&isolated);
    let good = good.map(|holds| holds && !core_list(&isolated).contains(&0));
    let shown = if isolated.is_empty() {
        "none"
    } else {
        &isolated
    };
    let said = of.now.boot_argument("isolcpus").flatten();
    Observation::new()
        .judge(shown, good)
        .record(said.map_or_else(String::new, |said| format!("isolcpus={said}")))
}

/// The tickless cores as the kernel lists them.
fn nohz_full(of: &Snapshot) -> Option<String> {
    let list = of.line("sys/devices/system/cpu/nohz_full")?;
    Some(if list == "(null)" {
        String::new()
    } else {
        list
    })
}

pub fn tickless(of: &Observed) -> Observation {
    let Some(list) = nohz_full(&of.now) else {
        return Observation::unknown("no nohz_full: a kernel without it");
    };
    let good = of.holds_hot_cores(&list);
    Observation::new().judge(if list.is_empty() { "none" } else { &list }, good)
}

pub fn is_tickless(of: &Observed) -> Option<bool> {
    of.holds_hot_cores(&nohz_full(&of.now)?)
}

pub fn rcu(of: &Observed) -> Observation {
    let Some(said) = of.now.boot_argument("rcu_nocbs") else {
        return Observation::unknown("the kernel command line (/proc/cmdline) cannot be read");
    };
    let holds = |list: &str| match list {
        "" | "all" => Some(!of.cores.is_empty()),
        list => of.holds_hot_cores(list),
    };
    let offloaded = match &said {
        Some(list) => holds(list),
        // Tickless cores have their callbacks off-loaded by the kernel.
        None => is_tickless(of).or_else(|| of.holds_hot_cores("")),
    };
    let shown = said.map_or_else(
        || "no rcu_nocbs".to_owned(),
        |list| format!("rcu_nocbs={list}"),
    );
    let seen = Observation::new().judge(shown, offloaded);
    if offloaded != Some(true) {
        return seen;
    }
    let threads = of.now.processes("rcuo*").filter(|all| !all.is_empty());
    let Some(threads) = threads else {
        return seen.judge("rcuo threads unknown", None);
    };
    let allowed = |pid: &u32| {
        of.now
            .field(&format!("proc/{pid}/status"), "Cpus_allowed_list")
    };
    let spare: Option<Vec<bool>> = threads
        .iter()
        .map(|pid| of.spares_hot_cores(&allowed(pid)?))
        .collect();
    match spare {
        None => seen.judge("rcuo threads unknown", None),
        Some(spare) => {
            let count = spare.iter().filter(|spares| !**spares).count();
            let text = format!(
                "{count} of {} rcuo threads may run on hot cores",
                spare.len()
            );
            seen.judge(text, Some(count == 0))
        }
    }
}

/// Busy share of a core over the interval.
fn busy(of: &Observed, core: usize) -> Option<f64> {
    let line = format!("cpu{core}");
    let count = |count| of.delta(|of| ticks(of, &line, count));
    let mut all = 0;
    for place in 0..8 {
        all += count(place)?;
    }
    // Idle time is the time without work plus the time waiting for a disk.
    let idle = count(3)? + count(4)?;
    (all > 0).then(|| 1.0 - idle as f64 / all as f64)
}

pub fn smt(of: &Observed) -> Observation {
    match of.now.number("sys/devices/system/cpu/smt/active") {
        Some(0) => return Observation::new().judge("off", Some(true)),
        Some(_) if !of.cores.is_empty() => {}
        Some(_) => return Observation::unknown(NO_CORES),
        None => return Observation::unknown("SMT unknown"),
    }
    let mut seen = Observation::new().record("on");
    for core in &of.cores {
        let Some(list) = of
            .now
            .line(&cpu_file(*core, "topology/thread_siblings_list"))
        else {
            seen = seen.judge(format!("siblings of {core} unknown"), None);
            continue;
        };
        let siblings: Vec<_> = core_list(&list)
            .into_iter()
            .filter(|it| it != core)
            .collect();
        if siblings.is_empty() {
            seen = seen.judge(format!("no sibling of {core}"), Some(true));
        }
        for sibling in siblings {
            let share = busy(of, sibling);
            let good = if of.cores.contains(&sibling) {
                Some(false)
            } else {
                share.map(|share| share < IDLE)
            };
            let share = share.map_or_else(
                || "busy unknown".to_owned(),
                |share| format!("{:.0} % busy", share * 100.0),
            );
            seen = seen.judge(format!("{sibling} beside {core} {share}"), good);
        }
    }
    seen
}

pub fn governor(of: &Observed) -> Observation {
    if of.cores.is_empty() {
        return Observation::unknown(NO_CORES);
    }
    let mut seen = Observation::new();
    for core in &of.cores {
        let file = |name: &str| cpu_file(*core, &format!("cpufreq/{name}"));
        let governor = of.now.line(&file("scaling_governor"));
        let good = governor.as_ref().map(|governor| governor == "performance");
        seen = seen.judge(named(&format!("core {core}"), governor), good);
        let current = of.now.number(&file("scaling_cur_freq"));
        let highest = of.now.number(&file("scaling_max_freq"));
        let near = current.zip(highest).map(|(current, highest)| {
            let good = current as f64 >= highest as f64 * NEAR_HIGHEST;
            (
                format!("{} of {} MHz", current / 1000, highest / 1000),
                good,
            )
        });
        seen = match near {
            Some((text, good)) => seen.judge(text, Some(good)),
            None => seen.judge("frequency unknown", None),
        };
    }
    let driver = of
        .now
        .line(&cpu_file(of.cores[0], "cpufreq/scaling_driver"));
    seen.record(driver.map_or_else(String::new, |driver| format!("driver {driver}")))
}

pub fn c_states(of: &Observed) -> Observation {
    let driver = of.now.line("sys/devices/system/cpu/cpuidle/current_driver");
    let mut seen = Observation::new().record(named("driver", driver.filter(|it| it != "none")));
    if of.cores.is_empty() {
        return seen.judge(NO_CORES, None);
    }
    for core in &of.cores {
        let folder = cpu_file(*core, "cpuidle");
        let states = of.now.names(&folder).unwrap_or_default();
        let states: Vec<_> = states.iter().filter(|it| it.starts_with("state")).collect();
        if states.is_empty() {
            seen = seen.judge(format!("core {core} unknown"), None);
        }
        let mut deep = false;
        for state in &states {
            let file = |name: &str| format!("{folder}/{state}/{name}");
            let latency = of.now.number(&file("latency"));
            let off = of.now.number(&file("disable")).map(|it| it != 0);
            let entered = of.delta(|of| of.number(&file("usage"))?.try_into().ok());
            let good = match (latency, off, entered) {
                (Some(latency), ..) if latency <= SHALLOW => continue,
                (Some(_), Some(true), _) => continue,
                (Some(_), _, Some(entered)) => Some(entered == 0),
                _ => None,
            };
            let name = of.now.line(&file("name"));
            let name = name.unwrap_or_else(|| state.to_string());
            deep = true;
            let wake = latency.map_or_else(String::new, |it| format!(" ({it} us)"));
            let entered = named("entered", entered);
            seen = seen.judge(format!("core {core} {name}{wake} {entered}"), good);
        }
        if !deep && !states.is_empty() {
            seen = seen.judge(format!("core {core} stays awake"), Some(true));
        }
    }
    match holder(&of.now) {
        Some(pid) => seen.record(format!("process {pid} holds cpu_dma_latency")),
        None => seen,
    }
}

/// The process that asks the kernel for short wake-ups, by keeping `/dev/cpu_dma_latency` open. Found only when this
/// process may read the other process's open files.
fn holder(of: &Snapshot) -> Option<u32> {
    of.numbers("proc")?.into_iter().find(|pid| {
        let folder = format!("proc/{pid}/fd");
        let files = of.names(&folder).unwrap_or_default();
        let mut files = files.iter().map(|file| format!("{folder}/{file}"));
        files.any(|file| of.links_to(&file, "/dev/cpu_dma_latency"))
    })
}

pub fn turbo(of: &Observed) -> Observation {
    let intel = of
        .now
        .number("sys/devices/system/cpu/intel_pstate/no_turbo");
    let others = of.now.number("sys/devices/system/cpu/cpufreq/boost");
    let on = intel.map(|it| it == 0).or(others.map(|it| it != 0));
    match on {
        Some(true) => Observation::new().record("on"),
        Some(false) => Observation::new().record("off"),
        None => Observation::unknown("turbo unknown"),
    }
}

pub fn clock(of: &Observed) -> Observation {
    let folder = "sys/devices/system/clocksource/clocksource0";
    let source = of.now.line(&format!("{folder}/current_clocksource"));
    let good = source.as_ref().map(|source| source == "tsc");
    let flags = flags(&of.now);
    let mut seen = Observation::new().judge(named("source", source), good);
    for flag in ["constant_tsc", "nonstop_tsc"] {
        let has = flags.as_ref().map(|all| all.iter().any(|it| it == flag));
        seen = match has {
            Some(true) => seen.judge(flag, has),
            Some(false) => seen.judge(format!("no {flag}"), has),
            None => seen.judge(format!("{flag} unknown"), has),
        };
    }
    seen
}
