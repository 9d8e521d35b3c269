//! A connection with more than messages: a PROXY header, a proxy, TLS.
//!
//! ```text
//! accepted:  [ PROXY header ]  [ TLS handshake ]  messages
//! dialled:   [ talk with a proxy ]  [ TLS handshake ]  messages
//! ```
//!
//! Data before TLS is inspected before it is removed from the stream, so that nothing after it is removed with it. The
//! engine limits the total time.

use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;

use mio::net::TcpStream;

use super::announce::{self, AnnounceFault, Announced};
use super::tunnel::{self, Tunnel, TunnelAnswer};
use crate::tls::{PeerCertificate, Stream, Taken};

/// A connection that is more than a stream.
#[derive(Debug)]
pub struct Guarded {
    /// The stream.
    pub stream: TcpStream,
    before: Before,
    /// Bytes that arrived before TLS.
    held: Vec<u8>,
    tls: Option<Box<Stream>>,
    /// The client's address, if announced by a load balancer.
    client: Option<SocketAddr>,
}

/// The steps before TLS or messages.
#[derive(Debug)]
pub enum Before {
    /// No step, or none left.
    Nothing,
    /// The PROXY header of a load balancer.
    Announcement,
    /// The exchange with a proxy.
    Tunnel(Box<Tunnel>),
}

impl Guarded {
    /// A connection whose stream is established.
    pub fn new(stream: TcpStream, before: Before, tls: Option<Box<Stream>>) -> Self {
        Self {
            stream,
            before,
            held: Vec::new(),
            tls,
            client: None,
        }
    }

    /// Whether only plain messages follow.
    pub fn is_plain(&self) -> bool {
        self.tls.is_none() && matches!(self.before, Before::Nothing)
    }

    /// The client's address from the load balancer; `Err` until it has arrived.
    pub fn client(&self) -> Result<Option<SocketAddr>, ()> {
        match self.before {
            Before::Announcement => Err(()),
            _ => Ok(self.client),
        }
    }

    /// The peer's certificate, once it has been verified.
    pub fn certificate(&self) -> Option<&PeerCertificate> {
        self.tls.as_ref()?.certificate()
    }

    /// Continues the steps before messages; true when messages may follow.
    pub fn settle(&mut self) -> io::Result<bool> {
        match self.begin() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            result => result?,
        }
        match &mut self.tls {
            Some(tls) => tls.settle(&mut self.stream),
            None => Ok(true),
        }
    }

    /// Whether the peer may still be finishing the handshake, since it has sent nothing after it. The connection is
    /// established.
    pub fn may_be_busy(&mut self) -> io::Result<bool> {
        let Self { tls, stream, .. } = self;
        match tls {
            Some(tls) if tls.may_hear_tickets() => {
                tls.listen(stream)?;
                Ok(tls.may_hear_tickets())
            }
            _ => Ok(false),
        }
    }

    /// Reads messages.
    pub fn read(&mut self, into: &mut [u8]) -> Taken {
        if let Err(error) = self.begin() {
            return Taken {
                result: Err(error),
                more: false,
            };
        }
        match &mut self.tls {
            Some(tls) => tls.read(&mut self.stream, into),
            None => {
                let result = self.stream.read(into);
                let more = result.is_ok();
                Taken { result, more }
            }
        }
    }

    /// Writes a first part of the bytes; returns its length, and whether the stream has accepted all bytes.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<(usize, bool)> {
        match &mut self.tls {
            Some(tls) => tls.write(&mut self.stream, bytes),
            None => {
                let count = self.stream.write(bytes)?;
                Ok((count, count == bytes.len()))
            }
        }
    }

    /// Writes data accepted earlier; true when nothing is left. An error shows at the next read or write.
    pub fn flush(&mut self) -> bool {
        let Self { tls, stream, .. } = self;
        tls.as_mut()
            .is_none_or(|tls| tls.flush(stream).unwrap_or(true))
    }

    /// Sends the close notification.
    pub fn close(mut self) -> TcpStream {
        if let (Some(tls), Before::Nothing) = (&mut self.tls, &self.before) {
            tls.close(&mut self.stream);
        }
        self.stream
    }

    /// The step before TLS.
    fn begin(&mut self) -> io::Result<()> {
        let Self {
            stream,
            before,
            held,
            client,
            ..
        } = self;
        loop {
            match before {
                Before::Nothing => return Ok(()),
                Before::Announcement => {
                    let there = held.len();
                    look(stream, held, announce::LONGEST, || {
                        AnnounceFault::CutShort.into()
                    })?;
                    match announce::parse(held)? {
                        Announced::More => take(stream, held.len() - there)?,
                        Announced::Client(length, address) => {
                            take(stream, length - there)?;
                            *client = address;
                            *before = Before::Nothing;
                        }
                    }
                }
                Before::Tunnel(tunnel) => {
                    let say = tunnel.unsaid();
                    while !say.is_empty() {
                        let count = stream.write(say)?;
                        say.drain(..count);
                    }
                    let there = held.len();
                    look(stream, held, tunnel::LONGEST, || {
                        let note = "the proxy closed the connection";
                        io::Error::new(ErrorKind::ConnectionReset, note)
                    })?;
                    let (length, through) = match tunnel.hear(held)? {
                        TunnelAnswer::More => {
                            take(stream, held.len() - there)?;
                            continue;
                        }
                        TunnelAnswer::Next(length) => (length, false),
                        TunnelAnswer::Through(length) => (length, true),
                    };
                    take(stream, length - there)?;
                    held.clear();
                    if through {
                        *before = Before::Nothing;
                    }
                }
            }
        }
    }
}

/// Adds received data to `held`, without removing it from the stream.
fn look(
    stream: &TcpStream,
    held: &mut Vec<u8>,
    most: usize,
    ended: impl Fn() -> io::Error,
) -> io::Result<()> {
    let there = held.len();
    held.resize(most, 0);
    let result = stream.peek(&mut held[there..]);
    held.truncate(there + *result.as_ref().unwrap_or(&0));
    match result? {
        0 => Err(ended()),
        _ => Ok(()),
    }
}

/// Removes the inspected data from the stream.
fn take(stream: &mut TcpStream, count: usize) -> io::Result<()> {
    let mut bytes = vec![0; count];
    stream.read_exact(&mut bytes)
}
