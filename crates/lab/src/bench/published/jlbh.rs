//! The summary tables of JLBH: percentile, run 1 to 3, variation. Our figures appear beside those of QuickFIX/J and
//! Chronicle FIX.

use fixwire_stamps::stats::micros;
use fixwire_stamps::stats::{COLUMNS, Figures, variation};

use super::layout::{below, note, published};
use super::section::{Section, Setting};
use crate::bench::args::on_own_thread;
use crate::bench::echo;
use crate::error::Error;
use crate::load::Pace;
use crate::published::{JLBH, JlbhTable, curves};
use crate::report::{Report, Row, Run, pace_text};

/// Measures at the published rates.
pub(super) fn measure(setting: &Setting) -> Result<Section, Error> {
    let always = "--no-ping-pong --rate 2000,10000,50000 --runs 3";
    let full = "--warm-up 20000 --iterations 10000";
    let quick = "--warm-up 400 --iterations 400";
    let (args, command) = setting.args("echo", always, [full, quick])?;
    let report = on_own_thread(|| echo::measure(&args))?;
    Ok(Section {
        text: [command, text(&report)].concat(),
        reports: vec![("jlbh".to_owned(), report)],
    })
}

/// A table for each rate. The service time is first, because the published tables do not account for coordinated
/// omission.
fn text(report: &Report) -> String {
    let mut text = String::new();
    let engines = report.rows.iter().filter(|row| !row.is_floor());
    for row in engines {
        let Some(floor) = report.floor_of(row) else {
            continue;
        };
        text += &table(row, floor);
        if let Some(ratio) = row.ratios(floor)[0] {
            text += &note(&format!(
                "Median: {ratio:.2} times the TCP floor.{}",
                chronicle(row.pace)
            ));
        }
    }
    text += &note(
        "Service time counts from just before an order was built, as published (coordinated omission not accounted \
         for); response time from when it was due. Variation leaves the first run out, as JLBH does.",
    );
    text
}

/// Chronicle FIX's figures at a pace, and the share of TCP in them, as published.
fn chronicle(pace: Pace) -> String {
    let curves = curves("echo", pace);
    let curve = curves.iter().find(|curve| curve.name == "Chronicle FIX");
    curve.map_or_else(String::new, |curve| {
        let (_, median) = curve.points[0];
        format!(
            " Chronicle FIX: {median:.1} us, of which TCP takes about 10 us, so about {:.1} times \
            its TCP floor.",
            median / 10.0
        )
    })
}

/// A column of a table: its heading, and a cell for each percentile.
type Column = (String, [String; 6]);

fn table(row: &Row, floor: &Row) -> String {
    let corner = format!("us, {}", pace_text(row.pace));
    let theirs = |engine: &str| {
        let found = JLBH
            .iter()
            .find(|table| table.engine == engine && row.pace == Pace::PerSecond(table.rate));
        found.map(as_published)
    };
    let first = [
        (
            "fixwire, service time",
            Some(ours(&row.runs, |run| run.service)),
        ),
        ("Chronicle FIX", theirs("Chronicle FIX")),
        ("QuickFIX/J", theirs("QuickFIX/J")),
    ];
    let second = [
        (
            "fixwire, response time",
            Some(ours(&row.runs, |run| run.response)),
        ),
        ("tcp floor", Some(ours(&floor.runs, |run| run.response))),
        ("response / floor", Some(ratios(row, floor))),
    ];
    [groups(&corner, first), groups(&corner, second)].concat()
}

fn groups(corner: &str, groups: [(&str, Option<Vec<Column>>); 3]) -> String {
    let mut grid = vec![vec![corner.to_owned()]];
    grid.extend(COLUMNS.map(|name| vec![name.to_owned()]));
    let mut names = vec![("", 1)];
    for (name, columns) in groups {
        let Some(columns) = columns else { continue };
        names.push((name, 1 + columns.len()));
        let gap = (String::new(), Default::default());
        for (head, cells) in std::iter::once(gap).chain(columns) {
            grid[0].push(head);
            for (line, cell) in grid[1..].iter_mut().zip(cells) {
                line.push(cell);
            }
        }
    }
    below(&names, &grid)
}

fn ours(runs: &[Run], pick: fn(&Run) -> Figures) -> Vec<Column> {
    let of = |run: &Run| pick(run).columns();
    let column = |(place, run)| (format!("run {}", place + 1), of(run).map(micros));
    let mut columns: Vec<Column> = runs.iter().enumerate().map(column).collect();
    columns.push((
        "% var".to_owned(),
        std::array::from_fn(|percentile| {
            let values: Vec<u64> = runs.iter().map(|run| of(run)[percentile]).collect();
            variation(&values).map_or_else(|| "-".to_owned(), |percent| format!("{percent:.1}"))
        }),
    ));
    columns
}

fn as_published(table: &JlbhTable) -> Vec<Column> {
    let run = |run: usize| table.rows.map(|row| published(row[run]));
    let mut columns: Vec<Column> = (0..3)
        .map(|place| (format!("run {}", place + 1), run(place)))
        .collect();
    let varied = table.rows.map(|row| format!("{:.1}", row[3]));
    columns.push(("% var".to_owned(), varied));
    columns
}

/// The ratio of each run to the floor's run just before it, and the median of these ratios over the comparable runs.
fn ratios(row: &Row, floor: &Row) -> Vec<Column> {
    let shown = |ratio: f64| format!("{ratio:.2}");
    let pairs = row.runs.iter().zip(&floor.runs).enumerate();
    let mut columns: Vec<Column> = pairs
        .map(|(place, (ours, floor))| {
            let (ours, floor) = (ours.response.columns(), floor.response.columns());
            let cell = |at: usize| shown(ours[at] as f64 / floor[at].max(1) as f64);
            (format!("run {}", place + 1), std::array::from_fn(cell))
        })
        .collect();
    let medians = row
        .ratios(floor)
        .map(|ratio| ratio.map_or_else(|| "-".to_owned(), shown));
    columns.push(("median".to_owned(), medians));
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn ours_stands_beside_the_published_tables_of_its_rate() {
        let mut report = sample::report();
        report.rows.drain(..2);
        let text = text(&report);
        assert_eq!(
            text.lines().take(16).collect::<Vec<_>>(),
            [
                "                fixwire, service time    Chronicle FIX            QuickFIX/J",
                "  us, 50,000/s  run 1 run 2 run 3 % var  run 1 run 2 run 3 % var  run 1 run 2 run 3 % var",
                "  50             16.3  16.4  16.3   0.2   15.6  15.1  15.6   2.2    176   176   176   0.0",
                "  90             16.5  16.6  16.5   0.2   17.9  16.9  16.9   0.0  12845 29884  3604  82.9",
                "  99             16.5  16.6  16.6   0.2   22.0  30.2  29.2   2.3  34603 94372 17302  74.8",
                "  99.9           16.5  16.6  16.6   0.2    121   352  33.8  86.3  42992 98566 25690  65.4",
                "  99.99          16.5  16.6  16.6   0.2    336   803  96.3  83.0  45089 98566 27787  62.9",
                "  worst          16.5  16.6  16.6   0.2    451   901   152  76.7  45089 98566 27787  62.9",
                "                fixwire, response time   tcp floor                response / floor",
                "  us, 50,000/s  run 1 run 2 run 3 % var  run 1 run 2 run 3 % var  run 1 run 2 run 3 median",
                "  50             16.5  16.6  16.6   0.2   8.50  8.60  8.55   0.4   1.94  1.93  1.94   1.94",
                "  90             16.9  17.0  17.0   0.2   8.90  9.00  8.95   0.4   1.90  1.89  1.89   1.89",
                "  99             17.0  17.1  17.0   0.2   8.99  9.10  9.04   0.4   1.89  1.88  1.89   1.89",
                "  99.9           17.0  17.1  17.1   0.2   9.00  9.10  9.05   0.4   1.89  1.88  1.88   1.88",
                "  99.99          17.0  17.1  17.1   0.2   9.00  9.10  9.05   0.4   1.89  1.88  1.88   1.88",
                "  worst          17.0  17.1  17.1   0.2   9.00  9.10  9.05   0.4   1.89  1.88  1.88   1.88",
            ]
        );
        let sentence = "  Median: 1.94 times the TCP floor. Chronicle FIX: 15.6 us";
        assert!(text.contains(sentence), "{text}");
    }
}
