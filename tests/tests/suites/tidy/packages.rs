//! Packages: those of others that we may use, and ours that others may use.

use std::path::Path;

use fixwire_rigs::packages::metadata;
use fixwire_rigs::{licences, publishing};

use super::{name, nothing, text};

#[test]
fn what_others_wrote_may_be_used_and_comes_from_the_registry() {
    let metadata = metadata(&["--all-features"]).unwrap_or_else(|error| panic!("{error}"));
    let count = metadata["packages"].as_array().map_or(0, Vec::len);
    assert!(count > 200, "only {count} packages looked at");
    nothing(licences::unfit(&metadata));
    for lock in ["Cargo.lock", "fuzz/Cargo.lock", "peers/Cargo.lock"].map(Path::new) {
        nothing(name(lock, licences::other_sources(&text(lock))));
    }
}

#[test]
fn public_crates_have_what_a_registry_asks_for() {
    let metadata = metadata(&["--no-deps"]).unwrap_or_else(|error| panic!("{error}"));
    let packages = metadata["packages"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    for public in publishing::PUBLIC {
        assert!(
            packages.iter().any(|package| package["name"] == public),
            "{public}"
        );
    }
    nothing(publishing::missing(&metadata, Path::exists));
}
