//! Connections that only receive. Answers to their messages leave over another connection.
//!
//! On most connections an answer carries the TCP acknowledgement of the message. On a connection without answers,
//! Linux sends the acknowledgement within the read that empties the socket. The acknowledgement is a segment of its
//! own, and on a loopback device the reader also waits while the peer handles this segment (0.7 us of a round trip of
//! 6). So data on such a connection is read with `MSG_PEEK`, and removed from the kernel after the writes that it
//! causes. The acknowledgement is not delayed longer, because a peer with Nagle's algorithm would wait for it.

use std::io;
use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

use super::{Link, Os, Socket};

/// Where removed bytes go. The system only checks the length of this memory and writes nothing, so its pages are
/// never used.
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
    /// Whether nothing has been written since the last read.
    silent: bool,
    /// Number of bytes that were read but are still in the kernel's buffer.
    untaken: usize,
}

impl OneWay {
    /// Reads received data. Earlier data is removed first, because it must not be read twice.
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

    /// Whether there are bytes that were read but not removed yet.
    #[inline]
    pub(super) fn is_untaken(&self) -> bool {
        self.untaken > 0
    }

    /// Records that data is written on this connection.
    #[inline]
    pub(super) fn has_written(&mut self) {
        self.silent = false;
    }

    /// Removes data that was read from the kernel.
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
    /// Removes data that was read and is still in the kernel. A failure is reported by the next read.
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
    /// Removes data that was read, on all connections.
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
    /// Removes data that was read. If it stayed, a close would become a reset, and the peer might lose our last
    /// messages.
    fn drop(&mut self) {
        self.take_all();
    }
}
