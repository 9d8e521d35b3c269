//! Makes bytes of peers and files safe to print: control characters are escaped, and secrets are masked.

use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;

use crate::decode::DATA_PAIRS;
use crate::{Message, SECRETS, Tag};

/// Whether the value of a field must never be shown. The secret fields are Password, NewPassword, RawData,
/// EncryptedPassword and EncryptedNewPassword.
#[must_use]
pub fn is_secret(tag: Tag) -> bool {
    tag == RAW_DATA || SECRETS.contains(&tag)
}

/// The message with its secrets masked. If the length of a data field does not lead to an SOH, it is unknown where
/// the secret ends, so the rest of the message is masked.
#[must_use]
pub fn masked(message: &[u8]) -> Vec<u8> {
    let mut shown = Vec::with_capacity(message.len());
    let mut rest = message;
    let mut length: (&[u8], &[u8]) = (b"", b"");
    while !rest.is_empty() {
        let end = rest
            .iter()
            .position(|&byte| byte == 1)
            .unwrap_or(rest.len());
        let equals = rest[..end]
            .iter()
            .position(|&byte| byte == b'=')
            .unwrap_or(end);
        let tag = &rest[..equals];
        // A tag with zeros in front is recognised as a secret too.
        let plain = &tag[tag.iter().take_while(|&&byte| byte == b'0').count()..];
        let mut taken = end;
        if let Some(length_tag) = secret(plain) {
            shown.extend_from_slice(tag);
            shown.extend_from_slice(b"=***");
            if let Some(length_tag) = length_tag {
                let start = (equals + 1).min(rest.len());
                let stated = (length.0 == length_tag.to_string().as_bytes())
                    .then(|| str::from_utf8(length.1).ok()?.parse::<usize>().ok())
                    .flatten()
                    .and_then(|stated| start.checked_add(stated));
                taken = match stated {
                    Some(stop) if rest.get(stop) == Some(&1) => stop,
                    _ => rest.len(),
                };
            }
        } else {
            shown.extend_from_slice(&rest[..end]);
        }
        length = (plain, rest.get(equals + 1..end).unwrap_or_default());
        if taken < rest.len() {
            shown.push(1);
        }
        rest = rest.get(taken + 1..).unwrap_or_default();
    }
    shown
}

/// Whether a tag, without zeros in front, is that of a secret. If the secret is a data field, the result has the tag
/// of its length.
fn secret(tag: &[u8]) -> Option<Option<Tag>> {
    let tag = str::from_utf8(tag).ok()?.parse().ok()?;
    let pair = DATA_PAIRS.iter().find(|(_, data)| *data == tag);
    is_secret(tag).then_some(pair.map(|(length, _)| *length))
}

/// RawData(96). In Logons it contains passwords and signatures.
const RAW_DATA: Tag = 96;

/// Maximum number of bytes of a value that are shown.
const LONGEST: usize = 512;

/// Bytes as text. Printable ASCII characters are unchanged; every other byte becomes `\xNN`.
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

/// The fields of a message as `tag=value`, separated by `|`, without BeginString, BodyLength and CheckSum. Secrets
/// are shown as `***`.
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

/// The value of a field. A secret is shown as `***`, and a value that is too long is cut.
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
    use alloc::string::String;

    use crate::Decoder;

    use super::*;

    fn shown(message: &[u8]) -> String {
        String::from_utf8(masked(message))
            .unwrap()
            .replace('\x01', "|")
    }

    #[test]
    fn secrets_are_masked_wherever_they_end() {
        let cases: [(&[u8], &str); 8] = [
            (b"35=A\x01554=pw\x0198=0\x01", "35=A|554=***|98=0|"),
            (
                b"0554=pw\x01925=new\x0110=000\x01",
                "0554=***|925=***|10=000|",
            ),
            (b"95=5\x0196=a\x01554\x0158=x\x01", "95=5|96=***|58=x|"),
            (b"95=4\x0196=a\x01secret\x0158=x\x01", "95=4|96=***"),
            (b"96=no length\x0158=x\x01", "96=***"),
            (b"1401=2\x011402=ab\x011=x\x01", "1401=2|1402=***|1=x|"),
            (
                b"95=99999999999999999999\x0196=ab\x01",
                "95=99999999999999999999|96=***",
            ),
            (b"554=unfinished", "554=***"),
        ];
        for (message, expected) in cases {
            assert_eq!(shown(message), expected);
        }
    }

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
