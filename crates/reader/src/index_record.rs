//! The file of an index: a header, then a record for each block of the log.
//!
//! ```text
//! header   magic(8) device(8) inode(8) zone(8) first(8) sum(8)
//! record   len(4) payload(len) sum(8)
//! payload  end line first_time last_time size mtime tail(8 each) senders(4) left_out(4) filter(rest)
//!          senders:  pair(8) lowest(8) highest(8)
//!          left_out: at(8) len(8) why(1)
//! ```
//!
//! Numbers are little-endian. The checksum of a record continues the checksum of the record before it, so records of
//! two indexes cannot be mixed.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use crate::entry::LogEntry;
use crate::index_key::{hash, keys_of, numbered};

/// Marks an index file; the last byte is the version.
const MAGIC: [u8; 8] = *b"FWINDEX2";
pub(crate) const HEADER: usize = 48;
/// Approximate size of a block, bytes of the log.
pub(crate) const BLOCK: u64 = 256 << 10;
/// Bits of the filter per id; fewer in a block with very many ids.
const BITS_PER_ID: usize = 24;
/// Number of bits of the filter that one id sets.
const PROBES: u64 = 10;
/// Maximum bytes of the filter per 1,000 bytes of the log.
const MOST_FILTER: u64 = 32;
/// Maximum number of senders that are listed with their lowest and highest MsgSeqNum. With more senders, each
/// MsgSeqNum is in the filter instead.
const MOST_SENDERS: usize = 64;
/// Maximum length of a record, bytes.
pub(crate) const LONGEST: usize = 1 << 26;
/// Reasons why parts of a text are left out.
pub(crate) const REASONS: [&str; 2] = ["a message without its end", "a message longer than 16 MiB"];

/// The identity of the log of an index.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct IndexHeader {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// The hash of the zone that applies to times without a zone.
    pub(crate) zone: u64,
    /// The hash of the first bytes of the log.
    pub(crate) first: u64,
}

impl IndexHeader {
    pub(crate) fn bytes(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(&MAGIC);
        let words = [self.device, self.inode, self.zone, self.first];
        for (at, word) in words.into_iter().enumerate() {
            bytes[8 + at * 8..16 + at * 8].copy_from_slice(&word.to_le_bytes());
        }
        let sum = hash(0, &bytes[..40]);
        bytes[40..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// The checksum with which the first record continues.
    pub(crate) fn sum(&self) -> u64 {
        hash(0, &self.bytes()[..40])
    }
}

/// The state of a log when one of its blocks was indexed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct LogState {
    pub(crate) size: u64,
    /// Modification time, nanoseconds.
    pub(crate) modified: i64,
}

/// A part of the log that was left out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Omitted {
    pub(crate) at: u64,
    pub(crate) len: u64,
    /// The index in [`REASONS`].
    pub(crate) why: u8,
}

/// A block of a log. A block begins where the block before it ends.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct BlockRecord {
    /// The position after the last message of the block.
    pub(crate) end: u64,
    /// The line number at that position.
    pub(crate) line: u64,
    /// The earliest and the latest time of messages in the block; `None` when no message has a time.
    pub(crate) times: Option<(i64, i64)>,
    pub(crate) state: LogState,
    /// The hash of the last bytes of the block.
    pub(crate) tail: u64,
    /// The lowest and the highest MsgSeqNum of each sender. When empty, the filter has the MsgSeqNums.
    pub(crate) senders: Vec<(u64, u64, u64)>,
    pub(crate) left_out: Vec<Omitted>,
    filter: Vec<u64>,
}

impl BlockRecord {
    /// Writes the record as it is in the file; returns the checksum for the next record.
    pub(crate) fn write(&self, sum: u64, out: &mut Vec<u8>) -> u64 {
        out.clear();
        out.extend_from_slice(&[0; 4]);
        let (first, last) = self.times.unwrap_or((i64::MAX, i64::MIN));
        let words = [
            self.end,
            self.line,
            first as u64,
            last as u64,
            self.state.size,
            self.state.modified as u64,
            self.tail,
        ];
        let mut put = |word: u64| out.extend_from_slice(&word.to_le_bytes());
        words.into_iter().for_each(&mut put);
        put(self.senders.len() as u64 | (self.left_out.len() as u64) << 32);
        for (pair, lowest, highest) in &self.senders {
            [*pair, *lowest, *highest].into_iter().for_each(&mut put);
        }
        self.filter.iter().copied().for_each(&mut put);
        for part in &self.left_out {
            out.extend_from_slice(&part.at.to_le_bytes());
            out.extend_from_slice(&part.len.to_le_bytes());
            out.push(part.why);
        }
        let len = (out.len() - 4) as u32;
        out[..4].copy_from_slice(&len.to_le_bytes());
        let sum = hash(sum, out);
        out.extend_from_slice(&sum.to_le_bytes());
        sum
    }

    /// Parses a payload whose checksum is correct; `None` when the payload is not a record.
    pub(crate) fn read(payload: &[u8]) -> Option<Self> {
        let word = |at: usize| {
            let bytes = payload.get(at * 8..at * 8 + 8)?;
            Some(u64::from_le_bytes(bytes.try_into().ok()?))
        };
        let counts = word(7)?;
        let (senders, parts) = (counts as u32 as usize, (counts >> 32) as usize);
        let filter_from = 64 + senders.checked_mul(24)?;
        let filter_to = payload.len().checked_sub(parts.checked_mul(17)?)?;
        let filter = payload.get(filter_from..filter_to)?;
        let times = (word(2)? as i64, word(3)? as i64);
        let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        Some(Self {
            end: word(0)?,
            line: word(1)?,
            times: (times.0 <= times.1).then_some(times),
            state: LogState {
                size: word(4)?,
                modified: word(5)? as i64,
            },
            tail: word(6)?,
            senders: (0..senders)
                .map(|at| Some((word(8 + at * 3)?, word(9 + at * 3)?, word(10 + at * 3)?)))
                .collect::<Option<_>>()?,
            left_out: payload[filter_to..]
                .chunks_exact(17)
                .map(|part| Omitted {
                    at: number(&part[..8]),
                    len: number(&part[8..16]),
                    why: part[16],
                })
                .collect(),
            filter: filter.chunks_exact(8).map(number).collect(),
        })
    }

    /// Whether the block may contain an id with this hash.
    pub(crate) fn may_have(&self, key: u64) -> bool {
        !self.filter.is_empty()
            && probes(key, self.filter.len()).all(|bit| {
                let word = self.filter[(bit / 64) as usize];
                word >> (bit % 64) & 1 == 1
            })
    }
}

/// The bits of the filter that stand for an id.
fn probes(key: u64, words: usize) -> impl Iterator<Item = u64> {
    let bits = words as u64 * 64;
    let (first, step) = (key & 0xffff_ffff, key >> 32 | 1);
    (0..PROBES)
        .map(move |at| (first + at * step) & 0xffff_ffff)
        .map(move |place| (place * bits) >> 32)
}

/// Collects the ids of a block.
#[derive(Default)]
pub(crate) struct BlockBuilder {
    keys: HashSet<u64, BuildHasherDefault<KeyHasher>>,
    senders: HashMap<u64, (u64, u64), BuildHasherDefault<KeyHasher>>,
    numbers: Vec<(u64, u64)>,
    times: Option<(i64, i64)>,
}

impl BlockBuilder {
    pub(crate) fn add(&mut self, entry: &LogEntry<'_>) {
        let keys = &mut self.keys;
        let numbered = keys_of(entry.bytes, |key| {
            keys.insert(key);
        });
        if let Some(number) = numbered.number {
            self.numbers.push((number, numbered.pair));
            let (lowest, highest) = self
                .senders
                .entry(numbered.pair)
                .or_insert((number, number));
            (*lowest, *highest) = (number.min(*lowest), number.max(*highest));
        }
        if let (Some(time), _) = entry.time() {
            let (first, last) = self.times.get_or_insert((time.0, time.0));
            (*first, *last) = (time.0.min(*first), time.0.max(*last));
        }
    }

    /// The record of a block with this number of log bytes. The caller sets the other fields.
    pub(crate) fn finish(&mut self, bytes: u64) -> BlockRecord {
        let all = self.senders.drain();
        let mut senders: Vec<_> = all.map(|(pair, (low, high))| (pair, low, high)).collect();
        senders.sort_unstable();
        if senders.len() > MOST_SENDERS {
            senders.clear();
            let numbers = self.numbers.iter();
            self.keys
                .extend(numbers.map(|(number, pair)| numbered(*number, *pair)));
        }
        self.numbers.clear();
        let most = (bytes * MOST_FILTER / 8000).max(1) as usize;
        let words = (self.keys.len() * BITS_PER_ID).div_ceil(64).min(most);
        let mut filter = vec![0_u64; words];
        for key in self.keys.drain() {
            for bit in probes(key, words) {
                filter[(bit / 64) as usize] |= 1 << (bit % 64);
            }
        }
        BlockRecord {
            times: self.times.take(),
            senders,
            filter,
            ..BlockRecord::default()
        }
    }
}

/// A hasher for keys that are hashes already.
#[derive(Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash(self.0, bytes);
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let mut builder = BlockBuilder::default();
        builder
            .keys
            .extend((0..1000_u64).map(|it| hash(1, &it.to_le_bytes())));
        builder.senders.insert(7, (3, 9));
        builder.times = Some((-5, 12));
        let record = BlockRecord {
            end: 300_000,
            line: 77,
            state: LogState {
                size: 400_000,
                modified: -3,
            },
            tail: 8,
            left_out: vec![Omitted {
                at: 5,
                len: 6,
                why: 1,
            }],
            ..builder.finish(BLOCK)
        };
        let mut bytes = Vec::new();
        let sum = record.write(11, &mut bytes);
        assert_eq!(bytes[bytes.len() - 8..], sum.to_le_bytes());
        let read = BlockRecord::read(&bytes[4..bytes.len() - 8]).unwrap();
        assert_eq!(read, record);
        let key = |it: u64| hash(1, &it.to_le_bytes());
        assert!((0..1000).all(|it| read.may_have(key(it))));
        // 24 bits per id: the probability of a false match is one in 47,000.
        let wrong = (1000..101_000).filter(|it| read.may_have(key(*it))).count();
        assert!(wrong < 20, "{wrong}");
    }
}
