//! The remedies as a shell script, to be reviewed before it is run.

use std::fmt::Write;

use super::diagnosis::Diagnosis;
use super::observed::{Health, Observed};
use crate::machine::core_list;

const HEAD: &str = "\
#!/bin/sh
# Remedies for the checks that `fixwire doctor` found bad. Read each remedy and its cost, remove
# those that you do not want, and run the rest as root. A reboot undoes all but the kernel command
# line: put remedies that help into sysctl.d, a tuned profile or a unit.
";

/// The script for all bad findings.
pub fn text(diagnosis: &Diagnosis, observed: &Observed) -> String {
    let mut out = HEAD.to_owned();
    let bad = diagnosis
        .findings
        .iter()
        .filter(|it| it.health == Health::Bad);
    let mut boot = Vec::new();
    for finding in bad {
        let check = finding.check;
        // Writing to a string cannot fail.
        let _ = writeln!(out, "\n# {} ({})", check.name, check.weight.name());
        for (title, text) in [
            ("Found: ", finding.found.as_str()),
            ("Good: ", check.good),
            ("", check.remedy),
            ("Cost: ", check.cost),
        ] {
            let _ = writeln!(out, "# {title}{text}");
        }
        match missing(check.script, observed) {
            Some(why) => {
                let _ = writeln!(out, "# No command: {why}");
            }
            None => {
                for line in check.script {
                    let _ = writeln!(out, "{}", filled(line, observed));
                }
            }
        }
        match not_at_boot(check.boot, observed) {
            Some(why) => {
                let _ = writeln!(out, "# Nothing for the kernel command line: {why}");
            }
            None if check.boot.is_empty() => {}
            None => boot.push(filled(check.boot, observed)),
        }
    }
    if !boot.is_empty() {
        let _ = writeln!(
            out,
            "\n# For the kernel command line (GRUB_CMDLINE_LINUX in /etc/default/grub, then update-grub\n\
             # or grub2-mkconfig, then a restart of the machine):\n# {}",
            boot.join(" ")
        );
    }
    out
}

/// Says which cores named in these lines this machine lacks; `None` when it has all of them.
fn missing(lines: &[&str], observed: &Observed) -> Option<String> {
    let name = |place: &str| lines.iter().any(|line| line.contains(place));
    if name("{cores}") && observed.cores.is_empty() {
        return Some("no hot cores: name them with --cores".to_owned());
    }
    let needs_others = name("{others}") || name("{others_mask}");
    if needs_others && others(observed).is_empty() {
        return Some(too_few(observed));
    }
    None
}

/// Why this kernel argument cannot be used on this machine; `None` when it can, or when it names no cores.
pub fn not_at_boot(boot: &str, observed: &Observed) -> Option<String> {
    if !boot.contains("{cores}") {
        return None;
    }
    if let Some(why) = missing(&[boot], observed) {
        return Some(why);
    }
    if others(observed).is_empty() {
        return Some(too_few(observed));
    }
    observed.cores.contains(&0).then(|| {
        "core 0 is one of the hot cores, but the kernel needs it: name other cores with --cores"
            .to_owned()
    })
}

fn too_few(observed: &Observed) -> String {
    let online = online(observed);
    match online.len() {
        0 => "the cores of this machine are unknown".to_owned(),
        1 => format!(
            "the only core of this machine, {}, is hot: use a machine with more cores",
            observed.core_text()
        ),
        count => format!(
            "all {count} cores of this machine are hot ({}), and no core is left for the kernel: name fewer with --cores, or use a machine with more cores",
            observed.core_text()
        ),
    }
}

fn online(observed: &Observed) -> Vec<usize> {
    let online = observed.now.line("sys/devices/system/cpu/online");
    online.map(|list| core_list(&list)).unwrap_or_default()
}

/// The cores that are not hot.
fn others(observed: &Observed) -> Vec<usize> {
    let mut others = online(observed);
    others.retain(|core| !observed.cores.contains(core));
    others
}

/// A line of the table with its words replaced by the values of this machine.
pub fn filled(line: &str, observed: &Observed) -> String {
    let others = others(observed);
    let list: Vec<String> = others.iter().map(usize::to_string).collect();
    let pid = observed.pid.map(|pid| pid.to_string());
    line.replace("{cores}", &observed.core_text())
        .replace("{others}", &list.join(","))
        .replace("{others_mask}", &mask(&others))
        .replace("{pid}", pid.as_deref().unwrap_or("PID"))
        .replace("{interface}", observed.interface.as_deref().unwrap_or("IF"))
}

/// Cores as a mask in the kernel's format: groups of 32 bits, the highest first.
pub fn mask(cores: &[usize]) -> String {
    let groups = cores.iter().max().map_or(1, |core| core / 32 + 1);
    let mut bits = vec![0_u32; groups];
    for core in cores {
        bits[core / 32] |= 1 << (core % 32);
    }
    let last = bits.pop().unwrap_or_default();
    let rest = bits.iter().rev().map(|group| format!(",{group:08x}"));
    format!("{last:x}{}", rest.collect::<String>())
}
