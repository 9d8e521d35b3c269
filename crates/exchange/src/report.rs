//! Writes reports to members: ExecutionReport(8), OrderCancelReject(9), OrderMassCancelReport(r).

use alloc::vec::Vec;

use fixwire_protocol::{Decimal, tag};

use crate::dialect::{Dialect, Kind, Why};
use crate::fields::{FieldWriter, RequestFields};
use crate::instrument::{Instrument, average};
use crate::leg_config::LegConfig;
use crate::orders::Order;
use crate::spread::LegTrade;

/// Number of bytes that is enough for the fields of most reports.
const REPORT_ROOM: usize = 320;

/// Value of an id field when the order is unknown.
pub(crate) const NONE: &[u8] = b"NONE";

/// How an order was entered that trades or is deleted on entry. The report over TMP needs this.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry {
    /// Whether the report also acknowledges the entry of the order.
    pub(crate) acknowledges: bool,
    /// Whether the exchange has deleted the remaining quantity after this trade.
    pub(crate) ends: bool,
}

/// The content of an ExecutionReport(8) in addition to the data of the order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said<'a> {
    pub(crate) kind: Kind,
    /// ClOrdID(11); `None` for the order's current ClOrdID.
    pub(crate) cl_ord_id: Option<&'a [u8]>,
    /// OrigClOrdID(41).
    pub(crate) orig_cl_ord_id: Option<&'a [u8]>,
    /// Quantity in lots and price in ticks of a trade.
    pub(crate) last: Option<(u64, i64)>,
    /// The legs of a trade in a spread.
    pub(crate) legs: Option<[LegTrade; 2]>,
    /// Facts about the entry of the order, for TMP.
    pub(crate) entry: Entry,
    pub(crate) text: &'a str,
    /// Fields that answer a mass request.
    pub(crate) more: &'a [u8],
}

impl Said<'_> {
    pub(crate) fn of(kind: Kind) -> Self {
        Self {
            kind,
            cl_ord_id: None,
            orig_cl_ord_id: None,
            last: None,
            legs: None,
            entry: Entry::default(),
            text: "",
            more: b"",
        }
    }
}

/// The body of a report on an order. `None` when the member's FIX version has no ExecType(150) for it. A status
/// report has ExecID(17) = 0, because it reports no execution.
pub(crate) fn execution(
    dialect: Dialect,
    order: &Order,
    instrument: &Instrument,
    exec_id: u64,
    time: &[u8],
    said: &Said<'_>,
) -> Option<Vec<u8>> {
    let status = match said.kind {
        Kind::Trade if order.closed.or(order.pending).is_none() => b'1',
        _ => order.status(dialect),
    };
    let mut out = FieldWriter(Vec::with_capacity(REPORT_ROOM));
    out.uint(tag::ORDER_ID, order.id);
    out.put(tag::CL_ORD_ID, said.cl_ord_id.unwrap_or(order.cl_ord_id()));
    out.put(tag::ORIG_CL_ORD_ID, said.orig_cl_ord_id.unwrap_or_default());
    out.uint(tag::EXEC_ID, exec_id);
    if let Some(code) = dialect.exec_trans_type(said.kind) {
        out.char(tag::EXEC_TRANS_TYPE, code);
    }
    out.char(tag::EXEC_TYPE, dialect.exec_type(said.kind, status)?);
    out.char(tag::ORD_STATUS, status);
    out.put(tag::ACCOUNT, &order.account);
    out.put(tag::SYMBOL, instrument.symbol.as_bytes());
    out.char(tag::SIDE, order.side);
    out.decimal(tag::ORDER_QTY, instrument.quantity(order.quantity));
    out.char(tag::ORD_TYPE, order.ord_type);
    out.optional(tag::PRICE, order.price.map(|price| instrument.price(price)));
    out.optional(tag::STOP_PX, order.stop.map(|stop| instrument.price(stop)));
    out.char(tag::TIME_IN_FORCE, order.time_in_force);
    let display = order.display.map(|display| instrument.quantity(display));
    out.optional(display_tag(dialect), display);
    if let Some((lots, ticks)) = said.last {
        out.decimal(tag::LAST_QTY, instrument.quantity(lots));
        out.decimal(tag::LAST_PX, instrument.price(ticks));
    }
    out.decimal(tag::LEAVES_QTY, instrument.quantity(order.leaves()));
    out.decimal(tag::CUM_QTY, instrument.quantity(order.filled));
    out.decimal(
        tag::AVG_PX,
        average(order.notional, order.filled, instrument.tick),
    );
    out.put(tag::TRANSACT_TIME, time);
    out.put(tag::TEXT, said.text.as_bytes());
    if instrument.legs.is_some() {
        put_security_type(dialect, &mut out);
        out.char(tag::MULTI_LEG_REPORTING_TYPE, b'3');
    }
    out.0.extend_from_slice(said.more);
    Some(out.0)
}

/// Writes SecurityType(167) = MLEG; in FIX 4.2, which does not have this value, writes nothing.
fn put_security_type(dialect: Dialect, out: &mut FieldWriter) {
    if dialect > Dialect::Fix42 {
        out.put(tag::SECURITY_TYPE, b"MLEG");
    }
}

/// The body of a report on one leg of a trade, in quantities of the leg. AvgPx(6) is 0, because only orders have an
/// average price.
pub(crate) fn leg_execution(
    dialect: Dialect,
    (order, spread): (&Order, &Instrument),
    exec_id: u64,
    time: &[u8],
    (leg, trade): (&LegConfig, &LegTrade),
) -> Vec<u8> {
    let status = match order.closed.or(order.pending) {
        Some(_) => order.status(dialect),
        None => b'1',
    };
    let quantity = |lots: u64| {
        let all = spread.quantity(lots);
        let mantissa = all.mantissa.saturating_mul(leg.ratio.into());
        Decimal::new(mantissa, all.scale).unwrap_or_default()
    };
    let mut out = FieldWriter(Vec::with_capacity(REPORT_ROOM));
    out.uint(tag::ORDER_ID, order.id);
    out.put(tag::CL_ORD_ID, order.cl_ord_id());
    out.uint(tag::EXEC_ID, exec_id);
    if let Some(code) = dialect.exec_trans_type(Kind::Trade) {
        out.char(tag::EXEC_TRANS_TYPE, code);
    }
    if let Some(code) = dialect.exec_type(Kind::Trade, status) {
        out.char(tag::EXEC_TYPE, code);
    }
    out.char(tag::ORD_STATUS, status);
    out.put(tag::ACCOUNT, &order.account);
    out.put(tag::SYMBOL, leg.symbol.as_bytes());
    out.char(tag::SIDE, trade.side);
    out.decimal(tag::ORDER_QTY, quantity(order.quantity));
    out.decimal(tag::LAST_QTY, trade.quantity);
    out.decimal(tag::LAST_PX, trade.price);
    out.decimal(tag::LEAVES_QTY, quantity(order.leaves()));
    out.decimal(tag::CUM_QTY, quantity(order.filled));
    out.decimal(tag::AVG_PX, Decimal::from_int(0));
    out.put(tag::TRANSACT_TIME, time);
    out.char(tag::MULTI_LEG_REPORTING_TYPE, b'2');
    out.0
}

/// The tag of the displayed quantity: DisplayQty(1138) since FIX 5.0 SP1, MaxFloor(111) in earlier versions.
pub(crate) fn display_tag(dialect: Dialect) -> u32 {
    if dialect >= Dialect::Fix50Sp1 {
        tag::DISPLAY_QTY
    } else {
        tag::MAX_FLOOR
    }
}

/// The content of an answer about an order that was rejected, or that is unknown to the exchange.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoOrder<'a> {
    pub(crate) kind: Kind,
    pub(crate) order_id: &'a [u8],
    pub(crate) exec_id: u64,
    pub(crate) why: Why,
    pub(crate) text: &'a str,
    pub(crate) more: &'a [u8],
}

/// The body of an ExecutionReport(8) about an order that was rejected, or that is unknown to the exchange. The report
/// repeats fields of the request.
pub(crate) fn no_order(
    dialect: Dialect,
    request: RequestFields<'_>,
    time: &[u8],
    said: &NoOrder<'_>,
) -> Vec<u8> {
    let mut out = FieldWriter(Vec::with_capacity(REPORT_ROOM));
    out.put(tag::ORDER_ID, said.order_id);
    out.put(tag::CL_ORD_ID, request.text(tag::CL_ORD_ID));
    out.uint(tag::EXEC_ID, said.exec_id);
    if let Some(code) = dialect.exec_trans_type(said.kind) {
        out.char(tag::EXEC_TRANS_TYPE, code);
    }
    if let Some(code) = dialect.exec_type(said.kind, b'8') {
        out.char(tag::EXEC_TYPE, code);
    }
    out.char(tag::ORD_STATUS, b'8');
    out.uint(tag::ORD_REJ_REASON, dialect.ord_rej_reason(said.why));
    // The report must have a symbol and a side, but a mass request may lack them.
    for (needed, stand_in) in [(tag::SYMBOL, b"[N/A]".as_slice()), (tag::SIDE, b"7")] {
        out.put(needed, request.get(needed).unwrap_or(stand_in));
    }
    for repeated in [
        tag::ACCOUNT,
        tag::ORDER_QTY,
        tag::ORD_TYPE,
        tag::PRICE,
        tag::STOP_PX,
        tag::TIME_IN_FORCE,
    ] {
        out.put(repeated, request.text(repeated));
    }
    let zero = Decimal::from_int(0);
    out.decimal(tag::LEAVES_QTY, zero);
    out.decimal(tag::CUM_QTY, zero);
    out.decimal(tag::AVG_PX, zero);
    out.put(tag::TRANSACT_TIME, time);
    out.put(tag::TEXT, said.text.as_bytes());
    out.0.extend_from_slice(said.more);
    out.0
}

/// The body of an OrderCancelReject(9). `order` is the order that the request refers to; `None` if it is unknown.
pub(crate) fn cancel_reject(
    dialect: Dialect,
    request: RequestFields<'_>,
    is_replace: bool,
    order: Option<&Order>,
    time: &[u8],
    (why, text): (Why, &str),
) -> Vec<u8> {
    let mut out = FieldWriter(Vec::with_capacity(REPORT_ROOM));
    match order {
        Some(order) => out.uint(tag::ORDER_ID, order.id),
        None => out.put(tag::ORDER_ID, NONE),
    };
    out.put(tag::CL_ORD_ID, request.text(tag::CL_ORD_ID));
    out.put(tag::ORIG_CL_ORD_ID, request.text(tag::ORIG_CL_ORD_ID));
    let status = order.map_or(b'8', |order| order.status(dialect));
    out.char(tag::ORD_STATUS, status);
    out.put(tag::TRANSACT_TIME, time);
    out.char(
        tag::CXL_REJ_RESPONSE_TO,
        if is_replace { b'2' } else { b'1' },
    );
    out.uint(tag::CXL_REJ_REASON, dialect.cxl_rej_reason(why));
    out.put(tag::TEXT, text.as_bytes());
    out.0
}

/// The body of an OrderMassCancelReport(r). `done` is the number of cancelled orders, or the reject reason.
pub(crate) fn mass_cancel(
    dialect: Dialect,
    request: RequestFields<'_>,
    id: u64,
    time: &[u8],
    done: Result<u64, (u64, &str)>,
) -> Vec<u8> {
    let mut out = FieldWriter(Vec::with_capacity(REPORT_ROOM));
    out.put(tag::CL_ORD_ID, request.text(tag::CL_ORD_ID));
    out.uint(tag::ORDER_ID, id);
    if dialect >= Dialect::Fix50Sp1 {
        out.uint(tag::MASS_ACTION_REPORT_ID, id);
    }
    let asked = request.text(tag::MASS_CANCEL_REQUEST_TYPE);
    out.put(tag::MASS_CANCEL_REQUEST_TYPE, asked);
    match done {
        Ok(count) => {
            out.put(tag::MASS_CANCEL_RESPONSE, asked);
            out.uint(tag::TOTAL_AFFECTED_ORDERS, count);
        }
        Err((reason, _)) => {
            out.char(tag::MASS_CANCEL_RESPONSE, b'0');
            out.uint(tag::MASS_CANCEL_REJECT_REASON, reason);
        }
    }
    out.put(tag::SYMBOL, request.text(tag::SYMBOL));
    out.put(tag::TRANSACT_TIME, time);
    if let Err((_, text)) = done {
        out.put(tag::TEXT, text.as_bytes());
    }
    out.0
}
