//! [`PlayedSession`]: a session that a player drives, over FIX or over TMP.

use std::collections::VecDeque;
use std::io;

use fixwire_protocol::{Mono, Nanos, Now, Tag, tag};

use crate::record::CaseRecord;
use crate::tmp::fields;
use crate::wire_message::{TextFields, value};

/// A received message.
#[derive(Clone, Debug)]
pub(crate) struct Inbound {
    pub(crate) fields: TextFields,
    /// The message with `|` instead of SOH.
    pub(crate) shown: String,
    /// A violation of the protocol in the message, whatever the steps expect; `None` for a valid message.
    pub(crate) fault: Option<String>,
}

impl Inbound {
    /// MsgType(35) of the message; over TMP the name of the message.
    pub(crate) fn msg_type(&self) -> &str {
        let found = value(&self.fields, tag::MSG_TYPE);
        let found = found.or_else(|| value(&self.fields, fields::MESSAGE));
        found.unwrap_or_default()
    }
}

/// Result of waiting.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Pumped {
    /// The inbox has a message.
    Message,
    /// No message arrived in time.
    TimedOut,
    /// The connection is closed.
    Closed,
    /// The run was stopped.
    Stopped,
}

/// Why a login by the player failed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum LogOnFailure {
    /// The venue or the connection to it failed, for this reason.
    Venue(String),
    /// The run was stopped.
    Stopped,
}

/// Why a message was not sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum SendFailure {
    /// The fields do not form a message.
    Message(String),
    /// The connection failed.
    Connection(String),
}

impl From<io::Error> for SendFailure {
    fn from(error: io::Error) -> Self {
        Self::Connection(error.to_string())
    }
}

/// The words of a protocol for its login and its answers, for results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionWords {
    /// What `logged-on` expects.
    pub(crate) login: &'static str,
    /// The missing answer, when the venue has not answered everything.
    pub(crate) no_answer: &'static str,
}

/// A session whose messages the steps of a case determine. The session assigns sequence numbers and answers messages as
/// its protocol requires, unless a step says otherwise.
pub(crate) trait PlayedSession {
    fn now(&mut self) -> Now;

    /// Messages that no step has used yet.
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

    /// A time in the format of the session. `offset` is added to the present time, nanoseconds.
    fn time(&mut self, offset: i64) -> String;

    /// Skips this number of our sequence numbers.
    fn skip(&mut self, count: u64);

    /// Sets whether the session answers automatically.
    fn set_answers(&mut self, are_sent: bool);

    /// The fields of a Logon(A); none over TMP.
    fn logon_fields(&self) -> TextFields;

    /// Sends a message; returns its fields as sent.
    fn send(
        &mut self,
        fields: &[(Tag, String)],
        left_out: &[Tag],
        is_garbled: bool,
    ) -> Result<TextFields, SendFailure>;

    /// Sends a message this many times without pauses.
    fn burst(&mut self, count: u32, fields: &[(Tag, String)]) -> Result<TextFields, SendFailure>;

    /// Sends bytes unchanged.
    fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), SendFailure>;

    /// Waits for a message until this time. Received messages are moved to the inbox.
    fn pump(&mut self, until: Mono) -> Pumped;

    /// Waits until this time, whatever arrives.
    fn gather(&mut self, until: Mono) -> Pumped;

    /// Sends a request whose answer shows that all earlier messages are answered. Returns the id of the request.
    fn probe(&mut self) -> String;

    /// Whether a message is the answer to the request of `probe` with this id.
    fn is_answer(&self, message: &Inbound, id: &str) -> bool;

    /// Whether a message may arrive at any time: a Heartbeat or TestRequest, over TMP R04 or R05.
    fn is_chatter(&self, message: &Inbound) -> bool;

    /// Connects and logs in.
    fn log_on(&mut self, within: Nanos) -> Result<(), LogOnFailure>;

    /// Logs out and disconnects; in an orderly way, if the venue cooperates.
    fn log_out(&mut self, within: Nanos);

    /// Masks this value from now on, in all texts that are shown.
    fn hide(&mut self, secret: &str);
}

/// A time as text: `2 s`, `250 ms`.
pub(crate) fn seconds(time: Nanos) -> String {
    match (time.as_millis(), time.as_millis() % 1000) {
        (millis, 0) => format!("{} s", millis / 1000),
        (millis, _) => format!("{millis} ms"),
    }
}
