//! The ranges of Chronicle FIX and of ours at each rate.

use fixwire_stamps::stats::micros;
use fixwire_stamps::stats::{COLUMNS, Figures};

use super::layout::{below, note, published};
use super::section::{Section, Setting};
use crate::bench::args::on_own_thread;
use crate::bench::parse_log;
use crate::error::Error;
use crate::load::Pace;
use crate::published::PARSE_LOG;
use crate::report::{Report, Run, pace_text};

/// Measures at the published rates.
pub(super) fn measure(setting: &Setting) -> Result<Section, Error> {
    let full = "--rate 10000,20000,50000,100000,200000 --runs 5";
    let quick = "--rate 10000,50000,200000 --runs 3 --iterations 1000 --warm-up 500";
    let (args, command) = setting.args("parse-log", "", [full, quick])?;
    let report = on_own_thread(|| parse_log::measure(&args))?;
    Ok(Section {
        text: [command, text(&report)].concat(),
        reports: vec![("parse-log".to_owned(), report)],
    })
}

fn text(report: &Report) -> String {
    let service = table(report, "fixwire, service time", |run| run.service);
    let response = table(report, "fixwire, response time", |run| run.response);
    let note = note(
        "The lowest and the highest figure of the runs. Service time counts from when work on a \
        message began, as published, response time from when the message was due; both include two \
        readings of the clock.",
    );
    [service, response, note].concat()
}

fn table(report: &Report, name: &str, pick: fn(&Run) -> Figures) -> String {
    let mut grid = vec![vec![
        "us".to_owned(),
        String::new(),
        "10,000-200,000/s".to_owned(),
        String::new(),
    ]];
    for (percent, [least, most]) in std::iter::zip(COLUMNS, PARSE_LOG) {
        let range = format!("{}-{}", published(least), published(most));
        grid.push(vec![
            percent.to_owned(),
            String::new(),
            range,
            String::new(),
        ]);
    }
    let rates = report.rows.iter();
    let rates = rates.filter(|row| matches!(row.pace, Pace::PerSecond(_)));
    let mut columns = 1;
    for row in rates {
        columns += 1;
        grid[0].push(pace_text(row.pace));
        for (column, line) in grid[1..].iter_mut().enumerate() {
            let figures = row.runs.iter().map(|run| pick(run).columns()[column]);
            let least = figures.clone().min().unwrap_or_default();
            let most = figures.max().unwrap_or_default();
            line.push(format!("{}-{}", micros(least), micros(most)));
        }
    }
    below(&[("", 1), ("Chronicle FIX", 2), (name, columns)], &grid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn the_published_range_stands_beside_ours_of_each_rate() {
        let mut report = sample::report();
        for row in &mut report.rows {
            row.pace = Pace::PerSecond(50_000);
        }
        report.rows.drain(..2);
        let text = text(&report);
        assert_eq!(
            text.lines().take(16).collect::<Vec<_>>(),
            [
                "         Chronicle FIX     fixwire, service time",
                "  us     10,000-200,000/s   50,000/s  50,000/s",
                "  50            1.01-1.06  8.26-8.35 16.3-16.4",
                "  90            1.12-1.12  8.46-8.55 16.5-16.6",
                "  99            1.31-2.11  8.49-8.60 16.5-16.6",
                "  99.9          2.88-4.03  8.50-8.60 16.5-16.6",
                "  99.99         3.14-6.02  8.50-8.60 16.5-16.6",
                "  worst         5.25-22.0  8.50-8.60 16.5-16.6",
                "         Chronicle FIX     fixwire, response time",
                "  us     10,000-200,000/s   50,000/s  50,000/s",
                "  50            1.01-1.06  8.50-8.60 16.5-16.6",
                "  90            1.12-1.12  8.90-9.00 16.9-17.0",
                "  99            1.31-2.11  8.99-9.10 17.0-17.1",
                "  99.9          2.88-4.03  9.00-9.10 17.0-17.1",
                "  99.99         3.14-6.02  9.00-9.10 17.0-17.1",
                "  worst         5.25-22.0  9.00-9.10 17.0-17.1",
            ]
        );
    }
}
