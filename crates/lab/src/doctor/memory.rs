//! Checks of memory: page migration, swapping, faults, locking and NUMA placement.

use super::observed::{Observation, Observed, named};
use super::snapshot::Snapshot;
use crate::machine::core_list;

/// Highest swappiness at which the kernel keeps the pages of programs in memory.
const SWAPPINESS: i64 = 10;

/// The word in brackets, which is the setting in force: `madvise` in `always [madvise] never`.
fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

pub fn huge_pages(of: &Observed) -> Observation {
    let read = |name: &str| {
        let file = format!("sys/kernel/mm/transparent_hugepage/{name}");
        chosen(&of.now.line(&file)?)
    };
    let judged = |name: &str| {
        let value = read(name);
        let good = value.as_ref().map(|value| value != "always");
        (named(name, value), good)
    };
    let (enabled, defrag) = (judged("enabled"), judged("defrag"));
    Observation::new()
        .judge(enabled.0, enabled.1)
        .judge(defrag.0, defrag.1)
}

/// A field of `proc/PID/status` that is given in kilobytes.
fn kilobytes(of: &Observed, name: &str) -> Option<u64> {
    let text = of.now.field(&of.of_process("status")?, name)?;
    text.split(' ').next()?.parse().ok()
}

pub fn swap(of: &Observed) -> Observation {
    let merging = of.now.number("sys/kernel/mm/ksm/run");
    let swappiness = of.now.number("proc/sys/vm/swappiness");
    let seen = Observation::new()
        .judge(named("KSM", merging), merging.map(|it| it == 0))
        .judge(
            named("swappiness", swappiness),
            swappiness.map(|it| it <= SWAPPINESS),
        );
    if of.pid.is_none() {
        return seen;
    }
    let swapped = kilobytes(of, "VmSwap");
    seen.judge(named("VmSwap kB", swapped), swapped.map(|it| it == 0))
}

pub fn locked(of: &Observed) -> Observation {
    let Some(limits) = of.of_process("limits") else {
        return Observation::not_asked("--pid");
    };
    let (locked, resident) = (kilobytes(of, "VmLck"), kilobytes(of, "VmRSS"));
    // The locked size counts whole mappings, even pages that are not resident yet.
    let all = locked
        .zip(resident)
        .map(|(locked, resident)| locked > 0 && locked >= resident / 10 * 9);
    let limit = of.now.text(&limits).and_then(|text| {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("Max locked memory"))?;
        line.split_whitespace().next().map(str::to_owned)
    });
    let unlimited = limit.as_ref().map(|limit| limit == "unlimited");
    Observation::new()
        .judge(named("VmLck kB", locked), all)
        .record(named("of VmRSS", resident))
        .judge(named("limit", limit), unlimited)
}

/// A value of `proc/PID/stat`, by its number in proc(5).
pub fn stat_field(of: &Snapshot, file: &str, number: usize) -> Option<u64> {
    let text = of.text(file)?;
    // The second field is a name in brackets, which may contain any character.
    let rest = text.rsplit_once(')')?.1;
    rest.split_whitespace()
        .nth(number.checked_sub(3)?)?
        .parse()
        .ok()
}

pub fn page_faults(of: &Observed) -> Observation {
    let Some(stat) = of.of_process("stat") else {
        return Observation::not_asked("--pid");
    };
    let minor = of.delta(|of| stat_field(of, &stat, 10));
    let major = of.delta(|of| stat_field(of, &stat, 12));
    Observation::new()
        .judge(named("minor", minor), minor.map(|it| it == 0))
        .judge(named("major", major), major.map(|it| it == 0))
}

/// The NUMA nodes of these cores, by number.
fn nodes_of(of: &Snapshot, cores: &[usize]) -> Option<Vec<i64>> {
    let folder = "sys/devices/system/node";
    let mut nodes = Vec::new();
    for name in of.names(folder)? {
        let Some(number) = name.strip_prefix("node").and_then(|it| it.parse().ok()) else {
            continue;
        };
        let list = core_list(&of.line(&format!("{folder}/{name}/cpulist"))?);
        if cores.iter().any(|core| list.contains(core)) {
            nodes.push(number);
        }
    }
    (!nodes.is_empty()).then_some(nodes)
}

/// The NUMA nodes on which a process has pages.
fn nodes_of_pages(of: &Snapshot, maps: &str) -> Option<Vec<i64>> {
    let text = of.text(maps)?;
    let mut nodes: Vec<i64> = text
        .split_whitespace()
        .filter_map(|word| word.strip_prefix('N')?.split_once('=')?.0.parse().ok())
        .collect();
    nodes.sort_unstable();
    nodes.dedup();
    (!nodes.is_empty()).then_some(nodes)
}

fn list(nodes: &[i64]) -> String {
    let nodes: Vec<String> = nodes.iter().map(i64::to_string).collect();
    nodes.join("+")
}

pub fn numa(of: &Observed) -> Observation {
    let balancing = of.now.number("proc/sys/kernel/numa_balancing");
    let cores = nodes_of(&of.now, &of.cores);
    let one = cores.as_ref().map(|nodes| nodes.len() == 1);
    let mut seen = Observation::new()
        .judge(named("balancing", balancing), balancing.map(|it| it == 0))
        .judge(named("cores on node", cores.as_deref().map(list)), one);
    if let Some(interface) = &of.interface {
        let node = of
            .now
            .number(&format!("sys/class/net/{interface}/device/numa_node"));
        // On a machine without NUMA the kernel writes node -1.
        let near = node.zip(cores.as_ref());
        let near = near.map(|(node, cores)| node < 0 || cores.contains(&node));
        seen = seen.judge(named("card on node", node), near);
    }
    if let Some(maps) = of.of_process("numa_maps") {
        let pages = nodes_of_pages(&of.now, &maps);
        let near = pages.as_ref().zip(cores.as_ref());
        let near = near.map(|(pages, cores)| pages == cores);
        seen = seen.judge(named("memory on node", pages.as_deref().map(list)), near);
    }
    seen
}
