//! Signatures of Logons, as venues require them.
//!
//! A signature scheme takes values of a Logon as they will be sent, including MsgSeqNum(34) and SendingTime(52), signs
//! them with a key, and writes the signature into the Logon:
//!
//! | recipe | values | key | signature |
//! | --- | --- | --- | --- |
//! | [`Ed25519`] (Binance) | 35, 49, 56, 34, 52, with SOH between | Ed25519 | base64 in RawData(96) |
//! | [`Coinbase`] | 52, 35, 34, 49, 56, 554, with SOH between | HMAC-SHA-256 | base64 in RawData(96) |
//! | [`Cme`] | 34, 49, 50, 52, 57, 108, 142, 369, 1603, 1604, 1605, with line ends between | HMAC-SHA-256 | base64url in EncryptedPassword(1402) |
//!
//! Each scheme is a [`LogonSigner`](fixwire_protocol::LogonSigner) for the configuration of a session. A program can
//! also call it in [`Application::on_admin_out`](fixwire_protocol::Application::on_admin_out):
//!
//! ```
//! use fixwire_protocol::{AdminOut, Application, LogonSigner, Message, Now, Outbox, Refusal, SessionId};
//! use fixwire_signing::Coinbase;
//!
//! struct Desk {
//!     key: Coinbase,
//! }
//!
//! impl Application for Desk {
//!     fn on_admin_out(&mut self, _: Now, _: SessionId, message: &mut AdminOut<'_>) {
//!         if message.msg_type() == b"A" {
//!             self.key.sign(message);
//!         }
//!     }
//! #   fn on_message(&mut self, _: Now, _: SessionId, _: &Message<'_>, _: &mut Outbox) -> Result<(), Refusal> {
//! #       Ok(())
//! #   }
//! }
//! ```
//!
//! [`LogonSignature`] is any of the schemes, selected by its name in the settings, with a key file.
#![forbid(unsafe_code)]

mod ed25519;
mod hmac;
mod key_error;
mod logon_signature;

pub use ed25519::Ed25519;
pub use hmac::{Cme, Coinbase};
pub use key_error::KeyError;
pub use logon_signature::LogonSignature;

use fixwire_protocol::{AdminOut, Tag};
use zeroize::Zeroizing;

/// The values of these fields, with a separator between them. A missing field counts as an empty value.
fn joined(logon: &AdminOut<'_>, tags: &[Tag], separator: u8) -> Zeroizing<Vec<u8>> {
    let values: Vec<&[u8]> = tags
        .iter()
        .map(|tag| logon.get(*tag).unwrap_or_default())
        .collect();
    Zeroizing::new(values.join(&separator))
}

#[cfg(test)]
mod tests;
