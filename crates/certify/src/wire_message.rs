//! Messages as bytes: written from fields, parsed into fields, and shown with their secrets masked.

use fixwire_protocol::readable::Escaped;
use fixwire_protocol::session::Config;
use fixwire_protocol::{
    Decoder, Precision, Redactor, SOH, Tag, Timestamp, TimestampWriter, frame, tag,
};

use crate::masking::{MASK, Secrets};

/// Fields of a message. Values are text, in which invalid bytes are replaced.
pub(crate) type TextFields = Vec<(Tag, String)>;

/// Header fields, in the order in which they are written. MsgType(35) precedes them.
const HEADER: [Tag; 22] = [
    tag::MSG_SEQ_NUM,
    tag::APPL_VER_ID,
    1129,
    1156,
    tag::SENDER_COMP_ID,
    tag::SENDER_SUB_ID,
    tag::SENDER_LOCATION_ID,
    tag::POSS_DUP_FLAG,
    tag::POSS_RESEND,
    tag::SENDING_TIME,
    tag::ORIG_SENDING_TIME,
    tag::TARGET_COMP_ID,
    tag::TARGET_SUB_ID,
    tag::TARGET_LOCATION_ID,
    tag::ON_BEHALF_OF_COMP_ID,
    tag::ON_BEHALF_OF_SUB_ID,
    144,
    tag::DELIVER_TO_COMP_ID,
    tag::DELIVER_TO_SUB_ID,
    145,
    347,
    369,
];
/// Maximum number of fields of a message that are parsed.
const FIELDS_MAX: usize = 4096;

/// Whether a field belongs to the header, where it may occur only once.
pub(crate) fn is_header(tag: Tag) -> bool {
    HEADER.contains(&tag) || matches!(tag, tag::BEGIN_STRING | tag::MSG_TYPE)
}

/// The first value of a tag.
pub(crate) fn value(fields: &[(Tag, String)], tag: Tag) -> Option<&str> {
    let field = fields.iter().find(|field| field.0 == tag);
    field.map(|field| field.1.as_str())
}

/// Writes messages of one session.
#[derive(Debug)]
pub(crate) struct MessageWriter {
    begin_string: String,
    /// Header fields with the ids of both ends.
    ids: TextFields,
    precision: Precision,
    stamp: TimestampWriter,
}

impl MessageWriter {
    pub(crate) fn of(config: &Config) -> Self {
        let (own, peer) = (&config.own, &config.peer);
        let ids = [
            (tag::SENDER_COMP_ID, &own.comp_id),
            (tag::SENDER_SUB_ID, &own.sub_id),
            (tag::SENDER_LOCATION_ID, &own.location_id),
            (tag::TARGET_COMP_ID, &peer.comp_id),
            (tag::TARGET_SUB_ID, &peer.sub_id),
            (tag::TARGET_LOCATION_ID, &peer.location_id),
        ];
        let ids = ids.into_iter().filter(|(_, id)| !id.is_empty());
        let text = |id: &[u8]| String::from_utf8_lossy(id).into_owned();
        Self {
            begin_string: config.begin_string.as_str().to_owned(),
            ids: ids.map(|(tag, id)| (tag, text(id))).collect(),
            precision: config.precision,
            stamp: TimestampWriter::new(),
        }
    }

    /// A time in the format of the session.
    pub(crate) fn time(&mut self, at: Timestamp) -> String {
        let text = self.stamp.format(at, self.precision);
        String::from_utf8_lossy(text).into_owned()
    }

    /// A complete message with this MsgSeqNum(34). Values in `fields` replace those of the header; fields in
    /// `left_out` are not written.
    pub(crate) fn write(
        &mut self,
        fields: &[(Tag, String)],
        left_out: &[Tag],
        number: u64,
        at: Timestamp,
    ) -> Vec<u8> {
        let time = self.time(at);
        let mut body = String::new();
        let mut put = |tag: Tag, value: &str| {
            if !left_out.contains(&tag) {
                body.push_str(&format!("{tag}={value}\x01"));
            }
        };
        if let Some(msg_type) = value(fields, tag::MSG_TYPE) {
            put(tag::MSG_TYPE, msg_type);
        }
        for tag in HEADER {
            let usual = match tag {
                tag::MSG_SEQ_NUM => Some(number.to_string()),
                tag::SENDING_TIME => Some(time.clone()),
                tag => value(&self.ids, tag).map(str::to_owned),
            };
            if let Some(value) = value(fields, tag).map(str::to_owned).or(usual) {
                put(tag, &value);
            }
        }
        for (tag, value) in fields {
            if !is_header(*tag) {
                put(*tag, value);
            }
        }
        let begin = value(fields, tag::BEGIN_STRING).unwrap_or(&self.begin_string);
        let mut message = format!("8={begin}\x019={}\x01{body}", body.len()).into_bytes();
        let sum = frame::check_sum(&message);
        message.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
        message
    }
}

/// Makes the CheckSum(10) of a complete message incorrect.
pub(crate) fn spoil(message: &mut [u8]) {
    let digit = message.len().saturating_sub(2);
    if let Some(digit) = message.get_mut(digit) {
        *digit = b'0' + (*digit - b'0' + 1) % 10;
    }
}

/// Parses and displays messages.
#[derive(Debug)]
pub(crate) struct MessageReader {
    decoder: Decoder,
}

impl MessageReader {
    pub(crate) fn of(config: &Config) -> Self {
        let mut decoder = Decoder::with_capacity(FIELDS_MAX);
        if let Some(dictionary) = &config.dictionary {
            decoder.learn(dictionary);
        }
        Self { decoder }
    }

    /// The fields of a message.
    pub(crate) fn fields(&mut self, bytes: &[u8]) -> TextFields {
        let message = self.decoder.decode_whole(bytes);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let fields = message.fields().iter();
        fields
            .map(|field| (field.tag, text(message.value(*field))))
            .collect()
    }
}

/// The bytes of a message as text: `|` for SOH, secrets masked (also secrets of the plan), and without control
/// characters.
pub(crate) fn shown(bytes: &[u8], secrets: &Secrets) -> String {
    let mut redactor = Redactor::for_showing(&[]);
    redactor.copy_any(0, bytes);
    let kept = redactor.kept(0, bytes);
    let fields = kept.split(|byte| *byte == SOH);
    let field = |field: &[u8]| {
        let text = String::from_utf8_lossy(field);
        match text.split_once('=') {
            Some((tag, value)) if secrets.has(value) => format!("{tag}={MASK}"),
            _ => Escaped(field).to_string(),
        }
    };
    let fields: Vec<String> = fields.map(field).collect();
    fields.join("|")
}

/// The fields of a message as in a test, `35=8|11=A`.
#[cfg(test)]
pub(crate) fn text_fields(text: &str) -> TextFields {
    let fields = text.split('|').map(|field| field.split_once('=').unwrap());
    fields
        .map(|(tag, value)| (tag.parse().unwrap(), value.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use fixwire_protocol::session::{BeginString, Role};

    use super::*;

    fn writer() -> MessageWriter {
        let config = Config::new(BeginString::Fix44, Role::Initiator, b"OMS", b"EXCHANGE");
        MessageWriter::of(&config)
    }

    fn fields(list: &[(Tag, &str)]) -> TextFields {
        list.iter()
            .map(|(tag, value)| (*tag, (*value).to_owned()))
            .collect()
    }

    #[test]
    fn header_fields_come_first_and_those_of_the_plan_win() {
        let sent = fields(&[(35, "D"), (11, "A1"), (43, "Y"), (56, "OTHER")]);
        let bytes = writer().write(&sent, &[52], 7, Timestamp(0));
        let text = shown(&bytes, &Secrets::default());
        assert!(
            text.starts_with("8=FIX.4.4|9=37|35=D|34=7|49=OMS|43=Y|56=OTHER|11=A1|10="),
            "{text}"
        );
        assert!(matches!(
            frame::next(&bytes, 4096),
            frame::Frame::Whole { skip: 0, .. }
        ));
    }

    #[test]
    fn a_spoilt_message_is_garbled_and_secrets_are_masked() {
        let sent = fields(&[(35, "A"), (98, "0"), (553, "me"), (554, "hunter2")]);
        let mut bytes = writer().write(&sent, &[], 1, Timestamp(0));
        assert!(
            shown(&bytes, &Secrets::default()).contains("|553=me|554=*******|10="),
            "{}",
            shown(&bytes, &Secrets::default())
        );
        spoil(&mut bytes);
        assert!(matches!(
            frame::next(&bytes, 4096),
            frame::Frame::Garbled { .. }
        ));
        let config = Config::new(BeginString::Fix44, Role::Initiator, b"OMS", b"EXCHANGE");
        let read = MessageReader::of(&config).fields(&bytes);
        assert_eq!(value(&read, 554), Some("hunter2"));
    }
}
