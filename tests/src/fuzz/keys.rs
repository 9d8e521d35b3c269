//! Key files: no file panics, every refusal is one line without a byte of the file, and an accepted key signs the same
//! Logon in the same way.
//!
//! The first byte says which recipe reads the rest.

use fixwire::signing::LogonSignature;
use fixwire_protocol::{HeaderTemplate, LogonSigner, MsgSeqNumSource, Outbox, SessionId};

use super::hold;
use super::input::{show, with_soh};

/// A signed Logon, as it will be sent.
type Signs = fn(&LogonSignature) -> Vec<u8>;

/// Panics when something does not hold.
pub fn run(data: &[u8]) {
    if let Err(fault) = check(data, signed) {
        panic!("{fault}: {}", show(data));
    }
}

/// The same with another signer.
///
/// # Errors
///
/// The violated property.
pub fn check(data: &[u8], signs: Signs) -> Result<(), String> {
    let Some((first, text)) = data.split_first() else {
        return Ok(());
    };
    let recipe = LogonSignature::NAMES[usize::from(*first) % LogonSignature::NAMES.len()];
    match LogonSignature::parse(recipe, text) {
        None => return Err(format!("no recipe {recipe}")),
        Some(Err(error)) => {
            let said = error.to_string();
            hold!(
                !said.is_empty() && !said.chars().any(char::is_control),
                "not a line: {said:?}"
            );
        }
        Some(Ok(key)) => {
            let shown = format!("{key:?}");
            hold!(shown.contains("******"), "a key is shown as {shown}");
            let [one, two] = [signs(&key), signs(&key)];
            hold!(one == two, "two Logons: {} and {}", show(&one), show(&two));
            let has = |tag: &str| {
                one.windows(tag.len())
                    .any(|it| it == with_soh(tag.as_bytes()))
            };
            hold!(has("|96=") || has("|1402="), "not signed: {}", show(&one));
        }
    }
    Ok(())
}

fn signed(key: &LogonSignature) -> Vec<u8> {
    let header = HeaderTemplate::new(b"FIX.4.4", b"US", b"THEM", &[]);
    let mut outbox = Outbox::new(1 << 16, 1, header.room());
    outbox.begin_admin(SessionId(0), b"A", MsgSeqNumSource::Next);
    let time = b"20260821-13:30:00.123";
    outbox.change_admin(0, &header, 1, time, |logon| key.sign(logon));
    outbox.seal(0, &header, 1, time);
    outbox.sealed(0).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_does_not_sign_is_found() {
        let data = b"\x01T/SabUfV28tyVDVv5AsMuk5oqDFdvGwQ\n";
        assert_eq!(check(data, signed), Ok(()));
        let fault = check(data, |_| b"8=FIX.4.4\x0135=A\x01".to_vec());
        assert!(fault.is_err_and(|fault| fault.starts_with("not signed")));
    }
}
