//! The trail of a session: messages that are recorded for the log although they change no state, and the limit for
//! them.
//!
//! Messages out of sequence and resent messages change no sequence number, so a restart needs no record of them. They
//! are recorded only for readers of the log. A peer could cause them without limit, so a session may use a limited
//! number of bytes per hour for them. Above the limit messages are counted, and an event reports the count.

use fixwire_protocol::session::Fate;
use fixwire_protocol::{Application, Message, Now};

use crate::commit::{Core, INBOUND};
use crate::journal::record::record_bytes;
use crate::journal::{
    Arrival, Cause, Disk, JournalError, JournalPosition, RecordKind, SequenceCounters,
};
use fixwire_protocol::Redactor;

impl<D: Disk> Core<D> {
    /// Commits a message that was not delivered to the application, or a message that was queued until now.
    #[inline(never)]
    pub(crate) fn commit_aside(
        &mut self,
        now: Now,
        session: usize,
        message: &Message<'_>,
        arrival: Option<Arrival>,
        app: &mut impl Application,
    ) -> Result<(), JournalError> {
        if let Some(arrival) = arrival {
            return self.commit(
                now,
                session,
                RecordKind::Dequeued,
                Some(&arrival.to_bytes()),
                app,
            );
        }
        let fate = self.lines[session].session.fate();
        let kind = match fate {
            Fate::Taken => RecordKind::Message,
            Fate::Queued { .. } => RecordKind::Queued,
            Fate::Duplicate => RecordKind::Duplicate,
            Fate::Ignored => RecordKind::Ignored,
        };
        let before = self.journal.records_written();
        self.commit(now, session, kind, Some(message.bytes()), app)?;
        if let Fate::Queued { number } = fate
            && self.keeps_trail
            && self.journal.records_written() > before
        {
            let at = self.journal.last_record().bits();
            self.lines[session].session.mark_held(number, at);
        }
        Ok(())
    }

    /// Position of the record in which the queued message that was just delivered was received, if such a record was
    /// written.
    pub(crate) fn arrival(&self, session: usize) -> Option<Arrival> {
        let state = &self.lines[session].session;
        let at = JournalPosition::from_bits(state.held_mark());
        let number = state.next_in();
        (at != JournalPosition::START).then_some(Arrival { number, at })
    }

    /// Records a message that has no effect, because the connection is about to be closed.
    #[cold]
    pub(crate) fn commit_ignored(
        &mut self,
        now: Now,
        session: usize,
        message: &Message<'_>,
        app: &mut impl Application,
    ) -> Result<(), JournalError> {
        if Redactor::concerns_message(message) {
            let private = Redactor::concerns(message.msg_type());
            self.redactor.copy(INBOUND, message.bytes(), private);
        }
        self.commit(
            now,
            session,
            RecordKind::Ignored,
            Some(message.bytes()),
            app,
        )
    }

    /// Writes a record that changes nothing, if the session is logged on and within its limit.
    #[cold]
    pub(crate) fn log_only(
        &mut self,
        now: Now,
        session: usize,
        kind: RecordKind,
        body: &[u8],
    ) -> Result<(), JournalError> {
        let line = &mut self.lines[session];
        let logged_on = line.was_logged_on() || line.session.is_logged_on();
        if self.keeps_trail && logged_on {
            let body = self.redactor.kept(INBOUND, body);
            if line.trail.admits(now.mono, record_bytes(body.len())) {
                let known = self.journal.counters(line.journal);
                let SequenceCounters {
                    next_in,
                    next_out,
                    epoch,
                } = known.unwrap_or(SequenceCounters::NEW);
                let cause = Cause {
                    session: line.journal,
                    kind,
                    inbound: Some(body),
                    next_in,
                    next_out,
                    epoch,
                };
                self.journal.append(now.wall, cause, std::iter::empty())?;
            } else {
                line.trail.left_out += match kind {
                    RecordKind::Resent => self.resent.messages(),
                    _ => 1,
                };
                line.wake = line.wake.min(line.trail.report_at);
                self.timers.session(session, line.wake);
            }
        }
        self.redactor.clear();
        Ok(())
    }
}
