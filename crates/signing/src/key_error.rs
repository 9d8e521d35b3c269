//! Errors of key files. Each error says what to do.

use std::fmt;

/// Why a key cannot be used. The texts say what to do, and never show a key.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum KeyError {
    /// The file cannot be read.
    Io(String),
    /// Users other than the owner may read the file. The value is the mode of the file.
    Exposed(u32),
    /// The file is empty, or has only blanks.
    Empty,
    /// The file is longer than this maximum, in bytes.
    TooLong(u64),
    /// The file has no private key in PEM.
    NotPem,
    /// The key is encrypted with a password.
    Encrypted,
    /// The text has only a public key or a certificate.
    Public,
    /// The key is of another kind, which the value names.
    NotEd25519(&'static str),
    /// The key cannot be read, or the public key in it does not belong to it.
    Damaged,
    /// The file does not have the lines that its signature scheme requires.
    Lines {
        /// The required lines.
        wanted: &'static str,
        /// The number of lines in the file.
        found: usize,
    },
    /// The secret is not in this form of base64.
    NotBase64(&'static str),
    /// The secret is too short. The value is the length of the secret in bytes.
    ShortSecret(usize),
    /// The access key ID is empty, or has characters other than printable ASCII.
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
