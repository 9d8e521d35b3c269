//! Connections whose answers leave elsewhere.
//!
//! An answer carries the acknowledgement of what it answers. Where none goes back, Linux acknowledges
//! within the read itself that empties the socket: a segment, and the peer's handling of it on a loopback
//! device, stand between a message and its reader (0.7 us of a round trip of 6). So what comes on such a
//! connection is read with `MSG_PEEK`, and taken from the system after the writes that it causes. The
//! acknowledgement is not put off longer than that, which a peer with Nagle's algorithm would wait for.

use std::io;
use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

/// Where bytes that are taken would go: the system looks at its length only and writes nothing, so its
/// pages never become memory.
#[derive(Debug)]
pub(super) struct Waste(Box<[u8]>);

impl Default for Waste {
    fn default() -> Self {
        Self(vec![0; 256 << 10].into_boxed_slice())
    }
}

/// What one connection is read like.
#[derive(Debug, Default)]
pub(super) struct OneWay {
    /// Nothing was written since the last bytes were read.
    silent: bool,
    /// Bytes that were read and that the system still holds.
    untaken: usize,
}

impl OneWay {
    /// How to read next. What was read before is taken first: it must not be read twice.
    #[inline]
    pub(super) fn flags(
        &mut self,
        stream: &impl AsFd,
        may_peek: bool,
        waste: &mut Waste,
    ) -> io::Result<RecvFlags> {
        if self.untaken > 0 {
            self.take(stream, waste)?;
        }
        Ok(match may_peek && self.silent {
            true => RecvFlags::PEEK,
            false => RecvFlags::empty(),
        })
    }

    /// So many bytes were read. Answers whether they are to be taken.
    #[inline]
    pub(super) fn has_read(&mut self, count: usize, flags: RecvFlags) -> bool {
        self.silent = count > 0;
        let peeked = flags.contains(RecvFlags::PEEK);
        if peeked {
            self.untaken = count;
        }
        peeked && count > 0
    }

    /// An answer, or anything else, goes the other way.
    #[inline]
    pub(super) fn has_written(&mut self) {
        self.silent = false;
    }

    /// Takes what was read.
    pub(super) fn take(&mut self, stream: &impl AsFd, waste: &mut Waste) -> io::Result<()> {
        while self.untaken > 0 {
            let most = self.untaken.min(waste.0.len());
            match recv(stream, &mut waste.0[..most], RecvFlags::TRUNC) {
                Ok((_, 0)) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok((_, count)) => self.untaken -= count.min(most),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
