//! Positions of the listed messages. Also reads the listed messages again.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use fixwire::journal::Direction;
use fixwire_protocol::Timestamp;
use fixwire_protocol::readable::masked;
use fixwire_reader::{LogEntry, LogPlace, ReadOptions, TextPlaces};

/// Maximum number of messages in a list.
pub const MOST_SPOTS: usize = 3_000_000;
/// Maximum number of bytes spooled to a file, for packed logs, captures and journals.
pub const MOST_SPOOLED: u64 = 1 << 30;
/// Number of positions in a chunk.
const CHUNK: usize = 1 << 16;

/// The position of a message.
#[derive(Clone, Copy, Debug)]
pub struct LogSpot {
    /// Offset in the log, or in the spool.
    pub offset: u64,
    pub line: u64,
    /// The time of the message; `i64::MIN` if it has none.
    pub time: i64,
    /// Hash of ClOrdID(11), and hash of sender and MsgSeqNum(34); 0 without one.
    pub id: u32,
    pub number: u32,
    /// Index of the message's source.
    pub source: u32,
    pub direction: Option<Direction>,
}

/// A source of messages.
#[derive(Clone, Debug)]
pub struct SpotSource {
    pub file: String,
    /// Whether the source's messages are in the spool, because the source has no random access.
    pub is_spooled: bool,
}

/// A list that is not copied when it grows.
#[derive(Default)]
pub struct Spots {
    chunks: Vec<Vec<LogSpot>>,
}

impl Spots {
    pub fn len(&self) -> usize {
        let last = self.chunks.last().map_or(0, Vec::len);
        self.chunks.len().saturating_sub(1) * CHUNK + last
    }

    pub fn push(&mut self, spot: LogSpot) {
        if self.chunks.last().is_none_or(|last| last.len() == CHUNK) {
            self.chunks.push(Vec::with_capacity(CHUNK));
        }
        if let Some(last) = self.chunks.last_mut() {
            last.push(spot);
        }
    }

    pub fn get(&self, at: usize) -> Option<&LogSpot> {
        self.chunks.get(at / CHUNK)?.get(at % CHUNK)
    }
}

/// A message that was read again.
#[derive(Clone, Debug, Default)]
pub struct ReadMessage {
    pub place: String,
    pub session: String,
    /// The journal's facts about the message, and the errors of its frame.
    pub marks: String,
    /// Bytes of the message, with secrets masked.
    pub bytes: Vec<u8>,
}

impl ReadMessage {
    pub fn of(entry: &LogEntry<'_>) -> Self {
        let place = match entry.place {
            LogPlace::Text { line, .. } => line.to_string(),
            place => place.to_string(),
        };
        let mut marks = String::new();
        if !entry.mark.is_empty() {
            marks += &format!("[{}] ", entry.mark);
        }
        if let Some(fault) = entry.fault {
            marks += &format!("[{fault}] ");
        }
        Self {
            place: format!("{}:{place}", entry.file),
            session: entry.session(),
            marks,
            bytes: masked(entry.bytes),
        }
    }

    /// Writes the message in the form of the spool: three texts and the message, each after its length.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        for part in [
            self.place.as_bytes(),
            self.session.as_bytes(),
            self.marks.as_bytes(),
            &self.bytes,
        ] {
            out.extend_from_slice(&(part.len() as u32).to_le_bytes());
            out.extend_from_slice(part);
        }
    }

    fn read(spool: &File, mut at: u64) -> io::Result<Self> {
        let mut part = || {
            let mut len = [0; 4];
            spool.read_exact_at(&mut len, at)?;
            let mut bytes = vec![0; u32::from_le_bytes(len) as usize];
            spool.read_exact_at(&mut bytes, at + 4)?;
            at += 4 + bytes.len() as u64;
            io::Result::Ok(bytes)
        };
        let mut text = || Ok::<_, io::Error>(String::from_utf8_lossy(&part()?).into_owned());
        let (place, session, marks) = (text()?, text()?, text()?);
        Ok(Self {
            place,
            session,
            marks,
            bytes: part()?,
        })
    }
}

/// Reads messages again.
pub struct Places {
    options: ReadOptions,
    pub sources: Vec<SpotSource>,
    texts: HashMap<u32, Option<TextPlaces>>,
    pub spool: Option<File>,
}

impl Places {
    pub fn new(options: ReadOptions) -> Self {
        Self {
            options,
            sources: Vec::new(),
            texts: HashMap::new(),
            spool: None,
        }
    }

    /// Removes all sources, for another list.
    pub fn clear(&mut self) {
        self.sources.clear();
        self.texts.clear();
        self.spool = None;
    }

    /// Adds a source and opens its file, so that a new file of the same name is not read instead.
    pub fn add(&mut self, source: SpotSource) {
        if !source.is_spooled {
            let text = TextPlaces::open(Path::new(&source.file), &self.options);
            let at = self.sources.len() as u32;
            self.texts.insert(at, text.ok().flatten());
        }
        self.sources.push(source);
    }

    /// The message at this position; `None` when the file no longer has the message.
    pub fn read(&mut self, spot: &LogSpot) -> Option<ReadMessage> {
        let source = self.sources.get(spot.source as usize)?;
        if source.is_spooled {
            return ReadMessage::read(self.spool.as_ref()?, spot.offset).ok();
        }
        let text = self.texts.get_mut(&spot.source)?.as_mut()?;
        text.read(spot.offset, spot.line, ReadMessage::of)
    }
}

/// The time of a spot; `None` if it has none.
pub fn time_of(spot: &LogSpot) -> Option<Timestamp> {
    (spot.time != i64::MIN).then_some(Timestamp(spot.time))
}

/// An FNV-1a hash that is never 0.
pub fn hash(parts: &[&[u8]]) -> u32 {
    let bytes = parts.iter().flat_map(|part| part.iter().chain([&1]));
    let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    });
    hash.max(1)
}
