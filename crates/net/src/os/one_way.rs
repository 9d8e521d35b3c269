//! Connections that only receive: their answers leave over another connection.
//!
//! An answer carries the acknowledgement of what it answers. Where none goes back, Linux acknowledges
//! within the read itself that empties the socket: a segment, and the peer's handling of it on a loopback
//! device, come between a message and its reader (0.7 us of a round trip of 6). So what comes on such a
//! connection is read with `MSG_PEEK`, and taken from the system after the writes that it causes. The
//! acknowledgement is not put off longer than that, which a peer with Nagle's algorithm would wait for.

use std::io;
use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

use super::{Link, Os, Socket};

/// Where bytes that are taken would go: the system looks at its length only and writes nothing, so its
/// pages never become memory.
#[derive(Debug)]
pub(super) struct Waste(Box<[u8]>);

impl Default for Waste {
    fn default() -> Self {
        Self(vec![0; 256 << 10].into_boxed_slice())
    }
}

/// How one connection is read.
#[derive(Debug, Default)]
pub(super) struct OneWay {
    /// Nothing was written since the last bytes were read.
    silent: bool,
    /// Bytes that were read and that the system still holds.
    untaken: usize,
}

impl OneWay {
    /// Reads what has arrived. What was read before is taken first: it must not be read twice.
    #[inline]
    pub(super) fn read(
        &mut self,
        stream: &impl AsFd,
        into: &mut [u8],
        may_peek: bool,
        waste: &mut Waste,
    ) -> io::Result<usize> {
        self.take(stream, waste)?;
        let peeks = may_peek && self.silent;
        let flags = match peeks {
            true => RecvFlags::PEEK,
            false => RecvFlags::empty(),
        };
        let count = loop {
            match recv(stream, &mut *into, flags) {
                Err(Errno::INTR) => {}
                result => break result?.0,
            }
        };
        self.silent = count > 0;
        if peeks {
            self.untaken = count;
        }
        Ok(count)
    }

    /// Whether bytes that were read are still to be taken.
    #[inline]
    pub(super) fn is_untaken(&self) -> bool {
        self.untaken > 0
    }

    /// An answer, or anything else, goes the other way.
    #[inline]
    pub(super) fn has_written(&mut self) {
        self.silent = false;
    }

    /// Takes what was read.
    #[inline]
    fn take(&mut self, stream: &impl AsFd, waste: &mut Waste) -> io::Result<()> {
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

impl Socket {
    /// Takes from the system what was read and left there. A failure is the next read's, and said.
    pub(super) fn take(&mut self, waste: &mut Waste) -> bool {
        if let Link::Open(stream) = &self.link
            && let Err(error) = self.one_way.take(stream, waste)
        {
            self.link = Link::Failed(Some(error));
            return false;
        }
        true
    }
}

impl Os {
    /// Takes what was read on all connections.
    #[inline]
    pub(super) fn take_all(&mut self) {
        while let Some(conn) = self.untaken.pop() {
            if let Some(Some(socket)) = self.sockets.get_mut(conn.0 as usize)
                && !socket.take(&mut self.waste)
            {
                self.heat(conn);
            }
        }
    }
}

impl Drop for Os {
    /// What is unread when a socket closes would turn that into a reset, and the peer might lose our
    /// last words.
    fn drop(&mut self) {
        self.take_all();
    }
}
