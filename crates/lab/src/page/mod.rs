//! The report page: one HTML document. It needs no network, and can be read without scripts.
//!
//! ```text
//! legend      names and colours of curves, and the boxes that hide them
//! measured    the rows of a report at one pace: the subject of a part of the page
//! figure      one figure, with the values shown under the pointer
//! percentile, histogram, seconds    the figures
//! table, stages, host               the rest
//! batches, per_milli                the parts of bench oms and of bench transactions
//! page.css, page.js                 style; values under the pointer, and the state in the address
//! ```

use std::fmt::{self, Write};

use crate::report::any::AnyReport;
use crate::report::chart::escape;
use crate::report::{Report, flood, screen};

mod batches;
mod figure;
mod histogram;
mod host;
mod legend;
mod measured;
mod per_milli;
mod percentile;
mod seconds;
mod stages;
mod table;
#[cfg(test)]
mod tests;

use legend::Legend;
use measured::AtPace;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// SHA-256 of the script, in base64; a browser runs no other script. Made with
/// `openssl dgst -sha256 -binary page.js | base64`. The suite `page` fails when the script has another hash.
const SCRIPT_HASH: &str = "2a/DBIe+tYutNVEVFAx5/zA6JK0IaMP14fE+UDi0Iwg=";

/// Content security policy: the page loads nothing and sends nothing.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Writes a page of reports, each with the name of its file.
///
/// # Errors
///
/// When writing fails.
pub fn write(reports: &[(String, AnyReport)], to: &mut impl Write) -> fmt::Result {
    let legend = Legend::of(reports.iter().map(|(_, report)| report));
    let mut scenarios: Vec<&str> = reports.iter().map(|it| it.1.facts().scenario).collect();
    scenarios.dedup();
    let title = format!("fixwire bench: {}", escape(&scenarios.join(", ")));
    writeln!(
        to,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}; script-src 'sha256-{SCRIPT_HASH}'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{STYLE}"
    )?;
    legend.rules(to)?;
    writeln!(to, "</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>")?;
    for (file, (name, report)) in reports.iter().enumerate() {
        write_verdict(name, report, file + 1, to)?;
    }
    writeln!(to, "</header>")?;
    legend.write(to)?;
    writeln!(to, "<main>")?;
    for (file, (name, report)) in reports.iter().enumerate() {
        write_report(name, report, file + 1, &legend, to)?;
    }
    // The script element must contain exactly the hashed script.
    writeln!(to, "</main>\n<script>{SCRIPT}</script>\n</body>\n</html>")
}

/// The sentences of the screen: faults and summary.
fn write_verdict(name: &str, report: &AnyReport, file: usize, to: &mut impl Write) -> fmt::Result {
    for fault in report.faults().lines() {
        writeln!(to, "<p class=\"fault\">{}</p>", escape(fault))?;
    }
    writeln!(
        to,
        "<p><a href=\"#f{file}\">{}</a>: {}</p>",
        escape(name),
        escape(&report.sentences())
    )
}

fn write_report(
    name: &str,
    report: &AnyReport,
    file: usize,
    legend: &Legend,
    to: &mut impl Write,
) -> fmt::Result {
    let facts = report.facts();
    writeln!(
        to,
        "<article id=\"f{file}\">\n<h2>bench {}: {}</h2>\n<p class=\"origin\">{}, {} on {}, fixwire {}</p>",
        escape(facts.scenario),
        escape(&facts.title),
        escape(name),
        escape(&facts.origin.date),
        escape(&facts.origin.host),
        escape(&facts.origin.version)
    )?;
    match report {
        AnyReport::Rates(report) => write_rates(report, file, legend, to)?,
        AnyReport::Oms(report) => batches::write(report, to)?,
        AnyReport::Transactions(report) => per_milli::write(report, file, legend, to)?,
    }
    host::write(&facts, to)?;
    writeln!(to, "</article>")
}

/// The parts of a report with runs at a rate.
fn write_rates(report: &Report, file: usize, legend: &Legend, to: &mut impl Write) -> fmt::Result {
    table::write(report, to)?;
    let mut lines = String::new();
    flood::write(report, &mut lines)?;
    for line in lines.lines() {
        writeln!(to, "<p>{}</p>", escape(line))?;
    }
    for part in AtPace::each(report, file) {
        writeln!(
            to,
            "<section>\n<h3>{}</h3>\n<div class=\"pictures\">",
            screen::name(part.pace)
        )?;
        percentile::picture(&part, legend).write(to)?;
        histogram::picture(&part, legend).write(to)?;
        for picture in seconds::pictures(&part, legend) {
            picture.write(to)?;
        }
        writeln!(to, "</div>\n</section>")?;
    }
    stages::write(report, to)
}
