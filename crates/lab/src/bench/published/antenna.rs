//! The table of FIX Antenna: round trip in a closed loop, one column per configuration.

use std::fs;

use fixwire_stamps::stats::Figures;
use fixwire_stamps::stats::micros;

use super::layout::{below, line, note, published};
use super::section::{Section, Setting};
use crate::bench::args::on_own_thread;
use crate::bench::echo::{self, EchoArgs};
use crate::error::Error;
use crate::published::{ANTENNA, ANTENNA_ROWS};
use crate::report::percentiles::together;
use crate::report::{Report, Row};

/// The published configurations, and the flags of `bench echo` that are the same.
const PROFILES: [(&str, &str); 3] = [
    ("balanced", "--profile balanced --nagle --cores none"),
    ("optimized", "--profile optimized"),
    ("onload", "--profile optimized"),
];

/// Measures the published configurations. The last one needs a socket library that bypasses the kernel, the others
/// must run without it.
pub(super) fn measure(setting: &Setting) -> Result<Section, Error> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let library = preloaded(&maps);
    let mut section = Section::default();
    for (name, flags) in PROFILES {
        if (name == "onload") != library.is_some() {
            continue;
        }
        let full = "--runs 3 --iterations 100000";
        let quick = "--runs 2 --iterations 1000 --warm-up 200";
        let (mut args, command) = setting.args::<EchoArgs>("echo", flags, [full, quick])?;
        args.load.rate.clear();
        let folder = setting.results.as_ref();
        args.output.samples = folder.map(|folder| folder.join(format!("antenna-{name}.csv")));
        let report = on_own_thread(|| echo::measure(&args))?;
        section.text += &command;
        section.reports.push((format!("antenna-{name}"), report));
    }
    section.text += &text(&section.reports, library);
    Ok(section)
}

/// The socket library that bypasses the kernel among the mapped files of this process.
fn preloaded(maps: &str) -> Option<&'static str> {
    ["libonload", "libxlio"]
        .into_iter()
        .find(|library| maps.contains(library))
}

/// The table of the measured configurations, and a note on what the other configurations need.
fn text(reports: &[(String, Report)], library: Option<&str>) -> String {
    let rows = PROFILES.map(|(name, _)| {
        let wanted = format!("antenna-{name}");
        let report = reports.iter().find(|(name, _)| *name == wanted);
        report.and_then(|(_, report)| {
            let row = report.rows.iter().find(|row| !row.is_floor())?;
            Some((row, report.floor_of(row)?))
        })
    });
    let mut text = table(rows);
    text += &note(match library {
        None => "onload: no kernel-bypass library preloaded: see docs/operating/running.md.",
        Some(_) => {
            "Measured with the preloaded socket library; without it, the command measures the \
            other two configurations."
        }
    });
    text += &note(
        "Closed loops, all runs together. The published figures are from two hosts; ours, and our \
        floor, are from one host over loopback.",
    );
    text
}

/// A configuration's row and its floor, if it was measured.
type Measured<'a> = Option<(&'a Row, &'a Row)>;

fn table(rows: [Measured<'_>; 3]) -> String {
    let mut grid = vec![line(["us", ""])];
    grid.extend(ANTENNA_ROWS.map(|name| line([name, ""])));
    grid.push(line(["tcp floor 50 %", ""]));
    grid.push(line(["x floor 50 %", ""]));
    let mut column = |head: &str, cells: Vec<String>| {
        let cells = std::iter::once(head.to_owned()).chain(cells);
        let rest = std::iter::repeat(String::new());
        for (line, cell) in grid.iter_mut().zip(cells.chain(rest)) {
            line.push(cell);
        }
    };
    for ((name, _), row) in PROFILES.into_iter().zip(rows) {
        column(name, row.map_or_else(|| vec!["-".to_owned(); 8], ours));
    }
    let heads = [
        "balanced",
        "optimized",
        "onload",
        "default",
        "no persistence",
    ];
    for (place, (head, theirs)) in heads.into_iter().zip(&ANTENNA).enumerate() {
        if [0, 3].contains(&place) {
            column("", Vec::new());
        }
        column(head, theirs.figures.map(published).to_vec());
    }
    let names = [
        ("", 1),
        ("fixwire", 4),
        ("FIX Antenna Java 2.17", 4),
        ("QuickFIX/J 1.6.3", 3),
    ];
    below(&names, &grid)
}

/// Minimum, average, 50, 95, 99 % and maximum over all runs; then the floor's 50 %, and the ratio of both medians.
fn ours((row, floor): (&Row, &Row)) -> Vec<String> {
    let of = Figures::of(&together([row], |run| &run.histogram));
    let mean = of.mean.round() as u64;
    let mut cells: Vec<String> = [of.min, mean, of.p50, of.p95, of.p99, of.worst]
        .map(micros)
        .to_vec();
    cells.push(micros(
        Figures::of(&together([floor], |run| &run.histogram)).p50,
    ));
    let ratio = row.ratios(floor)[0];
    cells.push(ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")));
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn each_configuration_has_its_column_beside_the_published_ones() {
        let reports = [("antenna-balanced".to_owned(), sample::report())];
        let text = text(&reports, None);
        assert_eq!(
            text.lines().take(10).collect::<Vec<_>>(),
            [
                "                  fixwire                    FIX Antenna Java 2.17      QuickFIX/J 1.6.3",
                "  us              balanced optimized onload  balanced optimized onload  default no persistence",
                "  min                 9.00         -      -      37.9      26.2   10.5     85.7           70.0",
                "  average             9.55         -      -      46.0      28.6   11.3      258            243",
                "  50 %                9.55         -      -      43.9      27.7   10.9      114            114",
                "  95 %               10.00         -      -      63.1      30.8   12.0      182            165",
                "  99 %                10.1         -      -      72.4      52.2   13.8     2107           1336",
                "  max                 10.1         -      -      1894      1012   1928    38918          43566",
                "  tcp floor 50 %      8.55         -      -",
                "  x floor 50 %        1.12         -      -",
            ]
        );
        assert!(
            text.contains("no kernel-bypass library preloaded"),
            "{text}"
        );
    }

    #[test]
    fn a_socket_library_is_seen_in_the_mapped_files() {
        let maps = "7f00-7f01 r-xp 00000000 00:00 1 /usr/lib/libxlio.so.3\n";
        assert_eq!(preloaded(maps), Some("libxlio"));
        assert_eq!(
            preloaded("7f00-7f01 r-xp 00000000 00:00 1 /usr/lib/libc.so.6\n"),
            None
        );
    }
}
