//! Any text is a message as JSON or an error, and any message comes back from JSON as it was.
//!
//! Input: text that is read as JSON, and as the body of a message of FIX 4.4 with `|` for SOH.

use std::sync::OnceLock;

use fixwire_dictionary::json::{self, JsonError};
use fixwire_protocol::dictionary::{Dictionary, Version};
use fixwire_protocol::{Decoder, Frame, frame};

use super::hold;
use super::input::{message, show};

/// Room for the fields of a message.
const FIELDS: usize = 1024;
/// The longest message, in bytes.
const MAX_LEN: usize = 1 << 20;
/// The beginning of a message of the version, and a MsgType without a value.
const BEGIN: &[u8] = b"8=FIX.4.4\x01";
const NO_TYPE: &[u8] = b"35=\x01";

fn dictionary() -> &'static Dictionary {
    static DICTIONARY: OnceLock<Dictionary> = OnceLock::new();
    DICTIONARY.get_or_init(|| Dictionary::built_in(Version::Fix44))
}

/// Panics when reading or writing JSON breaks its promises for these bytes.
pub fn run(data: &[u8]) {
    check(data, |text| json::read(dictionary(), text)).unwrap_or_else(|what| panic!("{what}"));
}

/// [`run`] for any reader.
///
/// # Errors
///
/// The violated property.
pub fn check(data: &[u8], read: impl Fn(&str) -> Result<Vec<u8>, JsonError>) -> Result<(), String> {
    let text = String::from_utf8_lossy(data);
    match read(&text) {
        Ok(bytes) => {
            // Other messages are written unchanged: the text may name any version and type.
            let is_known =
                bytes.starts_with(BEGIN) && !bytes.windows(4).any(|part| part == NO_TYPE);
            let whole = frame::next(&bytes, MAX_LEN);
            let is_whole = matches!(whole, Frame::Whole { skip: 0, len } if len == bytes.len());
            hold!(is_whole || !is_known, "no message: {}", show(&bytes));
            comes_back(&bytes, &read)?;
        }
        Err(error) => {
            let said = error.to_string();
            hold!(
                (1..=text.len() + 400).contains(&said.len()),
                "a sentence of {} bytes",
                said.len()
            );
        }
    }
    comes_back(&message("FIX.4.4", data), &read)
}

/// Written text is read as the same bytes.
fn comes_back(
    bytes: &[u8],
    read: &impl Fn(&str) -> Result<Vec<u8>, JsonError>,
) -> Result<(), String> {
    let mut decoder = Decoder::with_capacity(FIELDS);
    decoder.learn(dictionary());
    if let Ok(text) = json::write(dictionary(), &decoder.decode(bytes)) {
        let back = read(&text);
        hold!(
            back.as_deref() == Ok(bytes),
            "{} is {text} and comes back as {back:?}",
            show(bytes)
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: &[u8] = b"D|34=2|49=A|52=20260821-13:30:00|56=B|11=X|453=1|448=P|447=D|44=1.10|";

    #[test]
    fn the_reader_passes() {
        run(ORDER);
    }

    #[test]
    fn a_reader_that_trims_values_is_found() {
        let trims = |text: &str| json::read(dictionary(), &text.replace("1.10", "1.1"));
        assert!(check(ORDER, trims).is_err());
    }

    #[test]
    fn a_reader_that_forgets_the_checksum_is_found() {
        let text = br#"{"Header":{"BeginString":"FIX.4.4","MsgType":"D"},"Body":{"ClOrdID":"A"}}"#;
        let forgets = |text: &str| {
            let mut bytes = json::read(dictionary(), text)?;
            let at = bytes.len() - 2;
            bytes[at] ^= 1;
            Ok(bytes)
        };
        assert!(check(text, forgets).is_err());
    }
}
