//! Drop copy sessions of venues.

use alloc::vec::Vec;

use fixwire_protocol::{Indexed, Message, Outbox, Refusal, SessionId, tag, value};
use fixwire_tmp::TmpFrame;
use fixwire_tmp::messages::{R06, R16};

use super::Oms;
use crate::decide::external::ExternalTerms;
use crate::decide::venue::{ReportKind, ReportOutcome, VenueId, VenueReport};
use crate::desk::notice::{OmsEvent, ignored};
use crate::fix::{clients, lines, spreads};
use crate::values::fields::field_table::{is_passed_on, report_bit};
use crate::values::ids::SessionNo;
use crate::values::value::{OrderType, TimeInForce};

impl Oms {
    /// Finds the clients that get the reports of orders placed elsewhere. The OMS sends nothing on the drop copy
    /// sessions that report those orders.
    pub(super) fn find_watchers(&mut self) {
        let rules = self.core.rules();
        let names = self.core.state().sessions();
        for source in &rules.copy_sources {
            if let Some(index) = names.find(source.session.as_bytes()) {
                self.links.clients[index] = None;
            }
        }
        self.watchers.clear();
        if rules.copy_sources.is_empty() {
            return;
        }
        let watchers = rules.users.iter().filter_map(|user| {
            let index = names.find(user.session.as_bytes())?;
            let client: clients::Client = (*self.links.clients.get(index)?)?;
            let may = user.rights.iter().any(|rights| rights.reports);
            may.then(|| (client, user.clone()))
        });
        self.watchers = watchers.collect::<Vec<_>>();
    }

    /// Handles a message of a venue's drop copy session. Only ExecutionReport(8) is used.
    pub(super) fn copy_says(
        &mut self,
        at: i64,
        from: SessionId,
        index: SessionNo,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        if message.msg_type() != b"8" {
            return Ok(());
        }
        let version = self.sessions[from.0 as usize].version;
        let fields = Indexed::new(message);
        let byte = |tag| match message.get(tag) {
            Some([byte]) => Some(*byte),
            _ => None,
        };
        let until = message
            .get(tag::EXPIRE_DATE)
            .and_then(|it| value::uint(it).ok());
        let terms = ExternalTerms {
            exec_id: message.get(tag::EXEC_ID).unwrap_or_default(),
            kind: byte(tag::ORD_TYPE).and_then(OrderType::of),
            tif: byte(tag::TIME_IN_FORCE).and_then(TimeInForce::of),
            stop: fields.decimal(tag::STOP_PX).and_then(Result::ok),
            until: until
                .and_then(|it| u32::try_from(it).ok())
                .filter(|it| *it > 0),
            is_of_leg: spreads::is_of_leg(message),
        };
        let messages = |outbox: &Outbox| {
            let all = outbox.unsealed();
            all.filter(|it| !outbox.entries()[*it].is_note()).count()
        };
        let before = messages(outbox);
        let heard = match lines::copy(index, &fields, version) {
            Some(report) => {
                let (core, mut out) = self.parts(outbox, None);
                let heard = core.copy(at, &report, &terms, &mut out);
                if report.kind == ReportKind::Fill
                    && !terms.is_of_leg
                    && !core.state().spreads.is_empty()
                {
                    let (said, count) = spreads::legs(message);
                    core.copy_legs(at, &report, &said[..count], &terms, &mut out);
                }
                heard
            }
            None => ReportOutcome::Unreadable,
        };
        if messages(outbox) > before {
            // The reports that follow from a copy have only fields of the OMS.
            let fields = message.fields().iter().map(|field| field.tag);
            let left = fields.filter(|tag| !is_passed_on(*tag, report_bit(b"8")));
            left.for_each(|tag| self.dropped.reports.add(tag));
        }
        match heard {
            ReportOutcome::FillsMissing(order) => self.fills_missing(order),
            ReportOutcome::Unknown | ReportOutcome::Unreadable => {
                let id = message.get(tag::ORDER_ID).unwrap_or(b"NONE");
                let unreadable = heard == ReportOutcome::Unreadable;
                // The order is known by the OrderID(37) alone.
                let report = lines::copy(index, &fields, version).map(|report| VenueReport {
                    id: VenueId::default(),
                    ..report
                });
                let said = ignored::report(self.core.state(), report.as_ref(), unreadable);
                (self.listener)(OmsEvent::StrayReport {
                    id,
                    unreadable,
                    is_known: false,
                    why: &said.why,
                });
            }
            _ => {}
        }
        Ok(())
    }

    /// Requests, on a drop copy link, the copies that the OMS has not received.
    pub(super) fn ask_copies(&mut self, link: usize, index: SessionNo) {
        let (last, _) = self.core.state().link_numbers(index);
        let line = &mut self.links.tmp.lines[link];
        if let Some(copies) = line.copies {
            line.queue.extend(copies.question(line.fcm_id, last));
        }
    }

    /// Handles a message of a drop copy link.
    pub(super) fn copy_delivered(
        &mut self,
        at: i64,
        link: usize,
        index: SessionNo,
        frame: &TmpFrame<'_>,
        outbox: &mut Outbox,
    ) {
        let line = &self.links.tmp.lines[link];
        if let Ok(answer) = frame.body::<R16>() {
            let is_taken = answer.status.is_success();
            if !is_taken {
                let (line, status) = (&line.name, answer.status);
                (self.listener)(OmsEvent::SubscriptionRefused { line, status });
            }
            self.core.copy_session(at, index, is_taken);
            return;
        }
        let Ok(copy) = frame.body::<R06>() else {
            return;
        };
        // The copies count even if the trading day of the link's sequence numbers is over. The sequence number itself
        // then does not count.
        let of_link = (index, line.fcm_id, line.day == self.core.state().day());
        let mut own = self.links.tmp.lines.iter();
        let own = own.find(|it| {
            it.copies.is_none() && (it.fcm_id, it.session_id) == (copy.fcm_id, copy.rpt_session_id)
        });
        let own = own.map(|it| it.is_short);
        let (core, mut out) = self.parts(outbox, None);
        let said = core.tmp_copy(at, of_link, (&copy, own), &mut out);
        self.raise_heard(&said);
    }
}
