//! [`AheadInput`]: a source that a thread of its own reads and frames, some messages ahead of the reader.
//!
//! ```text
//!   thread   advance > copy into a batch --full--> channel ---> batch   whoever looks at the messages
//!                            ^                                    |
//!                            +----------- empty, used again ------+
//! ```

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use fixwire_journal::Direction;
use fixwire_protocol::{Garbled, Timestamp};

use crate::entry::{Hints, LogEntry, LogPlace, TimeSource};
use crate::input::{LogInput, Step};
use crate::left_out::{LeftOut, LeftOuts};

/// Approximate number of bytes of a batch.
const BYTES: usize = 256 << 10;
/// Approximate number of messages of a batch.
const MESSAGES: usize = 1024;
/// Maximum number of waiting batches.
const WAITING: usize = 2;

/// A source whose messages come in batches.
pub(crate) struct AheadInput {
    file: String,
    hints: Hints,
    batches: Receiver<AheadBatch>,
    used: Sender<AheadBatch>,
    thread: Option<JoinHandle<()>>,
    batch: AheadBatch,
    /// Number of messages of the batch that were taken, and number of skipped parts of the batch that were reported.
    passed: usize,
    told: usize,
    names: Vec<String>,
}

/// Messages one after another. Each is preceded by the text that comes before it on its line.
#[derive(Default)]
struct AheadBatch {
    bytes: Vec<u8>,
    items: Vec<AheadItem>,
    left_out: Vec<LeftOut>,
    /// Names of new sessions.
    names: Vec<String>,
    /// Set when the source has ended: the number of lines without a message.
    end: Option<u64>,
}

struct AheadItem {
    place: LogPlace,
    /// The position after the message in the source, and the line number there.
    end: (u64, u64),
    /// Start and end of the message in the batch.
    message: (usize, usize),
    /// Start of the text before the message on its line.
    prefix: usize,
    fault: Option<Garbled>,
    session: Option<usize>,
    mark: &'static str,
    direction: Option<Direction>,
    time: Option<(Timestamp, TimeSource)>,
    /// Number of skipped parts of the batch that come before the message.
    left_out: usize,
}

impl AheadInput {
    /// Reads a source in a thread of its own; `hints` are the hints of the source.
    ///
    /// # Errors
    ///
    /// The thread could not be started.
    pub(crate) fn start(
        file: String,
        hints: Hints,
        input: Box<dyn LogInput>,
    ) -> Result<Self, String> {
        let (full, batches) = sync_channel(WAITING);
        let (used, empty) = channel();
        let thread = fixwire_threads::spawn("reads", move || read(input, &full, &empty))
            .map_err(|error| format!("cannot start a thread that reads it: {error}"))?;
        Ok(Self {
            file,
            hints,
            batches,
            used,
            thread: Some(thread),
            batch: AheadBatch::default(),
            passed: 0,
            told: 0,
            names: Vec::new(),
        })
    }

    /// Reports the skipped parts of the batch that come before this message.
    fn tell(&mut self, until: usize, left_out: &mut LeftOuts) {
        while self.told < until {
            left_out.push(self.batch.left_out[self.told].clone());
            self.told += 1;
        }
    }

    fn next_batch(&mut self) -> bool {
        let Ok(batch) = self.batches.recv() else {
            // Without a last batch, the thread can only have ended by a panic.
            if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
                resume_unwind(panic);
            }
            return false;
        };
        let mut used = std::mem::replace(&mut self.batch, batch);
        used.clear();
        // Sending fails only when the thread has ended; then the buffer is not needed.
        let _ = self.used.send(used);
        self.names.append(&mut self.batch.names);
        (self.passed, self.told) = (0, 0);
        true
    }

    fn item(&self) -> &AheadItem {
        &self.batch.items[self.passed - 1]
    }
}

impl AheadBatch {
    fn clear(&mut self) {
        self.items.clear();
        self.left_out.clear();
        self.end = None;
        // Do not keep this much memory after one long message.
        if self.bytes.capacity() > 4 * BYTES {
            self.bytes = Vec::new();
        }
        self.bytes.clear();
    }

    fn add(&mut self, input: &dyn LogInput, names: &mut Vec<String>, last: &mut usize) {
        let entry = input.entry();
        let prefix = self.bytes.len();
        self.bytes.extend_from_slice(entry.prefix);
        let start = self.bytes.len();
        self.bytes.extend_from_slice(entry.bytes);
        let session = entry.journal_session.map(|name| {
            if names.get(*last).map(String::as_str) != Some(name) {
                let known = names.iter().position(|known| known == name);
                *last = known.unwrap_or_else(|| {
                    names.push(name.to_owned());
                    self.names.push(name.to_owned());
                    names.len() - 1
                });
            }
            *last
        });
        self.items.push(AheadItem {
            place: entry.place,
            end: input.end(),
            message: (start, self.bytes.len()),
            prefix,
            fault: entry.fault,
            session,
            mark: entry.mark,
            direction: entry.known_direction,
            time: entry.known_time,
            left_out: self.left_out.len(),
        });
    }
}

/// The loop of the thread. The loop ends when the source ends or the reader is dropped.
fn read(mut input: Box<dyn LogInput>, full: &SyncSender<AheadBatch>, empty: &Receiver<AheadBatch>) {
    let mut left_out = LeftOuts::default();
    let (mut names, mut last) = (Vec::new(), 0);
    loop {
        let mut batch = empty.try_recv().unwrap_or_default();
        while batch.items.len() < MESSAGES && batch.bytes.len() < BYTES {
            let step = input.advance(&mut left_out);
            batch.left_out.append(&mut left_out.take());
            if step != Step::Message {
                batch.end = Some(input.other_lines());
                break;
            }
            batch.add(&*input, &mut names, &mut last);
        }
        let is_last = batch.end.is_some();
        if full.send(batch).is_err() || is_last {
            return;
        }
    }
}

impl LogInput for AheadInput {
    fn advance(&mut self, left_out: &mut LeftOuts) -> Step {
        loop {
            if let Some(item) = self.batch.items.get(self.passed) {
                let until = item.left_out;
                self.passed += 1;
                self.tell(until, left_out);
                return Step::Message;
            }
            self.tell(self.batch.left_out.len(), left_out);
            if self.batch.end.is_some() || !self.next_batch() {
                return Step::End;
            }
        }
    }

    fn entry(&self) -> LogEntry<'_> {
        let item = self.item();
        let (start, end) = item.message;
        LogEntry {
            file: &self.file,
            place: item.place,
            bytes: &self.batch.bytes[start..end],
            fault: item.fault,
            journal_session: item.session.map(|at| self.names[at].as_str()),
            mark: item.mark,
            known_direction: item.direction,
            known_time: item.time,
            prefix: &self.batch.bytes[item.prefix..start],
            hints: &self.hints,
            record: None,
        }
    }

    fn other_lines(&self) -> u64 {
        self.batch.end.unwrap_or_default()
    }

    fn end(&self) -> (u64, u64) {
        self.item().end
    }
}
