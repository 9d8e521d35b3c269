//! Moves messages into the outbox when they are due.

use alloc::format;
use alloc::string::{String, ToString};

use fixwire_protocol::{BodyError, Mono, Now, Outbox, Tag, tag};

use super::OrderClient;
use super::commands::has_id;
use crate::book::MOST_KEPT;
use crate::failure::CommandFailure;
use crate::fields::MessageFields;
use crate::note::{ClientNote, SentNote};
use crate::order_layout::{OrderSubject, SEND_TIME};
use crate::sending::{Sending, Targets, day};

/// Bytes that a field needs in addition to its value: ten digits, `=`, SOH, and the margin of a body.
const AROUND: usize = 24;

impl OrderClient {
    /// Sends the messages that are due. Returns when the next message is due; `None` when all were sent.
    pub(super) fn pump(
        &mut self,
        now: Now,
        sending: &mut Sending,
        outbox: &mut Outbox,
    ) -> Result<Option<Mono>, CommandFailure> {
        if !self.is_logged_on {
            let (sent, count) = (sending.sent, sending.count);
            let seconds = self.timeout.as_secs();
            return match sending.begun {
                Some(_) => Err(CommandFailure::SessionLost { sent, count }),
                None if now.mono < sending.logon_until => Ok(Some(sending.logon_until)),
                None => Err(CommandFailure::NotLoggedOn { seconds }),
            };
        }
        let begun = *sending.begun.get_or_insert(now);
        for _ in 0..sending.per_turn() {
            if sending.sent == sending.count {
                return Ok(None);
            }
            let due = sending.due(begun);
            if let Some(due) = due
                && due.mono > now.mono
            {
                return Ok(Some(due.mono));
            }
            if !self.send_next(now, due.unwrap_or(now), sending, outbox)? {
                break;
            }
            sending.sent += 1;
        }
        Ok((sending.sent < sending.count).then_some(now.mono))
    }

    /// Writes the next message and its note; `false` if the outbox has no room for both.
    fn send_next(
        &mut self,
        now: Now,
        due: Now,
        sending: &mut Sending,
        outbox: &mut Outbox,
    ) -> Result<bool, CommandFailure> {
        let message = sending.next_message();
        let order = self.target(sending, &message)?;
        let id = self.next_id(now, sending, &message)?;
        let order = order.and_then(|order| self.book.order(order));
        let subject = order.map(|order| OrderSubject {
            id: message.get(tag::ORIG_CL_ORD_ID).unwrap_or(&order.id),
            order_id: &order.order_id,
            fields: &order.fields,
        });
        let mut all = MessageFields::new(&message.msg_type);
        all.fields = self
            .layout
            .complete(&message, id.as_deref(), subject.as_ref(), now.wall);
        if self.stamps && all.get(SEND_TIME).is_none() {
            all.set(SEND_TIME, &due.wall.0.to_string());
        }
        let of = order.filter(|_| message.msg_type != "D");
        let of = of.map_or_else(String::new, |order| order.id.to_string());
        let kept = if message.msg_type == "D" {
            all.packed(&UNKEPT)
        } else {
            message.packed(&UNKEPT)
        };
        let note = id.as_deref().map(|id| SentNote {
            msg_type: &message.msg_type,
            id,
            of: &of,
            fields: &kept,
        });
        if !write(self.session, &all, note.as_ref(), outbox)? {
            return Ok(false);
        }
        self.numbers.wrote(id.as_deref());
        if let Some(note) = &note {
            self.book.sent(note, Some(due.mono));
        }
        match &mut sending.targets {
            Targets::Orders(orders) => drop(orders.pop_front()),
            Targets::Group { next, .. } => *next += 1,
            Targets::Template => {}
        }
        Ok(true)
    }

    /// The order to which the next message refers, if known.
    fn target(
        &self,
        sending: &mut Sending,
        message: &MessageFields,
    ) -> Result<Option<u64>, CommandFailure> {
        let (sent, count) = (sending.sent, sending.count);
        match &mut sending.targets {
            Targets::Template => {
                let named = message.get(tag::ORIG_CL_ORD_ID);
                let named = named.or_else(|| message.get(tag::CL_ORD_ID));
                let about = matches!(message.msg_type.as_str(), "F" | "G" | "H");
                Ok(named.filter(|_| about).and_then(|id| self.book.find(id)))
            }
            Targets::Orders(orders) => Ok(orders.front().copied()),
            Targets::Group { name, next } => {
                let end = self.book.next_of(name).unwrap_or(1);
                while *next < end {
                    let order = self.book.find(&format!("{name}:{next}"));
                    let open = |order: &u64| {
                        self.book
                            .order(*order)
                            .is_some_and(|order| !order.is_final())
                    };
                    if let Some(order) = order.filter(open) {
                        return Ok(Some(order));
                    }
                    *next += 1;
                }
                Err(CommandFailure::GroupEnds {
                    group: name.clone(),
                    sent,
                    count,
                })
            }
        }
    }

    /// The ClOrdID(11) for the next message; `None` if messages of this type have no ClOrdID of their own.
    fn next_id(
        &self,
        now: Now,
        sending: &Sending,
        message: &MessageFields,
    ) -> Result<Option<String>, CommandFailure> {
        if !has_id(message) {
            return Ok(None);
        }
        if self.book.is_full() {
            return Err(CommandFailure::TooMany(MOST_KEPT));
        }
        let given = message.get(tag::CL_ORD_ID);
        let id = match (&sending.group, given) {
            (None, Some(given)) => given.to_string(),
            (group, _) => self.book.new_id(&day(now.wall), group.as_deref()),
        };
        if self.book.has(&id) {
            return Err(CommandFailure::UsedId(id));
        }
        Ok(Some(id))
    }
}

/// Fields of an order that the book does not keep.
const UNKEPT: [Tag; 4] = [
    tag::CL_ORD_ID,
    tag::ORIG_CL_ORD_ID,
    tag::TRANSACT_TIME,
    SEND_TIME,
];

/// Writes a message and its note; `false` if the outbox has no room for both.
fn write(
    session: fixwire_protocol::SessionId,
    message: &MessageFields,
    note: Option<&SentNote<'_>>,
    outbox: &mut Outbox,
) -> Result<bool, CommandFailure> {
    let note = note.map(|message| ClientNote::Sent { message: *message }.write());
    let fields = message.fields.iter();
    let bytes: usize = fields.map(|field| field.1.len() + AROUND).sum();
    let bytes = bytes + note.as_ref().map_or(0, alloc::vec::Vec::len);
    if !outbox.has_room(2, bytes) {
        if outbox.is_empty() {
            return Err(CommandFailure::TooLong);
        }
        return Ok(false);
    }
    let mut body = outbox.begin(session, message.msg_type.as_bytes());
    for (tag, value) in &message.fields {
        body.field(*tag, value.as_bytes());
    }
    let failed = |error: BodyError| match error {
        BodyError::Value(tag) => CommandFailure::Value(tag),
        _ => CommandFailure::TooLong,
    };
    body.finish().map_err(failed)?;
    if let Some(note) = note {
        outbox.note(&note).map_err(failed)?;
    }
    Ok(true)
}
