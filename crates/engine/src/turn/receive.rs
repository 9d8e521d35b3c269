//! Handles the received bytes of a session: reads them, splits them into messages, and handles the messages.

use std::io::ErrorKind;

use fixwire_protocol::session::{DisconnectReason, Verdict};
use fixwire_protocol::{Application, Frame, Now, SessionId, frame};

use crate::bucket::Rate;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::event::{Ending, Event};
use crate::host::{ConnId, Host};
use crate::input::read_most;
use crate::journal::{Disk, RecordKind};
use crate::line::flow::Pass;
use crate::line::link::Stage;

impl<A: Application, H: Host, D: Disk> Engine<A, H, D> {
    /// Reads once from a session's connection, and handles the complete messages.
    #[inline]
    pub(super) fn read(
        &mut self,
        now: Now,
        session: usize,
        conn: ConnId,
    ) -> Result<usize, EngineError> {
        if let Some(throttle) = &self.core.lines[session].throttle
            && throttle.paused
        {
            return Ok(0);
        }
        let most = read_most(self.core.sync_first);
        match self.inputs[session].fill(&mut self.host, conn, most) {
            // The session has ended. Only its last messages wait for the socket, so received data is dropped.
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

    /// Handles the complete messages in a session's receive buffer, and writes their effects.
    pub(crate) fn process(&mut self, now: Now, session: usize) -> Result<(), EngineError> {
        self.core.reading = SessionId(session as u32);
        self.early.begin_read();
        let ending = loop {
            let bytes = self.inputs[session].unread();
            let next = if self.core.lines[session].config.validate_checksum {
                frame::next(bytes, self.max_message)
            } else {
                frame::next_unsummed(bytes, self.max_message)
            };
            let verdict = match next {
                Frame::Whole { skip, len } => {
                    if skip > 0 {
                        self.core.note_junk(now, session);
                    }
                    if let Some(throttle) = &mut self.core.lines[session].throttle {
                        match throttle.arrives(now.mono) {
                            Pass::Now => {}
                            Pass::At(until) => {
                                if let Some(conn) = self.core.lines[session].pause(until) {
                                    self.host.hold(conn, true);
                                }
                                break None;
                            }
                            Pass::Never => {
                                let bytes = self.inputs[session].unread();
                                let message = self.decoder.decode(&bytes[skip..skip + len]);
                                self.core
                                    .commit_ignored(now, session, &message, &mut self.app)?;
                                break Some(self.end_flood(now, session)?);
                            }
                        }
                    }
                    let bytes = self.inputs[session].unread();
                    let message = self.decoder.decode(&bytes[skip..skip + len]);
                    let secret = message.has_secret();
                    let (app, host) = (&mut self.app, &mut self.host);
                    let from = self.core.outbox.entries().len();
                    let verdict = self.core.receive(now, session, &message, app, None, host)?;
                    self.host.handled(&message, &self.core.outbox, from);
                    if secret {
                        self.inputs[session].blank(skip + len);
                    }
                    self.inputs[session].consume(skip + len);
                    verdict
                }
                Frame::Partial { skip } => {
                    self.inputs[session].consume(skip);
                    if skip == 0 {
                        break None;
                    }
                    self.core.note_junk(now, session);
                    let core = &mut self.core;
                    let state = &mut core.lines[session].session;
                    let verdict = state.garbled(now, &[], &mut core.outbox);
                    if verdict == Verdict::Handled {
                        break None;
                    }
                    verdict
                }
                Frame::Garbled { skip, why } => {
                    self.core.lines[session].counters.garbled += 1;
                    let core = &mut self.core;
                    let before = core.outbox.entries().len();
                    let state = &mut core.lines[session].session;
                    let verdict = state.garbled(now, &bytes[..skip], &mut core.outbox);
                    let event = Event::Garbled {
                        session: SessionId(session as u32),
                        why,
                        rejected: core.outbox.entries().len() > before,
                    };
                    core.raise(now, &event);
                    core.commit(now, session, RecordKind::Sent, None, &mut self.app)?;
                    self.inputs[session].consume(skip);
                    verdict
                }
                Frame::TooLarge { len: bytes, .. } => {
                    break Some(Ending::TooLarge {
                        bytes,
                        most: self.max_message,
                    });
                }
            };
            if let Some(ending) = self.follow(now, session, verdict)? {
                break Some(ending);
            }
            let may_release = self.early.counts();
            let unread = self.inputs[session].unread().len();
            if unread == 0 {
                break None;
            }
            if may_release {
                // What follows the end of a session leaves with what precedes it.
                let is_on = self.core.lines[session].is_on();
                self.release_early(now, unread, is_on)?;
                if self.core.lines[session].link.is_none() {
                    return Ok(());
                }
            }
        };
        self.core.note_due(session);
        match ending {
            Some(ending) => self.part(now, session, ending),
            None => self.release_read(now),
        }
    }

    /// Handles a peer that has exceeded its rate limit: the Logout is written, then the connection is closed.
    #[cold]
    fn end_flood(&mut self, now: Now, session: usize) -> Result<Ending, EngineError> {
        let core = &mut self.core;
        let state = &mut core.lines[session].session;
        // Ignore the verdict: the session would wait for the peer's Logout, but the connection is closed at once.
        let _ = state.log_out(now, "Throttle limit exceeded", &mut core.outbox);
        core.commit(now, session, RecordKind::Sent, None, &mut self.app)?;
        let throttle = core.lines[session].config.flow.inbound;
        let rate = throttle.map_or(Rate::per_second(1), |throttle| throttle.rate);
        Ok(Ending::Throttled(rate))
    }

    /// Does what follows a message: handles queued messages, notifies the application, and executes what the session
    /// requests.
    #[inline]
    pub(super) fn follow(
        &mut self,
        now: Now,
        session: usize,
        mut verdict: Verdict,
    ) -> Result<Option<Ending>, EngineError> {
        loop {
            match verdict {
                Verdict::Disconnect(reason) => {
                    if reason == DisconnectReason::RefusedByApplication
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
            let state = &mut self.core.lines[session].session;
            let next_in = state.next_in();
            if !state.take_held(&mut self.held) {
                // A ResendRequest that was served when it arrived is skipped now.
                if state.next_in() != next_in {
                    let app = &mut self.app;
                    self.core
                        .commit(now, session, RecordKind::Sent, None, app)?;
                }
                return Ok(None);
            }
            let message = self.decoder.decode(&self.held);
            let (core, app, host) = (&mut self.core, &mut self.app, &mut self.host);
            let arrival = core.arrival(session);
            verdict = core.receive(now, session, &message, app, arrival, host)?;
        }
    }

    #[cold]
    fn logged_on(&mut self, now: Now, session: usize) -> Result<(), EngineError> {
        self.core.raise_gap_announced(now, session);
        self.core.pass_unsent(now, session)?;
        let line = &mut self.core.lines[session];
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
}
