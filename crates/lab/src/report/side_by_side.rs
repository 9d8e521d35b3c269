//! Acceptors side by side, as text. Each pace has a table of the acceptors that spin and a table of those that sleep;
//! each table begins with the floor of its kind.

use std::fmt::{self, Write};

use fixwire_stamps::stats;

use super::screen::{faults, lines, median, name, paragraph, ratio, ratio_cell, time_cell, value};
use super::{FLOOR_SPINS, Report, Row, flood, thousands};
use crate::load::Pace;

/// The percentiles in the table, by their index: 50, 90, 99 and 99.9 %, and whether as a multiple of the floor.
const COLUMNS: [(usize, &str, bool); 4] = [
    (0, "p50", true),
    (1, "p90", false),
    (2, "p99", true),
    (3, "p99.9", false),
];

/// Writes the tables. Each floor precedes the rows that are compared with it.
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
    let runs = report.rows.iter().flat_map(|row| &row.runs);
    let sent = thousands(runs.map(|run| run.sent).sum());
    let orders = match report.faults().total() {
        0 => format!("{sent} orders, each answered once, in order and correctly. "),
        faulty => format!(
            "Of {sent} orders {} went wrong, see above. ",
            thousands(faulty)
        ),
    };
    let kinds = report
        .rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.is_floor());
    let kinds: Vec<&[Row]> = kinds.map(|(at, _)| kind(&report.rows[at..])).collect();
    let first = report.rows.first().map(|row| row.pace);
    let best = kinds.iter().filter(|kind| Some(kind[0].pace) == first);
    let best: String = best.map(|kind| fastest(report, kind)).collect();
    paragraph(&format!("{orders}{best}"), "  ", to)?;
    for kind in kinds {
        writeln!(to)?;
        table(report, kind, to)?;
    }
    writeln!(to)?;
    for note in &report.notes {
        paragraph(note, "  ", to)?;
    }
    let origin = &report.origin;
    paragraph(&format!("{}, {}", origin.date, report.machine), "  ", to)?;
    // The command without the path of the program.
    let flags = origin
        .command
        .split_once(' ')
        .map_or("", |(_, flags)| flags);
    paragraph(&format!("fixwire {flags}"), "  ", to)
}

/// The floor of some rows, and the rows compared with it.
fn kind(rows: &[Row]) -> &[Row] {
    let pace = rows[0].pace;
    let others = rows[1..].iter();
    let count = others
        .take_while(|row| row.pace == pace && !row.is_floor())
        .count();
    &rows[..=count]
}

fn waits(kind: &[Row]) -> &'static str {
    match kind[0].subject == FLOOR_SPINS {
        true => "spin",
        false => "sleep until data arrives",
    }
}

/// The rows of one kind, the fastest first. When sorted by answers per second, the floor stays first.
fn sorted(kind: &[Row]) -> Vec<&Row> {
    let mut rows: Vec<&Row> = kind.iter().collect();
    rows[1..].sort_by_key(|row| match row.pace {
        Pace::Flood => u64::MAX - answers(row),
        _ => median(row, 0),
    });
    rows
}

/// The median of answers per second.
fn answers(row: &Row) -> u64 {
    let rates: Vec<f64> = row.runs.iter().map(|run| flood::rate(run) as f64).collect();
    stats::median(&rates).unwrap_or(0.0) as u64
}

/// A sentence that names the two fastest acceptors of one kind.
fn fastest(report: &Report, kind: &[Row]) -> String {
    let rows = sorted(kind);
    let mut told = rows[1..].iter().filter_map(|row| {
        let (time, ratio) = value(report, row, 0).zip(ratio(report, row, 0))?;
        Some(format!(
            "{} {time} us ({ratio} times the floor)",
            row.subject
        ))
    });
    match (told.next(), told.next()) {
        (Some(first), Some(second)) => {
            format!("Of those that {}: {first}, then {second}. ", waits(kind))
        }
        (Some(first), None) => format!("Of those that {}: {first}. ", waits(kind)),
        (None, _) => String::new(),
    }
}

fn table(report: &Report, kind: &[Row], to: &mut impl Write) -> fmt::Result {
    let is_flood = kind[0].pace == Pace::Flood;
    let unit = if is_flood { "" } else { ", us" };
    let mut head = vec![format!("{}, {}{unit}", name(kind[0].pace), short(kind))];
    if is_flood {
        head.push("orders/s".to_owned());
        head.push("x TCP".to_owned());
    }
    for (_, name, against) in COLUMNS.iter().filter(|_| !is_flood) {
        head.push((*name).to_owned());
        if *against {
            head.push("x TCP".to_owned());
        }
    }
    head.push("runs".to_owned());
    let mut grid = vec![head];
    for row in sorted(kind) {
        let mut line = vec![row.subject.clone()];
        if is_flood {
            let share = answers(row) as f64 / answers(&kind[0]).max(1) as f64;
            line.push(thousands(answers(row)));
            line.push(match row.is_floor() {
                true => String::new(),
                false => format!("{share:.2}"),
            });
        }
        for (column, _, against) in COLUMNS.iter().filter(|_| !is_flood) {
            line.push(time_cell(report, row, *column));
            if *against {
                line.push(ratio_cell(report, row, *column));
            }
        }
        line.push(match report.disturbed(row) {
            0 => row.runs.len().to_string(),
            disturbed => format!("{}, {disturbed} ~", row.runs.len()),
        });
        grid.push(line);
    }
    lines(&grid, to)
}

/// One word for how a kind of acceptor waits, short enough for the heading of a table of at most 80 columns.
fn short(kind: &[Row]) -> &'static str {
    match waits(kind).starts_with("spin") {
        true => "spinning",
        false => "sleeping",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{FLOOR_SLEEPS, sample};

    #[test]
    fn each_kind_stands_beside_its_floor_the_fastest_first() {
        let mut report = sample::report();
        let row = |pace, subject: &str, base| Row {
            pace,
            subject: subject.to_owned(),
            runs: vec![sample::run(base, 60.0); 3],
        };
        let flood = [
            row(Pace::Flood, FLOOR_SPINS, 5_000),
            row(Pace::Flood, "fixwire-spin:memory", 5_000),
        ];
        report.scenario = "peers".to_owned();
        report.title = "FIX 4.2 order and report".to_owned();
        report.rows = vec![
            row(Pace::PingPong, FLOOR_SPINS, 8_000),
            row(Pace::PingPong, "slow:memory", 40_000),
            row(Pace::PingPong, "fixwire-spin:memory", 9_000),
            row(Pace::PingPong, FLOOR_SLEEPS, 16_000),
            row(Pace::PingPong, "fixwire:memory", 17_000),
        ];
        report.rows.extend(flood);
        let mut text = String::new();
        write(&report, &mut text).unwrap();
        let expected = "\
bench peers: FIX 4.2 order and report
  21,000 orders, each answered once, in order and correctly. Of those that spin:
  fixwire-spin:memory 9.50 us (1.12 times the floor), then slow:memory 40.5 us
  (4.76 times the floor). Of those that sleep until data arrives: fixwire:memory
  17.5 us (1.06 times the floor).

  closed loop, spinning, us  p50   x TCP  p90   p99   x TCP  p99.9  runs
  tcp floor, spins           8.50         8.90  8.99         9.00   3
  fixwire-spin:memory        9.50  1.12   9.90  9.99  1.11   10.00  3
  slow:memory                40.5  4.76   40.9  41.0  4.56   41.0   3

  closed loop, sleeping, us  p50   x TCP  p90   p99   x TCP  p99.9  runs
  tcp floor, sleeps          16.5         16.9  17.0         17.0   3
  fixwire:memory             17.5  1.06   17.9  18.0  1.06   18.0   3

  flood, spinning      orders/s  x TCP  runs
  tcp floor, spins     2,000            3
  fixwire-spin:memory  2,000     1.00   3
";
        assert!(text.starts_with(expected), "{text}");
    }
}
