//! Splits a fuzzer's bytes into decisions, numbers and messages.

use fixwire_protocol::{SOH, frame};

/// Takes decisions from the front of the input; at its end all of them are zero.
#[derive(Clone, Debug)]
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// The remaining bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether no byte is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    /// A number from two bytes.
    pub fn short(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    /// Up to `most` bytes: the next byte gives the number.
    pub fn piece(&mut self, most: usize) -> &'a [u8] {
        let len = usize::from(self.byte()).min(most).min(self.0.len());
        let (piece, rest) = self.0.split_at(len);
        self.0 = rest;
        piece
    }

    /// The next `count` bytes, or all that are left.
    pub fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// All remaining bytes.
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }
}

/// The bytes with SOH in the place of `|`, so that seeds can be read and edited.
pub fn with_soh(text: &[u8]) -> Vec<u8> {
    let soh = |byte: &u8| if *byte == b'|' { SOH } else { *byte };
    text.iter().map(soh).collect()
}

/// A message of this body, which begins with the value of MsgType; BodyLength and CheckSum are right.
pub fn message(begin_string: &str, body: &[u8]) -> Vec<u8> {
    let mut body = with_soh(body);
    if body.last() != Some(&SOH) {
        body.push(SOH);
    }
    let mut bytes = format!("8={begin_string}\x019={}\x0135=", body.len() + 3).into_bytes();
    bytes.extend(body);
    let sum = frame::check_sum(&bytes);
    bytes.extend(format!("10={sum:03}\x01").into_bytes());
    bytes
}

/// Bytes for a sentence.
pub fn show(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(400)]);
    text.replace('\x01', "|").escape_debug().to_string()
}
