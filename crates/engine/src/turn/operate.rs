//! Executes requests of other threads between two messages, and answers the requests.
//!
//! Before an operator's action is executed, a note of it is written to the journal, so that a reader of the journal
//! sees who requested the action. The record that sets sequence numbers includes the note.

use std::sync::mpsc::Sender;

use fixwire_protocol::{Application, Now, OperatorCommand, SessionId};

use crate::command::Request;
use crate::counters::{LinkReport, SessionReport};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::event::{Ending, Event};
use crate::host::Host;
use crate::journal::{Disk, JournalId, OPERATORS, RecordKind};
use crate::line::{Line, Numbers};
use crate::operation::{OneLine, Operation, OperationError, Operator};
use crate::operation::{check_fields, check_number, numbers_note};
use crate::permit::{self, OperatorAccess, PermissionRequest};

/// Maximum length of a command in the note, bytes.
const LONGEST_SHOWN: usize = 256;

impl<A: Application, H: Host, D: Disk> Engine<A, H, D> {
    /// Executes a request. The caller may have stopped waiting for the answer.
    pub(super) fn answer(&mut self, now: Now, number: u64) -> Result<(), EngineError> {
        match self.commands.request(number) {
            Some(Request::Add { config, answer }) => {
                let added = self.add(now, *config, true)?;
                let _ = answer.send(added.map(|index| SessionId(index as u32)));
            }
            Some(Request::Status { answer }) => {
                let reports = self.sessions().map(SessionReport::from).collect();
                let _ = answer.send(reports);
            }
            Some(Request::Links { answer }) => {
                let reports = self.links().map(LinkReport::from).collect();
                let _ = answer.send(reports);
            }
            Some(Request::StatusOf { session, answer }) => {
                let line = self.core.lines.get(session.0 as usize);
                let report = line.map(|line| SessionReport::from(line.status()));
                let _ = answer.send(report);
            }
            Some(Request::Operate {
                session,
                operation,
                by,
                answer,
            }) => self.operate(now, session, operation, by, answer)?,
            Some(Request::Query { query, answer }) => {
                let mut said = Vec::new();
                let done = self.app.on_query(now, &query, &mut said);
                let _ = answer.send(done.map(|()| said).map_err(OperationError::Refused));
            }
            Some(Request::Command {
                command,
                by,
                answer,
            }) => {
                let done = self.command(now, &command, &by)?;
                let _ = answer.send(done);
            }
            Some(Request::Permit { asked, answer }) => {
                let done = self.permit(now, &asked)?;
                let _ = answer.send(done);
            }
            Some(Request::Refused { what }) => {
                let session = None;
                self.core
                    .raise(now, &Event::OperationRefused { session, what });
            }
            None => {}
        }
        Ok(())
    }

    fn operate(
        &mut self,
        now: Now,
        session: SessionId,
        operation: Operation,
        by: Operator,
        answer: Sender<Result<(), OperationError>>,
    ) -> Result<(), EngineError> {
        // Messages that an earlier command has written belong to another record.
        self.core.commit_sent(now, &mut self.app, &mut self.host)?;
        let line = match self.check_operation(session, &operation) {
            Ok(line) => line,
            Err(why) => {
                let what = operation.note(&by, &self.masked);
                self.note_refusal(now, Some(session), &what, &why)?;
                let _ = answer.send(Err(why));
                return Ok(());
            }
        };
        // For this operation, the record that sets the sequence numbers names the operator.
        let sets_now = matches!(operation, Operation::SetNumbers { .. }) && line.link.is_none();
        if !sets_now {
            let (journal, what) = (line.journal, operation.note(&by, &self.masked));
            self.note_operation(now, Some(session), journal, what)?;
        }
        self.carry_out_operation(now, session, operation, by, answer)
    }

    /// The session for an operation, if the operation is possible now.
    fn check_operation(
        &self,
        session: SessionId,
        operation: &Operation,
    ) -> Result<&Line, OperationError> {
        if self.is_stopping() {
            return Err(OperationError::Stopping);
        }
        let line = self.core.lines.get(session.0 as usize);
        let line = line.ok_or(OperationError::UnknownSession)?;
        if line.is_removed() {
            return Err(OperationError::Removed);
        }
        let is_closed = line.hours.as_ref().is_some_and(|hours| hours.is_closed());
        let refusal = match operation {
            Operation::LogOn if line.disabled => Some(OperationError::Disabled),
            Operation::LogOn if line.dialler.is_none() => Some(OperationError::Acceptor),
            Operation::LogOn if is_closed => Some(OperationError::Closed),
            Operation::Disconnect if line.link.is_none() => Some(OperationError::NotConnected),
            // For an initiator that is not connected, the logout stops further attempts to connect.
            Operation::LogOut { .. } if line.link.is_none() && !line.dials() => {
                Some(OperationError::NotConnected)
            }
            Operation::TestRequest if !line.session.is_logged_on() => {
                Some(OperationError::NotLoggedOn)
            }
            Operation::TestRequest if !line.session.is_settled() => Some(OperationError::NotNow),
            Operation::Reset if !line.session.can_reset() || line.leaving().is_some() => {
                Some(OperationError::NotNow)
            }
            Operation::SetNumbers {
                next_in,
                next_out,
                force,
            } => {
                for number in [next_in, next_out].into_iter().flatten() {
                    check_number(*number)?;
                }
                match (line.link.is_some(), line.numbers.is_some()) {
                    (_, true) => Some(OperationError::Pending),
                    (true, _) if !force => Some(OperationError::Connected),
                    _ => None,
                }
            }
            Operation::Send { msg_type, .. } if self.app.owns(session, msg_type).is_some() => {
                self.app.owns(session, msg_type).map(OperationError::Owned)
            }
            Operation::Send { msg_type, fields } => {
                check_fields(msg_type, fields)?;
                let bytes = fields.len();
                if bytes > self.max_message {
                    let most = self.max_message;
                    return Err(OperationError::Message(format!(
                        "the fields of the message are {bytes} bytes long, more than \
                        MaxMessageSize ({most} bytes)"
                    )));
                }
                // Without a logon, the MsgSeqNum of the message would be lower than that of the next Logon. The peer
                // would receive the message only on request, or never.
                (!line.session.is_logged_on()).then_some(OperationError::NotLoggedOn)
            }
            _ => None,
        };
        refusal.map_or(Ok(line), Err)
    }

    fn carry_out_operation(
        &mut self,
        now: Now,
        session: SessionId,
        operation: Operation,
        by: Operator,
        answer: Sender<Result<(), OperationError>>,
    ) -> Result<(), EngineError> {
        let index = session.0 as usize;
        let mut done = Ok(());
        match operation {
            Operation::LogOn => self.log_on(session),
            Operation::LogOut { text } => {
                // Sequence numbers that wait for the end of the connection are still set, but then the session does
                // not log on again.
                if let Some(numbers) = &mut self.core.lines[index].numbers {
                    numbers.resumes = false;
                }
                self.log_out(now, session, &text)?;
            }
            Operation::Disconnect => self.disconnect(now, index, Ending::Operator)?,
            Operation::Disable => {
                // The logout also gives up an attempt to connect.
                self.log_out(now, session, "")?;
                self.core.lines[index].disable(true);
            }
            Operation::Enable => {
                self.core.lines[index].disable(false);
                self.log_on(session);
            }
            Operation::Reset => self.reset(now, session)?,
            Operation::TestRequest => {
                let core = &mut self.core;
                core.lines[index].session.test_peer(&mut core.outbox);
                core.commit(now, index, RecordKind::Sent, None, &mut self.app)?;
                core.note_due(index);
            }
            Operation::Send { msg_type, fields } => {
                let lost = self.core.lost();
                let mut body = self.core.outbox.begin(session, &msg_type);
                body.encoded(&fields);
                // A message that does not fit is counted by the outbox.
                let _ = body.finish();
                self.core.commit_sent(now, &mut self.app, &mut self.host)?;
                if self.core.lost() > lost {
                    let why = OperationError::NotSent(self.max_message);
                    let what = Operation::Send { msg_type, fields }.note(&by, &self.masked);
                    self.note_refusal(now, Some(session), &what, &why)?;
                    done = Err(why);
                }
            }
            Operation::SetNumbers {
                next_in, next_out, ..
            } => {
                let line = &mut self.core.lines[index];
                let numbers = Numbers {
                    next_in,
                    next_out,
                    by,
                    answer,
                    resumes: line.dials(),
                };
                if line.link.is_none() {
                    return self.set_numbers(now, index, numbers);
                }
                // When the connection has ended, the sequence numbers are set, and the caller is answered.
                line.numbers = Some(Box::new(numbers));
                return self.log_out(now, session, "");
            }
        }
        self.release_if_full(now)?;
        self.secure()?;
        let _ = answer.send(done);
        Ok(())
    }

    /// Sets the sequence numbers of a session whose connection has ended, if an operator has requested it.
    pub(super) fn set_pending_numbers(
        &mut self,
        now: Now,
        index: usize,
    ) -> Result<(), EngineError> {
        match self.core.lines[index].numbers.take() {
            Some(numbers) => self.set_numbers(now, index, *numbers),
            None => Ok(()),
        }
    }

    fn set_numbers(&mut self, now: Now, index: usize, numbers: Numbers) -> Result<(), EngineError> {
        let core = &mut self.core;
        let line = &mut core.lines[index];
        let id = line.session.id();
        let (was_in, was_out) = (line.session.next_in(), line.session.next_out());
        let next_in = numbers.next_in.unwrap_or(was_in);
        let next_out = numbers.next_out.unwrap_or(was_out);
        let done = line.session.set_numbers(next_in, next_out);
        debug_assert!(done, "it has no connection, and the numbers were checked");
        let what = numbers_note((was_in, was_out), (next_in, next_out), &numbers.by);
        let journal = line.journal;
        core.tell_reset(now, index, &mut self.app);
        let end = core.journal.end();
        core.commit(
            now,
            index,
            RecordKind::Reset,
            Some(what.as_bytes()),
            &mut self.app,
        )?;
        if core.journal.end() == end {
            // The sequence numbers already had these values, so only the note is written.
            core.journal.note(now.wall, journal, &what)?;
        }
        let session = Some(id);
        core.raise(now, &Event::Operated { session, what });
        self.secure()?;
        let _ = numbers.answer.send(Ok(()));
        if numbers.resumes {
            self.log_on(id);
        }
        Ok(())
    }

    /// Passes a command to the application. The note has the beginning of the command; it precedes the application's
    /// messages.
    fn command(
        &mut self,
        now: Now,
        command: &[u8],
        by: &Operator,
    ) -> Result<Result<Vec<u8>, OperationError>, EngineError> {
        if self.is_stopping() {
            return Ok(Err(OperationError::Stopping));
        }
        self.core.commit_sent(now, &mut self.app, &mut self.host)?;
        let what = format!("{} by {by}", shown("command", command));
        let mut answer = Vec::new();
        let core = &mut self.core;
        let command = OperatorCommand {
            bytes: command,
            who: &by.who,
            why: &by.why,
        };
        let done = self
            .app
            .on_command(now, command, &mut answer, &mut core.outbox)
            .map_err(OperationError::Refused);
        match &done {
            Ok(()) => {
                let journal = self.core.journal.register(now.wall, OPERATORS)?;
                self.note_operation(now, None, journal, what)?;
            }
            Err(why) => self.note_refusal(now, None, &what, why)?,
        }
        self.core.commit_sent(now, &mut self.app, &mut self.host)?;
        self.secure()?;
        self.release_if_full(now)?;
        Ok(done.map(|()| answer))
    }

    /// Whether an operator has the right to do something. A refusal is recorded.
    fn permit(
        &mut self,
        now: Now,
        asked: &PermissionRequest,
    ) -> Result<Result<(), OperationError>, EngineError> {
        let Err(why) = permit::decide(asked, &self.app, &self.operators) else {
            return Ok(Ok(()));
        };
        let why = OperationError::NotPermitted(why);
        if !matches!(
            asked.access,
            OperatorAccess::Part(_) | OperatorAccess::Place
        ) && !self.is_stopping()
        {
            let what = match &asked.access {
                OperatorAccess::Command(text) => shown("command", text),
                OperatorAccess::Query(text) => shown("query", text),
                _ => asked.what.clone(),
            };
            let what = format!("{what} by {}", asked.by);
            self.note_refusal(now, asked.session, &what, &why)?;
        }
        Ok(Err(why))
    }

    /// Records a refused operation, and raises an event.
    fn note_refusal(
        &mut self,
        now: Now,
        session: Option<SessionId>,
        what: &str,
        why: &OperationError,
    ) -> Result<(), EngineError> {
        let why = why.to_string();
        let why = why.strip_prefix("refused: ").unwrap_or(&why);
        let what = format!("{what}: {}", OneLine(why));
        let line = session.and_then(|session| self.core.lines.get(session.0 as usize));
        let journal = match line {
            Some(line) => line.journal,
            None => self.core.journal.register(now.wall, OPERATORS)?,
        };
        let note = format!("refused: {what}");
        self.core.journal.note(now.wall, journal, &note)?;
        self.core
            .raise(now, &Event::OperationRefused { session, what });
        Ok(())
    }

    /// Records an operation before it is executed, and raises an event.
    fn note_operation(
        &mut self,
        now: Now,
        session: Option<SessionId>,
        journal: JournalId,
        what: String,
    ) -> Result<(), EngineError> {
        self.core.journal.note(now.wall, journal, &what)?;
        self.core.raise(now, &Event::Operated { session, what });
        Ok(())
    }

    /// Makes sure that the operation survives what the configured durability covers.
    fn secure(&mut self) -> Result<(), EngineError> {
        if self.core.sync_first {
            let end = self.core.journal.end();
            self.core.journal.sync(end)?;
        }
        Ok(())
    }
}

/// The beginning of a command or query, for a note.
fn shown(kind: &str, text: &[u8]) -> String {
    let begin = text[..text.len().min(LONGEST_SHOWN)].escape_ascii();
    match text.len() {
        ..=LONGEST_SHOWN => format!("{kind} {begin}"),
        bytes => format!("{kind} {begin}... ({bytes} bytes)"),
    }
}
