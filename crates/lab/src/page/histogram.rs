//! The figure of the response time distribution.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use super::figure::{PageCurve, PageStop, Picture};
use super::legend::Legend;
use super::measured::AtPace;
use crate::report::chart::{ChartAxis, ChartPlane, ChartSize};
use crate::report::percentiles::{micros_mark, together};

/// Number of buckets per factor of ten.
const BUCKETS: f64 = 20.0;
/// Size of a small picture; two of them fit side by side.
pub(super) const SMALL: ChartSize = ChartSize {
    whole: (460.0, 220.0),
    margins: [76.0, 10.0, 30.0, 26.0],
};

/// The picture of the share of orders in each bucket. Both axes are logarithmic, so that a few slow orders are
/// visible.
pub(super) fn picture(of: &AtPace<'_>, legend: &Legend) -> Picture {
    let spread: Vec<(&str, BTreeMap<i32, f64>)> = of
        .subjects
        .iter()
        .map(|(subject, rows)| {
            let rows = rows.iter().copied();
            (*subject, shares(&together(rows, |run| &run.histogram)))
        })
        .filter(|(_, shares)| !shares.is_empty())
        .collect();
    let buckets = || spread.iter().flat_map(|(_, shares)| shares.keys().copied());
    let (first, last) = (buckets().min().unwrap_or(0), buckets().max().unwrap_or(0));
    let plane = ChartPlane {
        size: SMALL,
        x: ChartAxis::log([edge(first), edge(last + 1)].into_iter(), micros_mark),
        y: ChartAxis::log(
            spread
                .iter()
                .flat_map(|(_, shares)| shares.values().copied()),
            |percent| format!("{percent} %"),
        ),
    };
    let curves = spread.iter().map(|(subject, shares)| PageCurve {
        key: of.key(subject),
        time: "response",
        name: (*subject).to_owned(),
        class: legend.class(subject),
        parts: vec![steps(shares)],
        values: (first..=last)
            .map(|bucket| shares.get(&bucket).copied())
            .collect(),
    });
    let stop = |bucket: i32| PageStop {
        x: (edge(bucket) * edge(bucket + 1)).sqrt(),
        name: format!("{} to {}", shown(edge(bucket)), shown(edge(bucket + 1))),
    };
    Picture {
        id: format!("{}-histogram", of.id),
        caption: "Share of the orders by response time".to_owned(),
        units: [" us", " %"],
        stops: (first..=last).map(stop).collect(),
        curves: curves.collect(),
        plane,
        is_named: false,
    }
}

/// Lower bound of a bucket, microseconds.
fn edge(bucket: i32) -> f64 {
    10_f64.powf(f64::from(bucket) / BUCKETS)
}

fn shown(micros: f64) -> String {
    let digits = (1.0 - micros.log10().floor()).max(0.0) as usize;
    format!("{micros:.digits$}")
}

/// The share of all values in each non-empty bucket, percent.
fn shares(histogram: &Histogram<u64>) -> BTreeMap<i32, f64> {
    let mut shares = BTreeMap::new();
    let all = histogram.len() as f64;
    for value in histogram.iter_recorded() {
        let micros = value.value_iterated_to().max(1) as f64 / 1e3;
        let bucket = (micros.log10() * BUCKETS).floor() as i32;
        let share = 100.0 * value.count_at_value() as f64 / all;
        *shares.entry(bucket).or_insert(0.0) += share;
    }
    shares
}

/// The outline of the bars. At each gap the outline returns to the axis.
fn steps(shares: &BTreeMap<i32, f64>) -> Vec<(f64, f64)> {
    // A value below the range of the axis is drawn on the axis.
    const NOTHING: f64 = 0.0;
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for (bucket, share) in shares {
        let (from, to) = (edge(*bucket), edge(bucket + 1));
        if !shares.contains_key(&(bucket - 1)) {
            steps.push((from, NOTHING));
        }
        steps.extend([(from, *share), (to, *share)]);
        if !shares.contains_key(&(bucket + 1)) {
            steps.push((to, NOTHING));
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_buckets_make_a_hundred_and_steps_begin_and_end_at_nothing() {
        let mut histogram = fixwire_stamps::stats::histogram();
        for value in [10_500, 10_600, 100_500, 100_600, 113_000] {
            histogram.saturating_record(value);
        }
        let shares = shares(&histogram);
        let found: Vec<(i32, f64)> = shares.iter().map(|(key, share)| (*key, *share)).collect();
        assert_eq!(found, [(20, 40.0), (40, 40.0), (41, 20.0)]);
        let heights: Vec<f64> = steps(&shares).iter().map(|step| step.1).collect();
        assert_eq!(
            heights,
            [0.0, 40.0, 40.0, 0.0, 0.0, 40.0, 40.0, 20.0, 20.0, 0.0]
        );
    }
}
