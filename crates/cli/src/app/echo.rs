//! A venue that accepts orders and never fills them.
//!
//! ```text
//! NewOrderSingle             > ExecutionReport: New, or Rejected with a Text
//! OrderCancelRequest         > ExecutionReport: Canceled   or OrderCancelReject
//! OrderCancelReplaceRequest  > ExecutionReport: Replaced   or OrderCancelReject
//! any other message          > BusinessMessageReject; before FIX 4.2 a Reject
//! ```
//!
//! A report has those fields of the request that the session's dictionary allows in a report. OrderIDs and ExecIDs are
//! numbers from one counter, which starts at a random value.

mod book;
mod layout;

use std::cmp::Ordering;
use std::hash::{BuildHasher, RandomState};

use fixwire::EngineConfig;
use fixwire_protocol::session::{BeginString, Config};
use fixwire_protocol::{
    Application, Body, BodyError, Decimal, Message, Now, Outbox, Precision, Refusal, SessionId,
    Tag, TimestampWriter, tag,
};

use book::{EchoBook, EchoOrder, EchoState};
use layout::Layout;

const NEW_ORDER_SINGLE: &[u8] = b"D";
const ORDER_CANCEL_REQUEST: &[u8] = b"F";
const ORDER_CANCEL_REPLACE_REQUEST: &[u8] = b"G";
const EXECUTION_REPORT: &[u8] = b"8";
const ORDER_CANCEL_REJECT: &[u8] = b"9";

/// Text(58) and its encoded form.
const TEXTS: [Tag; 3] = [tag::TEXT, tag::ENCODED_TEXT_LEN, tag::ENCODED_TEXT];
/// Fields that the report of a cancelled order copies from the order.
const OF_THE_ORDER: [Tag; 3] = [tag::SYMBOL, tag::SIDE, tag::ORDER_QTY];

/// Answers an order with a report that has the order's fields.
pub struct OrderEcho {
    sessions: Vec<Venue>,
    book: EchoBook,
    next_id: u64,
    stamp: TimestampWriter,
}

/// The properties of a session that determine the answers on it.
struct Venue {
    layout: Layout,
    /// Number of digits of TransactTime(60).
    precision: Precision,
}

impl Venue {
    fn of(session: &Config) -> Self {
        Self {
            layout: Layout::of(session),
            precision: if session.begin_string < BeginString::Fix42 {
                Precision::Seconds
            } else {
                session.precision
            },
        }
    }
}

/// The state of an order in an ExecutionReport.
struct Report<'a> {
    order_id: u64,
    /// The values of the order. The request does not always have these values. `None` for an unknown order.
    order: Option<&'a EchoOrder>,
    orig_cl_ord_id: Option<&'a [u8]>,
    what: What,
    /// LeavesQty(151): OrderQty(38) while the order is open, otherwise 0.
    leaves: &'a [u8],
    text: Option<&'a str>,
}

/// ExecType(150) with its OrdStatus(39).
#[derive(Clone, Copy, Eq, PartialEq)]
enum What {
    New,
    Canceled,
    Replaced,
    Rejected,
    /// A possible duplicate of a known order; the value is the order's present OrdStatus(39).
    Status(u8),
}

impl What {
    /// ExecType(150) and OrdStatus(39). From FIX 4.3 on, a replaced order has OrdStatus New, and the answer to a status
    /// request has its own ExecType.
    fn codes(self, up_to_fix42: bool) -> (u8, u8) {
        match self {
            Self::New => (b'0', b'0'),
            Self::Canceled => (b'4', b'4'),
            Self::Replaced => (b'5', if up_to_fix42 { b'5' } else { b'0' }),
            Self::Rejected => (b'8', b'8'),
            Self::Status(status) if up_to_fix42 => (status, status),
            Self::Status(status) => (b'I', status),
        }
    }
}

/// Why a cancel or a replace is rejected.
struct CancelReject<'a> {
    /// The order that the request names; `None` when it is unknown.
    order: Option<&'a EchoOrder>,
    /// CxlRejReason(102), if the FIX version has the field.
    reason: &'static str,
    text: &'a str,
}

impl OrderEcho {
    /// An application for the sessions of an engine.
    pub fn new(config: &EngineConfig) -> Self {
        let sessions = config.sessions.iter();
        // The key of the hasher is random. FIX 4.0 requires a numeric ExecID(17); here it has at most 18 digits.
        let anywhere = RandomState::new().hash_one(()) % 900_000_000_000_000_000;
        Self {
            sessions: sessions
                .map(|session| Venue::of(&session.session))
                .collect(),
            book: EchoBook::default(),
            next_id: 1 + anywhere,
            stamp: TimestampWriter::new(),
        }
    }

    fn venue(&self, session: SessionId) -> Result<&Venue, Refusal> {
        venue(&self.sessions, session)
    }

    fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    fn order(
        &mut self,
        now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let cl_ord_id = required(message, tag::CL_ORD_ID)?;
        if message.is_poss_resend()
            && let Some(order) = self.book.get(from, cl_ord_id).cloned()
        {
            let open = order.state == EchoState::Open;
            let report = Report {
                order_id: order.id,
                order: Some(&order),
                orig_cl_ord_id: None,
                what: What::Status(self.venue(from)?.layout.status(order.state)),
                leaves: if open { &order.quantity } else { b"0" },
                text: None,
            };
            return self.report(now, from, message, &report, outbox);
        }
        let wrong = mistake(message);
        let order_id = self.id();
        let quantity = message.get(tag::ORDER_QTY).unwrap_or(b"0");
        let report = Report {
            order_id,
            order: None,
            orig_cl_ord_id: None,
            what: if wrong.is_some() {
                What::Rejected
            } else {
                What::New
            },
            leaves: if wrong.is_some() { b"0" } else { quantity },
            text: wrong.as_deref(),
        };
        self.report(now, from, message, &report, outbox)?;
        if wrong.is_none() {
            self.book.put(from, cl_ord_id, accepted(order_id, message));
        }
        Ok(())
    }

    fn cancel(
        &mut self,
        now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let orig_cl_ord_id = required(message, tag::ORIG_CL_ORD_ID)?;
        let Some(order) = self.open(from, message, orig_cl_ord_id, outbox)? else {
            return Ok(());
        };
        if message.get(tag::CXL_TYPE) == Some(b"P") {
            let reject = CancelReject {
                order: Some(&order),
                reason: "2",
                text: "CxlType(125)=P is not supported: replace the order (MsgType G)",
            };
            return self.reject(from, message, &reject, outbox);
        }
        let report = Report {
            order_id: order.id,
            order: Some(&order),
            orig_cl_ord_id: Some(orig_cl_ord_id),
            what: What::Canceled,
            leaves: b"0",
            text: None,
        };
        self.report(now, from, message, &report, outbox)?;
        if let Some(order) = self.book.get_mut(from, orig_cl_ord_id) {
            order.state = EchoState::Canceled;
        }
        Ok(())
    }

    fn replace(
        &mut self,
        now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let cl_ord_id = required(message, tag::CL_ORD_ID)?;
        let orig_cl_ord_id = required(message, tag::ORIG_CL_ORD_ID)?;
        let Some(order) = self.open(from, message, orig_cl_ord_id, outbox)? else {
            return Ok(());
        };
        if let Some(wrong) = mistake(message) {
            let reject = CancelReject {
                order: Some(&order),
                reason: "2",
                text: &wrong,
            };
            return self.reject(from, message, &reject, outbox);
        }
        let report = Report {
            order_id: order.id,
            order: None,
            orig_cl_ord_id: Some(orig_cl_ord_id),
            what: What::Replaced,
            leaves: message.get(tag::ORDER_QTY).unwrap_or(b"0"),
            text: None,
        };
        self.report(now, from, message, &report, outbox)?;
        if let Some(old) = self.book.get_mut(from, orig_cl_ord_id) {
            old.state = EchoState::Replaced;
        }
        self.book.put(from, cl_ord_id, accepted(order.id, message));
        Ok(())
    }

    /// The open order with a ClOrdID(11). Rejects the request if there is no such order.
    fn open(
        &self,
        from: SessionId,
        request: &Message<'_>,
        cl_ord_id: &[u8],
        outbox: &mut Outbox,
    ) -> Result<Option<EchoOrder>, Refusal> {
        let order = self.book.get(from, cl_ord_id);
        let (reason, text) = match order {
            Some(order) if order.state == EchoState::Open => return Ok(Some(order.clone())),
            Some(_) => ("0", "Too late: the order is canceled or replaced"),
            None => (
                "1",
                "Unknown order: this application knows only orders received since it started",
            ),
        };
        let reject = CancelReject {
            order,
            reason,
            text,
        };
        self.reject(from, request, &reject, outbox)?;
        Ok(None)
    }

    fn report(
        &mut self,
        now: Now,
        from: SessionId,
        request: &Message<'_>,
        report: &Report<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let exec_id = self.id();
        let Venue { layout, precision } = venue(&self.sessions, from)?;
        let given: &[Tag] = if report.order.is_some() {
            &OF_THE_ORDER
        } else {
            &[]
        };
        if let Some(tag) = layout.missing(request, given) {
            return Err(Refusal::ConditionallyRequiredFieldMissing(tag));
        }
        let cl_ord_id = required(request, tag::CL_ORD_ID)?;
        let has = |tag| layout.has(EXECUTION_REPORT, tag);
        let up_to_fix42 = has(tag::EXEC_TRANS_TYPE);
        let (exec_type, ord_status) = report.what.codes(up_to_fix42);
        let mut body = outbox.begin(from, EXECUTION_REPORT);
        body.uint(tag::ORDER_ID, report.order_id)
            .field(tag::CL_ORD_ID, cl_ord_id);
        if let Some(orig_cl_ord_id) = report.orig_cl_ord_id.filter(|_| has(tag::ORIG_CL_ORD_ID)) {
            body.field(tag::ORIG_CL_ORD_ID, orig_cl_ord_id);
        }
        body.uint(tag::EXEC_ID, exec_id);
        if up_to_fix42 {
            let status = matches!(report.what, What::Status(_));
            body.char(tag::EXEC_TRANS_TYPE, if status { b'3' } else { b'0' });
        }
        if has(tag::EXEC_TYPE) {
            body.char(tag::EXEC_TYPE, exec_type);
        }
        body.char(tag::ORD_STATUS, ord_status);
        if report.what == What::Rejected && has(tag::ORD_REJ_REASON) {
            body.char(tag::ORD_REJ_REASON, b'0');
        }
        if let Some(order) = report.order {
            let values = [&order.symbol, &order.side, &order.quantity];
            for (tag, value) in OF_THE_ORDER.into_iter().zip(values) {
                if has(tag) && !value.is_empty() {
                    body.field(tag, value);
                }
            }
        }
        let texts: &[Tag] = if report.text.is_some() { &TEXTS } else { &[] };
        let left_out = [given, texts].concat();
        layout.repeat(request, &left_out, &mut body);
        for tag in [tag::LAST_QTY, tag::LAST_PX] {
            if layout.requires(EXECUTION_REPORT, tag) {
                body.char(tag, b'0');
            }
        }
        if has(tag::LEAVES_QTY) {
            body.field(tag::LEAVES_QTY, report.leaves);
        }
        for tag in [tag::CUM_QTY, tag::AVG_PX] {
            if has(tag) {
                body.char(tag, b'0');
            }
        }
        if has(tag::TRANSACT_TIME) {
            body.field(tag::TRANSACT_TIME, self.stamp.format(now.wall, *precision));
        }
        if let Some(text) = report.text {
            body.field(tag::TEXT, text.as_bytes());
        }
        finish(body)
    }

    fn reject(
        &self,
        from: SessionId,
        request: &Message<'_>,
        reject: &CancelReject<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let layout = &self.venue(from)?.layout;
        let has = |tag| layout.has(ORDER_CANCEL_REJECT, tag);
        let cl_ord_id = required(request, tag::CL_ORD_ID)?;
        let orig_cl_ord_id = required(request, tag::ORIG_CL_ORD_ID)?;
        let mut body = outbox.begin(from, ORDER_CANCEL_REJECT);
        match reject.order {
            Some(order) => body.uint(tag::ORDER_ID, order.id),
            None => body.field(tag::ORDER_ID, b"NONE"),
        };
        body.field(tag::CL_ORD_ID, cl_ord_id);
        if has(tag::ORIG_CL_ORD_ID) {
            body.field(tag::ORIG_CL_ORD_ID, orig_cl_ord_id);
        }
        if has(tag::ORD_STATUS) {
            let status = reject
                .order
                .map_or(b'8', |order| layout.status(order.state));
            body.char(tag::ORD_STATUS, status);
        }
        if has(tag::CXL_REJ_RESPONSE_TO) {
            let cancel = request.msg_type() == ORDER_CANCEL_REQUEST;
            body.char(tag::CXL_REJ_RESPONSE_TO, if cancel { b'1' } else { b'2' });
        }
        if layout.takes(tag::CXL_REJ_REASON, reject.reason) {
            body.field(tag::CXL_REJ_REASON, reject.reason.as_bytes());
        }
        body.field(tag::TEXT, reject.text.as_bytes());
        finish(body)
    }
}

impl Application for OrderEcho {
    fn on_message(
        &mut self,
        now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let msg_type = message.msg_type();
        if !self.venue(from)?.layout.knows(msg_type) {
            return Err(Refusal::UnsupportedMessageType);
        }
        match msg_type {
            ORDER_CANCEL_REQUEST => self.cancel(now, from, message, outbox),
            ORDER_CANCEL_REPLACE_REQUEST => self.replace(now, from, message, outbox),
            _ => self.order(now, from, message, outbox),
        }
    }

    fn on_session_added(&mut self, _now: Now, session: SessionId, _name: &str, config: &Config) {
        let index = session.0 as usize;
        let venue = Venue::of(config);
        match self.sessions.get_mut(index) {
            Some(known) => *known = venue,
            None => self.sessions.push(venue),
        }
    }
}

fn venue(sessions: &[Venue], session: SessionId) -> Result<&Venue, Refusal> {
    sessions
        .get(session.0 as usize)
        .ok_or(Refusal::NotAvailable)
}

fn required<'a>(message: &Message<'a>, tag: Tag) -> Result<&'a [u8], Refusal> {
    let value = message.get(tag).filter(|value| !value.is_empty());
    value.ok_or(Refusal::ConditionallyRequiredFieldMissing(tag))
}

fn accepted(id: u64, message: &Message<'_>) -> EchoOrder {
    let value = |tag| message.get(tag).unwrap_or_default().into();
    EchoOrder {
        id,
        symbol: value(tag::SYMBOL),
        side: value(tag::SIDE),
        quantity: value(tag::ORDER_QTY),
        state: EchoState::Open,
    }
}

/// Why an order or a replace is rejected; `None` when it is accepted.
fn mistake(message: &Message<'_>) -> Option<String> {
    let Some(quantity) = message.get(tag::ORDER_QTY) else {
        let why = "CashOrderQty(152) and OrderPercent(516) are not supported";
        return Some(format!("OrderQty(38) is missing: {why}"));
    };
    if Decimal::compare(quantity, Decimal::default()).is_ok_and(Ordering::is_le) {
        return Some("OrderQty(38) must be above zero".to_owned());
    }
    let needed: &[(Tag, &str)] = match message.get(tag::ORD_TYPE) {
        Some(b"2") => &[(tag::PRICE, "Price")],
        Some(b"3") => &[(tag::STOP_PX, "StopPx")],
        Some(b"4") => &[(tag::PRICE, "Price"), (tag::STOP_PX, "StopPx")],
        _ => &[],
    };
    let (tag, name) = needed.iter().find(|(tag, _)| !message.has(*tag))?;
    let kind = message.get(tag::ORD_TYPE).unwrap_or_default();
    let kind = String::from_utf8_lossy(kind);
    Some(format!(
        "{name}({tag}) is missing: an order with OrdType(40)={kind} needs it"
    ))
}

fn finish(body: Body<'_>) -> Result<(), Refusal> {
    body.finish().map_err(|error| match error {
        BodyError::Value(tag) => Refusal::ValueOutOfRange(tag),
        _ => Refusal::NotAvailable,
    })
}

#[cfg(test)]
mod tests;
