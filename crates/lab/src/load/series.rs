//! A run second by second: whether it slowed down, and when it was disturbed.

use serde::{Deserialize, Serialize};

use crate::load::TimedOrder;

/// The answered orders that were due in one second of a run.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct RunSecond {
    /// Seconds since the start of the run.
    pub second: u64,
    /// Number of answered orders.
    pub count: u64,
    /// Median response time, nanoseconds.
    pub p50: u64,
    /// 99th percentile of the response time, nanoseconds.
    pub p99: u64,
    /// The longest response time, nanoseconds.
    pub worst: u64,
}

/// The figures of each second of a run. An order belongs to the second in which it was due; seconds without an answered
/// order are left out.
///
/// Percentiles are exact. The orders must be sorted by their due time.
pub fn per_second(orders: &[TimedOrder]) -> Vec<RunSecond> {
    let second_of = |order: &TimedOrder| order.intended / 1_000_000_000;
    let mut series = Vec::new();
    for orders in orders.chunk_by(|a, b| second_of(a) == second_of(b)) {
        let mut times: Vec<u64> = orders.iter().filter_map(TimedOrder::response).collect();
        times.sort_unstable();
        let Some(worst) = times.last().copied() else {
            continue;
        };
        let at = |percent: usize| times[(times.len() * percent).div_ceil(100) - 1];
        series.push(RunSecond {
            second: second_of(&orders[0]),
            count: times.len() as u64,
            p50: at(50),
            p99: at(99),
            worst,
        });
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn order(intended: u64, response: u64) -> TimedOrder {
        TimedOrder {
            intended,
            actual: intended,
            answer: intended + response,
        }
    }

    #[test]
    fn a_second_has_the_orders_that_were_due_in_it() {
        let mut orders: Vec<_> = (0..200).map(|i| order(i, i + 1)).collect();
        // Due at the end of second 0, answered in second 3; nothing was due in second 1.
        orders.push(order(SECOND - 1, 3 * SECOND));
        orders.push(order(2 * SECOND, 7));
        let lost = TimedOrder {
            answer: 0,
            ..order(2 * SECOND + 1, 0)
        };
        orders.push(lost);
        let expected = [(0, 201, 101, 199, 3 * SECOND), (2, 1, 7, 7, 7)].map(
            |(second, count, p50, p99, worst)| RunSecond {
                second,
                count,
                p50,
                p99,
                worst,
            },
        );
        assert_eq!(per_second(&orders), expected);
        assert_eq!(per_second(&[lost]), []);
    }
}
