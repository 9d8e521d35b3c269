//! Resends stored messages: reads them from the journal, a few in each turn.

use fixwire_protocol::session::sequence;
use fixwire_protocol::{Application, MsgSeqNumSource, Now, SOH};

use crate::commit::Core;
use crate::event::{Ending, Event};
use crate::journal::{Disk, JournalError, RecordKind, Stored};
use crate::line::gate;
use crate::line::resending::{Resending, Resent};

/// Bytes of resent messages that are written at once.
const REPLAY_BYTES: usize = 16 << 10;
/// Maximum number of MsgSeqNums without a message that a resend skips in one turn.
const SKIPS_PER_TURN: usize = 4096;

/// Progress of a resend in this turn.
#[derive(Default)]
struct Progress {
    skips: usize,
    bytes: usize,
}

impl<D: Disk> Core<D> {
    /// Passes stored messages to a session that resends. Messages that the application withholds are left out.
    pub(crate) fn replay(&mut self, now: Now, app: &mut impl Application, session: usize) {
        let mut progress = Progress::default();
        while let Some(resent) = self.replay_one(now, app, session, &mut progress) {
            let event = Event::ResendCompleted {
                session: self.lines[session].session.id(),
                first: resent.first,
                last: resent.last,
                messages: resent.messages,
                gap_fills: resent.gap_fills,
            };
            self.raise(now, &event);
        }
    }

    /// Like [`replay`](Self::replay), but stops at the end of one ResendRequest. `None` when that end is not reached
    /// in this turn.
    fn replay_one(
        &mut self,
        now: Now,
        app: &mut impl Application,
        session: usize,
        progress: &mut Progress,
    ) -> Option<Resent> {
        let Self {
            lines,
            journal,
            outbox,
            places,
            failed,
            ..
        } = self;
        let line = &mut lines[session];
        let most = line.allowance(self.clock).min(self.replay_per_turn as u64) as usize;
        let mut unread = None;
        while let Some(due) = line.session.replay_due() {
            if line.output.behind_within(gate(&line.session)) {
                // This is another resend, and the new messages up to its end are not written yet: they are written
                // first.
                return None;
            }
            let full = outbox.entries().len() >= most || progress.bytes >= REPLAY_BYTES;
            if full || progress.skips >= SKIPS_PER_TURN {
                return None;
            }
            let usable = |resending: &&mut Resending| {
                due <= resending.missing_to || resending.replay.next_number() == due
            };
            let resending = match line.resending.as_mut().filter(usable) {
                Some(_) => line.resending.as_mut(),
                None => {
                    let last = line.session.next_out().saturating_sub(1);
                    let replay = journal.replay(line.journal, due, last);
                    Some(line.resending.insert(Resending {
                        replay,
                        missing_to: 0,
                    }))
                }
            };
            let resending = resending?;
            let mut stored = None;
            if due > resending.missing_to {
                match journal.next_of(&mut resending.replay) {
                    Ok(Some(Stored::Message { bytes, .. })) => {
                        stored = Some(bytes);
                        places.push((due, resending.replay.place()));
                    }
                    Ok(Some(Stored::Missing { to, .. })) => resending.missing_to = to,
                    Ok(None) => resending.missing_to = due,
                    Err(error) => {
                        // A gap fill would tell the peer that the message does not exist. After reconnecting, the
                        // peer will ask for the message again.
                        unread = Some((error, due));
                        break;
                    }
                }
            }
            progress.bytes += stored.map_or(0, <[u8]>::len);
            progress.skips += 1;
            let state = &mut line.session;
            let id = state.id();
            let stored = stored
                .filter(|bytes| !state.would_repeat(now, bytes) || app.on_resend(now, id, bytes));
            let resent = line.resent.get_or_insert_with(|| Resent::begin(state, due));
            let before = outbox.entries().len();
            let complete = state.replay(now, stored, outbox);
            resent.count(outbox, before);
            if complete {
                return line.resent.take();
            }
            if state.replay_due() == Some(due) {
                // There is no room. The message is read again after the outbox was written.
                line.resending = None;
                return None;
            }
            resent.next = due + 1;
        }
        line.resending = None;
        if let Some((error, due)) = unread {
            journal.report_unread(error);
            failed.push((session, Ending::NotRead(due)));
        }
        None
    }

    /// Commits resent messages. They have their MsgSeqNums already, so one short record describes all of them.
    pub(crate) fn commit_resent(
        &mut self,
        now: Now,
        session: usize,
        app: &mut impl Application,
    ) -> Result<(), JournalError> {
        let sealed = self.seal(now, session, app)?;
        let Self {
            lines,
            outbox,
            places,
            resent,
            ..
        } = self;
        resent.clear(lines[session].session.config().precision);
        let mut found = places.iter();
        for index in sealed.new.clone() {
            let entry = &outbox.entries()[index];
            let MsgSeqNumSource::Fixed(seq) = entry.number else {
                continue;
            };
            let bytes = outbox.sealed(index);
            if entry.msg_type() == b"4" {
                resent.gap_fill(seq, new_seq_no(bytes).unwrap_or(seq + 1), bytes);
            } else if let Some((_, at)) = found.by_ref().find(|(stored, _)| *stored == seq) {
                resent.message(seq, *at);
            }
        }
        places.clear();
        if resent.messages() == 0 {
            return self.keep(now, session, RecordKind::Sent, None, sealed);
        }
        let body = resent.take_body();
        let kept = self.keep(now, session, RecordKind::Resent, Some(&body), sealed);
        self.resent.put_back(body);
        kept
    }
}

/// NewSeqNo(36) of a gap fill that we sent; `None` when it has no valid NewSeqNo.
fn new_seq_no(gap_fill: &[u8]) -> Option<u64> {
    let mut fields = gap_fill.split(|byte| *byte == SOH);
    fields.find_map(|field| sequence::parse(field.strip_prefix(b"36=")?))
}
