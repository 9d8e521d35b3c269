//! Tests: published examples of the venues, and invalid key files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fixwire_protocol::{HeaderTemplate, LogonSigner, MsgSeqNumSource, Outbox, SessionId, Tag};
use proptest::prelude::*;

use crate::{Cme, Coinbase, Ed25519, KeyError, LogonSignature};

/// The key of Binance's example.
const BINANCE: &str = "-----BEGIN PRIVATE KEY-----\n\
                       MC4CAQAwBQYDK2VwBCIEIIJEYWtGBrhACmb9Dvy+qa8WEf0lQOl1s4CLIAB9m89u\n\
                       -----END PRIVATE KEY-----\n";
/// The beginnings of an RSA, an EC and an encrypted Ed25519 key, and a public key.
const RSA: &str = "-----BEGIN PRIVATE KEY-----\n\
                   MIICdQIBADANBgkqhkiG9w0BAQEFAASCAl8wggJbAgEA\n\
                   -----END PRIVATE KEY-----\n";
const EC: &str = "-----BEGIN PRIVATE KEY-----\n\
                  MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIB\n\
                  -----END PRIVATE KEY-----\n";
const ENCRYPTED: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----\n\
                         MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAc\n\
                         -----END ENCRYPTED PRIVATE KEY-----\n";
const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\n\
                      MCowBQYDK2VwAyEA/VbyHPdlhgKAqIw90z6HUdbfQcaXZjVF+eiDpYJXm7g=\n\
                      -----END PUBLIC KEY-----\n";

/// The fields of a Logon behind its header, signed.
fn signed(
    signer: &dyn LogonSigner,
    parties: (&str, &str, &[(Tag, &str)]),
    time: &str,
    fields: &[(Tag, &str)],
) -> String {
    let (own, peer, more) = parties;
    let more: Vec<(Tag, &[u8])> = more.iter().map(|(tag, id)| (*tag, id.as_bytes())).collect();
    let header = HeaderTemplate::new(b"FIX.4.4", own.as_bytes(), peer.as_bytes(), &more);
    let mut outbox = Outbox::new(4096, 4, header.room());
    let mut logon = outbox.begin_admin(SessionId(0), b"A", MsgSeqNumSource::Next);
    for (tag, value) in fields {
        logon.field(*tag, value.as_bytes());
    }
    logon.finish().unwrap();
    let mut refused = Vec::new();
    outbox.change_admin(0, &header, 1, time.as_bytes(), |logon| {
        signer.sign(logon);
        refused.extend_from_slice(logon.refused());
    });
    assert_eq!(refused, []);
    outbox.seal(0, &header, 1, time.as_bytes());
    let text = String::from_utf8_lossy(outbox.sealed(0)).replace('\x01', "|");
    text[text.find("|98=").unwrap()..text.len() - 7].into()
}

/// # Source
///
/// Binance, Spot FIX API, how to sign a Logon: the values to test an implementation with.
#[test]
fn ed25519_signs_as_binance_shows() {
    let key = Ed25519::from_pem(BINANCE.as_bytes()).unwrap();
    let fields = [(98, "0"), (108, "30"), (553, "API-KEY")];
    let text = signed(
        &key,
        ("EXAMPLE", "SPOT", &[]),
        "20240627-11:17:25.223",
        &fields,
    );
    let signature =
        "4MHXelVVcpkdwuLbl6n73HQUXUf1dse2PCgT1DYqW9w8AVZ1RACFGM+5UdlGPrQHrgtS3CvsRURC1oj73j8gCA==";
    assert_eq!(
        text,
        format!("|98=0|108=30|553=API-KEY|95=88|96={signature}|")
    );
    assert_eq!(format!("{key:?}"), "Ed25519(******)");
}

/// # Source
///
/// A test of FIX Antenna .NET Core: a key pair of CME's new release environment, and what it signs.
#[test]
fn cme_signs_as_others_do() {
    let (id, secret) = (
        "oNDxM33uE81ohWuVRtWT",
        "2HlZ7exg8jTKltXnURjKvm3GS5iF5n4ClzHiEm_ocv4",
    );
    let key = Cme::new(id.as_bytes(), secret.as_bytes()).unwrap();
    // LastMsgSeqNumProcessed ends the header.
    let more = [(50, "MSG"), (57, "92"), (142, "US,NY"), (369, "0")];
    let fields = [
        (98, "0"),
        (108, "60"),
        (1603, "BRIO"),
        (1604, "8.0"),
        (1605, "ABC"),
    ];
    let text = signed(
        &key,
        ("B08004N", "CME", &more),
        "20170623-14:48:42.855",
        &fields,
    );
    assert_eq!(
        text,
        "|98=0|108=60|1603=BRIO|1604=8.0|1605=ABC|354=20|355=oNDxM33uE81ohWuVRtWT|1400=CME-1-SHA-256|\
         1401=43|1402=oHZ2Dx1ihFAp7kHOFcJPkijm27xfApJFp-ZhsSCxr3s|"
    );
}

/// The signature is what Python's `hmac` computes of the same values.
#[test]
fn coinbase_signs_as_it_documents() {
    let secret =
        "T/SabUfV28tyVDVv5AsMuk5oqDFdvGwQrfc6f1/RnatGfpAcpAMMRzjfON8nqoL6bAsUI6jkN9gWEX809z1iiA==";
    let key = Coinbase::new(secret.as_bytes()).unwrap();
    let fields = [(98, "0"), (108, "30"), (554, "uxu3qgheh0e")];
    let text = signed(
        &key,
        ("b0744eb59b6951d7955e5e5aaed3709f", "Coinbase", &[]),
        "20211112-16:45:45.856",
        &fields,
    );
    let signature = "e+W/2/MBcI3Rmd5LJGyLI8KrUkxfpwU6PXLGRis3fBw=";
    assert_eq!(
        text,
        format!("|98=0|108=30|554=uxu3qgheh0e|95=44|96={signature}|")
    );
}

fn parse(recipe: &str, text: &str) -> Result<LogonSignature, KeyError> {
    LogonSignature::parse(recipe, text.as_bytes()).expect("a recipe")
}

#[test]
fn each_mistake_in_a_key_file_has_its_sentence() {
    let short =
        "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIIJE\n-----END PRIVATE KEY-----\n";
    let garbage = BINANCE.replace("MC4C", "!!!!");
    for (recipe, text, says) in [
        ("ed25519", "", "it is empty"),
        ("ed25519", " \n\t\n", "it is empty"),
        ("ed25519", "hello", "openssl genpkey -algorithm ed25519"),
        (
            "ed25519",
            RSA,
            "it holds an RSA key, and an Ed25519 key is needed",
        ),
        (
            "ed25519",
            EC,
            "it holds an EC key, and an Ed25519 key is needed",
        ),
        ("ed25519", ENCRYPTED, "openssl pkey -in THIS -out OTHER"),
        ("ed25519", PUBLIC, "the private key is needed"),
        ("ed25519", short, "its key is damaged"),
        ("ed25519", &garbage, "no private key in PEM"),
        ("coinbase", "not base64!", "is not base64"),
        ("coinbase", "YWJj", "only 3 bytes"),
        (
            "coinbase",
            "YWJj\nYWJj",
            "expected one line, the secret of the API key in base64, found 2",
        ),
        (
            "coinbase",
            BINANCE,
            "expected one line, the secret of the API key in base64, found 3",
        ),
        (
            "cme",
            "only-one-line",
            "expected two lines, the access key ID and the secret key, found 1",
        ),
        (
            "cme",
            "ID\n2HlZ7exg8jTKltXnURjKvm3GS5iF5n4ClzHiEm+ocv4",
            "is not base64url",
        ),
        (
            "cme",
            "I D\n2HlZ7exg8jTKltXnURjKvm3GS5iF5n4ClzHiEm_ocv4",
            "access key ID",
        ),
    ] {
        let error = parse(recipe, text).expect_err(says).to_string();
        assert!(error.contains(says), "{recipe}: {error}");
        assert!(!error.contains("YWJj") && !error.contains('\n'), "{error}");
    }
    assert!(LogonSignature::parse("rot13", b"x").is_none());
    // A file as editors leave it.
    let windows = format!("\u{feff}{}\r\n\r\n", BINANCE.replace('\n', "\r\n"));
    assert!(parse("ed25519", &windows).is_ok());
    let secret = "2HlZ7exg8jTKltXnURjKvm3GS5iF5n4ClzHiEm_ocv4=";
    assert!(parse("cme", &format!("\nID\r\n{secret}\r\n")).is_ok());
}

#[test]
fn a_file_that_is_missing_or_that_others_may_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key.pem");
    let read = |path: &Path| LogonSignature::read("ed25519", path).expect("a recipe");
    assert!(matches!(read(&path), Err(KeyError::Io(_))));
    assert!(matches!(read(folder.path()), Err(KeyError::Io(_))));
    fs::write(&path, BINANCE).unwrap();
    let set_mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    for mode in [0o640, 0o604, 0o644, 0o666] {
        set_mode(mode);
        let error = read(&path).unwrap_err();
        assert!(error.to_string().contains("chmod 600"), "{error}");
    }
    for mode in [0o600, 0o400] {
        set_mode(mode);
        assert!(read(&path).is_ok());
    }
    set_mode(0o600);
    fs::write(&path, vec![b'x'; 20_000]).unwrap();
    assert_eq!(read(&path).unwrap_err(), KeyError::TooLong(16 << 10));
    assert!(LogonSignature::read("rot13", &path).is_none());
}

proptest! {
    #[test]
    fn no_bytes_make_a_key_file_panic(text in prop::collection::vec(any::<u8>(), 0..200), cut in 0_usize..200) {
        let pem = BINANCE.as_bytes();
        let edited = [&pem[..cut.min(pem.len())], &text, &pem[cut.min(pem.len())..]].concat();
        for recipe in LogonSignature::NAMES {
            for text in [&text, &edited] {
                if let Some(Err(error)) = LogonSignature::parse(recipe, text) {
                    prop_assert!(!error.to_string().contains('\n'));
                }
            }
        }
    }
}
