//! Handles a peer's Reject(3): the rejected request has failed, so its client receives a reject from the gateway.

use alloc::vec::Vec;

use fixwire_protocol::{Message, Now, Outbox, SOH, SessionId, Tag, tag};

use super::answer::{TURNED, reads};
use super::work::Work;
use super::{Gateway, GatewayEvent, Trouble};
use crate::Draft;
use crate::orders::known::{asks, id_of};
use crate::rules::{RejectKind, RuleTrigger};

impl Gateway {
    /// Handles a Reject(3) from a session. `refused` is the rejected message, as it was sent.
    #[cold]
    pub(super) fn rejected(
        &mut self,
        now: Now,
        session: SessionId,
        reject: &Message<'_>,
        refused: Option<&[u8]>,
        outbox: &mut Outbox,
    ) {
        let Some(of) = self.core.sessions.get(session.0 as usize) else {
            return;
        };
        // An id in a copy cannot be distinguished from the same id of an order.
        let is_followed = of.follows && !of.gets_copies;
        self.core.counters.troubles += 1;
        (self.core.listener)(GatewayEvent::Trouble {
            from: session,
            message: *reject,
            rule: None,
            trouble: Trouble::Rejected,
        });
        self.happened_to(RuleTrigger::RejectReceived, now, session, reject, outbox);
        let Some(refused) = refused.filter(|_| is_followed) else {
            return;
        };
        let mut draft = Draft::default();
        draft.load(&self.decoder.decode(refused));
        let meant = reject.get(tag::REF_MSG_TYPE);
        if !asks(draft.msg_type()) || meant.is_some_and(|meant| meant != draft.msg_type()) {
            return;
        }
        // If the outbox has no room for the note, the order stays open, now and after a restart.
        self.core.notes.set_time(now.wall);
        let client = match self.core.notes.begin(outbox) {
            Ok(_) => {
                let notes = &mut self.core.notes;
                notes.rejected(session.0 as usize, &mut draft, outbox)
            }
            Err(trouble) => Err(trouble),
        };
        let Ok(Some(client)) = client else { return };
        let notes = &self.core.notes;
        // The client gets no reject if the order is also at another venue, where it is open or was answered.
        let is_order = matches!(draft.msg_type(), b"D" | b"AB");
        let id = draft.get(tag::CL_ORD_ID).filter(|_| is_order);
        let elsewhere = id
            .zip(notes.number(session.0 as usize))
            .is_some_and(|(id, venue)| notes.orders().is_elsewhere(client, venue, id));
        if let Some(client) = self.core.notes.place(client).filter(|_| !elsewhere) {
            let why = (reject.get(tag::TEXT), reject.get(tag::REF_TAG_ID));
            self.answer_rejected(now, (client, session), &draft, why, outbox);
        }
    }

    /// Sends a client a reject of its request, because the venue has rejected the request with a
    /// BusinessMessageReject(j), which the client's FIX version does not have.
    #[cold]
    pub(super) fn answer_unreturned(
        &mut self,
        now: Now,
        venue: SessionId,
        reject: &Message<'_>,
        refused: Option<&[u8]>,
        outbox: &mut Outbox,
    ) {
        let Some((place, text)) = self.core.refused.unreturned() else {
            return;
        };
        let text = (!text.is_empty()).then(|| text.to_vec());
        let known = self.core.refused.get();
        let msg_type = known.map(|(msg_type, _)| msg_type);
        let Some(msg_type) = msg_type.or(reject.get(tag::REF_MSG_TYPE)) else {
            return;
        };
        let Some(id_tag) = id_of(msg_type) else {
            return;
        };
        let mut draft = Draft::default();
        if let Some(refused) = refused.filter(|_| known.is_some()) {
            draft.load(&self.decoder.decode(refused));
            let notes = &self.core.notes;
            let ends = notes.number(place).zip(notes.number(venue.0 as usize));
            if let Some((client, venue)) = ends {
                notes.orders().restore_request(client, venue, &mut draft);
            }
        }
        // The id finds the request; RefSeqNum(45) may refer to another message.
        if draft.get(id_tag) != Some(&self.core.own_id[..]) {
            draft.begin(msg_type);
            draft.push(id_tag, &self.core.own_id);
        }
        let why = (text.as_deref(), None);
        self.answer_rejected(now, (place, venue), &draft, why, outbox);
    }

    /// Keeps the message that a BusinessMessageReject(j) refers to by RefSeqNum(45), when BusinessRejectRefID(379) is
    /// absent or unknown.
    #[cold]
    pub(super) fn business_rejected(
        &mut self,
        session: SessionId,
        reject: &Message<'_>,
        refused: Option<&[u8]>,
    ) {
        self.core.refused.clear();
        let of = self.core.sessions.get(session.0 as usize);
        // As in `rejected`: a copy may have the id of an order.
        let is_followed = of.is_some_and(|of| of.follows && !of.gets_copies);
        let Some(refused) = refused.filter(|_| is_followed) else {
            return;
        };
        let refused = self.decoder.decode(refused);
        let msg_type = refused.msg_type();
        let meant = reject.get(tag::REF_MSG_TYPE);
        if meant.is_some_and(|meant| meant != msg_type) {
            return;
        }
        if let Some(id) = id_of(msg_type).and_then(|tag| refused.get(tag)) {
            let is_poss_resend = refused.is_poss_resend();
            self.core.refused.set(msg_type, id, is_poss_resend);
        }
    }

    /// Sends the client a reject of a message that the venue rejected, with the venue's Text(58) or RefTagID(371).
    /// Third parties and account are not taken from the message as sent, because rules may have written them.
    fn answer_rejected(
        &mut self,
        now: Now,
        (client, venue): (usize, SessionId),
        draft: &Draft,
        (text, tag): (Option<&[u8]>, Option<&[u8]>),
        outbox: &mut Outbox,
    ) {
        let Self {
            rules,
            active,
            open,
            core,
            record,
            decoder,
            ..
        } = self;
        let ends = core.notes.number(client);
        let ends = ends.zip(core.notes.number(venue.0 as usize));
        let is_order = matches!(draft.msg_type(), b"D" | b"AB");
        let id = draft.get(tag::CL_ORD_ID).filter(|_| is_order);
        let is_open = ends
            .zip(id)
            .is_some_and(|((client, venue), id)| core.notes.orders().is_open_at(client, venue, id));
        let kind = match is_open {
            true => RejectKind::Business,
            false => RejectKind::Fitting,
        };
        let dictionary = &core.sessions[client].dictionary;
        record.clear();
        put(record, tag::MSG_TYPE, draft.msg_type());
        for at in 0..draft.len() {
            let tag = draft.tag(at);
            let is_written = tag == tag::ACCOUNT || TURNED.iter().any(|(from, _)| *from == tag);
            if !is_written && reads(dictionary, draft.msg_type(), tag) {
                put(record, tag, draft.value(at));
            }
        }
        let message = decoder.decode(record);
        let sessions = (&active[..], &open[..]);
        let client = SessionId(client as u32);
        let mut work = Work::new(core, rules, sessions, now, client, &message, outbox);
        work.refuse_as_rejected(kind, text, tag);
    }

    /// Runs the `[[on]]` entries for an event of a message that this session sent.
    #[cold]
    pub(super) fn happened_to(
        &mut self,
        happening: RuleTrigger,
        now: Now,
        session: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) {
        let Self {
            rules,
            scratch,
            active,
            open,
            core,
            ..
        } = self;
        let sessions = (&active[..], &open[..]);
        let mut work = Work::new(core, rules, sessions, now, session, message, outbox);
        work.happened(happening, scratch);
    }
}

fn put(text: &mut Vec<u8>, tag: Tag, value: &[u8]) {
    let mut digits = itoa::Buffer::new();
    text.extend_from_slice(digits.format(tag).as_bytes());
    text.push(b'=');
    text.extend_from_slice(value);
    text.push(SOH);
}
