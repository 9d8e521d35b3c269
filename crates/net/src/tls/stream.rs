//! One TLS connection over a stream that does not block.
//!
//! Reads and writes work like those of a [`Host`](crate::Host): they do what is possible now. Received data is read
//! in small steps, so that one connection does not delay the others. The size of a handshake is limited.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;

use rustls::{
    AlertDescription, CertificateError, Connection, Error, InvalidMessage, PeerIncompatible,
    ProtocolVersion,
};

use super::failure::TlsFailure;
use super::pin::PeerCertificate;
use super::unasked::NoCertificate;

/// Maximum number of reads from the stream in one call of [`Stream::read`].
const READS: usize = 8;
/// Alerts with which peers refuse an initiator without a certificate.
const HANDSHAKE_FAILURE: u8 = 40;
const BAD_CERTIFICATE: u8 = 42;
const CERTIFICATE_UNKNOWN: u8 = 46;
const CERTIFICATE_REQUIRED: u8 = 116;
/// Maximum size of a handshake in bytes, certificates included.
const LONGEST_HANDSHAKE: usize = 128 << 10;

/// A TLS connection. The stream itself is not part of it.
#[derive(Debug)]
pub struct Stream {
    tls: Connection,
    certificate: Option<PeerCertificate>,
    handshake_bytes: usize,
    /// Whether the peer has sent anything after the handshake.
    heard: bool,
    /// For an initiator without a certificate: records whether the peer asked for one.
    unasked: Option<Arc<NoCertificate>>,
}

/// Result of a read from a connection.
pub struct Taken {
    /// The number of bytes, which is 0 at the end of the stream, or an error.
    pub result: io::Result<usize>,
    /// Whether more data may be available at once.
    pub more: bool,
}

impl Stream {
    pub(super) fn new(tls: Connection, unasked: Option<Arc<NoCertificate>>) -> Self {
        Self {
            tls,
            certificate: None,
            handshake_bytes: 0,
            heard: false,
            unasked,
        }
    }

    /// The peer's certificate, once the handshake is complete.
    pub fn certificate(&self) -> Option<&PeerCertificate> {
        self.certificate.as_ref()
    }

    /// Reads data that the peer has sent.
    pub fn read(&mut self, stream: &mut (impl Read + Write), into: &mut [u8]) -> Taken {
        let end = |result, more| Taken { result, more };
        for _ in 0..READS {
            match self.tls.reader().read(into) {
                Ok(count) => return end(Ok(count), count > 0),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // The peer has closed the stream without a TLS notification. This is allowed, because a message
                // itself shows where it ends.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return end(Ok(0), false),
                Err(error) => return end(Err(error), false),
            }
            match self.take(stream) {
                Ok(()) => {}
                Err(error) => return end(Err(error), false),
            }
        }
        end(Err(ErrorKind::WouldBlock.into()), true)
    }

    /// Continues the handshake as far as possible. Returns true when it is complete.
    pub fn settle(&mut self, stream: &mut (impl Read + Write)) -> io::Result<bool> {
        self.flush(stream)?;
        while self.tls.is_handshaking() {
            match self.take(stream) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        // This sends the last data of our handshake.
        self.flush(stream)
    }

    /// Whether the peer has sent nothing since the end of the handshake. The handshake ends with our data, but the
    /// peer may still send session tickets.
    pub fn may_hear_tickets(&self) -> bool {
        let is_ours = matches!(self.tls, Connection::Client(_))
            && self.tls.protocol_version() == Some(ProtocolVersion::TLSv1_3);
        is_ours && !self.heard
    }

    /// Reads once, for data that follows the handshake.
    pub fn listen(&mut self, stream: &mut (impl Read + Write)) -> io::Result<()> {
        match self.take(stream) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            result => result,
        }
    }

    /// Reads once from the stream, decrypts the data, and sends the answers that TLS requires.
    fn take(&mut self, stream: &mut (impl Read + Write)) -> io::Result<()> {
        let shaking = self.tls.is_handshaking();
        let count = match self.tls.read_tls(stream) {
            Ok(0) if shaking => return Err(TlsFailure::Closed.into()),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            Err(error) => {
                if error.kind() == ErrorKind::WouldBlock {
                    self.flush(stream)?;
                }
                return Err(error);
            }
        };
        self.heard |= !shaking;
        let processed = self.tls.process_new_packets();
        let flushed = self.flush(stream);
        if let Err(error) = processed {
            // The alert with the reason was sent to the peer, if the stream accepted it.
            return Err(self.reason(&error).into());
        }
        flushed?;
        if shaking {
            self.handshake_bytes += count;
            if self.handshake_bytes > LONGEST_HANDSHAKE {
                return Err(TlsFailure::TooLarge.into());
            }
            if !self.tls.is_handshaking() {
                let shown = self.tls.peer_certificates().and_then(|all| all.first());
                self.certificate = shown.and_then(super::pin::peer_certificate);
            }
        }
        Ok(())
    }

    /// Converts an error of the TLS library to a failure that an operator understands. An alert about a missing
    /// certificate may have several names.
    fn reason(&self, error: &Error) -> TlsFailure {
        match reason(error) {
            TlsFailure::Alert(HANDSHAKE_FAILURE | BAD_CERTIFICATE | CERTIFICATE_UNKNOWN)
                if self.unasked.as_ref().is_some_and(|none| none.was_asked()) =>
            {
                TlsFailure::CertificateRequired
            }
            TlsFailure::Alert(CERTIFICATE_REQUIRED) if self.unasked.is_some() => {
                TlsFailure::CertificateRequired
            }
            other => other,
        }
    }

    /// Writes as many of the bytes as possible. Returns the number of bytes written, and whether the stream has
    /// accepted all of them. Nothing is written until earlier data was accepted.
    pub fn write(&mut self, stream: &mut impl Write, bytes: &[u8]) -> io::Result<(usize, bool)> {
        if !self.flush(stream)? {
            return Err(ErrorKind::WouldBlock.into());
        }
        let mut taken = 0;
        while taken < bytes.len() {
            let count = self.tls.writer().write(&bytes[taken..])?;
            taken += count;
            if !self.flush(stream)? {
                return Ok((taken, false));
            }
            if count == 0 {
                break;
            }
        }
        Ok((taken, true))
    }

    /// Writes encrypted data that waits to be sent. Returns true when nothing is left.
    pub fn flush(&mut self, stream: &mut impl Write) -> io::Result<bool> {
        while self.tls.wants_write() {
            match self.tls.write_tls(stream) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Sends TLS's notification that the connection is closed, as far as the stream accepts it.
    pub fn close(&mut self, stream: &mut impl Write) {
        self.tls.send_close_notify();
        // The connection ends in both cases.
        let _ = self.flush(stream);
    }
}

/// Converts an error of the TLS library to a failure that an operator understands.
fn reason(error: &Error) -> TlsFailure {
    match error {
        Error::InvalidMessage(
            InvalidMessage::InvalidContentType | InvalidMessage::UnknownProtocolVersion,
        ) => TlsFailure::NotTls,
        Error::NoCertificatesPresented => TlsFailure::NoCertificate,
        Error::AlertReceived(alert) => TlsFailure::Alert(code(*alert)),
        Error::InvalidCertificate(error) => certificate(error),
        Error::PeerIncompatible(
            PeerIncompatible::Tls12NotOffered
            | PeerIncompatible::Tls12NotOfferedOrEnabled
            | PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
            | PeerIncompatible::SupportedVersionsExtensionRequired
            // Clients with TLS 1.0 and 1.1 do not have this extension.
            | PeerIncompatible::SignatureAlgorithmsExtensionRequired,
        ) => TlsFailure::Version,
        Error::PeerIncompatible(_) => TlsFailure::Suites,
        Error::PeerSentOversizedRecord => TlsFailure::TooLarge,
        Error::DecryptError => TlsFailure::Undecipherable,
        Error::InvalidMessage(_) => TlsFailure::Malformed,
        Error::PeerMisbehaved(_)
        | Error::InappropriateMessage { .. }
        | Error::InappropriateHandshakeMessage { .. } => TlsFailure::Protocol,
        _ => TlsFailure::Library,
    }
}

fn code(alert: AlertDescription) -> u8 {
    u8::from(alert)
}

fn certificate(error: &CertificateError) -> TlsFailure {
    match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => TlsFailure::Expired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            TlsFailure::NotYetValid
        }
        CertificateError::Revoked => TlsFailure::Revoked,
        CertificateError::UnknownIssuer => TlsFailure::UnknownAuthority,
        CertificateError::UnknownRevocationStatus => TlsFailure::NoRevocationList,
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            TlsFailure::Purpose
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            TlsFailure::Name
        }
        CertificateError::Other(other) => match other.0.downcast_ref() {
            Some(webpki::Error::CaUsedAsEndEntity) => TlsFailure::NotItselfTrusted,
            Some(webpki::Error::UnsupportedCertVersion) => TlsFailure::OldVersion,
            _ => TlsFailure::BadCertificate,
        },
        _ => TlsFailure::BadCertificate,
    }
}
