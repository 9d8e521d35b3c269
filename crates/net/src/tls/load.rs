//! Loads certificates, keys and revocation lists from files.
//!
//! PEM and PKCS#12 files can be read. For a Java key store, the error names the command that converts the key store.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use fixwire_sys::regular;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};

use super::options::{Authority, Identity, TlsError, TlsPart};

/// Maximum size of a file, in bytes.
const LARGEST: u64 = 64 << 20;
/// Maximum number of files in a folder.
const MOST_FILES: usize = 10_000;

/// SHA-256 of the SubjectPublicKeyInfo of public keys whose private keys have been published. The sample key store of
/// QuickFIX/J has one of these published keys.
const KNOWN_KEYS: [[u8; 32]; 1] = [[
    0xc7, 0x81, 0x29, 0x93, 0x70, 0xa4, 0xe9, 0x4a, 0x8e, 0x96, 0x67, 0xb9, 0xb2, 0x6b, 0x95,
    0x9d, //
    0x3c, 0xa1, 0x8d, 0x75, 0x6c, 0x37, 0xad, 0xe8, 0xb1, 0x80, 0xe5, 0xdc, 0x23, 0xde, 0x93, 0x8d,
]];
/// SHA-256 of the sample key store of QuickFIX/J.
const KNOWN_STORE: [u8; 32] = [
    0xeb, 0x3a, 0x63, 0xc9, 0x73, 0x58, 0xa3, 0x36, 0xa3, 0xea, 0xef, 0xb8, 0x70, 0x99, 0xef,
    0x6e, //
    0x5d, 0x60, 0x7e, 0x6b, 0xad, 0x8c, 0x6e, 0x8c, 0x6d, 0x20, 0xe6, 0xd1, 0xab, 0xf7, 0xa9, 0xde,
];
const KNOWN: &str = "this is the sample key of QuickFIX/J, whose private key everybody has: have a \
                     certificate of your own issued";

type Chain = Vec<CertificateDer<'static>>;

/// A certificate chain and the key of its certificate.
pub(super) fn identity(from: &Identity) -> Result<(Chain, PrivateKeyDer<'static>), TlsError> {
    let part = TlsPart::Identity;
    let (chain, key, file) = match from {
        Identity::Pem { chain, key } => {
            let certificates = pem_certificates(chain, part)?;
            (certificates, pem_key(key)?, chain)
        }
        Identity::KeyStore { file, password } => {
            let bytes = read(file, part)?;
            refuse_java(&bytes, file, part)?;
            let (chain, key) = key_store::identity(&bytes, password)
                .map_err(|note| TlsError::of_file(part, file, note))?;
            (chain, key, file)
        }
    };
    let known = chain.iter().any(|certificate| {
        super::pin::peer_certificate(certificate)
            .is_some_and(|certificate| KNOWN_KEYS.contains(&certificate.spki))
    });
    if known {
        return Err(TlsError::of_file(part, file, KNOWN));
    }
    Ok((chain, key))
}

/// The certificates of authorities. Certificates of the system that cannot be read are skipped.
pub(super) fn authorities(from: &[Authority]) -> Result<Chain, TlsError> {
    let part = TlsPart::Authorities;
    let mut all = Vec::new();
    for authority in from {
        match authority {
            Authority::Pem(path) => {
                for file in files(path, part)? {
                    match pem_certificates(&file, part) {
                        Ok(found) => all.extend(found),
                        // A folder may contain other files.
                        Err(_) if file != *path => {}
                        Err(error) => return Err(error),
                    }
                }
            }
            Authority::KeyStore { file, password } => {
                let bytes = read(file, part)?;
                refuse_java(&bytes, file, part)?;
                let found = key_store::certificates(&bytes, password)
                    .map_err(|note| TlsError::of_file(part, file, note))?;
                all.extend(found);
            }
            Authority::System => all.extend(rustls_native_certs::load_native_certs().certs),
        }
    }
    Ok(all)
}

/// The revocation lists in files and folders.
pub(super) fn revocation_lists(
    from: &[PathBuf],
) -> Result<Vec<CertificateRevocationListDer<'static>>, TlsError> {
    let part = TlsPart::RevocationLists;
    let mut all = Vec::new();
    for path in from {
        let before = all.len();
        for file in files(path, part)? {
            let bytes = read(&file, part)?;
            let pem = CertificateRevocationListDer::pem_slice_iter(&bytes);
            let found: Vec<_> = pem.filter_map(Result::ok).collect();
            if !found.is_empty() {
                all.extend(found);
            } else if bytes.first() == Some(&DER_SEQUENCE) {
                all.push(CertificateRevocationListDer::from(bytes));
            } else if file == *path {
                let note = "holds no revocation list (PEM or DER)";
                return Err(TlsError::of_file(part, path, note));
            }
        }
        if all.len() == before {
            return Err(TlsError::of_file(part, path, "holds no revocation list"));
        }
    }
    Ok(all)
}

const DER_SEQUENCE: u8 = 0x30;

fn pem_certificates(file: &Path, part: TlsPart) -> Result<Chain, TlsError> {
    let bytes = read(file, part)?;
    refuse_java(&bytes, file, part)?;
    let found: Result<Chain, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) if bytes.first() == Some(&DER_SEQUENCE) => Ok(vec![CertificateDer::from(bytes)]),
        Ok(_) => Err(TlsError::of_file(part, file, "holds no certificate (PEM)")),
        Err(error) => Err(TlsError::of_file(
            part,
            file,
            format!("is not a PEM file: {error}"),
        )),
    }
}

fn pem_key(file: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let part = TlsPart::Identity;
    let bytes = zeroize::Zeroizing::new(read(file, part)?);
    refuse_java(&bytes, file, part)?;
    PrivateKeyDer::from_pem_slice(&bytes).map_err(|_| {
        let encrypted = bytes.windows(9).any(|part| part == b"ENCRYPTED");
        let note = if encrypted {
            "the private key is encrypted: decrypt it with `openssl pkey -in KEY -out NEW`, or put \
             certificate and key in a PKCS#12 file, which has a password"
        } else {
            "holds no private key (PEM: PKCS#8, PKCS#1 or SEC1)"
        };
        TlsError::of_file(part, file, note)
    })
}

/// The file itself, or the files in a folder, sorted by name.
fn files(path: &Path, part: TlsPart) -> Result<Vec<PathBuf>, TlsError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let cannot = |error| TlsError::of_file(part, path, format!("cannot be read: {error}"));
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.is_file() {
            found.push(path);
        }
        if found.len() > MOST_FILES {
            let note = format!("holds more than {MOST_FILES} files");
            return Err(TlsError::of_file(part, &path_of(&found), note));
        }
    }
    found.sort();
    Ok(found)
}

fn path_of(found: &[PathBuf]) -> PathBuf {
    let folder = found.first().and_then(|file| file.parent());
    folder.unwrap_or(Path::new("")).to_owned()
}

fn read(file: &Path, part: TlsPart) -> Result<Vec<u8>, TlsError> {
    let cannot = |error| TlsError::of_file(part, file, format!("cannot be read: {error}"));
    let mut bytes = Vec::new();
    let opened = regular::open(file).map_err(cannot)?;
    opened
        .take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(cannot)?;
    if bytes.len() as u64 > LARGEST {
        return Err(TlsError::of_file(part, file, "is larger than 64 MiB"));
    }
    Ok(bytes)
}

/// Refuses a key store in Java's own format, and the sample key store of QuickFIX/J.
fn refuse_java(bytes: &[u8], file: &Path, part: TlsPart) -> Result<(), TlsError> {
    if super::pin::sha256(bytes) == KNOWN_STORE {
        return Err(TlsError::of_file(part, file, KNOWN));
    }
    let kind = match bytes.get(..4) {
        Some([0xFE, 0xED, 0xFE, 0xED]) => "JKS",
        Some([0xCE, 0xCE, 0xCE, 0xCE]) => "JCEKS",
        _ => return Ok(()),
    };
    let name = file.display();
    let note = format!(
        "is a Java key store ({kind}), which only Java reads; convert it: keytool -importkeystore \
         -srckeystore {name} -destkeystore {name}.p12 -deststoretype PKCS12"
    );
    Err(TlsError::of_file(part, file, note))
}

/// PKCS#12.
#[cfg(feature = "pkcs12")]
mod key_store {
    use p12_keystore::{KeyStore, KeyStoreEntry, Pkcs12Archive, Pkcs12ImportPolicy};
    use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

    use super::Chain;

    fn reason(error: &p12_keystore::error::Error) -> String {
        match error {
            p12_keystore::error::Error::MacError(_) => "the password is wrong".to_owned(),
            error => format!("cannot be read as a PKCS#12 file with this password: {error}"),
        }
    }

    pub fn identity(
        bytes: &[u8],
        password: &str,
    ) -> Result<(Chain, PrivateKeyDer<'static>), String> {
        let store = KeyStore::from_pkcs12(bytes, password, Pkcs12ImportPolicy::Relaxed)
            .map_err(|error| reason(&error))?;
        let mut keys = store.entries().filter_map(|(_, entry)| match entry {
            KeyStoreEntry::PrivateKeyChain(chain) => Some(chain),
            _ => None,
        });
        let chain = keys.next().ok_or("holds no private key")?;
        if keys.next().is_some() {
            return Err("holds more than one private key: keep only the one to use".into());
        }
        if chain.certs().is_empty() {
            return Err("holds no certificate of its private key".into());
        }
        let certificates = chain.certs().iter();
        let certificates = certificates.map(|it| CertificateDer::from(it.as_der().to_vec()));
        let key = PrivatePkcs8KeyDer::from(chain.key().as_der().to_vec());
        Ok((certificates.collect(), key.into()))
    }

    pub fn certificates(bytes: &[u8], password: &str) -> Result<Chain, String> {
        let archive =
            Pkcs12Archive::from_pkcs12(bytes, password).map_err(|error| reason(&error))?;
        let certificates = archive.certs.iter();
        let certificates: Chain = certificates
            .map(|bag| CertificateDer::from(bag.cert.as_der().to_vec()))
            .collect();
        if certificates.is_empty() {
            return Err("holds no certificate".into());
        }
        Ok(certificates)
    }
}

/// Replaces the module in a build without PKCS#12.
#[cfg(not(feature = "pkcs12"))]
mod key_store {
    use rustls::pki_types::PrivateKeyDer;

    use super::Chain;

    const NOTE: &str = "a key store has to be PKCS#12, which this build of fixwire does not read, as its cargo feature `pkcs12` is \
                        off: build it with `cargo build --release --features pkcs12`, or convert the file to PEM with \
                        `openssl pkcs12`";

    pub fn identity(_: &[u8], _: &str) -> Result<(Chain, PrivateKeyDer<'static>), String> {
        Err(NOTE.into())
    }

    pub fn certificates(_: &[u8], _: &str) -> Result<Chain, String> {
        Err(NOTE.into())
    }
}
