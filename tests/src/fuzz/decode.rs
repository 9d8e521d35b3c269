//! Any bytes become the fields that a slow splitter finds, and nothing that reads them panics.
//!
//! Input: a byte for the decoder's room, a byte for the validation rules, then the message with `|` for SOH; after a
//! `!` the rest is the body of a whole message of FIX 4.2, 4.4 or FIXT.1.1.

use std::sync::OnceLock;

use fixwire_protocol::decode::{DATA_PAIRS, FaultKind, FieldFault};
use fixwire_protocol::dictionary::validate::{self, Scratch, ValidationRules};
use fixwire_protocol::dictionary::{Dictionary, GroupDef, RejectReason, Version};
use fixwire_protocol::{
    Decoder, Frame, Message, MsgSeqNumSource, Outbox, RepeatError, SessionId, Tag, frame,
};

use super::hold;
use super::input::{Input, message, show, with_soh};

const TIME: &[u8] = b"20260821-13:30:00.123";

/// Result of splitting: tag, value, and the first malformed field.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Split {
    /// Tag, or 0, and value.
    pub fields: Vec<(Tag, Vec<u8>)>,
    /// The first malformed field.
    pub fault: Option<FieldFault>,
}

/// Panics when decoding breaks its promises for these bytes.
pub fn run(data: &[u8]) {
    check(data, split).unwrap_or_else(|what| panic!("{what}"));
}

/// [`run`] against any model, which gets a message and the decoder's room.
///
/// # Errors
///
/// The violated property.
pub fn check(data: &[u8], model: impl Fn(&[u8], usize) -> Split) -> Result<(), String> {
    let mut input = Input::new(data);
    let (room, rules) = (input.byte(), rules(input.byte()));
    let capacity = [128, 1, 3, 24][usize::from(room % 4)];
    let begin = ["FIX.4.2", "FIX.4.4", "FIXT.1.1"][usize::from(room / 4) % 3];
    let bytes = match input.rest().split_first() {
        Some((b'!', body)) => message(begin, body),
        _ => with_soh(input.rest()),
    };
    let mut decoder = Decoder::with_capacity(capacity);
    let decoded = decoder.decode(&bytes);
    let expected = model(&bytes, capacity);
    let fields: Vec<_> = decoded
        .fields()
        .iter()
        .map(|field| (field.tag, decoded.value(*field).to_vec()))
        .collect();
    let got = Split {
        fields,
        fault: decoded.fault(),
    };
    hold!(
        got == expected,
        "{}: got {got:?}, expected {expected:?}",
        show(&bytes)
    );
    read_all(&decoded, &expected)?;
    for (name, dictionary) in dictionaries() {
        validate_twice(&decoded, dictionary, &rules).map_err(|what| format!("{name}: {what}"))?;
    }
    repeat(&bytes)
}

/// Splits as the documentation says, field by field.
pub fn split(bytes: &[u8], capacity: usize) -> Split {
    let mut split = Split::default();
    let mut at = 0;
    let mut expected_data: Option<(Tag, u64)> = None;
    while at < bytes.len() {
        let index = split.fields.len();
        let fault = |kind, tag| FieldFault { kind, tag, index };
        let Some(soh) = bytes[at..].iter().position(|byte| *byte == 1) else {
            split.fault.get_or_insert(fault(FaultKind::NoEnd, None));
            break;
        };
        if index == capacity {
            split
                .fault
                .get_or_insert(fault(FaultKind::TooManyFields, None));
            break;
        }
        let text = &bytes[at..at + soh];
        let mut end = at + soh;
        let (tag, value_at) = match text.iter().position(|byte| *byte == b'=') {
            None => {
                split
                    .fault
                    .get_or_insert(fault(FaultKind::NoValue, tag_of(text)));
                (0, at)
            }
            Some(equals) => {
                let tag = tag_of(&text[..equals]);
                if tag.is_none() {
                    split.fault.get_or_insert(fault(FaultKind::BadTag, None));
                }
                (tag.unwrap_or(0), at + equals + 1)
            }
        };
        if let Some((data, len)) = expected_data.take()
            && data == tag
        {
            // Only a length that was found right by looking ahead gets here.
            end = value_at + len as usize;
        }
        split.fields.push((tag, bytes[value_at..end].to_vec()));
        at = end + 1;
        if let Some((_, data)) = DATA_PAIRS.iter().find(|(length, _)| *length == tag) {
            let rest = bytes.get(at..).unwrap_or_default();
            let head = format!("{data}=");
            if rest.starts_with(head.as_bytes()) {
                let digits = &bytes[value_at..end];
                let len = digits_of(digits);
                let right = len.filter(|len| {
                    let soh = (*len as u128) + (at + head.len()) as u128;
                    soh < bytes.len() as u128 && bytes[soh as usize] == 1
                });
                match right {
                    Some(len) => expected_data = Some((*data, len)),
                    None => {
                        let fault = FieldFault {
                            kind: FaultKind::BadDataLength,
                            tag: Some(tag),
                            index,
                        };
                        split.fault.get_or_insert(fault);
                    }
                }
            }
        }
    }
    split
}

fn tag_of(text: &[u8]) -> Option<Tag> {
    let shape = (1..=9).contains(&text.len()) && text[0] != b'0';
    shape
        .then(|| digits_of(text))
        .flatten()
        .map(|tag| tag as Tag)
}

fn digits_of(text: &[u8]) -> Option<u64> {
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    digits
        .then(|| std::str::from_utf8(text).ok()?.parse().ok())
        .flatten()
}

/// Every way of reading a message agrees with its fields, and none panics.
fn read_all(decoded: &Message<'_>, expected: &Split) -> Result<(), String> {
    let whole = decoded.raw(0..decoded.fields().len());
    hold!(
        decoded.bytes().starts_with(whole),
        "raw() is not the beginning"
    );
    for tag in [
        8,
        9,
        10,
        34,
        35,
        36,
        43,
        49,
        52,
        56,
        97,
        122,
        128,
        142,
        453,
        96,
        0,
        Tag::MAX,
    ] {
        let first = expected.fields.iter().position(|field| field.0 == tag);
        let value = first.map(|index| &expected.fields[index].1[..]);
        hold!(decoded.index_of(tag) == first, "index_of({tag})");
        hold!(decoded.get(tag) == value, "get({tag})");
        hold!(decoded.has(tag) == first.is_some(), "has({tag})");
    }
    for field in decoded.fields() {
        let tag = field.tag;
        let _ = (decoded.uint(tag), decoded.int(tag), decoded.decimal(tag));
        let _ = (decoded.time(tag), decoded.boolean(tag), decoded.char(tag));
    }
    let _ = (
        decoded.msg_type(),
        decoded.begin_string(),
        decoded.seq_num(),
    );
    let _ = fixwire_protocol::session::identify(decoded);
    Ok(())
}

fn validate_twice(
    decoded: &Message<'_>,
    dictionary: &Dictionary,
    rules: &ValidationRules,
) -> Result<(), String> {
    let fresh = validate::check(dictionary, decoded, rules, &mut Scratch::default());
    let mut scratch = Scratch::default();
    let mut decoder = Decoder::with_capacity(64);
    let other = message("FIX.4.4", b"D|34=9|453=2|448=a|448=b|52=20260821-13:30:00|");
    let _ = validate::check(dictionary, &decoder.decode(&other), rules, &mut scratch);
    let used = validate::check(dictionary, decoded, rules, &mut scratch);
    hold!(
        fresh == used,
        "{fresh:?}, but {used:?} after another message"
    );
    hold!(
        fresh.is_err() || decoded.fault().is_none(),
        "a malformed message is valid"
    );
    if let Err(fault) = fresh
        && let Some(index) = fault.field
        && decoded.fault().is_none()
    {
        let field = decoded.fields().get(index).ok_or("a fault of no field")?;
        let absent = fault.reason == RejectReason::RequiredTagMissing;
        let named = absent || fault.tag.is_none_or(|tag| tag == field.tag);
        hold!(named, "{fault:?} names another field");
    }
    if let Some(definition) = dictionary.message(decoded.msg_type()) {
        let groups = definition
            .members()
            .iter()
            .filter_map(|member| member.group.as_deref());
        for group in groups {
            walk(decoded, group)?;
        }
    }
    Ok(())
}

/// Reads a group and the groups in it.
fn walk(decoded: &Message<'_>, definition: &GroupDef) -> Result<(), String> {
    let mut fields = 0;
    for entry in decoded.group(definition).into_iter().flatten() {
        let first = entry.fields().first().map(|field| field.tag);
        hold!(
            first == Some(definition.delimiter()),
            "an entry begins with {first:?}"
        );
        fields += entry.fields().len();
        for member in definition.members() {
            let _ = (
                entry.get(member.tag),
                entry.group(member.tag).map(Iterator::count),
            );
        }
    }
    hold!(
        fields <= decoded.fields().len(),
        "more fields in a group than there are"
    );
    Ok(())
}

/// A resent message is a message, and has all fields of the original except those about its sending.
fn repeat(bytes: &[u8]) -> Result<(), String> {
    let mut outbox = Outbox::new(1 << 16, 8, 64);
    let session = SessionId(0);
    let whole = frame::next(bytes, bytes.len())
        == Frame::Whole {
            skip: 0,
            len: bytes.len(),
        };
    match outbox.repeat(session, 7, bytes, TIME) {
        Err(RepeatError::Full) => hold!(bytes.len() > 8_000, "no room for {} bytes", bytes.len()),
        Err(_) => hold!(outbox.is_empty(), "an error, and something in the outbox"),
        Ok(()) if whole => {
            let header = fixwire_protocol::HeaderTemplate::new(b"FIX.4.4", b"A", b"B", &[]);
            outbox.seal(0, &header, 7, TIME);
            hold!(
                outbox.entries()[0].number == MsgSeqNumSource::Fixed(7),
                "another number"
            );
            let again = outbox.sealed(0);
            let len = again.len();
            hold!(
                frame::next(again, len) == Frame::Whole { skip: 0, len },
                "no message: {}",
                show(again)
            );
            compare(&split(bytes, 4096), &split(again, 4096))?;
        }
        Ok(()) => {}
    }
    Ok(())
}

/// Compares the two if both have a plain header: each of its tags once, and no data.
fn compare(stored: &Split, again: &Split) -> Result<(), String> {
    const OF_SENDING: [Tag; 5] = [9, 10, 43, 52, 122];
    let once = |tag| stored.fields.iter().filter(|field| field.0 == tag).count() <= 1;
    let plain = stored.fault.is_none()
        && OF_SENDING.into_iter().all(once)
        && stored.fields.iter().all(|(tag, _)| {
            DATA_PAIRS
                .iter()
                .all(|pair| pair.0 != *tag && pair.1 != *tag)
        });
    if !plain {
        return Ok(());
    }
    let value = |split: &Split, tag| {
        split
            .fields
            .iter()
            .find(|field| field.0 == tag)
            .map(|field| field.1.clone())
    };
    let rest = |split: &Split| {
        let kept = split
            .fields
            .iter()
            .filter(|field| !OF_SENDING.contains(&field.0));
        kept.cloned().collect::<Vec<_>>()
    };
    hold!(
        rest(stored) == rest(again),
        "repeated with other fields: {again:?}"
    );
    hold!(
        value(again, 43).as_deref() == Some(b"Y"),
        "no PossDupFlag: {again:?}"
    );
    hold!(
        value(again, 52).as_deref() == Some(TIME),
        "another SendingTime: {again:?}"
    );
    Ok(())
}

fn rules(byte: u8) -> ValidationRules {
    if byte & 1 == 0 {
        return ValidationRules::default();
    }
    let on = |bit: u8| byte >> bit & 1 == 1;
    ValidationRules {
        fields_out_of_order: on(1),
        fields_have_values: on(2),
        user_defined_fields: on(3),
        allow_unknown_msg_fields: on(4),
        logon_credentials: false,
        allow_unknown_enum_values: on(5),
        unordered_group_fields: on(6),
        first_field_in_group_is_delimiter: on(7),
        required_fields: on(2),
        formats: on(3),
        duplicate_tags: on(4),
        group_counts: on(5),
        conditional_fields: on(6),
        max_group_entries: 1 + u32::from(byte >> 3),
    }
}

/// FIX 4.2, FIX 4.4 and FIX 5.0 SP2 over FIXT 1.1, made once.
pub fn dictionaries() -> &'static [(&'static str, Dictionary); 3] {
    static MADE: OnceLock<[(&str, Dictionary); 3]> = OnceLock::new();
    MADE.get_or_init(|| {
        let transport = Dictionary::built_in(Version::Fixt11);
        let application = Dictionary::built_in(Version::Fix50Sp2);
        [
            ("FIX42", Dictionary::built_in(Version::Fix42)),
            ("FIX44", Dictionary::built_in(Version::Fix44)),
            ("FIX50SP2", application.over(&transport)),
        ]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGON: &[u8] = b"\x00\x00!A|34=1|49=A|52=20260821-13:30:00|56=B|98=0|108=30|95=3|96=a|b|";

    #[test]
    fn the_decoder_passes() {
        run(LOGON);
    }

    #[test]
    fn a_model_that_ends_data_at_soh_differs() {
        let naive = |bytes: &[u8], _| {
            let fields = bytes.split(|byte| *byte == 1).filter_map(|field| {
                let equals = field.iter().position(|byte| *byte == b'=')?;
                Some((tag_of(&field[..equals])?, field[equals + 1..].to_vec()))
            });
            Split {
                fields: fields.collect(),
                fault: None,
            }
        };
        assert!(check(LOGON, naive).is_err());
        assert!(check(b"\x00\x00!0|34=1|", naive).is_ok());
    }

    #[test]
    fn a_repetition_that_loses_a_field_is_found() {
        let fields = |text: &str| split(&with_soh(text.as_bytes()), 64);
        let stored = fields("8=FIX.4.4|9=1|35=D|52=x|11=A|10=000|");
        let again = fields("8=FIX.4.4|9=1|35=D|52=20260821-13:30:00.123|43=Y|122=x|10=000|");
        assert!(compare(&stored, &again).is_err());
    }
}
