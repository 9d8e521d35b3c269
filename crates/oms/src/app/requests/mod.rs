//! Requests of clients for orders and quotes, and for the status of orders.

pub(super) mod conversions;
pub(super) mod direct;
pub(super) mod left_out;
pub(super) mod names;
pub(super) mod routes;
pub(super) mod securities;
pub(super) mod user_defined;

use fixwire_protocol::{Indexed, Message, Outbox, Refusal, SessionId, tag};

use super::Oms;
use super::fields::Look;
use crate::decide::core::Beside;
use crate::fix::requests::securities::{SecurityAnswer, read};
use crate::fix::{inquiries, mass, quotes, requests, status, terms};
use crate::state::orders::transition::OrderState;
use crate::values::fields::carried::CarriedFields;
use crate::values::fields::field_table::{Glance, request_bit};
use crate::values::ids::SessionNo;
use crate::values::locate::Locate;
use crate::values::value::RequestKind;

/// Maximum number of orders whose status clients have requested and the venue has not answered yet.
const STATUS_MOST: usize = 1024;

impl Oms {
    /// Handles NewOrderSingle(D).
    pub(super) fn new_order_asked(
        &mut self,
        at: i64,
        index: SessionNo,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let mut seen = Glance::at(request_bit(b"D"));
        let indexed = Indexed::new_with(message, |tag| seen.add_of_request(tag));
        let mut new = requests::new_order(index, &indexed)?;
        if message.is_poss_resend() && self.core.state().has_answered(index, new.id) {
            return self.status(index, message, outbox);
        }
        let may_have_parents = self.core.has_parents() && self.core.may_have_parents(index);
        let is_parent = may_have_parents && indexed.get(tag::HANDL_INST) == Some(b"3");
        let look = match self.is_usual(index, message, &seen) {
            true => Look::Usual,
            false => {
                new.route = routes::route_of(self, at, index, message);
                self.look_at(index, new.route, message)
            }
        };
        let odd = look.lost().or_else(|| {
            // A parent order is not sent, so no venue gets its fields.
            let has_fields = is_parent && !look.is_usual();
            let first = has_fields.then(|| self.gathered.first_tag()).flatten();
            first.map(Into::into)
        });
        let odd = odd.or_else(|| new.odd_price().map(Into::into));
        let is_handled = is_parent || requests::is_automatic(&indexed);
        if let Some(lost) = odd.or((!is_handled).then_some(tag::HANDL_INST.into())) {
            let (core, mut out) = self.parts(outbox, Some(message));
            core.refuse_field(at, &new, lost, &mut out);
            return Ok(());
        }
        if let Some(tag) = self.core.own_number_tag_of(&new) {
            new.own_number = message.get(tag).unwrap_or_default();
        }
        let mut locate = Locate::NONE;
        if look.is_closer() {
            new.terms = terms::terms(message, &self.rules().own_tags)?;
            locate = requests::locate(&indexed)?;
        }
        if may_have_parents {
            terms::role(message, &mut new.terms)?;
        }
        let (core, mut out, fields) = self.parts_with_fields(outbox, Some(message));
        let beside = (!look.is_usual()).then_some(Beside { locate, fields });
        core.lines_accept(look.direct_group());
        core.new_with(at, &new, beside, &mut out);
        core.lines_accept(None);
        Ok(())
    }

    /// Handles OrderCancelReplaceRequest(G) or OrderCancelRequest(F).
    pub(super) fn change_asked(
        &mut self,
        at: i64,
        index: SessionNo,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let kind = if message.msg_type() == b"G" {
            RequestKind::Replace
        } else {
            RequestKind::Cancel
        };
        let mut seen = Glance::at(request_bit(message.msg_type()));
        let visit = |tag| seen.add_of_request(tag);
        let change = Indexed::read_with(message, visit, |it| requests::change(index, kind, it));
        let mut change = change?;
        let look = self.look(index, message, &seen);
        let mut lost = look.lost();
        let order = (!look.is_usual()).then(|| self.core.named(&change));
        if order
            .flatten()
            .is_some_and(|order| order.state == OrderState::Parent)
        {
            // A parent order is not sent, so no venue gets the fields of its requests, or the fields that settings add
            // to them.
            let first = self.gathered.first_tag().filter(|tag| message.has(*tag));
            self.gathered.clear();
            lost = lost.or(first.map(Into::into));
        }
        if let Some(lost) = lost {
            let (core, mut out) = self.parts(outbox, None);
            core.refuse_field_of_change(at, &change, lost, &mut out);
            return Ok(());
        }
        if kind == RequestKind::Replace && look.is_closer() {
            let own_tags = self.rules().own_tags;
            change.valid_for = terms::validity(message, &own_tags)?;
            if let Some(by) = terms::reduce_by(message, own_tags.reduce_by)? {
                change.quantity = self.core.reduced(index, change.original, by);
            }
        }
        let (core, mut out, fields) = self.parts_with_fields(outbox, None);
        let fields = (!look.is_usual()).then_some(fields);
        core.lines_accept(look.direct_group());
        core.change_with(at, &change, fields, &mut out);
        core.lines_accept(None);
        Ok(())
    }

    /// Handles OrderMassCancelRequest(q).
    pub(super) fn mass_cancel_asked(
        &mut self,
        at: i64,
        index: SessionNo,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let cancel = mass::mass_cancel(index, message)?;
        let odd = self.not_carried(index, message);
        // A mass cancel of all orders must not name a symbol, because it would also cancel the orders in other symbols.
        let names_symbol = cancel.kind == b'7' && !cancel.symbol.is_empty();
        let odd = odd.or(names_symbol.then_some(tag::SYMBOL));
        let (core, mut out) = self.parts(outbox, Some(message));
        match odd {
            Some(tag) => core.refuse_field_of_mass_cancel(at, &cancel, tag, &mut out),
            None => core.mass_cancel(at, &cancel, &mut out),
        }
        Ok(())
    }

    /// Handles Quote(S), QuoteCancel(Z) or QuoteRequest(R).
    pub(super) fn quote_asked(
        &mut self,
        at: i64,
        index: SessionNo,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        if message.msg_type() == b"S" {
            let mut seen = Glance::at(request_bit(b"S"));
            let fields = message.fields().iter();
            fields.for_each(|field| seen.add_of_request(field.tag));
            let look = self.look(index, message, &seen);
            // For each side there is a note of the carried fields, and a note of the TMP values that follow from them.
            let (messages, bytes) = self.room();
            if !look.is_usual() && !outbox.has_room(messages + 4, bytes) {
                return Err(Refusal::NotAvailable);
            }
            let (core, mut out, fields) = self.parts_with_fields(outbox, Some(message));
            let quote = quotes::quote(index, &Indexed::new(message))?;
            let fields = match look.is_usual() {
                true => CarriedFields::NONE,
                false => fields,
            };
            core.lines_accept(look.direct_group());
            match look.lost() {
                Some(lost) => core.refuse_field_of_quote(at, &quote, lost, &mut out),
                None => core.new_quote_with(at, &quote, fields, &mut out),
            }
            core.lines_accept(None);
            return Ok(());
        }
        let odd = self.not_carried(index, message);
        let (core, mut out) = self.parts(outbox, Some(message));
        match message.msg_type() {
            b"Z" => {
                let cancel = quotes::cancel(index, message)?;
                match odd {
                    Some(tag) => {
                        core.refuse_field_with_id(at, index, b'Z', cancel.id, tag, &mut out)
                    }
                    None => core.cancel_quotes(at, &cancel, &mut out),
                }
            }
            _ => {
                let inquiry = inquiries::inquiry(index, message)?;
                let is_odd_side = message.has(tag::SIDE) && inquiry.side.is_none();
                let odd = odd.or(is_odd_side.then_some(tag::SIDE));
                match odd {
                    Some(tag) => {
                        core.refuse_field_with_id(at, index, b'R', inquiry.id, tag, &mut out)
                    }
                    None => core.new_inquiry(at, &inquiry, &mut out),
                }
            }
        }
        Ok(())
    }

    pub(super) fn status(
        &mut self,
        index: SessionNo,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let Some(Some(client)) = self.links.clients.get(index) else {
            return Err(Refusal::NotAuthorized);
        };
        let id = message.get(tag::CL_ORD_ID).unwrap_or_default();
        if !self.core.may_ask(index, id) {
            return Err(Refusal::NotAuthorized);
        }
        status::status(self.core.state(), index, message, *client, outbox)?;
        let number = self.core.state().used(index, id);
        if let Some(number) = number
            && self.status_waits.len() < STATUS_MOST
            && self.core.pass_on_status(number)
            && !self.status_waits.contains(&number)
        {
            self.status_waits.push(number);
        }
        Ok(())
    }

    /// Handles SecurityDefinitionRequest(c) or SecurityListRequest(x): the answer is sent when no other work is pending.
    pub(super) fn securities_asked(
        &mut self,
        from: SessionId,
        index: SessionNo,
        message: &Message<'_>,
    ) -> Result<(), Refusal> {
        // The reserve of the journal is for cancels and reports.
        if self.core.work.is_on_reserve() {
            return Err(Refusal::NotAvailable);
        }
        let session = self.sessions.get(from.0 as usize);
        let user = self.core.user(index).ok();
        let (session, user) = session.zip(user).ok_or(Refusal::NotAuthorized)?;
        let may = user.may_list_securities();
        let rules = self.core.rules();
        let request = read(message, &rules.securities)?;
        let (dictionary, instruments) = (&session.dictionary, &rules.instruments);
        let found = request
            .symbol()
            .and_then(|symbol| rules.securities.rule(instruments, symbol));
        let answer = SecurityAnswer::new(from, dictionary, request, may, instruments, found);
        self.securities
            .add(answer.ok_or(Refusal::UnsupportedMessageType)?)
    }
}
