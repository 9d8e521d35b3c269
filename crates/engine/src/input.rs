//! Input buffer: bytes received on a connection that are not yet messages.

use std::io;

use crate::host::{ConnId, Host};

/// Bytes that one read reads at most, so that one connection does not keep the others waiting.
const MOST_READ: usize = 256 << 10;
/// A part of a message is moved to the front when so many bytes before it are done with.
const MOVE_FROM: usize = 64 << 10;

/// A receive buffer. Messages are decoded in place.
pub(crate) struct Input {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
}

impl Input {
    /// All memory it will ever have. The system gives pages when they are first used.
    pub(crate) fn new(size: usize) -> Self {
        Self {
            bytes: vec![0; size].into_boxed_slice(),
            start: 0,
            end: 0,
        }
    }

    /// Reads once: the count, 0 at the end of the stream.
    #[inline]
    pub(crate) fn fill(&mut self, host: &mut impl Host, conn: ConnId) -> io::Result<usize> {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        } else if self.must_move() {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let room = self.bytes.len().min(self.end + MOST_READ);
        let count = host.read(conn, &mut self.bytes[self.end..room])?;
        self.end += count;
        Ok(count)
    }

    /// What is unread has to make room. It is never longer than what was consumed before it, unless it
    /// reaches the end, so bytes are moved about once.
    fn must_move(&self) -> bool {
        let unread = self.end - self.start;
        self.end == self.bytes.len() || (self.start >= MOVE_FROM && unread <= self.start)
    }

    /// Bytes that have arrived and are not consumed.
    #[inline]
    pub(crate) fn unread(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    #[inline]
    pub(crate) fn consume(&mut self, count: usize) {
        self.start += count;
        debug_assert!(self.start <= self.end);
    }

    /// Bytes it has room for.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Discards its bytes, and overwrites them.
    pub(crate) fn wipe(&mut self) {
        self.bytes[..self.end].fill(0);
        std::hint::black_box(&self.bytes);
        self.clear();
    }

    /// Overwrites a first part that was consumed or is about to be.
    pub(crate) fn blank(&mut self, count: usize) {
        let end = (self.start + count).min(self.end);
        self.bytes[self.start..end].fill(0);
        std::hint::black_box(&self.bytes);
    }

    pub(crate) fn clear(&mut self) {
        self.start = 0;
        self.end = 0;
    }

    /// The buffer is full, so no message can become whole.
    pub(crate) fn is_full(&self) -> bool {
        self.end - self.start == self.bytes.len()
    }

    /// Takes over what another buffer holds, which is not longer than this one.
    pub(crate) fn take_over(&mut self, other: &mut Self) {
        let unread = other.unread();
        self.bytes[..unread.len()].copy_from_slice(unread);
        self.start = 0;
        self.end = unread.len();
        other.wipe();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T15: bytes that were read are not left in memory.
    #[test]
    fn what_is_wiped_or_blanked_is_overwritten() {
        let mut input = Input::new(64);
        let secret = b"554=tiger\x01";
        input.bytes[..secret.len()].copy_from_slice(secret);
        input.end = secret.len();
        input.blank(4);
        assert_eq!(&input.bytes[..secret.len()], b"\0\0\0\0tiger\x01");
        input.wipe();
        assert!(input.bytes.iter().all(|byte| *byte == 0));
    }
}
