//! The thread that reads logs for the list, and follows them.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use fixwire_reader::{LeftOut, LogEntry, LogPlace, LogReader, LogStep, TextPlaces};

use super::spots::{LogSpot, MOST_SPOOLED, MOST_SPOTS, ReadMessage, SpotSource, hash};
use crate::failure::Failure;
use crate::log::grep::Wanted;
use crate::log::sources::Sources;

/// Polling interval for new messages.
const LOOK: Duration = Duration::from_millis(100);
/// Number of positions in a full batch. A batch that has waited is sent before it is full.
const BATCH: usize = 4096;
const WAITED: Duration = Duration::from_millis(20);
/// Maximum number of batches that wait to be listed.
const AHEAD: usize = 16;

/// The messages that the thread has found since the last batch.
#[derive(Default)]
pub struct Batch {
    pub sources: Vec<SpotSource>,
    pub spots: Vec<LogSpot>,
    pub left_out: Vec<LeftOut>,
    /// Number of messages read so far.
    pub read: u64,
    pub state: ReadState,
}

/// The progress of reading.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ReadState {
    #[default]
    Reading,
    /// All messages are read. New messages will be added.
    Following,
    /// All messages are read. No new messages can be added.
    Ended,
    /// The list is full.
    Full,
}

/// Reads in a separate thread until this value is dropped.
pub struct LogReading {
    pub batches: Receiver<Batch>,
    pub spool: Option<File>,
    stopped: Arc<AtomicBool>,
}

impl Drop for LogReading {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

impl LogReading {
    /// Lists the messages that match a query, or all messages.
    pub fn start(
        sources: &Sources,
        query: &str,
        dictionary: Option<&str>,
    ) -> Result<Self, Failure> {
        let wanted = match query.trim() {
            "" => None,
            query => Some(query.to_owned()),
        };
        // An invalid query is reported at once.
        if let Some(query) = &wanted {
            Wanted::new(query, false, dictionary)?;
        }
        let stopped = Arc::new(AtomicBool::new(false));
        let (taken, batches) = sync_channel(AHEAD);
        let spool = tempfile::tempfile().ok();
        let of_thread = spool.as_ref().and_then(|spool| spool.try_clone().ok());
        let (sources, dictionary) = (sources.clone(), dictionary.map(str::to_owned));
        let flag = Arc::clone(&stopped);
        let read = move || {
            let Ok(reader) = sources.open(true) else {
                return;
            };
            let wanted = wanted.map(|query| Wanted::new(&query, false, dictionary.as_deref()));
            let lister = Lister {
                sources,
                wanted: wanted.and_then(Result::ok),
                stopped: flag,
                taken,
                batch: Batch::default(),
                since: Instant::now(),
                last: ReadState::Ended,
                listed: 0,
                known: HashMap::new(),
                next_source: 0,
                spool: of_thread,
                spooled: 0,
                bytes: Vec::new(),
            };
            lister.run(reader);
        };
        fixwire_threads::spawn("reading", read).map_err(Failure::thread)?;
        Ok(Self {
            batches,
            spool,
            stopped,
        })
    }
}

struct Lister {
    sources: Sources,
    wanted: Option<Wanted>,
    stopped: Arc<AtomicBool>,
    taken: SyncSender<Batch>,
    batch: Batch,
    since: Instant,
    /// The last reported state.
    last: ReadState,
    listed: usize,
    /// The source of each file, and the position of the file's last message.
    known: HashMap<String, KnownSource>,
    next_source: u32,
    spool: Option<File>,
    spooled: u64,
    bytes: Vec<u8>,
}

struct KnownSource {
    number: u32,
    is_spooled: bool,
    last: u64,
}

impl Lister {
    fn run(mut self, mut reader: LogReader) {
        loop {
            let state = match reader.next_step() {
                LogStep::Message(entry) => {
                    self.add(&entry);
                    ReadState::Reading
                }
                LogStep::Wait => ReadState::Following,
                LogStep::End => ReadState::Ended,
            };
            let is_full = self.listed >= MOST_SPOTS || self.spooled >= MOST_SPOOLED;
            let state = if is_full { ReadState::Full } else { state };
            let waited = self.batch.read.is_multiple_of(64) && self.since.elapsed() > WAITED;
            let has_most = self.batch.spots.len() >= BATCH;
            if has_most || waited || state != ReadState::Reading {
                self.batch.left_out = reader.take_left_out();
                if !self.hand_over(state) {
                    return;
                }
            }
            match state {
                ReadState::Reading => {}
                ReadState::Following => thread::sleep(LOOK),
                ReadState::Ended | ReadState::Full => return,
            }
        }
    }

    /// Sends the batch; returns false when the receiver has ended.
    fn hand_over(&mut self, state: ReadState) -> bool {
        if self.stopped.load(Ordering::Relaxed) {
            return false;
        }
        let Batch {
            spots, left_out, ..
        } = &self.batch;
        if state == self.last && spots.is_empty() && left_out.is_empty() {
            return true;
        }
        self.last = state;
        let read = self.batch.read;
        let mut batch = std::mem::take(&mut self.batch);
        (batch.state, self.batch.read) = (state, read);
        self.since = Instant::now();
        self.taken.send(batch).is_ok()
    }

    fn add(&mut self, entry: &LogEntry<'_>) {
        self.batch.read += 1;
        let wanted = self.wanted.as_mut();
        if !wanted.is_none_or(|wanted| wanted.wants(entry)) {
            return;
        }
        let (offset, line) = match entry.place {
            LogPlace::Text { offset, line } => (offset, line),
            _ => (u64::MAX, 0),
        };
        let (source, is_spooled) = self.source_of(entry.file, offset);
        let mut spot = LogSpot {
            offset,
            line,
            time: entry.time().0.map_or(i64::MIN, |time| time.0),
            id: entry.get(11).map_or(0, |id| hash(&[id])),
            number: number_of(entry),
            source,
            direction: entry.direction(),
        };
        if is_spooled {
            let Some(spool) = &self.spool else {
                return;
            };
            ReadMessage::of(entry).write(&mut self.bytes);
            // A message that cannot be spooled could not be shown again.
            if spool.write_all_at(&self.bytes, self.spooled).is_err() {
                self.spooled = MOST_SPOOLED;
                return;
            }
            spot.offset = self.spooled;
            self.spooled += self.bytes.len() as u64;
        }
        self.batch.spots.push(spot);
        self.listed += 1;
    }

    /// The index of a message's source, and whether it is new. If a position is before the last one of the same file,
    /// the file is a new file.
    fn source_of(&mut self, file: &str, offset: u64) -> (u32, bool) {
        if let Some(known) = self.known.get_mut(file)
            && (known.is_spooled || offset > known.last)
        {
            known.last = offset;
            return (known.number, known.is_spooled);
        }
        let options = self.sources.options(false);
        let text = TextPlaces::open(Path::new(file), &options);
        let is_spooled = !matches!(text, Ok(Some(_)));
        let number = self.next_source;
        self.next_source += 1;
        self.batch.sources.push(SpotSource {
            file: file.to_owned(),
            is_spooled,
        });
        let known = KnownSource {
            number,
            is_spooled,
            last: offset,
        };
        self.known.insert(file.to_owned(), known);
        (number, is_spooled)
    }
}

/// A hash of the sender and the MsgSeqNum(34).
fn number_of(entry: &LogEntry<'_>) -> u32 {
    let part = |tag| entry.get(tag).unwrap_or_default();
    hash(&[part(34), part(49), part(56)])
}
