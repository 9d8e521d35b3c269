//! The table of a measurement, in the layout of the published tables.

use std::fmt::{self, Write};

use fixwire_stamps::stats::{self, Figures, micros, variation};

use super::{Report, Row, Run, Unit, pace_text, thousands};
use crate::load::Pace;
use crate::machine::distance::Distance;

/// Writes the table: one block per pace. The cells are `run 1 / run 2 / run 3`, in microseconds.
///
/// # Errors
///
/// When writing fails.
pub fn write(report: &Report, to: &mut impl Write) -> fmt::Result {
    writeln!(to, "{}: {}", report.scenario, report.settings)?;
    writeln!(to, "machine: {}", report.machine)?;
    writeln!(to)?;
    let grid = grid(report);
    let widths = widths(&grid);
    for (index, line) in grid.iter().enumerate() {
        let mut text = String::from("|");
        for (cell, width) in line.iter().zip(&widths) {
            write!(text, " {cell:<width$} |")?;
        }
        writeln!(to, "{text}")?;
        if index == 0 {
            let rule: Vec<String> = widths.iter().map(|width| "-".repeat(width + 2)).collect();
            writeln!(to, "|{}|", rule.join("|"))?;
        }
    }
    writeln!(to)?;
    writeln!(to, "{}", legend(report.unit))?;
    for note in &report.notes {
        writeln!(to, "{note}")?;
    }
    for row in &report.rows {
        write_faults(row, to)?;
    }
    Ok(())
}

/// Width of the longest cell of each column, characters.
pub(crate) fn widths(grid: &[Vec<String>]) -> Vec<usize> {
    let columns = grid.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = grid.iter().map(|line| line[column].chars().count());
        cells.max().unwrap_or(0)
    };
    (0..columns).map(width).collect()
}

fn grid(report: &Report) -> Vec<Vec<String>> {
    let (unit, cell): (_, fn(u64) -> String) = match report.unit {
        Unit::Micros => ("us", micros),
        Unit::Nanos => ("ns", thousands),
    };
    let mut grid = vec![head(unit)];
    for row in &report.rows {
        let rate = match (row.pace, report.unit) {
            (Pace::PingPong, Unit::Nanos) => "closed loop".to_owned(),
            (pace, _) => pace_text(pace),
        };
        let cores = || join(&row.runs, |run| run.distance.name().to_owned());
        let time = |pick: fn(&Run) -> Figures| {
            (0..6).map(move |column| join(&row.runs, |run| cell(pick(run).columns()[column])))
        };
        let line = |what: &str, cells: Vec<String>, last: String| {
            let mut line = vec![rate.clone(), what.to_owned()];
            line.extend(cells);
            line.push(last);
            line
        };
        grid.push(line(
            &row.subject,
            time(|run| run.response).collect(),
            cores(),
        ));
        if row.is_floor() {
            continue;
        }
        grid.push(line(
            "  service time",
            time(|run| run.service).collect(),
            String::new(),
        ));
        let varied = (0..6).map(|column| {
            let values: Vec<u64> = row
                .runs
                .iter()
                .map(|run| run.response.columns()[column])
                .collect();
            variation(&values).map_or_else(|| "-".to_owned(), |percent| format!("{percent:.1}"))
        });
        grid.push(line("  variation %", varied.collect(), String::new()));
        if let Some(floor) = report.floor_of(row) {
            let ratios = row
                .ratios(floor)
                .map(|ratio| ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2} x")));
            grid.push(line("  ratio to floor", ratios.to_vec(), String::new()));
        }
    }
    let told = |row: &Row| row.runs.iter().any(|run| run.distance != Distance::Unknown);
    if !report.rows.iter().any(told) {
        for line in &mut grid {
            line.pop();
        }
    }
    grid
}

fn head(unit: &str) -> Vec<String> {
    let mut head = vec!["rate".to_owned(), unit.to_owned()];
    head.extend(stats::COLUMNS.map(str::to_owned));
    head.push("cores".to_owned());
    head
}

fn legend(unit: Unit) -> &'static str {
    match unit {
        Unit::Micros => {
            "Microseconds; cells are the runs in order. Response time counts from when the order was due \
             (no coordinated\nomission), service time from just before it was built. Ratios compare each \
             run with the run of the floor above it;\nvariation is 100 (max - min) / (max + min / 2) percent of the runs but the first. \
             Cores: near when both share a cache, far when they do not, moved when that changed during the run."
        }
        Unit::Nanos => {
            "Nanoseconds; cells are the runs in order. Response time counts from when the message \
            was due, service time from\nwhen work on it began; both include two readings of the \
            clock. Variation is 100 (max - min) / (max + min / 2) percent of the runs but\nthe \
            first."
        }
    }
}

fn write_faults(row: &Row, to: &mut impl Write) -> fmt::Result {
    for (index, run) in row.runs.iter().enumerate() {
        let faults = &run.faults;
        if faults.total() > 0 {
            writeln!(
                to,
                "FAILED: {} {} run {}: {} lost, {} duplicate, {} out of order, {} wrong, of {} sent",
                row.subject,
                pace_text(row.pace),
                index + 1,
                faults.lost,
                faults.duplicate,
                faults.out_of_order,
                faults.wrong,
                thousands(run.sent)
            )?;
        }
    }
    if row
        .runs
        .iter()
        .any(|run| run.taken.preempted > 0 || run.taken.steal_ms > 0)
    {
        writeln!(
            to,
            "disturbed: {} {}: preempted {} times, {} ms stolen by the host",
            row.subject,
            pace_text(row.pace),
            join(&row.runs, |run| run.taken.preempted.to_string()),
            join(&row.runs, |run| run.taken.steal_ms.to_string())
        )?;
    }
    Ok(())
}

fn join(runs: &[Run], cell: impl Fn(&Run) -> String) -> String {
    runs.iter().map(cell).collect::<Vec<_>>().join(" / ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn the_table_has_floor_engine_ratio_and_variation_for_each_pace() {
        let mut text = String::new();
        write(&sample::report(), &mut text).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(lines.len(), 2 + 2 * 5, "{text}");
        let widths: Vec<usize> = lines.iter().map(|line| line.chars().count()).collect();
        assert!(widths.iter().all(|width| *width == widths[0]), "{text}");
        assert!(text.contains("| 50,000/s  | tcp floor"), "{text}");
        assert!(text.contains("8.50 / 8.60 / 8.55"), "{text}");
        assert!(text.contains("near / far / near"), "{text}");
        assert!(text.contains("1.94 x"), "{text}");
        assert!(!text.contains("FAILED"), "{text}");
    }

    #[test]
    fn faults_are_told_by_row_and_run() {
        let mut report = sample::report();
        report.rows[3].runs[1].faults.lost = 7;
        let mut text = String::new();
        write(&report, &mut text).unwrap();
        assert!(
            text.contains("FAILED: fixwire 50,000/s run 2: 7 lost, 0 duplicate"),
            "{text}"
        );
        assert_eq!(report.faults().total(), 7);
    }
}
