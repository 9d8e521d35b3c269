//! Bytes that nobody is shown.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;

use zeroize::Zeroizing;

/// A password or the like: it reads as stars when it is printed, and its memory is overwritten when it
/// is no longer needed.
#[derive(Clone, Default, Eq, PartialEq)]
pub struct Secret(Zeroizing<Vec<u8>>);

impl Deref for Secret {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl From<&[u8]> for Secret {
    fn from(bytes: &[u8]) -> Self {
        Self(Zeroizing::new(bytes.to_vec()))
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        text.as_bytes().into()
    }
}

impl From<Vec<u8>> for Secret {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        text.into_bytes().into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("******")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn a_secret_is_never_shown() {
        assert_eq!(
            format!("{:?}", Some(Secret::from("canary"))),
            "Some(******)"
        );
        assert_eq!(&*Secret::from("canary"), b"canary");
    }
}
