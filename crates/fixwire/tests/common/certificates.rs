//! Certificates made for a test: an authority, what it has issued, what it has revoked.
#![allow(dead_code, reason = "each test file uses its part")]

use std::fs;
use std::path::{Path, PathBuf};

use fixwire::tls::{Authority, ClientCertificates, Identity, Tls, TlsOptions};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, ExtendedKeyUsagePurpose,
    IsCa, Issuer, KeyIdMethod, KeyPair, KeyUsagePurpose, PublicKeyData, RevokedCertParams,
    SerialNumber, date_time_ymd,
};

/// An authority with a folder for its files.
pub struct Ca {
    folder: PathBuf,
    issuer: Issuer<'static, KeyPair>,
    pub file: PathBuf,
}

/// A certificate with its key, in files.
#[derive(Clone, Debug)]
pub struct Issued {
    pub chain: PathBuf,
    pub key: PathBuf,
    /// `sha256:` and the fingerprint of its public key.
    pub pin: String,
    pub serial: u64,
}

impl Ca {
    pub fn new(folder: &Path, name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params
            .distinguished_name
            .push(rcgen::DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let file = folder.join(format!("{name}.pem"));
        fs::write(&file, params.self_signed(&key).unwrap().pem()).unwrap();
        Self {
            folder: folder.into(),
            issuer: Issuer::new(params, key),
            file,
        }
    }

    /// Issues a certificate; `change` may spoil it.
    pub fn issue(
        &self,
        name: &str,
        serial: u64,
        change: impl FnOnce(&mut CertificateParams),
    ) -> Issued {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.serial_number = Some(SerialNumber::from(serial));
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let path = |kind| self.folder.join(format!("{serial}.{kind}"));
        let issued = Issued {
            chain: path("pem"),
            key: path("key"),
            pin: pin(&key.subject_public_key_info()),
            serial,
        };
        fs::write(&issued.chain, certificate.pem()).unwrap();
        fs::write(&issued.key, key.serialize_pem()).unwrap();
        issued
    }

    /// A list of revoked certificates.
    pub fn revoke(&self, serials: &[u64]) -> PathBuf {
        let revoked = serials.iter().map(|serial| RevokedCertParams {
            serial_number: SerialNumber::from(*serial),
            revocation_time: date_time_ymd(2024, 1, 1),
            reason_code: None,
            invalidity_date: None,
        });
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(2024, 1, 1),
            next_update: date_time_ymd(2124, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: revoked.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        let file = self.folder.join("revoked.pem");
        fs::write(&file, list.signed_by(&self.issuer).unwrap().pem().unwrap()).unwrap();
        file
    }
}

fn pin(spki: &[u8]) -> String {
    let sum = ring::digest::digest(&ring::digest::SHA256, spki);
    let digits = sum.as_ref().iter().map(|byte| format!("{byte:02x}"));
    format!("sha256:{}", digits.collect::<String>())
}

pub fn identity(of: &Issued) -> Option<Identity> {
    Some(Identity::Pem {
        chain: of.chain.clone(),
        key: of.key.clone(),
    })
}

/// TLS of an acceptor that shows `own` and wants certificates of `ca`.
pub fn acceptor_tls(own: &Issued, ca: &Ca) -> TlsOptions {
    TlsOptions {
        identity: identity(own),
        authorities: vec![Authority::Pem(ca.file.clone())],
        client_certificates: ClientCertificates::Required,
        ..TlsOptions::default()
    }
}

/// TLS of an initiator that believes `ca` and shows `own`.
pub fn initiator_tls(own: Option<&Issued>, ca: &Ca) -> Tls {
    Tls::initiator(TlsOptions {
        identity: own.and_then(identity),
        authorities: vec![Authority::Pem(ca.file.clone())],
        server_name: Some("fix.test".into()),
        ..TlsOptions::default()
    })
    .expect("certificates are right")
}
