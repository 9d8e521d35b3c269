//! Faults of a machine, and the check that reports each.

use super::tree::{Tree, interrupts, stat, status};

/// Changes of the good tree.
pub type Change = fn(Tree) -> Tree;

/// The check that sees a fault, the fault, and a part of what the check says.
pub const BAD: &[(&str, Change, &str)] = &[
    (
        "virtual machine",
        |it| {
            it.with("proc/cpuinfo", "flags : fpu hypervisor\n")
                .with("sys/class/dmi/id/sys_vendor", "QEMU")
        },
        "virtual machine QEMU, steal ticks 0",
    ),
    (
        "virtual machine",
        |it| it.then("proc/stat", "cpu  9 0 9 980 0 0 0 4 0 0\n"),
        "bare metal, steal ticks 4",
    ),
    (
        "isolated cores",
        |it| it.with("sys/devices/system/cpu/isolated", "\n"),
        "none",
    ),
    (
        "isolated cores",
        |it| it.with("sys/devices/system/cpu/isolated", "0,2-3"),
        "0,2-3",
    ),
    (
        "isolated cores",
        |it| it.with("sys/devices/system/cpu/isolated", "3"),
        "3",
    ),
    (
        "tickless",
        |it| it.with("sys/devices/system/cpu/nohz_full", "(null)"),
        "none",
    ),
    (
        "tickless",
        |it| it.with("sys/devices/system/cpu/nohz_full", "1-2"),
        "1-2",
    ),
    (
        "RCU off-load",
        |it| it.with("proc/cmdline", "quiet rcu_nocbs=1"),
        "rcu_nocbs=1",
    ),
    (
        "RCU off-load",
        |it| it.with("proc/17/status", "Cpus_allowed_list:\t0-3\n"),
        "1 of 2 rcuo threads may run on hot cores",
    ),
    (
        "SMT",
        |it| {
            it.with("sys/devices/system/cpu/smt/active", "1").then(
                "proc/stat",
                "cpu0 1 0 1 200 0 0 0 0\ncpu1 51 0 1 150 0 0 0 0\n",
            )
        },
        "1 beside 3 50 % busy",
    ),
    (
        "SMT",
        |it| {
            it.with("sys/devices/system/cpu/smt/active", "1").with(
                "sys/devices/system/cpu/cpu2/topology/thread_siblings_list",
                "2-3",
            )
        },
        "3 beside 2",
    ),
    (
        "governor",
        |it| {
            it.with(
                "sys/devices/system/cpu/cpu3/cpufreq/scaling_governor",
                "powersave",
            )
        },
        "core 3 powersave",
    ),
    (
        "governor",
        |it| {
            it.with(
                "sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq",
                "1200000",
            )
        },
        "1200 of 3500 MHz",
    ),
    (
        "C-states",
        |it| it.then("sys/devices/system/cpu/cpu2/cpuidle/state1/usage", "15"),
        "core 2 C6 (170 us) entered 3",
    ),
    (
        "clock",
        |it| {
            it.with(
                "sys/devices/system/clocksource/clocksource0/current_clocksource",
                "hpet",
            )
        },
        "source hpet",
    ),
    (
        "clock",
        |it| it.with("proc/cpuinfo", "flags : constant_tsc\n"),
        "no nonstop_tsc",
    ),
    (
        "huge pages",
        |it| {
            it.with(
                "sys/kernel/mm/transparent_hugepage/enabled",
                "[always] madvise never",
            )
        },
        "enabled always",
    ),
    (
        "huge pages",
        |it| {
            it.with(
                "sys/kernel/mm/transparent_hugepage/defrag",
                "[always] never",
            )
        },
        "defrag always",
    ),
    (
        "KSM and swap",
        |it| it.with("sys/kernel/mm/ksm/run", "1"),
        "KSM 1",
    ),
    (
        "KSM and swap",
        |it| it.with("proc/sys/vm/swappiness", "60"),
        "swappiness 60",
    ),
    (
        "KSM and swap",
        |it| it.with("proc/700/status", "VmSwap:\t8 kB\n"),
        "VmSwap kB 8",
    ),
    (
        "locked memory",
        |it| it.with("proc/700/status", "VmLck:\t0 kB\nVmRSS:\t98000 kB\n"),
        "VmLck kB 0",
    ),
    (
        "locked memory",
        |it| {
            it.with(
                "proc/700/limits",
                "Max locked memory  8388608  8388608  bytes\n",
            )
        },
        "limit 8388608",
    ),
    (
        "page faults",
        |it| it.then("proc/700/stat", &stat(9, 1, 50, 1)),
        "minor 4",
    ),
    (
        "page faults",
        |it| it.then("proc/700/stat", &stat(5, 2, 50, 1)),
        "major 1",
    ),
    (
        "NUMA",
        |it| it.with("proc/sys/kernel/numa_balancing", "1"),
        "balancing 1",
    ),
    (
        "NUMA",
        |it| it.with("sys/class/net/eth0/device/numa_node", "1"),
        "card on node 1",
    ),
    (
        "NUMA",
        |it| it.with("proc/700/numa_maps", "55 default N0=3 N1=2\n"),
        "memory on node 0+1",
    ),
    (
        "NUMA",
        |it| {
            it.with("sys/devices/system/node/node0/cpulist", "0-2")
                .with("sys/devices/system/node/node1/cpulist", "3")
        },
        "cores on node 0+1",
    ),
    (
        "interrupts",
        |it| {
            it.then(
                "proc/interrupts",
                &interrupts([9, 0, 8, 0], [900, 800, 72, 62]),
            )
        },
        "of devices 1",
    ),
    (
        "interrupts",
        |it| {
            it.then(
                "proc/interrupts",
                &interrupts([9, 0, 7, 0], [900, 800, 570, 62]),
            )
        },
        "timer/s 126",
    ),
    (
        "interrupts",
        |it| {
            it.with("proc/301/comm", "irqbalance")
                .with(
                    "etc/default/irqbalance",
                    "IRQBALANCE_BANNED_CPULIST=\"1\"\n",
                )
                .with("sys/devices/system/cpu/isolated", "")
                .with("sys/devices/system/cpu/nohz_full", "")
        },
        "irqbalance runs",
    ),
    (
        "softirq",
        |it| {
            it.then(
                "proc/net/softnet_stat",
                "0000000a 00000010 00000001\n0000000b 00000000 00000000\n",
            )
        },
        "dropped 16",
    ),
    (
        "softirq",
        |it| {
            it.then(
                "proc/net/softnet_stat",
                "0000000a 00000000 00000001\n0000000b 00000000 00000002\n",
            )
        },
        "time_squeeze 2",
    ),
    (
        "workqueues",
        |it| it.with("sys/devices/virtual/workqueue/cpumask", "f"),
        "mask f",
    ),
    (
        "workqueues",
        |it| {
            it.with(
                "sys/bus/workqueue/devices/writeback/cpumask",
                "00000000,00000005",
            )
        },
        "writeback 00000000,00000005",
    ),
    (
        "watchdog",
        |it| it.with("proc/sys/kernel/nmi_watchdog", "1"),
        "nmi_watchdog 1",
    ),
    (
        "watchdog",
        |it| {
            it.with("proc/sys/kernel/watchdog", "1")
                .with("proc/sys/kernel/watchdog_cpumask", "0-3")
        },
        "watchdog 1",
    ),
    (
        "real-time throttle",
        |it| it.with("proc/sys/kernel/sched_rt_runtime_us", "950000"),
        "950000, real-time threads on isolated cores",
    ),
    (
        "real-time throttle",
        |it| it.with("proc/700/task/700/status", &status("1", 3)),
        "-1, real-time threads on other cores",
    ),
    (
        "real-time throttle",
        |it| it.with("proc/700/task/700/stat", &stat(5, 1, 0, 0)),
        "-1, no real-time thread",
    ),
    (
        "hot threads",
        |it| it.with("proc/700/task/700/status", &status("0-3", 3)),
        "none of 2 threads is pinned",
    ),
    (
        "hot threads",
        |it| it.with("proc/700/task/701/status", &status("0-3", 3)),
        "thread 700 FIFO 50, 1 other threads may run on it",
    ),
    (
        "hot threads",
        |it| it.then("proc/700/task/700/status", &status("2", 8)),
        "preempted 5",
    ),
    (
        "timers",
        |it| it.with("proc/sys/kernel/timer_migration", "1"),
        "timer_migration 1",
    ),
    (
        "timers",
        |it| it.with("proc/sys/vm/stat_interval", "1"),
        "stat_interval 1",
    ),
    (
        "timers",
        |it| it.with("proc/cmdline", "quiet"),
        "skew_tick 0",
    ),
    (
        "busy poll",
        |it| it.with("proc/sys/net/core/busy_read", "0"),
        "busy_read 0",
    ),
    (
        "coalescing",
        |mut it| {
            it.ethtool = it
                .ethtool
                .map(|said| said.replace("rx-usecs:\t0", "rx-usecs:\t8"));
            it
        },
        "rx-usecs 8",
    ),
    (
        "coalescing",
        |mut it| {
            it.ethtool = it
                .ethtool
                .map(|said| said.replace("offload: off", "offload: on"));
            it
        },
        "large-receive-offload on",
    ),
    (
        "coalescing",
        |it| {
            (1..8).fold(it, |it, queue| {
                it.with(
                    &format!("sys/class/net/eth0/queues/rx-{queue}/rps_cpus"),
                    "0",
                )
            })
        },
        "rx queues 8",
    ),
    (
        "TCP",
        |it| it.with("proc/sys/net/ipv4/tcp_slow_start_after_idle", "1"),
        "tcp_slow_start_after_idle 1",
    ),
    (
        "TCP",
        |it| it.with("proc/sys/net/ipv4/tcp_autocorking", "1"),
        "tcp_autocorking 1",
    ),
    (
        "MCE and SMI",
        |it| {
            it.with(
                "sys/devices/system/machinecheck/machinecheck0/ignore_ce",
                "0",
            )
        },
        "ignore_ce 0",
    ),
    (
        "MCE and SMI",
        |it| {
            it.then(
                "dev/cpu/2/msr",
                &("\0".repeat(0x34) + "\u{3}\0\0\0\0\0\0\0"),
            )
        },
        "SMI 3",
    ),
    (
        "load and clock",
        |it| it.with("proc/loadavg", "2.91 1 1 2/100 999"),
        "load 2.91",
    ),
    (
        "load and clock",
        |it| it.with("proc/300/comm", "cron"),
        "no clock daemon seen",
    ),
];

/// Recorded values: in the good tree, and in another tree with another value.
pub const RECORDED: &[(&str, &str, Change, &str)] = &[
    (
        "turbo",
        "off",
        |it| it.with("sys/devices/system/cpu/intel_pstate/no_turbo", "0"),
        "on",
    ),
    (
        "Onload",
        "loaded, EF_POLL_USEC=100000",
        |it| it.with("proc/700/maps", "7f00 r-xp libc.so\n"),
        "not loaded",
    ),
    (
        "kernel",
        "6.12.0, PREEMPT_RT",
        |it| it.without("sys/kernel/realtime"),
        "6.12.0, PREEMPT_RT not seen",
    ),
    (
        "mitigations",
        "1 mitigated, 0 vulnerable",
        |it| {
            it.with("sys/devices/system/cpu/vulnerabilities/l1tf", "Vulnerable")
                .with("proc/cmdline", "mitigations=off")
        },
        "0 mitigated, 1 vulnerable, mitigations=off",
    ),
];
