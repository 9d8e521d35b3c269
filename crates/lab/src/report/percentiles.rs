//! Percentile curves: converts histograms to points, and makes the axes of the figure.

use hdrhistogram::Histogram;

use super::chart::{ChartAxis, ChartPlane, ChartSize};
use super::{Row, Run, thousands};

/// Percentiles reach to 99.999 %: five nines.
const NINES_MAX: u32 = 5;
/// Number of points of a curve for each nine.
const STEPS: u32 = 20;
/// Common percentiles that are not among the steps.
const ASKED_FOR: [f64; 4] = [50.0, 75.0, 95.0, 99.5];

/// The percentiles at which curves have points, ascending; the last is 100, the longest.
pub(crate) fn percents() -> Vec<f64> {
    let steps = (0..=NINES_MAX * STEPS).map(|step| {
        let slower = 100.0 * 10_f64.powf(-f64::from(step) / f64::from(STEPS));
        // Rounds the share of slower orders to two digits.
        let digits = (1.0 - slower.log10().floor()) as i32;
        let unit = 10_f64.powi(digits);
        ((100.0 - slower) * unit).round() / unit
    });
    let mut percents: Vec<f64> = steps.chain(ASKED_FOR).chain([100.0]).collect();
    percents.sort_by(f64::total_cmp);
    percents.dedup();
    percents
}

/// Points of a curve, in percent and microseconds: up to the last percentile that has a value above it, then the
/// longest.
pub(crate) fn points(histogram: &Histogram<u64>) -> Vec<(f64, f64)> {
    if histogram.is_empty() {
        return Vec::new();
    }
    let values = histogram.len() as f64;
    percents()
        .into_iter()
        .filter(|percent| *percent == 100.0 || values * (100.0 - percent) >= 99.0)
        .map(|percent| {
            let nanos = histogram.value_at_quantile(quantile(percent)).max(1);
            (percent, nanos as f64 / 1e3)
        })
        .collect()
}

/// A percent value as a quantile. The value is rounded to a whole number before the division, because a quantile that
/// is slightly too large would select the next of a thousand values.
fn quantile(percent: f64) -> f64 {
    (percent * 1e6).round() / 1e8
}

/// The axes for curves of microseconds over percent. The number of nines depends on the number of values.
pub(crate) fn plane<'a>(
    curves: impl Iterator<Item = &'a [(f64, f64)]> + Clone,
    size: ChartSize,
) -> ChartPlane {
    let values = curves.clone().flatten().map(|point| point.1);
    let last = curves
        .flatten()
        .map(|point| point.0)
        .filter(|percent| *percent < 100.0)
        .fold(0.0, f64::max);
    // The last point may be slightly below a whole number of nines.
    let nines = (-(1.0 - last / 100.0).log10() - 0.01).ceil();
    ChartPlane {
        size,
        x: ChartAxis::percentiles((nines as u32).clamp(2, NINES_MAX)),
        y: ChartAxis::log(values, micros_mark),
    }
}

/// The text of a mark on an axis of microseconds.
pub(crate) fn micros_mark(micros: f64) -> String {
    match micros < 1.0 {
        true => format!("{micros} us"),
        false => format!("{} us", thousands(micros as u64)),
    }
}

/// One histogram of all runs of these rows; `pick` chooses the histogram of a run.
pub(crate) fn together<'a>(
    rows: impl IntoIterator<Item = &'a Row>,
    pick: fn(&Run) -> &Histogram<u64>,
) -> Histogram<u64> {
    let mut all = fixwire_stamps::stats::histogram();
    for run in rows.into_iter().flat_map(|row| &row.runs) {
        // All histograms have the same bounds, so adding cannot fail.
        let _ = all.add(pick(run));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_has_the_percentiles_that_people_ask_for_and_only_those_with_values() {
        let mut histogram = fixwire_stamps::stats::histogram();
        assert_eq!(points(&histogram), []);
        for value in 1..=1_000_u64 {
            histogram.saturating_record(value * 1_000);
        }
        let points = points(&histogram);
        for (percent, micros) in [
            (0.0, 1.0),
            (50.0, 500.0),
            (90.0, 900.0),
            (99.5, 995.0),
            (99.9, 999.0),
            (100.0, 1000.0),
        ] {
            let found = points.iter().find(|point| point.0 == percent);
            let found = found.unwrap_or_else(|| panic!("no point at {percent} %: {points:?}"));
            assert!((found.1 / micros - 1.0).abs() < 0.001, "{found:?}");
        }
        assert_eq!(points[points.len() - 2].0, 99.9);
        assert!(points.len() < 100, "{}", points.len());
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn an_axis_has_as_many_nines_as_values_allow() {
        let size = ChartSize {
            whole: (100.0, 100.0),
            margins: [0.0; 4],
        };
        let curve = [(0.0, 8.0), (99.9, 20.0), (100.0, 30.0)];
        let plane = plane(std::iter::once(&curve[..]), size);
        assert!((plane.pixel_x(99.0) - 100.0 * 0.89 * 2.0 / 3.0).abs() < 1e-9);
        assert!(plane.pixel_y(30.0) > 0.0 && plane.pixel_y(8.0) < 100.0);
    }
}
