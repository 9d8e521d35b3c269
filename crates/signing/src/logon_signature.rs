//! Selects a signature scheme by its name in the settings, with a key file.

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use fixwire_protocol::{AdminOut, LogonSigner};
use fixwire_sys::regular;
use zeroize::Zeroizing;

use crate::{Cme, Coinbase, Ed25519, KeyError};

/// Maximum length of a key file. An RSA key of 16,384 bits is shorter, so that it is refused because of its kind.
const LONGEST_FILE: u64 = 16 << 10;

/// One of the signature schemes, with its key.
#[derive(Debug)]
pub enum LogonSignature {
    /// See [`Ed25519`].
    Ed25519(Ed25519),
    /// See [`Coinbase`].
    Coinbase(Coinbase),
    /// See [`Cme`].
    Cme(Cme),
}

impl LogonSignature {
    /// The names of the signature schemes.
    pub const NAMES: [&str; 3] = ["ed25519", "coinbase", "cme"];

    /// Reads the key file of the signature scheme with this name; `None` for an unknown name. Users other than the
    /// owner must not be allowed to read the file.
    ///
    /// # Errors
    ///
    /// [`KeyError`], which says what is wrong with the file.
    pub fn read(recipe: &str, path: &Path) -> Option<Result<Self, KeyError>> {
        let text = match read_file(path) {
            Ok(text) => text,
            Err(error) => return Self::NAMES.contains(&recipe).then_some(Err(error)),
        };
        Self::parse(recipe, &text)
    }

    /// Reads the content of a key file: a PEM text for `ed25519`, one line with the secret for `coinbase`, two lines
    /// with the access key ID and the secret key for `cme`. `None` for an unknown name.
    ///
    /// # Errors
    ///
    /// [`KeyError`], which says what is wrong with the text.
    pub fn parse(recipe: &str, text: &[u8]) -> Option<Result<Self, KeyError>> {
        if !Self::NAMES.contains(&recipe) {
            return None;
        }
        // Some editors begin a file with a byte order mark.
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let text = text.trim_ascii();
        if text.is_empty() {
            return Some(Err(KeyError::Empty));
        }
        let lines = || text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let lines: Vec<&[u8]> = lines().filter(|line| !line.is_empty()).collect();
        let found = lines.len();
        Some(match (recipe, &lines[..]) {
            ("ed25519", _) => Ed25519::from_pem(text).map(Self::Ed25519),
            ("coinbase", [secret]) => Coinbase::new(secret).map(Self::Coinbase),
            ("coinbase", _) => Err(KeyError::Lines {
                wanted: "one line, the secret of the API key in base64",
                found,
            }),
            (_, [id, secret]) => Cme::new(id, secret).map(Self::Cme),
            _ => Err(KeyError::Lines {
                wanted: "two lines, the access key ID and the secret key",
                found,
            }),
        })
    }
}

impl LogonSigner for LogonSignature {
    fn sign(&self, logon: &mut AdminOut<'_>) {
        match self {
            Self::Ed25519(recipe) => recipe.sign(logon),
            Self::Coinbase(recipe) => recipe.sign(logon),
            Self::Cme(recipe) => recipe.sign(logon),
        }
    }
}

fn read_file(path: &Path) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let io = |error: std::io::Error| KeyError::Io(error.to_string());
    let file = regular::open(path).map_err(io)?;
    let facts = file.metadata().map_err(io)?;
    if facts.mode() & 0o077 != 0 {
        return Err(KeyError::Exposed(facts.mode()));
    }
    // The buffer is never moved, so that no copy of the key is left in memory.
    let mut text = Zeroizing::new(Vec::with_capacity(LONGEST_FILE as usize + 1));
    file.take(LONGEST_FILE + 1)
        .read_to_end(&mut text)
        .map_err(io)?;
    match text.len() as u64 {
        0..=LONGEST_FILE => Ok(text),
        _ => Err(KeyError::TooLong(LONGEST_FILE)),
    }
}
