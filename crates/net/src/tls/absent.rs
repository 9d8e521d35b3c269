//! TLS in a build without it: nothing can be created, so nothing is ever used.

use std::convert::Infallible;
use std::io::{self, Read, Write};

use super::failure::TlsFailure;
use super::options::{TlsError, TlsOptions, TlsPart};
use super::pin::PeerCertificate;

/// Cannot be created.
#[derive(Debug)]
pub struct Context(Infallible);

/// Cannot be created.
#[derive(Debug)]
pub struct Stream(Infallible);

/// Result of a read.
pub struct Taken {
    /// The number of bytes, or the error.
    pub result: io::Result<usize>,
    /// Whether more may be available at once.
    pub more: bool,
}

impl Context {
    pub fn acceptor(_: &TlsOptions) -> Result<Self, TlsError> {
        Err(TlsError::new(
            TlsPart::Tls,
            TlsFailure::NotBuilt.to_string(),
        ))
    }

    pub fn initiator(_: &TlsOptions) -> Result<Self, TlsError> {
        Err(TlsError::new(
            TlsPart::Tls,
            TlsFailure::NotBuilt.to_string(),
        ))
    }

    pub fn accept(&self) -> Result<Stream, TlsFailure> {
        match self.0 {}
    }

    pub fn connect(&self, _: &str) -> Result<Stream, TlsFailure> {
        match self.0 {}
    }
}

impl Stream {
    /// The peer's certificate, once the handshake is complete.
    pub fn certificate(&self) -> Option<&PeerCertificate> {
        match self.0 {}
    }

    /// Reads what the peer has written.
    pub fn read(&mut self, _: &mut (impl Read + Write), _: &mut [u8]) -> Taken {
        match self.0 {}
    }

    /// Goes on with the handshake: whether it is complete.
    pub fn settle(&mut self, _: &mut (impl Read + Write)) -> io::Result<bool> {
        match self.0 {}
    }

    /// Whether the peer may still send data after the handshake.
    pub fn may_hear_tickets(&self) -> bool {
        match self.0 {}
    }

    /// Reads once for data after the handshake.
    pub fn listen(&mut self, _: &mut (impl Read + Write)) -> io::Result<()> {
        match self.0 {}
    }

    /// Writes a first part of the bytes.
    pub fn write(&mut self, _: &mut impl Write, _: &[u8]) -> io::Result<(usize, bool)> {
        match self.0 {}
    }

    /// Writes encrypted data that waits.
    pub fn flush(&mut self, _: &mut impl Write) -> io::Result<bool> {
        match self.0 {}
    }

    /// Sends the close notification.
    pub fn close(&mut self, _: &mut impl Write) {
        match self.0 {}
    }
}
