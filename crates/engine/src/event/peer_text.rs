//! Text from a peer, made safe for one line of a log or of a terminal.

use std::fmt::{self, Write};

use fixwire_protocol::{Message, tag};

/// Maximum length of a text, bytes.
const LONGEST: usize = 256;
/// Maximum length of a displayed CompID, bytes.
const LONGEST_ID: usize = 64;

/// Text that came from a peer or goes to one: at most 256 bytes, on one line. Everything except printable ASCII is
/// written as `\xNN`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PeerText(String);

impl PeerText {
    /// Makes bytes of a message safe to display; `...` replaces the rest of a long text.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        let mut text = String::new();
        for byte in bytes.iter().take(LONGEST) {
            match byte {
                b' '..=b'~' => text.push(char::from(*byte)),
                // Writing to memory cannot fail.
                _ => drop(write!(text, "\\x{byte:02x}")),
            }
        }
        if bytes.len() > LONGEST {
            let _ = write!(text, "... ({} bytes)", bytes.len());
        }
        Self(text)
    }

    /// Sender and target in a first message.
    pub(crate) fn parties(message: &Message<'_>) -> Self {
        let fields = [
            ("BeginString=", tag::BEGIN_STRING),
            (", SenderCompID=", tag::SENDER_COMP_ID),
            (", SenderSubID=", tag::SENDER_SUB_ID),
            (", SenderLocationID=", tag::SENDER_LOCATION_ID),
            (", TargetCompID=", tag::TARGET_COMP_ID),
            (", TargetSubID=", tag::TARGET_SUB_ID),
            (", TargetLocationID=", tag::TARGET_LOCATION_ID),
            (", MsgSeqNum=", tag::MSG_SEQ_NUM),
        ];
        let mut shown = Vec::new();
        for (name, tag) in fields {
            if let Some(value) = message.get(tag) {
                shown.extend_from_slice(name.as_bytes());
                shown.extend_from_slice(&value[..value.len().min(LONGEST_ID)]);
            }
        }
        Self::new(&shown)
    }

    /// Whether the text is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PeerText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for PeerText {
    fn from(text: &str) -> Self {
        Self::new(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_peer_sends_stays_on_its_line_and_is_bounded() {
        let every: Vec<u8> = (0..=255).collect();
        let text = PeerText::new(&every).to_string();
        assert!(text.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
        assert!(text.contains("\\x1b") && text.contains("\\xff"), "{text}");
        let long = PeerText::new(&[b'a'; 70_000]).to_string();
        assert!(long.len() < 300 && long.ends_with("... (70000 bytes)"));
        assert!(PeerText::new(&[0; 70_000]).as_str().len() < 1100);
    }
}
