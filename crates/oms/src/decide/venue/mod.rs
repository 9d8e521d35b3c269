//! Reports of venues, which may arrive in any order, twice or late. Each report becomes events or is ignored.

pub(crate) mod agree;
pub(crate) mod alarms;
pub(crate) mod breaks;
pub(crate) mod chain_ids;
pub(crate) mod done_for_day;
pub(crate) mod doubts;
pub(crate) mod exact;
pub(crate) mod foreign;
pub(crate) mod lapsed;
pub(crate) mod late;
pub(crate) mod manual;
pub(crate) mod markets;
pub(crate) mod mass_status;
pub(crate) mod not_there;
pub(crate) mod rejects;
pub(crate) mod remade;
pub(crate) mod restated;
pub(crate) mod spreads;
pub(crate) mod strays;
pub(crate) mod unanswered;
pub(crate) mod undo;

use fixwire_protocol::Decimal;

use crate::decide::core::{Core, Sink};
use crate::decide::venue::strays::StrayTrade;
use crate::state::event::{LifecycleEvent, OrderEvent};
use crate::state::orders::transition::OrderState;
use crate::state::roll::is_unconfirmed;
use crate::values::ids::{InstrumentNo, SessionNo};
use crate::values::reason::Why;
use crate::values::rules::VenueExecId;
use crate::values::value::{Effect, End, Number, RequestKind, Side};

pub use crate::values::venue_id::VenueId;

/// An ExecutionReport(8) of a venue.
#[derive(Clone, Copy, Debug)]
pub struct VenueReport<'a> {
    /// The session to the venue, by its number in the state.
    pub line: SessionNo,
    /// ClOrdID(11) of the OMS: the numbers of the order and of the request.
    pub id: VenueId,
    /// OrigClOrdID(41).
    pub original: Option<VenueId>,
    /// ClOrdID(11) as the venue sent it.
    pub text_id: &'a [u8],
    /// Kind of report.
    pub kind: ReportKind,
    /// OrderID(37).
    pub venue_id: &'a [u8],
    /// Hash of ExecID(17); 0 for a report of no trade, if nothing reads the hash.
    pub exec: u64,
    /// LastQty(32).
    pub last_quantity: Option<Decimal>,
    /// LastPx(31).
    pub last_price: Option<Decimal>,
    /// CumQty(14).
    pub filled: Option<Decimal>,
    /// LeavesQty(151).
    pub leaves: Option<Decimal>,
    /// AvgPx(6).
    pub average: Option<Decimal>,
    /// Hash of ExecRefID(19).
    pub reference: Option<u64>,
    /// ExecRefID(19) as the venue sent it; empty without one.
    pub fill_id: &'a [u8],
    /// OrderQty(38).
    pub quantity: Option<Decimal>,
    /// Price(44).
    pub price: Option<Decimal>,
    /// Account(1).
    pub account: &'a [u8],
    /// Symbol(55).
    pub symbol: &'a [u8],
    /// Side(54).
    pub side: Option<Side>,
    /// PositionEffect(77), when it is O or C.
    pub effect: Option<Effect>,
    /// OrdStatus(39); 0 without one.
    pub status: u8,
    /// TransactTime(60), in nanoseconds since 1970; 0 for none.
    pub at: i64,
    /// OrdRejReason(103) of a reject, ExecRestatementReason(378) of a restatement.
    pub reason: Option<u64>,
    /// Text(58).
    pub text: &'a [u8],
}

impl<'a> VenueReport<'a> {
    /// A report that has nothing but its kind.
    pub(crate) fn of(line: SessionNo, id: VenueId, kind: ReportKind) -> Self {
        Self {
            line,
            id,
            original: None,
            text_id: b"",
            kind,
            venue_id: b"",
            exec: 0,
            last_quantity: None,
            last_price: None,
            filled: None,
            leaves: None,
            average: None,
            reference: None,
            fill_id: b"",
            quantity: None,
            price: None,
            account: b"",
            symbol: b"",
            side: None,
            effect: None,
            status: 0,
            at: 0,
            reason: None,
            text: b"",
        }
    }

    pub(crate) fn end_note(&self) -> EndNote<'a> {
        EndNote {
            at: self.at,
            text: self.text,
        }
    }
}

/// The time and the text with which a venue reports the end of an order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndNote<'a> {
    /// TransactTime(60), in nanoseconds since 1970; 0 for none.
    pub at: i64,
    /// Text(58).
    pub text: &'a [u8],
}

/// Kind of an ExecutionReport.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReportKind {
    /// ExecType(150) = 0.
    New,
    /// A complete or partial fill.
    Fill,
    /// ExecType(150) = 5.
    Replaced,
    /// ExecType(150) = 8.
    Rejected,
    /// Cancelled, expired, done for the day.
    End(End),
    /// ExecType(150) = D: an order that is good for more than a day is restated unchanged on a new day.
    Renewed,
    /// A trade is cancelled: ExecType(150) = H, ExecTransType(20) = 1.
    Bust,
    /// A trade is corrected: ExecType(150) = G, ExecTransType(20) = 2.
    Correct,
    /// Any other restatement: ExecType(150) = D.
    Restated,
    /// ExecType(150) = I: the answer to a status request of the OMS, with its OrdStatus(39).
    Status(u8),
    /// Pending, or another report without effect.
    Other,
}

impl ReportKind {
    /// Whether a report of this kind cancels or corrects a trade.
    pub fn is_undo(self) -> bool {
        matches!(self, Self::Bust | Self::Correct)
    }
}

/// Result of applying a report.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReportOutcome {
    /// The state changed.
    Taken,
    /// The report is a duplicate, or has no news.
    Known,
    /// The report differs from its order, so nothing was applied: there is a break.
    Broken,
    /// The venue's CumQty(14) exceeds the fills that the OMS has received.
    FillsMissing(Number),
    /// The venue does not have an order that is open in the OMS.
    NotAtVenue(Number),
    /// The report is for an order that the OMS does not have, and is not a fill.
    Unknown,
    /// The values of the report are unreadable or inconsistent.
    Unreadable,
}

impl Core {
    /// Applies a venue's report; then removes closed orders from memory.
    pub fn report(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let heard = self.hear(at, report, sink);
        self.forget(at, sink);
        heard
    }

    /// Applies a venue's report as [`report`](Self::report) does, but removes no order from memory.
    #[inline]
    pub(crate) fn hear(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let number = report.id.order;
        let Some(order) = self.state().orders().get(number) else {
            return self.report_by_other_id(at, report, sink);
        };
        let instrument = order.instrument;
        let symbol = self.state().instruments().name(instrument);
        let is_other = !report.symbol.is_empty() && report.symbol != symbol;
        if is_other || report.side.is_some_and(|side| !side.agrees(order.side)) {
            let of_leg = match self.state().spreads.is_empty() {
                true => None,
                false => self.report_of_leg(at, report, false, sink),
            };
            return of_leg.unwrap_or_else(|| self.report_of_none(at, report, sink));
        }
        if !self.may_report(report.line, order) {
            return self.foreign(at, report, sink);
        }
        // The fill may have counted while the order was not in memory.
        if self.state().strays.is_recalled(number) && self.is_of_other_fill(report) {
            return self.report_of_recalled(at, report, sink);
        }
        if order.is_past(report.id.request) {
            return self.report_of_past(at, report, sink);
        }
        // The order was never sent to the venue.
        if order.state.is_unsent() {
            return self.report_of_none(at, report, sink);
        }
        if report.contradicts_itself()
            && let Some(heard) = self.contradicted(at, report, sink)
        {
            return heard;
        }
        let heard = match report.kind {
            ReportKind::New => self.new_reported(at, report, instrument, sink),
            ReportKind::Fill => self.filled(at, report, instrument, sink),
            ReportKind::Replaced => self.replace_reported(at, report, instrument, sink),
            ReportKind::Rejected => self.rejected(at, report, sink),
            ReportKind::End(how) => self.ended(at, report, how, sink),
            ReportKind::Renewed => self.restated(at, report, sink),
            ReportKind::Status(status) => self.status(at, report, (status, instrument), sink),
            ReportKind::Bust => self.undone(at, report, false, sink),
            ReportKind::Correct => self.undone(at, report, true, sink),
            ReportKind::Restated => self.terms_restated(at, report, sink),
            ReportKind::Other => ReportOutcome::Known,
        };
        let heard = self.reported_at_end(at, report, sink).unwrap_or(heard);
        self.agree(at, report, heard, sink);
        self.settle(at, number, sink);
        self.settle_cancel(at, number, sink);
        if !self.work.lapsed.is_empty() {
            self.lapsed_reported(at, report, sink);
        }
        // A rejected request needs no further step. A rejected cancel of the OMS is sent again later.
        if report.kind != ReportKind::Rejected {
            self.work.look_again(&self.state, number);
        }
        heard
    }

    fn filled(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        instrument: InstrumentNo,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        self.widen(at, instrument, report.last_price, sink);
        let Some((quantity, price)) = self.execution(report, instrument) else {
            return ReportOutcome::Unreadable;
        };
        let order = report.id.order;
        if !self.state().remade.is_empty() {
            self.fill_of_replace(at, report, instrument, sink);
        }
        let (exec, own);
        exec = self.fill_exec(report, (quantity, price));
        let report = match exec == report.exec {
            true => report,
            false => {
                own = VenueReport { exec, ..*report };
                &own
            }
        };
        if let Some(heard) = self.fill_broken(at, report, quantity, price, sink) {
            return heard;
        }
        // The venue may acknowledge the order later, or never.
        self.accepted(at, report, sink);
        self.works(at, report, sink);
        let event = OrderEvent::Order(LifecycleEvent::Filled {
            order,
            exec: report.exec,
            quantity,
            price,
            at: report.at,
        });
        let known = self.state().orders().get(order);
        let answered = known.and_then(|order| order.pended.as_ref()?.request);
        self.emit(at, &event, sink);
        if self.has_copies() {
            self.compare(at, (order, report.exec), b"", sink);
        }
        self.decline_filled(at, order, answered, sink);
        self.guard_order(at, order, sink);
        ReportOutcome::Taken
    }

    /// Holds back a final state until the missing fills have arrived.
    pub(crate) fn ended(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        how: End,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let number = report.id.order;
        if how == End::Cancelled
            && !self.state().remade.is_empty()
            && let Some(heard) = self.former_cancelled(at, report, sink)
        {
            return heard;
        }
        if self.rests(number, how) {
            // Done for the day implies that the venue accepted the order.
            self.accepted(at, report, sink);
        }
        let orders = self.state().orders();
        let Some(order) = orders.get(number).filter(|order| order.state.is_open()) else {
            return ReportOutcome::Known;
        };
        let request = orders.request(report.id.request);
        let request = request
            .filter(|(request, of)| request.kind == RequestKind::Cancel && of.number == number);
        let request = request.map(|(request, _)| request);
        // This end answers a cancel in flight, whichever ClOrdID(11) of the order the report has.
        let pending = orders.request_of(order).filter(|it| {
            let is_sent = matches!(it.state, OrderState::Sent | OrderState::Unknown);
            how == End::Cancelled && it.kind == RequestKind::Cancel && is_sent
        });
        let request = request.or(pending).map(|request| request.number);
        let filled = self.state().units(order.instrument, report.filled);
        let filled = filled.unwrap_or(order.filled);
        if how == End::Cancelled
            && request.is_none()
            && let Some(heard) = self.hold_cancel(at, report, filled, sink)
        {
            return heard;
        }
        let orders = self.state().orders();
        let Some(order) = orders.get(number) else {
            return ReportOutcome::Known;
        };
        let rests = order.state == OrderState::DoneForDay && how == End::DoneForDay;
        if rests && filled <= order.filled {
            return ReportOutcome::Known;
        }
        if filled > order.filled {
            if order.pended.is_some() {
                return ReportOutcome::Known;
            }
            let event = OrderEvent::Order(LifecycleEvent::Pended {
                order: number,
                how,
                request,
                filled,
                at: report.at,
            });
            self.emit(at, &event, sink);
            return ReportOutcome::Taken;
        }
        self.end(at, number, how, request, report.end_note(), sink);
        ReportOutcome::Taken
    }

    /// Handles the venue's answer to a status request of the OMS.
    fn status(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        (status, instrument): (u8, InstrumentNo),
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        if matches!(status, b'0' | b'1' | b'5') {
            if report.id.request != report.id.order
                && self.is_open_as_replace(report.id)
                && let Some(heard) = self.confirmed(at, report, instrument, sink)
            {
                return heard;
            }
            if !self.state().remade.is_empty() {
                self.open_after_cancel(at, report, sink);
            }
        }
        match status {
            b'0' | b'1' | b'2' | b'5' | b'6' | b'7' | b'9' | b'D' | b'E' => {
                let heard = self.accepted(at, report, sink);
                if matches!(status, b'0' | b'1' | b'5') {
                    self.works(at, report, sink);
                }
                let pending = matches!(status, b'6' | b'E');
                self.working(at, report, pending, sink).unwrap_or(heard)
            }
            b'3' | b'4' | b'C' => {
                let how = End::of(status).unwrap_or(End::Cancelled);
                self.ended(at, report, how, sink)
            }
            b'8' if !self.state().remade.is_empty() => {
                let heard = self.replace_not_there(at, report, sink);
                heard.unwrap_or_else(|| self.not_there(at, report, sink))
            }
            // The venue answers that it does not have the order.
            b'8' => self.not_there(at, report, sink),
            // Pending New: the venue has no replace or cancel of the order.
            b'A' => self
                .working(at, report, false, sink)
                .unwrap_or(ReportOutcome::Known),
            _ => ReportOutcome::Known,
        }
    }

    /// Handles a status that reports the order as open.
    ///
    /// A request that was in flight at a disconnect was either resent before the status request, or will never be
    /// resent. So if the status does not show the request as pending, the venue did not receive it.
    fn working(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        pending: bool,
        sink: &mut impl Sink,
    ) -> Option<ReportOutcome> {
        let number = report.id.order;
        let orders = self.state().orders();
        let order = orders.get(number)?;
        let filled = self.state().units(order.instrument, report.filled);
        let is_missing = filled.is_some_and(|filled| filled > order.filled);
        let lost = orders.request_of(order);
        let lost = lost.filter(|it| it.state == OrderState::Unknown);
        let instrument = order.instrument;
        if pending {
            if let Some(request) = lost.map(|request| request.number) {
                self.work.unanswered.is_pending(request);
            }
            return is_missing.then_some(ReportOutcome::FillsMissing(number));
        }
        match lost.map(|request| (request.number, request.kind)) {
            // The status has the ClOrdID(11) of the replace, so the venue has carried out the replace; its report is
            // still in flight.
            Some((request, RequestKind::Replace)) if request == report.id.request => {
                self.replaced(at, report, instrument, sink);
            }
            Some((request, _)) => {
                self.decline(at, request, Why::NotReceived, b"", sink);
            }
            None => {}
        }
        is_missing.then_some(ReportOutcome::FillsMissing(number))
    }

    /// Handles a report for an order number that the venue has rejected before.
    fn report_of_past(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let number = report.id.order;
        match report.kind {
            // The report is a duplicate, or reports again that the order is not open.
            ReportKind::Rejected
            | ReportKind::Other
            | ReportKind::End(_)
            | ReportKind::Status(b'3' | b'4' | b'8' | b'C') => return ReportOutcome::Known,
            _ => {}
        }
        let Some(order) = self.state().orders().get(number) else {
            return ReportOutcome::Unknown;
        };
        let trade = StrayTrade {
            account: order.account,
            instrument: order.instrument,
            side: order.side,
            effect: Some(order.effect),
        };
        if order.state == OrderState::Queued {
            // The order may be open at the venue, so it must not be sent again.
            self.reject_unsent(at, number, Why::Contradicted, sink);
        }
        match report.kind {
            ReportKind::Fill => self.stray(at, report, trade, sink),
            ReportKind::Bust | ReportKind::Correct => self.stray_undone(at, report, sink),
            _ => ReportOutcome::Unknown,
        }
    }

    /// Handles a report whose ClOrdID(11) belongs to no order in memory.
    #[cold]
    pub(crate) fn report_by_other_id(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        self.index_venue_ids(report);
        match self.other_id(report) {
            Some(id) => self.hear(at, &VenueReport { id, ..*report }, sink),
            None => self.report_of_none(at, report, sink),
        }
    }

    /// Closes an order whose trading day is over, when OrdStatus(39) of a report says that it has ended.
    pub(crate) fn reported_at_end(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) -> Option<ReportOutcome> {
        let how = match report.status {
            b'4' => End::Cancelled,
            b'C' | b'8' => End::Expired,
            _ => return None,
        };
        let order = self.state.orders().get(report.id.order);
        let is_its = report.kind != ReportKind::Rejected
            && order.is_some_and(|it| it.pended.is_none() && is_unconfirmed(&self.state, it));
        is_its.then(|| self.ended(at, report, how, sink))
    }
}

impl Core {
    /// Passes on the ExecID(17) of a venue's report to the reports that follow from it, if the settings require that
    /// and no other report can have this ExecID. An answer to a status request has no ExecID of an execution.
    #[cold]
    pub(crate) fn pass_exec_id(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        kind: u8,
        id: &[u8],
        sink: &mut impl Sink,
    ) {
        let group = self.lines.line(report.line).map(|line| line.group);
        let group = group.and_then(|group| self.rules.groups.get(group));
        let is_own = group.is_some_and(|group| group.venue_exec_id == Some(VenueExecId::Own));
        let ids = [report.id.order, report.original.unwrap_or_default().order];
        let order = ids.into_iter().find(|order| *order > 0).unwrap_or(0);
        let is_known = self.state.orders().get(order).is_some();
        let exec_ids = &self.state.exec_ids;
        // If the client already has the fill, it has it under another ExecID.
        let is_new = exec_ids.of(order, report.exec).is_none()
            && self.state.orders().fill(order, report.exec).is_none()
            && exec_ids.may_pass(id);
        let is_status = matches!(report.kind, ReportKind::Status(_));
        if is_own && is_known && is_new && !is_status {
            let event = OrderEvent::Order(LifecycleEvent::ExecIdPassed { order, kind, id });
            self.emit(at, &event, sink);
        }
    }
}

/// Cuts an id to the length that a note can hold.
pub(crate) fn short(id: &[u8]) -> &[u8] {
    &id[..id.len().min(crate::Text::MAX)]
}

/// Maximum number of bytes of a venue's Text(58) that clients get.
pub(crate) const TEXT_MOST: usize = 1024;

/// Cuts Text(58) of a venue to [`TEXT_MOST`] bytes, between characters when it is UTF-8.
pub(crate) fn cut(text: &[u8]) -> &[u8] {
    let Some(short) = text.get(..TEXT_MOST).filter(|it| it.len() < text.len()) else {
        return text;
    };
    match core::str::from_utf8(short) {
        // The last character is not complete.
        Err(error) if error.error_len().is_none() => &short[..error.valid_up_to()],
        _ => short,
    }
}
