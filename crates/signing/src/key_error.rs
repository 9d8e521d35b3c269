//! Errors of key files, with what to do about them.

use std::fmt;

/// Why a key cannot be used. The sentences say what to do, and never show a key.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum KeyError {
    /// The file cannot be read.
    Io(String),
    /// Others than its owner may read the file: its mode.
    Exposed(u32),
    /// The file has nothing but blanks.
    Empty,
    /// The file has more bytes than this.
    TooLong(u64),
    /// The file has no private key in PEM.
    NotPem,
    /// The key is encrypted with a password.
    Encrypted,
    /// There is a public key or a certificate only.
    Public,
    /// The key is of another kind: this one.
    NotEd25519(&'static str),
    /// The key cannot be read, or its public key is not its own.
    Damaged,
    /// The file has not the lines of its recipe.
    Lines {
        /// Which lines are needed.
        wanted: &'static str,
        /// How many there are.
        found: usize,
    },
    /// The secret is not in this form of base64.
    NotBase64(&'static str),
    /// The secret is too short; its length in bytes.
    ShortSecret(usize),
    /// The access key ID has other characters than printable ASCII, or is empty.
    AccessKeyId,
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "cannot read it: {error}"),
            Self::Exposed(mode) => write!(
                f,
                "its mode is {:03o}: other users can read it; run chmod 600",
                mode & 0o777
            ),
            Self::Empty => f.write_str("it is empty: put the key into it"),
            Self::TooLong(most) => write!(
                f,
                "it has more than {most} bytes, so it is not a key file: configure the key's file"
            ),
            Self::NotPem => f.write_str(
                "it holds no private key in PEM (-----BEGIN PRIVATE KEY-----): \
                 openssl genpkey -algorithm ed25519 makes one",
            ),
            Self::Encrypted => f.write_str(
                "its key is encrypted: openssl pkey -in THIS -out OTHER writes it without a password; \
                 then run chmod 600",
            ),
            Self::Public => f.write_str(
                "it holds a public key or a certificate, and the private key is needed: configure the other file",
            ),
            Self::NotEd25519(found) => write!(
                f,
                "it holds {found}, and an Ed25519 key is needed: openssl genpkey -algorithm ed25519 makes one"
            ),
            Self::Damaged => {
                f.write_str("its key is damaged: copy it again, or make a new one")
            }
            Self::Lines { wanted, found } => {
                write!(f, "expected {wanted}, found {found}")
            }
            Self::NotBase64(form) => write!(
                f,
                "its secret is not {form}: copy it again, as the venue shows it, on one line"
            ),
            Self::ShortSecret(bytes) => write!(
                f,
                "its secret has only {bytes} bytes: copy all of it, as the venue shows it"
            ),
            Self::AccessKeyId => f.write_str(
                "its access key ID is empty or has blanks or control characters: copy it again",
            ),
        }
    }
}

impl std::error::Error for KeyError {}
