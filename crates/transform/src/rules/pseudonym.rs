//! Replaces a value by its hash. Equal values get equal hashes; nothing else about a value is revealed.

use alloc::boxed::Box;
use alloc::vec::Vec;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// An example of a pseudonym.
pub(super) const SAMPLE: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// The hash of a value, for `format F sha256` in rules and for the digits of pseudonyms in logs.
///
/// # Source
///
/// SHA-256 of FIPS 180-4; with a key, HMAC of RFC 2104 over it.
#[derive(Clone, Debug)]
pub struct Pseudonym {
    /// The HMAC with its key; `None` without a key.
    keyed: Option<Box<Hmac<Sha256>>>,
}

impl Pseudonym {
    /// A hash with this key. Without a key, everybody can compute the pseudonym of a value.
    #[must_use]
    pub fn new(key: Option<&[u8]>) -> Self {
        let keyed = key.map(|key| {
            let mut block = [0; 64];
            match block.get_mut(..key.len()) {
                Some(start) => start.copy_from_slice(key),
                None => block[..32].copy_from_slice(&Sha256::digest(key)),
            }
            Box::new(Hmac::new(&block.into()))
        });
        Self { keyed }
    }

    /// The hash of a value.
    #[must_use]
    pub fn hash(&self, value: &[u8]) -> [u8; 32] {
        match &self.keyed {
            Some(keyed) => {
                let mut keyed = Hmac::clone(keyed);
                keyed.update(value);
                keyed.finalize().into_bytes().into()
            }
            None => Sha256::digest(value).into(),
        }
    }

    /// Replaces a value by the 64 hexadecimal digits of its hash. The value is the end of a text, from `start` on.
    pub(super) fn replace(&self, text: &mut Vec<u8>, start: usize) {
        let hash = self.hash(&text[start..]);
        text.truncate(start);
        for byte in hash {
            let digit = |half: u8| b"0123456789abcdef"[usize::from(half)];
            text.extend([digit(byte >> 4), digit(byte & 15)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    fn of(value: &str, key: Option<&[u8]>) -> String {
        let mut value = value.into();
        Pseudonym::new(key).replace(&mut value, 0);
        String::from_utf8(value).unwrap()
    }

    /// FIPS 180-4, and cases 2 and 6 of RFC 4231.
    #[test]
    fn hashes_are_those_of_the_standards() {
        assert_eq!(of("", None), SAMPLE);
        assert_eq!(
            of("abc", None),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(
            of("what do ya want for nothing?", Some(b"Jefe")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            of(
                "Test Using Larger Than Block-Size Key - Hash Key First",
                Some(&[0xaa; 131])
            ),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }
}
