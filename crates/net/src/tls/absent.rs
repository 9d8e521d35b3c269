//! Stands for TLS in a build without TLS. Nothing here can be created, so nothing is ever used.

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

/// Result of a read from a connection.
pub struct Taken {
    /// The number of bytes, or an error.
    pub result: io::Result<usize>,
    /// Whether more data may be available at once.
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

    /// Reads data that the peer has sent.
    pub fn read(&mut self, _: &mut (impl Read + Write), _: &mut [u8]) -> Taken {
        match self.0 {}
    }

    /// Continues the handshake. Returns whether it is complete.
    pub fn settle(&mut self, _: &mut (impl Read + Write)) -> io::Result<bool> {
        match self.0 {}
    }

    /// Whether the peer may still send data after the handshake.
    pub fn may_hear_tickets(&self) -> bool {
        match self.0 {}
    }

    /// Reads once, for data that follows the handshake.
    pub fn listen(&mut self, _: &mut (impl Read + Write)) -> io::Result<()> {
        match self.0 {}
    }

    /// Writes as many of the bytes as possible.
    pub fn write(&mut self, _: &mut impl Write, _: &[u8]) -> io::Result<(usize, bool)> {
        match self.0 {}
    }

    /// Writes encrypted data that waits to be sent.
    pub fn flush(&mut self, _: &mut impl Write) -> io::Result<bool> {
        match self.0 {}
    }

    /// Sends TLS's notification that the connection is closed.
    pub fn close(&mut self, _: &mut impl Write) {
        match self.0 {}
    }
}
