//! Messages that a peer rejects: the client of a BusinessMessageReject(j), and the reject that the client gets for a
//! Reject(3).

use fixwire_protocol::{BodyError, tag};

use super::super::raised::Target;
use super::{Back, Core, Trouble, Work};
use crate::Draft;
use crate::orders::known::id_of;
use crate::rules::RejectKind;

/// Maximum number of bytes of a peer's text that are passed on.
const MAX_TEXT: usize = 200;

impl Work<'_> {
    /// Sends the source a reject because the target rejected the message. The reject has the target's text, or, if the
    /// target gives none, the tag that the target's Reject(3) refers to. For an order that is open at the target, an
    /// ExecutionReport would look like a report on this order, so `kind` is a BusinessMessageReject(j).
    pub fn refuse_as_rejected(
        &mut self,
        kind: RejectKind,
        text: Option<&[u8]>,
        tag: Option<&[u8]>,
    ) {
        self.core.text.clear();
        let why = Trouble::Rejected.text().as_bytes();
        self.core.text.extend_from_slice(why);
        if let Some(text) = text {
            self.core.text.extend_from_slice(b": ");
            let most = text.len().min(MAX_TEXT);
            self.core.text.extend_from_slice(&text[..most]);
        } else if let Some(tag) = tag {
            self.core.text.extend_from_slice(b" (");
            self.core.text.extend_from_slice(tag);
            self.core.text.push(b')');
        }
        self.answer(kind, Some(Trouble::Rejected));
        if self.unanswered {
            let full = Trouble::NotWritten(BodyError::Full);
            self.tell(None, Target::Unknown, full);
        }
    }

    /// Finds the client of the message that a BusinessMessageReject(j) rejects: by BusinessRejectRefID(379), or, if
    /// that optional field is missing or unknown, by RefSeqNum(45).
    #[cold]
    pub(super) fn find_refused(&mut self) -> Result<(), Trouble> {
        let message = self.message;
        let named = message
            .get(tag::REF_MSG_TYPE)
            .zip(message.get(tag::BUSINESS_REJECT_REF_ID));
        let Core {
            notes,
            own_id,
            refused,
            ..
        } = &mut *self.core;
        for (msg_type, id) in named.into_iter().chain(refused.get()) {
            let Some(id_tag) = id_of(msg_type) else {
                continue;
            };
            let is_resend = refused.is_resend_of(msg_type, id);
            let refused = (msg_type, is_resend);
            let found = notes.refused(self.source, refused, (id_tag, id), self.outbox)?;
            if let Some((client, id)) = found {
                self.back = Back::Refused(client, id_tag == tag::CL_ORD_ID);
                own_id.clear();
                own_id.extend_from_slice(id);
                break;
            }
        }
        Ok(())
    }

    /// Removes from a BusinessMessageReject(j) what refers to other messages at its target than at its source. The ids
    /// of a session with `ids = "pass"` are the same at both.
    #[cold]
    pub(super) fn guard_reject(&self, to: usize, draft: &mut Draft) {
        let notes = &self.core.notes;
        match notes.number(to) {
            _ if !self.core.sessions[to].follows => draft.set(tag::REF_SEQ_NUM, b"0"),
            Some(venue) => {
                let client = notes.number(self.source);
                notes.orders().guard_reject(client, venue, draft);
            }
            // The gateway has sent no order to the target yet.
            None => {
                draft.set(tag::REF_SEQ_NUM, b"0");
                draft.remove_tag(tag::BUSINESS_REJECT_REF_ID);
            }
        }
    }
}
