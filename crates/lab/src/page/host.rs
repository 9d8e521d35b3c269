//! Origin of the figures: command, machine, findings of `fixwire doctor`, and notes for the reader.

use std::fmt::{self, Write};

use serde_json::Value;

use crate::report::any::ReportFacts;
use crate::report::chart::escape;

/// Writes the facts about the host and the run.
pub(super) fn write(report: &ReportFacts<'_>, to: &mut impl Write) -> fmt::Result {
    let (origin, machine) = (report.origin, report.machine);
    let cores = machine.cores.to_string();
    let facts = [
        ("Command", &origin.command),
        ("Settings", &report.settings),
        ("Date", &origin.date),
        ("Version", &origin.version),
        ("Host", &origin.host),
        ("Processor", &machine.processor),
        ("Cores", &cores),
        ("Kernel", &machine.kernel),
        ("Clock", &machine.clock_source),
        ("Hypervisor", &machine.hypervisor),
        ("Governor", &machine.governor),
        ("Isolated cores", &machine.isolated),
        ("Load", &machine.load),
    ];
    writeln!(to, "<section>\n<h3>The host</h3>\n<dl>")?;
    for (name, value) in facts {
        let value = if value.is_empty() { "none" } else { value };
        writeln!(to, "<dt>{name}<dd>{}", escape(value))?;
    }
    writeln!(to, "</dl>")?;
    if let Some(facts) = report.host_facts {
        findings(facts, to)?;
    }
    if !report.notes.is_empty() {
        writeln!(to, "<h3>Notes</h3>\n<ul>")?;
        for note in report.notes {
            writeln!(to, "<li>{}", escape(note))?;
        }
        writeln!(to, "</ul>")?;
    }
    writeln!(to, "</section>")
}

/// A table of the bad and unknown checks, and the names of the good ones.
fn findings(facts: &Value, to: &mut impl Write) -> fmt::Result {
    let all = facts["findings"].as_array().map_or(&[][..], |all| all);
    let text = |finding: &Value, key: &str| escape(finding[key].as_str().unwrap_or("?"));
    let with = |health: &'static str| all.iter().filter(move |it| it["health"] == health);
    if all.is_empty() {
        return Ok(());
    }
    writeln!(
        to,
        "<table class=\"findings\"><caption>Checks of fixwire doctor at the time of the \
        measurement: those that are bad or \
        unknown</caption>\n<thead><tr><th>Check<th>Weight<th>Health<th>Found<th>Good</thead>"
    )?;
    for finding in with("bad").chain(with("unknown")) {
        write!(to, "<tr class=\"{}\">", text(finding, "health"))?;
        write!(to, "<th>{}", text(finding, "name"))?;
        for key in ["weight", "health", "found", "good"] {
            write!(to, "<td>{}", text(finding, key))?;
        }
        writeln!(to)?;
    }
    writeln!(to, "</table>")?;
    let good: Vec<String> = with("good").map(|it| text(it, "name")).collect();
    if good.is_empty() {
        return Ok(());
    }
    writeln!(to, "<p>Good: {}.</p>", good.join(", "))
}
