//! Stages of an order between two of our engines: one order in 16 is time-stamped at both ends.
//!
//! ```text
//! initiator   due > start > built > sealed > journalled > writing
//!                                                           TCP
//! acceptor    read > found > parsed > checked > answered > sealed > journalled > writing
//!                                                                                 TCP
//! initiator                                   read > found > parsed > checked > answered
//! ```
//!
//! Each stage ends at the time stamp where the next stage begins, so the stages of an order add up to its response
//! time. Due, start and answer are times of the [load](crate::load). The TCP stage lasts from just before the write
//! to just after the read: over loopback the write itself delivers, and the other end may have read before the write
//! returns. `found` is the end of the read, or the end of the work on the previous message of the same read.

pub mod marks;
pub mod own_work;

use std::borrow::Cow;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

const INITIATOR: &str = "initiator";
const ACCEPTOR: &str = "acceptor";
const TCP: &str = "tcp";

/// The stages in order. Each has the end that works, and the work.
const STAGES: [(&str, &str); 18] = [
    (INITIATOR, "due to start"),
    (INITIATOR, "build"),
    (INITIATOR, "seal"),
    (INITIATOR, "journal"),
    (INITIATOR, "until write"),
    (TCP, "to acceptor"),
    (ACCEPTOR, "behind others"),
    (ACCEPTOR, "parse"),
    (ACCEPTOR, "check"),
    (ACCEPTOR, "application"),
    (ACCEPTOR, "seal"),
    (ACCEPTOR, "journal"),
    (ACCEPTOR, "until write"),
    (TCP, "to initiator"),
    (INITIATOR, "behind others"),
    (INITIATOR, "parse"),
    (INITIATOR, "check"),
    (INITIATOR, "application"),
];

/// The stages of the marked orders of one run, or of several.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Stages {
    /// Number of orders that have all their time stamps.
    pub marked: u64,
    /// Number of marked orders whose response time was between p45 and p55 of all orders of the run.
    pub median_orders: u64,
    /// Number of marked orders whose response time was beyond p99.
    pub tail_orders: u64,
    /// Each stage, in the order in which an order passes them.
    pub stages: Vec<StageMeans>,
}

/// Duration of one stage.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct StageMeans {
    /// `initiator`, `acceptor`, or `tcp` for the connection between them.
    pub end: Cow<'static, str>,
    /// The work.
    pub stage: Cow<'static, str>,
    /// Mean of the orders around the median, nanoseconds; 0 without any.
    pub median_ns: f64,
    /// Mean of the orders beyond p99, nanoseconds; 0 without any.
    pub tail_ns: f64,
}

impl Stages {
    /// Sums up orders. `response` has the response times of all orders of the run, time-stamped or not.
    pub fn of(orders: &[StagedOrder], response: &Histogram<u64>) -> Self {
        let at = |quantile| response.value_at_quantile(quantile);
        let (around, beyond) = (at(0.45)..=at(0.55), at(0.99));
        let median = orders.iter().filter(|it| around.contains(&it.response));
        let tail = orders.iter().filter(|it| it.response > beyond);
        let ((median_orders, median), (tail_orders, tail)) = (means(median), means(tail));
        let stages = STAGES.iter().zip(median.into_iter().zip(tail));
        Self {
            marked: orders.len() as u64,
            median_orders,
            tail_orders,
            stages: stages
                .map(|(&(end, stage), (median_ns, tail_ns))| StageMeans {
                    end: end.into(),
                    stage: stage.into(),
                    median_ns,
                    tail_ns,
                })
                .collect(),
        }
    }

    /// Combines several runs into one; each order counts equally.
    pub fn pool<'a>(runs: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut pooled = Self::default();
        for run in runs {
            if pooled.stages.is_empty() {
                pooled = run.clone();
                continue;
            }
            let weighted = |mean: &mut f64, orders: u64, other: f64, others: u64| {
                let all = (orders + others).max(1) as f64;
                *mean = (*mean * orders as f64 + other * others as f64) / all;
            };
            for (stage, other) in pooled.stages.iter_mut().zip(&run.stages) {
                let (median, tail) = (pooled.median_orders, pooled.tail_orders);
                let (medians, tails) = (run.median_orders, run.tail_orders);
                weighted(&mut stage.median_ns, median, other.median_ns, medians);
                weighted(&mut stage.tail_ns, tail, other.tail_ns, tails);
            }
            pooled.marked += run.marked;
            pooled.median_orders += run.median_orders;
            pooled.tail_orders += run.tail_orders;
        }
        pooled
    }
}

/// Number of orders, and the mean of each stage over them.
fn means<'a>(orders: impl Iterator<Item = &'a StagedOrder>) -> (u64, [f64; STAGES.len()]) {
    let (mut count, mut sums) = (0, [0; STAGES.len()]);
    for order in orders {
        count += 1;
        for (sum, stage) in sums.iter_mut().zip(order.stages) {
            *sum += stage;
        }
    }
    (count, sums.map(|sum| sum as f64 / count.max(1) as f64))
}

/// One order with all its time stamps. Times are nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct StagedOrder {
    /// Duration of each stage.
    pub stages: [u64; STAGES.len()],
    /// From when the order was due to its answer, as in the load.
    pub response: u64,
    /// When the order was due, on the clock of the load.
    pub due: u64,
}

/// An uninterrupted part of an order's time that one end works.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct WorkSpan {
    /// 0: the initiator, 1: the acceptor.
    pub end: usize,
    /// When it begins, on the clock of the load.
    pub from: u64,
    /// When it ends.
    pub until: u64,
}

impl StagedOrder {
    /// The parts of the order's time in which an end has it: all but the time between the ends.
    #[must_use]
    pub fn work(&self) -> Vec<WorkSpan> {
        let mut spans: Vec<WorkSpan> = Vec::with_capacity(3);
        let mut from = self.due;
        for ((name, _), took) in STAGES.iter().zip(self.stages) {
            let until = from + took;
            let end = usize::from(*name == ACCEPTOR);
            match spans.last_mut() {
                _ if *name == TCP => {}
                Some(last) if last.end == end && last.until == from => last.until = until,
                _ => spans.push(WorkSpan { end, from, until }),
            }
            from = until;
        }
        spans
    }

    /// The durations between consecutive time stamps, from when the order was due to its answer. `None` when a time
    /// stamp is earlier than the one before it.
    fn between(marks: [u64; STAGES.len() + 1]) -> Option<Self> {
        let mut stages = [0; STAGES.len()];
        for (stage, pair) in stages.iter_mut().zip(marks.windows(2)) {
            *stage = pair[1].checked_sub(pair[0])?;
        }
        Some(Self {
            stages,
            response: marks[STAGES.len()] - marks[0],
            due: marks[0],
        })
    }
}

/// Stages for tests of the text: each takes this long, except one stage of the tail.
#[cfg(test)]
pub(crate) fn sample(each_ns: f64, grown: usize, tail_ns: f64) -> Stages {
    let stage = |(index, &(end, stage)): (usize, &(&'static str, &'static str))| StageMeans {
        end: end.into(),
        stage: stage.into(),
        median_ns: each_ns,
        tail_ns: if index == grown { tail_ns } else { each_ns },
    };
    Stages {
        marked: 625,
        median_orders: 62,
        tail_orders: 6,
        stages: STAGES.iter().enumerate().map(stage).collect(),
    }
}

/// An order with stages of equal length, for tests.
#[cfg(test)]
pub(crate) fn staged(due: u64, step: u64) -> StagedOrder {
    StagedOrder::between(std::array::from_fn(|place| due + place as u64 * step)).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_with_an_early_mark_has_no_stages() {
        let mut marks = std::array::from_fn(|place| 100 + place as u64);
        marks[7] = marks[6] - 1;
        assert!(StagedOrder::between(marks).is_none());
    }

    #[test]
    fn orders_around_the_median_stand_beside_those_beyond_p99() {
        let mut response = fixwire_stamps::stats::histogram();
        for order in 1..=1_000 {
            response.saturating_record(order * 18);
        }
        let orders: Vec<StagedOrder> = (1..=1_000).map(|step| staged(100, step)).collect();
        let stages = Stages::of(&orders, &response);
        assert_eq!(stages.marked, 1_000);
        assert!((99..=103).contains(&stages.median_orders), "{stages:?}");
        assert!((8..=10).contains(&stages.tail_orders), "{stages:?}");
        for stage in &stages.stages {
            assert!((stage.median_ns - 500.0).abs() < 3.0, "{stage:?}");
            assert!((stage.tail_ns - 995.0).abs() < 3.0, "{stage:?}");
        }
        let others: Vec<StagedOrder> = (1..=1_000).map(|_| staged(100, 500)).collect();
        let pooled = Stages::pool([&stages, &Stages::of(&others, &response)]);
        assert_eq!(pooled.marked, 2_000);
        assert_eq!(pooled.median_orders, stages.median_orders + 1_000);
        assert_eq!(pooled.tail_orders, stages.tail_orders);
        assert!((pooled.stages[0].median_ns - 500.0).abs() < 3.0);
        assert_eq!(pooled.stages[0].tail_ns, stages.stages[0].tail_ns);
    }
}
