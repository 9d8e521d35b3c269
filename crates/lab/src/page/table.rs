//! The table of a report: medians over the runs, and their ratio to the floor.

use std::fmt::{self, Write};

use fixwire_stamps::stats;

use crate::machine::TakenByOthers;
use crate::report::chart::escape;
use crate::report::{Report, Row, screen};

/// Writes the table, a line for each row of the report.
pub(super) fn write(report: &Report, to: &mut impl Write) -> fmt::Result {
    let with_floor = report.rows.iter().any(|row| report.floor_of(row).is_some());
    let times = match with_floor {
        true => "; below it, times the floor of the same run",
        false => "",
    };
    writeln!(
        to,
        "<table class=\"figures\"><caption>Response time, {}, median over the runs{times}. ~: \
        affected by other work of the machine</caption>",
        screen::unit(report.unit)
    )?;
    write!(to, "<thead><tr><th>Rate<th>Subject")?;
    for column in stats::COLUMNS {
        let percent = column.parse::<f64>().is_ok();
        write!(to, "<th>{column}{}", if percent { " %" } else { "" })?;
    }
    writeln!(to, "<th>Runs</thead>")?;
    let mut pace = None;
    for row in &report.rows {
        let rate = match pace.replace(row.pace) == Some(row.pace) {
            true => String::new(),
            false => screen::name(row.pace),
        };
        let class = if row.is_floor() {
            r#" class="floor""#
        } else {
            ""
        };
        write!(to, "<tr{class}><th>{rate}<th>{}", escape(&row.subject))?;
        for column in 0..stats::COLUMNS.len() {
            write!(to, "<td>{}", cell(report, row, column))?;
        }
        match report.disturbed(row) {
            0 => writeln!(to, "<td>{}", row.runs.len())?,
            disturbed => writeln!(
                to,
                "<td>{}<small>{disturbed} disturbed</small>",
                row.runs.len()
            )?,
        }
    }
    writeln!(to, "</table>")
}

fn cell(report: &Report, row: &Row, column: usize) -> String {
    let time = screen::time_cell(report, row, column);
    let ratio = screen::ratio_cell(report, row, column);
    match &*ratio {
        // A comparison that is not possible is no sign of a disturbance.
        "" | "-" => time,
        "~" => format!("{time}<small>~</small>"),
        _ => format!("{time}<small>{ratio} x</small>"),
    }
}

/// The mark of a row that other work disturbed; empty for other rows.
pub(super) fn disturbed(taken: TakenByOthers) -> String {
    if !taken.is_any() {
        return String::new();
    }
    format!(
        "<span title=\"preempted {} times, {} ms taken by the hypervisor\"> *</span>",
        taken.preempted, taken.steal_ms
    )
}
