//! The result of `bench transactions`: the number of milliseconds for each count of transactions.

use fixwire_stamps::analysis::Throughput;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Provenance, thousands};
use crate::machine::{Machine, TakenByOthers};

/// A whole measurement.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct TransactionsReport {
    /// When, where and by which command the figures were measured.
    pub origin: Provenance,
    /// The machine.
    pub machine: Machine,
    /// Placement of the threads.
    pub place: String,
    /// Maximum number of transactions without a report at a time.
    pub open: u32,
    /// Total number of transactions.
    pub transactions: u64,
    /// Seconds from sending the first transaction to receiving the last report.
    pub seconds: f64,
    /// Counts of transactions in a millisecond, each with the number of milliseconds that have this count.
    pub per_ms: Vec<(u64, u64)>,
    /// Share of the time in which the client had work.
    pub client_share: f64,
    /// Share of the time in which the exchange had work, when it runs on the client's thread.
    pub exchange_share: f64,
    /// Time taken by other work, as counted by the kernel.
    pub taken: TakenByOthers,
    /// Diagnosis of `fixwire doctor` without measurements, in result files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_facts: Option<Value>,
}

impl TransactionsReport {
    /// The distribution of transactions over the milliseconds.
    #[must_use]
    pub fn throughput(&self) -> Throughput {
        Throughput {
            rows: self.per_ms.iter().copied().collect(),
            transactions: self.transactions,
            span: (self.seconds * 1e9) as u64,
        }
    }

    /// The sum of the transactions of all milliseconds.
    pub(super) fn counted(&self) -> u64 {
        let each = self.per_ms.iter();
        each.map(|(count, millis)| count.saturating_mul(*millis))
            .fold(0, u64::saturating_add)
    }
}

/// The summary, in paragraphs of one or two sentences. The first one begins with the duration.
#[must_use]
pub fn sentences(report: &TransactionsReport) -> Vec<String> {
    let mut all = vec![format!(
        "{:.3} s. Of that time the client worked {:.0} %, the exchange, on the same thread, {:.0} \
        %.",
        report.seconds,
        100.0 * report.client_share,
        100.0 * report.exchange_share
    )];
    if report.taken.is_any() {
        all.push(format!(
            "The client was preempted {} times, the hypervisor took {} ms: `fixwire doctor` says why.",
            thousands(report.taken.preempted),
            report.taken.steal_ms
        ));
    }
    all
}

/// Reports for the tests of the writers.
#[cfg(test)]
pub(crate) mod sample {
    use super::*;

    pub(crate) fn report() -> TransactionsReport {
        TransactionsReport {
            origin: Provenance::here(),
            machine: Machine::read(),
            place: "no thread pinned".to_owned(),
            open: 512,
            transactions: 9 * 10 + 12 * 20 + 40 * 30,
            seconds: 0.075,
            per_ms: vec![(0, 15), (9, 10), (12, 20), (40, 30)],
            client_share: 0.1,
            exchange_share: 0.76,
            taken: TakenByOthers::default(),
            host_facts: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_add_up_and_the_summary_says_what_the_machine_took() {
        let mut report = sample::report();
        assert_eq!(report.counted(), report.transactions);
        assert!((report.throughput().share(9, 12) - 40.0).abs() < 1e-9);
        assert_eq!(
            sentences(&report),
            [
                "0.075 s. Of that time the client worked 10 %, the exchange, on the same thread, 76 \
                %."
            ]
        );
        report.taken.preempted = 31_452;
        assert_eq!(
            sentences(&report)[1],
            "The client was preempted 31,452 times, the hypervisor took 0 ms: `fixwire doctor` says why."
        );
        // A file may contain any numbers.
        report.per_ms = vec![(u64::MAX, u64::MAX), (0, u64::MAX), (1, u64::MAX)];
        assert_eq!(report.counted(), u64::MAX);
        assert!((report.throughput().share(0, 0) - 100.0 / 3.0).abs() < 1e-9);
    }
}
