//! Operations of an operator on the sessions of a running engine, and why they are refused.

use std::fmt;
use std::path::Path;

use fixwire_protocol::outbox::MAX_MSG_TYPE;
use fixwire_protocol::session::{RESET_DUE, RESET_OPEN, is_admin};
use fixwire_protocol::{Redactor, SOH, Tag, Timestamp, readable};

use crate::journal::{
    self, DISABLED_BY, Directory, ENABLED_BY, Journal, JournalError, Recovered, SequenceCounters,
    Torn,
};

/// Maximum length of a name or a reason, bytes.
pub(crate) const LONGEST: usize = 1024;
/// Highest MsgSeqNum that can be set.
const HIGHEST: u64 = u64::MAX / 2;

/// An operator and the reason for an operation, as recorded in the journal.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Operator {
    /// The operator: a system user or a program.
    pub who: String,
    /// The reason; may be empty.
    pub why: String,
}

impl Operator {
    /// An operator, with or without a reason.
    pub fn new(who: impl Into<String>, why: impl Into<String>) -> Self {
        let (who, why) = (who.into(), why.into());
        Self { who, why }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { who, why } = self;
        write!(f, "{}", OneLine(who))?;
        match why.is_empty() {
            true => Ok(()),
            false => write!(f, ": {}", OneLine(why)),
        }
    }
}

/// Text on one line that cannot control a terminal.
pub(crate) struct OneLine<'a>(pub &'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '\'' | '"' => fmt::Write::write_char(f, c)?,
                _ => write!(f, "{}", c.escape_debug())?,
            }
        }
        Ok(())
    }
}

/// An operation on a session.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Operation {
    /// Makes an initiator connect at once, after a logout or during a pause between attempts.
    LogOn,
    /// Sends a Logout(5). An initiator does not log on again by itself until the engine restarts.
    LogOut {
        /// Text(58) of the Logout; empty for none.
        text: String,
    },
    /// Closes the connection without a Logout. An initiator reconnects after its pause.
    Disconnect,
    /// Enables logons again after [`Disable`](Self::Disable). An initiator connects at once.
    Enable,
    /// Logs the session out, and disables logons until the session is enabled again, even across a restart.
    Disable,
    /// Resets both sequence numbers to 1; see [`Handle::reset`](crate::Handle::reset).
    Reset,
    /// Sets the sequence numbers of a session that is not connected.
    SetNumbers {
        /// Next expected MsgSeqNum; `None` leaves it unchanged.
        next_in: Option<u64>,
        /// Next MsgSeqNum to send; `None` leaves it unchanged. A value that was used before starts another epoch:
        /// earlier messages are not resent.
        next_out: Option<u64>,
        /// If true, a session that is connected is logged out first. The sequence numbers are set when its connection
        /// has ended, and an initiator then logs on again at once. If false, the operation is refused for a connected
        /// session.
        force: bool,
    },
    /// Sends a TestRequest.
    TestRequest,
    /// Sends a message.
    Send {
        /// MsgType(35).
        msg_type: Vec<u8>,
        /// The body fields of the message, each followed by SOH.
        fields: Vec<u8>,
    },
}

impl Operation {
    /// The description of the operation, for the journal and for operators.
    ///
    /// For a message that an operator sends, the description shows the fields. The values of `masked` fields, and of
    /// fields that are always masked, appear as stars.
    pub(crate) fn note(&self, by: &Operator, masked: &[Tag]) -> String {
        let done = match self {
            Self::LogOn => "logon",
            Self::LogOut { .. } => "logout",
            Self::Disconnect => "disconnect",
            Self::Enable => return format!("{ENABLED_BY}{by}"),
            Self::Disable => return format!("{DISABLED_BY}{by}"),
            Self::Reset => "sequence number reset",
            Self::SetNumbers { .. } => "logout, to set the sequence numbers,",
            Self::TestRequest => "TestRequest",
            Self::Send { msg_type, fields } => {
                let message = by_hand(msg_type, fields, masked);
                return format!("message {message} by {by}");
            }
        };
        format!("{done} by {by}")
    }
}

/// Maximum number of bytes of an operator's message that the note shows.
const LONGEST_BY_HAND: usize = 4096;

/// A message that an operator sends, as text with its secrets masked: `35=B|148=Closing`.
fn by_hand(msg_type: &[u8], fields: &[u8], masked: &[Tag]) -> String {
    let message = [b"35=", msg_type, &[SOH], fields].concat();
    let mut redactor = Redactor::for_showing(masked);
    redactor.copy_any(0, &message);
    let mut shown = readable::masked(redactor.kept(0, &message));
    while shown.last() == Some(&SOH) {
        shown.pop();
    }
    let whole = shown.len();
    shown.truncate(LONGEST_BY_HAND);
    for byte in &mut shown {
        if *byte == SOH {
            *byte = b'|';
        }
    }
    let text = readable::Escaped(&shown).to_string();
    match whole {
        ..=LONGEST_BY_HAND => text,
        _ => format!("{text}... ({whole} bytes)"),
    }
}

/// Why an operation was not executed. Nothing has changed.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum OperationError {
    /// Unknown session id.
    UnknownSession,
    /// The session was removed.
    Removed,
    /// The session is connected. The operation requires a session without a connection.
    Connected,
    /// The session is not logged on. The operation requires a session that is logged on.
    NotLoggedOn,
    /// The session has no connection.
    NotConnected,
    /// An operator has disabled the session.
    Disabled,
    /// The session is an acceptor: the peer must connect.
    Acceptor,
    /// The schedule of the session does not allow a logon now.
    Closed,
    /// A Logon or Logout is in progress; or the session is logged on in FIX 4.0, which does not support a reset.
    NotNow,
    /// The session is already being logged out, to set other sequence numbers.
    Pending,
    /// The value cannot be used as a sequence number.
    Number(u64),
    /// The message to send has an error, which this text describes.
    Message(String),
    /// The message with its header is longer than MaxMessageSize (the value, bytes), or the session accepts no
    /// message now.
    NotSent(usize),
    /// The application does not know the command, or refuses it.
    Refused(String),
    /// The operator lacks the right.
    NotPermitted(String),
    /// Only the application writes messages of this session. The value is the session's role in the application.
    Owned(&'static str),
    /// The engine is stopping.
    Stopping,
}

impl fmt::Display for OperationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownSession => "unknown session",
            Self::Removed => "the session was removed",
            Self::Connected => "the session is connected: log it out first (--force does that)",
            Self::NotLoggedOn => "the session is not logged on",
            Self::NotConnected => "the session is not connected",
            Self::Disabled => "the session is disabled: enable it first",
            Self::Acceptor => "the session is an acceptor: its peer has to connect",
            Self::Closed => "the session is closed by its schedule",
            Self::NotNow => {
                "a Logon or Logout is in progress, or the session is logged on in FIX 4.0, which \
                has no reset: log out first"
            }
            Self::Pending => "the session is being logged out to set its sequence numbers",
            Self::Number(number) => {
                return write!(f, "{number} is not a valid MsgSeqNum: expected 1 to {HIGHEST}");
            }
            Self::NotSent(most) => {
                return write!(
                    f,
                    "the message with its header is longer than MaxMessageSize ({most} bytes), or the session is closed by its schedule"
                );
            }
            Self::NotPermitted(why) => return write!(f, "refused: {why}"),
            Self::Owned(what) => {
                return write!(
                    f,
                    "refused: the session is {what}, and only the application writes its messages"
                );
            }
            Self::Message(why) | Self::Refused(why) => why,
            Self::Stopping => "the engine is stopping",
        })
    }
}

impl std::error::Error for OperationError {}

/// Sets the sequence numbers of a session in a journal that no engine has open. Fails if the journal does not have
/// the session. Returns the description as recorded in the journal, and the data that was cut off when the journal
/// was opened.
///
/// # Errors
///
/// The journal is in use or damaged, or a value is not a valid MsgSeqNum. Nothing has changed.
pub fn set_stored_numbers(
    folder: &Path,
    session: &str,
    (next_in, next_out): (Option<u64>, Option<u64>),
    by: &Operator,
    now: Timestamp,
) -> Result<(String, Option<Torn>), StoredError> {
    for number in [next_in, next_out].into_iter().flatten() {
        check_number(number)?;
    }
    let config = journal::JournalConfig {
        index_entries: 2,
        ..journal::JournalConfig::default()
    };
    let (mut journal, Recovered { torn, .. }) = Journal::open(Directory::open(folder)?, config)?;
    let known = journal.sessions().find(|(_, name, _)| *name == session);
    let Some((id, _, before)) = known else {
        return Err(OperationError::UnknownSession.into());
    };
    let was_in = match before.next_in {
        // A session whose reset is pending continues at 1.
        RESET_OPEN | RESET_DUE => 1,
        number => number,
    };
    let next_in = next_in.unwrap_or(was_in);
    let next_out = next_out.unwrap_or(before.next_out);
    let set = SequenceCounters {
        next_in,
        next_out,
        epoch: before.epoch + u32::from(next_out < before.next_out),
    };
    let said = numbers_note((was_in, before.next_out), (next_in, next_out), by);
    let end = journal.set(now, id, set, &said)?;
    journal.sync(end)?;
    Ok((said, torn))
}

/// The description of set sequence numbers: the old and the new values, inbound and outbound.
pub(crate) fn numbers_note(before: (u64, u64), set: (u64, u64), by: &Operator) -> String {
    format!(
        "sequence numbers set to {} in, {} out (were {}, {}) by {by}",
        set.0, set.1, before.0, before.1
    )
}

/// Why a journal was not changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoredError {
    /// The journal cannot be opened or written.
    Journal(JournalError),
    /// The operation is refused.
    Operation(OperationError),
}

impl fmt::Display for StoredError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Journal(error) => write!(f, "{error}"),
            Self::Operation(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for StoredError {}

impl From<JournalError> for StoredError {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}

impl From<OperationError> for StoredError {
    fn from(error: OperationError) -> Self {
        Self::Operation(error)
    }
}

/// Whether an operator may send this message: it must be an application message with plain fields, none of which the
/// session sets.
pub(crate) fn check_fields(msg_type: &[u8], fields: &[u8]) -> Result<(), OperationError> {
    let refuse = |why: String| Err(OperationError::Message(why));
    let name = msg_type.escape_ascii();
    if msg_type.is_empty() || msg_type.len() > MAX_MSG_TYPE || msg_type.contains(&SOH) {
        return refuse(format!("`{name}` is not a valid MsgType"));
    }
    if is_admin(msg_type) {
        return refuse(format!("MsgType {name} is sent by the session itself"));
    }
    let Some(fields) = fields.strip_suffix(&[SOH]) else {
        return refuse("the last field does not end with SOH".into());
    };
    for field in fields.split(|byte| *byte == SOH) {
        let at = field.iter().position(|byte| *byte == b'=');
        let tag = at.and_then(|at| str::from_utf8(&field[..at]).ok()?.parse::<Tag>().ok());
        match tag {
            Some(8 | 9 | 10 | 34 | 35 | 43 | 49 | 52 | 56 | 122) => {
                return refuse(format!("the session writes field {}", field.escape_ascii()));
            }
            Some(1..) if at.is_some_and(|at| at + 1 < field.len() && field[0] != b'+') => {}
            _ => {
                let field = field.escape_ascii();
                return refuse(format!("`{field}` is not a field: write it as 55=MSFT"));
            }
        }
    }
    Ok(())
}

/// Checks that a number can be set as a sequence number.
pub(crate) fn check_number(number: u64) -> Result<u64, OperationError> {
    match number {
        1..=HIGHEST => Ok(number),
        _ => Err(OperationError::Number(number)),
    }
}
