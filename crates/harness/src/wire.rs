//! A message as a peer received it, and as text.

use fixwire_engine::protocol::{Decoder, Tag};

/// Fields that may differ when a message is resent: BodyLength, CheckSum, PossDupFlag, SendingTime, OrigSendingTime.
const OF_RESENDS: [Tag; 5] = [9, 10, 43, 52, 122];
/// The other header fields. These fields identify the sender, not the content.
const HEADER: [Tag; 11] = [8, 34, 35, 49, 50, 56, 57, 142, 143, 97, 369];

/// A message that the engine has sent.
#[derive(Clone, Debug)]
pub struct Received {
    /// MsgType(35).
    pub msg_type: String,
    /// MsgSeqNum(34).
    pub seq: u64,
    /// The complete message.
    pub bytes: Vec<u8>,
    fields: Vec<(Tag, String)>,
}

impl Received {
    /// Parses a complete message.
    ///
    /// # Errors
    ///
    /// The message has no MsgSeqNum or no MsgType.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut decoder = Decoder::with_capacity(1024);
        let message = decoder.decode(bytes);
        let text = |value| String::from_utf8_lossy(value).into_owned();
        let fields: Vec<(Tag, String)> = message
            .fields()
            .iter()
            .map(|field| (field.tag, text(message.value(*field))))
            .collect();
        let mut received = Self {
            msg_type: text(message.msg_type()),
            seq: 0,
            bytes: bytes.to_vec(),
            fields,
        };
        received.seq = match received.number(34) {
            Some(seq) if !received.msg_type.is_empty() => seq,
            _ => return Err(format!("no MsgSeqNum or MsgType: {}", readable(bytes))),
        };
        Ok(received)
    }

    /// The value of the first field with this tag.
    #[must_use]
    pub fn get(&self, tag: Tag) -> Option<&str> {
        let found = self.fields.iter().find(|(other, _)| *other == tag);
        found.map(|(_, value)| value.as_str())
    }

    /// The value of the first field with this tag as a number; `None` if it is not a number.
    #[must_use]
    pub fn number(&self, tag: Tag) -> Option<u64> {
        self.get(tag)?.parse().ok()
    }

    /// The message without the fields that a resend may change, and without the fields `but`.
    pub(crate) fn essence(&self, but: &[Tag]) -> String {
        self.without(|tag| OF_RESENDS.contains(&tag) || but.contains(&tag))
    }

    /// MsgType and body, without the fields `but`.
    pub(crate) fn body(&self, but: &[Tag]) -> String {
        let is_left_out =
            |tag| OF_RESENDS.contains(&tag) || HEADER.contains(&tag) || but.contains(&tag);
        format!("35={}|{}", self.msg_type, self.without(is_left_out))
    }

    fn without(&self, is_left_out: impl Fn(Tag) -> bool) -> String {
        let kept = self.fields.iter().filter(|(tag, _)| !is_left_out(*tag));
        kept.map(|(tag, value)| format!("{tag}={value}|")).collect()
    }
}

/// A message as text, with `|` in place of SOH.
pub(crate) fn readable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\x01', "|")
}
