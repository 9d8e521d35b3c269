//! Checks of the kernel and of the machine as a whole.

use super::observed::{Observation, Observed, named};

/// Highest load average of the last minute that counts as idle.
const IDLE_LOAD: f64 = 0.5;
/// Model-specific register of Intel with the count of system management interrupts.
const SMI_COUNT: u64 = 0x34;
/// Programs that adjust the clock, by the beginnings of their names.
const CLOCK_KEEPERS: [&str; 5] = ["chronyd", "ptp4l", "phc2sys", "ntpd", "systemd-timesyn*"];

pub fn flavour(of: &Observed) -> Observation {
    let Some(release) = of.now.line("proc/sys/kernel/osrelease") else {
        return Observation::unknown("release unknown");
    };
    let real_time = match of.now.number("sys/kernel/realtime") {
        Some(1) => "PREEMPT_RT",
        // The file exists only in kernels with PREEMPT_RT.
        _ => "PREEMPT_RT not seen",
    };
    Observation::new().record(release).record(real_time)
}

pub fn mitigations(of: &Observed) -> Observation {
    let folder = "sys/devices/system/cpu/vulnerabilities";
    let Some(names) = of.now.names(folder) else {
        return Observation::unknown("vulnerabilities unknown");
    };
    let states: Vec<_> = names
        .iter()
        .filter_map(|name| of.now.line(&format!("{folder}/{name}")))
        .collect();
    let count = |start: &str| {
        states
            .iter()
            .filter(|state| state.starts_with(start))
            .count()
    };
    let said = of.now.boot_argument("mitigations").flatten();
    Observation::new()
        .record(format!("{} mitigated", count("Mitigation")))
        .record(format!("{} vulnerable", count("Vulnerable")))
        .record(said.map_or_else(String::new, |said| format!("mitigations={said}")))
}

pub fn machine_checks(of: &Observed) -> Observation {
    let ignore = of
        .now
        .number("sys/devices/system/machinecheck/machinecheck0/ignore_ce");
    let smi = of
        .cores
        .first()
        .and_then(|core| of.delta(|of| of.count_at(&format!("dev/cpu/{core}/msr"), SMI_COUNT)));
    Observation::new()
        .judge(named("ignore_ce", ignore), ignore.map(|it| it == 1))
        .judge(named("SMI", smi), smi.map(|count| count == 0))
}

pub fn load(of: &Observed) -> Observation {
    let load = of.now.line("proc/loadavg");
    let load = load.and_then(|line| line.split(' ').next()?.parse::<f64>().ok());
    // Each spinning thread adds 1 to the load.
    let spinning = of.pid.map_or(0, |_| of.cores.len());
    let idle = load.map(|load| load <= IDLE_LOAD + spinning as f64);
    let running = |name: &&&str| of.now.processes(name).is_some_and(|all| !all.is_empty());
    let keeper = CLOCK_KEEPERS.iter().find(running);
    let seen = Observation::new().judge(named("load", load), idle);
    match (keeper, of.now.processes("*")) {
        (Some(keeper), _) => seen.judge(
            format!("clock synchronized by {}", keeper.trim_end_matches('*')),
            Some(true),
        ),
        (None, Some(_)) => seen.judge("no clock daemon seen", Some(false)),
        (None, None) => seen.judge("clock unknown", None),
    }
}
