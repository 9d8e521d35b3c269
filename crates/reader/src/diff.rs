//! [`LogDiff`]: compares the messages of one session in the logs of both of its sides.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use fixwire_protocol::readable::{Escaped, ReadableValue};
use fixwire_protocol::value::uint;
use fixwire_protocol::{Decoder, Message, Tag, Timestamp};

use crate::entry::LogEntry;
use crate::reader::{LogReader, LogStep};

/// Maximum number of bytes of messages that wait for their counterpart from the other side.
const MOST_WAITING: usize = 96 << 20;
/// Approximate memory of a waiting message in addition to its bytes.
const EACH: usize = 400;
/// Maximum number of findings that are kept; further findings are only counted.
const MOST_FINDINGS: usize = 10_000;
/// Two messages with the same MsgSeqNum belong to different sequences (one before a reset, one after) when their
/// SendingTimes differ by more than this. Nanoseconds.
const SAME: i64 = 60_000_000_000;
/// Maximum number of fields of a message.
const FIELDS: usize = 4096;

/// One of the two compared sides.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum DiffSide {
    /// The first side.
    A,
    /// The second side.
    B,
}

impl DiffSide {
    fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// A message of a side.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DiffMessage {
    /// File of the message.
    pub file: String,
    /// Position of the message in the file.
    pub place: String,
    /// Time of the message in the log; `None` when the log has no time for it.
    pub time: Option<Timestamp>,
    /// `CLIENT->BROKER`, printable.
    pub sender: String,
    /// MsgSeqNum(34).
    pub number: u64,
    /// MsgType(35), printable.
    pub msg_type: String,
    /// Whether PossDupFlag(43) is Y.
    pub is_duplicate: bool,
}

/// A field that differs. Values are printable, and secrets are masked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FieldDifference {
    /// Tag of the field; `None` when only the order of the fields differs.
    pub tag: Option<Tag>,
    /// Value of the field in A; `None` when A does not have the field.
    pub a: Option<String>,
    /// Value of the field in B; `None` when B does not have the field.
    pub b: Option<String>,
}

/// A difference between two sides.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum DiffFinding {
    /// The message is missing on the other side.
    Only(DiffSide, DiffMessage),
    /// Both sides have the message, with different fields.
    Differs(DiffMessage, DiffMessage, Vec<FieldDifference>),
}

impl DiffFinding {
    fn time(&self) -> Option<Timestamp> {
        match self {
            Self::Only(_, message) | Self::Differs(message, ..) => message.time,
        }
    }
}

#[derive(Clone, Debug)]
struct Waiting {
    key: u64,
    head: DiffMessage,
    sent: Option<i64>,
    bytes: Vec<u8>,
}

/// The waiting messages of one side.
#[derive(Clone, Debug, Default)]
struct Lane {
    /// The messages in the order of arrival.
    all: BTreeMap<u64, Waiting>,
    by_key: HashMap<u64, VecDeque<u64>>,
    next: u64,
    bytes: usize,
}

impl Lane {
    fn push(&mut self, waiting: Waiting) {
        self.bytes += waiting.bytes.len() + EACH;
        self.by_key
            .entry(waiting.key)
            .or_default()
            .push_back(self.next);
        self.all.insert(self.next, waiting);
        self.next += 1;
    }

    /// Takes the first message with this key for which `fits` is true, if any.
    fn take(&mut self, key: u64, fits: impl Fn(&Waiting) -> bool) -> Option<Waiting> {
        let ids = self.by_key.get_mut(&key)?;
        let at = ids.iter().position(|id| fits(&self.all[id]))?;
        let id = ids.remove(at)?;
        if ids.is_empty() {
            self.by_key.remove(&key);
        }
        let waiting = self.all.remove(&id)?;
        self.bytes -= waiting.bytes.len() + EACH;
        Some(waiting)
    }

    fn take_oldest(&mut self) -> Option<Waiting> {
        let (_, oldest) = self.all.first_key_value()?;
        let key = oldest.key;
        // The oldest message is also the oldest with its key.
        self.take(key, |_| true)
    }
}

/// Compares both sides of one session, or of several sessions.
pub struct LogDiff {
    /// Messages that both sides have with the same fields.
    pub same: u64,
    /// Messages that both sides have with different fields.
    pub different: u64,
    /// Messages that only A has, and messages that only B has.
    pub only: [u64; 2],
    /// Messages without a MsgSeqNum(34), which cannot be compared.
    pub unnumbered: u64,
    /// Messages that were counted as missing on the other side only because the memory for waiting messages ran out.
    pub given_up: u64,
    findings: Vec<DiffFinding>,
    ignored: Vec<Tag>,
    lanes: [Lane; 2],
    decoders: [Decoder; 2],
    most_waiting: usize,
}

impl LogDiff {
    /// A comparison in which fields with these tags may differ.
    #[must_use]
    pub fn new(ignored: Vec<Tag>) -> Self {
        Self {
            same: 0,
            different: 0,
            only: [0; 2],
            unnumbered: 0,
            given_up: 0,
            findings: Vec::new(),
            ignored,
            lanes: Default::default(),
            decoders: [(); 2].map(|()| Decoder::with_capacity(FIELDS)),
            most_waiting: MOST_WAITING,
        }
    }

    /// Sets the limit for the bytes of waiting messages.
    #[must_use]
    pub fn with_room(mut self, bytes: usize) -> Self {
        self.most_waiting = bytes;
        self
    }

    /// Reads both sides to the end. The next message is always read from the side whose time is earlier.
    pub fn read(&mut self, a: &mut LogReader, b: &mut LogReader) {
        // For each side: the latest time, and the number of messages.
        let mut progress = [(i64::MIN, 0_u64); 2];
        let mut is_open = [true; 2];
        while is_open != [false; 2] {
            let at = match is_open {
                [true, true] => usize::from(progress[1] < progress[0]),
                [first, _] => usize::from(!first),
            };
            let (side, reader) = match at {
                0 => (DiffSide::A, &mut *a),
                _ => (DiffSide::B, &mut *b),
            };
            match reader.next_step() {
                LogStep::Message(entry) => {
                    let (time, messages) = &mut progress[at];
                    *messages += 1;
                    if let (Some(now), _) = entry.time() {
                        *time = now.0.max(*time);
                    }
                    self.add(side, &entry);
                }
                LogStep::Wait | LogStep::End => is_open[at] = false,
            }
        }
        self.finish();
    }

    /// The differences, sorted by time; at most 10,000.
    #[must_use]
    pub fn findings(&self) -> &[DiffFinding] {
        &self.findings
    }

    /// Number of differences that are counted but not kept.
    #[must_use]
    pub fn more(&self) -> u64 {
        let all = self.different + self.only[0] + self.only[1];
        all - self.findings.len() as u64
    }

    fn add(&mut self, side: DiffSide, entry: &LogEntry<'_>) {
        if entry.mark == "dequeued" {
            return;
        }
        let Some(Ok(number)) = entry.get(34).map(uint) else {
            self.unnumbered += 1;
            return;
        };
        let [sender, target] = [49, 56].map(|tag| entry.get(tag).unwrap_or_default());
        let is_duplicate = entry.get(43) == Some(b"Y");
        let mut hasher = DefaultHasher::new();
        (sender, target, number, is_duplicate).hash(&mut hasher);
        let sent = entry.get(52).and_then(|text| Timestamp::parse(text).ok());
        let one = Waiting {
            key: hasher.finish(),
            head: DiffMessage {
                file: entry.file.to_owned(),
                place: entry.place.to_string(),
                time: entry.time().0,
                sender: format!("{}->{}", Escaped(sender), Escaped(target)),
                number,
                msg_type: Escaped(entry.get(35).unwrap_or_default()).to_string(),
                is_duplicate,
            },
            sent: sent.map(|sent| sent.0),
            bytes: entry.bytes.to_vec(),
        };
        let others = &mut self.lanes[side.other() as usize];
        let found = others
            .take(one.key, |other| other.bytes == one.bytes)
            .or_else(|| others.take(one.key, |other| other.sent == one.sent));
        match found {
            Some(other) => self.compare(side, one, other),
            None => self.lanes[side as usize].push(one),
        }
        while self.lanes[0].bytes + self.lanes[1].bytes > self.most_waiting {
            let side = match self.lanes[0].bytes < self.lanes[1].bytes {
                true => DiffSide::B,
                false => DiffSide::A,
            };
            if self.settle_oldest(side) {
                self.given_up += 1;
            }
        }
    }

    /// Compares the oldest waiting message of a side with its best match on the other side. Returns true when no
    /// message was waiting.
    fn settle_oldest(&mut self, side: DiffSide) -> bool {
        let Some(one) = self.lanes[side as usize].take_oldest() else {
            return false;
        };
        let is_near = |other: &Waiting| match (one.sent, other.sent) {
            (Some(one), Some(other)) => one.saturating_sub(other).saturating_abs() <= SAME,
            _ => true,
        };
        match self.lanes[side.other() as usize].take(one.key, is_near) {
            Some(other) => {
                self.compare(side, one, other);
                false
            }
            None => {
                self.only[side as usize] += 1;
                self.keep(DiffFinding::Only(side, one.head));
                true
            }
        }
    }

    fn finish(&mut self) {
        for side in [DiffSide::A, DiffSide::B] {
            while !self.lanes[side as usize].all.is_empty() {
                self.settle_oldest(side);
            }
        }
        self.findings.sort_by_key(DiffFinding::time);
    }

    fn compare(&mut self, side: DiffSide, one: Waiting, other: Waiting) {
        let (a, b) = match side {
            DiffSide::A => (one, other),
            DiffSide::B => (other, one),
        };
        if a.bytes == b.bytes {
            self.same += 1;
            return;
        }
        let [first, second] = &mut self.decoders;
        let fields = differences(
            &first.decode_whole(&a.bytes),
            &second.decode_whole(&b.bytes),
            &self.ignored,
        );
        if fields.is_empty() {
            self.same += 1;
        } else {
            self.different += 1;
            self.keep(DiffFinding::Differs(a.head, b.head, fields));
        }
    }

    fn keep(&mut self, finding: DiffFinding) {
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(finding);
        }
    }
}

/// The values of each tag, in the order of the message.
fn by_tag<'a>(message: &Message<'a>) -> BTreeMap<Tag, Vec<&'a [u8]>> {
    let mut all: BTreeMap<Tag, Vec<&[u8]>> = BTreeMap::new();
    for field in message.fields() {
        all.entry(field.tag)
            .or_default()
            .push(message.value(*field));
    }
    all
}

/// The values of one tag.
fn values<'a>(all: &BTreeMap<Tag, Vec<&'a [u8]>>, tag: Tag) -> Vec<&'a [u8]> {
    all.get(&tag).cloned().unwrap_or_default()
}

/// The fields that differ. BodyLength(9) and CheckSum(10) depend on the other fields, so they count only if no other
/// field differs.
fn differences(a: &Message<'_>, b: &Message<'_>, ignored: &[Tag]) -> Vec<FieldDifference> {
    let (of_a, of_b) = (by_tag(a), by_tag(b));
    let mut tags: Vec<Tag> = of_a.keys().chain(of_b.keys()).copied().collect();
    tags.sort_unstable();
    tags.dedup();
    let (mut found, mut of_frame, mut has_ignored) = (Vec::new(), Vec::new(), false);
    for tag in tags {
        let (of_a, of_b) = (values(&of_a, tag), values(&of_b, tag));
        if of_a == of_b {
            continue;
        }
        if ignored.contains(&tag) {
            has_ignored = true;
            continue;
        }
        let shown = |values: &[&[u8]], at: usize| {
            let value = values.get(at)?;
            Some(ReadableValue(tag, value).to_string())
        };
        let to = if matches!(tag, 9 | 10) {
            &mut of_frame
        } else {
            &mut found
        };
        for at in 0..of_a.len().max(of_b.len()) {
            if of_a.get(at) != of_b.get(at) {
                to.push(FieldDifference {
                    tag: Some(tag),
                    a: shown(&of_a, at),
                    b: shown(&of_b, at),
                });
            }
        }
    }
    if found.is_empty() && !has_ignored {
        found = of_frame;
        if found.is_empty() {
            found.push(FieldDifference {
                tag: None,
                a: None,
                b: None,
            });
        }
    }
    found
}
