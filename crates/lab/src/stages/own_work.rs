//! Own work: an order's time without the time between the ends and without gaps of the machine.

use fixwire_stamps::stats::{Figures, histogram};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::StagedOrder;
use crate::machine::gaps::TimeGap;
use crate::report::encoded;

/// Own work above this counts as long, nanoseconds.
const LONG: u64 = 10_000;

/// The own work of the marked orders of a run.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct OwnWork {
    /// The times, nanoseconds.
    pub figures: Figures,
    /// Number of orders that took more than 10 us.
    pub above_10_us: u64,
    /// The times themselves.
    #[serde(with = "encoded")]
    pub histogram: Histogram<u64>,
}

impl OwnWork {
    /// The own work of orders; `gaps` are those of the initiator and of the acceptor, oldest first.
    #[must_use]
    pub fn of(orders: &[StagedOrder], gaps: &[Vec<TimeGap>; 2]) -> Self {
        let mut times = histogram();
        for order in orders {
            let spans = order.work().into_iter();
            let work = spans.map(|span| {
                let gone = machines(&gaps[span.end], span.from, span.until);
                (span.until - span.from).saturating_sub(gone)
            });
            times.saturating_record(work.sum::<u64>().max(1));
        }
        Self::from(times)
    }

    /// The own work of several runs together; `None` without any.
    #[must_use]
    pub fn pool<'a>(runs: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let mut runs = runs.into_iter();
        let mut all = runs.next()?.histogram.clone();
        for run in runs {
            // Both histograms grow as needed.
            all.add(&run.histogram).ok()?;
        }
        Some(Self::from(all))
    }

    /// How many of 100,000 orders took more than 10 us.
    #[must_use]
    pub fn long_in_100_000(&self) -> f64 {
        self.above_10_us as f64 * 1e5 / self.figures.count.max(1) as f64
    }
}

impl From<Histogram<u64>> for OwnWork {
    fn from(histogram: Histogram<u64>) -> Self {
        let above = histogram.count_between(LONG + 1, u64::MAX);
        Self {
            figures: Figures::of(&histogram),
            above_10_us: above,
            histogram,
        }
    }
}

/// The time that the machine took from an end between two moments.
fn machines(gaps: &[TimeGap], from: u64, until: u64) -> u64 {
    let end = |gap: &TimeGap| gap.start + u64::from(gap.length);
    let first = gaps.partition_point(|gap| end(gap) <= from);
    let within = gaps[first..].iter().take_while(|gap| gap.start < until);
    let taken = within.map(|gap| {
        let both = end(gap).min(until).saturating_sub(gap.start.max(from));
        both.min(gap.machines())
    });
    taken.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::staged;

    fn gap(start: u64, length: u32, ours: u32) -> TimeGap {
        TimeGap {
            start,
            length,
            ours,
        }
    }

    /// An order of 18 stages of 100 ns each, due at 1,000: the acceptor has it from 1,600 to 2,300.
    #[test]
    fn time_between_the_ends_and_gaps_are_no_work() {
        let work =
            |gaps: [Vec<TimeGap>; 2]| OwnWork::of(&[staged(1_000, 100)], &gaps).figures.worst;
        assert_eq!(work([Vec::new(), Vec::new()]), 1_600);
        // A gap of an end counts only while the end has the order.
        let gaps = vec![gap(500, 100, 0), gap(1_550, 100, 0), gap(2_250, 100, 0)];
        assert_eq!(work([Vec::new(), gaps.clone()]), 1_500);
        assert_eq!(work([gaps, Vec::new()]), 1_600);
        // What our other threads took is not the machine's.
        assert_eq!(work([Vec::new(), vec![gap(1_700, 300, 100)]]), 1_400);
    }
}
