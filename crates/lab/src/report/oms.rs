//! The result of `bench oms`: batches of requests through an OMS. Each batch was run once.

use fixwire_stamps::analysis::RequestSpreads;
use fixwire_stamps::stats::micros;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Provenance, thousands};
use crate::machine::counts::Counts;
use crate::machine::counts::calls::Calls;
use crate::machine::{Machine, TakenByOthers};
use crate::oms::line_protocol::LineProtocol;
use crate::published::OMS_LARGEST;

/// The 50, 90, 99, 99.9 % and the longest time, nanoseconds.
pub type BatchFigures = [u64; 5];

/// The names of [`BatchFigures`].
pub const BATCH_COLUMNS: [&str; 5] = ["50 %", "90 %", "99 %", "99.9 %", "worst"];

/// A whole measurement.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct OmsReport {
    /// When, where and by which command the figures were measured.
    pub origin: Provenance,
    /// The machine.
    pub machine: Machine,
    /// Protocol of the line between OMS and venue; FIX when the file does not say.
    #[serde(default)]
    pub lines: LineProtocol,
    /// The venue of the OMS.
    pub venue: String,
    /// Placement of the threads.
    pub place: String,
    /// Microseconds between the orders of paced batches.
    pub gap_us: u32,
    /// Times of a write(2) of an order over loopback on the OMS's core: paced like the batches, and without pauses.
    pub bare_write_ns: [BatchFigures; 2],
    /// The batches.
    pub rows: Vec<BatchRow>,
    /// Throughput when orders are sent as fast as they are answered, if measured.
    pub saturation: Option<OmsSaturation>,
    /// Results over lines with the other protocol, if measured in the same run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub also: Option<Box<OmsFigures>>,
    /// Diagnosis of `fixwire doctor` without measurements, in result files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_facts: Option<Value>,
}

/// Results over lines of one protocol.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct OmsFigures {
    /// Protocol of the line between OMS and venue.
    pub lines: LineProtocol,
    /// Times of a write(2) of an order over loopback on the OMS's core: paced like the batches, and without pauses.
    pub bare_write_ns: [BatchFigures; 2],
    /// The batches.
    pub rows: Vec<BatchRow>,
    /// Throughput when orders are sent as fast as they are answered, if measured.
    pub saturation: Option<OmsSaturation>,
}

/// A part of the report, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct OmsPart<'a> {
    /// Protocol of the line between OMS and venue.
    pub lines: LineProtocol,
    /// Times of a bare write of an order: paced, and without pauses.
    pub bare_write_ns: &'a [BatchFigures; 2],
    /// The batches.
    pub rows: &'a [BatchRow],
    /// Throughput when orders are sent as fast as they are answered.
    pub saturation: Option<&'a OmsSaturation>,
}

impl OmsReport {
    /// The results over lines of each protocol, one or two.
    pub fn parts(&self) -> impl Iterator<Item = OmsPart<'_>> {
        let first = OmsPart {
            lines: self.lines,
            bare_write_ns: &self.bare_write_ns,
            rows: &self.rows,
            saturation: self.saturation.as_ref(),
        };
        let second = self.also.as_deref().map(|also| OmsPart {
            lines: also.lines,
            bare_write_ns: &also.bare_write_ns,
            rows: &also.rows,
            saturation: also.saturation.as_ref(),
        });
        std::iter::once(first).chain(second)
    }

    /// The protocols of the lines, as text: `FIX 4.4 and TAIFEX TMP lines`.
    #[must_use]
    pub fn lines_text(&self) -> String {
        let names: Vec<&str> = self.parts().map(|part| part.lines.version()).collect();
        format!("{} lines", names.join(" and "))
    }
}

/// How the OMS waits for requests.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BatchWait {
    /// The OMS spins.
    Spin,
    /// The OMS sleeps in the kernel.
    Block,
}

/// The requests of a batch.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BatchRequest {
    /// New orders.
    New,
    /// The cancels of the orders of the previous batch.
    Cancel,
}

/// Pace of the requests of a batch.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BatchPace {
    /// One request every `gap_us` microseconds.
    Paced,
    /// Requests leave as fast as the socket accepts them, several per write.
    Unpaced,
    /// A tenth of a second or more between two requests.
    Slow,
}

/// Figures of a batch of requests.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct BatchRow {
    /// How the OMS waits.
    pub wait: BatchWait,
    /// Name of the batch: the number of requests, or the number and the interval.
    pub batch: String,
    /// The kind of requests.
    pub request: BatchRequest,
    /// Pace of the requests.
    pub pace: BatchPace,
    /// T2-T1: from the moment the OMS found the message to the end of its write to the venue.
    pub t2_t1_ns: BatchFigures,
    /// The figures of the paced requests that the client sent on time.
    pub untouched_ns: Option<BatchFigures>,
    /// Number of paced requests that the client sent on time.
    pub untouched: usize,
    /// From the end of the read of the request's bytes to the end of the write to the venue.
    pub t2_read_ns: BatchFigures,
    /// From the moment the OMS found the message to the commit of its journal record.
    pub journalled_t1_ns: BatchFigures,
    /// T4-T3: from the OMS's read of the venue's report to the client's read of its report.
    pub t4_t3_ns: BatchFigures,
    /// From building the first request to the arrival of the last request at the venue.
    pub first_t0_to_last_t2_ns: u64,
    /// From building the first request to reading the last report.
    pub first_t0_to_last_t4_ns: u64,
    /// The times as the published tables have them: with the 75 %, and the time since the request before. `None` in
    /// older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_layout: Option<RequestSpreads>,
    /// Counts of the batch, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// System calls of a smaller batch of their own, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Calls>,
    /// T2-T1 as published for f9omstw, microseconds.
    pub published_us: Option<[u64; 5]>,
    /// Times of a write(2) of an order on the OMS's core, which spins between writes, at the pace of this batch. Only
    /// for slow batches of a spinning OMS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bare_write_ns: Option<BatchFigures>,
    /// Time taken by other work, as counted by the kernel.
    pub taken: TakenByOthers,
}

/// Orders sent as fast as they are answered.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct OmsSaturation {
    /// Number of orders.
    pub orders: usize,
    /// Orders answered and reported per second.
    pub orders_a_second: f64,
    /// Share of the time in which the client had work, 0 to 1.
    pub client_share: f64,
    /// Share of the time in which the venue worked, when it runs on the client's thread.
    pub venue_share: f64,
}

impl BatchWait {
    /// Name of this way to wait in the file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Spin => "spin",
            Self::Block => "block",
        }
    }
}

impl BatchRequest {
    /// Name of the request in the file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Cancel => "cancel",
        }
    }
}

impl BatchPace {
    /// Name of the pace in the file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Paced => "paced",
            Self::Unpaced => "unpaced",
            Self::Slow => "slow",
        }
    }
}

impl BatchRow {
    /// Whether other work disturbed the batch.
    #[must_use]
    pub fn is_disturbed(&self) -> bool {
        self.taken.is_any()
    }

    /// T2-T1 of the requests that the client sent on time, when the client was preempted in this batch.
    #[must_use]
    pub fn on_time(&self) -> Option<BatchFigures> {
        self.untouched_ns.filter(|_| self.taken.preempted > 0)
    }
}

impl OmsPart<'_> {
    /// The largest batch of orders that was sent at once, with a spinning OMS.
    fn at_once(&self) -> Option<&BatchRow> {
        let is_it = |row: &&BatchRow| {
            let how = (row.pace, row.request, row.wait);
            how == (BatchPace::Unpaced, BatchRequest::New, BatchWait::Spin)
        };
        self.rows.iter().rfind(is_it)
    }

    /// One paragraph of the summary, for this part alone.
    fn paragraph(&self) -> String {
        let mut text = format!(
            "{}: bare write {} us",
            self.lines.called(),
            micros(self.bare_write_ns[0][0])
        );
        if let Some(row) = self.at_once() {
            text += &format!(
                "; {} at once: at the venue in {:.3} s, reported in {:.3} s",
                row.batch,
                row.first_t0_to_last_t2_ns as f64 / 1e9,
                row.first_t0_to_last_t4_ns as f64 / 1e9
            );
        }
        if let Some(saturation) = self.saturation {
            let most = thousands(saturation.orders_a_second as u64);
            text += &format!("; most {most} orders a second");
        }
        text + "."
    }
}

/// The summary, each time one or two sentences.
#[must_use]
pub fn sentences(report: &OmsReport) -> Vec<String> {
    let published = OMS_LARGEST;
    let mut all = Vec::new();
    if report.also.is_some() {
        all.extend(report.parts().map(|part| part.paragraph()));
    } else {
        for part in report.parts() {
            let write = micros(part.bare_write_ns[0][0]);
            all.push(format!(
                "A bare write of the same bytes, paced alike, takes {write} us."
            ));
            if let Some(row) = part.at_once() {
                all.push(format!(
                    "{} orders at once: the last order is at the venue after {:.3} s, the last \
                    report is back after {:.3} s (published for {}: {} and about {:.0}).",
                    row.batch,
                    row.first_t0_to_last_t2_ns as f64 / 1e9,
                    row.first_t0_to_last_t4_ns as f64 / 1e9,
                    published.batch,
                    published.block,
                    published.replied
                ));
            }
            if let Some(saturation) = part.saturation {
                all.push(format!(
                    "Most: {} orders a second, each answered and reported.",
                    thousands(saturation.orders_a_second as u64)
                ));
            }
        }
    }
    let mut last = Vec::new();
    if report.also.is_some() {
        last.push(format!(
            "Published for {}: {} s, {:.0} s.",
            published.batch, published.block, published.replied
        ));
    }
    let rows = || report.parts().flat_map(|part| part.rows);
    let disturbed = rows().filter(|row| row.is_disturbed()).count();
    if disturbed > 0 {
        last.push(format!(
            "The machine took time during {disturbed} of {} batches: `fixwire doctor` says why.",
            rows().count()
        ));
    }
    if !last.is_empty() {
        all.push(last.join(" "));
    }
    all
}

/// Reports for the tests of the writers.
#[cfg(test)]
pub(crate) mod sample {
    use super::*;
    use crate::published::OMS;

    pub(crate) fn row(wait: BatchWait, batch: &str, pace: BatchPace) -> BatchRow {
        let published = OMS.iter().find(|it| it.batch == batch);
        BatchRow {
            wait,
            batch: batch.to_owned(),
            request: BatchRequest::New,
            pace,
            t2_t1_ns: [7_100, 8_200, 9_300, 10_400, 11_500],
            untouched_ns: None,
            untouched: 0,
            t2_read_ns: [8_100, 9_200, 10_300, 11_400, 12_500],
            journalled_t1_ns: [2_100, 2_200, 2_300, 2_400, 2_500],
            t4_t3_ns: [20_100, 30_200, 40_300, 50_400, 60_500],
            first_t0_to_last_t2_ns: 56_000_000,
            first_t0_to_last_t4_ns: 57_000_000,
            published_layout: Some(RequestSpreads::of(&[
                [1_000, 21_000, 28_000],
                [11_000, 31_500, 39_000],
            ])),
            counts: None,
            calls: None,
            published_us: published.map(|it| match wait {
                BatchWait::Spin => it.spin,
                BatchWait::Block => it.block,
            }),
            bare_write_ns: None,
            taken: TakenByOthers::default(),
        }
    }

    pub(crate) fn report() -> OmsReport {
        let mut rows = vec![
            row(BatchWait::Spin, "10", BatchPace::Paced),
            row(BatchWait::Spin, "100000", BatchPace::Unpaced),
            row(BatchWait::Block, "10", BatchPace::Paced),
        ];
        rows[2].taken.preempted = 3;
        rows[2].untouched = 7;
        rows[2].untouched_ns = Some([6_100, 6_200, 6_300, 6_400, 6_500]);
        OmsReport {
            origin: Provenance::here(),
            machine: Machine::read(),
            lines: LineProtocol::Fix,
            venue: "venue that accepts every order".to_owned(),
            place: "no thread pinned".to_owned(),
            gap_us: 10,
            bare_write_ns: [[4_100, 4_200, 4_300, 4_400, 4_500]; 2],
            rows,
            saturation: Some(OmsSaturation {
                orders: 1000,
                orders_a_second: 107_805.4,
                client_share: 0.5,
                venue_share: 0.25,
            }),
            also: None,
            host_facts: None,
        }
    }

    /// A report with results over FIX and over TMP.
    pub(crate) fn over_both() -> OmsReport {
        let mut report = report();
        let mut rows = report.rows.clone();
        for row in &mut rows {
            row.t2_t1_ns = [6_000, 6_100, 6_200, 6_300, 6_400];
            row.taken = TakenByOthers::default();
        }
        report.also = Some(Box::new(OmsFigures {
            lines: LineProtocol::Tmp,
            bare_write_ns: [[3_900; 5]; 2],
            rows,
            saturation: None,
        }));
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_has_the_largest_batch_the_throughput_and_the_machine() {
        let said = sentences(&sample::report());
        assert_eq!(
            said,
            [
                "A bare write of the same bytes, paced alike, takes 4.10 us.",
                "100000 orders at once: the last order is at the venue after 0.056 s, the last \
                report is back after 0.057 s (published for 100000: 0.845 and about 5).",
                "Most: 107,805 orders a second, each answered and reported.",
                "The machine took time during 1 of 3 batches: `fixwire doctor` says why.",
            ]
        );
    }

    #[test]
    fn the_summary_of_two_protocols_has_a_paragraph_for_each() {
        let said = sentences(&sample::over_both());
        assert_eq!(
            said,
            [
                "FIX: bare write 4.10 us; 100000 at once: at the venue in 0.056 s, reported in 0.057 s; most 107,805 \
                 orders a second.",
                "TMP: bare write 3.90 us; 100000 at once: at the venue in 0.056 s, reported in 0.057 s.",
                "Published for 100000: 0.845 s, 5 s. The machine took time during 1 of 6 batches: `fixwire doctor` \
                 says why.",
            ]
        );
    }
}
