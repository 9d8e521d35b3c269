//! Writes reports to clients: ExecutionReport(8) and OrderCancelReject(9).

use alloc::string::String;

use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Body, Message, Outbox, Precision, SessionId, Timestamp, tag};

use super::PutQuantity as _;
use super::before::Before;
use super::reject_codes::{cxl_rej_reason, ord_rej_reason};
use super::{changed, quotes, spreads};
use crate::state::OmsState;
use crate::state::event::{
    BreakEvent, ConditionEvent, CopyEvent, InquiryEvent, LifecycleEvent, OrderEvent, ParentEvent,
    QuoteEvent, RejectedEvent, RequestEvent, SpreadEvent, UndoEvent,
};
use crate::state::orders::Order;
use crate::state::quotes::QuoteSide;
use crate::state::roll::DAY_OVER;
use crate::state::show::reason_text;
use crate::values::ids::SessionNo;
use crate::values::reason::{Reason, Why};
use crate::values::report_numbers::ReportNumbers;
use crate::values::show::{Sentence, average, digits, price};
use crate::values::units::Scales;
use crate::values::value::{Effect, End, Number, RequestKind, Text};

/// ExecRestatementReason(378) = 8, market (exchange) option.
const MARKET_OPTION: u64 = 8;
/// ExecRestatementReason(378) = 4, broker option, for FIX 4.2, which does not have 8.
const BROKER_OPTION: u64 = 4;

/// Receiver of a report, and its FIX version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client {
    pub session: SessionId,
    pub version: Version,
    /// Whether the session gets copies of the reports to other sessions (drop copy).
    pub is_copy: bool,
    /// The numbers of reports to the session; `None` if the reports have no numbers.
    pub numbers: Option<ReportNumbers>,
}

impl Client {
    /// Writes the report number of an event. For a message that reports no event, `event` is 0.
    pub(super) fn put_number(self, event: u64, report: &mut Body<'_>) {
        if let Some(numbers) = self.numbers.filter(|_| event > 0) {
            numbers.put(event, report);
        }
    }

    pub(super) fn is_old(self) -> bool {
        self.version <= Version::Fix42
    }

    /// Writes PositionEffect(77), if the client's FIX version has it in reports. FIX 4.2 has the values O and C only,
    /// FIX 4.0 and 4.1 do not have the field.
    pub(super) fn put_effect(self, effect: Effect, report: &mut Body<'_>) {
        let Some(effect) = effect.field() else {
            return;
        };
        let has = match self.version {
            Version::Fix40 | Version::Fix41 => false,
            Version::Fix42 => matches!(effect, b'O' | b'C'),
            _ => true,
        };
        if has {
            report.char(tag::POSITION_EFFECT, effect);
        }
    }

    /// ExecRestatementReason(378) for an order that its venue has changed without giving a reason.
    pub(super) fn restated(self) -> u64 {
        if self.is_old() {
            BROKER_OPTION
        } else {
            MARKET_OPTION
        }
    }

    /// The venue's ExecRestatementReason(378) if the client's FIX version has this value; else the value for a change
    /// without a reason.
    pub(super) fn restated_for(self, reason: u64) -> u64 {
        let has = match self.version {
            Version::Fix40 | Version::Fix41 | Version::Fix42 => reason <= 5,
            Version::Fix43 => reason <= 8,
            Version::Fix44 => reason <= 10 || reason == 99,
            _ => true,
        };
        if has { reason } else { self.restated() }
    }
}

/// Writes the report of an event in the life of an order or of its request, if the client gets a report of the event.
pub(super) fn report(
    state: &OmsState,
    event: &LifecycleEvent<'_>,
    before: &Before,
    client: Client,
    outbox: &mut Outbox,
) {
    let orders = state.orders();
    match *event {
        // The venue had acknowledged the order before, so the client already knows it as accepted.
        LifecycleEvent::Accepted { .. } if before.is_known => {}
        LifecycleEvent::Accepted { order, .. } => {
            plain(state, order, (b'0', b"", None), client, outbox);
        }
        LifecycleEvent::Rejected {
            order,
            ref reason,
            text,
        } => {
            if let Some(order) = orders.get(order) {
                let scales = state.scales(order.instrument);
                let sentence = reason_text(state, reason, scales);
                let text = if text.is_empty() {
                    sentence.bytes()
                } else {
                    text
                };
                let extra = Extra::Reject(*reason);
                execution(state, order, (b'8', text), Some(extra), client, outbox);
            }
        }
        LifecycleEvent::Filled {
            order,
            quantity,
            price,
            ..
        } => filled(state, order, Extra::Fill(quantity, price), client, outbox),
        LifecycleEvent::Replaced { .. } => {
            let extra = Some(Extra::Original(&before.id));
            plain(state, before.order, (b'5', b"", extra), client, outbox);
        }
        LifecycleEvent::Ended {
            order, how, text, ..
        } => {
            let extra = before.original().map(Extra::Original);
            plain(state, order, (how.byte(), text, extra), client, outbox);
        }
        LifecycleEvent::TermsSet { order, .. } => {
            changed::terms_set(state, order, before, client, outbox);
        }
        LifecycleEvent::Lapsed { order } => {
            let kind = End::Expired.byte();
            plain(state, order, (kind, DAY_OVER, None), client, outbox);
        }
        LifecycleEvent::DoneForDay { order, text, .. } => {
            plain(state, order, (b'3', text, None), client, outbox);
        }
        LifecycleEvent::Renewed { order, .. } => {
            // ExecRestatementReason(378) = 1, GT renewal.
            let extra = Some(Extra::Restated(1));
            plain(state, order, (b'D', b"", extra), client, outbox);
        }
        LifecycleEvent::Declined {
            ref reason, text, ..
        } => declined(state, reason, text, before, client, outbox),
        LifecycleEvent::Pended { .. }
        | LifecycleEvent::Retried { .. }
        | LifecycleEvent::Asked { .. }
        | LifecycleEvent::Forgotten { .. }
        | LifecycleEvent::ReportEntered { .. }
        | LifecycleEvent::LapseConfirmed { .. }
        | LifecycleEvent::LapseCancelled { .. }
        | LifecycleEvent::Unanswered { .. }
        | LifecycleEvent::NoAnswer { .. }
        | LifecycleEvent::NotAtVenue { .. }
        | LifecycleEvent::ForeignReport { .. }
        | LifecycleEvent::VenueIdSet { .. }
        | LifecycleEvent::ExecIdPassed { .. } => {}
    }
}

/// Reports a fill of an order, or of a child of the order.
fn filled(state: &OmsState, order: Number, fill: Extra<'_>, client: Client, outbox: &mut Outbox) {
    if let Some(order) = state.orders().get(order) {
        let kind = match client.is_old() {
            false => b'F',
            true if order.filled >= order.quantity => b'2',
            true => b'1',
        };
        execution(state, order, (kind, b""), Some(fill), client, outbox);
    }
}

/// Reports that a parent was accepted, or that a fill of a child counts as a fill of the parent.
pub(super) fn parent(state: &OmsState, event: &ParentEvent, client: Client, outbox: &mut Outbox) {
    match *event {
        ParentEvent::ParentAccepted { order } => {
            plain(state, order, (b'0', b"", None), client, outbox);
        }
        ParentEvent::ParentFilled {
            order,
            quantity,
            price,
            ..
        } => filled(state, order, Extra::Fill(quantity, price), client, outbox),
        ParentEvent::ChildOf { .. } => {}
    }
}

/// Reports an order that was placed elsewhere, or the replace of such an order.
pub(super) fn copied(state: &OmsState, event: &CopyEvent<'_>, client: Client, outbox: &mut Outbox) {
    match *event {
        CopyEvent::External { order, .. } => {
            plain(state, order, (b'0', b"", None), client, outbox);
        }
        CopyEvent::Restated { order, .. } => {
            plain(state, order, (b'5', b"", None), client, outbox);
        }
        CopyEvent::CopyLine { .. }
        | CopyEvent::Copied { .. }
        | CopyEvent::LegCopied { .. }
        | CopyEvent::CopyBroken { .. }
        | CopyEvent::BreakClosed { .. }
        | CopyEvent::VenueMarket { .. } => {}
    }
}

/// Reports that a conditional order is held, or was triggered.
pub(super) fn condition(
    state: &OmsState,
    event: &ConditionEvent<'_>,
    client: Client,
    outbox: &mut Outbox,
) {
    match *event {
        ConditionEvent::Held { order, .. } | ConditionEvent::Triggered { order } => {
            if let Some(order) = state.orders().get(order) {
                held(state, order, client, outbox);
            }
        }
        ConditionEvent::Touched { .. } => {}
    }
}

fn held(state: &OmsState, order: &Order, client: Client, outbox: &mut Outbox) {
    // ExecType(150) = L, Triggered or Activated by System, exists from FIX 5.0 on.
    let (kind, text): (u8, &[u8]) = match order.triggered {
        false => (b'A', b"held: waiting for its condition"),
        true if client.version >= Version::Fix50 => (b'L', b"triggered: its condition is met"),
        true => (b'A', b"triggered: its condition is met"),
    };
    execution(state, order, (kind, text), None, client, outbox);
}

/// Reports the rerun of a rejected order. The client did not send the new order itself.
#[cold]
pub(super) fn rerun(
    state: &OmsState,
    event: &RejectedEvent<'_>,
    client: Client,
    outbox: &mut Outbox,
) {
    let RejectedEvent::Rerun {
        order,
        old,
        without,
        ..
    } = *event
    else {
        return;
    };
    if let Some(order) = state.orders().get(order) {
        let [old, without] = [old, without].map(String::from_utf8_lossy);
        let text =
            alloc::format!("placed by an operator for {old}, which was rejected; off: {without}");
        execution(state, order, (b'A', text.as_bytes()), None, client, outbox);
    }
}

/// Writes the reject of a replace or cancel.
fn declined(
    state: &OmsState,
    reason: &Reason,
    text: &[u8],
    before: &Before,
    client: Client,
    outbox: &mut Outbox,
) {
    let order = state.orders().get(before.order);
    if let (Some((kind, id)), Some(order)) = (&before.request, order)
        && !id.bytes().is_empty()
    {
        let reject = CancelReject {
            kind: *kind,
            id: id.bytes(),
            original: order.id.bytes(),
            reason,
            text,
        };
        cancel_reject(state, Some(order), &reject, client, outbox);
    }
}

/// The order whose execution an event reports.
#[inline]
pub(crate) fn order_of(event: &OrderEvent<'_>, before: &Before) -> Option<Number> {
    match *event {
        OrderEvent::Request(RequestEvent::Queued { number: order })
        | OrderEvent::Condition(ConditionEvent::Held { order, .. })
        | OrderEvent::Condition(ConditionEvent::Triggered { order })
        | OrderEvent::Rejected(RejectedEvent::Rerun { order, .. })
        | OrderEvent::Copy(CopyEvent::External { order, .. })
        | OrderEvent::Copy(CopyEvent::Restated { order, .. })
        | OrderEvent::Order(LifecycleEvent::TermsSet { order, .. })
        | OrderEvent::Order(LifecycleEvent::Accepted { order, .. })
        | OrderEvent::Parent(ParentEvent::ParentAccepted { order })
        | OrderEvent::Parent(ParentEvent::ParentFilled { order, .. })
        | OrderEvent::Order(LifecycleEvent::Rejected { order, .. })
        | OrderEvent::Order(LifecycleEvent::Filled { order, .. })
        | OrderEvent::Undo(UndoEvent::Busted { order, .. })
        | OrderEvent::Undo(UndoEvent::Corrected { order, .. })
        | OrderEvent::Undo(UndoEvent::ParentCorrected { order, .. })
        | OrderEvent::Break(BreakEvent::TermsSettled { order, .. })
        | OrderEvent::Break(BreakEvent::TermsRestated { order, .. })
        | OrderEvent::Break(BreakEvent::FillsSettled { order, .. })
        | OrderEvent::Spread(SpreadEvent::LegFilled { order, .. })
        | OrderEvent::Spread(SpreadEvent::LegUndone { order, .. })
        | OrderEvent::Order(LifecycleEvent::Ended { order, .. })
        | OrderEvent::Order(LifecycleEvent::DoneForDay { order, .. })
        | OrderEvent::Order(LifecycleEvent::Lapsed { order })
        | OrderEvent::Order(LifecycleEvent::Renewed { order, .. }) => Some(order),
        OrderEvent::Order(LifecycleEvent::Replaced { .. }) => Some(before.order),
        OrderEvent::Order(
            LifecycleEvent::Declined { .. }
            | LifecycleEvent::Pended { .. }
            | LifecycleEvent::Retried { .. }
            | LifecycleEvent::Asked { .. }
            | LifecycleEvent::Forgotten { .. }
            | LifecycleEvent::ReportEntered { .. }
            | LifecycleEvent::LapseConfirmed { .. }
            | LifecycleEvent::LapseCancelled { .. }
            | LifecycleEvent::Unanswered { .. }
            | LifecycleEvent::NoAnswer { .. }
            | LifecycleEvent::NotAtVenue { .. }
            | LifecycleEvent::ForeignReport { .. }
            | LifecycleEvent::VenueIdSet { .. }
            | LifecycleEvent::ExecIdPassed { .. },
        )
        | OrderEvent::Setup(_)
        | OrderEvent::Day(_)
        | OrderEvent::Line(_)
        | OrderEvent::Limit(_)
        | OrderEvent::Reload(_)
        | OrderEvent::Pool(_)
        | OrderEvent::Request(_)
        | OrderEvent::Remade(_)
        | OrderEvent::Stray(_)
        | OrderEvent::Condition(_)
        | OrderEvent::Parent(_)
        | OrderEvent::Quote(_)
        | OrderEvent::Inquiry(_)
        | OrderEvent::Rejected(_)
        | OrderEvent::Copy(_)
        | OrderEvent::Spread(_)
        | OrderEvent::Break(_) => None,
    }
}

/// The session that receives the report of an event.
#[inline]
pub(crate) fn session_of(
    state: &OmsState,
    event: &OrderEvent<'_>,
    before: &Before,
) -> Option<SessionNo> {
    let order = match *event {
        OrderEvent::Order(LifecycleEvent::Declined { .. }) => before.order,
        OrderEvent::Request(RequestEvent::Refused { session, .. })
        | OrderEvent::Request(RequestEvent::MassCancelRefused { session, .. }) => {
            return Some(session);
        }
        OrderEvent::Request(RequestEvent::MassCancelTaken { session, .. }) => return session,
        OrderEvent::Quote(QuoteEvent::QuoteRefused { session, .. })
        | OrderEvent::Quote(QuoteEvent::QuotesWithdrawn { session, .. })
        | OrderEvent::Inquiry(InquiryEvent::InquiryAnswered { session, .. }) => {
            return Some(session);
        }
        OrderEvent::Quote(QuoteEvent::Quoted { order, .. }) => order,
        OrderEvent::Setup(_)
        | OrderEvent::Day(_)
        | OrderEvent::Line(_)
        | OrderEvent::Limit(_)
        | OrderEvent::Reload(_)
        | OrderEvent::Pool(_)
        | OrderEvent::Request(_)
        | OrderEvent::Order(_)
        | OrderEvent::Remade(_)
        | OrderEvent::Stray(_)
        | OrderEvent::Condition(_)
        | OrderEvent::Parent(_)
        | OrderEvent::Quote(_)
        | OrderEvent::Inquiry(_)
        | OrderEvent::Rejected(_)
        | OrderEvent::Copy(_)
        | OrderEvent::Spread(_)
        | OrderEvent::Break(_)
        | OrderEvent::Undo(_) => order_of(event, before)?,
    };
    state.orders().get(order).map(|order| order.session)
}

/// The ExecID(17) by which the client knows a fill.
#[derive(Clone, Copy)]
pub(super) enum ExecRef<'a> {
    /// The OMS's ExecID, by the number of its event.
    Own(u64),
    /// The venue's ExecID.
    Venue(&'a [u8]),
}

pub(super) enum Extra<'a> {
    /// LastQty(32) and LastPx(31).
    Fill(u64, i64),
    /// ExecRefID(19), then the corrected LastQty(32) and LastPx(31); both are 0 when the trade was cancelled.
    Undone(ExecRef<'a>, (u64, i64)),
    /// OrigClOrdID(41).
    Original(&'a Text),
    /// OrdRejReason(103).
    Reject(Reason),
    /// ExecRestatementReason(378).
    Restated(u64),
    /// MassStatusReqID(584), TotNumReports(911), and whether the report is the last one.
    Listed {
        id: &'a [u8],
        total: u64,
        is_last: bool,
    },
}

/// Writes SecondaryOrderID(198): the number from a pool that the order has at its venue.
pub(super) fn put_pool_number(order: &Order, report: &mut Body<'_>) {
    if order.pool.is_some() {
        report.field(tag::SECONDARY_ORDER_ID, order.pool_number.bytes());
    }
}

/// Writes an ExecutionReport(8) of an order that is in memory.
pub(super) fn plain(
    state: &OmsState,
    order: Number,
    (kind, text, extra): (u8, &[u8], Option<Extra<'_>>),
    client: Client,
    outbox: &mut Outbox,
) {
    if let Some(order) = state.orders().get(order) {
        execution(state, order, (kind, text), extra, client, outbox);
    }
}

/// Writes ExecType(150), and up to FIX 4.2 ExecTransType(20).
fn put_exec_type(kind: u8, status: u8, client: Client, report: &mut Body<'_>) {
    if !client.is_old() {
        report.char(tag::EXEC_TYPE, kind);
        return;
    }
    let trans = match kind {
        b'H' => b'1',
        b'G' => b'2',
        b'I' => b'3',
        _ => b'0',
    };
    report.char(tag::EXEC_TRANS_TYPE, trans);
    // In these versions ExecType(150) does not have the values G, H and I, so it has the status of the order.
    report.char(tag::EXEC_TYPE, if trans == b'0' { kind } else { status });
}

/// Writes an ExecutionReport(8), with the event number as ExecID(17).
pub(super) fn execution(
    state: &OmsState,
    order: &Order,
    (kind, text): (u8, &[u8]),
    extra: Option<Extra<'_>>,
    client: Client,
    outbox: &mut Outbox,
) {
    let is_status = kind == b'I';
    let exec = if is_status { 0 } else { state.events() };
    let Scales {
        price: scale,
        quantity: parts,
    } = state.scales(order.instrument);
    let status = state.orders().status(order);
    let mut report = outbox.begin(client.session, b"8");
    report
        .uint(tag::ORDER_ID, order.number)
        .field(tag::CL_ORD_ID, order.id.bytes());
    put_pool_number(order, &mut report);
    if let Some(Extra::Original(id)) = extra {
        report.field(tag::ORIG_CL_ORD_ID, id.bytes());
    }
    if let Some(Extra::Listed { id, total, is_last }) = extra {
        report
            .field(tag::MASS_STATUS_REQ_ID, id)
            .uint(tag::TOT_NUM_REPORTS, total);
        if is_last {
            report.char(tag::LAST_RPT_REQUESTED, b'Y');
        }
    }
    state.exec_ids.put_own(tag::EXEC_ID, exec, &mut report);
    if let Some(Extra::Undone(of, _)) = extra {
        match of {
            ExecRef::Own(event) => state.exec_ids.put_own(tag::EXEC_REF_ID, event, &mut report),
            ExecRef::Venue(id) => {
                report.field(tag::EXEC_REF_ID, id);
            }
        }
    }
    put_exec_type(kind, status, client, &mut report);
    report.char(tag::ORD_STATUS, status);
    if let Some(Extra::Reject(reason)) = &extra {
        report.uint(tag::ORD_REJ_REASON, ord_rej_reason(reason, client.version));
    }
    if let Some(Extra::Restated(reason)) = extra {
        report.uint(tag::EXEC_RESTATEMENT_REASON, reason);
    }
    report
        .field(tag::ACCOUNT, state.accounts().name(order.account))
        .field(tag::SYMBOL, state.instruments().name(order.instrument))
        .char(tag::SIDE, order.side.byte())
        .quantity(tag::ORDER_QTY, order.quantity, parts)
        .char(tag::ORD_TYPE, order.kind.byte());
    if order.kind.has_price() {
        report.decimal(tag::PRICE, price(order.price, scale));
    }
    if order.kind.has_stop() {
        report.decimal(tag::STOP_PX, price(order.stop, scale));
    }
    report.char(tag::TIME_IN_FORCE, order.tif.byte());
    if let Some(until) = order.until {
        report.uint(tag::EXPIRE_DATE, until.into());
    }
    if client.is_copy && client.version >= Version::Fix44 {
        report.char(tag::COPY_MSG_INDICATOR, b'Y');
    }
    client.put_effect(order.effect, &mut report);
    if let Some(Extra::Fill(quantity, at) | Extra::Undone(_, (quantity @ 1.., at))) = extra {
        report
            .quantity(tag::LAST_QTY, quantity, parts)
            .decimal(tag::LAST_PX, price(at, scale));
    } else if client.is_old() {
        // FIX up to 4.2 requires both fields.
        report.uint(tag::LAST_QTY, 0).uint(tag::LAST_PX, 0);
    }
    report
        .quantity(tag::LEAVES_QTY, order.reported_leaves(), parts)
        .quantity(tag::CUM_QTY, order.filled, parts)
        .decimal(tag::AVG_PX, average(order.paid, order.filled, scale))
        .time(
            tag::TRANSACT_TIME,
            Timestamp(state.time()),
            Precision::Millis,
        );
    if !text.is_empty() {
        report.field(tag::TEXT, text);
    }
    if !state.spreads.is_empty() {
        spreads::put_spread(state, order, client.version, &mut report);
    }
    client.put_number(exec, &mut report);
    // The outbox has room: that was checked before the first event.
    let _ = report.finish();
    if order.quote_side != QuoteSide::None && !client.is_copy {
        let last = match extra {
            Some(Extra::Fill(quantity, _)) => quantity,
            _ => 0,
        };
        quotes::side_changed(state, order, kind, last, client, outbox);
    }
}

struct CancelReject<'a> {
    kind: RequestKind,
    id: &'a [u8],
    original: &'a [u8],
    reason: &'a Reason,
    /// The venue's Text(58).
    text: &'a [u8],
}

fn cancel_reject(
    state: &OmsState,
    order: Option<&Order>,
    reject: &CancelReject<'_>,
    client: Client,
    outbox: &mut Outbox,
) {
    let scales = order.map(|order| state.scales(order.instrument));
    let sentence = reason_text(state, reject.reason, scales.unwrap_or_default());
    let text = match (reject.reason.why, reject.text) {
        (Why::Venue, text) if !text.is_empty() => text,
        _ => sentence.bytes(),
    };
    let number = order.map(|order| digits(order.number));
    let mut report = outbox.begin(client.session, b"9");
    report.field(
        tag::ORDER_ID,
        number.as_ref().map_or(b"NONE", |it| it.bytes()),
    );
    if let Some(order) = order {
        put_pool_number(order, &mut report);
    }
    report
        .field(tag::CL_ORD_ID, reject.id)
        .field(tag::ORIG_CL_ORD_ID, reject.original)
        .char(
            tag::ORD_STATUS,
            order.map_or(b'8', |order| state.orders().status(order)),
        )
        .char(
            tag::CXL_REJ_RESPONSE_TO,
            if reject.kind == RequestKind::Cancel {
                b'1'
            } else {
                b'2'
            },
        )
        .uint(
            tag::CXL_REJ_REASON,
            cxl_rej_reason(reject.reason, client.version),
        )
        .field(tag::TEXT, text)
        .time(
            tag::TRANSACT_TIME,
            Timestamp(state.time()),
            Precision::Millis,
        );
    client.put_number(state.events(), &mut report);
    let _ = report.finish();
}

pub(super) fn refused(
    state: &OmsState,
    event: &RequestEvent<'_>,
    client: Client,
    outbox: &mut Outbox,
) {
    let RequestEvent::Refused {
        kind,
        order,
        id,
        original,
        ref reason,
        ..
    } = *event
    else {
        return;
    };
    if let Some(kind) = kind {
        let reject = CancelReject {
            kind,
            id,
            original,
            reason,
            text: b"",
        };
        let order = order.and_then(|order| state.orders().get(order));
        cancel_reject(state, order, &reject, client, outbox);
    }
}

/// ExecutionReport(8) for a rejected new order, with the fields of its message.
pub(crate) fn refused_new(
    state: &OmsState,
    reason: &Reason,
    new: &Message<'_>,
    client: Client,
    outbox: &mut Outbox,
) {
    let text = reason_text(state, reason, scales_of(state, new));
    let event = Some(state.events());
    not_there(state, reason, &text, new, client, event, outbox);
}

/// The decimals of the instrument that a request names by Symbol(55).
pub(crate) fn scales_of(state: &OmsState, request: &Message<'_>) -> Scales {
    let symbol = request.get(tag::SYMBOL);
    let instrument = symbol.and_then(|it| state.instruments().find(it));
    let scales = instrument.map(|instrument| state.scales(instrument));
    scales.unwrap_or_default()
}

/// ExecutionReport(8) with OrdStatus(39) = 8 and the fields of a request, for an order that the OMS does not have. It
/// reports the event with the given number, or is a status, which reports no event.
pub(crate) fn not_there(
    state: &OmsState,
    reason: &Reason,
    text: &Sentence,
    new: &Message<'_>,
    client: Client,
    event: Option<u64>,
    outbox: &mut Outbox,
) {
    let is_status = event.is_none();
    let exec = event.unwrap_or(0);
    let mut report = outbox.begin(client.session, b"8");
    report
        .field(tag::ORDER_ID, b"NONE")
        .field(tag::CL_ORD_ID, new.get(tag::CL_ORD_ID).unwrap_or(b"NONE"));
    state.exec_ids.put_own(tag::EXEC_ID, exec, &mut report);
    if client.is_old() {
        report.char(tag::EXEC_TRANS_TYPE, if is_status { b'3' } else { b'0' });
    }
    let kind = if is_status && !client.is_old() {
        b'I'
    } else {
        b'8'
    };
    report
        .char(tag::EXEC_TYPE, kind)
        .char(tag::ORD_STATUS, b'8')
        .uint(tag::ORD_REJ_REASON, ord_rej_reason(reason, client.version));
    for tag in [
        tag::ACCOUNT,
        tag::SYMBOL,
        tag::SIDE,
        tag::ORDER_QTY,
        tag::ORD_TYPE,
        tag::PRICE,
    ] {
        // A value that is too long for the OMS need not be returned.
        if let Some(value) = new.get(tag).filter(|value| value.len() <= Text::MAX) {
            report.field(tag, value);
        }
    }
    if client.is_old() {
        report.uint(tag::LAST_QTY, 0).uint(tag::LAST_PX, 0);
    }
    report
        .uint(tag::LEAVES_QTY, 0)
        .uint(tag::CUM_QTY, 0)
        .uint(tag::AVG_PX, 0)
        .time(
            tag::TRANSACT_TIME,
            Timestamp(state.time()),
            Precision::Millis,
        )
        .field(tag::TEXT, text.bytes());
    client.put_number(exec, &mut report);
    let _ = report.finish();
}
