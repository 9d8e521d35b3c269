//! Messages on sessions to venues: writes orders and requests, reads reports.

pub(crate) mod names;

use alloc::vec::Vec;

use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{
    Body, Decimal, Dictionary, Indexed, Outbox, Precision, SessionId, Tag, Timestamp, tag, value,
};
use siphasher::sip::SipHasher13;

use super::PutQuantity as _;
use super::carried::{CarriedPart, ConvertedFields, LineContract};
use super::inquiries;
use super::spreads::put_security_type;
use crate::decide::venue::{ReportKind, VenueId, VenueReport, cut};
use crate::state::OmsState;
use crate::state::event::Outgoing;
use crate::state::orders::transition::OrderState;
use crate::state::orders::{Order, Request};
use crate::values::canary::{self, OmsPlantedFault};
use crate::values::ids::SessionNo;
use crate::values::locate::put_locate;
use crate::values::show::{Digits, digits, price, two_numbers};
use crate::values::units::Scales;
use crate::values::value::{Effect, End, Number, RequestKind, Side};
use names::{Named, NamingLine};

/// The ClOrdID(11) that an order or request has at the venue.
pub(crate) fn venue_id(order: Number, request: Number) -> Digits {
    if order == request {
        digits(order)
    } else {
        two_numbers(order, request)
    }
}

/// CxlType(125), which only FIX 4.0 requires in an OrderCancelRequest(F): `F` cancels all that is open.
const CXL_TYPE: Tag = 125;

/// The requests to venues, and the fields that the OMS writes into them only if the line's dictionary has them.
const OPTIONAL: [(&[u8], &[Tag]); 4] = [
    (b"D", &[tag::ACCOUNT, tag::HANDL_INST, tag::TRANSACT_TIME]),
    (
        b"G",
        &[
            tag::ACCOUNT,
            tag::HANDL_INST,
            tag::TRANSACT_TIME,
            tag::LOCATE_REQD,
        ],
    ),
    (
        b"F",
        &[tag::ACCOUNT, tag::SIDE, tag::TRANSACT_TIME, tag::ORDER_QTY],
    ),
    (b"R", &[tag::NO_RELATED_SYM]),
];

/// What the dictionary of a line makes of the OMS's own fields in requests.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct RequestForm {
    /// The fields of [`OPTIONAL`] that the dictionary does not have: for each request the bits of their places.
    left_out: [u8; OPTIONAL.len()],
    /// Whether a cancel must have a CxlType(125).
    needs_cxl_type: bool,
}

impl RequestForm {
    /// The form of requests with a dictionary; the usual form of a request that the dictionary does not have.
    pub(crate) fn of(dictionary: &Dictionary) -> Self {
        let cancel = dictionary.message(b"F");
        let cxl_type = cancel.and_then(|it| it.member(CXL_TYPE));
        let left_out = OPTIONAL.map(|(msg_type, tags)| {
            let Some(message) = dictionary.message(msg_type) else {
                return 0;
            };
            let lacks = |(at, tag): (usize, &Tag)| {
                let bit = u8::from(message.member(*tag).is_none());
                bit << at
            };
            tags.iter().enumerate().map(lacks).sum()
        });
        Self {
            left_out,
            needs_cxl_type: cxl_type.is_some_and(|it| it.required),
        }
    }

    /// The fields that a request does not have.
    pub(crate) fn left_out(self, msg_type: &str) -> impl Iterator<Item = Tag> {
        let all = OPTIONAL.iter().zip(self.left_out);
        let its = all.filter(move |((of, _), _)| *of == msg_type.as_bytes());
        its.flat_map(|((_, tags), bits)| {
            let places = tags.iter().enumerate();
            let left = places.filter(move |(at, _)| (bits >> at) & 1 == 1);
            left.map(|(_, tag)| *tag)
        })
    }

    /// Whether a request does not have a field.
    #[inline]
    fn leaves(self, msg_type: &[u8], tag: Tag) -> bool {
        // Most dictionaries have all of these fields.
        self != Self::default() && self.finds(msg_type, tag)
    }

    #[cold]
    fn finds(self, msg_type: &[u8], tag: Tag) -> bool {
        let mut all = OPTIONAL.iter().zip(self.left_out);
        all.any(|((of, tags), bits)| {
            let place = tags.iter().position(|it| *it == tag);
            *of == msg_type && place.is_some_and(|at| (bits >> at) & 1 == 1)
        })
    }
}

/// What the writers of messages need to know of a line.
#[derive(Clone, Copy)]
pub(crate) struct VenueLine<'a> {
    pub session: SessionId,
    pub version: Version,
    /// The contract of the line's group; `None` if it names no field.
    pub contract: Option<&'a LineContract>,
    /// Tags of the order's fields that the OMS's own requests repeat: first those of a cancel, then those of a status
    /// request.
    pub whose: &'a [Vec<Tag>; 2],
    /// What the line's dictionary makes of the OMS's own fields.
    pub form: RequestForm,
    /// The carried fields that were converted for the line.
    pub converted: &'a ConvertedFields,
    /// The names that requests on the line have.
    pub names: NamingLine<'a>,
}

/// Writes the order, request or status request that an event sends.
pub(crate) fn send(
    state: &OmsState,
    sent: &Outgoing<'_>,
    line: VenueLine<'_>,
    outbox: &mut Outbox,
) {
    match *sent {
        Outgoing::Request(number) => {
            if let Some(order) = state.orders().get(number) {
                if canary::is(OmsPlantedFault::TriggerTwice) && order.triggered {
                    new_order(state, order, line, outbox);
                }
                new_order(state, order, line, outbox);
            } else if let Some((request, order)) = state.orders().request(number) {
                change(state, order, request, line, outbox);
            }
        }
        Outgoing::Quote(order) => {
            let sides = [order, order + 1].into_iter();
            for order in sides.filter_map(|side| state.orders().get(side)) {
                new_order(state, order, line, outbox);
            }
        }
        Outgoing::Inquiry(ref inquiry) => {
            let has_group = !line.form.leaves(b"R", tag::NO_RELATED_SYM);
            inquiries::send(state, inquiry, line.session, has_group, line.names, outbox);
        }
        Outgoing::StrayCancel {
            order,
            former,
            request,
        } => {
            if let Some(order) = state.orders().get(order) {
                cancel_stray(state, order, former, request, line, outbox);
            }
        }
        Outgoing::MassStatus { at } => ask_for_all(at, line.session, outbox),
        Outgoing::Status(order) => {
            if let Some(order) = state.orders().get(order) {
                if canary::is(OmsPlantedFault::ResendUnknown) && order.state == OrderState::Unknown
                {
                    return new_order(state, order, line, outbox);
                }
                ask(state, order, line, outbox);
            }
        }
    }
}

fn new_order(state: &OmsState, order: &Order, line: VenueLine<'_>, outbox: &mut Outbox) {
    let Scales {
        price: scale,
        quantity: parts,
    } = state.scales(order.instrument);
    let kind = order.sent_kind();
    let names = Named::of(state, order, b"D", line.names);
    let mut out = outbox.begin(line.session, b"D");
    let carries = !state.carried.is_empty() || line.contract.is_some();
    let carried = carries.then(|| CarriedPart {
        msg_type: b"D",
        fields: line.converted.of(state, order.number),
        only: None,
        contract: line.contract,
        names,
    });
    if let Some(carried) = &carried {
        carried.put_header(&mut out);
    }
    // An order that was sent again has a ClOrdID(11) that differs from its number.
    if order.current == order.number {
        out.uint(tag::CL_ORD_ID, order.number);
    } else {
        let id = venue_id(order.number, order.current);
        out.field(tag::CL_ORD_ID, id.bytes());
    }
    put_pool_number(state, order, &mut out);
    let leaves = |tag| line.form.leaves(b"D", tag);
    if !names.is_own_account() || !leaves(tag::ACCOUNT) {
        names.put_account(state, order.account, &mut out);
    }
    if !leaves(tag::HANDL_INST) {
        out.char(tag::HANDL_INST, b'1');
    }
    names.put_instrument(state, order.instrument, &mut out);
    out.char(tag::SIDE, order.side.byte());
    if !leaves(tag::TRANSACT_TIME) {
        put_time(state, &mut out);
    }
    out.quantity(tag::ORDER_QTY, order.quantity, parts)
        .char(tag::ORD_TYPE, kind.byte());
    if kind.has_price() {
        out.decimal(tag::PRICE, price(order.price, scale));
    }
    if kind.has_stop() {
        out.decimal(tag::STOP_PX, price(order.stop, scale));
    }
    put_validity(order, &mut out);
    if !state.locates.is_empty() {
        put_locate(state.locates.of(order.number), &mut out);
    }
    if !state.spreads.is_empty() {
        put_security_type(state, order, line.version, &mut out);
    }
    if let Some(carried) = &carried {
        carried.put_body(&mut out);
    }
    let _ = out.finish();
}

fn put_time(state: &OmsState, out: &mut Body<'_>) {
    let now = Timestamp(state.time());
    out.time(tag::TRANSACT_TIME, now, Precision::Millis);
}

fn put_validity(order: &Order, out: &mut Body<'_>) {
    out.char(tag::TIME_IN_FORCE, order.tif.byte());
    if let Some(until) = order.until {
        out.uint(tag::EXPIRE_DATE, until.into());
    }
    if let Some(effect) = order.effect.field() {
        out.char(tag::POSITION_EFFECT, effect);
    }
}

/// Writes the number from a pool, in the tag of the pool.
fn put_pool_number(state: &OmsState, order: &Order, out: &mut Body<'_>) {
    if let Some(pool) = order.pool.and_then(|pool| state.pools.get(pool)) {
        out.field(pool.tag, order.pool_number.bytes());
    }
}

fn change(
    state: &OmsState,
    order: &Order,
    request: &Request,
    line: VenueLine<'_>,
    outbox: &mut Outbox,
) {
    let Scales {
        price: scale,
        quantity: parts,
    } = state.scales(order.instrument);
    let kind = order.sent_kind();
    let is_replace = request.kind == RequestKind::Replace;
    let msg_type: &[u8] = if is_replace { b"G" } else { b"F" };
    let names = Named::of(state, order, msg_type, line.names);
    let mut out = outbox.begin(line.session, msg_type);
    let carries = !state.carried.is_empty() || line.contract.is_some();
    let carried = carries.then(|| {
        let is_ours = !is_replace && request.id.bytes().is_empty();
        let of = if is_ours {
            order.number
        } else {
            request.number
        };
        CarriedPart {
            msg_type,
            fields: line.converted.of(state, of),
            only: is_ours.then_some(&line.whose[0]),
            contract: line.contract,
            names,
        }
    });
    if let Some(carried) = &carried {
        carried.put_header(&mut out);
    }
    out.field(
        tag::ORIG_CL_ORD_ID,
        venue_id(order.number, order.current).bytes(),
    )
    .field(
        tag::CL_ORD_ID,
        venue_id(order.number, request.number).bytes(),
    );
    put_pool_number(state, order, &mut out);
    let leaves = |tag| line.form.leaves(msg_type, tag);
    if !names.is_own_account() || !leaves(tag::ACCOUNT) {
        names.put_account(state, order.account, &mut out);
    }
    if is_replace && !leaves(tag::HANDL_INST) {
        out.char(tag::HANDL_INST, b'1');
    }
    names.put_instrument(state, order.instrument, &mut out);
    if !leaves(tag::SIDE) {
        out.char(tag::SIDE, order.side.byte());
    }
    if !leaves(tag::TRANSACT_TIME) {
        put_time(state, &mut out);
    }
    if is_replace {
        out.quantity(tag::ORDER_QTY, request.quantity, parts)
            .char(tag::ORD_TYPE, kind.byte());
        if kind.has_price() {
            out.decimal(tag::PRICE, price(request.price, scale));
        }
        if kind.has_stop() {
            out.decimal(tag::STOP_PX, price(order.stop, scale));
        }
        put_validity(order, &mut out);
        if !state.locates.is_empty() {
            let mut locate = state.locates.of(order.number);
            if leaves(tag::LOCATE_REQD) {
                locate.reqd = 0;
            }
            put_locate(locate, &mut out);
        }
    } else if !leaves(tag::ORDER_QTY) {
        out.quantity(tag::ORDER_QTY, order.quantity, parts);
    }
    if line.form.needs_cxl_type
        && !is_replace
        && !carried.as_ref().is_some_and(|it| it.writes(CXL_TYPE))
    {
        out.char(CXL_TYPE, b'F');
    }
    if !state.spreads.is_empty() {
        put_security_type(state, order, line.version, &mut out);
    }
    if let Some(carried) = &carried {
        carried.put_body(&mut out);
    }
    let _ = out.finish();
}

/// Writes a cancel of an order that is closed in the OMS and open at the venue.
#[cold]
fn cancel_stray(
    state: &OmsState,
    order: &Order,
    former: Number,
    request: Number,
    line: VenueLine<'_>,
    outbox: &mut Outbox,
) {
    let order = Order {
        current: former,
        ..order.clone()
    };
    let request = Request::cancel(request);
    change(state, &order, &request, line, outbox);
}

fn ask(state: &OmsState, order: &Order, line: VenueLine<'_>, outbox: &mut Outbox) {
    let decides = match state.remade.is_empty() {
        true => None,
        false => state.deciding(order),
    };
    let current = decides.unwrap_or(order.current);
    let names = Named::of(state, order, b"H", line.names);
    let mut out = outbox.begin(line.session, b"H");
    let carried = (!state.carried.is_empty()).then(|| CarriedPart {
        msg_type: b"H",
        fields: line.converted.of(state, order.number),
        only: Some(&line.whose[1]),
        contract: line.contract,
        names,
    });
    if let Some(carried) = &carried {
        carried.put_header(&mut out);
    }
    out.field(tag::CL_ORD_ID, venue_id(order.number, current).bytes());
    put_pool_number(state, order, &mut out);
    names.put_venue_account(&mut out);
    names.put_instrument(state, order.instrument, &mut out);
    out.char(tag::SIDE, order.side.byte());
    if let Some(carried) = &carried {
        carried.put_body(&mut out);
    }
    let _ = out.finish();
}

/// Writes an OrderMassStatusRequest(AF) for all orders of a line.
#[cold]
fn ask_for_all(at: i64, line: SessionId, outbox: &mut Outbox) {
    let mut out = outbox.begin(line, b"AF");
    out.uint(tag::MASS_STATUS_REQ_ID, at.unsigned_abs())
        .char(tag::MASS_STATUS_REQ_TYPE, b'7');
    let _ = out.finish();
}

/// Reads an ExecutionReport(8); `None` when it has no ExecType(150).
pub(crate) fn report<'a>(
    line: SessionNo,
    message: &Indexed<'_, 'a>,
    version: Version,
    hashed: HashedExecs,
) -> Option<VenueReport<'a>> {
    let text_id = message.get(tag::CL_ORD_ID).unwrap_or(b"NONE");
    report_with(line, message, version, text_id, hashed)
}

/// The reports whose ExecID(17) is hashed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum HashedExecs {
    All,
    /// Reports of trades, and of states that may include trades. For other reports [`VenueReport::exec`] is 0.
    Trades,
}

impl HashedExecs {
    /// What the core needs of the reports of lines.
    #[inline]
    pub(crate) fn of_lines(state: &OmsState) -> Self {
        match state.exec_ids.is_on() || !state.spreads.is_empty() {
            true => Self::All,
            false => Self::Trades,
        }
    }

    #[inline]
    pub(crate) fn has(self, kind: ReportKind) -> bool {
        self == Self::All
            || match kind {
                ReportKind::New
                | ReportKind::Replaced
                | ReportKind::Rejected
                | ReportKind::End(_)
                | ReportKind::Other => false,
                ReportKind::Fill
                | ReportKind::Renewed
                | ReportKind::Bust
                | ReportKind::Correct
                | ReportKind::Restated
                | ReportKind::Status(_) => true,
            }
    }
}

/// Reads a drop copy of an ExecutionReport(8), which may have no ClOrdID(11); `None` when it has no ExecType(150).
#[cold]
pub(crate) fn copy<'a>(
    line: SessionNo,
    message: &Indexed<'_, 'a>,
    version: Version,
) -> Option<VenueReport<'a>> {
    let text_id = message.get(tag::CL_ORD_ID).unwrap_or_default();
    report_with(line, message, version, text_id, HashedExecs::All)
}

/// The OrdStatus(39) of an answer to a status request, without 5 (Replaced). Up to FIX 4.3, an open order that was
/// replaced may have the value 5.
fn standing(status: u8, filled: Option<Decimal>) -> u8 {
    match status {
        b'5' if filled.is_some_and(|filled| filled.mantissa > 0) => b'1',
        b'5' => b'0',
        status => status,
    }
}

#[inline(always)]
fn report_with<'a>(
    line: SessionNo,
    message: &Indexed<'_, 'a>,
    version: Version,
    text_id: &'a [u8],
    hashed: HashedExecs,
) -> Option<VenueReport<'a>> {
    let original = message.get(tag::ORIG_CL_ORD_ID).and_then(VenueId::parse);
    let decimal = |tag| message.decimal(tag).and_then(Result::ok);
    let byte = |tag| match message.get(tag) {
        Some([byte]) => Some(*byte),
        _ => None,
    };
    let exec_id = message.get(tag::EXEC_ID).unwrap_or_default();
    let at = message.time(tag::TRANSACT_TIME).and_then(Result::ok);
    let last_quantity = decimal(tag::LAST_QTY);
    let is_old = version <= Version::Fix42;
    let trans = byte(tag::EXEC_TRANS_TYPE).filter(|_| is_old);
    let is_status = trans == Some(b'3');
    let status = byte(tag::ORD_STATUS).unwrap_or_default();
    let filled = decimal(tag::CUM_QTY);
    // FIX 4.0 has no ExecType(150), and the report of a bust may have any ExecType.
    let is_undo = matches!(trans, Some(b'1' | b'2'));
    let has_type = version > Version::Fix40 && !is_undo;
    let exec_type = byte(tag::EXEC_TYPE).or((!has_type).then_some(status))?;
    let status = match is_status || exec_type == b'I' {
        true => standing(status, filled),
        false => status,
    };
    let traded = last_quantity.is_some_and(|quantity| quantity.mantissa > 0);
    let kind = match exec_type {
        _ if is_status => ReportKind::Status(status),
        _ if trans == Some(b'1') => ReportKind::Bust,
        _ if trans == Some(b'2') => ReportKind::Correct,
        b'I' => ReportKind::Status(status),
        b'0' => ReportKind::New,
        b'F' => ReportKind::Fill,
        b'1' | b'2' if traded => ReportKind::Fill,
        b'5' => ReportKind::Replaced,
        b'8' => ReportKind::Rejected,
        // An order that is good till cancel or till a date is open again on the new day.
        b'D' if message.get(tag::EXEC_RESTATEMENT_REASON) == Some(b"1") => ReportKind::Renewed,
        b'D' => ReportKind::Restated,
        b'G' => ReportKind::Correct,
        b'H' => ReportKind::Bust,
        how @ (b'3' | b'4' | b'C') => ReportKind::End(End::of(how)?),
        _ => ReportKind::Other,
    };
    Some(VenueReport {
        line,
        id: VenueId::parse(text_id).unwrap_or_default(),
        original,
        text_id,
        kind,
        venue_id: message.get(tag::ORDER_ID).unwrap_or_default(),
        exec: match hashed.has(kind) {
            true => SipHasher13::new().hash(exec_id),
            false => 0,
        },
        last_quantity,
        last_price: decimal(tag::LAST_PX),
        filled,
        leaves: decimal(tag::LEAVES_QTY),
        average: decimal(tag::AVG_PX),
        reference: kind
            .is_undo()
            .then(|| message.get(tag::EXEC_REF_ID))
            .flatten()
            .map(|id| SipHasher13::new().hash(id)),
        fill_id: message.get(tag::EXEC_REF_ID).unwrap_or_default(),
        quantity: decimal(tag::ORDER_QTY),
        price: decimal(tag::PRICE),
        account: message.get(tag::ACCOUNT).unwrap_or_default(),
        symbol: message.get(tag::SYMBOL).unwrap_or_default(),
        side: byte(tag::SIDE).and_then(Side::of),
        effect: byte(tag::POSITION_EFFECT)
            .and_then(Effect::of)
            .filter(|effect| matches!(effect, Effect::Open | Effect::Close)),
        status,
        at: at.map_or(0, |at| at.0),
        reason: match kind {
            ReportKind::Rejected => message.get(tag::ORD_REJ_REASON),
            ReportKind::Restated | ReportKind::Renewed => message.get(tag::EXEC_RESTATEMENT_REASON),
            _ => None,
        }
        .and_then(|reason| value::uint(reason).ok()),
        text: cut(message.get(tag::TEXT).unwrap_or_default()),
    })
}
