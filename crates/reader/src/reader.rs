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

/// Maximum number of files opened at the start; of more, each is opened when its first message is due.
const AWAKE: usize = 32;
/// Maximum number of sources for each to get a reading thread of its own.
const THREADS: usize = 4;
/// Bytes of the blocks of all files.
const BLOCKS: usize = 32 << 20;

/// Options for reading sources.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The zone for times without one.
    pub zone: LogZone,
    /// Our CompIDs: their messages are outbound.
    pub ours: Vec<String>,
    /// Nanoseconds to add to the times of a file, by its path or name.
    pub shifts: Vec<(String, i64)>,
    /// Whether files and journals are followed: [`LogStep::Wait`] instead of [`LogStep::End`].
    pub follow: bool,
    /// Whether journal messages held for a gap are passed on a second time when they are processed, with the mark
    /// `dequeued`.
    pub dequeued: bool,
    /// Bytes in every wanted message, whatever the separator: `11=A1`. In a single plain text, messages without them
    /// may be skipped, and lines without a message are not counted.
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
    /// Nothing now; a followed source may have more later.
    Wait,
    /// All sources are read.
    End,
}

/// A source.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LogSource {
    /// Path of the source, or `stdin`.
    pub file: String,
    /// Type of the source: `text`, `text, gzip`, `pcap`, `journal` and so on; empty until it is opened.
    pub kind: String,
    /// Messages found so far.
    pub messages: u64,
    /// In a text, the number of lines without a message, excluding blank ones.
    pub other_lines: u64,
}

/// Messages of several sources in the order of their times. Within a source they keep their order.
pub struct LogReader {
    options: ReadOptions,
    choice: BlockChoice,
    lanes: Vec<Lane>,
    /// The time of the next message of a lane, and the lane.
    heads: BinaryHeap<Reverse<(i64, usize)>>,
    /// Lanes without a message now.
    waiting: Vec<usize>,
    /// The lane of the last message returned; `None` before the first message.
    current: Option<usize>,
    block: usize,
    left_out: LeftOuts,
}

struct Lane {
    path: PathBuf,
    input: Option<Box<dyn LogInput>>,
    /// The time of its previous message.
    time: i64,
    source: LogSource,
}

impl LogReader {
    /// Opens files, folders, journals and standard input (`-`). Unreadable ones are left out.
    ///
    /// # Errors
    ///
    /// A sentence when `shifts` names a file that is not a source.
    pub fn open(paths: &[PathBuf], options: ReadOptions) -> Result<Self, String> {
        Self::open_blocks(paths, options, BlockChoice::default())
    }

    /// Like [`LogReader::open`]; reads only those blocks of indexed logs that may have the ids of the search.
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
                // It is read again from its start, and then reports what it leaves out.
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

    /// Advances to the next message of a lane; false at its end.
    fn advance(&mut self, lane: usize) -> bool {
        if self.step(lane) {
            self.heads.push(Reverse((self.lanes[lane].time, lane)));
            return true;
        }
        false
    }

    /// Like [`LogReader::advance`], without putting the lane among the heads.
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
                    // A line with an earlier time, or without one, stays after the previous line.
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

    /// Takes the parts left out since the last call; beyond 10,000 only their number.
    pub fn take_left_out(&mut self) -> Vec<LeftOut> {
        self.left_out.take()
    }

    /// The sources, as far as they have been read.
    #[must_use]
    pub fn sources(&self) -> Vec<LogSource> {
        self.lanes.iter().map(|lane| lane.source.clone()).collect()
    }
}
