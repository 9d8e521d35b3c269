//! Holds a message in the gateway's queue for a session that is not logged on, and removes the message when its order
//! is cancelled.

use alloc::vec::Vec;

use fixwire_protocol::outbox::MAX_MSG_TYPE;
use fixwire_protocol::{BodyError, Decoder, SECRETS, SessionId, tag};

use super::super::answer::Answer;
use super::super::held::{ANSWER, LOOK};
use super::super::notes::{ANSWERED, HeldMessage, Holding, held, row};
use super::super::options::Away;
use super::super::passage::Passage;
use super::super::{GatewayEvent, Trouble};
use super::{Passing, Work};
use crate::Draft;
use crate::orders::Out;
use crate::rules::RejectKind;

/// Maximum number of fields of a held message that a reject reads.
const MAX_CAME: usize = 256;

impl Work<'_> {
    /// Whether the gateway holds a message for this session now. A session that logs out at the end of its schedule
    /// counts as not logged on: a message written then would be lost at the start of the next trading session. A
    /// response or a copy without a time to live waits in the session, on disk.
    #[cold]
    pub(super) fn is_held(&self, to: usize, is_there: bool, passing: Passing) -> bool {
        let number = self.core.notes.number(to);
        let waiting = number.map_or(0, |to| self.core.notes.queues.size(row(to)).0);
        let is_request = matches!(passing, Passing::Sent(_));
        waiting > 0 || (!is_there && (is_request || self.core.sessions[to].time_to_live.is_some()))
    }

    /// Holds a message.
    #[cold]
    pub(super) fn hold(
        &mut self,
        to: usize,
        draft: &mut Draft,
        passing: Passing,
    ) -> Result<(), Trouble> {
        // Passwords must not be stored in a note.
        let is_secret = |at| SECRETS.contains(&draft.tag(at));
        if draft.msg_type() == b"BE" || (0..draft.len()).any(is_secret) {
            return Err(Trouble::Away(SessionId(to as u32)));
        }
        if draft.msg_type().is_empty() || draft.msg_type().len() > MAX_MSG_TYPE {
            return Err(Trouble::NotWritten(BodyError::Value(tag::MSG_TYPE)));
        }
        let sent = passing.sent();
        let is_answered = sent.is_some() && self.given == 0 && !self.answered && !self.is_answer();
        let may_be_caught = matches!(draft.msg_type(), b"D" | b"AB" | b"G" | b"AC");
        let holding = Holding {
            is_answered,
            passage: match passing {
                Passing::Sent(Out::New) if may_be_caught => Passage::Opens,
                Passing::Sent(_) => Passage::Sent,
                Passing::Copied => Passage::Copied,
                Passing::Returned => Passage::Returned,
            },
            source: self.source,
            dictionary: &self.core.sessions[self.source].dictionary,
            target: to,
            is_known: sent.is_some_and(|out| out != Out::Other),
            message: self.message,
            draft,
            is_share: !self.is_answer(),
        };
        self.core.notes.hold(holding, self.outbox)?;
        self.holds |= is_answered;
        self.core.counters.held += 1;
        let live = self.core.sessions[to].time_to_live;
        let due = self.now.mono + live.unwrap_or(LOOK).min(LOOK);
        self.core.held_due = self.core.held_due.min(due);
        Ok(())
    }

    /// Cancels an unsent order of this client that is held for session `to`, or for a session to which `away`
    /// redirects. Returns whether the client had an unsent order.
    #[cold]
    pub(super) fn cancel_held(&mut self, to: usize, draft: &Draft) -> Result<bool, Trouble> {
        let next = |at: &usize| match self.core.sessions[*at].away {
            Away::To(next) => Some(next),
            Away::Hold | Away::Reject => None,
        };
        let notes = &self.core.notes;
        let (Some(client), Some(id)) = (notes.number(self.source), draft.get(tag::ORIG_CL_ORD_ID))
        else {
            return Ok(false);
        };
        let found = core::iter::successors(Some(to), next).find_map(|at| {
            let venue = notes.number(at)?;
            let places = notes.orders.held_order(client, venue, id);
            (!places.is_empty()).then_some((venue, places))
        });
        let Some((venue, places)) = found else {
            return Ok(false);
        };
        let records: Vec<(u8, Vec<u8>)> = places
            .iter()
            .map(|place| {
                let mut record = Vec::new();
                (notes.queues.get(row(venue), *place, &mut record), record)
            })
            .collect();
        let len: usize = records.iter().map(|(_, record)| record.len()).sum();
        let count = 2 + 2 * records.len();
        if !self.outbox.has_room(count, 2 * len + count * ANSWER) {
            return Err(Trouble::NotWritten(BodyError::Full));
        }
        let notes = &mut self.core.notes;
        notes.cancel_held((client, venue), id, self.outbox)?;
        for (at, (mark, record)) in records.iter().enumerate() {
            if let Some(held) = held(record) {
                self.cancelled(venue, at == 0, (*mark, &held))?;
            }
        }
        Ok(true)
    }

    /// Ends the order of a cancelled held message, and answers the client's request. The first of the order's
    /// messages is the order, the others are its replaces.
    fn cancelled(
        &mut self,
        venue: SessionId,
        is_order: bool,
        (mark, held): (u8, &HeldMessage<'_>),
    ) -> Result<(), Trouble> {
        let core = &mut *self.core;
        if is_order && !held.known.0.is_empty() {
            core.notes.not_delivered(venue, held.known.0, self.outbox)?;
        }
        core.counters.undelivered += 1;
        core.counters.cancelled += 1;
        let mut decoder = Decoder::with_capacity(MAX_CAME);
        let message = decoder.decode(held.came.0);
        let from = SessionId(self.source as u32);
        (core.listener)(GatewayEvent::Undelivered {
            from: Some(from),
            to: core.notes.place(venue).map(|place| SessionId(place as u32)),
            message,
            trouble: Trouble::Cancelled,
        });
        if mark != ANSWERED {
            // The order also went to another target, which responds to the client.
            return Ok(());
        }
        let number = core.notes.answer_number(self.now.wall, self.outbox)?;
        let answer = Answer {
            now: self.now,
            to: from,
            dictionary: &core.sessions[self.source].dictionary,
            message: if is_order { self.message } else { &message },
            trouble: Some(Trouble::Cancelled),
            text: Trouble::Cancelled.text().as_bytes(),
            order_is_open: false,
            number,
        };
        match is_order {
            true => answer.write_cancelled(&message, self.outbox)?,
            false => answer.write(RejectKind::Fitting, self.outbox)?,
        }
        Ok(())
    }
}
