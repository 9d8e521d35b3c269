//! Handle: with it other threads send messages, commands and requests to an engine.

use std::fmt;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, PoisonError};

use fixwire_protocol::{Body, Outbox, SessionId};
use rtrb::Producer;

use crate::command::{self, Request, Shared, push};
use crate::config::SessionConfig;
use crate::counters::{LinkReport, SessionReport};
use crate::error::AddError;
use crate::operation::{LONGEST, Operation, OperationError, Operator};
use crate::permit::PermissionRequest;

/// Sends messages and commands to an engine from another thread.
///
/// Each clone has a ring of its own, so that threads do not wait for each other. The commands of one handle are
/// executed in order. The engine executes a request between two messages, and then answers it. So code on the
/// engine's thread must not wait for an answer.
pub struct Handle {
    shared: Arc<Shared>,
    ring: Producer<u8>,
    /// Buffer for messages before they are copied into the ring.
    outbox: Outbox,
}

/// Why a command did not reach the engine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SendError {
    /// The ring is full, because the engine is behind. Try again later.
    Full,
    /// The message is longer than allowed; the value is the limit in bytes: the engine's `max_message`, or the size
    /// of a ring.
    TooLong(usize),
    /// A name, a reason, or the Text(58) of an operator's Logout is longer than 1,024 bytes.
    TextTooLong,
    /// The engine has ended.
    Stopped,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str(
                "earlier commands of this handle are still waiting for the engine: try again",
            ),
            Self::TooLong(most) => {
                write!(
                    f,
                    "the message is longer than MaxMessageSize ({most} bytes)"
                )
            }
            Self::TextTooLong => {
                write!(
                    f,
                    "the name, the reason or the text is longer than {LONGEST} bytes"
                )
            }
            Self::Stopped => f.write_str("the engine has stopped"),
        }
    }
}

impl std::error::Error for SendError {}

impl Handle {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Self {
            shared: Arc::clone(shared),
            ring: shared.ring(),
            outbox: Outbox::new(2 * shared.max_message, 2, 0),
        }
    }

    /// Sends a message whose body fields `build` writes. When the engine handles the message, it assigns the
    /// MsgSeqNum and stores the message in the journal. The session sets the fields of the standard header and
    /// trailer.
    ///
    /// If the session is not logged on, the message still gets the next MsgSeqNum. The peer receives the message, as
    /// a possible duplicate, only after it has logged on and sent a ResendRequest(2) for it. A message that could
    /// never be sent is refused, and [`Event::MessagesLost`](crate::Event::MessagesLost) names it. With
    /// [`refuse_before_logon`](SessionConfig::refuse_before_logon) every message before the logon is refused.
    ///
    /// ```
    /// use fixwire_engine::protocol::{SessionId, tag};
    /// use fixwire_engine::{Handle, SendError};
    ///
    /// fn cancel(handle: &mut Handle, session: SessionId, id: &[u8], order: &[u8]) -> Result<(), SendError> {
    ///     handle.send(session, b"F", |cancel| {
    ///         cancel.field(tag::CL_ORD_ID, id).field(tag::ORIG_CL_ORD_ID, order);
    ///     })
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`SendError`]; nothing was sent.
    pub fn send(
        &mut self,
        session: SessionId,
        msg_type: &[u8],
        build: impl FnOnce(&mut Body<'_>),
    ) -> Result<(), SendError> {
        let Self {
            shared,
            ring,
            outbox,
        } = self;
        outbox.clear();
        let mut body = outbox.begin(session, msg_type);
        build(&mut body);
        body.finish()
            .map_err(|_| SendError::TooLong(shared.max_message))?;
        push(
            ring,
            shared,
            command::SEND,
            session,
            msg_type,
            outbox.body(0),
        )
    }

    /// Sends a message whose body fields are given as bytes, for example `11=A1|55=X|` with SOH instead of `|`. The
    /// caller is responsible for the order and the form of the fields.
    ///
    /// # Errors
    ///
    /// [`SendError`]; nothing was sent.
    pub fn send_fields(
        &mut self,
        session: SessionId,
        msg_type: &[u8],
        fields: &[u8],
    ) -> Result<(), SendError> {
        self.push(command::SEND, session, msg_type, fields)
    }

    /// Starts the logout of a session. An initiator does not log on again by itself.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn log_out(&mut self, session: SessionId, text: &str) -> Result<(), SendError> {
        self.push(command::LOG_OUT, session, b"", text.as_bytes())
    }

    /// Makes an initiator connect at once, after a logout or during a pause between attempts.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn log_on(&mut self, session: SessionId) -> Result<(), SendError> {
        self.push(command::LOG_ON, session, b"", b"")
    }

    /// Sends again the application message that the session sent with this MsgSeqNum, as a new message with
    /// PossResend(97)=Y. This is for an order whose state is unknown, for example because the peer has lost its data.
    /// The peer must check the ClOrdID(11). When the journal has no such message since the last reset, nothing is
    /// sent, and [`Event::NotSent`](crate::Event::NotSent) reports it.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    ///
    /// # Source
    ///
    /// FIX 4.4 Volume 2, possible resends.
    pub fn send_again(&mut self, session: SessionId, seq: u64) -> Result<(), SendError> {
        self.push(command::SEND_AGAIN, session, b"", &seq.to_le_bytes())
    }

    /// Resets the sequence numbers of a session to 1. If the session is logged on, a Logon with
    /// ResetSeqNumFlag(141)=Y asks the peer to do the same. Each later Logon of ours asks again, also after a
    /// disconnect or restart, until the peer has confirmed the reset. If the session is not connected, only our side
    /// is reset, without a message. Agree on this with the peer: otherwise all messages since the peer's MsgSeqNum 1
    /// are requested. When a reset is not possible, [`Event::NotReset`](crate::Event::NotReset) reports it.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn reset(&mut self, session: SessionId) -> Result<(), SendError> {
        self.push(command::RESET, session, b"", b"")
    }

    /// Adds a session, or restores a removed one with its sequence numbers.
    ///
    /// # Errors
    ///
    /// [`SendError`]; nothing was added.
    pub fn add_session(
        &mut self,
        config: SessionConfig,
    ) -> Result<Receiver<Result<SessionId, AddError>>, SendError> {
        let config = Box::new(config);
        self.ask(|answer| Request::Add { config, answer })
    }

    /// Removes a session. It is logged out, and no peer can log on to it. Its sequence numbers and waiting messages
    /// stay in the journal until [`Handle::add_session`] adds a session with the same name.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn remove_session(&mut self, session: SessionId) -> Result<(), SendError> {
        self.push(command::REMOVE, session, b"", b"")
    }

    /// Requests the state of every session. The engine answers between two messages; the reports are ordered by id.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn status(&mut self) -> Result<Receiver<Vec<SessionReport>>, SendError> {
        self.ask(|answer| Request::Status { answer })
    }

    /// Requests the state of every link. The engine answers between two messages; the reports are ordered by id.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn links(&mut self) -> Result<Receiver<Vec<LinkReport>>, SendError> {
        self.ask(|answer| Request::Links { answer })
    }

    /// Requests the state of a session. The engine answers between two messages; `None` for an unknown id.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn status_of(
        &mut self,
        session: SessionId,
    ) -> Result<Receiver<Option<SessionReport>>, SendError> {
        self.ask(|answer| Request::StatusOf { session, answer })
    }

    /// The session with this name, as in the settings: `FIX.4.4:BROKER->CLIENT`. Also finds a removed session; `None`
    /// for an unknown name. Does not wait for the engine.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<SessionId> {
        let names = self.shared.names.lock();
        let names = names.unwrap_or_else(PoisonError::into_inner);
        names.get(name).copied()
    }

    /// Executes an operation on a session on behalf of an operator. Before that, a note with the operator and the
    /// reason is written to the journal, and [`Event::Operated`](crate::Event::Operated) reports the operation. Once
    /// the operation is answered, it survives the end of the process, and with durability `disk` also a power
    /// failure.
    ///
    /// # Errors
    ///
    /// [`SendError`]; nothing was done.
    pub fn operate(
        &mut self,
        session: SessionId,
        operation: Operation,
        by: Operator,
    ) -> Result<Receiver<Result<(), OperationError>>, SendError> {
        check(&by)?;
        if let Operation::LogOut { text } = &operation
            && text.len() > LONGEST
        {
            return Err(SendError::TextTooLong);
        }
        self.ask(|answer| Request::Operate {
            session,
            operation,
            by,
            answer,
        })
    }

    /// Sends a command to the application, which answers it; see
    /// [`Application::on_command`](fixwire_protocol::Application::on_command). A note is written to the journal, as
    /// for [`operate`](Self::operate).
    ///
    /// # Errors
    ///
    /// [`SendError`]; the application does not receive the command.
    pub fn command(
        &mut self,
        command: &[u8],
        by: Operator,
    ) -> Result<Receiver<Result<Vec<u8>, OperationError>>, SendError> {
        check(&by)?;
        if command.len() > self.shared.max_message {
            return Err(SendError::TooLong(self.shared.max_message));
        }
        let command = command.into();
        self.ask(|answer| Request::Command {
            command,
            by,
            answer,
        })
    }

    /// Sends a query to the application, see
    /// [`Application::on_query`](fixwire_protocol::Application::on_query).
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn query(
        &mut self,
        query: &[u8],
    ) -> Result<Receiver<Result<Vec<u8>, OperationError>>, SendError> {
        if query.len() > self.shared.max_message {
            return Err(SendError::TooLong(self.shared.max_message));
        }
        let query = query.into();
        self.ask(|answer| Request::Query { query, answer })
    }

    /// Asks whether an operator has the right to do something. The application's settings decide; without operators
    /// there, the engine's configuration. A refusal is recorded in the journal, and
    /// [`Event::OperationRefused`](crate::Event::OperationRefused) reports it. A program needs no permission for its
    /// own actions.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn permit(
        &mut self,
        asked: PermissionRequest,
    ) -> Result<Receiver<Result<(), OperationError>>, SendError> {
        check(&asked.by)?;
        self.ask(|answer| Request::Permit { asked, answer })
    }

    /// Reports a request that was refused before it reached the engine, as
    /// [`Event::OperationRefused`](crate::Event::OperationRefused).
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn report_refusal(&mut self, what: String) -> Result<(), SendError> {
        self.ask(|_: Sender<()>| Request::Refused { what })
            .map(drop)
    }

    /// Reopens the files of message and event logs after they were renamed, so that text is written to new files with
    /// the configured names. [`Event::LogReopened`](crate::Event::LogReopened) reports when this is done.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn reopen_logs(&mut self) -> Result<(), SendError> {
        self.push(command::REOPEN_LOGS, SessionId(0), b"", b"")
    }

    /// Stops the engine: it logs the sessions out, and then [`Engine::run`](crate::Engine::run) returns.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn stop(&mut self) -> Result<(), SendError> {
        self.push(command::STOP, SessionId(0), b"", b"")
    }

    /// Sends a request; the returned receiver gets the answer.
    fn ask<T>(
        &mut self,
        request: impl FnOnce(Sender<T>) -> Request,
    ) -> Result<Receiver<T>, SendError> {
        let (answer, answers) = channel();
        let number = self.shared.wait(request(answer));
        let number = number.ok_or(SendError::Stopped)?;
        let pushed = self.push(command::REQUEST, SessionId(0), b"", &number.to_le_bytes());
        if pushed.is_err() {
            drop(self.shared.take(number));
        }
        pushed.map(|()| answers)
    }

    fn push(
        &mut self,
        what: u8,
        session: SessionId,
        msg_type: &[u8],
        rest: &[u8],
    ) -> Result<(), SendError> {
        push(&mut self.ring, &self.shared, what, session, msg_type, rest)
    }
}

fn check(by: &Operator) -> Result<(), SendError> {
    match by.who.len().max(by.why.len()) {
        ..=LONGEST => Ok(()),
        _ => Err(SendError::TextTooLong),
    }
}

impl Clone for Handle {
    fn clone(&self) -> Self {
        Self::new(&self.shared)
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}
