//! The part of `bench transactions`: the published rows above ours, and how many milliseconds had how many
//! transactions.

use std::fmt::{self, Write};

use super::figure::{PageCurve, PageStop, Picture};
use super::legend::{Legend, OURS};
use super::table::disturbed;
use crate::analysis::Throughput;
use crate::published::{TRANSACTION_BANDS, TRANSACTIONS, TransactionsRow};
use crate::report::chart::{ChartAxis, ChartPlane, ChartSize};
use crate::report::thousands;
use crate::report::transactions::TransactionsReport;

/// Steps of our curve, at most; beyond it, several counts make one.
const STEPS_MAX: u64 = 120;
/// Counts that have their number below the axis, about.
const NUMBERS: u64 = 10;

const SIZE: ChartSize = ChartSize {
    whole: (940.0, 320.0),
    margins: [84.0, 12.0, 224.0, 26.0],
};

/// Writes the table and the picture of file `file` of the page.
pub(super) fn write(
    report: &TransactionsReport,
    file: usize,
    legend: &Legend,
    to: &mut impl Write,
) -> fmt::Result {
    let throughput = report.throughput();
    write_table(report, &throughput, to)?;
    writeln!(to, "<div class=\"pictures\">")?;
    picture(&throughput, file, legend).write(to)?;
    writeln!(to, "</div>")
}

fn write_table(
    report: &TransactionsReport,
    throughput: &Throughput,
    to: &mut impl Write,
) -> fmt::Result {
    writeln!(
        to,
        "<table class=\"figures\"><caption>Total time, and share of the milliseconds by the number of transactions \
         completed in each; published ones are of milliseconds with any. *: other work took time</caption>"
    )?;
    write!(to, "<thead><tr><th>System<th>Total, s<th>none")?;
    for (least, most) in TRANSACTION_BANDS {
        match most {
            u64::MAX => write!(to, "<th>{least} and more")?,
            _ => write!(to, "<th>{least} to {most}")?,
        }
    }
    writeln!(to, "</thead>")?;
    for row in TRANSACTIONS {
        write!(
            to,
            "<tr class=\"floor\"><th>{}<td>{:.3}<td>",
            row.system, row.seconds
        )?;
        for share in row.shares {
            write!(to, "<td>{} %", short(share))?;
        }
        writeln!(to, "<td>")?;
    }
    let mark = disturbed(report.taken);
    write!(to, "<tr><th>{OURS}{mark}<td>{:.3}", report.seconds)?;
    for (least, most) in [(0, 0)].into_iter().chain(TRANSACTION_BANDS) {
        write!(to, "<td>{} %", short(throughput.share(least, most)))?;
    }
    writeln!(to, "\n</table>")
}

/// Percent with two decimals, more of a share that they do not show.
fn short(share: f64) -> String {
    if share > 0.0 && share < 0.005 {
        return share.to_string();
    }
    format!("{share:.2}")
}

/// The counts of a step: the first one, and how many.
#[derive(Clone, Copy, Debug)]
struct Counts {
    first: u64,
    width: u64,
}

impl Counts {
    /// Its edges on the axis, where a count reaches from half below to half above it.
    fn edges(self) -> [f64; 2] {
        let first = self.first as f64 - 0.5;
        [first, first + self.width as f64]
    }

    fn last(self) -> u64 {
        self.first.saturating_add(self.width - 1)
    }
}

/// Share of the milliseconds with each count; several counts of one step, or band, have their mean.
fn picture(throughput: &Throughput, file: usize, legend: &Legend) -> Picture {
    let most = throughput.rows.keys().next_back().copied().unwrap_or(0);
    // The published bands have their place whatever was measured.
    let most = most.max(TRANSACTION_BANDS[2].1);
    let width = (most / STEPS_MAX).saturating_add(1);
    let steps: Vec<Counts> = (0..=most / width)
        .map(|step| Counts {
            first: step * width,
            width,
        })
        .collect();
    let mut curves: Vec<PageCurve> = TRANSACTIONS
        .iter()
        .map(|row| published_curve(row, &steps, legend))
        .collect();
    curves.push(our_curve(throughput, &steps, legend));
    curves.retain(|curve| !curve.parts.is_empty());
    let values = curves.iter().flat_map(|curve| curve.parts.iter().flatten());
    let shares = values.map(|point| point.1).filter(|share| *share > 0.0);
    let number = |count: u64| (count as f64, thousands(count));
    let each = (most / NUMBERS).max(1);
    let plane = ChartPlane {
        size: SIZE,
        x: ChartAxis::linear(
            -0.5,
            steps.last().map_or(0.5, |step| step.edges()[1]),
            (0..=most / each).map(|mark| number(mark * each)).collect(),
        ),
        y: ChartAxis::log(shares, |percent| format!("{percent} %")),
    };
    let stop = |step: &Counts| PageStop {
        x: f64::midpoint(step.edges()[0], step.edges()[1]),
        name: match step.width {
            1 => step.first.to_string(),
            _ => format!("{} to {}", step.first, step.last()),
        },
    };
    Picture {
        id: format!("f{file}-milliseconds"),
        caption: "Share of the milliseconds by the number of transactions completed in each; published ones: the mean \
                  of each band"
            .to_owned(),
        units: [" transactions", " %"],
        stops: steps.iter().map(stop).collect(),
        curves,
        plane,
        is_named: true,
    }
}

fn our_curve(throughput: &Throughput, steps: &[Counts], legend: &Legend) -> PageCurve {
    let share = |step: &Counts| throughput.share(step.first, step.last()) / step.width as f64;
    let shares: Vec<f64> = steps.iter().map(share).collect();
    let some = steps.iter().zip(&shares).filter(|(_, share)| **share > 0.0);
    let bars = some.map(|(step, share)| (step.edges(), *share));
    PageCurve {
        key: format!("transactions|{OURS}"),
        time: "response",
        name: OURS.to_owned(),
        class: legend.class(OURS),
        parts: outlines(bars),
        values: shares
            .iter()
            .map(|share| Some(*share).filter(|share| *share > 0.0))
            .collect(),
    }
}

fn published_curve(row: &TransactionsRow, steps: &[Counts], legend: &Legend) -> PageCurve {
    let bands = TRANSACTION_BANDS.iter().zip(row.shares);
    let bands: Vec<([f64; 2], f64)> = bands
        .map(|((first, last), share)| {
            let width = last - first + 1;
            let counts = Counts {
                first: *first,
                width,
            };
            (counts.edges(), share / width as f64)
        })
        .collect();
    let at = |step: &Counts| {
        let middle = f64::midpoint(step.edges()[0], step.edges()[1]);
        let mut around = bands.iter();
        let band = around.find(|([from, to], _)| (*from..*to).contains(&middle))?;
        Some(band.1)
    };
    PageCurve {
        key: format!("transactions|{}", row.system),
        time: "published",
        name: row.system.to_owned(),
        class: legend.published_class(row.system),
        values: steps.iter().map(at).collect(),
        parts: outlines(bands.iter().copied()),
    }
}

/// The outlines of bars from the axis and back to it; bars that touch have one outline.
fn outlines(bars: impl Iterator<Item = ([f64; 2], f64)>) -> Vec<Vec<(f64, f64)>> {
    // Below the range of the axis: drawn on the axis.
    const NOTHING: f64 = 0.0;
    let mut outlines: Vec<Vec<(f64, f64)>> = Vec::new();
    for ([from, to], height) in bars {
        let end = outlines.last().and_then(|outline| outline.last());
        let touches = end.is_some_and(|(end, _)| *end >= from);
        if !touches {
            outlines.push(vec![(from, NOTHING)]);
        }
        if let Some(outline) = outlines.last_mut() {
            if touches {
                // No step back to the axis between them.
                outline.pop();
            }
            outline.extend([(from, height), (to, height), (to, NOTHING)]);
        }
    }
    outlines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::any::AnyReport;
    use crate::report::transactions::sample;

    fn drawn(per_ms: &[(u64, u64)]) -> Picture {
        let mut report = sample::report();
        report.per_ms = per_ms.to_vec();
        let legend = Legend::of([&AnyReport::from(report.clone())]);
        picture(&report.throughput(), 1, &legend)
    }

    #[test]
    fn each_count_is_a_step_beside_the_mean_of_the_published_bands() {
        let picture = drawn(&[(0, 15), (9, 10), (10, 20), (40, 55)]);
        assert_eq!(picture.stops.len(), 41);
        assert_eq!(picture.stops[40].name, "40");
        let [untuned, .., ours] = &picture.curves[..] else {
            panic!("four curves")
        };
        assert_eq!(
            (ours.values[0], ours.values[9], ours.values[10]),
            (Some(15.0), Some(10.0), Some(20.0))
        );
        assert_eq!((ours.values[1], ours.values[40]), (None, Some(55.0)));
        let parts: Vec<Vec<f64>> = ours
            .parts
            .iter()
            .map(|part| part.iter().map(|point| point.1).collect())
            .collect();
        assert_eq!(
            parts,
            [
                vec![0.0, 15.0, 15.0, 0.0],
                vec![0.0, 10.0, 10.0, 20.0, 20.0, 0.0],
                vec![0.0, 55.0, 55.0, 0.0]
            ]
        );
        let mean = 41.49 / 9.0;
        assert_eq!((untuned.values[0], untuned.values[9]), (None, Some(mean)));
        assert_eq!(
            (untuned.values[26], untuned.values[27]),
            (Some(2.17 / 11.0), None)
        );
        assert_eq!(untuned.parts.len(), 1);
    }

    #[test]
    fn many_counts_make_few_steps_whatever_a_file_says() {
        let picture = drawn(&[(1, 50), (2, 30), (599, 20)]);
        assert_eq!(picture.stops.len(), 120);
        assert_eq!(picture.stops[0].name, "0 to 4");
        let ours = picture.curves.last().unwrap();
        assert_eq!((ours.values[0], ours.values[119]), (Some(16.0), Some(4.0)));
        let picture = drawn(&[(u64::MAX, u64::MAX), (0, u64::MAX)]);
        assert!(picture.stops.len() <= 121, "{}", picture.stops.len());
        let mut text = String::new();
        picture.write(&mut text).unwrap();
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        assert!(
            drawn(&[])
                .curves
                .iter()
                .all(|curve| curve.time == "published")
        );
    }
}
