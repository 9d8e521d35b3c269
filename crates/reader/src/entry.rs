//! A message, with the facts that its source gives about it.

use std::cell::RefCell;
use std::fmt;

use fixwire_journal::Direction;
use fixwire_protocol::{Garbled, Tag, Timestamp};

use crate::field::end_of;
use crate::journal::Batch;
use crate::prefix;
use crate::zone::Clock;

/// The position of a message in its source.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LogPlace {
    /// In a text.
    Text {
        /// Offset of the message's first byte; for a packed file, the offset in the unpacked data.
        offset: u64,
        /// Line number of the first byte, from 1.
        line: u64,
    },
    /// In a journal.
    Journal {
        /// The segment with the message's record.
        segment: u32,
        /// The offset of the record in the segment.
        offset: u32,
    },
    /// In a capture.
    Packet {
        /// Number of the packet that completed the message, from 1.
        packet: u64,
    },
}

impl fmt::Display for LogPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { line, .. } => write!(f, "{line}"),
            Self::Journal { segment, offset } => write!(f, "{segment}:{offset}"),
            Self::Packet { packet } => write!(f, "packet {packet}"),
        }
    }
}

/// Where the time of a message comes from.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum TimeSource {
    /// The line of the message in the log.
    Line,
    /// SendingTime(52) of the message.
    SendingTime,
    /// The capture: the time of the packet that completed the message.
    Capture,
    /// The journal: the time at which the message's record was written.
    Journal,
    /// No time.
    Missing,
}

impl TimeSource {
    /// Name of the origin.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::SendingTime => "SendingTime",
            Self::Capture => "capture",
            Self::Journal => "journal",
            Self::Missing => "none",
        }
    }
}

/// A message of a log.
#[derive(Clone, Copy)]
pub struct LogEntry<'a> {
    /// The path as given. For a file in a given folder, the path of that file. For standard input, `stdin`.
    pub file: &'a str,
    /// Position of the message in the file.
    pub place: LogPlace,
    /// The message as sent, with SOH after each field.
    pub bytes: &'a [u8],
    /// The fault of the message's frame; `None` for a correct frame.
    pub fault: Option<Garbled>,
    /// The name of the message's session in a journal; `None` for other sources.
    pub journal_session: Option<&'a str>,
    /// The status that the journal gives to the message: queued, duplicate, ignored, dequeued, resent, gap fill.
    pub mark: &'static str,
    pub(crate) known_direction: Option<Direction>,
    pub(crate) known_time: Option<(Timestamp, TimeSource)>,
    pub(crate) prefix: &'a [u8],
    pub(crate) hints: &'a Hints,
    /// The journal record of the message; `None` for other sources.
    pub(crate) record: Option<&'a Batch>,
}

impl fmt::Debug for LogEntry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.place)
    }
}

/// Maximum number of pairs of sender and target that are cached.
const MOST_NAMED: usize = 16;

/// The direction of messages from this sender to this target, according to the name of the file.
struct NamedEnds {
    ends: [Vec<u8>; 2],
    direction: Option<Direction>,
}

/// The known facts about all messages of a file.
pub(crate) struct Hints {
    /// Our CompIDs.
    pub(crate) ours: Vec<Vec<u8>>,
    /// The name of the file, without its folder.
    pub(crate) name: String,
    /// The direction that the extension of the file's name gives, if any.
    pub(crate) direction: Option<Direction>,
    pub(crate) clock: RefCell<Clock>,
    /// Nanoseconds to add to every time of the file.
    pub(crate) shift: i64,
    named: RefCell<Vec<NamedEnds>>,
}

impl Hints {
    pub(crate) fn new(file: &str, ours: &[String], clock: Clock, shift: i64) -> Self {
        let name = file.rsplit('/').next().unwrap_or(file).to_owned();
        let packed = [".gz", ".zst"]
            .iter()
            .find_map(|end| name.strip_suffix(end));
        let plain = packed.unwrap_or(&name);
        let mut parts = plain.split('.');
        // FIX Antenna writes NAME.in and NAME.out, followed by numbers.
        let direction =
            parts
                .rfind(|part| part.parse::<u64>().is_err())
                .and_then(|end| match end {
                    "in" => Some(Direction::In),
                    "out" => Some(Direction::Out),
                    _ => None,
                });
        Self {
            ours: ours.iter().map(|id| id.as_bytes().to_vec()).collect(),
            name,
            direction,
            clock: RefCell::new(clock),
            shift,
            named: RefCell::default(),
        }
    }

    /// The direction of a message according to a file name such as `FIX.4.4-BROKER-CLIENT.messages.current.log`,
    /// which is the log of BROKER. `None` when the name does not have both CompIDs.
    fn by_name(&self, sender: &[u8], target: &[u8]) -> Option<Direction> {
        if sender.len() + target.len() >= self.name.len() {
            return None;
        }
        let mut named = self.named.borrow_mut();
        let known = named.iter().find(|it| it.ends == [sender, target]);
        if let Some(known) = known {
            return known.direction;
        }
        let name = self.name.as_bytes();
        let has = |from: &[u8], to: &[u8]| {
            ["-", "_"].iter().any(|dash| {
                let pair = [from, dash.as_bytes(), to].concat();
                memchr::memmem::find_iter(name, &pair).any(|at| {
                    let before = at.checked_sub(1).map(|at| name[at]);
                    let behind = name.get(at + pair.len());
                    before.is_none_or(|byte| b"-_".contains(&byte))
                        && behind.is_none_or(|byte| b"-_.".contains(byte))
                })
            })
        };
        let direction = match (has(sender, target), has(target, sender)) {
            (true, false) => Some(Direction::Out),
            (false, true) => Some(Direction::In),
            _ => None,
        };
        if named.len() == MOST_NAMED {
            named.clear();
        }
        named.push(NamedEnds {
            ends: [sender.to_vec(), target.to_vec()],
            direction,
        });
        direction
    }
}

/// Number of fields at the beginning of a message that have BeginString(8), MsgType(35) and the CompIDs.
const HEAD: usize = 10;

/// The fields at the beginning of a message that name its type and its session. The message is not decoded for these
/// fields.
#[derive(Clone, Copy, Debug)]
pub struct MessageHead<'a> {
    /// BeginString(8).
    pub begin_string: &'a [u8],
    /// MsgType(35).
    pub msg_type: &'a [u8],
    /// SenderCompID(49).
    pub sender: &'a [u8],
    /// TargetCompID(56).
    pub target: &'a [u8],
}

impl<'a> MessageHead<'a> {
    /// Finds the fields among the first ten of a message. `None` when BeginString(8) is not the first field, when one of
    /// the fields is missing there, and when a data field may come before them.
    #[must_use]
    pub fn of(message: &'a [u8]) -> Option<Self> {
        let mut rest = message;
        let mut next = move || {
            let (field, behind) = rest.split_at(end_of(rest));
            rest = behind.get(1..).unwrap_or_default();
            field
        };
        let begin_string = next().strip_prefix(b"8=")?;
        let [mut msg_type, mut sender, mut target] = [None; 3];
        for _ in 1..HEAD {
            match next() {
                [b'3', b'5', b'=', value @ ..] => msg_type = msg_type.or(Some(value)),
                [b'4', b'9', b'=', value @ ..] => sender = sender.or(Some(value)),
                [b'5', b'6', b'=', value @ ..] => target = target.or(Some(value)),
                // SecureDataLen(90) and XmlDataLen(212).
                [b'9', b'0', b'=', ..] | [b'2', b'1', b'2', b'=', ..] => return None,
                _ => continue,
            }
            if let (Some(msg_type), Some(sender), Some(target)) = (msg_type, sender, target) {
                return Some(Self {
                    begin_string,
                    msg_type,
                    sender,
                    target,
                });
            }
        }
        None
    }
}

impl<'a> LogEntry<'a> {
    /// The value of the first field with this tag that is inside the frame of the message. Finds data fields too.
    #[must_use]
    pub fn get(&self, tag: Tag) -> Option<&'a [u8]> {
        let mut text = [0; 12];
        let wanted = write_tag(tag, &mut text);
        let mut rest = self.bytes;
        while !rest.is_empty() {
            let end = end_of(rest);
            if let Some(value) = rest[..end].strip_prefix(wanted) {
                return Some(value);
            }
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        None
    }

    /// For the inbound message of a journal record, the messages that it caused. For a caused message, the inbound
    /// message.
    pub(crate) fn related(&self) -> impl Iterator<Item = &'a [u8]> {
        self.record.into_iter().flat_map(Batch::related)
    }

    /// The time at which the message was written, received or sent, and where that time comes from.
    #[must_use]
    pub fn time(&self) -> (Option<Timestamp>, TimeSource) {
        let (time, source) = self.plain_time();
        (
            time.map(|time| Timestamp(time.0.saturating_add(self.hints.shift))),
            source,
        )
    }

    fn plain_time(&self) -> (Option<Timestamp>, TimeSource) {
        if let Some((time, source)) = self.known_time {
            return (Some(time), source);
        }
        if !self.prefix.is_empty()
            && let Some(time) = prefix::moment(self.prefix, &mut self.hints.clock.borrow_mut())
        {
            return (Some(time), TimeSource::Line);
        }
        let sent = self.get(52).and_then(|text| Timestamp::parse(text).ok());
        match sent {
            Some(_) => (sent, TimeSource::SendingTime),
            None => (None, TimeSource::Missing),
        }
    }

    /// Direction of the message, if known. The CompIDs given in the options decide first, then the journal, then the
    /// name of the file, then the words before the message on its line.
    #[must_use]
    pub fn direction(&self) -> Option<Direction> {
        if self.hints.ours.is_empty() && self.known_direction.is_some() {
            return self.known_direction;
        }
        let sender = self.get(49).unwrap_or_default();
        let target = self.get(56).unwrap_or_default();
        let is_ours = |id: &[u8]| self.hints.ours.iter().any(|our| our == id);
        match (is_ours(sender), is_ours(target)) {
            (true, false) => return Some(Direction::Out),
            (false, true) => return Some(Direction::In),
            _ => {}
        }
        if self.known_direction.is_some() {
            return self.known_direction;
        }
        let words = || prefix::direction(self.prefix);
        let name = || self.hints.by_name(sender, target);
        self.hints.direction.or_else(name).or_else(words)
    }

    /// The session: `FIX.4.4:BROKER->CLIENT` with our CompID first; or, when the direction is unknown,
    /// `FIX.4.4:BROKER<>CLIENT` in alphabetical order.
    #[must_use]
    pub fn session(&self) -> String {
        // The session name in a journal begins with the side that wrote the journal.
        if let Some(name) = self.journal_session
            && self.direction() == self.known_direction
        {
            return name.to_owned();
        }
        let text = |tag| String::from_utf8_lossy(self.get(tag).unwrap_or_default());
        let (version, sender, target) = (text(8), text(49), text(56));
        match self.direction() {
            Some(Direction::Out) => format!("{version}:{sender}->{target}"),
            Some(Direction::In) => format!("{version}:{target}->{sender}"),
            None if sender <= target => format!("{version}:{sender}<>{target}"),
            None => format!("{version}:{target}<>{sender}"),
        }
    }
}

/// `tag=` as text.
fn write_tag(tag: Tag, text: &mut [u8; 12]) -> &[u8] {
    let mut at = text.len() - 1;
    text[at] = b'=';
    let mut rest = tag;
    loop {
        at -= 1;
        text[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            return &text[at..];
        }
    }
}
