//! [`PlayedSession`]: a session that a player drives by hand, over FIX or TMP.

use std::collections::VecDeque;
use std::io;

use fixwire_protocol::{Mono, Nanos, Now, Tag, tag};

use crate::record::CaseRecord;
use crate::tmp::fields;
use crate::wire_message::{TextFields, value};

/// A message that has arrived.
#[derive(Clone, Debug)]
pub(crate) struct Inbound {
    pub(crate) fields: TextFields,
    /// The message with SOH shown as `|`.
    pub(crate) shown: String,
    /// What is wrong with it, whatever a step expects.
    pub(crate) fault: Option<String>,
}

impl Inbound {
    /// Its MsgType(35); over TMP the name of the message.
    pub(crate) fn msg_type(&self) -> &str {
        let found = value(&self.fields, tag::MSG_TYPE);
        let found = found.or_else(|| value(&self.fields, fields::MESSAGE));
        found.unwrap_or_default()
    }
}

/// Result of waiting.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Pumped {
    /// The inbox has messages.
    Message,
    /// Nothing has arrived in time.
    TimedOut,
    /// The connection is closed.
    Closed,
    /// The run is stopped.
    Stopped,
}

/// Why a login by the player itself has failed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum LogOnFailure {
    /// The venue, or the connection to it.
    Venue(String),
    /// The run is stopped.
    Stopped,
}

/// Why a message was not sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum SendFailure {
    /// Its fields make no message.
    Message(String),
    /// The connection refused it.
    Connection(String),
}

impl From<io::Error> for SendFailure {
    fn from(error: io::Error) -> Self {
        Self::Connection(error.to_string())
    }
}

/// How a session calls what it does, in results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionWords {
    /// What `logged-on` expects.
    pub(crate) login: &'static str,
    /// The answer that shows that the venue has answered everything, when it is missing.
    pub(crate) no_answer: &'static str,
}

/// A session that is played by hand: it counts and answers as its protocol asks for, unless a step says otherwise.
pub(crate) trait PlayedSession {
    fn now(&mut self) -> Now;

    /// Messages that no step has looked at.
    fn inbox(&mut self) -> &mut VecDeque<Inbound>;

    fn record(&mut self) -> &mut CaseRecord;

    fn note(&mut self, text: &str) {
        let at = self.now().wall;
        self.record().at(at, text);
    }

    fn words(&self) -> SessionWords;

    /// Whether the login is complete and the connection is open.
    fn is_logged_on(&self) -> bool;

    fn connect(&mut self) -> Result<(), String>;

    /// Closes the connection, if it is open.
    fn disconnect(&mut self);

    /// A time as the session writes it.
    fn time(&mut self, offset: i64) -> String;

    /// Leaves out so many sequence numbers.
    fn skip(&mut self, count: u64);

    /// Whether the session answers without a step.
    fn set_answers(&mut self, are_sent: bool);

    /// The fields of a Logon(A); none over TMP.
    fn logon_fields(&self) -> TextFields;

    /// Sends a message; its fields as they are sent.
    fn send(
        &mut self,
        fields: &[(Tag, String)],
        left_out: &[Tag],
        is_garbled: bool,
    ) -> Result<TextFields, SendFailure>;

    /// Sends a message so many times, at once.
    fn burst(&mut self, count: u32, fields: &[(Tag, String)]) -> Result<TextFields, SendFailure>;

    /// Sends bytes as they are.
    fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), SendFailure>;

    /// Waits until then for a message, and takes those that arrive into the inbox.
    fn pump(&mut self, until: Mono) -> Pumped;

    /// Waits until then, whatever arrives.
    fn gather(&mut self, until: Mono) -> Pumped;

    /// Asks for an answer that shows that everything before was answered; its id.
    fn probe(&mut self) -> String;

    /// Whether a message is that answer.
    fn is_answer(&self, message: &Inbound, id: &str) -> bool;

    /// Whether a message may arrive at any time.
    fn is_chatter(&self, message: &Inbound) -> bool;

    /// Connects and logs in.
    fn log_on(&mut self, within: Nanos) -> Result<(), LogOnFailure>;

    /// Logs out and disconnects, in an orderly way where the venue does so.
    fn log_out(&mut self, within: Nanos);

    /// A value that is masked wherever it is shown from now on.
    fn hide(&mut self, secret: &str);
}

/// `2 s`, `250 ms`.
pub(crate) fn seconds(time: Nanos) -> String {
    match (time.as_millis(), time.as_millis() % 1000) {
        (millis, 0) => format!("{} s", millis / 1000),
        (millis, _) => format!("{millis} ms"),
    }
}
