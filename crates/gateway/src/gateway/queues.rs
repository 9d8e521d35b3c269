//! `Queues`: many first-in first-out queues of records that share one memory limit.
//!
//! ```text
//! row 0   block 7 > block 2 > block 9     a record continues in the next block
//! row 3   block 4
//! free    block 1 > block 5               allocated once, reused
//! ```
//!
//! A record is a mark (one byte that may change), a length, and that number of bytes.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::orders::HeldAt;

/// Bytes of records per block.
const DATA: usize = 4096 - size_of::<u32>();
/// Memory of a block and its pointer, in bytes.
const BLOCK: usize = size_of::<Block>() + size_of::<Box<Block>>();
/// Length of a record's mark and length, in bytes.
const HEAD: usize = 1 + size_of::<u32>();
/// Means: no block.
const NONE: u32 = u32::MAX;
/// The mark of a cancelled record.
pub(super) const CANCELLED: u8 = b'x';

struct Block {
    next: u32,
    data: [u8; DATA],
}

/// Position of a byte in the blocks; the position after the last byte of a block is the first byte of the next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Place {
    block: u32,
    at: usize,
}

impl From<Place> for HeldAt {
    fn from(place: Place) -> Self {
        Self {
            block: place.block,
            at: place.at as u16,
        }
    }
}

impl From<HeldAt> for Place {
    fn from(held: HeldAt) -> Self {
        Self {
            block: held.block,
            at: held.at.into(),
        }
    }
}

/// One queue.
#[derive(Clone, Copy)]
struct Row {
    first: Place,
    end: Place,
    /// The last block.
    last: u32,
    records: u64,
    /// Number of cancelled records. The first record is never cancelled.
    cancelled: u64,
    blocks: u64,
}

const EMPTY: Row = Row {
    first: Place { block: NONE, at: 0 },
    end: Place { block: NONE, at: 0 },
    last: NONE,
    records: 0,
    cancelled: 0,
    blocks: 0,
};

/// The rows, by number.
pub(super) struct Queues {
    max_bytes: u64,
    blocks: Vec<Box<Block>>,
    /// The first free block, and the number of free blocks.
    free: (u32, usize),
    rows: Vec<Row>,
    records: u64,
}

impl Queues {
    /// Empty queues. Memory is allocated as needed, up to `max_bytes` and about 100 bytes per row.
    pub fn new(max_bytes: u64) -> Self {
        Self {
            max_bytes,
            blocks: Vec::new(),
            free: (NONE, 0),
            rows: Vec::new(),
            records: 0,
        }
    }

    /// Whether no row has a record.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// The number of rows, including empty ones.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    fn row(&self, row: usize) -> Row {
        self.rows.get(row).copied().unwrap_or(EMPTY)
    }

    /// The number of records of a row that are not cancelled, and the memory of all its records in bytes.
    pub fn size(&self, row: usize) -> (u64, u64) {
        let row = self.row(row);
        (row.records - row.cancelled, row.blocks * BLOCK as u64)
    }

    /// Number of blocks that a record needs beyond those of its row.
    fn needed(&self, row: usize, len: usize) -> usize {
        let row = self.row(row);
        let room = match row.blocks {
            0 => 0,
            _ => DATA - row.end.at,
        };
        (HEAD + len).saturating_sub(room).div_ceil(DATA)
    }

    fn max_blocks(&self) -> usize {
        (self.max_bytes / BLOCK as u64) as usize
    }

    /// Whether there is room for a record of this length.
    pub fn has_room(&self, row: usize, len: usize) -> bool {
        let used = self.blocks.len() - self.free.1;
        self.needed(row, len) <= self.max_blocks().saturating_sub(used)
    }

    /// Appends a record to a row, even beyond the limit; returns the position of its first byte.
    pub fn push(&mut self, row: usize, mark: u8, parts: &[&[u8]]) -> Place {
        if row >= self.rows.len() {
            self.rows.resize(row + 1, EMPTY);
        }
        if self.blocks.capacity() == 0 {
            self.blocks.reserve_exact(self.max_blocks());
        }
        let len: usize = parts.iter().map(|part| part.len()).sum();
        for _ in 0..self.needed(row, len) {
            self.extend(row);
        }
        let first = self.within(self.rows[row].end);
        let mut at = self.write(first, &[mark]);
        at = self.write(at, &(len as u32).to_le_bytes());
        for part in parts {
            at = self.write(at, part);
        }
        self.rows[row].end = at;
        self.rows[row].records += 1;
        self.rows[row].cancelled += u64::from(mark == CANCELLED);
        self.records += 1;
        first
    }

    /// Changes the mark of a record that still exists.
    pub fn set_mark(&mut self, place: Place, mark: u8) {
        self.write(place, &[mark]);
    }

    /// Cancels a record that still exists: it stays until it is the first.
    pub fn cancel(&mut self, row: usize, place: Place) {
        self.set_mark(place, CANCELLED);
        self.rows[row].cancelled += 1;
    }

    /// Copies a record that still exists into a buffer; returns its mark.
    pub fn get(&self, place: Place, record: &mut Vec<u8>) -> u8 {
        let mut head = [0; HEAD];
        let at = self.read(place, &mut head);
        let [mark, len @ ..] = head;
        record.resize(u32::from_le_bytes(len) as usize, 0);
        self.read(at, record);
        mark
    }

    /// Calls `each` with position, mark and bytes of each record of a row.
    pub fn each(&self, row: usize, each: &mut dyn FnMut(Place, u8, &[u8])) {
        let row = self.row(row);
        let (mut at, mut record) = (row.first, Vec::new());
        for _ in 0..row.records {
            let place = self.within(at);
            let mark = self.get(place, &mut record);
            each(place, mark, &record);
            at = self.behind(place, record.len());
        }
    }

    /// The beginning of the first record of a row, without its mark.
    pub fn peek<const N: usize>(&self, row: usize) -> Option<[u8; N]> {
        let row = self.row(row);
        let mut bytes = [0; N];
        let mut head = [0; HEAD];
        let at = (row.records > 0).then(|| self.read(row.first, &mut head))?;
        self.read(at, &mut bytes);
        Some(bytes)
    }

    /// Position of the first record of a row.
    pub fn first(&self, row: usize) -> Option<Place> {
        let row = self.row(row);
        (row.records > 0).then(|| self.within(row.first))
    }

    /// Copies the first record of a row into a buffer; returns its mark.
    pub fn front(&self, row: usize, record: &mut Vec<u8>) -> Option<u8> {
        Some(self.get(self.first(row)?, record))
    }

    /// The position after a record of this length.
    fn behind(&self, place: Place, len: usize) -> Place {
        let (mut at, mut left) = (place, HEAD + len);
        while left > DATA - at.at {
            left -= DATA - at.at;
            at = self.within(Place { at: DATA, ..at });
        }
        at.at += left;
        at
    }

    /// Removes the first record of a row; returns whether there was one.
    pub fn pop(&mut self, row: usize) -> bool {
        let known = self.row(row);
        let Some(first) = self.first(row) else {
            return false;
        };
        let mut head = [0; HEAD];
        self.read(first, &mut head);
        let [mark, len @ ..] = head;
        let at = self.behind(first, u32::from_le_bytes(len) as usize);
        self.records -= 1;
        let behind = match known.records {
            1 => NONE,
            _ => at.block,
        };
        let (mut block, mut freed) = (known.first.block, 0);
        while block != behind {
            let next = self.blocks[block as usize].next;
            self.blocks[block as usize].next = self.free.0;
            self.free = (block, self.free.1 + 1);
            freed += 1;
            block = next;
        }
        self.rows[row] = match known.records {
            1 => EMPTY,
            records => Row {
                first: at,
                records: records - 1,
                cancelled: known.cancelled - u64::from(mark == CANCELLED),
                blocks: known.blocks - freed,
                ..known
            },
        };
        true
    }

    /// Writes a row in pieces: the start of the first record in its block, the number of records, and mark, length
    /// and bytes of each. The record at `place` gets another mark.
    pub fn put(&self, row: usize, (place, mark): (Option<Place>, u8), put: &mut dyn FnMut(&[u8])) {
        let row = self.row(row);
        put(&(row.first.at as u32).to_le_bytes());
        put(&row.records.to_le_bytes());
        let mut at = row.first;
        for _ in 0..row.records {
            let first = self.within(at);
            let mut head = [0; HEAD];
            at = self.read(first, &mut head);
            let [_, len @ ..] = head;
            if place == Some(first) {
                head[0] = mark;
            }
            put(&head);
            let mut left = u32::from_le_bytes(len) as usize;
            while left > 0 {
                at = self.within(at);
                let there = &self.blocks[at.block as usize].data[at.at..];
                let piece = &there[..left.min(there.len())];
                put(piece);
                at.at += piece.len();
                left -= piece.len();
            }
        }
    }

    /// Sets the number of rows; new rows are empty.
    pub fn set_rows(&mut self, rows: usize) {
        self.rows.resize(rows, EMPTY);
    }

    /// Sets where the first record of this empty row begins in its block; `None` if a block has no such position.
    /// The row must get a record then.
    pub fn begin_at(&mut self, row: usize, at: usize) -> Option<()> {
        let is_empty = self.rows.get(row)?.blocks == 0;
        if at > DATA || !is_empty {
            return None;
        }
        self.extend(row);
        let row = &mut self.rows[row];
        (row.first.at, row.end.at) = (at, at);
        Some(())
    }

    /// Adds a block to a row.
    fn extend(&mut self, row: usize) {
        let new = match self.free {
            (NONE, _) => {
                self.blocks.push(Box::new(Block {
                    next: NONE,
                    data: [0; DATA],
                }));
                self.blocks.len() as u32 - 1
            }
            (block, count) => {
                self.free = (self.blocks[block as usize].next, count - 1);
                self.blocks[block as usize].next = NONE;
                block
            }
        };
        let row = &mut self.rows[row];
        row.blocks += 1;
        match row.last {
            NONE => {
                row.first = Place { block: new, at: 0 };
                row.end = row.first;
            }
            last => self.blocks[last as usize].next = new,
        }
        row.last = new;
    }

    /// The same position; after the last byte of a block, the start of the next block.
    fn within(&self, place: Place) -> Place {
        match place.at {
            DATA => Place {
                block: self.blocks[place.block as usize].next,
                at: 0,
            },
            _ => place,
        }
    }

    /// Writes bytes into existing blocks; returns the position after them.
    fn write(&mut self, mut place: Place, mut bytes: &[u8]) -> Place {
        while !bytes.is_empty() {
            place = self.within(place);
            let room = &mut self.blocks[place.block as usize].data[place.at..];
            let (now, later) = bytes.split_at(bytes.len().min(room.len()));
            room[..now.len()].copy_from_slice(now);
            place.at += now.len();
            bytes = later;
        }
        place
    }

    /// Reads bytes; returns the position after them.
    fn read(&self, mut place: Place, mut bytes: &mut [u8]) -> Place {
        while !bytes.is_empty() {
            place = self.within(place);
            let there = &self.blocks[place.block as usize].data[place.at..];
            let (now, later) = bytes.split_at_mut(bytes.len().min(there.len()));
            now.copy_from_slice(&there[..now.len()]);
            place.at += now.len();
            bytes = later;
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[derive(Clone, Debug)]
    enum Step {
        Push(usize, usize),
        Pop(usize),
        Cancel(usize, usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        let len = prop_oneof![8..300_usize, 4000..4200_usize, 8..20_000_usize];
        prop_oneof![
            3 => (0..4_usize, len).prop_map(|(row, len)| Step::Push(row, len)),
            2 => (0..4_usize).prop_map(Step::Pop),
            1 => (0..4_usize, 0..9_usize).prop_map(|(row, at)| Step::Cancel(row, at)),
        ]
    }

    proptest! {
        #[test]
        fn each_row_gives_back_what_it_got_and_blocks_are_used_again(
            steps in prop::collection::vec(step(), 0..200),
        ) {
            const MAX: u64 = 30 * BLOCK as u64;
            let mut queues = Queues::new(MAX);
            let mut model: [VecDeque<Vec<u8>>; 4] = Default::default();
            let mut places: [VecDeque<Place>; 4] = Default::default();
            let mut record = Vec::new();
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Push(row, len) => {
                        let bytes: Vec<u8> = (0..len).map(|at| (at + number) as u8).collect();
                        if queues.has_room(row, len) {
                            let place = queues.push(row, 0, &[&bytes[..3], &bytes[3..]]);
                            queues.set_mark(place, number as u8 % 100);
                            model[row].push_back([&[number as u8 % 100], &bytes[..]].concat());
                            places[row].push_back(place);
                        }
                    }
                    Step::Cancel(row, at) => {
                        // As the notes do: the first leaves at once.
                        let at = at % model[row].len().max(1);
                        if at > 0 && model[row][at][0] != CANCELLED {
                            queues.cancel(row, places[row][at]);
                            model[row][at][0] = CANCELLED;
                        }
                    }
                    Step::Pop(row) => {
                        prop_assert_eq!(queues.pop(row), model[row].pop_front().is_some());
                        places[row].pop_front();
                        while model[row].front().is_some_and(|bytes| bytes[0] == CANCELLED) {
                            prop_assert!(queues.pop(row) && model[row].pop_front().is_some());
                            places[row].pop_front();
                        }
                    }
                }
                let mut taken = 0;
                for (row, wanted) in model.iter().enumerate() {
                    let mark = queues.front(row, &mut record);
                    let found = mark.map(|mark| [&[mark], &record[..]].concat());
                    prop_assert_eq!(found.as_ref(), wanted.front());
                    let first = wanted.front().map(|bytes| bytes[1..9].to_vec());
                    prop_assert_eq!(queues.peek::<8>(row).map(Vec::from), first);
                    let (records, bytes) = queues.size(row);
                    let cancelled = |bytes: &&Vec<u8>| bytes[0] == CANCELLED;
                    let live = wanted.len() - wanted.iter().filter(cancelled).count();
                    prop_assert_eq!(records, live as u64);
                    prop_assert_eq!(bytes == 0, records == 0);
                    let mut all = Vec::new();
                    queues.each(row, &mut |place, mark, bytes| {
                        all.push((place, [&[mark], bytes].concat()));
                    });
                    let known = places[row].iter().copied().zip(wanted.iter().cloned());
                    prop_assert_eq!(all, known.collect::<Vec<_>>());
                    taken += bytes;
                }
                prop_assert_eq!(queues.is_empty(), model.iter().all(VecDeque::is_empty));
                prop_assert!(taken <= MAX);
                let made = queues.blocks.len() * BLOCK;
                prop_assert_eq!(taken as usize + queues.free.1 * BLOCK, made);
            }
        }
    }

    #[test]
    fn the_limit_is_that_of_all_rows() {
        let mut queues = Queues::new(3 * BLOCK as u64);
        for row in [0, 7, 9] {
            assert!(queues.has_room(row, 100));
            queues.push(row, 0, &[&[1; 100]]);
        }
        assert!(!queues.has_room(1, 1));
        assert!(queues.has_room(7, DATA - 100 - 2 * HEAD));
        assert!(!queues.has_room(7, DATA - 100 - 2 * HEAD + 1));
        assert!(queues.pop(0));
        assert!(queues.has_room(1, 1));
    }

    #[test]
    fn more_than_the_limit_leaves_no_room_until_it_has_left() {
        let mut queues = Queues::new(3 * BLOCK as u64);
        for row in 0..5 {
            queues.push(row, 0, &[&[1; 100]]);
        }
        for row in 0..3 {
            assert!(!queues.has_room(9, 1), "{row}");
            assert!(queues.pop(row));
        }
        assert!(queues.has_room(9, 1));
    }
}
