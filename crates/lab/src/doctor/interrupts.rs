//! Checks of kernel work on hot cores: interrupts, deferred work, timers.

use super::cpu::is_tickless;
use super::observed::{Observation, Observed, named};
use super::snapshot::Snapshot;

/// Highest number of timer interrupts a second on a tickless core.
const TICKS: f64 = 2.0;

/// Number of interrupts on these cores in `proc/interrupts` or `proc/softirqs`, summed over the rows for which
/// `which` is true.
fn count(of: &Snapshot, file: &str, cores: &[usize], which: impl Fn(&str) -> bool) -> Option<u64> {
    let text = of.text(file)?;
    let mut lines = text.lines();
    // An offline core has no column.
    let columns: Vec<&str> = lines.next()?.split_whitespace().collect();
    let mut places = Vec::new();
    for core in cores {
        let name = format!("CPU{core}");
        places.push(columns.iter().position(|column| *column == name)?);
    }
    let mut sum = 0;
    for line in lines {
        let (row, counts) = line.split_once(':')?;
        if !which(row.trim()) {
            continue;
        }
        let counts: Vec<&str> = counts.split_whitespace().collect();
        for place in &places {
            sum += counts.get(*place)?.parse::<u64>().ok()?;
        }
    }
    Some(sum)
}

/// Whether this row belongs to a device: device rows have numbers, other rows have names.
fn is_device(row: &str) -> bool {
    row.parse::<u32>().is_ok()
}

pub fn on_hot_cores(of: &Observed) -> Observation {
    if of.cores.is_empty() {
        return Observation::unknown("no hot cores given (--cores)");
    }
    let file = "proc/interrupts";
    let devices = of.delta(|now| count(now, file, &of.cores, is_device));
    let ticks = of.delta(|now| count(now, file, &of.cores, |row| row == "LOC"));
    let rate = ticks.zip(of.seconds());
    let rate = rate.map(|(ticks, seconds)| ticks as f64 / seconds / of.cores.len() as f64);
    let mut seen = Observation::new().judge(
        named("of devices", devices),
        devices.map(|count| count == 0),
    );
    let shown = named("timer/s", rate.map(|rate| format!("{rate:.0}")));
    seen = match is_tickless(of) {
        // On cores that are not tickless, another check covers the timer tick.
        Some(false) => seen.record(shown),
        _ => seen.judge(shown, rate.map(|rate| rate <= TICKS)),
    };
    let lists: Option<Vec<bool>> = of.now.numbers("proc/irq").and_then(|all| {
        let list = |irq: &u32| {
            of.now
                .line(&format!("proc/irq/{irq}/effective_affinity_list"))
        };
        all.iter()
            .map(|irq| of.spares_hot_cores(&list(irq)?))
            .collect()
    });
    let allowed = lists.map(|lists| lists.iter().filter(|spares| !**spares).count());
    seen = seen.record(named("IRQs sent to hot cores", allowed));
    match of.now.processes("irqbalance") {
        None => seen.judge("irqbalance unknown", None),
        Some(running) if running.is_empty() => seen.record("no irqbalance"),
        Some(_) => seen.judge("irqbalance runs", is_banned(of)),
    }
}

/// Whether irqbalance leaves the hot cores alone. It does so for isolated cores, for tickless cores, and for cores
/// that its settings ban.
fn is_banned(of: &Observed) -> Option<bool> {
    let isolated = of.now.line("sys/devices/system/cpu/isolated");
    let by_itself = [
        isolated.and_then(|list| of.holds_hot_cores(&list)),
        is_tickless(of),
    ];
    if by_itself.contains(&Some(true)) {
        return Some(true);
    }
    let files = ["etc/default/irqbalance", "etc/sysconfig/irqbalance"];
    let text = files.iter().find_map(|file| of.now.text(file))?;
    let list = text.lines().find_map(|line| {
        let list = line.trim().strip_prefix("IRQBALANCE_BANNED_CPULIST=")?;
        Some(list.trim_matches('"').to_owned())
    });
    of.holds_hot_cores(&list.unwrap_or_default())
}

pub fn softirq(of: &Observed) -> Observation {
    let column = |number: usize| {
        of.delta(|of| {
            let text = of.text("proc/net/softnet_stat");
            let text = text.filter(|text| !text.is_empty())?;
            let count = |line: &str| {
                let word = line.split_whitespace().nth(number)?;
                u64::from_str_radix(word, 16).ok()
            };
            text.lines().map(count).sum::<Option<u64>>()
        })
    };
    let (dropped, squeezed) = (column(1), column(2));
    let received = of.delta(|now| count(now, "proc/softirqs", &of.cores, |row| row == "NET_RX"));
    Observation::new()
        .judge(named("dropped", dropped), dropped.map(|it| it == 0))
        .judge(named("time_squeeze", squeezed), squeezed.map(|it| it == 0))
        .record(named("NET_RX on hot cores", received))
}

pub fn workqueues(of: &Observed) -> Observation {
    let mut seen = Observation::new();
    for (name, file) in [
        ("mask", "sys/devices/virtual/workqueue/cpumask"),
        ("writeback", "sys/bus/workqueue/devices/writeback/cpumask"),
    ] {
        let mask = of.now.line(file);
        let good = mask
            .as_ref()
            .and_then(|mask| of.mask_spares_hot_cores(mask));
        seen = seen.judge(named(name, mask), good);
    }
    seen
}

pub fn watchdog(of: &Observed) -> Observation {
    let number = |name: &str| of.now.number(&format!("proc/sys/kernel/{name}"));
    let mask = of.now.line("proc/sys/kernel/watchdog_cpumask");
    let spares = mask.as_ref().and_then(|mask| of.spares_hot_cores(mask));
    let mut seen = Observation::new();
    for name in ["nmi_watchdog", "watchdog"] {
        let on = number(name);
        let good = on.map(|on| on == 0 || spares == Some(true));
        seen = seen.judge(named(name, on), good);
    }
    seen.record(mask.map_or_else(String::new, |mask| format!("on cores {mask}")))
}

pub fn timers(of: &Observed) -> Observation {
    let migration = of.now.number("proc/sys/kernel/timer_migration");
    let interval = of.now.number("proc/sys/vm/stat_interval");
    let skew = of.now.boot_argument("skew_tick");
    let skewed = skew.as_ref().map(|said| said.as_deref() == Some("1"));
    let skew = skew.map(|said| said.unwrap_or_else(|| "0".to_owned()));
    Observation::new()
        .judge(
            named("timer_migration", migration),
            migration.map(|it| it == 0),
        )
        .judge(
            named("stat_interval", interval),
            interval.map(|it| it >= 10),
        )
        .judge(named("skew_tick", skew), skewed)
}
