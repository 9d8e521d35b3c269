//! Flush: writes committed messages, with one write per session. What a socket does not accept is written when the
//! socket is writable again.

use std::ops::Range;

use fixwire_protocol::{Application, Mono, Now};

use crate::commit::Core;
use crate::event::Ending;
use crate::frames::link_of;
use crate::host::Host;
use crate::journal::{Disk, JournalError};
use crate::line::link::Link;
use crate::line::output::Gate;
use crate::line::{gate, leaves_out_sync};

/// When the outbox has this number of bytes, it is written before more messages are read.
pub(crate) const FLUSH_BYTES: usize = 64 << 10;

impl<D: Disk> Core<D> {
    /// Whether the outbox is so full that it must be written before more messages are read.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        let count = self.outbox.entries().len();
        count >= self.full_messages
            || self.outbox.sealed_end() >= self.full_bytes
                && self.outbox.bytes(0..count).len() >= self.full_bytes
    }

    /// Writes the committed messages, with one write for all messages of a session, in order. Messages for other
    /// sessions are written before those for the session that is read: the order of a client leaves for the venue
    /// before the client gets the answer. Afterwards [`Core::failed`] lists the connections that failed.
    #[inline]
    pub(crate) fn flush(&mut self, host: &mut impl Host) -> Result<(), JournalError> {
        let mut count = self.outbox.entries().len();
        if count == 0 {
            return Ok(());
        }
        if self.sync_first && !leaves_out_sync(&self.lines, self.flushes) {
            self.journal.sync(self.journal.end())?;
        }
        if self.is_mixed() {
            self.outbox.gather(self.reading);
            count = self.outbox.entries().len();
        }
        let mut start = 0;
        while start < count {
            let entries = self.outbox.entries();
            let id = entries[start].session;
            let same = entries[start..]
                .iter()
                .take_while(|entry| entry.session == id);
            let end = start + same.count();
            self.send(host, id.0 as usize, start..end);
            start = end;
        }
        self.outbox.clear();
        self.flushes += 1;
        Ok(())
    }

    /// Whether the outbox has messages of several sessions, or notes in addition to messages, and their order is not
    /// that of the writes. A single message with notes is in one piece already.
    #[inline]
    fn is_mixed(&self) -> bool {
        match self.outbox.entries() {
            [_] => false,
            [first, second] => {
                first.session == self.reading && second.session != self.reading && !second.is_note()
            }
            entries => {
                let mut messages = entries.iter().filter(|entry| !entry.is_note());
                let first = entries[0].session;
                messages.nth(1).is_some() && entries.iter().any(|entry| entry.session != first)
            }
        }
    }

    /// For a session that has ended: writes messages that the socket has not accepted yet, the Logout last. Writes as
    /// many bytes as the socket accepts at once, and as many messages as the rate limit allows.
    pub(crate) fn say_farewell(&mut self, now: Now, host: &mut impl Host, session: usize) {
        let line = &mut self.lines[session];
        let ended = line.link.filter(|link| link.ended_before().is_some());
        let Some(Link { conn, .. }) = ended else {
            return;
        };
        while line.output.can_write(Gate::Open, false) {
            let (pace, before) = (line.pace(now), line.output.waiting());
            let (journal, id) = (&mut self.journal, line.journal);
            let pumped = line.output.pump(host, conn, journal, id, Gate::Open, pace);
            if pumped.is_err() {
                // The connection is about to be closed; the journal has the messages that were not written.
                return;
            }
            line.spend(now.mono, before - line.output.waiting());
            if line.is_paced_out() {
                return;
            }
        }
    }

    #[inline]
    fn send(&mut self, host: &mut impl Host, session: usize, run: Range<usize>) {
        let Some(line) = self.lines.get_mut(session) else {
            return self.send_frames(host, session, run);
        };
        let gate = match line.ends_before(self.flushes) {
            true => Gate::Open,
            false => gate(&line.session),
        };
        let link = line.link.filter(|link| link.leaving().is_none());
        let Some(Link { conn, .. }) = link else {
            if line.note_unsent(&self.outbox, run) {
                self.unsent.begin_to_wait(session);
            }
            return;
        };
        line.counters.sent += run.len() as u64;
        let result = match line.pacer {
            None => line
                .output
                .send(host, conn, &self.outbox, run.clone(), gate),
            Some(_) => line.send_paced(self.clock, host, conn, &self.outbox, run.clone(), gate),
        };
        if let Some(lost) = line.output.take_voided() {
            let id = line.session.id();
            self.unsent.lose_of_outbox(id, &self.outbox, run, lost);
        }
        if let Err(ending) = result {
            self.failed.push((session, ending));
        } else if line.output.has_backlog() {
            self.note_backlog(session);
        }
    }

    /// Handles a session whose messages must wait for the socket, for the rate limit, or for a running resend.
    #[cold]
    fn note_backlog(&mut self, session: usize) {
        let line = &mut self.lines[session];
        let lag = line.output.lag_of_peer(line.pacer.is_some());
        if lag > self.lag_bytes {
            let (bytes, most) = (lag, self.lag_bytes);
            self.failed
                .push((session, Ending::SlowReader { bytes, most }));
        } else if lag > self.lag_bytes / 4 && !line.output.is_slow {
            line.output.is_slow = true;
            self.slow.push((session, lag));
        }
        if !line.session.is_logged_on() {
            self.unsent.begin_to_wait(session);
        }
        self.note_stall(session);
        self.set_busy(session);
    }

    /// Starts to watch a socket that accepts nothing.
    fn note_stall(&mut self, session: usize) {
        let line = &mut self.lines[session];
        if let Some(until) = line.output.stalls_at(self.clock, self.stall_time) {
            line.wake = line.wake.min(until);
            self.timers.session(session, line.wake);
        }
    }

    /// Makes the engine check the session in every turn until none of its messages wait.
    pub(crate) fn set_busy(&mut self, session: usize) {
        if !std::mem::replace(&mut self.lines[session].is_busy, true) {
            self.busy.push(session);
        }
    }

    /// Whether a session with waiting messages may write now.
    pub(crate) fn can_pump(&self, session: usize) -> bool {
        if let Some(link) = link_of(session) {
            return self.can_pump_link(link);
        }
        let line = &self.lines[session];
        let is_leaving = line.leaving().is_some();
        let resends = !is_leaving && line.session.replay_due().is_some();
        line.link.is_some() && !line.is_paced_out() && line.output.can_write(line.gate(), resends)
    }

    /// Writes messages that wait for a session's socket, and a few messages of a running resend. Returns whether
    /// messages of the session still wait.
    pub(crate) fn pump(
        &mut self,
        now: Now,
        host: &mut impl Host,
        app: &mut impl Application,
        session: usize,
    ) -> Result<bool, JournalError> {
        if let Some(link) = link_of(session) {
            return Ok(self.pump_link(host, link));
        }
        let line = &mut self.lines[session];
        let Some(conn) = line.conn() else {
            return Ok(false);
        };
        let gate = line.gate();
        let pace = line.pace(now);
        let before = line.output.waiting();
        if let Err(ending) =
            line.output
                .pump(host, conn, &mut self.journal, line.journal, gate, pace)
        {
            self.failed.push((session, ending));
            return Ok(false);
        }
        line.spend(self.clock, before - line.output.waiting());
        if let Some(leaving) = line.leaving() {
            let waits = line.output.has_backlog() || !host.is_flushed(conn);
            if !waits {
                self.failed.push((session, leaving.why));
            }
            self.timers.session(session, line.wake);
            return Ok(waits);
        }
        if !line.output.has_backlog() {
            line.output.is_slow = false;
        }
        let older = line.output.behind_within(gate);
        let paced_out = line.is_paced_out();
        if !line.output.is_blocked() && !older && !paced_out && line.session.replay_due().is_some()
        {
            self.replay(now, app, session);
            self.commit_resent(now, session, app)?;
            self.flush(host)?;
        }
        self.note_stall(session);
        let line = &self.lines[session];
        self.timers.session(session, line.wake);
        // A session that waits for its socket continues when the socket is writable.
        let waits = line.output.has_backlog() || line.session.replay_due().is_some();
        Ok(waits && !line.output.is_blocked())
    }

    /// Sets the timer for the session's next due time.
    #[inline]
    pub(crate) fn note_due(&mut self, session: usize) {
        let line = &self.lines[session];
        let due = line.session.next_due().unwrap_or(Mono::NEVER);
        self.timers.session(session, due.min(line.wake));
    }
}
