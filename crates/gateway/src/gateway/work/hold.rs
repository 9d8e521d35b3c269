//! Holds a message for a session that is not logged on, in the gateway's queue or in the session.

use fixwire_protocol::outbox::MAX_MSG_TYPE;
use fixwire_protocol::{BodyError, SECRETS, SessionId, tag};

use super::super::Trouble;
use super::super::held::LOOK;
use super::super::notes::{ANSWERED, Holding, Lane, UNANSWERED};
use super::Work;
use crate::Draft;
use crate::orders::Out;

impl Work<'_> {
    /// Whether a message for this session is held by the gateway now. It is not there while it logs out
    /// because its hours are over: what is written for it then is lost when they begin again.
    #[cold]
    pub(super) fn is_held(&self, to: usize, is_there: bool) -> bool {
        let number = self.core.notes.number(to);
        let waiting = number.map_or(0, |to| self.core.notes.queues.size(Lane::Held.row(to)).0);
        waiting > 0 || (!is_there && self.core.sessions[to].time_to_live.is_some())
    }

    /// Holds a message that was sent with this outcome, or returned or copied.
    #[cold]
    pub(super) fn hold(
        &mut self,
        to: usize,
        draft: &mut Draft,
        sent: Option<Out>,
    ) -> Result<(), Trouble> {
        // Their values may not stand in a note.
        let is_secret = |at| SECRETS.contains(&draft.tag(at));
        if draft.msg_type() == b"BE" || (0..draft.len()).any(is_secret) {
            return Err(Trouble::Away(SessionId(to as u32)));
        }
        if draft.msg_type().is_empty() || draft.msg_type().len() > MAX_MSG_TYPE {
            return Err(Trouble::NotWritten(BodyError::Value(tag::MSG_TYPE)));
        }
        self.note_waiting(Lane::Held, to, draft, sent)?;
        self.core.counters.held += 1;
        let live = self.core.sessions[to].time_to_live;
        let due = self.now.mono + live.unwrap_or(LOOK).min(LOOK);
        self.core.held_due = self.core.held_due.min(due);
        Ok(())
    }

    /// Writes a message for a session that is away and gets it when it logs on, and remembers it until
    /// then: the session's numbers may restart first.
    #[cold]
    pub(super) fn leave(
        &mut self,
        to: usize,
        draft: &mut Draft,
        sent: Option<Out>,
    ) -> Result<(), Trouble> {
        // What was noted is not taken back.
        self.core.notes.introduced(self.source, self.outbox)?;
        self.core.notes.introduced(to, self.outbox)?;
        let before = self.outbox.entries().len();
        self.write(to, draft)?;
        self.note_waiting(Lane::Numbered, to, draft, sent)
            .inspect_err(|_| self.outbox.truncate(before))
    }

    /// Notes that a message waits for a session.
    fn note_waiting(
        &mut self,
        lane: Lane,
        to: usize,
        draft: &mut Draft,
        sent: Option<Out>,
    ) -> Result<(), Trouble> {
        let is_answered = sent.is_some() && self.given == 0 && !self.answered && !self.is_answer();
        let holding = Holding {
            mark: if is_answered { ANSWERED } else { UNANSWERED },
            lane,
            source: self.source,
            dictionary: &self.core.sessions[self.source].dictionary,
            target: to,
            is_known: sent.is_some_and(|out| out != Out::Other),
            message: self.message,
            draft,
            is_share: !self.is_answer(),
        };
        self.core.notes.hold(self.now.wall, holding, self.outbox)?;
        self.holds |= is_answered;
        Ok(())
    }
}
