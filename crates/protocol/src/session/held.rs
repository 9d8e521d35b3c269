//! Messages that arrived above an open gap, in a bounded place.

use alloc::vec::Vec;

/// Messages kept by number until those before them have arrived.
///
/// Memory is taken at the first gap and kept. What does not fit is dropped: the numbers are then
/// missing again when the gap closes, and are asked for again.
#[derive(Debug)]
pub struct Held {
    bytes: Vec<u8>,
    /// Sorted by number.
    entries: Vec<Entry>,
    max_bytes: usize,
    max_messages: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    number: u64,
    start: usize,
    end: usize,
}

impl Held {
    /// Room for this many bytes in this many messages.
    #[must_use]
    pub fn new(max_bytes: usize, max_messages: usize) -> Self {
        Self {
            bytes: Vec::new(),
            entries: Vec::new(),
            max_bytes,
            max_messages,
        }
    }

    /// Keeps a message. The first one of a number wins.
    pub fn keep(&mut self, number: u64, message: &[u8]) {
        let Err(at) = self
            .entries
            .binary_search_by_key(&number, |entry| entry.number)
        else {
            return;
        };
        if self.entries.len() >= self.max_messages
            || self.bytes.len() + message.len() > self.max_bytes
        {
            return;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(message);
        let end = self.bytes.len();
        self.entries.insert(at, Entry { number, start, end });
    }

    /// Forgets what is below `expected`, and copies the message numbered `expected` into `into`.
    pub fn take(&mut self, expected: u64, into: &mut Vec<u8>) -> bool {
        let old = self
            .entries
            .partition_point(|entry| entry.number < expected);
        self.entries.drain(..old);
        let found = match self.entries.first() {
            Some(&Entry { number, start, end }) if number == expected => {
                into.clear();
                into.extend_from_slice(&self.bytes[start..end]);
                self.entries.remove(0);
                true
            }
            _ => false,
        };
        if self.entries.is_empty() {
            self.bytes.clear();
        }
        found
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
        held.keep(7, b"seven");
        held.keep(5, b"five");
        held.keep(5, b"five again");
        let mut taken = Vec::new();
        assert!(!held.take(4, &mut taken));
        assert!(held.take(5, &mut taken));
        assert_eq!(taken, b"five");
        assert!(!held.take(6, &mut taken));
        assert!(held.take(7, &mut taken));
        assert_eq!(taken, b"seven");
        assert!(held.is_empty());
    }

    #[test]
    fn neither_bytes_nor_messages_go_beyond_the_limit() {
        let mut held = Held::new(8, 10);
        held.keep(2, b"12345");
        held.keep(3, b"12345");
        let mut taken = Vec::new();
        assert!(held.take(2, &mut taken));
        assert!(!held.take(3, &mut taken));
        let mut held = Held::new(100, 1);
        held.keep(2, b"a");
        held.keep(3, b"b");
        assert!(!held.take(3, &mut taken));
        assert!(held.is_empty());
    }

    #[test]
    fn what_a_gap_fill_has_skipped_is_forgotten() {
        let mut held = Held::new(100, 10);
        held.keep(5, b"five");
        let mut taken = Vec::new();
        assert!(!held.take(9, &mut taken));
        assert!(held.is_empty());
    }
}
