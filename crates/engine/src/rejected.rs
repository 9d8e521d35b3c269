//! Rejects of the peer, and the messages of ours that they refer to by RefSeqNum(45).

use fixwire_protocol::{Application, Message, Now, Refusal, tag};

use crate::commit::Core;
use crate::consult::guarded;
use crate::journal::{Disk, Journal, JournalError, JournalId, Stored};

/// MsgSeqNums that the peer's Rejects(3) have referred to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RejectedNumbers {
    /// Of which epoch they are.
    epoch: u64,
    /// The greatest of them.
    last: u64,
    /// A bit for each of the 64 up to it: the lowest is its own.
    seen: u64,
}

impl RejectedNumbers {
    /// Whether no Reject has referred to this one; from now on one has.
    fn is_new(&mut self, epoch: u64, number: u64) -> bool {
        if epoch != self.epoch {
            *self = Self {
                epoch,
                ..Self::default()
            };
        }
        if let Some(above) = number.checked_sub(self.last).filter(|above| *above > 0) {
            self.seen = u32::try_from(above)
                .ok()
                .and_then(|it| self.seen.checked_shl(it))
                .unwrap_or(0)
                | 1;
            self.last = number;
            return true;
        }
        let below = u32::try_from(self.last - number).unwrap_or(u32::MAX);
        let bit = 1_u64.checked_shl(below).unwrap_or(0);
        let is_new = bit != 0 && self.seen & bit == 0;
        self.seen |= bit;
        is_new
    }
}

impl<D: Disk> Core<D> {
    /// Notifies the application of the message that the peer's Reject refers to.
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
        // Looked up once for each message, however often a peer resends it.
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

    /// Gives the application the peer's BusinessMessageReject with the message that it refers to.
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

/// A message of ours as it was sent, by its MsgSeqNum; and why it could not be read.
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

#[cfg(test)]
mod tests {
    use super::RejectedNumbers;

    #[test]
    fn each_number_is_new_once_in_whatever_order() {
        let mut numbers = RejectedNumbers::default();
        let mut is_new = |epoch, number| numbers.is_new(epoch, number);
        assert!(is_new(1, 5) && !is_new(1, 5));
        assert!(
            is_new(1, 3),
            "a Reject of an earlier message that comes later"
        );
        assert!(!is_new(1, 3) && is_new(1, 8) && !is_new(1, 5) && is_new(1, 4));
        assert!(is_new(1, 100) && !is_new(1, 8), "too far below");
        assert!(is_new(1, 37) && !is_new(1, 36), "63 below, 64 below");
        assert!(is_new(2, 5), "numbers were reset");
    }
}
