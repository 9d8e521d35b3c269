//! The peer's rejects, and our messages to which they refer by RefSeqNum(45).

use fixwire_protocol::{Application, Message, Now, Refusal, tag};

use crate::commit::Core;
use crate::consult::guarded;
use crate::journal::{Disk, Journal, JournalError, JournalId, Stored};

impl<D: Disk> Core<D> {
    /// Notifies the application of a Reject(3) from the peer, with our message to which it refers.
    #[cold]
    pub(crate) fn rejected(
        &mut self,
        now: Now,
        session: usize,
        reject: &Message<'_>,
        app: &mut impl Application,
    ) {
        let number = match reject.uint(tag::REF_SEQ_NUM) {
            Some(Ok(number)) => number,
            _ => 0,
        };
        let line = &mut self.lines[session];
        let epoch = line.session.epoch();
        // A message is looked up once, however often a peer rejects it.
        let is_new = number < line.session.next_out() && line.rejected.is_new(epoch, number);
        let (refused, unread) = match is_new {
            true => sent_as(&mut self.journal, line.journal, number),
            false => (None, None),
        };
        let id = line.session.id();
        app.on_reject(now, id, reject, refused, &mut self.outbox);
        if let Some(error) = unread {
            self.journal.report_unread(error);
        }
    }

    /// Passes a BusinessMessageReject(j) from the peer to the application, with our message to which it refers.
    #[cold]
    pub(crate) fn business_rejected(
        &mut self,
        now: Now,
        session: usize,
        reject: &Message<'_>,
        app: &mut impl Application,
    ) -> Result<(), Refusal> {
        let number = match reject.uint(tag::REF_SEQ_NUM) {
            Some(Ok(number)) => number,
            _ => 0,
        };
        let line = &self.lines[session];
        let (id, answers) = (line.session.id(), line.config.answer_panics);
        let (refused, unread) = match number < line.session.next_out() {
            true => sent_as(&mut self.journal, line.journal, number),
            false => (None, None),
        };
        let outbox = &mut self.outbox;
        let answer = if answers {
            let call = |app: &mut _, outbox: &mut _| {
                Application::on_business_reject(app, now, id, reject, refused, outbox)
            };
            guarded(call, app, outbox, &mut self.panics)
        } else {
            app.on_business_reject(now, id, reject, refused, outbox)
        };
        if let Some(error) = unread {
            self.journal.report_unread(error);
        }
        answer
    }
}

/// Our message with this MsgSeqNum, as it was sent. `None` when it is not in the journal, or with the error when it
/// could not be read.
fn sent_as<D: Disk>(
    journal: &mut Journal<D>,
    of: JournalId,
    number: u64,
) -> (Option<&[u8]>, Option<JournalError>) {
    let mut replay = journal.replay(of, number, number);
    match journal.next_of(&mut replay) {
        Ok(Some(Stored::Message { bytes, .. })) => (Some(bytes), None),
        Ok(_) => (None, None),
        Err(error) => (None, Some(error)),
    }
}
