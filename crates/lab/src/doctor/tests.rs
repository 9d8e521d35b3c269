//! Each check on captured file trees: a good one, and one for each possible fault.

mod faults;
mod pages;
mod tree;

use std::collections::BTreeSet;

use self::faults::{BAD, RECORDED};
use self::tree::{Tree, hold, of_check, stat};
use fixwire_stamps::stats::Figures;

use super::cache::{self, KeptCache};
use super::measure::{self, Jitter, LIMITS, Measured};
use super::script::mask;
use super::show::wrapped;
use super::{CHECKS, CheckMethod, Diagnosis, Health, Weight, script, show};

fn is_measured(name: &str) -> bool {
    let check = CHECKS.iter().find(|check| check.name == name);
    check.is_some_and(|check| matches!(check.how, CheckMethod::Measure(_)))
}

#[test]
fn all_is_good_on_a_good_machine() {
    let diagnosis = Tree::good().diagnosis();
    for finding in &diagnosis.findings {
        let expected = match finding.weight {
            _ if is_measured(finding.name) => Health::NotAsked,
            Weight::Info => Health::Recorded,
            _ => Health::Good,
        };
        assert_eq!(
            finding.health, expected,
            "{}: {}",
            finding.name, finding.found
        );
    }
    assert_eq!((diagnosis.exit_code(), diagnosis.seconds), (0, Some(2.0)));
}

#[test]
fn each_fault_is_seen_by_its_check() {
    let good = Tree::good();
    let folder = good.write();
    let found = |name: &str, tree: Tree| {
        tree.replace(&good, &folder);
        let found = of_check(Diagnosis::of(&tree.observed(&folder), None), name);
        good.replace(&tree, &folder);
        found
    };
    for (name, change, expected) in BAD {
        let (health, found) = found(name, change(Tree::good()));
        assert_eq!(health, Health::Bad, "{name}: {found}");
        assert!(found.contains(expected), "{name}: {found}, not {expected}");
    }
    for (name, usual, change, expected) in RECORDED {
        for (tree, expected) in [(Tree::good(), usual), (change(Tree::good()), expected)] {
            let found = found(name, tree);
            assert_eq!(found, (Health::Recorded, (*expected).to_owned()), "{name}");
        }
    }
    let tried = BAD.iter().map(|row| row.0);
    let tried: BTreeSet<&str> = tried.chain(RECORDED.iter().map(|row| row.0)).collect();
    let all = CHECKS.iter().map(|check| check.name);
    let all: BTreeSet<&str> = all.filter(|name| !is_measured(name)).collect();
    assert_eq!(tried, all, "each check has a tree on which it is bad");
}

#[test]
fn nothing_that_cannot_be_read_is_good() {
    let empty = Tree::empty();
    for finding in empty.diagnosis().findings {
        let expected = if is_measured(finding.name) {
            Health::NotAsked
        } else {
            Health::Unknown
        };
        assert_eq!(
            finding.health, expected,
            "{}: {}",
            finding.name, finding.found
        );
    }
    assert_eq!(empty.diagnosis().exit_code(), 10);
    let mut nothing_asked = empty;
    (nothing_asked.pid, nothing_asked.interface) = (None, None);
    for finding in nothing_asked.diagnosis().findings {
        assert!(
            finding.health >= Health::NotAsked,
            "{}: {}",
            finding.name,
            finding.found
        );
    }
}

#[test]
fn counters_without_an_interval_are_unknown() {
    let folder = Tree::good().write();
    let mut observed = Tree::good().observed(&folder);
    observed.before = None;
    let diagnosis = Diagnosis::of(&observed, None);
    let unknown = diagnosis
        .findings
        .iter()
        .filter(|it| it.health == Health::Unknown);
    let unknown: BTreeSet<&str> = unknown.map(|it| it.name).collect();
    let expected = [
        "C-states",
        "MCE and SMI",
        "hot threads",
        "interrupts",
        "page faults",
        "softirq",
        "virtual machine",
    ];
    assert_eq!(unknown, BTreeSet::from(expected));
    assert_eq!(diagnosis.seconds, None);
}

#[test]
fn special_values_are_understood() {
    let found = |tree: Tree, name: &str| tree.found(name).0;
    // A guest's kernel sees neither C-states of its own nor those of the host.
    let guest = Tree::good()
        .with("sys/devices/system/cpu/cpuidle/current_driver", "haltpoll")
        .without("sys/devices/system/cpu/cpu2/cpuidle")
        .without("sys/devices/system/cpu/cpu3/cpuidle");
    let (health, text) = guest.found("C-states");
    assert_eq!(health, Health::Unknown);
    assert!(text.contains("driver haltpoll, core 2 unknown"), "{text}");
    let disabled = Tree::good()
        .changing(
            "sys/devices/system/cpu/cpu2/cpuidle/state1/usage",
            ["1", "2"],
        )
        .with("sys/devices/system/cpu/cpu2/cpuidle/state1/disable", "1");
    assert_eq!(found(disabled, "C-states"), Health::Good);
    let idle = Tree::good().with("sys/devices/system/cpu/smt/active", "1");
    assert_eq!(found(idle, "SMT"), Health::Good);
    let by_nohz = Tree::good().with("proc/cmdline", "nohz_full=2-3 skew_tick=1");
    assert_eq!(found(by_nohz, "RCU off-load"), Health::Good);
    let masked = Tree::good()
        .with("proc/sys/kernel/watchdog", "1")
        .with("proc/sys/kernel/watchdog_cpumask", "0-1");
    assert_eq!(found(masked, "watchdog"), Health::Good);
    let balanced = Tree::good().with("proc/301/comm", "irqbalance");
    assert_eq!(found(balanced, "interrupts"), Health::Good);
    let own = Tree::good().with(
        "sys/kernel/mm/transparent_hugepage/enabled",
        "always [madvise] never",
    );
    assert_eq!(found(own, "huge pages"), Health::Good);
    let mut loopback = Tree::good();
    loopback.interface = Some("lo".to_owned());
    assert_eq!(found(loopback, "busy poll"), Health::NotAsked);
    let mut not_said = Tree::good();
    not_said.ethtool = None;
    assert_eq!(found(not_said, "coalescing"), Health::Unknown);
    // Without real-time threads the throttle protects the machine.
    let ordinary = Tree::good()
        .with("proc/700/task/700/stat", &stat(5, 1, 0, 0))
        .with("proc/sys/kernel/sched_rt_runtime_us", "950000");
    assert_eq!(found(ordinary, "real-time throttle"), Health::Good);
    let folder = Tree::good().write();
    hold(&folder, "/dev/cpu_dma_latency");
    let observed = Tree::good().observed(&folder);
    let states = Diagnosis::of(&observed, None).findings;
    let states = states.iter().find(|it| it.name == "C-states").unwrap();
    assert!(
        states.found.ends_with("process 300 holds cpu_dma_latency"),
        "{}",
        states.found
    );
}

fn spun(gaps: &[u64]) -> Measured {
    let mut jitter = Jitter::default();
    for gap in gaps {
        jitter.add(*gap);
    }
    let floor = Figures {
        count: 1,
        p50: 6_000,
        p99: 9_000,
        p99_9: 21_000,
        ..Figures::default()
    };
    Measured {
        jitter: vec![jitter],
        cache: vec![KeptCache {
            core: 0,
            at_once: 12_000,
            after_pause: 36_000,
        }],
        floor,
    }
}

#[test]
fn a_machine_is_judged_by_its_longest_gap() {
    let (found, health) = measure::jitter(&spun(&[30, 1_001, 19_999])).into_parts();
    assert_eq!(health, Health::Good);
    assert_eq!(found, "core 0: worst 20.0 us; >1 us 2, >5 1, >20 0, >100 0");
    let measured = spun(&[30, 20_001, 100_001]);
    assert_eq!(measured.jitter[0].longer_than, [2, 2, 2, 1]);
    assert_eq!(measured.jitter[0].readings, 3);
    assert_eq!(measure::jitter(&measured).into_parts().1, Health::Bad);
    let (found, _) = measure::floor(&measured).into_parts();
    assert_eq!(found, "p50 6.0, p99 9.0, p99.9 21.0 us");
    let (found, health) = cache::kept_cache(&measured).into_parts();
    assert_eq!(health, Health::Good);
    assert_eq!(found, "core 0: 12.0 us, after 10 ms 36.0");
    let mut cold = measured.clone();
    cold.cache[0].after_pause += 1;
    assert_eq!(cache::kept_cache(&cold).into_parts().1, Health::Bad);
    assert_eq!(LIMITS, [1_000, 5_000, 20_000, 100_000]);
    let mut nothing = measured;
    (nothing.jitter, nothing.floor.count) = (Vec::new(), 0);
    nothing.cache.clear();
    for judge in [measure::jitter, cache::kept_cache, measure::floor] {
        assert_eq!(judge(&nothing).into_parts().1, Health::Unknown);
    }
}

#[test]
fn the_exit_code_is_that_of_the_worst() {
    let code = |tree: Tree| tree.diagnosis().exit_code();
    let low = |it: Tree| it.with("proc/sys/vm/stat_interval", "1");
    let mid = |it: Tree| it.with("proc/sys/kernel/nmi_watchdog", "1");
    let high = |it: Tree| it.with("sys/devices/system/cpu/isolated", "");
    let fail = |it: Tree| it.then("proc/stat", "cpu  9 0 9 980 0 0 0 4 0 0\n");
    let unknown = |it: Tree| it.without("sys/kernel/mm/ksm");
    let good = Tree::good;
    assert_eq!(code(unknown(good())), 10);
    assert_eq!(code(low(unknown(good()))), 11);
    assert_eq!(code(mid(low(good()))), 12);
    assert_eq!(code(high(mid(good()))), 13);
    assert_eq!(code(fail(high(good()))), 15);
    let folder = good().write();
    let measured = spun(&[500_000]);
    let diagnosis = Diagnosis::of(&good().observed(&folder), Some(measured));
    assert_eq!(diagnosis.exit_code(), 14);
    // An unknown recorded value is not a fault.
    assert_eq!(
        code(
            good()
                .without("sys/kernel/realtime")
                .without("proc/700/environ")
        ),
        0
    );
}

#[test]
fn the_table_fits_a_terminal_and_says_what_to_do() {
    let tree = Tree::empty()
        .with("sys/devices/system/cpu/isolated", "")
        .with("sys/devices/system/cpu/online", "0-3")
        .with("proc/sys/vm/stat_interval", "1");
    let folder = tree.write();
    let observed = tree.observed(&folder);
    let diagnosis = Diagnosis::of(&observed, Some(spun(&[500_000])));
    let text = show::text(&diagnosis, &observed, false);
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
        assert!(!line.contains('\x1b'));
    }
    for check in CHECKS {
        assert!(
            text.contains(&format!("\n{} ", check.name)),
            "{}",
            check.name
        );
    }
    assert!(
        text.contains("Kernel command line: isolcpus=managed_irq,domain,2,3\n"),
        "{text}"
    );
    assert!(text.contains("Cost: "));
    assert!(text.contains("Unknown, and where to read it\n"), "{text}");
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
    assert!(
        place("\njitter") < place("\nisolated cores")
            && place("\nisolated cores") < place("\ntimers")
    );
    assert!(
        place("timers             timer_migration unknown,     0, 10 or more, 1     low     BAD")
            > 0
    );
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.ends_with(&["exit", "code", "14"]), "{text}");
    let coloured = show::text(&diagnosis, &observed, true);
    assert!(
        coloured.contains("\x1b[31mhigh    BAD\x1b[0m"),
        "{coloured}"
    );
}

#[test]
fn what_changes_is_shown() {
    let before = Tree::good().diagnosis();
    assert_eq!(show::changes(&before, &before), "");
    let after = Tree::good().with("proc/loadavg", "2.91 1 1").diagnosis();
    let text = show::changes(&before, &after);
    let expected = "load and clock BAD: load 2.91, clock synchronized by chronyd (was: load 0.08,\n  \
                    clock synchronized by chronyd)\n";
    assert_eq!(text, expected);
}

#[test]
fn the_script_has_what_is_bad_with_its_cost() {
    let tree = Tree::good()
        .with("sys/devices/system/cpu/isolated", "")
        .with("sys/devices/system/cpu/nohz_full", "")
        .with("sys/devices/virtual/workqueue/cpumask", "f")
        .with(
            "proc/700/limits",
            "Max locked memory  8388608  8388608  bytes\n",
        );
    let folder = tree.write();
    let observed = tree.observed(&folder);
    let text = script::text(&Diagnosis::of(&observed, None), &observed);
    for expected in [
        "#!/bin/sh\n",
        "\n# workqueues (mid)\n# Found: mask f, writeback 3\n",
        "\necho 3 > /sys/devices/virtual/workqueue/cpumask\n",
        "\nprlimit --pid 700 --memlock=unlimited",
        "\n# isolcpus=managed_irq,domain,2,3 nohz_full=2,3",
        "\n# Cost: ",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!text.contains("swappiness"), "{text}");
}

/// Bad findings on a machine whose cores are all hot.
#[test]
fn a_machine_with_too_few_cores_gets_no_broken_command() {
    let tree = Tree::good()
        .with("sys/devices/system/cpu/isolated", "")
        .with("sys/devices/system/cpu/nohz_full", "")
        .with("sys/devices/virtual/workqueue/cpumask", "f")
        .with("proc/cmdline", "quiet");
    let folder = tree.write();
    for (online, cores, expected) in [
        (
            "0-1",
            &[0, 1][..],
            "all 2 cores of this machine are hot (0,1)",
        ),
        ("0", &[0], "the only core of this machine, 0, is hot"),
        (
            "0-3",
            &[0, 1, 2, 3],
            "all 4 cores of this machine are hot (0,1,2,3)",
        ),
        (
            "0-3",
            &[0, 1],
            "core 0 is one of the hot cores, but the kernel needs it",
        ),
        ("0-3", &[], "no hot cores: name them with --cores"),
    ] {
        let few = tree.clone().with("sys/devices/system/cpu/online", online);
        few.replace(&tree, &folder);
        let mut observed = few.observed(&folder);
        observed.cores = cores.to_vec();
        let mut diagnosis = Diagnosis::of(&observed, None);
        for finding in &mut diagnosis.findings {
            finding.health = Health::Bad;
        }
        let text = script::text(&diagnosis, &observed);
        assert!(text.contains(expected), "{expected}: {text}");
        for broken in ["isolcpus=", "nohz_full=", "rcu_nocbs="] {
            assert!(!text.contains(broken), "{broken}: {text}");
        }
        let commands = text.lines().filter(|line| !line.starts_with('#'));
        let commands: Vec<&str> = commands.collect();
        for broken in [
            "echo  ",
            "-pc  ",
            "cpumask=\n",
            "echo 0 > /sys/devices/virtual",
        ] {
            assert!(!commands.join("\n").contains(broken), "{broken}: {text}");
        }
        let shown = show::text(&diagnosis, &observed, false);
        assert!(!shown.contains("isolcpus=managed_irq,domain,"), "{shown}");
        assert!(shown.contains("Kernel command line: nothing, "), "{shown}");
        tree.replace(&few, &folder);
    }
}

#[test]
fn no_place_in_the_table_is_left_unfilled() {
    let tree = Tree::good();
    let folder = tree.write();
    let observed = tree.observed(&folder);
    let mut names = BTreeSet::new();
    for check in CHECKS {
        assert!(
            names.insert(check.name) && check.name.len() <= 18,
            "{}",
            check.name
        );
        assert!(check.good.len() <= 20, "{}", check.name);
        for text in [check.reads, check.good, check.remedy, check.cost] {
            assert!(
                !text.is_empty() && !text.contains('{'),
                "{}: {text}",
                check.name
            );
        }
        for line in check.script.iter().chain([&check.boot]) {
            let filled = script::filled(line, &observed);
            assert!(!filled.contains('{'), "{}: {filled}", check.name);
        }
    }
    assert_eq!(mask(&[0, 1]), "3");
    assert_eq!(mask(&[0, 33, 70]), "40,00000002,00000001");
    assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
    assert_eq!(wrapped("abcdefgh i", 5), ["abcde", "fgh i"]);
}

/// Values of other processes, such as their environment, cannot control a terminal.
#[test]
fn control_characters_are_not_shown() {
    let tree = Tree::good().with("proc/700/environ", "EF_X=\x1b[2J\0");
    assert_eq!(tree.found("Onload").1, "loaded, EF_X=?[2J");
}

#[test]
fn facts_of_this_machine_are_had_at_once() {
    let diagnosis = super::facts();
    assert_eq!(diagnosis.findings.len(), CHECKS.len());
    let kernel = diagnosis
        .findings
        .iter()
        .find(|it| it.name == "kernel")
        .unwrap();
    assert_eq!(kernel.health, Health::Recorded, "{}", kernel.found);
    let json = serde_json::to_value(&diagnosis).unwrap();
    assert_eq!(json["findings"][0]["weight"], "fail");
    assert_eq!(json["measured"], serde_json::Value::Null);
}
