//! Handles requests of members.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_book::{BookEvent, EntryOrder, OrderChange, RefusedOrder, Side, TimeInForce};
use fixwire_protocol::{Tag, tag};
use fixwire_tmp::TmpStatus;

use super::Market;
use super::settle::Cause;
use super::terms::{Objection, Terms, terms, unsupported};
use crate::config::state_name;
use crate::dialect::{Dialect, Kind, Why};
use crate::event::{MemberRequest, RequestMsgType};
use crate::fields::FieldWriter;
use crate::instrument::takes_orders;
use crate::orders::Order;
use crate::report::{self, NONE, NoOrder, Said};
use crate::tmp::ticket::TmpTicket;

/// Maximum number of ClOrdIDs of one order. Each replace adds a ClOrdID, and the order keeps all of them.
const IDS_MAX: usize = 1000;

impl Market {
    /// Answers a request.
    pub(super) fn request(&mut self, request: &MemberRequest<'_>) {
        match request.msg_type {
            RequestMsgType::New => self.enter(request),
            RequestMsgType::Cancel => self.cancel(request),
            RequestMsgType::Replace => self.replace(request),
            RequestMsgType::Status => self.status(request),
            RequestMsgType::MassCancel => self.mass_cancel(request),
            RequestMsgType::MassStatus => self.mass_status(request),
            RequestMsgType::TmpQuery => self.tmp_status(request),
            RequestMsgType::TmpReject => self.tmp_refuse(request),
        }
    }

    fn enter(&mut self, request: &MemberRequest<'_>) {
        if self.is_known(request) {
            return;
        }
        let (index, order, entry) = match self.accept(request) {
            Ok(accepted) => accepted,
            Err(objection) => return self.reject(request, objection),
        };
        let mut events = Vec::new();
        let book = &mut self.instruments[index].book;
        book.enter(entry, &mut |event| events.push(event));
        if let Some(BookEvent::Rejected { reason, .. }) = events.first() {
            let objection = self.refused(index, *reason);
            return self.reject(request, objection);
        }
        self.last_order = order.id;
        self.orders.insert(order);
        self.settle(request.at, index, &events, None);
    }

    /// Whether the ClOrdID of a new order was used before. If the ClOrdID was used, this function answers the order.
    pub(super) fn is_known(&mut self, request: &MemberRequest<'_>) -> bool {
        let fields = request.fields;
        let cl_ord_id = fields.text(tag::CL_ORD_ID);
        let Some(known) = self.orders.find(request.member, cl_ord_id) else {
            return false;
        };
        // A possible resend (PossResend(97)=Y) of a known order is answered with the status of that order.
        if fields.get(tag::POSS_RESEND) == Some(b"Y") {
            self.report(request.at, known, &Said::of(Kind::Status));
        } else {
            let text = "Duplicate ClOrdID(11): give each order a new one".to_string();
            self.reject(request, (Why::Duplicate, text));
        }
        true
    }

    /// Checks a new order; returns the index of its instrument, its data, and the order for the book.
    pub(super) fn accept(
        &self,
        request: &MemberRequest<'_>,
    ) -> Result<(usize, Order, EntryOrder), Objection> {
        let fields = request.fields;
        let symbol = fields.text(tag::SYMBOL);
        let index = self.instrument(symbol).ok_or_else(|| {
            let symbol = String::from_utf8_lossy(symbol);
            (
                Why::UnknownSymbol,
                format!("Symbol(55)={symbol} is not traded here"),
            )
        })?;
        let instrument = &self.instruments[index];
        let dialect = self.dialect(request.member);
        if dialect == Dialect::Tmp && self.has_order_no(request) {
            return Err((Why::Duplicate, "Duplicate order number".to_string()));
        }
        let terms = terms(instrument, fields, dialect)?;
        let side = match fields.char(tag::SIDE) {
            Some(b'1') => Side::Buy,
            Some(b'2' | b'5' | b'6') => Side::Sell,
            _ => return Err(unsupported(tag::SIDE, "Side", "1, 2, 5 or 6")),
        };
        let (code, time_in_force) = match fields.get(tag::TIME_IN_FORCE) {
            None | Some(b"0") => (b'0', TimeInForce::Day),
            Some(b"1") => (b'1', TimeInForce::GoodTillCancel),
            Some(b"3") => (b'3', TimeInForce::ImmediateOrCancel),
            Some(b"4") => (b'4', TimeInForce::FillOrKill),
            Some(_) => {
                return Err(unsupported(
                    tag::TIME_IN_FORCE,
                    "TimeInForce",
                    "0, 1, 3 or 4",
                ));
            }
        };
        let id = self.last_order + 1;
        let cl_ord_id: Box<[u8]> = fields.text(tag::CL_ORD_ID).into();
        let mut ids = Vec::new();
        if dialect == Dialect::Tmp {
            ids.extend(TmpTicket::read(&cl_ord_id).map(|it| it.order_key().into()));
        }
        ids.push(cl_ord_id);
        let order = Order {
            id,
            member: request.member,
            instrument: index as u32,
            ids,
            account: fields.text(tag::ACCOUNT).into(),
            side: fields.char(tag::SIDE).unwrap_or(b'1'),
            ord_type: terms.ord_type,
            time_in_force: code,
            quantity: terms.quantity,
            display: terms.display,
            price: terms.price,
            stop: terms.stop,
            filled: 0,
            notional: 0,
            closed: None,
            fills: Vec::new(),
            pending: None,
        };
        let entry = EntryOrder {
            id,
            side,
            price: terms.price,
            stop: terms.stop,
            quantity: terms.quantity,
            display: terms.display,
            time_in_force,
        };
        Ok((index, order, entry))
    }

    fn cancel(&mut self, request: &MemberRequest<'_>) {
        let (id, index) = match self.named(request) {
            Ok(found) => found,
            Err(objection) => return self.cancel_reject(request, objection),
        };
        if self.scripted.get(id).is_some() {
            return self.ask_scripted(request, id);
        }
        let cl_ord_id = request.fields.text(tag::CL_ORD_ID);
        let orig_cl_ord_id = request.fields.text(tag::ORIG_CL_ORD_ID);
        let mut events = Vec::new();
        let book = &mut self.instruments[index].book;
        book.cancel(id, &mut |event| events.push(event));
        self.orders.rename(id, cl_ord_id);
        let cause = Cause {
            cl_ord_id,
            orig_cl_ord_id,
        };
        self.settle(request.at, index, &events, Some(cause));
    }

    fn replace(&mut self, request: &MemberRequest<'_>) {
        let found = self.named(request);
        if let Ok((id, _)) = found
            && self.scripted.get(id).is_some()
        {
            return self.ask_scripted(request, id);
        }
        let changed =
            found.and_then(|(id, index)| Ok((id, index, self.change(request, id, index)?)));
        let (id, index, (terms, change)) = match changed {
            Ok(changed) => changed,
            Err(objection) => return self.cancel_reject(request, objection),
        };
        let mut events = Vec::new();
        let book = &mut self.instruments[index].book;
        book.replace(id, change, &mut |event| events.push(event));
        if let Some(BookEvent::Rejected { reason, .. }) = events.first() {
            let objection = self.refused(index, *reason);
            return self.cancel_reject(request, objection);
        }
        let cl_ord_id = request.fields.text(tag::CL_ORD_ID);
        self.orders.rename(id, cl_ord_id);
        if let Some(order) = self.orders.get_mut(id) {
            order.quantity = terms.quantity;
            order.price = terms.price;
            order.stop = terms.stop;
        }
        let cause = Cause {
            cl_ord_id,
            orig_cl_ord_id: request.fields.text(tag::ORIG_CL_ORD_ID),
        };
        self.settle(request.at, index, &events, Some(cause));
    }

    /// The terms of a replace. Fields that a replace cannot change must have the values of the order.
    pub(super) fn change(
        &self,
        request: &MemberRequest<'_>,
        id: u64,
        index: usize,
    ) -> Result<(Terms, OrderChange), Objection> {
        let instrument = &self.instruments[index];
        let fields = request.fields;
        let order = self.orders.get(id).ok_or_else(unknown)?;
        let mut terms = terms(instrument, fields, self.dialect(request.member))?;
        let fixed = |what: &str| {
            Err((
                Why::Other,
                format!("{what} cannot be replaced: cancel the order"),
            ))
        };
        if terms.ord_type != order.ord_type {
            return fixed("OrdType(40)");
        }
        let time_in_force = fields
            .char(tag::TIME_IN_FORCE)
            .unwrap_or(order.time_in_force);
        if time_in_force != order.time_in_force {
            return fixed("TimeInForce(59)");
        }
        if terms.display.is_some() && terms.display != order.display {
            return fixed("The displayed quantity");
        }
        if order.ids.len() >= IDS_MAX {
            let text = format!("Too many replaces of the order (limit {IDS_MAX}): cancel it");
            return Err((Why::Other, text));
        }
        // After the order was triggered, its stop price has no effect.
        let waits = instrument
            .book
            .order(id)
            .is_some_and(|it| it.stop.is_some());
        if !waits {
            terms.stop = order.stop;
        }
        let change = OrderChange {
            price: terms.price,
            stop: terms.stop.filter(|_| waits),
            quantity: terms.quantity,
        };
        Ok((terms, change))
    }

    /// The open order that a cancel or replace refers to, and the index of its instrument.
    fn named(&self, request: &MemberRequest<'_>) -> Result<(u64, usize), Objection> {
        let fields = request.fields;
        let orig_cl_ord_id = fields.text(tag::ORIG_CL_ORD_ID);
        let id = self.orders.find(request.member, orig_cl_ord_id);
        let order = id.and_then(|id| self.orders.get(id)).ok_or_else(unknown)?;
        if let Some(too_late) = self.too_late(order.id) {
            return Err(too_late);
        }
        if order.cl_ord_id() != orig_cl_ord_id {
            let text = "Too late: the order was replaced; use its new ClOrdID(11)".to_string();
            return Err((Why::TooLate, text));
        }
        let instrument = &self.instruments[order.instrument as usize];
        let symbol = fields.get(tag::SYMBOL);
        if symbol.is_some_and(|symbol| symbol != instrument.symbol.as_bytes()) {
            let text = "Symbol(55) does not match the order".to_string();
            return Err((Why::Other, text));
        }
        let side = fields.get(tag::SIDE);
        if side.is_some_and(|side| side != [order.side]) {
            return Err((Why::Other, "Side(54) does not match the order".to_string()));
        }
        let cl_ord_id = fields.text(tag::CL_ORD_ID);
        if self.orders.find(request.member, cl_ord_id).is_some() {
            let text = "Duplicate ClOrdID(11): give each request a new one".to_string();
            return Err((Why::Duplicate, text));
        }
        Ok((order.id, order.instrument as usize))
    }

    /// The reason for rejecting a request because its order is closed; `None` if the order is open.
    pub(super) fn too_late(&self, id: u64) -> Option<Objection> {
        let what = match self.orders.get(id)?.closed? {
            b'2' => "filled",
            b'3' => "done for the day",
            b'8' => "rejected",
            b'C' => "expired",
            _ => "canceled",
        };
        Some((Why::TooLate, format!("Too late: the order is {what}")))
    }

    fn status(&mut self, request: &MemberRequest<'_>) {
        let cl_ord_id = request.fields.text(tag::CL_ORD_ID);
        if let Some(id) = self.orders.find(request.member, cl_ord_id) {
            return self.report(request.at, id, &Said::of(Kind::Status));
        }
        let said = NoOrder {
            kind: Kind::Status,
            order_id: NONE,
            exec_id: 0,
            why: Why::UnknownOrder,
            text: "Unknown order",
            more: b"",
        };
        self.no_order(request, &said);
    }

    fn mass_cancel(&mut self, request: &MemberRequest<'_>) {
        let time = self.time(request.member, request.at);
        let dialect = self.dialect(request.member);
        // The OrderMassCancelReport(r) has an OrderID(37) of its own.
        self.last_order += 1;
        let number = self.last_order;
        let chosen = self.chosen(request, tag::MASS_CANCEL_REQUEST_TYPE, b"1");
        let ids = match chosen {
            Ok(ids) => ids,
            Err(refused) => {
                let refused = (refused.0, refused.1.as_str());
                let fields = request.fields;
                let body = report::mass_cancel(dialect, fields, number, &time, Err(refused));
                return self.tell(request.member, b'r', body);
            }
        };
        let count = ids.len() as u64;
        let body = report::mass_cancel(dialect, request.fields, number, &time, Ok(count));
        self.tell(request.member, b'r', body);
        let cl_ord_id = request.fields.text(tag::CL_ORD_ID);
        for id in ids {
            let Some(order) = self.orders.get(id) else {
                continue;
            };
            let orig_cl_ord_id: Box<[u8]> = order.cl_ord_id().into();
            let cause = Cause {
                cl_ord_id,
                orig_cl_ord_id: &orig_cl_ord_id,
            };
            if self.scripted.get(id).is_some() {
                self.cancel_scripted(request.at, id, cause);
                continue;
            }
            let index = order.instrument as usize;
            let mut events = Vec::new();
            let book = &mut self.instruments[index].book;
            book.cancel(id, &mut |event| events.push(event));
            self.settle(request.at, index, &events, Some(cause));
        }
    }

    fn mass_status(&mut self, request: &MemberRequest<'_>) {
        let mut more = FieldWriter::default();
        // Reports of FIX 4.3 have neither the id of the request nor the number of reports.
        let counts = self.dialect(request.member) >= Dialect::Fix44;
        if counts {
            let id = request.fields.text(tag::MASS_STATUS_REQ_ID);
            more.put(tag::MASS_STATUS_REQ_ID, id);
        }
        let chosen = self.chosen(request, tag::MASS_STATUS_REQ_TYPE, b"1");
        let none = match &chosen {
            Ok(ids) if ids.is_empty() => Some("No open orders"),
            Ok(_) => None,
            Err((_, text)) => Some(text.as_str()),
        };
        if let Some(text) = none {
            if counts {
                more.uint(tag::TOT_NUM_REPORTS, 0);
                more.char(tag::LAST_RPT_REQUESTED, b'Y');
            }
            let said = NoOrder {
                kind: Kind::Status,
                order_id: NONE,
                exec_id: 0,
                why: Why::UnknownOrder,
                text,
                more: &more.0,
            };
            return self.no_order(request, &said);
        }
        let ids = chosen.unwrap_or_default();
        for (index, id) in ids.iter().enumerate() {
            let mut more = FieldWriter(more.0.clone());
            if counts {
                more.uint(tag::TOT_NUM_REPORTS, ids.len() as u64);
                let is_last = index + 1 == ids.len();
                more.char(tag::LAST_RPT_REQUESTED, if is_last { b'Y' } else { b'N' });
            }
            let said = Said {
                more: &more.0,
                ..Said::of(Kind::Status)
            };
            self.report(request.at, *id, &said);
        }
    }

    /// The open orders of a member that a mass request selects, sorted by id: all orders, or those in one symbol. An
    /// error has MassCancelRejectReason(532) and the text.
    fn chosen(
        &self,
        request: &MemberRequest<'_>,
        by: Tag,
        by_symbol: &[u8],
    ) -> Result<Vec<u64>, (u64, String)> {
        let instrument = match request.fields.text(by) {
            b"7" => None,
            kind if kind == by_symbol => {
                let symbol = request.fields.text(tag::SYMBOL);
                let found = self.instrument(symbol);
                let unknown = || (1, "Symbol(55) is missing or not traded here".to_string());
                Some(found.ok_or_else(unknown)?)
            }
            _ => {
                return Err((
                    0,
                    format!("Tag {by} must be 1 (one symbol) or 7 (all orders)"),
                ));
            }
        };
        let is_chosen = |order: &&Order| {
            let fits = instrument.is_none_or(|index| order.instrument as usize == index);
            order.member == request.member && order.closed.is_none() && fits
        };
        Ok(self
            .orders
            .iter()
            .filter(is_chosen)
            .map(|order| order.id)
            .collect())
    }

    /// Rejects a new order. The report has an OrderID and an ExecID, but the order is not remembered.
    pub(super) fn reject(&mut self, request: &MemberRequest<'_>, (why, text): Objection) {
        self.last_order += 1;
        self.last_exec += 1;
        let order_id = self.last_order.to_string();
        let said = NoOrder {
            kind: Kind::Rejected,
            order_id: order_id.as_bytes(),
            exec_id: self.last_exec,
            why,
            text: &text,
            more: b"",
        };
        self.no_order(request, &said);
    }

    fn no_order(&mut self, request: &MemberRequest<'_>, said: &NoOrder<'_>) {
        let time = self.time(request.member, request.at);
        let dialect = self.dialect(request.member);
        if dialect == Dialect::Tmp {
            let status = u8::try_from(dialect.ord_rej_reason(said.why));
            let status = status.map_or(TmpStatus::MAJOR_ERROR, TmpStatus);
            return self.tmp_reject(request, status, said.exec_id);
        }
        let body = report::no_order(dialect, request.fields, &time, said);
        self.tell(request.member, b'8', body);
    }

    pub(super) fn cancel_reject(&mut self, request: &MemberRequest<'_>, (why, text): Objection) {
        let time = self.time(request.member, request.at);
        let orig_cl_ord_id = request.fields.text(tag::ORIG_CL_ORD_ID);
        let id = self.orders.find(request.member, orig_cl_ord_id);
        let order = id.and_then(|id| self.orders.get(id));
        let dialect = self.dialect(request.member);
        if dialect == Dialect::Tmp {
            return self.tmp_cancel_reject(request, id, why);
        }
        let body = report::cancel_reject(
            dialect,
            request.fields,
            request.msg_type == RequestMsgType::Replace,
            order,
            &time,
            (why, &text),
        );
        self.tell(request.member, b'9', body);
    }

    /// The reject reason and Text(58) for an order that the book refused.
    fn refused(&self, index: usize, reason: RefusedOrder) -> Objection {
        let instrument = &self.instruments[index];
        let state = instrument.book.state();
        let (why, text) = match reason {
            RefusedOrder::NotTrading | RefusedOrder::NotInAuction => {
                debug_assert!(reason != RefusedOrder::NotTrading || !takes_orders(state));
                let name = state_name(state);
                (
                    Why::NotTrading,
                    format!("Trading state is {name}: {reason}"),
                )
            }
            RefusedOrder::Quantity => (Why::Quantity, "OrderQty(38) is zero".to_string()),
            RefusedOrder::AlreadyFilled => {
                let text = "OrderQty(38) must be greater than the traded quantity".to_string();
                (Why::TooLate, text)
            }
            RefusedOrder::OutsideBand => {
                let band = instrument.book.band();
                let shown = |ticks| {
                    let text = crate::fields::text(instrument.price(ticks));
                    String::from_utf8_lossy(&text).into_owned()
                };
                let (low, high) = (shown(band.low), shown(band.high));
                (
                    Why::Band,
                    format!("The price is outside the price band from {low} to {high}"),
                )
            }
            RefusedOrder::BookFull => (
                Why::Limit,
                format!(
                    "The order book of the instrument is full: max_orders is {}",
                    instrument.book.orders_max()
                ),
            ),
            RefusedOrder::Display => {
                let text = "The displayed quantity must be above zero, from a thousandth of OrderQty(38) to \
                            all of it, and of a limit order that can rest";
                (Why::Quantity, text.to_string())
            }
            other => (Why::Other, other.to_string()),
        };
        (why, text)
    }
}

fn unknown() -> Objection {
    let text = "Unknown order: no order of this session has OrigClOrdID(41)".to_string();
    (Why::UnknownOrder, text)
}
