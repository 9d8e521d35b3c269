//! One turn of the engine: connections that are ready are read, then decisions, commit and writes follow.
//!
//! ```text
//!   poll ─ clock ─ each readable connection:  read once
//!                                             each whole message: decode, Session::receive,
//!                                               Application::on_message, seal, journal: one record
//!                                             one write of what a group of messages caused
//!        ─ what waits for sockets ─ due timers ─ commands ─ Application::on_time ─ sessions that it logs out
//!        ─ rare work
//! ```

mod commands;
mod connection;
mod dialling;
pub(crate) mod early;
mod frames;
mod guests;
mod hours;
mod operate;
mod receive;
mod timers;

use fixwire_protocol::{Application, DiskRoom, Mono, Nanos, Now, SessionId};

use crate::engine::{Engine, Owner, Stopping};
use crate::error::EngineError;
use crate::event::{Ending, Event};
use crate::frames::link_of;
use crate::host::{ConnId, Host, Mark, Ready};
use crate::journal::Disk;
use early::Due;

impl<A: Application, H: Host, D: Disk> Engine<A, H, D> {
    /// One turn. It sleeps at most for `wait` when nothing is ready.
    pub(crate) fn turn_within(&mut self, wait: Nanos) -> Result<usize, EngineError> {
        if self.stopping == Stopping::Done {
            return Ok(0);
        }
        let mut ready = std::mem::take(&mut self.ready);
        let polled = self.host.poll(wait, &mut ready);
        if wait.0 > 0 {
            self.commands.awake();
        }
        let now = self.host.now();
        let result = match polled {
            Ok(()) => self.work(now, &ready),
            Err(source) => Err(EngineError::Io {
                doing: "poll",
                source,
            }),
        };
        self.ready = ready;
        if let Err(error) = &result {
            // Fail-stop: a message that is not in the journal must never be sent.
            self.core.outbox.clear();
            self.stopping = Stopping::Done;
            self.commands.end();
            if let EngineError::Journal(error) = error {
                let error = error.to_string();
                self.core.raise(now, &Event::JournalFailed { error });
            }
            self.core.events.pass_counts(now);
        }
        result
    }

    fn work(&mut self, now: Now, ready: &[Ready]) -> Result<usize, EngineError> {
        self.core.clock = now.mono;
        self.record_restarts(now)?;
        let mut work = self.take_compared(now)?;
        for ready in ready {
            work += self.serve(now, *ready)?;
        }
        if !self.core.busy.is_empty() {
            self.pump(now)?;
        }
        if now.mono >= self.core.timers.next() {
            work += 1;
            self.elapse(now)?;
        }
        work += self.obey(now)?;
        if work > 0 || now.mono >= self.app_due {
            self.app_due = self
                .app
                .on_time(now, &mut self.core.outbox)
                .unwrap_or(Mono::NEVER);
        }
        if !self.core.outbox.is_empty() {
            work += 1;
            self.host.mark(Mark::Answered);
            self.core.commit_sent(now, &mut self.app, &mut self.host)?;
            self.release(now)?;
        }
        while self.core.outbox.logouts() > 0 {
            work += 1;
            self.log_out_wanted(now)?;
        }
        let unsent = self.core.astray + self.core.outbox.failures();
        if self.core.unsent.is_due {
            self.core.raise_unsent(now)?;
        }
        if self.core.panics != self.told {
            self.tell_panics(now);
        }
        if unsent != self.unsent {
            let messages = unsent - std::mem::replace(&mut self.unsent, unsent);
            self.core.raise(now, &Event::NotSent { messages });
        }
        if let Stopping::Until(deadline) = self.stopping {
            self.finish(now, deadline)?;
        }
        for feed in &self.feeds {
            if let Some(event) = feed.report() {
                self.core.raise(now, &event);
            }
        }
        self.core.journal.idle_work();
        if self.core.journal.has_troubles() {
            self.journal_troubles(now)?;
        }
        Ok(work)
    }

    /// Raises events about the journal, and notifies the application when the journal begins or ceases to use its
    /// reserve.
    #[cold]
    fn journal_troubles(&mut self, now: Now) -> Result<(), EngineError> {
        for trouble in self.core.journal.troubles(now.wall)? {
            if let Some(is_used) = trouble.on_reserve() {
                let room = if is_used {
                    DiskRoom::Reserve
                } else {
                    DiskRoom::Enough
                };
                self.app.on_disk(now, room);
            }
            self.core.raise(now, &Event::JournalTrouble { trouble });
        }
        Ok(())
    }

    #[cold]
    fn tell_panics(&mut self, now: Now) {
        let panics = std::mem::replace(&mut self.told, self.core.panics);
        let messages = self.core.panics - panics;
        self.core.raise(now, &Event::Panicked { messages });
    }

    /// Whether the next turn has work even if nothing arrives.
    pub(crate) fn has_work(&self) -> bool {
        self.core
            .busy
            .iter()
            .any(|session| self.core.can_pump(*session))
    }

    #[inline]
    fn serve(&mut self, now: Now, ready: Ready) -> Result<usize, EngineError> {
        if let Ready::Read(conn) = ready
            && let Owner::Session(session) = self.owner(conn)
        {
            return self.read(now, session, conn);
        }
        self.serve_other(now, ready)
    }

    /// Handles every event of the host except data for a session.
    #[inline(never)]
    fn serve_other(&mut self, now: Now, ready: Ready) -> Result<usize, EngineError> {
        match ready {
            Ready::Read(conn) => match self.owner(conn) {
                Owner::Session(session) => return self.read(now, session, conn),
                Owner::Link(link) => return self.read_frames(now, link, conn),
                Owner::Guest(slot) => self.read_guest(now, slot)?,
                Owner::Dialling(_) | Owner::LinkDialling(_) | Owner::Nobody => return Ok(0),
            },
            Ready::Write(conn) => match self.owner(conn) {
                Owner::Session(session) => {
                    self.core.lines[session].output.unblock();
                    self.core.set_busy(session);
                }
                Owner::Link(link) => {
                    self.core.links[link].output.unblock();
                    self.core.set_link_busy(link);
                }
                _ => {}
            },
            Ready::Accept(listener) => match self.accept_link(now, listener) {
                Some(done) => done?,
                None => self.accept(now, listener),
            },
            Ready::Dialled(conn) => match self.owner(conn) {
                Owner::Dialling(session) => self.dialled(now, session, conn)?,
                Owner::LinkDialling(link) => self.link_dialled(now, link, conn)?,
                _ => {}
            },
        }
        Ok(1)
    }

    #[inline]
    pub(crate) fn owner(&self, conn: ConnId) -> Owner {
        self.owners
            .get(conn.0 as usize)
            .copied()
            .unwrap_or_default()
    }

    /// Writes committed messages, and closes the connections that fail meanwhile. Called after the effects of one
    /// read, of a [group](early) of its messages, of a timer or command, before something that must follow committed
    /// messages (the Logon of a connection, or its end), and by [`Self::release_if_full`]. With `disk`, the effects of
    /// all reads are written together, after the last read.
    #[inline]
    pub(crate) fn release(&mut self, now: Now) -> Result<(), EngineError> {
        self.core.flush(&mut self.host)?;
        if self.core.failed.is_empty() && self.core.slow.is_empty() {
            return Ok(());
        }
        self.end_failed(now)
    }

    /// Closes the connections that have failed, and reports slow consumers.
    #[cold]
    fn end_failed(&mut self, now: Now) -> Result<(), EngineError> {
        while let Some((session, ending)) = self.core.failed.pop() {
            match link_of(session) {
                Some(link) => self.part_link(now, link, ending)?,
                None => self.disconnect(now, session, ending)?,
            }
        }
        while let Some((session, bytes)) = self.core.slow.pop() {
            let session = SessionId(session as u32);
            self.core.raise(now, &Event::SlowReader { session, bytes });
        }
        Ok(())
    }

    /// Writes committed messages when there are so many that they must be sent before more is read.
    #[inline]
    pub(crate) fn release_if_full(&mut self, now: Now) -> Result<(), EngineError> {
        match self.core.is_full() {
            true => self.release(now),
            false => Ok(()),
        }
    }

    /// Writes what a read has caused so far, while more of the read is left, if that pays. Nothing leaves early after
    /// the session of the read has ended (`is_on`).
    #[inline(never)]
    fn release_early(&mut self, now: Now, unread: usize, is_on: bool) -> Result<(), EngineError> {
        if !is_on {
            self.early.stop();
            return Ok(());
        }
        match self.early.due(unread, !self.core.outbox.is_empty()) {
            Due::Nothing => Ok(()),
            Due::Begin => {
                self.early.begin(self.host.now().mono, unread);
                Ok(())
            }
            Due::Release => self.release_measured(now, unread),
        }
    }

    /// Writes what a read has caused, or its rest. With `disk`, the effects of all reads are written together.
    #[inline]
    fn release_read(&mut self, now: Now) -> Result<(), EngineError> {
        if self.core.sync_first {
            return Ok(());
        }
        if self.early.is_measuring() && !self.core.outbox.is_empty() {
            return self.release_measured(now, 0);
        }
        self.release(now)
    }

    /// Writes committed messages, and measures how long that takes.
    #[inline(never)]
    fn release_measured(&mut self, now: Now, unread: usize) -> Result<(), EngineError> {
        let start = self.host.now().mono;
        self.release(now)?;
        let end = self.host.now().mono;
        self.early.released(start, end, unread);
        Ok(())
    }

    /// Writes messages that wait for sockets.
    fn pump(&mut self, now: Now) -> Result<(), EngineError> {
        // New messages that wait for a sync must precede messages of a resend.
        self.release(now)?;
        let mut at = 0;
        while let Some(session) = self.core.busy.get(at).copied() {
            if self
                .core
                .pump(now, &mut self.host, &mut self.app, session)?
            {
                at += 1;
            } else {
                match link_of(session) {
                    Some(link) => self.core.links[link].is_busy = false,
                    None => self.core.lines[session].is_busy = false,
                }
                self.core.busy.swap_remove(at);
            }
        }
        self.release(now)
    }

    fn finish(&mut self, now: Now, deadline: Mono) -> Result<(), EngineError> {
        let sessions = self.core.lines.iter().any(|line| line.link.is_some());
        // Frames that were passed to a link may still have to be sent.
        let mut links = self.core.links.iter();
        let open = sessions || links.any(|it| it.up.is_some() && it.output.has_backlog());
        if open && now.mono < deadline {
            return Ok(());
        }
        for session in 0..self.core.lines.len() {
            self.disconnect(now, session, Ending::Stopping)?;
        }
        for link in 0..self.core.links.len() {
            self.end_link(now, link, Ending::Stopping)?;
        }
        self.release(now)?;
        self.elapse_guests(now);
        if self.keeps {
            let core = &mut self.core;
            core.notes.state_hash(now, &mut core.journal, &self.app)?;
            let end = self.core.journal.end();
            self.core.journal.sync(end)?;
        }
        self.core.events.pass_counts(now);
        self.stopping = Stopping::Done;
        self.commands.end();
        Ok(())
    }
}
