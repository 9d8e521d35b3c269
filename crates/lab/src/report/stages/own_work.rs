//! Own work as text: a table over all runs of each row.

use std::fmt::{self, Write};

use fixwire_stamps::stats::micros;

use crate::report::screen::{lines, name};
use crate::report::{Report, thousands};
use crate::stages::own_work::OwnWork;

/// Writes the own work of each row that has any, over all its runs.
///
/// # Errors
///
/// When writing fails.
pub fn write(report: &Report, to: &mut impl Write) -> fmt::Result {
    let mut grid = Vec::new();
    for row in &report.rows {
        let runs = row.runs.iter().filter_map(|run| run.own_work.as_ref());
        let Some(work) = OwnWork::pool(runs) else {
            continue;
        };
        let figures = &work.figures;
        let times = [figures.p50, figures.p99, figures.p99_9, figures.p99_99];
        let mut line = vec![name(row.pace), row.subject.clone()];
        line.extend(times.map(micros));
        line.push(format!("{:.1}", work.long_in_100_000()));
        line.push(thousands(figures.count));
        grid.push(line);
    }
    if grid.is_empty() {
        return Ok(());
    }
    let head = [
        "",
        "",
        "p50",
        "p99",
        "p99.9",
        "p99.99",
        "> 10 us of 100,000",
        "orders",
    ];
    grid.insert(0, head.map(str::to_owned).to_vec());
    writeln!(
        to,
        "\nown work, us: time without tcp and without gaps of the machine:"
    )?;
    lines(&grid, to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;
    use crate::stages::staged;

    #[test]
    fn long_work_is_counted_over_all_runs() {
        let mut report = sample::report();
        let mut text = String::new();
        write(&report, &mut text).unwrap();
        assert_eq!(text, "", "nothing was marked");
        let (quick, slow) = (staged(1_000, 100), staged(1_000, 1_000));
        let gaps = [Vec::new(), Vec::new()];
        report.rows[1].runs[0].own_work = Some(OwnWork::of(&[quick; 999], &gaps));
        report.rows[1].runs[1].own_work = Some(OwnWork::of(&[slow], &gaps));
        write(&report, &mut text).unwrap();
        assert_eq!(
            text,
            "
own work, us: time without tcp and without gaps of the machine:
                        p50   p99   p99.9  p99.99  > 10 us of 100,000  orders
  closed loop  fixwire  1.60  1.60  1.60   16.0    100.0               1,000
"
        );
    }
}
