//! Writes the reports of the venue that the trial stands for.

use alloc::vec::Vec;

use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Outbox, SessionId, tag};

use super::answers::{Answer, AnswerKind};
use crate::fix::PutQuantity as _;
use crate::fix::lines::venue_id;
use crate::state::OmsState;
use crate::state::orders::{Order, Request};
use crate::values::show::price;
use crate::values::units::{scaled, units};
use crate::values::value::RequestKind;

/// Writes reports of the venue as messages.
pub(super) struct VenueWriter {
    outbox: Outbox,
    bytes: Vec<u8>,
    /// Number of the last execution.
    execution: u64,
}

impl Default for VenueWriter {
    fn default() -> Self {
        Self {
            outbox: Outbox::new(1 << 14, 2, 256),
            bytes: Vec::new(),
            execution: 0,
        }
    }
}

impl VenueWriter {
    /// The venue's report that gives an order the outcome that the record's answer has. The order must be at the venue.
    /// `None` when the order cannot have this outcome, such as a replace that was not sent.
    pub fn write(
        &mut self,
        state: &OmsState,
        order: &Order,
        answer: &Answer,
        version: Version,
    ) -> Option<&[u8]> {
        let request = state.orders().request_of(order);
        let request = request.filter(|request| !request.state.is_unsent());
        let is = |kind| move |request: &&Request| request.kind == kind;
        let request = match answer.kind {
            AnswerKind::New if order.state.is_answered() => return None,
            AnswerKind::Rejected(_) if order.state.is_answered() => return None,
            AnswerKind::New | AnswerKind::Rejected(_) | AnswerKind::Fill | AnswerKind::Expired => {
                None
            }
            AnswerKind::Canceled => request.filter(is(RequestKind::Cancel)),
            AnswerKind::Replaced => Some(request.filter(is(RequestKind::Replace))?),
            AnswerKind::Declined(_) => Some(request?),
        };
        self.outbox.clear();
        self.report(state, order, request, answer, version)?;
        let index = self.outbox.unsealed().next()?;
        self.bytes.clear();
        self.bytes.extend_from_slice(b"8=FIX.4.4\x019=5\x0135=");
        self.bytes.extend_from_slice(self.outbox.msg_type(index));
        self.bytes.push(1);
        self.bytes.extend_from_slice(self.outbox.body(index));
        Some(&self.bytes)
    }

    fn report(
        &mut self,
        state: &OmsState,
        order: &Order,
        request: Option<&Request>,
        answer: &Answer,
        version: Version,
    ) -> Option<()> {
        let scales = state.scales(order.instrument);
        let (mut quantity, mut filled) = (order.quantity, order.filled);
        let status = match answer.kind {
            AnswerKind::New => b'0',
            AnswerKind::Fill => {
                filled = filled.saturating_add(units(answer.last?.0, scales.quantity).ok()?);
                if filled >= quantity { b'2' } else { b'1' }
            }
            AnswerKind::Canceled => b'4',
            AnswerKind::Replaced => {
                quantity = units(answer.quantity?, scales.quantity).ok()?;
                if filled > 0 { b'1' } else { b'0' }
            }
            AnswerKind::Expired => b'C',
            AnswerKind::Rejected(_) => b'8',
            AnswerKind::Declined(_) => {
                if filled > 0 {
                    b'1'
                } else {
                    b'0'
                }
            }
        };
        let exec_type = match answer.kind {
            AnswerKind::Fill if version >= Version::Fix43 => b'F',
            AnswerKind::Replaced => b'5',
            _ => status,
        };
        let is_reject = matches!(answer.kind, AnswerKind::Declined(_));
        self.execution += 1;
        let msg_type: &[u8] = if is_reject { b"9" } else { b"8" };
        let mut out = self.outbox.begin(SessionId(0), msg_type);
        out.uint(tag::ORDER_ID, order.number);
        let current = venue_id(order.number, order.current);
        match request {
            Some(request) => {
                out.field(
                    tag::CL_ORD_ID,
                    venue_id(order.number, request.number).bytes(),
                );
                out.field(tag::ORIG_CL_ORD_ID, current.bytes());
            }
            None => {
                out.field(tag::CL_ORD_ID, current.bytes());
            }
        }
        out.char(tag::ORD_STATUS, status);
        if is_reject {
            let is_replace = request.is_some_and(|it| it.kind == RequestKind::Replace);
            out.char(
                tag::CXL_REJ_RESPONSE_TO,
                if is_replace { b'2' } else { b'1' },
            );
            if let Some(code) = answer.code {
                out.uint(tag::CXL_REJ_REASON, code);
            }
        } else {
            out.uint(tag::EXEC_ID, self.execution);
            if version < Version::Fix43 {
                out.char(tag::EXEC_TRANS_TYPE, b'0');
            }
            if version > Version::Fix40 {
                out.char(tag::EXEC_TYPE, exec_type);
            }
            if let Some(code) = answer.code {
                out.uint(tag::ORD_REJ_REASON, code);
            }
            out.field(tag::SYMBOL, state.instruments().name(order.instrument));
            out.char(tag::SIDE, order.side.byte());
            out.quantity(tag::ORDER_QTY, quantity, scales.quantity);
            if let (AnswerKind::Replaced, Some(limit)) = (answer.kind, answer.price) {
                let limit = scaled(limit, scales.price).ok()?;
                out.decimal(tag::PRICE, price(limit, scales.price));
            }
            if let (AnswerKind::Fill, Some((last, at))) = (answer.kind, answer.last) {
                out.decimal(tag::LAST_QTY, last);
                out.decimal(tag::LAST_PX, at);
            }
            let is_over = matches!(status, b'2' | b'4' | b'8' | b'C');
            let left = if is_over {
                0
            } else {
                quantity.saturating_sub(filled)
            };
            out.quantity(tag::LEAVES_QTY, left, scales.quantity);
            out.quantity(tag::CUM_QTY, filled, scales.quantity);
        }
        if !answer.text.is_empty() {
            out.field(tag::TEXT, &answer.text);
        }
        out.finish().ok()
    }
}
