//! A message, with all that its source says of it.

use std::cell::RefCell;
use std::fmt;

use fixwire_journal::Direction;
use fixwire_protocol::{Garbled, Tag, Timestamp};

use crate::field::end_of;
use crate::journal::Batch;
use crate::prefix;
use crate::zone::Clock;

/// Where a message is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LogPlace {
    /// In a text.
    Text {
        /// Its first byte; of a packed file, in what it unpacks to.
        offset: u64,
        /// Its line, from 1.
        line: u64,
    },
    /// In a journal.
    Journal {
        /// The segment of its record.
        segment: u32,
        /// The byte of the record there.
        offset: u32,
    },
    /// In a capture.
    Packet {
        /// The packet that completed it, from 1.
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

/// Where the time of a message is from.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum TimeSource {
    /// The line of the log.
    Line,
    /// SendingTime(52) of the message.
    SendingTime,
    /// The capture: when the packet that completed it passed.
    Capture,
    /// The journal: when its record was written.
    Journal,
    /// There is no time.
    Missing,
}

impl TimeSource {
    /// Its name.
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
    /// The path as it was given, or that of a file in a folder; `stdin`.
    pub file: &'a str,
    /// Where it is there.
    pub place: LogPlace,
    /// The message as it was sent, with SOH behind each field.
    pub bytes: &'a [u8],
    /// What is wrong with its frame.
    pub fault: Option<Garbled>,
    /// The name of its session in a journal.
    pub journal_session: Option<&'a str>,
    /// What a journal says of it: queued, duplicate, ignored, dequeued, resent, gap fill.
    pub mark: &'static str,
    pub(crate) known_direction: Option<Direction>,
    pub(crate) known_time: Option<(Timestamp, TimeSource)>,
    pub(crate) prefix: &'a [u8],
    pub(crate) hints: &'a Hints,
    /// The record of a journal that it is in.
    pub(crate) record: Option<&'a Batch>,
}

impl fmt::Debug for LogEntry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.place)
    }
}

/// Senders and targets that are remembered.
const MOST_NAMED: usize = 16;

/// What the name of a file says of a sender and a target.
struct NamedEnds {
    ends: [Vec<u8>; 2],
    direction: Option<Direction>,
}

/// What is known of all messages of a file.
pub(crate) struct Hints {
    /// Our CompIDs.
    pub(crate) ours: Vec<Vec<u8>>,
    /// The file's name without its folders.
    pub(crate) name: String,
    /// The direction that the end of its name says.
    pub(crate) direction: Option<Direction>,
    pub(crate) clock: RefCell<Clock>,
    /// Nanoseconds to add to every time.
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
        // FIX Antenna writes NAME.in and NAME.out, and numbers behind it.
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

    /// What a file's name `FIX.4.4-BROKER-CLIENT.messages.current.log` says: it is ours if we are BROKER.
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

impl<'a> LogEntry<'a> {
    /// The value of the first field with this tag, if it is in the frame of the message. Values of data fields
    /// are not passed over.
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

    /// Of a message that came in by a record of a journal, what it caused; of what it caused, the message.
    pub(crate) fn related(&self) -> impl Iterator<Item = &'a [u8]> {
        self.record.into_iter().flat_map(Batch::related)
    }

    /// When it was written, received or sent, and where that is from.
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

    /// Which way it went, as far as that is known. What was said to be ours comes first, then what the journal
    /// says, of whoever wrote it.
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

    /// The session: `FIX.4.4:BROKER->CLIENT`, ours first, or `FIX.4.4:BROKER<>CLIENT` in the order of the
    /// alphabet when the direction is not known.
    #[must_use]
    pub fn session(&self) -> String {
        // The journal's name has the side first that wrote it.
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
