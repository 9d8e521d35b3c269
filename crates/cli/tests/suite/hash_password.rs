//! `fixwire hash-password` prints a hash for a settings file, and nothing else.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use fixwire::Users;

fn hash(input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fixwire"))
        .arg("hash-password")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn a_password_becomes_a_hash_with_a_salt_of_its_own() {
    let (one, other) = (hash(b"tiger\n"), hash(b"tiger"));
    let text = String::from_utf8(one.stdout).unwrap();
    assert!(one.status.success() && text.lines().count() == 1, "{text}");
    assert!(Users::one(b"me", text.trim_end()).is_ok(), "{text}");
    assert!(!text.contains("tiger") && one.stderr.is_empty());
    assert_ne!(text.into_bytes(), other.stdout);
}

#[test]
fn no_password_and_one_that_is_too_long_are_errors() {
    for input in [&b""[..], b"\n", &[b'x'; 1025]] {
        let output = hash(input);
        assert!(!output.status.success() && output.stdout.is_empty());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("1 to 1024 bytes"), "{said}");
    }
}
