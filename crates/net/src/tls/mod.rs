//! TLS 1.2 and 1.3 for sessions: options, trusted certificates, and one TLS connection.
//!
//! ```text
//! TlsOptions --load--> certificates, keys, lists --context--> Tls        at the start, once
//! Tls --> Stream: bytes of the socket <--> bytes of messages            for each connection
//! ```
//!
//! Only cipher suites with forward secrecy and authenticated encryption are supported. No session is resumed, so every
//! connection presents its certificate. The library supports no renegotiation, compression or early data. Certificates,
//! keys and revocation lists are read when the engine starts.

mod failure;
mod options;
mod pin;

#[cfg(feature = "tls")]
mod context;
#[cfg(feature = "tls")]
mod der;
#[cfg(feature = "tls")]
mod load;
#[cfg(feature = "tls")]
mod stream;
#[cfg(feature = "tls")]
mod trusted;
#[cfg(feature = "tls")]
mod unasked;

#[cfg(not(feature = "tls"))]
mod absent;

use std::fmt;
use std::sync::Arc;

pub use failure::TlsFailure;
pub use options::{Authority, ClientCertificates, Identity, Suite, TlsError, TlsOptions, TlsPart};
pub use pin::allowed;
pub use pin::{PeerCertificate, Pin, Spki};

#[cfg(not(feature = "tls"))]
use absent::Context;
#[cfg(not(feature = "tls"))]
pub use absent::{Stream, Taken};
#[cfg(feature = "tls")]
use context::Context;
#[cfg(feature = "tls")]
pub use stream::{Stream, Taken};

/// One side of TLS with its files loaded. Clones share the loaded files.
#[derive(Clone)]
pub struct Tls {
    options: Arc<TlsOptions>,
    context: Arc<Context>,
}

impl Tls {
    /// TLS for sessions whose peers connect to us.
    ///
    /// # Errors
    ///
    /// [`TlsError`] when a file cannot be read or used, or when the build has no TLS.
    pub fn acceptor(options: TlsOptions) -> Result<Self, TlsError> {
        let context = Arc::new(Context::acceptor(&options)?);
        let options = Arc::new(options);
        Ok(Self { options, context })
    }

    /// TLS for sessions that connect to their peers.
    ///
    /// # Errors
    ///
    /// See [`Tls::acceptor`].
    pub fn initiator(options: TlsOptions) -> Result<Self, TlsError> {
        let context = Arc::new(Context::initiator(&options)?);
        let options = Arc::new(options);
        Ok(Self { options, context })
    }

    /// The options from which this was made.
    #[must_use]
    pub fn options(&self) -> &TlsOptions {
        &self.options
    }

    /// TLS for an accepted connection.
    pub fn accept(&self) -> Result<Stream, TlsFailure> {
        self.context.accept()
    }

    /// TLS for a connection to this host.
    pub fn connect(&self, host: &str) -> Result<Stream, TlsFailure> {
        let name = self.options.server_name.as_deref().unwrap_or(host);
        self.context.connect(name)
    }
}

impl PartialEq for Tls {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.context, &other.context) || self.options == other.options
    }
}

impl Eq for Tls {}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.options.fmt(f)
    }
}
