//! [`LogReader`]: all sources, merged by time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::PathBuf;

use crate::entry::LogEntry;
use crate::index_choice::BlockChoice;
use crate::input::{LogInput, Step};
use crate::left_out::{LeftOut, LeftOuts};
use crate::open::{OpenMode, Opened, open, sources};
use crate::zone::LogZone;

/// Maximum number of files that are opened at the start. When there are more, each of the others is opened when its
/// first message is due.
const AWAKE: usize = 32;
/// Up to this number of sources, each may have a reading thread of its own.
const THREADS: usize = 4;
/// Total size of the read blocks of all files, bytes.
const BLOCKS: usize = 32 << 20;

/// Options for reading sources.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The zone that applies to times without a zone.
    pub zone: LogZone,
    /// Our CompIDs. Messages from them are outbound.
    pub ours: Vec<String>,
    /// Nanoseconds to add to the times of a file, by the file's path or name.
    pub shifts: Vec<(String, i64)>,
    /// Whether files and journals are followed. If so, the reader returns [`LogStep::Wait`] instead of
    /// [`LogStep::End`].
    pub follow: bool,
    /// Whether journal messages that were held because of a gap are returned a second time when the session processes
    /// them, with the mark `dequeued`.
    pub dequeued: bool,
    /// Whether the lives of orders are followed through the records of a journal. If so, no other thread reads the
    /// journal ahead.
    pub records: bool,
    /// Bytes that every wanted message contains, whatever its separator: `11=A1`. With a single plain text, messages
    /// without these bytes may be skipped, and lines without a message are not counted.
    pub needle: Option<Vec<u8>>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            zone: LogZone::utc(),
            ours: Vec::new(),
            shifts: Vec::new(),
            follow: false,
            dequeued: false,
            records: false,
            needle: None,
        }
    }
}

impl ReadOptions {
    pub(crate) fn shift_of(&self, file: &str) -> i64 {
        let name = file.rsplit('/').next();
        let mut shifts = self.shifts.iter();
        let found = shifts.find(|(of, _)| of == file || Some(of.as_str()) == name);
        found.map_or(0, |(_, shift)| *shift)
    }
}

/// Result of [`LogReader::next_step`].
#[derive(Debug)]
pub enum LogStep<'a> {
    /// The next message.
    Message(LogEntry<'a>),
    /// Nothing is available now. A followed source may have more later.
    Wait,
    /// All sources were read to the end.
    End,
}

/// A source.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LogSource {
    /// Path of the source, or `stdin`.
    pub file: String,
    /// Type of the source: `text`, `text, gzip`, `pcap`, `journal` and so on. Empty until the source is opened.
    pub kind: String,
    /// Messages found so far.
    pub messages: u64,
    /// For a text: the number of lines without a message. Blank lines do not count.
    pub other_lines: u64,
}

/// The messages of several sources, merged by time. Messages of one source keep their order.
pub struct LogReader {
    options: ReadOptions,
    choice: BlockChoice,
    lanes: Vec<Lane>,
    /// For each lane with a message: the time of the message, and the lane.
    heads: BinaryHeap<Reverse<(i64, usize)>>,
    /// Lanes that have no message now.
    waiting: Vec<usize>,
    /// The lane of the message that was returned last; `None` before the first message.
    current: Option<usize>,
    block: usize,
    left_out: LeftOuts,
}

struct Lane {
    path: PathBuf,
    input: Option<Box<dyn LogInput>>,
    /// The time of the lane's previous message.
    time: i64,
    source: LogSource,
}

impl LogReader {
    /// Opens files, folders, journals and standard input (`-`). Sources that cannot be read are reported as left out.
    ///
    /// # Errors
    ///
    /// A sentence that says which name in `shifts` is not the name of a source.
    pub fn open(paths: &[PathBuf], options: ReadOptions) -> Result<Self, String> {
        Self::open_blocks(paths, options, BlockChoice::default())
    }

    /// Like [`LogReader::open`]. In indexed logs, only those blocks are read that may have the ids of the search.
    ///
    /// # Errors
    ///
    /// See [`LogReader::open`].
    pub fn open_blocks(
        paths: &[PathBuf],
        options: ReadOptions,
        choice: BlockChoice,
    ) -> Result<Self, String> {
        let mut left_out = LeftOuts::default();
        let paths: Vec<PathBuf> = paths
            .iter()
            .flat_map(|path| sources(path, &mut left_out))
            .collect();
        let lanes = paths.into_iter().map(|path| Lane {
            source: LogSource {
                file: path.display().to_string(),
                kind: String::new(),
                messages: 0,
                other_lines: 0,
            },
            path,
            input: None,
            time: i64::MIN,
        });
        let lanes: Vec<Lane> = lanes.collect();
        for (of, _) in &options.shifts {
            let is_named = |lane: &Lane| {
                &lane.source.file == of || lane.source.file.rsplit('/').next() == Some(of)
            };
            if !lanes.iter().any(is_named) {
                return Err(format!(
                    "cannot shift the times of {of}: none of the files has this name"
                ));
            }
        }
        let mut reader = Self {
            block: (BLOCKS / lanes.len().max(1)).clamp(1 << 14, 1 << 20),
            options,
            choice,
            lanes,
            heads: BinaryHeap::new(),
            waiting: Vec::new(),
            current: None,
            left_out,
        };
        reader.begin();
        Ok(reader)
    }

    /// Finds the first message of each source.
    fn begin(&mut self) {
        let sleeps = self.lanes.len() > AWAKE && !self.options.follow;
        for lane in 0..self.lanes.len() {
            let told = self.left_out.mark();
            self.wake(lane);
            let is_head = self.advance(lane);
            let found = &mut self.lanes[lane];
            if sleeps && is_head && found.path.as_os_str() != "-" {
                // The source is read again from its start; what it leaves out is reported then.
                found.input = None;
                found.source.messages = 0;
                self.left_out.forget(told);
            }
        }
    }

    /// Opens the source of a lane.
    fn wake(&mut self, lane: usize) {
        let mode = OpenMode {
            block: self.block,
            ahead: self.lanes.len() <= THREADS,
            alone: self.lanes.len() == 1,
        };
        let found = &mut self.lanes[lane];
        let chosen = (&self.choice, &mut self.left_out);
        match open(&found.path, &self.options, mode, chosen) {
            Ok(Opened { kind, input }) => {
                found.source.kind = kind;
                found.input = Some(input);
            }
            Err(why) => self.left_out.push(LeftOut::whole(&found.source.file, why)),
        }
    }

    /// Advances to the next message of a lane; false when the lane has none now.
    fn advance(&mut self, lane: usize) -> bool {
        if self.step(lane) {
            self.heads.push(Reverse((self.lanes[lane].time, lane)));
            return true;
        }
        false
    }

    /// Like [`LogReader::advance`], but does not put the lane among the heads.
    fn step(&mut self, lane: usize) -> bool {
        let merges = self.lanes.len() > 1;
        let found = &mut self.lanes[lane];
        let Some(input) = &mut found.input else {
            return false;
        };
        match input.advance(&mut self.left_out) {
            Step::Message => {
                found.source.messages += 1;
                if let Some(before) = input.time_before().filter(|_| merges) {
                    found.time = found.time.max(before);
                }
                if merges && let (Some(time), _) = input.entry().time() {
                    // A line with an earlier time, or without a time, stays after the line before it.
                    found.time = found.time.max(time.0);
                }
                true
            }
            Step::Wait => {
                self.waiting.push(lane);
                false
            }
            Step::End => {
                found.source.other_lines = input.other_lines();
                found.input = None;
                false
            }
        }
    }

    /// The next message.
    pub fn next_step(&mut self) -> LogStep<'_> {
        if let Some(lane) = self.current.take() {
            self.advance(lane);
        }
        if self.heads.is_empty() {
            for lane in std::mem::take(&mut self.waiting) {
                self.advance(lane);
            }
        }
        while let Some(Reverse((_, lane))) = self.heads.pop() {
            if self.lanes[lane].input.is_none() {
                self.wake(lane);
                if !self.step(lane) {
                    continue;
                }
            }
            self.current = Some(lane);
            break;
        }
        let input = self
            .current
            .and_then(|lane| self.lanes[lane].input.as_ref());
        match input {
            Some(input) => LogStep::Message(input.entry()),
            None if self.waiting.is_empty() => LogStep::End,
            None => LogStep::Wait,
        }
    }

    /// Takes the list of parts that were left out since the last call. Beyond 10,000 parts, only their number is
    /// kept.
    pub fn take_left_out(&mut self) -> Vec<LeftOut> {
        self.left_out.take()
    }

    /// The sources, with what was read so far.
    #[must_use]
    pub fn sources(&self) -> Vec<LogSource> {
        self.lanes.iter().map(|lane| lane.source.clone()).collect()
    }
}
