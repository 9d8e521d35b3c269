//! Secrets: values that are never shown.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;

use zeroize::{Zeroize, Zeroizing};

/// A password or another secret, in bytes or as text. When it is printed, it appears as stars. When it is no longer
/// needed, its memory is overwritten.
#[derive(Clone, Default, Eq, PartialEq)]
pub struct Secret<T: Zeroize = Vec<u8>>(Zeroizing<T>);

impl<T: Zeroize + Deref> Deref for Secret<T> {
    type Target = T::Target;

    fn deref(&self) -> &T::Target {
        &self.0
    }
}

impl<T: Zeroize> From<T> for Secret<T> {
    fn from(value: T) -> Self {
        Self(Zeroizing::new(value))
    }
}

impl From<&[u8]> for Secret {
    fn from(bytes: &[u8]) -> Self {
        bytes.to_vec().into()
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        text.as_bytes().into()
    }
}

impl From<&str> for Secret<String> {
    fn from(text: &str) -> Self {
        String::from(text).into()
    }
}

impl<T: Zeroize> fmt::Debug for Secret<T> {
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
        let (bytes, text) = (
            Secret::<Vec<u8>>::from("canary"),
            Secret::<String>::from("canary"),
        );
        assert_eq!(
            format!("{:?} {text:?}", Some(&bytes)),
            "Some(******) ******"
        );
        assert_eq!((&*bytes, &*text), (&b"canary"[..], "canary"));
    }
}
