//! Errors about scripts in a build without scripts.

use std::format;

use super::errors::errors;

#[test]
fn a_file_with_scripts_says_what_to_build() {
    let file = "[script]\ns = 'true'\n[[rule]]\nfrom = ['ALPHA']\nwhen = 'script s'\ndo = ['script s', 'send VENUE']\n";
    let why = "this build does not support scripts: build with the cargo feature `scripts` \
               (cargo build --release --features scripts)";
    assert_eq!(
        errors(file),
        [
            format!("2:1: {why}"),
            format!("5:16: {why}"),
            format!("6:15: {why}")
        ]
    );
}
