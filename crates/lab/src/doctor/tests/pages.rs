//! Pages generated from the table: docs/operating/doctor.md and the low-latency unit.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;

use crate::doctor::CHECKS;

const PAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operating");
const BEGIN: &str = "<!-- The table of crates/lab/src/doctor/checks.rs: UPDATE=1 cargo test -p fixwire-lab doctor -->\n";
const END: &str = "<!-- the end of the table -->\n";

fn page(name: &str) -> String {
    fs::read_to_string(format!("{PAGES}/{name}")).unwrap()
}

fn table() -> String {
    let mut out = "\n| check | weight | good | read from | remedy | cost |\n| --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for check in CHECKS {
        let mut remedy = check.remedy.to_owned();
        if !check.boot.is_empty() {
            let boot = check.boot.replace("{cores}", "CORES");
            let _ = write!(remedy, " Kernel command line: `{boot}`.");
        }
        let (name, weight) = (check.name, check.weight.name());
        let row = [name, weight, check.good, check.reads, &remedy, check.cost];
        let _ = writeln!(out, "| {} |", row.join(" | "));
    }
    out + "\n"
}

#[test]
fn the_page_has_every_check() {
    let there = page("doctor.md");
    let (before, rest) = there.split_once(BEGIN).expect("where the table begins");
    let (_, after) = rest.split_once(END).expect("where the table ends");
    let made = format!("{before}{BEGIN}{}{END}{after}", table());
    if std::env::var_os("UPDATE").is_some() {
        fs::write(format!("{PAGES}/doctor.md"), &made).unwrap();
    }
    assert!(
        page("doctor.md") == made,
        "docs/operating/doctor.md is behind the table: run with UPDATE=1"
    );
}

/// The directives of the section `[Service]`.
fn service(name: &str) -> BTreeSet<(String, String)> {
    let text = page(name);
    let lines = text.lines().skip_while(|line| *line != "[Service]").skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let directives = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    directives
        .map(|line| {
            let (key, value) = line.split_once('=').expect("a directive");
            (key.to_owned(), value.to_owned())
        })
        .collect()
}

#[test]
fn the_unit_has_what_the_remedies_name() {
    let unit = service("fixwire-low-latency.service");
    let mut named = BTreeSet::new();
    for check in CHECKS {
        for line in check.unit {
            let (key, value) = line.split_once('=').expect("a directive");
            let has = |(there, said): &(String, String)| {
                there == key && (value.is_empty() || said == value)
            };
            assert!(unit.iter().any(has), "{}: {line}", check.name);
            named.insert(key.to_owned());
        }
    }
    // Otherwise it equals the ordinary unit, except for the lines that the scheduling policy needs.
    let usual = service("fixwire.service");
    let keys = |directives: BTreeSet<&(String, String)>| -> BTreeSet<String> {
        directives.into_iter().map(|(key, _)| key.clone()).collect()
    };
    named.insert("CPUSchedulingResetOnFork".to_owned());
    named.insert("RestrictRealtime".to_owned());
    assert_eq!(keys(unit.difference(&usual).collect()), named);
    let looser = ["RestrictRealtime".to_owned()];
    assert_eq!(
        keys(usual.difference(&unit).collect()),
        BTreeSet::from(looser)
    );
}
