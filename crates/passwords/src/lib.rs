//! Passwords, stored as argon2id hashes. Separate threads verify passwords.
//!
//! A comparison takes milliseconds and megabytes on purpose. The comparison therefore never runs on the thread that
//! needs the result, and at most two comparisons run at the same time. The comparison for an unknown user costs the
//! same.
//!
//! ```text
//! # a password file, mode 0600: one user a line, `fixwire hash-password` makes the second part
//! TRADER1:$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$...
//! # this one has to be changed by the next Logon, with NewPassword(925)
//! TRADER2:change:$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$...
//! ```
#![forbid(unsafe_code)]

mod checker;
mod files;
mod users;

pub use checker::{Checker, PasswordAnswer, Question};
pub use files::PasswordFiles;
pub use users::{Users, UsersChange, UsersError, hash};

/// Whether two texts are equal. The time for this depends only on the lengths of the texts.
#[must_use]
pub fn same(a: &[u8], b: &[u8]) -> bool {
    let differences = a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b));
    a.len() == b.len() && std::hint::black_box(differences) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_is_same() {
        assert!(same(b"", b"") && same(b"ab", b"ab"));
        assert!(!same(b"a", b"") && !same(b"ab", b"ac") && !same(b"ab", b"abc"));
    }
}
