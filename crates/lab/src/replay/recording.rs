//! The messages of a recorded session, in the order of the log.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::mpsc::SyncSender;

use fixwire::journal::Direction;
use fixwire_protocol::session::is_admin;
use fixwire_protocol::value::uint;
use fixwire_protocol::{Decoder, Tag, Timestamp};
use fixwire_reader::{LeftOut, LogEntry, LogReader, LogStep};

use super::comparison::ReplayAnswer;

/// Number of sent messages whose MsgSeqNum is kept, so that a Reject(3) can be matched with its message.
const MOST_NUMBERS: usize = 65_536;
/// Maximum number of fields of a message.
const FIELDS: usize = 4096;

/// The two ends of a session, the sender of the replayed messages first.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct RecordedSession {
    /// BeginString(8).
    pub begin_string: String,
    /// SenderCompID(49).
    pub sender: String,
    /// TargetCompID(56).
    pub target: String,
}

impl fmt::Display for RecordedSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            begin_string,
            sender,
            target,
        } = self;
        write!(f, "{begin_string}:{sender}->{target}")
    }
}

/// The content of a log for one session.
#[derive(Clone, Debug, Default)]
pub struct SessionSurvey {
    /// Messages to replay.
    pub messages: u64,
    /// Fields of the first Logon sent, except the fields that every Logon has.
    pub logon: Vec<(Tag, Vec<u8>)>,
}

/// A recorded message.
#[derive(Clone, Debug)]
pub enum Recorded {
    /// The message was sent.
    Sent(SentMessage),
    /// The message was received.
    Answer {
        /// The ClOrdID(11) of the order.
        id: Vec<u8>,
        /// Content of the answer.
        answer: ReplayAnswer,
    },
}

/// A message to send again.
#[derive(Clone, Debug)]
pub struct SentMessage {
    /// When the message was sent; `None` when the log has no time for it.
    pub time: Option<Timestamp>,
    /// MsgType(35).
    pub msg_type: Vec<u8>,
    /// ClOrdID(11), or empty.
    pub id: Vec<u8>,
    /// Fields of the message, except the fields that the session sets.
    pub fields: Vec<(Tag, Vec<u8>)>,
}

fn session_of(entry: &LogEntry<'_>) -> RecordedSession {
    let text = |tag| String::from_utf8_lossy(entry.get(tag).unwrap_or_default()).into_owned();
    RecordedSession {
        begin_string: text(8),
        sender: text(49),
        target: text(56),
    }
}

/// Whether this entry does not count: it is a possible duplicate, it has a wrong frame, or the journal gives it a
/// status other than `queued`.
fn is_again(entry: &LogEntry<'_>) -> bool {
    entry.get(43) == Some(b"Y") || entry.fault.is_some() || !matches!(entry.mark, "" | "queued")
}

/// The sessions that have sent messages, and the parts of the log that could not be read.
#[must_use]
pub fn survey(reader: &mut LogReader) -> (BTreeMap<RecordedSession, SessionSurvey>, Vec<LeftOut>) {
    let mut found: BTreeMap<RecordedSession, SessionSurvey> = BTreeMap::new();
    while let LogStep::Message(entry) = reader.next_step() {
        if entry.direction() != Some(Direction::Out) || is_again(&entry) {
            continue;
        }
        let msg_type = entry.get(35).unwrap_or_default();
        let session = found.entry(session_of(&entry)).or_default();
        if msg_type == b"A" && session.logon.is_empty() {
            let mut decoder = Decoder::with_capacity(FIELDS);
            let logon = decoder.decode(entry.bytes);
            let fields = logon.fields().iter();
            let fields = fields.filter(|field| !of_session(field.tag) && !of_logon(field.tag));
            let fields = fields.map(|field| (field.tag, logon.value(*field).to_vec()));
            session.logon = fields.collect();
        }
        session.messages += u64::from(!is_admin(msg_type));
    }
    found.retain(|_, session| session.messages > 0);
    (found, reader.take_left_out())
}

/// Whether a session sets this field in each message.
fn of_session(tag: Tag) -> bool {
    matches!(
        tag,
        8 | 9 | 10 | 34 | 35 | 43 | 49 | 52 | 56 | 89 | 93 | 122 | 369
    )
}

/// Whether a session sets this field in each Logon, or the field refers to earlier sequence numbers.
fn of_logon(tag: Tag) -> bool {
    matches!(
        tag,
        98 | 141 | 789 | 383 | 464 | 95 | 96 | 1400 | 1401 | 1402 | 1403 | 1404
    )
}

/// Passes the messages of a session to `taken`, one after the other, until its receiver is dropped. Returns the parts
/// of the log that could not be read.
#[must_use]
pub fn stream(
    mut reader: LogReader,
    session: &RecordedSession,
    taken: &SyncSender<Recorded>,
) -> Vec<LeftOut> {
    let mut decoder = Decoder::with_capacity(FIELDS);
    let mut numbers = HashMap::new();
    while let LogStep::Message(entry) = reader.next_step() {
        let is = |tag, text: &str| entry.get(tag) == Some(text.as_bytes());
        let RecordedSession {
            begin_string,
            sender,
            target,
        } = session;
        let is_sent = is(49, sender) && is(56, target);
        let is_received = is(49, target) && is(56, sender);
        if !is(8, begin_string) || !(is_sent || is_received) || is_again(&entry) {
            continue;
        }
        let message = decoder.decode(entry.bytes);
        let msg_type = message.msg_type();
        let recorded = if is_sent {
            if is_admin(msg_type) {
                continue;
            }
            let id = message.get(11).unwrap_or_default().to_vec();
            if let Some(Ok(number)) = message.seq_num() {
                if numbers.len() >= MOST_NUMBERS {
                    numbers.clear();
                }
                numbers.insert(number, id.clone());
            }
            let fields = message.fields().iter();
            let fields = fields.filter(|field| !of_session(field.tag));
            Recorded::Sent(SentMessage {
                time: entry.time().0,
                msg_type: msg_type.to_vec(),
                id,
                fields: fields
                    .map(|field| (field.tag, message.value(*field).to_vec()))
                    .collect(),
            })
        } else {
            let reference = message.get(45).and_then(|number| uint(number).ok());
            let refused = reference.and_then(|number| numbers.get(&number));
            let Some(id) = answered_id(&message, refused.map(Vec::as_slice)) else {
                continue;
            };
            Recorded::Answer {
                id: id.to_vec(),
                answer: ReplayAnswer::of(&message),
            }
        };
        if taken.send(recorded).is_err() {
            break;
        }
    }
    reader.take_left_out()
}

/// The ClOrdID(11) of the order that a message answers. For a reject, `refused` is the ClOrdID of the message that
/// the reject refers to.
pub(crate) fn answered_id<'a>(
    message: &fixwire_protocol::Message<'a>,
    refused: Option<&'a [u8]>,
) -> Option<&'a [u8]> {
    let id = match message.msg_type() {
        b"3" => refused,
        b"j" => refused.or_else(|| message.get(379)),
        admin if is_admin(admin) => None,
        _ => message.get(11),
    };
    id.filter(|id| !id.is_empty())
}
