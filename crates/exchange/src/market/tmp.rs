//! Requests and reports of TMP members.

use alloc::boxed::Box;

use fixwire_protocol::{Timestamp, tag};
use fixwire_tmp::{TmpSide, TmpStatus};

use super::{Market, UnreadableNote};
use crate::dialect::{Dialect, Kind, Why};
use crate::event::{MemberRequest, RequestMsgType};
use crate::fields::RequestFields;
use crate::orders::Order;
use crate::report::Said;
use crate::script::Asking;
use crate::tmp::ticket::{TmpTicket, order_key};
use crate::tmp::{reports, request};

impl Market {
    /// The broker's order with this `order_no`, or one side of a quote with this `order_no`, whichever of the
    /// broker's lines entered it. The `order_no` of a rejected order may be used again.
    pub(crate) fn tmp_order(
        &self,
        fcm_id: u16,
        order_no: [u8; 5],
        side: TmpSide,
    ) -> Option<&Order> {
        let keys = [None, Some(side)].map(|side| order_key(fcm_id, order_no, side));
        keys.iter().find_map(|key| self.tmp_order_of(key))
    }

    fn tmp_order_of(&self, key: &[u8]) -> Option<&Order> {
        let lines = self.members.iter().enumerate();
        let mut lines = lines.filter(|(_, member)| member.dialect == Dialect::Tmp);
        lines.find_map(|(number, _)| {
            let order = self.orders.get(self.orders.find(number as u32, key)?);
            order.filter(|order| order.closed != Some(b'8'))
        })
    }

    /// Whether the broker of a new order already has an order with its `order_no`.
    pub(super) fn has_order_no(&self, request: &MemberRequest<'_>) -> bool {
        let ticket = TmpTicket::read(request.fields.text(tag::CL_ORD_ID));
        ticket.is_some_and(|it| {
            let sides = match it.quote_side {
                // The broker may already have the other side of the same quote: that has the same `order_no`.
                Some(side) => [side, side],
                None => [TmpSide::BUY, TmpSide::SELL],
            };
            let mut known = sides.into_iter();
            known.any(|side| self.tmp_order(it.fcm_id, it.order_no, side).is_some())
        })
    }

    /// Answers a query with the state of the order that OrigClOrdID(41) identifies.
    pub(super) fn tmp_status(&mut self, request: &MemberRequest<'_>) {
        let order = request.fields.text(tag::ORIG_CL_ORD_ID);
        let Some(id) = self.orders.find(request.member, order) else {
            let exec_id = self.next_exec();
            return self.tmp_reject(request, TmpStatus::NO_SUCH_ORDER, exec_id);
        };
        let said = Said {
            cl_ord_id: Some(request.fields.text(tag::CL_ORD_ID)),
            ..Said::of(Kind::Status)
        };
        self.report(request.at, id, &said);
    }

    /// Rejects a request that reaches no book; its OrdRejReason(103) has the status code.
    pub(super) fn tmp_refuse(&mut self, request: &MemberRequest<'_>) {
        let exec_id = self.next_exec();
        if let Some((via, frame)) = reports::refused(request.fields, exec_id) {
            self.tell(via, b'9', frame);
        }
    }

    /// The ExecID of a reject. Each report has an ExecID, and so has an R03.
    fn next_exec(&mut self) -> u64 {
        self.last_exec += 1;
        self.last_exec
    }

    /// Sends an R03 for a new order, or for a request about an unknown order.
    pub(super) fn tmp_reject(
        &mut self,
        request: &MemberRequest<'_>,
        status: TmpStatus,
        exec_id: u64,
    ) {
        let Some(ticket) = TmpTicket::read(request.fields.text(tag::CL_ORD_ID)) else {
            return;
        };
        let side = request.fields.char(tag::SIDE).unwrap_or_default();
        let frame = reports::reject(&ticket, status, reports::side(side), exec_id);
        self.tell(ticket.via, b'9', frame);
    }

    /// Sends an R03 for a change or cancel of an order.
    pub(super) fn tmp_cancel_reject(
        &mut self,
        request: &MemberRequest<'_>,
        id: Option<u64>,
        why: Why,
    ) {
        let order = id.and_then(|id| self.orders.get(id));
        let status = match (why, order.and_then(|order| order.closed)) {
            (Why::TooLate, Some(b'2')) => TmpStatus::FILLED,
            (Why::TooLate, Some(_)) => TmpStatus::CANCELLED,
            // A script has filled the order meanwhile.
            (Why::TooLate, None) => TmpStatus::QUANTITY,
            _ => {
                let code = Dialect::Tmp.cxl_rej_reason(why);
                u8::try_from(code).map_or(TmpStatus::MAJOR_ERROR, TmpStatus)
            }
        };
        let exec_id = self.next_exec();
        self.tmp_reject(request, status, exec_id);
    }

    /// Builds the request of a TMP member again when a script answers it, because the order may have changed since
    /// the request arrived. `None` for a member that does not use TMP.
    pub(super) fn tmp_asked(&self, id: u64, fields: &[u8]) -> Option<(Asking, Box<[u8]>)> {
        let order = self.orders.get(id)?;
        if self.dialect(order.member) != Dialect::Tmp {
            return None;
        }
        let fields = RequestFields::new(fields);
        let ticket = TmpTicket::read(fields.text(tag::CL_ORD_ID))?;
        let price = fields.decimal(tag::PRICE).flatten();
        let instrument = self.instruments.get(order.instrument as usize)?;
        let (msg_type, fields) = request::changed(order, instrument, &ticket, price).ok()?;
        let asking = if msg_type == RequestMsgType::Replace {
            Asking::Replace
        } else {
            Asking::Cancel
        };
        Some((asking, fields.into()))
    }

    /// Sends a report on an order of a TMP member.
    pub(super) fn tmp_report(&mut self, at: Timestamp, id: u64, exec_id: u64, said: &Said<'_>) {
        let Some(order) = self.orders.get(id) else {
            return;
        };
        let instrument = &self.instruments[order.instrument as usize];
        let report = reports::execution(order, instrument, exec_id, at, said);
        if let Some((to, msg_type, frame)) = report {
            if let Some(copies) = &mut self.copies
                && said.kind != Kind::Status
            {
                copies.keep(to, &frame);
            }
            self.tell(to, msg_type, frame);
        }
    }

    /// Applies the note of a received MsgSeqNum.
    pub(super) fn tmp_received(&mut self, member: u32, inbound: u32) -> Result<(), UnreadableNote> {
        self.is_tmp(member)?;
        self.links.entry(member).or_default().inbound = inbound;
        Ok(())
    }

    /// Applies the note of a kept frame.
    pub(super) fn tmp_kept(
        &mut self,
        member: u32,
        msg_seq_num: u32,
        frame: &[u8],
    ) -> Result<(), UnreadableNote> {
        self.is_tmp(member)?;
        let store = self.links.entry(member).or_default();
        store.keep(msg_seq_num, frame).ok_or(UnreadableNote)
    }

    fn is_tmp(&self, member: u32) -> Result<(), UnreadableNote> {
        let member = self.members.get(member as usize);
        let is_tmp = member.is_some_and(|it| it.dialect == Dialect::Tmp);
        is_tmp.then_some(()).ok_or(UnreadableNote)
    }
}
