//! Executes commands of other threads.

use fixwire_protocol::session::Verdict;
use fixwire_protocol::{Application, Mono, Now, SessionId};

use crate::command::Command;
use crate::engine::{Engine, Owner, Stopping};
use crate::error::EngineError;
use crate::event::{Ending, Event};
use crate::host::Host;
use crate::journal::{Disk, RecordKind};
use crate::line::dialler::State;
use crate::log::Feed;

/// Maximum number of commands from other threads that one turn executes.
const COMMANDS_PER_TURN: usize = 64;

impl<A: Application, H: Host, D: Disk> Engine<A, H, D> {
    /// Executes commands from other threads; returns their number.
    #[inline]
    pub(crate) fn obey(&mut self, now: Now) -> Result<usize, EngineError> {
        let mut count = 0;
        while count < COMMANDS_PER_TURN {
            let Some(command) = self.commands.take() else {
                break;
            };
            count += 1;
            match command {
                Command::Send {
                    session,
                    msg_type,
                    fields,
                } => {
                    let mut body = self.core.outbox.begin(session, msg_type);
                    self.commands.take_fields(fields, &mut body);
                    // A message that does not fit is counted by the outbox.
                    let _ = body.finish();
                    self.core.commit_sent(now, &mut self.app, &mut self.host)?;
                    self.release_if_full(now)?;
                }
                Command::Request { number } => self.answer(now, number)?,
                Command::Remove { session } => self.remove(now, session)?,
                Command::Reset { session } => self.reset(now, session)?,
                Command::SendAgain { session, seq } => self.send_again(now, session, seq)?,
                Command::LogOn { session } => self.log_on(session),
                Command::LogOut { session, text } => {
                    let text = String::from_utf8_lossy(text).into_owned();
                    self.log_out(now, session, &text)?;
                }
                Command::ReopenLogs => self.feeds.iter().for_each(Feed::reopen),
                Command::Stop => self.begin_stop(now)?,
            }
        }
        Ok(count)
    }

    pub(super) fn log_on(&mut self, session: SessionId) {
        if self.is_stopping() {
            return;
        }
        let index = session.0 as usize;
        if let Some(line) = self.core.lines.get_mut(index)
            && !line.disabled
            && let Some(dialler) = &mut line.dialler
        {
            if line.link.is_some() {
                // The previous connection must end first: otherwise two connections would share one session.
                dialler.connected();
            } else {
                dialler.on();
            }
            self.core.timers.session(index, Mono(0));
        }
    }

    pub(crate) fn log_out(
        &mut self,
        now: Now,
        session: SessionId,
        text: &str,
    ) -> Result<(), EngineError> {
        let index = session.0 as usize;
        let core = &mut self.core;
        let Some(line) = core.lines.get_mut(index) else {
            return Ok(());
        };
        let verdict = line.session.log_out(now, text, &mut core.outbox);
        core.commit(now, index, RecordKind::Sent, None, &mut self.app)?;
        core.note_due(index);
        if let Some(dialler) = &mut self.core.lines[index].dialler {
            if let State::Dialling(conn, _) = dialler.state() {
                self.host.close(conn);
                self.owners[conn.0 as usize] = Owner::Nobody;
            }
            dialler.off();
        }
        match verdict {
            Verdict::Disconnect(reason) => self.disconnect(now, index, Ending::Session(reason)),
            _ => Ok(()),
        }
    }

    /// Logs out the sessions for which the application has requested it.
    #[cold]
    pub(super) fn log_out_wanted(&mut self, now: Now) -> Result<(), EngineError> {
        for (session, text) in self.core.outbox.take_logouts() {
            self.log_out(now, session, &text)?;
            self.release_if_full(now)?;
        }
        self.release(now)
    }

    /// Resets the sequence numbers of a session, and asks its peer to do the same. Both are committed before a byte
    /// is sent.
    pub(super) fn reset(&mut self, now: Now, session: SessionId) -> Result<(), EngineError> {
        let index = session.0 as usize;
        let core = &mut self.core;
        let Some(line) = core.lines.get_mut(index) else {
            return Ok(());
        };
        if !line.session.can_reset() || line.leaving().is_some() {
            self.core.raise(now, &Event::NotReset { session });
            return Ok(());
        }
        let verdict = line.session.reset(now, &mut core.outbox);
        debug_assert_eq!(verdict, Verdict::Handled, "a reset waits for its answer");
        core.tell_reset(now, index, &mut self.app);
        core.commit(now, index, RecordKind::Reset, None, &mut self.app)?;
        core.note_due(index);
        Ok(())
    }

    /// Sends a stored message again, as a new message with PossResend(97)=Y.
    fn send_again(&mut self, now: Now, session: SessionId, seq: u64) -> Result<(), EngineError> {
        let core = &mut self.core;
        let line = core.lines.get(session.0 as usize);
        let stored = match line {
            Some(line) => core.journal.outbound(line.journal, seq),
            None => Ok(None),
        };
        let sent = stored.map(|stored| {
            stored.is_some_and(|stored| core.outbox.send_again(session, stored).is_ok())
        });
        core.astray += u64::from(!matches!(sent, Ok(true)));
        if let Err(error) = sent {
            core.journal.report_unread(error);
        }
        core.commit_sent(now, &mut self.app, &mut self.host)?;
        Ok(())
    }

    /// Starts to log all sessions out; [`finish`](Self::finish) waits for the answers.
    fn begin_stop(&mut self, now: Now) -> Result<(), EngineError> {
        if self.is_stopping() {
            return Ok(());
        }
        self.stopping = Stopping::Until(now.mono + self.stop_timeout);
        // The next turn closes the connections without a Logon.
        self.core.timers.engine(Mono(0));
        for session in 0..self.core.lines.len() {
            self.log_out(now, SessionId(session as u32), "")?;
            self.release_if_full(now)?;
        }
        Ok(())
    }
}
