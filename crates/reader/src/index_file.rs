//! [`LogIndex`]: an index read from its file, after it was compared with its log.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::index_key::hash;
use crate::index_record::{BlockRecord, HEADER, IndexHeader, LONGEST, LogState};

/// Number of bytes at the end of a block that are compared.
const TAIL: usize = 256;
/// Number of blocks that are compared.
const SAMPLES: usize = 16;

/// An index that belongs to its log in its present state.
#[derive(Debug)]
pub struct LogIndex {
    pub(crate) path: PathBuf,
    header: IndexHeader,
    /// Number of log bytes that the index covers, and the line number after them.
    pub(crate) covered: (u64, u64),
    pub(crate) blocks: u64,
    /// Number of valid bytes in the index file, and the checksum with which the next record continues.
    pub(crate) valid: u64,
    pub(crate) sum: u64,
    state: LogState,
    times: Option<(i64, i64)>,
    /// All records of the index; empty when there was no memory for them.
    kept: Arc<[BlockRecord]>,
}

impl LogIndex {
    /// Number of log bytes that the index covers.
    #[must_use]
    pub fn covered(&self) -> u64 {
        self.covered.0
    }

    /// The earliest and the latest time of the messages in the log; `None` when no message has a time.
    #[must_use]
    pub fn times(&self) -> Option<(i64, i64)> {
        self.times
    }

    /// An index without blocks.
    pub(crate) fn empty(path: PathBuf, header: IndexHeader) -> Self {
        Self {
            path,
            header,
            covered: (0, 1),
            blocks: 0,
            valid: HEADER as u64,
            sum: header.sum(),
            state: LogState::default(),
            times: None,
            kept: Arc::default(),
        }
    }

    /// Reads an index and compares it with its log. Keeps the records in memory when they fit into `room` bytes.
    pub(crate) fn read(
        path: &Path,
        header: IndexHeader,
        log: &File,
        state: LogState,
        room: &mut u64,
    ) -> Option<Self> {
        let mut index = Self::empty(path.to_owned(), header);
        index.valid = u64::MAX;
        let mut reader = IndexReader::open(&index)?;
        let mut tails = Vec::new();
        let mut kept = Vec::new();
        while let Some(record) = reader.next() {
            tails.push((record.end, record.tail));
            index.state = record.state;
            if let Some((first, last)) = record.times {
                let times = index.times.get_or_insert((first, last));
                *times = (times.0.min(first), times.1.max(last));
            }
            if reader.read <= *room {
                kept.push(record);
            } else {
                kept = Vec::new();
            }
        }
        let (last, _) = *tails.last()?;
        let was = index.state;
        let is_same = was.size != state.size || was.modified == state.modified;
        let step = tails.len().div_ceil(SAMPLES);
        let mut samples = tails.iter().rev().step_by(step);
        let fits = samples.all(|(end, tail)| tail_of(log, *end).ok() == Some(*tail));
        if was.size > state.size || last > state.size || !is_same || !fits {
            return None;
        }
        index.blocks = tails.len() as u64;
        (index.covered, index.valid, index.sum) = (reader.covered, reader.read, reader.sum);
        if !kept.is_empty() {
            *room -= reader.read;
            index.kept = kept.into();
        }
        Some(index)
    }

    /// The records of the index, if the path still leads to the same log.
    pub(crate) fn cursor(&self, log: &Path) -> Option<IndexCursor> {
        let facts = fs::metadata(log).ok()?;
        let is_same = (facts.dev(), facts.ino()) == (self.header.device, self.header.inode);
        if !is_same || facts.len() < self.covered.0 {
            return None;
        }
        if !self.kept.is_empty() {
            let records = Arc::clone(&self.kept);
            return Some(IndexCursor::Kept { records, passed: 0 });
        }
        let reader = Box::new(IndexReader::open(self)?);
        Some(IndexCursor::File {
            reader,
            record: Box::default(),
        })
    }
}

/// The records of an index.
pub(crate) enum IndexCursor {
    Kept {
        records: Arc<[BlockRecord]>,
        passed: usize,
    },
    File {
        reader: Box<IndexReader>,
        /// The last record.
        record: Box<BlockRecord>,
    },
}

impl IndexCursor {
    /// End position of the block of the last record, and the line number there.
    pub(crate) fn covered(&self) -> (u64, u64) {
        match self {
            Self::Kept { records, passed } => {
                let last = passed.checked_sub(1).map(|at| &records[at]);
                last.map_or((0, 1), |record| (record.end, record.line))
            }
            Self::File { reader, .. } => reader.covered,
        }
    }

    pub(crate) fn next(&mut self) -> Option<&BlockRecord> {
        match self {
            Self::Kept { records, passed } => {
                let record = records.get(*passed)?;
                *passed += 1;
                Some(record)
            }
            Self::File { reader, record } => {
                **record = reader.next()?;
                Some(record)
            }
        }
    }
}

/// Reads the records of an index, up to the first damaged record.
pub(crate) struct IndexReader {
    file: BufReader<File>,
    /// End position of the block of the last record, and the line number there.
    covered: (u64, u64),
    sum: u64,
    read: u64,
    valid: u64,
    bytes: Vec<u8>,
}

impl IndexReader {
    fn open(index: &LogIndex) -> Option<Self> {
        let mut file = BufReader::with_capacity(1 << 18, File::open(&index.path).ok()?);
        let mut header = [0; HEADER];
        file.read_exact(&mut header).ok()?;
        (header == index.header.bytes()).then(|| Self {
            file,
            covered: (0, 1),
            sum: index.header.sum(),
            read: HEADER as u64,
            valid: index.valid,
            bytes: Vec::new(),
        })
    }

    fn next(&mut self) -> Option<BlockRecord> {
        let record = self.read_next();
        if record.is_none() {
            self.valid = 0;
        }
        record
    }

    fn read_next(&mut self) -> Option<BlockRecord> {
        if self.read >= self.valid {
            return None;
        }
        let mut len = [0; 4];
        self.file.read_exact(&mut len).ok()?;
        let whole = u32::from_le_bytes(len) as usize;
        if whole > LONGEST {
            return None;
        }
        self.bytes.clear();
        self.bytes.extend_from_slice(&len);
        let rest = whole as u64 + 8;
        let mut file = Read::take(&mut self.file, rest);
        if file.read_to_end(&mut self.bytes).ok()? as u64 != rest {
            return None;
        }
        let (record, sum) = self.bytes.split_at(whole + 4);
        let expected = hash(self.sum, record);
        if sum != expected.to_le_bytes() {
            return None;
        }
        let record = BlockRecord::read(&record[4..])?;
        self.sum = expected;
        self.covered = (record.end, record.line);
        self.read += rest + 4;
        Some(record)
    }
}

/// The hash of the last bytes of a block.
pub(crate) fn tail_of(log: &File, end: u64) -> io::Result<u64> {
    let mut tail = [0; TAIL];
    let len = TAIL.min(end as usize);
    let filled = read_at_most(log, &mut tail[..len], end - len as u64)?;
    Ok(hash(0, &tail[..filled]))
}

pub(crate) fn read_at_most(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < into.len() {
        match file.read_at(&mut into[filled..], at + filled as u64)? {
            0 => break,
            more => filled += more,
        }
    }
    Ok(filled)
}
