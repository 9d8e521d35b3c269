//! The table of checks: what each check reads, the good value, the remedy and its cost.

use serde::Serialize;

use super::measure::{self, Measured};
use super::observed::{Observation, Observed};
use super::{cache, cpu, interrupts, kernel, memory, network, process};

/// Weight of a check, in display order.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    /// When this check is bad, measurements on this machine say nothing about the engine.
    Fail,
    /// A measured result of the whole machine; the other checks explain it.
    Verdict,
    /// A bad value costs tens of microseconds or more each time.
    High,
    /// A bad value costs some microseconds, or has an effect only rarely.
    Mid,
    /// Hardly noticeable.
    Low,
    /// Information only.
    Info,
}

impl Weight {
    /// Name of the weight in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Verdict => "verdict",
            Self::High => "high",
            Self::Mid => "mid",
            Self::Low => "low",
            Self::Info => "info",
        }
    }
}

/// Method of a check.
#[derive(Clone, Copy, Debug)]
pub enum CheckMethod {
    /// Reads kernel files.
    Read(fn(&Observed) -> Observation),
    /// Uses a measurement.
    Measure(fn(&Measured) -> Observation),
}

/// One row of the table.
///
/// In `script`, `boot` and `unit` these words are replaced by their values: `{cores}` (the hot cores, `2,3`),
/// `{others}` (the other cores), `{others_mask}`, `{pid}` and `{interface}`.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Name of the check; it is unique.
    pub name: &'static str,
    /// Weight of the check.
    pub weight: Weight,
    /// Files that the check reads, or commands to run when no file has the value.
    pub reads: &'static str,
    /// The good value.
    pub good: &'static str,
    /// How to get the good value, as a sentence.
    pub remedy: &'static str,
    /// Cost of the remedy, as a sentence.
    pub cost: &'static str,
    /// Shell commands that apply the remedy, to be run as root; may be empty.
    pub script: &'static [&'static str],
    /// Addition to the kernel's command line; may be empty.
    pub boot: &'static str,
    /// Directives for the service unit.
    pub unit: &'static [&'static str],
    /// Method of the check.
    pub how: CheckMethod,
}

/// Default values of a row.
const ROW: Check = Check {
    name: "",
    weight: Weight::Info,
    reads: "",
    good: "recorded",
    remedy: "",
    cost: "Nothing.",
    script: &[],
    boot: "",
    unit: &[],
    how: CheckMethod::Read(|_| Observation::new()),
};

/// All checks.
pub const CHECKS: &[Check] = &[
    Check {
        name: "virtual machine",
        weight: Weight::Fail,
        reads: "/proc/cpuinfo (hypervisor), /proc/stat (steal)",
        good: "bare metal, steal 0",
        remedy: "Measure on bare metal, or on an instance of a whole host; report only ratios from this machine.",
        cost: "A separate machine.",
        how: CheckMethod::Read(cpu::virtual_machine),
        ..ROW
    },
    Check {
        name: "jitter",
        weight: Weight::Verdict,
        reads: "a spin of --seconds on each hot core",
        good: "worst below 20 us",
        remedy: "Fix the rows below by weight, then measure for 300 seconds. Jitter left on a tuned machine is \
                 firmware: check with hwlatdetect, then cyclictest, then oslat.",
        cost: "The hot cores are busy during the measurement.",
        how: CheckMethod::Measure(measure::jitter),
        ..ROW
    },
    Check {
        name: "kept cache",
        weight: Weight::High,
        reads: "128 KiB on each hot core, read at once and after 10 ms",
        good: "at most 3 x at once",
        remedy: "Keep other programs off the hot cores and off their caches: switch SMT off, take a whole host, divide \
                 the cache (resctrl). Until then a message after a pause takes longer by tens of microseconds.",
        cost: "A core, or a machine, that no other program uses.",
        how: CheckMethod::Measure(cache::kept_cache),
        ..ROW
    },
    Check {
        name: "floor",
        weight: Weight::Verdict,
        reads: "raw TCP ping-pong over loopback",
        good: "beside each result",
        remedy: "Compare results by their ratio to this time.",
        how: CheckMethod::Measure(measure::floor),
        ..ROW
    },
    Check {
        name: "isolated cores",
        weight: Weight::High,
        reads: "/sys/devices/system/cpu/isolated, /proc/cmdline (isolcpus)",
        good: "hot cores, not 0",
        remedy: "Keep the hot cores free of other programs; leave core 0 to the kernel.",
        cost: "Only pinned threads run on these cores; a reboot.",
        boot: "isolcpus=managed_irq,domain,{cores}",
        unit: &["CPUAffinity="],
        how: CheckMethod::Read(cpu::isolated),
        ..ROW
    },
    Check {
        name: "tickless",
        weight: Weight::High,
        reads: "/sys/devices/system/cpu/nohz_full",
        good: "hot cores",
        remedy: "Stop the timer tick on the hot cores; the kernel must be built with NO_HZ_FULL.",
        cost: "System calls there are about 0.1 us slower; a reboot.",
        boot: "nohz_full={cores}",
        how: CheckMethod::Read(cpu::tickless),
        ..ROW
    },
    Check {
        name: "RCU off-load",
        weight: Weight::Mid,
        reads: "/proc/cmdline (rcu_nocbs), cores of rcuo threads",
        good: "hot cores off-loaded",
        remedy: "Move the kernel's deferred frees off the hot cores, and their threads to other cores.",
        cost: "The other cores do that work; a reboot.",
        script: &["for pid in $(pgrep '^rcuo'); do taskset -pc {others} \"$pid\"; done"],
        boot: "rcu_nocbs={cores}",
        how: CheckMethod::Read(cpu::rcu),
        ..ROW
    },
    Check {
        name: "SMT",
        weight: Weight::High,
        reads: "/sys/devices/system/cpu/smt/active, cpuN/topology/thread_siblings_list",
        good: "off, or sibling idle",
        remedy: "Switch SMT off, or keep the sibling of each hot core idle.",
        cost: "Half of the hardware threads.",
        script: &["echo off > /sys/devices/system/cpu/smt/control"],
        how: CheckMethod::Read(cpu::smt),
        ..ROW
    },
    Check {
        name: "governor",
        weight: Weight::High,
        reads: "cpuN/cpufreq/scaling_governor, scaling_cur_freq, scaling_max_freq",
        good: "performance, at max",
        remedy: "Set governor performance to keep the frequency up (on a virtual machine only the host can).",
        cost: "Power and heat.",
        script: &[
            "for core in $(echo {cores} | tr , ' '); do",
            "  echo performance > /sys/devices/system/cpu/cpu$core/cpufreq/scaling_governor",
            "done",
        ],
        how: CheckMethod::Read(cpu::governor),
        ..ROW
    },
    Check {
        name: "C-states",
        weight: Weight::High,
        reads: "cpuN/cpuidle/state*/usage, /sys/devices/system/cpu/cpuidle/current_driver",
        good: "none above 2 us",
        remedy: "Disable C-states with a wake-up latency above 2 us.",
        cost: "Power and heat; less turbo for other cores.",
        script: &[
            "for core in $(echo {cores} | tr , ' '); do",
            "  for state in /sys/devices/system/cpu/cpu$core/cpuidle/state*; do",
            "    [ \"$(cat $state/latency)\" -le 2 ] || echo 1 > $state/disable",
            "  done",
            "done",
        ],
        how: CheckMethod::Read(cpu::c_states),
        ..ROW
    },
    Check {
        name: "turbo",
        reads: "/sys/devices/system/cpu/intel_pstate/no_turbo, cpufreq/boost",
        good: "recorded, stable",
        remedy: "Do not change it between results that you compare.",
        how: CheckMethod::Read(cpu::turbo),
        ..ROW
    },
    Check {
        name: "clock",
        weight: Weight::High,
        reads: "clocksource0/current_clocksource, /proc/cpuinfo (constant_tsc, nonstop_tsc)",
        good: "tsc",
        remedy: "Use tsc: reading it needs no system call.",
        cost: "A reboot; wrong time if the TSCs of the cores are not synchronized.",
        script: &["echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource"],
        boot: "tsc=reliable",
        how: CheckMethod::Read(cpu::clock),
        ..ROW
    },
    Check {
        name: "huge pages",
        weight: Weight::Mid,
        reads: "/sys/kernel/mm/transparent_hugepage/enabled, defrag",
        good: "never or madvise",
        remedy: "Stop the kernel from building huge pages while a program runs.",
        cost: "Programs with much memory have more TLB misses.",
        script: &[
            "echo never > /sys/kernel/mm/transparent_hugepage/enabled",
            "echo never > /sys/kernel/mm/transparent_hugepage/defrag",
        ],
        how: CheckMethod::Read(memory::huge_pages),
        ..ROW
    },
    Check {
        name: "KSM and swap",
        weight: Weight::Mid,
        reads: "/sys/kernel/mm/ksm/run, /proc/sys/vm/swappiness, /proc/PID/status (VmSwap)",
        good: "0, at most 10, 0 kB",
        remedy: "Disable page merging (KSM) and swapping.",
        cost: "Less room for the page cache.",
        script: &[
            "echo 0 > /sys/kernel/mm/ksm/run",
            "sysctl -w vm.swappiness=10",
        ],
        how: CheckMethod::Read(memory::swap),
        ..ROW
    },
    Check {
        name: "locked memory",
        weight: Weight::Mid,
        reads: "/proc/PID/status (VmLck), /proc/PID/limits",
        good: "all, no limit",
        remedy: "Set LockMemory=Y, and raise the limit: LimitMEMLOCK=infinity, or ulimit -l unlimited.",
        cost: "All memory of the process is resident: receive buffers and journal segments in full.",
        script: &[
            "prlimit --pid {pid} --memlock=unlimited  # then LockMemory=Y and a restart of the engine",
        ],
        unit: &["LimitMEMLOCK=infinity"],
        how: CheckMethod::Read(memory::locked),
        ..ROW
    },
    Check {
        name: "page faults",
        weight: Weight::High,
        reads: "/proc/PID/stat (minflt, majflt)",
        good: "0 in steady state",
        remedy: "Lock the memory (LockMemory=Y), and look again once the engine has processed some orders.",
        cost: "All memory of the process is resident, as with locked memory.",
        how: CheckMethod::Read(memory::page_faults),
        ..ROW
    },
    Check {
        name: "NUMA",
        weight: Weight::High,
        reads: "/proc/sys/kernel/numa_balancing, /proc/PID/numa_maps, /sys/class/net/IF/device/numa_node",
        good: "0; all on one node",
        remedy: "Stop the kernel from moving pages; use cores and memory of the network card's node.",
        cost: "The other node's cores and memory are not used.",
        script: &["sysctl -w kernel.numa_balancing=0"],
        how: CheckMethod::Read(memory::numa),
        ..ROW
    },
    Check {
        name: "interrupts",
        weight: Weight::High,
        reads: "/proc/interrupts, /proc/irq/*/effective_affinity_list, irqbalance",
        good: "devices 0, timer 2/s",
        remedy: "Send the interrupts of devices to other cores, and ban irqbalance from the hot ones \
                 (IRQBALANCE_BANNED_CPULIST).",
        cost: "The other cores take all interrupts. Queues that the kernel manages cannot be moved.",
        script: &[
            "for irq in /proc/irq/[0-9]*; do",
            "  echo {others} > $irq/smp_affinity_list || echo \"$irq cannot be moved\" >&2",
            "done",
        ],
        how: CheckMethod::Read(interrupts::on_hot_cores),
        ..ROW
    },
    Check {
        name: "softirq",
        weight: Weight::Mid,
        reads: "/proc/net/softnet_stat, /proc/softirqs",
        good: "no drops, squeeze 0",
        remedy: "Let the kernel process more packets in one softirq.",
        cost: "Longer softirqs on the receiving cores.",
        script: &[
            "sysctl -w net.core.netdev_budget=600 net.core.netdev_budget_usecs=8000",
            "sysctl -w net.core.netdev_max_backlog=5000",
        ],
        how: CheckMethod::Read(interrupts::softirq),
        ..ROW
    },
    Check {
        name: "workqueues",
        weight: Weight::Mid,
        reads: "/sys/devices/virtual/workqueue/cpumask, /sys/bus/workqueue/devices/writeback/cpumask",
        good: "without hot cores",
        remedy: "Move the kernel's deferred work to other cores.",
        cost: "The other cores do that work.",
        script: &[
            "echo {others_mask} > /sys/devices/virtual/workqueue/cpumask",
            "echo {others_mask} > /sys/bus/workqueue/devices/writeback/cpumask",
        ],
        how: CheckMethod::Read(interrupts::workqueues),
        ..ROW
    },
    Check {
        name: "watchdog",
        weight: Weight::Mid,
        reads: "/proc/sys/kernel/nmi_watchdog, watchdog, watchdog_cpumask",
        good: "0 or not hot cores",
        remedy: "Switch the kernel's watchdogs off, or keep them off the hot cores.",
        cost: "The kernel no longer reports a CPU core that hangs.",
        script: &["sysctl -w kernel.nmi_watchdog=0 kernel.watchdog_cpumask={others}"],
        how: CheckMethod::Read(interrupts::watchdog),
        ..ROW
    },
    Check {
        name: "real-time throttle",
        weight: Weight::High,
        reads: "/proc/sys/kernel/sched_rt_runtime_us, /proc/PID/task/TID/stat",
        good: "-1 with FIFO only",
        remedy: "With FIFO threads that spin on isolated cores set this value to -1: at 950000 the kernel stops them for up to \
                 50 ms each second. Without such threads keep 950000.",
        cost: "At -1 a real-time thread that spins on another core never yields the core; the machine may hang.",
        script: &[
            "# FIFO threads, all on isolated cores: sysctl -w kernel.sched_rt_runtime_us=-1",
            "# Otherwise: sysctl -w kernel.sched_rt_runtime_us=950000",
        ],
        unit: &[
            "CPUSchedulingPolicy=fifo",
            "CPUSchedulingPriority=",
            "LimitRTPRIO=",
        ],
        how: CheckMethod::Read(process::real_time_throttle),
        ..ROW
    },
    Check {
        name: "hot threads",
        weight: Weight::High,
        reads: "/proc/PID/task/TID/stat, status (Cpus_allowed_list, nonvoluntary_ctxt_switches)",
        good: "1 a core, never off",
        remedy: "Pin the engine with Core= to an isolated core of its own, so that nothing preempts it.",
        cost: "A core for each engine.",
        unit: &["CPUAffinity="],
        how: CheckMethod::Read(process::policy),
        ..ROW
    },
    Check {
        name: "timers",
        weight: Weight::Low,
        reads: "/proc/sys/kernel/timer_migration, /proc/sys/vm/stat_interval, /proc/cmdline (skew_tick)",
        good: "0, 10 or more, 1",
        remedy: "Disable timer migration, update VM statistics rarely, and skew the ticks of the cores.",
        cost: "VM statistics are up to 10 s old; idle cores wake up for their own timers.",
        script: &["sysctl -w kernel.timer_migration=0 vm.stat_interval=10"],
        boot: "skew_tick=1",
        how: CheckMethod::Read(interrupts::timers),
        ..ROW
    },
    Check {
        name: "busy poll",
        weight: Weight::Mid,
        reads: "/proc/sys/net/core/busy_poll, busy_read, /sys/class/net/IF/threaded",
        good: "50",
        remedy: "Let reads poll the network card: BusyPoll=50 for a session, or the sysctls for all sockets.",
        cost: "A read without data spends up to that long in the kernel. No effect on loopback.",
        script: &["sysctl -w net.core.busy_poll=50 net.core.busy_read=50"],
        how: CheckMethod::Read(network::busy_poll),
        ..ROW
    },
    Check {
        name: "coalescing",
        weight: Weight::High,
        reads: "/sys/class/net/IF/queues; run ethtool -c IF and ethtool -k IF (--ethtool FILE)",
        good: "0, off; few queues",
        remedy: "Disable interrupt coalescing and large receive offload; use few queues.",
        cost: "More interrupts under load.",
        script: &[
            "ethtool -C {interface} adaptive-rx off rx-usecs 0",
            "ethtool -K {interface} lro off",
            "ethtool -L {interface} combined 1  # rx 1 where the card has no combined queues",
        ],
        how: CheckMethod::Read(network::coalescing),
        ..ROW
    },
    Check {
        name: "TCP",
        weight: Weight::High,
        reads: "/proc/sys/net/ipv4/tcp_slow_start_after_idle, tcp_autocorking, tcp_timestamps",
        good: "0, 0",
        remedy: "Disable slow start after idle and autocorking. TCP_NODELAY is set per session (SocketNodelay=Y) and not visible here.",
        cost: "Bursts after an idle time may congest the network; more small packets.",
        script: &["sysctl -w net.ipv4.tcp_slow_start_after_idle=0 net.ipv4.tcp_autocorking=0"],
        how: CheckMethod::Read(network::tcp),
        ..ROW
    },
    Check {
        name: "Onload",
        reads: "/proc/PID/maps, environ (EF_*)",
        remedy: "Start the engine under onload for results with Onload; check with onload_stackdump.",
        how: CheckMethod::Read(network::onload),
        ..ROW
    },
    Check {
        name: "kernel",
        reads: "/proc/sys/kernel/osrelease, /sys/kernel/realtime",
        remedy: "Report it with each result.",
        how: CheckMethod::Read(kernel::flavour),
        ..ROW
    },
    Check {
        name: "mitigations",
        reads: "/sys/devices/system/cpu/vulnerabilities, /proc/cmdline (mitigations)",
        remedy: "Publish the list of active mitigations with each result. To disable mitigations is a security decision.",
        how: CheckMethod::Read(kernel::mitigations),
        ..ROW
    },
    Check {
        name: "MCE and SMI",
        weight: Weight::Low,
        reads: "machinecheck0/ignore_ce, /dev/cpu/N/msr at 0x34 (root, module msr: rdmsr 0x34)",
        good: "1, SMI 0",
        remedy: "Disable polling for corrected memory errors; ask the firmware vendor about SMIs.",
        cost: "Corrected memory errors are reported later, or only by the firmware.",
        script: &[
            "for bank in /sys/devices/system/machinecheck/machinecheck*; do echo 1 > $bank/ignore_ce; done",
        ],
        how: CheckMethod::Read(kernel::machine_checks),
        ..ROW
    },
    Check {
        name: "load and clock",
        weight: Weight::Mid,
        reads: "/proc/loadavg, names of processes; run chronyc tracking or timedatectl",
        good: "idle, clock in sync",
        remedy: "Stop other programs; synchronize the clock with chrony or ptp4l.",
        cost: "None for an engine.",
        how: CheckMethod::Read(kernel::load),
        ..ROW
    },
];
