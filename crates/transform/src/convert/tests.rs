//! Helpers of the conversion tests.

use std::format;
use std::string::String;
use std::vec::Vec;

use fixwire_protocol::dictionary::validate::check;
use fixwire_protocol::dictionary::{Scratch, ValidationFault, ValidationRules};
use fixwire_protocol::{Decoder, Outbox, SessionId};

use super::built_in::{TABLES, dictionary};
use super::*;

mod chains;
mod garbage;
mod generator;
mod golden;
mod golden_40;
mod golden_43;
mod golden_50;
mod lossless;
mod pairs;
mod policies;
mod random;
mod refused;
mod worlds;

/// Number of messages per property; the variable `CASES` raises it.
fn cases(at_least: u32) -> u32 {
    let wanted = std::env::var("CASES").ok();
    let wanted = wanted.and_then(|text| text.parse().ok());
    wanted.unwrap_or(0).max(at_least)
}

fn built_in(from: Version, to: Version) -> Conversion {
    Conversion::built_in(from, to).unwrap()
}

/// A message of a version with these fields after the session's fields, each with its SOH.
fn whole(version: Version, msg_type: &str, fields: &[u8]) -> Vec<u8> {
    let head = format!(
        "8={}|9=1|35={msg_type}|49=A|56=B|34=2|52=20260821-13:30:00|",
        version.name()
    );
    let mut message = head.replace('|', "\x01").into_bytes();
    message.extend_from_slice(fields);
    message.extend_from_slice(b"10=000\x01");
    message
}

fn validate(dictionary: &Dictionary, message: &[u8]) -> Result<(), ValidationFault> {
    let mut decoder = Decoder::with_capacity(4096);
    let message = decoder.decode(message);
    check(
        dictionary,
        &message,
        &ValidationRules::default(),
        &mut Scratch::default(),
    )
}

fn drafted(message: &[u8]) -> Draft {
    let mut draft = Draft::default();
    draft.load(&Decoder::with_capacity(4096).decode(message));
    draft
}

/// A draft of these fields, in text with `|` between them.
fn draft_of(msg_type: &[u8], fields: &str) -> Draft {
    let mut draft = Draft::default();
    draft.begin(msg_type);
    for field in fields.split('|') {
        let (tag, value) = field.split_once('=').unwrap();
        draft.push(tag.parse().unwrap(), value.as_bytes());
    }
    draft
}

/// The fields of a message, each with its SOH.
fn written(draft: &mut Draft) -> Vec<u8> {
    let mut outbox = Outbox::new(1 << 20, 4, 256);
    let msg_type = draft.msg_type().to_vec();
    let mut body = outbox.begin(SessionId(0), &msg_type);
    draft.write(&mut body);
    body.finish().unwrap();
    outbox.body(0).to_vec()
}

fn readable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\x01', "|")
}

/// Converts a message made of `base` and `more`, whose result must be valid; returns its fields besides those of
/// `base`, and the lost fields.
fn more_of(
    (from, to): (Version, Version),
    msg_type: &str,
    base: &str,
    more: &str,
) -> (String, Vec<(Tag, u64)>) {
    let mut conversion = built_in(from, to);
    let mut losses = conversion.losses();
    let fields = format!("{base}|{more}|").replace('|', "\x01");
    let mut draft = drafted(&whole(from, msg_type, fields.as_bytes()));
    let outcome = conversion.convert(&mut draft, &mut losses);
    assert_eq!(outcome, Ok(()), "{more}");
    let after = written(&mut draft);
    let text = readable(&after);
    let valid = validate(&dictionary(to), &whole(to, msg_type, &after));
    assert_eq!(valid, Ok(()), "{text}");
    let base: Vec<&str> = base.split('|').collect();
    let fields = text
        .split_terminator('|')
        .filter(|field| !base.contains(field));
    let more: Vec<&str> = fields.collect();
    (more.join("|"), losses.iter().collect())
}

#[track_caller]
fn becomes(way: (Version, Version), msg_type: &str, base: &str, rows: &[(&str, &str)]) {
    for (before, after) in rows {
        let (more, lost) = more_of(way, msg_type, base, before);
        assert_eq!((more.as_str(), &*lost), (*after, &[][..]), "{before}");
    }
}

/// Why a message of these fields is not converted.
#[track_caller]
fn refusal((from, to): (Version, Version), msg_type: &str, fields: &str) -> TransformFailure {
    let mut conversion = built_in(from, to);
    let mut losses = conversion.losses();
    let mut draft = draft_of(msg_type.as_bytes(), fields);
    let outcome = conversion.convert(&mut draft, &mut losses);
    assert_eq!(losses.iter().next(), None, "nothing was lost");
    outcome.unwrap_err()
}
