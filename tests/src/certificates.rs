//! Test certificates for both sides, in the files that each engine reads.

use std::fs;
use std::path::Path;
use std::process::Command;

use fixwire::tls::{Authority, ClientCertificates, Identity, Pin, Tls, TlsOptions};
use fixwire::transport::{Password, Transport};
use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};

use crate::peers::Role;

const PASSWORD: &str = "changeit";
/// The name in our certificate and in the peer's.
const OURS: &str = "fixwire.test";
const PEERS: &str = "peer.test";

/// Fills a folder with `ca.pem`; `peer.pem`, `peer.key` and `peer.p12`; `own.p12`, written by Java; and `trust.p12`,
/// which has the authority.
///
/// # Errors
///
/// The certificate that could not be made, and the program that failed.
pub fn make(folder: &Path) -> Result<(), String> {
    let text = |error: &dyn std::error::Error| error.to_string();
    let mut params = CertificateParams::new(Vec::new()).map_err(|error| text(&error))?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().map_err(|error| text(&error))?;
    let authority = params.self_signed(&key).map_err(|error| text(&error))?;
    let write = |name: &str, content: String| {
        fs::write(folder.join(name), content).map_err(|error| format!("{name}: {error}"))
    };
    write("ca.pem", authority.pem())?;
    let issuer = Issuer::new(params, key);
    for (name, dns) in [("own", OURS), ("peer", PEERS)] {
        let names = vec![dns.to_owned(), "127.0.0.1".to_owned()];
        let mut params = CertificateParams::new(names).map_err(|error| text(&error))?;
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        // QuickFIX C++ takes RSA and DSA keys only.
        run(
            folder,
            "openssl",
            &format!("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out {name}.key"),
        )?;
        let key = fs::read_to_string(folder.join(format!("{name}.key")));
        let key = KeyPair::from_pem(&key.map_err(|error| text(&error))?);
        let key = key.map_err(|error| text(&error))?;
        let certificate = params.signed_by(&key, &issuer);
        let certificate = certificate.map_err(|error| text(&error))?;
        write(&format!("{name}.pem"), certificate.pem())?;
        let store = format!("{name}-openssl.p12");
        run(
            folder,
            "openssl",
            &format!(
                "pkcs12 -export -name {name} -in {name}.pem -inkey {name}.key -certfile ca.pem \
             -passout pass:{PASSWORD} -out {store}"
            ),
        )?;
        run(
            folder,
            "keytool",
            &format!(
                "-importkeystore -srckeystore {store} -srcstoretype PKCS12 -srcstorepass {PASSWORD} \
             -destkeystore {name}.p12 -deststoretype PKCS12 -deststorepass {PASSWORD}"
            ),
        )?;
    }
    run(
        folder,
        "keytool",
        &format!(
            "-importcert -noprompt -alias ca -file ca.pem -keystore trust.p12 -storetype PKCS12 \
         -storepass {PASSWORD}"
        ),
    )
}

fn run(folder: &Path, program: &str, args: &str) -> Result<(), String> {
    let output = Command::new(program)
        .args(args.split_whitespace())
        .current_dir(folder)
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "{program} {args}: {}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

/// Our side's transport over such a folder, from files written by Java. It accepts only the peer's certificate.
///
/// # Errors
///
/// The fault of the files.
pub fn transport(folder: &Path, role: Role) -> Result<Transport, String> {
    let store = |name: &str| (folder.join(name), Password::from(PASSWORD));
    let (file, password) = store("own.p12");
    let (trust, trust_password) = store("trust.p12");
    let options = TlsOptions {
        identity: Some(Identity::KeyStore { file, password }),
        authorities: vec![Authority::KeyStore {
            file: trust,
            password: trust_password,
        }],
        client_certificates: ClientCertificates::Required,
        ..TlsOptions::default()
    };
    let tls = match role {
        Role::Acceptor => Tls::acceptor(options),
        Role::Initiator => Tls::initiator(options),
    };
    let mut transport = Transport::default();
    transport.tls = Some(tls.map_err(|error| error.to_string())?);
    transport.certificates = vec![Pin::Dns(PEERS.to_owned())];
    Ok(transport)
}

/// The same transport as lines of a settings file.
#[must_use]
pub fn settings(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "SocketUseSSL=Y\nSocketKeyStore={folder}/own.p12\nSocketKeyStorePassword={PASSWORD}\n\
         SocketTrustStore={folder}/trust.p12\nSocketTrustStorePassword={PASSWORD}\nNeedClientAuth=Y\n\
         PeerCertificates=dns:{PEERS}\n"
    )
}
