//! The pictures of the runs second by second.

use fixwire_stamps::stats;

use super::figure::{PageCurve, PageStop, Picture};
use super::histogram::SMALL;
use super::legend::Legend;
use super::measured::AtPace;
use crate::load::series::RunSecond;
use crate::report::Row;
use crate::report::chart::{ChartAxis, ChartPlane};
use crate::report::percentiles::micros_mark;

/// Approximate maximum number of points of a curve. When a run has more seconds, several seconds become one point.
const POINTS_MAX: u64 = 100;
/// Maximum number of runs that are numbered below the axis.
const NUMBERS_MAX: usize = 6;

/// One of the figures of a second: its name, its value, and how the values of several seconds are combined.
type Shown = (&'static str, &'static str, fn(&[&RunSecond]) -> u64);

const SHOWN: [Shown; 3] = [
    ("p50", "median", |all| middle(all)),
    ("p99", "99 %", |all| largest(all, |it| it.p99)),
    ("worst", "longest", |all| largest(all, |it| it.worst)),
];

fn middle(seconds: &[&RunSecond]) -> u64 {
    let values: Vec<f64> = seconds.iter().map(|it| it.p50 as f64).collect();
    stats::median(&values).unwrap_or(0.0) as u64
}

fn largest(seconds: &[&RunSecond], pick: fn(&RunSecond) -> u64) -> u64 {
    seconds.iter().map(|it| pick(it)).max().unwrap_or(0)
}

/// Seconds of a run that are combined into one point.
#[derive(Clone, Copy, Debug)]
struct Bin {
    run: usize,
    first: u64,
    last: u64,
}

/// The pictures of the median, the 99 % and the longest time, each with one run after another. No pictures when the
/// runs have no figures per second.
pub(super) fn pictures(of: &AtPace<'_>, legend: &Legend) -> Vec<Picture> {
    let bins = bins(of);
    let pictures = SHOWN.iter().filter(|_| !bins.is_empty());
    pictures
        .map(|shown| picture(of, legend, &bins, shown))
        .collect()
}

fn bins(of: &AtPace<'_>) -> Vec<Bin> {
    let rows = || of.subjects.iter().flat_map(|(_, rows)| rows);
    let runs = rows().map(|row| row.runs.len()).max().unwrap_or(0);
    let last_of = |run: usize| {
        let seconds = rows().filter_map(|row| row.runs.get(run)?.series.last());
        seconds.map(|it| it.second).max()
    };
    let seconds: u64 = (0..runs).filter_map(last_of).map(|last| last + 1).sum();
    let each = seconds.div_ceil(POINTS_MAX).max(1);
    let bins = (0..runs).flat_map(|run| {
        let seconds = last_of(run).map_or(0, |last| last + 1);
        (0..seconds.div_ceil(each)).map(move |bin| Bin {
            run,
            first: bin * each,
            last: (bin * each + each).min(seconds) - 1,
        })
    });
    bins.collect()
}

fn picture(of: &AtPace<'_>, legend: &Legend, bins: &[Bin], shown: &Shown) -> Picture {
    let (name, words, figure) = shown;
    let curve = |subject: &&str, rows: &[&Row]| {
        let value = |bin: &Bin| {
            let runs = rows.iter().filter_map(|row| row.runs.get(bin.run));
            let seconds: Vec<&RunSecond> = runs
                .flat_map(|run| &run.series)
                .filter(|it| (bin.first..=bin.last).contains(&it.second))
                .collect();
            (!seconds.is_empty()).then(|| figure(&seconds).max(1) as f64 / 1e3)
        };
        let values: Vec<Option<f64>> = bins.iter().map(value).collect();
        PageCurve {
            key: of.key(subject),
            time: "response",
            name: (*subject).to_owned(),
            class: legend.class(subject),
            parts: parts(bins, &values),
            values,
        }
    };
    let curves: Vec<PageCurve> = of
        .subjects
        .iter()
        .map(|(subject, rows)| curve(subject, rows))
        .filter(|curve| !curve.parts.is_empty())
        .collect();
    let values = curves
        .iter()
        .flat_map(|curve| curve.values.iter().flatten());
    let is_each = bins.iter().all(|bin| bin.first == bin.last);
    let each = if is_each {
        "each second"
    } else {
        "some seconds"
    };
    Picture {
        id: format!("{}-{name}", of.id),
        caption: format!("Response time of {each}, {words}"),
        units: ["", " us"],
        plane: ChartPlane {
            size: SMALL,
            x: ChartAxis::linear(-0.5, bins.len() as f64 - 0.5, numbers(bins)),
            y: ChartAxis::log(values.copied(), micros_mark),
        },
        stops: bins.iter().enumerate().map(stop).collect(),
        curves,
        is_named: false,
    }
}

fn stop((place, bin): (usize, &Bin)) -> PageStop {
    let seconds = match bin.first == bin.last {
        true => bin.first.to_string(),
        false => format!("{} to {}", bin.first, bin.last),
    };
    PageStop {
        x: place as f64,
        name: format!("run {}, second {seconds}", bin.run + 1),
    }
}

/// The number of each run, at the first second of the run. With many runs, only some are numbered.
fn numbers(bins: &[Bin]) -> Vec<(f64, String)> {
    let starts = bins.iter().enumerate().filter(|(_, bin)| bin.first == 0);
    let starts: Vec<(usize, &Bin)> = starts.collect();
    let every = starts.len().div_ceil(NUMBERS_MAX).max(1);
    let number = |(place, bin): &(usize, &Bin)| (*place as f64, format!("run {}", bin.run + 1));
    starts.iter().step_by(every).map(number).collect()
}

/// The curve in parts: consecutive values of one run are connected.
fn parts(bins: &[Bin], values: &[Option<f64>]) -> Vec<Vec<(f64, f64)>> {
    let mut parts: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut before = None;
    for (place, (bin, value)) in bins.iter().zip(values).enumerate() {
        let run = value.map(|_| bin.run);
        if let Some(value) = value {
            if before != run {
                parts.push(Vec::new());
            }
            if let Some(part) = parts.last_mut() {
                part.push((place as f64, *value));
            }
        }
        before = run;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn runs_stand_behind_each_other_and_long_ones_are_thinned_out() {
        let mut report = sample::report();
        let second = |second| RunSecond {
            second,
            count: 1,
            p50: 1_000 + second,
            p99: 2_000 + second,
            worst: 3_000 + second,
        };
        for run in report.rows.iter_mut().flat_map(|row| &mut row.runs) {
            run.series = (0..100).filter(|it| *it != 7).map(second).collect();
        }
        report.rows[1].runs[2].series.clear();
        let legend = Legend::of([&report.clone().into()]);
        let [at_once, _] = &AtPace::each(&report, 1)[..] else {
            panic!("two paces")
        };
        let [_, tail, _] = &pictures(at_once, &legend)[..] else {
            panic!("three pictures")
        };
        assert_eq!(tail.stops.len(), 102);
        assert_eq!(tail.stops[36].name, "run 2, second 6 to 8");
        let [floor, ours] = &tail.curves[..] else {
            panic!("two curves")
        };
        assert_eq!((floor.parts.len(), ours.parts.len()), (3, 2));
        assert_eq!(ours.values[36], Some(2.008));
        assert_eq!((floor.values[101], ours.values[101]), (Some(2.099), None));
    }
}
