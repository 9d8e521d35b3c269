//! Secrets do not reach the journal: passwords in a Logon are starred out before it is kept.
//!
//! Logon and UserRequest are never resent, so nobody misses the bytes. Lengths stay, and CheckSum is
//! made right again, so that the stored message still is one.

use std::ops::Range;

use fixwire_protocol::{Decoder, Tag, frame, tag};

/// Fields whose values nobody may read later.
const SECRETS: [Tag; 5] = [
    tag::PASSWORD,
    tag::NEW_PASSWORD,
    tag::RAW_DATA,
    tag::ENCRYPTED_PASSWORD,
    tag::ENCRYPTED_NEW_PASSWORD,
];
/// `10=ddd` and SOH.
const TRAILER: usize = 7;

/// Makes copies without secrets.
pub(crate) struct Redactor {
    decoder: Decoder,
    bytes: Vec<u8>,
    /// Which messages of the outbox have a copy, and where it stands.
    copies: Vec<(usize, Range<usize>)>,
}

impl Redactor {
    pub(crate) fn new(max_message: usize) -> Self {
        Self {
            decoder: Decoder::with_capacity(512),
            bytes: Vec::with_capacity(max_message),
            copies: Vec::new(),
        }
    }

    /// Whether messages of this type may hold secrets.
    #[inline]
    pub(crate) fn concerns(msg_type: &[u8]) -> bool {
        matches!(msg_type, b"A" | b"BE")
    }

    /// Makes a copy of the message of this index, if it holds a secret.
    #[cold]
    pub(crate) fn copy(&mut self, index: usize, message: &[u8]) {
        let start = self.bytes.len();
        let mut secret = false;
        for field in self.decoder.decode(message).fields() {
            if SECRETS.contains(&field.tag) {
                if !secret {
                    self.bytes.extend_from_slice(message);
                }
                secret = true;
                self.bytes[start + field.start as usize..start + field.end as usize].fill(b'*');
            }
        }
        if secret && message.len() > TRAILER {
            let copy = &mut self.bytes[start..];
            let at = copy.len() - TRAILER;
            let sum = frame::check_sum(&copy[..at]);
            copy[at + 3..at + 6].copy_from_slice(&[
                b'0' + sum / 100,
                b'0' + sum / 10 % 10,
                b'0' + sum % 10,
            ]);
            self.copies.push((index, start..self.bytes.len()));
        }
    }

    /// The copy of a message, or the message itself when it needed none.
    #[inline]
    pub(crate) fn kept<'a>(&'a self, index: usize, message: &'a [u8]) -> &'a [u8] {
        if self.copies.is_empty() {
            return message;
        }
        let copy = self.copies.iter().find(|copy| copy.0 == index);
        copy.map_or(message, |(_, range)| &self.bytes[range.clone()])
    }

    /// Forgets all copies.
    #[inline]
    pub(crate) fn clear(&mut self) {
        if !self.copies.is_empty() {
            self.bytes.fill(0);
            self.bytes.clear();
            self.copies.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire_protocol::Frame;

    #[test]
    fn secrets_are_starred_out_and_the_copy_is_still_a_message() {
        let body = "35=A\x0134=1\x0195=5\x0196=a\x01b=c\x01553=me\x01554=tiger\x01";
        let whole = format!("8=FIX.4.4\x019={}\x01{body}", body.len());
        let whole = format!("{whole}10={:03}\x01", frame::check_sum(whole.as_bytes()));
        let mut redactor = Redactor::new(1024);
        redactor.copy(3, whole.as_bytes());
        let kept = redactor.kept(3, whole.as_bytes());
        let text = String::from_utf8_lossy(kept);
        assert!(
            text.contains("\x0196=*****\x01553=me\x01554=*****\x01"),
            "{text}"
        );
        assert_eq!(
            frame::next(kept, 1024),
            Frame::Whole {
                skip: 0,
                len: whole.len()
            }
        );
        assert_eq!(redactor.kept(4, b"other"), b"other");
        redactor.clear();
        assert_eq!(redactor.kept(3, b"same"), b"same");
    }
}
