//! A connection that carries more than messages: a PROXY header, an exchange with a proxy, or TLS.
//!
//! ```text
//! accepted:  [ PROXY header ]  [ TLS handshake ]  messages
//! dialled:   [ talk with a proxy ]  [ TLS handshake ]  messages
//! ```
//!
//! Data that comes before TLS is inspected before it is removed from the stream, so that the data after it is not
//! removed too. The engine limits the total time.

use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;

use mio::net::TcpStream;

use super::announce::{self, AnnounceFault, Announced};
use super::tunnel::{self, Tunnel, TunnelAnswer};
use crate::tls::{PeerCertificate, Stream, Taken};

/// A connection that is more than a plain stream.
#[derive(Debug)]
pub struct Guarded {
    /// The stream.
    pub stream: TcpStream,
    before: Before,
    /// Bytes before TLS that have arrived so far.
    held: Vec<u8>,
    tls: Option<Box<Stream>>,
    /// The address of the client, if a load balancer has announced it.
    client: Option<SocketAddr>,
}

/// The step that comes before TLS or messages.
#[derive(Debug)]
pub enum Before {
    /// No step, or no step any more.
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

    /// The address of the client from the load balancer; `Err` until it has arrived.
    pub fn client(&self) -> Result<Option<SocketAddr>, ()> {
        match self.before {
            Before::Announcement => Err(()),
            _ => Ok(self.client),
        }
    }

    /// The certificate of the peer, after it has been verified.
    pub fn certificate(&self) -> Option<&PeerCertificate> {
        self.tls.as_ref()?.certificate()
    }

    /// Continues the steps that come before messages. Returns true when messages may follow.
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

    /// Whether the peer may still be working on the handshake, because it has sent nothing since. The connection is
    /// established in this case.
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

    /// Writes as many of the bytes as possible. Returns their number, and whether the stream has accepted everything.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<(usize, bool)> {
        match &mut self.tls {
            Some(tls) => tls.write(&mut self.stream, bytes),
            None => {
                let count = self.stream.write(bytes)?;
                Ok((count, count == bytes.len()))
            }
        }
    }

    /// Writes data that was accepted earlier. Returns true when nothing is left. An error shows at the next read or
    /// write.
    pub fn flush(&mut self) -> bool {
        let Self { tls, stream, .. } = self;
        tls.as_mut()
            .is_none_or(|tls| tls.flush(stream).unwrap_or(true))
    }

    /// Sends TLS's notification that the connection is closed.
    pub fn close(mut self) -> TcpStream {
        if let (Some(tls), Before::Nothing) = (&mut self.tls, &self.before) {
            tls.close(&mut self.stream);
        }
        self.stream
    }

    /// Does the step that comes before TLS.
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

/// Adds received data to `held` without removing it from the stream.
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

/// Removes inspected data from the stream.
fn take(stream: &mut TcpStream, count: usize) -> io::Result<()> {
    let mut bytes = vec![0; count];
    stream.read_exact(&mut bytes)
}
