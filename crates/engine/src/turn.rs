//! One turn of the engine: what is ready is read, decided, committed and written.
//!
//! ```text
//!   poll ─ clock ─ each readable connection:  read once
//!                                             each whole message: decode, Session::receive,
//!                                               Application::on_message, seal, journal: one record
//!                                             one write of all that was caused
//!        ─ what waits for sockets ─ due timers ─ commands ─ Application::on_time ─ rare work
//! ```

use std::io::ErrorKind;
use std::net::SocketAddr;

use fixwire_protocol::session::{Reason, Verdict};
use fixwire_protocol::{Application, Frame, Mono, Nanos, Now, Parting, SessionId, frame};

use crate::engine::{Engine, Owner, Stopping};
use crate::error::EngineError;
use crate::event::{Ending, Event, PeerText};
use crate::host::{ConnId, Host, Ready};
use crate::journal::{Disk, Kind};
use crate::line::flow::Pass;
use crate::line::link::{Leaving, Link, Stage};

impl<A: Application, H: Host, D: Disk> Engine<A, H, D> {
    /// One turn that sleeps at most `wait` when nothing is ready.
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
            // Fail-stop: what is not in the journal must never leave.
            self.core.outbox.clear();
            self.stopping = Stopping::Done;
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
            self.core.commit_sent(now)?;
            self.release(now)?;
        }
        let unsent = self.core.astray + self.core.outbox.failures();
        if (self.core.voided, self.core.panics) != self.told {
            self.tell_losses(now);
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
        for trouble in self.core.journal.troubles()? {
            self.core.raise(now, &Event::JournalTrouble { trouble });
        }
        Ok(work)
    }

    #[cold]
    fn tell_losses(&mut self, now: Now) {
        let (voided, panics) =
            std::mem::replace(&mut self.told, (self.core.voided, self.core.panics));
        if self.core.voided > voided {
            let messages = self.core.voided - voided;
            self.core.raise(now, &Event::Voided { messages });
        }
        if self.core.panics > panics {
            let messages = self.core.panics - panics;
            self.core.raise(now, &Event::Panicked { messages });
        }
    }

    /// Whether the next turn has work although nothing arrives.
    pub(crate) fn has_work(&self) -> bool {
        self.core
            .busy
            .iter()
            .any(|session| self.core.can_pump(*session))
    }

    #[inline]
    fn serve(&mut self, now: Now, ready: Ready) -> Result<usize, EngineError> {
        match ready {
            Ready::Read(conn) => match self.owner(conn) {
                Owner::Session(session) => return self.read(now, session, conn),
                Owner::Guest(slot) => self.read_guest(now, slot)?,
                Owner::Dialling(_) | Owner::Nobody => return Ok(0),
            },
            Ready::Write(conn) => {
                if let Owner::Session(session) = self.owner(conn) {
                    self.core.lines[session].output.unblock();
                    self.core.set_busy(session);
                }
            }
            Ready::Accept(listener) => self.accept(now, listener),
            Ready::Dialled(conn) => {
                if let Owner::Dialling(session) = self.owner(conn) {
                    self.dialled(now, session, conn)?;
                }
            }
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

    /// Reads once from a session's connection and carries out what has become whole.
    #[inline]
    fn read(&mut self, now: Now, session: usize, conn: ConnId) -> Result<usize, EngineError> {
        if let Some(throttle) = &self.core.lines[session].throttle
            && throttle.paused
        {
            return Ok(0);
        }
        match self.inputs[session].fill(&mut self.host, conn) {
            // It has ended, and only its last messages wait for the socket.
            Ok(count) if count > 0 && self.core.lines[session].leaving().is_some() => {
                self.inputs[session].clear();
            }
            Ok(count) if count > 0 => self.process(now, session)?,
            Ok(_) => self.disconnect(now, session, Ending::ClosedByPeer)?,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(0),
            Err(error) => self.disconnect(now, session, Ending::of(&error))?,
        }
        Ok(1)
    }

    /// Carries out the whole messages of a session's receive buffer and writes what they caused.
    pub(crate) fn process(&mut self, now: Now, session: usize) -> Result<(), EngineError> {
        let ending = loop {
            let bytes = self.inputs[session].unread();
            let next = if self.core.lines[session].config.validate_checksum {
                frame::next(bytes, self.max_message)
            } else {
                frame::next_unsummed(bytes, self.max_message)
            };
            let verdict = match next {
                Frame::Whole { skip, len } => {
                    if let Some(throttle) = &mut self.core.lines[session].throttle {
                        match throttle.arrives(now.mono) {
                            Pass::Now => {}
                            Pass::At(until) => {
                                self.pause(session, until);
                                break None;
                            }
                            Pass::Never => {
                                let bytes = self.inputs[session].unread();
                                let message = self.decoder.decode(&bytes[skip..skip + len]);
                                self.core.commit_ignored(now, session, &message)?;
                                break Some(self.end_flood(now, session)?);
                            }
                        }
                    }
                    let bytes = self.inputs[session].unread();
                    let message = self.decoder.decode(&bytes[skip..skip + len]);
                    let secret = message.has_secret();
                    let app = &mut self.app;
                    let verdict = self.core.receive(now, session, &message, app, None)?;
                    if secret {
                        self.inputs[session].blank(skip + len);
                    }
                    self.inputs[session].consume(skip + len);
                    verdict
                }
                Frame::Partial { skip } => {
                    self.inputs[session].consume(skip);
                    break None;
                }
                Frame::Garbled { skip, why } => {
                    self.core.lines[session].counters.garbled += 1;
                    let event = Event::Garbled {
                        session: SessionId(session as u32),
                        why,
                    };
                    self.core.raise(now, &event);
                    let core = &mut self.core;
                    let state = &mut core.lines[session].session;
                    let verdict = state.garbled(now, &bytes[..skip], &mut core.outbox);
                    core.note_end(session, verdict);
                    core.commit(now, session, Kind::Sent, None)?;
                    self.inputs[session].consume(skip);
                    verdict
                }
                Frame::TooLarge { len, .. } => break Some(Ending::TooLarge(len)),
            };
            if let Some(ending) = self.follow(now, session, verdict)? {
                break Some(ending);
            }
            self.release_if_full(now)?;
            if self.core.lines[session].link.is_none() {
                return Ok(());
            }
        };
        self.core.note_due(session);
        match ending {
            Some(ending) => self.part(now, session, ending),
            None if self.core.sync_first => Ok(()),
            None => self.release(now),
        }
    }

    /// After a message: those that were kept for it, what the application is told, what the session
    /// wants.
    #[inline]
    fn follow(
        &mut self,
        now: Now,
        session: usize,
        mut verdict: Verdict,
    ) -> Result<Option<Ending>, EngineError> {
        loop {
            match verdict {
                Verdict::Disconnect(reason) => {
                    if reason == Reason::RefusedByApplication
                        && let Some(link) = self.core.lines[session].link
                        && let Some(peer) = link.peer
                    {
                        self.lobby.failed(now.mono, peer, session);
                    }
                    return Ok(Some(Ending::Session(reason)));
                }
                Verdict::LoggedOn => self.logged_on(now, session)?,
                Verdict::Replay => self.core.set_busy(session),
                Verdict::Handled
                | Verdict::RejectSent
                | Verdict::Deliver
                | Verdict::Duplicate
                | Verdict::Rejected
                | Verdict::Ended { .. } => {}
            }
            self.release_if_full(now)?;
            if !self.core.lines[session].session.take_held(&mut self.held) {
                return Ok(None);
            }
            let message = self.decoder.decode(&self.held);
            let (core, app) = (&mut self.core, &mut self.app);
            let arrival = core.arrival(session);
            verdict = core.receive(now, session, &message, app, arrival)?;
        }
    }

    #[cold]
    fn logged_on(&mut self, now: Now, session: usize) -> Result<(), EngineError> {
        self.core.raise_gap_announced(now, session);
        let line = &mut self.core.lines[session];
        line.waiting = 0;
        if let Some(dialler) = &mut line.dialler {
            dialler.logged_on();
        }
        if let Some(link) = &mut line.link {
            link.stage = Stage::LoggedOn;
            if let Some(peer) = link.peer {
                self.core.journal.note_logon(now.wall, line.journal, peer)?;
                self.lobby.logged_on(peer, session);
            }
        }
        if line.session.replay_due().is_some() {
            self.core.set_busy(session);
        }
        self.core.raise(
            now,
            &Event::LoggedOn {
                session: SessionId(session as u32),
            },
        );
        Ok(())
    }

    /// Writes what is committed, and closes the connections that fail while doing so. That is done at the end
    /// of what one read, timer or command has caused, before something that must come after it (the Logon of a
    /// connection, its end), and by [`Self::release_if_full`]. With `disk` what reads cause is written once,
    /// after all of them.
    #[inline]
    pub(crate) fn release(&mut self, now: Now) -> Result<(), EngineError> {
        self.core.flush(&mut self.host)?;
        while let Some((session, ending)) = self.core.failed.pop() {
            self.disconnect(now, session, ending)?;
        }
        while let Some((session, bytes)) = self.core.slow.pop() {
            let session = SessionId(session as u32);
            self.core.raise(now, &Event::SlowReader { session, bytes });
        }
        Ok(())
    }

    /// Writes what is committed when that is much, before more is taken.
    #[inline]
    pub(crate) fn release_if_full(&mut self, now: Now) -> Result<(), EngineError> {
        match self.core.is_full() {
            true => self.release(now),
            false => Ok(()),
        }
    }

    /// Writes what waits for sockets.
    fn pump(&mut self, now: Now) -> Result<(), EngineError> {
        // New messages that wait for a sync go before those that a resend repeats.
        self.release(now)?;
        let mut at = 0;
        while let Some(session) = self.core.busy.get(at).copied() {
            if self
                .core
                .pump(now, &mut self.host, &mut self.app, session)?
            {
                at += 1;
            } else {
                self.core.lines[session].is_busy = false;
                self.core.busy.swap_remove(at);
            }
        }
        self.release(now)
    }

    /// A connection becomes a session's.
    pub(crate) fn attach(
        &mut self,
        now: Now,
        session: usize,
        conn: ConnId,
        peer: SocketAddr,
    ) -> Result<(), EngineError> {
        // The day may have changed since the last look.
        self.keep_hours(now, session)?;
        // What was committed before belongs to no connection: it must not precede the Logon on this one.
        self.release(now)?;
        self.set_owner(conn, Owner::Session(session));
        let line = &mut self.core.lines[session];
        let is_acceptor = line.dialler.is_none();
        line.link = Some(Link::new(conn, is_acceptor.then(|| peer.ip())));
        line.output.reset();
        line.counters.connections += 1;
        // A connection whose options cannot be set still works.
        let _ = self.host.tune(conn, &line.socket_options());
        self.core.raise(
            now,
            &Event::Connected {
                session: SessionId(session as u32),
                peer,
            },
        );
        let core = &mut self.core;
        let verdict = core.lines[session].session.connected(now, &mut core.outbox);
        core.commit(now, session, Kind::Sent, None)?;
        core.note_due(session);
        if let Verdict::Disconnect(reason) = verdict {
            return self.disconnect(now, session, Ending::Session(reason));
        }
        Ok(())
    }

    /// Ends a session's connection. When the session itself ended it and the socket has not taken its
    /// last messages, the Logout among them, the connection stays until it has, or for as long as the
    /// answer to a Logout may take.
    pub(crate) fn part(
        &mut self,
        now: Now,
        session: usize,
        why: Ending,
    ) -> Result<(), EngineError> {
        if matches!(why, Ending::Session(_)) {
            self.core.flush(&mut self.host)?;
            self.core.say_farewell(&mut self.host, session);
            let core = &mut self.core;
            let failed = core.failed.iter().any(|failed| failed.0 == session);
            let line = &mut core.lines[session];
            if line.leaving().is_some() {
                return Ok(());
            }
            if let Some(link) = &mut line.link
                && link.ended_before().is_some()
                && !failed
                && (line.output.has_backlog() || !self.host.is_flushed(link.conn))
            {
                let until = now.mono + line.session.config().logout_timeout;
                link.leave(Leaving { why, until });
                core.timers.session(session, until);
                core.set_busy(session);
                return Ok(());
            }
        }
        self.disconnect(now, session, why)
    }

    /// Ends a session's connection at once: what is committed is written first, what is unread is dropped.
    pub(crate) fn disconnect(
        &mut self,
        now: Now,
        session: usize,
        why: Ending,
    ) -> Result<(), EngineError> {
        self.core.flush(&mut self.host)?;
        self.core.say_farewell(&mut self.host, session);
        let core = &mut self.core;
        // A failure of this connection must not end the session's next one.
        core.failed.retain(|failed| failed.0 != session);
        let line = &mut core.lines[session];
        let Some(link) = line.link.take() else {
            return Ok(());
        };
        let why = link.leaving().map_or(why, |leaving| leaving.why);
        line.waiting += line.output.waiting();
        line.output.reset();
        line.resending = None;
        line.wake = Mono::NEVER;
        let not_logged = line.trail.take(now.mono);
        if let Some(throttle) = &mut line.throttle {
            throttle.paused = false;
        }
        self.inputs[session].clear();
        self.host.close(link.conn);
        self.set_owner(link.conn, Owner::Nobody);
        let id = SessionId(session as u32);
        self.tell_not_logged(now, session, not_logged);
        let next_in = self.core.lines[session].session.next_in();
        self.core.raise_unfinished(now, session, next_in);
        self.core.lines[session].session.disconnected(now);
        self.core.tell_reset(now, session, &mut self.app);
        self.core.commit(now, session, Kind::Reset, None)?;
        if link.was_logged_on() {
            self.app.on_logout(now, id);
            let parting = match why {
                Ending::Session(Reason::LoggedOut) => Parting::LoggedOut,
                _ => Parting::Lost,
            };
            self.app
                .on_disconnect(now, id, parting, &mut self.core.outbox);
            self.core.commit_sent(now)?;
            self.core.raise(now, &Event::LoggedOut { session: id });
        }
        let detail = std::mem::take(&mut self.core.lines[session].detail);
        let detail = if why.is_explained() {
            detail
        } else {
            PeerText::default()
        };
        let event = Event::Disconnected {
            session: id,
            why,
            detail,
        };
        self.core.raise(now, &event);
        if let Some(dialler) = &mut self.core.lines[session].dialler {
            dialler.ended(now.mono, link.was_logged_on());
            self.note_dialler(session);
        }
        if self.core.lines[session].hours.is_some() {
            // A new period may wait for the end of this connection.
            self.core.timers.session(session, Mono(0));
        }
        if self.core.lines[session].is_removed() {
            self.bury(now, session);
        }
        Ok(())
    }

    /// Due timers: of connections that have not logged on, and of sessions.
    fn elapse(&mut self, now: Now) -> Result<(), EngineError> {
        let mut due = std::mem::take(&mut self.due);
        if self.core.timers.take_due(now.mono, &mut due) {
            self.elapse_rest(now);
        }
        for session in due.drain(..) {
            self.elapse_session(now, session)?;
        }
        self.due = due;
        Ok(())
    }

    /// What belongs to no session: connections that have not logged on, events that were held back, a stop.
    fn elapse_rest(&mut self, now: Now) {
        if self.core.events.due().is_some_and(|due| due <= now.mono) {
            self.core.events.pass_counts(now);
        }
        self.elapse_guests(now);
        let stopped = match self.stopping {
            Stopping::Until(deadline) => Some(deadline),
            Stopping::No | Stopping::Done => None,
        };
        let due = [stopped, self.lobby.due(), self.core.events.due()];
        let due = due.into_iter().flatten().min();
        self.core.timers.engine(due.unwrap_or(Mono::NEVER));
    }

    /// What a session has to do by now: its schedule, its own timers, what waits for its peer, its connection.
    fn elapse_session(&mut self, now: Now, session: usize) -> Result<(), EngineError> {
        self.keep_hours(now, session)?;
        let core = &mut self.core;
        let line = &mut core.lines[session];
        let due = line.session.next_due();
        if due.is_some_and(|due| due <= now.mono) && line.leaving().is_none() {
            let verdict = line.session.elapse(now, &mut core.outbox);
            core.note_end(session, verdict);
            core.commit(now, session, Kind::Sent, None)?;
            if let Some(ending) = self.follow(now, session, verdict)? {
                self.part(now, session, ending)?;
            }
            self.release_if_full(now)?;
        }
        self.wake(now, session)?;
        if let Some(leaving) = self.core.lines[session].leaving() {
            match leaving.until <= now.mono {
                true => self.disconnect(now, session, leaving.why)?,
                false => self.core.timers.session(session, leaving.until),
            }
        } else {
            self.core.note_due(session);
        }
        let hours = self.hours_due(now, session);
        self.core.timers.session(session, hours);
        self.elapse_dialler(now, session)
    }

    fn finish(&mut self, now: Now, deadline: Mono) -> Result<(), EngineError> {
        let open = self.core.lines.iter().any(|line| line.link.is_some());
        if open && now.mono < deadline {
            return Ok(());
        }
        for session in 0..self.core.lines.len() {
            self.disconnect(now, session, Ending::Stopping)?;
        }
        self.elapse_guests(now);
        if self.keeps {
            let end = self.core.journal.end();
            self.core.journal.sync(end)?;
        }
        self.core.events.pass_counts(now);
        self.stopping = Stopping::Done;
        Ok(())
    }
}
