//! The first screen, in 80 x 24 characters: faults, one sentence, one picture, one small table, and a hint for the
//! next step.

pub mod counts;

use std::fmt::{self, Write};

use fixwire_stamps::stats;
use fixwire_stamps::stats::micros;

use super::{Report, Row, Run, Unit, pace_text, thousands};
use crate::load::Pace;

use super::percentiles::together;
use super::picture::{self, PictureCurve};
use super::table::widths;

/// Width of a line, characters.
const WIDTH: usize = 80;
/// Hints for the reader.
const MORE: &str = "  more: --details, --json FILE, bench compare (two builds), --help";
/// Maximum number of faults that are listed; further faults are only counted.
const FAULTS: usize = 3;
/// The columns of the small table: 50, 99 and 99.9 %, by their index among the percentiles; and whether the column is
/// a multiple of the floor.
const COLUMNS: [(usize, &str, bool); 3] = [(0, "p50", true), (2, "p99", true), (3, "p99.9", false)];
/// Columns without a floor to compare with.
const COLUMNS_ALONE: [(usize, &str, bool); 5] = [
    (0, "p50", false),
    (1, "p90", false),
    (2, "p99", false),
    (3, "p99.9", false),
    (5, "worst", false),
];

/// Writes the screen.
///
/// # Errors
///
/// When writing fails.
pub fn write(report: &Report, to: &mut impl Write) -> fmt::Result {
    faults(report, to)?;
    paragraph(
        &format!("bench {}: {}", report.scenario, report.title),
        "",
        to,
    )?;
    paragraph(&sentences(report), "  ", to)?;
    plot(report, to)?;
    table(report, to)?;
    writeln!(to, "{MORE}")
}

/// Lists the runs with faults.
///
/// # Errors
///
/// When writing fails.
pub fn faults(report: &Report, to: &mut impl Write) -> fmt::Result {
    let faulty = report.rows.iter().flat_map(|row| {
        let runs = row.runs.iter().enumerate();
        runs.filter(|(_, run)| run.faults.total() > 0)
            .map(move |(index, run)| (row, index + 1, run))
    });
    for (row, number, run) in faulty.clone().take(FAULTS) {
        let faults = &run.faults;
        let counts = [
            (faults.lost, "lost"),
            (faults.duplicate, "answered twice"),
            (faults.out_of_order, "out of order"),
            (faults.wrong, "wrong answers"),
        ];
        let told: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{} {what}", thousands(*count)))
            .collect();
        writeln!(
            to,
            "FAILED: {}, {}, run {number}: {} of {} orders",
            row.subject,
            name(row.pace),
            told.join(", "),
            thousands(run.sent)
        )?;
    }
    match faulty.count().saturating_sub(FAULTS) {
        0 => Ok(()),
        more => writeln!(to, "FAILED: {more} more runs: see --details"),
    }
}

/// The summary.
pub(crate) fn sentences(report: &Report) -> String {
    let mut text = String::new();
    let engine = report.rows.iter().find(|row| !row.is_floor());
    if let Some(row) = engine.or(report.rows.first()) {
        let what = match (engine, report.unit) {
            (None, _) => "an exchange",
            (_, Unit::Nanos) => "a message",
            _ => "an order",
        };
        text += &match value(report, row, 0) {
            Some(time) => format!("{time} {} {what}", unit(report.unit)),
            None => format!("The machine was too busy to measure how long {what} takes"),
        };
        let floor = report.floor_of(row);
        if let Some((floor, ratio)) = floor.zip(ratio(report, row, 0)) {
            let time = micros(median(floor, 0));
            text += &format!(", {ratio} times the raw TCP exchange ({time} us)");
        }
        if row.pace != Pace::PingPong {
            text += &format!(" at {}", name(row.pace));
        }
        text += ". ";
    }
    let runs = || report.rows.iter().flat_map(|row| &row.runs);
    let sent = thousands(runs().map(|run| run.sent).sum());
    let things = if report.unit == Unit::Nanos {
        "messages"
    } else {
        "orders"
    };
    text += &match report.faults().total() {
        0 if report.unit == Unit::Nanos => format!("{sent} {things}. "),
        0 => format!("{sent} {things}, none lost, doubled or out of order. "),
        faults => format!(
            "Of {sent} {things} {} went wrong, see above. ",
            thousands(faults)
        ),
    };
    text += &disturbance(report, "times and ratios marked ~ are affected; ");
    text += &distances(report);
    text
}

/// A sentence with the number of disturbed runs, without runs of the floor, and with `meaning`; empty when no run was
/// disturbed.
pub fn disturbance(report: &Report, meaning: &str) -> String {
    let count = |of_floor: bool| {
        let rows = report.rows.iter().filter(|row| row.is_floor() == of_floor);
        rows.fold((0, 0), |(disturbed, all), row| {
            (disturbed + report.disturbed(row), all + row.runs.len())
        })
    };
    let ((ours, all), (floor, floors)) = (count(false), count(true));
    let runs = match (ours, floor) {
        (0, 0) => return String::new(),
        (0, _) if all == 0 => format!("{floor} of {floors} runs"),
        (0, _) => format!("{floor} of the {floors} runs of raw TCP beside ours"),
        (_, 0) => format!("{ours} of {all} runs"),
        _ => format!("{ours} of {all} runs, and {floor} of the {floors} of raw TCP beside them"),
    };
    format!("The machine disturbed {runs}: {meaning}`fixwire doctor` says why. ")
}

/// A sentence on how the distance of the cores changed times and ratios; empty when the cores always shared a cache.
fn distances(report: &Report) -> String {
    let runs = || report.rows.iter().flat_map(|row| &row.runs);
    let (apart, all) = (runs().filter(|run| is_apart(run)).count(), runs().count());
    if apart == 0 {
        return String::new();
    }
    let with_floor = |row: &&Row| report.floor_of(row).is_some() && !row.is_floor();
    let ratios = match report.rows.iter().filter(with_floor).count() {
        0 => "",
        _ if report.rows.iter().any(|row| has_no_pair(report, row)) => {
            " Ratios compare only runs with the cores at the same distance; - means no such runs."
        }
        _ => " Ratios compare only runs with the cores at the same distance.",
    };
    format!(
        "In {apart} of {all} runs the two cores shared no cache, at least for a time, so that each message took \
         longer.{ratios} "
    )
}

/// Whether no run of a row had the same distance of cores as the floor run beside it.
fn has_no_pair(report: &Report, row: &Row) -> bool {
    let floor = report.floor_of(row).filter(|_| !row.is_floor());
    floor.is_some_and(|floor| row.comparable_runs(floor).next().is_none())
}

fn is_apart(run: &Run) -> bool {
    use crate::machine::distance::Distance::{Far, Moved};
    matches!(run.distance, Far | Moved)
}

/// The words wrapped into lines. The first line begins with `first`, the others with two blanks.
///
/// # Errors
///
/// When writing fails.
pub fn paragraph(text: &str, first: &str, to: &mut impl Write) -> fmt::Result {
    let mut line = first.to_owned();
    for word in text.split_whitespace() {
        let is_begun = !line.trim().is_empty();
        if is_begun && line.chars().count() + 1 + word.chars().count() > WIDTH {
            writeln!(to, "{line}")?;
            line = "  ".to_owned();
        } else if is_begun {
            line += " ";
        }
        line += word;
    }
    writeln!(to, "{line}")
}

/// The picture of the first pace: the first subject and its floor.
fn plot(report: &Report, to: &mut impl Write) -> fmt::Result {
    let Some(row) = report
        .rows
        .iter()
        .find(|row| !row.is_floor())
        .or(report.rows.first())
    else {
        return Ok(());
    };
    let floor = report.floor_of(row);
    let rows = [floor.map(|floor| ('.', "TCP", floor))]
        .into_iter()
        .flatten();
    let rows = rows.chain([('*', &row.subject[..], row)]);
    let curves: Vec<PictureCurve<'_>> = rows
        .map(|(mark, name, row)| PictureCurve {
            mark,
            name,
            histogram: together([row], |run| &run.histogram),
        })
        .collect();
    picture::write(
        &curves,
        &name(row.pace),
        unit(report.unit),
        |nanos| shown(report.unit, nanos),
        to,
    )
}

fn table(report: &Report, to: &mut impl Write) -> fmt::Result {
    let rows: Vec<&Row> = match report.rows.iter().any(|row| !row.is_floor()) {
        true => report.rows.iter().filter(|row| !row.is_floor()).collect(),
        false => report.rows.iter().collect(),
    };
    let with_floor = rows.iter().any(|row| report.floor_of(row).is_some());
    let columns: &[_] = if with_floor { &COLUMNS } else { &COLUMNS_ALONE };
    let named = rows.iter().any(|row| row.subject != rows[0].subject);
    let mut grid = vec![Vec::new()];
    grid[0].push("rate".to_owned());
    if named {
        grid[0].push(String::new());
    }
    for (_, name, against) in columns {
        grid[0].push(format!("{name} {}", unit(report.unit)));
        if *against {
            grid[0].push("x TCP".to_owned());
        }
    }
    grid[0].push("runs".to_owned());
    for row in rows {
        let mut line = vec![name(row.pace)];
        if named {
            line.push(row.subject.clone());
        }
        for (column, _, against) in columns {
            line.push(time_cell(report, row, *column));
            if *against {
                line.push(ratio_cell(report, row, *column));
            }
        }
        line.push(match report.disturbed(row) {
            0 => row.runs.len().to_string(),
            disturbed => format!("{}, {disturbed} disturbed", row.runs.len()),
        });
        grid.push(line);
    }
    lines(&grid, to)
}

/// Writes a grid with its columns aligned.
///
/// # Errors
///
/// When writing fails.
pub fn lines(grid: &[Vec<String>], to: &mut impl Write) -> fmt::Result {
    let widths = widths(grid);
    for line in grid {
        let mut text = String::from(" ");
        for (cell, width) in line.iter().zip(&widths) {
            write!(text, " {cell:<width$} ", width = *width)?;
        }
        writeln!(to, "{}", text.trim_end())?;
    }
    Ok(())
}

/// The pace as text.
pub fn name(pace: Pace) -> String {
    match pace {
        Pace::PingPong => "closed loop".to_owned(),
        rate => pace_text(rate),
    }
}

pub(crate) fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Micros => "us",
        Unit::Nanos => "ns",
    }
}

fn shown(unit: Unit, nanos: u64) -> String {
    match unit {
        Unit::Micros => micros(nanos),
        Unit::Nanos => thousands(nanos),
    }
}

/// The median over the runs of a percentile of the response time, nanoseconds.
pub(super) fn median(row: &Row, column: usize) -> u64 {
    let values: Vec<f64> = row
        .runs
        .iter()
        .map(|run| run.response.columns()[column] as f64)
        .collect();
    stats::median(&values).unwrap_or(0.0) as u64
}

/// A time as text; `None` when the machine disturbed it.
pub(crate) fn value(report: &Report, row: &Row, column: usize) -> Option<String> {
    (!report.is_machines(row, column)).then(|| shown(report.unit, median(row, column)))
}

/// A time for a table, with a mark when the machine disturbed it.
pub(crate) fn time_cell(report: &Report, row: &Row, column: usize) -> String {
    let mark = match report.is_machines(row, column) {
        true => "~",
        false => "",
    };
    format!("{mark}{}", shown(report.unit, median(row, column)))
}

/// A time as a multiple of the floor's. `None` without a floor, and when the machine disturbed the row more than the
/// floor, or the floor more than the row.
pub(crate) fn ratio(report: &Report, row: &Row, column: usize) -> Option<String> {
    let floor = report.floor_of(row)?;
    if row.is_touched_more(floor, column) || floor.is_touched_more(row, column) {
        return None;
    }
    row.ratios(floor)[column].map(|ratio| format!("{ratio:.2}"))
}

/// A multiple of the floor's time for a table: `~` when the machine disturbed one of the two more than the other, `-`
/// when no two runs can be compared.
pub(crate) fn ratio_cell(report: &Report, row: &Row, column: usize) -> String {
    if row.is_floor() || report.floor_of(row).is_none() {
        return String::new();
    }
    if has_no_pair(report, row) {
        return "-".to_owned();
    }
    ratio(report, row, column).unwrap_or_else(|| "~".to_owned())
}

#[cfg(test)]
mod tests;
