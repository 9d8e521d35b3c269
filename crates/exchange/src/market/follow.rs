//! Orders that follow a script; such orders never enter a book.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use fixwire_book::CancelReason;
use fixwire_protocol::{Decimal, Timestamp, tag};

use super::settle::Cause;
use super::terms::Objection;
use super::{Market, UnreadableNote};
use crate::dialect::{Kind, Why};
use crate::event::{MemberRequest, RequestMsgType};
use crate::fields::{FieldWriter, RequestFields};
use crate::instrument::{Instrument, units};
use crate::orders::Order;
use crate::report::{Entry, Said};
use crate::script::{Amount, Asking, OrderEnd, ScriptStep};
use crate::scripted::{Asked, Scripted};

/// Maximum number of pending requests of one scripted order.
const ASKED_MAX: usize = 16;

impl Market {
    /// Handles a new order that follows a script.
    pub(super) fn enter_scripted(
        &mut self,
        request: &MemberRequest<'_>,
        script: &str,
    ) -> Result<(), UnreadableNote> {
        let scripted = Scripted::begin(script).ok_or(UnreadableNote)?;
        if self.is_known(request) {
            return Ok(());
        }
        let accepted = self.accept(request).and_then(|(index, order, _)| {
            self.takes_script(index, order.quantity, order.price, &scripted)?;
            Ok(order)
        });
        let order = match accepted {
            Ok(order) => order,
            Err(objection) => {
                self.reject(request, objection);
                return Ok(());
            }
        };
        let id = order.id;
        self.last_order = id;
        self.orders.insert(order);
        self.scripted.insert(id, scripted);
        self.follow(request.at, id);
        Ok(())
    }

    fn takes_script(
        &self,
        index: usize,
        quantity: u64,
        price: Option<i64>,
        scripted: &Scripted,
    ) -> Result<(), Objection> {
        if quantity == 0 {
            return Err((Why::Quantity, "OrderQty(38) is zero".to_string()));
        }
        if price.is_none() && scripted.needs_price() {
            let text = "The script fills at the price of the order, but the order has no Price(44)";
            return Err((Why::Other, text.to_string()));
        }
        let most = self.instruments[index].book.orders_max();
        if self.scripted.len() >= most as usize {
            let text = format!("Too many scripted orders: the limit is {most}");
            return Err((Why::Limit, text));
        }
        Ok(())
    }

    /// Continues an order with its next step, which is due.
    pub(super) fn step(&mut self, at: Timestamp, id: u64) {
        let waits = |it: &&mut Scripted| it.until.is_some();
        if let Some(scripted) = self.scripted.get_mut(id).filter(waits) {
            scripted.at += 1;
            self.scripted.set_wait(id, None);
            self.follow(at, id);
        }
    }

    /// Handles a cancel or replace of an order that follows a script.
    pub(super) fn ask_scripted(&mut self, request: &MemberRequest<'_>, id: u64) {
        let Some(scripted) = self.scripted.get_mut(id) else {
            return;
        };
        if scripted.asked.len() >= ASKED_MAX {
            let text = format!("Too many pending requests for the order: the limit is {ASKED_MAX}");
            return self.cancel_reject(request, (Why::Other, text));
        }
        let cl_ord_id = request.fields.text(tag::CL_ORD_ID);
        let is_same = |it: &Asked| RequestFields::new(&it.fields).text(tag::CL_ORD_ID) == cl_ord_id;
        if scripted.asked.iter().any(is_same) {
            let text = "Duplicate ClOrdID(11): give each request a new one";
            return self.cancel_reject(request, (Why::Duplicate, text.to_string()));
        }
        scripted.asked.push_back(Asked {
            asking: if request.msg_type == RequestMsgType::Replace {
                Asking::Replace
            } else {
                Asking::Cancel
            },
            is_pending: false,
            fields: request.fields.bytes.into(),
        });
        self.follow(request.at, id);
    }

    /// Carries out the steps of an order up to the next wait, then answers the requests for which the script has no
    /// step.
    fn follow(&mut self, at: Timestamp, id: u64) {
        self.restate_pending(id);
        while let Some(step) = self.scripted.get(id).and_then(Scripted::step).cloned() {
            if !self.take(at, id, &step) {
                break;
            }
            if let Some(scripted) = self.scripted.get_mut(id) {
                scripted.at += 1;
            }
        }
        let was_closed = self.is_closed(id);
        while let Some(asked) = self.scripted.get(id).and_then(Scripted::unscripted) {
            self.grant(at, id, asked);
            // A cancel by the member ends the script.
            if !was_closed && self.is_closed(id) {
                return self.drop_script(at, id);
            }
        }
        let is_done = self.scripted.get(id).is_some_and(|it| it.step().is_none());
        if is_done && self.is_closed(id) {
            self.drop_script(at, id);
        }
    }

    /// Carries out one step; returns `false` when the step waits.
    fn take(&mut self, at: Timestamp, id: u64, step: &ScriptStep) -> bool {
        match step {
            ScriptStep::Pending => self.report(at, id, &Said::of(Kind::PendingNew)),
            ScriptStep::Acknowledge => {
                self.set_new(id);
                self.report(at, id, &Said::of(Kind::New));
            }
            ScriptStep::Fill(amount, price) => self.fill(at, id, *amount, *price),
            ScriptStep::Bust => {
                if let Some(place) = self.last_fill(id) {
                    self.bust(at, (id, place));
                }
            }
            ScriptStep::Correct(quantity, price) => {
                if let Some(place) = self.last_fill(id) {
                    self.correct(at, (id, place), *quantity, *price);
                }
            }
            ScriptStep::Restate(quantity, price, text) => {
                self.restate(at, id, (*quantity, *price), text);
            }
            ScriptStep::End(end, code, text) => self.end(at, id, *end, *code, text),
            ScriptStep::Wait(time) => {
                let scripted = self.scripted.get(id);
                if scripted.is_some_and(|it| it.until.is_none()) {
                    let until = at.0.saturating_add(time.0.cast_signed());
                    self.scripted.set_wait(id, Some(Timestamp(until)));
                }
                return false;
            }
            ScriptStep::WaitFor(asking)
            | ScriptStep::PendingRequest(asking)
            | ScriptStep::Accept(asking)
            | ScriptStep::Refuse(asking, ..) => {
                let scripted = self.scripted.get(id);
                let Some(asked) = scripted.and_then(|it| it.oldest(*asking)) else {
                    return false;
                };
                match step {
                    ScriptStep::PendingRequest(_) => self.report_pending(at, id, asked),
                    ScriptStep::Accept(_) => self.grant(at, id, asked),
                    ScriptStep::Refuse(_, code, text) => self.refuse(at, id, asked, *code, text),
                    _ => {}
                }
            }
        }
        true
    }

    fn fill(&mut self, at: Timestamp, id: u64, amount: Amount, price: Option<Decimal>) {
        let Some((order, instrument)) = self.placed(id) else {
            return;
        };
        let lots = match amount {
            Amount::Quantity(quantity) => lots(instrument, quantity),
            Amount::Percent(percent) => {
                let lots = u128::from(order.quantity) * u128::from(percent) / 100;
                u64::try_from(lots).unwrap_or(order.quantity).max(1)
            }
            Amount::Rest => order.quantity.saturating_sub(order.filled),
        };
        let price = price.and_then(|price| units(price, instrument.tick).ok());
        let ticks = price.or(order.price).unwrap_or_default();
        if lots == 0 {
            return;
        }
        self.refilled(id, i128::from(lots), i128::from(lots) * i128::from(ticks));
        self.set_new(id);
        self.report_trade(at, id, (lots, ticks), Entry::default());
    }

    /// The index of the last fill of an order.
    fn last_fill(&self, id: u64) -> Option<usize> {
        self.orders.get(id)?.fills.len().checked_sub(1)
    }

    /// Restates an order, with another quantity or price if given.
    fn restate(
        &mut self,
        at: Timestamp,
        id: u64,
        (quantity, price): (Option<Decimal>, Option<Decimal>),
        text: &str,
    ) {
        let Some((_, instrument)) = self.placed(id) else {
            return;
        };
        let new_quantity = quantity.map(|quantity| lots(instrument, quantity));
        let new_price = price.and_then(|price| units(price, instrument.tick).ok());
        if let Some(order) = self.orders.get_mut(id) {
            order.quantity = new_quantity.unwrap_or(order.quantity);
            order.price = new_price.or(order.price);
        }
        self.orders.refill(id);
        let reason = match (quantity, price) {
            (Some(_), _) => b'5',
            (None, Some(_)) => b'3',
            (None, None) => b'4',
        };
        let mut more = FieldWriter::default();
        more.char(tag::EXEC_RESTATEMENT_REASON, reason);
        let said = Said {
            text,
            more: &more.0,
            ..Said::of(Kind::Restated)
        };
        self.report(at, id, &said);
    }

    fn end(&mut self, at: Timestamp, id: u64, end: OrderEnd, code: Option<u64>, text: &str) {
        let (kind, status, said) = match end {
            OrderEnd::Canceled => (Kind::Canceled, b'4', "Canceled by the exchange"),
            OrderEnd::Rejected => (Kind::Rejected, b'8', "Rejected by the exchange"),
            OrderEnd::Expired => (Kind::Expired, b'C', "Expired"),
            OrderEnd::DoneForDay => (Kind::DoneForDay, b'3', "Done for the day"),
        };
        let Some(order) = self.orders.get(id) else {
            return;
        };
        let dialect = self.dialect(order.member);
        let mut more = FieldWriter::default();
        if end == OrderEnd::Rejected {
            let why = code.map_or(Why::Other, Why::Code);
            more.uint(tag::ORD_REJ_REASON, dialect.ord_rej_reason(why));
        }
        self.orders.end(id, status);
        let said = Said {
            text: if text.is_empty() { said } else { text },
            more: &more.0,
            ..Said::of(kind)
        };
        self.report(at, id, &said);
    }

    /// Reports the request at an index as pending.
    fn report_pending(&mut self, at: Timestamp, id: u64, place: usize) {
        let scripted = self.scripted.get_mut(id);
        let Some(asked) = scripted.and_then(|it| it.asked.get_mut(place)) else {
            return;
        };
        asked.is_pending = true;
        let (asking, fields) = (asked.asking, asked.fields.clone());
        self.restate_pending(id);
        let said = Said {
            cl_ord_id: Some(RequestFields::new(&fields).text(tag::CL_ORD_ID)),
            orig_cl_ord_id: Some(RequestFields::new(&fields).text(tag::ORIG_CL_ORD_ID)),
            ..Said::of(match asking {
                Asking::Cancel => Kind::PendingCancel,
                Asking::Replace => Kind::PendingReplace,
            })
        };
        self.report(at, id, &said);
    }

    /// Accepts the request at an index, unless the order is closed or the request is impossible.
    fn grant(&mut self, at: Timestamp, id: u64, place: usize) {
        let Some((asking, fields)) = self.answered(id, place) else {
            return;
        };
        let (asking, fields) = self.tmp_asked(id, &fields).unwrap_or((asking, fields));
        let Some(order) = self.orders.get(id) else {
            return;
        };
        let (member, index) = (order.member, order.instrument as usize);
        let request = request(member, at, asking, &fields);
        if let Some(too_late) = self.too_late(id) {
            return self.cancel_reject(&request, too_late);
        }
        let cause = Cause {
            cl_ord_id: request.fields.text(tag::CL_ORD_ID),
            orig_cl_ord_id: request.fields.text(tag::ORIG_CL_ORD_ID),
        };
        if asking == Asking::Cancel {
            self.orders.rename(id, cause.cl_ord_id);
            return self.cancelled(
                at,
                id,
                (CancelReason::Requested, Entry::default()),
                "",
                Some(cause),
            );
        }
        let terms = match self.change(&request, id, index) {
            Ok((terms, _)) => terms,
            Err(objection) => return self.cancel_reject(&request, objection),
        };
        let filled = self.orders.get(id).map_or(0, |order| order.filled);
        if terms.quantity <= filled {
            let text = "OrderQty(38) must be greater than the traded quantity".to_string();
            return self.cancel_reject(&request, (Why::TooLate, text));
        }
        self.orders.rename(id, cause.cl_ord_id);
        if let Some(order) = self.orders.get_mut(id) {
            (order.quantity, order.price) = (terms.quantity, terms.price);
            order.stop = terms.stop;
        }
        let said = Said {
            orig_cl_ord_id: Some(cause.orig_cl_ord_id),
            ..Said::of(Kind::Replaced)
        };
        self.report(at, id, &said);
    }

    /// Rejects the request at an index.
    fn refuse(&mut self, at: Timestamp, id: u64, place: usize, code: Option<u64>, text: &str) {
        let Some((asking, fields)) = self.answered(id, place) else {
            return;
        };
        let member = self.orders.get(id).map_or(0, |order| order.member);
        let why = code.map_or(Why::Other, Why::Code);
        let text = if text.is_empty() {
            "Rejected by the exchange"
        } else {
            text
        };
        let request = request(member, at, asking, &fields);
        self.cancel_reject(&request, (why, text.to_string()));
    }

    /// Removes the request at an index, because it is answered now.
    fn answered(&mut self, id: u64, place: usize) -> Option<(Asking, Box<[u8]>)> {
        let asked = self.scripted.get_mut(id)?.asked.remove(place)?;
        self.restate_pending(id);
        Some((asked.asking, asked.fields))
    }

    /// Ends a script: rejects its unanswered requests as too late.
    fn drop_script(&mut self, at: Timestamp, id: u64) {
        while self.scripted.get(id).is_some_and(|it| !it.asked.is_empty()) {
            self.grant(at, id, 0);
        }
        self.scripted.remove(id);
    }

    /// Cancels the open scripted orders of an instrument, and ends all scripts of the instrument.
    pub(super) fn clear_scripted(&mut self, index: usize, at: Timestamp, text: &str) {
        let is_its = |(id, _): &(u64, &Scripted)| {
            let order = self.orders.get(*id);
            order.is_none_or(|order| order.instrument as usize == index)
        };
        let ids: Vec<u64> = self.scripted.iter().filter(is_its).map(|it| it.0).collect();
        for id in ids {
            if !self.is_closed(id) {
                self.cancelled(
                    at,
                    id,
                    (CancelReason::Requested, Entry::default()),
                    text,
                    None,
                );
            }
            self.drop_script(at, id);
        }
    }

    /// Cancels an order that follows a script, and ends the script.
    pub(super) fn cancel_scripted(&mut self, at: Timestamp, id: u64, cause: Cause<'_>) {
        self.cancelled(
            at,
            id,
            (CancelReason::Requested, Entry::default()),
            "",
            Some(cause),
        );
        self.drop_script(at, id);
    }

    /// Records that the order was reported as new or filled.
    fn set_new(&mut self, id: u64) {
        if let Some(scripted) = self.scripted.get_mut(id) {
            scripted.is_new = true;
        }
        self.restate_pending(id);
    }

    /// Sets OrdStatus(39) of the order as the state of its script requires.
    pub(crate) fn restate_pending(&mut self, id: u64) {
        let pending = self.scripted.get(id).and_then(Scripted::pending);
        if let Some(order) = self.orders.get_mut(id) {
            order.pending = pending;
        }
    }

    /// Changes the filled quantity of an order by `lots`, and the value of its fills by `notional` (ticks times
    /// lots).
    pub(super) fn refilled(&mut self, id: u64, lots: i128, notional: i128) {
        if let Some(order) = self.orders.get_mut(id) {
            let filled = i128::from(order.filled) + lots;
            order.filled = u64::try_from(filled.max(0)).unwrap_or(u64::MAX);
            order.notional = order.notional.saturating_add(notional);
        }
        self.orders.refill(id);
    }

    fn is_closed(&self, id: u64) -> bool {
        let order = self.orders.get(id);
        order.is_none_or(|order| order.closed.is_some())
    }

    /// An order and its instrument.
    pub(super) fn placed(&self, id: u64) -> Option<(&Order, &Instrument)> {
        let order = self.orders.get(id)?;
        Some((order, self.instruments.get(order.instrument as usize)?))
    }
}

/// Builds the request again from its fields.
fn request(member: u32, at: Timestamp, asking: Asking, fields: &[u8]) -> MemberRequest<'_> {
    MemberRequest {
        member,
        at,
        msg_type: match asking {
            Asking::Cancel => RequestMsgType::Cancel,
            Asking::Replace => RequestMsgType::Replace,
        },
        fields: RequestFields::new(fields),
    }
}

/// A quantity in lots. The quantity is a multiple of the lot; this was checked when the script was read.
pub(super) fn lots(instrument: &Instrument, quantity: Decimal) -> u64 {
    let lots = units(quantity, instrument.lot).unwrap_or_default();
    u64::try_from(lots).unwrap_or_default()
}
