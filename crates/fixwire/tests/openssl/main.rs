//! TLS and its settings beside OpenSSL, which is started: a program of its own, because one that is being
//! started holds the locks of all journals that are open here.
#![cfg(feature = "tls")]

#[path = "../common/certificates.rs"]
mod certificates;
#[path = "../common/mod.rs"]
mod common;
mod self_signed;
mod settings;
mod tls;
