//! TMP frames: built from named fields, parsed into fields, and shown with the password proof masked.

use std::ops::Range;

use fixwire_protocol::Tag;
use fixwire_tmp::uncertain::is_numbered;
use fixwire_tmp::{TmpFrame, TmpLayoutInfo, checksum, key_value_range};

use crate::masking::Secrets;
use crate::tmp::fields::{CHECKSUM, MESSAGE, NamedField, layout_of, name_of, tag_of};
use crate::wire_message::{TextFields, value};

/// Byte offset of the body.
const BODY_AT: usize = 17;
/// Bytes of a frame that `msg_length` does not count.
const LENGTH_ADDS: usize = 3;
/// Fields that are not shown in the decoded line of a frame, because the message name and the bytes show them.
const NOT_SHOWN: [&str; 6] = [
    "message",
    "msg_length",
    "message_type",
    "header.fcm_id",
    "header.session_id",
    CHECKSUM,
];

/// The tag of a field; the field must exist.
pub(crate) fn tag(name: &str) -> Tag {
    tag_of(name).unwrap_or(MESSAGE)
}

/// The value of a field, by name.
pub(crate) fn field<'a>(fields: &'a [(Tag, String)], name: &str) -> Option<&'a str> {
    value(fields, tag(name))
}

/// The byte range of a field in a frame of this length.
fn place(field: NamedField, length: usize) -> Range<usize> {
    let at = field.field.at;
    match field.field.kind {
        "data" => at..length - 1,
        _ => at..at + field.field.bytes,
    }
}

/// The fields of a frame; the message name is the first one. Empty texts are left out.
pub(crate) fn read(frame: &TmpFrame<'_>) -> TextFields {
    read_as(frame.layout(), frame.bytes())
}

/// Reads bytes as this message, even if the bytes are invalid.
fn read_as(layout: &'static TmpLayoutInfo, bytes: &[u8]) -> TextFields {
    let mut fields = vec![(MESSAGE, layout.name.to_owned())];
    for field in NamedField::all(layout) {
        let text = field.text(&bytes[place(field, bytes.len())]);
        fields.extend(text.map(|text| (field.tag, text)));
    }
    let sum = bytes.last().copied().unwrap_or_default();
    fields.push((tag(CHECKSUM), sum.to_string()));
    fields
}

/// Builds a frame from these fields; the first one must be the message name. Returns the frame and all of its fields.
/// Length, type and checksum are correct unless a field gives another value. `number` becomes the MsgSeqNum, if the
/// message has one and no field gives another value.
///
/// # Errors
///
/// A value does not fit its field.
pub(crate) fn build(
    fields: &[(Tag, String)],
    number: u32,
    is_garbled: bool,
) -> Result<(Vec<u8>, TextFields), String> {
    let name = value(fields, MESSAGE).unwrap_or_default();
    let layout = layout_of(name).ok_or_else(|| format!("unknown message '{name}'"))?;
    let data = match (layout.has_data, field(fields, "data")) {
        (true, Some(text)) => NamedField::find(layout, "data")?.bytes(text)?,
        _ => Vec::new(),
    };
    let mut frame = vec![0; layout.size + data.len()];
    let length = frame.len();
    let stated = u16::try_from(length - LENGTH_ADDS)
        .map_err(|_| format!("{name} has {length} bytes, more than a frame can have"))?;
    frame[..2].copy_from_slice(&stated.to_be_bytes());
    frame[12] = layout.code;
    let put = |header: bool, frame: &mut [u8]| -> Result<(), String> {
        for field in NamedField::all(layout) {
            let Some(text) = value(fields, field.tag) else {
                continue;
            };
            if (field.field.at < BODY_AT) == header {
                frame[place(field, length)].copy_from_slice(&field.bytes(text)?);
            }
        }
        Ok(())
    };
    put(false, &mut frame)?;
    seal(&mut frame);
    if TmpFrame::read(&frame).is_ok_and(|read| is_numbered(&read)) {
        frame[2..6].copy_from_slice(&number.to_be_bytes());
    }
    put(true, &mut frame)?;
    seal(&mut frame);
    if let Some(text) = field(fields, CHECKSUM) {
        frame[length - 1] = checksum_of(text)?;
    }
    if is_garbled {
        frame[length - 1] = frame[length - 1].wrapping_add(1);
    }
    let fields = read_as(layout, &frame);
    Ok((frame, fields))
}

/// The checksum that the text of the field `checksum` gives.
///
/// # Errors
///
/// The value is not a byte.
pub(crate) fn checksum_of(text: &str) -> Result<u8, String> {
    let sum = text.parse().ok();
    sum.ok_or_else(|| format!("{CHECKSUM}: '{text}' is not a number from 0 to 255"))
}

fn seal(frame: &mut [u8]) {
    if let Some((last, before)) = frame.split_last_mut() {
        *last = checksum(before);
    }
}

/// The decoded line of a frame: `R02|msg_seq_num=3|[...]`.
pub(crate) fn shown(fields: &[(Tag, String)], secrets: &Secrets) -> String {
    let name = value(fields, MESSAGE).unwrap_or_default();
    let mut shown = name.to_owned();
    for (tag, text) in fields {
        let name = name_of(*tag).unwrap_or_default();
        if NOT_SHOWN.contains(&name) {
            continue;
        }
        if name == "data" {
            shown += &format!("|data=({} characters)", text.len());
        } else {
            shown += &format!("|{name}={}", secrets.masked(*tag, text));
        }
    }
    shown
}

/// The bytes of a frame as hexadecimal digits, two per byte; `**` for bytes that would reveal the password proof.
pub(crate) fn hex(bytes: &[u8]) -> String {
    hex_hiding(bytes, key_value_range(bytes))
}

/// The hexadecimal digits of a frame that was built as this message, whatever its type field says.
pub(crate) fn hex_of_message(bytes: &[u8], name: &str) -> String {
    let is_proof = |it: &NamedField| name_of(it.tag) == Some(super::fields::KEY_VALUE);
    let fields = layout_of(name).into_iter().flat_map(NamedField::all);
    let proof = { fields }.find(is_proof).map(|it| place(it, bytes.len()));
    hex_hiding(bytes, proof.or_else(|| key_value_range(bytes)))
}

fn hex_hiding(bytes: &[u8], hidden: Option<Range<usize>>) -> String {
    let last = bytes.len().saturating_sub(1);
    let byte = |(at, byte): (usize, &u8)| match &hidden {
        Some(hidden) if hidden.contains(&at) || at == last => "**".to_owned(),
        _ => format!("{byte:02x}"),
    };
    let bytes: Vec<String> = bytes.iter().enumerate().map(byte).collect();
    bytes.join(" ")
}

/// The layout of a message that is to be sent or expected, by name.
///
/// # Errors
///
/// The name is unknown, or is a message that the venue never sends. The error lists the possible names.
pub(crate) fn message(name: &str, is_expected: bool) -> Result<&'static TmpLayoutInfo, String> {
    let all = fixwire_tmp::messages::LAYOUTS.iter();
    let right = |layout: &&&TmpLayoutInfo| match is_expected {
        true => layout.from_exchange,
        false => layout.from_broker,
    };
    let names: Vec<&str> = all.filter(right).map(|layout| layout.name).collect();
    let (names, who) = (
        names.join(", "),
        if is_expected { "venue" } else { "broker" },
    );
    match layout_of(name) {
        None => Err(format!("unknown message '{name}': the {who} sends {names}")),
        Some(layout) if is_expected && !layout.from_exchange => Err(format!(
            "{name} is sent by the broker and never received: the venue sends {names}"
        )),
        Some(layout) => Ok(layout),
    }
}

#[cfg(test)]
mod tests {
    use fixwire_tmp::messages::{L40, R01};

    use super::*;

    fn fields(text: &str) -> TextFields {
        let mut parts = text.split('|');
        let mut fields = vec![(MESSAGE, parts.next().unwrap().to_owned())];
        for part in parts {
            let (name, text) = part.split_once('=').unwrap();
            fields.push((tag_of(name).unwrap(), text.to_owned()));
        }
        fields
    }

    #[test]
    fn a_frame_is_built_of_fields_and_reads_back() {
        let order = "R01|exec_type=0|header.fcm_id=279|fcm_id=280|order_no=A0001|qty=3|side=buy";
        let (bytes, sent) = build(&fields(order), 7, false).unwrap();
        let frame = TmpFrame::read(&bytes).unwrap();
        let (header, body) = (frame.header(), frame.body::<R01>().unwrap());
        assert_eq!((header.msg_seq_num, header.fcm_id), (7, 279));
        assert_eq!((body.fcm_id, body.order_no, body.qty), (280, *b"A0001", 3));
        let read = read(&frame);
        assert_eq!(read, sent);
        assert_eq!(field(&read, "side"), Some("1"));
        assert_eq!(field(&read, "user_define"), None);
        let shown = shown(&read, &Secrets::default());
        assert!(
            shown.starts_with("R01|msg_seq_num=7|msg_time=19700101-00:00:00.000|exec_type=0|"),
            "{shown}"
        );
        // A query has no MsgSeqNum, and a field may give another one.
        let (query, _) = build(&fields("R01|exec_type=I"), 7, false).unwrap();
        assert_eq!(TmpFrame::read(&query).unwrap().header().msg_seq_num, 0);
        let (other, _) = build(&fields("R04|msg_seq_num=9"), 7, false).unwrap();
        assert_eq!(TmpFrame::read(&other).unwrap().header().msg_seq_num, 9);
        for wrong in ["R04|checksum=1", "R04|msg_length=15", "R04|message_type=77"] {
            let (bytes, _) = build(&fields(wrong), 1, false).unwrap();
            assert!(TmpFrame::read(&bytes).is_err(), "{wrong}");
        }
        let (garbled, _) = build(&fields("R04"), 1, true).unwrap();
        let error = TmpFrame::read(&garbled).unwrap_err().to_string();
        assert!(error.starts_with("R04: checksum at byte 18"), "{error}");
        let (text, _) = build(&fields("R17|data=K101"), 1, false).unwrap();
        assert_eq!(&text[17..text.len() - 1], b"K101");
    }

    #[test]
    fn the_proof_of_a_password_is_never_shown() {
        let login = |key: u8| {
            let text = format!("L40|append_no=123|key_value={key}");
            let fields = fields(&text);
            let (bytes, _) = build(&fields, 0, false).unwrap();
            let frame = TmpFrame::read(&bytes).unwrap();
            assert_eq!(frame.body::<L40>().unwrap().key_value.0, key);
            let read = read(&frame);
            let line = shown(&read, &Secrets::default());
            assert!(line.contains("|key_value=***|"), "{line}");
            // As another type too.
            let other = build(
                &[&fields[..], &[(tag("message_type"), "41".to_owned())]].concat(),
                0,
                false,
            );
            let other = hex_of_message(&other.unwrap().0, "L40");
            assert_eq!(other.matches("**").count(), 2, "{other}");
            (line, hex(&bytes), other)
        };
        let first = login(0);
        assert!((1..100).all(|key| login(key) == first));
    }

    #[test]
    fn a_message_is_one_that_its_end_sends() {
        assert_eq!(message("R02", true).unwrap().name, "R02");
        let error = message("R01", true).unwrap_err();
        assert!(
            error.contains("the venue sends L10, L30, L41, L50, R02"),
            "{error}"
        );
        let error = message("R99", false).unwrap_err();
        assert!(
            error.starts_with("unknown message 'R99': the broker sends L10, L20,"),
            "{error}"
        );
        assert!(message("R02", false).is_ok());
    }
}
