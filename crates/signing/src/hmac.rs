//! Signs Logons with HMAC-SHA-256, for Coinbase and CME.

use std::fmt;

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use fixwire_protocol::{AdminOut, LogonSigner, SOH, Tag, tag};
use ring::hmac::{HMAC_SHA256, Key, sign};
use zeroize::Zeroizing;

use crate::{KeyError, joined};

/// Minimum length of a secret, in bytes. A shorter one could be found by trying.
const LEAST_SECRET: usize = 16;

/// Accepts secrets with and without padding.
const TOLERANT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);

/// The fields that Coinbase requires to be signed, in this order.
const COINBASE: [Tag; 6] = [
    tag::SENDING_TIME,
    tag::MSG_TYPE,
    tag::MSG_SEQ_NUM,
    tag::SENDER_COMP_ID,
    tag::TARGET_COMP_ID,
    tag::PASSWORD,
];

/// Signs Logons with the secret of an API key, by HMAC-SHA-256.
///
/// The signed text is SendingTime(52), MsgType(35), MsgSeqNum(34), SenderCompID(49), TargetCompID(56) and
/// Password(554), with SOH between them. The signature is written into RawData(96), in base64. SenderCompID is the API
/// key, and Password is the passphrase of the API key.
///
/// # Source
///
/// Coinbase Exchange, FIX API, Logon. Coinbase Prime joins other values, without a separator.
pub struct Coinbase {
    key: Key,
}

impl fmt::Debug for Coinbase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Coinbase(******)")
    }
}

impl Coinbase {
    /// A secret as Coinbase shows it, in base64.
    ///
    /// # Errors
    ///
    /// [`KeyError::NotBase64`] and [`KeyError::ShortSecret`].
    pub fn new(secret: &[u8]) -> Result<Self, KeyError> {
        let base64 = GeneralPurpose::new(&alphabet::STANDARD, TOLERANT);
        let key = hmac_key(&base64, "base64", secret)?;
        Ok(Self { key })
    }
}

impl LogonSigner for Coinbase {
    fn sign(&self, logon: &mut AdminOut<'_>) {
        let payload = joined(logon, &COINBASE, SOH);
        let signature = STANDARD.encode(sign(&self.key, &payload));
        // The engine reports a field that is refused.
        let _ = logon.data(tag::RAW_DATA_LENGTH, tag::RAW_DATA, signature.as_bytes());
    }
}

/// The fields that CME requires to be signed, in this order. CME calls the signed text the canonical FIX message.
const CME: [Tag; 11] = [
    tag::MSG_SEQ_NUM,
    tag::SENDER_COMP_ID,
    tag::SENDER_SUB_ID,
    tag::SENDING_TIME,
    tag::TARGET_SUB_ID,
    tag::HEART_BT_INT,
    tag::SENDER_LOCATION_ID,
    tag::LAST_MSG_SEQ_NUM_PROCESSED,
    tag::APPLICATION_SYSTEM_NAME,
    tag::APPLICATION_SYSTEM_VERSION,
    tag::APPLICATION_SYSTEM_VENDOR,
];
/// The only value of EncryptedPasswordMethod(1400).
const METHOD: &[u8] = b"CME-1-SHA-256";

/// Signs Logons with a secure key pair of CME Globex, by HMAC-SHA-256.
///
/// The signed text is MsgSeqNum(34), SenderCompID(49), SenderSubID(50), SendingTime(52), TargetSubID(57),
/// HeartBtInt(108), SenderLocationID(142), LastMsgSeqNumProcessed(369) and tags 1603, 1604 and 1605, with line ends
/// between them. The access key ID is written into EncodedText(355), and the signature into EncryptedPassword(1402), in
/// base64url without padding. EncryptedPasswordMethod(1400) names the method.
///
/// # Source
///
/// CME Group Client Systems Wiki, Session Layer - Logon (iLink and Drop Copy).
pub struct Cme {
    access_key_id: Vec<u8>,
    key: Key,
}

impl fmt::Debug for Cme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cme(******)")
    }
}

impl Cme {
    /// The access key ID, and the secret key in base64url, as CME shows them.
    ///
    /// # Errors
    ///
    /// [`KeyError::AccessKeyId`], [`KeyError::NotBase64`] and [`KeyError::ShortSecret`].
    pub fn new(access_key_id: &[u8], secret: &[u8]) -> Result<Self, KeyError> {
        let is_printable = access_key_id.iter().all(u8::is_ascii_graphic);
        if access_key_id.is_empty() || !is_printable {
            return Err(KeyError::AccessKeyId);
        }
        let base64 = GeneralPurpose::new(&alphabet::URL_SAFE, TOLERANT);
        let key = hmac_key(&base64, "base64url", secret)?;
        let access_key_id = access_key_id.to_vec();
        Ok(Self { access_key_id, key })
    }
}

impl LogonSigner for Cme {
    fn sign(&self, logon: &mut AdminOut<'_>) {
        let payload = joined(logon, &CME, b'\n');
        let signature = URL_SAFE_NO_PAD.encode(sign(&self.key, &payload));
        // The engine reports a field that is refused.
        let _ = logon.data(
            tag::ENCODED_TEXT_LEN,
            tag::ENCODED_TEXT,
            &self.access_key_id,
        );
        let _ = logon.set(tag::ENCRYPTED_PASSWORD_METHOD, METHOD);
        let _ = logon.data(
            tag::ENCRYPTED_PASSWORD_LEN,
            tag::ENCRYPTED_PASSWORD,
            signature.as_bytes(),
        );
    }
}

fn hmac_key(base64: &GeneralPurpose, form: &'static str, secret: &[u8]) -> Result<Key, KeyError> {
    let bytes = base64.decode(secret).map(Zeroizing::new);
    let bytes = bytes.map_err(|_| KeyError::NotBase64(form))?;
    match bytes.len() {
        len if len < LEAST_SECRET => Err(KeyError::ShortSecret(len)),
        _ => Ok(Key::new(HMAC_SHA256, &bytes)),
    }
}
