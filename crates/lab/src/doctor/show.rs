//! The findings as a table for a terminal of 80 columns.

use std::fmt::Write;

use super::checks::Weight;
use super::diagnosis::{Diagnosis, Finding};
use super::observed::{Health, Observed};
use super::script::{filled, not_at_boot};

/// Widths of the columns: check, found, good.
const WIDTHS: [usize; 3] = [18, 28, 20];
/// Columns of a terminal.
const WIDTH: usize = 80;

/// The text: the table, then the remedies, then the unknown values.
pub fn text(diagnosis: &Diagnosis, observed: &Observed, colour: bool) -> String {
    let mut out = String::new();
    line(&mut out, ["check", "found", "good"], "weight");
    for finding in &diagnosis.findings {
        row(&mut out, finding, colour);
    }
    let with = |health| {
        diagnosis
            .findings
            .iter()
            .filter(move |it| it.health == health)
    };
    if with(Health::Bad).next().is_some() {
        out.push_str("\nTo do\n");
    }
    for finding in with(Health::Bad) {
        remedy(&mut out, finding, observed);
    }
    if with(Health::Unknown).next().is_some() {
        out.push_str("\nUnknown, and where to read it\n");
    }
    for finding in with(Health::Unknown) {
        paragraph(
            &mut out,
            2,
            &format!("{}: {}", finding.name, finding.check.reads),
        );
    }
    let count = |health| with(health).count();
    let sum = format!(
        "{} bad, {} unknown, {} not requested, {} good, {} recorded",
        count(Health::Bad),
        count(Health::Unknown),
        count(Health::NotAsked),
        count(Health::Good),
        count(Health::Recorded),
    );
    let cores = match diagnosis.cores[..] {
        [] => "no hot cores".to_owned(),
        _ => format!("hot cores {}", observed.core_text()),
    };
    let code = diagnosis.exit_code();
    out.push('\n');
    paragraph(&mut out, 0, &format!("{cores}: {sum}; exit code {code}"));
    out
}

/// Changed findings; empty when none changed.
pub fn changes(before: &Diagnosis, now: &Diagnosis) -> String {
    let mut out = String::new();
    for finding in &now.findings {
        let last = before.findings.iter().find(|it| it.name == finding.name);
        let Some(last) = last.filter(|last| last.found != finding.found) else {
            continue;
        };
        let mark = mark(finding.health);
        let text = format!(
            "{} {mark}: {} (was: {})",
            finding.name, finding.found, last.found
        );
        paragraph(&mut out, 0, &text);
    }
    out
}

fn mark(health: Health) -> &'static str {
    match health {
        Health::Good => "ok",
        Health::Bad => "BAD",
        Health::Unknown => "?",
        Health::Recorded | Health::NotAsked => "-",
    }
}

/// The colour of a finding: red for a bad finding that matters, yellow for another bad one and for an unknown one.
fn paint(finding: &Finding) -> &'static str {
    match finding.health {
        Health::Good => "\x1b[32m",
        Health::Bad if finding.weight <= Weight::High => "\x1b[31m",
        Health::Bad | Health::Unknown => "\x1b[33m",
        Health::Recorded | Health::NotAsked => "",
    }
}

fn row(out: &mut String, finding: &Finding, colour: bool) {
    let found = wrapped(&finding.found, WIDTHS[1]);
    let good = wrapped(finding.good, WIDTHS[2]);
    let marked = format!("{:<7} {}", finding.weight.name(), mark(finding.health));
    let paint = if colour { paint(finding) } else { "" };
    for number in 0..found.len().max(good.len()) {
        let cell = |cells: &[String]| cells.get(number).cloned().unwrap_or_default();
        let (name, last) = match number {
            0 if paint.is_empty() => (finding.name, marked.clone()),
            0 => (finding.name, format!("{paint}{marked}\x1b[0m")),
            _ => ("", String::new()),
        };
        line(out, [name, &cell(&found), &cell(&good)], &last);
    }
}

fn line(out: &mut String, cells: [&str; 3], last: &str) {
    let mut text = String::new();
    for (cell, width) in cells.into_iter().zip(WIDTHS) {
        let _ = write!(text, "{cell:<width$} ");
    }
    text.push_str(last);
    out.push_str(text.trim_end());
    out.push('\n');
}

fn remedy(out: &mut String, finding: &Finding, observed: &Observed) {
    let check = finding.check;
    let title = format!("{} ({}): {}", check.name, check.weight.name(), check.remedy);
    paragraph(out, 2, &title);
    if !check.boot.is_empty() {
        let text = match not_at_boot(check.boot, observed) {
            Some(why) => format!("Kernel command line: nothing, {why}"),
            None => format!("Kernel command line: {}", filled(check.boot, observed)),
        };
        paragraph(out, 4, &text);
    }
    if !check.unit.is_empty() {
        let text = format!("Unit of the service: {}", check.unit.join(" "));
        paragraph(out, 4, &text);
    }
    paragraph(out, 4, &format!("Cost: {}", check.cost));
}

/// Writes a text in lines of the terminal's width. All lines after the first are indented by two more columns.
fn paragraph(out: &mut String, indent: usize, text: &str) {
    for (number, line) in wrapped(text, WIDTH - indent - 2).iter().enumerate() {
        let indent = indent + if number == 0 { 0 } else { 2 };
        let _ = writeln!(out, "{:indent$}{line}", "");
    }
}

/// A text in lines of at most this many characters, broken between words where possible.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let mut word: Vec<char> = word.chars().collect();
        if used > 0 && used + 1 + word.len() > width {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        while word.len() > width {
            let rest = word.split_off(width);
            lines.push(word.into_iter().collect());
            word = rest;
        }
        used += word.len();
        line.extend(word);
    }
    lines.push(line);
    lines
}
