//! Handles messages that come back from the session to which the gateway sent them.

use fixwire_protocol::SessionId;

use super::super::Trouble;
use super::super::rounds::{MAX_ROUNDS, Sent};
use super::Work;
use crate::Draft;

impl Work<'_> {
    /// Checks whether the gateway sent this message to its source before. If the message is the gateway's own answer,
    /// or came back too often, the message goes no further.
    #[cold]
    pub(super) fn look_for_rounds(&mut self) -> Result<(), Trouble> {
        let rounds = &self.core.rounds;
        let from = SessionId(self.source as u32);
        if !rounds.may_have(from, self.message.msg_type()) {
            return Ok(());
        }
        let Some(sent) = rounds.find(from, rounds.of_message(self.message)) else {
            return Ok(());
        };
        let trouble = match sent.rule {
            None => Trouble::OwnAnswer,
            Some(_) if sent.rounds >= MAX_ROUNDS => Trouble::GoesRound,
            Some(_) => {
                self.rounds = sent.rounds;
                return Ok(());
            }
        };
        self.rule = sent.rule;
        self.core.counters.came_back += 1;
        Err(trouble)
    }

    /// Records a message sent to a session that may send it back.
    #[cold]
    pub(super) fn note_round(&mut self, to: usize, draft: &Draft) {
        let rounds = &mut self.core.rounds;
        let sent = Sent {
            session: SessionId(to as u32),
            print: rounds.of_draft(draft),
            rounds: self.rounds + 1,
            rule: self.rule,
        };
        rounds.note(draft.msg_type(), sent);
    }

    /// Records the last written message as an answer to the source.
    #[cold]
    pub(super) fn note_answer(&mut self) {
        let Some(last) = self.outbox.entries().len().checked_sub(1) else {
            return;
        };
        let rounds = &mut self.core.rounds;
        let msg_type = self.outbox.msg_type(last);
        let sent = Sent {
            session: SessionId(self.source as u32),
            print: rounds.of_body(msg_type, self.outbox.body(last)),
            rounds: 0,
            rule: None,
        };
        rounds.note(msg_type, sent);
    }
}
