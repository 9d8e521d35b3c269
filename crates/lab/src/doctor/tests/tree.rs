//! Captured file trees for the tests: a machine in good order, and changes to it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use crate::doctor::{Diagnosis, Health, Observed, Snapshot};

/// Content of each file before and after the interval.
#[derive(Clone)]
pub struct Tree {
    files: BTreeMap<String, [String; 2]>,
    pub pid: Option<u32>,
    pub interface: Option<String>,
    pub ethtool: Option<String>,
}

/// The process of the good tree.
pub const PID: u32 = 700;

const ETHTOOL: &str = "Coalesce parameters for eth0:\nAdaptive RX: off  TX: off\nrx-usecs:\t0\n\
                       Features for eth0:\nlarge-receive-offload: off\n";

/// Files of a machine with the cores 0 to 3, of which 2 and 3 are hot, one line each.
const GOOD: &[(&str, &str)] = &[
    (
        "proc/cpuinfo",
        "processor : 0\nflags\t\t: fpu constant_tsc nonstop_tsc\n",
    ),
    (
        "proc/cmdline",
        "quiet isolcpus=managed_irq,domain,2-3 nohz_full=2-3 rcu_nocbs=2-3 skew_tick=1",
    ),
    ("proc/loadavg", "0.08 0.03 0.01 1/100 999"),
    ("proc/17/comm", "rcuop/2"),
    (
        "proc/17/status",
        "Name:\trcuop/2\nCpus_allowed_list:\t0-1\n",
    ),
    ("proc/18/comm", "rcuog/2"),
    (
        "proc/18/status",
        "Name:\trcuog/2\nCpus_allowed_list:\t0-1\n",
    ),
    ("proc/300/comm", "chronyd"),
    ("proc/700/comm", "fixwire"),
    (
        "proc/700/limits",
        "Max locked memory         unlimited            unlimited            bytes\n",
    ),
    ("proc/700/maps", "7f00 r-xp /usr/lib/libonload.so\n"),
    ("proc/700/environ", "HOME=/\0EF_POLL_USEC=100000\0"),
    ("proc/700/numa_maps", "5500 default anon=3 N0=3\n"),
    ("proc/irq/24/effective_affinity_list", "0"),
    ("proc/sys/kernel/osrelease", "6.12.0"),
    ("proc/sys/kernel/numa_balancing", "0"),
    ("proc/sys/kernel/nmi_watchdog", "0"),
    ("proc/sys/kernel/watchdog", "0"),
    ("proc/sys/kernel/sched_rt_runtime_us", "-1"),
    ("proc/sys/kernel/timer_migration", "0"),
    ("proc/sys/vm/swappiness", "10"),
    ("proc/sys/vm/stat_interval", "10"),
    ("proc/sys/net/core/busy_poll", "50"),
    ("proc/sys/net/core/busy_read", "50"),
    ("proc/sys/net/ipv4/tcp_slow_start_after_idle", "0"),
    ("proc/sys/net/ipv4/tcp_autocorking", "0"),
    ("proc/sys/net/ipv4/tcp_timestamps", "1"),
    ("sys/bus/workqueue/devices/writeback/cpumask", "3"),
    ("sys/class/net/eth0/device/numa_node", "0"),
    ("sys/class/net/eth0/napi_defer_hard_irqs", "0"),
    ("sys/class/net/eth0/gro_flush_timeout", "0"),
    ("sys/class/net/eth0/threaded", "0"),
    ("sys/class/net/eth0/queues/rx-0/rps_cpus", "0"),
    ("sys/class/net/eth0/queues/tx-0/xps_cpus", "0"),
    (
        "sys/devices/system/clocksource/clocksource0/current_clocksource",
        "tsc",
    ),
    (
        "sys/devices/system/cpu/cpuidle/current_driver",
        "intel_idle",
    ),
    ("sys/devices/system/cpu/intel_pstate/no_turbo", "1"),
    ("sys/devices/system/cpu/isolated", "2-3"),
    ("sys/devices/system/cpu/nohz_full", "2-3"),
    ("sys/devices/system/cpu/online", "0-3"),
    ("sys/devices/system/cpu/smt/active", "0"),
    (
        "sys/devices/system/cpu/vulnerabilities/l1tf",
        "Mitigation: PTE Inversion",
    ),
    ("sys/devices/system/cpu/vulnerabilities/mds", "Not affected"),
    (
        "sys/devices/system/machinecheck/machinecheck0/ignore_ce",
        "1",
    ),
    ("sys/devices/system/node/node0/cpulist", "0-3"),
    ("sys/devices/virtual/workqueue/cpumask", "00000000,00000003"),
    ("sys/kernel/mm/ksm/run", "0"),
    (
        "sys/kernel/mm/transparent_hugepage/enabled",
        "always madvise [never]",
    ),
    (
        "sys/kernel/mm/transparent_hugepage/defrag",
        "always defer defer+madvise madvise [never]",
    ),
    ("sys/kernel/realtime", "1"),
];

/// `proc/PID/stat` with these faults and this policy and priority.
pub fn stat(minor: u64, major: u64, priority: u64, policy: u64) -> String {
    let zeros = |count| vec!["0"; count].join(" ");
    // Numbers 4 to 9, 13 to 39, 42 to 52 of proc(5).
    format!(
        "700 (fix) wire) S {} {minor} 0 {major} {} {priority} {policy} {}",
        zeros(6),
        zeros(27),
        zeros(11)
    )
}

/// `proc/PID/status` of a thread.
pub fn status(cores: &str, pushed_off: u64) -> String {
    format!(
        "Name:\tfixwire\nVmLck:\t  99000 kB\nVmRSS:\t  98000 kB\nVmSwap:\t      0 kB\n\
         Cpus_allowed_list:\t{cores}\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t{pushed_off}\n"
    )
}

/// `proc/interrupts` with one device and the timer.
pub fn interrupts(device: [u64; 4], timer: [u64; 4]) -> String {
    let row = |counts: [u64; 4]| counts.map(|count| format!("{count:>8}")).join(" ");
    format!(
        "            CPU0       CPU1       CPU2       CPU3\n 24: {}  PCI-MSI eth0\nLOC: {}  Local timer interrupts\n",
        row(device),
        row(timer)
    )
}

impl Tree {
    /// A tree in which every check is good.
    pub fn good() -> Self {
        let mut tree = Self {
            files: BTreeMap::new(),
            pid: Some(PID),
            interface: Some("eth0".to_owned()),
            ethtool: Some(ETHTOOL.to_owned()),
        };
        for (path, text) in GOOD {
            tree = tree.with(path, text);
        }
        for core in [2, 3] {
            let cpu = format!("sys/devices/system/cpu/cpu{core}");
            tree = tree
                .with(&format!("{cpu}/cpufreq/scaling_governor"), "performance")
                .with(&format!("{cpu}/cpufreq/scaling_driver"), "intel_pstate")
                .with(&format!("{cpu}/cpufreq/scaling_cur_freq"), "3490000")
                .with(&format!("{cpu}/cpufreq/scaling_max_freq"), "3500000")
                .with(
                    &format!("{cpu}/topology/thread_siblings_list"),
                    &format!("{core},{}", core - 2),
                )
                .with(&format!("{cpu}/cpuidle/state1/name"), "C6")
                .with(&format!("{cpu}/cpuidle/state1/latency"), "170")
                .with(&format!("{cpu}/cpuidle/state1/disable"), "0")
                .with(&format!("{cpu}/cpuidle/state1/usage"), "12")
                .with(&format!("{cpu}/cpuidle/state0/name"), "C1")
                .with(&format!("{cpu}/cpuidle/state0/latency"), "2")
                .with(&format!("{cpu}/cpuidle/state0/disable"), "0")
                .with(&format!("{cpu}/cpuidle/state0/usage"), "999");
        }
        let cpus = "cpu  9 0 9 900 0 0 0 0 0 0\ncpu0 1 0 1 100 0 0 0 0\ncpu1 1 0 1 100 0 0 0 0\n";
        let later = "cpu  9 0 9 980 0 0 0 0 0 0\ncpu0 1 0 1 200 0 0 0 0\ncpu1 1 0 1 200 0 0 0 0\n";
        let msr = "\0".repeat(0x34 + 8);
        tree.with("proc/700/stat", &stat(5, 1, 50, 1))
            .with("proc/700/status", &status("2", 3))
            .with("proc/700/task/700/stat", &stat(5, 1, 50, 1))
            .with("proc/700/task/700/status", &status("2", 3))
            .with("proc/700/task/701/stat", &stat(5, 1, 0, 0))
            .with("proc/700/task/701/status", &status("0-1", 9))
            .with("dev/cpu/2/msr", &msr)
            .with(
                "proc/net/softnet_stat",
                "0000000a 00000000 00000001\n0000000b 00000000 00000000\n",
            )
            .changing(
                "proc/softirqs",
                [
                    "   CPU0 CPU1 CPU2 CPU3\nNET_RX: 5 5 0 0\n",
                    "   CPU0 CPU1 CPU2 CPU3\nNET_RX: 9 5 0 0\n",
                ],
            )
            .changing("proc/uptime", ["100.00 300.0", "102.00 306.0"])
            .changing("proc/stat", [cpus, later])
            .changing(
                "proc/interrupts",
                [
                    &interrupts([5, 0, 7, 0], [500, 400, 70, 60]),
                    &interrupts([9, 0, 7, 0], [900, 800, 72, 62]),
                ],
            )
    }

    /// A tree in which no file can be read.
    pub fn empty() -> Self {
        Self {
            files: BTreeMap::new(),
            ..Self::good()
        }
    }

    /// Replaces the content of this file, before and after the interval.
    pub fn with(self, path: &str, text: &str) -> Self {
        self.changing(path, [text, text])
    }

    /// Changes this file in the interval.
    pub fn changing(mut self, path: &str, texts: [&str; 2]) -> Self {
        self.files.insert(path.to_owned(), texts.map(str::to_owned));
        self
    }

    /// Replaces the content of this file after the interval.
    pub fn then(mut self, path: &str, text: &str) -> Self {
        let texts = self.files.get_mut(path).expect("a file of the tree");
        texts[1] = text.to_owned();
        self
    }

    /// Removes these files.
    pub fn without(mut self, start: &str) -> Self {
        self.files.retain(|path, _| !path.starts_with(start));
        self
    }

    /// Writes it into a temporary folder, as `before` and `after`.
    pub fn write(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in ["before", "after"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        self.replace(&Self::empty(), &folder);
        folder
    }

    /// Writes it over an existing one.
    pub fn replace(&self, other: &Self, folder: &TempDir) {
        let paths = self.files.keys().chain(other.files.keys());
        for path in paths.filter(|path| self.files.get(*path) != other.files.get(*path)) {
            for (place, name) in ["before", "after"].into_iter().enumerate() {
                let file = folder.path().join(name).join(path);
                match self.files.get(path) {
                    Some(texts) => {
                        fs::create_dir_all(file.parent().unwrap()).unwrap();
                        fs::write(&file, &texts[place]).unwrap();
                    }
                    None if file.exists() => fs::remove_file(&file).unwrap(),
                    None => {}
                }
            }
        }
    }

    /// The snapshots of a tree that was written to this folder.
    pub fn observed(&self, folder: &TempDir) -> Observed {
        Observed {
            before: Some(Snapshot::of(folder.path().join("before"))),
            now: Snapshot::of(folder.path().join("after")),
            cores: vec![2, 3],
            pid: self.pid,
            interface: self.interface.clone(),
            ethtool: self.ethtool.clone(),
        }
    }

    /// Its findings.
    pub fn diagnosis(&self) -> Diagnosis {
        let folder = self.write();
        Diagnosis::of(&self.observed(&folder), None)
    }

    /// Finding of one check: its health and values.
    pub fn found(&self, name: &str) -> (Health, String) {
        of_check(self.diagnosis(), name)
    }
}

/// Finding of one check.
pub fn of_check(diagnosis: Diagnosis, name: &str) -> (Health, String) {
    let mut findings = diagnosis.findings.into_iter();
    let finding = findings.find(|finding| finding.name == name);
    let finding = finding.expect("a check of this name");
    (finding.health, finding.found)
}

/// A process whose open file is this one.
pub fn hold(folder: &TempDir, file: &str) {
    let files = folder.path().join("after/proc/300/fd");
    fs::create_dir_all(&files).unwrap();
    symlink(file, files.join("7")).unwrap();
}
