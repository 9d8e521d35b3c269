//! The rows of FIXEdge: percentiles, average and deviation of an order through a gateway.

use fixwire_stamps::stats::Figures;
use fixwire_stamps::stats::micros;

use super::layout::{aligned, note, published};
use super::section::{Section, Setting};
use crate::bench::args::on_own_thread;
use crate::bench::gateway;
use crate::error::Error;
use crate::load::Pace;
use crate::published::{GATEWAY, GATEWAY_COLUMNS, GATEWAY_RATE};
use crate::report::percentiles::together;
use crate::report::{Report, Row, pace_text};

/// Settings that match FIXEdge's: storage in a mapped file, no validation against the dictionary, pinned threads.
const SET_UP: &str = "--no-ping-pong --profile optimized --durability process";

/// Measures at the published rate, and with a million orders at 50,000 a second, the rate of the newer form of the
/// test.
pub(super) fn measure(setting: &Setting, converts: bool) -> Result<Section, Error> {
    let name = if converts {
        "gateway-convert"
    } else {
        "gateway-echo"
    };
    let paces = [
        (
            2_000,
            "--rate 2000 --iterations 200000 --runs 1",
            "--rate 2000 --iterations 400 --warm-up 100 --runs 1",
        ),
        (
            50_000,
            "--rate 50000 --iterations 1000000 --runs 3",
            "--rate 50000 --iterations 2000 --warm-up 100 --runs 1",
        ),
    ];
    let mut section = Section::default();
    for (rate, full, quick) in paces {
        let (args, command) = setting.args(name, SET_UP, [full, quick])?;
        let report = on_own_thread(|| gateway::measure(&args, converts))?;
        section.text += &command;
        section.text += &table(&report, Pace::PerSecond(rate));
        section.reports.push((format!("{name}-{rate}"), report));
    }
    section.text += &note(
        "Timed as published, from right before the write to right after the read; due: from when \
        the order was due. As published, messages are not validated against the dictionary; \
        CheckSum is not checked either, but BodyLength and the fields of the session are. \
        Forwarded and converted orders are followed, as a gateway does by default.",
    );
    Ok(section)
}

/// 50, 90, 99 and 99.5 %, average and standard deviation over all runs, nanoseconds.
fn six(figures: &Figures) -> [f64; 6] {
    let [p50, p90, p99, p99_5] =
        [figures.p50, figures.p90, figures.p99, figures.p99_5].map(|nanos| nanos as f64);
    [p50, p90, p99, p99_5, figures.mean, figures.stdev]
}

/// Service times: from just before an order's write.
fn service(row: &Row) -> [f64; 6] {
    six(&Figures::of(&together([row], |run| &run.service_histogram)))
}

/// Response times: from when an order was due.
fn response(row: &Row) -> [f64; 6] {
    six(&Figures::of(&together([row], |run| &run.histogram)))
}

/// The table of one pace: FIXEdge's row when FIXEdge was measured at this pace, then the rows of our gateways, with
/// the published set-up first.
fn table(report: &Report, pace: Pace) -> String {
    let mut grid = vec![vec![format!("us, {}", pace_text(pace))]];
    grid[0].extend(GATEWAY_COLUMNS.map(str::to_owned));
    let mut add = |name: String, cells: Vec<String>| {
        grid.push(std::iter::once(name).chain(cells).collect());
    };
    let shown = |figures: [f64; 6]| figures.map(|nanos| micros(nanos.round() as u64)).to_vec();
    let row = |subject| report.rows.iter().find(|row| row.subject == subject);
    for subject in ["convert", "forward", "echo"] {
        let Some(row) = row(subject) else { continue };
        let theirs = GATEWAY
            .iter()
            .find(|it| it.scenario.strip_prefix("gateway-") == Some(subject));
        if let Some(theirs) = theirs.filter(|_| pace == Pace::PerSecond(GATEWAY_RATE)) {
            add(
                format!("FIXEdge, {subject}"),
                theirs.figures.map(published).to_vec(),
            );
        }
        let ours = service(row);
        add(format!("fixwire, {subject}"), shown(ours));
        add("  due".to_owned(), shown(response(row)));
        if let Some(floor) = report.floor_of(row) {
            let floors = service(floor);
            add(format!("  {}", floor.subject), shown(floors));
            let mut ratios: Vec<String> = ours
                .iter()
                .zip(floors)
                .map(|(ours, floor)| format!("{:.2}", ours / floor.max(1.0)))
                .collect();
            // A ratio of two standard deviations has no meaning.
            ratios.pop();
            ratios.push(String::new());
            add("  x floor".to_owned(), ratios);
        }
    }
    if let (Some(convert), Some(echo)) = (row("convert"), row("echo")) {
        let less = std::iter::zip(service(convert), service(echo));
        let mut cells: Vec<String> = less
            .map(|(convert, echo)| format!("{:.1}", (convert - echo) / 1e3))
            .collect();
        cells[5].clear();
        add("convert less echo".to_owned(), cells);
    }
    aligned(&grid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn the_published_row_stands_above_ours_of_its_rate() {
        let mut report = sample::report();
        let rate = Pace::PerSecond(GATEWAY_RATE);
        for (row, subject) in
            report
                .rows
                .iter_mut()
                .zip(["tcp floor", "echo", "tcp floor, onward", "convert"])
        {
            row.pace = rate;
            row.subject = subject.to_owned();
        }
        let text = table(&report, rate);
        assert_eq!(
            text.lines().take(12).collect::<Vec<_>>(),
            [
                "  us, 2,000/s           50   90   99 99.5 average deviation",
                "  FIXEdge, convert    23.5 26.6 32.4 65.0    24.3      6.80",
                "  fixwire, convert    16.3 16.5 16.6 16.6    16.3      0.15",
                "    due               16.6 17.0 17.1 17.1    16.6      0.29",
                "    tcp floor, onward 8.30 8.50 8.59 8.60    8.30      0.15",
                "    x floor           1.96 1.94 1.93 1.93    1.96",
                "  FIXEdge, echo       16.6 18.7 24.6 55.0    17.2      6.60",
                "  fixwire, echo       9.30 9.50 9.59 9.60    9.30      0.15",
                "    due               9.55 9.95 10.1 10.1    9.55      0.29",
                "    tcp floor         8.30 8.50 8.59 8.60    8.30      0.15",
                "    x floor           1.12 1.12 1.12 1.12    1.12",
                "  convert less echo    7.0  7.0  7.0  7.0     7.0",
            ]
        );
    }
}
