//! Checks of the network: the path of bytes from the card to a program.

use super::observed::{Observation, Observed, named};

/// Maximum number of receive queues of a card that one hot thread reads.
const QUEUES: usize = 4;

pub fn busy_poll(of: &Observed) -> Observation {
    let number = |name: &str| of.now.number(&format!("proc/sys/net/core/{name}"));
    let mut seen = Observation::new();
    for name in ["busy_poll", "busy_read"] {
        let value = number(name);
        seen = seen.judge(named(name, value), value.map(|micros| micros > 0));
    }
    let Some(interface) = &of.interface else {
        return seen;
    };
    if interface == "lo" {
        return Observation::not_asked(
            "--interface with a network card: busy polling does not apply to lo",
        );
    }
    for name in ["napi_defer_hard_irqs", "gro_flush_timeout", "threaded"] {
        let value = of.now.number(&format!("sys/class/net/{interface}/{name}"));
        seen = match value {
            Some(_) => seen.record(named(name, value)),
            None => seen.judge(named(name, value), None),
        };
    }
    seen
}

pub fn coalescing(of: &Observed) -> Observation {
    let Some(interface) = &of.interface else {
        return Observation::not_asked("--interface");
    };
    let queues = of.now.names(&format!("sys/class/net/{interface}/queues"));
    let queues = queues.map(|all| all.iter().filter(|name| name.starts_with("rx-")).count());
    let seen = Observation::new().judge(
        named("rx queues", queues),
        queues.map(|count| (1..=QUEUES).contains(&count)),
    );
    let Some(said) = &of.ethtool else {
        return seen.judge("coalescing unknown (--ethtool)", None);
    };
    let said_of = |name: &str| {
        said.lines().find_map(|line| {
            let value = line
                .trim()
                .strip_prefix(name)?
                .trim_start()
                .strip_prefix(':')?;
            value.split_whitespace().next()
        })
    };
    let judged = |seen: Observation, name: &str, right: &[&str]| {
        let value = said_of(name);
        seen.judge(
            named(name, value),
            value.map(|value| right.contains(&value)),
        )
    };
    let seen = judged(seen, "rx-usecs", &["0"]);
    // A card that lacks this setting reports n/a.
    let seen = judged(seen, "Adaptive RX", &["off", "n/a"]);
    judged(seen, "large-receive-offload", &["off"])
}

pub fn tcp(of: &Observed) -> Observation {
    let number = |name: &str| of.now.number(&format!("proc/sys/net/ipv4/{name}"));
    let mut seen = Observation::new();
    for name in ["tcp_slow_start_after_idle", "tcp_autocorking"] {
        let value = number(name);
        seen = seen.judge(named(name, value), value.map(|on| on == 0));
    }
    seen.record(named("tcp_timestamps", number("tcp_timestamps")))
}

pub fn onload(of: &Observed) -> Observation {
    let Some(maps) = of.of_process("maps") else {
        return Observation::not_asked("--pid");
    };
    let Some(maps) = of.now.text(&maps) else {
        return Observation::unknown("mapped files unknown (run as root)");
    };
    if !maps.contains("libonload.so") {
        return Observation::new().record("not loaded");
    }
    let seen = Observation::new().record("loaded");
    let environment = of.of_process("environ").and_then(|file| of.now.text(&file));
    match environment {
        None => seen.judge("profile unknown", None),
        Some(all) => all
            .split('\0')
            .filter(|setting| setting.starts_with("EF_"))
            .fold(seen, |seen, setting| seen.record(setting)),
    }
}
