//! [`BlockChoice`]: which blocks of an indexed log must be read.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::index_file::{IndexCursor, LogIndex};
use crate::index_key::{IdKind, numbered, pair, reference};
use crate::index_record::{BlockRecord, Omitted};

/// The ids of a search, and the indexes of logs. Clones share both. An id that is added during reading applies to the
/// blocks that follow.
#[derive(Clone, Default)]
pub struct BlockChoice {
    wanted: Arc<Mutex<Wanted>>,
    indexes: Arc<HashMap<PathBuf, LogIndex>>,
}

#[derive(Default)]
struct Wanted {
    keys: BTreeSet<u64>,
    /// Wanted MsgSeqNums by sender: the messages with a wanted MsgSeqNum, and the rejects of them.
    numbers: BTreeMap<u64, BTreeSet<u64>>,
    grew: bool,
}

impl std::fmt::Debug for BlockChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BlockChoice({} indexes)", self.indexes.len())
    }
}

impl BlockChoice {
    /// The same choice, with these indexes, by the path of the log.
    #[must_use]
    pub fn with_indexes(self, indexes: HashMap<PathBuf, LogIndex>) -> Self {
        Self {
            indexes: Arc::new(indexes),
            ..self
        }
    }

    /// Whether any log has an index.
    #[must_use]
    pub fn has_indexes(&self) -> bool {
        !self.indexes.is_empty()
    }

    /// Whether an id was added since the last call.
    pub fn take_grew(&self) -> bool {
        std::mem::take(&mut self.lock().grew)
    }

    pub(crate) fn add_id(&self, kind: IdKind, value: &[u8]) {
        let mut wanted = self.lock();
        wanted.grew |= wanted.keys.insert(kind.key(value));
    }

    /// Adds as wanted: the messages with this MsgSeqNum from this sender, and the rejects of them.
    pub(crate) fn add_number(&self, sender: &[u8], target: &[u8], number: u64) {
        let mut wanted = self.lock();
        let numbers = wanted.numbers.entry(pair(sender, target)).or_default();
        if numbers.insert(number) {
            let key = reference(number, pair(target, sender));
            wanted.keys.insert(key);
            wanted.grew = true;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wants(&self, record: &BlockRecord) -> bool {
        let wanted = self.lock();
        if wanted.keys.iter().any(|key| record.may_have(*key)) {
            return true;
        }
        if record.senders.is_empty() {
            let numbers = wanted.numbers.iter();
            let mut all = numbers.flat_map(|(pair, all)| all.iter().map(move |it| (*it, *pair)));
            return all.any(|(number, pair)| record.may_have(numbered(number, pair)));
        }
        record.senders.iter().any(|(pair, low, high)| {
            let numbers = wanted.numbers.get(pair);
            numbers.is_some_and(|numbers| numbers.range(low..=high).next().is_some())
        })
    }

    /// The plan for a log with an index; `None` for other logs.
    pub(crate) fn plan(&self, path: &Path) -> Option<BlockPlan> {
        let cursor = self.indexes.get(path)?.cursor(path)?;
        Some(BlockPlan {
            choice: self.clone(),
            cursor: Some(cursor),
            before: None,
        })
    }
}

/// The blocks of one log, from its start.
pub(crate) struct BlockPlan {
    choice: BlockChoice,
    cursor: Option<IndexCursor>,
    /// The latest time of the blocks before the next one; `None` when no block had a time.
    before: Option<i64>,
}

/// A block that must be read, or the part of the log after the last block.
pub(crate) struct PlannedBlock {
    pub(crate) start: u64,
    /// The line number of the first byte.
    pub(crate) line: u64,
    /// The end of the block; `None` for the part after the last block.
    pub(crate) end: Option<u64>,
    /// The latest time of all earlier blocks; `None` when no earlier block has a time.
    pub(crate) before: Option<i64>,
    /// Parts in the skipped blocks that were left out when the index was built.
    pub(crate) left_out: Vec<Omitted>,
}

impl BlockPlan {
    /// The next block that must be read; `None` at the end of the log.
    pub(crate) fn next(&mut self) -> Option<PlannedBlock> {
        let cursor = self.cursor.as_mut()?;
        let mut left_out = Vec::new();
        loop {
            let (start, line) = cursor.covered();
            let record = cursor.next();
            let is_read = record.is_none_or(|record| self.choice.wants(record));
            let end = record.map(|record| record.end);
            let before = self.before;
            if let Some((_, last)) = record.and_then(|record| record.times) {
                self.before = self.before.max(Some(last));
            }
            if is_read {
                if end.is_none() {
                    self.cursor = None;
                }
                return Some(PlannedBlock {
                    start,
                    line,
                    end,
                    before,
                    left_out,
                });
            }
            left_out.extend(record.into_iter().flat_map(|record| &record.left_out));
        }
    }
}
