//! Percentiles of a run, and their variation over several runs.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// The percentiles of the published tables.
pub const SHOWN: [(&str, f64); 5] = [
    ("50", 0.50),
    ("90", 0.90),
    ("99", 0.99),
    ("99.9", 0.999),
    ("99.99", 0.9999),
];

/// The columns of the published tables: percentiles, and the longest.
pub const COLUMNS: [&str; 6] = ["50", "90", "99", "99.9", "99.99", "worst"];

/// The figures of one run, nanoseconds.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Figures {
    /// Number of timed orders.
    pub count: u64,
    /// The shortest.
    pub min: u64,
    /// Half were at most this.
    pub p50: u64,
    /// 90 % were at most this.
    pub p90: u64,
    /// 99 % were at most this.
    pub p99: u64,
    /// 99.9 % were at most this.
    pub p99_9: u64,
    /// 99.99 % were at most this.
    pub p99_99: u64,
    /// The longest.
    pub worst: u64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation.
    pub stdev: f64,
    /// 75 % were at most this.
    pub p75: u64,
    /// 95 % were at most this.
    pub p95: u64,
    /// 99.5 % were at most this.
    pub p99_5: u64,
}

impl Figures {
    /// The figures of a histogram; all zero when it is empty.
    pub fn of(histogram: &Histogram<u64>) -> Self {
        if histogram.is_empty() {
            return Self::default();
        }
        let at = |quantile| histogram.value_at_quantile(quantile);
        Self {
            count: histogram.len(),
            min: histogram.min(),
            p50: at(0.50),
            p90: at(0.90),
            p99: at(0.99),
            p99_9: at(0.999),
            p99_99: at(0.9999),
            worst: histogram.max(),
            mean: histogram.mean(),
            stdev: histogram.stdev(),
            p75: at(0.75),
            p95: at(0.95),
            p99_5: at(0.995),
        }
    }

    /// The columns of the published tables, as [`COLUMNS`] names them.
    pub fn columns(&self) -> [u64; 6] {
        [
            self.p50,
            self.p90,
            self.p99,
            self.p99_9,
            self.p99_99,
            self.worst,
        ]
    }
}

/// The longest latency that a histogram can represent: a thousand seconds.
const LONGEST: u64 = 1_000_000_000_000;

/// A histogram for latencies in nanoseconds, 0.1 % resolution.
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST, 3).expect("constant bounds are valid")
}

/// Nanoseconds as microseconds with three digits that count.
pub fn micros(nanos: u64) -> String {
    let micros = nanos as f64 / 1e3;
    match nanos {
        0..10_000 => format!("{micros:.2}"),
        10_000..100_000 => format!("{micros:.1}"),
        _ => format!("{micros:.0}"),
    }
}

/// The variation of a figure over all runs except the first, in percent: `100 (max - min) / (max + min / 2)`.
///
/// `None` when fewer than two runs are left. The formula is that of the harness whose tables ours are compared with.
/// The harness also leaves the first run out, so that columns of both tables mean the same.
pub fn variation(runs: &[u64]) -> Option<f64> {
    let runs = runs.get(1..)?;
    let (min, max) = (*runs.iter().min()? as f64, *runs.iter().max()? as f64);
    if runs.len() < 2 || max == 0.0 {
        return None;
    }
    Some(100.0 * (max - min) / (max + min / 2.0))
}

/// The median; for an even number of values, the mean of the two in the middle; `None` without values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[half]),
        _ => Some((sorted[half - 1] + sorted[half]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_a_known_distribution() {
        let mut recorded = histogram();
        for value in 1..=100_000_u64 {
            recorded.saturating_record(value * 10);
        }
        let figures = Figures::of(&recorded);
        for (found, expected) in figures
            .columns()
            .into_iter()
            .zip([500_000.0, 900_000.0, 990_000.0, 999_000.0, 999_900.0, 1e6])
        {
            assert!(
                (found as f64 - expected).abs() / expected < 0.001,
                "{found} is not {expected}"
            );
        }
        assert_eq!((figures.count, figures.min), (100_000, 10));
        let others = [figures.p75, figures.p95, figures.p99_5].map(|nanos| nanos as f64);
        let deviation = 1e6 / 12_f64.sqrt();
        let pairs = [
            (others[0], 750_000.0),
            (others[1], 950_000.0),
            (others[2], 995_000.0),
        ];
        for (found, expected) in pairs.into_iter().chain([(figures.stdev, deviation)]) {
            assert!(
                (found / expected - 1.0).abs() < 0.002,
                "{found} is not {expected}"
            );
        }
        assert_eq!(Figures::of(&histogram()), Figures::default());
    }

    #[test]
    fn variation_leaves_the_first_run_out() {
        let of = |runs: &[u64]| format!("{:.2}", variation(runs).unwrap());
        assert_eq!(of(&[184_320, 176_130, 176_130]), "0.00");
        assert_eq!(of(&[573_440, 270_340, 249_860]), "5.18");
        assert_eq!(of(&[352_260, 335_870, 1_867_780]), "75.25");
        assert_eq!((variation(&[5, 6]), variation(&[])), (None, None));
    }

    #[test]
    fn the_median_of_runs() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn microseconds_have_three_digits_that_count() {
        assert_eq!(micros(7_940), "7.94");
        assert_eq!(micros(16_900), "16.9");
        assert_eq!(micros(1_081_400), "1081");
    }
}
