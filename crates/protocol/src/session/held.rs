//! A store for messages that arrive above an open gap. The size of the store is limited.

use alloc::vec::Vec;

/// Messages that are kept, by MsgSeqNum, until all messages before them have arrived.
///
/// Memory is allocated at the first gap and then kept. Messages for which there is no room are dropped. Dropped
/// messages are missing when the gap closes, and are then requested again.
#[derive(Debug)]
pub struct Held {
    bytes: Vec<u8>,
    /// Sorted by MsgSeqNum.
    entries: Vec<Entry>,
    max_bytes: usize,
    max_messages: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    number: u64,
    start: usize,
    end: usize,
    /// A value of the caller that is returned with the message; 0 at first.
    mark: u64,
}

/// The outcome for a message that was to be kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kept {
    /// The message is kept.
    Now,
    /// Another message with the same MsgSeqNum was kept before.
    Before,
    /// There is no room for the message.
    NoRoom,
}

impl Held {
    /// A store with room for this number of bytes and messages.
    #[must_use]
    pub fn new(max_bytes: usize, max_messages: usize) -> Self {
        Self {
            bytes: Vec::new(),
            entries: Vec::new(),
            max_bytes,
            max_messages,
        }
    }

    /// Keeps a message. If several have the same MsgSeqNum, the first one is kept.
    pub fn keep(&mut self, number: u64, message: &[u8]) -> Kept {
        let Err(at) = self
            .entries
            .binary_search_by_key(&number, |entry| entry.number)
        else {
            return Kept::Before;
        };
        if self.entries.len() >= self.max_messages
            || self.bytes.len() + message.len() > self.max_bytes
        {
            return Kept::NoRoom;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(message);
        let end = self.bytes.len();
        let mark = 0;
        let entry = Entry {
            number,
            start,
            end,
            mark,
        };
        self.entries.insert(at, entry);
        Kept::Now
    }

    /// Sets the mark that [`Held::take`] returns with the message of this MsgSeqNum, if this message is kept.
    pub fn mark(&mut self, number: u64, mark: u64) {
        let found = self
            .entries
            .binary_search_by_key(&number, |entry| entry.number);
        if let Ok(at) = found {
            self.entries[at].mark = mark;
        }
    }

    /// Drops all messages below `expected`, and copies the message with MsgSeqNum `expected` into `into`. Returns its
    /// mark.
    pub fn take(&mut self, expected: u64, into: &mut Vec<u8>) -> Option<u64> {
        let old = self
            .entries
            .partition_point(|entry| entry.number < expected);
        self.entries.drain(..old);
        let found = match self.entries.first() {
            Some(&entry) if entry.number == expected => {
                into.clear();
                into.extend_from_slice(&self.bytes[entry.start..entry.end]);
                self.entries.remove(0);
                Some(entry.mark)
            }
            _ => None,
        };
        if self.entries.is_empty() {
            self.bytes.clear();
        }
        found
    }

    /// Whether the message with this MsgSeqNum is kept.
    #[must_use]
    pub fn has(&self, number: u64) -> bool {
        let found = self
            .entries
            .binary_search_by_key(&number, |entry| entry.number);
        found.is_ok()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.bytes.clear();
    }

    /// Nothing is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_in_order_and_once() {
        let mut held = Held::new(100, 10);
        assert_eq!(held.keep(7, b"seven"), Kept::Now);
        assert_eq!(held.keep(5, b"five"), Kept::Now);
        assert_eq!(held.keep(5, b"five again"), Kept::Before);
        held.mark(7, 70);
        held.mark(6, 60);
        let mut taken = Vec::new();
        assert_eq!(held.take(4, &mut taken), None);
        assert_eq!(held.take(5, &mut taken), Some(0));
        assert_eq!(taken, b"five");
        assert_eq!(held.take(6, &mut taken), None);
        assert_eq!(held.take(7, &mut taken), Some(70));
        assert_eq!(taken, b"seven");
        assert!(held.is_empty());
    }

    #[test]
    fn neither_bytes_nor_messages_go_beyond_the_limit() {
        let mut held = Held::new(8, 10);
        assert_eq!(held.keep(2, b"12345"), Kept::Now);
        assert_eq!(held.keep(3, b"12345"), Kept::NoRoom);
        let mut taken = Vec::new();
        assert!(held.take(2, &mut taken).is_some());
        assert_eq!(held.take(3, &mut taken), None);
        let mut held = Held::new(100, 1);
        assert_eq!(held.keep(2, b"a"), Kept::Now);
        assert_eq!(held.keep(3, b"b"), Kept::NoRoom);
        assert_eq!(held.take(3, &mut taken), None);
        assert!(held.is_empty());
    }

    #[test]
    fn what_a_gap_fill_has_skipped_is_forgotten() {
        let mut held = Held::new(100, 10);
        assert_eq!(held.keep(5, b"five"), Kept::Now);
        let mut taken = Vec::new();
        assert_eq!(held.take(9, &mut taken), None);
        assert!(held.is_empty());
    }
}
