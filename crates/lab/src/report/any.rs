//! The result of any bench that writes result files.

use serde_json::Value;

use super::oms::OmsReport;
use super::transactions::TransactionsReport;
use super::{Provenance, Report, oms, screen, thousands, transactions};
use crate::machine::Machine;

/// The result of a bench.
#[derive(Clone, Debug)]
pub enum AnyReport {
    /// Runs at a rate or in a closed loop: the result of all benches except those named below.
    Rates(Box<Report>),
    /// `bench oms`.
    Oms(Box<OmsReport>),
    /// `bench transactions`.
    Transactions(Box<TransactionsReport>),
}

/// The `scenario` of an [`OmsReport`] in files.
pub(super) const OMS: &str = "oms";
/// The `scenario` of a [`TransactionsReport`] in files.
pub(super) const TRANSACTIONS: &str = "transactions";

/// The facts in the results of all benches.
#[derive(Clone, Debug)]
pub struct ReportFacts<'a> {
    /// When, where and by which command the result was measured.
    pub origin: &'a Provenance,
    /// The command, for example `echo`.
    pub scenario: &'a str,
    /// Description of the measurement, in plain words.
    pub title: String,
    /// The settings, in one line.
    pub settings: String,
    /// The machine.
    pub machine: &'a Machine,
    /// Notes for the reader.
    pub notes: &'a [String],
    /// Diagnosis of `fixwire doctor`.
    pub host_facts: Option<&'a Value>,
}

impl AnyReport {
    /// The common facts of this result.
    #[must_use]
    pub fn facts(&self) -> ReportFacts<'_> {
        match self {
            Self::Rates(report) => ReportFacts {
                origin: &report.origin,
                scenario: &report.scenario,
                title: report.title.clone(),
                settings: report.settings.clone(),
                machine: &report.machine,
                notes: &report.notes,
                host_facts: report.host_facts.as_ref(),
            },
            Self::Oms(report) => ReportFacts {
                origin: &report.origin,
                scenario: OMS,
                title: format!(
                    "FIX client, OMS with every control and its journal, {}, venue",
                    report.lines_text()
                ),
                settings: format!(
                    "{}; {}; {} us between paced requests",
                    report.venue, report.place, report.gap_us
                ),
                machine: &report.machine,
                notes: &[],
                host_facts: report.host_facts.as_ref(),
            },
            Self::Transactions(report) => ReportFacts {
                origin: &report.origin,
                scenario: TRANSACTIONS,
                title: "orders, replaces and cancels through an OMS and a simulated exchange"
                    .to_owned(),
                settings: format!(
                    "{} transactions, at most {} unanswered; the OMS spins; {}",
                    thousands(report.transactions),
                    report.open,
                    report.place
                ),
                machine: &report.machine,
                notes: &[],
                host_facts: report.host_facts.as_ref(),
            },
        }
    }

    /// Sets the diagnosis of `fixwire doctor`.
    pub(crate) fn set_host_facts(&mut self, facts: Option<Value>) {
        match self {
            Self::Rates(report) => report.host_facts = facts,
            Self::Oms(report) => report.host_facts = facts,
            Self::Transactions(report) => report.host_facts = facts,
        }
    }

    /// The runs with faults, one line per run.
    #[must_use]
    pub fn faults(&self) -> String {
        let mut faults = String::new();
        // Other benches stop with an error at the first fault.
        if let Self::Rates(report) = self {
            // Writing to a string cannot fail.
            let _ = screen::faults(report, &mut faults);
        }
        faults
    }

    /// The summary.
    #[must_use]
    pub fn sentences(&self) -> String {
        match self {
            Self::Rates(report) => screen::sentences(report),
            Self::Oms(report) => oms::sentences(report).join(" "),
            Self::Transactions(report) => {
                let count = thousands(report.transactions);
                let rest = transactions::sentences(report).join(" ");
                format!("{count} transactions in {rest}")
            }
        }
    }
}

impl From<Report> for AnyReport {
    fn from(report: Report) -> Self {
        Self::Rates(Box::new(report))
    }
}

impl From<OmsReport> for AnyReport {
    fn from(report: OmsReport) -> Self {
        Self::Oms(Box::new(report))
    }
}

impl From<TransactionsReport> for AnyReport {
    fn from(report: TransactionsReport) -> Self {
        Self::Transactions(Box::new(report))
    }
}
