//! Carries out requests of clients for earlier reports, a few reports per turn, so that other work is not delayed.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use core::fmt;

use fixwire_protocol::{Message, Nanos, Outbox, Refusal, SessionId};

use super::Oms;
use crate::app::recovery::{
    ArchiveNews, ReportArchive, ReportBatch, ReportReceiver, ReportRequest,
};
use crate::desk::notice::OmsEvent;
use crate::fix::clients::Client;
use crate::fix::report_requests::{self, NoReports, ReportAnswer, ReportRequestKind, ReportsAsked};
use crate::values::ids::SessionNo;
use crate::values::report_numbers::ReportNumbers;
use crate::values::value::Text;

/// Maximum number of reports that are sent again in one turn. A turn must be short, so that orders do not wait.
const TURN: usize = 32;
/// Pause after a turn with this maximum, in which the client can read the reports.
const PACE: Nanos = Nanos(1_000_000);
/// Pause before the next call to the archive.
const PAUSE: Nanos = Nanos(500_000);
/// Maximum number of requests for reports that may wait for a session.
const MOST: usize = 4;

/// Requests for reports in the order of their arrival; the first one is being carried out.
#[derive(Default)]
pub(super) struct Recoveries {
    pub(super) archive: Option<Box<dyn ReportArchive>>,
    pub(super) queue: VecDeque<Recovery>,
    /// Reports for the first request.
    pub(super) batch: ReportBatch,
    /// Number of requests since the start.
    pub(super) count: u64,
}

impl fmt::Debug for Recoveries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recoveries")
            .field("queue", &self.queue)
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub(super) struct Recovery {
    /// ApplReqID(1346).
    pub(super) id: Text,
    pub(super) number: u64,
    pub(super) request: ReportRequest,
    /// Whether the archive has received the request.
    pub(super) is_asked: bool,
}

impl Recovery {
    fn answer(&self) -> ReportAnswer<'_> {
        let client = &self.request.client;
        ReportAnswer {
            to: client.session,
            number: self.number,
            id: self.id.bytes(),
            kind: ReportRequestKind::Resend,
            appl_id: client.numbers.as_ref().map_or(b"", ReportNumbers::id),
            range: (self.request.first, self.request.last),
            last: self.request.last,
        }
    }
}

impl Recoveries {
    /// Whether no request waits.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Gives up the requests of a session.
    pub(super) fn stop(&mut self, session: SessionId) {
        let is_its = |it: &Recovery| it.request.client.session == session;
        if self
            .queue
            .front()
            .is_some_and(|it| is_its(it) && it.is_asked)
        {
            self.batch = ReportBatch::default();
            if let Some(archive) = &mut self.archive {
                archive.stop();
            }
        }
        self.queue.retain(|it| !is_its(it));
    }

    fn waits(&self, session: SessionId) -> usize {
        let its = self.queue.iter();
        its.filter(|it| it.request.client.session == session)
            .count()
    }
}

impl Oms {
    /// Sets the archive that makes earlier reports again. Without an archive, requests for reports are refused.
    pub fn set_archive(&mut self, archive: Box<dyn ReportArchive>) {
        self.recoveries.archive = Some(archive);
    }

    /// The client or drop copy of a session, and the reports that it may request; `None` for a session that may request
    /// no reports.
    fn receiver(
        &self,
        from: SessionId,
        index: SessionNo,
    ) -> Option<(Client, Option<ReportReceiver>)> {
        let mut copies = self.copies.iter();
        if let Some((client, accounts)) = copies.find(|(client, _)| client.session == from) {
            let accounts = accounts.clone();
            return Some((*client, Some(ReportReceiver::Copy { accounts })));
        }
        let user = self.core.user(index).ok()?;
        let client = self.links.clients.get(index).copied().flatten()?;
        let may = user.rights.iter().any(|rights| rights.reports);
        let receiver = may.then(|| ReportReceiver::Client {
            session: index,
            user: Box::new(user.clone()),
        });
        Some((client, receiver))
    }

    /// Handles an ApplicationMessageRequest(BW).
    pub(super) fn reports_asked(
        &mut self,
        from: SessionId,
        index: SessionNo,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let (mut client, receiver) = self.receiver(from, index).ok_or(Refusal::NotAuthorized)?;
        let asked = report_requests::asked(message, self.rules().own_tags.report_filter)?;
        if asked.kind == ReportRequestKind::Resend && self.recoveries.waits(from) == MOST {
            return Err(Refusal::NotAvailable);
        }
        self.recoveries.count += 1;
        let last = self.core.state().events();
        let range = match asked.last {
            0 => (asked.first, last),
            end => (asked.first, end.min(last)),
        };
        let answer = ReportAnswer {
            to: from,
            number: self.recoveries.count,
            id: asked.id,
            kind: asked.kind,
            appl_id: asked.appl_id,
            range,
            last,
        };
        let why = self.why_not(&asked, receiver.is_some(), range);
        if why.is_some() || asked.kind == ReportRequestKind::Last {
            answer.acknowledge(why, outbox);
            return Ok(());
        }
        if asked.kind == ReportRequestKind::Stop {
            self.recoveries.stop(from);
            answer.acknowledge(None, outbox);
            return Ok(());
        }
        let numbers = ReportNumbers::new(self.rules().appl_id.as_bytes());
        client.numbers = Some(numbers.resent());
        if let Some(receiver) = receiver {
            // The request is acknowledged once the archive says which reports are available.
            self.recoveries.queue.push_back(Recovery {
                id: Text::new(asked.id),
                number: self.recoveries.count,
                request: ReportRequest {
                    first: range.0.max(1),
                    last: range.1,
                    client,
                    receiver,
                    dictionary: Arc::clone(&self.sessions[from.0 as usize].dictionary),
                    dictionaries: self.dictionaries.clone(),
                    settings: Arc::clone(&self.report_settings),
                    converter: self.links.converter.another(),
                    securities: Arc::clone(&self.rules().securities),
                    filter: asked.filter,
                },
                is_asked: false,
            });
        }
        Ok(())
    }

    fn why_not(
        &self,
        asked: &ReportsAsked<'_>,
        may: bool,
        (first, end): (u64, u64),
    ) -> Option<(NoReports, &'static [u8])> {
        if asked.appl_id != self.rules().appl_id.as_bytes() {
            let text: &'static [u8] = b"unknown ApplID(1180) in RefApplID(1355)";
            return Some((NoReports::UnknownApplication, text));
        }
        if !may {
            let text: &'static [u8] = b"the session has no accounts with the right reports";
            return Some((NoReports::NotAuthorized, text));
        }
        if asked.kind != ReportRequestKind::Resend {
            return None;
        }
        let text: &'static [u8] = if self.recoveries.archive.is_none() {
            b"no journal is kept from which reports can be sent again"
        } else if first > self.core.state().events() {
            b"ApplBegSeqNum(1182) is above the last report"
        } else if first > end {
            b"ApplEndSeqNum(1183) is below ApplBegSeqNum(1182)"
        } else {
            return None;
        };
        Some((NoReports::NotAvailable, text))
    }

    /// Sends the next reports again. Returns the time until more reports can be sent; `None` when no request waits.
    pub(super) fn recover(&mut self, outbox: &mut Outbox) -> Option<Nanos> {
        let mut left = TURN;
        while left > 0 && self.has_room(outbox) {
            let recoveries = &mut self.recoveries;
            let first = recoveries.queue.front_mut()?;
            if let Some((msg_type, body)) = recoveries.batch.take() {
                let to = first.request.client.session;
                let mut report = outbox.begin(to, &msg_type);
                report.encoded(body);
                // The outbox has room: that was checked before.
                let _ = report.finish();
                left -= 1;
                continue;
            }
            let archive = recoveries.archive.as_mut()?;
            if !first.is_asked {
                first.is_asked = true;
                archive.ask(first.request.clone());
            }
            let why: &[u8] = match archive.news() {
                None => return Some(PAUSE),
                Some(ArchiveNews::Reports(batch)) => {
                    recoveries.batch = batch;
                    continue;
                }
                Some(ArchiveNews::Opened { from }) if from <= first.request.first => {
                    first.answer().acknowledge(None, outbox);
                    continue;
                }
                Some(ArchiveNews::Opened { from }) => {
                    archive.stop();
                    first.request.first = from;
                    b"the journal has no earlier reports than ApplBegSeqNum(1182) of this message"
                }
                Some(ArchiveNews::Done) => {
                    first.answer().complete(outbox);
                    recoveries.queue.pop_front();
                    continue;
                }
                Some(ArchiveNews::Failed(why)) => {
                    (self.listener)(OmsEvent::NoReports { why: &why });
                    b"the journal cannot be read"
                }
            };
            let answer = first.answer();
            answer.acknowledge(Some((NoReports::NotAvailable, why)), outbox);
            recoveries.queue.pop_front();
        }
        let wait = if left == 0 { PACE } else { Nanos(0) };
        (!self.recoveries.queue.is_empty()).then_some(wait)
    }
}
