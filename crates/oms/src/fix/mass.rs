//! Mass requests of clients: OrderMassCancelRequest(q), answered by OrderMassCancelReport(r), and
//! OrderMassStatusRequest(AF), answered by a report for each order.

use alloc::collections::VecDeque;

use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Indexed, Message, Outbox, Precision, Refusal, SessionId, Timestamp, tag};

use super::clients::{Client, Extra, execution};
use super::requests::{byte, id, required};
use crate::decide::mass::MassCancel;
use crate::state::OmsState;
use crate::state::filter::OrderFilter;
use crate::state::show::reason_text;
use crate::values::ids::SessionNo;
use crate::values::reason::{Reason, Why};
use crate::values::show::digits;
use crate::values::units::Scales;
use crate::values::value::{Number, Side, Text};

/// Reads an OrderMassCancelRequest(q).
///
/// # Errors
///
/// A required field is missing.
pub(crate) fn mass_cancel<'a>(
    session: SessionNo,
    message: &Message<'a>,
) -> Result<MassCancel<'a>, Refusal> {
    let message = &Indexed::new(message);
    required(message, tag::MASS_CANCEL_REQUEST_TYPE)?;
    let side = message.get(tag::SIDE).map(|side| match side {
        [byte] => *byte,
        _ => 0,
    });
    Ok(MassCancel {
        session,
        id: id(message, tag::CL_ORD_ID)?,
        kind: byte(message, tag::MASS_CANCEL_REQUEST_TYPE).unwrap_or_default(),
        account: message.get(tag::ACCOUNT).unwrap_or_default(),
        symbol: message.get(tag::SYMBOL).unwrap_or_default(),
        side,
    })
}

/// Writes an OrderMassCancelReport(r): how many orders are being cancelled, or why no order is.
pub(crate) fn report(
    state: &OmsState,
    id: &[u8],
    cancelled: Result<u64, &Reason>,
    message: Option<&Message<'_>>,
    client: Client,
    outbox: &mut Outbox,
) {
    let reason = cancelled.err();
    let field = |tag| message.and_then(|message| message.get(tag));
    let kind = field(tag::MASS_CANCEL_REQUEST_TYPE).unwrap_or(b"7");
    let number = digits(state.events());
    let mut report = outbox.begin(client.session, b"r");
    report
        .field(tag::CL_ORD_ID, id)
        .field(tag::ORDER_ID, number.bytes())
        .field(tag::MASS_CANCEL_REQUEST_TYPE, kind)
        .field(
            tag::MASS_CANCEL_RESPONSE,
            if reason.is_some() { b"0" } else { kind },
        );
    if client.version >= Version::Fix50Sp1 {
        report.field(tag::MASS_ACTION_REPORT_ID, number.bytes());
    }
    match cancelled {
        Ok(orders) => report.uint(tag::TOTAL_AFFECTED_ORDERS, orders),
        Err(reason) => {
            let code = match reason.why {
                Why::Unsupported => 0,
                Why::Symbol => 1,
                _ => 99,
            };
            report.uint(tag::MASS_CANCEL_REJECT_REASON, code)
        }
    };
    for tag in [tag::SYMBOL, tag::SIDE] {
        if let Some(value) = field(tag).filter(|value| value.len() <= Text::MAX) {
            report.field(tag, value);
        }
    }
    report.time(
        tag::TRANSACT_TIME,
        Timestamp(state.time()),
        Precision::Millis,
    );
    if let Some(reason) = reason {
        report.field(
            tag::TEXT,
            reason_text(state, reason, Scales::default()).bytes(),
        );
    }
    client.put_number(state.events(), &mut report);
    // The outbox has room: that was checked before the event.
    let _ = report.finish();
}

/// An OrderMassStatusRequest(AF) that is being answered.
#[derive(Debug)]
pub(crate) struct Listing {
    pub(crate) client: Client,
    pub(crate) id: Text,
    pub(crate) total: u64,
    pub(crate) left: VecDeque<Number>,
    /// Whether no report was written yet.
    pub(crate) is_new: bool,
    /// Why no order is listed; `None` if orders are listed.
    pub(crate) why: Option<Why>,
}

/// Reads an OrderMassStatusRequest(AF): which orders the client wants listed.
///
/// # Errors
///
/// A required field is missing.
pub(crate) fn listing(
    state: &OmsState,
    session: SessionNo,
    message: &Message<'_>,
    client: Client,
) -> Result<Listing, Refusal> {
    let message = &Indexed::new(message);
    let id = id(message, tag::MASS_STATUS_REQ_ID)?;
    required(message, tag::MASS_STATUS_REQ_TYPE)?;
    let symbol = message.get(tag::SYMBOL).unwrap_or_default();
    let account = message.get(tag::ACCOUNT);
    let (mut why, mut filter) = (None, OrderFilter::default());
    filter.session = Some(session);
    match byte(message, tag::MASS_STATUS_REQ_TYPE) {
        Some(b'1') => {
            filter.instrument = state.instruments().find(symbol);
            why = filter.instrument.is_none().then_some(Why::Symbol);
        }
        Some(b'7') => {}
        _ => why = Some(Why::Unsupported),
    }
    if let Some(account) = account {
        filter.account = state.accounts().find(account);
        why = why.or(filter.account.is_none().then_some(Why::Account));
    }
    if message.get(tag::SIDE).is_some() {
        filter.side = byte(message, tag::SIDE).and_then(Side::of);
        why = why.or(filter.side.is_none().then_some(Why::Unsupported));
    }
    let orders = state.orders().iter();
    let open = orders.filter(|order| order.state.is_open() && filter.has(state, order));
    let mut left: VecDeque<Number> = match why {
        None => open.map(|order| order.number).collect(),
        Some(_) => VecDeque::new(),
    };
    left.make_contiguous().sort_unstable();
    Ok(Listing {
        client,
        id: Text::new(id),
        total: left.len() as u64,
        left,
        is_new: true,
        why,
    })
}

impl Listing {
    /// The requesting client.
    pub(crate) fn session(&self) -> SessionId {
        self.client.session
    }

    /// Writes the report of the next order; returns false when no order is left.
    pub(crate) fn step(&mut self, state: &OmsState, outbox: &mut Outbox) -> bool {
        let Some(number) = self.left.pop_front() else {
            if self.is_new {
                self.report_none(state, outbox);
            }
            return false;
        };
        self.is_new = false;
        let is_last = self.left.is_empty();
        match state.orders().get(number) {
            Some(order) => {
                let listed = Extra::Listed {
                    id: self.id.bytes(),
                    total: self.total,
                    is_last,
                };
                execution(state, order, (b'I', b""), Some(listed), self.client, outbox);
            }
            // The order was removed from memory after the request came in.
            None if is_last => self.report_none(state, outbox),
            None => {}
        }
        !is_last
    }

    /// Writes a report with OrdStatus(39) = 8: no order matches, or no matching order is left.
    fn report_none(&self, state: &OmsState, outbox: &mut Outbox) {
        let mut report = outbox.begin(self.client.session, b"8");
        report
            .field(tag::ORDER_ID, b"NONE")
            .field(tag::MASS_STATUS_REQ_ID, self.id.bytes())
            .uint(tag::TOT_NUM_REPORTS, self.total)
            .char(tag::LAST_RPT_REQUESTED, b'Y')
            .field(tag::EXEC_ID, b"0")
            .char(tag::EXEC_TYPE, b'I')
            .char(tag::ORD_STATUS, b'8')
            // These fields are required in the report, but there is no order to take them from.
            .field(tag::SYMBOL, b"[N/A]")
            .char(tag::SIDE, b'1')
            .uint(tag::LEAVES_QTY, 0)
            .uint(tag::CUM_QTY, 0)
            .uint(tag::AVG_PX, 0);
        let why = self
            .why
            .map(|why| reason_text(state, &Reason::of(why), Scales::default()));
        let none: &[u8] = match self.total {
            0 => b"no open orders",
            _ => b"the order was closed meanwhile",
        };
        let text = why.as_ref().map_or(none, |it| it.bytes());
        report.field(tag::TEXT, text);
        let _ = report.finish();
    }
}
