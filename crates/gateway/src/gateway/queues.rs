//! `Queues`: many first-in first-out queues of records that share one memory limit.
//!
//! A record is a mark (one byte that may change), a length, and that number of bytes. The records of a row follow one
//! another in the blocks of the row; a record may continue in the next block. Blocks are allocated once and reused.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use fixwire_ledger::{Put, Wire};

use crate::orders::HeldAt;

/// Bytes of records per block.
const DATA: usize = 4092;
/// Memory of a block and of the pointers to it, in bytes: one pointer in the list of free blocks, and at most two in
/// the row, whose list may be half empty.
const BLOCK: usize = size_of::<Block>() + 3 * size_of::<Box<Block>>();
/// Length of a record's head (mark and length), in bytes.
const HEAD: usize = 1 + size_of::<u32>();
/// The mark of a cancelled record.
pub(super) const CANCELLED: u8 = b'x';

type Block = [u8; DATA];

/// The queue of the messages held for one target.
#[derive(Default)]
struct Row {
    blocks: VecDeque<Box<Block>>,
    /// Offset in the row's blocks at which the first record begins.
    start: usize,
    /// Bytes of all records in the row.
    len: usize,
    /// Bytes of all records that have left the row. The position of the first record is this number of bytes.
    gone: u64,
    records: u64,
    /// Number of cancelled records. The first record is never cancelled.
    cancelled: u64,
}

impl Row {
    /// Offset in the row's blocks at which a record begins.
    fn offset(&self, at: HeldAt) -> usize {
        self.start + (at.0 - self.gone) as usize
    }

    /// A range of bytes in the row's blocks, in pieces.
    fn pieces(&self, mut at: usize, mut len: usize) -> impl Iterator<Item = &[u8]> {
        core::iter::from_fn(move || {
            let rest = &self.blocks.get(at / DATA)?[at % DATA..];
            let piece = &rest[..rest.len().min(len)];
            at += piece.len();
            len -= piece.len();
            (!piece.is_empty()).then_some(piece)
        })
    }

    /// The mark and the length of a record.
    fn head(&self, at: usize) -> (u8, usize) {
        let mut head = [0; HEAD];
        let bytes = self.pieces(at, HEAD).flatten();
        head.iter_mut()
            .zip(bytes)
            .for_each(|(to, from)| *to = *from);
        let [mark, len @ ..] = head;
        (mark, u32::from_le_bytes(len) as usize)
    }

    /// Position of each record.
    fn positions(&self) -> impl Iterator<Item = HeldAt> {
        let mut next = HeldAt(self.gone);
        (0..self.records).map(move |_| {
            let at = next;
            next.0 += (HEAD + self.head(self.offset(at)).1) as u64;
            at
        })
    }

    /// Writes bytes into existing blocks; returns the offset after them.
    fn write(&mut self, mut at: usize, mut bytes: &[u8]) -> usize {
        while !bytes.is_empty() {
            let room = &mut self.blocks[at / DATA][at % DATA..];
            let (now, later) = bytes.split_at(bytes.len().min(room.len()));
            room[..now.len()].copy_from_slice(now);
            at += now.len();
            bytes = later;
        }
        at
    }
}

/// The rows, by number.
pub(super) struct Queues {
    max_bytes: u64,
    /// Number of blocks that rows use.
    used: usize,
    #[expect(
        clippy::vec_box,
        reason = "a block moves to a queue without a copy of its 4 KiB"
    )]
    free: Vec<Box<Block>>,
    rows: Vec<Row>,
    records: u64,
}

impl Queues {
    /// Empty queues. Memory is allocated as needed, up to `max_bytes` and about 100 bytes per row.
    pub fn new(max_bytes: u64) -> Self {
        Self {
            max_bytes,
            used: 0,
            free: Vec::new(),
            rows: Vec::new(),
            records: 0,
        }
    }

    /// Whether all rows are empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// The number of rows, including empty ones.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The number of records in a row that are not cancelled; and the memory of all records in the row, in bytes.
    pub fn size(&self, row: usize) -> (u64, u64) {
        let size = |row: &Row| {
            (
                row.records - row.cancelled,
                (row.blocks.len() * BLOCK) as u64,
            )
        };
        self.rows.get(row).map_or((0, 0), size)
    }

    /// Number of blocks that a row needs in addition to its own for a record of this length.
    fn needed(&self, row: usize, len: usize) -> usize {
        let room = |row: &Row| row.blocks.len() * DATA - row.start - row.len;
        let room = self.rows.get(row).map_or(0, room);
        (HEAD + len).saturating_sub(room).div_ceil(DATA)
    }

    fn max_blocks(&self) -> usize {
        (self.max_bytes / BLOCK as u64) as usize
    }

    /// Whether there is room for a record of this length.
    pub fn has_room(&self, row: usize, len: usize) -> bool {
        self.needed(row, len) <= self.max_blocks().saturating_sub(self.used)
    }

    /// Appends a record to a row, even beyond the limit; returns its position.
    pub fn push(&mut self, row: usize, mark: u8, record: &[u8]) -> HeldAt {
        if row >= self.rows.len() {
            self.set_rows(row + 1);
        }
        for _ in 0..self.needed(row, record.len()) {
            self.extend(row);
        }
        self.records += 1;
        let row = &mut self.rows[row];
        let first = HeldAt(row.gone + row.len as u64);
        let mut at = row.write(row.start + row.len, &[mark]);
        at = row.write(at, &(record.len() as u32).to_le_bytes());
        row.write(at, record);
        row.len += HEAD + record.len();
        row.records += 1;
        row.cancelled += u64::from(mark == CANCELLED);
        first
    }

    /// Changes the mark of a record that still exists.
    pub fn set_mark(&mut self, row: usize, at: HeldAt, mark: u8) {
        let row = &mut self.rows[row];
        row.write(row.offset(at), &[mark]);
    }

    /// Cancels a record that still exists. The record stays in the row until it is the first.
    pub fn cancel(&mut self, row: usize, at: HeldAt) {
        self.set_mark(row, at, CANCELLED);
        self.rows[row].cancelled += 1;
    }

    /// Copies a record that still exists into a buffer; returns its mark.
    pub fn get(&self, row: usize, at: HeldAt, record: &mut Vec<u8>) -> u8 {
        let row = &self.rows[row];
        let at = row.offset(at);
        let (mark, len) = row.head(at);
        record.clear();
        row.pieces(at + HEAD, len)
            .for_each(|piece| record.extend_from_slice(piece));
        mark
    }

    /// Calls `each` with position, mark and bytes of each record of a row.
    pub fn each(&self, row: usize, each: &mut dyn FnMut(HeldAt, u8, &[u8])) {
        let mut record = Vec::new();
        for at in self.rows.get(row).into_iter().flat_map(Row::positions) {
            let mark = self.get(row, at, &mut record);
            each(at, mark, &record);
        }
    }

    /// The beginning of the first record of a row, without its mark.
    pub fn peek<const N: usize>(&self, row: usize) -> Option<[u8; N]> {
        let row = self.rows.get(row).filter(|row| row.records > 0)?;
        let mut bytes = [0; N];
        let record = row.pieces(row.start + HEAD, N).flatten();
        bytes
            .iter_mut()
            .zip(record)
            .for_each(|(to, from)| *to = *from);
        Some(bytes)
    }

    /// Position of the first record of a row.
    pub fn first(&self, row: usize) -> Option<HeldAt> {
        let row = self.rows.get(row).filter(|row| row.records > 0)?;
        Some(HeldAt(row.gone))
    }

    /// Copies the first record of a row into a buffer; returns its mark.
    pub fn front(&self, row: usize, record: &mut Vec<u8>) -> Option<u8> {
        Some(self.get(row, self.first(row)?, record))
    }

    /// Removes the first record of a row; returns whether the row had one.
    pub fn pop(&mut self, row: usize) -> bool {
        let Some(row) = self.rows.get_mut(row).filter(|row| row.records > 0) else {
            return false;
        };
        let (mark, len) = row.head(row.start);
        let len = HEAD + len;
        row.start += len;
        row.gone += len as u64;
        row.len -= len;
        row.records -= 1;
        row.cancelled -= u64::from(mark == CANCELLED);
        self.records -= 1;
        // A block is freed when the first record begins after it.
        while row.start > DATA || (row.records == 0 && !row.blocks.is_empty()) {
            self.free.extend(row.blocks.pop_front());
            self.used -= 1;
            row.start = row.start.saturating_sub(DATA);
        }
        if row.records == 0 {
            row.start = 0;
        }
        true
    }

    /// Writes a row: the offset of the first record in its block, the number of records, then mark, length and bytes
    /// of each record.
    pub fn put(&self, row: usize, to: &mut impl Put) {
        let row = &self.rows[row];
        (row.start as u32).put(to);
        row.records.put(to);
        row.pieces(row.start, row.len)
            .for_each(|piece| to.text(piece));
    }

    /// Sets the number of rows; new rows are empty.
    pub fn set_rows(&mut self, rows: usize) {
        self.rows.resize_with(rows, Row::default);
    }

    /// Sets the offset at which the first record of this empty row begins in its block. `None` if a block does not have
    /// this offset. The caller must then append a record to the row.
    pub fn begin_at(&mut self, row: usize, at: usize) -> Option<()> {
        let is_empty = self.rows.get(row)?.blocks.is_empty();
        if at > DATA || !is_empty {
            return None;
        }
        self.extend(row);
        self.rows[row].start = at;
        Some(())
    }

    /// Adds a block to a row.
    fn extend(&mut self, row: usize) {
        if self.free.capacity() == 0 {
            self.free.reserve_exact(self.max_blocks());
        }
        let block = self.free.pop().unwrap_or_else(|| Box::new([0; DATA]));
        self.rows[row].blocks.push_back(block);
        self.used += 1;
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
            let mut places: [VecDeque<HeldAt>; 4] = Default::default();
            let mut most = 0;
            let mut record = Vec::new();
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Push(row, len) => {
                        let bytes: Vec<u8> = (0..len).map(|at| (at + number) as u8).collect();
                        if queues.has_room(row, len) {
                            let place = queues.push(row, 0, &bytes);
                            queues.set_mark(row, place, number as u8 % 100);
                            model[row].push_back([&[number as u8 % 100], &bytes[..]].concat());
                            places[row].push_back(place);
                        }
                    }
                    Step::Cancel(row, at) => {
                        // As in the notes: a cancelled first record is removed at once.
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
                prop_assert_eq!(taken as usize, queues.used * BLOCK);
                most = most.max(queues.used);
                prop_assert_eq!(queues.used + queues.free.len(), most);
            }
        }
    }

    #[test]
    fn the_limit_is_that_of_all_rows() {
        let mut queues = Queues::new(3 * BLOCK as u64);
        for row in [0, 7, 9] {
            assert!(queues.has_room(row, 100));
            queues.push(row, 0, &[1; 100]);
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
            queues.push(row, 0, &[1; 100]);
        }
        for row in 0..3 {
            assert!(!queues.has_room(9, 1), "{row}");
            assert!(queues.pop(row));
        }
        assert!(queues.has_room(9, 1));
    }
}
