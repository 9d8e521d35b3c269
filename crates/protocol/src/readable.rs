//! Makes bytes of peers and files safe to print: control characters escaped, secrets masked.

use core::fmt;

use crate::{Message, SECRETS, Tag};

/// Whether the value of a field is never shown: Password, NewPassword, RawData, EncryptedPassword and
/// EncryptedNewPassword.
#[must_use]
pub fn is_secret(tag: Tag) -> bool {
    tag == RAW_DATA || SECRETS.contains(&tag)
}

/// RawData(96), which has passwords and signatures in Logons.
const RAW_DATA: Tag = 96;

/// The most bytes of one value that are shown.
const LONGEST: usize = 512;

/// Bytes as text: printable ASCII stays, everything else becomes `\xNN`.
pub struct Escaped<'a>(pub &'a [u8]);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            match byte {
                b' '..=b'~' => fmt::Write::write_char(f, char::from(*byte))?,
                _ => write!(f, "\\x{byte:02x}")?,
            }
        }
        Ok(())
    }
}

/// A message's fields, `tag=value` with `|` between them, without BeginString, BodyLength and
/// CheckSum; secrets are `***`.
pub struct ReadableFields<'a>(pub &'a Message<'a>);

impl fmt::Display for ReadableFields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for field in self.0.fields() {
            if matches!(field.tag, 8..=10) {
                continue;
            }
            write!(f, "{separator}{}=", field.tag)?;
            separator = "|";
            write!(f, "{}", ReadableValue(field.tag, self.0.value(*field)))?;
        }
        Ok(())
    }
}

/// The value of a field; a secret is `***`, and one that is too long is cut.
pub struct ReadableValue<'a>(pub Tag, pub &'a [u8]);

impl fmt::Display for ReadableValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(tag, value) = self;
        if is_secret(*tag) {
            return f.write_str("***");
        }
        let shown = &value[..value.len().min(LONGEST)];
        write!(f, "{}", Escaped(shown))?;
        if shown.len() < value.len() {
            write!(f, "... ({} bytes)", value.len())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use crate::Decoder;

    use super::*;

    #[test]
    fn nothing_of_a_peer_reaches_the_terminal_and_no_secret_shows() {
        let text = b"8=FIX.4.4\x019=5\x0135=A\x01553=\x1b[2Jx\xc3\xa9\x01554=hunter2\x0110=000\x01";
        let mut decoder = Decoder::with_capacity(64);
        let message = decoder.decode(text);
        assert_eq!(
            ReadableFields(&message).to_string(),
            "35=A|553=\\x1b[2Jx\\xc3\\xa9|554=***"
        );
    }

    #[test]
    fn a_long_value_is_cut() {
        let text = [
            b"8=FIX.4.4\x019=5\x0135=D\x0158=",
            &[b'x'; 5000][..],
            b"\x0110=000\x01",
        ]
        .concat();
        let mut decoder = Decoder::with_capacity(64);
        let message = decoder.decode(&text);
        let shown = ReadableFields(&message).to_string();
        assert!(
            shown.ends_with("x... (5000 bytes)") && shown.len() < 600,
            "{shown}"
        );
    }
}
