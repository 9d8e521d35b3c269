//! Arrival times of the orders of an open loop: uniform, random, or replayed from a log.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use clap::ValueEnum;
use fastrand::Rng;
use fixwire_protocol::Timestamp;

/// Distribution of the gaps between orders. The mean gap follows from the rate.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum Spread {
    /// All gaps are the same
    #[default]
    Fixed,
    /// Exponential gaps: orders of many independent senders
    Poisson,
    /// Gaps from none to twice the mean, all equally likely
    Uniform,
}

/// When orders of an open loop arrive. The same seed gives the same schedule.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    /// The distribution.
    pub spread: Spread,
    /// The seed.
    pub seed: u64,
    /// Gaps of a log to use instead of `spread`; they repeat when the log is shorter than the run.
    pub recorded: Option<RecordedGaps>,
}

impl Arrivals {
    /// When each order is due, nanoseconds after the first order; empty when all gaps are equal.
    ///
    /// The gaps are scaled so that the schedule has exactly this rate. No two orders are due at the same time.
    pub fn offsets(&self, orders: usize, rate: u32) -> Vec<u64> {
        let mut random = Rng::with_seed(self.seed);
        let mut recorded = self
            .recorded
            .iter()
            .flat_map(|recorded| recorded.gaps.iter().cycle());
        let mut gap = || match (recorded.next(), self.spread) {
            (Some(gap), _) => *gap,
            // From 0 to less than 1, so that the logarithm of 1 minus it is defined.
            (None, Spread::Poisson) => -(1.0 - random.f64()).ln(),
            (None, Spread::Uniform) => random.f64(),
            (None, Spread::Fixed) => 1.0,
        };
        if self.spread == Spread::Fixed && self.recorded.is_none() {
            return Vec::new();
        }
        let mut sum = 0.0;
        let starts: Vec<f64> = (0..orders)
            .map(|_| {
                let start = sum;
                sum += gap();
                start
            })
            .collect();
        let scale = orders as f64 * 1e9 / f64::from(rate.max(1)) / sum.max(f64::MIN_POSITIVE);
        let mut next = 0;
        let offsets = starts.into_iter().map(|start| {
            let due = next.max((start * scale) as u64);
            next = due + 1;
            due
        });
        offsets.collect()
    }
}

/// The gaps between the orders of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedGaps {
    /// The name of the log.
    pub name: String,
    /// Orders a second in the log, on the average.
    pub rate: f64,
    /// Nanoseconds from each order to the next. At least one is above 0.
    gaps: Arc<[f64]>,
}

/// Messages that are orders: NewOrderSingle, NewOrderList, OrderCancelRequest, OrderCancelReplaceRequest,
/// NewOrderCross, NewOrderMultileg, MultilegOrderCancelReplace.
const ORDERS: [&[u8]; 7] = [b"D", b"E", b"F", b"G", b"s", b"AB", b"AC"];

impl RecordedGaps {
    /// Reads the orders of a log. Each line may have one message, its fields separated by SOH or `|`. SendingTime(52)
    /// is the time at which an order was sent.
    ///
    /// # Errors
    ///
    /// The file cannot be read, an order has no valid SendingTime(52), or the log does not have two orders with
    /// different times.
    pub fn read(path: &str) -> Result<Self, String> {
        let bytes = fs::read(Path::new(path)).map_err(|error| error.to_string())?;
        let mut times = Vec::new();
        for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            match order_time(line) {
                Some(Some(time)) => times.push(time),
                Some(None) => {
                    return Err(format!(
                        "line {}: an order without a SendingTime(52) that can be read",
                        index + 1
                    ));
                }
                None => {}
            }
        }
        Self::of(path, times).ok_or_else(|| {
            "the log does not contain two orders (35=D, E, F, G, s, AB, AC) with different times"
                .to_owned()
        })
    }

    /// The gaps between orders that were sent at these times.
    fn of(name: &str, mut times: Vec<i64>) -> Option<Self> {
        // A log of several sessions may not be in time order.
        times.sort_unstable();
        let took = times.last()? - times.first()?;
        let gaps = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64);
        (took > 0).then(|| Self {
            name: name.to_owned(),
            rate: (times.len() - 1) as f64 * 1e9 / took as f64,
            gaps: gaps.collect(),
        })
    }
}

/// When the order in this line was sent. `Some(None)`: the order has no valid time. `None`: the line has no order.
fn order_time(line: &[u8]) -> Option<Option<i64>> {
    let start = line
        .windows(6)
        .position(|bytes| bytes == b"8=FIX." || bytes == b"8=FIXT")?;
    let message = &line[start..];
    let delimiter = *message.iter().find(|byte| [0x01, b'|'].contains(*byte))?;
    let mut fields = message.split(|byte| *byte == delimiter);
    let msg_type = fields.find_map(|field| field.strip_prefix(b"35="))?;
    if !ORDERS.contains(&msg_type) {
        return None;
    }
    let time = fields.find_map(|field| field.strip_prefix(b"52="));
    Some(time.and_then(|time| Some(Timestamp::parse(time).ok()?.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_those_of_their_spread_and_the_rate_is_exact() {
        // The deviation of an exponential gap is its mean, that of a uniform one 1/sqrt(3) of it.
        for (spread, deviation) in [(Spread::Poisson, 1.0), (Spread::Uniform, 0.577)] {
            for seed in 0..5 {
                let arrivals = Arrivals {
                    spread,
                    seed,
                    recorded: None,
                };
                let offsets = arrivals.offsets(100_000, 50_000);
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
            let arrivals = Arrivals {
                spread: Spread::Poisson,
                seed,
                recorded: None,
            };
            arrivals.offsets(10_000, 10_000_000)
        };
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        assert_eq!(of(1)[0], 0);
        assert!(of(1).windows(2).all(|pair| pair[0] < pair[1]));
        assert!(Arrivals::default().offsets(10, 50_000).is_empty());
    }

    #[test]
    fn gaps_of_a_log_are_scaled_to_the_rate_and_come_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("messages.log");
        let line = |msg_type, time| {
            format!(
                "20260821-13:30:00.5 : 8=FIX.4.2|9=1|35={msg_type}|34=7|52=20260821-13:30:{time}|10=0|\n"
            )
        };
        // A burst of three, a pause and one more; the report between them is no order.
        let log = [
            line("D", "00.000"),
            line("8", "00.001"),
            line("F", "00.001"),
            line("G", "00.003").replace('|', "\x01"),
            "a line without a message\n".to_owned(),
            line("D", "00.010"),
        ];
        fs::write(&path, log.concat()).unwrap();
        let recorded = RecordedGaps::read(path.to_str().unwrap()).unwrap();
        assert_eq!(recorded.rate, 300.0);
        let arrivals = Arrivals {
            recorded: Some(recorded),
            ..Arrivals::default()
        };
        // 1, 2 and 7 ms, for 3 orders at 3,000 a second; then from the beginning.
        assert_eq!(arrivals.offsets(3, 3_000), [0, 100_000, 300_000]);
        assert_eq!(
            arrivals.offsets(6, 3_000)[3..],
            [1_000_000, 1_100_000, 1_300_000]
        );
    }

    #[test]
    fn a_log_without_orders_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("messages.log");
        let read = |text: &str| {
            fs::write(&path, text).unwrap();
            RecordedGaps::read(path.to_str().unwrap()).unwrap_err()
        };
        let order = "8=FIX.4.2|35=D|52=20260821-13:30:00|10=0|\n";
        assert!(read("").starts_with("the log does not contain two orders"));
        assert!(read(&order.repeat(2)).starts_with("the log does not contain two orders"));
        let untimed = format!("{order}8=FIX.4.2|35=D|52=noon|10=0|\n");
        assert_eq!(
            read(&untimed),
            "line 2: an order without a SendingTime(52) that can be read"
        );
        assert!(
            RecordedGaps::read("/no/such/file")
                .unwrap_err()
                .contains("No such file")
        );
    }
}
