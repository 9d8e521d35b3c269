//! Percentiles of a run, and how much they vary over the runs.

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
    /// How many were timed.
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

/// How much a figure varies over the runs but for the first, percent: `100 (max - min) / (max + min / 2)`.
///
/// `None` when fewer than two runs are left. The formula is the one of the harness whose tables ours are held
/// against, which leaves the first run out, so that the columns mean the same.
pub fn variation(runs: &[u64]) -> Option<f64> {
    let runs = runs.get(1..)?;
    let (min, max) = (*runs.iter().min()? as f64, *runs.iter().max()? as f64);
    if runs.len() < 2 || max == 0.0 {
        return None;
    }
    Some(100.0 * (max - min) / (max + min / 2.0))
}

/// The middle value; of an even number the mean of the two in the middle.
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
        let mut histogram = crate::load::histogram();
        for value in 1..=100_000_u64 {
            histogram.saturating_record(value * 10);
        }
        let figures = Figures::of(&histogram);
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
        assert_eq!(Figures::of(&crate::load::histogram()), Figures::default());
    }

    /// The three runs of each published percentile, and the variation printed beside them.
    const PUBLISHED: &str = "
        QuickFIX/J 2,000/s 50: 270.34 270.34 233.47 9.52
        QuickFIX/J 2,000/s 90: 352.26 335.87 1867.78 75.25
        QuickFIX/J 2,000/s 99: 6684.67 4849.66 69206.02 89.84
        QuickFIX/J 2,000/s 99.9: 13369.34 12845.06 163577.86 88.67
        QuickFIX/J 2,000/s 99.99: 81788.93 20447.23 163577.86 82.35
        QuickFIX/J 2,000/s worst: 111149.06 98566.14 163577.86 30.54
        QuickFIX/J 10,000/s 50: 184.32 176.13 176.13 0.00
        QuickFIX/J 10,000/s 90: 573.44 270.34 249.86 5.18
        QuickFIX/J 10,000/s 99: 19398.66 2686.98 5111.81 37.56
        QuickFIX/J 10,000/s 99.9: 28835.84 7733.25 7995.39 2.21
        QuickFIX/J 10,000/s 99.99: 30932.99 9699.33 9175.04 3.67
        QuickFIX/J 10,000/s worst: 30932.99 9699.33 9175.04 3.67
        QuickFIX/J 50,000/s 50: 176.13 176.13 176.13 0.00
        QuickFIX/J 50,000/s 90: 12845.06 29884.42 3604.48 82.94
        QuickFIX/J 50,000/s 99: 34603.01 94371.84 17301.50 74.81
        QuickFIX/J 50,000/s 99.9: 42991.62 98566.14 25690.11 65.41
        QuickFIX/J 50,000/s 99.99: 45088.77 98566.14 27787.26 62.94
        QuickFIX/J 50,000/s worst: 45088.77 98566.14 27787.26 62.94
        Chronicle 2,000/s 50: 16.90 16.90 16.90 0.00
        Chronicle 2,000/s 90: 18.94 18.94 18.94 0.00
        Chronicle 2,000/s 99: 26.11 30.21 23.04 17.18
        Chronicle 2,000/s 99.9: 35.84 39.94 33.79 10.81
        Chronicle 2,000/s 99.99: 540.67 671.74 401.41 65.41
        Chronicle 2,000/s worst: 638.98 1081.34 606.21 61.59
        Chronicle 10,000/s 50: 16.90 16.90 16.13 3.08
        Chronicle 10,000/s 90: 18.94 18.94 18.94 0.00
        Chronicle 10,000/s 99: 26.11 22.02 20.99 3.15
        Chronicle 10,000/s 99.9: 88.06 33.79 83.97 49.75
        Chronicle 10,000/s 99.99: 999.42 167.94 802.82 71.59
        Chronicle 10,000/s worst: 1146.88 249.86 966.66 65.67
        Chronicle 50,000/s 50: 15.62 15.10 15.62 2.21
        Chronicle 50,000/s 90: 17.92 16.90 16.90 0.00
        Chronicle 50,000/s 99: 22.02 30.21 29.18 2.29
        Chronicle 50,000/s 99.9: 120.83 352.26 33.79 86.27
        Chronicle 50,000/s 99.99: 335.87 802.82 96.26 83.03
        Chronicle 50,000/s worst: 450.56 901.12 151.55 76.73";

    #[test]
    fn variation_is_what_the_published_tables_print() {
        let rows = PUBLISHED.trim().lines().map(|line| {
            let (name, figures) = line.trim().split_once(": ").unwrap();
            let figures = figures.split(' ').map(|figure| figure.parse().unwrap());
            (name, figures.collect::<Vec<f64>>())
        });
        let differs = |figures: &[f64]| {
            let nanos: Vec<u64> = figures[..3].iter().map(|us| (us * 1e3) as u64).collect();
            (variation(&nanos).unwrap() - figures[3]).abs() > 0.05
        };
        assert_eq!(rows.clone().count(), 36);
        let others: Vec<_> = rows
            .filter(|row| differs(&row.1))
            .map(|row| row.0)
            .collect();
        // Those two follow from no choice of runs.
        assert_eq!(
            others,
            ["Chronicle 2,000/s 99.99", "Chronicle 2,000/s worst"]
        );
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
}
