//! Input buffer: bytes that a connection has received and that are not handled yet.

use std::io;

use crate::host::{ConnId, Host};

/// Maximum size of one read in bytes, about 40 orders. Other connections wait until all of them are handled. A smaller
/// value would cause more reads.
pub(crate) const READ: usize = 8 << 10;
/// Maximum size of one read in bytes, when answers wait for a sync of the disk. A sync takes longer than a write.
const READ_SYNCED: usize = 256 << 10;
/// An incomplete message is moved to the front of the buffer when at least this number of bytes before it were
/// consumed.
const MOVE_FROM: usize = 64 << 10;

/// Maximum size of one read, bytes.
#[inline]
pub(crate) fn read_most(sync_first: bool) -> usize {
    if sync_first { READ_SYNCED } else { READ }
}

/// A receive buffer. Messages are decoded in place.
pub(crate) struct Input {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
}

impl Input {
    /// A buffer of this size. The system provides its pages on first use.
    pub(crate) fn new(size: usize) -> Self {
        Self {
            bytes: vec![0; size].into_boxed_slice(),
            start: 0,
            end: 0,
        }
    }

    /// This number of buffers of this size.
    pub(crate) fn several(count: usize, size: usize) -> Vec<Self> {
        (0..count).map(|_| Self::new(size)).collect()
    }

    /// Reads once, at most `most` bytes. If the buffer has more unread bytes than `most`, reads at most as many bytes
    /// as are unread, so that a long message needs few reads. Returns the number of bytes; 0 at the end of the
    /// stream.
    #[inline]
    pub(crate) fn fill(
        &mut self,
        host: &mut impl Host,
        conn: ConnId,
        most: usize,
    ) -> io::Result<usize> {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        } else if self.must_move() {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let unread = self.end - self.start;
        let room = self.bytes.len().min(self.end + most.max(unread));
        let count = host.read(conn, &mut self.bytes[self.end..room])?;
        self.end += count;
        Ok(count)
    }

    /// Whether the unread bytes must be moved to make room. They are moved when they reach the end of the buffer.
    /// They are also moved when at least [`MOVE_FROM`] bytes before them were consumed, and the unread bytes are not
    /// longer than the consumed bytes. So each byte is moved about once.
    fn must_move(&self) -> bool {
        let unread = self.end - self.start;
        self.end == self.bytes.len() || (self.start >= MOVE_FROM && unread <= self.start)
    }

    /// Received bytes that are not consumed yet.
    #[inline]
    pub(crate) fn unread(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    #[inline]
    pub(crate) fn consume(&mut self, count: usize) {
        self.start += count;
        debug_assert!(self.start <= self.end);
    }

    /// Free space, bytes.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Discards the bytes of the buffer and overwrites them, because they may contain secrets.
    pub(crate) fn wipe(&mut self) {
        self.bytes[..self.end].fill(0);
        std::hint::black_box(&self.bytes);
        self.clear();
    }

    /// Overwrites the first `count` bytes, which were consumed or are about to be consumed.
    pub(crate) fn blank(&mut self, count: usize) {
        let end = (self.start + count).min(self.end);
        self.bytes[self.start..end].fill(0);
        std::hint::black_box(&self.bytes);
    }

    pub(crate) fn clear(&mut self) {
        self.start = 0;
        self.end = 0;
    }

    /// Whether the buffer is full, so that its first message can never become complete.
    pub(crate) fn is_full(&self) -> bool {
        self.end - self.start == self.bytes.len()
    }

    /// Takes over the content of another buffer. The content must fit into this one.
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
    use crate::host::sim::{SimHost, SimNet, Weather};
    use crate::journal::sim::SimDisk;

    /// Lengths of the reads of 100,000 bytes, with `done` bytes consumed after each.
    fn reads(done: impl Fn(usize) -> usize) -> Vec<usize> {
        let weather = Weather {
            splits: false,
            cuts: false,
            room: 1 << 20,
        };
        let net = SimNet::new(1, weather);
        let listener = net.listen(0, "127.0.0.1:1000".parse().unwrap());
        let peer = net.connect(1, 1000).unwrap();
        let conn = net.accept(listener).unwrap();
        assert_eq!(net.write(peer, &[b'x'; 100_000]).unwrap(), 100_000);
        let mut host = SimHost::new(0, &net, &SimDisk::new());
        let mut input = Input::new(1 << 20);
        let mut reads = Vec::new();
        while let Ok(count) = input.fill(&mut host, conn, READ) {
            reads.push(count);
            input.consume(done(count));
        }
        reads
    }

    #[test]
    fn short_messages_are_read_in_pieces_and_a_long_one_in_few() {
        assert_eq!(reads(|count| count), [vec![READ; 12], vec![1696]].concat());
        assert_eq!(reads(|_| 0), [8192, 8192, 16384, 32768, 34464]);
    }

    /// T15: bytes that were read do not stay in memory.
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
