//! How the orders of an open loop are spread: at equal gaps, or at random ones.

use clap::ValueEnum;
use fastrand::Rng;

/// How gaps between orders are drawn. Their mean is the rate's.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum Spread {
    /// All gaps are the same
    #[default]
    Fixed,
    /// Exponential gaps: orders of many senders that know nothing of each other
    Poisson,
    /// Gaps from none to twice the mean, all equally likely
    Uniform,
}

/// When orders of an open loop arrive. The same seed gives the same schedule.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrivals {
    /// How gaps are drawn.
    pub spread: Spread,
    /// Where drawing begins.
    pub seed: u64,
}

impl Arrivals {
    /// When each order is due, nanoseconds after the first; empty when all gaps are the same.
    ///
    /// The gaps are scaled so that the order after the last would be due when the rate says: a schedule has its
    /// rate exactly. No two orders are due at once.
    pub fn offsets(self, orders: usize, rate: u32) -> Vec<u64> {
        let gap: fn(&mut Rng) -> f64 = match self.spread {
            Spread::Fixed => return Vec::new(),
            // From 0 up to, but not, 1: its complement has a logarithm.
            Spread::Poisson => |random| -(1.0 - random.f64()).ln(),
            Spread::Uniform => Rng::f64,
        };
        let mut random = Rng::with_seed(self.seed);
        let mut sum = 0.0;
        let starts: Vec<f64> = (0..orders)
            .map(|_| {
                let start = sum;
                sum += gap(&mut random);
                start
            })
            .collect();
        let scale = orders as f64 * 1e9 / f64::from(rate.max(1)) / sum;
        let mut next = 0;
        let offsets = starts.into_iter().map(|start| {
            let due = next.max((start * scale) as u64);
            next = due + 1;
            due
        });
        offsets.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_those_of_their_spread_and_the_rate_is_exact() {
        // Of an exponential gap the deviation is its mean, of a uniform one 1/sqrt(3) of it.
        for (spread, deviation) in [(Spread::Poisson, 1.0), (Spread::Uniform, 0.577)] {
            for seed in 0..5 {
                let offsets = Arrivals { spread, seed }.offsets(100_000, 50_000);
                let gaps = offsets.windows(2).map(|pair| pair[1] - pair[0]);
                let gaps: Vec<f64> = gaps.map(|gap| gap as f64).collect();
                let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
                assert!((mean - 20_000.0).abs() < 5.0, "{spread:?}: mean {mean}");
                let squares = gaps.iter().map(|gap| (gap - mean).powi(2));
                let deviates = (squares.sum::<f64>() / gaps.len() as f64).sqrt() / mean;
                assert!(
                    (deviates - deviation).abs() < 0.02,
                    "{spread:?}: {deviates}"
                );
            }
        }
    }

    #[test]
    fn a_seed_is_one_schedule_whose_orders_are_all_apart() {
        let of = |seed| {
            let spread = Spread::Poisson;
            Arrivals { spread, seed }.offsets(10_000, 10_000_000)
        };
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        assert_eq!(of(1)[0], 0);
        assert!(of(1).windows(2).all(|pair| pair[0] < pair[1]));
        assert!(Arrivals::default().offsets(10, 50_000).is_empty());
    }
}
