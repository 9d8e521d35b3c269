//! Prints received messages.

use std::sync::Arc;

use fixwire_protocol::readable::{Escaped, ReadableFields};
use fixwire_protocol::session::Config;
use fixwire_protocol::time::{Precision, TimestampWriter};
use fixwire_protocol::{Application, Dictionary, Message, Now, Outbox, Refusal, SessionId};

use crate::print::Printer;

/// Prints one line for each application message: time, session, name of the message type, fields. Sends no answer.
pub struct MessageLog {
    sessions: Vec<Named>,
    printer: Printer,
    stamp: TimestampWriter,
}

/// A session as shown in the log.
pub struct Named {
    /// Name of the session.
    pub name: String,
    /// The dictionary with the names of the session's message types.
    pub dictionary: Option<Arc<Dictionary>>,
}

impl MessageLog {
    /// Prints messages of these sessions, by their ids.
    pub fn new(sessions: Vec<Named>, printer: Printer) -> Self {
        Self {
            sessions,
            printer,
            stamp: TimestampWriter::new(),
        }
    }
}

impl Application for MessageLog {
    fn on_message(
        &mut self,
        now: Now,
        from: SessionId,
        message: &Message<'_>,
        _outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        self.print(now, from, message, "");
        Ok(())
    }

    fn on_poss_dup(
        &mut self,
        now: Now,
        from: SessionId,
        message: &Message<'_>,
        _outbox: &mut Outbox,
    ) {
        self.print(now, from, message, "possible duplicate: ");
    }

    fn on_session_added(&mut self, _now: Now, session: SessionId, name: &str, config: &Config) {
        if session.0 as usize == self.sessions.len() {
            self.sessions.push(Named {
                name: name.to_owned(),
                dictionary: config.dictionary.clone(),
            });
        }
    }
}

impl MessageLog {
    /// Prints the line of a message; `mark` is written before its type.
    fn print(&mut self, now: Now, from: SessionId, message: &Message<'_>, mark: &str) {
        let session = self.sessions.get(from.0 as usize);
        let known = session.and_then(|session| session.dictionary.as_ref());
        let kind = known.and_then(|dictionary| dictionary.message(message.msg_type()));
        let line = format!(
            "{} {} {mark}{} {}",
            Escaped(self.stamp.format(now.wall, Precision::Micros)),
            session.map_or("", |session| session.name.as_str()),
            kind.map_or("message", |kind| kind.name()),
            ReadableFields(message),
        );
        self.printer.line(line);
    }
}
