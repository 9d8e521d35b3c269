//! Reports on TMP orders for lines that subscribe to copies (R06), and the subscriptions of these lines.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use fixwire_protocol::Mono;
use fixwire_tmp::TmpFrame;
use fixwire_tmp::messages::{R02, R06};
use fixwire_tmp::uncertain::{ReportTarget, is_subscribed};

use crate::tmp::store::KEPT_MAX;

/// The last reports on TMP orders, sorted by rpt_seq. Only notes change the kept reports.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct ReportCopies {
    /// Number of reports that were removed from the beginning.
    pub(crate) removed: u64,
    /// Each report as an R02, with the member that received it.
    pub(crate) reports: VecDeque<(u32, Box<[u8]>)>,
}

impl ReportCopies {
    /// Keeps an R02. An R32 is not kept, because an R06 has no room for its symbol.
    pub(crate) fn keep(&mut self, member: u32, frame: &[u8]) {
        if report(frame).is_none() {
            return;
        }
        self.reports.push_back((member, frame.into()));
        if self.reports.len() > KEPT_MAX {
            self.reports.pop_front();
            self.removed += 1;
        }
    }

    /// Position of the first report for a subscription that starts at `req_seq`.
    pub(crate) fn first(&self, req_seq: u32) -> u64 {
        let is_before = |(_, frame): &(u32, Box<[u8]>)| {
            report(frame).is_some_and(|it| !is_subscribed(it.rpt_seq, req_seq))
        };
        self.removed + self.reports.partition_point(is_before) as u64
    }

    /// The report at a position, and the member that received it. If the report was removed, `place` is moved to the
    /// oldest report that is kept.
    pub(crate) fn get(&self, place: &mut u64) -> Option<(u32, R02)> {
        *place = (*place).max(self.removed);
        let at = usize::try_from(*place - self.removed).ok()?;
        let (member, frame) = self.reports.get(at)?;
        Some((*member, report(frame)?))
    }
}

fn report(frame: &[u8]) -> Option<R02> {
    TmpFrame::read(frame).ok()?.body().ok()
}

/// A subscription of a line. A subscription to copies ends when the line's connection ends.
#[derive(Clone, Debug)]
pub(crate) struct CopySubscription {
    /// Index of the subscribed line.
    pub(crate) line: usize,
    pub(crate) target_id: u8,
    pub(crate) target: ReportTarget,
    pub(crate) member: u16,
    /// Position of the next report.
    pub(crate) next: u64,
    /// Time until which a fault holds the next copy back.
    pub(crate) until: Option<Mono>,
    /// A copy that a fault sends after the copy that follows it.
    pub(crate) behind: Option<R06>,
}

impl CopySubscription {
    /// Whether the subscription includes a report.
    pub(crate) fn has(&self, report: &R02) -> bool {
        match self.target {
            ReportTarget::Downline => report.cm_id == self.member,
            ReportTarget::Fills => report.cm_id == self.member && report.last_qty > 0,
            ReportTarget::Branches | ReportTarget::DropCopy => report.fcm_id == self.member,
        }
    }
}
