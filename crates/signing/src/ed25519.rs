//! Signs Logons with Ed25519, for Binance.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fixwire_protocol::{AdminOut, LogonSigner, SOH, Tag, tag};
use ring::signature::Ed25519KeyPair;
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject;

use crate::{KeyError, joined};

/// The signed fields, in this order.
const SIGNED: [Tag; 5] = [
    tag::MSG_TYPE,
    tag::SENDER_COMP_ID,
    tag::TARGET_COMP_ID,
    tag::MSG_SEQ_NUM,
    tag::SENDING_TIME,
];

/// Object identifiers of keys, as they appear in PKCS#8.
const KINDS: [(&[u8], &str); 5] = [
    (b"\x2a\x86\x48\x86\xf7\x0d\x01\x01", "an RSA key"),
    (b"\x2a\x86\x48\xce\x3d\x02\x01", "an EC key"),
    (b"\x2b\x65\x71", "an Ed448 key"),
    (b"\x2b\x65\x6e", "an X25519 key"),
    (b"\x2a\x86\x48\xce\x38\x04\x01", "a DSA key"),
];

/// Signs Logons with an Ed25519 key.
///
/// The signed text is MsgType(35), SenderCompID(49), TargetCompID(56), MsgSeqNum(34) and SendingTime(52), with SOH
/// between them. The signature is written into RawData(96), in base64. The API key must be in Username(553), which is
/// not signed.
///
/// # Source
///
/// Binance, Spot FIX API, how to sign a Logon.
pub struct Ed25519 {
    key: Ed25519KeyPair,
}

impl fmt::Debug for Ed25519 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ed25519(******)")
    }
}

impl Ed25519 {
    /// The private key of a PEM text: PKCS#8, not encrypted, as `openssl genpkey -algorithm ed25519` writes it.
    ///
    /// # Errors
    ///
    /// [`KeyError`], which says what the text has instead of such a key.
    pub fn from_pem(pem: &[u8]) -> Result<Self, KeyError> {
        let has = |text: &[u8]| pem.windows(text.len()).any(|part| part == text);
        if has(b"ENCRYPTED") {
            return Err(KeyError::Encrypted);
        }
        let key = match PrivateKeyDer::from_pem_slice(pem) {
            Ok(PrivateKeyDer::Pkcs8(key)) => key,
            Ok(PrivateKeyDer::Pkcs1(_)) => return Err(KeyError::NotEd25519("an RSA key")),
            Ok(PrivateKeyDer::Sec1(_)) => return Err(KeyError::NotEd25519("an EC key")),
            Ok(_) => return Err(KeyError::NotEd25519("another key")),
            Err(_) if has(b"-----BEGIN PUBLIC KEY") || has(b"-----BEGIN CERTIFICATE") => {
                return Err(KeyError::Public);
            }
            Err(_) => return Err(KeyError::NotPem),
        };
        let der = key.secret_pkcs8_der();
        // Version 2 includes the public key, which is then compared with the private key. Version 1 does not include
        // it.
        Ed25519KeyPair::from_pkcs8_maybe_unchecked(der)
            .map(|key| Self { key })
            .map_err(|_| {
                let head = &der[..der.len().min(32)];
                let is = |kind: &&(&[u8], &str)| head.windows(kind.0.len()).any(|it| it == kind.0);
                match KINDS.iter().find(is) {
                    Some((_, name)) => KeyError::NotEd25519(name),
                    None => KeyError::Damaged,
                }
            })
    }
}

impl LogonSigner for Ed25519 {
    fn sign(&self, logon: &mut AdminOut<'_>) {
        let payload = joined(logon, &SIGNED, SOH);
        let signature = STANDARD.encode(self.key.sign(&payload));
        // The engine reports a field that is refused.
        let _ = logon.data(tag::RAW_DATA_LENGTH, tag::RAW_DATA, signature.as_bytes());
    }
}
