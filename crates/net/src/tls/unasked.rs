//! Records for an initiator without a certificate whether the peer asked for one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustls::SignatureScheme;
use rustls::client::ResolvesClientCert;
use rustls::sign::CertifiedKey;

/// Presents no certificate, and records that the peer asked for one. Each connection has its own value.
#[derive(Debug, Default)]
pub(super) struct NoCertificate(AtomicBool);

impl NoCertificate {
    /// Whether the peer has asked for a certificate.
    pub(super) fn was_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl ResolvesClientCert for NoCertificate {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.0.store(true, Ordering::Relaxed);
        None
    }

    fn has_certs(&self) -> bool {
        // The library calls this only if the peer asks for a certificate.
        true
    }
}
