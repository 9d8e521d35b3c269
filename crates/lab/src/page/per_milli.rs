//! The part of `bench transactions`: the published rows above ours, and the number of milliseconds for each count of
//! transactions.

use std::fmt::{self, Write};

use fixwire_stamps::analysis::Throughput;

use super::figure::{PageCurve, PageStop, Picture};
use super::legend::{Legend, OURS};
use super::table::disturbed;
use crate::published::{TRANSACTION_BANDS, TRANSACTIONS, TransactionsRow};
use crate::report::chart::{ChartAxis, ChartPlane, ChartSize};
use crate::report::thousands;
use crate::report::transactions::TransactionsReport;

/// From twice this count on, several counts share one step of the curve, so that the steps are about equally wide on
/// the axis.
const FINE: u64 = 16;

const SIZE: ChartSize = ChartSize {
    whole: (940.0, 320.0),
    margins: [84.0, 12.0, 20.0, 26.0],
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
        "<table class=\"figures\"><caption>Total time, and share of the milliseconds by the number \
        of transactions completed in each; published shares leave out the milliseconds without a \
        transaction. *: other work took time</caption>"
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

/// A percentage with two decimals. A share that would show as zero gets more decimals.
fn short(share: f64) -> String {
    if share > 0.0 && share < 0.005 {
        return share.to_string();
    }
    format!("{share:.2}")
}

/// The counts of one step: the first count, and the number of counts.
#[derive(Clone, Copy, Debug)]
struct Counts {
    first: u64,
    width: u64,
}

impl Counts {
    /// All counts from 1 to `most`.
    fn up_to(most: u64) -> Vec<Self> {
        let mut all = Vec::new();
        let mut first = 1_u64;
        while first <= most {
            let width = (first / FINE).max(1);
            all.push(Self { first, width });
            let Some(next) = first.checked_add(width) else {
                break;
            };
            first = next;
        }
        all
    }

    /// The left and right edge of the step on the axis.
    fn edges(self) -> [f64; 2] {
        [self.first as f64, self.first as f64 + self.width as f64]
    }

    fn last(self) -> u64 {
        self.first.saturating_add(self.width - 1)
    }
}

/// The picture: share of the milliseconds with each count above zero. A step or a band shows the mean of its counts.
fn picture(throughput: &Throughput, file: usize, legend: &Legend) -> Picture {
    let most = throughput.rows.keys().next_back().copied().unwrap_or(0);
    // The axis always includes the published bands, whatever was measured.
    let steps = Counts::up_to(most.max(TRANSACTION_BANDS[2].1));
    let mut curves: Vec<PageCurve> = TRANSACTIONS
        .iter()
        .map(|row| published_curve(row, &steps, legend))
        .collect();
    curves.push(our_curve(throughput, &steps, legend));
    curves.retain(|curve| !curve.parts.is_empty());
    let values = curves.iter().flat_map(|curve| curve.parts.iter().flatten());
    let shares = values.map(|point| point.1).filter(|share| *share > 0.0);
    let ends = steps.iter().flat_map(|step| step.edges());
    let plane = ChartPlane {
        size: SIZE,
        x: ChartAxis::log(ends, |count| thousands(count as u64)),
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
        caption: "Share of the milliseconds by the number of transactions completed in each, \
            without milliseconds that had none; published shares: the mean of each band"
            .to_owned(),
        units: [" transactions", " %"],
        stops: steps.iter().map(stop).collect(),
        curves,
        plane,
        is_named: false,
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

/// The outlines of bars. Each outline begins and ends on the axis; bars that touch share one outline.
fn outlines(bars: impl Iterator<Item = ([f64; 2], f64)>) -> Vec<Vec<(f64, f64)>> {
    // A value below the range of the axis is drawn on the axis.
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
                // Between adjacent bars the outline does not return to the axis.
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
        let picture = drawn(&[(0, 15), (9, 10), (10, 20), (40, 50), (41, 5)]);
        assert_eq!(picture.stops.len(), 31 + 5);
        let names = [&picture.stops[30].name, &picture.stops[35].name];
        assert_eq!(names, ["31", "40 to 41"]);
        let [untuned, .., ours] = &picture.curves[..] else {
            panic!("four curves")
        };
        assert_eq!((ours.values[8], ours.values[9]), (Some(10.0), Some(20.0)));
        assert_eq!((ours.values[0], ours.values[35]), (None, Some(27.5)));
        let parts: Vec<Vec<(f64, f64)>> = ours.parts.clone();
        assert_eq!(
            parts[0],
            [
                (9.0, 0.0),
                (9.0, 10.0),
                (10.0, 10.0),
                (10.0, 20.0),
                (11.0, 20.0),
                (11.0, 0.0)
            ]
        );
        assert_eq!(
            parts[1],
            [(40.0, 0.0), (40.0, 27.5), (42.0, 27.5), (42.0, 0.0)]
        );
        let mean = 41.49 / 9.0;
        assert_eq!(
            (untuned.values[0], untuned.values[8]),
            (Some(mean), Some(mean))
        );
        assert_eq!(
            (untuned.values[25], untuned.values[26]),
            (Some(2.17 / 11.0), None)
        );
        assert_eq!(untuned.parts.len(), 1);
    }

    #[test]
    fn many_counts_make_few_steps_whatever_a_file_says() {
        let picture = drawn(&[(1, 50), (2, 30), (599, 20)]);
        assert!(picture.stops.len() < 100, "{}", picture.stops.len());
        let picture = drawn(&[(u64::MAX, u64::MAX), (0, u64::MAX)]);
        assert!(picture.stops.len() < 1_000, "{}", picture.stops.len());
        let mut text = String::new();
        picture.write(&mut text).unwrap();
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        let nothing = drawn(&[]);
        let is_published = |curve: &PageCurve| curve.time == "published";
        assert!(nothing.curves.iter().all(is_published));
    }
}
